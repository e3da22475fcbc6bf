"""The image transforms under their MindSpore 1.x names: the classes of sindri.dataset.vision, except those that 1.x defines differently.

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import (
    AutoAugmentPolicy as AutoAugmentPolicy, Border as Border, ConvertMode as ConvertMode, ImageBatchFormat as ImageBatchFormat, Inter as Inter,
    SliceMode as SliceMode,
)

__all__ = [
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness", "Affine", "AutoAugment", "AutoContrast",
    "BoundingBoxAugment", "CenterCrop", "ConvertColor", "Crop", "CutMixBatch", "CutOut", "Decode", "Equalize", "Erase", "FiveCrop", "GaussianBlur",
    "Grayscale", "HWC2CHW", "HorizontalFlip", "HsvToRgb", "Invert", "LinearTransformation", "MixUp", "MixUpBatch", "Normalize", "NormalizePad",
    "Pad", "PadToSize", "Perspective", "Posterize", "RandAugment", "RandomAdjustSharpness", "RandomAffine", "RandomAutoContrast", "RandomColor",
    "RandomColorAdjust", "RandomCrop", "RandomCropDecodeResize", "RandomCropWithBBox", "RandomEqualize", "RandomErasing", "RandomGrayscale",
    "RandomHorizontalFlip", "RandomHorizontalFlipWithBBox", "RandomInvert", "RandomLighting", "RandomPerspective", "RandomPosterize", "RandomResize",
    "RandomResizeWithBBox", "RandomResizedCrop", "RandomResizedCropWithBBox", "RandomRotation", "RandomSelectSubpolicy", "RandomSharpness",
    "RandomSolarize", "RandomVerticalFlip", "RandomVerticalFlipWithBBox", "Rescale", "Resize", "ResizeWithBBox", "ResizedCrop", "RgbToHsv", "Rotate",
    "SlicePatches", "Solarize", "TenCrop", "ToNumpy", "ToPIL", "ToTensor", "ToType", "TrivialAugmentWide", "UniformAugment", "VerticalFlip",
    "encode_jpeg", "encode_png", "get_image_num_channels", "get_image_size", "read_file", "read_image", "write_file", "write_jpeg", "write_png",
    "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode",
]
