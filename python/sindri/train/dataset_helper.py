"""Batches for training loops, and the execution of many steps by one call ("sinking")."""
import math
from typing import Any, Iterator, List, Tuple

from sindri import _checkparam as validator
from sindri import context
from sindri.dataset.engine.iterators import go_on_at, position_text

__all__ = ['DatasetHelper', 'connect_network_with_dataset']


def check_dataset(dataset: Any, name: str = 'dataset') -> Any:
    """Returns `dataset`. Raises TypeError unless it can be iterated as the training loop does."""
    if not hasattr(dataset, 'create_tuple_iterator') or not hasattr(dataset, 'get_dataset_size'):
        raise TypeError(f"'{name}' must be a dataset of sindri.dataset, got {type(dataset).__name__} | "
                        "wrap your own source in dataset.GeneratorDataset(source, column_names=[…])")
    return dataset


def check_sink_size(sink_size: Any, place: str) -> None:
    """Raises TypeError or ValueError unless `sink_size` is -1, for a pass, or a number of steps."""
    validator.check_is_int(sink_size, 'sink_size', place)
    if sink_size < -1 or sink_size == 0:
        raise ValueError(f"{place}: 'sink_size' must be -1 or positive, got {sink_size}")


class _Batches:
    """Batches of a dataset, pass after pass. `next_batch` continues with the next pass at the end of one, so that loops whose length does not divide
    the dataset's size see every batch."""

    def __init__(self, dataset: Any, epoch_num: int):
        self._dataset = dataset
        self._epoch_num = epoch_num
        self._source: Any = None
        self._pass: Any = None
        self.given = 0  # batches of the current pass
        self._start: Any = None  # the position to continue from

    def continue_from(self, state: str, batches: int, num_epochs: int) -> None:
        """Continues after the position `state`, as returned by state(); if it is empty, after `batches` of the first pass. num_epochs counts the
        whole run."""
        self._start = {'position': state, 'done': batches, 'num_epochs': num_epochs}

    def state(self) -> str:
        """Returns the position of the source as text; '' if it has none."""
        return position_text(self._source, self.given)

    def _next_pass(self, num_epochs: int) -> Any:
        """Returns the source, at the start of its next pass or at the position to continue from. num_epochs -1: an epoch is independent of passes."""
        start, self._start, self.given = self._start, None, 0
        if start is not None:
            self._source, self.given = go_on_at(self._dataset, in_passes=num_epochs > 0, **start)
        elif self._source is None:
            self._source = self._dataset.create_tuple_iterator(num_epochs=num_epochs, do_copy=False)
        return self._source

    def one_pass(self) -> Iterator[Tuple[Any, ...]]:
        for row in self._next_pass(self._epoch_num):
            self.given += 1
            yield tuple(row)

    def next_batch(self) -> Tuple[Any, ...]:
        for _ in range(2):
            if self._pass is None:
                self._pass = iter(self._next_pass(-1))
            try:
                row = tuple(next(self._pass))
                self.given += 1
                return row
            except StopIteration:
                self._pass = None
        raise ValueError('the dataset gave no batch | check that its source is not empty and that batch(drop_remainder=True) leaves a batch')

    def release(self) -> None:
        self._source = self._pass = None


def sinks_in_chunks() -> bool:
    """Returns whether sinking runs many steps per call: in graph mode, except on a CPU target in era 2, where scripts print and save in every step."""
    return context.get_context('mode') == context.GRAPH_MODE and (context.get_context('device_target') != 'CPU' or context.era() == 1)


