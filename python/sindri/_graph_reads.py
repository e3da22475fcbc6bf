"""Values that traced code reads besides its arguments and the attributes of Cells: globals, variables around functions, attributes of other objects.

`Reads.watch` records which of the user's functions run while a graph is traced. Their code lists the names they load. The state of the graph
(_graph_key.State) then contains the values of these names, and a call that finds another value leads to another trace. Names that are computed while
the program runs (`getattr(x, name)` with a variable name, `globals()[name]`, `vars(x)`) are not found. Variables that traced code itself assigns
or appends to would differ after each trace, and are not tracked.
"""
from __future__ import annotations

import dis
import gc
import sys
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any, Iterator

from sindri._core import DType, Tensor

# Modules whose names no program rebinds: those of this package, of NumPy and of Python, except for objects that hold a program's settings.
_OWN = frozenset(("sindri", "mindspore", "numpy", "builtins"))
_SETTINGS = frozenset(("types.SimpleNamespace", "argparse.Namespace"))
_STDLIB: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))
_NO_OBJECTS: Any = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, CodeType, TracebackType, Tensor, DType)
_MOST_MEMBERS = 10_000  # of a container in a variable: a larger one is identified by its address

_CHANGING = frozenset(("append", "add", "extend", "insert", "update", "setdefault", "pop", "popleft", "remove", "discard", "clear"))

_loads_of: dict[int, _Loads] = {}
_plain_types: dict[type, bool] = {}


def _is_own(module: Any) -> bool:
    root = str(module).partition(".")[0]
    return root in _OWN or root in _STDLIB and root != "__main__"


class _Loads:
    """The names that a code object loads."""

    __slots__ = ("code", "variables", "attributes", "changed", "made", "stored")

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept, so that its address is not reused
        self.variables: set[str] = set()  # globals
        self.attributes: set[str] = set()
        self.changed: set[str] = {"__class__"}  # variables that the code itself assigns or changes in place
        self.stored: dict[str, None] = {}  # globals that the code itself assigns, in order
        self.made = set(code.co_cellvars)  # its variables that inner functions use
        loaded = ""
        for i in dis.get_instructions(code):
            name = i.argval
            if i.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
                self.attributes.add(name)
                if loaded and name in _CHANGING:
                    self.changed.add(loaded)
            elif i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                self.variables.add(name)
            elif i.opname in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"):
                self.changed.add(name)
                if i.opname.endswith("GLOBAL"):
                    self.stored[name] = None
            if i.opname != "CACHE":
                loaded = name if i.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") else ""
        if "getattr" in self.variables:
            self.attributes.update(c for c in code.co_consts if isinstance(c, str) and c.isidentifier())


def _loads(code: CodeType) -> _Loads:
    found = _loads_of.get(id(code))
    if found is None:
        found = _loads_of[id(code)] = _Loads(code)
    return found


def _nested(code: CodeType) -> Iterator[CodeType]:
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield c
            yield from _nested(c)


def _is_library(v: Any) -> bool:
    return isinstance(v, ModuleType) and _is_own(v.__name__)


def is_plain(v: Any) -> bool:
    """Returns whether v is an object of a user's class, or one that holds settings: its attributes are part of a graph's state if traced code loads
    them."""
    kind = type(v)
    known = _plain_types.get(kind)
    if known is None:
        own = _is_own(kind.__module__) and f"{kind.__module__}.{kind.__qualname__}" not in _SETTINGS
        known = not own and not isinstance(v, _NO_OBJECTS) and (hasattr(v, "__dict__") or hasattr(kind, "__slots__"))
        if len(_plain_types) > 1000:
            _plain_types.clear()
        _plain_types[kind] = known
    return known


