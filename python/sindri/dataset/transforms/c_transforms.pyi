"""The transforms under their MindSpore 1.x names: the classes of sindri.dataset.transforms.

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.transforms.transforms import *

__all__ = [
    "Compose", "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "PadEnd", "RandomApply", "RandomChoice", "RandomOrder", "Relational", "Slice",
    "TypeCast", "Unique",
]
