"""Functions of sindri.ops that change types and shapes, and join, split and repeat tensors."""
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
    """Converts the values to another element type.

    Floats are truncated to integers; conversion to bool is `!= 0`. A number gives a 0-D tensor. A tensor that has the
    type already is returned itself.

    Inside a Cell that runs in a half type, the chosen type holds for the result and for what is computed from it,
    until a Cell casts its inputs.

    Args:
        input (Tensor or number): The values.
        dtype (dtype): The element type of the result.

    Returns:
        A tensor of input's shape.

    Raises:
        TypeError: If `input` is neither a tensor nor a number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cast(ms.Tensor([1.7, -1.7]), ms.int32))
        [ 1 -1]
        >>> print(ms.ops.cast(ms.Tensor([0, 2]), ms.bool_))
        [False  True]
    """
    if not isinstance(input, Tensor) and not is_number(input):
        fail(TypeError, f"expected a tensor or a number, got {type(input).__name__}", "ops.cast")
    out = core.cast(as_tensor(input), dtype)
    _core.hold_type(out)
    return _itself(input, out)


def _itself(input: Any, out: Tensor) -> Tensor:
    """Returns `input` if the cast changed nothing (for a Parameter its value), else `out`."""
    return input if type(input) is Tensor and input._id == out._id else out


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Converts the values to the element type of another tensor. A tensor that has the type already is returned itself.

    Args:
        input (Tensor): The values.
        other (Tensor): The tensor whose type is used.

    Returns:
        A tensor of input's shape and other's type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.type_as(ms.Tensor([1.7, 2.2]), ms.Tensor([1])).dtype)
        Int64
    """
    return _itself(input, core.cast(input, other.dtype))


def dtype(x: Tensor):
    """Returns the element type, which is a constant in compiled code.

    Args:
        x (Tensor): The tensor.

    Returns:
        The element type.

    Raises:
        TypeError: If `x` is not a tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dtype(ms.Tensor([1.0])))
        Float32
    """
    if not isinstance(x, Tensor):
        fail(TypeError, f"expected a tensor, got {type(x).__name__}", "ops.dtype")
    return x.dtype


def shape(input_x: Tensor) -> tuple:
    """Returns the shape as a tuple of ints, which is a constant in compiled code.

    Args:
        input_x (Tensor): The tensor.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: If `input_x` is not a tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.shape(ms.ops.ones((2, 3))))
        (2, 3)
    """
    if not isinstance(input_x, Tensor):
        fail(TypeError, f"expected a tensor, got {type(input_x).__name__}", "ops.shape")
    return input_x.shape


def dyn_shape(input_x: Tensor) -> Tensor:
    """Returns the shape as an int64 tensor.

    Args:
        input_x (Tensor): The tensor.

    Returns:
        An int64 vector with one element per dimension.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dyn_shape(ms.ops.ones((2, 3))))
        [2 3]
    """
    return Tensor(np.asarray(shape(input_x), np.int64))


shape_ = shape


def rank(input_x: Tensor) -> int:
    """Returns the number of dimensions.

    Args:
        input_x (Tensor): The tensor.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rank(ms.ops.ones((2, 3))))
        2
    """
    return len(shape(input_x))


def size(input_x: Tensor) -> int:
    """Returns the number of elements.

    Args:
        input_x (Tensor): The tensor.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.size(ms.ops.ones((2, 3))))
        6
    """
    return math.prod(shape(input_x))


def numel(input: Tensor) -> int:
    """Returns the number of elements; another name of `size`.

    Args:
        input (Tensor): The tensor.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.numel(ms.ops.ones((2, 3))))
        6
    """
    return size(input)


def is_tensor(obj: Any) -> bool:
    """Returns whether `obj` is a Tensor.

    Args:
        obj: Any object.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.is_tensor(ms.Tensor([1])), ms.ops.is_tensor(1))
        True False
    """
    return isinstance(obj, Tensor)


def reshape(input: Tensor, shape: Size) -> Tensor:
    """Returns the same elements in another shape.

    Args:
        input (Tensor): The tensor.
        shape (int, sequence of ints or Tensor): The new shape; one dimension may be -1 and is then inferred.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: If the element counts differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reshape(ms.Tensor([1, 2, 3, 4, 5, 6]), (2, -1)))
        [[1 2 3]
         [4 5 6]]
    """
    return reshaped(input, to_ints(shape, "shape", "ops.reshape"))


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns the elements of `input` in the shape of `other`.

    Args:
        input (Tensor): The tensor.
        other (Tensor): The tensor whose shape is used.

    Returns:
        A tensor of other's shape.

    Raises:
        ValueError: If the element counts differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.view_as(ms.Tensor([1, 2, 3, 4]), ms.ops.ones((2, 2))))
        [[1 2]
         [3 4]]
    """
    return reshaped(input, other.shape)


