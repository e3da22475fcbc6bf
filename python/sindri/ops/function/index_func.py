"""Functions of sindri.ops that read and write elements by index.

Indices are int32 or int64. If several updates name one position, additions are summed in index order, and of
replacements the last one stays.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import Parameter, Size, Tensor, as_tensor, core, exported, filled, is_float, perm_moving, to_axis, to_int, to_ints, to_number
from sindri.ops.function.math_func import real_div


def _indices(value: Any, where: str) -> Tensor:
    if not isinstance(value, Tensor):
        try:
            value = Tensor(np.asarray(value, np.int64))
        except OverflowError as e:
            raise ValueError(f"indices: a number does not fit int64: {value!r} | {where}") from e
    if is_float(value.dtype) or value.dtype is mstype.bool_:
        fail(TypeError, f"indices: expected integers, got {value.dtype}", where)
    return value if value.dtype in (mstype.int32, mstype.int64) else core.cast(value, mstype.int32)


def gather(input_params: Tensor, input_indices: Tensor, axis: int, batch_dims: int = 0) -> Tensor:
    """Gathers slices along an axis: the result has shape[:axis] + indices.shape + shape[axis+1:].

    Args:
        input_params (Tensor): The tensor.
        input_indices (Tensor): The indices.
        axis (int): The axis.
        batch_dims (int): The number of leading dimensions that both share and that are indexed together. Default: 0.

    Returns:
        The gathered slices.

    Raises:
        TypeError: If the indices are not integers.
        ValueError: If an index or `axis` is out of range, or `batch_dims` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gather(ms.Tensor([10, 20, 30]), ms.Tensor([2, 0]), 0))
        [30 10]
    """
    n = len(input_params.shape)
    a, indices = to_axis(to_int(axis, "axis", "ops.gather"), n, "ops.gather"), _indices(input_indices, "ops.gather")
    b = to_int(batch_dims, "batch_dims", "ops.gather")
    if b == 0:
        return core.gather(input_params, indices, a)
    if b < 0:
        b += len(indices.shape)
    if not 0 <= b <= min(a, len(indices.shape)) or input_params.shape[:b] != indices.shape[:b]:
        fail(ValueError, f"batch_dims {batch_dims} does not fit {input_params.shape}, indices {indices.shape} and axis {a}", "ops.gather")
    # The batch and the indexed dimension become one; the index includes the batch.
    x = core.transpose(input_params, perm_moving(n, [a], [b]))
    shape, size = x.shape, x.shape[b]
    batch = math.prod(shape[:b])
    number = core.reshape(core.arange(0, batch), shape[:b] + (1,) * (len(indices.shape) - b))
    rows = core.ravel_indices([number, indices], (batch, size), True, (0, a))
    out = core.gather(core.reshape(x, (batch * size,) + shape[b + 1:]), rows, 0)
    # The dimensions of indices precede those between the batch and the axis; the result has them after these.
    k = len(indices.shape)
    middle = list(range(k, k + a - b))
    return core.transpose(out, list(range(b)) + middle + list(range(b, k)) + list(range(k + a - b, len(out.shape))))


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Gathers elements along a dimension: out[i][j] = input[i][index[i][j]] for dim 1.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        index (Tensor): The indices, of input's rank.

    Returns:
        A tensor of index's shape.

    Raises:
        TypeError: If the indices are not integers.
        ValueError: If an index or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gather_elements(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([[0, 0], [1, 0]])))
        [[1 1]
         [4 3]]
    """
    return core.gather_elements(input, _indices(index, "ops.gather_elements"), to_axis(dim, len(input.shape), "ops.gather_elements"))


gather_d = gather_elements


def _row_numbers(shape: Sequence[int], indices: Tensor) -> Tensor:
    """Returns the row-major positions, in a tensor of this shape, of index vectors (the last dimension of `indices`).
    Raises ValueError for an index out of range.
    """
    return core.reshape(core.ravel_indices(core.split(indices, [1] * len(shape), -1), shape), indices.shape[:-1])


def _checked_rows(indices: Any, shape: Sequence[int], axis: int, where: str) -> Tensor:
    """Returns a dimension's indices with negative ones resolved from its end. Raises ValueError for one out of range."""
    return core.ravel_indices([_indices(indices, where)], shape[axis:axis + 1], True, (axis,))


def _nd(x_shape: tuple, indices: Any, where: str) -> tuple:
    """Returns (rows, row numbers): x as [rows, rest…], such that index vectors become row numbers."""
    indices = _indices(indices, where)
    k = indices.shape[-1] if indices.shape else 0
    if not 1 <= k <= len(x_shape):
        fail(ValueError, f"index vectors of {k} entries do not fit {x_shape}", where, "the last dimension of indices names leading dimensions")
    return (math.prod(x_shape[:k]),) + tuple(x_shape[k:]), _row_numbers(x_shape[:k], indices)


