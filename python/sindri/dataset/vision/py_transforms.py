"""The transforms of Pillow images under their MindSpore 1.x names: the classes of sindri.dataset.vision, except those that 1.x defines differently."""
from __future__ import annotations

from typing import Sequence

from sindri.dataset.vision import transforms as _transforms
from sindri.dataset.vision.c_transforms import Pad, RandomCrop
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import AutoAugmentPolicy, Border, ConvertMode, ImageBatchFormat, Inter, SliceMode

__all__ = [*_transforms.__all__, "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode"]


class Decode(_transforms.Decode):  # type: ignore[no-redef]
    """Decodes the bytes of an image file to a Pillow image.

    Raises:
        RuntimeError: When called, if Pillow is not installed.
        BadSample: A RuntimeError when called, if the bytes cannot be decoded.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> from sindri.dataset.vision import py_transforms
        >>> py_transforms.Decode()(vision.encode_png(np.zeros((4, 6, 3), np.uint8))).size
        (6, 4)
    """

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(_transforms.Normalize):  # type: ignore[no-redef]
    """Normalizes an image [C, H, W], as vision.Normalize with is_hwc=False.

    Args:
        mean (sequence of float): The mean of each channel.
        std (sequence of float): The standard deviation of each channel.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset.vision import py_transforms
        >>> py_transforms.Normalize([1.0], [2.0])(np.array([[[1, 5]]], np.float32)).tolist()
        [[[0.0, 2.0]]]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]):
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(_transforms.NormalizePad):  # type: ignore[no-redef]
    """Normalizes an image [C, H, W] and appends a channel of zeros, as vision.NormalizePad with is_hwc=False.

    Args:
        mean (sequence of float): The mean of each channel.
        std (sequence of float): The standard deviation of each channel.
        dtype (str): The type of the result: "float32" or "float16". Default: "float32".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset.vision import py_transforms
        >>> py_transforms.NormalizePad([0, 0, 0], [1, 1, 1])(np.ones((3, 2, 2), np.float32)).shape
        (4, 2, 2)
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32"):
        super().__init__(mean, std, dtype, is_hwc=False)
