"""Transforms for other data than images (MindSpore: mindspore.dataset.transforms, and its 1.x modules c_transforms and py_transforms).

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.transforms import transforms as transforms
from sindri.dataset.transforms.transforms import *
from sindri.dataset.transforms import c_transforms as c_transforms, py_transforms as py_transforms

__all__ = [
    "Compose", "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "PadEnd", "RandomApply", "RandomChoice", "RandomOrder", "Relational", "Slice",
    "TypeCast", "Unique",
]
