"""Image transforms (MindSpore: mindspore.dataset.vision, and its 1.x modules c_transforms and py_transforms).

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.vision import transforms as transforms, utils as utils
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import *
from sindri.dataset.vision import c_transforms as c_transforms, py_transforms as py_transforms

__all__ = [
    "c_transforms", "py_transforms", "transforms", "utils", "AdjustBrightness", "AdjustContrast", "AdjustHue", "AdjustSaturation", "AdjustSharpness",
    "AutoContrast", "CenterCrop", "Crop", "CutMixBatch", "CutOut", "Decode", "Equalize", "Grayscale", "HWC2CHW", "HorizontalFlip", "Invert",
    "MixUpBatch", "Normalize", "NormalizePad", "Pad", "PadToSize", "Posterize", "RandomColor", "RandomColorAdjust", "RandomCrop",
    "RandomCropDecodeResize", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert", "RandomPosterize", "RandomResizedCrop",
    "RandomRotation", "RandomSelectSubpolicy", "RandomSharpness", "RandomSolarize", "RandomVerticalFlip", "Rescale", "Resize", "ResizedCrop",
    "Rotate", "SlicePatches", "Solarize", "ToNumpy", "ToPIL", "ToTensor", "ToType", "UniformAugment", "VerticalFlip", "Border", "ImageBatchFormat",
    "Inter", "SliceMode",
]
