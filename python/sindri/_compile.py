"""Graph mode for Python code: a call is traced once per signature into one graph, then replayed without Python.

The signature of a call is its arguments (tensors by shape and type, everything else by value) and the state of what it went through: of the
Cells that were called, given or found around the function, with all that their attributes hold. `set_train` or `add_flags` leads to another
graph, and back to the earlier one.

Where the code asks a tensor for its truth (`if overflow:`, `while`, `and`, `or`, `not`), the graph so far runs and the trace goes on for that
outcome; a call that meets another outcome traces the function again for that path (src/graph/segments.h). Code that looks at values otherwise
cannot be traced. Behind a condition the rest of that call runs eagerly; in front of every condition, and where many calls look, a call of that
signature runs eagerly from its beginning. One warning says where it looked.

An eager call is eager in its own code only: the Cells, gradient functions and jit functions that it calls are compiled by themselves, with
signatures and states as above (`call_apart`). One that looks at values is eager in the same way, and so are its callers. The results are those of
PYNATIVE_MODE, whatever is compiled: the random ops of all parts count on in one step, arguments, Parameters and tensors from outside are handed
through as the objects they are, and what has more to do with its surroundings than a graph can have (it records for a later gradient, writes to its
arguments, returns a part of them, leaves tensors or numbers behind in lists or attributes) runs eagerly. So does what is called for the first time,
which may be an object for this one call, is too small to gain, or is called with something else each time.
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
_MANY_STATES = 16  # graphs for the same arguments: what differs is named
_MAX_CHANGES = 8
# Of parts of eager calls.
_FEW_NODES = 3  # what has no more is run op by op in less time than its signature is compared
_FREE_TRIES = 8  # signatures compiled on trust; then each has to be paid for
_HITS_PER_TRY = 16  # with so many calls that found theirs
_MAX_FRUITLESS = 32  # calls in a row whose signature was new: the next ones are not even compared


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
        self.differentiated: list[Any] = []  # Cells whose gradients a trace takes, with a forward run of their own
        self.made: Any = None  # by a compiled run of a Cell that is recorded: the arguments of Recording.done
        self.apart = False  # an outermost call of GRAPH_MODE runs eagerly: what it calls is compiled by itself


class RecordRuns(BaseException):
    """A trace found a gradient of a Cell that was called before without a recording: it starts anew and records that Cell's runs, so that batch
    statistics move and random numbers are drawn once. No Exception, for those a construct may catch."""

    def __init__(self, cell: Any) -> None:
        super().__init__(cell)
        self.cell = cell


class _Tied(BaseException):
    """A part of an eager call, traced, shares more with its surroundings than values: nothing of it has run, and it is to run eagerly."""


class _NotNow(Exception):
    """A part of an eager call, traced, would take over what this call has recorded around it."""


local = _Local()


_TO_LIST: tuple[Any, ...] = (filter, GeneratorType, type({}.items()))
_TO_TUPLE: tuple[Any, ...] = (map, zip, enumerate, range, type({}.keys()), type({}.values()))


def _settled(v: Any) -> Any:
    """A result without iterators, which a graph could give out once only, and views: lists and tuples of what they yield, as in MindSpore."""
    if type(v) is map and isinstance(v.__reduce__()[1][1], type(iter([]))):  # of a list
        return [_settled(x) for x in v]
    if isinstance(v, _TO_LIST):
        return [_settled(x) for x in v]
    if isinstance(v, _TO_TUPLE):
        return tuple([_settled(x) for x in v])
    kind = type(v)
    if kind is tuple or kind is list:
        items = [_settled(x) for x in v]
        return v if all(map(is_, items, v)) else kind(items)  # a list that something else holds stays that list
    return v


def _collected(v: Any) -> list[Tensor]:
    out: list[Tensor] = []
    _collect(v, out)
    return out


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
_SIMPLE = (type(None), bool, int, float, complex, str, bytes, range, slice, type, np.generic, _core.DType, Parameter)


class _Place:
    """In a packed result: output `index` of the graph, or below zero argument -index - 1."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def _map(v: Any, leaf: Any) -> Any:
    """v with leaf(x) for what is in its tuples, lists, dicts and named tuples."""
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
    """(the result with places for the tensors that the trace has made, these tensors, other objects in it that may hold some): Parameters and tensors
    from outside stay what they are."""
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
    """What a part returns, its tensors by their places, and what else it leaves behind."""

    __slots__ = ("structure", "count", "written", "recording", "form")

    def __init__(self, structure: Any, count: int, written: Any = (), recording: Any = None, form: Any = None) -> None:
        self.structure, self.count = structure, count  # of outputs that are results
        self.written = written  # arguments that it has written: (index, value)
        self.recording, self.form = recording, form  # the run was recorded: in a graph that gives further outputs on this form, or eagerly in the end

    def restored(self, entry: _Entry, out: Any, given: Any) -> Any:
        """The result of a run of the entry; local.made is what was recorded."""
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
    """Identities of the lists and dicts in v."""
    if isinstance(v, (tuple, list)):
        return [i for x in v for i in _containers(x)] + ([id(v)] if isinstance(v, list) else [])
    return [i for x in v.values() for i in _containers(x)] + [id(v)] if isinstance(v, dict) else []


