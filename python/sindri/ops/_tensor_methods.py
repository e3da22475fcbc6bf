"""The methods of Tensor that are functions of sindri.ops: `attach(Tensor)` adds them to the class.

Most are the function of the same name with the tensor as the first argument. Methods whose arguments differ from the
function's are defined here (Tensor.sum accepts NumPy's arguments, Tensor.max returns values only, …).
"""
from __future__ import annotations

import inspect
import math
import re
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from sindri import _core
from sindri._check import check_choice
from sindri._graph_key import clock, hooks_made
from sindri._signatures import as_method, signature
from sindri.common import dtype as mstype
from sindri.common._indexing import with_item
from sindri.common._views import of_first_era, reshaped, transposed
from sindri.common.hook_handle import HookHandle
from sindri.context import era
from sindri.ops import _tensor_facts as facts
from sindri.ops import function
from sindri.ops._method_names import METHODS, with_both_names
from sindri.ops._tensor_facts import give, shape_of
from sindri.ops._util import as_tensor, filled, to_axis
from sindri.ops.function import array_func, choose_func, creation_func, index_func, reduce_func

_ops = _core.ops
Tensor = _core.Tensor
Axis = Union[None, int, Sequence[int]]

# Functions of sindri.ops that are methods unchanged.
_SAME = """
abs absolute acos acosh addbmm addcdiv addcmul addmm addmv addr adjoint all amax amin aminmax any approximate_equal arccos arccosh arcsin arcsinh
arctan arctan2 arctanh argmax argwhere asin asinh atan atan2 atanh baddbmm bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor bmm broadcast_to ceil cholesky cholesky_inverse cholesky_solve chunk clamp clip conj copysign cos cosh count_nonzero
cov cross cummax cummin cumprod deg2rad det diag diagflat diagonal_scatter diff digamma div divide dot dsplit eq equal erf erfc erfinv exp expand_as
expand_dims expm1 fill_diagonal fills flip fliplr flipud float_power floor floor_divide fmax fmin fmod fold frac gather_elements gather_nd gcd ge ger
greater greater_equal gt hardshrink heaviside histc hsplit hypot i0 index_fill index_select inner inv inverse invert is_complex is_floating_point
isclose isfinite isinf isnan isneginf isposinf isreal kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2 log_matrix_determinant
logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp lstsq lt masked_fill masked_scatter
masked_select matmul matrix_determinant matrix_power maximum median minimum mm moveaxis movedim msort mul multinomial multiply mvlgamma nan_to_num
nanmean nanmedian nansum narrow ne neg negative nextafter nonzero norm not_equal outer positive pow rad2deg random_categorical ravel real reciprocal
relu remainder renorm repeat_interleave reverse reverse_sequence roll rot90 round rsqrt scatter select_scatter sgn sigmoid sign signbit sin sinc sinh
slice_scatter slogdet soft_shrink softmax split sqrt square squeeze subtract svd swapaxes swapdims t tan tanh tensor_split tile top_k topk tril triu
true_divide trunc type_as unbind unfold unique unique_consecutive unique_with_pad unsorted_segment_max unsorted_segment_min unsorted_segment_prod
unsorted_segment_sum view_as vsplit xdivy xlogy
"""

# Methods whose name differs from the function's.
_RENAMED = {
    "unsqueeze": "expand_dims",
    "scatter_sub": "tensor_scatter_sub", "scatter_mul": "tensor_scatter_mul", "scatter_div": "tensor_scatter_div",
    "scatter_max": "tensor_scatter_max", "scatter_min": "tensor_scatter_min",
}

# Methods that change the tensor: name_ writes the result of name into the tensor. Each has an example on [1, 2] and its result.
_IN_PLACE = {
    "add": ("(1)", "[2. 3.]"), "sub": ("(1)", "[0. 1.]"), "mul": ("(2)", "[2. 4.]"), "div": ("(2)", "[0.5 1. ]"), "clamp": ("(0.0, 1.5)", "[1.  1.5]"),
    "exp": ("().round()", "[3. 7.]"), "log": ("().round()", "[0. 1.]"), "sigmoid": ("().round()", "[1. 1.]"), "tanh": ("().round()", "[1. 1.]"),
    "floor": ("()", "[1. 2.]"), "sign": ("()", "[1. 1.]"), "masked_fill": ("(ms.Tensor([True, False]), 9.0)", "[9. 2.]"), "floor_divide": ("(2)", "[0. 1.]"),
    "remainder": ("(2)", "[1. 0.]"), "index_add": ("(ms.Tensor([1]), ms.Tensor([5.0]), 0)", "[1. 7.]"), "index_fill": ("(0, ms.Tensor([1]), 5.0)", "[1. 5.]"),
    "scatter": ("(0, ms.Tensor([1]), ms.Tensor([5.0]))", "[1. 5.]")}


def _like(method: Callable, name: str, function: Callable) -> None:
    """Gives a method the name and the signature of the function it calls."""
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__wrapped__ = function  # type: ignore[attr-defined]
    method.__signature__ = as_method(signature(function))  # type: ignore[attr-defined]


def _method(name: str, function: Callable) -> Callable:
    """Returns the function as a method. A plain wrapper, because builtin functions do not bind to instances."""
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)
    _like(method, name, function)
    native = function.__module__ == "sindri._core.ops"
    text = (function.__doc__ or "").strip()
    method.__doc__ = (text.partition("\n")[2].strip() if native else text) or f"ops.{name} of the tensor."
    return method


