"""Argument checks of the whole package.

Every failure is one line, `what | where | fix`: the argument with what was expected and found, the function or class that was called, and the
remedy if it is not obvious from the first part.

Checks accept (who, name, value, …) and return the value, or raise TypeError for another type and ValueError for another value. `_checkparam`
provides them under MindSpore's names and with its order of arguments; conversions of tensors and axes are in ops/_util.py.
"""
from __future__ import annotations

import difflib
import functools
import inspect
import math
import re
import warnings
from enum import Enum
from typing import Any, Callable, Iterable, List, NoReturn, Optional, Sequence, Tuple, Type, TypeVar, Union, cast

import numpy as np

from sindri import _core

Number = Union[int, float]
INT32_MAX = 2147483647


class ArgumentError(_core.InvalidValueError, RuntimeError):
    """Arguments that exclude each other. MindSpore 1.x raises RuntimeError and 2.x ValueError for these; this class is both."""


_LONGEST_WORD, _KEPT = 5000, 200  # as in src/core/error.cc


def with_short_words(text: str) -> str:
    """Returns the text with long runs without a space, longer than any path, reduced to their start and end."""
    if len(text) <= _LONGEST_WORD:
        return text
    return re.sub(rf"\S{{{_LONGEST_WORD + 1},}}", lambda m: f"{m[0][:_KEPT]}…({len(m[0]) - 2 * _KEPT} characters)…{m[0][-_KEPT:]}", text)


def fail(kind: Type[Exception], what: str, where: str = "", fix: str = "") -> NoReturn:
    """Raises `kind` with the non-empty parts of the message."""
    raise kind(with_short_words(" | ".join(part for part in (what, where, fix) if part)))


def warn_of_uncalled(made: type, base: type, hooks: Iterable[str], instead: str) -> None:
    """Warns if `made`, a subclass of `base`, defines methods that MindSpore's class of this name calls internally and Sindri's does not."""
    uncalled = [name for name in hooks if name in vars(made) and not hasattr(base, name)]
    if uncalled:
        warnings.warn(f"{made.__name__}: {', '.join(uncalled)} will not be called: MindSpore's {base.__name__} uses {'it' if len(uncalled) == 1 else 'them'} "
                      f"inside, Sindri's does not | {instead}", RuntimeWarning, stacklevel=3)


