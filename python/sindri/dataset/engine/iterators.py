"""Iterators over pipelines, and the ways to run one: in C++, in C++ with rows chosen in Python each epoch, and in Python.

A pipeline runs in C++ as far as the engine can express it. The other parts (text, filter, sources of unknown length, batches of varying
rows) are pulled row by row in the reading thread, on top of C++ pipelines for the nodes below.
"""
from __future__ import annotations

import atexit
import contextlib
import json
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Iterator as Iterates, List, Optional, Tuple, TypeVar

import numpy as np

from sindri import _core
from sindri._check import check_int32, check_names, fail
from sindri.dataset._transform import GaveObjects, add_note
from sindri.dataset.core import config
from sindri.dataset.engine._values import delivered

if TYPE_CHECKING:
    from sindri.dataset.engine.datasets import Dataset

__all__ = ["DictIterator", "Iterator", "TupleIterator"]

Row = List[Any]  # arrays and dicts
_T = TypeVar("_T")

# Workers call Python, so they must stop before the interpreter does.
_open: "weakref.WeakSet[Iterator]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for iterator in list(_open):
        iterator.close()
    _core.dataset.close_pending()


def choose_seed(dataset: "Dataset") -> int:
    """Returns the seed of pipelines that run partly in Python: the one that was set, otherwise 0 for shards, which must agree, or a random one."""
    seed = config._pipeline_seed()
    if seed is not None:
        return seed
    return 0 if dataset._is_sharded() else int.from_bytes(os.urandom(4), "little")


class NativeReader:
    """Reads a C++ pipeline."""

    def __init__(self, dataset: "Dataset", num_epochs: int, start_epoch: int = 0, seed: Optional[int] = None, prefetch: Optional[int] = None):
        handle: Any = dataset._native()
        self.epoch, self.num_epochs = start_epoch, num_epochs
        self._failure: Optional[BaseException] = None
        self._last: Dict[str, Any] = {}
        self._iterator = _core.dataset.Iterator(
            handle, num_epochs=num_epochs, start_epoch=start_epoch, seed=config._own_seed() if seed is None else seed,
                                                on_corrupt=config._policy(),
            prefetch=prefetch or config._prefetch_batches(handle.get_batch_size()), num_workers=1 if config.get_debug_mode() else 0)

    def next(self, as_numpy: bool) -> Optional[list]:
        if self._failure is not None:
            raise self._failure
        try:
            return self._iterator.next(as_numpy)
        except BaseException as e:
            if not self._iterator.failed:
                raise
            if self._failure is None:
                self._give_up(e)
            raise self._failure or e

    def _give_up(self, error: BaseException) -> None:
        """Releases the engine. It holds the error, whose traceback holds this reader: a cycle that the garbage collector cannot see."""
        self._failure = error
        with contextlib.suppress(ValueError):  # another thread closed it
            self._last = {"state": self.state_dict(), "stats": self.stats(), "seed": self.seed}
        self._iterator.close(wait=False)

    def next_epoch(self) -> bool:
        if self._failure is not None:
            raise self._failure
        self.epoch += 1
        return self._iterator.next_epoch()

    def close(self) -> None:
        self._iterator.close()

    def state_dict(self) -> Dict[str, Any]:
        return self._last["state"] if self._last else json.loads(self._iterator.state_dict())

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self._iterator.load_state(json.dumps(state))

    def stats(self) -> Dict[str, Any]:
        return self._last["stats"] if self._last else self._iterator.stats()

    @property
    def seed(self) -> int:
        return self._last["seed"] if self._last else self._iterator.seed


class _PythonReader:
    """Common part of the readers that run partly in Python."""

    def __init__(self, dataset: "Dataset", num_epochs: int, start_epoch: int = 0, seed: Optional[int] = None):
        self.dataset, self.num_epochs, self.epoch, self.first_epoch = dataset, num_epochs, start_epoch, start_epoch
        self.seed = choose_seed(dataset) if seed is None else seed

    def _more_epochs(self) -> bool:
        return self.num_epochs < 0 or self.epoch + 1 < self.first_epoch + self.num_epochs

    def state_dict(self) -> Dict[str, Any]:
        fail(NotImplementedError, "the state of a pipeline that runs partly in Python cannot be saved", "Iterator.state_dict",
             "samplers drawn in Python, text, filter and sources of unknown length run in Python")

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self.state_dict()

    def stats(self) -> Dict[str, Any]:
        return {}


