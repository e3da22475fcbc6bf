"""Sources in Python or in memory: GeneratorDataset, NumpySlicesDataset, PaddedDataset."""
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
    """A source whose rows can be produced in Python, which happens if a column holds text."""

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
    """Returns the random key for transforms that a source calls directly while it produces one row."""
    return random_key(seed, epoch, index, 0x736F75726365)


class GeneratorDataset(_InPython):
    """Rows from Python: an iterable, a function that returns one, or an object with __getitem__ and __len__.

    A row is a tuple or list with one value per column, or a dict of values by column name. A value that is itself a dict remains a dict, and its contents
    become Tensors (arrays with output_numpy). The first row is read in advance to detect text and dicts.

    Only an object with __getitem__ and __len__ can be shuffled, sampled or sharded. A source without __len__ is read in Python and needs an additional
    pass to count its rows. The rows of a running generator, or of another iterator that cannot restart, are kept in memory as they are read, so that every
    pass yields all of them; for more rows than fit in memory pass the generator function without calling it. A source that yields no rows in a later epoch
    is an error; fewer rows cause a warning. Rows are produced in threads, one at a time unless num_parallel_workers exceeds 1.

    Args:
        source (Iterable, Callable, object): The source of rows.
        column_names (str, list[str], optional): The column names; required unless `schema` is given.
        column_types (list, optional): Types to which the columns are converted. Default: None.
        schema (Schema, str, optional): A Schema or the path of one, instead of names and types. Default: None.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int): Worker threads. Default: 1.
        shuffle (bool, optional): Whether to shuffle. True has no effect, with a warning, if the source has no __getitem__ and __len__. Default: None,
            shuffled if possible and no sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        python_multiprocessing (bool): Accepted without effect. Default: True.
        max_rowsize: Accepted without effect. Default: None.
        batch_sampler (Iterable, optional): Yields a list of indices for each batch; the batches are produced in Python. Default: None.
        collate_fn (Callable, optional): Combines the rows of a batch: it receives one list per column and returns one value per column. Requires
            `batch_sampler`. Default: None, the values are stacked.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range or contradicts another.
        ArgumentError: A RuntimeError, if the source cannot be sampled or sharded.
        Exception: While reading, whatever the source raises, with a note that names the row.

    Examples:
        >>> import sindri.dataset as ds
        >>> def rows():
        ...     for i in range(3):
        ...         yield i, i * i
        >>> data = ds.GeneratorDataset(rows, ["x", "y"])
        >>> [(int(x), int(y)) for x, y in data]
        [(0, 0), (1, 1), (2, 4)]
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
        """Yields a batch for each list of indices from batch_sampler. collate_fn combines a list of values per column; without it they are stacked."""
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
        """Replaces the sampler, as MappableDataset.use_sampler.

        Args:
            new_sampler (Sampler, Iterable): The sampler.

        Raises:
            TypeError: If the argument is None or not a sampler.
            ArgumentError: A ValueError, if the dataset has a batch_sampler.
        """
        if self.batch_sampler is not None:
            fail(ArgumentError, "batch_sampler excludes another sampler", "GeneratorDataset.use_sampler")
        super().use_sampler(new_sampler)

    def get_batch_size(self) -> int:
        """Returns -1 with a batch_sampler, otherwise 1."""
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
    """The rows of an iterator that cannot restart, kept as they are read. Both the source and the reader may write into a row's arrays, so rows are copied
    on both sides.
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
                raise self._failure  # a generator that has raised only stops, which must not look like the end of the rows
            try:
                self._rows.append(_copied(next(self._source)))
            except StopIteration:
                return False
            except BaseException as e:
                self._failure = e
                raise
            return True


def _copied(value: Any) -> Any:
    """Returns a row with copies of its arrays."""
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_copied(part) for part in value] if isinstance(value, list) else tuple(_copied(part) for part in value)
    if isinstance(value, _core.Tensor):
        return value.asnumpy().copy()
    return value.copy() if isinstance(value, np.ndarray) else value


def _cannot_begin_again(source: Any) -> bool:
    """Whether iter() returns the iterator in its current state: true for generators and the iterators of builtins and C modules. A Python class may restart
    in __iter__."""
    own = getattr(type(source), "__next__", None)
    return own is not None and not isinstance(own, types.FunctionType) and iter(source) is source


