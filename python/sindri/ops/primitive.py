"""Primitives: operators as objects that are built with static attributes and called with tensors (MindSpore: mindspore.ops.Primitive).

Most are made by `primitive(name, function, …)`: one line that names the function, the attributes and their defaults.
"""
from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Callable, Optional, TypeVar, cast

import numpy as np

from sindri._check import fail
from sindri._signatures import is_native
from sindri.ops._util import Tensor

__all__ = ["Primitive", "PrimitiveWithInfer", "PrimitiveWithCheck", "prim_attr_register", "prim_arg_register", "constexpr", "primitive", "REQUIRED"]


class Primitive:
    """Base of all operators that are objects. A subclass defines `__call__`.

    `add_prim_attr`, `set_stage`, `set_device`, `shard`, `recompute` and `place` keep what they are given (hints for parallel and graph
    compilation, which no computation on one rank reads) and return the primitive.
    """

    def __init__(self, name: Optional[str] = None) -> None:
        self.name = name or type(self).__name__
        self.attrs: dict[str, Any] = {}
        self.init_attrs: dict[str, Any] = {"name": self.name}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fail(NotImplementedError, f"primitive '{self.name}' has no computation", "Primitive.__call__", "define __call__ in the subclass")

    def __repr__(self) -> str:
        attrs = ", ".join(f"{key}={value}" for key, value in self.attrs.items())
        return f"Prim[{self.name}]" + (f"<{attrs}>" if attrs else "")

    def add_prim_attr(self, name: str, value: Any) -> "Primitive":
        """Stores an attribute under `name`, as attribute of the object too; one that the operator computes with takes effect."""
        setattr(self, name, value)
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name: str) -> "Primitive":
        """Removes an attribute that add_prim_attr stored; an unknown name changes nothing."""
        if name in self.attrs:
            del self.attrs[name]
            self.__dict__.pop(name, None)
        return self

    def set_stage(self, stage: int) -> "Primitive":
        """Stores the pipeline stage."""
        return self.add_prim_attr("stage", stage)

    def set_device(self, device_target: str) -> "Primitive":
        """Stores the device the operator should run on."""
        return self.add_prim_attr("primitive_target", device_target)

    def set_prim_instance_name(self, instance_name: str) -> "Primitive":
        """Stores a name for this object."""
        self.instance_name = instance_name
        return self

    def shard(self, in_strategy: Optional[tuple] = None, out_strategy: Optional[tuple] = None) -> "Primitive":
        """Stores sharding strategies: a tuple of split counts per input and per output. Raises TypeError for other types."""
        for key, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            if strategy is None:
                continue
            if not isinstance(strategy, tuple):
                fail(TypeError, f"{key}: expected a tuple, got {strategy!r}", f"{self.name}.shard", "give one tuple of split counts per tensor")
            self.attrs[key] = strategy
        return self

    def recompute(self, mode: bool = True) -> "Primitive":
        """Stores whether the output should be computed again in the backward pass."""
        if not isinstance(mode, bool):
            fail(TypeError, f"mode: expected a bool, got {mode!r}", f"{self.name}.recompute")
        return self.add_prim_attr("recompute", mode)

    def place(self, role: str, rank_id: int) -> "Primitive":
        """Stores the process that should run the operator."""
        if not isinstance(rank_id, int) or isinstance(rank_id, bool):
            fail(TypeError, f"rank_id: expected an int, got {rank_id!r}", f"{self.name}.place")
        if role not in ("MS_WORKER", "MS_SERVER", "MS_PSERVER", "MS_SCHED"):
            fail(ValueError, f"role: {role!r} is not known", f"{self.name}.place", "use 'MS_WORKER'")
        return self.add_prim_attr("_place", (role, rank_id))

    def init_prim_io_names(self, inputs: list, outputs: list) -> None:
        """Stores the names of the inputs and outputs."""
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def set_const_input_indexes(self, indexes: list) -> "Primitive":
        """Stores which inputs are constants."""
        return self.add_prim_attr("const_input_indexes", indexes)

    @property
    def update_parameter(self) -> bool:
        """Whether calling it writes a Parameter."""
        return False


class PrimitiveWithInfer(Primitive):
    """A Primitive whose subclass also states shapes and types (`infer_shape`, `infer_dtype`), which Sindri infers itself and never asks."""