class _Surroundings:
    """What a part that is traced was given, to tell what it did to it."""

    def __init__(self, tensors: Any, args: Any, kwargs: Any, state: State) -> None:
        self.tensors, self._ids = tensors, [t._id for t in tensors]
        self._args, self._key = (args, kwargs), Flat(args, kwargs).key
        self._held = {*_containers(self._args), *[id(v) for v, *_ in state.lists + state.dicts]}

    def written(self) -> list[Any]:
        """The arguments that it has written: (index, value)."""
        return [(i, t._detached()) for i, (t, was) in enumerate(zip(self.tensors, self._ids)) if t._id != was]

    def tied(self, result: Any, tensors: Any) -> bool:
        """Whether more than values goes in and out: it changed its arguments, left a recording for a later gradient, or returns lists or (these tensors)
        parts of tensors that others hold, too."""
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
        self.fn: Any = None  # the compiled function, None when the call runs eagerly
        self.results: dict[int, Any] = {}  # by path: the structure of what it returns
        self.traces = 0
        self.seen: list[Any] = []  # Cells that a trace met, until the state is taken
        self.marked: frozenset[Any] = frozenset()  # Cells whose runs its traces record, for gradients that follow
        self.touched = False  # whether the latest trace changed what Cells hold
        self.changed = False  # the same, if that matters: beside conditions the next trace would not start where that one did
        self.roots: list[Any] = []  # what its state is the state of
        self.state: Any = None
        self.loose: Any = None  # the state, where some of it can change without the clock
        self.bound: Any = None  # its variables, where it has some
        self.reads = Reads()  # what its traces have loaded from around them
        self.keep: Any = None  # what the key of its arguments knows by its address
        self.went_on = False  # whether the latest run ended eagerly
        self.looks = self.runs = 0  # runs that ended eagerly as they looked at a value, and the others
        self.failed = False  # the latest trace threw before anything had run
        self.differentiated: list[Any] = []  # Cells whose recordings its gradients would take over
        self.queries: list[Any] = []  # what its gradients asked of optimizers (_uses): with another answer it is another graph
        self.after: dict[int, Any] = {}  # by path: (place among the outputs, uses) that the run hands to optimizers outside, the optimizers that it calls

    def run(self, tensors: list[Tensor], only_compile: bool = False) -> Any:
        """Its result. Where a path is taken for the first time, the state is that behind the trace."""
        traces, fn = self.traces, self.fn  # one that makes room meanwhile loses it
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
            out = self._handed_over(path if path >= 0 else self.traces - 1, out)
        if path >= 0:
            self.runs += 1
            return self.results[path].restored(self, out, tensors) if self.apart else _restore(self.results[path], iter(out))
        del self.results[self.traces - 1]
        result, local.result = local.result, None
        if not self.apart:
            return _restore(result, iter(out))
        if not self.went_on:  # at the end something outside held what it had computed
            self.stay_eager()
        return result.restored(self, out, tensors)

    def _handed_over(self, path: int, out: Any) -> Any:
        """The outputs of a run that are results: the others are uses, which optimizers get. Those that it called count the update."""
        if path in self.after:
            begin, uses, updates = self.after[path]
            for steps in updates:
                steps.done()
            if uses:
                _uses.hand_over(uses, iter(out[begin:]))
                return out[:begin]
        return out

    def stay_eager(self) -> None:
        """Calls of this signature run eagerly from now on."""
        self.eager, self.fn = True, None

    def would_take_over(self, recorded: list[Any]) -> bool:
        """Whether a gradient in it would take over one of these recordings of the code around."""
        return any([r.cell is c for r in recorded for c in self.differentiated])

    def looks_often(self) -> bool:
        """Whether so many runs end eagerly that all of them had better begin so."""
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
        """Takes the state as it is now: what an eager run itself has changed is no reason to try a graph again."""
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
    """The compiled signatures of one callable. Nothing inside of one that is `whole` is compiled by itself: a gradient, whose tape sees all."""

    made = 0

    def __init__(self, fn: Any, name: str, whole: bool = False) -> None:
        self.fn, self.name, self.whole, self.warned = fn, name, whole, False
        # A Cell and its graphs hold each other. The collector counts objects, few here, not what their graphs weigh.
        Graphs.made += 1
        if Graphs.made % 50 == 0:
            gc.collect()
        self.entries: dict[Any, list[_Entry]] = {}
        self.changes = 0  # calls whose traces changed what Cells hold, where that matters
        # Of calls as a part of an eager one.
        self.called, self.hits, self.tries, self.fruitless = False, 0, 0, 0
        self.small = self.open = False  # all of it runs eagerly; only what it calls is compiled

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
        """The call as a part of one that runs eagerly: compiled where that gains and its border allows. With form_of (Form.of) it is a run of a Cell
        that is recorded; where a graph has run, local.made is the recording."""
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
        """(True, result), or False where the call is still to be run eagerly."""
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
        if not run and not entry.eager:  # it fails eagerly, too, and leaves behind what it did before
            return False, None
        if run and not entry.eager and entry.fn.info()["nodes_traced"] <= _FEW_NODES:
            self.small = True
            return True, out
        if not entry.changed or entry.eager:
            self._add(key, entry)
        return run, self._checked(entry, key, out) if run else None

    def _find(self, key: Any) -> Optional[_Entry]:
        """The entry of these arguments that fits the state; found at once next time."""
        candidates = self.entries.get(key)
        for entry in candidates or ():
            if entry.fits():
                if candidates and entry is not candidates[0]:
                    candidates.remove(entry)
                    candidates.insert(0, entry)
                return entry
        return None

    def _checked(self, entry: _Entry, key: Any, out: Any) -> Any:
        """A trace that changed what Cells hold is not used again: other outcomes of its conditions would be traced from another start, and eager code
        around a part sees the change at every call."""
        if entry.looks_often():
            entry.stay_eager()
        if entry.changed and not entry.eager:
            self.changes += 1
            entries = self.entries.get(key, [])
            if self.changes > _MAX_CHANGES:  # it does so every time
                entry.stay_eager()
                if entry not in entries:
                    self._add(key, entry)
                if not entry.apart:
                    self._warn(f"{self.name} cannot be compiled and runs eagerly", "beside a condition on a tensor it changes what its Cells hold each time", "")
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
                who += "; what else they call is compiled by itself" if inner else "; what it calls is compiled by itself"
            for graphs, args, kwargs, root in inner:  # these need not find out for themselves
                graphs._expect_values(args, kwargs, root)
                if graphs.whole:
                    break
        self._warn(who, str(e), _place_of(e.__traceback__))

    def _expect_values(self, args: Any, kwargs: Any, root: Any) -> None:
        """These arguments make it look at values, and the user was told so."""
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
        """Names what changes from call to call, where that is a variable or an attribute of an object that is no Cell."""
        watched = next((e.bound for e in entries if e.bound is not None), ())
        for owner, name, value in zip(watched[::3], watched[1::3], watched[2::3]):
            if bound(owner, name) is not value:
                self._warn(f"{self.name} was traced {len(entries)} times for the same arguments", f"'{name}', which it reads, changes between calls", "",
                           "pass it as an argument, as a Tensor where it is a number")
                return

    def compile(self, args: Any, kwargs: Any, root: Any = None) -> None:
        """What a call of this signature needs is made; nothing runs and no state changes."""
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
        """Puts an entry first among those of its arguments; the one that was used least lately of the oldest arguments makes room."""
        self.entries.setdefault(key, []).insert(0, entry)
        if sum(len(v) for v in self.entries.values()) > _MAX_ENTRIES:
            oldest = next(iter(self.entries))
            self.entries[oldest].pop().fn = None  # it and the function that was traced hold each other, and the memory of a graph
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
            """The rest of the call is an eager one."""
            local.depth, local.seen = 1, None
            entry.went_on = True
            if what:
                entry.looks += 1
                self._warn(f"{self.name} cannot be compiled and goes on eagerly from there; where many calls do, they run eagerly from the beginning",
                           what, _place_around())

        entry.fn = _core.CompiledFn(traced, self.name, on_leave=left, part=apart)
        return entry


