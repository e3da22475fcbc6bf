"""Datasets that change, choose, order or join rows: map, filter, shuffle, take, zip and similar. Created by the methods of Dataset."""
from __future__ import annotations

import builtins
import itertools
from typing import Any, Callable, Iterator as Iterates, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_int32, check_names, fail
from sindri.dataset._processes import ProcessChain
from sindri.dataset._transform import Chain, RowPlace, UserFunction, add_note, as_operations, compile_operations, generator, random_key
from sindri.dataset.core import config
from sindri.dataset.engine import samplers
from sindri.dataset.engine._sources import MappableDataset
from sindri.dataset.engine._values import storable
from sindri.dataset.engine.datasets import Dataset
from sindri.dataset.engine.iterators import Row, Run, choose_seed, in_python_where_needed


def map_columns(node: Dataset, who: str, columns: List[str], inputs: List[str], outputs: List[str]) -> Tuple[List[int], List[str], List[int]]:
    """Returns the positions of the inputs, the names of the results and the positions of the other columns. Raises ArgumentError."""
    places = [node._place_of(name, who, columns) for name in inputs]
    others = [i for i in range(len(columns)) if i not in places]
    for name in outputs:
        if name in [columns[i] for i in others]:
            fail(ArgumentError, f"the result '{name}' has the name of another column", who, "rename one of them first")
    return places, outputs, others


def after_map(columns: List[str], places: List[int], outputs: List[str], others: List[int]) -> List[str]:
    """Returns the columns after a map: as many results as inputs replace the inputs in place, otherwise the results come first."""
    if len(places) != len(outputs):
        return [*outputs, *(columns[i] for i in others)]
    result = list(columns)
    for place, name in builtins.zip(places, outputs):
        result[place] = name
    return result


def ordered(node: Dataset, columns: List[str], order: List[str]) -> List[str]:
    for name in order:
        node._place_of(name, type(node).__name__.replace("Dataset", "").lower(), columns)
    return order or columns


def project(node: Dataset, handle: Any, order: List[str]) -> Any:
    return handle.project(ordered(node, handle.get_col_names(), order)) if order else handle


def as_datasets(who: str, datasets: Any) -> List[Dataset]:
    if isinstance(datasets, Dataset):
        return [datasets]
    if not isinstance(datasets, (list, tuple)) or not all(isinstance(d, Dataset) for d in datasets):
        fail(TypeError, f"datasets are expected, got {datasets!r} of type {type(datasets).__name__}", who)
    return list(datasets)


class MapDataset(Dataset):
    """The result of Dataset.map(), which documents the arguments."""

    def __init__(self, child: Dataset, operations: Any, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
                 num_parallel_workers: Optional[int] = None, python_multiprocessing: bool = False, cache: Any = None, callbacks: Any = None):
        self.operations = as_operations("map", operations)
        self.input_columns = check_names("map", "input_columns", input_columns)
        self.output_columns = check_names("map", "output_columns", output_columns)
        self.column_order = check_names("map", "column_order", column_order)
        self.python_multiprocessing = check_bool("map", "python_multiprocessing", python_multiprocessing)
        if callbacks:
            fail(NotImplementedError, "callbacks are not supported", "map", "omit callbacks")
        self._place = RowPlace()
        super().__init__([child], num_parallel_workers, cache)

    def _mapped_columns(self, columns: List[str]) -> Tuple[List[int], List[str], List[int]]:
        inputs = self.input_columns or columns[:1]
        return map_columns(self, "map", columns, inputs, self.output_columns or inputs)

    def _build(self, child: Any) -> Optional[Any]:
        columns = list(child.get_col_names())
        inputs, outputs, others = self._mapped_columns(columns)
        transforms = compile_operations(self.operations, len(outputs), self._in_processes, self._place)
        if transforms is None:
            return None
        handle = child.map(transforms, [columns[i] for i in inputs], outputs, self._workers())
        if len(inputs) != len(outputs):
            handle = handle.project([*outputs, *(columns[i] for i in others)])
        return project(self, handle, self.column_order)

    def _in_processes(self, chain: Chain) -> Any:
        """Returns the object that runs a chain of Python operations: worker processes if requested and the chain contains user functions."""
        own = not any(isinstance(op, UserFunction) for op in chain.operations)
        return chain if own or not self.python_multiprocessing else ProcessChain(chain, self._workers() or config.get_num_parallel_workers())

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        return ordered(self, after_map(columns, *self._mapped_columns(columns)), self.column_order)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        inputs, outputs, others = self._mapped_columns(columns)
        after = after_map(columns, inputs, outputs, others)
        chain = self._in_processes(Chain(self.operations, len(outputs)))
        for index, row in enumerate(run.rows(self.children[0], epoch)):
            key = random_key(run.seed, epoch, index, len(self.operations)) if chain.keyed else 0
            try:
                made = [storable(value, chain.name) for value in chain.run(key, [row[i] for i in inputs])]
            except Exception as e:
                add_note(e, f"data pipeline: row {index}, map operations {chain.name}")
                raise
            by_name = {columns[i]: row[i] for i in others}
            by_name.update(dict(builtins.zip(outputs, made)))
            yield [by_name[name] for name in self.column_order or after]


