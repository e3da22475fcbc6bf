"""The Python transforms under their MindSpore 1.x names: the classes of sindri.dataset.transforms, and OneHotOp."""
from sindri.dataset.transforms import transforms as _transforms
from sindri.dataset.transforms.transforms import *

__all__ = [*_transforms.__all__, "OneHotOp"]


class OneHotOp(_transforms.OneHot):
    """Converts a label to a one-hot vector: the 1.x name of OneHot.

    Args:
        num_classes (int): The number of classes.
        smoothing_rate (float): The label smoothing, from 0 to 1. Default: 0.0.

    Raises:
        TypeError: As OneHot.
        ValueError: As OneHot.
        BadSample: As OneHot.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset.transforms import py_transforms
        >>> py_transforms.OneHotOp(3)(np.array(1, np.int32)).tolist()
        [0, 1, 0]
    """