def ravel(input: Tensor) -> Tensor:
    """Returns all elements as one dimension.

    Args:
        input (Tensor): The tensor.

    Returns:
        A vector.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ravel(ms.Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return reshaped(input, (-1,))


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """Inserts a dimension of size 1.

    Args:
        input_x (Tensor): The tensor.
        axis (int): The position of the new dimension; negative values count from the end.

    Returns:
        A tensor with one dimension more.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.expand_dims(ms.Tensor([1, 2, 3]), 0).shape)
        (1, 3)
    """
    out = core.expand_dims(input_x, to_int(axis, "axis", "ops.expand_dims"))
    return viewed(out, input_x, "reshape", out.shape)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Inserts a dimension of size 1; `expand_dims` under PyTorch's name.

    Args:
        input (Tensor): The tensor.
        dim (int): The position of the new dimension; negative values count from the end.

    Returns:
        A tensor with one dimension more.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unsqueeze(ms.Tensor([1, 2, 3]), -1).shape)
        (3, 1)
    """
    return expand_dims(input, dim)


def stop_gradient(x: Tensor) -> Tensor:
    """Returns x with the gradient cut off. The result shares its elements with x.

    Args:
        x (Tensor): The tensor.

    Returns:
        A tensor with x's values, through which no gradient flows.

    Examples:
        >>> import sindri as ms
        >>> print(ms.grad(lambda x: x * ms.ops.stop_gradient(x))(ms.Tensor([3.0])))
        [3.]
    """
    return viewed(core.stop_gradient(x), x, "stop", None) if isinstance(x, Tensor) else core.stop_gradient(x)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Flattens dimensions start_dim to end_dim into one, in a new tensor. Scalars and vectors give vectors.

    Args:
        input (Tensor): The tensor.
        order (str): "C", or "F" to reverse the dimensions first. Default: "C".
        start_dim (int): The first dimension to flatten. Default: 1.
        end_dim (int): The last dimension to flatten. Default: -1.

    Returns:
        A tensor with the same elements.

    Raises:
        ValueError: If `order` is another string, a dimension is out of range, or `start_dim` comes after `end_dim`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.flatten(ms.ops.ones((2, 3, 4))).shape)
        (2, 12)
    """
    view = flattened(input, order, start_dim=start_dim, end_dim=end_dim)
    return core.reshape(view, view.shape)


def flattened(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Flattens dimensions start_dim to end_dim into one, as a view; see `flatten`.

    Args:
        input (Tensor): The tensor.
        order (str): "C", or "F" to reverse the dimensions first. Default: "C".
        start_dim (int): The first dimension to flatten. Default: 1.
        end_dim (int): The last dimension to flatten. Default: -1.

    Returns:
        A view.

    Raises:
        ValueError: If `order` is another string, a dimension is out of range, or `start_dim` comes after `end_dim`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.flattened(ms.ops.ones((2, 3, 4))).shape)
        (2, 12)
    """
    check_choice("ops.flatten", "order", order, ("C", "F"))
    start, end = to_int(start_dim, "start_dim", "ops.flatten"), to_int(end_dim, "end_dim", "ops.flatten")
    if order == "F":
        input = transposed(input, list(reversed(range(len(input.shape)))))
    if len(input.shape) < 2:
        return reshaped(input, (-1,))
    start, end = to_axis(start, len(input.shape), "ops.flatten"), to_axis(end, len(input.shape), "ops.flatten")
    if start > end:
        fail(ValueError, f"start_dim {start_dim} comes after end_dim {end_dim} in {input.shape}", "ops.flatten")
    return reshaped(input, input.shape[:start] + (math.prod(input.shape[start:end + 1]),) + input.shape[end + 1:])


