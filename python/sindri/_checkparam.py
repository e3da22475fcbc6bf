"""The argument checks under MindSpore's names: functions (2.x spelling), and the classes `Validator` and `Rel` (1.x spelling) over the same functions.

Every function gives back the value it was given when the check holds. Wrong types raise TypeError, wrong values ValueError,
with the place (`prim_name`) and the argument's name at the beginning, as MindSpore has them.
"""
import enum
import functools
import inspect
import math
import re
from typing import Any, Callable, Optional, Sequence

import numpy as np

from sindri._check import check_bool as _bool
from sindri._check import fail, got, is_int, type_names


class Rel(enum.Enum):
    """Relations between a value and one bound, a range, or a list of values."""
    EQ = 1
    NE = 2
    LT = 3
    LE = 4
    GT = 5
    GE = 6
    INC_NEITHER = 7
    INC_LEFT = 8
    INC_RIGHT = 9
    INC_BOTH = 10
    IN = 11
    NOT_IN = 12

    @staticmethod
    def get_strs(rel: 'Rel') -> str:
        """Text of the relation with {} where the bounds go."""
        return _RELATIONS[rel][0]

    @staticmethod
    def get_fns(rel: 'Rel') -> Callable[..., bool]:
        """The test itself: f(value, bound), f(value, lower, upper) or f(value, values)."""
        return _RELATIONS[rel][1]


EQ, NE, LT, LE, GT, GE = Rel.EQ, Rel.NE, Rel.LT, Rel.LE, Rel.GT, Rel.GE
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = Rel.INC_NEITHER, Rel.INC_LEFT, Rel.INC_RIGHT, Rel.INC_BOTH, Rel.IN, Rel.NOT_IN

_RELATIONS: dict[Rel, tuple[str, Callable[..., bool]]] = {
    EQ: ('= {}', lambda v, b: v == b), NE: ('!= {}', lambda v, b: v != b), LT: ('< {}', lambda v, b: v < b), LE: ('<= {}', lambda v, b: v <= b),
    GT: ('> {}', lambda v, b: v > b), GE: ('>= {}', lambda v, b: v >= b), INC_NEITHER: ('({}, {})', lambda v, lo, hi: lo < v < hi),
    INC_LEFT: ('[{}, {})', lambda v, lo, hi: lo <= v < hi), INC_RIGHT: ('({}, {}]', lambda v, lo, hi: lo < v <= hi),
    INC_BOTH: ('[{}, {}]', lambda v, lo, hi: lo <= v <= hi), IN: ('in {}', lambda v, values: v in values),
    NOT_IN: ('not in {}', lambda v, values: v not in values),
}


def _subject(arg_name: Optional[str], prim_name: Optional[str]) -> str:
    """MindSpore's way to say where and what."""
    return (f"For '{prim_name}', " if prim_name else '') + (f"'{arg_name}'" if arg_name else 'the value')


def _types(types: Any) -> tuple:
    return tuple(type(None) if t is None else t for t in (types if isinstance(types, (tuple, list, set, frozenset)) else (types,)))


def check(arg_name: str, arg_value: Any, value_name: str, value: Any, rel: Rel = Rel.EQ, prim_name: Optional[str] = None,
          excp_cls: type = ValueError) -> Any:
    """Checks `arg_value` against `value`, which is itself called `value_name` in the message."""
    if not Rel.get_fns(rel)(arg_value, value):
        fail(excp_cls, f"{_subject(arg_name, prim_name)} must be {Rel.get_strs(rel).format(value_name)}: {value}, got {arg_value}")
    return arg_value


def _number(arg_value: Any, bounds: tuple, rel: Rel, kinds: tuple, arg_name: Optional[str], prim_name: Optional[str]) -> Any:
    if not isinstance(arg_value, kinds) or isinstance(arg_value, bool):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be {kinds[0].__name__}, {got(arg_value)}")
    if not math.isfinite(arg_value) or not Rel.get_fns(rel)(arg_value, *bounds):
        wanted = f"{Rel.get_strs(rel).format(*bounds)}, a finite {kinds[0].__name__}"
        fail(ValueError, f"{_subject(arg_name, prim_name)} must be {'in range ' if len(bounds) == 2 else ''}{wanted}, got {arg_value}")
    return arg_value


