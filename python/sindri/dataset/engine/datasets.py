"""Dataset and the operations on it (MindSpore: mindspore.dataset.Dataset). Sources are in the neighbouring modules.

A Dataset is a node of a tree. `_native` gives the C++ pipeline that does the same, made when it is first needed; None means that the
node runs in Python, by `_pull`, on top of what lies below (see iterators.py).
"""
from __future__ import annotations

import builtins
import copy
import itertools
import weakref
from enum import Enum
from typing import Any, Callable, Dict, Iterator as Iterates, List, Optional, Sequence, Tuple, Union

import numpy as np

from sindri import _core
from sindri.common.not_yet import not_yet
from sindri.dataset._check import ArgumentError, boolean, fail, integer, is_int, is_number, named, names, nearest
from sindri.dataset._transform import Chain, add_note, as_operations, compile_operations, generator, random_key
from sindri.dataset.core import config
from sindri.dataset.engine import samplers
from sindri.dataset.engine.cache import check_cache
from sindri.dataset.engine.iterators import DictIterator, Row, Run, TupleIterator, choose_seed, open_reader

__all__ = ["BatchInfo", "Dataset", "MappableDataset", "NonMappableDataset", "Schema", "Shuffle", "SourceDataset", "zip"]

_UNSET = object()


class Shuffle(str, Enum):
    """How sources made of files shuffle: GLOBAL mixes all rows, FILES the order of files only, INFILE the rows of each file."""

    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"
    ADAPTIVE = "adaptive"
    PARTIAL = "partial"
    FALSE = "false"


