"""The base of all transforms, and the conversion of a list of transforms and Python functions into operations of the C++ pipeline.

A transform is either a handle to a C++ transform (NativeOperation) or NumPy code (PyOperation). Adjacent Python operations of a pipeline
run as one function, so any Python object may pass between them: a Pillow image, a str.
"""
from __future__ import annotations

import functools
import inspect
import itertools
import os
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, fail
from sindri.common import seed as common_seed
from sindri.dataset.core import config

__all__ = ["GaveObjects", "RowPlace", "RowScope", "TensorOperation", "NativeOperation", "PyOperation", "UserFunction", "Chain", "add_note", "as_operations", "compile_operations",
           "core_chain",
           "generator", "is_pil", "numpy_type", "random_key", "to_pil"]


def generator(key: int) -> np.random.Generator:
    """Returns a generator whose random numbers depend on `key` alone."""
    return np.random.Generator(np.random.Philox(key=key & 0xFFFFFFFFFFFFFFFF))


class _Generators:
    """A pool of generators: creating one takes as long as many transforms. `take(key)` returns the equivalent of generator(key)."""

    def __init__(self) -> None:
        self._idle: List[np.random.Generator] = []

    def take(self, key: int) -> np.random.Generator:
        try:
            rng = self._idle.pop()
        except IndexError:
            return generator(key)
        zeros = np.zeros(4, np.uint64)
        rng.bit_generator.state = {"bit_generator": "Philox", "state": {"counter": zeros, "key": np.array([key & 0xFFFFFFFFFFFFFFFF, 0], np.uint64)},
                                   "buffer": zeros, "buffer_pos": 4, "has_uint32": 0, "uinteger": 0}
        return rng

    def give_back(self, rng: np.random.Generator) -> None:
        if len(self._idle) < 64:
            self._idle.append(rng)


_generators = _Generators()


def random_key(*parts: int) -> int:
    """Returns a 64-bit number that depends on all parts."""
    mixed = 0
    for part in parts:
        mixed = ((mixed ^ (part & 0xFFFFFFFFFFFFFFFF)) * 0x9E3779B97F4A7C15 + 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed ^= mixed >> 29
    return mixed


class _RowState(threading.local):
    key: Optional[int] = None
    calls = 0


_row = _RowState()


class RowScope:
    """Within this scope, transforms that this thread calls directly draw from `key`, which identifies the current row. Their random numbers therefore
    depend neither on threads nor on earlier calls.
    """

    def __init__(self, key: int):
        self._key = key

    def __enter__(self) -> None:
        self._before = _row.key, _row.calls
        _row.key, _row.calls = self._key, 0

    def __exit__(self, *args: Any) -> None:
        _row.key, _row.calls = self._before


class _Streams:
    """Keys of the random streams for transforms that are called directly: one stream per object, numbered in the order of first calls since the
    seed was set. Without a seed the base comes from the system's random numbers. A forked process has separate streams, because otherwise all workers
    would draw the same numbers; its streams depend on the seed and on the number of earlier forks.
    """

    def __init__(self) -> None:
        self._lineage = 0
        self._forks = 0
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork, after_in_child=self._after_fork)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._seeding: Tuple[int, ...] = ()
        self._places = itertools.count()
        self._base = 0

    def _before_fork(self) -> None:
        self._forks += 1

    def _after_fork(self) -> None:
        self._lineage, self._forks = random_key(self._lineage, self._forks), 0
        self._renew()

    def seeding(self) -> Tuple[int, ...]:
        """Changes whenever the streams must restart."""
        return config._times_seeded, common_seed._times_seeded, self._lineage

    def open(self, seeding: Tuple[int, ...]) -> int:
        """Returns the key of the next stream."""
        with self._lock:
            if seeding != self._seeding:
                seed = config._pipeline_seed()
                self._base = int.from_bytes(os.urandom(8), "little") if seed is None else random_key(seed, self._lineage)
                self._places, self._seeding = itertools.count(), seeding
            return random_key(self._base, next(self._places))


