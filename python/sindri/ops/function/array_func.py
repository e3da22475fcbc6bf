"""Functions of sindri.ops that make tensors, change shapes, and join, cut and repeat."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common._views import reshaped, transposed, viewed
from sindri.context import era
from sindri.ops._util import (Axis, Size, Tensor, as_tensor, check_choice, check_parts, core, exported, fail, floating, is_float, is_int, is_number,
                              perm_moving, to_axes, to_axis, to_count, to_int, to_ints, to_number)

_slice, _range = slice, range

# One engine operator.
stop_gradient = core.stop_gradient


# --- type and shape ---------------------------------------------------------------------------------------------------------------------


def cast(input: Union[Tensor, int, float, bool], dtype) -> Tensor:
    """The values in another element type; floats to integers are cut, anything to bool is `!= 0`. A number gives a 0-D tensor.

    Inside a Cell that runs in a half type the chosen type holds, and that of what is computed from it, until a Cell casts its inputs."""
    if not isinstance(input, Tensor) and not is_number(input):
        fail(TypeError, f"expected a tensor or a number, got {type(input).__name__}", "ops.cast")
    out = core.cast(as_tensor(input), dtype)
    _core.hold_type(out)
    return out


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """input in other's element type."""
    return core.cast(input, other.dtype)


def dtype(x: Tensor):
    """The element type, a constant in compiled code."""
    if not isinstance(x, Tensor):
        fail(TypeError, f"expected a tensor, got {type(x).__name__}", "ops.dtype")
    return x.dtype


def shape(input_x: Tensor) -> tuple:
    """The shape as a tuple of ints, a constant in compiled code."""
    if not isinstance(input_x, Tensor):
        fail(TypeError, f"expected a tensor, got {type(input_x).__name__}", "ops.shape")
    return input_x.shape


def dyn_shape(input_x: Tensor) -> Tensor:
    """The shape as an int64 tensor."""
    return Tensor(np.asarray(shape(input_x), np.int64))


shape_ = shape


def rank(input_x: Tensor) -> int:
    """Number of dimensions."""
    return len(shape(input_x))


def size(input_x: Tensor) -> int:
    """Number of elements."""
    return math.prod(shape(input_x))


numel = size


def is_tensor(obj: Any) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def reshape(input: Tensor, shape: Size) -> Tensor:
    """The same elements in another shape; one dimension may be -1. Raises ValueError when the counts differ."""
    return reshaped(input, to_ints(shape, "shape", "ops.reshape"))


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """input in other's shape."""
    return reshaped(input, other.shape)


def ravel(input: Tensor) -> Tensor:
    """All elements as one dimension."""
    return reshaped(input, (-1,))


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """input_x with a dimension of size 1 put in at axis; counted from the end when negative. Raises ValueError."""
    out = core.expand_dims(input_x, to_int(axis, "axis", "ops.expand_dims"))
    return viewed(out, input_x, "reshape", out.shape)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """expand_dims by the name of PyTorch."""
    return expand_dims(input, dim)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one; order 'F' reverses the dimensions first. Scalars and vectors come back as vectors."""
    check_choice(order, ("C", "F"), "order", "ops.flatten")
    start, end = to_int(start_dim, "start_dim", "ops.flatten"), to_int(end_dim, "end_dim", "ops.flatten")
    if order == "F":
        input = transposed(input, list(reversed(_range(len(input.shape)))))
    if len(input.shape) < 2:
        return reshaped(input, (-1,))
    start, end = to_axis(start, len(input.shape), "ops.flatten"), to_axis(end, len(input.shape), "ops.flatten")
    if start > end:
        fail(ValueError, f"start_dim {start_dim} lies behind end_dim {end_dim} in {input.shape}", "ops.flatten")
    return reshaped(input, input.shape[:start] + (math.prod(input.shape[start:end + 1]),) + input.shape[end + 1:])


def flatten_rows(x: Tensor) -> Tensor:
    """All dimensions but the first as one: [n, …] -> [n, k], a vector becomes [n, 1]. Raises ValueError for a scalar."""
    if not x.shape:
        fail(ValueError, "expected at least one dimension, got a scalar", "ops.Flatten")
    return core.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


def squeeze(input: Tensor, axis: Axis = None) -> Tensor:
    """Without the dimensions of size 1, or without those in axis; one of another size stays. Raises ValueError in era 1 for such a one."""
    axes = {to_axis(a, len(input.shape), "ops.squeeze") for a in to_axes(axis, "ops.squeeze")} if axis is not None else set()
    if not axes:
        return reshaped(input, [n for n in input.shape if n != 1])
    for a in axes:
        if input.shape and input.shape[a] != 1 and era() == 1:
            fail(ValueError, f"dimension {a} of {input.shape} is not 1", "ops.squeeze", "leave it out of axis")
    return reshaped(input, [n for d, n in enumerate(input.shape) if d not in axes or n != 1])


def transpose(input: Tensor, input_perm: Sequence[int]) -> Tensor:
    """Dimension i of the result is dimension input_perm[i]. Raises ValueError unless it is a permutation."""
    return transposed(input, list(to_ints(input_perm, "input_perm", "ops.transpose")))


def permute(input: Tensor, axis: Sequence[int]) -> Tensor:
    """transpose by the name of PyTorch."""
    return transposed(input, list(to_ints(axis, "axis", "ops.permute")))


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged."""
    perm = list(_range(len(input.shape)))
    a, b = to_axis(axis0, len(perm), "ops.swapaxes"), to_axis(axis1, len(perm), "ops.swapaxes")
    perm[a], perm[b] = perm[b], perm[a]
    return transposed(input, perm)