def _other_arguments(function: Callable) -> str:
    """Returns the Args section of a function's docstring without its first parameter, which is the tensor; '' if there are no others."""
    found = re.search(r"^Args:\n((?:    .*\n)+)", inspect.cleandoc(function.__doc__ or "") + "\n", re.MULTILINE)
    entries = re.split(r"^    (?=\S)", found[1], flags=re.MULTILINE)[2:] if found else []
    return "".join(["    Args:\n", *("        " + entry.replace("\n    ", "\n        ") for entry in entries), "\n"]) if entries else ""


def _in_place(name: str, function: Callable) -> Callable:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        value = function(self, *args, **kwargs)
        if value.shape != self.shape:
            raise ValueError(f"the result has shape {value.shape}, the tensor {self.shape} | Tensor.{name}_ | use {name}, which returns a new tensor")
        if value.dtype.is_floating and not self.dtype.is_floating:
            raise TypeError(f"the result is of {value.dtype}, the tensor of {self.dtype} | Tensor.{name}_ | cast the tensor first, or use {name}")
        return give(self, value)
    _like(method, name + "_", function)
    method.__doc__ = (f"Computes `{name}` in place: writes the result into the tensor, in its type.\n\n{_other_arguments(function)}    Returns:\n"
                      "        The tensor.\n\n    Raises:\n        TypeError: If the result is floating and the tensor holds integers."
                      "\n        ValueError: If the result has another shape.\n\n    Examples:\n        >>> import sindri as ms"
                      f"\n        >>> print(ms.Tensor([1.0, 2.0]).{name}_{_IN_PLACE[name][0]})\n        {_IN_PLACE[name][1]}")
    return method


# --- methods whose arguments differ -----------------------------------------------------------------------------------------------------


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """Returns the same elements in another shape.

    Args:
        *shape: The shape, as (2, -1) or 2, -1; one dimension may be -1 and is then inferred.

    Returns:
        A view.

    Raises:
        ValueError: If the element counts differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3, 4]).reshape(2, -1))
        [[1 2]
         [3 4]]
    """
    return reshaped(self, shape_of(shape, "Tensor.reshape"))


def view(self: Tensor, *shape: Any) -> Tensor:
    """Returns the same elements in another shape; another name of `reshape`.

    Args:
        *shape: The shape, as (2, -1) or 2, -1.

    Returns:
        A view.

    Raises:
        ValueError: If the element counts differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3, 4]).view(2, 2))
        [[1 2]
         [3 4]]
    """
    return reshaped(self, shape_of(shape, "Tensor.view"))


def transpose(self: Tensor, *axes: Any, dim0: Optional[int] = None, dim1: Optional[int] = None) -> Tensor:
    """Permutes the dimensions.

    transpose(0, 2, 1) and transpose((0, 2, 1)) name the order of the dimensions; transpose() reverses them. Two ints,
    or dim0 and dim1, exchange two dimensions; in era 1 two ints are the order of a matrix's dimensions.

    Args:
        *axes: The order of the dimensions, or two dimensions to exchange.
        dim0 (int): The first dimension to exchange. Default: None.
        dim1 (int): The second dimension to exchange. Default: None.

    Returns:
        A view.

    Raises:
        TypeError: If only one of `dim0` and `dim1` is given, or both with `axes`.
        ValueError: If the dimensions are not a permutation or are out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3, 4)).transpose(0, 2, 1).shape)
        (2, 4, 3)
        >>> print(ms.ops.ones((2, 3, 4)).transpose(0, 1).shape)
        (3, 2, 4)
    """
    if dim0 is not None or dim1 is not None:
        if axes or dim0 is None or dim1 is None:
            raise TypeError("give two dimensions as dim0 and dim1, or axes without names | Tensor.transpose")
        return _exchanged(self, dim0, dim1)
    if not axes or axes == (None,):
        return transposed(self, list(range(len(self.shape)))[::-1])
    if len(axes) == 2 and (len(self.shape) != 2 or not of_first_era()):
        return _exchanged(self, axes[0], axes[1])
    return transposed(self, list(shape_of(axes, "Tensor.transpose")))


def _exchanged(x: Tensor, a: Any, b: Any) -> Tensor:
    n = len(x.shape)
    if type(a) is int and type(b) is int and -n <= a < n and -n <= b < n:
        perm = list(range(n))
        perm[a], perm[b] = perm[b], perm[a]
        return transposed(x, perm)
    return array_func.swapaxes(x, a, b)


def permute(self: Tensor, *axis: Any) -> Tensor:
    """Permutes the dimensions.

    Args:
        *axis: The order of the dimensions, as (2, 0, 1) or 2, 0, 1; without one they are reversed.

    Returns:
        A view.

    Raises:
        ValueError: If the order is not a permutation.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3, 4)).permute(2, 0, 1).shape)
        (4, 2, 3)
    """
    return transposed(self, list(shape_of(axis, "Tensor.permute")) if axis else list(range(len(self.shape)))[::-1])


