"""Primitives: operators as objects, constructed with static attributes and called with tensors (MindSpore:
mindspore.ops.Primitive).

Most are created by `primitive(name, function, …)`: one line that names the function, the attributes and their
defaults.
"""
from __future__ import annotations

import functools
import inspect
import re
import sys
from typing import Any, Callable, Optional, TypeVar, cast

import numpy as np

from sindri._check import fail
from sindri._signatures import is_native
from sindri.ops._util import Tensor

__all__ = ["Primitive", "PrimitiveWithInfer", "PrimitiveWithCheck", "prim_attr_register", "prim_arg_register", "constexpr", "primitive", "REQUIRED"]


class Primitive:
    """Base class of the operators that are objects. A subclass defines `__call__`.

    `add_prim_attr`, `set_stage`, `set_device`, `shard`, `recompute` and `place` store their arguments and return the
    primitive. They are hints for parallel and graph compilation, which computation on one rank does not read.

    Args:
        name (str): The name; None means the name of the class. Default: None.

    Examples:
        >>> import sindri as ms
        >>> class Double(ms.ops.Primitive):
        ...     def __call__(self, x):
        ...         return x * 2
        >>> print(Double()(ms.Tensor([1, 2])))
        [2 4]
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
        """Stores an attribute under `name`, and as an attribute of the object. An attribute that the operator computes
        with takes effect.

        Args:
            name (str): The name.
            value: The value.

        Returns:
            The primitive.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.Softmax().add_prim_attr("axis", 0))
            Prim[Softmax]<axis=0>
        """
        setattr(self, name, value)
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name: str) -> "Primitive":
        """Removes an attribute that add_prim_attr stored. An unknown name has no effect.

        Args:
            name (str): The name.

        Returns:
            The primitive.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.Primitive("Mine").add_prim_attr("a", 1).del_prim_attr("a"))
            Prim[Mine]
        """
        if name in self.attrs:
            del self.attrs[name]
            self.__dict__.pop(name, None)
        return self

    def set_stage(self, stage: int) -> "Primitive":
        """Stores the pipeline stage.

        Args:
            stage (int): The number of the stage.

        Returns:
            The primitive.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.ReLU().set_stage(1))
            Prim[ReLU]<stage=1>
        """
        return self.add_prim_attr("stage", stage)

    def set_device(self, device_target: str) -> "Primitive":
        """Stores the device the operator should run on.

        Args:
            device_target (str): The name of the device.

        Returns:
            The primitive.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.ReLU().set_device("CPU"))
            Prim[ReLU]<primitive_target=CPU>
        """
        return self.add_prim_attr("primitive_target", device_target)

    def set_prim_instance_name(self, instance_name: str) -> "Primitive":
        """Stores a name for this object.

        Args:
            instance_name (str): The name.

        Returns:
            The primitive.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.ReLU().set_prim_instance_name("first").instance_name)
            first
        """
        self.instance_name = instance_name
        return self

    def shard(self, in_strategy: Optional[tuple] = None, out_strategy: Optional[tuple] = None) -> "Primitive":
        """Stores sharding strategies: a tuple of split counts per input and per output.

        Args:
            in_strategy (tuple): The strategy of the inputs. Default: None.
            out_strategy (tuple): The strategy of the outputs. Default: None.

        Returns:
            The primitive.

        Raises:
            TypeError: If a strategy is not a tuple.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.Add().shard(((1, 1), (1, 1))))
            Prim[Add]<in_strategy=((1, 1), (1, 1))>
        """
        for key, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            if strategy is None:
                continue
            if not isinstance(strategy, tuple):
                fail(TypeError, f"{key}: expected a tuple, got {strategy!r}", f"{self.name}.shard", "give one tuple of split counts per tensor")
            self.attrs[key] = strategy
        return self

    def recompute(self, mode: bool = True) -> "Primitive":
        """Stores whether the output should be recomputed in the backward pass.

        Args:
            mode (bool): Whether to recompute it. Default: True.

        Returns:
            The primitive.

        Raises:
            TypeError: If `mode` is not a bool.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.ReLU().recompute())
            Prim[ReLU]<recompute=True>
        """
        if not isinstance(mode, bool):
            fail(TypeError, f"mode: expected a bool, got {mode!r}", f"{self.name}.recompute")
        return self.add_prim_attr("recompute", mode)

    def place(self, role: str, rank_id: int) -> "Primitive":
        """Stores the process that should run the operator.

        Args:
            role (str): "MS_WORKER", "MS_SERVER", "MS_PSERVER" or "MS_SCHED".
            rank_id (int): The rank of the process.

        Returns:
            The primitive.

        Raises:
            TypeError: If `rank_id` is not an int.
            ValueError: If `role` is another string.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.ReLU().place("MS_WORKER", 0))
            Prim[ReLU]<_place=('MS_WORKER', 0)>
        """
        if not isinstance(rank_id, int) or isinstance(rank_id, bool):
            fail(TypeError, f"rank_id: expected an int, got {rank_id!r}", f"{self.name}.place")
        if role not in ("MS_WORKER", "MS_SERVER", "MS_PSERVER", "MS_SCHED"):
            fail(ValueError, f"role: {role!r} is not known", f"{self.name}.place", "use 'MS_WORKER'")
        return self.add_prim_attr("_place", (role, rank_id))

    def init_prim_io_names(self, inputs: list, outputs: list) -> None:
        """Stores the names of the inputs and outputs.

        Args:
            inputs (list): The names of the inputs.
            outputs (list): The names of the outputs.

        Examples:
            >>> import sindri as ms
            >>> prim = ms.ops.Primitive("Mine")
            >>> prim.init_prim_io_names(["x"], ["y"])
            >>> print(prim)
            Prim[Mine]<input_names=['x'], output_names=['y']>
        """
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def set_const_input_indexes(self, indexes: list) -> "Primitive":
        """Stores which inputs are constants.

        Args:
            indexes (list): The positions of the inputs.

        Returns:
            The primitive.

        Examples:
            >>> import sindri as ms
            >>> print(ms.ops.Primitive("Mine").set_const_input_indexes([1]))
            Prim[Mine]<const_input_indexes=[1]>
        """
        return self.add_prim_attr("const_input_indexes", indexes)

    @property
    def update_parameter(self) -> bool:
        """Whether calling it writes a Parameter."""
        return False


class PrimitiveWithInfer(Primitive):
    """A Primitive whose subclass also defines shapes and types (`infer_shape`, `infer_dtype`). Sindri infers them itself
    and does not call these.

    Args:
        name (str): The name; None means the name of the class. Default: None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.PrimitiveWithInfer("Mine"))
        Prim[Mine]
    """


class PrimitiveWithCheck(Primitive):
    """A Primitive whose subclass also checks shapes and types (`check_shape`, `check_dtype`). Sindri checks them itself
    and does not call these.

    Args:
        name (str): The name; None means the name of the class. Default: None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.PrimitiveWithCheck("Mine"))
        Prim[Mine]
    """


_F = TypeVar("_F", bound=Callable[..., Any])


def prim_attr_register(fn: _F) -> _F:
    """Decorates a primitive's `__init__`: every argument becomes an attribute before the body runs.

    Args:
        fn: The `__init__` of a primitive.

    Returns:
        The decorated function.

    Examples:
        >>> import sindri as ms
        >>> class Scale(ms.ops.Primitive):
        ...     @ms.ops.prim_attr_register
        ...     def __init__(self, factor=2):
        ...         pass
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> print(Scale(3)(ms.Tensor([1, 2])))
        [3 6]
    """
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
    """Decorates functions of constants that are called in `construct`. Such code is plain Python here, so the function
    itself is returned.

    Args:
        fn (Callable): The function; None returns the decorator. Default: None.
        get_instance (bool): No effect; a hint for MindSpore's compiler, as the following arguments are.
            Default: True.
        name (str): No effect. Default: None.
        reuse_result (bool): No effect. Default: True.
        check (bool): No effect. Default: True.

    Returns:
        `fn`, or a decorator.

    Examples:
        >>> import sindri as ms
        >>> @ms.ops.constexpr
        ... def half(n):
        ...     return n // 2
        >>> print(half(6))
        3
    """
    return fn if fn is not None else lambda f: f


_primexpr = constexpr
REQUIRED = inspect.Parameter.empty


def _check_attr(where: str, name: str, value: Any, default: Any) -> None:
    """Raises TypeError unless value has the kind of the default: bool, int, number or str."""
    if default is REQUIRED or value is default:
        return
    kind = type(default)
    integer = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    good = {bool: isinstance(value, (bool, np.bool_)), int: integer, float: integer or isinstance(value, (float, np.floating)),
            str: isinstance(value, str)}
    if kind in good and not good[kind]:
        fail(TypeError, f"{name}: expected {'a number' if kind is float else kind.__name__}, got {value!r}", where)


def text_of(function: Callable) -> str:
    """Returns the documentation of a function; for a function of the engine the text after its signature."""
    text = (function.__doc__ or "").strip()
    return text.partition("\n")[2].strip() if is_native(function) else text


def like(model: Callable, function: Callable) -> Callable:
    """Returns the function with the documentation of the one it calls."""
    function.__doc__ = text_of(model)
    return function


def _documentation(name: str, function: Callable, attrs: dict, hints: tuple) -> str:
    """Returns the function's documentation with a paragraph, before the sections, that shows the arguments of the constructor and of the call."""
    text, plain = text_of(function), inspect.unwrap(function)
    if is_native(function):
        called = re.findall(r"(\w+): ", (function.__doc__ or "").partition("\n")[0].rpartition(" -> ")[0])
    else:
        code = plain.__code__
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount:][:bool(code.co_flags & inspect.CO_VARARGS)]
        called = [*code.co_varnames[:code.co_argcount], *(f"*{v}" for v in rest)]
    made = ", ".join(key if value is REQUIRED else f"{key}={value!r}" for key, value in attrs.items())
    usage = f"Usage: `{name}({made})({', '.join(key for key in called if key not in attrs)})`."
    if hints:
        usage += f" No effect: {', '.join(hints)}."
    indent = "" if "\n\nArgs:" in text else "    "  # the engine's sections are not indented
    head, sections, tail = text.partition(f"\n\n{indent}Args:")
    return f"{head}\n\n{indent}{usage}{sections}{tail}"


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def primitive(name: str, function: Callable, hints: tuple = (), any_type: tuple = (), base: type = Primitive, /, **attrs: Any) -> type:
    """Creates the class of a primitive that is called as function(*tensors, **attributes).

    Args:
        name (str): The name of the class.
        function (Callable): The function that computes it.
        hints (tuple): The names of attributes that are checked and stored, and have no effect (locks of kernels that
            do not exist here). Default: ().
        any_type (tuple): The names of attributes whose values may have another type than the default. Default: ().
        base: The base class. Default: Primitive.
        **attrs: The attributes in positional order with their defaults (REQUIRED for none).

    Returns:
        The class. Its constructor raises TypeError if an attribute has another type than its default.

    Examples:
        >>> import sindri as ms
        >>> from sindri.ops.primitive import primitive
        >>> Scale = primitive("Scale", lambda x, factor: x * factor, factor=2)
        >>> print(Scale(3)(ms.Tensor([1, 2])))
        [3 6]
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
    body = {"__init__": __init__, "__call__": __call__, "__doc__": _documentation(name, function, attrs, hints),
            "__module__": sys._getframe(1).f_globals["__name__"]}
    if static:
        add_prim_attr.__doc__ = Primitive.add_prim_attr.__doc__
        body["add_prim_attr"] = add_prim_attr
    else:
        body["__call__"] = staticmethod(function)  # there are no attributes to add, so the call needs no Python function in between
    return type(name, (base,), body)


def is_traced(*values: Any) -> bool:
    """Returns whether one of the values is a tensor inside a graph that is being traced."""
    return any(isinstance(v, Tensor) and v.is_symbolic for v in values)
