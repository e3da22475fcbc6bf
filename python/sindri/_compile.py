"""Graph mode for Python code: a call is traced once per signature into one graph, then replayed without Python.

The signature of a call consists of its arguments (tensors by shape and type, everything else by value) and of the state of the Cells involved:
those that were called, passed in or captured by the function, with everything their attributes hold. `set_train` or `add_flags` leads to
another graph, and later back to the earlier one.

If the code evaluates a tensor as a condition (`if overflow:`, `while`, `and`, `or`, `not`), the graph so far runs and tracing continues for that
outcome. A call with another outcome traces the function again for that path (src/graph/segments.h). Code that reads values in other ways cannot
be traced. After a condition, the rest of that call then runs eagerly. Before any condition, or if many calls read values, a call of that
signature runs eagerly from its start. One warning names the place.

An eager call is eager only in its own code: the Cells, gradient functions and jit functions that it calls are compiled separately, with signatures
and states as above (`call_apart`). A called function that reads values is eager in the same way, and so are its callers. The results are those of
PYNATIVE_MODE, whatever is compiled: the random ops of all parts count in one step, and arguments, Parameters and tensors from outside are passed
through as the same objects.

Some calls share more with their surroundings than a graph can represent: they record for a later gradient, write to their arguments, return a part
of them, or leave tensors or numbers in lists or attributes. These run eagerly. So does a function that is called for the first time (it may be an
object for this one call), is too small to gain, or is called with different arguments each time.
"""
from __future__ import annotations

import gc
import itertools
import sys
import threading
import warnings
from collections import OrderedDict
from operator import is_
from types import GeneratorType
from typing import Any, Optional

import numpy as np

from sindri import _core, _graph_key, _print, _uses
from sindri._core import Parameter, Tensor, TracedValueError, still_bound
from sindri._graph_key import Flat, State, around, clock, rebuild
from sindri._graph_reads import Reads, bound, is_plain
from sindri._uses import watching

__all__ = ["Flat", "Graphs", "RecordRuns", "State", "clock", "entrance", "graph_text", "local", "outermost", "rebuild", "run_eagerly", "run_within"]

_MAX_ENTRIES = 64
_MANY_STATES = 16  # graphs for the same arguments; above this, a warning names the difference
_MAX_CHANGES = 8
# For parts of eager calls.
_FEW_NODES = 3  # a smaller function runs op by op in less time than comparing its signature takes
_FREE_TRIES = 8  # signatures compiled without earlier hits; each further one must be earned
_HITS_PER_TRY = 16  # by this number of calls that found their signature
_MAX_FRUITLESS = 32  # consecutive calls with a new signature, after which signatures are not compared any more


class _Local(threading.local):
    """The state of this thread: nesting of Cell calls, active tapes, Cells seen while tracing."""

    def __init__(self) -> None:
        self.depth = 0  # Cell calls in progress; stays 0 while a graph is traced, because each call must be seen
        self.tapes = 0  # tapes recording
        self.recording = 0  # inside a Cell whose forward run is recorded for a later gradient call
        self.recorded: list[Any] = []  # forward runs that a gradient call may reuse: (cell, inputs, tape, output)
        self.seen: Optional[list[Any]] = None  # Cells called while a graph is traced; its signature depends on them
        self.called: list[Any] = []  # those in training mode, outside of gradients
        self.marked: frozenset[Any] = frozenset()  # Cells whose runs are recorded in this trace, for following gradients
        self.begin = 0  # tensors with a smaller id are older than the graph being traced
        self.result: Any = None  # the structure of the latest trace's result
        self.differentiated: list[Any] = []  # Cells whose gradients a trace computes with a separate forward run
        self.made: Any = None  # the arguments of Recording.done, set by a compiled run of a recorded Cell
        self.apart = False  # an outermost call of GRAPH_MODE runs eagerly; the functions it calls are compiled separately


