"""Argument checks of layers, losses and optimizers: every failure is one line, `what | fix`."""
from __future__ import annotations

import math
import numbers
from typing import Any, NoReturn, Optional, Sequence, Tuple, Type, Union

Number = Union[int, float]


def fail(kind: Type[Exception], what: str, fix: str = "") -> NoReturn:
    """Raises `kind` with the parts of the message that are not empty."""
    raise kind(f"{what} | {fix}" if fix else what)


def is_int(value: Any) -> bool:
    """Whether `value` is a whole number other than a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether `value` is a real number other than a bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_int(who: str, name: str, value: Any, least: Optional[int] = None, most: Optional[int] = None) -> int:
    """A whole number, at least `least` and at most `most`. Raises TypeError or ValueError."""
    if not is_int(value):
        fail(TypeError, f"{who}: {name} must be an int, got {value!r} of type {type(value).__name__}")
    if least is not None and value < least:
        fail(ValueError, f"{who}: {name} must be at least {least}, got {value}")
    if most is not None and value > most:
        fail(ValueError, f"{who}: {name} must be at most {most}, got {value}")
    return int(value)


def check_bool(who: str, name: str, value: Any) -> bool:
    """A bool. Raises TypeError."""
    if not isinstance(value, bool):
        fail(TypeError, f"{who}: {name} must be a bool, got {value!r} of type {type(value).__name__}")
    return value


def check_float(who: str, name: str, value: Any, *, above: Optional[float] = None, least: Optional[float] = None, below: Optional[float] = None,
                most: Optional[float] = None) -> float:
    """A finite number in the range given by exclusive (above, below) and inclusive (least, most) ends. Raises TypeError or ValueError."""
    if not is_number(value):
        fail(TypeError, f"{who}: {name} must be a float, got {value!r} of type {type(value).__name__}")
    value = float(value)
    ok = math.isfinite(value) and (above is None or value > above) and (least is None or value >= least)
    ok = ok and (below is None or value < below) and (most is None or value <= most)
    if not ok:
        ends = [(above, "above"), (least, "at least"), (below, "below"), (most, "at most")]
        wanted = " and ".join(f"{word} {end:g}" for end, word in ends if end is not None)
        fail(ValueError, f"{who}: {name} must be {wanted or 'finite'}, got {value:g}")
    return value


def check_strict_float(who: str, name: str, value: Any, **ends: Optional[float]) -> float:
    """As check_float for arguments where a whole number is an error of type."""
    if not isinstance(value, float):
        fail(TypeError, f"{who}: {name} must be a float, got {value!r} of type {type(value).__name__}")
    return check_float(who, name, value, **ends)


def check_choice(who: str, name: str, value: Any, choices: Sequence[str]) -> str:
    """One of `choices`. Raises TypeError for what is no text, ValueError for other text."""
    if not isinstance(value, str):
        fail(TypeError, f"{who}: {name} must be a str, got {value!r} of type {type(value).__name__}")
    if value not in choices:
        fail(ValueError, f"{who}: {name} '{value}' is not known", "use " + " or ".join(f"'{c}'" for c in choices))
    return value


def check_type(who: str, name: str, value: Any, types: Union[type, Tuple[type, ...]]) -> Any:
    """An instance of `types`; a bool is no int. Raises TypeError."""
    wanted = types if isinstance(types, tuple) else (types,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        names = " or ".join(t.__name__ for t in wanted)
        fail(TypeError, f"{who}: {name} must be {names}, got {value!r} of type {type(value).__name__}")
    return value


def sizes(who: str, name: str, value: Any, count: int, least: int = 1) -> Any:
    """`count` whole numbers, given as one for all or as a tuple of `count`. Raises TypeError or ValueError."""
    if isinstance(value, (tuple, list)):
        if len(value) != count:
            fail(ValueError, f"{who}: {name} must be an int or {count} of them, got {tuple(value)!r}")
        return tuple(check_int(who, name, v, least) for v in value)
    return (check_int(who, name, value, least),) * count
