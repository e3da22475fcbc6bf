"""Checks and conversions shared by the functions and primitives of sindri.ops."""
from __future__ import annotations

import functools
import math
from numbers import Number
from typing import Any, Callable, NoReturn, Optional, Sequence, TypeVar, Union

import numpy as np

from sindri import _core
from sindri._check import check_bool, check_choice, fail, is_int
from sindri.common import dtype as mstype

core = _core.ops
Tensor = _core.Tensor
Parameter = _core.Parameter

Axis = Union[None, int, Sequence[int]]
Size = Union[int, Sequence[int], "Tensor"]


def is_number(value: Any) -> bool:
    """Returns whether value is a Python or NumPy number (bool included), not a tensor."""
    return isinstance(value, (Number, np.generic)) and not isinstance(value, Tensor)


def is_long(value: Any) -> bool:
    """Returns whether value is an integer that a float may round."""
    return is_int(value) and abs(int(value)) > 2 ** 53


def is_float(dtype: Any) -> bool:
    """Returns whether an element type is floating point."""
    return dtype.is_floating


def to_int(value: Any, name: str, where: str) -> int:
    """Returns the Python int of an int or of an integer tensor with one element that is not traced."""
    if type(value) is int:  # the common case, without checks
        return value
    if is_int(value):
        return int(value)
    if isinstance(value, Tensor) and not is_float(value.dtype):
        return int(value)
    fail(TypeError, f"{name}: expected an int, got {value!r}", where)


def to_number(value: Any) -> Union[int, float, bool]:
    """Returns the number itself, or the only element of a tensor that is not traced."""
    return value.item() if isinstance(value, Tensor) else value


def to_ints(value: Any, name: str, where: str) -> tuple:
    """Returns a tuple of Python ints from an int, a tuple or list of ints, or an integer tensor that is not traced."""
    kind = type(value)  # the common cases, without checks
    if kind is int:
        return (value,)
    if (kind is tuple or kind is list) and all([type(v) is int for v in value]):
        return tuple(value)
    if isinstance(value, Tensor):
        if is_float(value.dtype):
            fail(TypeError, f"{name}: expected integers, got a tensor of {value.dtype}", where)
        return tuple(int(v) for v in value.asnumpy().reshape(-1))
    if is_int(value):
        return (int(value),)
    if not isinstance(value, (tuple, list, np.ndarray)):
        fail(TypeError, f"{name}: expected an int or a tuple of ints, got {value!r}", where)
    return tuple(to_int(v, name, where) for v in value)


def to_axes(axis: Axis, where: str) -> list:
    """Returns the axes as a list; None and () give [], which the engine reads as all."""
    return [axis] if type(axis) is int else [] if axis is None else list(to_ints(axis, "axis", where))


def to_axis(axis: int, rank: int, where: str) -> int:
    """Returns axis counted from 0; raises ValueError if it is outside [-rank, rank)."""
    axis = to_int(axis, "axis", where)
    if not -max(rank, 1) <= axis < max(rank, 1):
        fail(ValueError, f"axis: expected a value in [{-rank}, {rank}), got {axis}", where)
    return axis % max(rank, 1)


def pair(value: Any, name: str, where: str) -> list:
    """Returns two ints from one, from two, or from the last two of four (1.x writes strides as (1, 1, h, w))."""
    values = to_ints(value, name, where)
    if len(values) == 1:
        return [values[0], values[0]]
    if len(values) == 2 or (len(values) == 4 and values[:2] == (1, 1)):
        return list(values[-2:])
    fail(ValueError, f"{name}: expected an int or two of them, got {value!r}", where)


def to_count(value: Any, name: str, where: str, most: Optional[int] = None) -> int:
    """Returns an int from 1 to `most`. Raises TypeError or ValueError."""
    value = to_int(value, name, where)
    if value < 1 or most is not None and value > most:
        fail(ValueError, f"{name}: expected {'at least 1' if most is None else f'a value in [1, {most}]'}, got {value}", where)
    return value


