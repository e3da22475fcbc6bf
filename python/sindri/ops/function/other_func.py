"""Functions of sindri.ops for state, order, printing and constants."""
from __future__ import annotations

import functools
import math
import operator
from typing import Any, Callable, Optional, Union

import numpy as np

from sindri import _core
from sindri._check import fail
from sindri._print import prints
from sindri.common import dtype as mstype
from sindri.common.sparse_tensor import RowTensor
from sindri.ops._util import Parameter, Tensor, as_tensor, core, exported, filled, is_float, is_number, to_axes, to_axis, to_int
from sindri.ops.function.creation_func import fill

MOST_NUMBERS = 2 ** 24  # of a tuple of Python ints: half a gigabyte

# --- state ------------------------------------------------------------------------------------------------------------------------------


def _writable(variable: Any, value: Any, where: str) -> Any:
    """The value as something that may be written: RuntimeError when the Parameter's type cannot hold it."""
    if not isinstance(variable, Tensor):
        fail(TypeError, f"variable: expected a Parameter, got {type(variable).__name__}", where)
    if is_number(value):
        return value
    if not isinstance(value, Tensor):
        fail(TypeError, f"value: expected a tensor or a number, got {type(value).__name__}", where)
    if mstype.promote_types(variable.dtype, value.dtype) is not variable.dtype:
        fail(RuntimeError, f"a value of {value.dtype} does not fit a Parameter of {variable.dtype}", where,
             "cast the value: a Parameter keeps its type")
    return value


def _write(variable: Any, value: Any) -> Any:
    if isinstance(variable, Parameter):
        return variable.assign(value)
    value = filled(variable.shape, value, variable.dtype) if is_number(value) else core.cast(value, variable.dtype)
    variable._replace(core.reshape(value, variable.shape) if value.shape != variable.shape else value)
    return variable


def assign(variable: Parameter, value: Union[Tensor, int, float]) -> Parameter:
    """Writes the value into the Parameter, in program order, and returns it; a number into every element. Raises TypeError, ValueError for a tensor of
    another shape, RuntimeError when the type would have to widen."""
    value = _writable(variable, value, "ops.assign")
    if isinstance(value, Tensor) and value.shape != variable.shape:
        fail(ValueError, f"a value of {value.shape} is not of the Parameter's shape {variable.shape}", "ops.assign", "reshape or broadcast it first")
    return _write(variable, value)


def assign_add(variable: Parameter, value: Union[Tensor, int, float]) -> Parameter:
    """variable += value, in program order; returns the Parameter."""
    return _write(variable, core.add(variable, _writable(variable, value, "ops.assign_add")))


def assign_sub(variable: Parameter, value: Union[Tensor, int, float]) -> Parameter:
    """variable -= value, in program order; returns the Parameter."""
    return _write(variable, core.sub(variable, _writable(variable, value, "ops.assign_sub")))


def load(variable: Parameter, monad: Any = None) -> Tensor:
    """The Parameter's value at this point of the program; monad orders reads in MindSpore and is not needed here."""
    return variable.value() if isinstance(variable, Parameter) else variable


def depend(value: Any, expr: Any) -> Any:
    """value, after expr has been computed. Arguments are computed before the call and writes keep program order, so this is the identity."""
    return value


def identity(x: Any) -> Any:
    """x itself."""
    return x


def partial(func: Callable, *args: Any, **kwargs: Any) -> Callable:
    """func with its first arguments and keywords bound: functools.partial, for any callable. Raises TypeError."""
    if not callable(func):
        fail(TypeError, f"expected a function, got {type(func).__name__}", "ops.partial")
    return functools.partial(func, *args, **kwargs)


def insert_gradient_of(x: Tensor, f: Callable) -> Tensor:
    """x; in the backward pass the gradient g becomes f(g)."""
    return _core.custom_gradient(lambda inputs: inputs, [x], lambda inputs, outputs, douts: [f(douts[0])])[0]


# --- printing ---------------------------------------------------------------------------------------------------------------------------


def need_eager(*values: Any) -> None:
    """Makes code that is being traced run eagerly, from here on where it can, with the tracer's warning: values have data then."""
    if _core.is_tracing_graph():
        what = "the values to print are asked for while a graph is traced"
        if not _core.leave_graph(what):
            raise _core.TracedValueError(what)


def print_(*input_x: Any) -> None:
    """Prints strings, numbers and tensors, one line each, when the program reaches it: in a compiled graph at each of its runs. Raises TypeError for other
    types."""
    for item in input_x:
        if not isinstance(item, (Tensor, str, int, float, bool, tuple, list, dict, type(None), np.generic)):
            fail(TypeError, f"cannot print {type(item).__name__}", "ops.Print", "give tensors, strings and numbers")
    if not prints():
        need_eager(*input_x)
    print(*[repr(item) if isinstance(item, Tensor) else str(item) for item in input_x], sep="\n", flush=True)


