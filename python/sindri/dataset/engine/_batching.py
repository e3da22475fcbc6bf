"""Datasets that combine rows: batch, padded_batch, bucket_batch_by_length. Created by the methods of Dataset."""
from __future__ import annotations

import builtins
import itertools
from typing import Any, Callable, Iterator as Iterates, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_int32, check_names, fail, is_int
from sindri.common.no_effect import no_effect
from sindri.dataset.engine._rows import after_map, map_columns, ordered, project
from sindri.dataset.engine._values import storable
from sindri.dataset.engine.datasets import BatchInfo, Dataset
from sindri.dataset.engine.iterators import Row, Run


class BatchDataset(Dataset):
    """The result of Dataset.batch(), which documents the arguments."""

    def __init__(self, child: Dataset, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
                 per_batch_map: Optional[Callable] = None, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
                 python_multiprocessing: bool = False):
        if not callable(batch_size) and not is_int(batch_size):
            fail(TypeError, f"batch_size must be an int or a function of BatchInfo, got {batch_size!r} of type {type(batch_size).__name__}", "batch")
        if per_batch_map is not None and not callable(per_batch_map):
            fail(TypeError, f"per_batch_map must be callable, got {per_batch_map!r}", "batch")
        self.batch_size = batch_size if callable(batch_size) else check_int32("batch", "batch_size", batch_size, 1)
        self.drop_remainder = check_bool("batch", "drop_remainder", drop_remainder)
        self.per_batch_map = per_batch_map
        self.input_columns = check_names("batch", "input_columns", input_columns)
        self.output_columns = check_names("batch", "output_columns", output_columns) or self.input_columns
        self.column_order = check_names("batch", "column_order", column_order)
        if self.output_columns and per_batch_map is None:
            fail(ValueError, "input_columns and output_columns need a per_batch_map", "batch")
        if check_bool("batch", "python_multiprocessing", python_multiprocessing):
            no_effect("batch(python_multiprocessing=True)", "its function runs in threads; do the heavy work in map(python_multiprocessing=True)")
        super().__init__([child], num_parallel_workers)

    def get_batch_size(self) -> int:
        return -1 if callable(self.batch_size) else self.batch_size

    def _build(self, child: Any) -> Optional[Any]:
        if callable(self.batch_size) or self.per_batch_map is not None:
            return None
        handle = child.batch(self.batch_size, self.drop_remainder, self._workers())
        return project(self, handle, self.column_order)

    def _mapped_columns(self, columns: List[str]) -> Tuple[List[int], List[str], List[int]]:
        """Returns the positions that per_batch_map reads, the names of its results, and the positions of the other columns."""
        inputs = self.input_columns or columns
        return map_columns(self, "batch", columns, inputs, self.output_columns or inputs)

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        if self.per_batch_map is not None:
            columns = after_map(columns, *self._mapped_columns(columns))
        return ordered(self, columns, self.column_order)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = inputs[0]
        return None if callable(self.batch_size) else _batches(rows, self.batch_size, self.drop_remainder)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        rows = run.rows(self.children[0], epoch)
        for number in itertools.count():
            info = BatchInfo(epoch, number)
            size = self.batch_size if not callable(self.batch_size) else check_int32("batch", "batch_size(BatchInfo)", self.batch_size(info), 1)
            group = list(itertools.islice(rows, size))
            if not group or (len(group) < size and self.drop_remainder):
                return
            yield self._make(group, columns, info)

    def _make(self, group: List[Row], columns: List[str], info: BatchInfo) -> Row:
        values: List[Any] = [[row[i] for row in group] for i in range(len(columns))]
        result = columns
        if self.per_batch_map is not None:
            inputs, outputs, others = self._mapped_columns(columns)
            made = self.per_batch_map(*(values[i] for i in inputs), info)
            if not isinstance(made, tuple):
                made = (made,)
            if len(made) != len(outputs):
                fail(ArgumentError, f"per_batch_map gave {len(made)} columns, expected {len(outputs)}", "batch",
                     "return a tuple with one list for each of output_columns")
            result = after_map(columns, inputs, outputs, others)
            by_name = {columns[i]: values[i] for i in others}
            by_name.update(dict(builtins.zip(outputs, made)))
            values = [by_name[name] for name in result]
        batch = [stack(column, name, "batch") for column, name in builtins.zip(values, result)]
        return [batch[result.index(name)] for name in self.column_order] if self.column_order else batch