def adaptive_sizes(output_size: Any, sizes: Sequence[int], where: str) -> list:
    """Returns the output sizes of adaptive pooling: one int for all of `sizes`, or one each; None keeps the input's.
    Raises TypeError, ValueError.
    """
    output_size = to_ints(output_size, "output_size", where) if isinstance(output_size, Tensor) else output_size
    wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * len(sizes)
    if len(wanted) != len(sizes):
        fail(ValueError, f"output_size: expected an int or {len(sizes)} of them, got {output_size!r}", where)
    return [n if w is None else to_count(w, "output_size", where, MOST_WINDOWS) for w, n in zip(wanted, sizes)]


FEW_PARTS = 65536
MOST_WINDOWS = 16777216  # in pooling and resizing along one dimension: their bounds are computed before it is known whether the result fits the memory


def check_parts(count: int, x: Tensor, where: str) -> None:
    """Raises ValueError for so many parts of x that most would be empty: the list of parts is built first and could
    exhaust the memory.
    """
    if count > FEW_PARTS and count > math.prod(x.shape):
        fail(ValueError, f"{count} parts of a tensor of {x.shape} are more than its elements", where, f"use at most {FEW_PARTS}")


def as_tensor(value: Any, like: Optional[Tensor] = None) -> Tensor:
    """Returns value as a Tensor; a number takes the element type of `like`, or int64 or float32 if its kind is higher."""
    if isinstance(value, Tensor):
        return value
    if like is not None and is_number(value):
        return core.scalar_like(like, value)
    return Tensor(value)


def as_lengths(value: Any) -> Tensor:
    """Returns a tensor of integers, also for a tuple of ints."""
    return value if isinstance(value, Tensor) else Tensor(value, mstype.int64)


def floating(x: Any) -> Tensor:
    """Returns x, cast to float32 if it holds integers."""
    x = as_tensor(x)
    return x if is_float(x.dtype) else core.cast(x, mstype.float32)


def wide(x: Tensor) -> Tensor:
    """Returns x, cast to float32 if it has a half type, which holds neither large counts nor sums; used for values that
    are reduced and divided.
    """
    return core.cast(x, mstype.float32) if x.dtype in _HALF_TYPES else x


Formula = TypeVar("Formula", bound=Callable)
_HALF_TYPES = (mstype.float16, mstype.bfloat16)


def rounded_once(least: Any = mstype.float32) -> Callable[[Formula], Formula]:
    """Decorates a formula of several operators, so that its result is rounded once, to the operands' common type.

    Operands of a half type (or of any narrower than `least`), and operands of different types, are cast to the type
    that holds all of them, at least `least`. Integers alone are not cast.
    """
    own = (mstype.float64,) if least is mstype.float64 else (mstype.float32, mstype.float64)

    def decorate(formula: Formula) -> Formula:
        @functools.wraps(formula)
        def rounded(*args: Any, **kwargs: Any) -> Any:
            kinds = {v.dtype for v in (*args, *kwargs.values()) if isinstance(v, Tensor)}
            if not any(is_float(k) for k in kinds):
                if least is not mstype.float64:
                    return formula(*args, **kwargs)
                kinds.add(mstype.float32)  # the type that the formula would give integers
            if len(kinds) == 1 and next(iter(kinds)) in own:
                return formula(*args, **kwargs)
            kind = functools.reduce(mstype.promote_types, kinds)
            inside = mstype.promote_types(kind, least)

            def widen(v: Any) -> Any:
                return core.cast(v, inside) if isinstance(v, Tensor) and v.dtype is not mstype.bool_ else v

            def narrow(v: Any) -> Any:
                return core.cast(v, kind) if isinstance(v, Tensor) and v.dtype is inside else v
            out = formula(*[widen(v) for v in args], **{k: widen(v) for k, v in kwargs.items()})
            return tuple(narrow(v) for v in out) if isinstance(out, tuple) else narrow(out)
        return rounded  # type: ignore[return-value]
    return decorate


def sloped(x: Tensor, slope: Tensor) -> Tensor:
    """Returns x above 0, else slope * x. Unselected elements enter the product as 0: an infinite x would make the
    slope's gradient NaN.
    """
    positive = core.greater(x, 0)
    return core.where(positive, x, core.mul(core.where(positive, 0, x), slope))


def filled(shape: Sequence[int], value: Any, dtype: Any) -> Tensor:
    """Returns a tensor with every element the number, cast to dtype. An integer that a float would round goes into int64
    exactly.
    """
    if is_long(value) and dtype is mstype.int64:
        return core.broadcast_to(Tensor(int(value), mstype.int64), list(shape))
    return core.full(shape, float(value), dtype)


