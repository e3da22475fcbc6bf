"""The transforms of Pillow images under their MindSpore 1.x names: the classes of sindri.dataset.vision, except those that 1.x defines differently."""
from __future__ import annotations

from typing import Sequence

from sindri.dataset.vision import transforms as _transforms
from sindri.dataset.vision.c_transforms import Pad, RandomCrop
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import AutoAugmentPolicy, Border, ConvertMode, ImageBatchFormat, Inter, SliceMode

__all__ = [*_transforms.__all__, "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode"]


class Decode(_transforms.Decode):  # type: ignore[no-redef]
    """Decodes the bytes of an image file to a Pillow image. Raises RuntimeError if Pillow is not installed."""

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(_transforms.Normalize):  # type: ignore[no-redef]
    """vision.Normalize for [C, H, W]."""

    def __init__(self, mean: Sequence[float], std: Sequence[float]):
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(_transforms.NormalizePad):  # type: ignore[no-redef]
    """vision.NormalizePad for [C, H, W]."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32"):
        super().__init__(mean, std, dtype, is_hwc=False)
