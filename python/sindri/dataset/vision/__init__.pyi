"""Image transforms (MindSpore: mindspore.dataset.vision, and its 1.x modules c_transforms and py_transforms).

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.vision import transforms as transforms, utils as utils
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import *
from sindri.dataset.vision import c_transforms as c_transforms, py_transforms as py_transforms

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
    "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "ImageReadMode", "Inter", "SliceMode",
]