def flatten_rows(x: Tensor) -> Tensor:
    """Flattens all dimensions but the first: [n, …] -> [n, k]; a vector becomes [n, 1].

    Args:
        x (Tensor): A tensor of at least 1 dimension.

    Returns:
        A matrix.

    Raises:
        ValueError: If `x` is a scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Flatten()(ms.ops.ones((2, 3, 4))).shape)
        (2, 12)
    """
    if not x.shape:
        fail(ValueError, "expected at least one dimension, got a scalar", "ops.Flatten")
    return core.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


def squeeze(input: Tensor, axis: Axis = None) -> Tensor:
    """Removes dimensions of size 1.

    A dimension in `axis` of another size is kept; in era 1 it raises ValueError.

    Args:
        input (Tensor): The tensor.
        axis (int or sequence of ints): The dimensions to remove; None means all of size 1. Default: None.

    Returns:
        A tensor with the same elements.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.squeeze(ms.ops.ones((1, 3, 1))).shape)
        (3,)
        >>> print(ms.ops.squeeze(ms.ops.ones((1, 3, 1)), 0).shape)
        (3, 1)
    """
    axes = {to_axis(a, len(input.shape), "ops.squeeze") for a in to_axes(axis, "ops.squeeze")} if axis is not None else set()
    if not axes:
        return reshaped(input, [n for n in input.shape if n != 1])
    for a in axes:
        if input.shape and input.shape[a] != 1 and era() == 1:
            fail(ValueError, f"dimension {a} of {input.shape} is not 1", "ops.squeeze", "omit it from axis")
    return reshaped(input, [n for d, n in enumerate(input.shape) if d not in axes or n != 1])


def transpose(input: Tensor, input_perm: Sequence[int]) -> Tensor:
    """Permutes the dimensions: dimension i of the result is dimension input_perm[i] of the input.

    Args:
        input (Tensor): The tensor.
        input_perm (sequence of ints): A permutation of the dimensions.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If `input_perm` is not a permutation.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.transpose(ms.Tensor([[1, 2, 3], [4, 5, 6]]), (1, 0)))
        [[1 4]
         [2 5]
         [3 6]]
    """
    return transposed(input, list(to_ints(input_perm, "input_perm", "ops.transpose")))


