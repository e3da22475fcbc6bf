"""Graph mode for Python code: a call is traced once per signature into one graph, then replayed without Python.

The signature of a call is its arguments (tensors by shape and type, everything else by value) and the state of the Cells it went through
(training flags, plain attributes): `set_train` or `add_flags` leads to another graph, and back to the earlier one. Code that looks at the
values of tensors cannot be traced; it runs eagerly from then on, and one warning says where it looked.
"""
from __future__ import annotations

import threading
import warnings
from typing import Any, Optional

from sindri import _core
from sindri._core import Parameter, Tensor, TracedValueError

_MAX_ENTRIES = 64


class _Local(threading.local):
    """What this thread is doing: nesting of Cell calls, tapes in force, Cells seen while tracing."""

    def __init__(self) -> None:
        self.depth = 0  # Cell calls in progress
        self.tapes = 0  # tapes recording
        self.recording = 0  # inside a Cell whose forward run is recorded for a later gradient call
        self.recorded: list[Any] = []  # forward runs a gradient call may reuse: (cell, inputs, tape, output)
        self.seen: Optional[list[Any]] = None  # Cells called while a graph is traced: what its signature depends on


local = _Local()
clock = [0]  # advanced whenever an attribute of any Cell changes: a cheap "nothing changed"


def _is_plain(v: Any) -> bool:
    return v is None or isinstance(v, (bool, int, float, str)) or isinstance(v, (tuple, list)) and all(_is_plain(x) for x in v)


def _freeze(v: Any) -> Any:
    return tuple(_freeze(x) for x in v) if isinstance(v, (tuple, list)) else (type(v), v)


def state_of(cells: Any) -> tuple:
    """What a graph through these Cells was specialised on, beside its arguments."""
    out, done = [], set()

    def visit(c: Any) -> None:
        if id(c) in done:
            return
        done.add(id(c))
        own = []
        for k, v in c.__dict__.items():
            if k.startswith("_cell_"):
                continue
            own.append((k, _freeze(v) if _is_plain(v) else id(v)))
        out.append((id(c), tuple(own)))
        for child in c._cells.values():
            if child is not None:
                visit(child)

    for cell in cells:
        visit(cell)
    return tuple(out)


class _Flat:
    """The arguments of a call, taken apart: tensors, and a key of everything else."""

    __slots__ = ("tensors", "key")

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.tensors: list[Tensor] = []
        self.key = (tuple(self._part(a) for a in args), tuple((k, self._part(v)) for k, v in kwargs.items()) if kwargs else ())

    def _part(self, v: Any) -> Any:
        if isinstance(v, Parameter):
            return ("parameter", id(v))
        if isinstance(v, Tensor):
            self.tensors.append(v)
            return ("tensor", v.shape, v.dtype)
        if isinstance(v, (tuple, list)):
            return (type(v), tuple(self._part(x) for x in v))
        if isinstance(v, dict):
            return (dict, tuple((k, self._part(x)) for k, x in v.items()))
        if v is None or isinstance(v, (bool, int, float, str, bytes)):
            return (type(v), v)
        return ("object", id(v))


def _rebuild(v: Any, tensors: Any) -> Any:
    """v with its tensors (not Parameters) taken from the iterator."""
    if isinstance(v, Parameter) or v is None:
        return v
    if isinstance(v, Tensor):
        return next(tensors)
    if type(v) is tuple or type(v) is list:
        return type(v)(_rebuild(x, tensors) for x in v)
    if isinstance(v, tuple):  # ParameterTuple, namedtuple: their own kind of members stays
        return v if all(isinstance(x, Parameter) for x in v) else type(v)(*(_rebuild(x, tensors) for x in v))
    if isinstance(v, dict):
        return {k: _rebuild(x, tensors) for k, x in v.items()}
    return v


def _collect(v: Any, out: Any) -> None:
    """The tensors of a result, Parameters included (as values); the same walk as _restore."""
    if isinstance(v, Tensor):
        out.append(v)
    elif isinstance(v, (tuple, list)):
        for x in v:
            _collect(x, out)
    elif isinstance(v, dict):
        for x in v.values():
            _collect(x, out)


def _restore(v: Any, tensors: Any) -> Any:
    if isinstance(v, Tensor):
        return next(tensors)
    if isinstance(v, (tuple, list)):
        items = [_restore(x, tensors) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, dict):
        return {k: _restore(x, tensors) for k, x in v.items()}
    return v