def flatten(self: Tensor, order: Union[str, int] = "C", *last: int, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Flattens dimensions start_dim to end_dim into one.

    Args:
        order (str or int): "C", or "F" to reverse the dimensions first; also `start_dim` as the first argument,
            followed by `end_dim`. Default: "C".
        start_dim (int): The first dimension to flatten. Default: 0.
        end_dim (int): The last dimension to flatten. Default: -1.

    Returns:
        A view.

    Raises:
        TypeError: If there are too many arguments.
        ValueError: If `order` is another string or a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3, 4)).flatten(start_dim=1).shape)
        (2, 12)
    """
    if isinstance(order, int):
        start_dim, order = order, "C"
        if last:
            end_dim, last = last[0], last[1:]
    if last:
        raise TypeError(f"expected an order, or the first and the last dimension, got {len(last)} arguments more | Tensor.flatten")
    return array_func.flattened(self, order, start_dim=start_dim, end_dim=end_dim)


def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """Returns a tensor of another shape with the elements in order, truncated or filled up with zeros.

    Args:
        *new_shape: The shape, as (2, 3) or 2, 3.

    Returns:
        A tensor; a view if the element counts are equal.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).resize(2, 2))
        [[1 2]
         [3 0]]
    """
    shape = shape_of(new_shape, "Tensor.resize")
    if math.prod(shape) == self.size:
        return reshaped(self, shape)
    flat, n = _ops.reshape(self, (-1,)), math.prod(shape)
    flat = _ops.slice(flat, [0], [n]) if n <= self.size else _ops.pad(flat, [0, n - self.size])
    return _ops.reshape(flat, shape)


def expand(self: Tensor, *size: Any) -> Tensor:
    """Broadcasts the tensor to a shape.

    Args:
        *size: The shape, as (2, 3) or 2, 3; -1 keeps a dimension.

    Returns:
        A view.

    Raises:
        ValueError: If the tensor does not broadcast to the shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1], [2]]).expand(-1, 2))
        [[1 1]
         [2 2]]
    """
    return array_func.broadcast_to(self, shape_of(size, "Tensor.expand"))


def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    """Broadcasts the tensor to a shape.

    Args:
        *shape: The shape, as (2, 3) or 2, 3; -1 keeps a dimension.

    Returns:
        A view.

    Raises:
        ValueError: If the tensor does not broadcast to the shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).broadcast_to((2, 2)))
        [[1 2]
         [1 2]]
    """
    return expand(self, *shape)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sums the dimensions that broadcasting from a shape had repeated.

    Args:
        *size: The shape, which broadcasts to the tensor's.

    Returns:
        A tensor of that shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3)).sum_to_size(1, 3))
        [[2. 2. 2.]]
    """
    return _ops.sum_to(self, shape_of(size, "Tensor.sum_to_size"))


def _keep(keepdims: bool, keep_dims: Optional[bool]) -> bool:
    return keepdims if keep_dims is None else keep_dims


def sum(self: Tensor, axis: Axis = None, *given: Any, dtype: Any = None, keepdims: bool = False, initial: Optional[float] = None,
        keep_dims: Optional[bool] = None) -> Tensor:
    """Sums elements over axes. bool and integers give int64 unless `dtype` is given.

    After `axis`, keepdims (a bool), or dtype and keepdims, may follow as positional arguments.

    Args:
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (float): A number that is added. Default: None.
        keep_dims (bool): Another name of `keepdims`. Default: None.

    Returns:
        The sums.

    Raises:
        TypeError: If there are too many arguments.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).sum(axis=1))
        [3 7]
    """
    if given and isinstance(given[0], bool):
        given = (None, *given)
    if len(given) > 3:
        raise TypeError(f"expected axis, dtype, keepdims and initial, got {3 - len(given)} more | Tensor.sum")
    dtype, keepdims, initial = (own if i >= len(given) or given[i] is None else given[i] for i, own in enumerate((dtype, keepdims, initial)))
    out = reduce_func.sum(self, axis, _keep(keepdims, keep_dims), dtype=dtype)
    return out if initial is None else _ops.add(out, initial)


def mean(self: Tensor, axis: Axis = None, keep_dims: bool = False, *, keepdims: Optional[bool] = None, dtype: Any = None) -> Tensor:
    """Computes the mean over axes.

    Args:
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        keepdims (bool): Another name of `keep_dims`. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The means.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).mean(axis=1))
        [1.5 3.5]
    """
    return reduce_func.mean(self if dtype is None else _ops.cast(self, dtype), axis, _keep(keep_dims, keepdims))


def _freedom(ddof: Union[int, bool], correction: Optional[int]) -> Union[int, bool]:
    return ddof if correction is None else correction


def std(self: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False, *, correction: Optional[int] = None) -> Tensor:
    """Computes the standard deviation over axes. The sum of squares is divided by max(count - ddof, 0).

    Args:
        axis (int or sequence of ints): The axes; None means all. Default: None.
        ddof (int or bool): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        correction (int): Another name of `ddof`. Default: None.

    Returns:
        The standard deviations.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.0, 3.0]).std())
        1.0
    """
    return reduce_func.std(self, axis, _freedom(ddof, correction), keepdims)


def var(self: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False, *, dim: Axis = None, keepdim: Optional[bool] = None,
        correction: Optional[int] = None) -> Tensor:
    """Computes the variance over axes; see `std`.

    `dim` and `keepdim` require `correction`: MindSpore's default is 1 with these names and 0 with `axis`.

    Args:
        axis (int or sequence of ints): The axes; None means all. Default: None.
        ddof (int or bool): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        dim (int or sequence of ints): Another name of `axis`. Default: None.
        keepdim (bool): Another name of `keepdims`. Default: None.
        correction (int): Another name of `ddof`. Default: None.

    Returns:
        The variances.

    Raises:
        TypeError: If an argument is given under both names, or `correction` is missing with `dim` or `keepdim`.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.0, 3.0]).var())
        1.0
    """
    if dim is not None and axis is not None or keepdim is not None and keepdims:
        raise TypeError("axis and dim, or keepdims and keepdim, which mean the same, are both given | Tensor.var")
    if (dim is not None or keepdim is not None) and correction is None and not ddof:
        raise TypeError("correction is missing with dim or keepdim | Tensor.var | give correction=0 to divide by the count, 1 for the estimate of a sample")
    return reduce_func.var(self, axis if dim is None else dim, _freedom(ddof, correction), keepdims if keepdim is None else keepdim)


