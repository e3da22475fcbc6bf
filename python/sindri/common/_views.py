"""Views: tensors that are a part of another one, as basic indexing, reshape, transpose and similar functions return.

Values never change here, so a view is a handle with a base and the steps that lead from it. A write to the view becomes a write to the base
(`store`). A view whose base has been written since is computed again when it is read (`part`, called by the extension). Gradients flow through
both.

A view made while a graph is traced keeps its value when the base is written, as in MindSpore's graphs; writes to it still go to the base. The
same holds for results of indexing in era 1, where nothing else is a view.

Steps are (kind, argument): ("reshape", shape), ("transpose", permutation), ("index", key of integers, slices, None and Ellipsis),
("diagonal", (offset, first, second dimension)), ("expand", shape), ("stop", None) for stop_gradient, ("take", positions in the flat base).
"""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import numpy as np

from sindri import _core
from sindri._compile import local
from sindri._core import Tensor
from sindri.common._indexing import pick, with_item, with_places
from sindri.context import era

__all__ = ["of_first_era", "viewed", "reshaped", "transposed", "diagonal_of", "getitem", "setitem", "part", "store"]

_ops = _core.ops
_MOST_STEPS = 32
_first_era: Optional[bool] = None


def of_first_era() -> bool:
    """Returns whether era() is 1; cached, because every view calls it."""
    global _first_era
    if _first_era is None:
        _first_era = era() == 1
    return _first_era


def viewed(out: Tensor, base: Tensor, kind: str, argument: Any) -> Tensor:
    """Returns out, which this step computed from base, as a view of base."""
    first = of_first_era()
    if first and kind != "index" or out is base:
        return out
    if out._link(base, (kind, argument), first or local.seen is not None) > _MOST_STEPS:
        root, steps, _ = out._link_of()
        places, shape = _places(root.shape, steps), out.shape
        out._leave()
        out._link(root, ("take", places), first or local.seen is not None)
        assert out.shape == shape
    return out


def reshaped(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Reshapes x, as a view."""
    out = _ops.reshape(x, shape)
    return viewed(out, x, "reshape", out.shape)


def transposed(x: Tensor, perm: Sequence[int]) -> Tensor:
    """Transposes x, as a view."""
    return viewed(_ops.transpose(x, perm), x, "transpose", perm)


def diagonal_of(x: Tensor, offset: int, a: int, b: int) -> Tensor:
    """Returns the elements [.., i, i + offset] of the dimensions a and b, as the last dimension."""
    n = len(x.shape)
    x = _ops.transpose(x, [d for d in range(n) if d not in (a, b)] + [a, b])
    rows, columns = x.shape[-2:]
    first_row, first_column = max(-offset, 0), max(offset, 0)
    count = max(0, min(rows - first_row, columns - first_column))
    flat = _ops.reshape(x, x.shape[:-2] + (rows * columns,))
    places = (first_row + np.arange(count)) * columns + first_column + np.arange(count)
    return _ops.gather(flat, Tensor(places.astype(np.int64)), n - 2)


_BASIC = (int, slice, type(None), type(Ellipsis))


def getitem(self: Tensor, key: Any) -> Tensor:
    """Returns elements of the tensor: integers, slices, None, Ellipsis, index arrays and masks as in NumPy; gradients flow through.

    True adds a dimension of 1. Without index arrays and masks the result is a view: writes to it change the tensor. Raises IndexError.
    """
    out = pick(self, key)
    if type(key) is int:
        return viewed(out, self, "index", key)
    keys = key if isinstance(key, tuple) else (key,)
    if all([isinstance(k, _BASIC) for k in keys]):
        return viewed(out, self, "index", keys)
    if all([isinstance(k, _BASIC) or _is_number(k) for k in keys]):
        numbers = tuple([k if isinstance(k, _BASIC) else _plain_number(k) for k in keys])
        return out if any([k is False for k in numbers]) else viewed(out, self, "index", numbers)
    return out


def _plain_number(k: Any) -> Any:
    """Returns a 0-d tensor, array or NumPy scalar of a key as an int or a bool, because a later write may use the key after the tensor has changed."""
    return bool(k) if str(k.dtype).lower().startswith("bool") else int(k)


def _is_number(k: Any) -> bool:
    return isinstance(k, np.generic) or isinstance(k, (Tensor, np.ndarray)) and not k.shape and not (isinstance(k, Tensor) and k.is_symbolic)


def part(value: Tensor, steps: Sequence[Any]) -> Tensor:
    """Returns the result of the steps for a value."""
    if _core.is_tracing_graph() and not value.is_symbolic:  # older than the graph and not a part of it
        with _core.BelowScope():
            return _part(value, steps)
    return _part(value, steps)


def _part(value: Tensor, steps: Sequence[Any]) -> Tensor:
    for kind, argument in steps:
        if kind == "reshape":
            value = _ops.reshape(value, argument)
        elif kind == "transpose":
            value = _ops.transpose(value, argument)
        elif kind == "index":
            value = pick(value, argument)
        elif kind == "expand":
            value = _ops.broadcast_to(value, argument)
        elif kind == "stop":
            value = _ops.stop_gradient(value)
        elif kind == "take":
            value = _ops.gather(_ops.reshape(value, (-1,)), Tensor(argument), 0)
        else:
            value = diagonal_of(value, *argument)
    return value


def _places(shape: Sequence[int], steps: Sequence[Any]) -> np.ndarray:
    """Returns the positions of the part's elements in the flattened base."""
    places = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    for kind, argument in steps:
        if kind == "reshape":
            places = places.reshape(argument)
        elif kind == "transpose":
            places = places.transpose(argument)
        elif kind == "index":
            places = places[argument]
        elif kind == "expand":
            places = np.broadcast_to(places, argument)
        elif kind == "stop":
            pass
        elif kind == "take":
            places = places.reshape(-1)[argument]
        else:
            places = np.diagonal(places, *argument)
    return np.asarray(places)


def store(view: Tensor, value: Tensor) -> bool:
    """Writes a value into the base of a view. Returns False, without an effect, for a tensor that is not a view."""
    link = view._link_of()
    if link is None:
        return False
    base, steps, snapshot = link
    places = _places(base.shape, steps)
    if any(kind == "expand" for kind, _ in steps) and np.unique(places).size != places.size:
        raise ValueError("elements of this tensor share memory: it is another one, expanded | Tensor.__setitem__ | write to the tensor before expand or "
                         "broadcast_to, or to a copy()")
    value = _ops.broadcast_to(_ops.cast(value, view.dtype), view.shape)
    new = with_places(base._detached(), places, value)
    if snapshot:
        view._rebind(value)
    if isinstance(base, _core.Parameter):
        base.assign(new)
    else:
        base._replace(new)
    return True


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Implements self[key] = value: the tensor gets a new value, and so does the base if it is a view; earlier results keep theirs."""
    self._replace(with_item(self._detached(), key, value))


_core.set_part_maker(part)
