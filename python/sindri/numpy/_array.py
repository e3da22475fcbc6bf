"""Creation, shapes, joining and indexing of sindri.numpy."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail, is_int
from sindri.common import dtype as mstype
from sindri.common._views import reshaped, transposed
from sindri.numpy._convert import array, as_tensor, smallest_int, typed
from sindri.ops import function as F
from sindri.ops._util import FEW_PARTS, Axis, Size, Tensor, core, is_number, to_axes, to_axis, to_count, to_int, to_ints

# --- creation ---------------------------------------------------------------------------------------------------------------------------


def asarray(a: Any, dtype=None) -> Tensor:
    """a as a tensor, not copied when it is one."""
    return array(a, dtype, False)


def asfarray(a: Any, dtype=mstype.float32) -> Tensor:
    """a as a floating tensor."""
    return array(a, dtype if dtype is not None and dtype.is_floating else mstype.float32, False)


def copy(a: Any) -> Tensor:
    """A tensor of its own with the same values."""
    return array(a)


def full(shape: Size, fill_value: Any, dtype=None) -> Tensor:
    """A tensor with every element fill_value, which broadcasts to the shape; dtype None: that of array(fill_value)."""
    value = as_tensor(fill_value)
    kind = dtype or value.dtype
    return F.fill(kind, shape, fill_value) if is_number(fill_value) else F.broadcast_to(core.cast(value, kind), to_ints(shape, "shape", "numpy.full"))


def zeros(shape: Size, dtype=mstype.float32) -> Tensor:
    """Zeros."""
    return F.zeros(shape, dtype)


def ones(shape: Size, dtype=mstype.float32) -> Tensor:
    """Ones."""
    return F.ones(shape, dtype)


def empty(shape: Size, dtype=mstype.float32) -> Tensor:
    """A tensor whose values do not matter: zeros."""
    return F.zeros(shape, dtype)


def _like(value: float):
    def create(a: Any, dtype=None, shape: Optional[Size] = None) -> Tensor:
        a = as_tensor(a)
        return F.fill(dtype or a.dtype, a.shape if shape is None else shape, value)
    return create


zeros_like, ones_like, empty_like = _like(0), _like(1), _like(0)
for _f, _name in ((zeros_like, "zeros_like"), (ones_like, "ones_like"), (empty_like, "empty_like")):
    _f.__name__ = _f.__qualname__ = _name
    _f.__doc__ = f"{_name}: a tensor of a's shape and type, unless shape and dtype say otherwise."


def full_like(a: Any, fill_value: Any, dtype=None, shape: Optional[Size] = None) -> Tensor:
    """A tensor of a's shape and type with every element fill_value, unless shape and dtype say otherwise."""
    a = as_tensor(a)
    return full(a.shape if shape is None else shape, fill_value, dtype or a.dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype=None) -> Tensor:
    """start, start + step, … before stop; arange(stop) counts from 0. Ints give int32 (int64 when one does not fit), a fraction among the arguments
    float32."""
    start, stop = (0, start) if stop is None else (start, stop)
    values = np.arange(*(v.item() if isinstance(v, Tensor) else v for v in (start, stop, 1 if step is None else step)))
    return _constant(values, dtype)


def _constant(values: np.ndarray, dtype: Any) -> Tensor:
    if values.dtype.kind == "i":
        return typed(Tensor(smallest_int(values)), dtype)
    return typed(Tensor(values if dtype == mstype.float64 else values.astype(np.float32)), dtype)


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype=None, axis: int = 0) -> Union[Tensor, tuple]:
    """`num` evenly spaced numbers from start to stop (endpoint: included); with retstep also the distance. start and stop are constants."""
    values, step = np.linspace(_plain(start), _plain(stop), num, endpoint, True, axis=axis)
    out = _constant(np.asarray(values, np.float64), dtype)
    return (out, _constant(np.asarray(step, np.float64), None)) if retstep else out


