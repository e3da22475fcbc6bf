"""Sources written in Python or in memory: GeneratorDataset, NumpySlicesDataset, PaddedDataset."""
from __future__ import annotations

import builtins
import threading
import types
import warnings
from typing import Any, Callable, Dict, Iterator as Iterates, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, INT32_MAX, check_bool, check_names, fail, is_int, named
from sindri.dataset._transform import RowScope, add_note, random_key
from sindri.dataset.core import config
from sindri.common.no_effect import no_effect
from sindri.dataset.engine._values import as_columns, in_python_only, storable
from sindri.dataset.engine.datasets import MappableDataset, Schema
from sindri.dataset.engine.iterators import Row, Run

__all__ = ["GeneratorDataset", "NumpySlicesDataset", "PaddedDataset"]


class _InPython(MappableDataset):
    """A source whose rows Python can give, which it does where a column holds text."""

    def _row(self, index: int) -> Row:
        raise NotImplementedError

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        for index in self._draw(run.seed, epoch):
            try:
                with RowScope(_row_key(run.seed, epoch, int(index))):
                    row = self._row(int(index))
            except Exception as e:
                add_note(e, f"data pipeline: row {index} of {type(self).__name__}")
                raise
            yield row

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        return len(self._draw(0, 0))


def _row_key(seed: int, epoch: int, index: int) -> int:
    """What transforms that a source calls by hand for one row draw from."""
    return random_key(seed, epoch, index, 0x736F75726365)