_streams = _Streams()


def is_pil(value: Any) -> bool:
    """Whether `value` is a Pillow image. Does not import Pillow."""
    image = sys.modules.get("PIL.Image")
    return image is not None and isinstance(value, image.Image)


def to_pil(who: str, array: np.ndarray) -> Any:
    """Returns a Pillow image. Raises RuntimeError if Pillow is not installed, and TypeError for arrays that Pillow cannot represent."""
    try:
        from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        fail(RuntimeError, "Pillow is not installed", who, "install the package Pillow, or omit ToPIL and to_pil: all transforms accept arrays")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    try:
        return Image.fromarray(array)
    except (TypeError, ValueError) as e:
        fail(TypeError, f"no image can be made of {array.dtype}{list(array.shape)}: {e}", who, "give uint8 [H, W], [H, W, 1], [H, W, 3] or [H, W, 4]")


def numpy_type(who: str, name: str, value: Any) -> np.dtype:
    """Returns the NumPy type for a type of sindri.common.dtype, a NumPy type or a type name. Raises TypeError."""
    if isinstance(value, _core.DType):
        if value.numpy_name is None or value.numpy_name == "bfloat16":
            try:
                return np.dtype(str(value).lower())
            except TypeError:
                fail(TypeError, f"{name} {value} has no NumPy type", who)
        return np.dtype(value.numpy_name)
    try:
        return np.dtype(value)
    except TypeError:
        fail(TypeError, f"{name} must be an element type, got {value!r}", who)


def add_note(error: BaseException, note: str) -> None:
    """Adds a note that the traceback prints below the message (PEP 678). Before Python 3.11 the note is only stored."""
    notes = getattr(error, "__notes__", [])
    if note not in notes:
        try:
            error.__notes__ = [*notes, note]  # type: ignore[attr-defined]
        except AttributeError:
            pass


class TensorOperation:
    """Base class of all transforms."""

    _made_from: Tuple[tuple, Dict[str, Any]] = (), {}
    _stream: Tuple[Tuple[int, ...], int, Any]  # seeding, key, calls
    _random = False  # draws random numbers
    _objects = False  # accepts or returns values that no tensor can hold: text
    _makes_pil = False  # returns Pillow images, so the operations after it run in Python

    def __init__(self) -> None:
        """Accepts no arguments."""

    def _expand(self) -> List["TensorOperation"]:
        return [self]

    def _core_transform(self) -> Optional[Any]:
        """Returns the C++ transform; None for operations in Python."""
        return None

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        """Runs one call inside a Python pipeline."""
        raise NotImplementedError

    def _name(self) -> str:
        return type(self).__name__

    def _eager_rng(self) -> np.random.Generator:
        """Returns the random numbers of one direct call."""
        return generator(self._eager_key())

    def _eager_key(self) -> int:
        """Returns the key of one direct call: derived from the row that a pipeline is producing in this thread, otherwise from this object's stream."""
        if _row.key is not None:
            _row.calls += 1
            return random_key(_row.key, _row.calls)
        seeding = _streams.seeding()
        stream = self.__dict__.get("_stream")
        if stream is None or stream[0] != seeding:
            stream = self._stream = seeding, _streams.open(seeding), itertools.count()
        return random_key(stream[1], next(stream[2]))

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__init__" in cls.__dict__:
            cls.__init__ = _remembering(cls.__init__)  # type: ignore[method-assign]

    def __reduce__(self) -> Any:
        # Copies, also those in other processes, are constructed from the same arguments: they share no C++ object and have their own random stream.
        return _make_again, (type(self), *self._made_from)


def _remembering(init: Any) -> Any:
    """Wraps an __init__ so that it keeps its arguments for copies. (A __new__ would hide the signature.)"""
    @functools.wraps(init)
    def __init__(self: TensorOperation, *args: Any, **kwargs: Any) -> None:
        self.__dict__.setdefault("_made_from", (args, kwargs))
        init(self, *args, **kwargs)

    return __init__


