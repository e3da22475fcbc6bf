"""Functions of sindri.ops that reduce or order elements along axes. An axis is an int, a tuple of ints, or None or ()
for all axes.
"""
from __future__ import annotations

import math
from typing import Optional, Union

from sindri import _core
from sindri._check import check_bool, fail
from sindri.common import dtype as mstype
from sindri.context import era
from sindri.ops._util import Axis, Tensor, core, exported, floating, is_float, rounded_once, to_axes, to_axis, to_count, to_int, wide
from sindri.ops.function.math_func import logaddexp


def _in_own_type(result: Tensor, x: Tensor) -> Tensor:
    return result if is_float(x.dtype) or x.dtype is mstype.bool_ else core.cast(result, x.dtype)


# Types whose sums and products the kernels compute in int64. Casting them first would copy eight bytes per element.
_SUMMED_AS_INT64 = (mstype.bool_, mstype.uint8)


def sum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """Sums elements over axes. bool and integers give int64 unless `dtype` is given.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The axes; None or () is all. Default: None.
        keepdim (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The sums.

    Raises:
        TypeError: If `keepdim` is not a bool.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.sum(ms.Tensor([[1, 2], [3, 4]])))
        10
        >>> print(ms.ops.sum(ms.Tensor([[1, 2], [3, 4]]), 1))
        [3 7]
    """
    x = input if dtype is None else core.cast(input, dtype)
    if dtype is None and not is_float(x.dtype) and x.dtype not in _SUMMED_AS_INT64:
        x = core.cast(x, mstype.int64)
    return core.sum(x, to_axes(dim, "ops.sum"), check_bool("ops.sum", "keepdim", keepdim))


def reduce_sum(x: Tensor, axis: Axis = (), keep_dims: bool = False, skip_mode: bool = False) -> Tensor:
    """Sums elements over axes in x's type; for bool it is `any`.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; () is all. Default: ().
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        skip_mode (bool): Whether an empty `axis` returns x unchanged. Default: False.

    Returns:
        The sums.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reduce_sum(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
        [4. 6.]
    """
    axes = to_axes(axis, "ops.ReduceSum")
    if skip_mode and not axes:
        return x
    return core.any(x, axes, keep_dims) if x.dtype is mstype.bool_ else _in_own_type(core.sum(x, axes, keep_dims), x)


