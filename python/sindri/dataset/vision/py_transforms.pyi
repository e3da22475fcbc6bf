"""The image transforms on images of Pillow as MindSpore 1.x spells them. The classes are those of sindri.dataset.vision but for what 1.x does

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import (
    Border as Border, ConvertMode as ConvertMode, ImageBatchFormat as ImageBatchFormat, Inter as Inter, SliceMode as SliceMode,
)

__all__ = [
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness", "Affine", "AutoContrast", "CenterCrop",
    "ConvertColor", "Crop", "CutMixBatch", "CutOut", "Decode", "Equalize", "Erase", "FiveCrop", "GaussianBlur", "Grayscale", "HWC2CHW",
    "HorizontalFlip", "Invert", "MixUpBatch", "Normalize", "NormalizePad", "Pad", "PadToSize", "Perspective", "Posterize", "RandomAdjustSharpness",
    "RandomAffine", "RandomAutoContrast", "RandomColor", "RandomColorAdjust", "RandomCrop", "RandomCropDecodeResize", "RandomEqualize",
    "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert", "RandomPerspective", "RandomPosterize", "RandomResizedCrop",
    "RandomRotation", "RandomSelectSubpolicy", "RandomSharpness", "RandomSolarize", "RandomVerticalFlip", "Rescale", "Resize", "ResizedCrop",
    "Rotate", "SlicePatches", "Solarize", "TenCrop", "ToNumpy", "ToPIL", "ToTensor", "ToType", "UniformAugment", "VerticalFlip",
    "get_image_num_channels", "get_image_size", "read_file", "write_file", "Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode",
]