class FilterDataset(Dataset):
    """The result of Dataset.filter(), which documents the arguments."""

    def __init__(self, child: Dataset, predicate: Callable, input_columns: Any = None, num_parallel_workers: Optional[int] = None):
        if not callable(predicate):
            fail(TypeError, f"predicate must be callable, got {predicate!r}", "filter")
        self.predicate = predicate
        self.input_columns = check_names("filter", "input_columns", input_columns)
        super().__init__([child], num_parallel_workers)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        return None

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        places = [self._place_of(name, "filter", columns) for name in self.input_columns or columns]
        for index, row in enumerate(run.rows(self.children[0], epoch)):
            try:
                keep = bool(np.asarray(self.predicate(*(row[i] for i in places))))
            except Exception as e:
                add_note(e, f"data pipeline: row {index}, filter")
                raise
            if keep:
                yield row


class FlatMapDataset(Dataset):
    """The result of Dataset.flat_map(), which documents the arguments."""

    def __init__(self, child: Dataset, func: Callable):
        if not callable(func):
            fail(TypeError, f"func must be callable, got {func!r}", "flat_map")
        self.func = func
        self._names: Optional[List[str]] = None
        super().__init__([child])

    def _inner(self, row: Row) -> List[Dataset]:
        return as_datasets("flat_map", self.func(*row))

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        if self._names is None:
            self._names = in_python_where_needed(self, lambda: self._first_names(columns))
        return self._names

    def _first_names(self, columns: List[str]) -> List[str]:
        run = Run(choose_seed(self), 1, looking=True)
        try:
            row = next(iter(run.rows(self.children[0], 0)), None)
            inner = [] if row is None else self._inner(row)
        finally:
            run.close()
        return inner[0].get_col_names() if inner else columns

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        return None

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        for row in run.rows(self.children[0], epoch):
            for dataset in self._inner(row):
                inner = Run(run.seed, 1)
                try:
                    yield from inner.rows(dataset, epoch)
                finally:
                    inner.close()


class ShuffleDataset(Dataset):
    """The result of Dataset.shuffle(), which documents the arguments."""

    def __init__(self, child: Dataset, buffer_size: int):
        self.buffer_size = check_int32("shuffle", "buffer_size", buffer_size, 1)
        if any(hasattr(node, "condition_name") for node in child._walk()):
            fail(ArgumentError, "rows that wait at a sync_wait cannot be shuffled", "shuffle", "shuffle before sync_wait")
        super().__init__([child])

    def _build(self, child: Any) -> Any:
        return child.shuffle(self.buffer_size)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        rng = generator(random_key(run.seed, epoch, 0x73687566666C65))
        rows = run.rows(self.children[0], epoch)
        window = list(itertools.islice(rows, self.buffer_size))
        for row in rows:
            place = int(rng.integers(len(window)))
            yield window[place]
            window[place] = row
        while window:
            place = int(rng.integers(len(window)))
            window[place], window[-1] = window[-1], window[place]
            yield window.pop()


