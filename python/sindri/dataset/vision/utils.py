"""Enumerations of the image transforms."""
from __future__ import annotations

from enum import Enum, IntEnum

__all__ = ["AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "ImageReadMode", "Inter", "SliceMode"]


class Inter(IntEnum):
    """Interpolation. LINEAR, CUBIC, AREA and NEAREST are OpenCV's; when shrinking, only AREA antialiases.

    PILCUBIC and PILLINEAR are Pillow's filters for arrays and specific to Sindri; ANTIALIAS needs a Pillow image. On Pillow images all filters are Pillow's.
    """

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5
    PILLINEAR = 6


class AutoAugmentPolicy(str, Enum):
    """The dataset that an AutoAugment policy was found for."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class Border(str, Enum):
    """The source of padding pixels: a constant, the edge pixel, or the mirrored image without (REFLECT) or with (SYMMETRIC) its edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(IntEnum):
    """The order of dimensions in a batch of images."""

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """The channels that read_image returns: those of the file, one grey channel, or RGB."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """How SlicePatches treats sizes that do not divide: it pads the image, or drops the remainder."""

    PAD = 0
    DROP = 1


class ConvertMode(IntEnum):
    """The conversions of ConvertColor: the channels of the image and those of the result."""

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