class BatchInfo:
    """What a per_batch_map or a function that chooses the batch size is told."""

    def __init__(self, epoch: int, batch: int):
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self) -> int:
        """The epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """The batch within the epoch, from 0."""
        return self._batch


def storable(value: Any, who: str) -> np.ndarray:
    """An array of a type that a column may have: what the engine lacks is widened (int8, int16 and uint16 to int32, uint32 and uint64 to int64).

    Raises TypeError for Python objects and complex numbers, ValueError for numbers above 2^63 - 1.
    """
    array = value.asnumpy() if isinstance(value, _core.Tensor) else np.asarray(value)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "i" and size < 4 or kind == "u" and size == 2:
        return array.astype(np.int32)
    if kind == "u" and size > 1:
        if size == 8 and array.size and array.max() > np.iinfo(np.int64).max:
            fail(ValueError, f"the value {array.max()} does not fit into int64", who)
        return array.astype(np.int64)
    if kind not in "biufUS" or kind == "f" and size > 8:
        fail(TypeError, f"a column cannot hold {array.dtype} (a {type(value).__name__})", who, "give numbers, bools or text")
    return array


def as_columns(value: Any, names_: Sequence[str]) -> tuple:
    """The columns of a row that a source gives: a tuple or list is one value each, a dict names them, anything else is a single one.

    Raises ArgumentError (a RuntimeError) for another number of values, or names that are missing.
    """
    if isinstance(value, dict):
        missing = [name for name in names_ if name not in value]
        if missing:
            fail(ArgumentError, f"the source gave no value for the column '{missing[0]}'", "GeneratorDataset", nearest(missing[0], map(str, value)))
        return tuple(value[name] for name in names_)
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(values) != len(names_):
        fail(ArgumentError, f"the source gave {len(values)} values for {len(names_)} column_names", "GeneratorDataset",
             "give a tuple with one value per column")
    return values



class Dataset:
    """Base of all data sets: the operations on rows, the sizes, the iterators. Use a source, such as ImageFolderDataset, to make one.

    Each data set feeds one other: using it twice raises ArgumentError (a ValueError).
    """

    def __init__(self, children: Sequence["Dataset"] = (), num_parallel_workers: Optional[int] = None, cache: Any = None):
        who = type(self).__name__
        if num_parallel_workers is not None:
            num_parallel_workers = integer(who, "num_parallel_workers", num_parallel_workers, 1)
        check_cache(who, cache)
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache
        self.children: List[Dataset] = []
        self.dataset_size: Optional[int] = None
        self._handle: Any = _UNSET
        self._consumer: Optional["weakref.ref[Dataset]"] = None
        self._feeds = ""
        self._first_row: Optional[Tuple[list, list]] = None
        for child in children:
            self._consume(child)

    def _consume(self, child: "Dataset") -> None:
        if not isinstance(child, Dataset):
            fail(TypeError, f"a data set is expected, got {child!r} of type {type(child).__name__}", type(self).__name__)
        if child._consumer is not None:
            fail(ArgumentError, f"the data pipeline is not a tree: {type(child).__name__} already feeds {child._feeds} "
                 f"and cannot feed {type(self).__name__} too", "", "build the data set twice, once for each use")
        child._consumer, child._feeds = weakref.ref(self), type(self).__name__
        self.children.append(child)

    # The tree.

    def _clone(self) -> "Dataset":
        """The same tree, unused."""
        twin = copy.copy(self)
        twin._handle, twin._consumer, twin.children = _UNSET, None, []
        for child in self.children:
            twin._consume(child._clone())
        return twin

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Dataset":
        return self._clone()

    def _walk(self) -> Iterates["Dataset"]:
        yield self
        for child in self.children:
            yield from child._walk()

    def _forget(self) -> None:
        """Drops what has been made of the tree that this node is part of."""
        root: Dataset = self
        while root._consumer is not None and root._consumer() is not None:
            root = root._consumer()  # type: ignore[assignment]
        for node in root._walk():
            node._handle, node._first_row, node.dataset_size = _UNSET, None, None

    def _is_drawn(self) -> bool:
        """Whether rows of some source are chosen in Python, epoch by epoch."""
        return any(node._drawn() for node in self._walk())

    def _drawn(self) -> bool:
        return False

    def _is_sharded(self) -> bool:
        return any(node._sharded() for node in self._walk())

    def _sharded(self) -> bool:
        return False

    def _set_draw(self, seed: int, epoch: int) -> None:
        """Fixes the rows that samplers in Python choose."""
        for node in self._walk():
            if isinstance(node, SourceDataset):
                node._draw_key = (seed, epoch)

    def _native(self) -> Optional[Any]:
        """The C++ pipeline that does the same, or None."""
        if self._handle is _UNSET:
            try:
                handles = [child._native() for child in self.children]
                self._handle = None if any(h is None for h in handles) else self._build(*handles)
            except BaseException:
                self._forget()  # parts of the C++ tree are used up
                raise
        return self._handle

    def _build(self, *inputs: Any) -> Optional[Any]:
        """The C++ node over those of the children."""
        return None

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        """The rows of one pass, in Python."""
        raise NotImplementedError

    def _columns(self, *inputs: List[str]) -> List[str]:
        """Column names, given those of the children."""
        return inputs[0]

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        """Rows, given those of the children: -1 without end, None unknown."""
        return inputs[0]

    def _workers(self) -> int:
        return self.num_parallel_workers or config._settings["num_parallel_workers"] or 0

    # Sizes and columns.

    def get_col_names(self) -> List[str]:
        """Names of the columns."""
        handle: Any = self._native()
        return list(handle.get_col_names() if handle is not None else self._columns(*(child.get_col_names() for child in self.children)))

    def _place_of(self, name: str, who: str, columns: Optional[List[str]] = None) -> int:
        columns = self.get_col_names() if columns is None else columns
        if name not in columns:
            fail(ArgumentError, f"no column '{name}', the columns are: {', '.join(columns)}", who, nearest(name, columns))
        return columns.index(name)

    def _known_size(self) -> Optional[int]:
        handle = self._native()
        if handle is None:
            return self._count(*(child._known_size() for child in self.children))
        try:
            return handle.get_dataset_size()
        except _core.dataset.EmptyDatasetError:
            return 0

    def get_dataset_size(self) -> int:
        """Batches (rows, without batch()) per epoch, repeats included; -1 for an endless repeat, where MindSpore tells the size of one pass.

        Counted by a pass over the data where it cannot be known. Raises EmptyDatasetError (a ValueError and RuntimeError) when it is 0.
        """
        handle = self._native()
        if handle is not None:
            return handle.get_dataset_size()
        if self.dataset_size is None:
            size = self._known_size()
            if size is None:
                run = Run(choose_seed(self), 1)
                try:
                    size = sum(1 for _ in run.rows(self, 0))
                finally:
                    run.close()
            self.dataset_size = size
        if self.dataset_size == 0:
            fail(_core.dataset.EmptyDatasetError, "the data set has no rows", type(self).__name__,
                 "check the counts of skip, take, filter and the source")
        return self.dataset_size

    def __len__(self) -> int:
        return self.get_dataset_size()

    def get_batch_size(self) -> int:
        """The size of the nearest batch() below; 1 without, -1 where a function chooses it."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """The product of the counts of repeat(); -1 without end."""
        return self.children[0].get_repeat_count() if self.children else 1

    def num_classes(self) -> Optional[int]:
        """The number of classes of the source, None where it has none."""
        return self.children[0].num_classes() if self.children else None

    def get_class_indexing(self) -> Dict[str, int]:
        """Folder name to label of an ImageFolderDataset, else {}."""
        return self.children[0].get_class_indexing() if self.children else {}

    def _look(self) -> Tuple[list, list]:
        """Types and shapes: those known beforehand, else of the first row."""
        if self._first_row is None:
            handle = self._native()
            known: Any = handle.columns() if handle is not None else [("", None, None)]
            if all(dtype is not None and shape is not None and -1 not in shape for _, dtype, shape in known):
                self._first_row = [_type_of(dtype) for _, dtype, _ in known], [list(shape) for _, _, shape in known]
            else:
                reader = open_reader(self, 1)
                try:
                    row = reader.next(False)
                finally:
                    reader.close()
                if row is None:
                    self.get_dataset_size()  # raises and says why
                    fail(RuntimeError, "the data set has no rows", type(self).__name__)
                self._first_row = [_type_of(column.dtype) for column in row], [list(column.shape) for column in row]
        return self._first_row

    def output_types(self) -> list:
        """NumPy types of the columns. Labels are int32 where MindSpore has uint32. A bfloat16 column has the type of sindri.common.dtype."""
        return list(self._look()[0])

    def output_shapes(self, estimate: bool = False) -> List[list]:
        """Shapes of the columns of the first row; with estimate, over a whole pass, None where a dimension varies."""
        boolean("output_shapes", "estimate", estimate)
        if not estimate:
            return [list(shape) for shape in self._look()[1]]
        shapes: Optional[List[list]] = None
        for row in self.create_tuple_iterator(num_epochs=1):
            seen = [list(column.shape) for column in row]
            if shapes is None:
                shapes = seen
            shapes = [_common_shape(old, new) for old, new in builtins.zip(shapes, seen)]
        return shapes or []

    # Reading.

    def create_tuple_iterator(self, columns: Any = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False) -> TupleIterator:
        """Rows as lists, of `columns` only where given. Raises TypeError or ValueError."""
        return TupleIterator(self, columns, num_epochs, output_numpy, do_copy)

    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False) -> DictIterator:
        """Rows as dicts, column name to Tensor or array. Raises TypeError or ValueError."""
        return DictIterator(self, num_epochs, output_numpy, do_copy)

    def __iter__(self) -> TupleIterator:
        return self.create_tuple_iterator(num_epochs=1)

    def reset(self) -> None:
        """Readies the data set for the next epoch. There is nothing to do: iterators go on by themselves, and new ones start anew."""

    # Operations.

    @named
    def batch(self, batch_size: Union[int, Callable], drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
              per_batch_map: Optional[Callable] = None, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
              pad_info: Optional[dict] = None, python_multiprocessing: bool = False, max_rowsize: Any = None) -> "Dataset":
        """Rows in batches. batch_size may be a function of BatchInfo; per_batch_map gets lists of arrays and a BatchInfo and gives lists or arrays.

        Batching runs in C++ unless a function or pad_info is given. python_multiprocessing and max_rowsize are hints that change nothing.
        Raises TypeError or ValueError; while reading DataError (a RuntimeError) when rows of a batch differ in shape.
        """
        if pad_info is not None:
            if per_batch_map is not None:
                fail(ArgumentError, "pad_info and per_batch_map exclude each other", "batch")
            return PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info, column_order)
        return BatchDataset(self, batch_size, drop_remainder, num_parallel_workers, per_batch_map, input_columns, output_columns, column_order,
                            python_multiprocessing)

    @named
    def padded_batch(self, batch_size: Union[int, Callable], drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
                     pad_info: Optional[dict] = None) -> "Dataset":
        """Rows in batches, each column padded to the largest shape of the batch. pad_info: {column: (shape or None, value)}; None in a shape means
        the largest.

        Columns that a pad_info does not name are not padded. Runs in Python. Raises TypeError or ValueError.
        """
        return PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info)

    @named
    def bucket_batch_by_length(self, column_names: Any, bucket_boundaries: Sequence[int], bucket_batch_sizes: Sequence[int],
                               element_length_function: Optional[Callable] = None, pad_info: Optional[dict] = None,
                               pad_to_bucket_boundary: bool = False, drop_remainder: bool = False) -> "Dataset":
        """Batches of rows of similar length: bucket i holds lengths below bucket_boundaries[i] and has batches of bucket_batch_sizes[i]; the last has
        the rest.

        The length is that of element_length_function(*column_names), else the first dimension of the one column. Rows are padded as by
        padded_batch(); with pad_to_bucket_boundary, None in a shape means one less than the boundary. Runs in Python. Raises TypeError or ValueError.
        """
        return BucketBatchByLengthDataset(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function, pad_info,
                                          pad_to_bucket_boundary, drop_remainder)

    @named
    def map(self, operations: Any, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
            num_parallel_workers: Optional[int] = None, python_multiprocessing: bool = False, cache: Any = None, callbacks: Any = None,
            max_rowsize: Any = None, offload: Any = None) -> "Dataset":
        """Applies transforms and Python functions in order to the input columns (the first, without) of every row, or batch behind batch().

        A function gets one array per column and gives one value or a tuple; one with a parameter `rng` gets a numpy.random.Generator for the row.
        Functions run in worker threads. python_multiprocessing, max_rowsize and offload are hints that change nothing.
        Raises TypeError or ValueError; while reading what the function raises, with a note that names the row.
        """
        if is_int(column_order):  # 2.x has num_parallel_workers at this place
            column_order, num_parallel_workers = None, column_order
        return MapDataset(self, operations, input_columns, output_columns, column_order, num_parallel_workers, python_multiprocessing, cache,
                          callbacks)

    @named
    def filter(self, predicate: Callable, input_columns: Any = None, num_parallel_workers: Optional[int] = None) -> "Dataset":
        """Keeps the rows for which predicate(*input_columns) is true. It and what follows run in Python. Raises TypeError."""
        return FilterDataset(self, predicate, input_columns, num_parallel_workers)

    @named
    def flat_map(self, func: Callable) -> "Dataset":
        """The rows of the data set (or list of data sets) that func(*columns) gives for each row, one after the other. Runs in Python.

        Raises TypeError.
        """
        return FlatMapDataset(self, func)

    @named
    def shuffle(self, buffer_size: int) -> "Dataset":
        """Mixes within a window of buffer_size rows, anew in each epoch; 1 keeps the order. Raises TypeError or ValueError."""
        return ShuffleDataset(self, buffer_size)

    @named
    def repeat(self, count: Optional[int] = None) -> "Dataset":
        """The rows `count` times per epoch; None or -1 without end. Raises TypeError or ValueError."""
        return RepeatDataset(self, count)

    @named
    def skip(self, count: int) -> "Dataset":
        """Leaves out the first `count` rows. Raises TypeError or ValueError."""
        return SkipDataset(self, count)

    @named
    def take(self, count: int = -1) -> "Dataset":
        """At most `count` rows; -1 takes all. Raises TypeError or ValueError."""
        return TakeDataset(self, count)

    @named
    def rename(self, input_columns: Any, output_columns: Any) -> "Dataset":
        """Gives columns other names. Raises TypeError, ValueError, or ArgumentError for a column that is not there."""
        return RenameDataset(self, input_columns, output_columns)

    @named
    def project(self, columns: Any) -> "Dataset":
        """Keeps these columns, in this order. Raises TypeError, ValueError, or ArgumentError for a column that is not there."""
        return ProjectDataset(self, columns)

    @named
    def zip(self, datasets: Any) -> "Dataset":
        """Rows side by side with those of other data sets, as many as the shortest has. Raises TypeError, or ArgumentError for equal column names."""
        return ZipDataset([self, *_datasets("zip", datasets)])

    @named
    def concat(self, datasets: Any) -> "Dataset":
        """This data set's rows, then those of the others. Raises TypeError, or ValueError when the columns differ."""
        return ConcatDataset([self, *_datasets("concat", datasets)])

    def __add__(self, other: Any) -> "Dataset":
        return self.concat(other)

    @named
    def apply(self, apply_func: Callable) -> "Dataset":
        """apply_func(self). Raises TypeError when that is no data set."""
        if not callable(apply_func):
            fail(TypeError, f"apply_func must be callable, got {apply_func!r}", "apply")
        result = apply_func(self)
        if not isinstance(result, Dataset):
            fail(TypeError, f"apply_func must return a data set, got {result!r}", "apply")
        return result

    @named
    def split(self, sizes: Sequence[Union[int, float]], randomize: bool = True) -> Tuple["Dataset", ...]:
        """Disjoint parts with `sizes` rows (ints), or shares that add up to 1 (floats). randomize: by a permutation that stays the same in all
        epochs.

        This data set must not change its own order from epoch to epoch, else rows move between the parts. Raises ArgumentError (a RuntimeError) when
        the sizes do not add up, TypeError or ValueError.
        """
        boolean("split", "randomize", randomize)
        places = np.split(self._split_order(randomize), np.cumsum(_split_sizes(sizes, self._split_rows()))[:-1])
        return tuple(self._part(part) for part in places)

    def _split_rows(self) -> int:
        size = self.get_dataset_size()
        if size < 0:
            fail(ArgumentError, "the data set has no end and cannot be split", "split", "split before repeat()")
        return size

    def _split_order(self, randomize: bool) -> np.ndarray:
        rows = np.arange(self._split_rows())
        return generator(random_key(choose_seed(self), 0x73706C6974)).permutation(rows) if randomize else rows

    def _part(self, places: np.ndarray) -> "Dataset":
        """The rows at these places."""
        if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
            part = self._clone()
            return (part.skip(int(places[0])) if places[0] else part).take(len(places))
        return PartDataset(self._clone(), places)

    @named
    def build_vocab(self, columns: Any, freq_range: Any, top_k: Any, special_tokens: Any, special_first: bool) -> Any:
        """A text.Vocab of the words in text columns; see Vocab.from_dataset."""
        from sindri.dataset.text import Vocab
        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    @named
    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Not available yet: it writes MindRecord."""
        not_yet("dataset.Dataset.save", "BERT")

    def device_que(self, *args: Any, **kwargs: Any) -> Any:
        """Not available yet: the device queue that copied sink-mode loops drive. Model.train's sink mode needs none."""
        return not_yet("dataset.Dataset.device_que", "THOR")

    to_device = send = stop_send = device_que