class PaddedBatchDataset(BatchDataset):
    """The result of Dataset.padded_batch(), which documents the arguments."""

    def __init__(self, child: Dataset, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
                 pad_info: Optional[dict] = None, column_order: Any = None):
        self.pad_info = _check_pad_info("padded_batch", pad_info)
        super().__init__(child, batch_size, drop_remainder, num_parallel_workers, column_order=column_order)

    def _build(self, child: Any) -> Optional[Any]:
        return None

    def _make(self, group: List[Row], columns: List[str], info: BatchInfo) -> Row:
        for name in self.pad_info:
            self._place_of(name, "padded_batch", columns)
        batch = [stack(_padded([row[i] for row in group], name, self.pad_info), name, "padded_batch") for i, name in enumerate(columns)]
        return [batch[columns.index(name)] for name in self.column_order] if self.column_order else batch


class BucketBatchByLengthDataset(Dataset):
    """The result of Dataset.bucket_batch_by_length(), which documents the arguments."""

    def __init__(self, child: Dataset, column_names: Any, bucket_boundaries: Sequence[int], bucket_batch_sizes: Sequence[int],
                 element_length_function: Optional[Callable] = None, pad_info: Optional[dict] = None, pad_to_bucket_boundary: bool = False,
                 drop_remainder: bool = False):
        who = "bucket_batch_by_length"
        self.column_names = check_names(who, "column_names", column_names)
        for name, value in (("bucket_boundaries", bucket_boundaries), ("bucket_batch_sizes", bucket_batch_sizes)):
            if not isinstance(value, (list, tuple)) or not value:
                fail(TypeError, f"{name} must be a list of ints that is not empty, got {value!r}", who)
        self.boundaries = [check_int32(who, "bucket_boundaries", b, 1) for b in bucket_boundaries]
        self.sizes = [check_int32(who, "bucket_batch_sizes", s, 1) for s in bucket_batch_sizes]
        if sorted(set(self.boundaries)) != self.boundaries:
            fail(ValueError, f"bucket_boundaries must grow, got {self.boundaries}", who)
        if len(self.sizes) != len(self.boundaries) + 1:
            fail(ValueError, f"{len(self.sizes)} bucket_batch_sizes are given for {len(self.boundaries)} boundaries, one more is needed", who)
        if element_length_function is None and len(self.column_names) != 1:
            fail(ValueError, "element_length_function is needed unless column_names is one column", who)
        if element_length_function is not None and not callable(element_length_function):
            fail(TypeError, f"element_length_function must be callable, got {element_length_function!r}", who)
        self.length_of = element_length_function
        self.pad_info = _check_pad_info(who, pad_info)
        self.pad_to_boundary = check_bool(who, "pad_to_bucket_boundary", pad_to_bucket_boundary)
        self.drop_remainder = check_bool(who, "drop_remainder", drop_remainder)
        super().__init__([child])

    def get_batch_size(self) -> int:
        return -1

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        return None

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        places = [self._place_of(name, "bucket_batch_by_length", columns) for name in self.column_names]
        buckets: List[List[Row]] = [[] for _ in self.sizes]
        for row in run.rows(self.children[0], epoch):
            values = [row[i] for i in places]
            length = int(self.length_of(*values)) if self.length_of is not None else values[0].shape[0]
            bucket = int(np.searchsorted(self.boundaries, length, side="right"))
            buckets[bucket].append(row)
            if len(buckets[bucket]) == self.sizes[bucket]:
                yield self._make(buckets[bucket], columns, bucket)
                buckets[bucket] = []
        for bucket, group in enumerate(buckets):
            if group and not self.drop_remainder:
                yield self._make(group, columns, bucket)

    def _make(self, group: List[Row], columns: List[str], bucket: int) -> Row:
        who = "bucket_batch_by_length"
        edge = None
        if self.pad_to_boundary:
            if bucket == len(self.boundaries):
                fail(ArgumentError, f"a row is as long as the last boundary {self.boundaries[-1]} or longer: there is nothing to pad it to", who,
                     "use a larger last boundary, or pad_to_bucket_boundary=False")
            edge = self.boundaries[bucket] - 1
        out = []
        for i, name in enumerate(columns):
            values = [row[i] for row in group]
            out.append(stack(_padded(values, name, self.pad_info, edge), name, who))
        return out


