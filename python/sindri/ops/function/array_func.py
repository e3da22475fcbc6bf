"""Functions of sindri.ops that change types and shapes, and join, cut and repeat."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri import _core
from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.common._views import reshaped, transposed, viewed
from sindri.context import era
from sindri.ops._util import Axis, Size, Tensor, as_tensor, check_parts, core, exported, is_number, perm_moving, to_axes, to_axis, to_count, to_int, to_ints

_slice = slice


# --- type and shape ---------------------------------------------------------------------------------------------------------------------


def cast(input: Union[Tensor, int, float, bool], dtype) -> Tensor:
    """The values in another element type; floats to integers are cut, anything to bool is `!= 0`. A number gives a 0-D tensor, a tensor of
    that type itself.

    Inside a Cell that runs in a half type the chosen type holds, and that of what is computed from it, until a Cell casts its inputs."""
    if not isinstance(input, Tensor) and not is_number(input):
        fail(TypeError, f"expected a tensor or a number, got {type(input).__name__}", "ops.cast")
    out = core.cast(as_tensor(input), dtype)
    _core.hold_type(out)
    return _itself(input, out)


def _itself(input: Any, out: Tensor) -> Tensor:
    """input where nothing was to be cast; of a Parameter its value."""
    return input if type(input) is Tensor and input._id == out._id else out


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """input in other's element type, itself where it has it."""
    return _itself(input, core.cast(input, other.dtype))


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


def numel(input: Tensor) -> int:
    """size by another name."""
    return size(input)


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


def stop_gradient(x: Tensor) -> Tensor:
    """x, through which no gradient flows. It shares its elements with x."""
    return viewed(core.stop_gradient(x), x, "stop", None) if isinstance(x, Tensor) else core.stop_gradient(x)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one, in a tensor of its own; order 'F' reverses the dimensions first. Scalars and vectors come back as vectors."""
    view = flattened(input, order, start_dim=start_dim, end_dim=end_dim)
    return core.reshape(view, view.shape)


def flattened(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """flatten as a view."""
    check_choice("ops.flatten", "order", order, ("C", "F"))
    start, end = to_int(start_dim, "start_dim", "ops.flatten"), to_int(end_dim, "end_dim", "ops.flatten")
    if order == "F":
        input = transposed(input, list(reversed(range(len(input.shape)))))
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
    perm = list(range(len(input.shape)))
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
    return _each(inputs, lambda x: reshaped(x, (1,)) if not x.shape else x)


def atleast_2d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """Dimensions of 1 in front, up to two."""
    return _each(inputs, lambda x: x if len(x.shape) > 1 else reshaped(x, (1,) * (2 - len(x.shape)) + x.shape))


def atleast_3d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """As numpy.atleast_3d: a vector becomes [1, n, 1], a matrix [m, n, 1]."""
    def grow(x: Tensor) -> Tensor:
        shapes = {0: (1, 1, 1), 1: (1,) + x.shape + (1,), 2: x.shape + (1,)}
        return reshaped(x, shapes[len(x.shape)]) if len(x.shape) < 3 else x
    return _each(inputs, grow)


def _each(inputs, fn) -> Union[Tensor, tuple]:
    return tuple(fn(x) for x in inputs) if isinstance(inputs, (tuple, list)) else fn(inputs)


# --- joining, cutting, repeating --------------------------------------------------------------------------------------------------------


def _tensors(items, where: str) -> list:
    if not isinstance(items, (tuple, list)):
        fail(TypeError, f"expected a tuple or list of tensors, got {type(items).__name__}", where)
    if not items:
        fail(ValueError, "expected at least one tensor, got none", where)
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
        sizes = [min(step, total - begin) for begin in range(0, total, step)] or [0]
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
    return _pieces(input, [total // n + (i < total % n) for i in range(n)], a)


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
    """The order of elements reversed along dims. Raises ValueError for one that is named twice."""
    begin, end, step = [0] * len(input.shape), list(input.shape), [1] * len(input.shape)
    axes = [to_axis(a, len(input.shape), "ops.flip") for a in to_axes(dims, "ops.flip")]
    if len(set(axes)) != len(axes):
        fail(ValueError, f"dims: {dims} names a dimension of {input.shape} twice", "ops.flip")
    for a in axes:
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
    """Elements moved by shifts along dims; what leaves comes in on the other side. dims None: in the flat tensor. Raises ValueError unless there
    are as many shifts as dims, one without dims."""
    by_axis, axes = to_axes(shifts, "ops.roll"), [0] if dims is None else to_axes(dims, "ops.roll")
    if len(by_axis) != len(axes):
        fail(ValueError, f"shifts {shifts} and dims {dims} differ in length", "ops.roll", "give a shift for each dimension, or one shift without dims")
    if dims is None:
        return core.reshape(roll(ravel(input), shifts, 0), input.shape)
    for by, axis in zip(by_axis, axes):
        a = to_axis(axis, len(input.shape), "ops.roll")
        by = by % input.shape[a] if input.shape[a] else 0
        if by:
            front, back = core.split(input, [input.shape[a] - by, by], a)
            input = core.concat([back, front], a)
    return input


def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """Turned k times by 90 degrees from dims[0] towards dims[1]. Raises TypeError, ValueError unless dims are two different dimensions."""
    if not isinstance(dims, (tuple, list)) or len(dims) != 2:
        fail(TypeError, f"dims: expected two dimensions, got {dims!r}", "ops.rot90", "give the plane to turn in, such as (0, 1)")
    dims = tuple([to_axis(d, len(input.shape), "ops.rot90") for d in dims])
    if dims[0] == dims[1]:
        fail(ValueError, f"dims: both are dimension {dims[0]}", "ops.rot90", "give two different ones")
    k = to_int(k, "k", "ops.rot90") % 4
    if k == 0:
        return input
    if k == 2:
        return flip(input, dims)
    return swapaxes(flip(input, dims[1]), *dims) if k == 1 else flip(swapaxes(input, *dims), dims[1])


__all__ = exported(globals())
