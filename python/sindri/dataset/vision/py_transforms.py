"""The image transforms on images of Pillow as MindSpore 1.x spells them. The classes are those of sindri.dataset.vision but for what 1.x does
differently.
"""
from __future__ import annotations

from typing import Sequence

from sindri.dataset.vision import transforms as _transforms
from sindri.dataset.vision.c_transforms import Pad, RandomCrop
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import AutoAugmentPolicy, Border, ConvertMode, ImageBatchFormat, Inter, SliceMode

__all__ = [*_transforms.__all__, "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode"]


class Decode(_transforms.Decode):  # type: ignore[no-redef]
    """The bytes of an image file -> image of Pillow. Raises RuntimeError where Pillow is not installed."""

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(_transforms.Normalize):  # type: ignore[no-redef]
    """As vision.Normalize, on [C, H, W]."""

    def __init__(self, mean: Sequence[float], std: Sequence[float]):
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(_transforms.NormalizePad):  # type: ignore[no-redef]
    """As vision.NormalizePad, on [C, H, W]."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32"):
        super().__init__(mean, std, dtype, is_hwc=False)
