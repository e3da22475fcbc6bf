"""Functions over tuples of values, and functions with several versions that are selected by the types of their
arguments.
"""
from __future__ import annotations

import functools
from typing import Any, Callable, Optional

import numpy as np

from sindri._check import fail
from sindri._signatures import is_native
from sindri.common import dtype as mstype
from sindri.ops._util import Parameter, Tensor
from sindri.ops.primitive import Primitive

__all__ = ["MultitypeFuncGraph", "HyperMap", "Map", "add_flags", "core"]

# The type names. A value also matches more general names; _kinds lists them, nearest first.
_NUMBERS = ("Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Float16", "BFloat16", "Float32",
            "Float64", "Bool")
_NAMES = frozenset(_NUMBERS) | {
    "Tensor", "Parameter", "Number", "String", "Tuple", "List", "Dictionary", "Dict", "None", "NoneType", "TypeNone", "Type", "TypeType", "Function",
    "Func",
    "RowTensor", "COOTensor", "CSRTensor", "SparseTensor", "MapTensor", "Problem", "Slice", "Ellipsis", "Complex64", "Complex128", "TensorType",
    "Undetermined"}
_SAME = {"NoneType": "None", "TypeNone": "None", "Func": "Function", "Dict": "Dictionary", "TypeType": "Type", "TensorType": "Tensor"}


def _type_name(given: Any) -> str:
    """Returns the name of a type passed to `register`: a string or a mindspore type."""
    if isinstance(given, str):
        if given not in _NAMES:
            fail(ValueError, f"'{given}' is not a type name", "MultitypeFuncGraph.register", "use names such as 'Tensor', 'Number', 'Tuple', 'Function'")
        return _SAME.get(given, given)
    if isinstance(given, mstype.DType):
        return _SAME.get(str(given), str(given))
    python = {bool: "Bool", int: "Int", float: "Float", str: "String", tuple: "Tuple", list: "List", dict: "Dictionary", type(None): "None",
              Tensor: "Tensor",
              Parameter: "Tensor"}
    if isinstance(given, type) and given in python:
        return python[given]
    return fail(TypeError, f"expected a type name or a type, got {given!r}", "MultitypeFuncGraph.register")


def _kinds(value: Any) -> tuple:
    """Returns the type names that a value matches, nearest first."""
    if isinstance(value, Parameter):
        return "Parameter", "Tensor"
    if isinstance(value, Tensor):
        return ("Tensor",)
    if value is None:
        return ("None",)
    if isinstance(value, (bool, np.bool_)):
        return "Bool", "Number"
    if isinstance(value, (int, np.integer)):
        return "Int64", "Int", "Int32", "Number"
    if isinstance(value, (float, np.floating)):
        return "Float32", "Float", "Float64", "Number"
    for kind, name in ((str, "String"), (tuple, "Tuple"), (list, "List"), (dict, "Dictionary"), (slice, "Slice"), ((mstype.DType, type), "Type")):
        if isinstance(value, kind):
            return (name,)
    name = type(value).__name__
    if name in ("RowTensor", "RowTensorInner", "COOTensor", "CSRTensor", "SparseTensor", "MapTensor", "MapParameter"):
        return {"RowTensorInner": "RowTensor", "MapParameter": "MapTensor"}.get(name, name),
    return ("Function",) if callable(value) else (name,)


