"""Methods of Tensor that tell what it is and how it lies in memory, make tensors like it and fill it with random values; see _tensor_methods.py."""
from __future__ import annotations

from typing import Any, List, Optional, Union

import numpy as np

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.tensor import _values
from sindri.ops._util import to_axis, to_ints
from sindri.ops.function.creation_func import fill
from sindri.ops.function.math_func import isclose

_ops = _core.ops
Tensor = _core.Tensor
_UNSIGNED = (mstype.bool_, mstype.uint8)


def shape_of(sizes: tuple, where: str) -> tuple:
    """The ints of f(2, 3), f((2, 3)) or f([2, 3])."""
    given = sizes[0] if len(sizes) == 1 else sizes
    if type(given) is tuple and all([type(n) is int for n in given]):  # the common case, without the checks
        return given
    return to_ints(given, "shape", where)


def give(tensor: Tensor, value: Tensor) -> Tensor:
    """Writes the value into the tensor: into a Parameter in program order."""
    value = _ops.cast(value, tensor.dtype)
    if isinstance(tensor, _core.Parameter):
        tensor.assign(value)
    else:
        tensor._replace(value)
    return tensor


def stride(self: Tensor, dim: Optional[int] = None) -> Union[int, List[int]]:
    """Elements from one to the next along each dimension, or along dim. Raises ValueError for a dimension that is not there."""
    steps = [n // self.itemsize for n in self.strides]
    if dim is None:
        return steps
    return steps[to_axis(dim, len(steps), "Tensor.stride")]


def is_signed(self: Tensor) -> bool:
    """Whether the element type holds negative numbers."""
    return self.dtype not in _UNSIGNED


def get_bytes(self: Tensor) -> bytes:
    """The bytes of the values in row-major order."""
    return _values(self).tobytes() if self.dtype is not mstype.bfloat16 else _values(self).view("uint16")[..., 1::2].tobytes()


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether |self - other| <= atol + rtol * |other| everywhere. Asks for the values."""
    return bool(_ops.all(isclose(self, other, rtol, atol, equal_nan)))


def new_empty(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """A tensor of a shape whose values do not matter (zeros), in this tensor's type unless dtype says otherwise."""
    return self.new_zeros(*size, dtype=dtype)


def new_zeros(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Zeros of a shape, in this tensor's type unless dtype says otherwise."""
    return _ops.full(shape_of(size, "Tensor.new_zeros"), 0.0, dtype or self.dtype)


def new_ones(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Ones of a shape, in this tensor's type unless dtype says otherwise."""
    return _ops.full(shape_of(size, "Tensor.new_ones"), 1.0, dtype or self.dtype)


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of a shape with every element fill_value, in this tensor's type unless dtype says otherwise."""
    return fill(dtype or self.dtype, shape_of((size,), "Tensor.new_full"), fill_value)


def tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers."""
    values = _ops.cast(self, mstype.float32) if self.dtype is mstype.bfloat16 else self
    return values.asnumpy().tolist()


def numel(self: Tensor) -> int:
    """Number of elements."""
    return self.size


def dim(self: Tensor) -> int:
    """Number of dimensions."""
    return self.ndim


def contiguous(self: Tensor) -> Tensor:
    """The tensor itself: values are kept in row-major order."""
    return self


def is_contiguous(self: Tensor) -> bool:
    """True: values are kept in row-major order."""
    return True


def element_size(self: Tensor) -> int:
    """Bytes of an element."""
    return self.itemsize


def numpy(self: Tensor) -> np.ndarray:
    """asnumpy by another name."""
    return self.asnumpy()


def set_dtype(self: Tensor, dtype: Any) -> Any:
    """Gives the tensor its values in another element type; returns the type. Tensors it is a view of, and views of it, keep theirs."""
    value = _ops.cast(self, dtype)
    self._leave()
    self._replace(value)
    return value.dtype


def _own_random(generator: Any, where: str) -> None:
    if generator is not None:
        raise ValueError(f"a generator of its own is not supported | {where} | use set_seed or mindspore.manual_seed, and leave generator out")


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Gives the elements numbers from N(mean, std²); returns the tensor. Raises ValueError for a negative std and a generator, TypeError for integers."""
    _own_random(generator, "Tensor.normal_")
    if not self.dtype.is_floating:
        raise TypeError(f"expected a floating tensor, got {self.dtype} | Tensor.normal_")
    if std < 0:
        raise ValueError(f"std: expected a number that is not negative, got {std} | Tensor.normal_")
    return give(self, _ops.random_normal(self.shape, float(mean), float(std), self.dtype))


def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """Gives the elements numbers from [from_, to); returns the tensor. Raises ValueError for from_ above to and a generator, TypeError for integers."""
    _own_random(generator, "Tensor.uniform_")
    if not self.dtype.is_floating:
        raise TypeError(f"expected a floating tensor, got {self.dtype} | Tensor.uniform_")
    if from_ > to:
        raise ValueError(f"from_ {from_} is above to {to} | Tensor.uniform_")
    return give(self, _ops.random_uniform(self.shape, float(from_), float(to), self.dtype))


def _device(self: Tensor) -> str:
    return "CPU"


def _virtual_flag(self: Tensor) -> bool:
    return False


METHODS = (stride, is_signed, get_bytes, allclose, new_empty, new_zeros, new_ones, new_full, tolist, numel, dim, contiguous, is_contiguous, element_size, numpy,
           set_dtype, normal_, uniform_)
PROPERTIES = {"device": property(_device, doc="Where the values lie: 'CPU'."),
              "virtual_flag": property(_virtual_flag, doc="Whether it stands for a tensor of another stage of a parallel run: never.")}
