"""Tensor (MindSpore: mindspore.Tensor): the class of sindri._core with text forms, indexing and the methods of ops/_tensor_methods.py."""
# The classes are the extension's; their stub shows what is attached here.
# mypy: disable-error-code="method-assign,assignment"
from __future__ import annotations

import re
from typing import Any, Iterator

import numpy as np

from sindri import _core
from sindri._compile import clock, local
from sindri._core import DType, Parameter, Tensor, TracedValueError, from_dlpack
from sindri.common import _views
from sindri.common import dtype as mstype

__all__ = ["Tensor", "from_dlpack", "from_numpy", "tensor"]


def _values(t: Tensor) -> np.ndarray:
    return (t.astype(mstype.float32) if t.dtype is mstype.bfloat16 else t).asnumpy()


def _str(self: Tensor) -> str:
    return f"<traced {list(self.shape)} {self.dtype}>" if self.is_symbolic else str(_values(self))


def _value_text(values: np.ndarray) -> str:
    """As MindSpore writes values in repr: commas between elements, floats with eight digits behind the point (float16: four), rows below `value=`."""
    if values.ndim == 0:  # a float as C++ streams write it: six digits, no ".0"
        return f" {float(values):g}" if values.dtype.kind == "f" else f" {values}"
    if values.size == 0:
        return "\n"
    digits = 4 if values.dtype == np.float16 else 8
    text = np.array2string(values, separator=", ", max_line_width=10**9, formatter={"float_kind": lambda x: f"{x: .{digits}e}"} if values.dtype.kind == "f" else None)
    text = re.sub(r"\n+", "\n", text).replace(", ..., ", " ... ")
    return (" " if values.ndim == 1 else "\n") + text


def _repr(self: Tensor) -> str:
    head = f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, "
    return head + ("traced)" if self.is_symbolic else f"value={_value_text(_values(self))})")


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
    """Gives this handle another value: every change in place comes through here. A view writes to its base. Graphs that hold the old value no longer fit. A tensor
    older than the graph being traced would outlive it with a traced value in it; run eagerly, it can be changed."""
    if local.seen is not None and value.is_symbolic and not self.is_symbolic and self._id < local.begin and not isinstance(self, Parameter):
        what = "a tensor made outside the traced code is changed in place"
        if not _core.leave_graph(what):
            raise TracedValueError(what)
    if _views.store(self, value):
        return
    clock[0] += 1
    _give(self, value)


def _rebind(self: Tensor, value: Tensor) -> None:
    """Gives this handle another value; nothing else sees it, not the tensor that it is a view of."""
    clock[0] += 1
    _give(self, value)


def from_numpy(array: np.ndarray) -> Tensor:
    """A Tensor over the memory of a contiguous array: writes to the array are visible in the Tensor. Raises TypeError for what is no array."""
    return Tensor.from_numpy(array)


def tensor(input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False) -> Tensor:
    """Tensor(...), by MindSpore's name of the function."""
    return Tensor(input_data, dtype, shape, init, const_arg)


Tensor.__module__ = "sindri.common.tensor"
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
Tensor.__array_priority__ = 1000.0  # numpy_array * tensor asks the tensor
Tensor.__array_ufunc__ = None