def sort(self: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = False) -> tuple:
    """Sorts elements along an axis. Equal values keep their order.

    Args:
        axis (int): The axis. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.
        stable (bool): No effect: sorting is always stable. Default: False.

    Returns:
        (sorted values, int32 indices).

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.Tensor([3.0, 1.0, 2.0]).sort())
        [1. 2. 3.] [1 2 0]
    """
    return reduce_func.sort(self, axis, descending)


def argsort(self: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """Returns the indices that sort the tensor along an axis; see `sort`.

    Args:
        axis (int): The axis. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.
        stable (bool): No effect: sorting is always stable. Default: False.

    Returns:
        An int32 tensor of the same shape.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([3.0, 1.0, 2.0]).argsort())
        [1 2 0]
    """
    return sort(self, axis, descending)[1]


def prod(self: Tensor, axis: Axis = None, keep_dims: bool = False, dtype: Any = None, *, keepdims: Optional[bool] = None) -> Tensor:
    """Multiplies elements over axes.

    Args:
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.
        keepdims (bool): Another name of `keep_dims`. Default: None.

    Returns:
        The products.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).prod(axis=1))
        [ 2 12]
    """
    return reduce_func.prod(self, axis, _keep(keep_dims, keepdims), dtype)


def _one_axis(axis: Axis) -> Optional[int]:
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f"return_indices needs one axis, got {axis!r} | Tensor.max, Tensor.min | give an int")
    return axis


def _extremum(name: str, self: Tensor, given: tuple, axis: Axis, keepdims: bool, initial: Any, where: Any, return_indices: bool, dim: Any,
              keepdim: bool) -> Any:
    """Computes max and min.

    A dimension given by position, or as dim, asks for the indices too, except in era 1. keepdim is another name of
    keepdims.
    """
    keepdims = keepdims or keepdim
    if len(given) > 2 or given and axis is not None or len(given) == 2 and keepdims:
        raise TypeError(f"expected at most an axis and keepdims, each once, got {given} | Tensor.{name}")
    if dim is not None and (given or axis is not None):
        raise TypeError(f"the dimension is given twice, also as dim={dim} | Tensor.{name}")
    if given:
        axis, keepdims = given[0], given[1] if len(given) == 2 else keepdims
        return_indices = return_indices or (axis is not None and not isinstance(axis, (tuple, list)) and era() == 2)
    if dim is not None:
        axis, return_indices = dim, True
    if return_indices:
        return getattr(reduce_func, name)(self, _one_axis(axis), keepdims, initial=initial, where=where)
    return getattr(reduce_func, "a" + name)(self, axis, keepdims and (axis is not None or era() == 1), initial=initial, where=where)


def max(self: Tensor, *given: Any, axis: Axis = None, keepdims: bool = False, initial: Optional[float] = None, where: Any = True, return_indices: bool = False,
        dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Returns the largest element: max(), or over axes: max(axis=1).

    max(1), max(dim=1) and `return_indices` return (values, int64 indices) along one dimension; in era 1 max(1)
    returns the values.

    Args:
        *given: The axis and keepdims, by position.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (float): A value that takes part in the maximum. Default: None.
        where (bool or Tensor): The elements that take part; it needs `initial`. Default: True.
        return_indices (bool): Whether to return the indices too. Default: False.
        dim (int): The dimension, with indices. Default: None.
        keepdim (bool): Another name of `keepdims`. Default: False.

    Returns:
        The values, or (values, int64 indices).

    Raises:
        TypeError: If an argument is given twice, or `return_indices` is given for several axes.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]).max())
        7.0
        >>> print(*ms.Tensor([[1.0, 5.0], [7.0, 2.0]]).max(dim=1))
        [5. 7.] [1 0]
    """
    return _extremum("max", self, given, axis, keepdims, initial, where, return_indices, dim, keepdim)


def min(self: Tensor, *given: Any, axis: Axis = None, keepdims: bool = False, initial: Optional[float] = None, where: Any = True, return_indices: bool = False,
        dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Returns the smallest element: min(), or over axes: min(axis=1).

    min(1), min(dim=1) and `return_indices` return (values, int64 indices) along one dimension; in era 1 min(1)
    returns the values.

    Args:
        *given: The axis and keepdims, by position.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (float): A value that takes part in the minimum. Default: None.
        where (bool or Tensor): The elements that take part; it needs `initial`. Default: True.
        return_indices (bool): Whether to return the indices too. Default: False.
        dim (int): The dimension, with indices. Default: None.
        keepdim (bool): Another name of `keepdims`. Default: False.

    Returns:
        The values, or (values, int64 indices).

    Raises:
        TypeError: If an argument is given twice, or `return_indices` is given for several axes.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]).min())
        1.0
        >>> print(*ms.Tensor([[1.0, 5.0], [7.0, 2.0]]).min(dim=1))
        [1. 2.] [0 1]
    """
    return _extremum("min", self, given, axis, keepdims, initial, where, return_indices, dim, keepdim)


def argmax_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """Returns the largest element along an axis and its index.

    Args:
        axis (int): The axis. Default: 0.
        keep_dims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (values, indices); in era 1 (indices, values).

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.Tensor([1.0, 5.0, 3.0]).argmax_with_value())
        5.0 1
    """
    return reduce_func.max_with_index(self, axis, keep_dims)[::1 if era() == 1 else -1]


def argmin_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """Returns the smallest element along an axis and its index.

    Args:
        axis (int): The axis. Default: 0.
        keep_dims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (values, indices); in era 1 (indices, values).

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.Tensor([1.0, 5.0, 3.0]).argmin_with_value())
        1.0 0
    """
    return reduce_func.min_with_index(self, axis, keep_dims)[::1 if era() == 1 else -1]


