"""Graph mode for Python code: a call is traced once per signature into one graph, then replayed without Python.

The signature of a call is its arguments (tensors by shape and type, everything else by value) and the state of what it went through: of the
Cells that were called, given or found around the function, with all that their attributes hold. `set_train` or `add_flags` leads to another
graph, and back to the earlier one.

Where the code asks a tensor for its truth (`if overflow:`, `while`, `and`, `or`, `not`), the graph so far runs and the trace goes on for that
outcome; a call that meets another outcome traces the function again for that path (src/graph/segments.h). Code that looks at values otherwise
cannot be traced: in front of every condition the call runs eagerly, for good, behind one the rest of it does; one warning says where it looked.
"""
from __future__ import annotations

import dis
import functools
import gc
import inspect
import itertools
import sys
import threading
import warnings
from operator import is_
from typing import Any, Optional

import numpy as np

from sindri import _core
from sindri._core import Parameter, Tensor, TracedValueError

_MAX_ENTRIES = 64
_MAX_CHANGES = 8


class _Local(threading.local):
    """What this thread is doing: nesting of Cell calls, tapes in force, Cells seen while tracing."""

    def __init__(self) -> None:
        self.depth = 0  # Cell calls in progress; stays 0 while a graph is traced, where each call is to be seen
        self.tapes = 0  # tapes recording
        self.recording = 0  # inside a Cell whose forward run is recorded for a later gradient call
        self.recorded: list[Any] = []  # forward runs a gradient call may reuse: (cell, inputs, tape, output)
        self.seen: Optional[list[Any]] = None  # Cells called while a graph is traced: what its signature depends on
        self.called: list[Any] = []  # those of them that trained, outside of gradients
        self.marked: frozenset[Any] = frozenset()  # Cells whose runs are recorded in this trace, for gradients that follow
        self.begin = 0  # tensors with a smaller id are older than the graph being traced
        self.result: Any = None  # the structure of what the latest trace returned


class RecordRuns(BaseException):
    """A trace found a gradient of a Cell that was called before without a recording: it starts anew and records that Cell's runs, so that batch
    statistics move and random numbers are drawn once. No Exception, for those a construct may catch."""

    def __init__(self, cell: Any) -> None:
        super().__init__(cell)
        self.cell = cell


local = _Local()
clock = [0]  # advanced whenever an attribute of any Cell or a tensor in place changes: a cheap "nothing changed"
cell_class: Any = ()  # nn.Cell, once there is one

_ATOMS = frozenset((type(None), bool, int, str, bytes, range))
_TABLES = frozenset(("_params", "_cells", "_tuples", "_pre_hooks", "_hooks", "_backward_hooks", "_flags"))  # of a Cell; its methods change them


def _leaf(v: Any, keep: list[Any]) -> Any:
    """The key of what is no container: type and value of what cannot change, the content of an array, the identity of the rest. What is
    known by its address goes into `keep`: it must live as long as the key, or something else may come to lie there."""
    kind = type(v)
    if kind in _ATOMS:
        return (kind, v)
    if isinstance(v, float):  # 0.0 == -0.0, and nan is not nan
        return (kind, v if v and v == v else v.hex())
    if isinstance(v, (int, str, bytes)):
        return (kind, v)
    if isinstance(v, complex):
        return (kind, repr(v))
    if isinstance(v, (np.ndarray, np.generic)):
        if v.dtype.hasobject:
            keep.append(v.tolist())
        return (kind, str(v.dtype), v.shape, v.tobytes())
    if kind is slice:
        return (kind, _leaf(v.start, keep), _leaf(v.stop, keep), _leaf(v.step, keep))
    if isinstance(v, (set, frozenset)):
        return (kind, frozenset([_leaf(x, keep) for x in v]))
    keep.append(v)
    return ("object", id(v))


def _same_members(lists: Any) -> bool:
    for v, members in lists:
        if len(v) != len(members) or not all(map(is_, v, members)):
            return False
    return True


def _same_items(dicts: Any) -> bool:
    for v, names, members in dicts:
        if len(v) != len(names) or not all(map(is_, v, names)) or not all(map(is_, v.values(), members)):
            return False
    return True


