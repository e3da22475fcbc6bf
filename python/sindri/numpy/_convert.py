"""Helpers shared by the functions of sindri.numpy: they convert arguments to tensors and results to the requested dtype."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core, is_number


def array(obj: Any, dtype=None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Creates a tensor from numbers, nested lists, a NumPy array or a tensor.

    Python ints give int32 (int64 if one does not fit), floats give float32.

    Args:
        obj: The values.
        dtype (dtype): The element type; None means that of the values. Default: None.
        copy (bool): Whether a tensor is copied. Default: True.
        ndmin (int): The least number of dimensions; dimensions of size 1 are added in front. Default: 0.

    Returns:
        A tensor.

    Raises:
        TypeError: If the values are not numbers.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.array([[1, 2], [3, 4]]))
        [[1 2]
         [3 4]]
    """
    if isinstance(obj, Tensor):
        x = Tensor(obj) if copy and not obj.is_symbolic else obj
    elif isinstance(obj, (list, tuple)) and obj and _holds_tensor(obj):
        x = core.stack([array(item, None, False) for item in obj], 0)
    else:
        values = np.asarray(obj)
        if values.dtype.kind not in "biuf":
            fail(TypeError, f"cannot make a tensor of {obj!r}", "numpy.array", "give numbers, nested lists of them, arrays or tensors")
        if not isinstance(obj, np.ndarray) and values.dtype.kind in "if":
            values = smallest_int(values) if values.dtype.kind == "i" else values if dtype == mstype.float64 else values.astype(np.float32)
        x = Tensor(values)
    x = x if dtype is None else core.cast(x, dtype)
    return core.reshape(x, (1,) * (ndmin - len(x.shape)) + x.shape) if len(x.shape) < ndmin else x


def _holds_tensor(items: Any) -> bool:
    return any(isinstance(item, Tensor) or isinstance(item, (list, tuple)) and _holds_tensor(item) for item in items)


def as_tensor(obj: Any) -> Tensor:
    """Returns obj itself if it is a tensor, else array(obj)."""
    return obj if isinstance(obj, Tensor) else array(obj)


def typed(x: Tensor, dtype: Any) -> Tensor:
    """Returns x cast to a type, or x if dtype is None."""
    return x if dtype is None else core.cast(x, dtype)


def unary(name: str, function: Callable, summary: str, example: str, result: str) -> Callable:
    """Returns NumPy's form of a function of one tensor: (x, dtype=None)."""
    def apply(x: Any, dtype=None) -> Tensor:
        return typed(function(as_tensor(x)), dtype)
    return _named(apply, name, summary + ".", "x: The input.", "x's shape", example, result)


def binary(name: str, function: Callable, summary: str, example: str, result: str) -> Callable:
    """Returns NumPy's form of a function of two tensors: (x1, x2, dtype=None); a Python number takes the other's type."""
    def apply(x1: Any, x2: Any, dtype=None) -> Tensor:
        numbers = is_number(x1) and is_number(x2)
        return typed(function(*(x if is_number(x) and not numbers else as_tensor(x) for x in (x1, x2))), dtype)
    arguments = "x1: The first operand.\n        x2: The second operand; a number takes the other's type."
    return _named(apply, name, summary + ". The operands broadcast.", arguments, "the broadcast shape", example, result)


def _named(function: Callable, name: str, summary: str, arguments: str, shape: str, example: str, result: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}

    Args:
        {arguments}
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of {shape}.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.{name}{example})
        {result}
    """
    function.__module__ = "sindri.numpy"
    return function


def smallest_int(values: np.ndarray) -> np.ndarray:
    """Returns integers as int32, as in mindspore.numpy, or as int64 if one does not fit."""
    fits = not values.size or (values.min() >= -2 ** 31 and values.max() < 2 ** 31)
    return values.astype(np.int32 if fits else np.int64)


__all__ = ["array", "as_tensor", "typed", "unary", "binary", "smallest_int"]
