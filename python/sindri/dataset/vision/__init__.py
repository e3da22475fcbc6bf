"""Image transforms (MindSpore: mindspore.dataset.vision, and its 1.x modules c_transforms and py_transforms)."""
from sindri.dataset.vision import transforms, utils
from sindri.dataset.vision.transforms import *
from sindri.dataset.vision.utils import *
from sindri.dataset.vision import c_transforms, py_transforms

__all__ = [*transforms.__all__, *utils.__all__]