def _plain(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Tensor) else value


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype=None, axis: int = 0) -> Tensor:
    """base to the power of linspace(start, stop, …)."""
    return _constant(np.logspace(_plain(start), _plain(stop), num, endpoint, base, axis=axis), dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0) -> Tensor:
    """`num` numbers from start to stop with a constant ratio."""
    return _constant(np.geomspace(_plain(start), _plain(stop), num, endpoint, axis=axis), dtype)


def eye(N: int, M: Optional[int] = None, k: int = 0, dtype=mstype.float32) -> Tensor:
    """[N, M] with ones on the diagonal k."""
    return Tensor(np.eye(N, M, k)).astype(dtype)


def identity(n: int, dtype=mstype.float32) -> Tensor:
    """eye(n)."""
    return eye(n, dtype=dtype)


def tri(N: int, M: Optional[int] = None, k: int = 0, dtype=mstype.float32) -> Tensor:
    """[N, M] with ones at and below the diagonal k."""
    return Tensor(np.tri(N, M, _diagonal_number(k, N, M))).astype(dtype)


def _diagonal_number(k: int, n: int, m: Optional[int]) -> int:
    """k, or the nearest diagonal beside an [n, m] matrix: NumPy's numbers of diagonals are C longs."""
    return max(min(k, n if m is None else m), -n)


def _square(m: Any) -> Tensor:
    """m, one dimension repeated as the rows of a square."""
    m = as_tensor(m)
    return core.broadcast_to(m, (m.shape[0], m.shape[0])) if len(m.shape) == 1 else m


def tril(m: Any, k: int = 0) -> Tensor:
    """Zeros above the diagonal k."""
    return F.tril(_square(m), k)


def triu(m: Any, k: int = 0) -> Tensor:
    """Zeros below the diagonal k."""
    return F.triu(_square(m), k)


def _ranked(x: Any, ranks: Sequence[int], where: str) -> Tensor:
    """x as a tensor. Raises ValueError when the number of its dimensions is none of `ranks`."""
    x = as_tensor(x)
    if len(x.shape) not in ranks:
        fail(ValueError, f"expected {' or '.join(map(str, ranks))} dimension{'s' if ranks[-1] > 1 else ''}, got {x.shape}", where)
    return x


def _index_pair(rows: tuple) -> tuple:
    return tuple(Tensor(r.astype(np.int32)) for r in rows)


def tril_indices(n: int, k: int = 0, m: Optional[int] = None) -> tuple:
    """(rows, columns) of the lower triangle of an [n, m] matrix."""
    return _index_pair(np.tril_indices(n, _diagonal_number(k, n, m), m))