class GeneratorDataset(_InPython):
    """Rows from Python: an iterable, a function that gives one, or an object with __getitem__ and __len__. A row is a tuple or list of values, one
    per column, or a dict of them by name. A value that is a dict stays one, with what it holds as tensors (arrays with output_numpy).

    Only an object with __getitem__ can be shuffled, sampled or sharded; shuffle=None shuffles it, and shuffle=True of another source keeps its order, with
    a warning. Without __len__, a source is read in Python and
    counted by a pass of its own when its size is asked for. A running generator, and any other iterator that cannot begin again, has its rows kept
    in memory as they are read, so that each pass has them all: give the function, without calling it, for more rows than fit. A source that has
    rows in one epoch and none in a later one is an error, one with fewer a warning. The first row is looked at beforehand to learn whether it holds
    text or a dict. column_types: converted to. batch_sampler gives a list of indices for each batch, of whose rows collate_fn(*columns) makes one, a list per
    column in, a value per column out; these run in Python. python_multiprocessing and max_rowsize are hints that change nothing: rows are made in
    threads, one at a time unless num_parallel_workers is more than 1. Raises TypeError, ValueError or ArgumentError (a RuntimeError); while reading
    what the source raises, with a note that names the row.
    """

    @named
    def __init__(self, source: Any, column_names: Any = None, column_types: Optional[Sequence[Any]] = None, schema: Any = None,
                 num_samples: Optional[int] = None, num_parallel_workers: int = 1, shuffle: Optional[bool] = None, sampler: Any = None,
                 num_shards: Optional[int] = None, shard_id: Optional[int] = None, python_multiprocessing: bool = True, max_rowsize: Any = None,
                 batch_sampler: Any = None, collate_fn: Any = None):
        who = "GeneratorDataset"
        if check_bool(who, "python_multiprocessing", python_multiprocessing) and is_int(num_parallel_workers) and num_parallel_workers > 1:
            no_effect("GeneratorDataset(python_multiprocessing=True)", "rows are made in threads; do the heavy work in map(python_multiprocessing=True)")
        self.source = source
        self.column_names = check_names(who, "column_names", column_names)
        types = list(column_types or [])
        if isinstance(schema, str):
            schema = Schema(schema)
        if schema is not None:
            if self.column_names or types:
                fail(ValueError, "schema excludes column_names and column_types", who)
            if not isinstance(schema, Schema):
                fail(TypeError, f"schema must be a Schema or the path of one, got {schema!r}", who)
            self.column_names, types = [c["name"] for c in schema.columns], [c["type"] for c in schema.columns]
        if not self.column_names:
            fail(ValueError, "column_names or schema is needed", who)
        if types and len(types) != len(self.column_names):
            fail(ValueError, f"there are {len(types)} column_types for {len(self.column_names)} column_names", who)
        self.column_types = types
        self._text: Optional[bool] = None
        self._indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not self._indexed and not callable(source) and not hasattr(source, "__iter__"):
            fail(TypeError, f"source must be an iterable, a function that gives one, or an object with __getitem__ and __len__, got {source!r}", who)
        if not self._indexed:
            given = "sampler" if sampler is not None else "num_shards" if num_shards is not None else None
            if given is not None:
                fail(ArgumentError, f"{given} needs a source with __getitem__ and __len__", who, "give an object with both, or choose rows in the source")
            if shuffle is not None and check_bool(who, "shuffle", shuffle):
                warnings.warn(f"shuffle=True has no effect: the source is read in its order, as it has no __getitem__ and __len__ | {who} | "
                              "mix rows with shuffle(buffer_size)", RuntimeWarning, stacklevel=3)
        self._passes = _Passes(source)
        self.batch_sampler, self.collate_fn = batch_sampler, collate_fn
        if batch_sampler is not None or collate_fn is not None:
            self._check_batches(any(option is not None for option in (num_samples, shuffle, sampler, num_shards, shard_id)))
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle if self._indexed else False, num_shards, shard_id)

    def _check_batches(self, chosen_otherwise: bool) -> None:
        who = "GeneratorDataset"
        if self.batch_sampler is None:
            fail(ValueError, "collate_fn needs a batch_sampler", who, "use batch() with a per_batch_map")
        if not hasattr(self.batch_sampler, "__iter__") and not hasattr(self.batch_sampler, "__getitem__"):
            fail(TypeError, f"batch_sampler must be an iterable of lists of indices, got {self.batch_sampler!r}", who)
        if self.collate_fn is not None and not callable(self.collate_fn):
            fail(TypeError, f"collate_fn must be callable, got {self.collate_fn!r}", who)
        if chosen_otherwise:
            fail(ArgumentError, "batch_sampler excludes num_samples, shuffle, sampler, num_shards and shard_id", who)
        if not self._indexed:
            fail(ArgumentError, "batch_sampler needs a source with __getitem__ and __len__", who)
        self._batches = _Passes(self.batch_sampler)

    def _pull_batches(self, run: Run, epoch: int) -> Iterates[Row]:
        """Rows of the indices that batch_sampler gives, put together by collate_fn: a list of values for each column, without it stacked."""
        count = 0
        for indices in self._batches.begin(run.looking):
            if not isinstance(indices, (list, tuple, np.ndarray)) or not all(is_int(index) for index in indices) or len(indices) == 0:
                fail(TypeError, f"batch_sampler must give lists of indices, got {indices!r}", "GeneratorDataset")
            rows = []
            for index in indices:
                with RowScope(_row_key(run.seed, epoch, int(index))):
                    rows.append(self._row(int(index)))
            columns: Any = [[row[k] for row in rows] for k in range(len(self.column_names))]
            try:
                made = self.collate_fn(*columns) if self.collate_fn is not None else tuple(np.stack(column) for column in columns)
                yield self._columns_of(made if isinstance(made, (tuple, dict)) else (made,))
            except Exception as e:
                add_note(e, f"data pipeline: batch {count} of GeneratorDataset, rows {list(indices)}")
                raise
            count += 1
        self._batches.ended(count)

    def _reachable(self) -> bool:
        """Whether rows can be read in any order."""
        return self._indexed and self.batch_sampler is None

    def use_sampler(self, new_sampler: Any) -> None:
        """As of MappableDataset; not with a batch_sampler. Raises TypeError or ArgumentError."""
        if self.batch_sampler is not None:
            fail(ArgumentError, "batch_sampler excludes another sampler", "GeneratorDataset.use_sampler")
        super().use_sampler(new_sampler)

    def get_batch_size(self) -> int:
        """-1 with a batch_sampler, else 1."""
        return 1 if self.batch_sampler is None else -1

    def _sized(self) -> bool:
        return hasattr(self.source, "__len__") and not callable(self.source)

    def _rows(self) -> int:
        rows = len(self.source)
        if rows > INT32_MAX and self._effective_sampler()._orders_all():
            fail(ValueError, f"the source has {rows} rows: an order of more than {INT32_MAX} cannot be drawn", "GeneratorDataset",
                 "set shuffle=False, or draw rows with RandomSampler(replacement=True, num_samples=...)")
        return rows

    def _look_for_text(self) -> bool:
        if self._text is None:
            if self._indexed:
                row = self._row(0) if len(self.source) else []
            else:
                first = self._passes.look()
                row = [] if first is None else self._columns_of(first[0])
            self._text = in_python_only(row)
        return self._text

    def _drawn(self) -> bool:
        return self._indexed and super()._drawn()

    def _build(self) -> Optional[Any]:
        if self.batch_sampler is not None:
            return None
        if not (self._indexed or self._sized()) or self._look_for_text():
            return None
        return self._source(self._options())

    def _source(self, options: Any) -> Any:
        make = _core.dataset.generator
        if self._indexed:
            return make(_Item(self.source, self.column_names), None, self._rows(), self.column_names, self.column_types, options)
        return make(None, _Checked(self._passes.begin, self.column_names, len(self.source)), len(self.source), self.column_names, self.column_types, options)

    def _row(self, index: int) -> Row:
        return self._typed(self._columns_of(self.source[index]))

    def _columns_of(self, value: Any) -> Row:
        return [storable(v, "GeneratorDataset") for v in as_columns(value, self.column_names)]

    def _typed(self, row: Row) -> Row:
        if not self.column_types:
            return row
        cast = _core.dataset.type_cast
        return [v if isinstance(v, dict) or v.dtype.kind in "US" else cast(dtype)(v) for v, dtype in builtins.zip(row, self.column_types)]

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        if self._indexed:
            yield from super()._pull(run, epoch) if self.batch_sampler is None else self._pull_batches(run, epoch)
            return
        index = -1
        try:
            for index, value in enumerate(self._passes.begin(run.looking)):
                if self.num_samples is not None and index >= self.num_samples:
                    return
                yield self._typed(self._columns_of(value))
            self._passes.ended(index + 1)
        except Exception as e:
            add_note(e, f"data pipeline: row {index + 1} of GeneratorDataset or what follows it")
            raise

    def _columns(self, *inputs: List[str]) -> List[str]:
        return self.column_names

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        if self.batch_sampler is not None:
            return len(self.batch_sampler) if hasattr(self.batch_sampler, "__len__") else None
        if self._indexed:
            return super()._count()
        return None if not self._sized() else len(self.source) if self.num_samples is None else min(len(self.source), self.num_samples)

    def _split_order(self, randomize: bool) -> np.ndarray:
        return super()._split_order(randomize) if self._reachable() else super(MappableDataset, self)._split_order(randomize)

    def _split_rows(self) -> int:
        return super()._split_rows() if self._reachable() else super(MappableDataset, self)._split_rows()

    def _part(self, places: np.ndarray) -> Any:
        return super()._part(places) if self._reachable() else super(MappableDataset, self)._part(places)


