"""Transforms for other data than images (MindSpore: mindspore.dataset.transforms, and its 1.x modules c_transforms and py_transforms)."""
from sindri.dataset.transforms import transforms
from sindri.dataset.transforms.transforms import *
from sindri.dataset.transforms import c_transforms, py_transforms

__all__ = [*transforms.__all__]