class MultitypeFuncGraph:
    """A function with one version per combination of argument types.

    `register("Tensor", "Number")` decorates a version. A call runs the version whose type names are nearest to the
    arguments: Parameters also match "Tensor"; bool, int and float also match "Number". If no version fits, a number
    may be converted to a "Tensor", and a tensor of one element may be passed as a "Number".

    Args:
        name (str): The name.
        read_value (bool): No effect: Parameters are read when they are used. Default: False.

    Raises:
        TypeError: If `name` is not a str, or no version fits a call.

    Examples:
        >>> import sindri as ms
        >>> double = ms.ops.MultitypeFuncGraph("double")
        >>> @double.register("Tensor")
        ... def _(x):
        ...     return x * 2
        >>> @double.register("String")
        ... def _(x):
        ...     return x + x
        >>> print(double("ab"), double(ms.Tensor([1, 2])))
        abab [2 4]
    """

    def __init__(self, name: str, read_value: bool = False):
        if not isinstance(name, str):
            fail(TypeError, f"name: expected a str, got {name!r}", "MultitypeFuncGraph")
        self.name = name
        self.read_value = read_value
        self.entries: list = []
        self._found: dict = {}

    def __repr__(self) -> str:
        return f"MultitypeFuncGraph({self.name})"

    def register(self, *type_names: Any) -> Callable:
        """Decorates a version for these types.

        Args:
            *type_names: The type names or types, one per argument.

        Returns:
            The decorator.

        Raises:
            TypeError: If an argument is neither a type name nor a type.
            ValueError: If a name is unknown.

        Examples:
            >>> import sindri as ms
            >>> double = ms.ops.MultitypeFuncGraph("double")
            >>> @double.register("Number")
            ... def _(x):
            ...     return x * 2
            >>> print(double(3))
            6
        """
        names = tuple(_type_name(t) for t in type_names)

        def decorate(fn: Callable) -> Callable:
            self.entries = [entry for entry in self.entries if entry[0] != names] + [(names, fn)]
            self._found.clear()
            return fn
        return decorate

    def register_default(self, fn: Callable) -> Callable:
        """Decorates the version for all other types.

        Args:
            fn (Callable): The function.

        Returns:
            `fn`.

        Examples:
            >>> import sindri as ms
            >>> kind = ms.ops.MultitypeFuncGraph("kind")
            >>> @kind.register_default
            ... def _(x):
            ...     return "other"
            >>> print(kind({}))
            other
        """
        self.default = fn
        return fn

    default: Optional[Callable] = None

    def has(self, args: tuple) -> bool:
        """Returns whether a version accepts arguments of these types without conversion.

        Args:
            args (tuple): The arguments.

        Returns:
            A bool.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.MultitypeFuncGraph("empty").has((1,)))
            False
        """
        return self._match(tuple(_kinds(a) for a in args)) is not None

    def _match(self, kinds: tuple) -> Optional[Callable]:
        if kinds in self._found:
            return self._found[kinds]
        best: Optional[Callable] = None
        best_distance = 0
        for names, fn in self.entries:
            if len(names) == len(kinds) and all(name in kind or name == "Undetermined" for name, kind in zip(names, kinds)):
                distance = sum(kind.index(name) if name in kind else len(kind) for name, kind in zip(names, kinds))
                if best is None or distance < best_distance:
                    best, best_distance = fn, distance
        self._found[kinds] = best
        return best

    def _converted(self, args: tuple) -> Optional[tuple]:
        """Returns a version that fits if numbers become tensors and tensors count as numbers, with its arguments."""
        for names, fn in self.entries:
            if len(names) != len(args):
                continue
            out = []
            for name, arg in zip(names, args):
                kinds = _kinds(arg)
                if name in kinds or (name == "Number" and kinds[-1] == "Tensor"):
                    out.append(arg)
                elif name == "Tensor" and kinds[-1] == "Number":
                    out.append(Tensor(float(arg) if isinstance(arg, (float, np.floating)) else arg))
                else:
                    break
            else:
                return fn, out
        return None

    def __call__(self, *args: Any) -> Any:
        fn = self._match(tuple(_kinds(a) for a in args))
        if fn is not None:
            return fn(*args)
        found = self._converted(args)
        if found is not None:
            return found[0](*found[1])
        if self.default is not None:
            return self.default(*args)
        given = ", ".join(_kinds(a)[0] for a in args)
        known = "; ".join("(" + ", ".join(names) + ")" for names, _ in self.entries) or "none"
        return fail(TypeError, f"'{self.name}' has no version for ({given})", "MultitypeFuncGraph", f"versions: {known}")


def _bound(fn: Callable) -> tuple:
    """Returns the function under functools.partial and the arguments bound to it."""
    args: tuple = ()
    while isinstance(fn, functools.partial):
        args = fn.args + args
        fn = fn.func
    return fn, args


