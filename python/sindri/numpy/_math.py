"""Mathematics and logic of sindri.numpy."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.numpy._convert import as_tensor, binary, typed, unary
from sindri.ops import function as F
from sindri.ops._util import Axis, Tensor, core, floating, is_float, to_axes, to_axis, to_int

_UNARY = """abs absolute negative floor ceil trunc exp expm1 exp2 log log2 log10 log1p sqrt square reciprocal sin cos tan sinh cosh tanh
deg2rad rad2deg isnan
isinf isfinite signbit logical_not"""
_BINARY = """add floor_divide maximum minimum equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
logaddexp logaddexp2
bitwise_and bitwise_or bitwise_xor hypot copysign fmod float_power"""

for _name in _UNARY.split():
    globals()[_name] = unary(_name, getattr(F, _name))
for _name, _source in (("arccos", "acos"), ("arccosh", "acosh"), ("arcsin", "asin"), ("arcsinh", "asinh"), ("arctan", "atan"), ("arctanh", "atanh"),
                       ("fabs", "abs"), ("radians", "deg2rad"), ("invert", "bitwise_not"), ("bitwise_not", "bitwise_not")):
    globals()[_name] = unary(_name, getattr(F, _source))
for _name in _BINARY.split():
    globals()[_name] = binary(_name, getattr(F, _name))
for _name, _function in (("multiply", core.mul), ("divide", core.div), ("true_divide", core.div)):  # in the type of both, 0-d or not
    globals()[_name] = binary(_name, _function)


def _heaviside(x1: Tensor, x2: Tensor) -> Tensor:
    common = core.add(x1, x2).dtype
    return F.heaviside(core.cast(as_tensor(x1), common), core.cast(as_tensor(x2), common))


globals()["heaviside"] = binary("heaviside", _heaviside)
for _name, _source in (("subtract", "sub"), ("power", "pow"), ("mod", "floor_mod"),
                       ("remainder", "floor_mod"), ("arctan2", "atan2"), ("matmul", "matmul")):
    globals()[_name] = binary(_name, getattr(F, _source))


def sign(x: Any, dtype=None) -> Tensor:
    """1, 0 or -1 by the sign of each element; NaN stays."""
    x = as_tensor(x)
    out = F.sign(x)
    return typed(core.where(core.isnan(x), x, out) if is_float(x.dtype) else out, dtype)


def positive(x: Any, dtype=None) -> Tensor:
    """The elements themselves. Raises TypeError for bool."""
    x = as_tensor(x)
    if x.dtype is mstype.bool_:
        fail(TypeError, "bool has no sign", "numpy.positive", "cast it to int32 first")
    return typed(x, dtype)


def rint(x: Any, dtype=None) -> Tensor:
    """The nearest whole number of each element, halves to even; integers give float32. Raises TypeError for bool."""
    x = as_tensor(x)
    return typed(F.rint(x if x.dtype is mstype.bool_ else floating(x)), dtype)


def cbrt(x: Any, dtype=None) -> Tensor:
    """The cube root of each element."""
    x = floating(as_tensor(x))
    zero = core.equal(x, 0)
    root = core.pow(core.where(zero, 1.0, core.abs(x)), 1.0 / 3.0)
    return typed(core.where(zero, 0.0, core.mul(F.sign(x), root)), dtype)


def fix(x: Any) -> Tensor:
    """Each element rounded towards 0, floating."""
    return F.trunc(floating(as_tensor(x)))


def isposinf(x: Any) -> Tensor:
    """True where the element is +infinity."""
    return F.isposinf(as_tensor(x))


def isneginf(x: Any) -> Tensor:
    """True where the element is -infinity."""
    return F.isneginf(as_tensor(x))


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """|a - b| <= atol + rtol * |b|."""
    return F.isclose(as_tensor(a), as_tensor(b), rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether two tensors have one shape and equal elements, as a bool tensor."""
    a1, a2 = as_tensor(a1), as_tensor(a2)
    if a1.shape != a2.shape:
        return Tensor(False)
    same = core.equal(a1, a2)
    return core.all(core.logical_or(same, core.logical_and(core.isnan(a1), core.isnan(a2))) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Whether two tensors broadcast and are equal then, as a bool tensor."""
    a1, a2 = as_tensor(a1), as_tensor(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return Tensor(False)
    return core.all(core.equal(a1, a2))


def divmod(x1: Any, x2: Any, dtype=None) -> tuple:  # noqa: A001
    """(floor_divide, mod)."""
    x1 = as_tensor(x1)
    return typed(F.floor_div(x1, x2), dtype), typed(core.mod(x1, x2), dtype)


def clip(x: Any, xmin: Any, xmax: Any, dtype=None) -> Tensor:
    """Elements brought into [xmin, xmax]; None leaves a side open."""
    return typed(F.clip_by_value(as_tensor(x), xmin, xmax), dtype)


def around(a: Any, decimals: int = 0) -> Tensor:
    """Rounded to decimals digits behind the point, halves to even."""
    return F.round(as_tensor(a), decimals=decimals)


round = around  # noqa: A001

# --- reductions -------------------------------------------------------------------------------------------------------------------------


def sum(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False, initial: Optional[float] = None) -> Tensor:  # noqa: A001
    """Sum over axes; integers give int64."""
    out = F.sum(as_tensor(a), axis, keepdims, dtype=dtype)
    return out if initial is None else core.add(out, initial)


def mean(a: Any, axis: Axis = None, keepdims: bool = False, dtype=None) -> Tensor:
    """Mean over axes; of integers in their type."""
    return F.mean(as_tensor(a) if dtype is None else core.cast(as_tensor(a), dtype), axis, keepdims)


def average(x: Any, axis: Axis = None, weights: Any = None, returned: bool = False) -> Any:
    """Mean over axes with weights; with returned also the sum of the weights. Raises ValueError for weights of another shape."""
    x = floating(as_tensor(x))
    if weights is None:
        out = F.mean(x, axis)
        total = core.full(out.shape, x.size / (out.size or 1), x.dtype)
        return (out, total) if returned else out
    weights = core.cast(as_tensor(weights), x.dtype)
    if weights.shape != x.shape:
        if not isinstance(axis, int) or len(weights.shape) != 1 or weights.shape[0] != x.shape[axis]:
            fail(ValueError, f"weights {weights.shape} do not fit {x.shape} along {axis}", "numpy.average")
        a = to_axis(axis if isinstance(axis, int) else 0, len(x.shape), "numpy.average")
        weights = core.broadcast_to(core.reshape(weights, [-1 if d == a else 1 for d in range(len(x.shape))]), x.shape)
    axes = to_axes(axis, "numpy.average")
    total = core.sum(weights, axes)
    out = core.div(core.sum(core.mul(x, weights), axes), total)
    return (out, total) if returned else out


def _extremum(reduce: Any) -> Any:
    def apply(a: Any, axis: Axis = None, keepdims: bool = False, initial: Optional[float] = None, where: Any = True) -> Tensor:
        return reduce(as_tensor(a), axis, keepdims, initial=initial, where=where)
    return apply


amax, amin = _extremum(F.amax), _extremum(F.amin)
amax.__doc__, amin.__doc__ = ("Largest element over axes; initial takes part, where (bool) leaves elements out.",
                              "Smallest element over axes; see amax.")
amax.__name__, amin.__name__ = "amax", "amin"
max, min = amax, amin  # noqa: A001


def ptp(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Largest less smallest element over axes."""
    return as_tensor(x).ptp(axis, keepdims)


def std(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Standard deviation over axes."""
    return F.std(as_tensor(x), axis, ddof, keepdims)


def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Variance over axes."""
    return F.var(as_tensor(x), axis, ddof, keepdims)


def argmax(a: Any, axis: Optional[int] = None) -> Tensor:
    """Index of the first largest element."""
    return F.argmax(as_tensor(a), axis)


def argmin(a: Any, axis: Optional[int] = None) -> Tensor:
    """Index of the first smallest element."""
    return F.argmin(as_tensor(a), axis)


def sometrue(a: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether any element over axes is not 0."""
    return F.any(as_tensor(a), axis, keepdims)


def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Number of elements over axes that are not 0 (int32)."""
    return F.count_nonzero(as_tensor(x), () if axis is None else axis, keepdims)


def cumsum(a: Any, axis: Optional[int] = None, dtype=None) -> Tensor:
    """Running sums along axis; of the flat tensor when axis is None."""
    return as_tensor(a).cumsum(axis, dtype)


def cumprod(a: Any, axis: Optional[int] = None, dtype=None) -> Tensor:
    """Running products along axis, of bool in int64; of the flat tensor when axis is None."""
    a = as_tensor(a)
    dtype = (mstype.int64 if a.dtype is mstype.bool_ else a.dtype) if dtype is None else dtype
    return F.cumprod(F.ravel(a), 0, dtype) if axis is None else F.cumprod(a, axis, dtype)


def _without_nan(a: Any, value: float) -> Tensor:
    a = as_tensor(a)
    return core.where(core.isnan(a), value, a) if is_float(a.dtype) else a


def nansum(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Sum with NaN counted as 0."""
    return sum(_without_nan(a, 0.0), axis, dtype, keepdims)


def nancumsum(a: Any, axis: Optional[int] = None, dtype=None) -> Tensor:
    """Running sums with NaN counted as 0."""
    return cumsum(_without_nan(a, 0.0), axis, dtype)


def _nan_extremum(reduce: Any, a: Tensor, worst: float, axis: Axis, keepdims: bool) -> Tensor:
    out = reduce(_without_nan(a, worst), axis, keepdims)
    return core.where(F.all(core.isnan(a), axis, keepdims), math.nan, out) if is_float(a.dtype) else out


def nanmax(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Largest element that is not NaN; NaN where there is none."""
    return typed(_nan_extremum(F.amax, as_tensor(a), -math.inf, axis, keepdims), dtype)


def nanmin(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Smallest element that is not NaN; NaN where there is none."""
    return typed(_nan_extremum(F.amin, as_tensor(a), math.inf, axis, keepdims), dtype)


def nanmean(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Mean of the elements that are not NaN."""
    return typed(F.nanmean(floating(as_tensor(a)), axis, keepdims), dtype)


def nanvar(a: Any, axis: Axis = None, dtype=None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Variance of the elements that are not NaN; NaN where there are no more than ddof."""
    a, axes = floating(as_tensor(a)), to_axes(axis, "numpy.nanvar")
    counted = core.cast(core.logical_not(core.isnan(a)), a.dtype)
    centred = core.where(core.isnan(a), 0.0, core.sub(a, F.nanmean(a, axis, True)))
    freedom = core.sub(core.sum(counted, axes, keepdims), float(ddof))
    enough = core.greater(freedom, 0)
    return typed(core.where(enough, core.div(core.sum(core.square(centred), axes, keepdims), core.where(enough, freedom, 1.0)), math.nan), dtype)


def nanstd(a: Any, axis: Axis = None, dtype=None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Standard deviation of the elements that are not NaN."""
    return core.power_or_zero(nanvar(a, axis, dtype, ddof, keepdims), 0.5)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None) -> Tensor:
    """Sum of the diagonal of two dimensions; integers give int64."""
    return sum(F.diagonal(as_tensor(a), offset, axis1, axis2), -1, dtype)


def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A002
    """Norm of vectors or matrices; see ops.norm."""
    return F.norm(as_tensor(x), ord, axis, keepdims)


# --- products ---------------------------------------------------------------------------------------------------------------------------


def dot(a: Any, b: Any) -> Tensor:
    """Sums over the last dimension of a and the last but one of b; the product with a scalar."""
    a, b = as_tensor(a), as_tensor(b)
    return F.dot(a, b) if a.shape and b.shape else core.mul(a, b)


def inner(a: Any, b: Any) -> Tensor:
    """Sums over the last dimension of both."""
    return F.inner(as_tensor(a), as_tensor(b))


def outer(a: Any, b: Any) -> Tensor:
    """All products of two flat tensors."""
    return F.outer(as_tensor(a), F.ravel(as_tensor(b)))


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product."""
    return F.kron(as_tensor(a), as_tensor(b))


def tensordot(a: Any, b: Any, axes: Union[int, Sequence] = 2) -> Tensor:
    """Sums of products over axes."""
    return F.tensor_dot(as_tensor(a), as_tensor(b), axes)


def multi_dot(arrays: Sequence[Any]) -> Tensor:
    """The product of several matrices, from left to right."""
    out = as_tensor(arrays[0])
    for a in arrays[1:]:
        out = F.matmul(out, as_tensor(a))
    return out


def matrix_power(a: Any, n: int) -> Tensor:
    """Matrices to an integer power."""
    return F.matrix_power(as_tensor(a), n)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Optional[int] = None) -> Tensor:
    """Vector products of vectors of 3 elements."""
    axisa, axisb, axisc = (axis, axis, axis) if axis is not None else (axisa, axisb, axisc)
    return F.moveaxis(F.cross(F.moveaxis(as_tensor(a), axisa, -1), F.moveaxis(as_tensor(b), axisb, -1), -1), -1, axisc)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """n-th differences of neighbours along axis; prepend and append are joined to a first."""
    a = as_tensor(a)
    if to_int(n, "n", "numpy.diff") < 0 or not a.shape:
        fail(ValueError, f"expected at least one dimension and n of at least 0, got {a.shape} and n = {n}", "numpy.diff")
    d = to_axis(axis, len(a.shape), "numpy.diff")

    def border(value: Any) -> Tensor:
        value = core.cast(as_tensor(value), a.dtype)
        return core.broadcast_to(value, a.shape[:d] + (1,) + a.shape[d + 1:]) if not value.shape else value
    parts = [border(v) if v is not a else v for v in (prepend, a, append) if v is not None]
    a = core.concat(parts, d) if len(parts) > 1 else a
    for _ in range(n if n < a.shape[d] else a.shape[d]):  # then nothing is left
        a = core.sub(F.narrow(a, d, 1, a.shape[d] - 1), F.narrow(a, d, 0, a.shape[d] - 1))
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Differences of neighbours of the flat tensor, with values before and behind."""
    parts = [F.ravel(core.cast(as_tensor(v), as_tensor(ary).dtype)) for v in (to_begin, diff(F.ravel(as_tensor(ary))), to_end) if v is not None]
    return F.concat(parts, 0)


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """The integral along axis by the trapezium rule."""
    return F.trapz(as_tensor(y), None if x is None else as_tensor(x), dx=dx, dim=axis)


def gcd(x1: Any, x2: Any, dtype=None) -> Tensor:
    """Greatest common divisors, also of floats; of bools whether one holds. Such code runs eagerly."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    logical = x1.dtype is mstype.bool_ and x2.dtype is mstype.bool_
    return typed(core.logical_or(x1, x2) if logical else F.common_divisor(x1, x2), dtype)


def lcm(x1: Any, x2: Any, dtype=None) -> Tensor:
    """Least common multiples, also of floats; of bools whether both hold. Such code runs eagerly."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    logical = x1.dtype is mstype.bool_ and x2.dtype is mstype.bool_
    return typed(core.logical_and(x1, x2) if logical else F.common_multiple(x1, x2), dtype)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Linear interpolation through the points (xp, fp), xp ascending; left and right (fp's ends) outside."""
    x, xp, fp = floating(as_tensor(x)), floating(as_tensor(xp)), floating(as_tensor(fp))
    n = xp.shape[0]
    high = core.minimum(core.maximum(F.searchsorted(xp, x, side="right"), 1), n - 1) if n > 1 else F.searchsorted(xp, x)
    low = core.maximum(core.sub(high, 1), 0)
    x0, y0 = core.gather(xp, low, 0), core.gather(fp, low, 0)
    slope = core.div(core.sub(core.gather(fp, high, 0), y0), core.sub(core.gather(xp, high, 0), x0)) if n > 1 else core.zeros_like(x)
    out = core.add(y0, core.mul(core.sub(x, x0), slope))
    out = core.where(core.less(x, xp[0]), fp[0] if left is None else float(left), out)
    return core.where(core.greater(x, xp[n - 1]), fp[n - 1] if right is None else float(right), out)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Optional[int] = None, fweights: Any = None, aweights: Any = None,
        dtype=None) -> Tensor:
    """Covariances of rows (columns without rowvar) of observations. Raises ValueError for weights (not supported)."""
    if fweights is not None or aweights is not None:
        fail(ValueError, "weights are not supported", "numpy.cov", "scale the observations")
    def rows(v: Any) -> Tensor:
        v = floating(as_tensor(v))
        v = core.reshape(v, (1, -1)) if len(v.shape) < 2 else v
        return v if rowvar or v.shape[0] == 1 else F.swapaxes(v, 0, 1)
    x = rows(m) if y is None else core.concat(_of_one_type(rows(m), rows(y)), 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    centred = core.sub(x, core.mean(x, [1], True))
    freedom = x.shape[1] - ddof
    out = core.div(core.matmul(centred, centred, False, True), float(freedom) if freedom > 0 else 0.0)
    return typed(core.reshape(out, ()) if out.shape == (1, 1) else out, dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype=None) -> Tensor:
    """Correlation coefficients of rows of observations."""
    c = cov(x, y, rowvar)
    if not c.shape:
        return typed(core.div(c, c), dtype)
    d = core.sqrt(F.diagonal(c))
    return typed(core.div(c, core.mul(core.expand_dims(d, 1), core.expand_dims(d, 0))), dtype)


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: Optional[int] = None) -> Tensor:
    """How often (with what weight) each number from 0 on occurs in a vector; length None asks for the largest number (runs eagerly).
    Raises ValueError for a negative number, unless traced."""
    x = as_tensor(x)
    if not x.is_symbolic and x.asnumpy().min(initial=0) < 0:
        fail(ValueError, "a number is negative", "numpy.bincount")
    n = int(x.asnumpy().max(initial=-1)) + 1 if length is None else length
    n = n if n > minlength else minlength
    counts = core.full(x.shape, 1.0) if weights is None else floating(as_tensor(weights))
    return F.unsorted_segment_sum(counts, x, n)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:  # noqa: A002
    """Edges of bins: evenly spaced between the ends of range (or the smallest and largest value), or `bins` itself when it is a sequence.
    Raises ValueError for bins that do not ascend and for a range that is not finite or whose ends are exchanged."""
    if not isinstance(bins, int):
        edges = floating(as_tensor(bins))
        if not edges.is_symbolic and not np.all(edges.asnumpy()[:-1] <= edges.asnumpy()[1:]):
            fail(ValueError, "bins do not ascend", "numpy.histogram", "sort them")
        return edges
    low, high = (float(v) for v in (range if range is not None else (as_tensor(a).asnumpy().min(), as_tensor(a).asnumpy().max())))
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        fail(ValueError, f"range ({low}, {high}) is not finite or its ends are exchanged", "numpy.histogram")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return Tensor(np.linspace(low, high, bins + 1).astype(np.float32))


def bin_of(x: Tensor, edges: Tensor) -> tuple:
    """(the bin of each element, rounded to the type of the edges, whether it lies in one); the last bin holds its upper edge, too."""
    x, n = core.cast(x, edges.dtype), edges.shape[0] - 1
    place = core.where(core.equal(x, edges[n]), n - 1, core.sub(F.searchsorted(edges, x, side="right"), 1))
    return place, core.logical_and(core.greater_equal(place, 0), core.less(place, n))


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple:  # noqa: A002
    """(float32 count or weight of the elements in each bin, the edges); density: divided by the total and the widths."""
    a = floating(F.ravel(as_tensor(a)))
    edges = histogram_bin_edges(a, bins, range)
    n = edges.shape[0] - 1
    place, inside = bin_of(a, edges)
    counted = core.full(a.shape, 1.0) if weights is None else floating(F.ravel(as_tensor(weights)))
    counts = F.unsorted_segment_sum(core.where(inside, counted, 0.0), core.where(inside, place, 0), n)
    if density:
        counts = core.div(core.div(counts, core.sub(F.narrow(edges, 0, 1, n), F.narrow(edges, 0, 0, n))), core.sum(counts))
    return counts, edges


def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Whether each element is among test_elements."""
    hits = core.any(core.equal(core.expand_dims(as_tensor(element), -1), F.ravel(as_tensor(test_elements))), [-1])
    return core.logical_not(hits) if invert else hits


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Tensor:
    """isin of the flat tensor."""
    return isin(F.ravel(as_tensor(ar1)), ar2, invert)


def _of_one_type(*values: Any) -> list:
    """Floating tensors of the type that holds them all."""
    tensors = [floating(as_tensor(v)) for v in values]
    kind = tensors[0].dtype
    for t in tensors[1:]:
        kind = mstype.promote_types(kind, t.dtype)
    return [core.cast(t, kind) for t in tensors]


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """The convolution of two vectors: 'full', 'same' or 'valid'. Integers give integers, exact up to 2^53."""
    check_choice("numpy.convolve", "mode", mode, ("full", "same", "valid"))
    a, v = F.atleast_1d(as_tensor(a)), F.atleast_1d(as_tensor(v))
    kind = mstype.promote_types(a.dtype, v.dtype)
    if not kind.is_floating:
        return core.cast(convolve(core.cast(a, mstype.float64), core.cast(v, mstype.float64), mode), kind)
    a, v = _of_one_type(a, v)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    n = v.shape[0]
    pad = {"full": n - 1, "same": n // 2, "valid": 0}[mode]
    behind = {"full": n - 1, "same": n - 1 - n // 2, "valid": 0}[mode]
    signal = core.reshape(core.pad(a, [pad, behind] if mode != "same" else [n - 1 - (n - 1) // 2, (n - 1) // 2]), (1, 1, 1, -1))
    kernel = core.reshape(F.flip(v, 0), (1, 1, 1, -1))
    return core.reshape(core.conv2d(signal, kernel), (-1,))


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """The cross-correlation of two vectors."""
    a, v = floating(as_tensor(a)), floating(as_tensor(v))
    if a.shape[0] >= v.shape[0]:
        return convolve(a, F.flip(v, 0), mode)
    return F.flip(convolve(v, F.flip(a, 0), mode), 0)


def polyval(p: Any, x: Any) -> Tensor:
    """The polynomial with coefficients p (highest power first) at x."""
    x = as_tensor(x)
    out: Any = None
    for c in F.unstack(as_tensor(p), 0):
        out = c if out is None else core.add(core.mul(out, x), c)
    return core.add(out, core.mul(x, 0)) if out.shape != x.shape else out


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The type that results from mixing tensors and types."""
    kinds = [a.dtype if isinstance(a, Tensor) else a if isinstance(a, mstype.DType) else as_tensor(a).dtype for a in arrays_and_dtypes]
    out = kinds[0]
    for k in kinds[1:]:
        out = mstype.promote_types(out, k)
    return out


def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest type that holds both."""
    return mstype.promote_types(type1, type2)


__all__ = [name for name, value in list(globals().items())
           if not name.startswith("_") and getattr(value, "__module__", None) in (__name__, "sindri.numpy") and callable(value)
           and name not in ("unary", "binary", "typed", "as_tensor", "bin_of")]
