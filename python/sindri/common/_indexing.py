"""Tensor indexing by NumPy's rules, implemented with ops: recorded for gradients and traced like any other op.

A key is split in two. Slices, integers, None and Ellipsis become one `slice` and then a `reshape`. Index arrays become a `gather`, over flat positions
if there are several. An integer next to index arrays counts as one of them, which decides the position of their dimensions. Keys are known during
tracing, except index tensors.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from sindri import _core
from sindri._core import Tensor

_ops = _core.ops
_PLAIN = (int, slice, type(None), type(Ellipsis))
_NOTHING = object()  # an Ellipsis without dimensions: it still separates index arrays


class _Advanced:
    """The index arrays of a key, and the position of the dimensions of their broadcast shape."""

    __slots__ = ("arrays", "first", "last", "count")

    def __init__(self) -> None:
        self.arrays: list[tuple[int, Any]] = []  # (dimension after the slices, index array)
        self.first = self.last = -1  # first and last entry of the key, integers included, that broadcast together
        self.count = 0

    def note(self, at: int) -> None:
        """Records that entry `at` of the key is an integer or an index array."""
        self.first = at if self.first < 0 else self.first
        self.last = at
        self.count += 1

    @property
    def apart(self) -> bool:
        """Returns whether a slice, None or an Ellipsis separates two of them: NumPy then puts their dimensions first."""
        return self.last - self.first + 1 != self.count


def _as_array(k: Any) -> Any:
    """Returns an entry of a key with lists, tuples and ranges as arrays; an empty one is an array of integers."""
    if isinstance(k, (list, range, tuple)):
        k = np.asarray(k) if not any(isinstance(v, Tensor) for v in k) else _ops.stack([_core.Tensor(v) for v in k], 0)
        if isinstance(k, np.ndarray) and k.size == 0:
            k = k.astype(np.int64)
    return k


def _expand(key: Any, rank: Any) -> list[Any]:
    """Returns the key as a list with one entry per dimension, and None for new ones. Boolean arrays become integer arrays and numbers of any kind ints;
    True and False stay bools."""
    out: list[Any] = []
    for k in key if isinstance(key, tuple) else (key,):
        if type(k) in _PLAIN:
            out.append(k)
            continue
        k = _as_array(k)
        if k is False:
            raise IndexError("False is not an index | Tensor.__getitem__ | True and None add a dimension; give a mask of the tensor's shape to choose")
        if not isinstance(k, (Tensor, np.ndarray, np.generic)):
            out.append(k)
        elif str(k.dtype).lower().startswith("bool"):
            out.extend(np.nonzero(np.asarray(k)) if k.shape else (bool(k),))  # a traced mask has no value: such code runs eagerly
        else:
            out.append(_whole(k) if not k.shape and not (isinstance(k, Tensor) and k.is_symbolic) else k)
    used = sum(1 for k in out if k is not None and k is not Ellipsis and not isinstance(k, bool))
    if used > rank:
        raise IndexError(f"too many indices: the tensor has {rank} dimensions, the key {used} | Tensor.__getitem__ | drop some")
    ellipses = [i for i, k in enumerate(out) if k is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("the key has more than one `...` | Tensor.__getitem__ | keep one")
    if ellipses:
        stands_for: list[Any] = [slice(None)] * (rank - used)
        out[ellipses[0]:ellipses[0] + 1] = stands_for or [_NOTHING]
    else:
        out += [slice(None)] * (rank - used)
    return out


def _whole(k: Any) -> int:
    """Returns a tensor, array or NumPy scalar with one integer as an int."""
    number = k.item()
    if not isinstance(number, int):
        raise IndexError(f"{number!r} is not an index | Tensor.__getitem__ | use whole numbers")
    return number


def _range_of(k: Any, size: Any) -> Any:
    """Returns (begin, end, stride, count) of a slice, as the op `slice` accepts them."""
    start, stop, step = k.indices(size)
    count = max(0, (stop - start + (step - (1 if step > 0 else -1))) // step)
    if count == 0:
        return 0, 0, 1, 0
    end = start + count * step
    if step < 0 and end < 0:
        end = -size - 1
    return start, end, step, count


def pick(self: Tensor, key: Any) -> Tensor:
    """Returns self[key] as a new tensor, not a view."""
    shape = self.shape
    if isinstance(key, int) and not isinstance(key, bool):  # the common case: one row
        return _row(self, key, shape)
    parts = _expand(key, len(shape))
    picks = any([k is False or isinstance(k, (Tensor, np.ndarray)) for k in parts])
    begin, end, stride, dims, axis, advanced = [], [], [], [], 0, _Advanced()
    for at, k in enumerate(parts):
        if k is _NOTHING:
            continue
        if k is None:
            dims.append(1)
            continue
        if isinstance(k, bool):  # an index array into a new dimension of 1, which selects it once or not at all
            advanced.note(at)
            advanced.arrays.append((len(dims), np.zeros(int(k), np.int64)))
            dims.append(1)
            continue
        size = shape[axis]
        axis += 1
        if isinstance(k, slice):
            b, e, s, count = _range_of(k, size)
        elif isinstance(k, int):
            advanced.note(at)
            b, e, s, count = _check_index(k, size, axis - 1), None, 1, None
            e = b + 1
        elif isinstance(k, (Tensor, np.ndarray)):
            b, e, s, count = 0, size, 1, size
            advanced.note(at)
            advanced.arrays.append((len(dims), k))
        else:
            raise IndexError(f"{k!r} is not an index | Tensor.__getitem__ | use integers, slices, None, Ellipsis, integer or bool arrays")
        begin.append(b)
        end.append(e)
        stride.append(s)
        if count is not None:
            dims.append(count)
    if not picks and advanced.arrays:  # only True: all add one common new dimension
        dims, advanced = _with_one(dims, advanced), _Advanced()
    out = self
    whole = all(b == 0 and e == n and s == 1 for b, e, s, n in zip(begin, end, stride, shape))
    if not whole:
        out = _ops.slice(self, begin, end, stride)
    if tuple(dims) != tuple(out.shape):
        out = _ops.reshape(out, dims)
    return _take(out, advanced) if advanced.arrays else out if out is not self else self._detached()


def _with_one(dims: list[int], advanced: _Advanced) -> list[int]:
    """Returns the dimensions with one new dimension of 1 for all True entries of a key without index arrays: at the first, or at the front."""
    places = [a for a, _ in advanced.arrays]
    rest = [d for i, d in enumerate(dims) if i not in places]
    rest.insert(0 if advanced.apart else places[0], 1)
    return rest


def _check_index(k: Any, size: Any, axis: Any) -> Any:
    if not -size <= k < size:
        raise IndexError(f"index {k} is out of range for dimension {axis} of {size} elements | Tensor.__getitem__")
    return k + size if k < 0 else k


def _row(self: Tensor, k: Any, shape: Any) -> Any:
    if not shape:
        raise IndexError("a tensor of rank 0 has no elements to index | Tensor.__getitem__ | use item()")
    k = _check_index(k, shape[0], 0)
    return _ops.reshape(_ops.slice(self, [k], [k + 1]), shape[1:])


def _as_index(k: Any) -> Any:
    if isinstance(k, np.ndarray) and k.dtype.kind not in "iu":
        raise IndexError(f"an array of {k.dtype} is not an index | Tensor.__getitem__ | use integers or bools")
    return k if isinstance(k, Tensor) else _core.Tensor(np.asarray(k, np.int64))


def _take(x: Any, advanced: _Advanced) -> Any:
    """Returns rows of x selected by index arrays, each at its dimension (NumPy's advanced indexing). The arrays' dimensions are placed at the first of
    them, or at the front if they are separated."""
    axes = [a for a, _ in advanced.arrays]
    indices = [_as_index(k) for _, k in advanced.arrays]
    first = axes[0]
    if len(axes) == 1:
        out, at, n = _ops.gather(x, indices[0], first), first, len(indices[0].shape)
    else:
        # Move the indexed dimensions to the front, as one flat dimension.
        shape = x.shape
        rest = [d for d in range(len(shape)) if d not in axes]
        moved = _ops.transpose(x, axes + rest)
        flat = _ops.reshape(moved, [math.prod(shape[a] for a in axes)] + [shape[d] for d in rest])
        position = _ops.ravel_indices(indices, [shape[a] for a in axes], True, axes)
        out, at, n = _ops.gather(flat, position, 0), 0, len(position.shape)
    wanted = 0 if advanced.apart else first
    if at == wanted or n == 0:
        return out
    dims = list(range(len(out.shape)))
    block = dims[at:at + n]
    others = dims[:at] + dims[at + n:]
    return _ops.transpose(out, others[:wanted] + block + others[wanted:])


def with_item(x: Tensor, key: Any, value: Any) -> Tensor:
    """Returns x with the elements of `key` replaced by `value` (broadcast to them): the functional form of x[key] = value."""
    positions = np.arange(math.prod(x.shape), dtype=np.int64).reshape(x.shape)
    static = tuple(_static(k) for k in key) if isinstance(key, tuple) else _static(key)
    return with_places(x, np.asarray(positions[static]), value if isinstance(value, Tensor) else _core.Tensor(value, x.dtype))


def _static(k: Any) -> Any:
    if type(k) in _PLAIN:
        return k
    k = _as_array(k)
    return np.asarray(k) if isinstance(k, Tensor) else k


def with_places(x: Tensor, places: np.ndarray, value: Tensor) -> Tensor:
    """Returns x with the elements at these positions of the flattened x replaced by `value` (broadcast to them)."""
    shape, n = x.shape, x.size
    value = _ops.cast(value, x.dtype)
    extra = len(value.shape) - len(places.shape)
    if extra > 0 and value.shape[:extra] == (1,) * extra:  # as in NumPy: x[0] = [4] for a vector x
        value = _ops.reshape(value, value.shape[extra:])
    flat = places.reshape(-1)
    if flat.size == n and n and np.array_equal(flat, np.arange(n)):  # all elements, in order
        return _ops.reshape(_ops.broadcast_to(value, places.shape), shape)
    spread = _ops.reshape(_ops.broadcast_to(value, places.shape), [flat.size])
    if np.unique(flat).size != flat.size:  # of several writes to one element the last one counts
        last = {int(p): i for i, p in enumerate(flat)}
        flat, order = np.fromiter(last.keys(), np.int64), np.fromiter(last.values(), np.int64)
        spread = _ops.gather(spread, _core.Tensor(order), 0)
    mask = np.zeros(n, np.bool_)
    mask[flat] = True
    is_bool = str(x.dtype) == "Bool"
    source = _ops.cast(spread, "int32") if is_bool else spread
    placed = _ops.scatter_add(_ops.full([n], 0, source.dtype), _core.Tensor(flat), source, 0)
    if is_bool:
        placed = _ops.cast(placed, "bool")
    return _ops.reshape(_ops.where(_core.Tensor(mask), placed, _ops.reshape(x, [n])), shape)
