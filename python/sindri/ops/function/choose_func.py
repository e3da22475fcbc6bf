"""Functions of sindri.ops that select elements by a condition, by order or by equality."""
from __future__ import annotations

import itertools
import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail, is_int
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, as_tensor, core, exported, filled, is_float, is_long, perm_moving, to_count, to_int
from sindri.ops.function.array_func import ravel, stack
from sindri.ops.function.creation_func import meshgrid


def _condition(condition: Any) -> Tensor:
    condition = as_tensor(condition)
    return condition if condition.dtype is mstype.bool_ else core.not_equal(condition, 0)


def _mask(mask: Any, where: str) -> Tensor:
    mask = as_tensor(mask)
    if mask.dtype is not mstype.bool_:
        fail(TypeError, f"mask: expected bools, got {mask.dtype}", where, "compare first, such as mask != 0")
    return mask


def where(condition: Tensor, input: Union[Tensor, int, float], other: Union[Tensor, int, float]) -> Tensor:
    """Selects elements of `input` where `condition` is True (or not 0), else of `other`. All three broadcast.

    Args:
        condition (Tensor): The condition.
        input (Tensor or number): The values for True.
        other (Tensor or number): The values for False.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.where(ms.Tensor([True, False]), ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [1 4]
    """
    return core.where(_condition(condition), input, other)


def select(condition: Tensor, input: Union[Tensor, int, float], other: Union[Tensor, int, float]) -> Tensor:
    """Selects elements as `where` does, for a bool condition.

    Args:
        condition (Tensor): A bool tensor.
        input (Tensor or number): The values for True.
        other (Tensor or number): The values for False.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If `condition` is not a bool tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.select(ms.Tensor([True, False]), ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [1 4]
    """
    if not isinstance(condition, Tensor) or condition.dtype is not mstype.bool_:
        fail(TypeError, f"condition: expected a bool tensor, got {getattr(condition, 'dtype', type(condition).__name__)}", "ops.select",
             "compare first, such as condition != 0")
    return core.where(condition, input, other)


def masked_fill(input_x: Tensor, mask: Tensor, value: Union[Tensor, int, float]) -> Tensor:
    """Replaces the elements where `mask` is True by `value`, in input_x's type.

    Args:
        input_x (Tensor): The tensor.
        mask (Tensor): A bool tensor; it broadcasts.
        value (Tensor or number): The value.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If `mask` is not bool, or `value` is a fraction and the tensor holds integers.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.masked_fill(ms.Tensor([1.0, 2.0]), ms.Tensor([True, False]), 0))
        [0. 2.]
    """
    mask = _mask(mask, "ops.masked_fill")
    if not isinstance(value, Tensor) and not is_float(input_x.dtype) and not float(value).is_integer():
        fail(TypeError, f"value: {value} is not a whole number, and the tensor is of {input_x.dtype}", "ops.masked_fill", "cast the tensor to float32 first")
    value = core.cast(value, input_x.dtype) if isinstance(value, Tensor) else filled((), value, input_x.dtype)
    return core.where(mask, value, input_x)


def _scalar(value: Any, name: str, where: str) -> Any:
    if isinstance(value, Tensor) and value.shape:
        if math.prod(value.shape) != 1:
            fail(ValueError, f"{name}: expected a scalar, got a tensor of {value.shape}", where, "use ops.where for values that differ")
        return core.reshape(value, ())
    return value