class EpochReader(_PythonReader):
    """Reads a C++ pipeline whose rows are chosen in Python: a new pipeline is created for each epoch."""

    def __init__(self, dataset: "Dataset", num_epochs: int, start_epoch: int = 0, seed: Optional[int] = None):
        super().__init__(dataset, num_epochs, start_epoch, seed)
        self._reader = self._make()

    def _make(self) -> NativeReader:
        clone = self.dataset._clone()
        clone._set_draw(self.seed, self.epoch)
        return NativeReader(clone, 1, self.epoch, self.seed)

    def next(self, as_numpy: bool) -> Optional[list]:
        return self._reader.next(as_numpy)

    def next_epoch(self) -> bool:
        if not self._more_epochs():
            return False
        self._reader.close()
        self.epoch += 1
        self._reader = self._make()
        return True

    def close(self) -> None:
        self._reader.close()

    def stats(self) -> Dict[str, Any]:
        return self._reader.stats()


class Run:
    """One reading of a pipeline in Python. Nodes that C++ can express are read through it. looking: a row is inspected, no pass is read."""

    def __init__(self, seed: int, num_epochs: int, looking: bool = False):
        self.seed, self.num_epochs, self.looking = seed, num_epochs, looking
        self._readers: Dict[int, Any] = {}

    def rows(self, node: "Dataset", epoch: int) -> Iterates[Row]:
        """Returns the rows of one pass over `node`."""
        return self._native_rows(node, epoch) if node._native() is not None else node._pull(self, epoch)

    def _native_rows(self, node: "Dataset", epoch: int) -> Iterates[Row]:
        reader = self._readers.get(id(node))
        if reader is None or reader.epoch + 1 != epoch or not reader.next_epoch():
            if reader is not None:
                reader.close()
            # One epoch at a time unless more are certain: the engine reads ahead, and user functions would run in vain.
            reader = open_reader(node, -1 if self.num_epochs != 1 else 1, epoch, self.seed)
            self._readers[id(node)] = reader
        while True:
            row = reader.next(True)
            if row is None:
                return
            yield row

    def close(self) -> None:
        while self._readers:
            self._readers.popitem()[1].close()


class PullReader(_PythonReader):
    """Runs a pipeline in Python."""

    def __init__(self, dataset: "Dataset", num_epochs: int, start_epoch: int = 0, seed: Optional[int] = None, looking: bool = False):
        super().__init__(dataset, num_epochs, start_epoch, seed)
        self._run = Run(self.seed, num_epochs, looking)
        self._rows = self._pass()
        self._failure: Optional[BaseException] = None
        self._busy = threading.Lock()

    def _pass(self) -> Generator[Row, None, None]:
        yield from self._run.rows(self.dataset, self.epoch)

    def next(self, as_numpy: bool) -> Optional[list]:
        if self._failure is not None:
            raise self._failure  # a generator that has raised only stops, which must not look like the end of the epoch
        with self._alone():
            try:
                row = next(self._rows, None)
            except Exception as e:
                self._failure = e
                raise
            except BaseException:
                self._failure = RuntimeError("reading was interrupted | Iterator | create a new iterator")
                raise
        return row if row is None else [delivered(column, as_numpy) for column in row]

    @contextlib.contextmanager
    def _alone(self) -> Iterates[None]:
        """Raises while a row is being produced, because a generator cannot be entered twice. This does not count as a failure of the pipeline."""
        if not self._busy.acquire(blocking=False):
            fail(RuntimeError, "this iterator is already producing a row", "Iterator",
                 "read it in one thread and not inside its functions; create one iterator per thread")
        try:
            yield
        finally:
            self._busy.release()

    def next_epoch(self) -> bool:
        if not self._more_epochs():
            return False
        with self._alone():
            self._rows.close()
            self.epoch += 1
            self._rows = self._pass()
        return True

    def close(self) -> None:
        if self._busy.acquire(blocking=False):  # otherwise a row is being produced, which is the last one
            try:
                self._rows.close()
            finally:
                self._busy.release()
        self._run.close()


class EmptyReader(_PythonReader):
    """Epochs without rows, for a pipeline whose skip() omits all rows."""

    def next(self, as_numpy: bool) -> Optional[list]:
        return None

    def next_epoch(self) -> bool:
        if not self._more_epochs():
            return False
        self.epoch += 1
        return True

    def close(self) -> None:
        pass


