"""The Python transforms under their MindSpore 1.x names: the classes of sindri.dataset.transforms, and OneHotOp."""
from sindri.dataset.transforms import transforms as _transforms
from sindri.dataset.transforms.transforms import *

__all__ = [*_transforms.__all__, "OneHotOp"]


class OneHotOp(_transforms.OneHot):
    """The 1.x name of OneHot."""
