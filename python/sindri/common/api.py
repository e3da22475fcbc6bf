"""Compiling functions (MindSpore: mindspore.jit, ms_function)."""
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
    """A function that is compiled when it is an outermost call, and part of the graph inside one."""

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
        """Its compiled signatures."""
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
    """Compiles a function of tensors, as decorator with or without arguments; results equal the eager ones.

    The options choose between compilers of MindSpore and have no counterpart here: they are stored as `jit_options`.
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
    """The older name of jit."""
    return jit(fn, input_signature, hash_args, jit_config)


def ms_class(cls: _C) -> _C:
    """Marks a class whose objects are used in compiled code; nothing needs to change."""
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
    """Decorator for a Cell's __init__: a hint to MindSpore's compiler that changes no result; recorded as an attribute of the Cell's class only."""
    def wrap(f: _F) -> _F:
        return f

    return wrap if fn is None else wrap(fn)


@overload
def cell_attr_register(fn: _F, attrs: Any = ...) -> _F: ...


@overload
def cell_attr_register(fn: None = ..., attrs: Any = ...) -> Callable[[_F], _F]: ...


def cell_attr_register(fn: Any = None, attrs: Any = None) -> Any:
    """Decorator for a Cell's __init__ that records its arguments for caching compiled graphs; compiled graphs are keyed by attributes here."""
    def wrap(f: _F) -> _F:
        return f

    return wrap if fn is None else wrap(fn)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """input_data: a Tensor, a number, or a tuple, list or dict of these, to be an input of a graph rather than a constant.

    Tensors in containers are inputs here in any case; each new number leads to another graph, which changes no result. Raises TypeError for other
    types, and for dynamic_len with what is no tuple or list.
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
    """Memory is reused by itself: nothing to do."""


_JIT_LEVELS = ("", "O0", "O1", "O2", "O3")  # of all versions


class JitConfig:
    """Options of MindSpore's compiler: stored. Raises TypeError or ValueError for a jit_level that MindSpore does not have."""

    def __init__(self, jit_level: str = "O1", task_type: str = "", **kwargs: Any) -> None:
        if not isinstance(jit_level, str):
            raise TypeError(f"jit_level must be a str, got {jit_level!r} | JitConfig")
        if jit_level not in _JIT_LEVELS:
            raise ValueError(f"jit_level '{jit_level}' is not known | JitConfig | use " + ", ".join(repr(level) for level in _JIT_LEVELS))
        self.jit_config_dict = dict(jit_level=jit_level, task_type=task_type, **kwargs)


class _no_grad:
    """Inside `with`, tapes record nothing."""

    def __enter__(self) -> None:
        self._scope = _core.BelowScope() if local.tapes else None  # without a tape there may be a graph on top, which is to see all
        if self._scope is not None:
            self._scope.__enter__()

    def __exit__(self, *args: Any) -> None:
        if self._scope is not None:
            self._scope.__exit__(*args)
