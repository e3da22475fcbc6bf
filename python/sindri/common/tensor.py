"""Tensor (MindSpore: mindspore.Tensor): the class of sindri._core with text forms, indexing and the methods of ops/_tensor_methods.py."""
# The extension defines the classes; their stub contains the attributes attached here.
# mypy: disable-error-code="method-assign,assignment"
from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from sindri import _core, _print
from sindri._compile import clock, local
from sindri._core import DType, Parameter, Tensor, TracedValueError
from sindri.common import _views
from sindri.common import dtype as mstype

__all__ = ["Tensor", "from_dlpack", "from_numpy", "tensor"]


def _values(t: Tensor) -> np.ndarray:
    return (t.astype(mstype.float32) if t.dtype is mstype.bfloat16 else t).asnumpy()


def _str(self: Tensor) -> str:
    return _print.mark(self, False) if self.is_symbolic else str(_values(self))


_EDGE, _LONG, _LONG_VECTOR = 3, 6, 1000  # elements shown at each end, and the lengths above which the rest is `...`
_PER_LINE = {"f": 12, "b": 12}  # elements of a vector in a line of text; 24 of integers


def _element_texts(values: np.ndarray, short: bool) -> list[str]:
    """Returns the elements in order as texts of equal width."""
    kind = values.dtype.kind
    if short:
        texts, width = [f"{x:g}" for x in values.reshape(-1).tolist()], 0
    elif kind == "f":
        digits = 4 if values.dtype == np.float16 else 8
        texts = [f"{x:.{digits}e}" for x in values.reshape(-1).tolist()]
        width = digits + 7
    else:
        texts = [str(x) for x in values.reshape(-1).tolist()]
        width = 5 if kind == "b" else 0
    width = max([width, *(len(t) for t in texts)])
    return [t.strip().rjust(width) for t in texts]


def _shown(size: int, rank: int) -> list[int]:
    """Returns the indices of a dimension that are shown; -1 is `...`."""
    if size <= (_LONG_VECTOR if rank == 1 else _LONG):
        return list(range(size))
    return [*range(_EDGE), -1, *range(size - _EDGE, size)]