def _check_pad_info(who: str, pad_info: Any) -> dict:
    if pad_info is None:
        return {}
    if not isinstance(pad_info, dict):
        fail(TypeError, f"pad_info must be a dict, got {pad_info!r}", who)
    for name, entry in pad_info.items():
        if not isinstance(name, str) or not isinstance(entry, (tuple, list)) or len(entry) != 2:
            fail(TypeError, f"pad_info must be {{column: (shape or None, value or None)}}, got {name!r}: {entry!r}", who)
        shape = entry[0]
        if shape is not None and not all(dim is None or is_int(dim) for dim in shape):
            fail(TypeError, f"the shape of pad_info must hold ints and None, got {shape!r}", who)
    return pad_info


def _padded(values: List[np.ndarray], name: str, pad_info: dict, edge: Optional[int] = None) -> List[np.ndarray]:
    """Pads the rows of one column to one shape; `edge` replaces None in a given shape."""
    if pad_info and name not in pad_info:
        return values
    shape, value = pad_info.get(name, (None, None))
    ranks = {v.ndim for v in values}
    if len(ranks) != 1 or (shape is not None and len(shape) not in ranks):
        fail(_core.ShapeError, f"column '{name}' cannot be padded to {shape}: its rows have shapes {[list(v.shape) for v in values]}", "pad_info")
    largest = [max(v.shape[axis] for v in values) for axis in range(values[0].ndim)]
    target = [(edge if edge is not None and dim is None else dim) for dim in shape] if shape is not None else [None] * len(largest)
    full = [big if dim is None else dim for big, dim in builtins.zip(largest, target)]
    out = []
    for v in values:
        if v.dtype.kind in "US":
            cell = np.full(full, "" if value is None else value, dtype=object)
            cell[tuple(slice(0, min(a, b)) for a, b in builtins.zip(v.shape, full))] = v[tuple(slice(0, b) for b in full)]
            out.append(cell.astype(v.dtype.kind))
            continue
        cell = np.full(full, 0 if value is None else value, dtype=v.dtype)
        cell[tuple(slice(0, min(a, b)) for a, b in builtins.zip(v.shape, full))] = v[tuple(slice(0, b) for b in full)]
        out.append(cell)
    return out


def stack(values: Any, name: str, who: str) -> np.ndarray:
    """Stacks the values of one column into a batch. Raises DataError (a RuntimeError) for rows of different shapes or types."""
    if isinstance(values, dict):
        fail(TypeError, f"column '{name}' of a batch is a dict", who, "return an array, or a list of one value per row")
    arrays = [storable(v, who) for v in values]
    if not arrays:
        fail(ArgumentError, f"column '{name}' of a batch is empty", who)
    for i, array in enumerate(arrays):
        if isinstance(array, dict):
            fail(TypeError, f"column '{name}' holds dicts, of which no batch can be made", who, "convert them to arrays first, with map()")
        if array.shape != arrays[0].shape:
            fail(_core.DataError, f"column '{name}' of row {i} of a batch has shape {list(array.shape)}, the rows before it {list(arrays[0].shape)}",
                 who, "rows of one batch need equal shapes: crop, resize or pad them first, or use padded_batch")
        if array.dtype.kind not in "US" and array.dtype != arrays[0].dtype:
            fail(_core.DataError, f"column '{name}' of row {i} of the batch is {array.dtype}, the rows before it {arrays[0].dtype}", who,
                 "use TypeCast")
    return np.stack(arrays)


def _batches(rows: Optional[int], size: int, drop_remainder: bool) -> Optional[int]:
    if rows is None or rows < 0:
        return rows
    return rows // size if drop_remainder else -(-rows // size)