class RecordRuns(BaseException):
    """Raised if a trace finds a gradient of a Cell that was called before without a recording. The trace starts again and records that Cell's runs, so
    that batch statistics are updated and random numbers drawn once. Not an Exception, because a construct may catch those."""

    def __init__(self, cell: Any) -> None:
        super().__init__(cell)
        self.cell = cell


class _Tied(BaseException):
    """Raised if a traced part of an eager call shares more with its surroundings than values: none of it has run, and it must run eagerly."""


class _NotNow(Exception):
    """Raised if a traced part of an eager call would reuse what this call has recorded around it."""


local = _Local()


_TO_LIST: tuple[Any, ...] = (filter, GeneratorType, type({}.items()))
_TO_TUPLE: tuple[Any, ...] = (map, zip, enumerate, range, type({}.keys()), type({}.values()))


def _settled(v: Any) -> Any:
    """Returns a result without iterators, which a graph could return only once, and views: lists and tuples of their items, as in MindSpore."""
    if type(v) is map and isinstance(v.__reduce__()[1][1], type(iter([]))):  # of a list
        return [_settled(x) for x in v]
    if isinstance(v, _TO_LIST):
        return [_settled(x) for x in v]
    if isinstance(v, _TO_TUPLE):
        return tuple([_settled(x) for x in v])
    kind = type(v)
    if kind is tuple or kind is list:
        items = [_settled(x) for x in v]
        return v if all(map(is_, items, v)) else kind(items)  # a list held elsewhere stays the same list
    return v


def _collected(v: Any) -> list[Tensor]:
    out: list[Tensor] = []
    _collect(v, out)
    return out


def _collect(v: Any, out: Any) -> None:
    """Collects the tensors of a result, Parameters included (as values), in the order of _restore."""
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
    """Returns a result without its tensors' data, from which later results are restored."""
    if isinstance(v, Tensor):
        return _PLACE
    if isinstance(v, (tuple, list)):
        items = [_skeleton(x) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, dict):
        return {k: _skeleton(x) for k, x in v.items()}
    return v


_PLACE = Tensor(0)
_SIMPLE = (type(None), bool, int, float, complex, str, bytes, range, slice, type, np.generic, _core.DType, Parameter)