def _make_again(kind: Type[TensorOperation], args: tuple, kwargs: Dict[str, Any]) -> TensorOperation:
    return kind(*args, **kwargs)


class NativeOperation(TensorOperation):
    """A transform of the C++ pipeline. Calling it on arrays applies it at once, without the interpreter lock. A random transform then draws its key
    from the generator of the row or of the object. A Pillow image yields a Pillow image if the class sets `_keeps_pillow`, otherwise an array, as in
    MindSpore.
    """

    _columns = 1
    _keeps_pillow = False  # implements _on_pillow for Pillow images

    def __init__(self, transform: Any):
        self._transform = transform

    def _core_transform(self) -> Optional[Any]:
        return self._transform

    def _name(self) -> str:
        return str(self._transform)

    def _key(self, rng: Optional[np.random.Generator]) -> int:
        """Returns the random key of one call."""
        if not self._random:
            return 0
        return self._eager_key() if rng is None else int(rng.integers(1 << 63))

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        if len(values) != self._columns:
            fail(ArgumentError, f"{self._name()} takes {self._columns} column{'s' if self._columns > 1 else ''}, got {len(values)}",
                 type(self).__name__, "map each column separately" if self._columns == 1 else "")
        if is_pil(values[0]):
            if self._keeps_pillow:
                return self._on_pillow(values[0], self._eager_rng() if self._random and rng is None else rng)
            values = [np.asarray(values[0]), *values[1:]]
        results = self._transform.apply(values, self._key(rng))
        return results[0] if len(results) == 1 else results

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        """Computes the result for a Pillow image with Pillow. rng: random numbers, for random transforms."""
        raise NotImplementedError

    def __call__(self, *values: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], (str, bytes)):
            fail(TypeError, f"an array or an image is expected, got {values[0]!r}", type(self).__name__)
        return self._call(None, values)


class PyOperation(TensorOperation):
    """A transform in NumPy; subclasses implement `_run(rng, *values)`. Calling it on arrays applies it at once."""

    def _run(self, rng: Any, *values: Any) -> Any:
        raise NotImplementedError

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        return self._run(rng, *values)

    def __call__(self, *values: Any) -> Any:
        return self._run(self._eager_rng() if self._random else None, *values)


class UserFunction(TensorOperation):
    """A user's function or callable object. If it has a parameter named `rng`, it receives a numpy.random.Generator to use during the call."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        try:
            self._random = "rng" in inspect.signature(function).parameters
        except (TypeError, ValueError):  # builtins without a signature
            self._random = False

    def _name(self) -> str:
        code = getattr(self.function, "__code__", None)
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return name if code is None else f"{name} at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        return self.function(*values, rng=rng) if self._random else self.function(*values)


class Chain:
    """Operations that run in sequence in Python. A tuple result stands for several columns, any other result for one."""

    def __init__(self, operations: Sequence[TensorOperation], num_outputs: int):
        self.operations = list(operations)
        self.num_outputs = num_outputs
        self._draws = any(op._random for op in operations)
        # User functions may call random transforms directly.
        self.keyed = self._draws or any(isinstance(op, UserFunction) for op in operations)
        self.name = ", ".join(op._name() for op in operations)

    def __call__(self, *values: Any) -> Tuple[Any, ...]:
        return self.run(values[0], values[1:]) if self.keyed else self.run(0, values)

    def run(self, key: int, values: Sequence[Any]) -> Tuple[Any, ...]:
        """Returns the results for one row; its random numbers derive from `key`."""
        if not self.keyed:
            return self._results(None, values)
        with RowScope(key):
            if not self._draws:
                return self._results(None, values)
            rng = _generators.take(key)
            try:
                return self._results(rng, values)
            finally:
                _generators.give_back(rng)

    def _results(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Tuple[Any, ...]:
        for operation in self.operations:
            result = operation._call(rng, values)
            values = result if isinstance(result, tuple) else (result,)
        if len(values) != self.num_outputs:
            fail(ArgumentError, f"map: {self.name} gave {len(values)} columns, expected {self.num_outputs}", "",
                 "return a tuple with one value for each of output_columns")
        return tuple(values)


class RowPlace:
    """Where a map produces its rows: in the engine until one of its functions returns a value that no tensor can hold. Copies of the map share it."""

    in_python = False


class GaveObjects(TypeError):
    """A function in the engine returned text or a dict. Readers catch this before their first row and produce the map's rows in Python from then on."""

    def __init__(self, name: str, value: Any, place: RowPlace):
        super().__init__(f"map: {name} gave a {type(value).__name__} after rows of numbers | map | return the same kind of value for every row")
        self.place = place