def in_python_where_needed(dataset: "Dataset", read: Callable[[], _T]) -> _T:
    """Calls read(), and repeats it each time that it finds a map whose functions return text or dicts."""
    while True:
        try:
            return read()
        except GaveObjects as e:
            make_in_python(dataset, e)


def make_in_python(dataset: "Dataset", found: GaveObjects) -> None:
    """Makes the map that raised `found` produce its rows in Python."""
    found.place.in_python = True
    dataset._forget()


def open_reader(dataset: "Dataset", num_epochs: int, start_epoch: int = 0, seed: Optional[int] = None, looking: bool = False) -> Any:
    """Returns the fastest reader that can run `dataset`."""
    if dataset._native() is None:
        return PullReader(dataset, num_epochs, start_epoch, seed, looking)
    try:
        return (EpochReader if dataset._is_drawn() else NativeReader)(dataset, num_epochs, start_epoch, seed)
    except _core.dataset.EmptyDatasetError:
        if dataset._skips_all():
            return EmptyReader(dataset, num_epochs, start_epoch, seed)
        raise


def position_text(iterator: Any, given: int) -> str:
    """Returns an iterator's position after `given` rows of a pass, for go_on_at; '' if it has none. A pipeline that runs partly in Python resumes at
    the position in the pass with the same seed."""
    if not hasattr(iterator, "state_dict"):
        return ""
    try:
        return json.dumps(iterator.state_dict())
    except NotImplementedError:
        reader = iterator._reader
        return json.dumps({"python": True, "seed": reader.seed, "epoch": reader.epoch, "batches": given})


def go_on_at(dataset: Any, position: str, done: int, num_epochs: int, in_passes: bool) -> Tuple[Any, int]:
    """Returns an iterator whose next row follows `position` (without one, row number `done` of the first pass), and how many rows of its pass it has
    returned.

    num_epochs: epochs of the whole training run. in_passes: an epoch is a pass over the data; otherwise the data continues across epochs."""
    iterator = dataset.create_tuple_iterator(num_epochs=num_epochs if in_passes else -1, do_copy=False)
    state = json.loads(position) if position else {"python": False, "batches": done}
    after_a_pass = in_passes and done == 0  # saved after the last row of a pass, where the iterator still is
    if position and not state.get("python"):
        iterator.load_state_dict(state)
        iterator._at_end = after_a_pass
        return iterator, done
    if position:
        epoch = state["epoch"] + (1 if after_a_pass else 0)
        iterator._reader.close()
        iterator._reader = open_reader(dataset, num_epochs - epoch if in_passes else -1, epoch, state["seed"])
    given = 0 if after_a_pass else state["batches"]
    for _ in range(given):
        next(iterator)
    return iterator, given