def one_hot(indices: Tensor, depth: int, on_value: Union[Tensor, int, float] = 1, off_value: Union[Tensor, int, float] = 0, axis: int = -1) -> Tensor:
    """Encodes indices as vectors with `on_value` at the index and `off_value` elsewhere.

    An index outside [0, depth) gives `off_value` everywhere. The result has the type of the two values.

    Args:
        indices (Tensor): An integer tensor.
        depth (int): The size of the new dimension.
        on_value (Tensor or number): The value at the index. Default: 1.
        off_value (Tensor or number): The value elsewhere. Default: 0.
        axis (int): The position of the new dimension; -1 is the last. Default: -1.

    Returns:
        A tensor with one dimension more.

    Raises:
        TypeError: If `indices` is not an integer tensor.
        ValueError: If `axis` or `depth` is out of range, or a value is a tensor of more than one element.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.one_hot(ms.Tensor([0, 2]), 3, 1.0, 0.0))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """
    if not isinstance(indices, Tensor) or is_float(indices.dtype):
        fail(TypeError, f"indices: expected an integer tensor, got {getattr(indices, 'dtype', type(indices).__name__)}", "ops.one_hot")
    depth, n = to_int(depth, "depth", "ops.one_hot"), len(indices.shape)
    if not -1 <= to_int(axis, "axis", "ops.one_hot") <= n:
        fail(ValueError, f"axis: expected a value in [-1, {n}], got {axis}", "ops.one_hot")
    indices = indices if indices.dtype in (mstype.int32, mstype.int64) else core.cast(indices, mstype.int32)
    if is_long(on_value) or is_long(off_value):
        on_value, off_value = as_tensor(on_value), as_tensor(off_value)
    if isinstance(on_value, Tensor) or isinstance(off_value, Tensor):
        on_value, off_value = _scalar(on_value, "on_value", "ops.one_hot"), _scalar(off_value, "off_value", "ops.one_hot")
        out = core.where(core.one_hot(indices, depth, 1.0, 0.0, mstype.bool_), as_tensor(on_value, off_value), as_tensor(off_value, on_value))
    else:
        kind = mstype.float32 if isinstance(on_value, float) or isinstance(off_value, float) else mstype.int64
        out = core.one_hot(indices, depth, float(on_value), float(off_value), kind)
    return out if axis in (-1, n) else core.transpose(out, perm_moving(n + 1, [n], [axis]))


def sequence_mask(lengths: Tensor, maxlen: Optional[int] = None) -> Tensor:
    """Returns a mask that is True at positions before each length.

    Args:
        lengths (Tensor): The lengths, of any shape.
        maxlen (int): The size of the new last dimension; None means the largest length, which reads values, so that such
            code runs eagerly. Default: None.

    Returns:
        A bool tensor of shape lengths.shape + [maxlen].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.sequence_mask(ms.Tensor([1, 3]), 4))
        [[ True False False False]
         [ True  True  True False]]
    """
    n = int(lengths.asnumpy().max()) if maxlen is None else to_int(maxlen, "maxlen", "ops.sequence_mask")
    return core.less(core.arange(0, n), core.cast(core.expand_dims(lengths, -1), mstype.int64))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Union[Tensor, tuple]:
    """Returns the positions of the elements that are not 0. The shape depends on values, so code that calls it runs
    eagerly.

    Args:
        input (Tensor): The tensor.
        as_tuple (bool): Whether to return one vector per dimension. Default: False.

    Returns:
        An int64 tensor of shape [n, rank], or a tuple of vectors.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.nonzero(ms.Tensor([[0, 1], [2, 0]])))
        [[0 1]
         [1 0]]
    """
    places = np.nonzero(core.not_equal(input, 0).asnumpy())
    if as_tuple:
        return tuple(Tensor(p.astype(np.int64)) for p in places)
    return Tensor(np.stack(places, -1).astype(np.int64) if places else np.zeros((0, 0), np.int64))