swapdims = swapaxes


def moveaxis(x: Tensor, source: Axis, destination: Axis) -> Tensor:
    """Dimensions `source` moved to the places `destination`; the others keep their order."""
    n = len(x.shape)
    source = [to_axis(a, n, "ops.moveaxis") for a in to_axes(source, "ops.moveaxis")]
    target = [to_axis(a, n, "ops.moveaxis") for a in to_axes(destination, "ops.moveaxis")]
    if len(source) != len(target) or len(set(source)) != len(source) or len(set(target)) != len(target):
        fail(ValueError, f"source {source} and destination {target} must name equally many different dimensions", "ops.moveaxis")
    return transposed(x, perm_moving(n, source, target))


movedim = moveaxis


def t(input: Tensor) -> Tensor:
    """The matrix transposed; vectors and scalars as they are. Raises ValueError above 2 dimensions."""
    if len(input.shape) > 2:
        fail(ValueError, f"expected at most 2 dimensions, got {input.shape}", "ops.t", "use ops.transpose")
    return transposed(input, [1, 0]) if len(input.shape) == 2 else input


def adjoint(x: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    return swapaxes(x, -1, -2)


def atleast_1d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """Scalars as vectors of one element."""
    return _each(inputs, lambda x: core.reshape(x, (1,)) if not x.shape else x)


def atleast_2d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """Dimensions of 1 in front, up to two."""
    return _each(inputs, lambda x: core.reshape(x, (1,) * (2 - len(x.shape)) + x.shape))


def atleast_3d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """As numpy.atleast_3d: a vector becomes [1, n, 1], a matrix [m, n, 1]."""
    def grow(x: Tensor) -> Tensor:
        shapes = {0: (1, 1, 1), 1: (1,) + x.shape + (1,), 2: x.shape + (1,)}
        return core.reshape(x, shapes.get(len(x.shape), x.shape))
    return _each(inputs, grow)


def _each(inputs, fn) -> Union[Tensor, tuple]:
    return tuple(fn(x) for x in inputs) if isinstance(inputs, (tuple, list)) else fn(inputs)


# --- creation ---------------------------------------------------------------------------------------------------------------------------


def fill(type, shape: Size, value: Union[int, float, bool, Tensor]) -> Tensor:
    """A tensor of element type `type` and a shape with every element `value`. The type comes first."""
    dims = to_ints(shape, "shape", "ops.fill")
    if isinstance(value, Tensor):
        return core.broadcast_to(core.cast(value, type), dims)
    if _is_long(value) and type is mstype.int64:
        return core.broadcast_to(core.cast(Tensor(int(value)), type), dims)
    return core.full(dims, float(value), type)


def _is_long(value: Any) -> bool:
    """Whether value is an integer that a float may round."""
    return is_int(value) and abs(int(value)) > 2 ** 53


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


def eye(n: int, m: Optional[int] = None, dtype=None) -> Tensor:
    """[n, m] (m = n when None) with ones on the diagonal, float32 unless dtype says otherwise."""
    rows, columns = to_int(n, "n", "ops.eye"), to_int(n if m is None else m, "m", "ops.eye")
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
    if all(is_int(v) for v in (start, end, step)) and any(_is_long(v) for v in (start, end, step)):
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
    end = core.cast(as_tensor(end, start), start.dtype)
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
    check_choice(indexing, ("xy", "ij"), "indexing", "ops.meshgrid")
    dims, places = [x.shape[0] if x.shape else 1 for x in inputs], list(_range(len(inputs)))
    if indexing == "xy" and len(inputs) > 1:
        dims[0], dims[1], places[0], places[1] = dims[1], dims[0], 1, 0
    return tuple(core.broadcast_to(core.reshape(x, [-1 if d == place else 1 for d in _range(len(dims))]), dims) for x, place in zip(inputs, places))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype=mstype.int64) -> Tensor:
    """[2, n]: row and column numbers of the lower triangle of a [row, col] matrix."""
    return core.cast(Tensor(np.stack(np.tril_indices(row, offset, col))), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype=mstype.int64) -> Tensor:
    """[2, n]: row and column numbers of the upper triangle of a [row, col] matrix."""
    return core.cast(Tensor(np.stack(np.triu_indices(row, offset, col))), dtype)


