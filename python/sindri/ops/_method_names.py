"""The names that MindSpore 2.5 added for arguments of Tensor methods: dim for axis, keepdim for keepdims."""
from __future__ import annotations

import inspect
import typing
from typing import Any, Callable

__all__ = ["METHODS", "with_both_names"]

METHODS = frozenset("""
all any argmax argmin argsort chunk cumsum index_select mean median prod repeat_interleave scatter sort split std sum unsqueeze var
""".split())

_NAMES = (("dim", "axis"), ("keepdim", "keepdims"), ("keepdim", "keep_dims"))


def _hints(method: Callable) -> dict:
    function = inspect.unwrap(method)
    return typing.get_type_hints(function) if inspect.isfunction(function) else {}


def with_both_names(method: Callable) -> Callable:
    """Returns the method with dim as another name of axis and keepdim of keepdims. Raises TypeError for an argument
    given under both names.
    """
    signature, hints = inspect.signature(method), _hints(method)
    renamed: dict[str, str] = {}
    for new, old in _NAMES:
        if old in signature.parameters and new not in signature.parameters:
            renamed.setdefault(new, old)

    def call(self: Any, *args: Any, **named: Any) -> Any:
        if named:
            for new, old in renamed.items():
                if new in named:
                    if old in named:
                        raise TypeError(f"{old} is given, and {new}, which means the same | {call.__qualname__}")
                    named[old] = named.pop(new)
        return method(self, *args, **named)

    known = list(signature.parameters.values())
    last = [p for p in known if p.kind is p.VAR_KEYWORD]
    more = [inspect.Parameter(new, inspect.Parameter.KEYWORD_ONLY, default=False if new == "keepdim" else None) for new in renamed]
    call.__name__, call.__qualname__, call.__doc__ = method.__name__, method.__qualname__, method.__doc__
    call.__signature__ = signature.replace(parameters=[*(p for p in known if p not in last), *more, *last])  # type: ignore[attr-defined]
    call.__annotations__ = {**hints, **{new: hints.get(old, Any) for new, old in renamed.items()}}
    return call