def _common_shape(a: list, b: list) -> list:
    """The dimensions both have, None where they differ."""
    return [x if x == y else None for x, y in builtins.zip(a, b)] if len(a) == len(b) else [None]


def _type_of(dtype: Any) -> Any:
    """A NumPy type; the engine's own for bfloat16, which NumPy lacks."""
    if isinstance(dtype, np.dtype):
        return np.dtype("S" if dtype.kind == "S" else "U") if dtype.kind in "US" else dtype
    name = dtype if isinstance(dtype, str) else dtype.numpy_name
    return _core.dtypes["BFloat16"] if name == "bfloat16" else np.dtype(name)


def _datasets(who: str, datasets: Any) -> List[Dataset]:
    if isinstance(datasets, Dataset):
        return [datasets]
    if not isinstance(datasets, (list, tuple)) or not all(isinstance(d, Dataset) for d in datasets):
        fail(TypeError, f"data sets are expected, got {datasets!r} of type {type(datasets).__name__}", who)
    return list(datasets)


def zip(datasets: Any) -> Dataset:
    """Rows of several data sets side by side, as many as the shortest has.

    Raises TypeError, ValueError for fewer than two, ArgumentError for equal column names.
    """
    if not isinstance(datasets, (list, tuple)):
        fail(TypeError, f"datasets must be a tuple, got {datasets!r} of type {type(datasets).__name__}", "zip")
    return ZipDataset(_datasets("zip", datasets))