class _Kept:
    """The rows of an iterator that cannot begin again, kept as they are read. Whoever made or takes a row may write into its arrays: both have
    copies.
    """

    def __init__(self, source: Iterates[Any]):
        self._source = source
        self._rows: List[Any] = []
        self._failure: Optional[BaseException] = None
        self._lock = threading.Lock()

    def __iter__(self) -> Iterates[Any]:
        index = 0
        while self._has(index):
            yield _copied(self._rows[index])
            index += 1

    def _has(self, index: int) -> bool:
        with self._lock:
            if index < len(self._rows):
                return True
            if self._failure is not None:
                raise self._failure  # a generator that has raised only ends; that must not look like the end of the rows
            try:
                self._rows.append(_copied(next(self._source)))
            except StopIteration:
                return False
            except BaseException as e:
                self._failure = e
                raise
            return True


def _copied(value: Any) -> Any:
    """A row with arrays of its own."""
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_copied(part) for part in value] if isinstance(value, list) else tuple(_copied(part) for part in value)
    if isinstance(value, _core.Tensor):
        return value.asnumpy().copy()
    return value.copy() if isinstance(value, np.ndarray) else value


def _cannot_begin_again(source: Any) -> bool:
    """Generators and the iterators of builtins and C modules: iter() gives them as they stand. A class in Python may begin anew in __iter__."""
    own = getattr(type(source), "__next__", None)
    return own is not None and not isinstance(own, types.FunctionType) and iter(source) is source


