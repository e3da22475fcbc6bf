"""Argument checks: functions (2.x spelling), and the classes `Validator` and `Rel` (1.x spelling) over the same functions.

Every function returns the value it was given when the check holds. Wrong types raise TypeError, wrong values ValueError, with the
argument's name and the place (`prim_name`) in the message.
"""
import enum
import functools
import inspect
import math
import re
from typing import Any, Callable, Optional, Sequence

import numpy as np


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
        return _TEXT[rel]

    @staticmethod
    def get_fns(rel: 'Rel') -> Callable[..., bool]:
        """The test itself: f(value, bound), f(value, lower, upper) or f(value, values)."""
        return _TEST[rel]


EQ, NE, LT, LE, GT, GE = Rel.EQ, Rel.NE, Rel.LT, Rel.LE, Rel.GT, Rel.GE
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = Rel.INC_NEITHER, Rel.INC_LEFT, Rel.INC_RIGHT, Rel.INC_BOTH, Rel.IN, Rel.NOT_IN

_TEXT = {
    EQ: '= {}', NE: '!= {}', LT: '< {}', LE: '<= {}', GT: '> {}', GE: '>= {}',
    INC_NEITHER: '({}, {})', INC_LEFT: '[{}, {})', INC_RIGHT: '({}, {}]', INC_BOTH: '[{}, {}]',
    IN: 'in {}', NOT_IN: 'not in {}',
}
_TEST: dict[Rel, Callable[..., bool]] = {
    EQ: lambda v, b: v == b, NE: lambda v, b: v != b, LT: lambda v, b: v < b,
    LE: lambda v, b: v <= b, GT: lambda v, b: v > b, GE: lambda v, b: v >= b,
    INC_NEITHER: lambda v, lo, hi: lo < v < hi, INC_LEFT: lambda v, lo, hi: lo <= v < hi,
    INC_RIGHT: lambda v, lo, hi: lo < v <= hi, INC_BOTH: lambda v, lo, hi: lo <= v <= hi,
    IN: lambda v, values: v in values, NOT_IN: lambda v, values: v not in values,
}


def _subject(arg_name: Optional[str], prim_name: Optional[str]) -> str:
    place = f"For '{prim_name}', " if prim_name else ''
    return f"{place}'{arg_name}'" if arg_name else f'{place}the value'


def _names(types: Any) -> str:
    types = types if isinstance(types, (tuple, list, set)) else (types,)
    return ' or '.join(getattr(t, '__name__', str(t)) for t in types)


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def _is_float(value: Any) -> bool:
    return isinstance(value, (float, np.floating))


# --- relations ------------------------------------------------------------------------------------------------------------------

def check(arg_name: str, arg_value: Any, value_name: str, value: Any, rel: Rel = Rel.EQ, prim_name: Optional[str] = None,
          excp_cls: type = ValueError) -> Any:
    """Checks `arg_value` against `value`, which is itself called `value_name` in the message."""
    if not Rel.get_fns(rel)(arg_value, value):
        raise excp_cls(f"{_subject(arg_name, prim_name)} should be {Rel.get_strs(rel).format(value_name)}: {value}, got {arg_value}")
    return arg_value


def check_number(arg_value: Any, value: Any, rel: Rel, arg_type: type = int, arg_name: Optional[str] = None,
                 prim_name: Optional[str] = None) -> Any:
    """Checks a number of type `arg_type` (int or float) against one bound. NaN and infinity are refused."""
    good = _is_int(arg_value) if arg_type is int else _is_float(arg_value) or (arg_type is not float and _is_int(arg_value))
    if not good:
        raise TypeError(f"{_subject(arg_name, prim_name)} must be {arg_type.__name__}, got {arg_value!r} of type {type(arg_value).__name__}")
    if math.isnan(arg_value) or math.isinf(arg_value):
        raise ValueError(f"{_subject(arg_name, prim_name)} must be a finite number, got {arg_value}")
    if not Rel.get_fns(rel)(arg_value, value):
        raise ValueError(f"{_subject(arg_name, prim_name)} must be {arg_type.__name__} and {Rel.get_strs(rel).format(value)}, got {arg_value}")
    return arg_value


def check_number_range(arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Rel, value_type: type, arg_name: Optional[str] = None,
                       prim_name: Optional[str] = None) -> Any:
    """Checks a number of type `value_type` against a range."""
    good = _is_int(arg_value) if value_type is int else _is_float(arg_value)
    if not good:
        raise TypeError(f"{_subject(arg_name, prim_name)} must be {value_type.__name__}, got {arg_value!r} of type {type(arg_value).__name__}")
    if math.isnan(arg_value) or math.isinf(arg_value) or not Rel.get_fns(rel)(arg_value, lower_limit, upper_limit):
        span = Rel.get_strs(rel).format(lower_limit, upper_limit)
        raise ValueError(f"{_subject(arg_name, prim_name)} must be {value_type.__name__} in range {span}, got {arg_value}")
    return arg_value


