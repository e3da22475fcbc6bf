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
    """

    def __init__(self, rgb: bool = True):
        super().__init__(rgb=rgb)


class RandomCrop(_transforms.RandomCrop):  # type: ignore[no-redef]
    """vision.RandomCrop with another meaning of two padding numbers: (left and top, right and bottom)."""

    _sides_of = staticmethod(_old_sides)


class Pad(_transforms.Pad):  # type: ignore[no-redef]
    """vision.Pad with another meaning of two padding numbers: (left and top, right and bottom)."""

    _sides_of = staticmethod(_old_sides)