class _Place:
    """In a packed result: output `index` of the graph, or, if negative, argument -index - 1."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def _map(v: Any, leaf: Any) -> Any:
    """Returns v with leaf(x) for the items of its tuples, lists, dicts and named tuples."""
    kind = type(v)
    if kind is tuple:
        return tuple([_map(x, leaf) for x in v])
    if kind is list:
        return [_map(x, leaf) for x in v]
    if kind is dict or kind is OrderedDict:
        return kind([(k, _map(x, leaf)) for k, x in v.items()])
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return tuple.__new__(kind, [_map(x, leaf) for x in v])
    return leaf(v)


def _pack(result: Any, given: Any) -> Any:
    """Returns (the result with places for the tensors that the trace created, these tensors, other objects in it that may hold some). Parameters and
    tensors from outside are kept."""
    places: dict[int, Any] = {id(t): _Place(-i - 1) for i, t in enumerate(given)}
    out: list[Tensor] = []
    others: list[Any] = []

    def leaf(v: Any) -> Any:
        if not isinstance(v, Tensor) or isinstance(v, Parameter):
            if not isinstance(v, _SIMPLE):
                others.append(v)
            return v
        place = places.get(id(v))
        if place is None:
            if not v.is_symbolic and v._id < local.begin:
                return v
            place = places[id(v)] = _Place(len(out))
            out.append(v)
        return place

    return _map(result, leaf), out, others


class _Result:
    """The result of a part with its tensors as places, and its other effects."""

    __slots__ = ("structure", "count", "written", "recording", "form")

    def __init__(self, structure: Any, count: int, written: Any = (), recording: Any = None, form: Any = None) -> None:
        self.structure, self.count = structure, count  # number of outputs that are results
        self.written = written  # the arguments it wrote: (index, value)
        self.recording, self.form = recording, form  # the recorded run: of a graph that returns further outputs in this form, or eager at the end

    def restored(self, entry: _Entry, out: Any, given: Any) -> Any:
        """Returns the result of a run of the entry and sets local.made to its recording."""
        for i, value in self.written:
            given[i]._replace(value)
        if self.form is not None:
            local.made = None, None, None, (self.form, list(out[self.count:]), entry.fits)
        elif self.recording is not None:
            local.made = self.recording.taken()

        def leaf(v: Any) -> Any:
            if type(v) is _Place:
                return out[v.index] if v.index >= 0 else given[-v.index - 1]
            return v

        return _map(self.structure, leaf)


def _containers(v: Any) -> list[int]:
    """Returns the identities of the lists and dicts in v."""
    if isinstance(v, (tuple, list)):
        return [i for x in v for i in _containers(x)] + ([id(v)] if isinstance(v, list) else [])
    return [i for x in v.values() for i in _containers(x)] + [id(v)] if isinstance(v, dict) else []


class _Surroundings:
    """The inputs of a traced part, to detect its effects on them."""

    def __init__(self, tensors: Any, args: Any, kwargs: Any, state: State) -> None:
        self.tensors, self._ids = tensors, [t._id for t in tensors]
        self._args, self._key = (args, kwargs), Flat(args, kwargs).key
        self._held = {*_containers(self._args), *[id(v) for v, *_ in state.lists + state.dicts]}

    def written(self) -> list[Any]:
        """Returns the arguments it wrote: (index, value)."""
        return [(i, t._detached()) for i, (t, was) in enumerate(zip(self.tensors, self._ids)) if t._id != was]

    def tied(self, result: Any, tensors: Any) -> bool:
        """Returns whether it exchanges more than values: it changed its arguments, left a recording for a later gradient, or returns lists or (these
        tensors) views of tensors that others hold too."""
        args, kwargs = self._args
        now = Flat(args, kwargs)
        if local.recorded or self.written() or now.key != self._key or not all(map(is_, now.tensors, self.tensors)):
            return True
        return not self._held.isdisjoint(_containers(result)) or _views_of_others(tensors, self.tensors)


def _views_of_others(results: Any, given: Any) -> bool:
    bases = [link[0] for link in [t._link_of() for t in results] if link is not None]
    if not bases:
        return False
    known = {id(t) for t in given} | {id(t) for t in results}
    return len({id(b) for b in bases}) < len(bases) or any([id(b) in known or isinstance(b, Parameter) or b._id < local.begin for b in bases])


class _Entry:
    """One compiled signature."""

    def __init__(self, name: str, apart: bool = False) -> None:
        self.name, self.apart, self.time, self.eager = name, apart, -1, False
        self.fn: Any = None  # the compiled function; None if the call runs eagerly
        self.results: dict[int, Any] = {}  # by path: the structure of the result
        self.traces = 0
        self.seen: list[Any] = []  # Cells that a trace met, until the state is stored
        self.marked: frozenset[Any] = frozenset()  # Cells whose runs its traces record, for following gradients
        self.touched = False  # whether the latest trace changed values held by Cells
        self.changed = False  # the same, if it matters: with conditions, the next trace would start from another state
        self.roots: list[Any] = []  # the objects whose state it depends on
        self.state: Any = None
        self.loose: Any = None  # the state, if a part of it can change without the clock
        self.bound: Any = None  # its variables, if it has some
        self.reads = Reads()  # variables that its traces have read from outside
        self.keep: Any = None  # objects that the key of its arguments identifies by address
        self.went_on = False  # whether the latest run ended eagerly
        self.looks = self.runs = 0  # runs that ended eagerly because they read a value, and the other runs
        self.failed = False  # the latest trace raised before anything had run
        self.differentiated: list[Any] = []  # Cells whose recordings its gradients would reuse
        self.queries: list[Any] = []  # its gradients' queries to optimizers (_uses): another answer needs another graph
        self.after: dict[int, Any] = {}  # by path: (index of the first use in the outputs, uses for outer optimizers, optimizers that it calls)

    def run(self, tensors: list[Tensor], only_compile: bool = False) -> Any:
        """Runs it and returns the result. If a path is taken for the first time, the state is that after the trace."""
        traces, fn = self.traces, self.fn  # an entry that is evicted meanwhile loses it
        self.went_on = self.failed = False
        while True:
            try:
                path, out = (0, fn.compile(tensors)) if only_compile else fn.run(tensors)
                break
            except RecordRuns as e:
                self.marked |= {e.cell}
        if self.traces != traces:
            self.specialise(self.roots + self.seen)
            self.seen = []
            if self.touched and (self.apart or fn.info()["segments"] > 1):
                self.changed = True
        if only_compile:
            return None
        if self.after:
            out = self._passed_on(path if path >= 0 else self.traces - 1, out)
        if path >= 0:
            self.runs += 1
            return self.results[path].restored(self, out, tensors) if self.apart else _restore(self.results[path], iter(out))
        del self.results[self.traces - 1]
        result, local.result = local.result, None
        if not self.apart:
            return _restore(result, iter(out))
        if not self.went_on:  # at the end, objects outside held its results
            self.stay_eager()
        return result.restored(self, out, tensors)

    def _passed_on(self, path: int, out: Any) -> Any:
        """Returns the outputs of a run that are results; the others are uses, which are passed to optimizers. Optimizers that it called count the update."""
        if path in self.after:
            begin, uses, updates = self.after[path]
            for steps in updates:
                steps.done()
            if uses:
                _uses.hand_over(uses, iter(out[begin:]))
                return out[:begin]
        return out

    def stay_eager(self) -> None:
        """Makes calls of this signature run eagerly from now on."""
        self.eager, self.fn = True, None

    def would_take_over(self, recorded: list[Any]) -> bool:
        """Returns whether a gradient in it would reuse one of these recordings of the surrounding code."""
        return any([r.cell is c for r in recorded for c in self.differentiated])

    def looks_often(self) -> bool:
        """Returns whether so many runs end eagerly that all of them should start eagerly."""
        return self.looks > 2 and 4 * self.looks > self.runs

    def specialise(self, roots: list[Any]) -> None:
        self.roots = list({id(v): v for v in roots}.values())
        self._take(clock[0], State(self.roots, self._reads()))

    def _reads(self) -> Optional[Reads]:
        return None if self.eager else self.reads

    def fits(self) -> bool:
        for query in self.queries:
            if (watching or query.answer) and not query.holds():
                return False
        time = clock[0]
        variables = self.bound
        if self.time == time and (variables is None or still_bound(variables)) and (self.loose is None or self.loose.quiet()) or self._unchanged(time):
            return True
        state = State(self.roots, self._reads())
        if state.key != self.state.key:
            return False
        self._take(time, state)
        return True

    def follow(self) -> None:
        """Stores the current state: changes made by an eager run itself must not cause another attempt at a graph."""
        time = clock[0]
        if not (self.time == time and (self.loose is None or self.loose.quiet()) or self._unchanged(time)):
            self.specialise(self.roots)

    def _take(self, time: int, state: State) -> None:
        self.time, self.state = time, state
        self.loose = state if state.lists or state.dicts or state.others else None
        self.bound = state.bound or None

    def _unchanged(self, time: int) -> bool:
        if self.state.unchanged():
            self.time = time
            return True
        return False


class Graphs:
    """The compiled signatures of one callable. If it is `whole`, nothing inside it is compiled separately: a gradient, whose tape records everything."""

    made = 0

    def __init__(self, fn: Any, name: str, whole: bool = False) -> None:
        self.fn, self.name, self.whole, self.warned = fn, name, whole, False
        # A Cell and its graphs refer to each other. The garbage collector counts objects, of which there are few, not the memory of their graphs.
        Graphs.made += 1
        if Graphs.made % 50 == 0:
            gc.collect()
        self.entries: dict[Any, list[_Entry]] = {}
        self.changes = 0  # calls whose traces changed values held by Cells, if that matters
        # For calls as a part of an eager one.
        self.called, self.hits, self.tries, self.fruitless = False, 0, 0, 0
        self.small = self.open = False  # small: all of it runs eagerly; open: only the functions it calls are compiled

    def call(self, args: Any, kwargs: Any, root: Any = None) -> Any:
        if watching:
            _uses.select()
        flat = Flat(args, kwargs)
        entry = self._find(flat.key)
        if entry is None:
            if len(self.entries.get(flat.key, ())) >= _MANY_STATES:
                self._warn_of_states(self.entries[flat.key])
            entry = self._new(flat, args, kwargs, root)
            out = None
            try:
                out = entry.run(flat.tensors)
            except TracedValueError as e:
                self._give_up(entry, e)
            if not entry.changed or entry.eager:
                self._add(flat.key, entry)
            if not entry.eager:
                return self._checked(entry, flat.key, out)
        elif not entry.eager:
            return self._checked(entry, flat.key, entry.run(flat.tensors))
        try:
            return _values(_settled(run_eagerly(self.fn, args, kwargs, apart=not self.whole)))
        finally:
            entry.follow()

    def call_apart(self, args: Any, kwargs: Any, root: Any = None, form_of: Any = None) -> Any:
        """Runs the call as a part of one that runs eagerly: compiled if that gains and its inputs and outputs allow it. With form_of (Form.of) it is a run of
        a recorded Cell; if a graph has run, local.made is the recording."""
        whole = self.whole or form_of is not None
        if self.small or not _core.is_eager():
            return run_within(self.fn, args, kwargs)
        if self.open:
            return self._run_open(args, kwargs, whole)
        if watching:
            _uses.select()
        flat = Flat(args, kwargs)
        if flat.objects and not flat.plain():
            return self._run_open(args, kwargs, whole)
        key = ("apart" if form_of is None else "recorded", flat.key)
        entry = self._find(key)
        if entry is None:
            if not self.called:
                self.called = True
                return run_within(self.fn, args, kwargs)
            if not self._may_try():
                return self._run_open(args, kwargs, whole)
            entry = self._new(flat, args, kwargs, root, apart=True, form_of=form_of)
            done, out = self._first_apart(entry, flat, key)
            if done:
                return out
        else:
            self.hits += 1
            self.fruitless = 0
            if not entry.eager and not entry.would_take_over(local.recorded):
                return self._checked(entry, key, entry.run(flat.tensors))
        try:
            return self._run_open(args, kwargs, whole)
        finally:
            if entry.eager:
                entry.follow()

    def _run_open(self, args: Any, kwargs: Any, whole: bool) -> Any:
        return run_within(self.fn, args, kwargs) if whole else self.fn(*args, **kwargs)

    def _may_try(self) -> bool:
        full = sum(map(len, self.entries.values())) >= _MAX_ENTRIES
        if self.tries < _FREE_TRIES + self.hits // (_HITS_PER_TRY * (_MAX_ENTRIES if full else 1)):
            self.tries += 1
            return True
        self.fruitless += 1
        self.open = self.fruitless > _MAX_FRUITLESS
        return False

    def _first_apart(self, entry: _Entry, flat: Flat, key: Any) -> Any:
        """Returns (True, result), or (False, None) if the call must still run eagerly."""
        out, run = None, False
        try:
            out, run = entry.run(flat.tensors), True
        except TracedValueError as e:
            self._give_up(entry, e)
        except _Tied:
            entry.stay_eager()
            entry.specialise(entry.roots + entry.seen)
            self.small = not any(q.answer for q in entry.queries) and not any(c._cells for c in entry.roots if isinstance(c, _graph_key.cell_class))
        except Exception:
            if not entry.failed:
                raise
        if not run and not entry.eager:  # eagerly it fails too, and leaves its earlier effects
            return False, None
        if run and not entry.eager and entry.fn.info()["nodes_traced"] <= _FEW_NODES:
            self.small = True
            return True, out
        if not entry.changed or entry.eager:
            self._add(key, entry)
        return run, self._checked(entry, key, out) if run else None

    def _find(self, key: Any) -> Optional[_Entry]:
        """Returns the entry of these arguments that matches the state, and moves it to the front."""
        candidates = self.entries.get(key)
        for entry in candidates or ():
            if entry.fits():
                if candidates and entry is not candidates[0]:
                    candidates.remove(entry)
                    candidates.insert(0, entry)
                return entry
        return None

    def _checked(self, entry: _Entry, key: Any, out: Any) -> Any:
        """Discards a trace that changed values held by Cells: other outcomes of its conditions would be traced from another state, and eager code around a
        part sees the change in every call. Returns `out`."""
        if entry.looks_often():
            entry.stay_eager()
        if entry.changed and not entry.eager:
            self.changes += 1
            entries = self.entries.get(key, [])
            if self.changes > _MAX_CHANGES:  # it changes them every time
                entry.stay_eager()
                if entry not in entries:
                    self._add(key, entry)
                if not entry.apart:
                    self._warn(f"{self.name} cannot be compiled and runs eagerly", "next to a condition on a tensor it changes what its Cells hold each time", "")
            elif entry in entries:
                entries.remove(entry)
        return out

    def _give_up(self, entry: _Entry, e: TracedValueError) -> None:
        inner = _calls_in(e.__traceback__)
        entry.stay_eager()
        entry.specialise(entry.roots + entry.seen)
        who = f"{inner[-1][0].name if inner else self.name} cannot be compiled and runs eagerly"
        if _core.get_mode() == 0:
            if any(graphs.whole or root is not None and root.training and root.requires_grad for graphs, _, _, root in inner):
                who += ", with all of what is differentiated"
            if inner:
                who += f", and so do its callers up to {self.name}"
            if not self.whole:
                who += "; other functions they call are compiled separately" if inner else "; functions it calls are compiled separately"
            for graphs, args, kwargs, root in inner:  # these need not find out themselves
                graphs._expect_values(args, kwargs, root)
                if graphs.whole:
                    break
        self._warn(who, str(e), _place_of(e.__traceback__))

    def _expect_values(self, args: Any, kwargs: Any, root: Any) -> None:
        """Records that it reads values for these arguments, about which the user was warned."""
        self.warned = True
        flat = Flat(args, kwargs)
        key = ("recorded" if root is not None and root.training and root.requires_grad else "apart", flat.key)
        if flat.plain() and self._find(key) is None:
            entry = _Entry(self.name, apart=True)
            entry.keep = flat.objects
            entry.stay_eager()
            entry.specialise(self._roots(flat, root))
            self._add(key, entry)

    def _warn(self, who: str, what: str, place: str, fix: str = "keep values in tensors, and state in Parameters") -> None:
        if not self.warned:
            self.warned = True
            parts = [f"{who}: {what}", place, fix]
            warnings.warn(" | ".join(p for p in parts if p), stacklevel=4)

    def _warn_of_states(self, entries: list[_Entry]) -> None:
        """Warns with the name that changes from call to call, if it is a variable or an attribute of an object that is not a Cell."""
        watched = next((e.bound for e in entries if e.bound is not None), ())
        for owner, name, value in zip(watched[::3], watched[1::3], watched[2::3]):
            if bound(owner, name) is not value:
                self._warn(f"{self.name} was traced {len(entries)} times for the same arguments", f"'{name}', which it reads, changes between calls", "",
                           "pass it as an argument, as a Tensor if it is a number")
                return

    def compile(self, args: Any, kwargs: Any, root: Any = None) -> None:
        """Compiles the graph for a call of this signature; nothing runs and no state changes."""
        _uses.select()
        flat = Flat(args, kwargs)
        if not any(entry.fits() for entry in self.entries.get(flat.key, ())):
            entry = self._new(flat, args, kwargs, root)
            try:
                entry.run(flat.tensors, only_compile=True)
            except TracedValueError as e:
                self._give_up(entry, e)
            self._add(flat.key, entry)

    def _add(self, key: Any, entry: _Entry) -> None:
        """Puts an entry first among those of its arguments; if there are too many, evicts the least recently used one of the oldest arguments."""
        self.entries.setdefault(key, []).insert(0, entry)
        if sum(len(v) for v in self.entries.values()) > _MAX_ENTRIES:
            oldest = next(iter(self.entries))
            self.entries[oldest].pop().fn = None  # the entry and the traced function refer to each other, and to the memory of a graph
            if not self.entries[oldest]:
                del self.entries[oldest]

    def _roots(self, flat: Flat, root: Any) -> list[Any]:
        met = [v for v in flat.objects if isinstance(v, _graph_key.cell_class) or is_plain(v)]
        if root is not None:
            met.append(root)
        else:
            around(self.fn, met, set())
        return met

    def _new(self, flat: Flat, args: Any, kwargs: Any, root: Any, apart: bool = False, form_of: Any = None) -> _Entry:
        entry = _Entry(self.name, apart)
        entry.keep = flat.objects
        entry.roots = met = self._roots(flat, root)
        blank = itertools.repeat(_PLACE)  # the arguments' tensors are not kept
        args, kwargs = tuple([rebuild(v, blank) for v in args]), {n: rebuild(v, blank) for n, v in kwargs.items()}

        def traced(tensors: Any) -> Any:
            it = iter(tensors)
            a = tuple(rebuild(x, it) for x in args)
            k = {n: rebuild(x, it) for n, x in kwargs.items()}
            before = (local.depth, local.tapes, local.recording, local.recorded, local.seen, local.begin, local.called, local.marked, local.differentiated)
            number, seen, state = entry.traces, list(met), State(met)
            outside = _Surroundings(tensors, a, k, state) if apart else None
            entry.traces += 1
            local.depth, local.tapes, local.recording, local.recorded, local.seen, local.begin = 0, 0, 0, [], seen, Tensor(0)._id
            local.called, local.marked, local.differentiated = [], entry.marked, entry.differentiated
            uses = _uses.Traced(entry.queries)
            try:
                with _print.Traced(), entry.reads.watch(lambda: [self.fn, *[c.construct for c in seen if isinstance(c, _graph_key.cell_class)]]) as watch:
                    try:
                        result = _settled(self.fn(*a, **k))
                    finally:
                        assigned = watch.restore() if _core.is_tracing_graph() else ()
                if assigned:
                    self._warn(f"{self.name} assigns the global '{assigned[0]}'", "its graph does not, and the global keeps its value", "",
                               "return the value, or keep it in a Parameter")
                if apart and entry.would_take_over(before[3]) and not _core.traced_call_has_run():
                    raise _NotNow()
                structure, out = _hand_out(entry, result, outside, form_of) if outside else (_skeleton(result), _collected(result))
                left, handed = uses.left()
                if left or uses.updates:
                    entry.after[number] = (len(out), left, uses.updates)
                    out = [*out, *handed]
            except Exception:
                entry.failed = not _core.traced_call_has_run()
                raise
            finally:
                (local.depth, local.tapes, local.recording, local.recorded, local.seen, local.begin, local.called, local.marked,
                 local.differentiated) = before
                uses.end()
                entry.seen = seen
            entry.touched = not state.unchanged() and state.key != State(met).key
            entry.results[number] = local.result = structure
            return out

        def left(what: str) -> None:
            """Called when the rest of the call runs eagerly."""
            local.depth, local.seen = 1, None
            entry.went_on = True
            if what:
                entry.looks += 1
                self._warn(f"{self.name} cannot be compiled and continues eagerly from there; if many calls do, they run eagerly from the beginning",
                           what, _place_around())

        entry.fn = _core.CompiledFn(traced, self.name, on_leave=left, part=apart)
        return entry


def _hand_out(entry: _Entry, result: Any, around: _Surroundings, form_of: Any) -> tuple[_Result, list[Tensor]]:
    """Returns (result of a part, outputs of its graph). Raises _Tied if the part must run eagerly."""
    recording = local.recorded.pop() if form_of is not None and local.recorded else None
    if local.seen is not None:
        structure, out, others = _pack(result, around.tensors)
        form, kept = form_of(recording) or (None, ()) if recording is not None else (None, ())
        if not others and not around.tied(result, out) and (form is None) == (form_of is None):
            return _Result(structure, len(out), form=form), [*out, *kept]
        entry.stay_eager()
        if not _core.leave_graph(""):
            raise _Tied()
    # After a condition it ran eagerly: the result is what eager code sees, except for the arguments.
    places = {id(t): _Place(-i - 1) for i, t in enumerate(around.tensors)}
    return _Result(_map(result, lambda v: places.get(id(v), v)), 0, around.written(), recording), []


# Functions through which graphs are called, with locals `self`, `args` and `kwargs`: (code, object -> (its Graphs, the root of its state)).
_entrances: dict[Any, Any] = {}


def entrance(call: Any, graphs_of: Any) -> None:
    """Registers a `__call__` of objects that have Graphs."""
    _entrances[call.__code__] = graphs_of


def _calls_in(tb: Any) -> list[Any]:
    """Returns the calls, outermost first, in which an error was raised: (Graphs, args, kwargs, root of the state)."""
    out = []
    while tb is not None:
        graphs_of = _entrances.get(tb.tb_frame.f_code)
        if graphs_of is not None:
            v = tb.tb_frame.f_locals
            graphs, root = graphs_of(v["self"])
            out.append((graphs, v["args"], v["kwargs"], root))
        tb = tb.tb_next
    return out


def _values(v: Any) -> Any:
    """Returns a result as a graph would: Parameters in it as their values."""
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
    """Returns file and line of the user's code that is running."""
    frame: Any = sys._getframe()
    while frame is not None and "/sindri/" in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def _place_of(tb: Any) -> str:
    """Returns file and line in the user's code where the value was read."""
    place = ""
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if "/sindri/" not in name:
            place = f"{name}:{tb.tb_lineno}"
        tb = tb.tb_next
    return place


