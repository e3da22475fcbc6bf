"""Signatures of the extension's functions, which pybind11 writes into the first line of their docstrings."""
from __future__ import annotations

import ast
import inspect
import re
import types
from typing import Any, Callable, NamedTuple, Optional

from sindri import _core


class Argument(NamedTuple):
    """One argument: its name ('*args' and '**kwargs' with their stars), its type and its default as text; '' for none."""
    name: str
    kind: str
    default: str


def _split(text: str) -> list[str]:
    """Returns the parts between commas outside brackets and strings."""
    parts, depth, start, quote = [], 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "[(":
            depth += 1
        elif c in "])":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def parse(doc: Optional[str]) -> tuple[list[Argument], str]:
    """Returns (arguments, result) of a docstring that starts with `name(a: int = 1) -> str`. Raises ValueError for another one."""
    line = (doc or "").strip().split("\n")[0]
    found = re.fullmatch(r"\w*\((.*)\) -> (.*)", line)
    if found is None:
        raise ValueError(f"{line!r} is not a signature | parse | register the types that it names before the function")
    arguments = []
    for item in _split(found[1]):
        name, _, rest = item.partition(": ")
        kind, equals, default = rest.rpartition(" = ")
        arguments.append(Argument(name, kind, default) if equals else Argument(name, rest, ""))
    return arguments, found[2]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):  # the text of an object, such as an element type
        return ...


def is_native(function: Any) -> bool:
    """Returns whether it is a function of the extension."""
    return isinstance(function, (types.BuiltinFunctionType, _core.OpFunction))


def signature(function: Callable) -> inspect.Signature:
    """Returns the signature of a function, like inspect.signature, also for functions of the extension."""
    if not is_native(function):
        return inspect.signature(function)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(a.name, kind, default=_value(a.default) if a.default else inspect.Parameter.empty)
                              for a in parse(function.__doc__)[0]])


def as_method(of_function: inspect.Signature) -> inspect.Signature:
    """Returns the signature with its first parameter as `self`."""
    first, *rest = of_function.parameters.values()
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if first.kind is first.VAR_POSITIONAL:
        rest = [first, *rest]
    return of_function.replace(parameters=[self, *rest])