def is_int(value: Any) -> bool:
    """Returns whether `value` is an integer of Python or NumPy; a bool is not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Returns whether `value` is a real number of Python or NumPy; a bool is not."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def got(value: Any) -> str:
    """Returns the found value with its type, as text."""
    return f"got {value!r} of type {type(value).__name__}"


def type_names(types: Iterable[Any]) -> str:
    """Returns the names of types, such as 'int or str'."""
    return " or ".join("None" if t is type(None) else getattr(t, "__name__", str(t)) for t in types)


def range_text(least: Optional[Number] = None, most: Optional[Number] = None, above: Optional[Number] = None, below: Optional[Number] = None) -> str:
    """Returns a range as text, such as 'at least 0 and below 1'; 'finite' without ends."""
    if least is not None and most is not None:
        return f"from {least} to {most}"
    ends = [("above", above), ("at least", least), ("below", below), ("at most", most)]
    return " and ".join(f"{word} {end}" for word, end in ends if end is not None) or "finite"


def check_int(who: str, name: str, value: Any, least: Optional[int] = None, most: Optional[int] = None) -> int:
    """Checks an integer from `least` to `most`."""
    if not is_int(value):
        fail(TypeError, f"{name} must be an int, {got(value)}", who)
    if least is not None and value < least or most is not None and value > most:
        fail(ValueError, f"{name} must be {range_text(least, most)}, got {value}", who)
    return int(value)


def check_int32(who: str, name: str, value: Any, least: int = 0, most: int = INT32_MAX) -> int:
    """Checks an integer from 0 to 2^31 - 1, or between other ends."""
    return check_int(who, name, value, least, most)


def check_float(who: str, name: str, value: Any, least: Optional[float] = None, most: Optional[float] = None, *, above: Optional[float] = None,
                below: Optional[float] = None) -> float:
    """Checks a finite number between inclusive (least, most) and exclusive (above, below) ends."""
    if not is_number(value):
        fail(TypeError, f"{name} must be a number, {got(value)}", who)
    value = float(value)
    good = math.isfinite(value) and (above is None or value > above) and (least is None or value >= least)
    if not good or below is not None and value >= below or most is not None and value > most:
        fail(ValueError, f"{name} must be {range_text(least, most, above, below)}, got {value:g}", who)
    return value


def check_strict_float(who: str, name: str, value: Any, **ends: Optional[float]) -> float:
    """Like check_float, for arguments of which an integer is a TypeError."""
    if not isinstance(value, float):
        fail(TypeError, f"{name} must be a float, {got(value)}", who, f"write {value}.0" if is_int(value) else "")
    return check_float(who, name, value, **ends)


def check_bool(who: str, name: str, value: Any) -> bool:
    """Checks a bool."""
    if not isinstance(value, (bool, np.bool_)):
        fail(TypeError, f"{name} must be a bool, {got(value)}", who)
    return bool(value)


def check_choice(who: str, name: str, value: Any, choices: Sequence[Any]) -> Any:
    """Checks that the value is one of `choices`. If all choices are str, a value of another type is a TypeError."""
    if not isinstance(value, str) and all(isinstance(c, str) for c in choices):
        fail(TypeError, f"{name} must be a str, {got(value)}", who, "use " + " or ".join(repr(c) for c in choices))
    if value not in choices:
        fail(ValueError, f"{name} {value!r} is not known", who, "use " + " or ".join(repr(c) for c in choices))
    return value


def check_type(who: str, name: str, value: Any, types: Union[type, Sequence[type]]) -> Any:
    """Checks an instance of `types`; a bool is not an int."""
    wanted = (types,) if isinstance(types, type) else tuple(types)
    if not isinstance(value, wanted) or isinstance(value, bool) and bool not in wanted and object not in wanted:
        fail(TypeError, f"{name} must be {type_names(wanted)}, {got(value)}", who)
    return value


def sizes(who: str, name: str, value: Any, count: int, least: int = 1) -> Any:
    """Checks `count` integers, given as one for all or as a tuple of `count`."""
    if isinstance(value, (tuple, list)):
        if len(value) != count:
            fail(TypeError, f"{name} must be an int or {count} of them, got {tuple(value)!r}", who)
        return tuple(check_int(who, name, v, least) for v in value)
    return (check_int(who, name, value, least),) * count


def size_2d(who: str, size: Any, name: str = "size") -> List[int]:
    """Checks a size and returns [edge] or [height, width]."""
    values: Sequence[Any] = [size] if is_int(size) else size
    if not isinstance(values, (list, tuple)) or len(values) not in (1, 2):
        fail(TypeError, f"{name} must be an int or a tuple (height, width), got {size!r}", who)
    return [check_int(who, name, v, 1, 16777216) for v in values]


def pair_of_numbers(who: str, name: str, value: Any, least: Optional[float] = None, most: Optional[float] = None,
                    ordered: bool = True) -> Tuple[float, float]:
    """Checks two numbers; the first must not be above the second unless `ordered` is False."""
    if not isinstance(value, (list, tuple)):
        fail(TypeError, f"{name} must be a tuple or list of two numbers, got {value!r}", who)
    if len(value) != 2:
        fail(ValueError, f"{name} must have two numbers, got {len(value)}", who)
    low, high = (check_float(who, name, v, least, most) for v in value)
    if ordered and low > high:
        fail(ValueError, f"{name} must be (smallest, largest), got {tuple(value)}", who)
    return low, high


def check_names(who: str, name: str, value: Any) -> List[str]:
    """Checks column names: a str, or a list or tuple of them without repetition. Returns a list; [] for None."""
    if value is None:
        return []
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, (list, tuple)):
        fail(TypeError, f"{name} must be a str or a list of str, {got(value)}", who)
    for entry in value:
        if not isinstance(entry, str):
            fail(TypeError, f"{name} must hold str, {got(entry)}", who)
        if not entry:
            fail(ValueError, f"{name} holds an empty name", who)
    if len(set(value)) != len(value):
        fail(ValueError, f"{name} names a column twice: {list(value)}", who)
    return list(value)


def enumeration(who: str, name: str, value: Any, kind: Type[Enum]) -> Any:
    """Checks a member of the enumeration `kind`."""
    if not isinstance(value, kind):
        fail(TypeError, f"{name} must be one of the enumeration {kind.__name__}, {got(value)}", who,
             f"use one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}")
    return value


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns 'did you mean X?', or an empty string."""
    found = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean '{found[0]}'?" if found else ""


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