def assert_(condition: Any, input_data: Any, summarize: int = 3) -> None:
    """Raises ValueError with the first `summarize` elements of each tensor when the condition does not hold. Such code runs eagerly."""
    if not bool(condition):
        parts = [str(t.asnumpy().reshape(-1)[:summarize]) if isinstance(t, Tensor) else str(t) for t in input_data]
        fail(ValueError, "assertion failed: " + ", ".join(parts), "ops.Assert")


# --- constants --------------------------------------------------------------------------------------------------------------------------


def make_range(start: int, stop: Optional[int] = None, step: int = 1) -> tuple:
    """The ints of range(start), range(start, stop) or range(start, stop, step) as a tuple. Raises ValueError for more than a tuple can hold."""
    return _listed(range(start) if stop is None else range(start, stop, step), "ops.make_range")


def _listed(values: range, where: str) -> tuple:
    if values[MOST_NUMBERS:]:
        fail(ValueError, f"{values} has more than {MOST_NUMBERS} numbers", where, "use ops.arange")
    return tuple(values)


def make_tuple(*items: Any) -> tuple:
    """Its arguments as a tuple."""
    return items


def make_list(*items: Any) -> list:
    """Its arguments as a list."""
    return list(items)


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """slice(start, stop, step)."""
    return slice(start, stop, step)


def tuple_len(data: Any) -> int:
    """Number of elements of a tuple, list or dictionary."""
    return len(data)


list_len = tuple_len
tuple_getitem = list_getitem = dict_getitem = operator.getitem


def tuple_setitem(data: tuple, index: int, value: Any) -> tuple:
    """data with another element. Raises TypeError for what is no tuple, IndexError for an index outside of it."""
    if not isinstance(data, tuple):
        fail(TypeError, f"expected a tuple, got {type(data).__name__}", "ops.tuple_setitem")
    i = to_int(index, "index", "ops.tuple_setitem")
    if not -len(data) <= i < len(data):
        fail(IndexError, f"index: expected a value in [{-len(data)}, {len(data)}), got {i}", "ops.tuple_setitem")
    i %= len(data)
    return data[:i] + (value,) + data[i + 1:]


def tuple_reversed(data: tuple) -> tuple:
    """data in reverse order."""
    return tuple(reversed(data))


def tuple_to_array(input_x: tuple) -> Tensor:
    """A tuple of numbers, or a range, as a vector: int32 for ints, float32 for floats. Raises TypeError for another type or mixed numbers."""
    input_x = _listed(input_x, "ops.tuple_to_array") if isinstance(input_x, range) else input_x
    if not isinstance(input_x, tuple) or not input_x:
        fail(TypeError, f"expected a tuple of numbers, got {input_x!r}", "ops.tuple_to_array")
    if len({type(v) for v in input_x}) != 1 or not is_number(input_x[0]):
        fail(TypeError, f"expected numbers of one type, got {input_x!r}", "ops.tuple_to_array")
    return Tensor(list(input_x), mstype.int32 if type(input_x[0]) is int else None)


def scalar_to_tensor(input_x: Union[int, float, bool], dtype=mstype.float32) -> Tensor:
    """A number as a 0-D tensor of dtype. Raises TypeError for anything else."""
    if not is_number(input_x):
        fail(TypeError, f"expected a number, got {type(input_x).__name__}", "ops.scalar_to_tensor")
    return fill(dtype, (), input_x)


def scalar_to_array(input_x: Union[int, float, bool]) -> Tensor:
    """A number as a 0-D tensor: int64, float32 or bool."""
    if not is_number(input_x):
        fail(TypeError, f"expected a number, got {type(input_x).__name__}", "ops.scalar_to_array")
    return as_tensor(input_x)


def scalar_cast(input_x: Union[int, float, bool], input_y: Any) -> Union[int, float, bool]:
    """A number as bool, int or float, whichever the element type input_y is. Raises TypeError for anything but a number."""
    if not is_number(input_x):
        fail(TypeError, f"expected a number, got {type(input_x).__name__}", "ops.scalar_cast")
    if input_y in (mstype.bool_, bool):
        return bool(input_x)
    return float(input_x) if input_y is float or getattr(input_y, "is_floating", False) or input_y is mstype.float_ else int(input_x)


def array_to_scalar(x: Tensor) -> Union[int, float, bool]:
    """The only element of a constant tensor."""
    return x.item()


