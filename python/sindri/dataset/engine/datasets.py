"""Dataset and its operations (MindSpore: mindspore.dataset.Dataset). The nodes that its methods create are in _rows.py and _batching.py, the
sources in the neighbouring modules.

A Dataset is a node of a tree. `_native` returns the equivalent C++ pipeline, created when it is first needed. None means that the
node runs in Python, by `_pull`, on top of the nodes below it (see iterators.py).
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
    """How sources made of files shuffle.

    GLOBAL shuffles all rows, FILES only the order of files, INFILE the rows within each file, and FALSE nothing. ADAPTIVE and PARTIAL shuffle as GLOBAL.

    Examples:
        >>> import os, tempfile
        >>> import sindri.dataset as ds
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.txt")
        ...     with open(path, "w") as file:
        ...         _ = file.write("fig plum")
        ...     data = ds.TextFileDataset(path, shuffle=ds.Shuffle.FILES)
        ...     [str(line) for line, in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        ['fig plum']
    """

    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"
    ADAPTIVE = "adaptive"
    PARTIAL = "partial"
    FALSE = "false"


class BatchInfo:
    """The position passed to a per_batch_map or to a function that chooses the batch size.

    Args:
        epoch (int): The epoch, from 0.
        batch (int): The batch within the epoch, from 0.

    Examples:
        >>> import sindri.dataset as ds
        >>> info = ds.BatchInfo(0, 2)
        >>> info.get_epoch_num(), info.get_batch_num()
        (0, 2)
    """

    def __init__(self, epoch: int, batch: int):
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self) -> int:
        """Returns the epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """Returns the batch within the epoch, from 0."""
        return self._batch


class Dataset:
    """Base class of all datasets: operations on rows, sizes and iterators. Create a dataset with a source such as ImageFolderDataset.

    Operations return a new Dataset and run when rows are read. Each dataset feeds one other dataset: using it twice raises ArgumentError (a ValueError).

    Args:
        children (Sequence[Dataset]): The datasets that feed this one. Default: (), none.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_parallel_workers` is out of range.
        ArgumentError: A ValueError and RuntimeError, if a child already feeds another dataset.

    Examples:
        >>> import numpy as np
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": np.arange(5)}, shuffle=False).batch(2)
        >>> for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        ...     print(row["x"])
        [0 1]
        [2 3]
        [4]
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
            fail(TypeError, f"a dataset is expected, got {child!r} of type {type(child).__name__}", type(self).__name__)
        if child._consumer is not None:
            fail(ArgumentError, f"the data pipeline is not a tree: {type(child).__name__} already feeds {child._feeds} "
                 f"and cannot feed {type(self).__name__} too", "", "build the dataset twice, once for each use")
        child._consumer, child._feeds = weakref.ref(self), type(self).__name__
        self.children.append(child)

    # The tree.

    def _clone(self) -> "Dataset":
        """Returns a copy of the tree that feeds no other dataset."""
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
        """Drops everything that was derived from the tree that this node belongs to."""
        root: Dataset = self
        while root._consumer is not None and root._consumer() is not None:
            root = root._consumer()  # type: ignore[assignment]
        for node in root._walk():
            node._handle, node._first_row, node.dataset_size = _UNSET, None, None

    def _is_drawn(self) -> bool:
        """Whether the rows of a source are chosen in Python for each epoch."""
        return any(node._drawn() for node in self._walk())

    def _drawn(self) -> bool:
        return False

    def _is_sharded(self) -> bool:
        return any(node._sharded() for node in self._walk())

    def _sharded(self) -> bool:
        return False

    def _set_draw(self, seed: int, epoch: int) -> None:
        """Fixes the rows that Python samplers choose."""
        for node in self._walk():
            if isinstance(node, SourceDataset):
                node._draw_key = (seed, epoch)

    def _native(self) -> Optional[Any]:
        """Returns the equivalent C++ pipeline, or None."""
        if self._handle is _UNSET:
            try:
                handles = [child._native() for child in self.children]
                self._handle = None if any(h is None for h in handles) else self._build(*handles)
            except BaseException:
                self._forget()  # parts of the C++ tree have been consumed
                raise
        return self._handle

    def _build(self, *inputs: Any) -> Optional[Any]:
        """Returns the C++ node on top of the children's nodes."""
        return None

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        """Returns the rows of one pass, in Python."""
        raise NotImplementedError

    def _columns(self, *inputs: List[str]) -> List[str]:
        """Returns the column names, given those of the children."""
        return inputs[0]

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        """Returns the number of rows, given those of the children: -1 for endless, None for unknown."""
        return inputs[0]

    def _workers(self) -> int:
        return self.num_parallel_workers or config._settings["num_parallel_workers"] or 0

    # Sizes and columns.

    def get_col_names(self) -> List[str]:
        """Returns the column names."""
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
        """Whether a skip() below omits all rows, which the user requested, unlike other datasets without rows."""
        return any(node._skips_all() for node in self.children)

    def get_dataset_size(self) -> int:
        """Returns the number of batches (rows, without batch()) per epoch, repeats included.

        If the size cannot be derived, one pass over the data counts the rows.

        Returns:
            int, the size; 0 if skip() omits all rows; -1 for an endless repeat, for which MindSpore returns the size of one pass.

        Raises:
            EmptyDatasetError: A ValueError and RuntimeError, if there are no rows for another reason.

        Examples:
            >>> import sindri.dataset as ds
            >>> ds.NumpySlicesDataset([1, 2, 3, 4, 5]).batch(2).get_dataset_size()
            3
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
            fail(_core.dataset.EmptyDatasetError, "the dataset has no rows", type(self).__name__,
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
        """Returns the batch size of the nearest batch() below; 1 without batch(), -1 if a function chooses the size."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """Returns the product of the counts of repeat(); -1 for an endless repeat."""
        return self.children[0].get_repeat_count() if self.children else 1

    def num_classes(self) -> Optional[int]:
        """Returns the number of classes of the source, None if it has no classes."""
        return self.children[0].num_classes() if self.children else None

    def get_class_indexing(self) -> Dict[str, int]:
        """Returns the labels of an ImageFolderDataset by folder name; {} for other sources."""
        return self.children[0].get_class_indexing() if self.children else {}

    def _look(self) -> Tuple[list, list]:
        """Returns types and shapes: those known in advance, otherwise those of the first row. Empty lists if skip() omits all rows."""
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
                    self.get_dataset_size()  # raises with the reason
                    fail(RuntimeError, "the dataset has no rows", type(self).__name__)
                kept = [isinstance(column, dict) for column in row]  # for which MindSpore returns object and [0]
                self._first_row = ([np.dtype(object) if k else type_of(column.dtype) for k, column in builtins.zip(kept, row)],
                                   [[0] if k else list(column.shape) for k, column in builtins.zip(kept, row)])
        return self._first_row

    def output_types(self) -> list:
        """Returns the NumPy types of the columns. Labels are int32, where MindSpore has uint32. A bfloat16 column has the type of sindri.common.dtype."""
        return list(self._look()[0])

    def output_shapes(self, estimate: bool = False) -> List[list]:
        """Returns the shapes of the columns.

        Args:
            estimate (bool): Whether to read one whole pass; dimensions that vary are then None. Default: False, the shapes of the first row.

        Returns:
            list[list], one shape per column.

        Raises:
            TypeError: If `estimate` is not a bool.

        Examples:
            >>> import numpy as np
            >>> import sindri.dataset as ds
            >>> ds.NumpySlicesDataset(np.zeros((6, 3)), shuffle=False).batch(4).output_shapes(estimate=True)
            [[None, 3]]
        """
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
        """Creates an iterator whose rows are lists.

        Args:
            columns (str, list[str], optional): The columns to return. Default: None, all.
            num_epochs (int): The number of epochs that the iterator may read; -1 for no limit. Default: -1.
            output_numpy (bool): Whether to return NumPy arrays instead of Tensors. Default: False.
            do_copy (bool): Accepted without effect. Default: False.

        Returns:
            TupleIterator.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If `num_epochs` is out of range or a column does not exist.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
            >>> for a, b in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            ...     print(a, b)
            1 3
            2 4
        """
        return TupleIterator(self, columns, num_epochs, output_numpy, do_copy)

    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False) -> DictIterator:
        """Creates an iterator whose rows are dicts from column name to Tensor or array.

        Args:
            num_epochs (int): The number of epochs that the iterator may read; -1 for no limit. Default: -1.
            output_numpy (bool): Whether to return NumPy arrays instead of Tensors. Default: False.
            do_copy (bool): Accepted without effect. Default: False.

        Returns:
            DictIterator.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If `num_epochs` is out of range.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset({"a": [1, 2]}, shuffle=False)
            >>> for row in data.create_dict_iterator(num_epochs=1):
            ...     print(row["a"])
            1
            2
        """
        return DictIterator(self, num_epochs, output_numpy, do_copy)

    def __iter__(self) -> TupleIterator:
        return self.create_tuple_iterator(num_epochs=1)

    def reset(self) -> None:
        """Does nothing; exists for MindSpore scripts. Iterators continue with the next epoch automatically, and new iterators start at the first one."""

    # Operations.

    @named
    def batch(self, batch_size: Union[int, Callable], drop_remainder: bool = False, num_parallel_workers: Optional[int] = None,
              per_batch_map: Optional[Callable] = None, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
              pad_info: Optional[dict] = None, python_multiprocessing: bool = False, max_rowsize: Any = None) -> "Dataset":
        """Combines rows into batches. Batching runs in C++ unless a function or `pad_info` is given.

        Args:
            batch_size (int, Callable): The number of rows, or a function of BatchInfo that returns it.
            drop_remainder (bool): Whether to omit a last batch with fewer rows. Default: False.
            num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
            per_batch_map (Callable, optional): Receives one list of arrays per input column and a BatchInfo, and returns lists or arrays.
            input_columns (str, list[str], optional): The columns that `per_batch_map` receives. Default: None, all.
            output_columns (str, list[str], optional): The names of its results. Default: None, the input columns.
            column_order (str, list[str], optional): The columns to keep, in this order. Default: None, all.
            pad_info (dict, optional): Pads the columns, see `padded_batch`. Default: None.
            python_multiprocessing (bool): Accepted without effect. Default: False.
            max_rowsize: Accepted without effect. Default: None.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an argument is out of range or contradicts another.
            DataError: A RuntimeError while reading, if rows of a batch differ in shape or type.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).batch(2, drop_remainder=True)
            >>> [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            [[1, 2]]
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
        """Combines rows into batches and pads each column to the largest shape in the batch. Runs in Python.

        Args:
            batch_size (int, Callable): The number of rows, or a function of BatchInfo that returns it.
            drop_remainder (bool): Whether to omit a last batch with fewer rows. Default: False.
            num_parallel_workers (int, optional): Accepted as by `batch`. Default: None.
            pad_info (dict, optional): {column: (shape or None, value)}. None in a shape means the largest size. Columns that a `pad_info` does not
                name are not padded. Default: None, all columns with 0.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an argument is out of range.

        Examples:
            >>> import numpy as np
            >>> import sindri.dataset as ds
            >>> rows = [np.array([1]), np.array([2, 3])]
            >>> data = ds.GeneratorDataset(rows, ["x"], shuffle=False).padded_batch(2)
            >>> print(next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))[0])
            [[1 0]
             [2 3]]
        """
        return PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info)

    @named
    def bucket_batch_by_length(self, column_names: Any, bucket_boundaries: Sequence[int], bucket_batch_sizes: Sequence[int],
                               element_length_function: Optional[Callable] = None, pad_info: Optional[dict] = None,
                               pad_to_bucket_boundary: bool = False, drop_remainder: bool = False) -> "Dataset":
        """Combines rows of similar length into batches. Runs in Python.

        Bucket i holds lengths below bucket_boundaries[i] and forms batches of bucket_batch_sizes[i] rows; the last bucket holds the other rows. Rows are
        padded as by `padded_batch`.

        Args:
            column_names (str, list[str]): The columns that determine the length.
            bucket_boundaries (list[int]): The upper bounds of the buckets, increasing.
            bucket_batch_sizes (list[int]): The batch size of each bucket, one more than there are boundaries.
            element_length_function (Callable, optional): Returns the length from the columns. Default: None, the first dimension of the only column.
            pad_info (dict, optional): As of `padded_batch`. Default: None.
            pad_to_bucket_boundary (bool): Whether None in a shape means one less than the boundary, instead of the largest size. Default: False.
            drop_remainder (bool): Whether to omit incomplete batches at the end. Default: False.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an argument is out of range or contradicts another.
            ArgumentError: A RuntimeError while reading, if a row reaches the last boundary with `pad_to_bucket_boundary`.

        Examples:
            >>> import numpy as np
            >>> import sindri.dataset as ds
            >>> data = ds.GeneratorDataset([np.ones(n) for n in (1, 5, 2, 6)], ["x"], shuffle=False)
            >>> data = data.bucket_batch_by_length("x", [4], [2, 2])
            >>> [row[0].shape for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            [(2, 2), (2, 6)]
        """
        return BucketBatchByLengthDataset(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function, pad_info,
                                          pad_to_bucket_boundary, drop_remainder)

    @named
    def map(self, operations: Any, input_columns: Any = None, output_columns: Any = None, column_order: Any = None,
            num_parallel_workers: Optional[int] = None, python_multiprocessing: bool = False, cache: Any = None, callbacks: Any = None,
            max_rowsize: Any = None, offload: Any = None) -> "Dataset":
        """Applies transforms and Python functions in sequence to every row, or to every batch after `batch`.

        A function receives one array per input column and returns one value or a tuple. If the values are text or dicts, the rows are produced in
        Python. A function with a parameter `rng` receives a numpy.random.Generator for the row. Functions run in worker threads, of which only one at a
        time executes Python.

        Args:
            operations (Callable, list[Callable]): Transforms and functions.
            input_columns (str, list[str], optional): The columns to pass. Default: None, the first column.
            output_columns (str, list[str], optional): The names of the results. Default: None, the input columns.
            column_order (str, list[str], optional): The columns to keep, in this order. Default: None, all.
            num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
            python_multiprocessing (bool): Whether each worker runs functions in its own process, a fork of this one, in which random and numpy.random
                are seeded for each row. Default: False.
            cache (DatasetCache, optional): Accepted without effect. Default: None.
            callbacks: Not supported. Default: None.
            max_rowsize: Accepted without effect. Default: None.
            offload: Accepted without effect. Default: None.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an argument is out of range or a column does not exist.
            NotImplementedError: If callbacks are given.
            Exception: While reading, whatever a function raises, with a note that names the row.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False).map(lambda x: x * 10, "x")
            >>> [int(row["x"]) for row in data.create_dict_iterator(num_epochs=1)]
            [10, 20, 30]
        """
        if is_int(column_order):  # 2.x has num_parallel_workers at this place
            column_order, num_parallel_workers = None, column_order
        return MapDataset(self, operations, input_columns, output_columns, column_order, num_parallel_workers, python_multiprocessing, cache,
                          callbacks)

    @named
    def filter(self, predicate: Callable, input_columns: Any = None, num_parallel_workers: Optional[int] = None) -> "Dataset":
        """Keeps the rows for which a function returns true. This operation and those after it run in Python.

        Args:
            predicate (Callable): A function of the input columns that returns a bool.
            input_columns (str, list[str], optional): The columns to pass. Default: None, all.
            num_parallel_workers (int, optional): Accepted without effect. Default: None.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], shuffle=False).filter(lambda x: x % 2 == 0)
            >>> [int(x) for x, in data]
            [2, 4]
        """
        return FilterDataset(self, predicate, input_columns, num_parallel_workers)

    @named
    def flat_map(self, func: Callable) -> "Dataset":
        """Replaces each row by the rows of the dataset, or list of datasets, that a function returns for it. Runs in Python.

        Args:
            func (Callable): A function of all columns that returns a Dataset or a list of them.

        Returns:
            Dataset.

        Raises:
            TypeError: If `func` is not callable, or while reading returns something else.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
            >>> data = data.flat_map(lambda n: ds.NumpySlicesDataset([int(n)] * int(n), shuffle=False))
            >>> [int(x) for x, in data]
            [1, 2, 2]
        """
        return FlatMapDataset(self, func)

    @named
    def shuffle(self, buffer_size: int) -> "Dataset":
        """Shuffles rows within a window of `buffer_size` rows, differently in each epoch.

        Args:
            buffer_size (int): The number of rows in the window; 1 keeps the order.

        Returns:
            Dataset.

        Raises:
            TypeError: If `buffer_size` is not an int.
            ValueError: If it is below 1.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).shuffle(3)
            >>> sorted(int(x) for x, in data)
            [1, 2, 3]
        """
        return ShuffleDataset(self, buffer_size)

    @named
    def repeat(self, count: Optional[int] = None) -> "Dataset":
        """Repeats the rows `count` times per epoch.

        Args:
            count (int, optional): The number of passes; None or -1 for no end. Default: None.

        Returns:
            Dataset.

        Raises:
            TypeError: If `count` is not an int.
            ValueError: If it is 0 or below -1.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).repeat(2)
            >>> [int(x) for x, in data]
            [1, 2, 1, 2]
        """
        return RepeatDataset(self, count)

    @named
    def skip(self, count: int) -> "Dataset":
        """Omits the first `count` rows.

        Args:
            count (int): The number of rows, at least 0.

        Returns:
            Dataset.

        Raises:
            TypeError: If `count` is not an int.
            ValueError: If it is negative.

        Examples:
            >>> import sindri.dataset as ds
            >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], shuffle=False).skip(1)]
            [2, 3]
        """
        return SkipDataset(self, count)

    @named
    def take(self, count: int = -1) -> "Dataset":
        """Keeps at most the first `count` rows.

        Args:
            count (int): The number of rows; -1 keeps all. Default: -1.

        Returns:
            Dataset.

        Raises:
            TypeError: If `count` is not an int.
            ValueError: If it is 0 or below -1.

        Examples:
            >>> import sindri.dataset as ds
            >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], shuffle=False).take(2)]
            [1, 2]
        """
        return TakeDataset(self, count)

    @named
    def rename(self, input_columns: Any, output_columns: Any) -> "Dataset":
        """Renames columns.

        Args:
            input_columns (str, list[str]): The columns to rename.
            output_columns (str, list[str]): Their new names.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If the numbers of names differ.
            ArgumentError: A ValueError and RuntimeError, if a column does not exist.

        Examples:
            >>> import sindri.dataset as ds
            >>> ds.NumpySlicesDataset({"a": [1], "b": [2]}).rename("a", "c").get_col_names()
            ['c', 'b']
        """
        return RenameDataset(self, input_columns, output_columns)

    @named
    def project(self, columns: Any) -> "Dataset":
        """Keeps the given columns, in this order.

        Args:
            columns (str, list[str]): The columns to keep.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If no column is given.
            ArgumentError: A ValueError and RuntimeError, if a column does not exist.

        Examples:
            >>> import sindri.dataset as ds
            >>> ds.NumpySlicesDataset({"a": [1], "b": [2]}).project("b").get_col_names()
            ['b']
        """
        return ProjectDataset(self, columns)

    @named
    def zip(self, datasets: Any) -> "Dataset":
        """Joins the columns of this dataset with those of other datasets, row by row. The result is as long as the shortest dataset.

        Args:
            datasets (Dataset, list[Dataset]): The other datasets.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ArgumentError: A ValueError and RuntimeError, if two datasets have a column of the same name.

        Examples:
            >>> import sindri.dataset as ds
            >>> a, b = ds.NumpySlicesDataset({"a": [1, 2]}), ds.NumpySlicesDataset({"b": [3, 4]})
            >>> a.zip(b).get_col_names()
            ['a', 'b']
        """
        return ZipDataset([self, *as_datasets("zip", datasets)])

    @named
    def concat(self, datasets: Any) -> "Dataset":
        """Appends the rows of other datasets to those of this one.

        Args:
            datasets (Dataset, list[Dataset]): The other datasets, with the same columns.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If the columns differ.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).concat(ds.NumpySlicesDataset([3], shuffle=False))
            >>> [int(x) for x, in data]
            [1, 2, 3]
        """
        return ConcatDataset([self, *as_datasets("concat", datasets)])

    def __add__(self, other: Any) -> "Dataset":
        return self.concat(other)

    @named
    def sync_wait(self, condition_name: str, num_batch: int = 1, callback: Optional[Callable[[Any], Any]] = None) -> "Dataset":
        """Makes rows wait for sync_update(condition_name) after `num_batch` batches of a pass have been read.

        Operations above this one run in Python when a row is read, so they see every update before the next batch. Rows that wait longer than
        config.get_callback_timeout() seconds pass with a warning.

        Args:
            condition_name (str): The name that sync_update refers to.
            num_batch (int): The number of batches that pass without waiting. Default: 1.
            callback (Callable, optional): Called with the data of each update, so that transforms can follow the training run. Default: None.

        Returns:
            Dataset.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If `num_batch` is below 1.
            ArgumentError: A RuntimeError, if the name is in use.
        """
        return SyncWaitDataset(self, condition_name, num_batch, callback)

    @named
    def sync_update(self, condition_name: str, num_batch: Optional[int] = None, data: Any = None) -> None:
        """Lets more batches pass the sync_wait below that has this name, and calls its callback.

        Args:
            condition_name (str): The name given to sync_wait.
            num_batch (int, optional): The number of batches. Default: None, the number given to sync_wait.
            data (Any): The argument of the callback. Default: None.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If `num_batch` is below 1.
            ArgumentError: A RuntimeError, if the name is unknown.
        """
        sync_update(self, condition_name, num_batch, data)

    def disable_sync(self) -> None:
        """Lets rows pass every sync_wait below without waiting."""
        for node in waiting_nodes(self):
            node.open()

    @named
    def apply(self, apply_func: Callable) -> "Dataset":
        """Returns apply_func(self).

        Args:
            apply_func (Callable): A function from Dataset to Dataset.

        Returns:
            Dataset.

        Raises:
            TypeError: If `apply_func` is not callable or its result is not a Dataset.

        Examples:
            >>> import sindri.dataset as ds
            >>> ds.NumpySlicesDataset([1, 2, 3]).apply(lambda data: data.batch(3)).get_dataset_size()
            1
        """
        if not callable(apply_func):
            fail(TypeError, f"apply_func must be callable, got {apply_func!r}", "apply")
        result = apply_func(self)
        if not isinstance(result, Dataset):
            fail(TypeError, f"apply_func must return a dataset, got {result!r}", "apply")
        return result

    @named
    def split(self, sizes: Sequence[Union[int, float]], randomize: bool = True) -> Tuple["Dataset", ...]:
        """Splits the rows into disjoint parts.

        The dataset must not change its order from epoch to epoch, otherwise rows move between the parts.

        Args:
            sizes (list[int], list[float]): The numbers of rows, or shares that add up to 1.
            randomize (bool): Whether to permute the rows first; the permutation is the same in all epochs. Default: True.

        Returns:
            tuple[Dataset], one for each size.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If a size is not positive or the shares do not add up to 1.
            ArgumentError: A RuntimeError, if the sizes do not add up to the number of rows.

        Examples:
            >>> import sindri.dataset as ds
            >>> train, test = ds.NumpySlicesDataset(list(range(10)), shuffle=False).split([0.8, 0.2])
            >>> train.get_dataset_size(), test.get_dataset_size()
            (8, 2)
        """
        check_bool("split", "randomize", randomize)
        places = np.split(self._split_order(randomize), np.cumsum(_split_sizes(sizes, self._split_rows()))[:-1])
        return tuple(self._part(part) for part in places)

    def _split_rows(self) -> int:
        size = self.get_dataset_size()
        if size < 0:
            fail(ArgumentError, "the dataset has no end and cannot be split", "split", "split before repeat()")
        return size

    def _split_order(self, randomize: bool) -> np.ndarray:
        rows = np.arange(self._split_rows())
        return generator(random_key(choose_seed(self), 0x73706C6974)).permutation(rows) if randomize else rows

    def _part(self, places: np.ndarray) -> "Dataset":
        """Returns the rows at these positions."""
        if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
            part = self._clone()
            return (part.skip(int(places[0])) if places[0] else part).take(len(places))
        return PartDataset(self._clone(), places)

    @named
    def build_vocab(self, columns: Any, freq_range: Any, top_k: Any, special_tokens: Any, special_first: bool) -> Any:
        """Collects the words of text columns, as Vocab.from_dataset.

        Args:
            columns (str, list[str], optional): The text columns; None means all.
            freq_range (tuple, optional): The range of frequencies to keep; None means all.
            top_k (int, optional): The number of most frequent words to keep; None means all.
            special_tokens (list[str], optional): Words to add, such as "<pad>".
            special_first (bool): Whether the special tokens have the first ids.

        Returns:
            text.Vocab.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an argument is out of range.

        Examples:
            >>> import sindri.dataset as ds
            >>> vocab = ds.NumpySlicesDataset(["b", "a", "b"], column_names=["word"]).build_vocab("word", None, None, ["<pad>"], True)
            >>> vocab.vocab()
            {'<pad>': 0, 'b': 1, 'a': 2}
        """
        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    @named
    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Writes MindRecord files; not available yet.

        Args:
            file_name (str): Ignored.
            num_files (int): Ignored. Default: 1.
            file_type (str): Ignored. Default: "mindrecord".

        Raises:
            NotYetError: Always.
        """
        not_yet("dataset.Dataset.save", "record files")

    def device_que(self, *args: Any, **kwargs: Any) -> Any:
        """The device queue for hand-written sink-mode loops; not available yet. The sink mode of Model.train does not need it.

        Raises:
            NotYetError: Always.
        """
        return not_yet("dataset.Dataset.device_que", "devices")

    to_device = send = stop_send = device_que


def zip(datasets: Any) -> Dataset:
    """Joins the columns of several datasets, row by row. The result is as long as the shortest dataset.

    Args:
        datasets (tuple[Dataset]): At least two datasets.

    Returns:
        Dataset.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If fewer than two datasets are given.
        ArgumentError: A ValueError and RuntimeError, if two datasets have a column of the same name.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.zip((ds.NumpySlicesDataset({"a": [1, 2]}), ds.NumpySlicesDataset({"b": [3]})))
        >>> data.get_dataset_size()
        1
    """
    if not isinstance(datasets, (list, tuple)):
        fail(TypeError, f"datasets must be a tuple, got {datasets!r} of type {type(datasets).__name__}", "zip")
    return ZipDataset(as_datasets("zip", datasets))


def _split_sizes(sizes: Any, rows: int) -> List[int]:
    """Returns integer sizes that add up to `rows`."""
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
        fail(ArgumentError, f"the share {sizes[counts.index(0)]} of {rows} rows is less than one row", "split")
    # Rounding: missing rows go to the first part; surplus rows are taken from the first part that has enough.
    difference = rows - sum(counts)
    place = 0 if difference > 0 else next(i for i, count in enumerate(counts) if count + difference > 0)
    counts[place] += difference
    return counts


# The nodes are subclasses of Dataset, so their modules can be imported only here.
from sindri.dataset.engine._batching import BatchDataset, BucketBatchByLengthDataset, PaddedBatchDataset  # noqa: E402
from sindri.dataset.engine._rows import (ConcatDataset, FilterDataset, FlatMapDataset, MapDataset, PartDataset,  # noqa: E402
                                         ProjectDataset, RenameDataset, RepeatDataset, ShuffleDataset, SkipDataset, TakeDataset, ZipDataset,
                                         as_datasets)
from sindri.dataset.engine._sources import MappableDataset, NonMappableDataset, SourceDataset  # noqa: E402
from sindri.dataset.engine._sync import SyncWaitDataset, update as sync_update, waiting_nodes  # noqa: E402
from sindri.dataset.text import Vocab