def _hand_out(entry: _Entry, result: Any, around: _Surroundings, form_of: Any) -> tuple[_Result, list[Tensor]]:
    """(what a part returns, the outputs of its graph). Raises _Tied where it has to run eagerly."""
    recording = local.recorded.pop() if form_of is not None and local.recorded else None
    if local.seen is not None:
        structure, out, others = _pack(result, around.tensors)
        form, kept = form_of(recording) or (None, ()) if recording is not None else (None, ())
        if not others and not around.tied(result, out) and (form is None) == (form_of is None):
            return _Result(structure, len(out), form=form), [*out, *kept]
        entry.stay_eager()
        if not _core.leave_graph(""):
            raise _Tied()
    # From a condition on it ran eagerly: the result is what eager code sees, but for the arguments.
    places = {id(t): _Place(-i - 1) for i, t in enumerate(around.tensors)}
    return _Result(_map(result, lambda v: places.get(id(v), v)), 0, around.written(), recording), []


# Functions through which graphs are called, with locals `self`, `args` and `kwargs`: (code, object -> (its Graphs, the root of its state)).
_entrances: dict[Any, Any] = {}


def entrance(call: Any, graphs_of: Any) -> None:
    """Makes known a `__call__` of objects that have Graphs."""
    _entrances[call.__code__] = graphs_of


