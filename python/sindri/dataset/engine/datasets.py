"""Dataset and the operations on it (MindSpore: mindspore.dataset.Dataset). The nodes its methods make are in _rows.py and _batching.py, the
sources in the neighbouring modules.

A Dataset is a node of a tree. `_native` gives the C++ pipeline that does the same, made when it is first needed; None means that the
node runs in Python, by `_pull`, on top of what lies below (see iterators.py).
"""
from __future__ import annotations

import builtins
import copy
import weakref
from enum import Enum
from typing import Any, Callable, Dict, Iterator as Iterates, List, Optional, Sequence, Tuple, Union

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_int32, fail, is_int, is_number, named, nearest
from sindri.common.not_yet import not_yet
from sindri.dataset._transform import generator, random_key
from sindri.dataset.core import config
from sindri.dataset.engine._schema import Schema
from sindri.dataset.engine._values import common_shape, type_of
from sindri.dataset.engine.cache import check_cache
from sindri.dataset.engine.iterators import DictIterator, Row, Run, TupleIterator, choose_seed, in_python_where_needed, open_reader

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


class Dataset:
    """Base of all data sets: the operations on rows, the sizes, the iterators. Use a source, such as ImageFolderDataset, to make one.

    Each data set feeds one other: using it twice raises ArgumentError (a ValueError).
    """

    def __init__(self, children: Sequence["Dataset"] = (), num_parallel_workers: Optional[int] = None, cache: Any = None):
        who = type(self).__name__
        if num_parallel_workers is not None:
            num_parallel_workers = check_int32(who, "num_parallel_workers", num_parallel_workers, 1, config.MOST_WORKERS)
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

    def _skips_all(self) -> bool:
        """Whether a skip() below leaves nothing of the rows it has: what the user asked for, unlike other data sets without rows."""
        return any(node._skips_all() for node in self.children)

    def get_dataset_size(self) -> int:
        """Batches (rows, without batch()) per epoch, repeats included; -1 for an endless repeat, where MindSpore tells the size of one pass.

        Counted by a pass over the data where it cannot be known; 0 where skip() leaves none. Raises EmptyDatasetError (a ValueError and RuntimeError)
        where there are none for another reason.
        """
        handle = self._native()
        if handle is not None:
            try:
                return handle.get_dataset_size()
            except _core.dataset.EmptyDatasetError:
                if self._skips_all():
                    return 0
                raise
        if self.dataset_size is None:
            size = self._known_size()
            self.dataset_size = in_python_where_needed(self, self._counted_size) if size is None else size
        if self.dataset_size == 0 and not self._skips_all():
            fail(_core.dataset.EmptyDatasetError, "the data set has no rows", type(self).__name__,
                 "check the counts of skip, take, filter and the source")
        return self.dataset_size

    def _counted_size(self) -> int:
        run = Run(choose_seed(self), 1)
        try:
            return sum(1 for _ in run.rows(self, 0))
        finally:
            run.close()

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
        """Types and shapes: those known beforehand, else of the first row. None where skip() leaves no rows."""
        return in_python_where_needed(self, self._look_once)

    def _look_once(self) -> Tuple[list, list]:
        if self._first_row is None:
            if self._known_size() == 0 and self._skips_all():
                return [], []
            handle = self._native()
            known: Any = handle.columns() if handle is not None else [("", None, None)]
            if all(dtype is not None and shape is not None and -1 not in shape for _, dtype, shape in known):
                self._first_row = [type_of(dtype) for _, dtype, _ in known], [list(shape) for _, _, shape in known]
            else:
                reader = open_reader(self, 1, looking=True)
                try:
                    row = reader.next(False)
                finally:
                    reader.close()
                if row is None:
                    if self._skips_all():
                        return [], []
                    self.get_dataset_size()  # raises and says why
                    fail(RuntimeError, "the data set has no rows", type(self).__name__)
                kept = [isinstance(column, dict) for column in row]  # MindSpore says object and [0] of these
                self._first_row = ([np.dtype(object) if k else type_of(column.dtype) for k, column in builtins.zip(kept, row)],
                                   [[0] if k else list(column.shape) for k, column in builtins.zip(kept, row)])
        return self._first_row

    def output_types(self) -> list:
        """NumPy types of the columns. Labels are int32 where MindSpore has uint32. A bfloat16 column has the type of sindri.common.dtype."""
        return list(self._look()[0])

    def output_shapes(self, estimate: bool = False) -> List[list]:
        """Shapes of the columns of the first row; with estimate, over a whole pass, None where a dimension varies."""
        check_bool("output_shapes", "estimate", estimate)
        if not estimate:
            return [list(shape) for shape in self._look()[1]]
        shapes: Optional[List[list]] = None
        for row in self.create_tuple_iterator(num_epochs=1):
            seen = [list(column.shape) for column in row]
            if shapes is None:
                shapes = seen
            shapes = [common_shape(old, new) for old, new in builtins.zip(shapes, seen)]
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

        A function gets one array per column and gives one value or a tuple; where the values are text or dicts, the rows are made in Python. One with a
        parameter `rng` gets a numpy.random.Generator for the row.
        Functions run in worker threads, of which only one at a time is in Python; python_multiprocessing=True gives each worker a process of its own, a
        copy of this one (fork), where random and numpy.random are seeded by the row. max_rowsize and offload are hints that change nothing.
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
        return ZipDataset([self, *as_datasets("zip", datasets)])

    @named
    def concat(self, datasets: Any) -> "Dataset":
        """This data set's rows, then those of the others. Raises TypeError, or ValueError when the columns differ."""
        return ConcatDataset([self, *as_datasets("concat", datasets)])

    def __add__(self, other: Any) -> "Dataset":
        return self.concat(other)

    @named
    def sync_wait(self, condition_name: str, num_batch: int = 1, callback: Optional[Callable[[Any], Any]] = None) -> "Dataset":
        """Rows wait for sync_update(condition_name) once num_batch batches of a pass have been read. callback: called with the data of each update, so
        that transforms above can follow the training. These run in Python, when a row is read: they see every update before the next batch.

        Raises TypeError or ValueError, ArgumentError (a RuntimeError) for a name that is in use. Rows that wait longer than
        config.get_callback_timeout() seconds pass with a warning.
        """
        return SyncWaitDataset(self, condition_name, num_batch, callback)

    @named
    def sync_update(self, condition_name: str, num_batch: Optional[int] = None, data: Any = None) -> None:
        """Lets num_batch more batches (None: as many as sync_wait says) pass the sync_wait of that name below, and calls its callback with data.

        Raises TypeError or ValueError, ArgumentError (a RuntimeError) for an unknown name.
        """
        sync_update(self, condition_name, num_batch, data)

    def disable_sync(self) -> None:
        """Rows wait at no sync_wait below any longer."""
        for node in waiting_nodes(self):
            node.open()

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
        check_bool("split", "randomize", randomize)
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
        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    @named
    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Not available yet: it writes MindRecord."""
        not_yet("dataset.Dataset.save", "record files")

    def device_que(self, *args: Any, **kwargs: Any) -> Any:
        """Not available yet: the device queue that copied sink-mode loops drive. Model.train's sink mode needs none."""
        return not_yet("dataset.Dataset.device_que", "devices")

    to_device = send = stop_send = device_que


def zip(datasets: Any) -> Dataset:
    """Rows of several data sets side by side, as many as the shortest has.

    Raises TypeError, ValueError for fewer than two, ArgumentError for equal column names.
    """
    if not isinstance(datasets, (list, tuple)):
        fail(TypeError, f"datasets must be a tuple, got {datasets!r} of type {type(datasets).__name__}", "zip")
    return ZipDataset(as_datasets("zip", datasets))


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


# The nodes are Datasets themselves, so their modules can be read only now.
from sindri.dataset.engine._batching import BatchDataset, BucketBatchByLengthDataset, PaddedBatchDataset  # noqa: E402
from sindri.dataset.engine._rows import (ConcatDataset, FilterDataset, FlatMapDataset, MapDataset, PartDataset,  # noqa: E402
                                         ProjectDataset, RenameDataset, RepeatDataset, ShuffleDataset, SkipDataset, TakeDataset, ZipDataset,
                                         as_datasets)
from sindri.dataset.engine._sources import MappableDataset, NonMappableDataset, SourceDataset  # noqa: E402
from sindri.dataset.engine._sync import SyncWaitDataset, update as sync_update, waiting_nodes  # noqa: E402
from sindri.dataset.text import Vocab