# --- integers -------------------------------------------------------------------------------------------------------------------

def check_int(arg_value: Any, value: int, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int that stands in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_is_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """Any int (bool is none)."""
    if not _is_int(arg_value):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be int, got {arg_value!r} of type {type(arg_value).__name__}")
    return arg_value


def check_equal_int(arg_value: Any, value: int, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int equal to `value`."""
    return check_number(arg_value, value, Rel.EQ, int, arg_name, prim_name)


def check_positive_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int above 0."""
    return check_number(arg_value, 0, Rel.GT, int, arg_name, prim_name)


def check_negative_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int below 0."""
    return check_number(arg_value, 0, Rel.LT, int, arg_name, prim_name)


def check_non_positive_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int of at most 0."""
    return check_number(arg_value, 0, Rel.LE, int, arg_name, prim_name)


def check_non_negative_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """An int of at least 0."""
    return check_number(arg_value, 0, Rel.GE, int, arg_name, prim_name)


def check_int_range(arg_value: Any, lower_limit: int, upper_limit: int, rel: Rel, arg_name: Optional[str] = None,
                    prim_name: Optional[str] = None) -> int:
    """An int in a range whose ends `rel` includes or not."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_positive_int_sequence(sequence: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """A list or tuple of ints above 0."""
    for index, item in enumerate(check_is_sequence(sequence, arg_name, prim_name)):
        check_positive_int(item, f'{arg_name}[{index}]', prim_name)
    return sequence


def check_is_sequence(value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """A list or tuple."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be a list or tuple, got {type(value).__name__}")
    return value


# --- floats ---------------------------------------------------------------------------------------------------------------------

def check_is_float(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> float:
    """Any float (an int is none)."""
    if not _is_float(arg_value):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be float, got {arg_value!r} of type {type(arg_value).__name__}")
    return arg_value


def check_positive_float(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> float:
    """A float above 0."""
    return check_number(arg_value, 0, Rel.GT, float, arg_name, prim_name)


def check_non_negative_float(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> float:
    """A float of at least 0."""
    return check_number(arg_value, 0, Rel.GE, float, arg_name, prim_name)


def check_float_range(arg_value: Any, lower_limit: float, upper_limit: float, rel: Rel, arg_name: Optional[str] = None,
                      prim_name: Optional[str] = None) -> float:
    """A float in a range whose ends `rel` includes or not."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check_float(arg_value: Any, value: float, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> float:
    """A float that stands in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, float, arg_name, prim_name)


# --- other values ---------------------------------------------------------------------------------------------------------------

def check_bool(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> bool:
    """True or False."""
    if not isinstance(arg_value, bool):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be bool, got {arg_value!r} of type {type(arg_value).__name__}")
    return arg_value


def check_string(arg_value: Any, valid_values: Sequence[str], arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> str:
    """One of `valid_values`."""
    if isinstance(arg_value, str) and arg_value in valid_values:
        return arg_value
    raise ValueError(f"{_subject(arg_name, prim_name)} must be str and one of {list(valid_values)}, got {arg_value!r}")


def check_str_by_regular(target: str, reg: Optional[str] = None, flag: int = re.ASCII, prim_name: Optional[str] = None) -> str:
    """A text that matches a regular expression; letters, digits and `_ . / -` when none is given."""
    pattern = reg if reg is not None else r'^[\w./-]*$'
    if re.match(pattern, target, flag) is None:
        raise ValueError(f"{_subject(None, prim_name)} {target!r} must match {pattern!r}")
    return target


def check_file_name_by_regular(target: str, reg: Optional[str] = None, prim_name: Optional[str] = None) -> str:
    """A file name without characters that shells or file systems treat as their own."""
    if not isinstance(target, str):
        raise TypeError(f"{_subject('file_name', prim_name)} must be str, got {type(target).__name__}")
    pattern = reg if reg is not None else r'^[0-9a-zA-Z@_\-.:/\\ ]+$'
    if target.endswith(('\\', '/')) or re.match(pattern, target, re.ASCII) is None:
        raise ValueError(f"{_subject('file_name', prim_name)} {target!r} is no legal file name")
    return target


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: Optional[str] = None) -> Any:
    """An object of one of `valid_types`. The name comes first here. A bool passes as int only when bool is listed."""
    types = tuple(valid_types) if isinstance(valid_types, (list, tuple, set)) else (valid_types,)
    allowed = tuple(type(None) if t is None else t for t in types)
    bool_as_int = isinstance(arg_value, bool) and bool not in allowed and object not in allowed
    if isinstance(arg_value, allowed) and not bool_as_int:
        return arg_value
    raise TypeError(f"{_subject(arg_name, prim_name)} must be {_names(allowed)}, got {arg_value!r} of type {type(arg_value).__name__}")


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """An object of `classes`; raises ValueError, unlike check_value_type."""
    if not isinstance(arg_value, classes):
        raise ValueError(f"'{arg_name}' must be {_names(classes)}, got {type(arg_value).__name__}")
    return arg_value


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: Optional[str] = None) -> Any:
    """A dtype out of `valid_types`."""
    valid = tuple(valid_types) if isinstance(valid_types, (list, tuple, set, frozenset)) else (valid_types,)
    if not any(arg_type == t for t in valid):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be one of {', '.join(str(t) for t in valid)}, got {arg_type}")
    return arg_type


check_type_names = check_type_name


def check_subclass(arg_name: str, type_: Any, template_types: Any, prim_name: Optional[str] = None, addition_error_info: Optional[str] = None) -> Any:
    """A class derived from one of `template_types`, or a dtype equal to one of them."""
    templates = tuple(template_types) if isinstance(template_types, (list, tuple, set)) else (template_types,)
    for t in templates:
        if isinstance(t, type) and isinstance(type_, type):
            if issubclass(type_, t):
                return type_
        elif type_ == t:
            return type_
    extra = f' {addition_error_info}' if addition_error_info else ''
    raise TypeError(f"{_subject(arg_name, prim_name)} must be a kind of {_names(templates)}, got {type_}{extra}")


def check_tensor_dtype_valid(arg_name: str, arg_type: Any, valid_dtypes: Any, prim_name: Optional[str] = None) -> Any:
    """A tensor's dtype out of `valid_dtypes`."""
    return check_type_name(arg_name, arg_type, valid_dtypes, prim_name)


def check_equal_shape(arg_name1: str, arg_shape1: Sequence[int], arg_name2: str, arg_shape2: Sequence[int], prim_name: Optional[str] = None) -> None:
    """Two equal shapes."""
    if tuple(arg_shape1) != tuple(arg_shape2):
        shapes = f'{tuple(arg_shape1)} and {tuple(arg_shape2)}'
        raise ValueError(f"{_subject(arg_name1, prim_name)} and '{arg_name2}' must have equal shapes, got {shapes}")


def twice(x: Any) -> tuple:
    """(x, x) of an int; a pair as it is."""
    if isinstance(x, tuple) and len(x) == 2:
        return x
    return (x, x)


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


class Validator:
    """The checks above as static methods, as 1.x scripts call them."""

    check: Any = staticmethod(check)
    check_bool: Any = staticmethod(check_bool)
    check_equal_int: Any = staticmethod(check_equal_int)
    check_equal_shape: Any = staticmethod(check_equal_shape)
    check_file_name_by_regular: Any = staticmethod(check_file_name_by_regular)
    check_float: Any = staticmethod(check_float)
    check_float_range: Any = staticmethod(check_float_range)
    check_int: Any = staticmethod(check_int)
    check_int_range: Any = staticmethod(check_int_range)
    check_is_float: Any = staticmethod(check_is_float)
    check_is_int: Any = staticmethod(check_is_int)
    check_is_sequence: Any = staticmethod(check_is_sequence)
    check_isinstance: Any = staticmethod(check_isinstance)
    check_negative_int: Any = staticmethod(check_negative_int)
    check_non_negative_float: Any = staticmethod(check_non_negative_float)
    check_non_negative_int: Any = staticmethod(check_non_negative_int)
    check_non_positive_int: Any = staticmethod(check_non_positive_int)
    check_number: Any = staticmethod(check_number)
    check_number_range: Any = staticmethod(check_number_range)
    check_positive_float: Any = staticmethod(check_positive_float)
    check_positive_int: Any = staticmethod(check_positive_int)
    check_positive_int_sequence: Any = staticmethod(check_positive_int_sequence)
    check_str_by_regular: Any = staticmethod(check_str_by_regular)
    check_string: Any = staticmethod(check_string)
    check_subclass: Any = staticmethod(check_subclass)
    check_tensor_dtype_valid: Any = staticmethod(check_tensor_dtype_valid)
    check_type_name: Any = staticmethod(check_type_name)
    check_type_names: Any = staticmethod(check_type_names)
    check_value_type: Any = staticmethod(check_value_type)
    twice: Any = staticmethod(twice)