class RepeatDataset(Dataset):
    """The result of Dataset.repeat(), which documents the arguments."""

    def __init__(self, child: Dataset, count: Optional[int] = None):
        self.count = -1 if count is None else check_int32("repeat", "count", count, -1)
        if self.count == 0:
            fail(ValueError, "count must be at least 1, or -1 for no end, got 0", "repeat")
        super().__init__([child])

    def get_repeat_count(self) -> int:
        below = self.children[0].get_repeat_count()
        return -1 if self.count < 0 or below < 0 else self.count * below

    def _build(self, child: Any) -> Any:
        return child.repeat(self.count)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = inputs[0]
        if rows is None or rows == 0:
            return rows
        return -1 if self.count < 0 or rows < 0 else rows * self.count

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        # An endless repeat is one separate pass, and each of its rounds is a pass of its input.
        run.num_epochs = -1 if self.count != 1 else run.num_epochs
        for i in itertools.count() if self.count < 0 else range(self.count):
            empty = True
            for row in run.rows(self.children[0], i if self.count < 0 else epoch * self.count + i):
                empty = False
                yield row
            if empty:
                return


class SkipDataset(Dataset):
    """The result of Dataset.skip(), which documents the arguments."""

    def __init__(self, child: Dataset, count: int):
        self.count = check_int32("skip", "count", count, 0)
        super().__init__([child])

    def _build(self, child: Any) -> Any:
        return child.skip(self.count)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = inputs[0]
        return rows if rows is None or rows < 0 else max(0, rows - self.count)

    def _skips_all(self) -> bool:
        rows = self.children[0]._known_size()  # None if they would have to be counted
        return super()._skips_all() or rows is None or 0 < rows <= self.count

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return itertools.islice(run.rows(self.children[0], epoch), self.count, None)


class TakeDataset(Dataset):
    """The result of Dataset.take(), which documents the arguments."""

    def __init__(self, child: Dataset, count: int = -1):
        self.count = check_int32("take", "count", count, -1)
        if self.count == 0:
            fail(ValueError, "count must be at least 1, or -1 for all, got 0", "take")
        super().__init__([child])

    def _build(self, child: Any) -> Any:
        return child.take(self.count)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = inputs[0]
        if self.count < 0 or rows is None:
            return rows
        return self.count if rows < 0 else min(rows, self.count)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return itertools.islice(run.rows(self.children[0], epoch), None if self.count < 0 else self.count)


class PartDataset(Dataset):
    """One part of Dataset.split(): the rows at the given positions of a pass, in order."""

    def __init__(self, child: Dataset, places: np.ndarray):
        self.places = frozenset(int(i) for i in places)
        super().__init__([child])

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        return len(self.places)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return (row for index, row in enumerate(run.rows(self.children[0], epoch)) if index in self.places)


class RenameDataset(Dataset):
    """The result of Dataset.rename(), which documents the arguments."""

    def __init__(self, child: Dataset, input_columns: Any, output_columns: Any):
        self.input_columns = check_names("rename", "input_columns", input_columns)
        self.output_columns = check_names("rename", "output_columns", output_columns)
        if len(self.input_columns) != len(self.output_columns) or not self.input_columns:
            fail(ValueError, f"{len(self.input_columns)} input_columns and {len(self.output_columns)} output_columns are given", "rename",
                 "give one new name per column")
        super().__init__([child])

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        places, outputs, others = map_columns(self, "rename", columns, self.input_columns, self.output_columns)
        return after_map(columns, places, outputs, others)

    def _build(self, child: Any) -> Any:
        self._columns(list(child.get_col_names()))
        return child.rename(self.input_columns, self.output_columns)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return run.rows(self.children[0], epoch)


class ProjectDataset(Dataset):
    """The result of Dataset.project(), which documents the arguments."""

    def __init__(self, child: Dataset, columns: Any):
        self.columns = check_names("project", "columns", columns)
        if not self.columns:
            fail(ValueError, "columns must name at least one column, got none", "project")
        super().__init__([child])

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        return ordered(self, columns, self.columns)

    def _build(self, child: Any) -> Any:
        return project(self, child, self.columns)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        places = [self._place_of(name, "project", columns) for name in self.columns]
        return ([row[i] for i in places] for row in run.rows(self.children[0], epoch))


