"""numpy.pad: pads one dimension after the other, as NumPy does."""
from __future__ import annotations

from typing import Any, Callable, Optional, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.ops import function as F
from sindri.ops._util import Tensor, as_tensor, core, filled, floating, is_float

_WHERE = "numpy.pad"
_numpy_pad: Any = np.pad
_MODES = ("constant", "edge", "empty", "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap")


def _pairs(value: Any, rank: int, name: str) -> list:
    """Returns [(before, after)] per dimension from a number, a pair, or a pair per dimension."""
    try:
        return np.broadcast_to(np.asarray(value), (rank, 2)).tolist()
    except ValueError:
        fail(ValueError, f"{name}: expected a number, a pair, or a pair for each of {rank} dimensions, got {value!r}", _WHERE)


def _slab(x: Tensor, axis: int, begin: int, end: int) -> Tensor:
    first, last = [0] * len(x.shape), list(x.shape)
    first[axis], last[axis] = begin, end
    return core.slice(x, first, last)


def _wide(x: Tensor, axis: int, width: int) -> Tensor:
    """Returns x, of size 1 along axis, repeated there."""
    return core.broadcast_to(x, [width if d == axis else n for d, n in enumerate(x.shape)])


def _constant(x: Tensor, axis: int, width: int, value: Any) -> Tensor:
    return filled([width if d == axis else n for d, n in enumerate(x.shape)], value, x.dtype)


def _ramp(x: Tensor, axis: int, width: int, end: float, at_end: bool) -> Tensor:
    """Returns a ramp from the edge of x to `end`, which is reached at the outermost position."""
    n = x.shape[axis]
    edge = floating(_slab(x, axis, n - 1, n) if at_end else _slab(x, axis, 0, 1))
    way = np.arange(width, dtype=np.float32) / max(width, 1)  # from the outermost place to the edge
    way = (way[::-1].copy() if at_end else way).reshape([width if d == axis else 1 for d in range(len(x.shape))])
    ramp = core.add(core.mul(core.sub(edge, float(end)), core.cast(Tensor(way), edge.dtype)), float(end))
    return core.cast(ramp if is_float(x.dtype) else F.floor(ramp), x.dtype)


def _statistic(x: Tensor, axis: int, width: int, mode: str, length: Optional[int], at_end: bool) -> Tensor:
    n = x.shape[axis]
    length = n if length is None else min(length, n)
    if length < 1:
        fail(ValueError, f"stat_length must be at least 1, got {length}", _WHERE)
    part = _slab(x, axis, n - length, n) if at_end else _slab(x, axis, 0, length)
    if mode == "mean":
        mean = core.mean(floating(part), [axis], True)
        value = core.cast(mean if is_float(x.dtype) else core.round(mean), x.dtype)
    else:
        value = (core.max if mode == "maximum" else core.min)(part, [axis], True)
    return _wide(value, axis, width)


def _places(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """Returns x extended along axis by its own elements: edge, reflect, symmetric and wrap."""
    return core.gather(x, Tensor(_numpy_pad(np.arange(x.shape[axis], dtype=np.int64), (before, after), mode)), axis)


def _reflected_odd(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """Returns twice the edge minus the reflection: each new position is a weighted sum of a few positions of x."""
    weights = _numpy_pad(np.eye(x.shape[axis]), ((before, after), (0, 0)), mode, reflect_type="odd")
    most = int((weights != 0).sum(1).max())
    order = np.argsort(weights == 0, axis=1, kind="stable")[:, :most]
    taken = np.take_along_axis(weights, order, 1)
    order = np.where(taken == 0, order[:, :1], order)
    picked = core.gather(x, Tensor(order.astype(np.int64)), axis)
    factor = Tensor(taken.reshape([1] * axis + list(taken.shape) + [1] * (len(x.shape) - axis - 1)))
    return core.sum(core.mul(picked, core.cast(factor, x.dtype)), [axis + 1])


def pad(arr: Any, pad_width: Any, mode: Union[str, Callable] = "constant", stat_length: Any = None, constant_values: Any = 0, end_values: Any = 0,
        reflect_type: str = "even", **kwargs: Any) -> Tensor:
    """Pads a tensor.

    `pad_width`, `stat_length`, `constant_values` and `end_values` are a number, a pair, or a pair per dimension. A
    function as mode is called as in NumPy, function(vector, pads, axis, kwargs), on NumPy vectors; gradients do not
    pass through it.

    Args:
        arr: The tensor.
        pad_width: The numbers of elements before and after.
        mode (str or Callable): "constant", "linear_ramp" (to `end_values`), "maximum", "mean", "minimum", "reflect"
            (without the edge), "symmetric" (with it), "edge", "wrap", "empty" (zeros) or a function.
            Default: "constant".
        stat_length: The number of nearest elements for "maximum", "mean" and "minimum"; None means all. Default: None.
        constant_values: The values for "constant". Default: 0.
        end_values: The values for "linear_ramp". Default: 0.
        reflect_type (str): "even", or "odd" for 2 * edge - mirrored. Default: "even".
        **kwargs: Arguments of the function.

    Returns:
        The padded tensor.

    Raises:
        TypeError: If `kwargs` are given without a function.
        ValueError: If `mode` is another string or a number does not fit.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.pad([1, 2, 3], 1))
        [0 1 2 3 0]
    """
    arr = as_tensor(arr)
    rank = len(arr.shape)
    pads = _pairs(pad_width, rank, "pad_width")
    if callable(mode):
        return Tensor(_numpy_pad(arr.asnumpy(), pads, mode, **kwargs))
    if kwargs:
        fail(TypeError, f"unknown arguments {', '.join(kwargs)}", _WHERE)
    check_choice(_WHERE, "mode", mode, _MODES)
    check_choice(_WHERE, "reflect_type", reflect_type, ("even", "odd"))
    if any(n < 0 for pair in pads for n in pair):
        fail(ValueError, f"pad_width must not be negative, got {pad_width!r}", _WHERE)
    lengths = _pairs(stat_length, rank, "stat_length") if stat_length is not None else [(None, None)] * rank
    values, ends = _pairs(constant_values, rank, "constant_values"), _pairs(end_values, rank, "end_values")
    for axis, (before, after) in enumerate(pads):
        if before == after == 0:
            continue
        if arr.shape[axis] == 0 and mode not in ("constant", "empty"):
            fail(ValueError, f"dimension {axis} is empty, and mode '{mode}' needs elements", _WHERE)
        if mode in ("reflect", "symmetric") and reflect_type == "odd":
            arr = _reflected_odd(arr, axis, before, after, mode)
        elif mode in ("edge", "reflect", "symmetric", "wrap"):
            arr = _places(arr, axis, before, after, mode)
        else:
            def side(width: int, k: int) -> Tensor:
                if mode in ("constant", "empty"):
                    return _constant(arr, axis, width, values[axis][k] if mode == "constant" else 0)  # noqa: B023
                if mode == "linear_ramp":
                    return _ramp(arr, axis, width, ends[axis][k], k == 1)  # noqa: B023
                return _statistic(arr, axis, width, str(mode), lengths[axis][k], k == 1)  # noqa: B023
            parts = [*([side(before, 0)] if before else []), arr, *([side(after, 1)] if after else [])]
            arr = core.concat(parts, axis)
    return arr
