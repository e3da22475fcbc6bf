"""Methods of Tensor that describe it and its memory layout, create similar tensors and fill it with random values; see
_tensor_methods.py.
"""
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
    """Returns the ints of f(2, 3), f((2, 3)) or f([2, 3])."""
    given = sizes[0] if len(sizes) == 1 else sizes
    if type(given) is tuple and all([type(n) is int for n in given]):  # the common case, without checks
        return given
    return to_ints(given, "shape", where)


def give(tensor: Tensor, value: Tensor) -> Tensor:
    """Writes the value into the tensor; into a Parameter in program order."""
    value = _ops.cast(value, tensor.dtype)
    if isinstance(tensor, _core.Parameter):
        tensor.assign(value)
    else:
        tensor._replace(value)
    return tensor


def stride(self: Tensor, dim: Optional[int] = None) -> Union[int, List[int]]:
    """Returns the number of elements between neighbours along each dimension.

    Args:
        dim (int): The dimension; None means all. Default: None.

    Returns:
        A list of ints, or an int.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3)).stride())
        [3, 1]
    """
    steps = [n // self.itemsize for n in self.strides]
    if dim is None:
        return steps
    return steps[to_axis(dim, len(steps), "Tensor.stride")]


def is_signed(self: Tensor) -> bool:
    """Returns whether the element type holds negative numbers.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1]).is_signed())
        True
    """
    return self.dtype not in _UNSIGNED


def get_bytes(self: Tensor) -> bytes:
    """Returns the values' bytes in row-major order.

    Returns:
        A bytes object.

    Examples:
        >>> import sindri as ms
        >>> print(list(ms.Tensor([1, 2], ms.uint8).get_bytes()))
        [1, 2]
    """
    return _values(self).tobytes() if self.dtype is not mstype.bfloat16 else _values(self).view("uint16")[..., 1::2].tobytes()


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Returns whether |self - other| <= atol + rtol * |other| everywhere. It reads the values.

    Args:
        other (Tensor): The tensor to compare with.
        rtol (float): The relative tolerance. Default: 1e-05.
        atol (float): The absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two NaN count as close. Default: False.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.0, 2.0]).allclose(ms.Tensor([1.0, 2.0])))
        True
    """
    return bool(_ops.all(isclose(self, other, rtol, atol, equal_nan)))


def new_empty(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Creates a tensor of a shape whose values are not defined (zeros).

    Args:
        *size: The shape, as (2, 3) or 2, 3.
        dtype (dtype): The element type; None means this tensor's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.5]).new_empty(2, 2).shape)
        (2, 2)
    """
    return self.new_zeros(*size, dtype=dtype)


def new_zeros(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Creates a tensor of zeros.

    Args:
        *size: The shape, as (2, 3) or 2, 3.
        dtype (dtype): The element type; None means this tensor's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.5]).new_zeros(2, 2))
        [[0. 0.]
         [0. 0.]]
    """
    return _ops.full(shape_of(size, "Tensor.new_zeros"), 0.0, dtype or self.dtype)


def new_ones(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Creates a tensor of ones.

    Args:
        *size: The shape, as (2, 3) or 2, 3.
        dtype (dtype): The element type; None means this tensor's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.5]).new_ones((2, 2)))
        [[1. 1.]
         [1. 1.]]
    """
    return _ops.full(shape_of(size, "Tensor.new_ones"), 1.0, dtype or self.dtype)


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Creates a tensor with every element `fill_value`.

    Args:
        size (int or sequence of ints): The shape.
        fill_value (number): The value.
        dtype (dtype): The element type; None means this tensor's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.5]).new_full((2,), 7))
        [7. 7.]
    """
    return fill(dtype or self.dtype, shape_of((size,), "Tensor.new_full"), fill_value)


def tolist(self: Tensor) -> Any:
    """Returns the values as nested lists of Python numbers.

    Returns:
        A list, or a number for a scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).tolist())
        [[1, 2], [3, 4]]
    """
    values = _ops.cast(self, mstype.float32) if self.dtype is mstype.bfloat16 else self
    return values.asnumpy().tolist()


def numel(self: Tensor) -> int:
    """Returns the number of elements.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3)).numel())
        6
    """
    return self.size


def dim(self: Tensor) -> int:
    """Returns the number of dimensions.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3)).dim())
        2
    """
    return self.ndim


def contiguous(self: Tensor) -> Tensor:
    """Returns the tensor itself: values are stored in row-major order.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).contiguous())
        [1 2]
    """
    return self


def is_contiguous(self: Tensor) -> bool:
    """Returns True: values are stored in row-major order.

    Returns:
        True.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).is_contiguous())
        True
    """
    return True


def element_size(self: Tensor) -> int:
    """Returns the number of bytes of an element.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.0]).element_size())
        4
    """
    return self.itemsize


def numpy(self: Tensor) -> np.ndarray:
    """Returns the values as a NumPy array; another name of `asnumpy`.

    Returns:
        A NumPy array.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).numpy())
        [1 2]
    """
    return self.asnumpy()


def set_dtype(self: Tensor, dtype: Any) -> Any:
    """Converts the tensor's values to another element type in place. Tensors it is a view of, and views of it, keep
    theirs.

    Args:
        dtype (dtype): The element type.

    Returns:
        The element type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).set_dtype(ms.float32))
        Float32
    """
    value = _ops.cast(self, dtype)
    self._leave()
    self._replace(value)
    return value.dtype


def _own_random(generator: Any, where: str) -> None:
    if generator is not None:
        raise ValueError(f"a separate generator is not supported | {where} | use set_seed or mindspore.manual_seed, and omit generator")


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Fills the tensor with numbers from N(mean, std²).

    Args:
        mean (float): The mean. Default: 0.
        std (float): The standard deviation. Default: 1.
        generator: Must be None; call set_seed or mindspore.manual_seed instead. Default: None.

    Returns:
        The tensor.

    Raises:
        TypeError: If the tensor is not floating.
        ValueError: If `std` is negative or `generator` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.zeros((2, 3)).normal_().shape)
        (2, 3)
    """
    _own_random(generator, "Tensor.normal_")
    if not self.dtype.is_floating:
        raise TypeError(f"expected a floating tensor, got {self.dtype} | Tensor.normal_")
    if std < 0:
        raise ValueError(f"std: expected a number that is not negative, got {std} | Tensor.normal_")
    return give(self, _ops.random_normal(self.shape, float(mean), float(std), self.dtype))


def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """Fills the tensor with numbers from [from_, to).

    Args:
        from_ (float): The lower bound. Default: 0.
        to (float): The exclusive upper bound. Default: 1.
        generator: Must be None; call set_seed or mindspore.manual_seed instead. Default: None.

    Returns:
        The tensor.

    Raises:
        TypeError: If the tensor is not floating.
        ValueError: If `from_` exceeds `to` or `generator` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.zeros((2, 3)).uniform_().shape)
        (2, 3)
    """
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
PROPERTIES = {"device": property(_device, doc="The device that holds the values: 'CPU'."),
              "virtual_flag": property(_virtual_flag, doc="Whether the tensor represents one of another stage of a parallel run: always False.")}
