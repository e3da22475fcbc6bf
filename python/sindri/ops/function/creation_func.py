"""Functions of sindri.ops that create tensors, and those for diagonals and triangles of matrices."""
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
    """Creates a tensor with every element `value`. The type is the first argument.

    Args:
        type (dtype): The element type.
        shape (int, sequence of ints or Tensor): The shape.
        value (Tensor or number): The value; a tensor of one element is accepted.

    Returns:
        The tensor.

    Raises:
        ValueError: If `value` is a tensor of more than one element.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fill(ms.float32, (2, 2), 1))
        [[1. 1.]
         [1. 1.]]
    """
    dims = to_ints(shape, "shape", "ops.fill")
    if isinstance(value, Tensor):
        if math.prod(value.shape) != 1:
            fail(ValueError, f"value: expected one element, got a tensor of {value.shape}", "ops.fill", "use ops.broadcast_to for values that differ")
        return core.broadcast_to(core.reshape(core.cast(value, type), ()), dims)
    return filled(dims, value, type)


def full(size: Size, fill_value: Union[int, float, bool, Tensor], *, dtype=None) -> Tensor:
    """Creates a tensor with every element `fill_value`.

    Args:
        size (int, sequence of ints or Tensor): The shape.
        fill_value (Tensor or number): The value; a tensor of one element is accepted.
        dtype (dtype): The element type; None means that of the value (int64, float32 or bool). Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If `fill_value` is a tensor of more than one element.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.full((2, 2), 1.5))
        [[1.5 1.5]
         [1.5 1.5]]
    """
    return fill(_type_of(fill_value) if dtype is None else dtype, size, fill_value)


def _type_of(value: Any):
    if isinstance(value, Tensor):
        return value.dtype
    return mstype.bool_ if isinstance(value, (bool, np.bool_)) else mstype.int64 if isinstance(value, (int, np.integer)) else mstype.float32


def full_like(input: Tensor, fill_value: Union[int, float, bool, Tensor], *, dtype=None) -> Tensor:
    """Creates a tensor of input's shape with every element `fill_value`.

    Args:
        input (Tensor): The tensor whose shape is used.
        fill_value (Tensor or number): The value.
        dtype (dtype): The element type; None means input's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.full_like(ms.Tensor([1, 2]), 7))
        [7 7]
    """
    return fill(dtype or input.dtype, input.shape, fill_value)


def fills(x: Tensor, value: Union[int, float, bool, Tensor]) -> Tensor:
    """Creates a tensor of x's shape and type with every element `value`.

    Args:
        x (Tensor): The tensor whose shape and type are used.
        value (Tensor or number): The value.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fills(ms.Tensor([1, 2]), 7))
        [7 7]
    """
    return full_like(x, value)


def zeros(size: Size, dtype=None) -> Tensor:
    """Creates a tensor of zeros.

    Args:
        size (int, sequence of ints or Tensor): The shape.
        dtype (dtype): The element type; None means float32. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.zeros((2, 3)))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """
    return core.full(to_ints(size, "size", "ops.zeros"), 0.0, dtype or mstype.float32)


def ones(shape: Size, dtype=None) -> Tensor:
    """Creates a tensor of ones.

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        dtype (dtype): The element type; None means float32. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones((2, 3)))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """
    return core.full(to_ints(shape, "shape", "ops.ones"), 1.0, dtype or mstype.float32)


def zeros_like(input: Tensor, *, dtype=None) -> Tensor:
    """Creates a tensor of zeros with input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        dtype (dtype): The element type; None means input's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.zeros_like(ms.Tensor([1.5, 2.5])))
        [0. 0.]
    """
    return core.full(input.shape, 0.0, dtype or input.dtype)


def ones_like(input: Tensor, *, dtype=None) -> Tensor:
    """Creates a tensor of ones with input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        dtype (dtype): The element type; None means input's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ones_like(ms.Tensor([1.5, 2.5])))
        [1. 1.]
    """
    return core.full(input.shape, 1.0, dtype or input.dtype)