class State:
    """What a graph was specialised on beside its arguments: Cells and other values, with everything they hold.

    Two states are the same when their keys are equal. A look at the identities of what was met tells sooner that nothing has changed: at
    what can change without the clock (`quiet`), or at all of it (`unchanged`). Equal values that are other objects count as a change there.
    """

    __slots__ = ("key", "keep", "lists", "dicts", "others", "tables", "tensors", "parameters", "_met", "_cells")

    def __init__(self, roots: Any) -> None:
        self.keep: list[Any] = []  # what the key knows by its address
        # Containers beside the members they had, arrays and sets beside their keys: these change without the clock.
        self.lists: list[Any] = []
        self.dicts: list[Any] = []
        self.others: list[Any] = []
        # These with it.
        self.tables: list[Any] = []  # the attributes of Cells
        self.tensors: list[Any] = []
        self.parameters: list[Any] = []
        self._met: dict[int, int] = {}
        self._cells: list[Any] = []
        out = [self._part(v) for v in roots]
        for cell in self._cells:  # grows meanwhile
            unread, attributes = cell._unread_by_graphs, cell.__dict__
            self.tables.append((attributes, tuple(attributes), tuple(attributes.values())))
            for name, v in attributes.items():
                if name in _TABLES:
                    self.tables.append((v, tuple(v), tuple(v.values())))
                    out.append((name, self._items(v)))
                elif name not in unread:
                    out.append((name, self._part(v)))
        self.key = tuple(out)
        self._met, self._cells = {}, []

    def _part(self, v: Any) -> Any:
        kind = type(v)
        if kind in _ATOMS:
            return (kind, v)
        if isinstance(v, Tensor):
            if not isinstance(v, Parameter):
                self.tensors.append((v, v._id))
                return ("tensor", v._id)
            if id(v) not in self._met:
                self._met[id(v)] = 0
                self.keep.append(v)
                self.parameters.append((v, v._requires_grad, v._name))
                return ("parameter", id(v), v._requires_grad, v._name)
            return ("parameter", id(v))
        if isinstance(v, cell_class):
            if id(v) not in self._met:
                self._met[id(v)] = 0
                self.keep.append(v)
                self._cells.append(v)
            return ("cell", id(v))
        if isinstance(v, tuple):
            return (kind, tuple([self._part(x) for x in v]))
        if isinstance(v, (list, dict)):
            if id(v) in self._met:
                return ("again", self._met[id(v)])
            self._met[id(v)] = len(self._met)
            if isinstance(v, dict):
                self.dicts.append((v, tuple(v), tuple(v.values())))
                return (kind, self._items(v))
            self.lists.append((v, tuple(v)))
            return (kind, tuple([self._part(x) for x in v]))
        part = _leaf(v, self.keep)
        if isinstance(v, (np.ndarray, set)):
            self.others.append((v, part))
        return part

    def _items(self, v: Any) -> Any:
        return tuple([(_leaf(k, self.keep), self._part(x)) for k, x in v.items()])

    def quiet(self) -> bool:
        return _same_members(self.lists) and _same_items(self.dicts) and all([_leaf(v, []) == part for v, part in self.others])

    def unchanged(self) -> bool:
        return (self.quiet() and _same_items(self.tables) and all([v._id == was for v, was in self.tensors])
                and all([v._requires_grad is on and v._name == name for v, on, name in self.parameters]))


