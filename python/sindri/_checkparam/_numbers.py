"""Checks of numbers, strings, types and relations."""
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
        """Returns the relation as text, with {} in place of the bounds."""
        return _RELATIONS[rel][0]

    @staticmethod
    def get_fns(rel: 'Rel') -> Callable[..., bool]:
        """Returns the test: f(value, bound), f(value, lower, upper) or f(value, values)."""
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
    """Returns the place and the argument in MindSpore's wording."""
    return (f"For '{prim_name}', " if prim_name else '') + (f"'{arg_name}'" if arg_name else 'the value')


def _types(types: Any) -> tuple:
    return tuple(type(None) if t is None else t for t in (types if isinstance(types, (tuple, list, set, frozenset)) else (types,)))


def check(arg_name: str, arg_value: Any, value_name: str, value: Any, rel: Rel = Rel.EQ, prim_name: Optional[str] = None,
          excp_cls: type = ValueError) -> Any:
    """Checks `arg_value` against `value`, which the message calls `value_name`."""
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


def _against(arg_value: Any, value: Any, rel: Rel, arg_type: type, arg_name: Optional[str], prim_name: Optional[str]) -> Any:
    kinds = (int, np.integer) if arg_type is int else (float, np.floating)
    return _number(arg_value, (value,), rel, kinds, arg_name, prim_name)


def check_number(arg_name: Optional[str], arg_value: Any, value: Any, rel: Rel, prim_name: Optional[str] = None) -> Any:
    """Checks a number of any type against one bound. The name is the first argument here."""
    if not Rel.get_fns(rel)(arg_value, value):
        fail(ValueError, f"{_subject(arg_name, prim_name)} must be {Rel.get_strs(rel).format(value)}, got {arg_value}")
    return arg_value


def check_number_range(arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Rel, value_type: type, arg_name: Optional[str] = None,
                       prim_name: Optional[str] = None) -> Any:
    """Checks a number of type `value_type` against a range."""
    kinds = (int, np.integer) if value_type is int else (float, np.floating)
    return _number(arg_value, (lower_limit, upper_limit), rel, kinds, arg_name, prim_name)