def permute(input: Tensor, axis: Sequence[int]) -> Tensor:
    """Permutes the dimensions; `transpose` under PyTorch's name.

    Args:
        input (Tensor): The tensor.
        axis (sequence of ints): A permutation of the dimensions.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If `axis` is not a permutation.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.permute(ms.ops.ones((2, 3, 4)), (2, 0, 1)).shape)
        (4, 2, 3)
    """
    return transposed(input, list(to_ints(axis, "axis", "ops.permute")))


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchanges two dimensions.

    Args:
        input (Tensor): The tensor.
        axis0 (int): The first dimension.
        axis1 (int): The second dimension.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.swapaxes(ms.ops.ones((2, 3, 4)), 0, 2).shape)
        (4, 3, 2)
    """
    perm = list(range(len(input.shape)))
    a, b = to_axis(axis0, len(perm), "ops.swapaxes"), to_axis(axis1, len(perm), "ops.swapaxes")
    perm[a], perm[b] = perm[b], perm[a]
    return transposed(input, perm)


swapdims = swapaxes


def moveaxis(x: Tensor, source: Axis, destination: Axis) -> Tensor:
    """Moves dimensions to other positions; the others keep their order.

    Args:
        x (Tensor): The tensor.
        source (int or sequence of ints): The dimensions to move.
        destination (int or sequence of ints): Their positions in the result.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If the two differ in length, name a dimension twice or are out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.moveaxis(ms.ops.ones((2, 3, 4)), 0, -1).shape)
        (3, 4, 2)
    """
    n = len(x.shape)
    source = [to_axis(a, n, "ops.moveaxis") for a in to_axes(source, "ops.moveaxis")]
    target = [to_axis(a, n, "ops.moveaxis") for a in to_axes(destination, "ops.moveaxis")]
    if len(source) != len(target) or len(set(source)) != len(source) or len(set(target)) != len(target):
        fail(ValueError, f"source {source} and destination {target} must name equally many different dimensions", "ops.moveaxis")
    return transposed(x, perm_moving(n, source, target))


movedim = moveaxis


def t(input: Tensor) -> Tensor:
    """Transposes a matrix; vectors and scalars are returned unchanged.

    Args:
        input (Tensor): A tensor of at most 2 dimensions.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If `input` has more than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.t(ms.Tensor([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    if len(input.shape) > 2:
        fail(ValueError, f"expected at most 2 dimensions, got {input.shape}", "ops.t", "use ops.transpose")
    return transposed(input, [1, 0]) if len(input.shape) == 2 else input


def adjoint(x: Tensor) -> Tensor:
    """Exchanges the last two dimensions.

    Args:
        x (Tensor): A tensor of at least 2 dimensions.

    Returns:
        The transposed tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adjoint(ms.ops.ones((2, 3, 4))).shape)
        (2, 4, 3)
    """
    return swapaxes(x, -1, -2)


def atleast_1d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """Converts scalars to vectors of one element; other tensors are returned unchanged.

    Args:
        inputs (Tensor or sequence of Tensors): A tensor, or several.

    Returns:
        A tensor, or a tuple of them.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.atleast_1d(ms.Tensor(2)).shape)
        (1,)
    """
    return _each(inputs, lambda x: reshaped(x, (1,)) if not x.shape else x)


def atleast_2d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """Adds leading dimensions of size 1 up to two dimensions.

    Args:
        inputs (Tensor or sequence of Tensors): A tensor, or several.

    Returns:
        A tensor, or a tuple of them.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.atleast_2d(ms.Tensor([1, 2])).shape)
        (1, 2)
    """
    return _each(inputs, lambda x: x if len(x.shape) > 1 else reshaped(x, (1,) * (2 - len(x.shape)) + x.shape))


def atleast_3d(inputs: Union[Tensor, Sequence[Tensor]]) -> Union[Tensor, tuple]:
    """Adds dimensions up to three, as numpy.atleast_3d does: a vector becomes [1, n, 1], a matrix [m, n, 1].

    Args:
        inputs (Tensor or sequence of Tensors): A tensor, or several.

    Returns:
        A tensor, or a tuple of them.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.atleast_3d(ms.Tensor([1, 2])).shape)
        (1, 2, 1)
    """
    def grow(x: Tensor) -> Tensor:
        shapes = {0: (1, 1, 1), 1: (1,) + x.shape + (1,), 2: x.shape + (1,)}
        return reshaped(x, shapes[len(x.shape)]) if len(x.shape) < 3 else x
    return _each(inputs, grow)


def _each(inputs, fn) -> Union[Tensor, tuple]:
    return tuple(fn(x) for x in inputs) if isinstance(inputs, (tuple, list)) else fn(inputs)


# --- joining, splitting, repeating ------------------------------------------------------------------------------------------------------


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
    """Concatenates tensors along an existing dimension, in their common type.

    Args:
        tensors (sequence of Tensors): The tensors; their shapes differ along `axis` only.
        axis (int): The dimension to concatenate along. Default: 0.

    Returns:
        The concatenated tensor.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If it is empty, the shapes are incompatible or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.concat((ms.Tensor([[1, 2]]), ms.Tensor([[3, 4]]))))
        [[1 2]
         [3 4]]
        >>> print(ms.ops.concat((ms.Tensor([[1, 2]]), ms.Tensor([[3, 4]])), axis=1))
        [[1 2 3 4]]
    """
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
    """Stacks tensors along a new dimension.

    Args:
        tensors (sequence of Tensors): Tensors of one shape.
        axis (int): The position of the new dimension. Default: 0.

    Returns:
        A tensor with one dimension more.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If it is empty, the shapes differ or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.stack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 2]
         [3 4]]
        >>> print(ms.ops.stack((ms.Tensor([1, 2]), ms.Tensor([3, 4])), axis=1))
        [[1 3]
         [2 4]]
    """
    return core.stack(_tensors(tensors, "ops.stack"), to_int(axis, "axis", "ops.stack"))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates tensors along the second dimension, vectors along the first.

    Args:
        tensors (sequence of Tensors): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hstack((ms.Tensor([[1], [2]]), ms.Tensor([[3], [4]]))))
        [[1 3]
         [2 4]]
    """
    items = atleast_1d(_tensors(tensors, "ops.hstack"))
    return concat(items, 0 if len(items[0].shape) == 1 else 1)


def vstack(inputs: Sequence[Tensor]) -> Tensor:
    """Concatenates tensors along the first dimension; vectors count as rows.

    Args:
        inputs (sequence of Tensors): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        TypeError: If `inputs` is not a tuple or list of tensors.
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.vstack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return concat(atleast_2d(_tensors(inputs, "ops.vstack")), 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates tensors along the third dimension; see `atleast_3d`.

    Args:
        tensors (sequence of Tensors): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dstack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))).shape)
        (1, 2, 2)
    """
    return concat(atleast_3d(_tensors(tensors, "ops.dstack")), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates tensors as columns; vectors and scalars become columns.

    Args:
        tensors (sequence of Tensors): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.column_stack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 3]
         [2 4]]
    """
    return concat([core.reshape(x, (-1, 1)) if len(x.shape) < 2 else x for x in _tensors(tensors, "ops.column_stack")], 1)