def argmin(self: Tensor, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """Returns the index of the first smallest element along an axis.

    Args:
        axis (int): The axis; None uses the flat tensor. Default: None.
        keepdims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        An int32 tensor.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([3.0, 1.0, 2.0]).argmin())
        1
    """
    return reduce_func.argmin(self, axis, keepdims)


def argmax(self: Tensor, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """Returns the index of the first largest element along an axis.

    Args:
        axis (int): The axis; None uses the flat tensor. Default: None.
        keepdims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        An int64 tensor.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([3.0, 1.0, 2.0]).argmax())
        0
    """
    return reduce_func.argmax(self, axis, keepdims)


def cumsum(self: Tensor, axis: Optional[int] = None, dtype: Any = None) -> Tensor:
    """Computes the sums up to and including each element along an axis.

    uint8 gives int32 unless `dtype` is given; in era 1 it is kept.

    Args:
        axis (int): The axis; None uses the flat tensor. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of the same shape, or a vector if `axis` is None.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).cumsum())
        [1 3 6]
    """
    if dtype is None and self.dtype is mstype.uint8 and era() == 2:
        dtype = mstype.int32
    return reduce_func.cumsum(_ops.reshape(self, (-1,)), 0, dtype) if axis is None else reduce_func.cumsum(self, axis, dtype)


def ptp(self: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Computes the range of values over axes: the largest minus the smallest element.

    Args:
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The ranges.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.0, 5.0, 3.0]).ptp())
        4.0
    """
    return _ops.sub(max(self, axis=axis, keepdims=keepdims), min(self, axis=axis, keepdims=keepdims))


def trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Sums the diagonal of two dimensions.

    Args:
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        axis1 (int): The dimension of the rows. Default: 0.
        axis2 (int): The dimension of the columns. Default: 1.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The sums.

    Raises:
        ValueError: If the dimensions are equal or out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).trace())
        5
    """
    return sum(diagonal(self, offset, axis1, axis2), -1, dtype)


def diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Returns the elements [.., i, i + offset] of two dimensions, as the last dimension.

    Args:
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        axis1 (int): The dimension of the rows. Default: 0.
        axis2 (int): The dimension of the columns. Default: 1.

    Returns:
        A view.

    Raises:
        ValueError: If the dimensions are equal or out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).diagonal())
        [1 4]
    """
    return creation_func.diagonal(self, offset, axis1, axis2)


def repeat(self: Tensor, repeats: Union[int, Sequence[int]], axis: Optional[int] = None) -> Tensor:
    """Repeats each element along an axis, as numpy.repeat does.

    Args:
        repeats (int or sequence of ints): The number of repetitions, one for all or one per element.
        axis (int): The axis; None repeats the flat tensor. Default: None.

    Returns:
        The repeated tensor.

    Raises:
        ValueError: If there are several repeats, but not one per element.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).repeat(2))
        [1 1 2 2]
    """
    return array_func.repeat_interleave(self, repeats, axis)


def take(self: Tensor, indices: Any, axis: Optional[int] = None, mode: str = "clip") -> Tensor:
    """Returns slices along an axis, as numpy.take does.

    Args:
        indices (Tensor or sequence of ints): The indices.
        axis (int): The axis; None uses the flat tensor. Default: None.
        mode (str): "clip" to clip indices to the range, "wrap" to wrap them around, or "raise" to raise an error.
            Default: "clip".

    Returns:
        The slices.

    Raises:
        ValueError: If `mode` is another string, or an index is out of range with "raise".

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([10, 20, 30]).take(ms.Tensor([0, 5])))
        [10 30]
    """
    check_choice("Tensor.take", "mode", mode, ("clip", "wrap", "raise"))
    x, a = (_ops.reshape(self, (-1,)), 0) if axis is None else (self, to_axis(axis, len(self.shape), "Tensor.take"))
    indices = as_tensor(indices)
    if mode == "clip":
        indices = _ops.minimum(_ops.maximum(indices, 0), x.shape[a] - 1)
    return _ops.gather(x, _ops.mod(indices, x.shape[a]) if mode == "wrap" else indices, a)


def gather(self: Tensor, *args: Any, dim: Optional[int] = None, index: Optional[Tensor] = None, input_indices: Optional[Tensor] = None,
           axis: Optional[int] = None, batch_dims: int = 0) -> Tensor:
    """Gathers slices or elements.

    gather(input_indices, axis, batch_dims=0) gathers slices along an axis, as `ops.gather`. gather(dim, index) picks
    one element per position of `index` along `dim`, as `ops.gather_elements`.

    Args:
        dim (int): The dimension of the second form. Default: None.
        index (Tensor): The indices of the second form. Default: None.
        input_indices (Tensor): The indices of the first form. Default: None.
        axis (int): The axis of the first form. Default: None.
        batch_dims (int): The number of shared leading dimensions of the first form. Default: 0.

    Returns:
        The gathered tensor.

    Raises:
        TypeError: If an argument is missing or given twice.
        ValueError: If an index or dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([10, 20, 30]).gather(ms.Tensor([2, 0]), 0))
        [30 10]
        >>> print(ms.Tensor([[1, 2], [3, 4]]).gather(1, ms.Tensor([[0], [1]])))
        [[1]
         [4]]
    """
    if dim is not None or index is not None or args and isinstance(args[0], int):
        dim, index = _two_arguments(args, (dim, index), "Tensor.gather(dim, index)")
        return index_func.gather_elements(self, dim, index)
    if len(args) == 3:
        batch_dims = args[2]
        args = args[:2]
    input_indices, axis = _two_arguments(args, (input_indices, axis), "Tensor.gather(input_indices, axis)")
    return index_func.gather(self, input_indices, axis, batch_dims)


def _two_arguments(args: tuple, named: tuple, where: str) -> tuple:
    """Returns the arguments of f(a, b), each given by position or name."""
    out = args + named[len(args):]
    if len(args) > 2 or [v for v in out if v is None] or [v for v in named[:len(args)] if v is not None]:
        raise TypeError(f"expected two arguments, each once | {where}")
    return out


def index_add(self: Tensor, *args: Any, alpha: Any = 1, **named: Any) -> Tensor:
    """Adds alpha times the slices of `source` to the slices that `index` names along a dimension.

    index_add(dim, index, source, alpha=1), or as `ops.index_add`: index_add(indices, y, axis).

    Args:
        alpha (number): The factor of `source`. Default: 1.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: If an argument is missing or given twice.
        ValueError: If an index or dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).index_add(0, ms.Tensor([0, 2]), ms.Tensor([10, 10])))
        [11  2 13]
    """
    if args and isinstance(args[0], int) or "dim" in named:
        given = dict(zip(("dim", "index", "source"), args), **named)
        if set(given) != {"dim", "index", "source"} or len(args) + len(named) != 3:
            raise TypeError(f"expected dim, index and source, got {', '.join(given)} | Tensor.index_add")
        source = given["source"] if isinstance(alpha, (int, float)) and alpha == 1 else _ops.mul(given["source"], alpha)
        return index_func.index_add(self, given["index"], source, given["dim"])
    return index_func.index_add(self, *args, **named)


def scatter_add(self: Tensor, *args: Any, indices: Optional[Tensor] = None, updates: Optional[Tensor] = None, dim: Optional[int] = None,
                index: Optional[Tensor] = None, src: Optional[Tensor] = None) -> Tensor:
    """Adds updates to a copy of the tensor.

    scatter_add(indices, updates) adds at the positions that index vectors name, as `ops.tensor_scatter_add`.
    scatter_add(dim, index, src) adds where `index` names along `dim`, as `ops.tensor_scatter_elements`.

    Args:
        indices (Tensor): The index vectors of the first form. Default: None.
        updates (Tensor): The updates of the first form. Default: None.
        dim (int): The dimension of the second form. Default: None.
        index (Tensor): The indices of the second form. Default: None.
        src (Tensor): The updates of the second form. Default: None.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: If other arguments are given.
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).scatter_add(0, ms.Tensor([0, 2]), ms.Tensor([10, 10])))
        [11  2 13]
    """
    along = len(args) == 3 or bool(args) and isinstance(args[0], int) or any(v is not None for v in (dim, index, src))
    names = ("dim", "index", "src") if along else ("indices", "updates")
    given = dict(zip(names, args))
    named = {n: v for n, v in (("dim", dim), ("index", index), ("src", src), ("indices", indices), ("updates", updates)) if v is not None}
    if len(args) > len(names) or given.keys() & named.keys() or {*given, *named} != set(names):
        raise TypeError(f"expected indices and updates, or dim, index and src, got {', '.join([*given, *named]) or 'nothing'} | Tensor.scatter_add")
    given.update(named)
    if along:
        return index_func.tensor_scatter_elements(self, given["index"], given["src"], given["dim"], "add")
    return index_func.tensor_scatter_add(self, given["indices"], given["updates"])


def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Computes self + alpha * other.

    Args:
        other (Tensor or number): The tensor to add to.
        alpha (number): The factor of `other`. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).add(ms.Tensor([3, 4]), alpha=10))
        [31 42]
    """
    return _ops.add(self, _times(other, alpha))


def sub(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Computes self - alpha * other.

    Args:
        other (Tensor or number): The subtrahend.
        alpha (number): The factor of `other`. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).sub(1))
        [0 1]
    """
    return _ops.sub(self, _times(other, alpha))


def _times(other: Any, alpha: Any) -> Any:
    return other if isinstance(alpha, (int, float)) and alpha == 1 else _ops.mul(other, alpha) if isinstance(other, Tensor) else other * alpha


def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Returns the positions at which values would be inserted to keep this vector sorted.

    Args:
        v (Tensor or sequence): The values.
        side (str): "left" or "right"; see `ops.searchsorted`. Default: "left".
        sorter: Must be None. Default: None.

    Returns:
        An int32 tensor of v's shape.

    Raises:
        ValueError: If `side` is another string or `sorter` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 3, 5]).searchsorted(ms.Tensor([3, 4])))
        [1 2]
    """
    return choose_func.searchsorted(self, as_tensor(v), side=side, sorter=sorter, out_int32=True)


def where(self: Tensor, condition: Tensor, y: Any) -> Tensor:
    """Returns the tensor's elements where a condition is True, else those of y.

    Args:
        condition (Tensor): The condition.
        y (Tensor or number): The other values.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).where(ms.Tensor([True, False]), 0))
        [1 0]
    """
    return choose_func.where(condition, self, y)


def select(self: Tensor, *args: Any, dim: Optional[int] = None, index: Optional[int] = None, condition: Optional[Tensor] = None, y: Any = None) -> Tensor:
    """Returns a slice, or selects elements by a condition.

    select(dim, index) returns the slice at `index` of dimension `dim`, without that dimension. select(condition, y)
    returns the tensor's elements where the bool condition is True, else those of y.

    Args:
        dim (int): The dimension of the first form. Default: None.
        index (int): The index of the first form. Default: None.
        condition (Tensor): The condition of the second form. Default: None.
        y (Tensor or number): The other values of the second form. Default: None.

    Returns:
        A tensor.

    Raises:
        TypeError: If an argument is missing or given twice, or `condition` is not bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).select(0, 1))
        [3 4]
    """
    if dim is not None or index is not None or args and isinstance(args[0], int):
        dim, index = _two_arguments(args, (dim, index), "Tensor.select(dim, index)")
        return self[(slice(None),) * to_axis(dim, len(self.shape), "Tensor.select") + (index,)]
    condition, y = _two_arguments(args, (condition, y), "Tensor.select(condition, y)")
    return choose_func.select(condition, self, y)