def check_int(arg_value: Any, value: int, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """Checks that an int satisfies the relation `rel` to `value`."""
    return _against(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value: Any, value: float, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> float:
    """Checks that a float satisfies the relation `rel` to `value`."""
    return _against(arg_value, value, rel, float, arg_name, prim_name)


def check_equal_int(arg_value: Any, value: int, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """Checks that an int equals `value`."""
    return _against(arg_value, value, Rel.EQ, int, arg_name, prim_name)


def check_int_range(arg_value: Any, lower_limit: int, upper_limit: int, rel: Rel, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """Checks that an int is in a range, whose ends `rel` includes or excludes."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(arg_value: Any, lower_limit: float, upper_limit: float, rel: Rel, arg_name: Optional[str] = None,
                      prim_name: Optional[str] = None) -> float:
    """Checks that a float is in a range, whose ends `rel` includes or excludes."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def _against_0(name: str, kind: type, rel: Rel) -> Callable[..., Any]:
    """Returns check_<name>_<kind>(value, arg_name, prim_name)."""
    def checked(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
        return _against(arg_value, 0, rel, kind, arg_name, prim_name)
    checked.__name__ = checked.__qualname__ = f'check_{name}_{kind.__name__}'
    checked.__doc__ = f'Checks that the value is {"an" if kind is int else "a"} {kind.__name__} {Rel.get_strs(rel).format(0)}.'
    return checked


check_positive_int, check_negative_int = _against_0('positive', int, Rel.GT), _against_0('negative', int, Rel.LT)
check_non_positive_int, check_non_negative_int = _against_0('non_positive', int, Rel.LE), _against_0('non_negative', int, Rel.GE)
check_positive_float, check_negative_float = _against_0('positive', float, Rel.GT), _against_0('negative', float, Rel.LT)
check_non_positive_float, check_non_negative_float = _against_0('non_positive', float, Rel.LE), _against_0('non_negative', float, Rel.GE)


def check_is_number(arg_value: Any, arg_type: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is a finite number of type `arg_type`; bools are rejected."""
    if not isinstance(arg_value, arg_type) or isinstance(arg_value, bool):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be {arg_type.__name__}, {got(arg_value)}")
    if not math.isfinite(arg_value):
        fail(ValueError, f"{_subject(arg_name, prim_name)} must be finite, got {arg_value}")
    return arg_value


def check_is_int(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> int:
    """Checks that the value is an int; bools are rejected."""
    if not is_int(arg_value):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be int, {got(arg_value)}")
    return arg_value


def check_is_float(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is a float; ints are rejected."""
    if not isinstance(arg_value, (float, np.floating)):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be float, {got(arg_value)}")
    return arg_value


def check_bool(arg_value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> bool:
    """Checks that the value is a bool."""
    return _bool('', _subject(arg_name, prim_name), arg_value)


def check_string(arg_value: Any, valid_values: Sequence[str], arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> str:
    """Checks that the value is one of `valid_values`. Another type raises ValueError here too."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        fail(ValueError, f"{_subject(arg_name, prim_name)} must be str and one of {list(valid_values)}, got {arg_value!r}")
    return arg_value


def _matches(target: str, pattern: str, flag: int, prim_name: Optional[str]) -> bool:
    if re.match(pattern, target, flag) is None:
        fail(ValueError, f"{_subject(None, prim_name)} {target!r} must match {pattern!r}")
    return True


def check_str_by_regular(target: str, reg: Optional[str] = None, flag: int = re.ASCII, prim_name: Optional[str] = None) -> bool:
    """Checks that a string matches a regular expression; by default letters, digits, `_` and `.`. Returns True."""
    return _matches(target, r'^\w+[\w.]*$' if reg is None else reg, flag, prim_name)


def check_str_and_none_by_regular(target: str, reg: Optional[str] = None, flag: int = re.ASCII, prim_name: Optional[str] = None) -> bool:
    """Works as check_str_by_regular; by default the string may also be empty and contain `-`."""
    return _matches(target, r'^[\w.-]*$' if reg is None else reg, flag, prim_name)


def check_file_name_by_regular(target: str, reg: Optional[str] = None, prim_name: Optional[str] = None) -> bool:
    """Checks that a file name has no characters that are special to shells or file systems. Returns True."""
    check_value_type('file_name', target, str, prim_name)
    if target.endswith(('\\', '/')) or re.match(reg if reg is not None else r'^[0-9a-zA-Z@_\-.:/\\]+$', target) is None:
        fail(ValueError, f"{_subject('file_name', prim_name)} {target!r} is not a legal file name", '', "use letters, digits and @ _ - . : /")
    return True


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: Optional[str] = None) -> Any:
    """Checks that the value has one of `valid_types`. The name is the first argument here. A bool passes as int only if
    bool is listed.
    """
    allowed = _types(valid_types)
    if not isinstance(arg_value, allowed) or isinstance(arg_value, bool) and bool not in allowed and object not in allowed:
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be {type_names(allowed)}, {got(arg_value)}")
    return arg_value


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """Checks that the value is an instance of `classes`; raises ValueError, unlike check_value_type."""
    if not isinstance(arg_value, classes):
        fail(ValueError, f"'{arg_name}' must be {type_names(_types(classes))}, got {type(arg_value).__name__}")
    return arg_value


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: Optional[str] = None) -> Any:
    """Checks that the dtype is one of `valid_types`."""
    if not any(arg_type == t for t in _types(valid_types)):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be one of {', '.join(str(t) for t in _types(valid_types))}, got {arg_type}")
    return arg_type


check_type_names = check_tensor_dtype_valid = check_type_name


def check_subclass(arg_name: str, type_: Any, template_types: Any, prim_name: Optional[str] = None, addition_error_info: Optional[str] = None) -> Any:
    """Checks that a class derives from one of `template_types`, or that a dtype equals one of them."""
    templates = _types(template_types)
    if not any(issubclass(type_, t) if isinstance(t, type) and isinstance(type_, type) else type_ == t for t in templates):
        fail(TypeError, f"{_subject(arg_name, prim_name)} must be a kind of {type_names(templates)}, got {type_}", '', addition_error_info or '')
    return type_


def check_equal_shape(arg_name1: str, arg_shape1: Sequence[int], arg_name2: str, arg_shape2: Sequence[int], prim_name: Optional[str] = None) -> None:
    """Checks that two shapes are equal."""
    if tuple(arg_shape1) != tuple(arg_shape2):
        fail(ValueError, f"{_subject(arg_name1, prim_name)} and '{arg_name2}' must have equal shapes, got {tuple(arg_shape1)} and {tuple(arg_shape2)}")


def args_type_check(*types: Any, **named: Any) -> Callable:
    """Decorates a function to check the types of its arguments, by position or by name: `@args_type_check(mode=int,
    path=(str, None))`.

    None passes every check.
    """
    def wrap(fn: Callable) -> Callable:
        signature = inspect.signature(fn)
        wanted = signature.bind_partial(*types, **named).arguments
        wanted = {**wanted, **wanted.pop('kwargs', {})}

        @functools.wraps(fn)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in wanted and value is not None:
                    check_value_type(name, value, wanted[name], fn.__name__)
            return fn(*args, **kwargs)
        return checked
    return wrap


__all__ = ["Rel", "EQ", "NE", "LT", "LE", "GT", "GE", "INC_NEITHER", "INC_LEFT", "INC_RIGHT", "INC_BOTH", "IN", "NOT_IN", "args_type_check",
           "check", "check_bool", "check_equal_int", "check_equal_shape", "check_file_name_by_regular", "check_float", "check_float_range",
           "check_int", "check_int_range", "check_is_float", "check_is_int", "check_is_number", "check_isinstance", "check_negative_float",
           "check_negative_int", "check_non_negative_float", "check_non_negative_int", "check_non_positive_float", "check_non_positive_int",
           "check_number", "check_number_range", "check_positive_float", "check_positive_int", "check_str_and_none_by_regular",
           "check_str_by_regular", "check_string", "check_subclass", "check_tensor_dtype_valid", "check_type_name", "check_type_names",
           "check_value_type"]