def _split_sizes(sizes: Any, rows: int) -> List[int]:
    """Whole numbers that add up to `rows`."""
    if not isinstance(sizes, (list, tuple)) or not sizes:
        fail(TypeError, f"sizes must be a list of ints or floats, got {sizes!r}", "split")
    if all(is_int(size) for size in sizes):
        if any(size <= 0 for size in sizes):
            fail(ValueError, f"sizes must be positive, got {list(sizes)}", "split")
        if sum(sizes) != rows:
            fail(ArgumentError, f"the sizes add up to {sum(sizes)}, there are {rows} rows", "split")
        return [int(size) for size in sizes]
    if not all(is_number(size) and not is_int(size) for size in sizes):
        fail(TypeError, f"sizes must be all ints or all floats, got {list(sizes)}", "split")
    if any(not 0 < size <= 1 for size in sizes) or abs(sum(sizes) - 1) > 1e-6:
        fail(ValueError, f"shares must be above 0 and add up to 1, got {list(sizes)}", "split")
    counts = [int(round(size * rows)) for size in sizes]
    if 0 in counts:
        fail(ArgumentError, f"the share {sizes[counts.index(0)]} of {rows} rows is none", "split")
    # Rounding: missing rows go to the first part, surplus ones come from the first that can spare them.
    difference = rows - sum(counts)
    place = 0 if difference > 0 else next(i for i, count in enumerate(counts) if count + difference > 0)
    counts[place] += difference
    return counts


# Operations on one data set.


