"""Compiling functions (MindSpore: mindspore.jit, ms_function)."""
import functools
import types

from sindri import _core
from sindri._compile import Graphs, outermost

__all__ = ["jit", "ms_function", "ms_class", "jit_class", "ms_memory_recycle", "lazy_inline", "JitConfig", "_no_grad", "cell_attr_register", "mutable"]


class _Jit:
    """A function that is compiled when it is an outermost call, and part of the graph inside one."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self._fn, self._graphs = fn, None

    def __call__(self, *args, **kwargs):
        if not outermost():
            return self._fn(*args, **kwargs)
        if self._graphs is None:
            self._graphs = Graphs(self._fn, getattr(self._fn, "__name__", "jit"))
        return self._graphs.call(args, kwargs)

    def __get__(self, obj, owner=None):
        return self if obj is None else types.MethodType(self, obj)


def jit(fn=None, input_signature=None, hash_args=None, jit_config=None, mode=None, *, capture_mode=None, jit_level=None, dynamic=None, fullgraph=None,
        backend=None, **options):
    """Compiles a function of tensors, as decorator with or without arguments; results equal the eager ones.

    The options choose between compilers of MindSpore and have no counterpart here: they are stored as `jit_options`.
    """
    def wrap(f):
        if not callable(f):
            raise TypeError(f"expected a function, got {type(f).__name__} | jit")
        out = _Jit(f)
        out.jit_options = dict(input_signature=input_signature, hash_args=hash_args, jit_config=jit_config, mode=mode, capture_mode=capture_mode,
                               jit_level=jit_level, dynamic=dynamic, fullgraph=fullgraph, backend=backend, **options)
        return out

    return wrap if fn is None else wrap(fn)


def ms_function(fn=None, obj=None, input_signature=None, hash_args=None, jit_config=None):
    """The older name of jit."""
    return jit(fn, input_signature, hash_args, jit_config)


def ms_class(cls):
    """Marks a class whose objects are used in compiled code; nothing needs to change."""
    if not isinstance(cls, type):
        raise TypeError(f"expected a class, got {cls!r} | jit_class")
    cls.__ms_class__ = True
    return cls


jit_class = ms_class


def lazy_inline(fn=None, attrs=None, policy=None):
    """Decorator for a Cell's __init__: a hint to MindSpore's compiler that changes no result; recorded as an attribute of the Cell's class only."""
    def wrap(f):
        return f

    return wrap if fn is None else wrap(fn)


def cell_attr_register(fn=None, attrs=None):
    """Decorator for a Cell's __init__ that records its arguments for caching compiled graphs; compiled graphs are keyed by attributes here."""
    def wrap(f):
        return f

    return wrap if fn is None else wrap(fn)


def mutable(input_data, dynamic_len=False):
    """input_data: a Tensor, a number, or a tuple, list or dict of these, to be an input of a graph rather than a constant.

    Tensors in containers are inputs here in any case; each new number leads to another graph, which changes no result. Raises TypeError for other
    types, and for dynamic_len with what is no tuple or list.
    """
    def check(v):
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


def ms_memory_recycle():
    """Memory is reused by itself: nothing to do."""


class JitConfig:
    """Options of MindSpore's compiler: stored."""

    def __init__(self, jit_level="O1", task_type="", **kwargs):
        self.jit_config_dict = dict(jit_level=jit_level, task_type=task_type, **kwargs)


class _no_grad:
    """Inside `with`, tapes record nothing."""

    def __enter__(self):
        self._scope = _core.BelowScope()
        self._scope.__enter__()

    def __exit__(self, *args):
        self._scope.__exit__(*args)