class DatasetHelper:
    """Batches for a training loop.

    - Without sinking, iteration yields one tuple of Tensors per step; each `iter()` is one pass.
    - When sinking in graph mode, iteration yields one empty tuple per chunk of `sink_size()` steps, and the network returned by
      `connect_network_with_dataset` runs the chunk.
    - When sinking in PyNative mode, or with device_target 'CPU' (era 2), iteration yields one tuple per step, `sink_size` of them.

    If a script has set `dataset.__loop_size__`, it is the chunk's length, and iteration yields as many chunks as a pass has.

    Args:
        dataset (Dataset): The data.
        dataset_sink_mode (bool): Whether to sink. Default: True.
        sink_size (int): The steps of a chunk; -1 is a pass. Default: -1.
        epoch_num (int): The number of passes that will be read. Default: 1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `sink_size` is 0 or below -1.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> data = ms.dataset.NumpySlicesDataset((np.arange(4, dtype=np.float32),), ['x'], shuffle=False).batch(2)
        >>> for batch in ms.train.DatasetHelper(data, dataset_sink_mode=False):
        ...     print(batch[0])
        [0. 1.]
        [2. 3.]
    """

    def __init__(self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1):
        check_dataset(dataset)
        validator.check_bool(dataset_sink_mode, 'dataset_sink_mode', 'DatasetHelper')
        check_sink_size(sink_size, 'DatasetHelper')
        self.dataset = dataset
        self._sinks = dataset_sink_mode
        self._in_chunks = sinks_in_chunks()
        self._loop = getattr(dataset, '__loop_size__', None)
        self._sink_size = sink_size
        self.iter = _Batches(dataset, -1 if dataset_sink_mode and sink_size > 0 else epoch_num)
        self.counts_passes = dataset_sink_mode and sink_size > 0  # an epoch is not a pass of the data and spans passes
        self._done = 0  # steps of the first epoch that an earlier run has done

    def continue_from(self, state: str, done: int, num_epochs: int) -> None:
        """Starts after `done` steps of an epoch, at a position in the data.

        Args:
            state (str): The position, as `iter.state()` returned it.
            done (int): The steps of the epoch that are done.
            num_epochs (int): The epochs of the whole run.
        """
        self.iter.continue_from(state, done, num_epochs)
        self._done = done

    def take_done(self) -> int:
        """Returns the number of steps to skip in the current epoch, and resets it.

        Returns:
            int.
        """
        done, self._done = self._done, 0
        return done

    @property
    def runs_chunks(self) -> bool:
        """bool: Whether one iteration runs a chunk of steps."""
        return self._sinks and self._in_chunks

    def sink_size(self) -> int:
        """Returns the steps per chunk; 1 without sinking."""
        return self._chunk() if self.runs_chunks else 1

    def _chunk(self) -> int:
        if self._loop is not None:
            return self._loop
        return self._sink_size if self._sink_size > 0 else self.dataset.get_dataset_size()

    def _chunks_per_epoch(self) -> int:
        if self._loop is None:
            return 1
        size = self.dataset.get_dataset_size()
        if self._loop <= size and size % self._loop != 0:
            raise ValueError(f"dataset size {size} must be a multiple of its '__loop_size__' {self._loop}")
        return math.ceil(size / self._loop)

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        if self.runs_chunks:
            return iter([()] * self._chunks_per_epoch())
        if self._sinks and (self._sink_size > 0 or self._loop is not None):
            return (self.iter.next_batch() for _ in range(self._chunk() * self._chunks_per_epoch() - self.take_done()))
        return self.iter.one_pass()

    def types_shapes(self) -> Tuple[List[Any], List[Any]]:
        """Returns the types and shapes of a batch's columns."""
        return self.dataset.output_types(), self.dataset.output_shapes()

    get_data_info = types_shapes

    def release(self) -> None:
        """Drops the iterator and the batches it has prefetched; the next `iter()` starts a new one."""
        self.iter.release()

    stop_send = release

    def continue_send(self) -> None:
        """Does nothing: batches are produced on demand."""

    def dynamic_min_max_shapes(self) -> Tuple[List[Any], List[Any]]:
        """Returns the smallest and largest shapes of the columns. They are equal, because shapes are read from each batch."""
        return self.dataset.output_shapes(), self.dataset.output_shapes()


class _SunkNetwork:
    """Runs a chunk of steps per call and reads the batches itself. Attributes are the network's."""

    def __init__(self, network: Any, helper: DatasetHelper):
        self._network = network
        self._helper = helper
        self.last_batch: Tuple[Any, ...] = ()
        self.steps_done = 0
        self.interrupt: Any = None  # ends the chunk early on Ctrl-C
        self.before_step: Any = None  # called before every step

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def __call__(self, *inputs: Any) -> Any:
        outputs = None
        self.steps_done = 0
        for _ in range(self._helper.sink_size() - self._helper.take_done()):
            self.last_batch = self._helper.iter.next_batch()
            if self.before_step is not None:
                self.before_step(self.steps_done)
            outputs = self._network(*self.last_batch)
            self.steps_done += 1
            if self.interrupt is not None and self.interrupt.noted:
                break
        return outputs


def connect_network_with_dataset(network: Any, dataset_helper: DatasetHelper) -> Any:
    """Returns a callable that runs one chunk per call and returns the last step's outputs; if steps run one by one, the network itself (see
    DatasetHelper).

    Args:
        network (Cell): The network.
        dataset_helper (DatasetHelper): The batches.

    Returns:
        The callable.

    Raises:
        TypeError: If `dataset_helper` has another type.
        RuntimeError: If the helper does not sink.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> data = ms.dataset.NumpySlicesDataset((np.arange(4, dtype=np.float32),), ['x'], shuffle=False).batch(2)
        >>> net = ms.nn.ReLU()
        >>> helper = ms.train.DatasetHelper(data, dataset_sink_mode=True)
        >>> run = ms.train.connect_network_with_dataset(net, helper)
        >>> for batch in helper:
        ...     print(run(*batch))
        [0. 1.]
        [2. 3.]
    """
    if not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(f"connect_network_with_dataset: 'dataset_helper' must be a DatasetHelper, got {type(dataset_helper).__name__}")
    if not dataset_helper._sinks:
        raise RuntimeError('connect_network_with_dataset: the helper does not sink | make it with DatasetHelper(dataset, dataset_sink_mode=True)')
    return _SunkNetwork(network, dataset_helper) if dataset_helper.runs_chunks else network
