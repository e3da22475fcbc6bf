"""Compilation of functions (MindSpore: mindspore.jit, ms_function)."""
from __future__ import annotations

import functools
import types
from typing import Any, Callable, Optional, TypeVar, overload

from sindri import _core
from sindri._compile import Graphs, entrance, local, outermost

__all__ = ["jit", "ms_function", "ms_class", "jit_class", "ms_memory_recycle", "lazy_inline", "JitConfig", "_no_grad", "cell_attr_register", "mutable"]


_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound=type[Any])


class _Jit:
    """A function that is compiled as an outermost call, and part of the surrounding graph otherwise."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self._fn = fn
        self._graphs: Optional[Graphs] = None
        self.jit_options: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not outermost():
            return self._fn(*args, **kwargs)
        return self.graphs().call_apart(args, kwargs) if local.apart else self.graphs().call(args, kwargs)

    def graphs(self) -> Graphs:
        """Returns its compiled signatures."""
        if self._graphs is None:
            self._graphs = Graphs(self._fn, getattr(self._fn, "__name__", "jit"))
        return self._graphs

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else types.MethodType(self, obj)


entrance(_Jit.__call__, lambda function: (function.graphs(), None))


@overload
def jit(fn: _F, input_signature: Any = ..., hash_args: Any = ..., jit_config: Any = ..., mode: Any = ..., *, capture_mode: Any = ..., jit_level: Any = ...,
        dynamic: Any = ..., fullgraph: Any = ..., backend: Any = ..., **options: Any) -> _F: ...


@overload
def jit(fn: None = ..., input_signature: Any = ..., hash_args: Any = ..., jit_config: Any = ..., mode: Any = ..., *, capture_mode: Any = ..., jit_level: Any = ...,
        dynamic: Any = ..., fullgraph: Any = ..., backend: Any = ..., **options: Any) -> Callable[[_F], _F]: ...


def jit(fn: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Any = None, mode: Any = None, *, capture_mode: Any = None,
        jit_level: Any = None, dynamic: Any = None, fullgraph: Any = None, backend: Any = None, **options: Any) -> Any:
    """Compiles a function of tensors; a decorator with or without arguments. Results are equal to the eager ones.

    The options select between compilers of MindSpore. They have no counterpart here and are stored as `jit_options`.

    Args:
        fn (Callable): The function. Default: None, to decorate with arguments.
        input_signature: Stored. Default: None.
        hash_args: Stored. Default: None.
        jit_config: Stored. Default: None.
        mode: Stored. Default: None.
        capture_mode: Stored. Default: None.
        jit_level: Stored. Default: None.
        dynamic: Stored. Default: None.
        fullgraph: Stored. Default: None.
        backend: Stored. Default: None.
        **options: Stored.

    Returns:
        The compiled function, or a decorator.

    Raises:
        TypeError: If `fn` is not callable.

    Examples:
        >>> import sindri as ms
        >>> @ms.jit
        ... def double(x):
        ...     return x + x
        >>> print(double(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """
    def wrap(f: Any) -> Any:
        if not callable(f):
            raise TypeError(f"expected a function, got {type(f).__name__} | jit")
        out = _Jit(f)
        out.jit_options = dict(input_signature=input_signature, hash_args=hash_args, jit_config=jit_config, mode=mode, capture_mode=capture_mode,
                               jit_level=jit_level, dynamic=dynamic, fullgraph=fullgraph, backend=backend, **options)
        return out

    return wrap if fn is None else wrap(fn)


@overload
def ms_function(fn: _F, obj: Any = ..., input_signature: Any = ..., hash_args: Any = ..., jit_config: Any = ...) -> _F: ...


@overload
def ms_function(fn: None = ..., obj: Any = ..., input_signature: Any = ..., hash_args: Any = ..., jit_config: Any = ...) -> Callable[[_F], _F]: ...


def ms_function(fn: Any = None, obj: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Any = None) -> Any:
    """Compiles a function; the older name of jit.

    Args:
        fn (Callable): As in jit. Default: None.
        obj: Ignored. Default: None.
        input_signature: As in jit. Default: None.
        hash_args: As in jit. Default: None.
        jit_config: As in jit. Default: None.

    Returns:
        The compiled function, or a decorator.

    Raises:
        TypeError: If `fn` is not callable.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ms_function(lambda x: x + x)(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """
    return jit(fn, input_signature, hash_args, jit_config)


def ms_class(cls: _C) -> _C:
    """Marks a class whose objects are used in compiled code. The class is not changed otherwise.

    Args:
        cls (type): The class.

    Returns:
        The class.

    Raises:
        TypeError: If `cls` is not a class.

    Examples:
        >>> import sindri as ms
        >>> @ms.jit_class
        ... class Scale:
        ...     factor = 2.0
        >>> print(ms.jit(lambda x: x * Scale().factor)(ms.Tensor([1.0])))
        [2.]
    """
    if not isinstance(cls, type):
        raise TypeError(f"expected a class, got {cls!r} | jit_class")
    setattr(cls, "__ms_class__", True)
    return cls


jit_class = ms_class


@overload
def lazy_inline(fn: _F, attrs: Any = ..., policy: Any = ...) -> _F: ...


@overload
def lazy_inline(fn: None = ..., attrs: Any = ..., policy: Any = ...) -> Callable[[_F], _F]: ...


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Decorates a Cell's __init__ as a hint to MindSpore's compiler; it has no effect.

    Args:
        fn (Callable): The __init__ method. Default: None, to decorate with arguments.
        attrs: Ignored. Default: None.
        policy: Ignored. Default: None.

    Returns:
        The method, or a decorator.

    Examples:
        >>> import sindri as ms
        >>> class Net(ms.nn.Cell):
        ...     @ms.lazy_inline
        ...     def __init__(self):
        ...         super().__init__()
    """
    def wrap(f: _F) -> _F:
        return f

    return wrap if fn is None else wrap(fn)


@overload
def cell_attr_register(fn: _F, attrs: Any = ...) -> _F: ...


@overload
def cell_attr_register(fn: None = ..., attrs: Any = ...) -> Callable[[_F], _F]: ...


def cell_attr_register(fn: Any = None, attrs: Any = None) -> Any:
    """Decorates a Cell's __init__, whose arguments MindSpore records to cache compiled graphs. It has no effect: graphs are keyed by attributes here.

    Args:
        fn (Callable): The __init__ method. Default: None, to decorate with arguments.
        attrs: Ignored. Default: None.

    Returns:
        The method, or a decorator.

    Examples:
        >>> import sindri as ms
        >>> from sindri.common.api import cell_attr_register
        >>> class Double(ms.nn.Cell):
        ...     @cell_attr_register
        ...     def __init__(self):
        ...         super().__init__()
        ...
        ...     def construct(self, x):
        ...         return 2 * x
        >>> print(Double()(ms.Tensor([1.0])))
        [2.]
    """
    def wrap(f: _F) -> _F:
        return f

    return wrap if fn is None else wrap(fn)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Marks a value as an input of a graph instead of a constant.

    Tensors in containers are inputs here in any case. Each new number compiles another graph, which does not change the results.

    Args:
        input_data (Tensor, number, tuple, list, dict): The value.
        dynamic_len (bool): Whether the length of a tuple or list may change. Default: False.

    Returns:
        `input_data`.

    Raises:
        TypeError: If `input_data` has another type, or `dynamic_len` is used with a value that is not a tuple or list.

    Examples:
        >>> import sindri as ms
        >>> ms.mutable((1, 2))
        (1, 2)
    """
    def check(v: Any) -> None:
        for item in v.values() if isinstance(v, dict) else v if isinstance(v, (tuple, list)) else ():
            check(item)
        if not isinstance(v, (bool, int, float, str, tuple, list, dict, _core.Tensor)):
            raise TypeError(f"expected a Tensor, a number, or a tuple, list or dict of these, got {type(v).__name__} | mutable")

    check(input_data)
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"dynamic_len must be a bool, got {dynamic_len!r} | mutable")
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(f"dynamic_len goes with a tuple or a list, got {type(input_data).__name__} | mutable")
    return input_data


def ms_memory_recycle() -> None:
    """Does nothing: memory is reused automatically.

    Examples:
        >>> import sindri as ms
        >>> ms.ms_memory_recycle()
    """


_JIT_LEVELS = ("", "O0", "O1", "O2", "O3")  # of all versions


class JitConfig:
    """Options of MindSpore's compiler; they are stored.

    Args:
        jit_level (str): "", "O0", "O1", "O2" or "O3". Default: "O1".
        task_type (str): Stored. Default: "".
        **kwargs: Stored.

    Raises:
        TypeError: If `jit_level` is not a str.
        ValueError: If `jit_level` is unknown in MindSpore.

    Examples:
        >>> import sindri as ms
        >>> ms.JitConfig("O2").jit_config_dict["jit_level"]
        'O2'
    """

    def __init__(self, jit_level: str = "O1", task_type: str = "", **kwargs: Any) -> None:
        if not isinstance(jit_level, str):
            raise TypeError(f"jit_level must be a str, got {jit_level!r} | JitConfig")
        if jit_level not in _JIT_LEVELS:
            raise ValueError(f"jit_level '{jit_level}' is not known | JitConfig | use " + ", ".join(repr(level) for level in _JIT_LEVELS))
        self.jit_config_dict = dict(jit_level=jit_level, task_type=task_type, **kwargs)


class _no_grad:
    """A context in which tapes record nothing.

    Examples:
        >>> import sindri as ms
        >>> from sindri.common.api import _no_grad
        >>> with _no_grad():
        ...     y = ms.Tensor([1.0]) * 2
    """

    def __enter__(self) -> None:
        self._scope = _core.BelowScope() if local.tapes else None  # without a tape, a graph may be on top, which must record everything
        if self._scope is not None:
            self._scope.__enter__()

    def __exit__(self, *args: Any) -> None:
        if self._scope is not None:
            self._scope.__exit__(*args)
