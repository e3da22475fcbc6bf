"""Argument checks of the data pipeline: every failure is one line, `what | where | fix`."""
from __future__ import annotations

import difflib
import functools
import inspect
import numbers
from enum import Enum
from typing import Any, Callable, Iterable, List, NoReturn, Optional, Sequence, Tuple, Type, TypeVar, cast

from sindri import _core

__all__ = ["ArgumentError", "fail", "is_int", "is_number", "integer", "number", "boolean", "names", "nearest", "enumeration", "pair_of_numbers",
           "size_2d", "named"]

INT32_MAX = 2147483647
MOST_WORKERS = 1024  # beyond the cores of large machines, which scripts name on small ones too
FLOAT_MAX_INTEGER = 16777216  # MindSpore's bound of the numbers of image transforms


class ArgumentError(_core.InvalidValueError, RuntimeError):
    """Arguments that exclude each other. MindSpore 1.x raises RuntimeError and 2.x ValueError for these; this is both."""


def fail(kind: Type[Exception], what: str, where: str = "", fix: str = "") -> NoReturn:
    """Raises `kind` with the parts of the message that are not empty."""
    raise kind(" | ".join(part for part in (what, where, fix) if part))


def is_int(value: Any) -> bool:
    """Whether `value` is a whole number other than a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether `value` is a real number other than a bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def integer(who: str, name: str, value: Any, least: int = 0, most: int = INT32_MAX) -> int:
    """A whole number from `least` to `most`. Raises TypeError or ValueError."""
    if not is_int(value):
        fail(TypeError, f"{name} must be an int, got {value!r} of type {type(value).__name__}", who)
    if not least <= value <= most:
        fail(ValueError, f"{name} must be from {least} to {most}, got {value}", who)
    return int(value)


def number(who: str, name: str, value: Any, least: Optional[float] = None, most: Optional[float] = None) -> float:
    """A real number from `least` to `most`. Raises TypeError or ValueError."""
    if not is_number(value):
        fail(TypeError, f"{name} must be a number, got {value!r} of type {type(value).__name__}", who)
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        bounds = " and ".join(text for text in ("" if least is None else f"at least {least}", "" if most is None else f"at most {most}") if text)
        fail(ValueError, f"{name} must be {bounds}, got {value}", who)
    return float(value)


def boolean(who: str, name: str, value: Any) -> bool:
    """A bool. Raises TypeError."""
    if not isinstance(value, bool):
        fail(TypeError, f"{name} must be a bool, got {value!r} of type {type(value).__name__}", who)
    return value


def names(who: str, name: str, value: Any) -> List[str]:
    """Column names: a str, or a list or tuple of them without repetition. None gives []. Raises TypeError or ValueError."""
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        fail(TypeError, f"{name} must be a str or a list of str, got {value!r} of type {type(value).__name__}", who)
    for entry in value:
        if not isinstance(entry, str):
            fail(TypeError, f"{name} must hold str, got {entry!r} of type {type(entry).__name__}", who)
        if not entry:
            fail(ValueError, f"{name} holds an empty name", who)
    if len(set(value)) != len(value):
        fail(ValueError, f"{name} names a column twice: {list(value)}", who)
    return list(value)


def nearest(name: str, known: Iterable[str]) -> str:
    """'did you mean X?', or an empty string."""
    found = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean '{found[0]}'?" if found else ""


def enumeration(who: str, name: str, value: Any, kind: Type[Enum]) -> Any:
    """A member of the enumeration `kind`. Raises TypeError."""
    if not isinstance(value, kind):
        fail(TypeError, f"{name} must be one of the enumeration {kind.__name__}, got {value!r} of type {type(value).__name__}", who,
             f"use one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}")
    return value


def pair_of_numbers(who: str, name: str, value: Any, least: Optional[float] = None, most: Optional[float] = None,
                    ordered: bool = True) -> Tuple[float, float]:
    """Two numbers, the first not above the second unless `ordered` is False. Raises TypeError or ValueError."""
    if not isinstance(value, (list, tuple)):
        fail(TypeError, f"{name} must be a tuple or list of two numbers, got {value!r}", who)
    if len(value) != 2:
        fail(ValueError, f"{name} must have two numbers, got {len(value)}", who)
    low, high = (number(who, name, v, least, most) for v in value)
    if ordered and low > high:
        fail(ValueError, f"{name} must be (smallest, largest), got {tuple(value)}", who)
    return low, high


def size_2d(who: str, size: Any, name: str = "size") -> List[int]:
    """[edge] or [height, width]. Raises TypeError or ValueError."""
    values: Sequence[Any] = [size] if is_int(size) else size
    if not isinstance(values, (list, tuple)) or len(values) not in (1, 2):
        fail(TypeError, f"{name} must be an int or a tuple (height, width), got {size!r}", who)
    return [integer(who, name, v, 1, 16777216) for v in values]


_F = TypeVar("_F", bound=Callable[..., Any])


def named(function: _F) -> _F:
    """Makes an unknown keyword argument of `function` raise a TypeError that names the nearest known one."""
    parameters = [p.name for p in inspect.signature(function).parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
                  and p.name != "self"]
    known = frozenset(parameters)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in known:
                who = function.__qualname__.replace(".__init__", "")
                fail(TypeError, f"{who}() got an unexpected keyword argument '{name}'", "", nearest(name, parameters)
                     or f"known are {', '.join(parameters)}")
        return function(*args, **kwargs)

    return cast(_F, checked)
