"""Rows that wait for the training loop: Dataset.sync_wait, and sync_update, which releases them."""
from __future__ import annotations

import threading
import warnings
from typing import Any, Callable, Iterator as Iterates, Optional

from sindri._check import ArgumentError, check_int32, fail, nearest
from sindri.dataset.core import config
from sindri.dataset.engine.datasets import Dataset
from sindri.dataset.engine.iterators import Row, Run

__all__ = ["SyncWaitDataset", "update", "waiting_nodes"]


class _Gate:
    """Lets rows pass while its credit lasts. Copies of a dataset share it."""

    def __init__(self, callback: Optional[Callable[[Any], Any]]):
        self._callback = callback
        self._changed = threading.Condition()
        self._credit = 0
        self._open = False

    def begin(self, rows: int) -> None:
        with self._changed:
            self._credit = rows
            self._changed.notify_all()

    def wait(self, name: str) -> None:
        """Takes one row off the credit; waits until there is credit."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._credit > 0 or self._open, timeout=config.get_callback_timeout()):
                warnings.warn(f"no call of sync_update for {config.get_callback_timeout()} seconds, rows no longer wait | sync_wait('{name}') | "
                              f"call sync_update('{name}') in the loop that reads the data", RuntimeWarning, stacklevel=2)
                self._open = True
            self._credit -= 1

    def release(self, rows: int, data: Any) -> None:
        with self._changed:
            self._credit += rows
            if self._callback is not None:
                self._callback(data)
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self._open = True
            self._changed.notify_all()


class SyncWaitDataset(Dataset):
    """The result of Dataset.sync_wait(), which documents the arguments."""

    def __init__(self, child: Dataset, condition_name: str, num_batch: int = 1, callback: Optional[Callable[[Any], Any]] = None):
        who = "sync_wait"
        if not isinstance(condition_name, str):
            fail(TypeError, f"condition_name must be a str, got {condition_name!r}", who)
        self.condition_name, self.num_batch = condition_name, check_int32(who, "num_batch", num_batch, 1)
        if callback is not None and not callable(callback):
            fail(TypeError, f"callback must be callable, got {callback!r}", who)
        if any(isinstance(node, SyncWaitDataset) and node.condition_name == condition_name for node in child._walk()):
            fail(ArgumentError, f"there is a condition '{condition_name}' already", who, "give each sync_wait a different name")
        self._gate = _Gate(callback)
        super().__init__([child])

    def _rows_per_batch(self) -> int:
        """Returns the number of rows per batch above this node."""
        rows, node = 1, self
        while node._consumer is not None and node._consumer() is not None:
            node = node._consumer()  # type: ignore[assignment]
            size = getattr(node, "batch_size", 1)
            rows *= size if isinstance(size, int) else 1
        return rows

    def release(self, num_batch: Optional[int], data: Any) -> None:
        """Lets num_batch more batches pass (None: the number given to sync_wait) and calls the callback."""
        self._gate.release((self.num_batch if num_batch is None else num_batch) * self._rows_per_batch(), data)

    def open(self) -> None:
        """Lets all rows pass without waiting."""
        self._gate.open()

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        if not run.looking:
            self._gate.begin(self.num_batch * self._rows_per_batch())
        for row in run.rows(self.children[0], epoch):
            if not run.looking:
                self._gate.wait(self.condition_name)
            yield row


def waiting_nodes(dataset: Dataset) -> list:
    return [node for node in dataset._walk() if isinstance(node, SyncWaitDataset)]


def update(dataset: Dataset, condition_name: str, num_batch: Optional[int], data: Any) -> None:
    """Implements Dataset.sync_update()."""
    who = "sync_update"
    if not isinstance(condition_name, str):
        fail(TypeError, f"condition_name must be a str, got {condition_name!r}", who)
    if num_batch is not None:
        num_batch = check_int32(who, "num_batch", num_batch, 1)
    nodes = waiting_nodes(dataset)
    for node in nodes:
        if node.condition_name == condition_name:
            node.release(num_batch, data)
            return
    names = [node.condition_name for node in nodes]
    fail(ArgumentError, f"no sync_wait has the condition '{condition_name}', known are {', '.join(names) or 'none'}", who, nearest(condition_name, names))
