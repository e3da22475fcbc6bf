"""Functions of sindri.ops that reduce or order elements along axes. An axis is an int, a tuple of ints, or None or () for all axes."""
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


# Types whose sums and products the kernels form in int64: casting them first would copy eight bytes an element.
_SUMMED_AS_INT64 = (mstype.bool_, mstype.uint8)


def sum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """Sum over axes; bool and integers give int64 unless dtype says otherwise. Raises ValueError for an axis out of range."""
    x = input if dtype is None else core.cast(input, dtype)
    if dtype is None and not is_float(x.dtype) and x.dtype not in _SUMMED_AS_INT64:
        x = core.cast(x, mstype.int64)
    return core.sum(x, to_axes(dim, "ops.sum"), check_bool("ops.sum", "keepdim", keepdim))


def reduce_sum(x: Tensor, axis: Axis = (), keep_dims: bool = False, skip_mode: bool = False) -> Tensor:
    """Sum over axes in x's type; of bool: any. With skip_mode an empty axis leaves x as it is."""
    axes = to_axes(axis, "ops.ReduceSum")
    if skip_mode and not axes:
        return x
    return core.any(x, axes, keep_dims) if x.dtype is mstype.bool_ else _in_own_type(core.sum(x, axes, keep_dims), x)


def mean(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Mean over axes; of integers in their type, rounded towards 0, as MindSpore's ReduceMean."""
    axes, keep = to_axes(axis, "ops.mean"), check_bool("ops.mean", "keep_dims", keep_dims)
    if is_float(x.dtype) or x.dtype is mstype.bool_:
        return core.mean(x, axes, keep)
    return _mean_of_integers(x, axes, keep)


def _mean_of_integers(x: Tensor, axes: list, keep: bool) -> Tensor:
    """Rounded towards 0. Quotients and remainders are added up apart, so that no sum leaves int64."""
    n, whole = _count(x.shape, axes), core.cast(x, mstype.int64)
    rest = core.sum(core.mod(whole, n), axes, keep)
    floor_ = core.add(core.sum(core.floor_div(whole, n), axes, keep), core.floor_div(rest, n))
    inexact = core.logical_and(core.less(floor_, 0), core.not_equal(core.mod(rest, n), 0))
    return core.cast(core.add(floor_, core.cast(inexact, mstype.int64)), x.dtype)


reduce_mean = mean


def prod(input: Tensor, axis: Axis = None, keep_dims: bool = False, dtype=None) -> Tensor:
    """Product over axes; bool and integers give int64 unless dtype says otherwise (in era 1 int32 stays)."""
    x = input if dtype is None else core.cast(input, dtype)
    if dtype is None and not is_float(x.dtype) and x.dtype not in _SUMMED_AS_INT64 and era() == 2:
        x = core.cast(x, mstype.int64)
    return core.prod(x, to_axes(axis, "ops.prod"), check_bool("ops.prod", "keep_dims", keep_dims))


def reduce_prod(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Product over axes in x's type."""
    return _in_own_type(core.prod(x, to_axes(axis, "ops.ReduceProd"), check_bool("ops.ReduceProd", "keep_dims", keep_dims)), x)


def all(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Whether all elements over axes are not 0."""
    return core.all(input, to_axes(axis, "ops.all"), check_bool("ops.all", "keep_dims", keep_dims))


def any(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Whether any element over axes is not 0."""
    return core.any(input, to_axes(axis, "ops.any"), check_bool("ops.any", "keep_dims", keep_dims))


def _bounded(x: Tensor, initial, where, combine) -> Tensor:
    """x with elements outside `where` replaced by `initial`, which takes part in the extremum."""
    if where is not None and where is not True:
        if initial is None:
            fail(ValueError, "where needs initial", "ops.amax", "give the value that stands for elements left out")
        x = core.where(where, x, initial)
    return x if initial is None else combine(x, initial)


def amax(input: Tensor, axis: Axis = None, keepdims: bool = False, *, initial=None, where=None) -> Tensor:
    """Largest element over axes; NaN wins; equal ones share the gradient. `initial` takes part, `where` (bool) leaves elements out."""
    return core.max(_bounded(input, initial, where, core.maximum), to_axes(axis, "ops.amax"), check_bool("ops.amax", "keepdims", keepdims))


def amin(input: Tensor, axis: Axis = None, keepdims: bool = False, *, initial=None, where=None) -> Tensor:
    """Smallest element over axes; see amax."""
    return core.min(_bounded(input, initial, where, core.minimum), to_axes(axis, "ops.amin"), check_bool("ops.amin", "keepdims", keepdims))


def reduce_max(x: Tensor, axis: Axis = (), keep_dims: bool = False) -> Tensor:
    """Largest element over axes."""
    return amax(x, axis, keep_dims)


def reduce_min(x: Tensor, axis: Axis = (), keep_dims: bool = False) -> Tensor:
    """Smallest element over axes."""
    return amin(x, axis, keep_dims)


def aminmax(input: Tensor, *, axis: Optional[int] = 0, keepdims: bool = False) -> tuple:
    """(amin, amax) along an axis, or of everything when it is None."""
    return amin(input, axis, keepdims), amax(input, axis, keepdims)


def _extreme_with_index(x: Tensor, axis: int, keep_dims: bool, find, where: str) -> tuple:
    """(value, index): the value is picked at the index, so its gradient goes to that one element."""
    if not x.shape:
        return x, core.full((), 0, mstype.int64)
    axis = to_axis(axis, len(x.shape), where)
    index = find(x, axis, True)
    value = core.gather_elements(x, index, axis)
    return (value, index) if keep_dims else (core.squeeze(value, axis), core.squeeze(index, axis))


def max(input: Tensor, axis: Optional[int] = None, keepdims: bool = False, *, initial=None, where=None) -> tuple:
    """(largest values, their int64 indices) along an axis; over everything with axis None: (value, 0), whatever keepdims is."""
    if axis is None:
        return amax(input, None, initial=initial, where=where), core.full((), 0, mstype.int64)
    return _extreme_with_index(_bounded(input, initial, where, core.maximum), axis, keepdims, core.argmax, "ops.max")


def min(input: Tensor, axis: Optional[int] = None, keepdims: bool = False, *, initial=None, where=None) -> tuple:
    """(smallest values, their int64 indices) along an axis; over everything with axis None: (value, 0), whatever keepdims is."""
    if axis is None:
        return amin(input, None, initial=initial, where=where), core.full((), 0, mstype.int64)
    return _extreme_with_index(_bounded(input, initial, where, core.minimum), axis, keepdims, core.argmin, "ops.min")


def max_with_index(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """(index, value) of the largest element along an axis: index first."""
    return _extreme_with_index(x, axis, keep_dims, core.argmax, "ops.ArgMaxWithValue")[::-1]


def min_with_index(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """(index, value) of the smallest element along an axis: index first."""
    return _extreme_with_index(x, axis, keep_dims, core.argmin, "ops.ArgMinWithValue")[::-1]


def _arg(x: Tensor, axis: Optional[int], keep: bool, find, where: str) -> Tensor:
    if axis is None:
        return find(core.reshape(x, (-1,)), 0, False)
    return find(x, to_axis(axis, len(x.shape), where), check_bool(where, "keepdims", keep))


def argmax(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first largest element along dim, or in the flat tensor."""
    return _arg(input, dim, keepdim, core.argmax, "ops.argmax")


def argmin(input: Tensor, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """Index (int32, as MindSpore's) of the first smallest element along axis, or in the flat tensor."""
    return core.cast(_arg(input, axis, keepdims, core.argmin, "ops.argmin"), mstype.int32)


def typed_argmax(x: Tensor, axis: int = -1, output_type=mstype.int32) -> Tensor:
    """Index of the first largest element along axis, in output_type."""
    return core.cast(_arg(x, axis, False, core.argmax, "ops.Argmax"), output_type)


def typed_argmin(x: Tensor, axis: int = -1, output_type=mstype.int32) -> Tensor:
    """Index of the first smallest element along axis, in output_type."""
    return core.cast(_arg(x, axis, False, core.argmin, "ops.Argmin"), output_type)


def _count(shape: tuple, axes: list) -> int:
    return math.prod(shape[a] for a in axes) if axes else math.prod(shape)


def _wide_var_mean(x: Tensor, axis: Axis, ddof: Union[int, bool], keepdims: bool) -> tuple:
    """(variance, mean), those of half types in float32."""
    x, axes = wide(x), to_axes(axis, "ops.var")
    centre = core.mean(x, axes, True)
    total = core.sum(core.square(core.sub(x, centre)), axes, keepdims)
    n = _count(x.shape, axes) - int(ddof)
    return core.div(total, float(n) if n > 0 else 0.0), centre if keepdims else core.mean(x, axes, False)


def var_mean(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> tuple:
    """(variance, mean) over axes; the sum of squares is divided by count - ddof, at least 0."""
    x = floating(input)
    return tuple(core.cast(t, x.dtype) for t in _wide_var_mean(x, axis, ddof, keepdims))


def var(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> Tensor:
    """Variance over axes; the sum of squares is divided by count - ddof, at least 0."""
    return var_mean(input, axis, ddof, keepdims)[0]


def std(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> Tensor:
    """Standard deviation over axes; see var."""
    return std_mean(input, axis, ddof, keepdims)[0]


def std_mean(input: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False) -> tuple:
    """(standard deviation, mean) over axes."""
    x = floating(input)
    v, m = _wide_var_mean(x, axis, ddof, keepdims)
    return core.cast(core.power_or_zero(v, 0.5), x.dtype), core.cast(m, x.dtype)


def nansum(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """Sum over axes with NaN counted as 0."""
    return sum(core.where(core.isnan(input), 0, input), axis, keepdims, dtype=dtype)


def nanmean(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """Mean over axes of the elements that are not NaN."""
    x = wide(input)
    counted = core.cast(core.logical_not(core.isnan(x)), x.dtype)
    out = core.div(nansum(x, axis, keepdims), core.sum(counted, to_axes(axis, "ops.nanmean"), keepdims))
    return core.cast(out, dtype if dtype is not None else input.dtype if is_float(input.dtype) else out.dtype)


def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype=mstype.int32) -> Tensor:
    """Number of elements over axes that are not 0."""
    hits = x if x.dtype is mstype.bool_ else core.not_equal(x, 0)
    return core.cast(core.sum(hits, to_axes(axis, "ops.count_nonzero"), keep_dims), dtype)


def logsumexp(input: Tensor, axis: Axis = None, keep_dims: bool = False, *, dim: Axis = None, keepdim: Optional[bool] = None) -> Tensor:
    """log(sum(exp(x))) over axes, without overflow. dim and keepdim are the names of 2.6 for axis and keep_dims."""
    if axis is not None and dim is not None:
        fail(TypeError, f"the dimension is given twice, as axis={axis!r} and dim={dim!r}", "ops.logsumexp")
    return core.logsumexp(floating(input), to_axes(axis if dim is None else dim, "ops.logsumexp"), keep_dims if keepdim is None else keepdim)


def cumsum(x: Tensor, axis: int, dtype=None) -> Tensor:
    """Sums up to and including each element along axis; integers keep their type."""
    x = x if dtype is None else core.cast(x, dtype)
    return _in_own_type(core.cumsum(x, to_axis(axis, len(x.shape), "ops.cumsum")), x)


def _shifted(x: Tensor, axis: int, by: int, value: float) -> Tensor:
    """x moved by `by` places along axis, `value` coming in."""
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
    """Running sums along axis; exclusive: without the element itself; reverse: from the end."""
    axis = to_axis(to_int(axis, "axis", "ops.CumSum"), len(x.shape), "ops.CumSum")
    if not exclusive or not x.shape[axis]:
        return _in_own_type(_core.run_op("cumsum", [x], {"axis": axis, "reverse": bool(reverse)})[0], x)
    # Shifted, as a sum from which x is taken away again has lost what is small beside it.
    y = core.cumsum(_shifted(_reversed(x, axis) if reverse else x, axis, 1, 0), axis)
    return _in_own_type(_reversed(y, axis) if reverse else y, x)


def scan_prod(x: Tensor, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Running products along axis, rounded once; exclusive: without the element itself; reverse: from the end."""
    axis = to_axis(to_int(axis, "axis", "ops.CumProd"), len(x.shape), "ops.CumProd")
    if exclusive and x.shape[axis]:
        x = _reversed(_shifted(_reversed(x, axis), axis, 1, 1), axis) if reverse else _shifted(x, axis, 1, 1)
    return _core.run_op("cumprod", [x], {"axis": axis, "reverse": bool(reverse)})[0]


def cumprod(input: Tensor, dim: int, dtype=None) -> Tensor:
    """Products up to and including each element along dim; integers give int64 unless dtype says otherwise (in era 1 they keep their type)."""
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
        if is_float(x.dtype):  # NaN stays
            wins = core.logical_or(wins, core.logical_and(core.isnan(older), core.logical_not(core.isnan(value))))
        take = core.logical_and(core.greater_equal(older_index, 0), wins)
        value, index = core.where(take, older, value), core.where(take, older_index, index)
        step *= 2
    return value, index


def cummax(input: Tensor, axis: int) -> tuple:
    """(largest element so far along axis, its int64 index; of equal ones the last). NaN wins."""
    return _scan_extreme(input, axis, core.greater, "ops.cummax")


def cummin(input: Tensor, axis: int) -> tuple:
    """(smallest element so far along axis, its index; of equal ones the last). NaN wins. The index is int32, that of cummax int64, as MindSpore's."""
    value, index = _scan_extreme(input, axis, core.less, "ops.cummin")
    return value, core.cast(index, mstype.int32)


@rounded_once()
def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """log of the running sums of exp along axis, without overflow (rounds as in scan_prod)."""
    y = floating(input)
    axis = to_axis(axis, len(y.shape), "ops.logcumsumexp")
    step = 1
    while step < y.shape[axis]:
        y = logaddexp(y, _shifted(y, axis, step, -math.inf))
        step *= 2
    return y


def topk(input: Tensor, k: int, dim: Optional[int] = None, largest: bool = True, sorted: bool = True) -> tuple:
    """(values, int32 indices) of the k largest (smallest) elements along dim (the last), in order. With sorted=False MindSpore leaves the
    order open; here it is the same. Equal values keep the lower index first."""
    dim = -1 if dim is None else to_axis(dim, len(input.shape), "ops.topk")
    values, indices = core.topk(input, to_int(k, "k", "ops.topk"), dim, largest)
    return values, core.cast(indices, mstype.int32)


def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple:
    """(values, int32 indices) of the k largest elements along the last axis; see topk."""
    return topk(input_x, k, None, True, sorted)


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple:
    """(sorted values, their int32 indices) along axis; equal values keep their order."""
    axis = to_axis(axis, len(input_x.shape), "ops.sort")
    return topk(input_x, input_x.shape[axis] if input_x.shape else 1, axis, check_bool("ops.sort", "descending", descending))


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """Indices (int32) that sort the tensor along axis."""
    return sort(input, axis, descending)[1]


def msort(input: Tensor) -> Tensor:
    """Values sorted along the first axis."""
    return sort(input, 0)[0]


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple:
    """(median, int64 index of one such element) along axis; of an even count the lower of the two in the middle. NaN where there is one."""
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
    """(median of the elements that are not NaN, int64 index of one such element) along axis; of an even count the lower of the two in the middle.
    NaN and the first index where there is nothing else."""
    if not is_float(input.dtype) or not input.shape:
        return median(input, axis, keepdims)
    axis = to_axis(axis, len(input.shape), "ops.nanmedian")
    if not input.shape[axis]:
        fail(ValueError, f"dimension {axis} of {input.shape} has no elements to take the median of", "ops.nanmedian")
    unknown = core.isnan(input)
    order = core.topk(core.where(unknown, math.inf, input), input.shape[axis], axis, False)[1]
    last = core.topk(core.gather_elements(core.cast(unknown, mstype.float32), order, axis), input.shape[axis], axis, False)[1]
    order = core.gather_elements(order, last, axis)  # by value, behind them NaN, where they lie among infinities too
    known = core.sum(core.logical_not(unknown), [axis], True)
    place = core.gather_elements(order, core.maximum(core.floor_div(core.sub(known, 1), 2), 0), axis)
    out = core.gather_elements(input, place, axis), place
    return out if keepdims else tuple(core.squeeze(t, axis) for t in out)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple:
    """(k-th smallest value counted from 1, its int64 index) along dim. Raises ValueError for a k beyond that dimension."""
    axis = to_axis(dim, len(input.shape), "ops.kthvalue")
    k = to_count(k, "k", "ops.kthvalue", input.shape[axis])
    values, indices = core.topk(input, input.shape[axis], axis, False)
    begin, end = [0] * len(input.shape), list(input.shape)
    begin[axis], end[axis] = k - 1, k
    out = core.slice(values, begin, end), core.slice(indices, begin, end)
    return out if keepdim else tuple(core.squeeze(t, axis) for t in out)


def norm(A: Tensor, ord: Union[None, int, float, str] = None, dim: Axis = None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """Norm of vectors (dim an int) or matrices (dim two ints). ord None: the 2-norm of all elements over dim; for vectors any number,
    inf and -inf; for matrices 'fro', 'nuc', 1, -1, 2, -2, inf and -inf. Raises ValueError for others, and for ord without dim unless A is one or the
    other."""
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
    """(sum |x|^ord)^(1/ord) over axes; inf: largest |x|, -inf: smallest, 0: number of elements that are not 0."""
    x, axes = floating(x if dtype is None else core.cast(x, dtype)), to_axes(axis, "ops.vector_norm")
    if not isinstance(ord, (int, float)):
        fail(ValueError, f"ord: {ord!r} is no order of a vector norm", "ops.norm", "give a number, or two axes for a matrix norm")
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
    """Norm of the matrices that two axes span: 'fro', 'nuc', 1 and -1 (column sums), inf and -inf (row sums), 2 and -2 (singular values). Orders by
    singular values give float32 for half types."""
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
        fail(ValueError, f"ord: {ord!r} is no order of a matrix norm", "ops.norm", "use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
    perm = [d for d in range(rank) if d not in (row, column)] + [row, column]
    values = core.svd(wide(core.transpose(x, perm)))[1]
    out = core.sum(values, [-1]) if ord == "nuc" else core.max(values, [-1]) if ord == 2 else core.min(values, [-1])
    if not keepdims:
        return out
    return core.reshape(out, [1 if d in (row, column) else n for d, n in enumerate(x.shape)])


def lp_norm(x: Tensor, axis: Axis, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> Tensor:
    """(sum |x|^p)^(1/p) over axes, at least epsilon^(1/p)."""
    out = vector_norm(x, p, axis, keep_dims)
    return core.maximum(out, epsilon ** (1.0 / p)) if p else out


def square_sum_all(x1: Tensor, x2: Tensor) -> tuple:
    """(sum of squares of x1, sum of squares of x2)."""
    return core.sum(core.square(x1)), core.sum(core.square(x2))


def reduce_std(x: Tensor, axis: Axis = (), unbiased: bool = True, keep_dims: bool = False) -> tuple:
    """(standard deviation, mean) over axes; unbiased divides by count - 1."""
    return std_mean(x, axis, 1 if unbiased else 0, keep_dims)


__all__ = exported(globals())