def _skeleton(v: Any) -> Any:
    """A result without its tensors' data, to restore later results from."""
    if isinstance(v, Tensor):
        return _PLACE
    if isinstance(v, (tuple, list)):
        items = [_skeleton(x) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, dict):
        return {k: _skeleton(x) for k, x in v.items()}
    return v


_PLACE = Tensor(0)


class _Entry:
    """One compiled signature."""

    def __init__(self, name: str) -> None:
        self.name, self.time, self.eager = name, -1, False
        self.fn: Any = None  # the compiled function, None when the call runs eagerly
        self.result: Any = None  # the structure of what it returns
        self.first: Any = None  # what the run returned that compiled it, until that is handed out
        self.cells: tuple[Any, ...] = ()
        self.state: Any = None
        self.keep: Any = None

    def fits(self) -> bool:
        if self.time != clock[0]:
            if state_of(self.cells) != self.state:
                return False
            self.time = clock[0]
        return True


class Graphs:
    """The compiled signatures of one callable."""

    def __init__(self, fn: Any, name: str) -> None:
        self.fn, self.name, self.warned = fn, name, False
        self.entries: dict[Any, list[_Entry]] = {}

    def call(self, args: Any, kwargs: Any, root: Any = None) -> Any:
        flat = _Flat(args, kwargs)
        candidates = self.entries.setdefault(flat.key, [])
        for entry in candidates:
            if entry.fits():
                break
        else:
            entry = self._trace(flat, args, kwargs, root)
            if entry is None:
                raise AssertionError("unreachable")
            candidates.append(entry)
            self._limit()
            if not entry.eager:
                first, entry.first = entry.first, None
                return first
        if entry.eager:
            return run_eagerly(self.fn, args, kwargs)
        out = entry.fn(flat.tensors)
        return _restore(entry.result, iter(out))

    def _limit(self) -> None:
        if sum(len(v) for v in self.entries.values()) > _MAX_ENTRIES:
            self.entries.pop(next(iter(self.entries)))

    def _trace(self, flat: Any, args: Any, kwargs: Any, root: Any) -> Any:
        entry = _Entry(self.name)
        entry.keep = (args, kwargs) if any("object" in str(k) for k in flat.key) else None
        seen = [] if root is None else [root]

        def traced(tensors: Any) -> Any:
            it = iter(tensors)
            a = tuple(_rebuild(x, it) for x in args)
            k = {n: _rebuild(x, it) for n, x in kwargs.items()}
            before = local.depth, local.tapes, local.recording, local.recorded, local.seen
            local.depth, local.tapes, local.recording, local.recorded, local.seen = 1, 0, 0, [], seen
            try:
                result = self.fn(*a, **k)
            finally:
                local.depth, local.tapes, local.recording, local.recorded, local.seen = before
            entry.result = _skeleton(result)
            out: list[Tensor] = []
            _collect(result, out)
            return out

        entry.fn = _core.CompiledFn(traced, self.name)
        try:
            out = entry.fn(flat.tensors)
            entry.first = _restore(entry.result, iter(out))
        except TracedValueError as e:
            entry.eager, entry.fn = True, None
            if not self.warned:
                self.warned = True
                warnings.warn(f"{self.name} cannot be compiled and runs eagerly: {e} | {_place_of(e)} | use ops.where in place of `if` on a tensor",
                              stacklevel=4)
        entry.cells = tuple({id(c): c for c in seen}.values())
        entry.state = state_of(entry.cells)
        entry.time = clock[0]
        return entry


def _place_of(e: Any) -> str:
    """File and line in the user's code where the value was asked for."""
    tb, place = e.__traceback__, ""
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if "/sindri/" not in name:
            place = f"{name}:{tb.tb_lineno}"
        tb = tb.tb_next
    return place


def run_eagerly(fn: Any, args: Any, kwargs: Any) -> Any:
    """fn as an outermost eager call: a step of its own for the random ops."""
    local.depth += 1
    _core.begin_step()
    try:
        return fn(*args, **kwargs)
    finally:
        _core.end_step()
        local.depth -= 1


def outermost() -> bool:
    """True where a call may be compiled: not inside a Cell, a tape or a graph being traced."""
    return local.depth == 0 and local.tapes == 0 and not _core.is_tracing_graph()


def graph_text(cell: Any) -> str:
    """The optimized graph of a Cell's latest compiled call; empty when it has none."""
    graphs = cell.__dict__.get("_cell_graphs")
    entries = [e for v in graphs.entries.values() for e in v if e.fn is not None] if graphs else []
    return entries[-1].fn.graph_text() if entries else ""