def mean(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Computes the mean over axes. Integers give the mean in their type, rounded towards 0, as MindSpore's ReduceMean
    does.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The means.

    Raises:
        TypeError: If `keep_dims` is not a bool.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mean(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [1.5 3.5]
    """
    axes, keep = to_axes(axis, "ops.mean"), check_bool("ops.mean", "keep_dims", keep_dims)
    if is_float(x.dtype) or x.dtype is mstype.bool_:
        return core.mean(x, axes, keep)
    return _mean_of_integers(x, axes, keep)


def _mean_of_integers(x: Tensor, axes: list, keep: bool) -> Tensor:
    """Returns the mean rounded towards 0. Quotients and remainders are summed separately, so that no sum overflows
    int64.
    """
    n, whole = _count(x.shape, axes), core.cast(x, mstype.int64)
    rest = core.sum(core.mod(whole, n), axes, keep)
    floor_ = core.add(core.sum(core.floor_div(whole, n), axes, keep), core.floor_div(rest, n))
    inexact = core.logical_and(core.less(floor_, 0), core.not_equal(core.mod(rest, n), 0))
    return core.cast(core.add(floor_, core.cast(inexact, mstype.int64)), x.dtype)


reduce_mean = mean


def prod(input: Tensor, axis: Axis = None, keep_dims: bool = False, dtype=None) -> Tensor:
    """Multiplies elements over axes. bool and integers give int64 unless `dtype` is given (in era 1 int32 is kept).

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The products.

    Raises:
        TypeError: If `keep_dims` is not a bool.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.prod(ms.Tensor([[1, 2], [3, 4]]), 1))
        [ 2 12]
    """
    x = input if dtype is None else core.cast(input, dtype)
    if dtype is None and not is_float(x.dtype) and x.dtype not in _SUMMED_AS_INT64 and era() == 2:
        x = core.cast(x, mstype.int64)
    return core.prod(x, to_axes(axis, "ops.prod"), check_bool("ops.prod", "keep_dims", keep_dims))


def reduce_prod(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Multiplies elements over axes in x's type.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The products.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ReduceProd()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [ 2. 12.]
    """
    return _in_own_type(core.prod(x, to_axes(axis, "ops.ReduceProd"), check_bool("ops.ReduceProd", "keep_dims", keep_dims)), x)


def all(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Returns whether all elements over axes are not 0.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        A bool tensor.

    Raises:
        TypeError: If `keep_dims` is not a bool.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.all(ms.Tensor([[True, False], [True, True]]), 1))
        [False  True]
    """
    return core.all(input, to_axes(axis, "ops.all"), check_bool("ops.all", "keep_dims", keep_dims))


def any(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Returns whether any element over axes is not 0.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        A bool tensor.

    Raises:
        TypeError: If `keep_dims` is not a bool.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.any(ms.Tensor([[True, False], [False, False]]), 1))
        [ True False]
    """
    return core.any(input, to_axes(axis, "ops.any"), check_bool("ops.any", "keep_dims", keep_dims))


def _bounded(x: Tensor, initial, where, combine) -> Tensor:
    """Returns x with elements outside `where` replaced by `initial`, which takes part in the extremum."""
    if where is not None and where is not True:
        if initial is None:
            fail(ValueError, "where needs initial", "ops.amax", "give the value that replaces omitted elements")
        x = core.where(where, x, initial)
    return x if initial is None else combine(x, initial)


def amax(input: Tensor, axis: Axis = None, keepdims: bool = False, *, initial=None, where=None) -> Tensor:
    """Returns the largest element over axes. NaN wins; equal elements share the gradient.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (number): A value that takes part in the maximum. Default: None.
        where (bool or Tensor): The elements that take part; it needs `initial`. Default: None.

    Returns:
        The maxima.

    Raises:
        TypeError: If `keepdims` is not a bool.
        ValueError: If an axis is out of range, or `where` is given without `initial`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.amax(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [5. 7.]
    """
    return core.max(_bounded(input, initial, where, core.maximum), to_axes(axis, "ops.amax"), check_bool("ops.amax", "keepdims", keepdims))


def amin(input: Tensor, axis: Axis = None, keepdims: bool = False, *, initial=None, where=None) -> Tensor:
    """Returns the smallest element over axes. NaN wins; equal elements share the gradient.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (number): A value that takes part in the minimum. Default: None.
        where (bool or Tensor): The elements that take part; it needs `initial`. Default: None.

    Returns:
        The minima.

    Raises:
        TypeError: If `keepdims` is not a bool.
        ValueError: If an axis is out of range, or `where` is given without `initial`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.amin(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [1. 2.]
    """
    return core.min(_bounded(input, initial, where, core.minimum), to_axes(axis, "ops.amin"), check_bool("ops.amin", "keepdims", keepdims))


def reduce_max(x: Tensor, axis: Axis = (), keep_dims: bool = False) -> Tensor:
    """Returns the largest element over axes; see `amax`.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; () is all. Default: ().
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The maxima.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reduce_max(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 0))
        [7. 5.]
    """
    return amax(x, axis, keep_dims)


def reduce_min(x: Tensor, axis: Axis = (), keep_dims: bool = False) -> Tensor:
    """Returns the smallest element over axes; see `amin`.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; () is all. Default: ().
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The minima.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reduce_min(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 0))
        [1. 2.]
    """
    return amin(x, axis, keep_dims)


def aminmax(input: Tensor, *, axis: Optional[int] = 0, keepdims: bool = False) -> tuple:
    """Returns the smallest and the largest element along an axis.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis; None means all elements. Default: 0.
        keepdims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (minima, maxima).

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.aminmax(ms.Tensor([1.0, 5.0, 3.0])))
        1.0 5.0
    """
    return amin(input, axis, keepdims), amax(input, axis, keepdims)


def _extreme_with_index(x: Tensor, axis: int, keep_dims: bool, find, where: str) -> tuple:
    """Returns (value, index). The value is gathered at the index, so its gradient goes to that one element."""
    if not x.shape:
        return x, core.full((), 0, mstype.int64)
    axis = to_axis(axis, len(x.shape), where)
    index = find(x, axis, True)
    value = core.gather_elements(x, index, axis)
    return (value, index) if keep_dims else (core.squeeze(value, axis), core.squeeze(index, axis))


def max(input: Tensor, axis: Optional[int] = None, keepdims: bool = False, *, initial=None, where=None) -> tuple:
    """Returns the largest elements along an axis and their indices.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis; None means all elements. Default: None.
        keepdims (bool): Whether the reduced axis is kept with size 1; no effect if `axis` is None. Default: False.
        initial (number): A value that takes part in the maximum. Default: None.
        where (bool or Tensor): The elements that take part; it needs `initial`. Default: None.

    Returns:
        (values, int64 indices); with `axis` None (value, 0).

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range, or `where` is given without `initial`.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.max(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [5. 7.] [1 0]
    """
    if axis is None:
        return amax(input, None, initial=initial, where=where), core.full((), 0, mstype.int64)
    return _extreme_with_index(_bounded(input, initial, where, core.maximum), axis, keepdims, core.argmax, "ops.max")


def min(input: Tensor, axis: Optional[int] = None, keepdims: bool = False, *, initial=None, where=None) -> tuple:
    """Returns the smallest elements along an axis and their indices.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis; None means all elements. Default: None.
        keepdims (bool): Whether the reduced axis is kept with size 1; no effect if `axis` is None. Default: False.
        initial (number): A value that takes part in the minimum. Default: None.
        where (bool or Tensor): The elements that take part; it needs `initial`. Default: None.

    Returns:
        (values, int64 indices); with `axis` None (value, 0).

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range, or `where` is given without `initial`.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.min(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [1. 2.] [0 1]
    """
    if axis is None:
        return amin(input, None, initial=initial, where=where), core.full((), 0, mstype.int64)
    return _extreme_with_index(_bounded(input, initial, where, core.minimum), axis, keepdims, core.argmin, "ops.min")


def max_with_index(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """Returns the index and the value of the largest element along an axis: the index first.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis. Default: 0.
        keep_dims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (int64 indices, values).

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.ArgMaxWithValue()(ms.Tensor([1.0, 5.0, 3.0])))
        1 5.0
    """
    return _extreme_with_index(x, axis, keep_dims, core.argmax, "ops.ArgMaxWithValue")[::-1]


def min_with_index(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """Returns the index and the value of the smallest element along an axis: the index first.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis. Default: 0.
        keep_dims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (int64 indices, values).

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.ArgMinWithValue()(ms.Tensor([1.0, 5.0, 3.0])))
        0 1.0
    """
    return _extreme_with_index(x, axis, keep_dims, core.argmin, "ops.ArgMinWithValue")[::-1]


def _arg(x: Tensor, axis: Optional[int], keep: bool, find, where: str) -> Tensor:
    if axis is None:
        return find(core.reshape(x, (-1,)), 0, False)
    return find(x, to_axis(axis, len(x.shape), where), check_bool(where, "keepdims", keep))


def argmax(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Returns the index of the first largest element along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension; None uses the flat tensor. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        An int64 tensor.

    Raises:
        TypeError: If `keepdim` is not a bool.
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.argmax(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [1 0]
    """
    return _arg(input, dim, keepdim, core.argmax, "ops.argmax")


def argmin(input: Tensor, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """Returns the index of the first smallest element along an axis.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis; None uses the flat tensor. Default: None.
        keepdims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        An int32 tensor, as in MindSpore.

    Raises:
        TypeError: If `keepdims` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.argmin(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [0 1]
    """
    return core.cast(_arg(input, axis, keepdims, core.argmin, "ops.argmin"), mstype.int32)


def typed_argmax(x: Tensor, axis: int = -1, output_type=mstype.int32) -> Tensor:
    """Returns the index of the first largest element along an axis.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis. Default: -1.
        output_type (dtype): The type of the indices. Default: int32.

    Returns:
        The indices.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Argmax()(ms.Tensor([[1.0, 5.0], [7.0, 2.0]])))
        [1 0]
    """
    return core.cast(_arg(x, axis, False, core.argmax, "ops.Argmax"), output_type)


def typed_argmin(x: Tensor, axis: int = -1, output_type=mstype.int32) -> Tensor:
    """Returns the index of the first smallest element along an axis.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis. Default: -1.
        output_type (dtype): The type of the indices. Default: int32.

    Returns:
        The indices.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Argmin()(ms.Tensor([[1.0, 5.0], [7.0, 2.0]])))
        [0 1]
    """
    return core.cast(_arg(x, axis, False, core.argmin, "ops.Argmin"), output_type)


def _count(shape: tuple, axes: list) -> int:
    return math.prod(shape[a] for a in axes) if axes else math.prod(shape)


def _wide_var_mean(x: Tensor, axis: Axis, ddof: Union[int, bool], keepdims: bool) -> tuple:
    """Returns (variance, mean); half types give float32."""
    x, axes = wide(x), to_axes(axis, "ops.var")
    centre = core.mean(x, axes, True)
    total = core.sum(core.square(core.sub(x, centre)), axes, keepdims)
    n = _count(x.shape, axes) - int(ddof)
    return core.div(total, float(n) if n > 0 else 0.0), centre if keepdims else core.mean(x, axes, False)


def var_mean(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> tuple:
    """Computes the variance and the mean over axes. The sum of squares is divided by max(count - ddof, 0).

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        ddof (int or bool): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        (variance, mean).

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.var_mean(ms.Tensor([1.0, 2.0, 3.0, 4.0])))
        1.25 2.5
    """
    x = floating(input)
    return tuple(core.cast(t, x.dtype) for t in _wide_var_mean(x, axis, ddof, keepdims))


def var(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> Tensor:
    """Computes the variance over axes. The sum of squares is divided by max(count - ddof, 0).

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        ddof (int or bool): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The variances.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.var(ms.Tensor([1.0, 2.0, 3.0, 4.0])))
        1.25
    """
    return var_mean(input, axis, ddof, keepdims)[0]


def std(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> Tensor:
    """Computes the standard deviation over axes; see `var`.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        ddof (int or bool): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The standard deviations.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.std(ms.Tensor([1.0, 2.0, 3.0, 4.0])).asnumpy().round(4))
        1.118
    """
    return std_mean(input, axis, ddof, keepdims)[0]


def std_mean(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> tuple:
    """Computes the standard deviation and the mean over axes; see `var`.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        ddof (int or bool): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        (standard deviation, mean).

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.std_mean(ms.Tensor([1.0, 3.0])))
        1.0 2.0
    """
    x = floating(input)
    v, m = _wide_var_mean(x, axis, ddof, keepdims)
    return core.cast(core.power_or_zero(v, 0.5), x.dtype), core.cast(m, x.dtype)


def nansum(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """Sums elements over axes; NaN counts as 0.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The sums.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.nansum(ms.Tensor([1.0, float("nan"), 2.0])))
        3.0
    """
    return sum(core.where(core.isnan(input), 0, input), axis, keepdims, dtype=dtype)


def nanmean(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """Computes the mean over axes of the elements that are not NaN.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type of the result; None means input's type if that is floating. Default: None.

    Returns:
        The means.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.nanmean(ms.Tensor([1.0, float("nan"), 3.0])))
        2.0
    """
    x = wide(input)
    counted = core.cast(core.logical_not(core.isnan(x)), x.dtype)
    out = core.div(nansum(x, axis, keepdims), core.sum(counted, to_axes(axis, "ops.nanmean"), keepdims))
    return core.cast(out, dtype if dtype is not None else input.dtype if is_float(input.dtype) else out.dtype)


def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype=mstype.int32) -> Tensor:
    """Counts the elements over axes that are not 0.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; () is all. Default: ().
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type of the result. Default: int32.

    Returns:
        The counts.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.count_nonzero(ms.Tensor([[0, 1], [2, 3]]), 1))
        [1 2]
    """
    hits = x if x.dtype is mstype.bool_ else core.not_equal(x, 0)
    return core.cast(core.sum(hits, to_axes(axis, "ops.count_nonzero"), keep_dims), dtype)


def logsumexp(input: Tensor, axis: Axis = None, keep_dims: bool = False, *, dim: Axis = None, keepdim: Optional[bool] = None) -> Tensor:
    """Computes log(sum(exp(x))) over axes without overflow.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        dim (int or sequence of ints): MindSpore 2.6's name of `axis`. Default: None.
        keepdim (bool): MindSpore 2.6's name of `keep_dims`. Default: None.

    Returns:
        A tensor of the reduced shape.

    Raises:
        TypeError: If both `axis` and `dim` are given.
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logsumexp(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        3.4076
    """
    if axis is not None and dim is not None:
        fail(TypeError, f"the dimension is given twice, as axis={axis!r} and dim={dim!r}", "ops.logsumexp")
    return core.logsumexp(floating(input), to_axes(axis if dim is None else dim, "ops.logsumexp"), keep_dims if keepdim is None else keepdim)


def cumsum(x: Tensor, axis: int, dtype=None) -> Tensor:
    """Computes the sums up to and including each element along an axis. Integers keep their type.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cumsum(ms.Tensor([1, 2, 3]), 0))
        [1 3 6]
    """
    x = x if dtype is None else core.cast(x, dtype)
    return _in_own_type(core.cumsum(x, to_axis(axis, len(x.shape), "ops.cumsum")), x)


def _shifted(x: Tensor, axis: int, by: int, value: float) -> Tensor:
    """Shifts x by `by` places along axis, filling in `value`."""
    rank, size = len(x.shape), x.shape[axis]
    begin, end, pads = [0] * rank, list(x.shape), [0] * (2 * rank)
    end[axis] = size - by
    pads[2 * axis] = by
    return core.pad(core.slice(x, begin, end), pads, value)


def _reversed(x: Tensor, axis: int) -> Tensor:
    rank = len(x.shape)
    begin, end, stride = [0] * rank, list(x.shape), [1] * rank
    begin[axis], end[axis], stride[axis] = x.shape[axis] - 1, -x.shape[axis] - 1, -1
    return core.slice(x, begin, end, stride) if x.shape[axis] else x


def scan_sum(x: Tensor, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Computes running sums along an axis.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis.
        exclusive (bool): Whether the element itself is not included. Default: False.
        reverse (bool): Whether to sum from the end. Default: False.

    Returns:
        A tensor of x's shape and type.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.CumSum()(ms.Tensor([1.0, 2.0, 3.0]), 0))
        [1. 3. 6.]
        >>> print(ms.ops.CumSum(exclusive=True)(ms.Tensor([1.0, 2.0, 3.0]), 0))
        [0. 1. 3.]
    """
    axis = to_axis(to_int(axis, "axis", "ops.CumSum"), len(x.shape), "ops.CumSum")
    if not exclusive or not x.shape[axis]:
        return _in_own_type(_core.run_op("cumsum", [x], {"axis": axis, "reverse": bool(reverse)})[0], x)
    # Shifted: subtracting x from the running sum would lose terms that are small compared with x.
    y = core.cumsum(_shifted(_reversed(x, axis) if reverse else x, axis, 1, 0), axis)
    return _in_own_type(_reversed(y, axis) if reverse else y, x)


