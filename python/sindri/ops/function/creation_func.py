"""Functions of sindri.ops that make tensors, and of the diagonals and triangles of matrices."""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Union

import numpy as np

from sindri._check import check_choice, fail, is_int
from sindri.common import dtype as mstype
from sindri.common._views import diagonal_of, viewed
from sindri.ops._util import (FEW_PARTS, Size, Tensor, as_tensor, core, exported, filled, floating, is_float, is_long, is_number, perm_moving,
                              rounded_once, to_axis, to_count, to_int, to_ints, to_number)
from sindri.ops.function.array_func import concat, ravel

_range = range


# --- creation ---------------------------------------------------------------------------------------------------------------------------


def fill(type, shape: Size, value: Union[int, float, bool, Tensor]) -> Tensor:
    """A tensor of element type `type` and a shape with every element `value`. The type comes first. Raises ValueError for a value that is a tensor
    of more than one element."""
    dims = to_ints(shape, "shape", "ops.fill")
    if isinstance(value, Tensor):
        if math.prod(value.shape) != 1:
            fail(ValueError, f"value: expected one element, got a tensor of {value.shape}", "ops.fill", "use ops.broadcast_to for values that differ")
        return core.broadcast_to(core.reshape(core.cast(value, type), ()), dims)
    return filled(dims, value, type)


def full(size: Size, fill_value: Union[int, float, bool, Tensor], *, dtype=None) -> Tensor:
    """A tensor with every element fill_value; dtype None: that of the value (int64, float32, bool)."""
    return fill(_type_of(fill_value) if dtype is None else dtype, size, fill_value)


def _type_of(value: Any):
    if isinstance(value, Tensor):
        return value.dtype
    return mstype.bool_ if isinstance(value, (bool, np.bool_)) else mstype.int64 if isinstance(value, (int, np.integer)) else mstype.float32


def full_like(input: Tensor, fill_value: Union[int, float, bool, Tensor], *, dtype=None) -> Tensor:
    """A tensor of input's shape (and type) with every element fill_value."""
    return fill(dtype or input.dtype, input.shape, fill_value)


def fills(x: Tensor, value: Union[int, float, bool, Tensor]) -> Tensor:
    """full_like by another name."""
    return full_like(x, value)


def zeros(size: Size, dtype=None) -> Tensor:
    """Zeros, float32 unless dtype says otherwise."""
    return core.full(to_ints(size, "size", "ops.zeros"), 0.0, dtype or mstype.float32)


def ones(shape: Size, dtype=None) -> Tensor:
    """Ones, float32 unless dtype says otherwise."""
    return core.full(to_ints(shape, "shape", "ops.ones"), 1.0, dtype or mstype.float32)


def zeros_like(input: Tensor, *, dtype=None) -> Tensor:
    """Zeros of input's shape (and type)."""
    return core.full(input.shape, 0.0, dtype or input.dtype)


def ones_like(input: Tensor, *, dtype=None) -> Tensor:
    """Ones of input's shape (and type)."""
    return core.full(input.shape, 1.0, dtype or input.dtype)


def _size(value: Any, name: str, where: str) -> int:
    value = to_int(value, name, where)
    if value < 0:
        fail(ValueError, f"{name}: expected at least 0, got {value}", where)
    return value


def eye(n: int, m: Optional[int] = None, dtype=None) -> Tensor:
    """[n, m] (m = n when None) with ones on the diagonal, float32 unless dtype says otherwise. Raises ValueError for a negative size."""
    rows, columns = _size(n, "n", "ops.eye"), _size(n if m is None else m, "m", "ops.eye")
    return core.cast(_diagonal_mask(rows, columns, 0, core.equal), dtype or mstype.float32)


def _diagonal_mask(rows: int, columns: int, offset: int, compare) -> Tensor:
    """compare(column - row, offset) for each place of a matrix, as a bool tensor."""
    row = core.reshape(core.arange(0, rows), (rows, 1))
    return compare(core.sub(core.reshape(core.arange(0, columns), (1, columns)), row), offset)