class _OnlyNumbers:
    """A chain whose results must be numeric. Raises GaveObjects."""

    def __init__(self, chain: Callable[..., Tuple[Any, ...]], name: str, place: RowPlace):
        self._chain, self._name, self._place = chain, name, place

    def __call__(self, *values: Any) -> Tuple[Any, ...]:
        results = self._chain(*values)
        for value in results:
            if isinstance(value, np.ndarray):
                objects = value.dtype.kind in "US"
            elif isinstance(value, (list, tuple)):
                objects = np.asarray(value).dtype.kind in "US"
            else:
                objects = isinstance(value, (str, bytes, dict))
            if objects:
                raise GaveObjects(self._name, value, self._place)
        return results


def as_operations(who: str, operations: Any) -> List[TensorOperation]:
    """Converts a user's argument, one or several transforms and callables, to a list of transforms. Raises TypeError or ValueError."""
    if not isinstance(operations, (list, tuple)):
        operations = [operations]
    if not operations:
        fail(ValueError, "operations must hold at least one transform, got none", who)
    out: List[TensorOperation] = []
    for operation in operations:
        if isinstance(operation, TensorOperation):
            out.extend(operation._expand())
        elif isinstance(operation, type):
            fail(ValueError, f"the operation {operation.__name__} is a class, expected an object", who, f"write {operation.__name__}(...)")
        elif callable(operation):
            out.append(UserFunction(operation))
        else:
            fail(ValueError, f"an operation must be a transform or callable, got {operation!r} of type {type(operation).__name__}", who)
    return out


def core_chain(operations: Sequence[TensorOperation]) -> Optional[List[Any]]:
    """Returns the C++ transforms of a chain on one column; None if one of them needs Python or returns a Pillow image."""
    chain = [None if op._objects or op._makes_pil else op._core_transform() for op in operations]
    return chain if all(t is not None and t.columns == (1, 1) for t in chain) else None


def compile_operations(operations: Sequence[TensorOperation], num_outputs: int, wrap: Callable[["Chain"], Any] = lambda chain: chain,
                       place: Optional[RowPlace] = None) -> Optional[List[Any]]:
    """Returns the equivalent C++ transforms; None if the rows must stay in Python.

    wrap: returns the object that runs a chain in Python. place: updated when a user's function returns objects.
    """
    if any(op._objects for op in operations) or (place is not None and place.in_python):
        return None
    out: List[Any] = []
    group: List[TensorOperation] = []
    in_python = False

    def flush(results: int) -> None:
        if group:
            chain = wrap(Chain(group, results))
            name, keyed = chain.name, chain.keyed
            if place is not None and any(isinstance(op, UserFunction) for op in group):
                chain = _OnlyNumbers(chain, name, place)
            out.append(_core.dataset.function(name, chain, results, keyed))
            group.clear()

    for operation in operations:
        transform = None if in_python else operation._core_transform()
        if transform is None:
            group.append(operation)
            in_python = in_python or operation._makes_pil
        else:
            flush(1)
            out.append(transform)
    flush(num_outputs)
    return out
