"""The checks as 1.x scripts call them: the classes `Validator` and `ParamValidator`, and the functions that later
versions dropped.

Up to 1.0 the argument's name came first (`check_int_range('depth', 3, 1, 5, Rel.INC_BOTH, 'Net')`), from 1.1 on the
value did. The classes accept both orders: they recognise the first by a string in the position of the value.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Sequence

from sindri._check import fail, got, is_int
from sindri._checkparam import _numbers as now
from sindri._checkparam import _shapes as shapes
from sindri._checkparam._numbers import Rel, _subject


def check_integer(arg_name: str, arg_value: Any, value: int, rel: Rel, prim_name: Optional[str] = None) -> int:
    """Checks that an int satisfies the relation `rel` to `value`."""
    return now.check_int(arg_value, value, rel, arg_name, prim_name)


def check_float_positive(arg_name: str, arg_value: Any, prim_name: Optional[str] = None) -> float:
    """Checks that the value is a float above 0."""
    return now.check_positive_float(arg_value, arg_name, prim_name)


def check_float_legal_value(arg_name: str, arg_value: Any, prim_name: Optional[str] = None) -> float:
    """Checks that the value is a finite float."""
    if not math.isfinite(now.check_is_float(arg_value, arg_name, prim_name)):
        fail(ValueError, f"{_subject(arg_name, prim_name)} must be finite, got {arg_value}")
    return arg_value


def check_value_on_integer(arg_name: str, arg_value: Any, value: int, rel: Rel, prim_name: Optional[str] = None) -> Any:
    """Applies check_integer if `arg_value` is an int; other values pass."""
    return check_integer(arg_name, arg_value, value, rel, prim_name) if is_int(arg_value) else arg_value


def check_param_equal(param1_name: str, param1_value: Any, param2_name: str, param2_value: Any) -> Any:
    """Checks that two values are equal."""
    if param1_value != param2_value:
        fail(ValueError, f"'{param1_name}' and '{param2_name}' must be equal, got {param1_value} and {param2_value}")
    return param1_value


def check_const_input(arg_name: str, arg_value: Any, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is not None."""
    return shapes.check_valid_input(arg_name, arg_value, prim_name)


def check_type(arg_name: str, arg_value: Any, valid_types: Any) -> Any:
    """Checks that the value has one of `valid_types`."""
    return now.check_value_type(arg_name, arg_value, valid_types)


def check_typename(arg_name: str, arg_type: Any, valid_types: Any) -> Any:
    """Checks that the dtype is one of `valid_types`."""
    return now.check_type_name(arg_name, arg_type, valid_types)


def check_shape(arg_name: str, arg_value: Any) -> Any:
    """Checks that the value is a list or tuple of ints."""
    for index, item in enumerate(now.check_value_type(arg_name, arg_value, (tuple, list))):
        now.check_is_int(item, f'{arg_name}[{index}]')
    return arg_value


def check_int_positive(input_param: Any) -> int:
    """Checks that the value is an int above 0."""
    return now.check_positive_int(input_param)


def check_int_non_negative(input_param: Any) -> int:
    """Checks that the value is an int of at least 0."""
    return now.check_non_negative_int(input_param)


def check_int_zero_one(input_param: Any) -> int:
    """Checks that the value is 0 or 1."""
    if not is_int(input_param) or input_param not in (0, 1):
        fail(ValueError, f"expected 0 or 1, {got(input_param)}")
    return input_param


check_padding = check_int_non_negative

_TYPES: Dict[str, Callable] = {
    name: shapes.check_types_same_and_valid
    for name in ('check_type_same', 'check_tensor_type_same', 'check_tensors_dtypes_same_and_valid', 'check_types_same_and_valid')
} | {'check_scalar_or_tensor_type_same': shapes.check_scalar_or_tensor_types_same}