def perm_moving(rank: int, source: Sequence[int], target: Sequence[int]) -> list:
    """Returns the permutation that moves dimension source[i] to position target[i] and keeps the order of the others."""
    perm = [d for d in range(rank) if d not in source]
    for place, dimension in sorted(zip(target, source)):
        perm.insert(place, dimension)
    return perm


def exported(namespace: dict) -> list:
    """Returns `__all__` of a module of functions: the names it defines or takes from the engine, not those it imports."""
    own = (namespace["__name__"], "sindri._core.ops")
    return [name for name, value in namespace.items() if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) in own]


def volume_pads(pad_mode: str, padding: Any, sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int],
               where: str) -> list[int]:
    """Returns (before, after) for depth, height and width in turn. Raises ValueError for an unknown mode and for padding
    without pad_mode 'pad'.
    """
    check_choice(where, "pad_mode", pad_mode.lower() if isinstance(pad_mode, str) else pad_mode, ("same", "valid", "pad"))
    numbers = to_ints(padding, "padding", where)
    if len(numbers) not in (1, 3, 6) or min(numbers) < 0:
        fail(ValueError, f"padding must be 1, 3 or 6 ints that are not negative, got {padding!r}", where)
    if pad_mode.lower() == "pad":
        return list(numbers) if len(numbers) == 6 else [v for n in (list(numbers) * 3)[:3] for v in (n, n)]
    if any(numbers):
        fail(ValueError, f"padding {padding!r} is given with pad_mode '{pad_mode}'", where, "set pad_mode to 'pad'")
    if pad_mode.lower() == "valid":
        return [0] * 6
    total = [max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0) for n, k, s, d in zip(sizes, kernel, stride, dilation)]
    return [v for t in total for v in (t // 2, t - t // 2)]


def need_divisor(value: Any, where: str) -> int:
    """Returns divisor_override, a non-negative int; 0 is none. Raises TypeError, ValueError."""
    if not is_int(value):
        fail(TypeError, f"divisor_override must be an int, got {value!r}", where)
    if value < 0:
        fail(ValueError, f"divisor_override must not be negative, got {value}", where, "use 0 to divide by the size of the window")
    return int(value)


def zeros_around(x: Tensor, kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int], ceil_mode: bool) -> Tensor:
    """Returns x with zeros in place of the pads (before, after) of its last dimensions; with ceil_mode enough zeros that
    the last windows are whole.
    """
    pads, first = list(pads), len(x.shape) - len(kernel)
    for i, (k, s) in enumerate(zip(kernel, stride) if ceil_mode else ()):
        size = x.shape[first + i] + pads[2 * i]
        count = -(-(size + pads[2 * i + 1] - k) // s) + 1
        count -= (count - 1) * s >= size  # a window of padding alone does not count
        pads[2 * i + 1] = max(pads[2 * i + 1], (count - 1) * s + k - size)
    return core.pad(x, [0] * (2 * first) + pads) if any(pads) else x


def transposed_conv2d(x: Tensor, weight: Tensor, stride: Sequence[int], pads: Sequence[int], extra: Sequence[int], dilation: Sequence[int],
                      groups: int) -> Tensor:
    """Applies a transposed convolution: [n, c, h, w] with weight [c, o/groups, kh, kw] -> [n, o, h', w'].

    h' = (h - 1)·stride + dilation·(kh - 1) + 1 - top - bottom + extra. Rows and columns added by `extra` follow those
    that the padding cuts off; rows and columns that no window reaches are zeros.
    """
    ends, beyond, size = list(pads), [0, 0], [0, 0]
    for i in (0, 1):
        after = pads[2 * i + 1] - extra[i]
        ends[2 * i + 1], beyond[i] = max(0, after), max(0, -after)
        size[i] = (x.shape[2 + i] - 1) * stride[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1 - ends[2 * i] - ends[2 * i + 1]
    out = core.conv2d_input_grad(x, weight, (x.shape[0], weight.shape[1] * groups, *size), list(stride), ends, list(dilation), groups)
    return core.pad(out, [0, 0, 0, 0, 0, beyond[0], 0, beyond[1]]) if any(beyond) else out
