"""The image transforms under their MindSpore 1.x names: the classes of sindri.dataset.vision, except those that 1.x defines differently."""
from __future__ import annotations

from typing import List

from sindri.dataset.vision import transforms as _transforms
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import AutoAugmentPolicy, Border, ConvertMode, ImageBatchFormat, Inter, SliceMode

__all__ = [*_transforms.__all__, "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode"]


def _old_sides(padding: List[int]) -> List[int]:
    """Reads two numbers as (left and top, right and bottom)."""
    return [padding[0], padding[0], padding[1], padding[1]] if len(padding) == 2 else padding


class Decode(_transforms.Decode):  # type: ignore[no-redef]
    """Decodes the bytes of an image file to uint8 [H, W, 3].

    Args:
        rgb (bool): The order of channels; must be True. Default: True.

    Raises:
        TypeError: If `rgb` is not a bool.
        ValueError: If `rgb` is False.
        BadSample: A RuntimeError when called, if the bytes cannot be decoded.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> from sindri.dataset.vision import c_transforms
        >>> c_transforms.Decode()(vision.encode_png(np.zeros((4, 6, 3), np.uint8))).shape
        (4, 6, 3)
    """

    def __init__(self, rgb: bool = True):
        super().__init__(rgb=rgb)


class RandomCrop(_transforms.RandomCrop):  # type: ignore[no-redef]
    """Crops at a random position, as vision.RandomCrop, but two padding values mean (left and top, right and bottom).

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        padding (int, tuple[int], optional): For all sides, (left and top, right and bottom) or (left, top, right, bottom). Default: None.
        pad_if_needed (bool): Whether to pad images smaller than `size`. Default: False.
        fill_value (int, tuple[int]): The value of constant padding, from 0 to 255. Default: 0.
        padding_mode (Border): The kind of padding. Default: Border.CONSTANT.

    Raises:
        TypeError: As vision.RandomCrop.
        ValueError: As vision.RandomCrop.
        RuntimeError: As vision.RandomCrop.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset.vision import c_transforms
        >>> c_transforms.RandomCrop(4)(np.zeros((8, 12, 3), np.uint8)).shape
        (4, 4, 3)
    """

    _sides_of = staticmethod(_old_sides)


class Pad(_transforms.Pad):  # type: ignore[no-redef]
    """Pads an image, as vision.Pad, but two padding values mean (left and top, right and bottom).

    Args:
        padding (int, tuple[int]): For all sides, (left and top, right and bottom) or (left, top, right, bottom).
        fill_value (int, tuple[int]): The value of constant padding, from 0 to 255. Default: 0.
        padding_mode (Border): The kind of padding. Default: Border.CONSTANT.

    Raises:
        TypeError: As vision.Pad.
        ValueError: As vision.Pad.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset.vision import c_transforms
        >>> c_transforms.Pad((1, 0))(np.ones((1, 1), np.uint8)).tolist()
        [[0, 0], [0, 1]]
    """

    _sides_of = staticmethod(_old_sides)