def unstack(input_x: Tensor, axis: int = 0, num: Optional[int] = None) -> tuple:
    """Splits a tensor into its slices along a dimension, without that dimension.

    Args:
        input_x (Tensor): The tensor.
        axis (int): The dimension. Default: 0.
        num (int): The expected number of slices; None skips the check. Default: None.

    Returns:
        A tuple of views.

    Raises:
        ValueError: If `axis` is out of range or `num` is not the dimension's size.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.unstack(ms.Tensor([[1, 2], [3, 4]])))
        [1 2] [3 4]
    """
    a = to_axis(axis, len(input_x.shape), "ops.unstack")
    if num is not None and num != input_x.shape[a]:
        fail(ValueError, f"num is {num}, dimension {a} of {input_x.shape} is not", "ops.unstack")
    check_parts(input_x.shape[a], input_x, "ops.unstack")
    pieces = [core.squeeze(piece, a) for piece in core.split(input_x, [1] * input_x.shape[a], a)] if input_x.shape[a] else []
    lead = (_slice(None),) * a
    return tuple([viewed(piece, input_x, "index", lead + (i,)) for i, piece in enumerate(pieces)])


def unbind(input: Tensor, dim: int = 0) -> tuple:
    """Splits a tensor into its slices along a dimension; `unstack` under PyTorch's name.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension. Default: 0.

    Returns:
        A tuple of views without that dimension.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.unbind(ms.Tensor([[1, 2], [3, 4]]), 1))
        [1 3] [2 4]
    """
    return unstack(input, dim)