def scan_prod(x: Tensor, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Computes running products along an axis, rounded once.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis.
        exclusive (bool): Whether the element itself is not included. Default: False.
        reverse (bool): Whether to multiply from the end. Default: False.

    Returns:
        A tensor of x's shape and type.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.CumProd()(ms.Tensor([1.0, 2.0, 3.0]), 0))
        [1. 2. 6.]
    """
    axis = to_axis(to_int(axis, "axis", "ops.CumProd"), len(x.shape), "ops.CumProd")
    if exclusive and x.shape[axis]:
        x = _reversed(_shifted(_reversed(x, axis), axis, 1, 1), axis) if reverse else _shifted(x, axis, 1, 1)
    return _core.run_op("cumprod", [x], {"axis": axis, "reverse": bool(reverse)})[0]


def cumprod(input: Tensor, dim: int, dtype=None) -> Tensor:
    """Computes the products up to and including each element along a dimension.

    Integers give int64 unless `dtype` is given (in era 1 they keep their type).

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cumprod(ms.Tensor([1, 2, 3]), 0))
        [1 2 6]
    """
    if dtype is None and not is_float(input.dtype) and era() == 2:
        dtype = mstype.int64
    return scan_prod(input if dtype is None else core.cast(input, dtype), dim)


def _scan_extreme(x: Tensor, axis: int, better, where: str) -> tuple:
    axis = to_axis(axis, len(x.shape), where)
    size = x.shape[axis]
    shape = [1] * len(x.shape)
    shape[axis] = size
    index = core.broadcast_to(core.reshape(core.arange(0, size), shape), x.shape)
    value, step = x, 1
    while step < size:
        older, older_index = _shifted(value, axis, step, 0), _shifted(index, axis, step, -1)
        wins = better(older, value)
        if is_float(x.dtype):  # NaN is kept
            wins = core.logical_or(wins, core.logical_and(core.isnan(older), core.logical_not(core.isnan(value))))
        take = core.logical_and(core.greater_equal(older_index, 0), wins)
        value, index = core.where(take, older, value), core.where(take, older_index, index)
        step *= 2
    return value, index


def cummax(input: Tensor, axis: int) -> tuple:
    """Returns the largest element so far along an axis and its index. Of equal elements the last one counts; NaN wins.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis.

    Returns:
        (values, int64 indices), both of input's shape.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.cummax(ms.Tensor([1, 3, 2]), 0))
        [1 3 3] [0 1 1]
    """
    return _scan_extreme(input, axis, core.greater, "ops.cummax")


def cummin(input: Tensor, axis: int) -> tuple:
    """Returns the smallest element so far along an axis and its index. Of equal elements the last one counts; NaN wins.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis.

    Returns:
        (values, int32 indices), both of input's shape. As in MindSpore, the indices of `cummax` are int64.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.cummin(ms.Tensor([2, 3, 1]), 0))
        [2 2 1] [0 0 2]
    """
    value, index = _scan_extreme(input, axis, core.less, "ops.cummin")
    return value, core.cast(index, mstype.int32)


@rounded_once()
def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """Computes the logarithm of the running sums of exp along an axis without overflow; it is rounded once, as
    `scan_prod` is.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logcumsumexp(ms.Tensor([0.0, 0.0, 0.0]), 0).asnumpy().round(4))
        [0.     0.6931 1.0986]
    """
    y = floating(input)
    axis = to_axis(axis, len(y.shape), "ops.logcumsumexp")
    step = 1
    while step < y.shape[axis]:
        y = logaddexp(y, _shifted(y, axis, step, -math.inf))
        step *= 2
    return y


def topk(input: Tensor, k: int, dim: Optional[int] = None, largest: bool = True, sorted: bool = True) -> tuple:
    """Returns the k largest or smallest elements along a dimension, in order, with their indices.

    Of equal values the one with the lower index comes first.

    Args:
        input (Tensor): The tensor.
        k (int): The number of elements.
        dim (int): The dimension; None means the last one. Default: None.
        largest (bool): Whether to return the largest elements; False returns the smallest. Default: True.
        sorted (bool): No effect: the result is always sorted. MindSpore leaves the order open for False.
            Default: True.

    Returns:
        (values, int32 indices).

    Raises:
        ValueError: If `dim` is out of range or `k` exceeds the dimension.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.topk(ms.Tensor([1.0, 4.0, 2.0, 3.0]), 2))
        [4. 3.] [1 3]
    """
    dim = -1 if dim is None else to_axis(dim, len(input.shape), "ops.topk")
    values, indices = core.topk(input, to_int(k, "k", "ops.topk"), dim, largest)
    return values, core.cast(indices, mstype.int32)


def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple:
    """Returns the k largest elements along the last axis with their indices; see `topk`.

    Args:
        input_x (Tensor): The tensor.
        k (int): The number of elements.
        sorted (bool): No effect: the result is always sorted. Default: True.

    Returns:
        (values, int32 indices).

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.top_k(ms.Tensor([1.0, 4.0, 2.0, 3.0]), 2))
        [4. 3.] [1 3]
    """
    return topk(input_x, k, None, True, sorted)


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple:
    """Sorts elements along an axis. Equal values keep their order.

    Args:
        input_x (Tensor): The tensor.
        axis (int): The axis. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.

    Returns:
        (sorted values, int32 indices).

    Raises:
        TypeError: If `descending` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.sort(ms.Tensor([3.0, 1.0, 2.0])))
        [1. 2. 3.] [1 2 0]
    """
    axis = to_axis(axis, len(input_x.shape), "ops.sort")
    return topk(input_x, input_x.shape[axis] if input_x.shape else 1, axis, check_bool("ops.sort", "descending", descending))


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """Returns the indices that sort a tensor along an axis; see `sort`.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.

    Returns:
        An int32 tensor of input's shape.

    Raises:
        TypeError: If `descending` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.argsort(ms.Tensor([3.0, 1.0, 2.0])))
        [1 2 0]
    """
    return sort(input, axis, descending)[1]


def msort(input: Tensor) -> Tensor:
    """Sorts elements along the first axis.

    Args:
        input (Tensor): The tensor.

    Returns:
        The sorted values.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.msort(ms.Tensor([[3, 1], [2, 4]])))
        [[2 1]
         [3 4]]
    """
    return sort(input, 0)[0]


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple:
    """Returns the median along an axis and the index of one such element.

    Of an even count it is the lower of the two middle elements. If there is a NaN, the median is NaN.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis. Default: -1.
        keepdims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (medians, int64 indices).

    Raises:
        ValueError: If `axis` is out of range or the dimension is empty.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.median(ms.Tensor([3.0, 1.0, 2.0, 4.0])))
        2.0 2
    """
    axis = to_axis(axis, len(input.shape), "ops.median")
    if not input.shape:
        return input, core.full((), 0, mstype.int64)
    if not input.shape[axis]:
        fail(ValueError, f"dimension {axis} of {input.shape} has no elements to take the median of", "ops.median")
    values, indices = core.topk(input, input.shape[axis], axis, False)
    middle = (input.shape[axis] - 1) // 2
    begin, end = [0] * len(input.shape), list(input.shape)
    begin[axis], end[axis] = middle, middle + 1
    out = core.slice(values, begin, end), core.slice(indices, begin, end)
    if is_float(input.dtype) and input.shape:
        unknown = core.isnan(input)
        some = core.any(unknown, [axis], True)
        out = core.where(some, math.nan, out[0]), core.where(some, core.argmax(core.cast(unknown, mstype.float32), axis, True), out[1])
    return out if keepdims else tuple(core.squeeze(t, axis) for t in out)


def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple:
    """Returns the median along an axis of the elements that are not NaN, and the index of one such element.

    Of an even count it is the lower of the two middle elements. If all elements are NaN, it is NaN with the first
    index.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis. Default: -1.
        keepdims (bool): Whether the reduced axis is kept with size 1. Default: False.

    Returns:
        (medians, int64 indices).

    Raises:
        ValueError: If `axis` is out of range or the dimension is empty.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.nanmedian(ms.Tensor([3.0, float("nan"), 1.0])))
        1.0 2
    """
    if not is_float(input.dtype) or not input.shape:
        return median(input, axis, keepdims)
    axis = to_axis(axis, len(input.shape), "ops.nanmedian")
    if not input.shape[axis]:
        fail(ValueError, f"dimension {axis} of {input.shape} has no elements to take the median of", "ops.nanmedian")
    unknown = core.isnan(input)
    order = core.topk(core.where(unknown, math.inf, input), input.shape[axis], axis, False)[1]
    last = core.topk(core.gather_elements(core.cast(unknown, mstype.float32), order, axis), input.shape[axis], axis, False)[1]
    order = core.gather_elements(order, last, axis)  # by value, then NaN, also where NaN was sorted among infinities
    known = core.sum(core.logical_not(unknown), [axis], True)
    place = core.gather_elements(order, core.maximum(core.floor_div(core.sub(known, 1), 2), 0), axis)
    out = core.gather_elements(input, place, axis), place
    return out if keepdims else tuple(core.squeeze(t, axis) for t in out)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple:
    """Returns the k-th smallest element along a dimension and its index.

    Args:
        input (Tensor): The tensor.
        k (int): The rank of the element, counted from 1.
        dim (int): The dimension. Default: -1.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        (values, int64 indices).

    Raises:
        ValueError: If `k` exceeds the dimension or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.Tensor([3.0, 1.0, 2.0]).kthvalue(2))
        2.0 2
    """
    axis = to_axis(dim, len(input.shape), "ops.kthvalue")
    k = to_count(k, "k", "ops.kthvalue", input.shape[axis])
    values, indices = core.topk(input, input.shape[axis], axis, False)
    begin, end = [0] * len(input.shape), list(input.shape)
    begin[axis], end[axis] = k - 1, k
    out = core.slice(values, begin, end), core.slice(indices, begin, end)
    return out if keepdim else tuple(core.squeeze(t, axis) for t in out)


def norm(A: Tensor, ord: Union[None, int, float, str] = None, dim: Axis = None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """Computes the norm of vectors (`dim` is an int) or matrices (`dim` is two ints).

    Args:
        A (Tensor): The tensor.
        ord (str or number): The order. None means the 2-norm of all elements over `dim`. Vectors accept any number, inf
            and -inf; matrices accept "fro", "nuc", 1, -1, 2, -2, inf and -inf. Default: None.
        dim (int or sequence of ints): The dimension or dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not supported, or is given without `dim` and `A` is neither a vector nor a matrix.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.norm(ms.Tensor([3.0, 4.0])))
        5.0
        >>> print(ms.ops.norm(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, dim=(0, 1)))
        6.0
    """
    x = floating(A if dtype is None else core.cast(A, dtype))
    axes = to_axes(dim, "ops.norm")
    if ord is None or ord == "fro":
        return core.norm(x, 2.0, axes, keepdim)
    if dim is None:
        if len(x.shape) > 2:
            fail(ValueError, f"ord {ord!r} without dim needs a vector or a matrix, got {x.shape}", "ops.norm",
                 "give dim if a dimension is meant, or use ops.vector_norm for all elements")
        x, axes = (x, [0, 1]) if len(x.shape) == 2 else (core.reshape(x, (-1,)), [0])
    if len(axes) == 1 or not axes:
        return vector_norm(x, ord, tuple(axes), keepdim)
    return matrix_norm(x, ord, tuple(axes), keepdim)


def vector_norm(x: Tensor, ord: Union[int, float] = 2, axis: Axis = None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """Computes (sum |x|^ord)^(1/ord) over axes.

    Args:
        x (Tensor): The tensor.
        ord (number): The order; inf is the largest |x|, -inf the smallest, 0 the number of elements that are not 0.
            Default: 2.
        axis (int or sequence of ints): The axes; None or () is all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not a number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.vector_norm(ms.Tensor([3.0, -4.0]), 1))
        7.0
    """
    x, axes = floating(x if dtype is None else core.cast(x, dtype)), to_axes(axis, "ops.vector_norm")
    if not isinstance(ord, (int, float)):
        fail(ValueError, f"ord: {ord!r} is not an order of a vector norm", "ops.norm", "give a number, or two axes for a matrix norm")
    if ord in (1, 2, math.inf):
        return core.norm(x, float(ord), axes, keepdims)
    if ord == -math.inf:
        return core.min(core.abs(x), axes, keepdims)
    if ord == 0:
        return core.cast(count_nonzero(x, axes, keepdims), x.dtype)
    size = core.abs(wide(x))
    if ord < 0:  # an element of 0 makes the norm 0
        zero = core.equal(size, 0)
        powers = core.pow(core.where(zero, 1.0, size), float(ord))
        out = core.where(core.any(zero, axes, keepdims), 0.0, core.pow(core.sum(powers, axes, keepdims), 1.0 / ord))
    else:
        out = core.power_or_zero(core.sum(core.power_or_zero(size, float(ord)), axes, keepdims), 1.0 / ord)
    return core.cast(out, x.dtype)


def matrix_norm(A: Tensor, ord: Union[int, float, str] = "fro", axis: Axis = (-2, -1), keepdims: bool = False, *, dtype=None) -> Tensor:
    """Computes the norm of the matrices that two axes span. Orders by singular values give float32 for half types.

    Args:
        A (Tensor): The tensor.
        ord (str or number): The order: "fro", "nuc", 1 and -1 (column sums), inf and -inf (row sums), 2 and -2
            (singular values). Default: "fro".
        axis (int or sequence of ints): The axes of the rows and the columns. Default: (-2, -1).
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not supported or an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_norm(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        6.0
    """
    x = floating(A if dtype is None else core.cast(A, dtype))
    rank = len(x.shape)
    row, column = (to_axis(a, rank, "ops.matrix_norm") for a in to_axes(axis, "ops.matrix_norm"))
    if ord == "fro":
        return core.norm(x, 2.0, [row, column], keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        summed, kept = (row, column) if ord in (1, -1) else (column, row)
        sums = core.sum(core.abs(x), [summed], True)
        out = (core.max if ord > 0 else core.min)(sums, [kept], True)
        return out if keepdims else core.reshape(out, [n for d, n in enumerate(x.shape) if d not in (row, column)])
    if ord not in ("nuc", 2, -2):
        fail(ValueError, f"ord: {ord!r} is not an order of a matrix norm", "ops.norm", "use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
    perm = [d for d in range(rank) if d not in (row, column)] + [row, column]
    values = core.svd(wide(core.transpose(x, perm)))[1]
    out = core.sum(values, [-1]) if ord == "nuc" else core.max(values, [-1]) if ord == 2 else core.min(values, [-1])
    if not keepdims:
        return out
    return core.reshape(out, [1 if d in (row, column) else n for d, n in enumerate(x.shape)])


def lp_norm(x: Tensor, axis: Axis, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> Tensor:
    """Computes (sum |x|^p)^(1/p) over axes, at least epsilon^(1/p).

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes.
        p (int): The order. Default: 2.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.
        epsilon (float): The least sum. Default: 1e-12.

    Returns:
        The norms.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.LpNorm(axis=[0], p=1)(ms.Tensor([3.0, -4.0])))
        7.0
    """
    out = vector_norm(x, p, axis, keep_dims)
    return core.maximum(out, epsilon ** (1.0 / p)) if p else out


def square_sum_all(x1: Tensor, x2: Tensor) -> tuple:
    """Computes the sums of squares of two tensors.

    Args:
        x1 (Tensor): The first tensor.
        x2 (Tensor): The second tensor.

    Returns:
        (sum of squares of x1, sum of squares of x2).

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.SquareSumAll()(ms.Tensor([3.0, 4.0]), ms.Tensor([1.0])))
        25.0 1.0
    """
    return core.sum(core.square(x1)), core.sum(core.square(x2))


def reduce_std(x: Tensor, axis: Axis = (), unbiased: bool = True, keep_dims: bool = False) -> tuple:
    """Computes the standard deviation and the mean over axes.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; () is all. Default: ().
        unbiased (bool): Whether to divide by count - 1 instead of the count. Default: True.
        keep_dims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        (standard deviation, mean).

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.ReduceStd(unbiased=False)(ms.Tensor([1.0, 3.0])))
        1.0 2.0
    """
    return std_mean(x, axis, 1 if unbiased else 0, keep_dims)


__all__ = exported(globals())