def _calls_in(tb: Any) -> list[Any]:
    """The calls, outermost first, in which an error was raised: (Graphs, args, kwargs, root of the state)."""
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


def run_eagerly(fn: Any, args: Any, kwargs: Any, apart: bool = False) -> Any:
    """fn as an outermost eager call: a step of its own for the random ops. `apart`: in GRAPH_MODE, what it calls is compiled by itself."""
    apart = apart and _core.get_mode() == 0
    if apart:
        local.apart = True
    else:
        local.depth += 1
    try:
        _core.begin_step()  # may fail, as a device does, and so may its end
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
    """fn as a part of an eager call, op by op."""
    local.depth += 1
    try:
        return fn(*args, **kwargs)
    finally:
        local.depth -= 1


def outermost() -> bool:
    """True where a call may be compiled: not inside a tape, a graph being traced, or an eager call other than `local.apart` says."""
    return local.depth == 0 and local.tapes == 0 and not _core.is_tracing_graph()


def graph_text(cell: Any) -> str:
    """The optimized graph of a Cell's latest compiled call; empty when it has none."""
    graphs = cell.__dict__.get("_cell_graphs")
    entries = [e for v in graphs.entries.values() for e in v if e.fn is not None] if graphs else []
    return entries[-1].fn.graph_text() if entries else ""