# --- joining, cutting, repeating --------------------------------------------------------------------------------------------------------


def _tensors(items, where: str) -> list:
    if isinstance(items, Tensor) or not isinstance(items, (tuple, list)) or not items:
        fail(TypeError, f"expected a tuple or list of tensors, got {type(items).__name__}", where)
    for item in items:
        if not isinstance(item, Tensor):
            fail(TypeError, f"expected tensors, got {type(item).__name__} among them", where)
    return list(items)


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors one behind the other along axis, in their common type. Raises TypeError, ValueError (shapes, axis)."""
    return core.concat(_common_type(_tensors(tensors, "ops.concat")), to_int(axis, "axis", "ops.concat"))


def _common_type(tensors: list) -> list:
    kinds = {t.dtype for t in tensors}
    if len(kinds) == 1:
        return tensors
    kind = tensors[0].dtype
    for other in kinds:
        kind = mstype.promote_types(kind, other)
    return [core.cast(x, kind) for x in tensors]


cat = concat


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors side by side along a new dimension axis."""
    return core.stack(_tensors(tensors, "ops.stack"), to_int(axis, "axis", "ops.stack"))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the second dimension (vectors: the first)."""
    items = atleast_1d(_tensors(tensors, "ops.hstack"))
    return concat(items, 0 if len(items[0].shape) == 1 else 1)


def vstack(inputs: Sequence[Tensor]) -> Tensor:
    """Joined along the first dimension; vectors are rows."""
    return concat(atleast_2d(_tensors(inputs, "ops.vstack")), 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the third dimension; see atleast_3d."""
    return concat(atleast_3d(_tensors(tensors, "ops.dstack")), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined as columns; vectors and scalars become columns."""
    return concat([core.reshape(x, (-1, 1)) if len(x.shape) < 2 else x for x in _tensors(tensors, "ops.column_stack")], 1)


def unstack(input_x: Tensor, axis: int = 0, num: Optional[int] = None) -> tuple:
    """The slices along axis, without that dimension. Raises ValueError when num is given and is not their count."""
    a = to_axis(axis, len(input_x.shape), "ops.unstack")
    if num is not None and num != input_x.shape[a]:
        fail(ValueError, f"num is {num}, dimension {a} of {input_x.shape} is not", "ops.unstack")
    check_parts(input_x.shape[a], input_x, "ops.unstack")
    pieces = [core.squeeze(piece, a) for piece in core.split(input_x, [1] * input_x.shape[a], a)] if input_x.shape[a] else []
    lead = (_slice(None),) * a
    return tuple([viewed(piece, input_x, "index", lead + (i,)) for i, piece in enumerate(pieces)])


def unbind(input: Tensor, dim: int = 0) -> tuple:
    """unstack by the name of PyTorch."""
    return unstack(input, dim)


def split(tensor: Tensor, split_size_or_sections: Union[None, int, Sequence[int]] = None, axis: int = 0, output_num: Optional[int] = None) -> tuple:
    """Pieces along axis: of the given size (the last may be smaller), or of the given sizes. output_num: that many equal pieces, as in 1.x.
    Raises ValueError when the sizes do not add up or do not divide."""
    a = to_axis(axis, len(tensor.shape), "ops.split")
    total = tensor.shape[a]
    if output_num is not None:
        if output_num < 1 or total % output_num:
            fail(ValueError, f"dimension {a} of {tensor.shape} cannot be cut into {output_num} equal pieces", "ops.split")
        check_parts(output_num, tensor, "ops.split")
        sizes = [total // output_num] * output_num
    elif isinstance(split_size_or_sections, (tuple, list)):
        sizes = list(to_ints(split_size_or_sections, "split_size_or_sections", "ops.split"))
    else:
        step = to_int(split_size_or_sections, "split_size_or_sections", "ops.split")
        if step < 1:
            fail(ValueError, f"split_size_or_sections: expected at least 1, got {step}", "ops.split")
        check_parts(-(-total // step), tensor, "ops.split")
        sizes = [min(step, total - begin) for begin in _range(0, total, step)] or [0]
    return _pieces(tensor, sizes, a)


def _pieces(x: Tensor, sizes: list, axis: int) -> tuple:
    lead, ends = (_slice(None),) * axis, np.cumsum(sizes).tolist()
    return tuple([viewed(piece, x, "index", lead + (_slice(end - n, end),)) for piece, n, end in zip(core.split(x, sizes, axis), sizes, ends)])


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple:
    """At most `chunks` pieces of ceil(size/chunks) along axis; the last may be smaller."""
    a = to_axis(axis, len(input.shape), "ops.chunk")
    if chunks < 1:
        fail(ValueError, f"chunks: expected at least 1, got {chunks}", "ops.chunk")
    return split(input, max(1, -(-input.shape[a] // chunks)), a)


def tensor_split(input: Tensor, indices_or_sections: Union[int, Sequence[int]], axis: int = 0) -> tuple:
    """As numpy.array_split: a number of pieces whose sizes differ by at most 1, or the places to cut at."""
    a = to_axis(axis, len(input.shape), "ops.tensor_split")
    total = input.shape[a]
    if isinstance(indices_or_sections, (tuple, list)):
        cuts = [_slice(0, i).indices(total)[1] for i in indices_or_sections]
        edges = [0] + cuts + [total]
        return tuple([narrow(input, a, begin, max(begin, end) - begin) for begin, end in zip(edges, edges[1:])])
    n = to_count(indices_or_sections, "indices_or_sections", "ops.tensor_split")
    check_parts(n, input, "ops.tensor_split")
    return _pieces(input, [total // n + (i < total % n) for i in _range(n)], a)


def hsplit(input: Tensor, indices_or_sections) -> tuple:
    """tensor_split along the second dimension (vectors: the first)."""
    return tensor_split(input, indices_or_sections, 0 if len(input.shape) == 1 else 1)


def vsplit(input: Tensor, indices_or_sections) -> tuple:
    """tensor_split along the first dimension."""
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Tensor, indices_or_sections) -> tuple:
    """tensor_split along the third dimension."""
    return tensor_split(input, indices_or_sections, 2)


def _cut(x: Tensor, axis: int, begin: int, end: int, step: int = 1) -> Tensor:
    begins, ends, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    begins[axis], ends[axis], steps[axis] = begin, end, step
    return core.slice(x, begins, ends, steps)


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """`length` elements from start on along axis. Raises ValueError when they are not there."""
    a = to_axis(axis, len(input.shape), "ops.narrow")
    if start < 0 or length < 0 or start + length > input.shape[a]:
        fail(ValueError, f"start {start} and length {length} leave dimension {a} of {input.shape}", "ops.narrow")
    return viewed(_cut(input, a, start, start + length), input, "index", (_slice(None),) * a + (_slice(start, start + length),))


def slice(input_x: Tensor, begin: Sequence[int], size: Sequence[int]) -> Tensor:
    """`size` elements from `begin` on in each dimension; size -1: to the end. Raises ValueError when they are not there."""
    begins, sizes = to_ints(begin, "begin", "ops.slice"), to_ints(size, "size", "ops.slice")
    if not len(begins) == len(sizes) == len(input_x.shape):
        fail(ValueError, f"begin {begins} and size {sizes} need one entry for each dimension of {input_x.shape}", "ops.slice")
    ends = [n if s == -1 else b + s for b, s, n in zip(begins, sizes, input_x.shape)]
    for b, s, end, n in zip(begins, sizes, ends, input_x.shape):
        if b < 0 or s < -1 or end > n:
            fail(ValueError, f"begin {begins} and size {sizes} leave {input_x.shape}", "ops.slice")
    return viewed(core.slice(input_x, list(begins), ends), input_x, "index", tuple([_slice(b, e) for b, e in zip(begins, ends)]))


tensor_slice = slice


def strided_slice(input_x: Tensor, begin: Sequence[int], end: Sequence[int], strides: Optional[Sequence[int]] = None, begin_mask: int = 0,
                  end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> Tensor:
    """input_x[begin:end:strides] per dimension. In the masks bit i stands for entry i: begin_mask, end_mask: that bound is left open;
    ellipsis_mask: the entry stands for all dimensions not named; new_axis_mask: a new dimension of 1; shrink_axis_mask: the element at
    begin, without the dimension."""
    begins, ends = to_ints(begin, "begin", "ops.strided_slice"), to_ints(end, "end", "ops.strided_slice")
    steps = (1,) * len(begins) if strides is None else to_ints(strides, "strides", "ops.strided_slice")
    if not len(begins) == len(ends) == len(steps):
        fail(ValueError, f"begin {begins}, end {ends} and strides {steps} differ in length", "ops.strided_slice")
    key = []
    for i, (b, e, s) in enumerate(zip(begins, ends, steps)):
        bit = 1 << i
        if s == 0:
            fail(ValueError, f"stride {i} is 0", "ops.strided_slice")
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(b)
        else:
            key.append(_slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return input_x[tuple(key)]


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """input repeated dims[d] times along dimension d; missing dimensions are added in front."""
    repeats = to_ints(dims, "dims", "ops.tile")
    n = max(len(repeats), len(input.shape))
    x = core.reshape(input, (1,) * (n - len(input.shape)) + input.shape) if n > len(input.shape) else input
    return core.tile(x, [1] * (n - len(repeats)) + list(repeats))


def broadcast_to(input: Tensor, shape: Size) -> Tensor:
    """input repeated to a shape; -1 keeps a dimension. Raises ValueError when it does not broadcast."""
    dims = list(to_ints(shape, "shape", "ops.broadcast_to"))
    lead = len(dims) - len(input.shape)
    for d, n in enumerate(dims):
        if n == -1:
            if d < lead:
                fail(ValueError, f"-1 stands for dimension {d} of {tuple(dims)}, which {input.shape} does not have", "ops.broadcast_to")
            dims[d] = input.shape[d - lead]
    return viewed(core.broadcast_to(input, dims), input, "expand", dims)


expand = broadcast_to


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """input repeated to other's shape."""
    return viewed(core.broadcast_to(input, other.shape), input, "expand", other.shape)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Each element rep times, one behind the other, along axis."""
    a = to_axis(axis, len(x.shape), "ops.repeat_elements")
    spread = core.broadcast_to(core.expand_dims(x, a + 1), x.shape[:a + 1] + (rep,) + x.shape[a + 1:])
    return core.reshape(spread, x.shape[:a] + (x.shape[a] * rep,) + x.shape[a + 1:])


def repeat_interleave(input: Tensor, repeats: Union[int, Sequence[int], Tensor], axis: Optional[int] = None) -> Tensor:
    """Element i repeated repeats (or repeats[i]) times along axis; of the flat tensor when axis is None."""
    x, a = (ravel(input), 0) if axis is None else (input, to_axis(axis, len(input.shape), "ops.repeat_interleave"))
    counts = to_ints(repeats, "repeats", "ops.repeat_interleave")
    if len(counts) == 1:
        return repeat_elements(x, counts[0], a)
    if len(counts) != x.shape[a]:
        fail(ValueError, f"{len(counts)} repeats for dimension {a} of {x.shape}", "ops.repeat_interleave")
    return core.gather(x, Tensor(np.repeat(np.arange(len(counts)), counts)), a)


def flip(input: Tensor, dims: Axis) -> Tensor:
    """The order of elements reversed along dims."""
    begin, end, step = [0] * len(input.shape), list(input.shape), [1] * len(input.shape)
    for a in {to_axis(a, len(input.shape), "ops.flip") for a in to_axes(dims, "ops.flip")}:
        begin[a], end[a], step[a] = max(input.shape[a] - 1, 0), -input.shape[a] - 1, -1
    return core.slice(input, begin, end, step)


def reverse(x: Tensor, axis: Axis) -> Tensor:
    """flip by another name."""
    return flip(x, axis)


def fliplr(input: Tensor) -> Tensor:
    """flip along the second dimension."""
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """flip along the first dimension."""
    return flip(input, 0)


def roll(input: Tensor, shifts: Axis, dims: Axis = None) -> Tensor:
    """Elements moved by shifts along dims; what leaves comes in on the other side. dims None: in the flat tensor."""
    if dims is None:
        return core.reshape(roll(ravel(input), shifts, 0), input.shape)
    for by, axis in zip(to_axes(shifts, "ops.roll"), to_axes(dims, "ops.roll")):
        a = to_axis(axis, len(input.shape), "ops.roll")
        by = by % input.shape[a] if input.shape[a] else 0
        if by:
            front, back = core.split(input, [input.shape[a] - by, by], a)
            input = core.concat([back, front], a)
    return input


def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """Turned k times by 90 degrees from dims[0] towards dims[1]."""
    k %= 4
    if k == 0:
        return input
    if k == 2:
        return flip(input, dims)
    return swapaxes(flip(input, dims[1]), *dims) if k == 1 else flip(swapaxes(input, *dims), dims[1])


# --- diagonals and triangles ------------------------------------------------------------------------------------------------------------


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the last two dimensions up to a diagonal, zeros above."""
    return core.where(_diagonal_mask(input.shape[-2], input.shape[-1], diagonal, core.less_equal), input, core.full((), 0.0, input.dtype))


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of the last two dimensions from a diagonal on, zeros below."""
    return core.where(_diagonal_mask(input.shape[-2], input.shape[-1], diagonal, core.greater_equal), input, core.full((), 0.0, input.dtype))


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Elements [.., i, i + offset] of two dimensions, as the last dimension."""
    n = len(input.shape)
    a, b = to_axis(dim1, n, "ops.diagonal"), to_axis(dim2, n, "ops.diagonal")
    if a == b:
        fail(ValueError, f"dim1 and dim2 are both {a}", "ops.diagonal")
    x = core.transpose(input, [d for d in _range(n) if d not in (a, b)] + [a, b])
    rows, columns = x.shape[-2:]
    first_row, first_column = max(-offset, 0), max(offset, 0)
    count = max(0, min(rows - first_row, columns - first_column))
    flat = core.reshape(x, x.shape[:-2] + (rows * columns,))
    places = (first_row + np.arange(count)) * columns + first_column + np.arange(count)
    return viewed(core.gather(flat, Tensor(places.astype(np.int64)), n - 2), input, "diagonal", (offset, a, b))


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


def matrix_band_part(x: Tensor, lower: int, upper: int) -> Tensor:
    """The matrices with zeros below `lower` sub-diagonals and above `upper` super-diagonals; negative: keep that side whole."""
    out = x if to_number(lower) < 0 else triu(x, -int(to_number(lower)))
    return out if to_number(upper) < 0 else tril(out, int(to_number(upper)))


# --- choosing ---------------------------------------------------------------------------------------------------------------------------


def _condition(condition: Any) -> Tensor:
    condition = as_tensor(condition)
    return condition if condition.dtype is mstype.bool_ else core.not_equal(condition, 0)


def where(condition: Tensor, input: Union[Tensor, int, float], other: Union[Tensor, int, float]) -> Tensor:
    """Elements of input where condition holds (or is not 0), else of other; all three broadcast."""
    return core.where(_condition(condition), input, other)


def select(condition: Tensor, input: Union[Tensor, int, float], other: Union[Tensor, int, float]) -> Tensor:
    """where for a condition of bool. Raises TypeError for another type."""
    if not isinstance(condition, Tensor) or condition.dtype is not mstype.bool_:
        fail(TypeError, f"condition: expected a bool tensor, got {getattr(condition, 'dtype', type(condition).__name__)}", "ops.select",
             "compare first")
    return core.where(condition, input, other)


def masked_fill(input_x: Tensor, mask: Tensor, value: Union[Tensor, int, float]) -> Tensor:
    """input_x with value where mask holds, in input_x's type."""
    if isinstance(value, Tensor):
        value = core.cast(value, input_x.dtype)
    elif input_x.dtype is mstype.int64 and is_int(value) and 2 ** 53 < abs(value) < 2 ** 63:
        value = Tensor(np.asarray(value, np.int64))  # `full` takes a double, which rounds it
    else:
        value = core.full((), float(value), input_x.dtype)
    return core.where(_condition(mask), value, input_x)


def _scalar(value: Any, name: str, where: str) -> Any:
    if isinstance(value, Tensor) and value.shape:
        if math.prod(value.shape) != 1:
            fail(ValueError, f"{name}: expected a scalar, got a tensor of {value.shape}", where, "use ops.where for values that differ")
        return core.reshape(value, ())
    return value


def one_hot(indices: Tensor, depth: int, on_value: Union[Tensor, int, float] = 1, off_value: Union[Tensor, int, float] = 0, axis: int = -1) -> Tensor:
    """on_value at the index along a new dimension axis of size depth, off_value elsewhere, in their type; an index outside [0, depth) gives
    off_value everywhere. Raises TypeError for indices that are no integers, ValueError for axis or depth."""
    if not isinstance(indices, Tensor) or is_float(indices.dtype):
        fail(TypeError, f"indices: expected an integer tensor, got {getattr(indices, 'dtype', type(indices).__name__)}", "ops.one_hot")
    depth, n = to_int(depth, "depth", "ops.one_hot"), len(indices.shape)
    if not -1 <= to_int(axis, "axis", "ops.one_hot") <= n:
        fail(ValueError, f"axis: expected a value in [-1, {n}], got {axis}", "ops.one_hot")
    indices = indices if indices.dtype in (mstype.int32, mstype.int64) else core.cast(indices, mstype.int32)
    if _is_long(on_value) or _is_long(off_value):
        on_value, off_value = as_tensor(on_value), as_tensor(off_value)
    if isinstance(on_value, Tensor) or isinstance(off_value, Tensor):
        on_value, off_value = _scalar(on_value, "on_value", "ops.one_hot"), _scalar(off_value, "off_value", "ops.one_hot")
        out = core.where(core.one_hot(indices, depth, 1.0, 0.0, mstype.bool_), as_tensor(on_value, off_value), as_tensor(off_value, on_value))
    else:
        kind = mstype.float32 if isinstance(on_value, float) or isinstance(off_value, float) else mstype.int64
        out = core.one_hot(indices, depth, float(on_value), float(off_value), kind)
    return out if axis in (-1, n) else core.transpose(out, perm_moving(n + 1, [n], [axis]))


def sequence_mask(lengths: Tensor, maxlen: Optional[int] = None) -> Tensor:
    """lengths.shape + [maxlen]: True before the length. maxlen None: the largest length, which asks for values (such code runs eagerly)."""
    n = int(lengths.asnumpy().max()) if maxlen is None else to_int(maxlen, "maxlen", "ops.sequence_mask")
    return core.less(core.arange(0, n), core.cast(core.expand_dims(lengths, -1), mstype.int64))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Union[Tensor, tuple]:
    """[n, rank]: the places of the elements that are not 0 (as_tuple: one vector per dimension). The shape depends on values, so code
    with it runs eagerly."""
    places = np.nonzero(core.not_equal(input, 0).asnumpy())
    if as_tuple:
        return tuple(Tensor(p.astype(np.int64)) for p in places)
    return Tensor(np.stack(places, -1).astype(np.int64) if places else np.zeros((0, 0), np.int64))


def argwhere(input: Tensor) -> Tensor:
    """nonzero by another name."""
    return nonzero(input)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where mask (bool, broadcast) holds, as a vector; gradients flow. Such code runs eagerly."""
    dims = np.broadcast_shapes(input.shape, mask.shape)
    places = np.flatnonzero(np.broadcast_to(_condition(mask).asnumpy(), dims))
    return core.gather(ravel(core.broadcast_to(input, dims)), Tensor(places.astype(np.int64)), 0)


def unique(input: Tensor) -> tuple:
    """(the different elements in the order of their first appearance, the int32 place of each element among them). Runs eagerly."""
    values, first, inverse = np.unique(input.asnumpy().reshape(-1), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Tensor(values[order]), Tensor(place[inverse.reshape(-1)].astype(np.int32).reshape(input.shape))


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: None = None) -> Union[Tensor, tuple]:
    """The flat elements without repetitions of the one before (dim other than None is not supported: ValueError). Runs eagerly."""
    if dim is not None:
        fail(ValueError, f"dim {dim} is not supported", "ops.unique_consecutive", "use dim=None, the flat tensor")
    flat = input.asnumpy().reshape(-1)
    new = np.concatenate([[True], flat[1:] != flat[:-1]]) if flat.size else np.zeros(0, bool)
    out = [Tensor(flat[new])]
    if return_inverse:
        out.append(Tensor((np.cumsum(new) - 1).reshape(input.shape)))
    if return_counts:
        out.append(Tensor(np.diff(np.append(np.flatnonzero(new), flat.size))))
    return out[0] if len(out) == 1 else tuple(out)


def searchsorted(sorted_sequence: Tensor, values: Tensor, *, out_int32: bool = False, right: bool = False, side: Optional[str] = None,
                 sorter: None = None) -> Tensor:
    """Place along the last dimension of sorted_sequence before which each value belongs: the number of elements below it (right: not above it)."""
    if sorter is not None:
        fail(ValueError, "sorter is not supported", "ops.searchsorted", "sort the sequence first")
    right = right if side is None else check_choice(side, ("left", "right"), "side", "ops.searchsorted") == "right"
    sequence = sorted_sequence if len(sorted_sequence.shape) == 1 else core.expand_dims(sorted_sequence, -2)
    hits = (core.less_equal if right else core.less)(sequence, core.expand_dims(values, -1))
    return core.cast(core.sum(core.cast(hits, mstype.int64), [-1]), mstype.int32 if out_int32 else mstype.int64)


def bucketize(input: Tensor, boundaries: Sequence[float], *, right: bool = False) -> Tensor:
    """Number of the boundaries (ascending) that lie below each element (right: at or below), int32."""
    edges = core.cast(Tensor(np.asarray(boundaries, np.float64)), input.dtype if is_float(input.dtype) else mstype.float64)
    hits = (core.less_equal if right else core.less)(edges, core.expand_dims(input, -1))
    return core.cast(core.sum(core.cast(hits, mstype.int32), [-1]), mstype.int32)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether x1[i, x2[i]] is among the k largest of row i."""
    own = core.gather_elements(x1, core.expand_dims(x2, -1), 1)
    above = core.sum(core.cast(core.greater(x1, own), mstype.int32), [1])
    return core.logical_and(core.less(above, k), core.isfinite(core.squeeze(own, 1)))


# --- blocks of images -------------------------------------------------------------------------------------------------------------------


def space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """[n, c, h, w] -> [n, c·b², h/b, w/b]: blocks of b x b become channels."""
    n, c, h, w = x.shape
    b = to_int(block_size, "block_size", "ops.SpaceToDepth")
    if b < 2 or h % b or w % b:
        fail(ValueError, f"height and width of {x.shape} cannot be cut into blocks of {b}", "ops.SpaceToDepth",
             "block_size must be at least 2 and divide both")
    return core.reshape(core.transpose(core.reshape(x, (n, c, h // b, b, w // b, b)), [0, 3, 5, 1, 2, 4]), (n, b * b * c, h // b, w // b))


def depth_to_space(x: Tensor, block_size: int) -> Tensor:
    """[n, c, h, w] -> [n, c/b², h·b, w·b]: the inverse of space_to_depth."""
    n, c, h, w = x.shape
    b = to_int(block_size, "block_size", "ops.DepthToSpace")
    if b < 2 or c % (b * b):
        fail(ValueError, f"{c} channels of {x.shape} cannot become blocks of {b} x {b}", "ops.DepthToSpace",
             "block_size must be at least 2, its square divide the channels")
    return core.reshape(core.transpose(core.reshape(x, (n, b, b, c // (b * b), h, w)), [0, 3, 4, 1, 5, 2]), (n, c // (b * b), h * b, w * b))


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """[.., c·r², h, w] -> [.., c, h·r, w·r], channels outermost (PyTorch's order)."""
    *lead, c, h, w = input.shape
    r = to_count(upscale_factor, "upscale_factor", "ops.pixel_shuffle")
    if c % (r * r):
        fail(ValueError, f"{c} channels of {input.shape} are no multiple of {r}²", "ops.pixel_shuffle")
    k = len(lead)
    x = core.reshape(input, (*lead, c // (r * r), r, r, h, w))
    return core.reshape(core.transpose(x, [*_range(k), k, k + 3, k + 1, k + 4, k + 2]), (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """[.., c, h·r, w·r] -> [.., c·r², h, w]: the inverse of pixel_shuffle."""
    *lead, c, h, w = input.shape
    r = to_count(downscale_factor, "downscale_factor", "ops.pixel_unshuffle")
    if h % r or w % r:
        fail(ValueError, f"height and width of {input.shape} are no multiples of {r}", "ops.pixel_unshuffle")
    k = len(lead)
    x = core.reshape(input, (*lead, c, h // r, r, w // r, r))
    return core.reshape(core.transpose(x, [*_range(k), k, k + 2, k + 4, k + 1, k + 3]), (*lead, c * r * r, h // r, w // r))


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """[n, g·c, h, w] with the channels of the g groups interleaved."""
    n, c, *rest = x.shape
    groups = to_count(groups, "groups", "ops.channel_shuffle")
    if c % groups:
        fail(ValueError, f"{c} channels of {x.shape} are no multiple of {groups} groups", "ops.channel_shuffle")
    return core.reshape(swapaxes(core.reshape(x, (n, groups, c // groups, *rest)), 1, 2), x.shape)


def batch_to_space(x: Tensor, block_size: int, crops: Sequence[Sequence[int]]) -> Tensor:
    """[n·b², c, h, w] -> [n, c, h·b - crops, w·b - crops]."""
    n, c, h, w = x.shape
    b, ((top, bottom), (left, right)) = to_count(block_size, "block_size", "ops.BatchToSpace"), crops
    y = core.transpose(core.reshape(x, (b, b, n // (b * b), c, h, w)), [2, 3, 4, 0, 5, 1])
    y = core.reshape(y, (n // (b * b), c, h * b, w * b))
    return core.slice(y, [0, 0, top, left], [n, c, h * b - bottom, w * b - right])


def space_to_batch(x: Tensor, block_size: int, paddings: Sequence[Sequence[int]]) -> Tensor:
    """[n, c, h, w], zero-padded, -> [n·b², c, h/b, w/b]: the inverse of batch_to_space."""
    b, ((top, bottom), (left, right)) = to_count(block_size, "block_size", "ops.SpaceToBatch"), paddings
    y = core.pad(x, [0, 0, 0, 0, top, bottom, left, right])
    n, c, h, w = y.shape
    if h % b or w % b:
        fail(ValueError, f"padded height and width of {y.shape} are no multiples of {b}", "ops.SpaceToBatch")
    y = core.transpose(core.reshape(y, (n, c, h // b, b, w // b, b)), [3, 5, 0, 1, 2, 4])
    return core.reshape(y, (n * b * b, c, h // b, w // b))


__all__ = exported(globals())