def check_number(arg_value: Any, value: Any, rel: Rel, arg_type: type = int, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """Checks a number of type `arg_type` (int or float) against one bound. NaN and infinity are refused."""
    kinds = {int: (int, np.integer), float: (float, np.floating)}.get(arg_type, (arg_type, int, float, np.integer, np.floating))
    return _number(arg_value, (value,), rel, kinds, arg_name, prim_name)


def check_number_range(arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Rel, value_type: type, arg_name: Optional[str] = None,
                       prim_name: Optional[str] = None) -> Any:
    """Checks a number of type `value_type` against a range."""
    kinds = (int, np.integer) if value_type is int else (float, np.floating)
    return _number(arg_value, (lower_limit, upper_limit), rel, kinds, arg_name, prim_name)


def check_int(arg_value: Any, value: int, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int that stands in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value: Any, value: float, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> float:
    """A float that stands in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_equal_int(arg_value: Any, value: int, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int equal to `value`."""
    return check_number(arg_value, value, Rel.EQ, int, arg_name, prim_name)


def check_int_range(arg_value: Any, lower_limit: int, upper_limit: int, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int in a range whose ends `rel` includes or not."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(arg_value: Any, lower_limit: float, upper_limit: float, rel: Rel, arg_name: Optional[str] = None,
                      prim_name: Optional[str] = None) -> float:
    """A float in a range whose ends `rel` includes or not."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def _against_0(name: str, kind: type, rel: Rel) -> Callable[..., Any]:
    """check_<name>_<kind>(value, arg_name, prim_name)."""
    def checked(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
        return check_number(arg_value, 0, rel, kind, arg_name, prim_name)
    checked.__name__ = checked.__qualname__ = f'check_{name}_{kind.__name__}'
    checked.__doc__ = f'{"An" if kind is int else "A"} {kind.__name__} {Rel.get_strs(rel).format(0)}.'
    return checked


check_positive_int, check_negative_int = _against_0('positive', int, Rel.GT), _against_0('negative', int, Rel.LT)
check_non_positive_int, check_non_negative_int = _against_0('non_positive', int, Rel.LE), _against_0('non_negative', int, Rel.GE)
check_positive_float, check_non_negative_float = _against_0('positive', float, Rel.GT), _against_0('non_negative', float, Rel.GE)


def check_is_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """Any int (bool is none)."""
    if not is_int(arg_value):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be int, {got(arg_value)}")
    return arg_value


def check_is_float(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """Any float (an int is none)."""
    if not isinstance(arg_value, (float, np.floating)):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be float, {got(arg_value)}")
    return arg_value


def check_bool(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> bool:
    """True or False."""
    return _bool('', _subject(arg_name, prim_name), arg_value)


def check_is_sequence(value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """A list or tuple."""
    return check_value_type(arg_name or '', value, (list, tuple), prim_name)


def check_positive_int_sequence(sequence: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """A list or tuple of ints above 0."""
    for index, item in enumerate(check_is_sequence(sequence, arg_name, prim_name)):
        check_positive_int(item, f'{arg_name}[{index}]', prim_name)
    return sequence


def check_string(arg_value: Any, valid_values: Sequence[str], arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> str:
    """One of `valid_values`. Another type is a ValueError here, too."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        fail(ValueError, f"{_subject(arg_name, prim_name)} must be str and one of {list(valid_values)}, got {arg_value!r}")
    return arg_value


def check_str_by_regular(target: str, reg: Optional[str] = None, flag: int = re.ASCII, prim_name: Optional[str] = None) -> str:
    """A text that matches a regular expression; letters, digits and `_ . / -` when none is given."""
    pattern = reg if reg is not None else r'^[\w./-]*$'
    if re.match(pattern, target, flag) is None:
        fail(ValueError, f"{_subject(None, prim_name)} {target!r} must match {pattern!r}")
    return target


def check_file_name_by_regular(target: str, reg: Optional[str] = None, prim_name: Optional[str] = None) -> str:
    """A file name without characters that shells or file systems treat as their own."""
    check_value_type('file_name', target, str, prim_name)
    if target.endswith(('\\', '/')) or re.match(reg if reg is not None else r'^[0-9a-zA-Z@_\-.:/\\ ]+$', target, re.ASCII) is None:
        fail(ValueError, f"{_subject('file_name', prim_name)} {target!r} is no legal file name", '', "use letters, digits and @ _ - . : /")
    return target


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: Optional[str] = None) -> Any:
    """An object of one of `valid_types`. The name comes first here. A bool passes as int only when bool is listed."""
    allowed = _types(valid_types)
    if not isinstance(arg_value, allowed) or isinstance(arg_value, bool) and bool not in allowed and object not in allowed:
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be {type_names(allowed)}, {got(arg_value)}")
    return arg_value


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """An object of `classes`; raises ValueError, unlike check_value_type."""
    if not isinstance(arg_value, classes):
        fail(ValueError, f"'{arg_name}' must be {type_names(_types(classes))}, got {type(arg_value).__name__}")
    return arg_value


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: Optional[str] = None) -> Any:
    """A dtype out of `valid_types`."""
    if not any(arg_type == t for t in _types(valid_types)):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be one of {', '.join(str(t) for t in _types(valid_types))}, got {arg_type}")
    return arg_type


check_type_names = check_tensor_dtype_valid = check_type_name


def check_subclass(arg_name: str, type_: Any, template_types: Any, prim_name: Optional[str] = None, addition_error_info: Optional[str] = None) -> Any:
    """A class derived from one of `template_types`, or a dtype equal to one of them."""
    templates = _types(template_types)
    if not any(issubclass(type_, t) if isinstance(t, type) and isinstance(type_, type) else type_ == t for t in templates):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be a kind of {type_names(templates)}, got {type_}", '', addition_error_info or '')
    return type_


def check_equal_shape(arg_name1: str, arg_shape1: Sequence[int], arg_name2: str, arg_shape2: Sequence[int], prim_name: Optional[str] = None) -> None:
    """Two equal shapes."""
    if tuple(arg_shape1) != tuple(arg_shape2):
        fail(ValueError, f"{_subject(arg_name1, prim_name)} and '{arg_name2}' must have equal shapes, got {tuple(arg_shape1)} and {tuple(arg_shape2)}")


def twice(x: Any) -> tuple:
    """(x, x) of an int; a pair as it is."""
    return x if isinstance(x, tuple) and len(x) == 2 else (x, x)


def args_type_check(**types: Any) -> Callable:
    """Decorator that checks arguments of a function by name: `@args_type_check(mode=int, path=(str, None))`."""
    def wrap(fn: Callable) -> Callable:
        signature = inspect.signature(fn)

        @functools.wraps(fn)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in types and value is not None:
                    check_value_type(name, value, types[name], fn.__name__)
            return fn(*args, **kwargs)
        return checked
    return wrap


class _Functions(type):
    """Gives a class the checks of this module as its own."""

    def __getattr__(cls, name: str) -> Any:
        if name == 'twice' or name.startswith('check'):
            return globals()[name] if name in globals() else super().__getattribute__(name)
        return super().__getattribute__(name)


class Validator(metaclass=_Functions):
    """The checks above, as 1.x scripts call them: `Validator.check_positive_int(3, 'a', 'P')`."""