def split(tensor: Tensor, split_size_or_sections: Union[None, int, Sequence[int]] = None, axis: int = 0, output_num: Optional[int] = None) -> tuple:
    """Splits a tensor along a dimension.

    Args:
        tensor (Tensor): The tensor.
        split_size_or_sections (int or sequence of ints): The size of each piece (the last may be smaller), or a
            sequence with the size of each piece. Default: None.
        axis (int): The dimension. Default: 0.
        output_num (int): The number of equal pieces, as in MindSpore 1.x; it takes precedence. Default: None.

    Returns:
        A tuple of views.

    Raises:
        ValueError: If the sizes do not add up, the dimension cannot be divided, or a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.split(ms.Tensor([1, 2, 3, 4, 5]), 2))
        [1 2] [3 4] [5]
        >>> print(*ms.ops.split(ms.Tensor([1, 2, 3, 4, 5]), (1, 4)))
        [1] [2 3 4 5]
    """
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
    """Splits a tensor into at most `chunks` pieces of ceil(size/chunks) elements; the last may be smaller.

    Args:
        input (Tensor): The tensor.
        chunks (int): The greatest number of pieces.
        axis (int): The dimension. Default: 0.

    Returns:
        A tuple of views.

    Raises:
        ValueError: If `chunks` is below 1 or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.chunk(ms.Tensor([1, 2, 3, 4, 5]), 2))
        [1 2 3] [4 5]
    """
    a = to_axis(axis, len(input.shape), "ops.chunk")
    if chunks < 1:
        fail(ValueError, f"chunks: expected at least 1, got {chunks}", "ops.chunk")
    return split(input, max(1, -(-input.shape[a] // chunks)), a)


def tensor_split(input: Tensor, indices_or_sections: Union[int, Sequence[int]], axis: int = 0) -> tuple:
    """Splits a tensor into pieces, as numpy.array_split does.

    Args:
        input (Tensor): The tensor.
        indices_or_sections (int or sequence of ints): The number of pieces, whose sizes differ by at most 1, or the
            positions to cut at.
        axis (int): The dimension. Default: 0.

    Returns:
        A tuple of views.

    Raises:
        ValueError: If the number of pieces is below 1 or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.tensor_split(ms.Tensor([1, 2, 3, 4, 5]), 2))
        [1 2 3] [4 5]
        >>> print(*ms.ops.tensor_split(ms.Tensor([1, 2, 3, 4, 5]), (1, 3)))
        [1] [2 3] [4 5]
    """
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
    """Splits a tensor along the second dimension, a vector along the first; see `tensor_split`.

    Args:
        input (Tensor): The tensor.
        indices_or_sections (int or sequence of ints): The number of pieces, or the positions to cut at.

    Returns:
        A tuple of views.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.hsplit(ms.Tensor([[1, 2], [3, 4]]), 2))
        [[1]
         [3]] [[2]
         [4]]
    """
    return tensor_split(input, indices_or_sections, 0 if len(input.shape) == 1 else 1)


def vsplit(input: Tensor, indices_or_sections) -> tuple:
    """Splits a tensor along the first dimension; see `tensor_split`.

    Args:
        input (Tensor): The tensor.
        indices_or_sections (int or sequence of ints): The number of pieces, or the positions to cut at.

    Returns:
        A tuple of views.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.vsplit(ms.Tensor([[1, 2], [3, 4]]), 2))
        [[1 2]] [[3 4]]
    """
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Tensor, indices_or_sections) -> tuple:
    """Splits a tensor along the third dimension; see `tensor_split`.

    Args:
        input (Tensor): A tensor of at least 3 dimensions.
        indices_or_sections (int or sequence of ints): The number of pieces, or the positions to cut at.

    Returns:
        A tuple of views.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dsplit(ms.Tensor([[[1, 2], [3, 4]]]), 2)[0].shape)
        (1, 2, 1)
    """
    return tensor_split(input, indices_or_sections, 2)


def _cut(x: Tensor, axis: int, begin: int, end: int, step: int = 1) -> Tensor:
    begins, ends, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    begins[axis], ends[axis], steps[axis] = begin, end, step
    return core.slice(x, begins, ends, steps)


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """Returns `length` slices along a dimension, from `start` on.

    Args:
        input (Tensor): The tensor.
        axis (int): The dimension.
        start (int): The first slice.
        length (int): The number of slices.

    Returns:
        A view.

    Raises:
        ValueError: If the slices leave the tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.narrow(ms.Tensor([1, 2, 3, 4]), 0, 1, 2))
        [2 3]
    """
    a = to_axis(axis, len(input.shape), "ops.narrow")
    if start < 0 or length < 0 or start + length > input.shape[a]:
        fail(ValueError, f"start {start} and length {length} leave dimension {a} of {input.shape}", "ops.narrow")
    return viewed(_cut(input, a, start, start + length), input, "index", (_slice(None),) * a + (_slice(start, start + length),))


def slice(input_x: Tensor, begin: Sequence[int], size: Sequence[int]) -> Tensor:
    """Returns the block that starts at `begin` and has the sizes `size`.

    Args:
        input_x (Tensor): The tensor.
        begin (sequence of ints): The first element in each dimension.
        size (sequence of ints): The number of elements in each dimension; -1 is up to the end.

    Returns:
        A view.

    Raises:
        ValueError: If the block leaves the tensor, or the lengths are not the number of dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.slice(ms.Tensor([[1, 2, 3], [4, 5, 6]]), (0, 1), (2, -1)))
        [[2 3]
         [5 6]]
    """
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
    """Returns input_x[begin:end:strides], one entry per dimension.

    In the masks, bit i belongs to entry i.

    Args:
        input_x (Tensor): The tensor.
        begin (sequence of ints): The start of each entry.
        end (sequence of ints): The exclusive end of each entry.
        strides (sequence of ints): The step of each entry; None means 1 everywhere. Default: None.
        begin_mask (int): The entries without a start. Default: 0.
        end_mask (int): The entries without an end. Default: 0.
        ellipsis_mask (int): The entry that stands for all dimensions not named. Default: 0.
        new_axis_mask (int): The entries that insert a dimension of size 1. Default: 0.
        shrink_axis_mask (int): The entries that take the element at `begin` and drop the dimension. Default: 0.

    Returns:
        A tensor with the selected elements.

    Raises:
        ValueError: If the lengths differ or a stride is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.strided_slice(ms.Tensor([[1, 2, 3], [4, 5, 6]]), (0, 0), (2, 3), (1, 2)))
        [[1 3]
         [4 6]]
    """
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
    """Repeats a tensor dims[d] times along dimension d. Missing dimensions are added in front.

    Args:
        input (Tensor): The tensor.
        dims (sequence of ints): The number of repetitions per dimension.

    Returns:
        The repeated tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tile(ms.Tensor([1, 2]), (2, 2)))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    repeats = to_ints(dims, "dims", "ops.tile")
    n = max(len(repeats), len(input.shape))
    x = core.reshape(input, (1,) * (n - len(input.shape)) + input.shape) if n > len(input.shape) else input
    return core.tile(x, [1] * (n - len(repeats)) + list(repeats))


def broadcast_to(input: Tensor, shape: Size) -> Tensor:
    """Broadcasts a tensor to a shape.

    Args:
        input (Tensor): The tensor.
        shape (int, sequence of ints or Tensor): The shape; -1 keeps a dimension.

    Returns:
        A view of that shape.

    Raises:
        ValueError: If the tensor does not broadcast to the shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.broadcast_to(ms.Tensor([1, 2]), (2, 2)))
        [[1 2]
         [1 2]]
    """
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
    """Broadcasts a tensor to the shape of another one.

    Args:
        input (Tensor): The tensor.
        other (Tensor): The tensor whose shape is used.

    Returns:
        A view of other's shape.

    Raises:
        ValueError: If the tensor does not broadcast to the shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.expand_as(ms.Tensor([1, 2]), ms.ops.ones((2, 2))))
        [[1 2]
         [1 2]]
    """
    return viewed(core.broadcast_to(input, other.shape), input, "expand", other.shape)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Repeats each element `rep` times in sequence along a dimension.

    Args:
        x (Tensor): The tensor.
        rep (int): The number of repetitions.
        axis (int): The dimension. Default: 0.

    Returns:
        The repeated tensor.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.repeat_elements(ms.Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    a = to_axis(axis, len(x.shape), "ops.repeat_elements")
    spread = core.broadcast_to(core.expand_dims(x, a + 1), x.shape[:a + 1] + (rep,) + x.shape[a + 1:])
    return core.reshape(spread, x.shape[:a] + (x.shape[a] * rep,) + x.shape[a + 1:])


def repeat_interleave(input: Tensor, repeats: Union[int, Sequence[int], Tensor], axis: Optional[int] = None) -> Tensor:
    """Repeats element i `repeats` (or repeats[i]) times along a dimension.

    Args:
        input (Tensor): The tensor.
        repeats (int, sequence of ints or Tensor): The number of repetitions, one for all or one per element.
        axis (int): The dimension; None repeats the flat tensor. Default: None.

    Returns:
        The repeated tensor.

    Raises:
        ValueError: If there are several repeats, but not one per element.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.repeat_interleave(ms.Tensor([1, 2]), 2))
        [1 1 2 2]
        >>> print(ms.ops.repeat_interleave(ms.Tensor([1, 2]), (1, 3)))
        [1 2 2 2]
    """
    x, a = (ravel(input), 0) if axis is None else (input, to_axis(axis, len(input.shape), "ops.repeat_interleave"))
    counts = to_ints(repeats, "repeats", "ops.repeat_interleave")
    if len(counts) == 1:
        return repeat_elements(x, counts[0], a)
    if len(counts) != x.shape[a]:
        fail(ValueError, f"{len(counts)} repeats for dimension {a} of {x.shape}", "ops.repeat_interleave")
    return core.gather(x, Tensor(np.repeat(np.arange(len(counts)), counts)), a)


def flip(input: Tensor, dims: Axis) -> Tensor:
    """Reverses the order of the elements along dimensions.

    Args:
        input (Tensor): The tensor.
        dims (int or sequence of ints): The dimensions.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If a dimension is named twice or is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.flip(ms.Tensor([[1, 2], [3, 4]]), (1,)))
        [[2 1]
         [4 3]]
    """
    begin, end, step = [0] * len(input.shape), list(input.shape), [1] * len(input.shape)
    axes = [to_axis(a, len(input.shape), "ops.flip") for a in to_axes(dims, "ops.flip")]
    if len(set(axes)) != len(axes):
        fail(ValueError, f"dims: {dims} names a dimension of {input.shape} twice", "ops.flip")
    for a in axes:
        begin[a], end[a], step[a] = max(input.shape[a] - 1, 0), -input.shape[a] - 1, -1
    return core.slice(input, begin, end, step)


def reverse(x: Tensor, axis: Axis) -> Tensor:
    """Reverses the order of the elements along dimensions; another name of `flip`.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The dimensions.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If a dimension is named twice or is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reverse(ms.Tensor([[1, 2], [3, 4]]), 0))
        [[3 4]
         [1 2]]
    """
    return flip(x, axis)


def fliplr(input: Tensor) -> Tensor:
    """Reverses the order of the elements along the second dimension.

    Args:
        input (Tensor): A tensor of at least 2 dimensions.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fliplr(ms.Tensor([[1, 2], [3, 4]])))
        [[2 1]
         [4 3]]
    """
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """Reverses the order of the elements along the first dimension.

    Args:
        input (Tensor): A tensor of at least 1 dimension.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.flipud(ms.Tensor([[1, 2], [3, 4]])))
        [[3 4]
         [1 2]]
    """
    return flip(input, 0)


def roll(input: Tensor, shifts: Axis, dims: Axis = None) -> Tensor:
    """Shifts elements along dimensions; those shifted out at one end enter at the other.

    Args:
        input (Tensor): The tensor.
        shifts (int or sequence of ints): The number of places, one per dimension.
        dims (int or sequence of ints): The dimensions; None shifts the flat tensor by one number. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `shifts` and `dims` differ in length.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.roll(ms.Tensor([1, 2, 3, 4]), 1))
        [4 1 2 3]
    """
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
    """Rotates a tensor k times by 90 degrees, from dims[0] towards dims[1].

    Args:
        input (Tensor): The tensor.
        k (int): The number of rotations.
        dims (sequence of ints): The two dimensions of the plane.

    Returns:
        The rotated tensor.

    Raises:
        TypeError: If `dims` is not a pair.
        ValueError: If both are the same dimension, or one is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rot90(ms.Tensor([[1, 2], [3, 4]]), 1, (0, 1)))
        [[2 4]
         [1 3]]
    """
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