class PrimitiveWithCheck(Primitive):
    """A Primitive whose subclass also checks shapes and types (`check_shape`, `check_dtype`), which Sindri does itself and never asks."""


_F = TypeVar("_F", bound=Callable[..., Any])


def prim_attr_register(fn: _F) -> _F:
    """Decorator for a primitive's `__init__`: every argument becomes an attribute before the body runs."""
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, type(self).__name__)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name in list(bound.arguments)[1:]:
            self.add_prim_attr(name, bound.arguments[name])
            self.init_attrs[name] = bound.arguments[name]
        fn(self, *args, **kwargs)

    return cast(_F, init)


prim_arg_register = prim_attr_register


def constexpr(fn: Optional[Callable] = None, get_instance: bool = True, name: Optional[str] = None, reuse_result: bool = True, check: bool = True) -> Any:
    """Decorator for functions of constants that are called in `construct`. Such code is plain Python here, so fn itself comes back.

    get_instance, name, reuse_result and check are hints for MindSpore's compiler and stored nowhere.
    """
    return fn if fn is not None else lambda f: f


_primexpr = constexpr
REQUIRED = inspect.Parameter.empty


def _check_attr(where: str, name: str, value: Any, default: Any) -> None:
    """TypeError unless value is of the kind the default has: bool, int, number or str."""
    if default is REQUIRED or value is default:
        return
    kind = type(default)
    integer = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    good = {bool: isinstance(value, (bool, np.bool_)), int: integer, float: integer or isinstance(value, (float, np.floating)),
            str: isinstance(value, str)}
    if kind in good and not good[kind]:
        fail(TypeError, f"{name}: expected {'a number' if kind is float else kind.__name__}, got {value!r}", where)


def text_of(function: Callable) -> str:
    """The documentation of a function; of one of the engine what follows its signature."""
    text = (function.__doc__ or "").strip()
    return text.partition("\n")[2].strip() if is_native(function) else text


def like(model: Callable, function: Callable) -> Callable:
    """The function, with the documentation of the one it calls."""
    function.__doc__ = text_of(model)
    return function


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def primitive(name: str, function: Callable, hints: tuple = (), any_type: tuple = (), base: type = Primitive, /, **attrs: Any) -> type:
    """The class of a primitive that is called as function(*tensors, **attributes).

    attrs: the attributes in positional order with their defaults (REQUIRED: none); the default's type is what a value must have, except
    for the names in any_type. hints: names of attributes that are accepted, checked and stored, and that change nothing here (locks of
    kernels that do not exist). Raises TypeError for a value of another type.
    """
    signature = inspect.Signature([inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value) for key, value in attrs.items()])
    static = {key: value for key, value in attrs.items() if key not in hints}

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, name)
        self._static = dict(static)
        if args or kwargs or REQUIRED in attrs.values():
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError as e:
                fail(TypeError, str(e), f"ops.{name}", f"its arguments are {signature}")
        else:
            given = {}
        for key, default in attrs.items():
            value = given.get(key, default)
            if key in given and key not in any_type:
                _check_attr(f"ops.{name}", key, value, default)
            self.add_prim_attr(key, value)
            self.init_attrs[key] = value

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **self._static, **kwargs)

    def add_prim_attr(self: Any, name: str, value: Any) -> Any:
        if name in self._static:
            self._static[name] = value
        return Primitive.add_prim_attr(self, name, value)

    setattr(__init__, "__signature__", signature.replace(parameters=[_SELF, *signature.parameters.values()]))
    text = text_of(function)
    if hints:
        text += f"\n\nStored only: {', '.join(hints)}."
    body = {"__init__": __init__, "__call__": __call__, "__doc__": text, "__module__": sys._getframe(1).f_globals["__name__"]}
    if static:
        add_prim_attr.__doc__ = Primitive.add_prim_attr.__doc__
        body["add_prim_attr"] = add_prim_attr
    else:
        body["__call__"] = staticmethod(function)  # nothing to add: no Python between the call and the function
    return type(name, (base,), body)


def is_traced(*values: Any) -> bool:
    """Whether one of the values is a tensor inside a graph that is being traced."""
    return any(isinstance(v, Tensor) and v.is_symbolic for v in values)