class _Passes:
    """The passes over a source without __getitem__, and what has to be known from one to the next."""

    def __init__(self, source: Any):
        self._source = _Kept(source) if _cannot_begin_again(source) else source
        self._begun: Optional[Tuple[Any, List[Any]]] = None  # an iterator that is its own iterable, and its rows that were only looked at
        self._most = 0

    def _iterable(self) -> Any:
        return self._source() if callable(self._source) and not hasattr(self._source, "__iter__") else self._source

    def look(self) -> Optional[Tuple[Any]]:
        """The first row, which the next pass has too."""
        for row in self.begin(looking=True):
            return (row,)
        return None

    def begin(self, looking: bool = False) -> Iterates[Any]:
        """The rows of the next pass. looking: what is read of them belongs to the pass behind this one too."""
        begun, self._begun = self._begun, None
        iterable = self._iterable()
        if begun is None or begun[0] is not iterable:
            begun = iter(iterable), []
        if looking and begun[0] is iterable:
            self._begun = begun
        return _go_on(*begun, looking)

    def ended(self, rows: int) -> None:
        """A pass had this many rows. Raises RuntimeError for none, and warns of fewer than an earlier pass had."""
        if rows >= self._most:
            self._most = rows
            return
        what = f"the source gave {rows or 'no'} rows, in an earlier pass {self._most}"
        fix = "give a function that makes a new iterator, or a class whose __iter__ begins anew; counting the rows is a pass too"
        if rows == 0:
            fail(RuntimeError, what, "GeneratorDataset", fix)
        warnings.warn(f"{what} | GeneratorDataset | {fix}", RuntimeWarning, stacklevel=2)


def _go_on(rows: Any, seen: List[Any], keep: bool) -> Iterates[Any]:
    """Rows seen already, then what is left of an iterator, without iter(), which may begin anew."""
    yield from list(seen)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        if keep:
            seen.append(row)
        yield row


class _Item:
    """source[index] as a tuple of columns."""

    def __init__(self, source: Any, columns: Sequence[str]):
        self.source, self.columns = source, columns

    def __call__(self, index: int, epoch: int) -> tuple:
        seed = config._pipeline_seed()
        if seed is None:
            return as_columns(self.source[index], self.columns)
        with RowScope(_row_key(seed, epoch, index)):
            return as_columns(self.source[index], self.columns)


class _Checked:
    """Iterates a source with a length: tuples of columns. Raises RuntimeError for more rows than its __len__ says, of which some would be lost."""

    def __init__(self, begin: Callable[[], Iterates[Any]], columns: Sequence[str], length: int):
        self.begin, self.columns, self.length = begin, columns, length

    def __call__(self) -> Iterates[tuple]:
        rows = self.begin()
        for index, row in enumerate(rows):
            if index + 1 == self.length and next(rows, self) is not self:
                fail(RuntimeError, f"the source gave more rows than its __len__, {self.length}", "GeneratorDataset", "make __len__ the number of rows")
            yield as_columns(row, self.columns)


