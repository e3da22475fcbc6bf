"""Tensor indexing by NumPy's rules, as ops: recorded for gradients and traced like any other.

A key becomes the parts that slices, integers, None and Ellipsis make (one `slice`, then `reshape`), and at most the index arrays behind
them (one `gather`, over flat positions when there are several). Keys are known while tracing, except index tensors.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from sindri import _core
from sindri._core import Tensor

_ops = _core.ops


def _is_index_array(k: Any) -> bool:
    return isinstance(k, (Tensor, np.ndarray)) and len(k.shape) > 0 or isinstance(k, (list, range))


def _expand(key: Any, rank: Any) -> Any:
    """The key as a list with one entry per dimension (and None for new ones); boolean arrays become integer ones."""
    key = list(key) if isinstance(key, tuple) else [key]
    out: list[Any] = []
    for k in key:
        if isinstance(k, (list, range)):
            k = np.asarray(k) if not any(isinstance(v, Tensor) for v in k) else _ops.stack([_core.Tensor(v) for v in k], 0)
        if isinstance(k, np.ndarray) and k.size == 0:
            k = k.astype(np.int64)
        if isinstance(k, (Tensor, np.ndarray)) and len(k.shape) > 0 and str(k.dtype).lower().startswith("bool"):
            out.extend(np.nonzero(np.asarray(k)))  # of a traced mask the value is asked: such code runs eagerly
        elif isinstance(k, (bool, np.bool_)):
            if not k:
                raise IndexError("False is no index | Tensor.__getitem__ | True and None add a dimension; give a mask of the tensor's shape to choose")
            out.append(None)
        elif isinstance(k, (Tensor, np.ndarray, np.integer)) and len(getattr(k, "shape", ())) == 0:
            out.append(k if isinstance(k, Tensor) and k.is_symbolic else int(k))
        else:
            out.append(k)
    used = sum(1 for k in out if k is not None and k is not Ellipsis)
    if used > rank:
        raise IndexError(f"too many indices: the tensor has {rank} dimensions, the key {used} | Tensor.__getitem__ | drop some")
    if any(k is Ellipsis for k in out):
        at = next(i for i, k in enumerate(out) if k is Ellipsis)
        out[at:at + 1] = [slice(None)] * (rank - used)
    else:
        out += [slice(None)] * (rank - used)
    return out


def _range_of(k: Any, size: Any) -> Any:
    """(begin, end, stride, count) of a slice, as the op `slice` takes them."""
    start, stop, step = k.indices(size)
    count = max(0, (stop - start + (step - (1 if step > 0 else -1))) // step)
    if count == 0:
        return 0, 0, 1, 0
    end = start + count * step
    if step < 0 and end < 0:
        end = -size - 1
    return start, end, step, count


def pick(self: Tensor, key: Any) -> Tensor:
    """self[key] that is no view."""
    shape = self.shape
    if isinstance(key, int) and not isinstance(key, bool):  # the common case: one row
        return _row(self, key, shape)
    parts = _expand(key, len(shape))
    begin, end, stride, dims, arrays, axis = [], [], [], [], [], 0
    for k in parts:
        if k is None:
            dims.append(1)
            continue
        size = shape[axis]
        axis += 1
        if isinstance(k, slice):
            b, e, s, count = _range_of(k, size)
        elif isinstance(k, int):
            b, e, s, count = _check_index(k, size, axis - 1), None, 1, None
            e = b + 1
        elif isinstance(k, (Tensor, np.ndarray)):
            b, e, s, count = 0, size, 1, size
            arrays.append((len(dims), k))
        else:
            raise IndexError(f"{k!r} is no index | Tensor.__getitem__ | use integers, slices, None, Ellipsis, integer or bool arrays")
        begin.append(b)
        end.append(e)
        stride.append(s)
        if count is not None:
            dims.append(count)
    out = self
    whole = all(b == 0 and e == n and s == 1 for b, e, s, n in zip(begin, end, stride, shape))
    if not whole:
        out = _ops.slice(self, begin, end, stride)
    if tuple(dims) != tuple(out.shape):
        out = _ops.reshape(out, dims)
    return _take(out, arrays) if arrays else out if out is not self else self._detached()


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
    return k if isinstance(k, Tensor) else _core.Tensor(np.asarray(k, np.int64))


def _take(x: Any, arrays: Any) -> Any:
    """Rows of x picked by index arrays, each at its dimension: NumPy's advanced indexing."""
    if len(arrays) == 1:
        axis, k = arrays[0]
        return _ops.gather(x, _as_index(k), axis)
    shape, axes = x.shape, [a for a, _ in arrays]
    # Index dimensions to the front, as one flat dimension; where they stand side by side the result goes back to their place.
    rest = [d for d in range(len(shape)) if d not in axes]
    moved = _ops.transpose(x, axes + rest)
    flat = _ops.reshape(moved, [math.prod(shape[a] for a in axes)] + [shape[d] for d in rest])
    position = _ops.ravel_indices([_as_index(k) for _, k in arrays], [shape[a] for a in axes], True, axes)
    out = _ops.gather(flat, position, 0)
    if axes == list(range(axes[0], axes[0] + len(axes))) and axes[0] > 0:
        n = len(position.shape)
        front = list(range(n, n + axes[0]))
        out = _ops.transpose(out, front + list(range(n)) + list(range(n + axes[0], len(out.shape))))
    return out


def with_item(x: Tensor, key: Any, value: Any) -> Tensor:
    """x with the elements of `key` replaced by `value` (broadcast to them): the functional form of x[key] = value."""
    positions = np.arange(math.prod(x.shape), dtype=np.int64).reshape(x.shape)
    static = tuple(np.asarray(k) if isinstance(k, Tensor) else k for k in key) if isinstance(key, tuple) else np.asarray(key) if isinstance(key, Tensor) else key
    return with_places(x, np.asarray(positions[static]), value if isinstance(value, Tensor) else _core.Tensor(value, x.dtype))


def with_places(x: Tensor, places: np.ndarray, value: Tensor) -> Tensor:
    """x with the elements at these places, counted in the flat x, replaced by `value` (broadcast to them)."""
    shape, n = x.shape, x.size
    value = _ops.cast(value, x.dtype)
    flat = places.reshape(-1)
    if flat.size == n and n and np.array_equal(flat, np.arange(n)):  # all of it, in order
        return _ops.reshape(_ops.broadcast_to(value, places.shape), shape)
    spread = _ops.reshape(_ops.broadcast_to(value, places.shape), [flat.size])
    if np.unique(flat).size != flat.size:  # of several writes to one element the last one stays
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
