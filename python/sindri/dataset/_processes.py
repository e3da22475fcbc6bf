"""Worker processes for Python functions in a map (python_multiprocessing=True).

A process is forked when a row first needs it, so functions need not be picklable and scripts need no main guard. It runs the same chain of operations,
one row at a time. Arrays travel in anonymous shared memory, so nothing remains on disk when a process is killed. A worker exits when its pipe closes or
its parent is gone.
"""
from __future__ import annotations

import contextlib
import mmap
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
import traceback
import weakref
from typing import Any, List, NoReturn, Optional, Sequence, Tuple

import numpy as np

from sindri._check import fail
from sindri.dataset._transform import Chain, add_note

__all__ = ["ProcessChain"]

_REGION = 64 << 20  # bytes in each direction; pages that no row touches use no memory
_LOOK = 1.0  # seconds between checks that the parent is alive


def _pack(values: Sequence[Any], region: mmap.mmap, offset: int) -> List[Tuple[Any, ...]]:
    """Copies arrays into the region as far as they fit; all other values travel in the message."""
    packed: List[Tuple[Any, ...]] = []
    end = offset + _REGION
    for value in values:
        array = value if isinstance(value, np.ndarray) else None
        if array is None or array.dtype.hasobject or offset + array.nbytes > end:
            packed.append((value,))
            continue
        np.ndarray(array.shape, array.dtype, region, offset)[...] = array
        packed.append((array.dtype, array.shape, offset))
        offset += -(-array.nbytes // 64) * 64
    return packed


def _unpack(packed: Sequence[Tuple[Any, ...]], region: mmap.mmap) -> List[Any]:
    """Copies the values: the next row overwrites the region, and functions may keep their arguments."""
    return [entry[0] if len(entry) == 1 else np.ndarray(entry[1], entry[0], region, entry[2]).copy() for entry in packed]


def _described(error: BaseException) -> Tuple[Any, str]:
    """Returns the exception and its traceback; the exception's text if it cannot be pickled."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        pickle.loads(pickle.dumps(error))
        return error, text
    except Exception:
        return f"{type(error).__name__}: {error}", text


def _serve(pipe: Any, region: mmap.mmap, chain: Chain, parent: int) -> NoReturn:
    """The worker's main loop. Never returns: the stack below belongs to the thread that forked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops the worker
    try:
        while True:
            while not pipe.poll(_LOOK):
                if os.getppid() != parent:
                    os._exit(0)
            key, packed = pickle.loads(pipe.recv_bytes())
            try:
                random.seed(key)
                np.random.seed(key & 0xFFFFFFFF)
                reply: Tuple[Any, ...] = (None, _pack(chain.run(key, _unpack(packed, region)), region, _REGION))
            except BaseException as e:
                reply = _described(e)
            try:
                message = pickle.dumps(reply)
            except Exception as e:
                message = pickle.dumps(_described(e))
            pipe.send_bytes(message)
    except (EOFError, OSError):
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


class _Worker:
    """One worker process, seen from its parent."""

    def __init__(self, chain: Chain, others: Sequence["_Worker"]):
        self._region = mmap.mmap(-1, 2 * _REGION)
        self._pipe, theirs = multiprocessing.Pipe()
        self._name, parent = chain.name, os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            # Inherited ends of other workers' pipes would keep those pipes open after the parent exits.
            for worker in (self, *others):
                worker._pipe.close()
            _serve(theirs, self._region, chain, parent)
        theirs.close()

    def run(self, key: int, values: Sequence[Any]) -> Tuple[Any, ...]:
        try:
            self._pipe.send_bytes(pickle.dumps((key, _pack(values, self._region, 0))))
            error, rest = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            self._died()
        if error is None:
            return tuple(_unpack(rest, self._region))
        if isinstance(error, str):
            error = RuntimeError(error)
        add_note(error, f"in worker process {self.pid}:\n{rest}")
        raise error

    def _died(self) -> NoReturn:
        status = self._ended(wait=1.0)
        pid, self.pid = self.pid, 0
        how = "cannot be reached" if status is None else (
            f"was ended by signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"ended with exit code {status}")
        fail(RuntimeError, f"worker process {pid} {how} while it ran {self._name}", "map",
             "check the machine's free memory, or run with python_multiprocessing=False to see the function fail")

    def _ended(self, wait: float) -> Optional[int]:
        """Returns the exit code, negative for a signal; None while the process runs."""
        until = time.monotonic() + wait
        while True:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                return None
            if pid:
                return os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status
            if time.monotonic() > until:
                return None
            time.sleep(0.005)

    def close(self) -> None:
        self._pipe.close()
        if self.pid and self._ended(wait=0.2) is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        self.pid = 0


class _Pool:
    """The workers of one chain in one process."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.changed = threading.Condition()
        self.all: List[_Worker] = []
        self.idle: List[_Worker] = []

    def close(self) -> None:
        if self.process == os.getpid():
            for worker in self.all:
                worker.close()


class ProcessChain:
    """Runs a chain of Python operations in up to `most` processes, called from as many threads."""

    def __init__(self, chain: Chain, most: int):
        self.chain, self.most = chain, max(1, most)
        self.name, self.keyed = chain.name, True  # each call's key seeds random and numpy.random
        self._new_pool()

    def _new_pool(self) -> None:
        self._pool = _Pool()
        weakref.finalize(self, self._pool.close)

    def __call__(self, *values: Any) -> Tuple[Any, ...]:
        return self.run(values[0], values[1:])

    def run(self, key: int, values: Sequence[Any]) -> Tuple[Any, ...]:
        """Returns the results for one row; its random numbers derive from `key`."""
        if self._pool.process != os.getpid():
            self._new_pool()  # this process was forked: the workers belong to its parent
        pool = self._pool
        with pool.changed:
            while not pool.idle and len(pool.all) >= self.most:
                pool.changed.wait()
            if not pool.idle:
                worker = _Worker(self.chain, pool.all)
                pool.all.append(worker)
                pool.idle.append(worker)
            worker = pool.idle.pop()
        try:
            return worker.run(key, values)
        finally:
            with pool.changed:
                if worker.pid:
                    pool.idle.append(worker)
                else:
                    pool.all.remove(worker)
                pool.changed.notify()