class BatchDataset(Dataset):
    """Made by Dataset.batch()."""

    def __init__(self, child: Dataset, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
                 per_batch_map: Optional[Callable] = None, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
                 python_multiprocessing: bool = False):
        if not callable(batch_size) and not is_int(batch_size):
            fail(TypeError, f"batch_size must be an int or a function of BatchInfo, got {batch_size!r} of type {type(batch_size).__name__}", "batch")
        if per_batch_map is not None and not callable(per_batch_map):
            fail(TypeError, f"per_batch_map must be callable, got {per_batch_map!r}", "batch")
        self.batch_size = batch_size if callable(batch_size) else integer("batch", "batch_size", batch_size, 1)
        self.drop_remainder = boolean("batch", "drop_remainder", drop_remainder)
        self.per_batch_map = per_batch_map
        self.input_columns = names("batch", "input_columns", input_columns)
        self.output_columns = names("batch", "output_columns", output_columns) or self.input_columns
        self.column_order = names("batch", "column_order", column_order)
        if self.output_columns and per_batch_map is None:
            fail(ValueError, "input_columns and output_columns need a per_batch_map", "batch")
        boolean("batch", "python_multiprocessing", python_multiprocessing)
        super().__init__([child], num_parallel_workers)

    def get_batch_size(self) -> int:
        return -1 if callable(self.batch_size) else self.batch_size

    def _build(self, child: Any) -> Optional[Any]:
        if callable(self.batch_size) or self.per_batch_map is not None:
            return None
        handle = child.batch(self.batch_size, self.drop_remainder, self._workers())
        return _project(self, handle, self.column_order)

    def _mapped_columns(self, columns: List[str]) -> Tuple[List[int], List[str], List[int]]:
        """Places that per_batch_map reads, names of its results, places of the other columns."""
        inputs = self.input_columns or columns
        return _map_columns(self, "batch", columns, inputs, self.output_columns or inputs)

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        if self.per_batch_map is not None:
            columns = _after_map(columns, *self._mapped_columns(columns))
        return _ordered(self, columns, self.column_order)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = inputs[0]
        return None if callable(self.batch_size) else _batches(rows, self.batch_size, self.drop_remainder)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        rows = run.rows(self.children[0], epoch)
        for number in itertools.count():
            info = BatchInfo(epoch, number)
            size = self.batch_size if not callable(self.batch_size) else integer("batch", "batch_size(BatchInfo)", self.batch_size(info), 1)
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
            result = _after_map(columns, inputs, outputs, others)
            by_name = {columns[i]: values[i] for i in others}
            by_name.update(dict(builtins.zip(outputs, made)))
            values = [by_name[name] for name in result]
        batch = [_stack(column, name, "batch") for column, name in builtins.zip(values, result)]
        return [batch[result.index(name)] for name in self.column_order] if self.column_order else batch


class PaddedBatchDataset(BatchDataset):
    """Made by Dataset.padded_batch()."""

    def __init__(self, child: Dataset, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
                 pad_info: Optional[dict] = None, column_order: Any = None):
        self.pad_info = _check_pad_info("padded_batch", pad_info)
        super().__init__(child, batch_size, drop_remainder, num_parallel_workers, column_order=column_order)

    def _build(self, child: Any) -> Optional[Any]:
        return None

    def _make(self, group: List[Row], columns: List[str], info: BatchInfo) -> Row:
        for name in self.pad_info:
            self._place_of(name, "padded_batch", columns)
        batch = [_stack(_padded([row[i] for row in group], name, self.pad_info), name, "padded_batch") for i, name in enumerate(columns)]
        return [batch[columns.index(name)] for name in self.column_order] if self.column_order else batch


class BucketBatchByLengthDataset(Dataset):
    """Made by Dataset.bucket_batch_by_length()."""

    def __init__(self, child: Dataset, column_names: Any, bucket_boundaries: Sequence[int], bucket_batch_sizes: Sequence[int],
                 element_length_function: Optional[Callable] = None, pad_info: Optional[dict] = None, pad_to_bucket_boundary: bool = False,
                 drop_remainder: bool = False):
        who = "bucket_batch_by_length"
        self.column_names = names(who, "column_names", column_names)
        for name, value in (("bucket_boundaries", bucket_boundaries), ("bucket_batch_sizes", bucket_batch_sizes)):
            if not isinstance(value, (list, tuple)) or not value:
                fail(TypeError, f"{name} must be a list of ints that is not empty, got {value!r}", who)
        self.boundaries = [integer(who, "bucket_boundaries", b, 1) for b in bucket_boundaries]
        self.sizes = [integer(who, "bucket_batch_sizes", s, 1) for s in bucket_batch_sizes]
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
        self.pad_to_boundary = boolean(who, "pad_to_bucket_boundary", pad_to_bucket_boundary)
        self.drop_remainder = boolean(who, "drop_remainder", drop_remainder)
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
            out.append(_stack(_padded(values, name, self.pad_info, edge), name, who))
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
    """Rows of one column brought to one shape; `edge` stands for None in a given shape."""
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


def _stack(values: Any, name: str, who: str) -> np.ndarray:
    """A batch of one column. Raises DataError (a RuntimeError) for rows of different shapes or types."""
    arrays = [storable(v, who) for v in values]
    if not arrays:
        fail(ArgumentError, f"column '{name}' of a batch is empty", who)
    for i, array in enumerate(arrays):
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


def _map_columns(node: Dataset, who: str, columns: List[str], inputs: List[str], outputs: List[str]) -> Tuple[List[int], List[str], List[int]]:
    """Places of the inputs, names of the results, places of the other columns. Raises ArgumentError."""
    places = [node._place_of(name, who, columns) for name in inputs]
    others = [i for i in range(len(columns)) if i not in places]
    for name in outputs:
        if name in [columns[i] for i in others]:
            fail(ArgumentError, f"the result '{name}' has the name of another column", who, "rename one of them first")
    return places, outputs, others


def _after_map(columns: List[str], places: List[int], outputs: List[str], others: List[int]) -> List[str]:
    """Columns behind a map: results take the places of as many inputs; otherwise they come first."""
    if len(places) != len(outputs):
        return [*outputs, *(columns[i] for i in others)]
    result = list(columns)
    for place, name in builtins.zip(places, outputs):
        result[place] = name
    return result


def _ordered(node: Dataset, columns: List[str], order: List[str]) -> List[str]:
    for name in order:
        node._place_of(name, type(node).__name__.replace("Dataset", "").lower(), columns)
    return order or columns


def _project(node: Dataset, handle: Any, order: List[str]) -> Any:
    return handle.project(_ordered(node, handle.get_col_names(), order)) if order else handle