def _size(value: Any, name: str, where: str) -> int:
    value = to_int(value, name, where)
    if value < 0:
        fail(ValueError, f"{name}: expected at least 0, got {value}", where)
    return value


def eye(n: int, m: Optional[int] = None, dtype=None) -> Tensor:
    """Creates a matrix with ones on the diagonal.

    Args:
        n (int): The number of rows.
        m (int): The number of columns; None means `n`. Default: None.
        dtype (dtype): The element type; None means float32. Default: None.

    Returns:
        A tensor of shape [n, m].

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.eye(2, 3))
        [[1. 0. 0.]
         [0. 1. 0.]]
    """
    rows, columns = _size(n, "n", "ops.eye"), _size(n if m is None else m, "m", "ops.eye")
    return core.cast(_diagonal_mask(rows, columns, 0, core.equal), dtype or mstype.float32)


def _diagonal_mask(rows: int, columns: int, offset: int, compare) -> Tensor:
    """Returns compare(column - row, offset) for each position of a matrix, as a bool tensor."""
    row = core.reshape(core.arange(0, rows), (rows, 1))
    return compare(core.sub(core.reshape(core.arange(0, columns), (1, columns)), row), offset)


def arange(start=0, end=None, step=1, *, dtype=None) -> Tensor:
    """Creates the numbers start, start + step, … before end; arange(end) counts from 0.

    Args:
        start (number or Tensor): The first number. Default: 0.
        end (number or Tensor): The exclusive end. Default: None.
        step (number or Tensor): The difference of two numbers. Default: 1.
        dtype (dtype): The element type; None means int64, or float32 if an argument is a float. Default: None.

    Returns:
        A vector.

    Raises:
        ValueError: If `step` is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.arange(5))
        [0 1 2 3 4]
        >>> print(ms.ops.arange(1, 2, 0.25))
        [1.   1.25 1.5  1.75]
    """
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
    """Counts in int64, for numbers that a float would round."""
    count = max(-((start - end) // step), 0)
    if not count:
        return core.full((0,), 0.0, dtype)
    for value in (start, start + (count - 1) * step):
        fill(dtype, (), value)  # raises if the value does not fit
    return core.cast(core.add(core.mul(core.arange(0, count), step if count > 1 else 1), start), dtype)


def range(start, end, step, maxlen: int = 1000000) -> Tensor:
    """Creates the numbers start, start + step, … before end.

    Args:
        start (number or Tensor): The first number; a tensor must be a constant of 0 dimensions, as for `end` and
            `step`.
        end (number or Tensor): The exclusive end.
        step (number or Tensor): The difference of two numbers.
        maxlen (int): The greatest number of elements. Default: 1000000.

    Returns:
        A vector of int64, or of a floating tensor's type.

    Raises:
        ValueError: If there are more than `maxlen` elements or `step` is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.range(0, 10, 4))
        [0 4 8]
    """
    kinds = [v.dtype for v in (start, end, step) if isinstance(v, Tensor) and is_float(v.dtype)]
    out = arange(start, end, step, dtype=kinds[0] if kinds else None)
    if out.shape[0] > maxlen:
        fail(ValueError, f"{out.shape[0]} elements are more than maxlen = {maxlen}", "ops.range")
    return out


tensor_range = range


def linspace(start: Union[int, float, Tensor], end: Union[int, float, Tensor], steps: int) -> Tensor:
    """Creates evenly spaced numbers from start to end, both included.

    Args:
        start (Tensor or number): The first number.
        end (Tensor or number): The last number.
        steps (int): The number of elements.

    Returns:
        A vector of float32, or of a tensor start's floating type.

    Raises:
        ValueError: If `steps` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    steps = to_int(steps, "steps", "ops.linspace")
    if steps < 1:
        fail(ValueError, f"steps: expected at least 1, got {steps}", "ops.linspace")
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        return Tensor(np.linspace(start, end, steps).astype(np.float32))
    start = floating(as_tensor(start, end if isinstance(end, Tensor) else None))
    return _evenly_spaced(start, core.cast(as_tensor(end, start), start.dtype), steps)


@rounded_once()
def _evenly_spaced(start: Tensor, end: Tensor, steps: int) -> Tensor:
    # Each half counts from its own end, so that the last number is exactly `end`.
    ramp = core.arange(0.0, float(steps), 1.0, start.dtype)
    step = core.div(core.sub(end, start), float(max(steps - 1, 1)))
    from_end = core.sub(end, core.mul(core.sub(float(steps - 1), ramp), step))
    return core.where(core.less(ramp, steps / 2), core.add(start, core.mul(ramp, step)), from_end)


def logspace(start, end, steps: int, base: float = 10, *, dtype=mstype.float32) -> Tensor:
    """Computes base to the power of linspace(start, end, steps).

    Args:
        start (number or Tensor): The first exponent.
        end (number or Tensor): The last exponent.
        steps (int): The number of elements.
        base (float): The base. Default: 10.
        dtype (dtype): The element type. Default: float32.

    Returns:
        A vector.

    Raises:
        ValueError: If `steps` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logspace(0, 2, 3, base=2))
        [1. 2. 4.]
    """
    exponent = linspace(core.full((), float(start), dtype) if dtype == mstype.float64 and is_number(start) else start, end, steps)
    return core.cast(core.exp(core.mul(exponent, math.log(base))), dtype)


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple:
    """Creates coordinate grids: one tensor per vector, repeated along the dimensions of the others.

    Args:
        *inputs: The vectors, also as one tuple or list.
        indexing (str): "ij", or "xy" to exchange the first two dimensions, as NumPy does. Default: "xy".

    Returns:
        A tuple of tensors of one shape.

    Raises:
        ValueError: If `indexing` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.meshgrid(ms.Tensor([1, 2, 3]), ms.Tensor([4, 5]))[0])
        [[1 2 3]
         [1 2 3]]
    """
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    check_choice("ops.meshgrid", "indexing", indexing, ("xy", "ij"))
    dims, places = [x.shape[0] if x.shape else 1 for x in inputs], list(_range(len(inputs)))
    if indexing == "xy" and len(inputs) > 1:
        dims[0], dims[1], places[0], places[1] = dims[1], dims[0], 1, 0
    return tuple(core.broadcast_to(core.reshape(x, [-1 if d == place else 1 for d in _range(len(dims))]), dims) for x, place in zip(inputs, places))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype=mstype.int64) -> Tensor:
    """Returns the row and column numbers of a matrix's lower triangle.

    Args:
        row (int): The number of rows.
        col (int): The number of columns.
        offset (int): The diagonal up to which elements belong to the triangle. Default: 0.
        dtype (dtype): The element type. Default: int64.

    Returns:
        A tensor of shape [2, n].

    Raises:
        ValueError: If a size is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tril_indices(2, 3))
        [[0 1 1]
         [0 0 1]]
    """
    return core.cast(Tensor(np.stack(np.tril_indices(_size(row, "row", "ops.tril_indices"), offset, _size(col, "col", "ops.tril_indices")))), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype=mstype.int64) -> Tensor:
    """Returns the row and column numbers of a matrix's upper triangle.

    Args:
        row (int): The number of rows.
        col (int): The number of columns.
        offset (int): The diagonal from which on elements belong to the triangle. Default: 0.
        dtype (dtype): The element type. Default: int64.

    Returns:
        A tensor of shape [2, n].

    Raises:
        ValueError: If a size is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.triu_indices(2, 3))
        [[0 0 0 1 1]
         [0 1 2 1 2]]
    """
    return core.cast(Tensor(np.stack(np.triu_indices(_size(row, "row", "ops.triu_indices"), offset, _size(col, "col", "ops.triu_indices")))), dtype)


def vander(x: Tensor, N: Optional[int] = None) -> Tensor:
    """Creates the Vandermonde matrix: the powers N - 1 to 0 of a vector's elements. Integers give int64.

    Args:
        x (Tensor): A vector of n elements.
        N (int): The number of powers; None means n. Default: None.

    Returns:
        A tensor of shape [n, N].

    Raises:
        ValueError: If `x` is not a vector or `N` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.vander(ms.Tensor([1, 2, 3])))
        [[1 1 1]
         [4 2 1]
         [9 3 1]]
    """
    if len(x.shape) != 1:
        fail(ValueError, f"expected a vector, got {x.shape}", "ops.vander")
    count = x.shape[0] if N is None else to_count(N, "N", "ops.vander", FEW_PARTS)  # each power is an operator
    x = x if is_float(x.dtype) else core.cast(x, mstype.int64)
    powers = [core.full(x.shape, 1.0, x.dtype)]
    while len(powers) < count:
        powers.append(core.mul(powers[-1], x))
    return core.stack(powers[count - 1::-1], 1) if count else core.full((0, 0), 0.0, x.dtype)


def _window(length: Any, periodic: bool, kind: Any, where: str, formula: Callable[[np.ndarray], np.ndarray]) -> Tensor:
    """Applies formula to numbers from 0 on that reach 1 at the last of length elements, or one element later for a
    periodic window.
    """
    count = to_int(length, "window_length", where)
    if count < 0:
        fail(ValueError, f"window_length: expected a number that is not negative, got {count}", where)
    if not is_float(kind):
        fail(TypeError, f"dtype: expected a floating type, got {kind}", where)
    whole = count if periodic else count - 1
    return core.cast(Tensor(formula(np.arange(count) / whole) if count > 1 else np.ones(count)), kind)


def bartlett_window(window_length: Union[int, Tensor], periodic: bool = True, *, dtype=None) -> Tensor:
    """Creates a triangular window, from 0 to 1 and back.

    Args:
        window_length (int or Tensor): The number of elements.
        periodic (bool): Whether the window is a symmetric one without its last element. Default: True.
        dtype (dtype): A floating type; None means float32. Default: None.

    Returns:
        A vector.

    Raises:
        TypeError: If `dtype` is not floating.
        ValueError: If `window_length` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bartlett_window(4))
        [0.  0.5 1.  0.5]
    """
    return _window(window_length, periodic, dtype or mstype.float32, "ops.bartlett_window", lambda t: 1 - np.abs(2 * t - 1))


def hann_window(window_length: int, periodic: bool = True, *, dtype=None) -> Tensor:
    """Creates a Hann window, 1/2 - cos(2πt)/2; see `bartlett_window`.

    Args:
        window_length (int): The number of elements.
        periodic (bool): Whether the window is a symmetric one without its last element. Default: True.
        dtype (dtype): A floating type; None means float64. Default: None.

    Returns:
        A vector.

    Raises:
        TypeError: If `dtype` is not floating.
        ValueError: If `window_length` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hann_window(4).asnumpy().round(4))
        [0.  0.5 1.  0.5]
    """
    return _window(window_length, periodic, dtype or mstype.float64, "ops.hann_window", lambda t: np.sin(math.pi * t) ** 2)


def hamming_window(window_length: Union[int, Tensor], periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype=None) -> Tensor:
    """Creates a Hamming window, alpha - beta·cos(2πt); see `bartlett_window`.

    Args:
        window_length (int or Tensor): The number of elements.
        periodic (bool): Whether the window is a symmetric one without its last element. Default: True.
        alpha (float): The constant part. Default: 0.54.
        beta (float): The factor of the cosine. Default: 0.46.
        dtype (dtype): A floating type; None means float32. Default: None.

    Returns:
        A vector.

    Raises:
        TypeError: If `dtype` is not floating.
        ValueError: If `window_length` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hamming_window(4).asnumpy().round(4))
        [0.08 0.54 1.   0.54]
    """
    return _window(window_length, periodic, dtype or mstype.float32, "ops.hamming_window", lambda t: alpha - beta * np.cos(2 * math.pi * t))


def blackman_window(window_length: Union[int, Tensor], periodic: bool = True, *, dtype=None) -> Tensor:
    """Creates a Blackman window, 0.42 - cos(2πt)/2 + 0.08·cos(4πt); see `bartlett_window`.

    Args:
        window_length (int or Tensor): The number of elements.
        periodic (bool): Whether the window is a symmetric one without its last element. Default: True.
        dtype (dtype): A floating type; None means float32. Default: None.

    Returns:
        A vector.

    Raises:
        TypeError: If `dtype` is not floating.
        ValueError: If `window_length` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.blackman_window(4)[1:].asnumpy().round(4))
        [0.34 1.   0.34]
    """
    return _window(window_length, periodic, dtype or mstype.float32, "ops.blackman_window",
                   lambda t: 0.42 - 0.5 * np.cos(2 * math.pi * t) + 0.08 * np.cos(4 * math.pi * t))


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype=None) -> Tensor:
    """Creates a Kaiser window, i0(beta·sqrt(1 - (2t - 1)²))/i0(beta); see `bartlett_window`.

    Args:
        window_length (int): The number of elements.
        periodic (bool): Whether the window is a symmetric one without its last element. Default: True.
        beta (float): The shape of the window. Default: 12.0.
        dtype (dtype): A floating type; None means float64. Default: None.

    Returns:
        A vector.

    Raises:
        TypeError: If `dtype` is not floating.
        ValueError: If `window_length` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.kaiser_window(4)[1:].asnumpy().round(4))
        [0.2157 1.     0.2157]
    """
    return _window(window_length, periodic, dtype or mstype.float64, "ops.kaiser_window", lambda t: np.i0(beta * np.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(beta))


# --- diagonals and triangles ------------------------------------------------------------------------------------------------------------


def _check_matrices(input: Tensor, where: str) -> None:
    if len(input.shape) < 2:
        fail(ValueError, f"expected at least 2 dimensions, got shape {input.shape}", where)


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Returns the lower triangle of the last two dimensions, with zeros above.

    Args:
        input (Tensor): A tensor of at least 2 dimensions.
        diagonal (int): The last diagonal that is kept; 0 is the main diagonal. Default: 0.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `input` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tril(ms.Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    _check_matrices(input, "ops.tril")
    return core.where(_diagonal_mask(input.shape[-2], input.shape[-1], diagonal, core.less_equal), input, core.full((), 0.0, input.dtype))


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Returns the upper triangle of the last two dimensions, with zeros below.

    Args:
        input (Tensor): A tensor of at least 2 dimensions.
        diagonal (int): The first diagonal that is kept; 0 is the main diagonal. Default: 0.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `input` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.triu(ms.Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    _check_matrices(input, "ops.triu")
    return core.where(_diagonal_mask(input.shape[-2], input.shape[-1], diagonal, core.greater_equal), input, core.full((), 0.0, input.dtype))


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns the elements [.., i, i + offset] of two dimensions, as the last dimension.

    Args:
        input (Tensor): A tensor of at least 2 dimensions.
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        dim1 (int): The dimension of the rows. Default: 0.
        dim2 (int): The dimension of the columns. Default: 1.

    Returns:
        A view.

    Raises:
        ValueError: If the dimensions are equal or out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.diagonal(ms.Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    n = len(input.shape)
    a, b = to_axis(dim1, n, "ops.diagonal"), to_axis(dim2, n, "ops.diagonal")
    if a == b:
        fail(ValueError, f"dim1 and dim2 are both {a}", "ops.diagonal")
    return viewed(diagonal_of(input, offset, a, b), input, "diagonal", (offset, a, b))


def trace(input: Tensor) -> Tensor:
    """Sums the diagonal of a matrix.

    Args:
        input (Tensor): A matrix.

    Returns:
        A scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.trace(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        5.0
    """
    return core.sum(diagonal(input), [-1])


def diag(input: Tensor) -> Tensor:
    """Creates a tensor with input on its diagonal: [d1, …] -> [d1, …, d1, …], so a vector gives a matrix.

    Args:
        input (Tensor): The diagonal.

    Returns:
        A tensor of twice as many dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.diag(ms.Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    flat = ravel(input)
    square = core.where(_diagonal_mask(flat.shape[0], flat.shape[0], 0, core.equal), flat, core.full((), 0.0, input.dtype))
    return core.reshape(square, input.shape + input.shape)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Creates a matrix with the elements of a flat tensor on a diagonal.

    Args:
        input (Tensor): The diagonal.
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.

    Returns:
        A matrix.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.diagflat(ms.Tensor([1, 2]), 1))
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
    """
    return diag_embed(ravel(input), offset)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Creates matrices with the last dimension of input on a diagonal.

    Args:
        input (Tensor): The diagonals.
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        dim1 (int): The dimension of the rows in the result. Default: -2.
        dim2 (int): The dimension of the columns in the result. Default: -1.

    Returns:
        A tensor with one dimension more.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.diag_embed(ms.Tensor([[1, 2], [3, 4]])))
        [[[1 0]
          [0 2]]
        <BLANKLINE>
         [[3 0]
          [0 4]]]
    """
    n = input.shape[-1] + abs(offset)
    # Column j of the matrices holds element j - offset, or element j for a diagonal below the main one.
    columns = core.pad(input, [0] * (2 * len(input.shape) - 2) + ([offset, 0] if offset >= 0 else [0, -offset]))
    out = core.where(_diagonal_mask(n, n, offset, core.equal), core.expand_dims(columns, -2), core.full((), 0.0, input.dtype))
    rank_ = len(out.shape)
    a, b = to_axis(dim1, rank_, "ops.diag_embed"), to_axis(dim2, rank_, "ops.diag_embed")
    return core.transpose(out, perm_moving(rank_, [rank_ - 2, rank_ - 1], [a, b]))


def diag_part(x: Tensor) -> Tensor:
    """Returns the diagonal of a tensor of shape [d1, …, dk, d1, …, dk].

    Args:
        x (Tensor): The tensor.

    Returns:
        A tensor of shape [d1, …, dk].

    Raises:
        ValueError: If the second half of the shape does not repeat the first.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.DiagPart()(ms.Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    half = len(x.shape) // 2
    if len(x.shape) % 2 or x.shape[:half] != x.shape[half:]:
        fail(ValueError, f"expected the second half of the shape to repeat the first, got {x.shape}", "ops.DiagPart")
    n = math.prod(x.shape[:half])
    return core.reshape(diagonal(core.reshape(x, (n, n))), x.shape[:half])


def block_diag(*inputs: Tensor) -> Tensor:
    """Creates a matrix with the given ones along its diagonal and zeros elsewhere, in their common type.

    Args:
        *inputs: The blocks; vectors count as rows, scalars as 1 x 1.

    Returns:
        A matrix.

    Raises:
        TypeError: If an input cannot be a tensor.
        ValueError: If a block has more than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.block_diag(ms.Tensor([[1, 2]]), ms.Tensor([[3], [4]])))
        [[1 2 0]
         [0 0 3]
         [0 0 4]]
    """
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
    """Sets elements outside a band around the diagonal to 0.

    Args:
        x (Tensor): A tensor of at least 2 dimensions.
        lower (int): The number of diagonals kept below the main one; negative keeps all.
        upper (int): The number of diagonals kept above the main one; negative keeps all.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If `x` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_band_part(ms.Tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), 0, 1))
        [[1 2 0]
         [0 5 6]
         [0 0 9]]
    """
    out = x if to_number(lower) < 0 else triu(x, -int(to_number(lower)))
    return out if to_number(upper) < 0 else tril(out, int(to_number(upper)))


__all__ = exported(globals())
