"""The keys that distinguish compiled calls: their arguments (Flat) and the state of the objects involved (State)."""
from __future__ import annotations

import dis
import functools
import inspect
from operator import is_
from types import ModuleType
from typing import Any, Optional

import numpy as np

from sindri import _core
from sindri._core import Parameter, Tensor, still_bound
from sindri._graph_reads import Reads, bound, is_large, is_plain

clock = [0]  # advanced when an attribute of any Cell or a tensor in place changes: a cheap test for "nothing changed"
cell_class: Any = ()  # nn.Cell, once it is defined
hooks_made = [0]  # number of hooks registered on Parameters so far; while it is 0, hooks are not looked up

_ATOMS = frozenset((type(None), bool, int, str, bytes, range))
_TABLES = frozenset(("_params", "_cells", "_tuples", "_pre_hooks", "_hooks", "_backward_hooks", "_backward_pre_hooks", "_flags"))  # of a Cell; its methods change them


def gradient_hooks(parameter: Any) -> tuple[Any, ...]:
    """Returns the functions through which the gradient of a Parameter passes, in order (Tensor.register_hook)."""
    return tuple(parameter.__dict__.get("_gradient_hooks", {}).values()) if hooks_made[0] else ()


def _leaf(v: Any, keep: list[Any]) -> Any:
    """Returns the key of a value that is not a container: type and value if it cannot change, the content of an array, the identity of others. Objects
    identified by address are added to `keep`: they must live as long as the key, or another object could get their address."""
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
    return _address(v, keep)


def _address(v: Any, keep: list[Any]) -> Any:
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
    """The state a graph is specialised on besides its arguments: Cells and other values, with everything they hold.

    Two states are the same if their keys are equal. Comparing identities is a faster test that nothing has changed: of everything that can change without
    the clock (`quiet`, and `bound` by still_bound), or of everything (`unchanged`). Equal values that are other objects count as a change there.
    """

    __slots__ = ("key", "keep", "lists", "dicts", "others", "tables", "tensors", "parameters", "bound", "_met", "_cells", "_reads", "_bound")

    def __init__(self, roots: Any, reads: Optional[Reads] = None) -> None:
        self.keep: list[Any] = []  # objects that the key identifies by address
        # Containers with their former members, arrays and sets with their keys: these change without the clock.
        self.lists: list[Any] = []
        self.dicts: list[Any] = []
        self.others: list[Any] = []
        # These change with it.
        self.tables: list[Any] = []  # the attributes of Cells
        self.tensors: list[Any] = []
        self.parameters: list[Any] = []
        self._met: dict[int, int] = {}
        self._cells: list[Any] = []
        self._reads: Optional[Reads] = reads
        self._bound: list[Any] = []
        out = [self._part(v) for v in roots]
        for owner, name in reads.variables if reads is not None else ():
            out.append((name, self._bind(owner, name, bound(owner, name))))
        for cell in self._cells:  # grows in the loop
            unread, attributes = cell._unread_by_graphs, cell.__dict__
            self.tables.append((attributes, tuple(attributes), tuple(attributes.values())))
            for name, v in attributes.items():
                if name in _TABLES:
                    self.tables.append((v, tuple(v), tuple(v.values())))
                    out.append((name, self._items(v)))
                elif name not in unread:
                    out.append((name, self._part(v)))
            if reads is not None:
                out += [(name, self._bind(owner, name, v)) for owner, name, v in reads.members(type(cell))]
        self.key = tuple(out)
        self.bound = tuple(self._bound)  # owner, name, value, …: variables and attributes change without the clock
        self._met, self._cells, self._bound, self._reads = {}, [], [], None

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
                hooks = gradient_hooks(v)
                self.keep += (v, *hooks)
                self.parameters.append((v, v._requires_grad, v._name, hooks))
                return ("parameter", id(v), v._requires_grad, v._name, *map(id, hooks))
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
        if self._reads is not None and (isinstance(v, (type, ModuleType)) or is_plain(v)):
            return self._object(v)
        part = _leaf(v, self.keep)
        if isinstance(v, (np.ndarray, set)):
            self.others.append((v, part))
        return part

    def _bind(self, owner: Any, name: str, v: Any) -> Any:
        """Returns the key of the value of a variable or an attribute."""
        self._bound += (owner, name, v)
        return self._part(v) if not is_large(v) else _address(v, self.keep)

    def _object(self, v: Any) -> Any:
        """Returns the key of a user's object, a class or a module: the members that traced code may have read."""
        address = _address(v, self.keep)
        if id(v) in self._met:
            return address
        self._met[id(v)] = 0
        return (address, tuple([(name, self._bind(owner, name, x)) for owner, name, x in self._reads.members(v)]))  # type: ignore[union-attr]

    def _items(self, v: Any) -> Any:
        return tuple([(_leaf(k, self.keep), self._part(x)) for k, x in v.items()])

    def quiet(self) -> bool:
        return _same_members(self.lists) and _same_items(self.dicts) and all([_leaf(v, []) == part for v, part in self.others])

    def unchanged(self) -> bool:
        return (still_bound(self.bound) and self.quiet() and _same_items(self.tables) and all([v._id == was for v, was in self.tensors])
                and all([v._requires_grad is on and v._name == name for v, on, name, _ in self.parameters])
                and (not hooks_made[0] or all([gradient_hooks(v) == hooks for v, _, _, hooks in self.parameters])))


def around(fn: Any, out: list[Any], met: set[int]) -> None:
    """Appends to `out` the values that a function finds in surrounding variables, as the object of a method, or bound to it, and that may change later."""
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
        if isinstance(v, (Tensor, cell_class, list, dict, np.ndarray)) or is_plain(v):
            out.append(v)
        elif callable(v) and not isinstance(v, type):
            around(v, out, met)


class Flat:
    """The arguments of a call, flattened: tensors, and a key of everything else."""

    __slots__ = ("tensors", "objects", "key")

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.tensors: list[Tensor] = []
        self.objects: list[Any] = []  # objects that the key identifies by address
        self.key = (tuple([self._part(a) for a in args]), tuple([(k, self._part(v)) for k, v in kwargs.items()]) if kwargs else ())

    def plain(self) -> bool:
        """Returns whether the key covers the content of all arguments."""
        return all([isinstance(v, (Parameter, cell_class, type, _core.DType)) for v in self.objects])

    def _part(self, v: Any) -> Any:
        if isinstance(v, Tensor):
            if isinstance(v, Parameter):
                hooks = gradient_hooks(v)
                self.objects += (v, *hooks)
                return ("parameter", id(v), v._requires_grad, *map(id, hooks))
            self.tensors.append(v)
            return ("tensor", v.shape, v.dtype)
        if isinstance(v, (tuple, list)):
            return (type(v), tuple([self._part(x) for x in v]))
        if isinstance(v, dict):
            return (dict, tuple([(_leaf(k, self.objects), self._part(x)) for k, x in v.items()]))
        return _leaf(v, self.objects)


def rebuild(v: Any, tensors: Any) -> Any:
    """Returns v with its tensors (not Parameters) taken from the iterator."""
    if isinstance(v, Parameter) or v is None:
        return v
    if isinstance(v, Tensor):
        return next(tensors)
    if type(v) is tuple or isinstance(v, list):
        items = [rebuild(x, tensors) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, tuple):  # ParameterTuple, namedtuple: the kind of members is kept
        return v if all(isinstance(x, Parameter) for x in v) else tuple.__new__(type(v), [rebuild(x, tensors) for x in v])
    if isinstance(v, dict):
        return {k: rebuild(x, tensors) for k, x in v.items()}
    return v