class _MapBase:
    """Base class of HyperMap and Map: the function may be bound at construction or be the first argument of the call."""

    def __init__(self, ops: Optional[Callable] = None, reverse: bool = False):
        where = type(self).__name__
        if ops is not None and not (callable(ops) or isinstance(ops, Primitive)):
            fail(TypeError, f"ops: expected a function, got {type(ops).__name__}", where)
        if not isinstance(reverse, bool):
            fail(TypeError, f"reverse: expected a bool, got {reverse!r}", where)
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args: Any) -> Any:
        fn = self.ops
        if fn is None:
            if not args or not callable(args[0]):
                fail(TypeError, "expected a function as the first argument", type(self).__name__, "bind one at construction, or pass one")
            fn, args = args[0], args[1:]
        if not args:
            fail(TypeError, "expected at least one tuple or list", type(self).__name__)
        return self._apply(fn, args)

    def _apply(self, fn: Callable, sequences: tuple) -> Any:
        raise NotImplementedError

    def _zipped(self, sequences: tuple) -> list:
        """Returns the elements in rows. Raises TypeError unless all are tuples or lists, ValueError if their lengths
        differ.
        """
        if not all(isinstance(s, (tuple, list)) for s in sequences):
            kinds = ", ".join(type(s).__name__ for s in sequences)
            fail(TypeError, f"expected tuples or lists, got {kinds}", type(self).__name__, "bind constants with ops.partial")
        if len({len(s) for s in sequences}) > 1:
            fail(ValueError, f"expected equal lengths, got {[len(s) for s in sequences]}", type(self).__name__)
        return list(zip(*sequences))

    def _run(self, each: Callable, rows: list) -> tuple:
        return tuple(each(row) for row in rows[::-1])[::-1] if self.reverse else tuple(each(row) for row in rows)


class HyperMap(_MapBase):
    """Applies a function to the elements of equally long tuples or lists, also of nested ones. The result is a tuple of
    the same structure.

    A MultitypeFuncGraph with a version for tuples or lists receives these whole.

    Args:
        ops (Callable): The function; None expects it as the first argument of the call. Default: None.
        reverse (bool): Whether to process the elements from the last to the first; the result keeps its order. Default: False.

    Raises:
        TypeError: If some values are sequences and others at the same level are not.
        ValueError: If lengths differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.HyperMap()(lambda a, b: a + b, (1, (2, 3)), (10, (20, 30))))
        (11, (22, 33))
    """

    def _apply(self, fn: Callable, sequences: tuple) -> Any:
        if not any(isinstance(s, (tuple, list)) for s in sequences):
            return fn(*sequences)
        graph, bound = _bound(fn)
        if isinstance(graph, MultitypeFuncGraph) and graph.has(bound + sequences):
            return fn(*sequences)
        return self._run(lambda row: self._apply(fn, row), self._zipped(sequences))


class Map(_MapBase):
    """Applies a function to the elements of equally long tuples or lists; nested ones are passed whole. The result is a
    tuple.

    Args:
        ops (Callable): The function; None expects it as the first argument of the call. Default: None.
        reverse (bool): Whether to process the elements from the last to the first; the result keeps its order. Default: False.

    Raises:
        TypeError: If an argument is neither a tuple nor a list.
        ValueError: If lengths differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Map()(lambda a, b: a + b, (1, 2), (10, 20)))
        (11, 22)
    """

    def _apply(self, fn: Callable, sequences: tuple) -> Any:
        return self._run(lambda row: fn(*row), self._zipped(sequences))


def add_flags(fn: Optional[Callable] = None, **flags: Any) -> Callable:
    """Stores flags for MindSpore's compiler on a function (in `_func_graph_flags`) or a Cell. The computation is
    unchanged.

    Args:
        fn (Callable): The function or Cell; None returns a decorator. Default: None.
        **flags: The flags.

    Returns:
        `fn`, or a decorator.

    Examples:
        >>> import sindri as ms
        >>> @ms.ops.add_flags(defer_inline=True)
        ... def double(x):
        ...     return x * 2
        >>> print(double(3))
        6
    """
    def decorate(target: Any) -> Any:
        if hasattr(target, "add_flags"):
            return target.add_flags(**flags)
        if is_native(target):
            return target
        target._func_graph_flags = {**getattr(target, "_func_graph_flags", {}), **flags}
        return target
    return decorate if fn is None else decorate(fn)


def core(fn: Optional[Callable] = None, **flags: Any) -> Callable:
    """Stores the flag core=True; see `add_flags`.

    Args:
        fn (Callable): The function or Cell; None returns a decorator. Default: None.
        **flags: Further flags.

    Returns:
        `fn`, or a decorator.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.composite.core(lambda x: x * 2)(3))
        6
    """
    return add_flags(fn, core=True, **flags)