class Reads:
    """The names that the traces of one graph have loaded."""

    __slots__ = ("_codes", "variables", "attributes")

    def __init__(self) -> None:
        self._codes: dict[int, tuple[CodeType, dict[str, Any]]] = {}
        self.variables: list[tuple[Any, str]] = []  # (globals, name), (cell of a closure, name)
        self.attributes: frozenset[str] = frozenset()

    def watch(self, functions: Any) -> _Watch:
        """Returns a context that records the functions that run. If a profiler is active, which sees them instead, it records those reachable from
        `functions` through their code."""
        return _Watch(self, functions)

    def note(self, code: CodeType, variables: dict[str, Any]) -> None:
        self._codes[id(code)] = (code, variables)

    def noted(self) -> list[tuple[CodeType, dict[str, Any]]]:
        """Returns the code of the functions, with their globals."""
        return list(self._codes.values())

    def note_reachable(self, fn: Any) -> None:
        """Records a function and those that its code loads from its module."""
        fn = getattr(fn, "__func__", fn)
        if not isinstance(fn, FunctionType) or id(fn.__code__) in self._codes or _is_own(fn.__module__):
            return
        self.note(fn.__code__, fn.__globals__)
        for name in _loads(fn.__code__).variables:
            self.note_reachable(fn.__globals__.get(name))

    def done(self) -> None:
        """Determines the variables that the recorded functions read."""
        found, made, assigned = {}, set(), set()
        attributes: set[str] = set()
        for code, around in self._codes.values():
            loads = _loads(code)
            attributes |= loads.attributes
            assigned |= {(id(around), name) for name in loads.changed}
            made |= {(id(inner), name) for inner in _nested(code) for name in loads.made} if loads.made else set()
            found.update({(id(around), name): (around, name) for name in loads.variables if name in around and not _is_library(around[name])})
        self.variables = [v for key, v in found.items() if key not in assigned] + self._around(made)
        self.attributes = frozenset(attributes)

    def _around(self, made: set[Any]) -> list[tuple[Any, str]]:
        """Returns the variables around the functions that ran, except those that a trace has created: `made` holds (id of the code, name)."""
        wanted = {id(code): {name for name in code.co_freevars if (id(code), name) not in made} - _loads(code).changed for code, _ in self._codes.values()}
        codes = [code for code, _ in self._codes.values() if wanted[id(code)]]
        cells: dict[int, Any] = {}
        for fn in gc.get_referrers(*codes) if codes else ():
            if isinstance(fn, FunctionType) and fn.__closure__ and id(fn.__code__) in wanted:
                names = wanted[id(fn.__code__)]
                cells.update({id(cell): (cell, name) for cell, name in zip(fn.__closure__, fn.__code__.co_freevars) if name in names})
        return list(cells.values())

    def members(self, v: Any) -> Iterator[tuple[Any, str, Any]]:
        """Yields (owner, name, value) of members that traced code may have read from a user's object, class or module."""
        if isinstance(v, ModuleType):
            if not _is_library(v):
                yield from ((v.__dict__, name, v.__dict__[name]) for name in self.attributes & v.__dict__.keys())
            return
        held = () if isinstance(v, type) else getattr(v, "__dict__", ())
        if held:
            yield from ((held, name, held[name]) for name in self.attributes & held.keys())
        kind = v if isinstance(v, type) else type(v)
        for cls in kind.__mro__:
            if _is_own(cls.__module__):
                continue
            for name in self.attributes & vars(cls).keys():
                value = vars(cls)[name]
                if name in held or callable(value) or isinstance(value, (classmethod, staticmethod, property)):
                    continue
                if hasattr(type(value), "__get__"):  # a slot: its value belongs to the object
                    if v is not kind and hasattr(v, name):
                        yield v, name, getattr(v, name)
                elif getattr(kind, name, None) is value:
                    yield kind, name, value


class _Watch:
    """The context of Reads.watch."""

    def __init__(self, reads: Reads, functions: Any) -> None:
        self._reads, self._functions, self._frames = reads, functions, False
        self._stored: dict[Any, tuple[dict[str, Any], str, Any]] = {}

    def _keep(self, code: CodeType, variables: dict[str, Any]) -> None:
        for name in _loads(code).stored:
            self._stored.setdefault((id(variables), name), (variables, name, variables.get(name, UNBOUND)))

    def restore(self) -> list[str]:
        """Restores the globals that traced code has assigned, and returns their names. A graph has no globals: later runs would assign nothing, and a traced
        tensor there would have no values."""
        names = []
        for variables, name, value in self._stored.values():
            if variables.get(name, UNBOUND) is not value:
                names.append(name)
                if value is UNBOUND:
                    del variables[name]
                else:
                    variables[name] = value
        return names

    def __enter__(self) -> "_Watch":
        self._frames = sys.getprofile() is None
        if self._frames:
            note, keep = self._reads.note, self._keep

            def see(frame: Any, event: str, arg: Any) -> None:
                if event == "call" and not _is_own(frame.f_globals.get("__name__")):
                    note(frame.f_code, frame.f_globals)
                    keep(frame.f_code, frame.f_globals)

            sys.setprofile(see)
        else:
            for fn in self._functions():
                self._reads.note_reachable(fn)
            for code, variables in self._reads.noted():
                self._keep(code, variables)
        return self

    def __exit__(self, *err: Any) -> None:
        if self._frames:
            sys.setprofile(None)
        else:
            for fn in self._functions():
                self._reads.note_reachable(fn)
        self._reads.done()


def bound(owner: Any, name: str) -> Any:
    """Returns the current value of a variable or an attribute; UNBOUND if there is none."""
    if isinstance(owner, dict):
        return owner.get(name, UNBOUND)
    try:
        return owner.cell_contents if isinstance(owner, CellType) else getattr(owner, name, UNBOUND)
    except ValueError:
        return UNBOUND


UNBOUND: Any = type("_Unbound", (), {"__repr__": lambda self: "unbound"})()


def is_large(v: Any) -> bool:
    return isinstance(v, (list, dict, set, tuple)) and len(v) > _MOST_MEMBERS