def run_eagerly(fn: Any, args: Any, kwargs: Any, apart: bool = False) -> Any:
    """Runs fn as an outermost eager call, a separate step for the random ops. `apart`: in GRAPH_MODE, the functions it calls are compiled separately."""
    apart = apart and _core.get_mode() == 0
    if apart:
        local.apart = True
    else:
        local.depth += 1
    try:
        _core.begin_step()  # may fail, as a device does, and so may end_step
        try:
            return fn(*args, **kwargs)
        finally:
            _core.end_step()
    finally:
        if apart:
            local.apart = False
        else:
            local.depth -= 1


def run_within(fn: Any, args: Any, kwargs: Any) -> Any:
    """Runs fn as a part of an eager call, op by op."""
    local.depth += 1
    try:
        return fn(*args, **kwargs)
    finally:
        local.depth -= 1


def outermost() -> bool:
    """Returns whether a call may be compiled: not inside a tape, a graph being traced, or an eager call other than one of `local.apart`."""
    return local.depth == 0 and local.tapes == 0 and not _core.is_tracing_graph()


def graph_text(cell: Any) -> str:
    """Returns the optimized graph of a Cell's latest compiled call; empty if there is none."""
    graphs = cell.__dict__.get("_cell_graphs")
    entries = [e for v in graphs.entries.values() for e in v if e.fn is not None] if graphs else []
    return entries[-1].fn.graph_text() if entries else ""