class MapDataset(Dataset):
    """Made by Dataset.map()."""

    def __init__(self, child: Dataset, operations: Any, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
                 num_parallel_workers: Optional[int] = None, python_multiprocessing: bool = False, cache: Any = None, callbacks: Any = None):
        self.operations = as_operations("map", operations)
        self.input_columns = names("map", "input_columns", input_columns)
        self.output_columns = names("map", "output_columns", output_columns)
        self.column_order = names("map", "column_order", column_order)
        boolean("map", "python_multiprocessing", python_multiprocessing)
        if callbacks:
            fail(NotImplementedError, "callbacks are not supported", "map", "leave callbacks out")
        super().__init__([child], num_parallel_workers, cache)

    def _mapped_columns(self, columns: List[str]) -> Tuple[List[int], List[str], List[int]]:
        inputs = self.input_columns or columns[:1]
        return _map_columns(self, "map", columns, inputs, self.output_columns or inputs)

    def _build(self, child: Any) -> Optional[Any]:
        columns = list(child.get_col_names())
        inputs, outputs, others = self._mapped_columns(columns)
        transforms = compile_operations(self.operations, len(outputs))
        if transforms is None:
            return None
        handle = child.map(transforms, [columns[i] for i in inputs], outputs, self._workers())
        if len(inputs) != len(outputs):
            handle = handle.project([*outputs, *(columns[i] for i in others)])
        return _project(self, handle, self.column_order)

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        return _ordered(self, _after_map(columns, *self._mapped_columns(columns)), self.column_order)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        inputs, outputs, others = self._mapped_columns(columns)
        after = _after_map(columns, inputs, outputs, others)
        chain = Chain(self.operations, len(outputs))
        for index, row in enumerate(run.rows(self.children[0], epoch)):
            key = random_key(run.seed, epoch, index, len(chain.operations)) if chain.keyed else 0
            try:
                made = [storable(value, chain.name) for value in chain.run(key, [row[i] for i in inputs])]
            except Exception as e:
                add_note(e, f"data pipeline: row {index}, map operations {chain.name}")
                raise
            by_name = {columns[i]: row[i] for i in others}
            by_name.update(dict(builtins.zip(outputs, made)))
            yield [by_name[name] for name in self.column_order or after]


class FilterDataset(Dataset):
    """Made by Dataset.filter()."""

    def __init__(self, child: Dataset, predicate: Callable, input_columns: Any = None, num_parallel_workers: Optional[int] = None):
        if not callable(predicate):
            fail(TypeError, f"predicate must be callable, got {predicate!r}", "filter")
        self.predicate = predicate
        self.input_columns = names("filter", "input_columns", input_columns)
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
    """Made by Dataset.flat_map()."""

    def __init__(self, child: Dataset, func: Callable):
        if not callable(func):
            fail(TypeError, f"func must be callable, got {func!r}", "flat_map")
        self.func = func
        self._names: Optional[List[str]] = None
        super().__init__([child])

    def _inner(self, row: Row) -> List[Dataset]:
        return _datasets("flat_map", self.func(*row))

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        if self._names is None:
            run = Run(choose_seed(self), 1)
            try:
                row = next(iter(run.rows(self.children[0], 0)), None)
                inner = [] if row is None else self._inner(row)
            finally:
                run.close()
            self._names = inner[0].get_col_names() if inner else columns
        return self._names

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
    """Made by Dataset.shuffle()."""

    def __init__(self, child: Dataset, buffer_size: int):
        self.buffer_size = integer("shuffle", "buffer_size", buffer_size, 1)
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
    """Made by Dataset.repeat()."""

    def __init__(self, child: Dataset, count: Optional[int] = None):
        self.count = -1 if count is None else integer("repeat", "count", count, -1)
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
        # An endless repeat is one pass of its own, of which every round is a pass of its input.
        run.num_epochs = -1 if self.count != 1 else run.num_epochs
        for i in itertools.count() if self.count < 0 else range(self.count):
            empty = True
            for row in run.rows(self.children[0], i if self.count < 0 else epoch * self.count + i):
                empty = False
                yield row
            if empty:
                return


class SkipDataset(Dataset):
    """Made by Dataset.skip()."""

    def __init__(self, child: Dataset, count: int):
        self.count = integer("skip", "count", count, 0)
        super().__init__([child])

    def _build(self, child: Any) -> Any:
        return child.skip(self.count)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = inputs[0]
        return rows if rows is None or rows < 0 else max(0, rows - self.count)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return itertools.islice(run.rows(self.children[0], epoch), self.count, None)


class TakeDataset(Dataset):
    """Made by Dataset.take()."""

    def __init__(self, child: Dataset, count: int = -1):
        self.count = integer("take", "count", count, -1)
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
    """One part of Dataset.split(): the rows at given places of a pass, in their order."""

    def __init__(self, child: Dataset, places: np.ndarray):
        self.places = frozenset(int(i) for i in places)
        super().__init__([child])

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        return len(self.places)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return (row for index, row in enumerate(run.rows(self.children[0], epoch)) if index in self.places)


class RenameDataset(Dataset):
    """Made by Dataset.rename()."""

    def __init__(self, child: Dataset, input_columns: Any, output_columns: Any):
        self.input_columns = names("rename", "input_columns", input_columns)
        self.output_columns = names("rename", "output_columns", output_columns)
        if len(self.input_columns) != len(self.output_columns) or not self.input_columns:
            fail(ValueError, f"{len(self.input_columns)} input_columns and {len(self.output_columns)} output_columns are given", "rename",
                 "give one new name per column")
        super().__init__([child])

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        places, outputs, others = _map_columns(self, "rename", columns, self.input_columns, self.output_columns)
        return _after_map(columns, places, outputs, others)

    def _build(self, child: Any) -> Any:
        self._columns(list(child.get_col_names()))
        return child.rename(self.input_columns, self.output_columns)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        return run.rows(self.children[0], epoch)


class ProjectDataset(Dataset):
    """Made by Dataset.project()."""

    def __init__(self, child: Dataset, columns: Any):
        self.columns = names("project", "columns", columns)
        if not self.columns:
            fail(ValueError, "no columns are given", "project")
        super().__init__([child])

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = inputs[0]
        return _ordered(self, columns, self.columns)

    def _build(self, child: Any) -> Any:
        return _project(self, child, self.columns)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        columns = self.children[0].get_col_names()
        places = [self._place_of(name, "project", columns) for name in self.columns]
        return ([row[i] for i in places] for row in run.rows(self.children[0], epoch))