# Python's operators under MindSpore's names for constants.
scalar_add, scalar_sub, scalar_mul, scalar_div, scalar_floordiv, scalar_mod, scalar_pow = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow)
scalar_eq, scalar_ne, scalar_lt, scalar_le, scalar_gt, scalar_ge = operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge
scalar_uadd, scalar_usub, scalar_log = operator.pos, operator.neg, math.log
bool_not, bool_eq, string_eq, tuple_equal, list_equal = operator.not_, operator.eq, operator.eq, operator.eq, operator.eq
is_, is_not, string_concat = operator.is_, operator.is_not, operator.add


def scalar_max(x: Any, y: Any) -> Any:
    """The larger number."""
    return max(x, y)


def scalar_min(x: Any, y: Any) -> Any:
    """The smaller number."""
    return min(x, y)


def bool_and(x: bool, y: bool) -> bool:
    """x and y."""
    return x and y


def bool_or(x: bool, y: bool) -> bool:
    """x or y."""
    return x or y


def in_dict(key: Any, data: Any) -> bool:
    """Whether a key is in a dictionary."""
    return key in data


def not_in_dict(key: Any, data: Any) -> bool:
    """Whether a key is not in a dictionary."""
    return key not in data


def typeof(x: Any) -> Any:
    """The element type of a tensor, the Python type of anything else."""
    return x.dtype if isinstance(x, Tensor) else type(x)


def hastype(x: Any, t: Any) -> bool:
    """Whether typeof(x) is t or a kind of t."""
    return mstype.issubclass_(typeof(x), t)


def isinstance_(inst: Any, type_: Any) -> bool:
    """Whether a tensor has the element type (or class of types) type_, or a Python value the Python type type_."""
    if isinstance(inst, Tensor):
        return type_ in (mstype.tensor, Tensor) or any(mstype.issubclass_(inst.dtype, t) for t in (type_ if isinstance(type_, tuple) else (type_,)))
    return isinstance(inst, type_) if isinstance(type_, (type, tuple)) else mstype.issubclass_(mstype.pytype_to_dtype(type(inst)), type_)


def issubclass_(type_: Any, dtype: Any) -> bool:
    """Whether an element type is dtype or belongs to the class of types dtype."""
    return mstype.issubclass_(type_, dtype)


def isconstant(x: Any) -> bool:
    """Whether the value is known while a graph is traced."""
    return not (isinstance(x, Tensor) and x.is_symbolic)


def same_type_shape(x: Tensor, y: Tensor) -> Tensor:
    """x. Raises TypeError unless y has its element type, ValueError unless it has its shape."""
    if x.dtype is not y.dtype:
        fail(TypeError, f"expected {x.dtype}, got {y.dtype}", "ops.SameTypeShape")
    if x.shape != y.shape:
        fail(ValueError, f"expected the shape {x.shape}, got {y.shape}", "ops.SameTypeShape")
    return x


def reduced_shape(x_shape: tuple, axis: Any) -> tuple:
    """The shape with the reduced axes as 1. Raises ValueError for an axis that is not there."""
    axes = [to_axis(a, len(x_shape), "ops.reduced_shape") for a in to_axes(axis, "ops.reduced_shape")] or range(len(x_shape))
    return tuple(1 if d in axes else n for d, n in enumerate(x_shape))


def shape_mul(shape: tuple) -> int:
    """The product of a tuple of ints."""
    return math.prod(shape)


def mixed_precision_cast(dst_dtype, x: Any) -> Any:
    """Floating tensors of x (a tensor or a nested tuple, list or dictionary) cast to dst_dtype; the rest as it is."""
    if isinstance(x, Tensor):
        return core.cast(x, dst_dtype) if is_float(x.dtype) else x
    if isinstance(x, (tuple, list)):
        return (list if isinstance(x, list) else tuple)(mixed_precision_cast(dst_dtype, v) for v in x)
    return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()} if isinstance(x, dict) else x


def tail(data: tuple) -> tuple:
    """All but the first element."""
    return data[1:]


def zip_operation(*data: tuple) -> tuple:
    """zip as a tuple."""
    return tuple(zip(*data))


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: tuple) -> Any:
    """RowTensor(indices, values, dense_shape)."""
    return RowTensor(indices, values, dense_shape)


def float_status(x: Tensor) -> Tensor:
    """[1] float32: 1 when an element is not finite, else 0."""
    return core.reshape(core.cast(core.logical_not(core.all_finite([x])), mstype.float32), (1,))


__all__ = exported(globals()) + [name for name, value in list(globals().items())
                                 if getattr(value, "__module__", None) in ("_operator", "math") and callable(value) and not name.startswith("_")]
