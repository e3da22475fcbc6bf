"""NumPy's functions on tensors (MindSpore: mindspore.numpy).

Arguments may be tensors, numbers, nested lists or NumPy arrays; Python ints become int32, floats float32. Gradients
flow, and the functions are traced like any operator. Functions whose result's shape depends on values (unique, where
with one argument, …) run eagerly.
"""
import math as _math_module

from sindri.common.dtype import (bool_, float16, float32, float64, float_, int8, int16, int32, int64, int_, uint, uint8, uint16, uint32,
                                 uint64)
from sindri.numpy import _array, _math, _series, _sets
from sindri.numpy._array import *  # noqa: F401,F403
from sindri.numpy._math import *  # noqa: F401,F403
from sindri.numpy._pad import pad  # noqa: F401
from sindri.numpy._series import *  # noqa: F401,F403
from sindri.numpy._sets import *  # noqa: F401,F403

pi = _math_module.pi
inf = PINF = _math_module.inf
NINF = -inf
nan = _math_module.nan

__all__ = [*_array.__all__, *_math.__all__, *_series.__all__, *_sets.__all__, "pad", "pi", "inf", "PINF", "NINF", "nan",
           "bool_", "float16", "float32", "float64", "float_", "int8", "int16", "int32", "int64", "int_", "uint", "uint8", "uint16", "uint32", "uint64"]
