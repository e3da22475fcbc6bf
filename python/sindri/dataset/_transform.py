"""What every transform is, and how a list of transforms and Python functions becomes operations of the C++ pipeline.

A transform is either a handle to a C++ one (NativeOperation) or NumPy code (PyOperation). In a pipeline neighbouring Python operations
run as one function, so what passes between them may be any Python object: an image of Pillow, a str.
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
    """Random numbers that depend on `key` alone."""
    return np.random.Generator(np.random.Philox(key=key & 0xFFFFFFFFFFFFFFFF))


class _Generators:
    """Generators used again and again: making one takes as long as many a transform. `take(key)` gives what generator(key) would."""

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
    """A 64-bit number that depends on all parts."""
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
    """While it is entered, transforms called by hand in this thread draw from `key`, which stands for the row being made: what they draw depends
    neither on threads nor on what ran before.
    """

    def __init__(self, key: int):
        self._key = key

    def __enter__(self) -> None:
        self._before = _row.key, _row.calls
        _row.key, _row.calls = self._key, 0

    def __exit__(self, *args: Any) -> None:
        _row.key, _row.calls = self._before


class _Streams:
    """Keys of the streams that transforms called by hand draw from: one stream per object, numbered in the order of their first calls since the
    seed was set. Without a seed they start from the system's random numbers. A forked process has streams of its own, else workers would all draw
    the same; they depend on the seed and on how many were forked before.
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
        """Changes whenever streams have to begin anew."""
        return config._times_seeded, common_seed._times_seeded, self._lineage

    def open(self, seeding: Tuple[int, ...]) -> int:
        """The key of the next stream."""
        with self._lock:
            if seeding != self._seeding:
                seed = config._pipeline_seed()
                self._base = int.from_bytes(os.urandom(8), "little") if seed is None else random_key(seed, self._lineage)
                self._places, self._seeding = itertools.count(), seeding
            return random_key(self._base, next(self._places))


_streams = _Streams()


def is_pil(value: Any) -> bool:
    """Whether `value` is an image of Pillow, without importing that."""
    image = sys.modules.get("PIL.Image")
    return image is not None and isinstance(value, image.Image)


def to_pil(who: str, array: np.ndarray) -> Any:
    """An image of Pillow. Raises RuntimeError where Pillow is not installed, TypeError for arrays it has no image of."""
    try:
        from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        fail(RuntimeError, "Pillow is not installed", who, "install the package Pillow, or leave ToPIL and to_pil out: all transforms take arrays")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    try:
        return Image.fromarray(array)
    except (TypeError, ValueError) as e:
        fail(TypeError, f"no image can be made of {array.dtype}{list(array.shape)}: {e}", who, "give uint8 [H, W], [H, W, 1], [H, W, 3] or [H, W, 4]")


def numpy_type(who: str, name: str, value: Any) -> np.dtype:
    """The NumPy type for a type of sindri.common.dtype, of NumPy, or its name. Raises TypeError."""
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
    """What the traceback prints below the message (PEP 678), also before Python 3.11 where it is only kept."""
    notes = getattr(error, "__notes__", [])
    if note not in notes:
        try:
            error.__notes__ = [*notes, note]  # type: ignore[attr-defined]
        except AttributeError:
            pass


class TensorOperation:
    """Base of all transforms."""

    _made_from: Tuple[tuple, Dict[str, Any]] = (), {}
    _stream: Tuple[Tuple[int, ...], int, Any]  # seeding, key, calls
    _random = False  # draws random numbers
    _objects = False  # takes or gives what no tensor holds: text
    _makes_pil = False  # gives images of Pillow, so what follows in the list runs in Python

    def __init__(self) -> None:
        """Without arguments."""

    def _expand(self) -> List["TensorOperation"]:
        return [self]

    def _core_transform(self) -> Optional[Any]:
        """The C++ transform; None for operations in Python."""
        return None

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        """One call inside a pipeline that runs in Python."""
        raise NotImplementedError

    def _name(self) -> str:
        return type(self).__name__

    def _eager_rng(self) -> np.random.Generator:
        """Random numbers of one call by hand."""
        return generator(self._eager_key())

    def _eager_key(self) -> int:
        """The key of one call by hand: of the row that a pipeline is making in this thread; else from a stream of this object's."""
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
        # Copies, also those in other processes, are made as this one was: they hold no C++ object of this one's and draw from a stream of their own.
        return _make_again, (type(self), *self._made_from)


def _remembering(init: Any) -> Any:
    """An __init__ that keeps its arguments, for copies. (A __new__ would hide the signature.)"""
    @functools.wraps(init)
    def __init__(self: TensorOperation, *args: Any, **kwargs: Any) -> None:
        self.__dict__.setdefault("_made_from", (args, kwargs))
        init(self, *args, **kwargs)

    return __init__


