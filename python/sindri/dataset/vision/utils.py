"""Enumerations of the image transforms."""
from __future__ import annotations

from enum import Enum, IntEnum

__all__ = ["AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "ImageReadMode", "Inter", "SliceMode"]


class Inter(IntEnum):
    """Interpolation. LINEAR, CUBIC, AREA and NEAREST are OpenCV's, without antialiasing when shrinking except AREA.

    PILCUBIC and PILLINEAR (of Sindri's own) are Pillow's on arrays; ANTIALIAS needs an image of Pillow. On such an image all are Pillow's.
    """

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5
    PILLINEAR = 6


class AutoAugmentPolicy(str, Enum):
    """The data set that a policy of AutoAugment was found for."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class Border(str, Enum):
    """Where padding takes its pixels from: a constant, the edge pixel, the mirrored image without or with its edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(IntEnum):
    """The order of dimensions in a batch of images."""

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """What read_image makes of a file: the channels that it has, one of grey, or RGB."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """What SlicePatches does where sizes do not divide: pad the image, or drop what is left over."""

    PAD = 0
    DROP = 1


class ConvertMode(IntEnum):
    """What ConvertColor makes of what: the channels of the image, and those of the result."""

    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11