def _around(fn: Any, out: list[Any], met: set[int]) -> None:
    """Appends to `out` what a function finds in variables around it, as the object of a method, or bound to it, and may find changed later."""
    if id(fn) in met:
        return
    met.add(id(fn))
    if isinstance(fn, functools.partial):
        near = [fn.func, *fn.args, *fn.keywords.values()]
    elif inspect.ismethod(fn):
        near = [fn.__func__, fn.__self__]
    elif inspect.isfunction(fn):
        near = [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
        for cell in fn.__closure__ or ():
            try:
                near.append(cell.cell_contents)
            except ValueError:  # a variable that is assigned later
                pass
        if not fn.__module__ or not fn.__module__.startswith("sindri."):
            names = {i.argval for i in dis.get_instructions(fn.__code__) if i.opname == "LOAD_GLOBAL"}
            near += [v for v in (fn.__globals__.get(name) for name in sorted(names)) if not inspect.isfunction(v)]
    else:
        near = [getattr(fn, "__wrapped__", None)]
    for v in near:
        if isinstance(v, (Tensor, cell_class, list, dict, np.ndarray)):
            out.append(v)
        elif callable(v) and not isinstance(v, type):
            _around(v, out, met)


class Flat:
    """The arguments of a call, taken apart: tensors, and a key of everything else."""

    __slots__ = ("tensors", "objects", "key")

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.tensors: list[Tensor] = []
        self.objects: list[Any] = []  # what the key knows by its address
        self.key = (tuple([self._part(a) for a in args]), tuple([(k, self._part(v)) for k, v in kwargs.items()]) if kwargs else ())

    def _part(self, v: Any) -> Any:
        if isinstance(v, Tensor):
            if isinstance(v, Parameter):
                self.objects.append(v)
                return ("parameter", id(v))
            self.tensors.append(v)
            return ("tensor", v.shape, v.dtype)
        if isinstance(v, (tuple, list)):
            return (type(v), tuple([self._part(x) for x in v]))
        if isinstance(v, dict):
            return (dict, tuple([(_leaf(k, self.objects), self._part(x)) for k, x in v.items()]))
        return _leaf(v, self.objects)


def rebuild(v: Any, tensors: Any) -> Any:
    """v with its tensors (not Parameters) taken from the iterator."""
    if isinstance(v, Parameter) or v is None:
        return v
    if isinstance(v, Tensor):
        return next(tensors)
    if type(v) is tuple or isinstance(v, list):
        items = [rebuild(x, tensors) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, tuple):  # ParameterTuple, namedtuple: their own kind of members stays
        return v if all(isinstance(x, Parameter) for x in v) else tuple.__new__(type(v), [rebuild(x, tensors) for x in v])
    if isinstance(v, dict):
        return {k: rebuild(x, tensors) for k, x in v.items()}
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
        self.results: dict[int, Any] = {}  # by path: the structure of what it returns
        self.traces = 0
        self.seen: list[Any] = []  # Cells that a trace met, until the state is taken
        self.marked: frozenset[Any] = frozenset()  # Cells whose runs its traces record, for gradients that follow
        self.touched = False  # whether the latest trace changed what Cells hold
        self.changed = False  # the same, if there are conditions: the next trace would not start where that one did
        self.roots: list[Any] = []  # what its state is the state of
        self.state: Any = None
        self.loose: Any = None  # the state, where some of it can change without the clock
        self.keep: Any = None  # what the key of its arguments knows by its address

    def run(self, tensors: list[Tensor], only_compile: bool = False) -> Any:
        """Its result. Where a path is taken for the first time, the state is that behind the trace."""
        traces, fn = self.traces, self.fn  # one that makes room meanwhile loses it
        while True:
            try:
                path, out = (0, fn.compile(tensors)) if only_compile else fn.run(tensors)
                break
            except RecordRuns as e:
                self.marked |= {e.cell}
        if self.traces != traces:
            self.specialise(self.roots + self.seen)
            self.seen = []
            if self.touched and fn.info()["segments"] > 1:
                self.changed = True
        if only_compile:
            return None
        if path >= 0:
            return _restore(self.results[path], iter(out))
        result, local.result = local.result, None  # the rest of the function ran eagerly
        return _restore(result, iter(out))

    def specialise(self, roots: list[Any]) -> None:
        self.roots = list({id(v): v for v in roots}.values())
        self._take(clock[0], State(self.roots))

    def fits(self) -> bool:
        time = clock[0]
        if self.time == time and (self.loose is None or self.loose.quiet()) or self._unchanged(time):
            return True
        state = State(self.roots)
        if state.key != self.state.key:
            return False
        self._take(time, state)
        return True

    def follow(self) -> None:
        """Takes the state as it is now: what an eager run itself has changed is no reason to try a graph again."""
        if not self._unchanged(clock[0]):
            self.specialise(self.roots)

    def _take(self, time: int, state: State) -> None:
        self.time, self.state = time, state
        self.loose = state if state.lists or state.dicts or state.others else None

    def _unchanged(self, time: int) -> bool:
        if self.state.unchanged():
            self.time = time
            return True
        return False


class Graphs:
    """The compiled signatures of one callable."""

    made = 0

    def __init__(self, fn: Any, name: str) -> None:
        self.fn, self.name, self.warned = fn, name, False
        # A Cell and its graphs hold each other. The collector counts objects, few here, not what their graphs weigh.
        Graphs.made += 1
        if Graphs.made % 50 == 0:
            gc.collect()
        self.entries: dict[Any, list[_Entry]] = {}
        self.changes = 0  # calls whose traces changed what Cells hold, beside conditions

    def call(self, args: Any, kwargs: Any, root: Any = None) -> Any:
        flat = Flat(args, kwargs)
        candidates = self.entries.get(flat.key)
        for entry in candidates or ():
            if entry.fits():
                if candidates and entry is not candidates[0]:  # found at once next time
                    candidates.remove(entry)
                    candidates.insert(0, entry)
                break
        else:
            entry = self._new(flat, args, kwargs, root)
            try:
                out = entry.run(flat.tensors)
            except TracedValueError as e:
                self._give_up(entry, e)
            if not entry.changed or entry.eager:
                self._add(flat.key, entry)
            if not entry.eager:
                return self._checked(entry, flat.key, out)
        if entry.eager:
            try:
                return _values(run_eagerly(self.fn, args, kwargs))
            finally:
                entry.follow()
        return self._checked(entry, flat.key, entry.run(flat.tensors))

    def _checked(self, entry: _Entry, key: Any, out: Any) -> Any:
        """A trace that changed what Cells hold is not used again: other outcomes of its conditions would be traced from another start."""
        if entry.changed:
            self.changes += 1
            entries = self.entries.get(key, [])
            if self.changes > _MAX_CHANGES:  # it does so every time
                entry.eager, entry.fn = True, None
                if entry not in entries:
                    self._add(key, entry)
                self._warn("beside a condition on a tensor it changes what its Cells hold each time", "")
            elif entry in entries:
                entries.remove(entry)
        return out

    def _give_up(self, entry: _Entry, e: TracedValueError) -> None:
        entry.eager, entry.fn = True, None
        self._warn(str(e), _place_of(e.__traceback__))
        entry.specialise(entry.roots + entry.seen)

    def _warn(self, what: str, place: str, rest: str = "runs eagerly") -> None:
        if not self.warned:
            self.warned = True
            parts = [f"{self.name} cannot be compiled and {rest}: {what}", place, "keep values in tensors, and state in Parameters"]
            warnings.warn(" | ".join(p for p in parts if p), stacklevel=4)

    def compile(self, args: Any, kwargs: Any, root: Any = None) -> None:
        """What a call of this signature needs is made; nothing runs and no state changes."""
        flat = Flat(args, kwargs)
        if not any(entry.fits() for entry in self.entries.get(flat.key, ())):
            entry = self._new(flat, args, kwargs, root)
            try:
                entry.run(flat.tensors, only_compile=True)
            except TracedValueError as e:
                self._give_up(entry, e)
            self._add(flat.key, entry)

    def _add(self, key: Any, entry: _Entry) -> None:
        """Puts an entry first among those of its arguments; the one that was used least lately of the oldest arguments makes room."""
        self.entries.setdefault(key, []).insert(0, entry)
        if sum(len(v) for v in self.entries.values()) > _MAX_ENTRIES:
            oldest = next(iter(self.entries))
            self.entries[oldest].pop().fn = None  # it and the function that was traced hold each other, and the memory of a graph
            if not self.entries[oldest]:
                del self.entries[oldest]

    def _new(self, flat: Flat, args: Any, kwargs: Any, root: Any) -> _Entry:
        entry = _Entry(self.name)
        entry.keep = flat.objects
        met = [v for v in flat.objects if isinstance(v, cell_class)]
        if root is not None:
            met.append(root)
        else:
            _around(self.fn, met, set())
        entry.roots = met
        places = itertools.repeat(_PLACE)  # the tensors of the first call would live as long as the graph
        args, kwargs = tuple(rebuild(x, places) for x in args), {n: rebuild(x, places) for n, x in kwargs.items()}

        def traced(tensors: Any) -> Any:
            it = iter(tensors)
            a = tuple(rebuild(x, it) for x in args)
            k = {n: rebuild(x, it) for n, x in kwargs.items()}
            before = local.depth, local.tapes, local.recording, local.recorded, local.seen, local.begin, local.called, local.marked
            number, seen, state = entry.traces, list(met), State(met)
            entry.traces += 1
            local.depth, local.tapes, local.recording, local.recorded, local.seen, local.begin = 0, 0, 0, [], seen, Tensor(0)._id
            local.called, local.marked = [], entry.marked
            try:
                result = self.fn(*a, **k)
            finally:
                local.depth, local.tapes, local.recording, local.recorded, local.seen, local.begin, local.called, local.marked = before
                entry.seen = seen
            entry.touched = not state.unchanged() and state.key != State(met).key
            entry.results[number] = local.result = _skeleton(result)
            out: list[Tensor] = []
            _collect(result, out)
            return out

        def left(what: str) -> None:
            """The rest of the call is an eager one."""
            local.depth, local.seen = 1, None
            self._warn(what, _place_around(), "goes on eagerly from there")

        entry.fn = _core.CompiledFn(traced, self.name, on_leave=left)
        return entry


def _values(v: Any) -> Any:
    """A result as a graph would return it: Parameters in it as their values."""
    if isinstance(v, Parameter):
        return v._detached()
    if isinstance(v, Tensor):
        return v
    if isinstance(v, (tuple, list)):
        items = [_values(x) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, dict):
        return {k: _values(x) for k, x in v.items()}
    return v


def _place_around() -> str:
    """File and line of the user's code that is running."""
    frame: Any = sys._getframe()
    while frame is not None and "/sindri/" in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def _place_of(tb: Any) -> str:
    """File and line in the user's code where the value was asked for."""
    place = ""
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