def _in_both_orders(check: Callable, bounds: int) -> Callable:
    """Returns check(value, <bounds of them>, relation …, name, prim_name), which also accepts check(name, value, …,
    prim_name).
    """
    def either(*args: Any, **kwargs: Any) -> Any:
        if len(args) > bounds + 1 and isinstance(args[0], str) and not isinstance(args[1], str):
            name, value, *rest = args
            return check(value, *rest[:bounds], name, *rest[bounds:], **kwargs)
        return check(*args, **kwargs)
    either.__name__, either.__doc__ = check.__name__, check.__doc__
    return either


def _check_int(arg_value: Any, value: Optional[int] = None, rel: Optional[Rel] = None, arg_name: Optional[str] = None,
               prim_name: Optional[str] = None) -> int:
    """Checks that the value is an int, in relation `rel` to `value` if they are given."""
    return now.check_is_int(arg_value, arg_name, prim_name) if rel is None or value is None else now.check_int(arg_value, value, rel, arg_name, prim_name)


def _check_string(*args: Any, **kwargs: Any) -> str:
    """Checks that a string is one of several: (value, strings, name, prim_name) or (name, value, strings, prim_name)."""
    if len(args) > 2 and isinstance(args[1], str):
        return now.check_string(args[1], args[2], args[0], *args[3:], **kwargs)
    return now.check_string(*args, **kwargs)


_BOTH_ORDERS: Dict[str, Callable] = {
    'check_int': _in_both_orders(_check_int, 2), 'check_float': _in_both_orders(now.check_float, 2),
    'check_int_range': _in_both_orders(now.check_int_range, 3), 'check_float_range': _in_both_orders(now.check_float_range, 3),
    'check_string': _check_string,
}


def _check_number_range(arg_name: Any, arg_value: Any, lower_limit: Any, upper_limit: Any, rel: Any, *rest: Any) -> Any:
    """Checks that a number is in a range: (name, value, lower, upper, relation, prim_name), or from 1.1 on (value,
    lower, upper, relation, type, name, prim_name).
    """
    if not isinstance(arg_name, str):
        return now.check_number_range(arg_name, arg_value, lower_limit, upper_limit, rel, *rest)
    if not Rel.get_fns(rel)(arg_value, lower_limit, upper_limit):
        span = Rel.get_strs(rel).format(lower_limit, upper_limit)
        fail(ValueError, f"{_subject(arg_name, rest[0] if rest else None)} must be in range {span}, got {arg_value}")
    return arg_value


_OTHERS = ('once', 'twice', 'triple')
_STARTS = ('check', 'prepare_', 'expanded_', 'infer_', 'tuple_', 'max_', 'min_')


class _Functions(type):
    """Gives a class the checks of this package as attributes."""

    def __getattr__(cls, name: str) -> Any:
        if name == 'check_number_range':
            return _check_number_range
        for table in (_BOTH_ORDERS, _TYPES, globals(), vars(shapes), vars(now)):
            if name in table and (name in _OTHERS or name.startswith(_STARTS)):
                return table[name]
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")


class Validator(metaclass=_Functions):
    """The checks of this package as 1.x scripts call them: `Validator.check_positive_int(3, 'a', 'P')`,
    `Validator.check_integer('a', 3, 0, Rel.GT, 'P')`.
    """


class ParamValidator(Validator):
    """The checks as in the first versions, without the name of a primitive."""

    @staticmethod
    def equal(arg_name: str, arg_value: Any, cond_str: str, cond: bool) -> Any:
        """Checks that `cond` is True; `cond_str` describes it."""
        if not cond:
            fail(ValueError, f"'{arg_name}' must be {cond_str}, got {arg_value}")
        return arg_value

    @staticmethod
    def check_shape_length(arg_name: str, arg_value: Sequence[int], value: int, rel: Rel) -> Any:
        """Checks that a shape's number of dimensions satisfies the relation `rel` to `value`."""
        check_integer(f'rank of {arg_name}', len(arg_value), value, rel)
        return arg_value


__all__ = ["Validator", "ParamValidator", "check_const_input", "check_float_legal_value", "check_float_positive", "check_int_non_negative",
           "check_int_positive", "check_int_zero_one", "check_integer", "check_padding", "check_param_equal", "check_shape", "check_type",
           "check_typename", "check_value_on_integer"]
