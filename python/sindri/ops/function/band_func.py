"""Functions of sindri.ops over bands of matrices and blocks of space, and greedy decoding of labels.

The destination of every element is known beforehand, so the functions are gathers with constant indices.
"""
from __future__ import annotations

import math
from typing import Any, Sequence, Tuple

import numpy as np

from sindri._check import check_bool, check_choice, fail
from sindri.ops._util import Tensor, core, exported, to_int, to_ints

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(k: Any, where: str) -> Tuple[int, int]:
    """Returns the (lowest, highest) diagonal for an int, or for two ascending ints. Raises TypeError or ValueError."""
    ends = to_ints(k, "k", where)
    if len(ends) not in (1, 2) or ends[0] > ends[-1]:
        fail(ValueError, f"k: expected an int or two that ascend, got {k!r}", where)
    return ends[0], ends[-1]


def _places(rows: int, columns: int, band: Tuple[int, int], width: int, align: str, where: str) -> Tuple[np.ndarray, np.ndarray]:
    """Returns, for every element of a matrix [rows, columns], whether the band contains it, and its flat position in the
    band's diagonals.

    The diagonals have shape [highest - lowest + 1, width]; the position is 0 outside the band. `align` is the side on
    which shorter diagonals lie, those above the main diagonal first.
    """
    check_choice(where, "align", align, _ALIGNMENTS)
    low, high = band
    if not (-rows < low or low == 0) or not (high < columns or high == 0):
        fail(ValueError, f"k {band} is not within the diagonals ({-rows}, {columns}) of a matrix [{rows}, {columns}]", where)
    row, column = np.indices((rows, columns))
    d = column - row
    length = np.minimum(rows + np.minimum(d, 0), columns - np.maximum(d, 0))
    above, below = align.split("_")
    left = ((d >= 0) & (above == "LEFT")) | ((d <= 0) & (below == "LEFT"))
    along = np.minimum(row, column) + np.where(left, 0, width - length)
    inside = (d >= low) & (d <= high)
    return inside, np.where(inside, (high - d) * width + along, 0).astype(np.int64)


def _padding(value: Any, like: Tensor) -> Any:
    return core.cast(value, like.dtype) if isinstance(value, Tensor) else core.full((), float(value), like.dtype)


def _spread(diagonals: Tensor, rows: int, columns: int, band: Tuple[int, int], align: str, outside: Tensor, where: str) -> Tensor:
    """Returns [..., rows, columns] with the band's diagonals ([..., count, width], or [..., width] for one) and
    `outside` elsewhere.
    """
    count = band[1] - band[0] + 1
    lead = diagonals.shape[:-1] if count == 1 else diagonals.shape[:-2]
    width = diagonals.shape[-1]
    inside, places = _places(rows, columns, band, width, align, where)
    taken = core.gather(core.reshape(diagonals, lead + (count * width,)), Tensor(places.reshape(-1)), len(lead))
    return core.where(Tensor(inside), core.reshape(taken, lead + (rows, columns)), outside)


