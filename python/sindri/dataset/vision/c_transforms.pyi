"""The image transforms as MindSpore 1.x spells them. The classes are those of sindri.dataset.vision but for what 1.x does differently.

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import Border as Border, ImageBatchFormat as ImageBatchFormat, Inter as Inter, SliceMode as SliceMode

__all__ = [
    "AdjustBrightness", "AdjustContrast", "AdjustHue", "AdjustSaturation", "AdjustSharpness", "AutoContrast", "CenterCrop", "Crop", "CutMixBatch",
    "CutOut", "Decode", "Equalize", "Grayscale", "HWC2CHW", "HorizontalFlip", "Invert", "MixUpBatch", "Normalize", "NormalizePad", "Pad",
    "PadToSize", "Posterize", "RandomColor", "RandomColorAdjust", "RandomCrop", "RandomCropDecodeResize", "RandomErasing", "RandomGrayscale",
    "RandomHorizontalFlip", "RandomInvert", "RandomPosterize", "RandomResizedCrop", "RandomRotation", "RandomSelectSubpolicy", "RandomSharpness",
    "RandomSolarize", "RandomVerticalFlip", "Rescale", "Resize", "ResizedCrop", "Rotate", "SlicePatches", "Solarize", "ToNumpy", "ToPIL", "ToTensor",
    "ToType", "UniformAugment", "VerticalFlip", "Border", "ImageBatchFormat", "Inter", "SliceMode",
]