def _make_again(kind: Type[TensorOperation], args: tuple, kwargs: Dict[str, Any]) -> TensorOperation:
    return kind(*args, **kwargs)


class NativeOperation(TensorOperation):
    """A transform of the C++ pipeline. Called on arrays it is applied at once, without the interpreter lock; a random one then draws from a number
    that is drawn from the generator of the row, or of the object. An image of Pillow gives one where the class has `_keeps_pillow`, else an array, as in
    MindSpore.
    """

    _columns = 1
    _keeps_pillow = False  # has a form for images of Pillow: _on_pillow

    def __init__(self, transform: Any):
        self._transform = transform

    def _core_transform(self) -> Optional[Any]:
        return self._transform

    def _name(self) -> str:
        return str(self._transform)

    def _key(self, rng: Optional[np.random.Generator]) -> int:
        """What one call draws from."""
        if not self._random:
            return 0
        return self._eager_key() if rng is None else int(rng.integers(1 << 63))

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        if len(values) != self._columns:
            fail(ArgumentError, f"{self._name()} takes {self._columns} column{'s' if self._columns > 1 else ''}, it is given {len(values)}",
                 type(self).__name__, "map each column on its own" if self._columns == 1 else "")
        if is_pil(values[0]):
            if self._keeps_pillow:
                return self._on_pillow(values[0], self._eager_rng() if self._random and rng is None else rng)
            values = [np.asarray(values[0]), *values[1:]]
        results = self._transform.apply(values, self._key(rng))
        return results[0] if len(results) == 1 else results

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        """What Pillow gives for an image of its own. rng: random numbers, of random transforms."""
        raise NotImplementedError

    def __call__(self, *values: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], (str, bytes)):
            fail(TypeError, f"an array or an image is expected, got {values[0]!r}", type(self).__name__)
        return self._call(None, values)


class PyOperation(TensorOperation):
    """A transform in NumPy: subclasses give `_run(rng, *values)`. Called on arrays it is applied at once."""

    def _run(self, rng: Any, *values: Any) -> Any:
        raise NotImplementedError

    def _call(self, rng: Optional[np.random.Generator], values: Sequence[Any]) -> Any:
        return self._run(rng, *values)

    def __call__(self, *values: Any) -> Any:
        return self._run(self._eager_rng() if self._random else None, *values)


class UserFunction(TensorOperation):
    """A function or callable object of the user's. One with a parameter named `rng` gets a numpy.random.Generator, for use during the call."""

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
    """Operations run one after another in Python: a tuple is several columns, anything else one."""

    def __init__(self, operations: Sequence[TensorOperation], num_outputs: int):
        self.operations = list(operations)
        self.num_outputs = num_outputs
        self._draws = any(op._random for op in operations)
        # Functions of the user's may call random transforms by hand.
        self.keyed = self._draws or any(isinstance(op, UserFunction) for op in operations)
        self.name = ", ".join(op._name() for op in operations)

    def __call__(self, *values: Any) -> Tuple[Any, ...]:
        return self.run(values[0], values[1:]) if self.keyed else self.run(0, values)

    def run(self, key: int, values: Sequence[Any]) -> Tuple[Any, ...]:
        """The results for one row; its random numbers come from `key`."""
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
    """Where a map makes its rows: in the engine until a function of it gives what no tensor holds. Copies of the map share it."""

    in_python = False


class GaveObjects(TypeError):
    """A function in the engine gave text or a dict. Readers catch it before their first row and make the map's rows in Python from then on."""

    def __init__(self, name: str, value: Any, place: RowPlace):
        super().__init__(f"map: {name} gave a {type(value).__name__} after rows of numbers | map | return the same kind of value for every row")
        self.place = place


class _OnlyNumbers:
    """A chain whose results must be numbers. Raises GaveObjects."""

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
    """A list of transforms for what users give: one or several transforms and callables. Raises TypeError or ValueError."""
    if not isinstance(operations, (list, tuple)):
        operations = [operations]
    if not operations:
        fail(ValueError, "operations is empty", who)
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
    """The C++ transforms of a chain of one column; None where one of them needs Python, or where an image of Pillow is made."""
    chain = [None if op._objects or op._makes_pil else op._core_transform() for op in operations]
    return chain if all(t is not None and t.columns == (1, 1) for t in chain) else None


def compile_operations(operations: Sequence[TensorOperation], num_outputs: int, wrap: Callable[["Chain"], Any] = lambda chain: chain,
                       place: Optional[RowPlace] = None) -> Optional[List[Any]]:
    """The C++ transforms that do the same; None when the rows must stay in Python. wrap: what runs a chain in Python. place: told where a user's
    function gives objects.
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