def _vector_text(texts: list[str], per_line: int) -> str:
    if len(texts) <= _EDGE:
        return "[" + ", ".join(texts) + "]"
    lines = [", ".join(texts[i:i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + ", \n ".join(lines) + ("\n ]" if len(texts) % per_line == 0 else "]")


def _value_text(values: np.ndarray, short: bool = False) -> str:
    """Formats values as MindSpore does in repr.

    Elements are separated by commas and floats have eight digits after the point (float16: four). Matrices start below `value=`. Vectors have 12 floats
    or 24 integers per line, and long dimensions show three elements at each end. short: floats with six digits, as for bfloat16.
    """
    rank = values.ndim
    if rank == 0:  # a float as C++ streams write it: six digits, no ".0"
        return f" {float(values):g}" if values.dtype.kind == "f" else f" {values}"
    if values.size == 0:
        return " " if rank == 1 else "\n"
    shown = [_shown(n, rank) for n in values.shape]
    part = values[np.ix_(*[[i for i in dim if i >= 0] for dim in shown])]
    texts = iter(_element_texts(part, short))
    if rank == 1 and -1 not in shown[0]:
        return " " + _vector_text(list(texts), 24 if short else _PER_LINE.get(values.dtype.kind, 24))

    def rows(d: int) -> str:
        if d == rank - 1:
            line = ""
            for k, i in enumerate(shown[d]):
                line += " ... " if i < 0 else (", " if k and shown[d][k - 1] >= 0 else "") + next(texts)
            return "[" + line + "]"
        between = "\n" + " " * (d + 1)
        text = ""
        for k, i in enumerate(shown[d]):
            text += between if k else ""
            text += "..." if i < 0 else rows(d + 1) + ("," if k + 1 < len(shown[d]) else "")
        return "[" + text + "]"

    return (" " if rank == 1 else "\n") + rows(0)


def _repr(self: Tensor) -> str:
    if self.is_symbolic:
        return _print.mark(self, True)
    return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value={_value_text(_values(self), self.dtype is mstype.bfloat16)})"


def _iter(self: Tensor) -> Iterator[Tensor]:
    if not self.shape:
        raise TypeError("a tensor of rank 0 cannot be iterated | Tensor.__iter__ | use item()")
    return (self[i] for i in range(self.shape[0]))


def _reduce(self: Tensor) -> tuple[Any, ...]:
    return _rebuild, (self.asnumpy() if self.dtype is not mstype.bfloat16 else _values(self), self.dtype)


def _rebuild(values: np.ndarray, dtype: DType) -> Tensor:
    return Tensor(values, dtype)


def _copy(self: Tensor) -> Tensor:
    return Tensor(self)


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    return Tensor(self)


_give = Tensor._replace


def _replace(self: Tensor, value: Tensor) -> None:
    """Gives this handle another value; every in-place change comes through here. A view writes to its base, and graphs that hold the old value no longer
    match. A tensor older than the graph being traced would outlive it with a traced value; eagerly, it can be changed."""
    if local.seen is not None and value.is_symbolic and not self.is_symbolic and self._id < local.begin and not isinstance(self, Parameter):
        what = "a tensor made outside the traced code is changed in place"
        if not _core.leave_graph(what):
            raise TracedValueError(what)
    if _views.store(self, value):
        return
    clock[0] += 1
    _give(self, value)


def _rebind(self: Tensor, value: Tensor) -> None:
    """Gives this handle another value; nothing else changes, not even the base of a view."""
    clock[0] += 1
    _give(self, value)


def from_numpy(array: np.ndarray) -> Tensor:
    """Returns a Tensor that shares the memory of a contiguous array: writes to the array are visible in the Tensor.

    Args:
        array (numpy.ndarray): The array.

    Returns:
        Tensor.

    Raises:
        TypeError: If `array` is not an array.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> array = np.zeros(2, np.float32)
        >>> x = ms.from_numpy(array)
        >>> array[0] = 5
        >>> print(x)
        [5. 0.]
    """
    return Tensor.from_numpy(array)


def from_dlpack(array: Any) -> Tensor:
    """Returns a Tensor that shares the memory of another library's array.

    Args:
        array (object): An object with `__dlpack__`, or its capsule; contiguous, in the CPU's memory.

    Returns:
        Tensor.

    Raises:
        TypeError: If tensors do not have the element type.
        ValueError: If the argument is not such an object or not contiguous.
        DeviceError: A RuntimeError, if the memory is a device's.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> array = np.zeros(2, np.float32)
        >>> x = ms.from_dlpack(array)
        >>> array[0] = 5
        >>> print(x)
        [5. 0.]
    """
    return _core.from_dlpack(array)


def tensor(input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False) -> Tensor:
    """Returns a Tensor: `Tensor(...)` under MindSpore's name of the function.

    Args:
        input_data (number, list, tuple, numpy.ndarray, Tensor): The values. Default: None.
        dtype (DType): The element type. Default: None, that of the values.
        shape (tuple): The shape, for `init`. Default: None.
        init (Initializer): Fills the Tensor. Default: None.
        const_arg (bool): Accepted for compatibility. Default: False.

    Returns:
        Tensor.

    Examples:
        >>> import sindri as ms
        >>> ms.tensor([1, 2]).dtype
        Int64
    """
    return Tensor(input_data, dtype, shape, init, const_arg)


Tensor.__module__ = "sindri.common.tensor"
Tensor.__doc__ = """An n-dimensional array.

Arithmetic, comparison and indexing work as with NumPy arrays; ops are also methods: `x.sum()`.

Args:
    input_data (number, list, tuple, numpy.ndarray, Tensor): The values, which are copied. Default: None: zeros of `shape`, or values from `init`.
    dtype (DType): The element type. Default: None, that of the values; float32 without values.
    shape (int, tuple): The shape; values are reshaped to it. Default: None, that of the values.
    init (Initializer): Computes the values when they are first needed. Default: None.
    const_arg (bool): Accepted for compatibility. Default: False.

Raises:
    TypeError: If `input_data` or `dtype` has another type.
    ValueError: If neither values nor a shape are given, `init` is given without a shape, or the values do not fit the shape.

Examples:
    >>> import sindri as ms
    >>> x = ms.Tensor([[1, 2], [3, 4]], ms.float32)
    >>> print(x.shape, x.dtype)
    (2, 2) Float32
    >>> print(x @ x + 1)
    [[ 8. 11.]
     [16. 23.]]
"""
Tensor.__str__ = _str
Tensor.__repr__ = _repr
Tensor.__iter__ = _iter
Tensor.__reduce__ = _reduce
Tensor._replace = _replace
Tensor._rebind = _rebind
Tensor.__deepcopy__ = _deepcopy
Tensor.__copy__ = _copy
Tensor.__getitem__ = _views.getitem
Tensor.__setitem__ = _views.setitem
Tensor.__array_priority__ = 1000.0  # lets the tensor handle numpy_array * tensor
Tensor.__array_ufunc__ = None