# Operations on several datasets.


class ZipDataset(Dataset):
    """The result of zip(), which documents the arguments."""

    def __init__(self, datasets: Sequence[Dataset]):
        if len(datasets) < 2:
            fail(ValueError, f"at least two datasets are needed, got {len(datasets)}", "zip")
        super().__init__(datasets)

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = [name for part in inputs for name in part]
        for name in columns:
            if columns.count(name) > 1:
                fail(ArgumentError, f"two datasets have a column '{name}'", "zip", "rename one of them first")
        return columns

    def _build(self, *inputs: Any) -> Any:
        self._columns(*(list(handle.get_col_names()) for handle in inputs))
        return _core.dataset.Dataset.zip(list(inputs))

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        if any(rows is None for rows in inputs):
            return None
        bounded = [rows for rows in inputs if rows is not None and rows >= 0]
        return min(bounded) if bounded else -1

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        self.get_col_names()
        for rows in builtins.zip(*(run.rows(child, epoch) for child in self.children)):
            yield [column for row in rows for column in row]

    def get_repeat_count(self) -> int:
        return max(child.get_repeat_count() for child in self.children)


class ConcatDataset(Dataset):
    """The result of concat() and +, which documents the arguments."""

    def __init__(self, datasets: Sequence[Dataset]):
        super().__init__(datasets)

    def _columns(self, *inputs: List[str]) -> List[str]:
        for other in inputs[1:]:
            if other != inputs[0]:
                fail(ArgumentError, f"the columns of the datasets differ: {inputs[0]} and {other}", "concat",
                     "rename or project them to the same names")
        return inputs[0]

    def _build(self, *inputs: Any) -> Any:
        self._columns(*(list(handle.get_col_names()) for handle in inputs))
        handle = inputs[0]
        for other in inputs[1:]:
            handle = handle.concat(other)
        return handle

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        if any(rows is None for rows in inputs):
            return None
        return -1 if any(rows < 0 for rows in inputs) else sum(inputs)  # type: ignore[operator,arg-type]

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        self.get_col_names()
        return itertools.chain.from_iterable(run.rows(child, epoch) for child in self.children)

    def use_sampler(self, sampler: Any) -> None:
        """Distributes the rows of all datasets, as one list, to shards. No row repeats: append a PaddedDataset to get shards of equal length.

        Args:
            sampler (DistributedSampler): A sampler without shuffle and num_samples.

        Raises:
            TypeError: If the argument is not a DistributedSampler.
            ValueError: If the sampler shuffles or has num_samples.
            ArgumentError: A ValueError, if the rows of a dataset are not those of a source that accepts samplers.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False) + ds.NumpySlicesDataset([3, 4], shuffle=False)
            >>> data.use_sampler(ds.DistributedSampler(2, 0, shuffle=False))
            >>> [int(x) for x, in data]
            [1, 3]
        """
        if not isinstance(sampler, samplers.DistributedSampler):
            fail(TypeError, f"a DistributedSampler is expected, got {sampler!r}", "ConcatDataset.use_sampler")
        if sampler.is_shuffled():
            fail(ValueError, "the DistributedSampler must have shuffle=False", "ConcatDataset.use_sampler")
        if sampler.get_num_samples() is not None:
            fail(ValueError, "the DistributedSampler must not have num_samples", "ConcatDataset.use_sampler")
        self._forget()
        before = 0
        for child in self.children:
            source = source_below(child)
            rows = source._rows()
            source.use_sampler(samplers.DistributedSampler(sampler.num_shards, sampler.shard_id, False, None, before % sampler.num_shards))
            before += rows


def source_below(dataset: Dataset) -> MappableDataset:
    """Returns the source below a dataset that maps one to one to the dataset's rows. Raises ArgumentError."""
    node = dataset
    while isinstance(node, (MapDataset, RenameDataset, ProjectDataset)):
        node = node.children[0]
    if not isinstance(node, MappableDataset):
        fail(ArgumentError, f"{type(node).__name__} has no rows that can be reached in any order", "use_sampler", "use the sampler on the sources")
    return node
