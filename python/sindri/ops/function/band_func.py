"""Functions of sindri.ops over bands of matrices and blocks of space, and greedy decoding of labels. Which element goes where is known beforehand, so they
are gathers with constant indices."""
from __future__ import annotations

import math
from typing import Any, Sequence, Tuple

import numpy as np

from sindri._check import check_bool, check_choice, fail
from sindri.ops._util import Tensor, core, exported, to_int, to_ints

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(k: Any, where: str) -> Tuple[int, int]:
    """(lowest, highest) diagonal of an int, or of two ints that ascend. Raises TypeError or ValueError."""
    ends = to_ints(k, "k", where)
    if len(ends) not in (1, 2) or ends[0] > ends[-1]:
        fail(ValueError, f"k: expected an int or two that ascend, got {k!r}", where)
    return ends[0], ends[-1]


def _places(rows: int, columns: int, band: Tuple[int, int], width: int, align: str, where: str) -> Tuple[np.ndarray, np.ndarray]:
    """Of every element of a matrix [rows, columns]: whether the band has it, and its place in the band's diagonals [highest - lowest + 1, width] in flat order,
    else 0. align: on which side shorter diagonals lie, those above the main diagonal first."""
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
    """[..., rows, columns] with the diagonals of the band, which are [..., count, width] or of one [..., width]; `outside` elsewhere."""
    count = band[1] - band[0] + 1
    lead = diagonals.shape[:-1] if count == 1 else diagonals.shape[:-2]
    width = diagonals.shape[-1]
    inside, places = _places(rows, columns, band, width, align, where)
    taken = core.gather(core.reshape(diagonals, lead + (count * width,)), Tensor(places.reshape(-1)), len(lead))
    return core.where(Tensor(inside), core.reshape(taken, lead + (rows, columns)), outside)


def matrix_diag(x: Tensor, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with x on the diagonal k, or with the rows of x [..., count, width] on the diagonals k = (lowest, highest), the highest first.

    num_rows and num_cols: their size, by default the least that holds the diagonals. align: on which side of x shorter diagonals lie, above and below the
    main one. k, num_rows and num_cols are constants, also as tensors. Raises ValueError for sizes that do not fit.
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
    """The diagonal k of matrices, or diagonals k = (lowest, highest) as [..., count, width], the highest first and shorter ones padded; see matrix_diag."""
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
    """x with `diagonal` on the diagonal k of its matrices, or with the rows of it on the diagonals k = (lowest, highest); see matrix_diag."""
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
    """Checked sizes of a block, and a pair of numbers that are not negative for each."""
    sizes = to_ints(block, "block_shape", where)
    rows = pairs.asnumpy().tolist() if isinstance(pairs, Tensor) else pairs
    ends = [to_ints(p, name, where) for p in rows]
    if min(sizes, default=0) < 1 or any(len(p) != 2 or min(p) < 0 for p in ends):
        fail(ValueError, f"expected sizes of at least 1 and pairs of {name} that are not negative, got {block!r} and {pairs!r}", where)
    return sizes, ends


def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """[n, ..., w1, ..., wm] -> [n/(b1 ... bm), ..., w1·b1, ..., wm·bm] less crops: the batch's blocks put between the elements of the last m dimensions.

    block_shape: the sizes b, or one for as many dimensions as crops has; crops: (before, after) for each. Raises ValueError for what does not fit.
    """
    where = "ops.batch_to_space_nd"
    sizes, ends = _blocks(block_shape, crops, "crops", where)
    sizes = list(sizes) * len(ends) if len(sizes) == 1 else list(sizes)
    m, shape = len(sizes), input_x.shape
    if len(ends) != m or len(shape) <= m or shape[0] % math.prod(sizes):
        fail(ValueError, f"block_shape {sizes} and crops {ends} do not fit {tuple(shape)}", where)
    lead = len(shape) - m  # the batch and the dimensions between
    x = core.reshape(input_x, (*sizes, shape[0] // math.prod(sizes), *shape[1:]))
    order = [*range(m, m + lead)] + [d for i in range(m) for d in (m + lead + i, i)]
    whole = [n * b for n, b in zip(shape[lead:], sizes)]
    x = core.reshape(core.transpose(x, order), (shape[0] // math.prod(sizes), *shape[1:lead], *whole))
    if any(a + b >= n for n, (a, b) in zip(whole, ends)):
        fail(ValueError, f"crops {ends} leave nothing of {whole}", where)
    return core.slice(x, [0] * lead + [a for a, _ in ends], [*x.shape[:lead], *(n - b for n, (_, b) in zip(whole, ends))])


def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Tensor:
    """The inverse of batch_to_space_nd: the last dimensions are padded with zeros by (before, after), then every b-th element goes into a separate batch.

    Raises ValueError unless the padded sizes are multiples of block_size.
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
        fail(ValueError, f"the padded sizes {tuple(x.shape[lead:])} are no multiples of block_size {tuple(sizes)}", where)
    split = core.reshape(x, (*shape[:lead], *(v for n, b in zip(x.shape[lead:], sizes) for v in (n // b, b))))
    order = [lead + 2 * i + 1 for i in range(m)] + [*range(lead)] + [lead + 2 * i for i in range(m)]
    out = core.transpose(split, order)
    return core.reshape(out, (math.prod(sizes) * shape[0], *shape[1:lead], *(n // b for n, b in zip(x.shape[lead:], sizes))))


def ctc_greedy_decoder(inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True) -> tuple:
    """The likeliest class of every step of [time, batch, classes], without blanks (the last class) and, with merge_repeated, without repetitions.

    Gives (int64 indices [n, 2] of batch and place, the int64 classes [n], the int64 shape (batch, longest), minus the sums [batch, 1] of the largest
    inputs). How many there are depends on the values, so such code runs eagerly. Raises TypeError or ValueError.
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