class Iterator:
    """Base class of the iterators. It stops at the end of each epoch; reading again continues with the next one.

    Text columns are returned as NumPy arrays. Create an iterator with Dataset.create_dict_iterator or create_tuple_iterator.

    Args:
        dataset (Dataset): The dataset.
        num_epochs (int): The number of epochs, or -1 for no limit. Default: -1.
        output_numpy (bool): Whether to return arrays instead of Tensors. Default: False.
        do_copy (bool): Accepted without effect: returned values are never overwritten. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_epochs` is 0 or below -1.

    Examples:
        >>> import sindri.dataset as ds
        >>> rows = ds.NumpySlicesDataset([1, 2], shuffle=False).create_tuple_iterator(num_epochs=2, output_numpy=True)
        >>> [[int(x) for x, in rows] for _ in range(3)]
        [[1, 2], [1, 2], []]
    """

    def __init__(self, dataset: "Dataset", num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False):
        who = type(self).__name__
        self._num_epochs = check_int32(who, "num_epochs", num_epochs, -1)
        if num_epochs == 0:
            fail(ValueError, "num_epochs must be at least 1, or -1 for no end, got 0", who)
        for name, value in (("output_numpy", output_numpy), ("do_copy", do_copy)):
            if not isinstance(value, bool):
                fail(TypeError, f"{name} must be a bool, got {value!r}", who)
        self._dataset = dataset
        self._numpy = output_numpy
        self._names = dataset.get_col_names()
        self._at_end = self._begun = False
        self._reader: Any = open_reader(dataset, num_epochs)
        _open.add(self)

    def __iter__(self) -> "Iterator":
        return self

    def __next__(self) -> Any:
        row = self._next_row()
        if row is None:
            raise StopIteration
        return self._shape_row(row)

    def get_next(self) -> Any:
        """Returns the next row. Raises StopIteration at the end of an epoch."""
        return self.__next__()

    def _next_row(self) -> Optional[list]:
        if self._reader is None:
            fail(RuntimeError, "the iterator has been closed", type(self).__name__, "create a new one")
        if self._at_end:
            if not self._reader.next_epoch():
                return None
            self._at_end = False
        try:
            row = self._read()
        except StopIteration as e:
            # Raised by a user function: it must not look like the end of the epoch (PEP 479).
            error = RuntimeError("a function or source of the pipeline raised StopIteration")
            add_note(error, "; ".join(getattr(e, "__notes__", [])) or "return from a generator to end it")
            raise error from e
        except Exception as e:
            notes = getattr(e, "__notes__", [])
            if not str(e) and notes:  # `raise IndexError` has no message
                e.args = ("; ".join(notes),)
            raise
        self._at_end = row is None
        return row

    def _read(self) -> Optional[list]:
        if self._begun:
            return self._reader.next(self._numpy)
        row = self._read_first()
        self._begun = True
        return row

    def _read_first(self) -> Optional[list]:
        reader = self._reader
        try:
            return reader.next(self._numpy)
        except GaveObjects as e:
            reader.close()
            make_in_python(self._dataset, e)
            self._reader = open_reader(self._dataset, reader.num_epochs, reader.epoch, reader.seed)
            return self._read_first()

    def _shape_row(self, row: list) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        """Stops the workers. Called automatically when the iterator is deleted."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    stop = release = close

    def state_dict(self) -> Dict[str, Any]:
        """Returns the reader's position. Specific to Sindri.

        Returns:
            dict, for `load_state_dict` of an iterator over an equal pipeline.

        Raises:
            NotImplementedError: If the pipeline runs partly in Python.
        """
        return self._reader.state_dict()

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Continues from a state, before the first row is read. The next row is bitwise identical to the one that followed the state.

        Args:
            state (dict): A result of `state_dict`.

        Raises:
            DataError: If the state belongs to another pipeline.
            NotImplementedError: If the pipeline runs partly in Python.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = lambda: ds.NumpySlicesDataset([1, 2, 3], shuffle=False).create_tuple_iterator(output_numpy=True)
            >>> first, second = data(), data()
            >>> _ = next(first)
            >>> second.load_state_dict(first.state_dict())
            >>> next(second)[0].item()
            2
        """
        self._reader.load_state_dict(state)

    def stats(self) -> Dict[str, Any]:
        """Returns statistics of the C++ pipeline: rows produced, images decoded, bad samples, waiting time and others. Specific to Sindri."""
        return self._reader.stats()

    @property
    def seed(self) -> int:
        """The seed in use. Specific to Sindri."""
        return self._reader.seed


class DictIterator(Iterator):
    """Yields rows as dicts from column name to Tensor or array.

    Args:
        dataset (Dataset): The dataset.
        num_epochs (int): The number of epochs, or -1 for no limit. Default: -1.
        output_numpy (bool): Whether to return arrays instead of Tensors. Default: False.
        do_copy (bool): Accepted without effect: returned values are never overwritten. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_epochs` is 0 or below -1.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
        >>> [int(row["x"]) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]
        [1, 2]
    """

    def _shape_row(self, row: list) -> Dict[str, Any]:
        return dict(zip(self._names, row))


class TupleIterator(Iterator):
    """Yields rows as lists of Tensors or arrays.

    Args:
        dataset (Dataset): The dataset.
        columns (str, list, optional): The columns to return. Default: None, all.
        num_epochs (int): The number of epochs, or -1 for no limit. Default: -1.
        output_numpy (bool): Whether to return arrays instead of Tensors. Default: False.
        do_copy (bool): Accepted without effect: returned values are never overwritten. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_epochs` is 0 or below -1.
        ArgumentError: A RuntimeError, if a column is unknown.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)
        >>> [int(y) for y, in data.create_tuple_iterator(columns=["y"], num_epochs=1, output_numpy=True)]
        [3, 4]
    """

    def __init__(self, dataset: "Dataset", columns: Any = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False):
        wanted = check_names("TupleIterator", "columns", columns)
        self._places = [dataset._place_of(name, "create_tuple_iterator") for name in wanted] or None
        super().__init__(dataset, num_epochs, output_numpy, do_copy)

    def _shape_row(self, row: list) -> list:
        return row if self._places is None else [row[i] for i in self._places]