# Operations on several data sets.


class ZipDataset(Dataset):
    """Made by zip()."""

    def __init__(self, datasets: Sequence[Dataset]):
        if len(datasets) < 2:
            fail(ValueError, f"at least two data sets are needed, got {len(datasets)}", "zip")
        super().__init__(datasets)

    def _columns(self, *inputs: List[str]) -> List[str]:
        columns = [name for part in inputs for name in part]
        for name in columns:
            if columns.count(name) > 1:
                fail(ArgumentError, f"two data sets have a column '{name}'", "zip", "rename one of them first")
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
    """Made by concat() and +."""

    def __init__(self, datasets: Sequence[Dataset]):
        super().__init__(datasets)

    def _columns(self, *inputs: List[str]) -> List[str]:
        for other in inputs[1:]:
            if other != inputs[0]:
                fail(ArgumentError, f"the columns of the data sets differ: {inputs[0]} and {other}", "concat",
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
        """Deals the rows of all data sets, as one list, to the shards of a DistributedSampler without shuffle or num_samples.

        No row repeats: pad with a PaddedDataset for equally long shards. Raises TypeError or ValueError.
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
            source = _source_below(child)
            rows = source._rows()
            source.use_sampler(samplers.DistributedSampler(sampler.num_shards, sampler.shard_id, False, None, before % sampler.num_shards))
            before += rows


def _source_below(dataset: Dataset) -> "MappableDataset":
    """The source that gives a data set's rows one for one. Raises ArgumentError."""
    node = dataset
    while isinstance(node, (MapDataset, RenameDataset, ProjectDataset)):
        node = node.children[0]
    if not isinstance(node, MappableDataset):
        fail(ArgumentError, f"{type(node).__name__} has no rows that can be reached in any order", "use_sampler", "use the sampler on the sources")
    return node


# Sources.


class SourceDataset(Dataset):
    """Base of the sources. num_samples caps the rows of an epoch, after shuffling; num_shards and shard_id come together."""

    _draw_key: Tuple[int, int] = (0, 0)  # of rows chosen in Python: seed and epoch

    def __init__(self, num_parallel_workers: Optional[int] = None, num_samples: Optional[int] = None, shuffle: Any = None,
                 num_shards: Optional[int] = None, shard_id: Optional[int] = None, cache: Any = None):
        who = type(self).__name__
        self.num_samples = None if num_samples is None else integer(who, "num_samples", num_samples, 0, samplers._INT64_MAX) or None
        if (num_shards is None) != (shard_id is None):
            fail(ArgumentError, f"num_shards and shard_id come together, only {'num_shards' if shard_id is None else 'shard_id'} is given", who)
        self.num_shards = None if num_shards is None else integer(who, "num_shards", num_shards, 1)
        self.shard_id = None if shard_id is None else integer(who, "shard_id", shard_id, 0)
        if self.num_shards is not None and self.shard_id >= self.num_shards:  # type: ignore[operator]
            fail(ArgumentError, f"shard_id must be less than num_shards={num_shards}, got {shard_id}", who)
        self.shuffle_flag = shuffle
        super().__init__((), num_parallel_workers, cache)

    def _sharded(self) -> bool:
        return self.num_shards is not None and self.num_shards > 1


class NonMappableDataset(SourceDataset):
    """Base of the sources whose rows come one after another."""


class MappableDataset(SourceDataset):
    """Base of the sources whose rows can be reached in any order. shuffle=None means shuffled unless there is a sampler.

    A sampler excludes shuffle, num_shards and shard_id. Raises TypeError, ValueError, or ArgumentError, which is a ValueError and RuntimeError.
    """

    def __init__(self, num_parallel_workers: Optional[int] = None, sampler: Any = None, num_samples: Optional[int] = None,
                 shuffle: Optional[bool] = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None, cache: Any = None):
        who = type(self).__name__
        if shuffle is not None:
            boolean(who, "shuffle", shuffle)
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.sampler: Optional[samplers.BuiltinSampler] = None
        if sampler is not None:
            if shuffle is not None or num_shards is not None:
                fail(ArgumentError, f"a sampler excludes {'shuffle' if shuffle is not None else 'num_shards and shard_id'}", who,
                     "use the sampler's own parameters, such as DistributedSampler(num_shards, shard_id, shuffle)")
            self.sampler = samplers.as_sampler(who, sampler)

    def use_sampler(self, new_sampler: Any) -> None:
        """Chooses rows by another sampler; shuffle, shards and the old sampler no longer count. Raises TypeError."""
        if new_sampler is None:
            fail(TypeError, "a sampler is expected, got None", f"{type(self).__name__}.use_sampler")
        self.sampler = samplers.as_sampler(type(self).__name__, new_sampler)
        self.shuffle_flag = self.num_shards = self.shard_id = None
        self._forget()

    def add_sampler(self, new_sampler: Any) -> None:
        """Makes new_sampler choose from the rows of the present sampler. Raises TypeError."""
        sampler = samplers.as_sampler(type(self).__name__, new_sampler)
        sampler.add_child(self._effective_sampler())
        self.use_sampler(sampler)

    def is_shuffled(self) -> bool:
        """Whether the order is mixed."""
        return self.sampler.is_shuffled() if self.sampler is not None else self.shuffle_flag is not False

    def is_sharded(self) -> bool:
        """Whether this is one shard of several."""
        return self._sharded()

    def _sharded(self) -> bool:
        return self.sampler.is_sharded() if self.sampler is not None else super()._sharded()

    def _effective_sampler(self) -> samplers.BuiltinSampler:
        """The sampler that shuffle, shards and num_samples amount to."""
        if self.sampler is not None:
            return self.sampler
        shuffled = self.shuffle_flag is not False
        if self.num_shards is not None:
            return samplers.DistributedSampler(self.num_shards, self.shard_id, shuffled)  # type: ignore[arg-type]
        return samplers.RandomSampler() if shuffled else samplers.SequentialSampler()

    def _drawn(self) -> bool:
        return self.sampler is not None and self.sampler._core_sampler() is None

    def _draw(self, seed: int, epoch: int) -> np.ndarray:
        """Row ids of one epoch, drawn in Python."""
        ids = self._effective_sampler()._draw(self._rows(), seed, epoch, self._labels)
        return ids if self.num_samples is None else ids[:self.num_samples]

    def _options(self) -> Any:
        if self._drawn():
            ids = self._draw(*self._draw_key)
            if len(ids) == 0:
                raise _core.dataset.EmptyDatasetError(f"the sampler chose no rows | {type(self).__name__}")
            return _core.dataset.SourceOptions(sampler=_core.dataset.subset_sampler(ids.tolist(), None), num_parallel_workers=self._workers())
        sampler = None if self.sampler is None else self.sampler._core_sampler()
        return _core.dataset.SourceOptions(self.num_samples, self._workers(), self.shuffle_flag, sampler, self.num_shards, self.shard_id)

    def _build(self) -> Optional[Any]:
        return self._source(self._options())

    def _source(self, options: Any) -> Any:
        """The C++ source."""
        raise NotImplementedError

    def _whole(self) -> Any:
        """The C++ source with all rows in their order."""
        return self._source(_core.dataset.SourceOptions(shuffle=False))

    def _rows(self) -> int:
        """Rows of the source, before any sampling."""
        return self._whole().get_dataset_size()

    def _labels(self, column: str) -> np.ndarray:
        """The whole of one scalar column, by one pass over the source."""
        whole = self._whole()
        columns = list(whole.get_col_names())
        self._place_of(column, "PKSampler", columns)
        iterator = _core.dataset.Iterator(whole.project([column]), num_epochs=1)
        try:
            return np.asarray([row[0].item() for row in iter(lambda: iterator.next(True), None)])
        finally:
            iterator.close()

    def num_classes(self) -> Optional[int]:
        handle = self._native()
        return None if handle is None else handle.num_classes()

    def get_class_indexing(self) -> Dict[str, int]:
        handle = self._native()
        return {} if handle is None else dict(handle.get_class_indexing())

    def _split_rows(self) -> int:
        if self._sharded():
            fail(ArgumentError, "the data set is sharded already", "split", "split first, and give num_shards to the parts by use_sampler")
        return len(self._split_ids())

    def _split_ids(self) -> np.ndarray:
        if self.sampler is None:
            ids = np.arange(self._rows())
            return ids if self.num_samples is None else ids[:self.num_samples]
        return self._draw(choose_seed(self), 0)

    def _split_order(self, randomize: bool) -> np.ndarray:
        ids = self._split_ids()
        return generator(random_key(choose_seed(self), 0x73706C6974)).permutation(ids) if randomize else ids

    def _part(self, places: np.ndarray) -> Dataset:
        part: Any = self._clone()
        part.num_samples = None
        part.use_sampler(samplers.SubsetSampler(places.tolist()))
        return part


class Schema:
    """Names, types and shapes of columns. `schema_file`: JSON with "columns", as of TFRecord data sets. Raises OSError or ValueError for a file that
    cannot be used.
    """

    def __init__(self, schema_file: Optional[str] = None):
        self.schema_file = schema_file
        self.num_rows: Optional[int] = None
        self.columns: List[dict] = []
        if schema_file:
            import json
            with open(schema_file, encoding="utf-8") as stream:
                self.from_json(json.load(stream))

    def add_column(self, name: str, de_type: Any, shape: Optional[Sequence[int]] = None) -> None:
        """Adds a column. de_type: a type of sindri.common.dtype or its name. Raises TypeError or ValueError."""
        if not isinstance(name, str) or not name:
            fail(TypeError, f"name must be a str that is not empty, got {name!r}", "Schema.add_column")
        if any(column["name"] == name for column in self.columns):
            fail(ValueError, f"there is a column '{name}' already", "Schema.add_column")
        text = de_type if isinstance(de_type, str) else str(de_type).lower()
        if text not in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "string"):
            fail(TypeError, f"de_type {de_type!r} is not known", "Schema.add_column")
        column: dict = {"name": name, "type": text}
        if shape is not None:
            column["shape"] = [integer("Schema.add_column", "shape", dim, -1) for dim in shape]
            column["rank"] = len(column["shape"])
        self.columns.append(column)

    def from_json(self, json_obj: dict) -> None:
        """Takes the columns of a JSON object. Raises ValueError."""
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            fail(ValueError, "a schema must be an object with 'columns'", "Schema.from_json")
        self.num_rows = json_obj.get("numRows")
        self.columns = []
        self.parse_columns(json_obj["columns"])

    def parse_columns(self, columns: Any) -> None:
        """Adds columns: {name: {"type": ..., "shape": ...}}, or a list of objects with "name". Raises TypeError or ValueError."""
        if isinstance(columns, dict):
            columns = [{"name": name, **entry} for name, entry in columns.items()]
        if not isinstance(columns, list):
            fail(TypeError, f"columns must be a dict or a list, got {columns!r}", "Schema.parse_columns")
        for entry in columns:
            if "name" not in entry or "type" not in entry:
                fail(ValueError, f"a column needs a name and a type, got {entry!r}", "Schema.parse_columns")
            self.add_column(entry["name"], entry["type"], entry.get("shape"))

    def to_json(self) -> str:
        """The schema as JSON text."""
        import json
        out: dict = {"columns": {c["name"]: {k: v for k, v in c.items() if k != "name"} for c in self.columns}}
        if self.num_rows:
            out["numRows"] = self.num_rows
        return json.dumps(out, indent=2)

    def __str__(self) -> str:
        return self.to_json()
