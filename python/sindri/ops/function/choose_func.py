"""Functions of sindri.ops that choose elements by a condition, by order or by which of them are equal."""
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
    """Elements of input where condition holds (or is not 0), else of other; all three broadcast."""
    return core.where(_condition(condition), input, other)


def select(condition: Tensor, input: Union[Tensor, int, float], other: Union[Tensor, int, float]) -> Tensor:
    """where for a condition of bool. Raises TypeError for another type."""
    if not isinstance(condition, Tensor) or condition.dtype is not mstype.bool_:
        fail(TypeError, f"condition: expected a bool tensor, got {getattr(condition, 'dtype', type(condition).__name__)}", "ops.select",
             "compare first")
    return core.where(condition, input, other)


def masked_fill(input_x: Tensor, mask: Tensor, value: Union[Tensor, int, float]) -> Tensor:
    """input_x with value where mask (of bools) holds, in input_x's type. Raises TypeError for a mask of another type, and for a fraction among integers, which
    it would lose."""
    mask = _mask(mask, "ops.masked_fill")
    if not isinstance(value, Tensor) and not is_float(input_x.dtype) and not float(value).is_integer():
        fail(TypeError, f"value: {value} is no whole number, the tensor is of {input_x.dtype}", "ops.masked_fill", "cast the tensor to float32 first")
    value = core.cast(value, input_x.dtype) if isinstance(value, Tensor) else filled((), value, input_x.dtype)
    return core.where(mask, value, input_x)


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
    places = np.flatnonzero(np.broadcast_to(_mask(mask, "ops.masked_select").asnumpy(), dims))
    return core.gather(ravel(core.broadcast_to(input, dims)), Tensor(places.astype(np.int64)), 0)


def unique(input: Tensor) -> tuple:
    """(the different elements in the order of their first appearance, the place of each element among them: int64 for int64 elements, else int32). Runs
    eagerly."""
    values, first, inverse = np.unique(input.asnumpy().reshape(-1), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Tensor(values[order]), Tensor(place[inverse.reshape(-1)].astype(np.int64 if input.dtype is mstype.int64 else np.int32).reshape(input.shape))


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


def unique_with_pad(x: Tensor, pad_num: Union[Tensor, int, float]) -> tuple:
    """As unique of a vector, with pad_num behind the different elements up to x's size; places are int64 for an int64 vector. Raises ValueError for
    another rank."""
    if len(x.shape) != 1:
        fail(ValueError, f"expected a vector, got {x.shape}", "ops.unique_with_pad")
    values, places = unique(x)
    rest = core.full((x.shape[0] - values.shape[0],), 0.0, x.dtype)
    padded = core.concat([values, core.add(rest, core.cast(as_tensor(pad_num, x), x.dtype))], 0)
    return padded, places


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """[n·m·…, k]: every choice of one element from each of k vectors, the last one changing fastest. Raises TypeError, ValueError."""
    for x in inputs:
        if not isinstance(x, Tensor) or len(x.shape) != 1:
            fail(ValueError if isinstance(x, Tensor) else TypeError, f"expected vectors, got {getattr(x, 'shape', type(x).__name__)}", "ops.cartesian_prod")
    if not inputs:
        fail(ValueError, "expected at least one vector", "ops.cartesian_prod")
    return stack([ravel(x) for x in meshgrid(*inputs, indexing="ij")], 1)


_MOST_CHOICES = 2 ** 26  # their places are made before it is known whether the result fits the memory


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """[n, r]: the choices of r elements of a vector, in its order; with_replacement an element may be taken again. Raises ValueError for another
    rank, r below 1 and too many choices."""
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
    """Place along the last dimension of sorted_sequence before which each value belongs: the number of elements below it (right: not above it)."""
    if sorter is not None:
        fail(ValueError, "sorter is not supported", "ops.searchsorted", "sort the sequence first")
    right = right if side is None else check_choice("ops.searchsorted", "side", side, ("left", "right")) == "right"
    places = core.searchsorted(sorted_sequence, values, right)
    return core.cast(places, mstype.int32) if out_int32 else places


def bucketize(input: Tensor, boundaries: Sequence[float], *, right: bool = False) -> Tensor:
    """Number of the boundaries (ascending) that lie below each element (right: at or below), int32."""
    if not is_float(input.dtype) and all(is_int(b) for b in boundaries):
        edges, input = Tensor(np.asarray(boundaries, np.int64)), core.cast(input, mstype.int64)
    else:
        edges = core.cast(Tensor(np.asarray(boundaries, np.float64)), input.dtype if is_float(input.dtype) else mstype.float64)
    return core.cast(core.searchsorted(edges, input, right), mstype.int32)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether x1[i, x2[i]] is among the k largest of row i."""
    own = core.gather_elements(x1, core.expand_dims(x2, -1), 1)
    above = core.sum(core.cast(core.greater(x1, own), mstype.int32), [1])
    return core.logical_and(core.less(above, k), core.isfinite(core.squeeze(own, 1)))


__all__ = exported(globals())