def fill(self: Tensor, value: Any) -> Tensor:
    """Returns a tensor of this shape and type with every element `value`. The tensor itself is unchanged.

    Args:
        value (number): The value.

    Returns:
        The new tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).fill(7))
        [7 7]
    """
    return creation_func.full_like(self, value)


def itemset(self: Tensor, *args: Any) -> Tensor:
    """Returns a tensor with one element replaced: itemset(value) for one element, itemset(flat index, value) or
    itemset((i, j), value).

    Args:
        *args: The index and the value.

    Returns:
        The new tensor.

    Raises:
        ValueError: If only a value is given and the tensor has several elements.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).itemset(1, 9))
        [1 9 3]
    """
    if len(args) == 1:
        if self.size != 1:
            raise ValueError(f"itemset(value) needs one element, the tensor has shape {self.shape} | Tensor.itemset | give an index too")
        return filled(self.shape, args[0], self.dtype)
    index, value = args
    return with_item(self, index if isinstance(index, tuple) else tuple(int(i) for i in np.unravel_index(index, self.shape)), value)


def item(self: Tensor, index: Any = None) -> Union[int, float, bool]:
    """Returns one element as a Python number.

    Args:
        index (int or tuple of ints): A flat index or an index tuple; None means the only element. Default: None.

    Returns:
        A Python number.

    Raises:
        ValueError: If `index` is None and the tensor has several elements.
        IndexError: If the index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).item((1, 0)))
        3
    """
    if index is None:
        return _item(self)
    if not isinstance(index, tuple):
        if not -self.size <= index < self.size:
            raise IndexError(f"index {index} is out of range for {self.size} elements | Tensor.item")
        index = tuple(int(i) for i in np.unravel_index(index % self.size, self.shape))
    return _item(self[index])


def index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Returns a tensor with values at the positions that index tensors name.

    Args:
        indices (sequence of Tensors): One index tensor per leading dimension; they broadcast.
        values (Tensor): The values, which broadcast.
        accumulate (bool): Whether to add the values instead of replacing elements. Default: False.

    Returns:
        The new tensor.

    Raises:
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).index_put((ms.Tensor([0, 2]),), ms.Tensor([8, 9])))
        [8 2 9]
    """
    shape = np.broadcast_shapes(*(i.shape for i in indices))
    vectors = _ops.stack([_ops.broadcast_to(i, shape) for i in indices], -1)
    values = _ops.broadcast_to(values, shape + self.shape[len(indices):])
    return (index_func.tensor_scatter_add if accumulate else index_func.tensor_scatter_update)(self, vectors, values)


def to(self: Tensor, *args: Any) -> Tensor:
    """Converts the values to another element type, or to the type of another tensor. A device name has no effect: values
    are on the CPU.

    Args:
        *args: A type, a tensor or a device name.

    Returns:
        The converted tensor, or this one.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.7]).to(ms.int32))
        [1]
    """
    for arg in args:
        if isinstance(arg, Tensor):
            return self.astype(arg.dtype)
        if arg is not None and not (isinstance(arg, str) and arg.split(":")[0].lower() in ("cpu", "gpu", "ascend", "cuda")):
            return self.astype(arg)
    return self


def type_(self: Tensor, dtype: Any = None) -> Any:
    """Returns the name of the element type, or the values converted to a type.

    Args:
        dtype (dtype): The element type; None returns the name. Default: None.

    Returns:
        A str or a tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1.0]).type())
        Float32
    """
    return str(self.dtype) if dtype is None else self.astype(dtype)


def _to_type(name: str, dtype: Any) -> Callable:
    def method(self: Tensor) -> Tensor:
        return self.astype(dtype)
    method.__doc__ = (f"Converts the values to {dtype}.\n\n    Returns:\n        A tensor of that type.\n\n    Examples:\n        >>> import sindri as ms"
                      f"\n        >>> print(ms.Tensor([1, 0]).{name}().dtype)\n        {dtype}")
    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    return method


def copy(self: Tensor) -> Tensor:
    """Returns a new tensor with the same values. Gradients flow.

    Returns:
        The new tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).copy())
        [1 2]
    """
    if self.dtype.is_floating:
        return _ops.mul(self, 1.0)  # an operator, so that gradients flow
    return _ops.reshape(self, self.shape) if self.is_symbolic else Tensor(self)


def clone(self: Tensor) -> Tensor:
    """Returns a new tensor with the same values; another name of `copy`.

    Returns:
        The new tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).clone())
        [1 2]
    """
    return copy(self)


def value(self: Tensor) -> Tensor:
    """Returns the tensor itself.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).value())
        [1 2]
    """
    return self


def assign_value(self: Tensor, other: Tensor) -> Tensor:
    """Replaces the tensor's value and returns the tensor. Tensors it is a view of, and views of it, keep theirs.

    Args:
        other (Tensor): The value.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).assign_value(ms.Tensor([3, 4])))
        [3 4]
    """
    self._leave()
    return give(self, other)


def copy_(self: Tensor, src: Tensor) -> Tensor:
    """Writes the values of src, broadcast to the tensor's shape, into the tensor.

    Args:
        src (Tensor): The values.

    Returns:
        The tensor.

    Raises:
        ValueError: If `src` does not broadcast to the shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).copy_(ms.Tensor([3])))
        [3 3]
    """
    return give(self, _ops.broadcast_to(src, self.shape))


def fill_(self: Tensor, value: Any) -> Tensor:
    """Sets every element to a value in place.

    Args:
        value (number): The value.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).fill_(7))
        [7 7]
    """
    return give(self, fill(self, value))


def zero_(self: Tensor) -> Tensor:
    """Sets every element to 0 in place.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2]).zero_())
        [0 0]
    """
    return give(self, _ops.zeros_like(self))


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Sets requires_grad; for a Parameter it is whether the Parameter is trained.

    Args:
        requires_grad (bool): The value. Default: True.

    Returns:
        The tensor.

    Raises:
        TypeError: If `requires_grad` is not a bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Parameter(ms.Tensor([1.0])).requires_grad_(False).requires_grad)
        False
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"requires_grad must be a bool, got {requires_grad!r} | Tensor.requires_grad_")
    self.requires_grad = requires_grad  # type: ignore[attr-defined,unused-ignore]
    return self


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> HookHandle:
    """Registers a function that is called with the gradient that reaches this tensor from computations that use it from
    now on.

    Call it inside the function that is differentiated. A Parameter accepts hooks anywhere. Each hook sees the
    gradient that a gradient function computes for the Parameter, after the hooks before it; a Parameter that is not
    trained has none. Compiled code keeps the hook as it was traced.

    Args:
        hook (Callable): A function of the gradient; its result replaces the gradient, None keeps it.

    Returns:
        A handle with remove().

    Raises:
        TypeError: If `hook` is not callable.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]))
        >>> handle = w.register_hook(lambda g: g * 10)
        >>> print(ms.grad(lambda x: (w * x).sum(), None, w)(ms.Tensor([3.0])))
        [30.]
        >>> handle.remove()
    """
    if not callable(hook):
        raise TypeError(f"hook: expected a function, got {type(hook).__name__} | Tensor.register_hook")
    if isinstance(self, _core.Parameter):
        clock[0] += 1
        hooks_made[0] += 1
        of_parameter = self.__dict__.setdefault("_gradient_hooks", {})
        handle = HookHandle(of_parameter)
        of_parameter[handle] = hook
        return handle
    hooks: dict[HookHandle, Callable[[Tensor], Any]] = {}
    handle = HookHandle(hooks)
    hooks[handle] = hook

    def gradient(inputs: Any, outputs: Any, gradients: Any) -> list[Tensor]:
        changed = hooks[handle](gradients[0]) if hooks else None
        return [gradients[0] if changed is None else changed]

    self._rebind(_core.custom_gradient(lambda inputs: inputs, [self._detached()], gradient)[0])
    return handle


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Returns the same elements in the shape of another tensor.

    Args:
        other (Tensor): The tensor whose shape is used.

    Returns:
        A view.

    Raises:
        ValueError: If the element counts differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3, 4]).reshape_as(ms.ops.ones((2, 2))))
        [[1 2]
         [3 4]]
    """
    return reshaped(self, other.shape)