class NumpySlicesDataset(_InPython):
    """Slices of arrays along their first dimension: an array or list is one column, a tuple of them several, a dict names them. Arrays are not
    copied.

    Column names are column_0 and so on where none are given. Raises TypeError or ValueError.
    """

    @named
    def __init__(self, data: Any, column_names: Any = None, num_samples: Optional[int] = None, num_parallel_workers: int = 1,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None):
        who = "NumpySlicesDataset"
        given = check_names(who, "column_names", column_names)
        if isinstance(data, dict):
            default, values = [str(name) for name in data], list(data.values())
        elif isinstance(data, (tuple, list, np.ndarray, _core.Tensor)):
            values = list(data) if isinstance(data, tuple) else [data]
            default = [f"column_{i}" for i in range(len(values))]
        else:
            fail(TypeError, f"data must be an array, a list, a tuple or a dict, got {data!r} of type {type(data).__name__}", who)
        if not values:
            fail(ValueError, "data is empty", who)
        if given and len(given) != len(values):
            fail(ValueError, f"there are {len(given)} column_names for {len(values)} columns", who)
        arrays = [storable(value, who) for value in values]
        self.columns: Dict[str, np.ndarray] = dict(builtins.zip(given or default, arrays))
        for name, array in self.columns.items():
            if array.ndim == 0:
                fail(ValueError, f"column '{name}' is a scalar, it has no rows", who)
            if len(array) != len(arrays[0]):
                fail(ValueError, f"column '{name}' has {len(array)} rows, the first column has {len(arrays[0])}", who)
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)

    def _build(self) -> Optional[Any]:
        return None if in_python_only(list(self.columns.values())) else super()._build()

    def _source(self, options: Any) -> Any:
        return _core.dataset.numpy_slices(list(self.columns.items()), options)

    def _rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def _row(self, index: int) -> Row:
        return [np.asarray(array[index]) for array in self.columns.values()]

    def _columns(self, *inputs: List[str]) -> List[str]:
        return list(self.columns)


class PaddedDataset(_InPython):
    """Rows given as dicts, in their order: what makes the rows of a data set divide by the number of shards (see ConcatDataset.use_sampler).

    Raises TypeError or ValueError.
    """

    def __init__(self, padded_samples: Sequence[Dict[str, Any]]):
        who = "PaddedDataset"
        if not isinstance(padded_samples, (list, tuple)) or not all(isinstance(row, dict) for row in padded_samples):
            fail(TypeError, f"padded_samples must be a list of dicts, got {padded_samples!r}", who)
        if not padded_samples or not padded_samples[0]:
            fail(ValueError, "padded_samples is empty", who)
        for row in padded_samples:
            if list(row) != list(padded_samples[0]):
                fail(ValueError, f"all padded_samples need the same columns, got {list(padded_samples[0])} and {list(row)}", who)
        self.padded_samples = [[storable(value, who) for value in row.values()] for row in padded_samples]
        self.column_names = list(padded_samples[0])
        super().__init__(1, shuffle=False)

    def _build(self) -> Optional[Any]:
        return None if any(in_python_only(row) for row in self.padded_samples) else super()._build()

    def _source(self, options: Any) -> Any:
        rows = self.padded_samples
        return _core.dataset.generator(lambda index, epoch: tuple(rows[index]), None, len(rows), self.column_names, [], options)

    def _rows(self) -> int:
        return len(self.padded_samples)

    def _row(self, index: int) -> Row:
        return self.padded_samples[index]

    def _columns(self, *inputs: List[str]) -> List[str]:
        return self.column_names