def matrix_diag(x: Tensor, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Creates matrices with given diagonals.

    x lies on the diagonal k, or the rows of x [..., count, width] lie on the diagonals k = (lowest, highest), the
    highest first. `k`, `num_rows` and `num_cols` are constants, also as tensors.

    Args:
        x (Tensor): The diagonals.
        k (int or sequence of ints): The diagonal or (lowest, highest). Default: 0.
        num_rows (int): The number of rows; -1 is the least that holds the diagonals. Default: -1.
        num_cols (int): The number of columns; -1 is the least that holds the diagonals. Default: -1.
        padding_value (number or Tensor): The value of the other elements. Default: 0.
        align (str): The side of x on which shorter diagonals lie, above and below the main one: "LEFT_RIGHT",
            "RIGHT_LEFT", "LEFT_LEFT" or "RIGHT_RIGHT". Default: "RIGHT_LEFT".

    Returns:
        The matrices.

    Raises:
        ValueError: If the sizes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_diag(ms.Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    where = "ops.matrix_diag"
    band = _band(k, where)
    if len(x.shape) < 1 + (band[0] != band[1]) or (band[0] != band[1] and x.shape[-2] != band[1] - band[0] + 1):
        fail(ValueError, f"x {tuple(x.shape)} does not hold the diagonals {band[0]} to {band[1]}", where, "give [..., count, width]")
    width = x.shape[-1]
    least = (width - min(band[1], 0), width + max(band[0], 0))
    rows, columns = to_int(num_rows, "num_rows", where), to_int(num_cols, "num_cols", where)
    if rows == -1 and columns == -1:
        rows = columns = max(least)
    rows, columns = least[0] if rows == -1 else rows, least[1] if columns == -1 else columns
    if rows < least[0] or columns < least[1] or (rows != least[0] and columns != least[1]):
        fail(ValueError, f"num_rows {rows} and num_cols {columns} do not fit diagonals {band} of {width} elements", where, f"the least are {least}")
    return _spread(x, rows, columns, band, align, _padding(padding_value, x), where)


def matrix_diag_part(x: Tensor, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Tensor:
    """Returns diagonals of matrices; see `matrix_diag`.

    Args:
        x (Tensor): The matrices.
        k (int or sequence of ints): The diagonal or (lowest, highest).
        padding_value (number or Tensor): The value that pads shorter diagonals.
        align (str): The side on which shorter diagonals lie, above and below the main one. Default: "RIGHT_LEFT".

    Returns:
        The diagonal, or the diagonals as [..., count, width], the highest first.

    Raises:
        ValueError: If a diagonal is out of range or `x` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_diag_part(ms.Tensor([[1, 2], [3, 4]]), (-1, 0), 0))
        [[1 4]
         [3 0]]
    """
    where = "ops.matrix_diag_part"
    band = _band(k, where)
    if len(x.shape) < 2:
        fail(ValueError, f"expected matrices, got {tuple(x.shape)}", where)
    rows, columns = x.shape[-2:]
    width = min(rows + min(band[1], 0), columns - max(band[0], 0))
    inside, places = _places(rows, columns, band, width, align, where)
    count = band[1] - band[0] + 1
    source, filled = np.zeros(count * width, np.int64), np.zeros(count * width, bool)
    source[places[inside]], filled[places[inside]] = np.arange(rows * columns).reshape(rows, columns)[inside], True
    lead = x.shape[:-2]
    taken = core.gather(core.reshape(x, lead + (rows * columns,)), Tensor(source), len(lead))
    out = core.where(Tensor(filled), taken, _padding(padding_value, x))
    return core.reshape(out, lead + ((width,) if count == 1 else (count, width)))


def matrix_set_diag(x: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Returns matrices with diagonals replaced; see `matrix_diag`.

    Args:
        x (Tensor): The matrices.
        diagonal (Tensor): The diagonal, or one row per diagonal.
        k (int or sequence of ints): The diagonal or (lowest, highest). Default: 0.
        align (str): The side on which shorter diagonals lie, above and below the main one. Default: "RIGHT_LEFT".

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_set_diag(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """
    where = "ops.matrix_set_diag"
    band = _band(k, where)
    if len(x.shape) < 2:
        fail(ValueError, f"expected matrices, got {tuple(x.shape)}", where)
    rows, columns = x.shape[-2:]
    width = min(rows + min(band[1], 0), columns - max(band[0], 0))
    wanted = x.shape[:-2] + ((width,) if band[0] == band[1] else (band[1] - band[0] + 1, width))
    if diagonal.shape != wanted:
        fail(ValueError, f"diagonal: expected {tuple(wanted)}, got {tuple(diagonal.shape)}", where)
    return _spread(core.cast(diagonal, x.dtype), rows, columns, band, align, x, where)


def _blocks(block: Any, pairs: Any, name: str, where: str) -> Tuple[Sequence[int], Sequence[Sequence[int]]]:
    """Returns the checked sizes of a block, and a pair of non-negative numbers for each."""
    sizes = to_ints(block, "block_shape", where)
    rows = pairs.asnumpy().tolist() if isinstance(pairs, Tensor) else pairs
    ends = [to_ints(p, name, where) for p in rows]
    if min(sizes, default=0) < 1 or any(len(p) != 2 or min(p) < 0 for p in ends):
        fail(ValueError, f"expected sizes of at least 1 and pairs of {name} that are not negative, got {block!r} and {pairs!r}", where)
    return sizes, ends


def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Moves the batch's blocks between the elements of the last m dimensions.

    [n, ..., w1, ..., wm] -> [n/(b1 ... bm), ..., w1·b1, ..., wm·bm], minus the crops.

    Args:
        input_x (Tensor): The tensor.
        block_shape (int or sequence of ints): The sizes b, or one for as many dimensions as `crops` has.
        crops (sequence): (before, after) for each dimension.

    Returns:
        The tensor without the blocks.

    Raises:
        ValueError: If the sizes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.batch_to_space_nd(ms.Tensor([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), 2, [(0, 0), (0, 0)]))
        [[[[1 2]
           [3 4]]]]
    """
    where = "ops.batch_to_space_nd"
    sizes, ends = _blocks(block_shape, crops, "crops", where)
    sizes = list(sizes) * len(ends) if len(sizes) == 1 else list(sizes)
    m, shape = len(sizes), input_x.shape
    if len(ends) != m or len(shape) <= m or shape[0] % math.prod(sizes):
        fail(ValueError, f"block_shape {sizes} and crops {ends} do not fit {tuple(shape)}", where)
    lead = len(shape) - m  # the batch and the dimensions that are not split
    x = core.reshape(input_x, (*sizes, shape[0] // math.prod(sizes), *shape[1:]))
    order = [*range(m, m + lead)] + [d for i in range(m) for d in (m + lead + i, i)]
    whole = [n * b for n, b in zip(shape[lead:], sizes)]
    x = core.reshape(core.transpose(x, order), (shape[0] // math.prod(sizes), *shape[1:lead], *whole))
    if any(a + b >= n for n, (a, b) in zip(whole, ends)):
        fail(ValueError, f"crops {ends} leave nothing of {whole}", where)
    return core.slice(x, [0] * lead + [a for a, _ in ends], [*x.shape[:lead], *(n - b for n, (_, b) in zip(whole, ends))])


def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Tensor:
    """Moves blocks of the last dimensions to the batch; the inverse of `batch_to_space_nd`.

    The dimensions are padded with zeros first; then every b-th element goes into a separate batch.

    Args:
        input_x (Tensor): The tensor.
        block_size (int or sequence of ints): The sizes b, or one for as many dimensions as `paddings` has.
        paddings (sequence): (before, after) for each dimension.

    Returns:
        The tensor with the blocks in its batch.

    Raises:
        ValueError: If the padded sizes are not multiples of `block_size`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.space_to_batch_nd(ms.Tensor([[[[1, 2], [3, 4]]]]), 2, [(0, 0), (0, 0)]).shape)
        (4, 1, 1, 1)
    """
    where = "ops.space_to_batch_nd"
    sizes, ends = _blocks(block_size, paddings, "paddings", where)
    sizes = list(sizes) * len(ends) if len(sizes) == 1 else list(sizes)
    m, shape = len(sizes), input_x.shape
    lead = len(shape) - m
    if len(ends) != m or lead < 1:
        fail(ValueError, f"block_size {sizes} and paddings {ends} do not fit {tuple(shape)}", where)
    x = core.pad(input_x, [0] * (2 * lead) + [v for p in ends for v in p]) if any(map(any, ends)) else input_x
    if any(n % b for n, b in zip(x.shape[lead:], sizes)):
        fail(ValueError, f"the padded sizes {tuple(x.shape[lead:])} are not multiples of block_size {tuple(sizes)}", where)
    split = core.reshape(x, (*shape[:lead], *(v for n, b in zip(x.shape[lead:], sizes) for v in (n // b, b))))
    order = [lead + 2 * i + 1 for i in range(m)] + [*range(lead)] + [lead + 2 * i for i in range(m)]
    out = core.transpose(split, order)
    return core.reshape(out, (math.prod(sizes) * shape[0], *shape[1:lead], *(n // b for n, b in zip(x.shape[lead:], sizes))))


def ctc_greedy_decoder(inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True) -> tuple:
    """Decodes labels greedily: the likeliest class of every step, without blanks (the last class).

    How many labels there are depends on values, so code that calls it runs eagerly.

    Args:
        inputs (Tensor): The scores, [time, batch, classes].
        sequence_length (Tensor): The number of steps of each sample, [batch].
        merge_repeated (bool): Whether repeated classes are merged. Default: True.

    Returns:
        (int64 indices [n, 2] of sample and position, int64 classes [n], int64 shape (batch, longest), negated sums
        [batch, 1] of the largest inputs).

    Raises:
        TypeError: If `merge_repeated` is not a bool.
        ValueError: If the shapes are incompatible or a length is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ctc_greedy_decoder(ms.Tensor([[[0.9, 0.1, 0.0]], [[0.0, 0.2, 0.8]]]), ms.Tensor([2]))[1])
        [0]
    """
    where = "ops.ctc_greedy_decoder"
    check_bool(where, "merge_repeated", merge_repeated)
    if len(inputs.shape) != 3 or sequence_length.shape != inputs.shape[1:2]:
        fail(ValueError, f"expected [time, batch, classes] and [batch] lengths, got {tuple(inputs.shape)} and {tuple(sequence_length.shape)}", where)
    time, batch, classes = inputs.shape
    lengths = sequence_length.asnumpy()
    if lengths.size and (lengths.min() < 0 or lengths.max() > time):
        fail(ValueError, f"sequence_length must be in [0, {time}], got {lengths.tolist()}", where)
    best = core.argmax(inputs, -1).asnumpy()
    steps = np.arange(time)[:, None] < lengths
    kept = steps & (best != classes - 1)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    rows = [best[kept[:, b], b] for b in range(batch)]
    places = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    largest = core.where(Tensor(steps), core.max(inputs, [2]), core.full((), 0.0, inputs.dtype))
    return (Tensor(np.array(places, np.int64).reshape(-1, 2)), Tensor(np.concatenate([*rows, np.zeros(0)]).astype(np.int64)),
            Tensor(np.array([batch, max(map(len, rows), default=0)], np.int64)), core.reshape(core.neg(core.sum(largest, [0])), (batch, 1)))


__all__ = exported(globals())