def argwhere(input: Tensor) -> Tensor:
    """Returns the positions of the elements that are not 0; another name of `nonzero`.

    Args:
        input (Tensor): The tensor.

    Returns:
        An int64 tensor of shape [n, rank].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.argwhere(ms.Tensor([0, 1, 2])))
        [[1]
         [2]]
    """
    return nonzero(input)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Returns the elements where `mask` is True, as a vector. Gradients flow. Code that calls it runs eagerly.

    Args:
        input (Tensor): The tensor.
        mask (Tensor): A bool tensor; both broadcast.

    Returns:
        A vector.

    Raises:
        TypeError: If `mask` is not bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.masked_select(ms.Tensor([1, 2, 3]), ms.Tensor([True, False, True])))
        [1 3]
    """
    dims = np.broadcast_shapes(input.shape, mask.shape)
    places = np.flatnonzero(np.broadcast_to(_mask(mask, "ops.masked_select").asnumpy(), dims))
    return core.gather(ravel(core.broadcast_to(input, dims)), Tensor(places.astype(np.int64)), 0)


def unique(input: Tensor) -> tuple:
    """Returns the distinct elements in the order of their first appearance. Code that calls it runs eagerly.

    Args:
        input (Tensor): The tensor.

    Returns:
        (distinct elements, the index of each element among them); the indices are int64 for int64 elements, else
        int32.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.unique(ms.Tensor([3, 1, 3, 2])))
        [3 1 2] [0 1 0 2]
    """
    values, first, inverse = np.unique(input.asnumpy().reshape(-1), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Tensor(values[order]), Tensor(place[inverse.reshape(-1)].astype(np.int64 if input.dtype is mstype.int64 else np.int32).reshape(input.shape))


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: None = None) -> Union[Tensor, tuple]:
    """Returns the flat elements without repetitions of the preceding one. Code that calls it runs eagerly.

    Args:
        input (Tensor): The tensor.
        return_inverse (bool): Whether to return the index of each element in the result. Default: False.
        return_counts (bool): Whether to return the number of repetitions. Default: False.
        dim (None): Must be None, the flat tensor. Default: None.

    Returns:
        The elements, or a tuple of them and what was asked for.

    Raises:
        ValueError: If `dim` is not None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unique_consecutive(ms.Tensor([1, 1, 2, 1])))
        [1 2 1]
    """
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


def unique_with_pad(x: Tensor, pad_num: Union[Tensor, int, float]) -> tuple:
    """Returns the distinct elements of a vector as `unique` does, followed by `pad_num` up to x's size.

    Args:
        x (Tensor): A vector.
        pad_num (Tensor or number): The value of the padding.

    Returns:
        (padded elements, the index of each element); the indices are int64 for an int64 vector.

    Raises:
        ValueError: If `x` is not a vector.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.unique_with_pad(ms.Tensor([3, 1, 3, 2]), 0))
        [3 1 2 0] [0 1 0 2]
    """
    if len(x.shape) != 1:
        fail(ValueError, f"expected a vector, got {x.shape}", "ops.unique_with_pad")
    values, places = unique(x)
    rest = core.full((x.shape[0] - values.shape[0],), 0.0, x.dtype)
    padded = core.concat([values, core.add(rest, core.cast(as_tensor(pad_num, x), x.dtype))], 0)
    return padded, places


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """Returns every choice of one element from each vector; the last vector changes fastest.

    Args:
        *inputs: Vectors, k of them, of n, m, … elements.

    Returns:
        A tensor of shape [n·m·…, k].

    Raises:
        TypeError: If an input is not a tensor.
        ValueError: If an input is not a vector, or there is none.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cartesian_prod(ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [[1 3]
         [1 4]
         [2 3]
         [2 4]]
    """
    for x in inputs:
        if not isinstance(x, Tensor) or len(x.shape) != 1:
            fail(ValueError if isinstance(x, Tensor) else TypeError, f"expected vectors, got {getattr(x, 'shape', type(x).__name__)}", "ops.cartesian_prod")
    if not inputs:
        fail(ValueError, "expected at least one vector", "ops.cartesian_prod")
    return stack([ravel(x) for x in meshgrid(*inputs, indexing="ij")], 1)


_MOST_CHOICES = 2 ** 26  # the positions are computed before it is known whether the result fits the memory


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Returns the choices of r elements of a vector, in its order.

    Args:
        input (Tensor): A vector.
        r (int): The number of elements of a choice. Default: 2.
        with_replacement (bool): Whether an element may be chosen again. Default: False.

    Returns:
        A tensor of shape [n, r].

    Raises:
        ValueError: If `input` is not a vector, `r` is below 1 or there are too many choices.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.combinations(ms.Tensor([1, 2, 3])))
        [[1 2]
         [1 3]
         [2 3]]
    """
    if len(input.shape) != 1:
        fail(ValueError, f"expected a vector, got {input.shape}", "ops.combinations")
    n, r = input.shape[0], to_count(r, "r", "ops.combinations")
    count = math.comb(n + r - 1, r) if with_replacement and n else math.comb(n, r)
    if count * r > _MOST_CHOICES:
        fail(ValueError, f"{count} choices of {r} of {n} elements are more than {_MOST_CHOICES} elements", "ops.combinations")
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.fromiter(itertools.chain.from_iterable(pick(range(n), r)), np.int64, count * r)
    return core.reshape(core.gather(input, Tensor(places), 0), (count, r))


def searchsorted(sorted_sequence: Tensor, values: Tensor, *, out_int32: bool = False, right: bool = False, side: Optional[str] = None,
                 sorter: None = None) -> Tensor:
    """Returns the positions at which values would be inserted to keep a sequence sorted.

    Args:
        sorted_sequence (Tensor): The sequence, sorted along its last dimension.
        values (Tensor): The values.
        out_int32 (bool): Whether the result is int32 instead of int64. Default: False.
        right (bool): Whether equal elements lie before the position; False counts the elements below the value only.
            Default: False.
        side (str): "left" or "right", which takes precedence over `right`. Default: None.
        sorter (None): Must be None. Default: None.

    Returns:
        A tensor of values' shape.

    Raises:
        ValueError: If `sorter` is given or `side` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.searchsorted(ms.Tensor([1, 3, 5]), ms.Tensor([3, 4])))
        [1 2]
        >>> print(ms.ops.searchsorted(ms.Tensor([1, 3, 5]), ms.Tensor([3, 4]), right=True))
        [2 2]
    """
    if sorter is not None:
        fail(ValueError, "sorter is not supported", "ops.searchsorted", "sort the sequence first")
    right = right if side is None else check_choice("ops.searchsorted", "side", side, ("left", "right")) == "right"
    places = core.searchsorted(sorted_sequence, values, right)
    return core.cast(places, mstype.int32) if out_int32 else places


def bucketize(input: Tensor, boundaries: Sequence[float], *, right: bool = False) -> Tensor:
    """Counts the boundaries below each element.

    Args:
        input (Tensor): The tensor.
        boundaries (sequence of floats): The boundaries in ascending order.
        right (bool): Whether boundaries equal to the element count too. Default: False.

    Returns:
        An int32 tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bucketize(ms.Tensor([1, 3, 6]), [2, 3, 5]))
        [0 1 3]
    """
    if not is_float(input.dtype) and all(is_int(b) for b in boundaries):
        edges, input = Tensor(np.asarray(boundaries, np.int64)), core.cast(input, mstype.int64)
    else:
        edges = core.cast(Tensor(np.asarray(boundaries, np.float64)), input.dtype if is_float(input.dtype) else mstype.float64)
    return core.cast(core.searchsorted(edges, input, right), mstype.int32)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Returns whether x1[i, x2[i]] is among the k largest elements of row i.

    Args:
        x1 (Tensor): A matrix of scores.
        x2 (Tensor): A vector of column indices.
        k (int): The number of largest elements.

    Returns:
        A bool vector.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.intopk(ms.Tensor([[1.0, 3.0, 2.0]]), ms.Tensor([2]), 2))
        [ True]
    """
    own = core.gather_elements(x1, core.expand_dims(x2, -1), 1)
    above = core.sum(core.cast(core.greater(x1, own), mstype.int32), [1])
    return core.logical_and(core.less(above, k), core.isfinite(core.squeeze(own, 1)))


__all__ = exported(globals())