def _adjoint(self: Tensor) -> Tensor:
    return function.adjoint(self)


def _reversed(self: Tensor) -> Tensor:
    return transpose(self)


_OWN = (reshape, view, transpose, permute, flatten, resize, expand, broadcast_to, sum_to_size, sum, mean, prod, std, var, sort, argsort, max, min,
        argmin, argmax, argmax_with_value, argmin_with_value, cumsum, ptp, trace, diagonal, repeat, take, gather, index_add, scatter_add, add, sub, searchsorted,
        where, select, fill, itemset, index_put, to, copy, clone, value, assign_value, copy_, fill_, zero_, requires_grad_, register_hook)
_ALIASES: dict[str, Callable] = {"type": type_, "ndimension": facts.dim, "nelement": facts.numel, "reshape_as": reshape_as}
_TYPES = {"float": mstype.float32, "half": mstype.float16, "double": mstype.float64, "bfloat16": mstype.bfloat16, "int": mstype.int32,
          "long": mstype.int64, "bool": mstype.bool_, "byte": mstype.uint8}
_item = Tensor.item


def attach(cls: type) -> None:
    """Adds the methods to the Tensor class. A name that the class already has is kept, except `item`."""
    def put(name: str, method: Any) -> None:
        if name not in cls.__dict__:
            setattr(cls, name, with_both_names(method) if name in METHODS else method)

    for f in (*_OWN, *facts.METHODS):
        put(f.__name__, f)
    for name, alias in _ALIASES.items():
        put(name, alias)
    for name, dtype in _TYPES.items():
        put(name, _to_type(name, dtype))
    for name in _SAME.split():
        put(name, _method(name, getattr(function, name)))
    for name, source in _RENAMED.items():
        put(name, _method(name, getattr(function, source)))
    for name in _IN_PLACE:
        put(name + "_", _in_place(name, getattr(function, name)))
    for name, fact in facts.PROPERTIES.items():
        put(name, fact)
    put("data", property(value, doc="The tensor itself."))
    put("mT", property(_adjoint, doc="The tensor with the last two dimensions exchanged."))
    put("T", property(_reversed, doc="The tensor with all dimensions in reverse order."))
    put("H", property(_adjoint, doc="The tensor with the last two dimensions exchanged."))
    setattr(cls, "item", item)
    # The engine's operator has no gradient; MindSpore's is 0.
    setattr(cls, "__floordiv__", lambda self, other: function.floor_div(self, other))
    setattr(cls, "__rfloordiv__", lambda self, other: function.floor_div(other, self))