def triu_indices(n: int, k: int = 0, m: Optional[int] = None) -> tuple:
    """(rows, columns) of the upper triangle of an [n, m] matrix."""
    return _index_pair(np.triu_indices(n, _diagonal_number(k, n, m), m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple:
    """tril_indices of a matrix's shape."""
    rows, columns = _ranked(arr, (2,), "numpy.tril_indices_from").shape
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple:
    """triu_indices of a matrix's shape."""
    rows, columns = _ranked(arr, (2,), "numpy.triu_indices_from").shape
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple:
    """The places of the diagonal of a tensor of ndim dimensions of n."""
    return _index_pair(np.diag_indices(n, ndim))


def indices(dimensions: Sequence[int], dtype=mstype.int32, sparse: bool = False) -> list:
    """One tensor of place numbers per dimension; sparse: with dimensions of 1 elsewhere."""
    found = np.indices(tuple(dimensions), sparse=sparse)
    return [Tensor(f).astype(dtype) for f in found]


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list:
    """One tensor per vector that repeats it along the dimensions of the others; sparse: with dimensions of 1 instead."""
    inputs = [as_tensor(x) for x in xi]
    if not sparse:
        return list(F.meshgrid(*inputs, indexing=indexing))
    check_choice("numpy.meshgrid", "indexing", indexing, ("xy", "ij"))
    places = list(range(len(inputs)))
    if indexing == "xy" and len(places) > 1:
        places[0], places[1] = 1, 0
    return [core.reshape(x, [-1 if d == p else 1 for d in range(len(inputs))]) for x, p in zip(inputs, places)]


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with the vector on diagonal k, or the diagonal k of a matrix."""
    v = _ranked(v, (1, 2), "numpy.diag")
    return F.diag_embed(v, k) if len(v.shape) == 1 else F.diagonal(v, k)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with the flat tensor on diagonal k."""
    return F.diagflat(as_tensor(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Elements [.., i, i + offset] of two dimensions, as the last dimension."""
    return F.diagonal(as_tensor(a), offset, axis1, axis2)


def vander(x: Any, N: Optional[int] = None, increasing: bool = False) -> Tensor:
    """Columns of powers of a vector, the highest first unless increasing."""
    x = _ranked(x, (1,), "numpy.vander")
    n = x.shape[0] if N is None else to_int(N, "N", "numpy.vander")
    if not 0 <= n <= FEW_PARTS:  # each column is an op
        fail(ValueError, f"N: expected a value in [0, {FEW_PARTS}], got {n}", "numpy.vander")
    if not n:
        return F.zeros((x.shape[0], 0), x.dtype)
    powers = core.cast(F.vander(x, n), x.dtype)
    return F.flip(powers, 1) if increasing else powers


def rand(*shape: int, dtype=mstype.float32) -> Tensor:
    """Numbers from [0, 1)."""
    return F.rand(*shape, dtype=dtype)


def randn(*shape: int, dtype=mstype.float32) -> Tensor:
    """Numbers from N(0, 1)."""
    return F.randn(*shape, dtype=dtype)


def randint(minval: int, maxval: Optional[int] = None, shape: Optional[Size] = None, dtype=mstype.int32) -> Tensor:
    """Whole numbers from [minval, maxval), or [0, minval)."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return F.randint(low, high, () if shape is None else shape, dtype=dtype)


# --- shapes -----------------------------------------------------------------------------------------------------------------------------


def reshape(x: Any, new_shape: Size) -> Tensor:
    """The same elements in another shape."""
    return F.reshape(as_tensor(x), new_shape)


def ravel(x: Any) -> Tensor:
    """All elements as one dimension."""
    return F.ravel(as_tensor(x))


def transpose(a: Any, axes: Any = None) -> Tensor:
    """The dimensions in the order of axes, reversed when None."""
    a = as_tensor(a)
    return transposed(a, list(range(len(a.shape)))[::-1] if axes is None else list(to_ints(axes, "axes", "numpy.transpose")))


def expand_dims(a: Any, axis: Axis) -> Tensor:
    """New dimensions of 1 at the places axis of the result."""
    a, axes = as_tensor(a), to_axes(axis, "numpy.expand_dims")
    places = sorted(to_axis(x, len(a.shape) + len(axes), "numpy.expand_dims") for x in axes)
    if len(set(places)) != len(places):
        fail(ValueError, f"axis: expected different places, got {axis}", "numpy.expand_dims")
    shape = list(a.shape)
    for d in places:
        shape.insert(d, 1)
    return reshaped(a, shape)


def squeeze(a: Any, axis: Axis = None) -> Tensor:
    """Without the dimensions of 1, or without those in axis."""
    return F.squeeze(as_tensor(a), axis)


def moveaxis(a: Any, source: Axis, destination: Axis) -> Tensor:
    """Dimensions moved to other places."""
    return F.moveaxis(as_tensor(a), source, destination)


def rollaxis(x: Any, axis: int, start: int = 0) -> Tensor:
    """A dimension rolled back until it lies before dimension start."""
    x = as_tensor(x)
    a = to_axis(axis, len(x.shape), "numpy.rollaxis")
    start = start + len(x.shape) if start < 0 else start
    return F.moveaxis(x, a, start - 1 if start > a else start)


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two dimensions exchanged."""
    return F.swapaxes(as_tensor(x), axis1, axis2)


def atleast_1d(*arys: Any) -> Any:
    """Scalars as vectors; a list for several arguments."""
    return _each(F.atleast_1d, arys)


def atleast_2d(*arys: Any) -> Any:
    """Dimensions of 1 in front, up to two; a list for several arguments."""
    return _each(F.atleast_2d, arys)


def atleast_3d(*arys: Any) -> Any:
    """Dimensions of 1, up to three; a list for several arguments."""
    return _each(F.atleast_3d, arys)


def _each(fn: Any, items: Sequence[Any]) -> Any:
    out = [fn(as_tensor(x)) for x in items]
    return out[0] if len(out) == 1 else out


def broadcast_to(array: Any, shape: Size) -> Tensor:
    """The tensor repeated to a shape."""
    dims = to_ints(shape, "shape", "numpy.broadcast_to")
    if any(n < 0 for n in dims):
        fail(ValueError, f"shape: expected no negative size, got {dims}", "numpy.broadcast_to", "write the size out, or use ops.broadcast_to")
    return core.broadcast_to(as_tensor(array), dims)


def broadcast_arrays(*args: Any) -> list:
    """The tensors repeated to their common shape."""
    items = [as_tensor(a) for a in args]
    shape = np.broadcast_shapes(*(x.shape for x in items))
    return [core.broadcast_to(x, shape) for x in items]


def size(a: Any, axis: Optional[int] = None) -> int:
    """Number of elements, or of those along axis."""
    a = as_tensor(a)
    return math.prod(a.shape) if axis is None else a.shape[axis]


def isscalar(element: Any) -> bool:
    """Whether it is a Python number or a string."""
    return isinstance(element, (int, float, bool, str, complex, np.generic))


# --- joining, cutting, repeating --------------------------------------------------------------------------------------------------------


def _items(arrays: Any) -> list:
    return [as_tensor(a) for a in arrays]


def concatenate(arrays: Sequence[Any], axis: Optional[int] = 0) -> Tensor:
    """The tensors one behind the other along axis; flat when axis is None."""
    items = _items(arrays)
    return F.concat([F.ravel(x) for x in items], 0) if axis is None else F.concat(items, axis)


def append(arr: Any, values: Any, axis: Optional[int] = None) -> Tensor:
    """values behind arr along axis; both flat when axis is None."""
    return concatenate((arr, values), axis)


def stack(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """The tensors side by side along a new dimension."""
    return F.stack(_items(arrays), axis)


def hstack(tup: Sequence[Any]) -> Tensor:
    """Joined along the second dimension (vectors: the first)."""
    return F.hstack(_items(tup))


def vstack(tup: Sequence[Any]) -> Tensor:
    """Joined along the first dimension."""
    return F.vstack(_items(tup))


def dstack(tup: Sequence[Any]) -> Tensor:
    """Joined along the third dimension."""
    return F.dstack(_items(tup))


def column_stack(tup: Sequence[Any]) -> Tensor:
    """Joined as columns."""
    return F.column_stack(_items(tup))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """A tuple of equal pieces along axis, or a list of pieces cut at the places given. Raises ValueError when a number does not divide the size."""
    x = as_tensor(x)
    axis = to_axis(axis, len(x.shape), "numpy.split")
    if isinstance(indices_or_sections, int) and x.shape[axis] % to_count(indices_or_sections, "indices_or_sections", "numpy.split"):
        fail(ValueError, f"dimension {axis} of {x.shape} cannot be cut into {indices_or_sections} equal pieces", "numpy.split", "use array_split")
    pieces = F.tensor_split(x, indices_or_sections, axis)
    return pieces if isinstance(indices_or_sections, int) else list(pieces)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple:
    """Pieces along axis whose sizes differ by at most 1, or pieces cut at the places given."""
    return F.tensor_split(as_tensor(x), indices_or_sections, axis)


def hsplit(x: Any, indices_or_sections: Any) -> tuple:
    """split along the second dimension."""
    return split(x, indices_or_sections, 1)


def vsplit(x: Any, indices_or_sections: Any) -> tuple:
    """split along the first dimension."""
    return split(x, indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> tuple:
    """split along the third dimension."""
    return split(x, indices_or_sections, 2)


def tile(a: Any, reps: Any) -> Tensor:
    """a repeated reps times along each dimension."""
    a, reps = as_tensor(a), to_ints(reps, "reps", "numpy.tile")
    return F.tile(a, (1,) * (len(a.shape) - len(reps)) + reps)


def repeat(a: Any, repeats: Any, axis: Optional[int] = None) -> Tensor:
    """Each element repeated along axis; of the flat tensor when axis is None."""
    return F.repeat_interleave(as_tensor(a), repeats, axis)


def roll(a: Any, shift: Axis, axis: Axis = None) -> Tensor:
    """Elements moved by shift along axis; what leaves comes in on the other side. One shift holds for all axes."""
    return F.roll(as_tensor(a), [shift] * len(axis) if is_int(shift) and isinstance(axis, (tuple, list)) else shift, axis)


def flip(m: Any, axis: Axis = None) -> Tensor:
    """The order reversed along axis, all when None."""
    m = as_tensor(m)
    return F.flip(m, tuple(range(len(m.shape))) if axis is None else axis)


def flipud(m: Any) -> Tensor:
    """flip along the first dimension."""
    return flip(m, 0)


def fliplr(m: Any) -> Tensor:
    """flip along the second dimension."""
    return flip(m, 1)


def rot90(a: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Turned k times by 90 degrees from axes[0] towards axes[1]."""
    return F.rot90(as_tensor(a), k, axes)


# --- indexing ---------------------------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where condition holds, else of y; without both the places that hold (which asks for values)."""
    condition = as_tensor(condition)
    if x is None and y is None:
        return F.nonzero(condition, as_tuple=True)
    return F.where(condition, x if is_number(x) and not is_number(y) else as_tensor(x), y if is_number(y) and not is_number(x) else as_tensor(y))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """Of several choices the first whose condition holds, else default."""
    if len(condlist) != len(choicelist) or not len(condlist):
        fail(ValueError, f"expected as many choices as conditions, at least one, got {len(condlist)} conditions and {len(choicelist)} choices",
             "numpy.select")
    out = as_tensor(default)
    for condition, choice in list(zip(condlist, choicelist))[::-1]:
        out = core.where(core.cast(as_tensor(condition), mstype.bool_), as_tensor(choice), out)
    return out


def take(a: Any, indices: Any, axis: Optional[int] = None, mode: str = "clip") -> Tensor:
    """Slices along axis (of the flat tensor when None). mode: 'clip', 'wrap' or 'raise'."""
    return as_tensor(a).take(as_tensor(indices), axis, mode)


def take_along_axis(arr: Any, indices: Any, axis: Optional[int]) -> Tensor:
    """One element per place of indices along axis."""
    arr, indices = as_tensor(arr), as_tensor(indices)
    return F.gather_elements(F.ravel(arr), 0, indices) if axis is None else F.gather_elements(arr, axis, indices)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """The different elements in the order of their first appearance; with return_inverse also the place of each element among them."""
    values, inverse = F.unique(F.ravel(as_tensor(x)))
    return (values, inverse) if return_inverse else values


def argwhere(a: Any) -> Tensor:
    """The places of the elements that are not 0."""
    return F.nonzero(as_tensor(a))


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where each value of v belongs in the sorted vector a (int32)."""
    a = _ranked(a, (1,), "numpy.searchsorted")
    return F.searchsorted(a if sorter is None else core.gather(a, as_tensor(sorter), 0), as_tensor(v), side=side, out_int32=True)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """The bin of each element, bins ascending or descending constants. Raises ValueError for others."""
    edges = _plain(as_tensor(bins))
    falling = edges.size > 1 and edges[0] > edges[-1]
    if not np.all(edges[:-1] >= edges[1:] if falling else edges[:-1] <= edges[1:]):
        fail(ValueError, "bins neither ascend nor descend", "numpy.digitize", "sort them")
    found = F.searchsorted(Tensor(np.ascontiguousarray(edges[::-1] if falling else edges)), as_tensor(x), side="left" if right else "right",
                           out_int32=True)
    return core.sub(edges.size, found) if falling else found


def unravel_index(indices: Any, shape: Sequence[int], order: str = "C") -> tuple:
    """Index vectors of flat positions in a tensor of a shape."""
    check_choice("numpy.unravel_index", "order", order, ("C", "F"))
    dims = to_ints(shape, "shape", "numpy.unravel_index")[::1 if order == "C" else -1]
    if any(n < 1 for n in dims):
        fail(ValueError, f"shape: expected sizes of at least 1, got {dims}", "numpy.unravel_index")
    parts = F.unstack(F.unravel_index(as_tensor(indices), dims), 0)
    return parts if order == "C" else parts[::-1]


def ravel_multi_index(multi_index: Any, dims: Sequence[int], mode: str = "clip", order: str = "C") -> Tensor:
    """Flat positions of index vectors in a tensor of a shape; mode 'clip' or 'wrap' for those outside."""
    check_choice("numpy.ravel_multi_index", "mode", mode, ("clip", "wrap"))
    rows = [as_tensor(i) for i in (F.unstack(multi_index, 0) if isinstance(multi_index, Tensor) else multi_index)]
    pairs = list(zip(rows, dims))
    position: Any = None
    for row, n in pairs if order == "C" else pairs[::-1]:
        row = core.mod(row, n) if mode == "wrap" else core.minimum(core.maximum(row, 0), n - 1)
        position = row if position is None else core.add(core.mul(position, n), row)
    return position


def ix_(*args: Any) -> tuple:
    """Vectors shaped so that they index an open mesh."""
    rows = [_ranked(a, (1,), "numpy.ix_") for a in args]
    return tuple(core.reshape(a, [-1 if d == i else 1 for d in range(len(args))]) for i, a in enumerate(rows))


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    """func1d of every vector along axis, the results in its place."""
    arr = as_tensor(arr)
    a = to_axis(to_int(axis, "axis", "numpy.apply_along_axis"), len(arr.shape), "numpy.apply_along_axis")
    rows = F.moveaxis(arr, a, -1)
    flat = core.reshape(rows, (math.prod(rows.shape[:-1]), rows.shape[-1]))
    out = core.stack([as_tensor(func1d(row, *args, **kwargs)) for row in F.unstack(flat, 0)], 0)
    own = out.shape[1:]
    out = core.reshape(out, rows.shape[:-1] + own)
    lead = len(rows.shape) - 1
    return F.moveaxis(out, list(range(lead, lead + len(own))), list(range(a, a + len(own)))) if own else out


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    """A function given by pieces: where condition i holds, function (or constant) i; one more entry is for the rest. The last condition wins."""
    x = as_tensor(x)
    conditions = [as_tensor(c) for c in (condlist if isinstance(condlist, (list, tuple)) else [condlist])]
    value = lambda f: core.cast(as_tensor(f(x, *args, **kw)) if callable(f) else as_tensor(f), x.dtype)
    out = value(funclist[len(conditions)]) if len(funclist) > len(conditions) else core.zeros_like(x)
    for condition, f in zip(conditions, funclist):
        out = core.where(core.cast(condition, mstype.bool_), value(f), out)
    return core.broadcast_to(out, x.shape)


def array_str(a: Any) -> str:
    """The values as text."""
    return str(as_tensor(a))


__all__ = [name for name, value in list(globals().items()) if not name.startswith("_") and getattr(value, "__module__", None) == __name__] + ["array"]