def gather_nd(input_x: Tensor, indices: Tensor) -> Tensor:
    """Gathers slices by index vectors: indices [.., k] give [..] + input_x.shape[k:]. Negative indices count from the
    end.

    Args:
        input_x (Tensor): The tensor.
        indices (Tensor): The index vectors.

    Returns:
        The gathered slices.

    Raises:
        TypeError: If the indices are not integers.
        ValueError: If an index is out of range or k does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gather_nd(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([[0, 1], [1, 0]])))
        [2 3]
    """
    rows, numbers = _nd(input_x.shape, indices, "ops.gather_nd")
    return core.gather(core.reshape(input_x, rows), numbers, 0)


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Gathers slices along an axis by a vector of indices.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis.
        index (Tensor): A vector of indices.

    Returns:
        The gathered slices.

    Raises:
        TypeError: If the indices are not integers.
        ValueError: If `index` is not a vector, or an index or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.index_select(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([1])))
        [[2]
         [4]]
    """
    index = _indices(index, "ops.index_select")
    if len(index.shape) != 1:
        fail(ValueError, f"index: expected a vector, got {index.shape}", "ops.index_select", "use ops.gather, which takes indices of any shape")
    return core.gather(input, index, to_axis(axis, len(input.shape), "ops.index_select"))


def take(input: Tensor, index: Tensor) -> Tensor:
    """Returns elements of the flat tensor.

    Args:
        input (Tensor): The tensor.
        index (Tensor): The positions, of any shape.

    Returns:
        A tensor of index's shape.

    Raises:
        TypeError: If the indices are not integers.
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.take(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([0, 3])))
        [1 4]
    """
    return core.gather(core.reshape(input, (-1,)), _indices(index, "ops.take"), 0)


def embedding_lookup(input_params: Tensor, input_indices: Tensor, offset: int = 0) -> Tensor:
    """Looks up rows `input_indices - offset` of a table; rows out of range are zeros.

    Args:
        input_params (Tensor): The table, [V, …].
        input_indices (Tensor): The row numbers.
        offset (int): The number of the table's first row. Default: 0.

    Returns:
        A tensor of shape input_indices.shape + […].

    Raises:
        TypeError: If the indices are not integers.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.EmbeddingLookup()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([5, 4, 0]), 4))
        [2. 1. 0.]
    """
    n, rows = input_params.shape[0], core.sub(_indices(input_indices, "ops.EmbeddingLookup"), int(to_number(offset)))
    there = core.logical_and(core.greater_equal(rows, 0), core.less(rows, n))
    out = core.gather(input_params, core.where(there, rows, 0), 0)
    return core.where(core.reshape(there, there.shape + (1,) * (len(out.shape) - len(there.shape))), out, core.full((), 0.0, out.dtype))


# --- segments ---------------------------------------------------------------------------------------------------------------------------


def _segments(x: Tensor, segment_ids: Any, where: str) -> tuple:
    """Returns x as [n, …] and its segment numbers as [n]."""
    ids = _indices(segment_ids, where)
    k = len(ids.shape)
    if x.shape[:k] != ids.shape:
        fail(ValueError, f"segment_ids {ids.shape} must be the first dimensions of {x.shape}", where)
    return core.reshape(x, (math.prod(ids.shape),) + x.shape[k:]), core.reshape(ids, (-1,))


def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
    """Sums the slices with the same segment number. Negative numbers are skipped.

    Args:
        input_x (Tensor): The tensor, whose leading dimensions are those of `segment_ids`.
        segment_ids (Tensor): The segment numbers.
        num_segments (int): The number of segments.

    Returns:
        A tensor of shape [num_segments, …]; empty segments are 0.

    Raises:
        ValueError: If the shapes are incompatible or a number is not below `num_segments`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unsorted_segment_sum(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [4. 2.]
    """
    x, ids = _segments(input_x, segment_ids, "ops.unsorted_segment_sum")
    counted = core.greater_equal(ids, 0)
    x = core.where(core.reshape(counted, counted.shape + (1,) * (len(x.shape) - 1)), x, core.full((), 0.0, x.dtype))
    start = core.full((to_int(num_segments, "num_segments", "ops.unsorted_segment_sum"),) + x.shape[1:], 0.0, x.dtype)
    return core.scatter_add(start, core.where(counted, ids, 0), x, 0)


_LIMITS = {mstype.uint8: (0, 255), mstype.int32: (-2 ** 31, 2 ** 31 - 1), mstype.int64: (-2 ** 63, 2 ** 63 - 1), mstype.float16: (-65504.0, 65504.0),
           mstype.bfloat16: (-3.3895313892515355e38, 3.3895313892515355e38), mstype.float32: (-3.4028234663852886e38, 3.4028234663852886e38),
           mstype.float64: (-1.7976931348623157e308, 1.7976931348623157e308)}


def _limit(dtype: Any, sign: int, finite: bool) -> Tensor:
    """Returns the type's smallest (sign -1) or largest value: an infinity if the type has one, unless `finite` is True."""
    return filled((), sign * math.inf if is_float(dtype) and not finite else _LIMITS[dtype][sign > 0], dtype)


def _segment_reduce(x: Tensor, ids: Tensor, count: int, reduce: Callable, nothing: Tensor) -> tuple:
    """Returns (slices of x reduced by segment, whether there are any: [count, 1, …]) through a mask of [count, n, …]
    elements.

    The mask suits any operation, but is expensive for many segments. `nothing` must be neutral in the reduction.
    Negative numbers are skipped; numbers from count on raise ValueError, as for the sums.
    """
    counted = core.greater_equal(ids, 0)
    ids = core.where(counted, core.gather(core.arange(0, count), core.where(counted, ids, 0), 0), -1)
    mask = core.equal(core.reshape(core.arange(0, count), (count, 1)), core.reshape(core.cast(ids, mstype.int64), (1, -1)))
    some = core.reshape(core.any(mask, [1]), (count,) + (1,) * (len(x.shape) - 1))
    mask = core.reshape(mask, mask.shape + (1,) * (len(x.shape) - 1))
    if not x.shape[0]:  # nothing to reduce
        return core.broadcast_to(nothing, (count,) + x.shape[1:]), some
    return reduce(core.where(mask, core.expand_dims(x, 0), nothing), [1]), some


def _segment_extreme(x: Tensor, segment_ids: Tensor, num_segments: int, reduce: Callable, sign: int, where: str) -> Tensor:
    rows, ids = _segments(x, segment_ids, where)
    out, some = _segment_reduce(rows, ids, to_int(num_segments, "num_segments", where), reduce, _limit(x.dtype, sign, False))
    return core.where(some, out, _limit(x.dtype, sign, True))


def unsorted_segment_max(x: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
    """Returns the largest of the slices with the same segment number.

    Args:
        x (Tensor): The tensor, whose leading dimensions are those of `segment_ids`.
        segment_ids (Tensor): The segment numbers; negative ones are skipped.
        num_segments (int): The number of segments.

    Returns:
        A tensor of shape [num_segments, …]; empty segments hold the type's smallest number.

    Raises:
        ValueError: If the shapes are incompatible or a number is not below `num_segments`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unsorted_segment_max(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [3. 2.]
    """
    return _segment_extreme(x, segment_ids, num_segments, core.max, -1, "ops.unsorted_segment_max")


def unsorted_segment_min(x: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
    """Returns the smallest of the slices with the same segment number.

    Args:
        x (Tensor): The tensor, whose leading dimensions are those of `segment_ids`.
        segment_ids (Tensor): The segment numbers; negative ones are skipped.
        num_segments (int): The number of segments.

    Returns:
        A tensor of shape [num_segments, …]; empty segments hold the type's largest number.

    Raises:
        ValueError: If the shapes are incompatible or a number is not below `num_segments`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unsorted_segment_min(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [1. 2.]
    """
    return _segment_extreme(x, segment_ids, num_segments, core.min, 1, "ops.unsorted_segment_min")


def unsorted_segment_prod(x: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
    """Multiplies the slices with the same segment number.

    Args:
        x (Tensor): The tensor, whose leading dimensions are those of `segment_ids`.
        segment_ids (Tensor): The segment numbers; negative ones are skipped.
        num_segments (int): The number of segments.

    Returns:
        A tensor of shape [num_segments, …]; empty segments are 1.

    Raises:
        ValueError: If the shapes are incompatible or a number is not below `num_segments`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unsorted_segment_prod(ms.Tensor([2.0, 5.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [6. 5.]
    """
    rows, ids = _segments(x, segment_ids, "ops.unsorted_segment_prod")
    return _segment_reduce(rows, ids, to_int(num_segments, "num_segments", "ops.unsorted_segment_prod"), core.prod, filled((), 1, x.dtype))[0]


# --- scatter ----------------------------------------------------------------------------------------------------------------------------


def _last_writer(rows: Tensor, count: int) -> Tensor:
    """Returns, for each of `count` rows, 1 + the position in `rows` of its last writer, or 0 if nothing writes it.

    Sorting (row, position) pairs puts the writers of a row next to each other, the last one at the end.
    """
    n = rows.shape[0]
    keys = core.topk(core.add(core.mul(core.cast(rows, mstype.int64), n), core.arange(0, n)), n, 0, False)[0]
    row, position = core.floor_div(keys, n), core.mod(keys, n)
    following = core.concat([core.slice(row, [1], [n]), core.full((1,), -1, mstype.int64)], 0)
    mine = core.where(core.not_equal(row, following), core.add(position, 1), 0)
    return core.scatter_add(core.full((count,), 0, mstype.int64), row, mine, 0)


def _replace_rows(x: Tensor, rows: Tensor, updates: Tensor) -> Tensor:
    if rows.shape[0] == 0:
        return x
    writer = _last_writer(rows, x.shape[0])
    written = core.reshape(core.greater(writer, 0), (x.shape[0],) + (1,) * (len(x.shape) - 1))
    return core.where(written, core.gather(updates, core.maximum(core.sub(writer, 1), 0), 0), x)


def _scatter_rows(x: Tensor, rows: Tensor, updates: Tensor, how: str) -> Tensor:
    """Combines updates (rows.shape + x.shape[1:]) into the rows, in [0, n), of x [n, …]."""
    n, rest = x.shape[0], x.shape[1:]
    updates = core.reshape(core.broadcast_to(core.cast(updates, x.dtype), rows.shape + rest), (math.prod(rows.shape),) + rest)
    rows = core.reshape(rows, (-1,))
    if how == "add":
        return core.scatter_add(x, rows, updates, 0)
    if how == "sub":
        return core.scatter_add(x, rows, core.neg(updates), 0)
    if how == "update":
        return _replace_rows(x, rows, updates)
    # Elements that no index names are unchanged, whatever the neutral value: they are selected, not combined.
    if how in ("mul", "div"):
        factor, named = _segment_reduce(updates, rows, n, core.prod, filled((), 1, x.dtype))
        return core.where(named, core.cast(core.mul(x, factor) if how == "mul" else real_div(x, factor), x.dtype), x)
    reduce, combine, sign = (core.max, core.maximum, -1) if how == "max" else (core.min, core.minimum, 1)
    extreme, named = _segment_reduce(updates, rows, n, reduce, _limit(x.dtype, sign, False))
    return core.where(named, combine(x, extreme), x)


# By kind of update: a summary, and the result of the example, [1, 2, 4] with updates 2 and 2 at 0 and 2.
_HOWS = {"update": ("Replaces elements by updates", "[2. 2. 2.]"), "add": ("Adds updates to elements", "[3. 2. 6.]"),
         "sub": ("Subtracts updates from elements", "[-1.  2.  2.]"), "mul": ("Multiplies elements by updates", "[2. 2. 8.]"),
         "div": ("Divides elements by updates", "[0.5 2.  2. ]"), "max": ("Raises elements to the larger of themselves and updates", "[2. 2. 4.]"),
         "min": ("Lowers elements to the smaller of themselves and updates", "[1. 2. 2.]")}


def _describe(function: Callable, family: str, how: str, target: str, more: str = "") -> Callable:
    """Gives a scatter function its name and documentation. target: the type of input_x; more: the documentation of further arguments."""
    (summary, result), whole, in_place = _HOWS[how], f"{family}_{how}", target == "Parameter"
    vectors = family != "scatter"
    given = "ms.Parameter(ms.Tensor([1.0, 2.0, 4.0]))" if in_place else "ms.Tensor([1.0, 2.0, 4.0])"
    places = "ms.Tensor([[0], [2]])" if vectors else "ms.Tensor([0, 2])"
    function.__name__ = function.__qualname__ = whole
    function.__doc__ = f"""{summary} at {"the positions that index vectors name" if vectors else "rows of the first dimension"}.

    {"The Parameter is changed in place, in program order." if in_place else "The input is unchanged."}

    Args:
        input_x ({target}): The tensor.
        indices (Tensor): {"The index vectors, [.., k]" if vectors else "The row numbers"}; int32 or int64.
        updates (Tensor): The updates, of shape {"[..] + input_x.shape[k:]" if vectors else "indices.shape + input_x.shape[1:]"}.{more}

    Returns:
        {"`input_x`" if in_place else "A tensor of input_x's shape and type"}.

    Raises:
        TypeError: If the indices are not integers.
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.{whole}({given}, {places}, ms.Tensor([2.0, 2.0])){".asnumpy()" if in_place else ""})
        {result}
    """
    return function




def _with_type(x: Tensor, how: str, run: Callable) -> Tensor:
    """Runs a bool update through int32, because bools cannot be added."""
    return core.cast(run(core.cast(x, mstype.int32)), mstype.bool_) if x.dtype is mstype.bool_ and how == "update" else run(x)


def _tensor_scatter(how: str) -> Callable:
    def scatter_(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        where = f"ops.tensor_scatter_{how}"
        rows, numbers = _nd(input_x.shape, indices, where)
        return _with_type(input_x, how, lambda x: core.reshape(_scatter_rows(core.reshape(x, rows), numbers, updates, how), input_x.shape))
    return _describe(scatter_, "tensor_scatter", how, "Tensor")


def _into(target: Any, value: Tensor, where: str) -> Tensor:
    """Writes the value into a Parameter, in program order, and returns it; a plain tensor is given the value in place."""
    if isinstance(target, Parameter):
        target.assign(value)
        return target
    if not isinstance(target, Tensor):
        fail(TypeError, f"expected a Parameter, got {type(target).__name__}", where)
    target._replace(value)
    return target


def _scatter(how: str) -> Callable:
    def scatter_(input_x: Parameter, indices: Tensor, updates: Tensor) -> Parameter:
        where = f"ops.scatter_{how}"
        rows = _checked_rows(indices, input_x.shape, 0, where)
        return _into(input_x, _with_type(input_x, how, lambda x: _scatter_rows(x, rows, updates, how)), where)
    return _describe(scatter_, "scatter", how, "Parameter")


def _scatter_nd(how: str) -> Callable:
    def scatter_(input_x: Parameter, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Parameter:
        return _into(input_x, _TENSOR_SCATTER[how](input_x, indices, updates), f"ops.scatter_nd_{how}")
    return _describe(scatter_, "scatter_nd", how, "Parameter", "\n        use_locking (bool): No effect. Default: False.")


_TENSOR_SCATTER = {how: _tensor_scatter(how) for how in _HOWS}
(tensor_scatter_update, tensor_scatter_add, tensor_scatter_sub, tensor_scatter_mul, tensor_scatter_div, tensor_scatter_max,
 tensor_scatter_min) = _TENSOR_SCATTER.values()
scatter_update, scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_max, scatter_min = (_scatter(how) for how in _HOWS)
(scatter_nd_update, scatter_nd_add, scatter_nd_sub, scatter_nd_mul, scatter_nd_div, scatter_nd_max,
 scatter_nd_min) = (_scatter_nd(how) for how in _HOWS)


def scatter_nd(indices: Tensor, updates: Tensor, shape: Size) -> Tensor:
    """Adds updates to zeros of a shape at the positions that index vectors name.

    Args:
        indices (Tensor): The index vectors, [.., k].
        updates (Tensor): The updates, of shape [..] + shape[k:].
        shape (int, sequence of ints or Tensor): The shape of the result.

    Returns:
        A tensor of that shape in updates' type.

    Raises:
        ValueError: If an index is out of range or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scatter_nd(ms.Tensor([[1], [3], [1]]), ms.Tensor([1.0, 2.0, 3.0]), (5,)))
        [0. 4. 0. 2. 0.]
    """
    return tensor_scatter_add(core.full(to_ints(shape, "shape", "ops.scatter_nd"), 0.0, updates.dtype), indices, updates)


def tensor_scatter_elements(input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none") -> Tensor:
    """Writes updates at element indices: updates[i][j] to [indices[i][j]][j] for axis 0. The input is unchanged.

    Args:
        input_x (Tensor): The tensor.
        indices (Tensor): The indices, of input_x's rank.
        updates (Tensor): The updates, of indices' shape.
        axis (int): The axis that `indices` index. Default: 0.
        reduction (str): "none" to replace, "add" or "mul" to combine. Default: "none".

    Returns:
        A tensor of input_x's shape.

    Raises:
        ValueError: If the shapes are incompatible, `reduction` is another string, or an index or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tensor_scatter_elements(ms.Tensor([1, 2, 3]), ms.Tensor([0, 2]), ms.Tensor([10, 30])))
        [10  2 30]
    """
    how = {"none": "update", "add": "add", "mul": "mul"}[check_choice("ops.tensor_scatter_elements", "reduction", reduction, ("none", "add", "mul"))]
    indices, a = _indices(indices, "ops.tensor_scatter_elements"), to_axis(axis, len(input_x.shape), "ops.tensor_scatter_elements")
    if len(indices.shape) != len(input_x.shape) or indices.shape != updates.shape:
        fail(ValueError, f"indices {indices.shape} and updates {updates.shape} must have one shape, of the rank of {input_x.shape}",
             "ops.tensor_scatter_elements")
    places = [indices if d == a else core.reshape(core.arange(0, n), [-1 if e == d else 1 for e in range(len(indices.shape))])
              for d, n in enumerate(indices.shape)]
    position = core.reshape(core.ravel_indices(places, input_x.shape), (-1,))
    return _with_type(input_x, how, lambda x: core.reshape(_scatter_rows(core.reshape(x, (-1,)), position, core.reshape(updates, (-1,)), how),
                                                           input_x.shape))


def scatter(input: Tensor, axis: int, index: Tensor, src: Union[Tensor, int, float]) -> Tensor:
    """Writes src[i][j] to [index[i][j]][j] for axis 0. The input is unchanged.

    Args:
        input (Tensor): The tensor.
        axis (int): The axis that `index` indexes.
        index (Tensor): The indices, of input's rank.
        src (Tensor or number): A tensor of at least index's shape, or a number.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If the shapes are incompatible, or an index or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scatter(ms.Tensor([1, 2, 3]), 0, ms.Tensor([0, 2]), ms.Tensor([10, 30])))
        [10  2 30]
    """
    if not isinstance(src, Tensor):
        src = filled(index.shape, src, input.dtype)
    elif src.shape != index.shape:
        src = core.slice(src, [0] * len(index.shape), list(index.shape))
    return tensor_scatter_elements(input, index, src, axis)


def _along(x: Tensor, indices: Any, updates: Any, axis: int, how: str, where: str) -> Tensor:
    """Combines slices of x along axis with updates."""
    a = to_axis(axis, len(x.shape), where)
    perm = perm_moving(len(x.shape), [a], [0])
    updates = as_tensor(updates, x)
    moved = core.transpose(updates, perm) if len(updates.shape) == len(x.shape) else updates
    out = _scatter_rows(core.transpose(x, perm), _checked_rows(indices, x.shape, a, where), moved, how)
    return core.transpose(out, perm_moving(len(x.shape), [0], [a]))


def index_add(x: Union[Parameter, Tensor], indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> Tensor:
    """Adds slices of y to x at indices along an axis. A Parameter is changed in place.

    Args:
        x (Parameter or Tensor): The tensor.
        indices (Tensor): The indices; they are always checked.
        y (Tensor): The slices.
        axis (int): The axis.
        use_lock (bool): No effect. Default: True.
        check_index_bound (bool): No effect. Default: True.

    Returns:
        `x` if it is a Parameter, else a new tensor.

    Raises:
        ValueError: If an index or `axis` is out of range or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.index_add(ms.Tensor([1, 2, 3]), ms.Tensor([0, 2]), ms.Tensor([10, 10]), 0))
        [11  2 13]
    """
    out = _along(x, indices, y, axis, "add", "ops.index_add")
    return _into(x, out, "ops.index_add") if isinstance(x, Parameter) else out


def index_fill(x: Tensor, axis: int, index: Tensor, value: Union[Tensor, int, float]) -> Tensor:
    """Fills the slices at an index along an axis with a value. The input is unchanged.

    Args:
        x (Tensor): The tensor.
        axis (int): The axis.
        index (Tensor): The indices.
        value (Tensor or number): The value.

    Returns:
        A tensor of x's shape and type.

    Raises:
        ValueError: If an index or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.index_fill(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([0]), 9))
        [[9 2]
         [9 4]]
    """
    a = to_axis(axis, len(x.shape), "ops.index_fill")
    index = core.reshape(_checked_rows(index, x.shape, a, "ops.index_fill"), (-1,))
    hit = core.any(core.equal(core.reshape(core.arange(0, x.shape[a]), (-1, 1)), core.reshape(index, (1, -1))), [1])
    value = core.cast(value, x.dtype) if isinstance(value, Tensor) else filled((), value, x.dtype)
    return core.where(core.reshape(hit, [-1 if d == a else 1 for d in range(len(x.shape))]), value, x)


def inplace_update(x: Tensor, v: Tensor, indices: Union[int, Sequence[int]]) -> Tensor:
    """Returns x with v in the rows `indices`. x itself is unchanged.

    Args:
        x (Tensor): The tensor.
        v (Tensor): The rows.
        indices (int or sequence of ints): The row numbers.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.inplace_update(ms.Tensor([1, 2, 3]), ms.Tensor([9]), 1))
        [1 9 3]
    """
    return _along(x, to_ints(indices, "indices", "ops.inplace_update"), v, 0, "update", "ops.inplace_update")


def inplace_add(x: Tensor, v: Tensor, indices: Union[int, Sequence[int]]) -> Tensor:
    """Returns x with v added to the rows `indices`. x itself is unchanged.

    Args:
        x (Tensor): The tensor.
        v (Tensor): The rows.
        indices (int or sequence of ints): The row numbers.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.inplace_add(ms.Tensor([1, 2, 3]), ms.Tensor([9]), 1))
        [ 1 11  3]
    """
    return _along(x, to_ints(indices, "indices", "ops.inplace_add"), v, 0, "add", "ops.inplace_add")


def inplace_sub(x: Tensor, v: Tensor, indices: Union[int, Sequence[int]]) -> Tensor:
    """Returns x with v subtracted from the rows `indices`. x itself is unchanged.

    Args:
        x (Tensor): The tensor.
        v (Tensor): The rows.
        indices (int or sequence of ints): The row numbers.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.inplace_sub(ms.Tensor([1, 2, 3]), ms.Tensor([9]), 1))
        [ 1 -7  3]
    """
    return _along(x, to_ints(indices, "indices", "ops.inplace_sub"), v, 0, "sub", "ops.inplace_sub")


def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """Returns `input` with `src` as slice `index` of a dimension.

    Args:
        input (Tensor): The tensor.
        src (Tensor): The slice, of input's shape without the dimension.
        axis (int): The dimension.
        index (int): The number of the slice.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `index` or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.select_scatter(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([8, 9]), 0, 1))
        [[1 2]
         [8 9]]
    """
    a = to_axis(axis, len(input.shape), "ops.select_scatter")
    at = to_axis(index, input.shape[a], "ops.select_scatter")
    here = core.reshape(core.equal(core.arange(0, input.shape[a]), at), [-1 if d == a else 1 for d in range(len(input.shape))])
    return core.where(here, core.cast(core.expand_dims(src, a), input.dtype), input)


def _with_slices(x: Tensor, src: Tensor, places: np.ndarray, axis: int) -> Tensor:
    """Returns x with the k-th slice of src along axis in place of slice places[k]."""
    order = np.arange(x.shape[axis])
    order[places] = x.shape[axis] + np.arange(places.size)
    return core.gather(core.concat([x, core.cast(src, x.dtype)], axis), Tensor(order.astype(np.int64)), axis)


def slice_scatter(input: Tensor, src: Tensor, axis: int = 0, start: Optional[int] = None, end: Optional[int] = None, step: int = 1) -> Tensor:
    """Returns `input` with `src` in place of the slice start:end:step of a dimension.

    Args:
        input (Tensor): The tensor.
        src (Tensor): The values, of the slice's shape.
        axis (int): The dimension. Default: 0.
        start (int): The start of the slice; None means 0. Default: None.
        end (int): The exclusive end of the slice; None means the dimension's size. Default: None.
        step (int): The step, at least 1. Default: 1.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `src` does not have the slice's shape or `step` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.slice_scatter(ms.Tensor([1, 2, 3, 4]), ms.Tensor([8, 9]), 0, 1, 3))
        [1 8 9 4]
    """
    where = "ops.slice_scatter"
    a = to_axis(axis, len(input.shape), where)
    if to_int(step, "step", where) < 1:
        fail(ValueError, f"step: expected at least 1, got {step}", where)
    places = np.arange(input.shape[a])[start:end:step]
    wanted = input.shape[:a] + (places.size,) + input.shape[a + 1:]
    if src.shape != wanted:
        fail(ValueError, f"src: expected {wanted}, got {src.shape}", where)
    return _with_slices(input, src, places, a)


def _diagonal_places(rows: int, columns: int, offset: int) -> np.ndarray:
    """Returns the positions of the diagonal in a flat matrix."""
    row, column = max(-offset, 0), max(offset, 0)
    count = np.arange(max(0, min(rows - row, columns - column)))
    return (row + count) * columns + column + count


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns `input` with `src` on a diagonal of two dimensions.

    Args:
        input (Tensor): A tensor of at least 2 dimensions.
        src (Tensor): The values; the diagonal is its last dimension.
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        dim1 (int): The dimension of the rows. Default: 0.
        dim2 (int): The dimension of the columns. Default: 1.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `src` does not have the diagonal's shape, or the dimensions are equal or out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.diagonal_scatter(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """
    n = len(input.shape)
    a, b = to_axis(dim1, n, "ops.diagonal_scatter"), to_axis(dim2, n, "ops.diagonal_scatter")
    if a == b:
        fail(ValueError, f"dim1 and dim2 are both {a}", "ops.diagonal_scatter")
    perm = [d for d in range(n) if d not in (a, b)] + [a, b]
    x = core.transpose(input, perm)
    places = _diagonal_places(x.shape[-2], x.shape[-1], offset)
    if src.shape != x.shape[:-2] + (places.size,):
        fail(ValueError, f"src: expected {x.shape[:-2] + (places.size,)}, got {src.shape}", "ops.diagonal_scatter")
    out = _with_slices(core.reshape(x, x.shape[:-2] + (x.shape[-2] * x.shape[-1],)), src, places, n - 2)
    return core.transpose(core.reshape(out, x.shape), [perm.index(d) for d in range(n)])


def fill_diagonal(input: Tensor, fill_value: Union[int, float], wrap: bool = False) -> Tensor:
    """Returns the input with a value where all indices are equal.

    Args:
        input (Tensor): A matrix, or a tensor of more than 2 dimensions of one size.
        fill_value (number): The value.
        wrap (bool): Whether, in a matrix with more rows than columns, the diagonal continues after each square, one
            row apart. Default: False.

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `input` has fewer than 2 dimensions, or more than 2 of different sizes.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).fill_diagonal(9))
        [[9 2]
         [3 9]]
    """
    shape = input.shape
    if len(shape) < 2 or len(shape) > 2 and len(set(shape)) > 1:
        fail(ValueError, f"expected a matrix, or equal dimensions, got {shape}", "Tensor.fill_diagonal")
    step = shape[-1] + 1 if len(shape) == 2 else sum(shape[0] ** k for k in range(len(shape)))
    end = shape[-1] ** 2 if len(shape) == 2 and not wrap else None
    here = np.zeros(math.prod(shape), bool)
    here[:end:step] = True
    return core.where(Tensor(here.reshape(shape)), filled((), fill_value, input.dtype), input)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Returns the input with the elements of `source`, in order, where `mask` is True.

    Args:
        input (Tensor): The tensor.
        mask (Tensor): A bool tensor, which broadcasts.
        source (Tensor): The values.

    Returns:
        A tensor of input's shape and type.

    Raises:
        TypeError: If `mask` is not bool or the types of `input` and `source` differ.
        ValueError: If `source` has too few elements; it is not checked in compiled code.

    Examples:
        >>> import sindri as ms
        >>> print(ms.Tensor([1, 2, 3]).masked_scatter(ms.Tensor([True, False, True]), ms.Tensor([8, 9])))
        [8 2 9]
    """
    if mask.dtype is not mstype.bool_:
        fail(TypeError, f"mask: expected bools, got {mask.dtype}", "Tensor.masked_scatter")
    if source.dtype is not input.dtype:
        fail(TypeError, f"source: expected {input.dtype}, got {source.dtype}", "Tensor.masked_scatter")
    here = core.broadcast_to(mask, input.shape)
    turn = core.cumsum(core.cast(core.reshape(here, (-1,)), mstype.int64), 0)
    if not turn.is_symbolic and turn.shape[0] and int(turn[-1]) > source.size:
        fail(ValueError, f"the mask asks for {int(turn[-1])} elements, there are {source.size}", "Tensor.masked_scatter")
    if not source.size:
        return input
    place = core.minimum(core.maximum(core.sub(turn, 1), 0), source.size - 1)
    return core.where(here, core.reshape(core.gather(core.reshape(source, (-1,)), place, 0), input.shape), input)


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """Reverses the first seq_lengths[b] elements along seq_dim, for each b along batch_dim.

    Args:
        x (Tensor): The tensor.
        seq_lengths (Tensor): The number of elements to reverse in each sample.
        seq_dim (int): The dimension of the sequence. Default: 0.
        batch_dim (int): The dimension of the samples. Default: 0.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reverse_sequence(ms.Tensor([[1, 2, 3], [4, 5, 6]]), ms.Tensor([2, 3]), 1))
        [[2 1 3]
         [6 5 4]]
    """
    n = len(x.shape)
    s, b = to_axis(seq_dim, n, "ops.reverse_sequence"), to_axis(batch_dim, n, "ops.reverse_sequence")
    step = core.reshape(core.arange(0, x.shape[s]), [-1 if d == s else 1 for d in range(n)])
    length = core.reshape(core.cast(seq_lengths, mstype.int64), [-1 if d == b else 1 for d in range(n)])
    source = core.where(core.less(step, length), core.sub(core.sub(length, 1), step), step)
    return core.gather_elements(x, core.broadcast_to(source, x.shape), s)


def invert_permutation(input_x: Union[Sequence[int], Tensor]) -> tuple:
    """Returns the inverse permutation: out[input_x[i]] = i.

    Args:
        input_x (sequence of ints or Tensor): A permutation of 0 … n - 1.

    Returns:
        A tuple of ints.

    Raises:
        ValueError: If `input_x` is not a permutation.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.InvertPermutation()((2, 0, 1)))
        (1, 2, 0)
    """
    perm = to_ints(input_x, "input_x", "ops.InvertPermutation")
    if sorted(perm) != list(range(len(perm))):
        fail(ValueError, f"{perm} is not a permutation of 0 to {len(perm) - 1}", "ops.InvertPermutation")
    return tuple(int(i) for i in np.argsort(perm))


def unravel_index(indices: Tensor, dims: Union[Sequence[int], Tensor]) -> Tensor:
    """Returns the index vectors of row-major positions in a tensor of shape dims.

    Args:
        indices (Tensor): The positions.
        dims (sequence of ints or Tensor): The shape.

    Returns:
        A tensor of shape [rank, …].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.UnravelIndex()(ms.Tensor([1, 5]), (2, 3)))
        [[0 1]
         [1 2]]
    """
    shape, rest, out = to_ints(dims, "dims", "ops.UnravelIndex"), indices, []
    for size in reversed(shape):
        out.append(core.mod(rest, size))
        rest = core.floor_div(rest, size)
    return core.stack(out[::-1], 0)


__all__ = exported(globals())