def arange(start=0, end=None, step=1, *, dtype=None) -> Tensor:
    """start, start + step, … before end; arange(end) counts from 0. Integers give int64, a fraction among the arguments float32."""
    start, end = (0, start) if end is None else (start, end)
    start, end, step = to_number(start), to_number(end), to_number(step)
    if step == 0:
        fail(ValueError, "step is 0", "ops.arange")
    if dtype is None:
        dtype = mstype.float32 if any(isinstance(v, float) for v in (start, end, step)) else mstype.int64
    if all(is_int(v) for v in (start, end, step)) and any(is_long(v) for v in (start, end, step)):
        return _long_arange(int(start), int(end), int(step), dtype)
    return core.arange(float(start), float(end), float(step), dtype)


def _long_arange(start: int, end: int, step: int, dtype) -> Tensor:
    """arange counted in int64, which holds what a float rounds."""
    count = max(-((start - end) // step), 0)
    if not count:
        return core.full((0,), 0.0, dtype)
    for value in (start, start + (count - 1) * step):
        fill(dtype, (), value)  # refuses what does not fit
    return core.cast(core.add(core.mul(core.arange(0, count), step if count > 1 else 1), start), dtype)


def range(start, end, step, maxlen: int = 1000000) -> Tensor:
    """arange of numbers or constant 0-D tensors: int64, or a floating tensor's type. Raises ValueError when there are more than maxlen elements."""
    kinds = [v.dtype for v in (start, end, step) if isinstance(v, Tensor) and is_float(v.dtype)]
    out = arange(start, end, step, dtype=kinds[0] if kinds else None)
    if out.shape[0] > maxlen:
        fail(ValueError, f"{out.shape[0]} elements are more than maxlen = {maxlen}", "ops.range")
    return out


tensor_range = range


def linspace(start: Union[int, float, Tensor], end: Union[int, float, Tensor], steps: int) -> Tensor:
    """`steps` numbers from start to end, both included, evenly spaced; float32, or the floating type of a tensor start."""
    steps = to_int(steps, "steps", "ops.linspace")
    if steps < 1:
        fail(ValueError, f"steps: expected at least 1, got {steps}", "ops.linspace")
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        return Tensor(np.linspace(start, end, steps).astype(np.float32))
    start = floating(as_tensor(start, end if isinstance(end, Tensor) else None))
    return _evenly_spaced(start, core.cast(as_tensor(end, start), start.dtype), steps)


@rounded_once()
def _evenly_spaced(start: Tensor, end: Tensor, steps: int) -> Tensor:
    # Both halves count from their own end, so that the last number is `end` itself.
    ramp = core.arange(0.0, float(steps), 1.0, start.dtype)
    step = core.div(core.sub(end, start), float(max(steps - 1, 1)))
    from_end = core.sub(end, core.mul(core.sub(float(steps - 1), ramp), step))
    return core.where(core.less(ramp, steps / 2), core.add(start, core.mul(ramp, step)), from_end)


def logspace(start, end, steps: int, base: float = 10, *, dtype=mstype.float32) -> Tensor:
    """base to the power of linspace(start, end, steps)."""
    exponent = linspace(core.full((), float(start), dtype) if dtype == mstype.float64 and is_number(start) else start, end, steps)
    return core.cast(core.exp(core.mul(exponent, math.log(base))), dtype)


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple:
    """One tensor per vector that repeats it along the dimensions of the others. 'xy' exchanges the first two dimensions, as NumPy."""
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    check_choice("ops.meshgrid", "indexing", indexing, ("xy", "ij"))
    dims, places = [x.shape[0] if x.shape else 1 for x in inputs], list(_range(len(inputs)))
    if indexing == "xy" and len(inputs) > 1:
        dims[0], dims[1], places[0], places[1] = dims[1], dims[0], 1, 0
    return tuple(core.broadcast_to(core.reshape(x, [-1 if d == place else 1 for d in _range(len(dims))]), dims) for x, place in zip(inputs, places))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype=mstype.int64) -> Tensor:
    """[2, n]: row and column numbers of the lower triangle of a [row, col] matrix."""
    return core.cast(Tensor(np.stack(np.tril_indices(_size(row, "row", "ops.tril_indices"), offset, _size(col, "col", "ops.tril_indices")))), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype=mstype.int64) -> Tensor:
    """[2, n]: row and column numbers of the upper triangle of a [row, col] matrix."""
    return core.cast(Tensor(np.stack(np.triu_indices(_size(row, "row", "ops.triu_indices"), offset, _size(col, "col", "ops.triu_indices")))), dtype)


def vander(x: Tensor, N: Optional[int] = None) -> Tensor:
    """[n, N] (N = n when None): the powers N - 1 to 0 of the elements of a vector; of integers int64. Raises ValueError for another rank and N below 1."""
    if len(x.shape) != 1:
        fail(ValueError, f"expected a vector, got {x.shape}", "ops.vander")
    count = x.shape[0] if N is None else to_count(N, "N", "ops.vander", FEW_PARTS)  # each power is an operator
    x = x if is_float(x.dtype) else core.cast(x, mstype.int64)
    powers = [core.full(x.shape, 1.0, x.dtype)]
    while len(powers) < count:
        powers.append(core.mul(powers[-1], x))
    return core.stack(powers[count - 1::-1], 1) if count else core.full((0, 0), 0.0, x.dtype)


def _window(length: Any, periodic: bool, kind: Any, where: str, formula: Callable[[np.ndarray], np.ndarray]) -> Tensor:
    """formula of numbers from 0 on that reach 1 at the last of length elements, or at the one behind it for a periodic window."""
    count = to_int(length, "window_length", where)
    if count < 0:
        fail(ValueError, f"window_length: expected a number that is not negative, got {count}", where)
    if not is_float(kind):
        fail(TypeError, f"dtype: expected a floating type, got {kind}", where)
    whole = count if periodic else count - 1
    return core.cast(Tensor(formula(np.arange(count) / whole) if count > 1 else np.ones(count)), kind)


def bartlett_window(window_length: Union[int, Tensor], periodic: bool = True, *, dtype=None) -> Tensor:
    """A triangle from 0 to 1 and back; periodic: without the last element of the symmetric one. float32 unless dtype says otherwise."""
    return _window(window_length, periodic, dtype or mstype.float32, "ops.bartlett_window", lambda t: 1 - np.abs(2 * t - 1))


def hann_window(window_length: int, periodic: bool = True, *, dtype=None) -> Tensor:
    """1/2 - cos(2πt)/2, float64 unless dtype says otherwise; see bartlett_window."""
    return _window(window_length, periodic, dtype or mstype.float64, "ops.hann_window", lambda t: np.sin(math.pi * t) ** 2)


def hamming_window(window_length: Union[int, Tensor], periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype=None) -> Tensor:
    """alpha - beta·cos(2πt); see bartlett_window."""
    return _window(window_length, periodic, dtype or mstype.float32, "ops.hamming_window", lambda t: alpha - beta * np.cos(2 * math.pi * t))


def blackman_window(window_length: Union[int, Tensor], periodic: bool = True, *, dtype=None) -> Tensor:
    """0.42 - cos(2πt)/2 + 0.08·cos(4πt); see bartlett_window."""
    return _window(window_length, periodic, dtype or mstype.float32, "ops.blackman_window",
                   lambda t: 0.42 - 0.5 * np.cos(2 * math.pi * t) + 0.08 * np.cos(4 * math.pi * t))


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype=None) -> Tensor:
    """i0(beta·sqrt(1 - (2t - 1)²))/i0(beta), float64 unless dtype says otherwise; see bartlett_window."""
    return _window(window_length, periodic, dtype or mstype.float64, "ops.kaiser_window", lambda t: np.i0(beta * np.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(beta))


# --- diagonals and triangles ------------------------------------------------------------------------------------------------------------


def _check_matrices(input: Tensor, where: str) -> None:
    if len(input.shape) < 2:
        fail(ValueError, f"expected at least 2 dimensions, got shape {input.shape}", where)


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the last two dimensions up to a diagonal, zeros above. Raises ValueError for a vector or scalar."""
    _check_matrices(input, "ops.tril")
    return core.where(_diagonal_mask(input.shape[-2], input.shape[-1], diagonal, core.less_equal), input, core.full((), 0.0, input.dtype))


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of the last two dimensions from a diagonal on, zeros below. Raises ValueError for a vector or scalar."""
    _check_matrices(input, "ops.triu")
    return core.where(_diagonal_mask(input.shape[-2], input.shape[-1], diagonal, core.greater_equal), input, core.full((), 0.0, input.dtype))


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Elements [.., i, i + offset] of two dimensions, as the last dimension."""
    n = len(input.shape)
    a, b = to_axis(dim1, n, "ops.diagonal"), to_axis(dim2, n, "ops.diagonal")
    if a == b:
        fail(ValueError, f"dim1 and dim2 are both {a}", "ops.diagonal")
    return viewed(diagonal_of(input, offset, a, b), input, "diagonal", (offset, a, b))


def trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""
    return core.sum(diagonal(input), [-1])


def diag(input: Tensor) -> Tensor:
    """[d1, …] as a tensor of twice as many dimensions whose diagonal it is: a vector gives a matrix."""
    flat = ravel(input)
    square = core.where(_diagonal_mask(flat.shape[0], flat.shape[0], 0, core.equal), flat, core.full((), 0.0, input.dtype))
    return core.reshape(square, input.shape + input.shape)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with the elements on the diagonal `offset`."""
    return diag_embed(ravel(input), offset)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last dimension of input on the diagonal `offset`; they lie in dimensions dim1 and dim2 of the result."""
    n = input.shape[-1] + abs(offset)
    # Column j of the matrices holds element j - offset; below the main diagonal element j.
    columns = core.pad(input, [0] * (2 * len(input.shape) - 2) + ([offset, 0] if offset >= 0 else [0, -offset]))
    out = core.where(_diagonal_mask(n, n, offset, core.equal), core.expand_dims(columns, -2), core.full((), 0.0, input.dtype))
    rank_ = len(out.shape)
    a, b = to_axis(dim1, rank_, "ops.diag_embed"), to_axis(dim2, rank_, "ops.diag_embed")
    return core.transpose(out, perm_moving(rank_, [rank_ - 2, rank_ - 1], [a, b]))


def diag_part(x: Tensor) -> Tensor:
    """The diagonal of a tensor of shape [d1, …, dk, d1, …, dk], as [d1, …, dk]."""
    half = len(x.shape) // 2
    if len(x.shape) % 2 or x.shape[:half] != x.shape[half:]:
        fail(ValueError, f"expected the second half of the shape to repeat the first, got {x.shape}", "ops.DiagPart")
    n = math.prod(x.shape[:half])
    return core.reshape(diagonal(core.reshape(x, (n, n))), x.shape[:half])


def block_diag(*inputs: Tensor) -> Tensor:
    """A matrix with the given ones along its diagonal and zeros elsewhere, in their common type; vectors are rows, scalars 1 x 1. Raises TypeError,
    and ValueError above 2 dimensions."""
    blocks = [core.reshape(as_tensor(x), (1,) * (2 - len(as_tensor(x).shape)) + as_tensor(x).shape) for x in inputs]
    for x in blocks:
        if len(x.shape) > 2:
            fail(ValueError, f"expected at most 2 dimensions, got {x.shape}", "ops.block_diag")
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        rows.append(core.pad(x, [0, 0, before, width - before - x.shape[1]]))
        before += x.shape[1]
    return concat(rows, 0)


def matrix_band_part(x: Tensor, lower: int, upper: int) -> Tensor:
    """The matrices with zeros below `lower` sub-diagonals and above `upper` super-diagonals; negative: keep that side whole."""
    out = x if to_number(lower) < 0 else triu(x, -int(to_number(lower)))
    return out if to_number(upper) < 0 else tril(out, int(to_number(upper)))


__all__ = exported(globals())