class _Passes:
    """The passes over a source without __getitem__, and the state that is carried from one to the next."""

    def __init__(self, source: Any):
        self._source = _Kept(source) if _cannot_begin_again(source) else source
        self._begun: Optional[Tuple[Any, List[Any]]] = None  # an iterator that is its own iterable, and its rows that were read in advance
        self._most = 0

    def _iterable(self) -> Any:
        return self._source() if callable(self._source) and not hasattr(self._source, "__iter__") else self._source

    def look(self) -> Optional[Tuple[Any]]:
        """Returns the first row, which the next pass yields too."""
        for row in self.begin(looking=True):
            return (row,)
        return None

    def begin(self, looking: bool = False) -> Iterates[Any]:
        """Returns the rows of the next pass. looking: the rows read belong to the following pass too."""
        begun, self._begun = self._begun, None
        iterable = self._iterable()
        if begun is None or begun[0] is not iterable:
            begun = iter(iterable), []
        if looking and begun[0] is iterable:
            self._begun = begun
        return _go_on(*begun, looking)

    def ended(self, rows: int) -> None:
        """Records that a pass had this many rows. Raises RuntimeError for none, and warns if an earlier pass had more."""
        if rows >= self._most:
            self._most = rows
            return
        what = f"the source gave {rows or 'no'} rows, in an earlier pass {self._most}"
        fix = "pass a function that returns a new iterator, or a class whose __iter__ restarts; counting the rows is a pass too"
        if rows == 0:
            fail(RuntimeError, what, "GeneratorDataset", fix)
        warnings.warn(f"{what} | GeneratorDataset | {fix}", RuntimeWarning, stacklevel=2)


def _go_on(rows: Any, seen: List[Any], keep: bool) -> Iterates[Any]:
    """Yields the rows seen already, then the remaining rows of an iterator. Does not call iter(), which may restart it."""
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
    """Returns source[index] as a tuple of columns."""

    def __init__(self, source: Any, columns: Sequence[str]):
        self.source, self.columns = source, columns

    def __call__(self, index: int, epoch: int) -> tuple:
        seed = config._pipeline_seed()
        if seed is None:
            return as_columns(self.source[index], self.columns)
        with RowScope(_row_key(seed, epoch, index)):
            return as_columns(self.source[index], self.columns)


class _Checked:
    """Iterates a source with a length and yields tuples of columns. Raises RuntimeError for more rows than its __len__, because some would be lost."""

    def __init__(self, begin: Callable[[], Iterates[Any]], columns: Sequence[str], length: int):
        self.begin, self.columns, self.length = begin, columns, length

    def __call__(self) -> Iterates[tuple]:
        rows = self.begin()
        for index, row in enumerate(rows):
            if index + 1 == self.length and next(rows, self) is not self:
                fail(RuntimeError, f"the source gave more rows than its __len__, {self.length}", "GeneratorDataset", "make __len__ the number of rows")
            yield as_columns(row, self.columns)


class NumpySlicesDataset(_InPython):
    """Slices of arrays along their first dimension. Arrays are not copied.

    Args:
        data (array, list, tuple, dict): An array or list is one column, a tuple holds several, a dict holds them by name.
        column_names (str, list[str], optional): The column names. Default: None, the keys of a dict, otherwise column_0, column_1 and so on.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int): Worker threads. Default: 1.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, or columns have different lengths.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": [1, 2], "label": [0, 1]}, shuffle=False)
        >>> [(int(x), int(label)) for x, label in data]
        [(1, 0), (2, 1)]
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
                fail(ValueError, f"column '{name}' is a scalar, which has no rows", who)
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
    """Rows given as dicts, in order. Appended to a dataset, they make its number of rows divisible by the number of shards (see
    ConcatDataset.use_sampler).

    Args:
        padded_samples (list[dict]): The rows, all with the same columns.

    Raises:
        TypeError: If `padded_samples` is not a list of dicts.
        ValueError: If it is empty or the columns differ.

    Examples:
        >>> import sindri.dataset as ds
        >>> len(ds.PaddedDataset([{"x": 1}, {"x": 2}]))
        2
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
