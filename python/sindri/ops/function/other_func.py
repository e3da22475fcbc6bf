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

MOST_NUMBERS = 2 ** 24  # in a tuple of Python ints: half a gigabyte

# --- state ------------------------------------------------------------------------------------------------------------------------------


def _writable(variable: Any, value: Any, where: str) -> Any:
    """Returns the value if it may be written; raises RuntimeError if the Parameter's type cannot hold it."""
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
    """Writes a value into a Parameter, in program order.

    Args:
        variable (Parameter): The Parameter.
        value (Tensor or number): A tensor of the same shape, or a number for every element.

    Returns:
        The Parameter.

    Raises:
        TypeError: If `variable` is not a tensor or `value` is neither a tensor nor a number.
        ValueError: If the shapes differ.
        RuntimeError: If the Parameter's type cannot hold the value's type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.assign(ms.Parameter(ms.Tensor([1.0, 2.0])), ms.Tensor([3.0, 4.0])).asnumpy())
        [3. 4.]
    """
    value = _writable(variable, value, "ops.assign")
    if isinstance(value, Tensor) and value.shape != variable.shape:
        fail(ValueError, f"a value of {value.shape} is not of the Parameter's shape {variable.shape}", "ops.assign", "reshape or broadcast it first")
    return _write(variable, value)


def assign_add(variable: Parameter, value: Union[Tensor, int, float]) -> Parameter:
    """Adds a value to a Parameter, in program order.

    Args:
        variable (Parameter): The Parameter.
        value (Tensor or number): A tensor that broadcasts, or a number.

    Returns:
        The Parameter.

    Raises:
        TypeError: If `variable` is not a tensor or `value` is neither a tensor nor a number.
        RuntimeError: If the Parameter's type cannot hold the value's type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.assign_add(ms.Parameter(ms.Tensor([1.0, 2.0])), 10.0).asnumpy())
        [11. 12.]
    """
    return _write(variable, core.add(variable, _writable(variable, value, "ops.assign_add")))


def assign_sub(variable: Parameter, value: Union[Tensor, int, float]) -> Parameter:
    """Subtracts a value from a Parameter, in program order.

    Args:
        variable (Parameter): The Parameter.
        value (Tensor or number): A tensor that broadcasts, or a number.

    Returns:
        The Parameter.

    Raises:
        TypeError: If `variable` is not a tensor or `value` is neither a tensor nor a number.
        RuntimeError: If the Parameter's type cannot hold the value's type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.assign_sub(ms.Parameter(ms.Tensor([1.0, 2.0])), 1.0).asnumpy())
        [0. 1.]
    """
    return _write(variable, core.sub(variable, _writable(variable, value, "ops.assign_sub")))


def load(variable: Parameter, monad: Any = None) -> Tensor:
    """Returns a Parameter's value at this point of the program.

    Args:
        variable (Parameter): The Parameter.
        monad: No effect; it orders reads in MindSpore. Default: None.

    Returns:
        A tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.load(ms.Parameter(ms.Tensor([1.0]))))
        [1.]
    """
    return variable.value() if isinstance(variable, Parameter) else variable


def depend(value: Any, expr: Any) -> Any:
    """Returns `value` after `expr` has been computed.

    Arguments are computed before the call and writes keep program order, so this is the identity.

    Args:
        value: The value.
        expr: What is computed first.

    Returns:
        `value`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.depend(ms.Tensor([1]), ms.Tensor([2])))
        [1]
    """
    return value


def identity(x: Any) -> Any:
    """Returns the argument itself.

    Args:
        x: Any value.

    Returns:
        `x`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.identity(ms.Tensor([1, 2])))
        [1 2]
    """
    return x


def partial(func: Callable, *args: Any, **kwargs: Any) -> Callable:
    """Binds a function's first arguments and keywords; functools.partial for any callable.

    Args:
        func (Callable): The function.
        *args: The first arguments.
        **kwargs: The keyword arguments.

    Returns:
        A function of the remaining arguments.

    Raises:
        TypeError: If `func` is not callable.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.partial(ms.ops.add, ms.Tensor([1]))(ms.Tensor([2])))
        [3]
    """
    if not callable(func):
        fail(TypeError, f"expected a function, got {type(func).__name__}", "ops.partial")
    return functools.partial(func, *args, **kwargs)


def insert_gradient_of(x: Tensor, f: Callable) -> Tensor:
    """Returns x; in the backward pass the gradient g becomes f(g).

    Args:
        x (Tensor): The tensor.
        f (Callable): The function of the gradient.

    Returns:
        A tensor with x's values.

    Examples:
        >>> import sindri as ms
        >>> print(ms.grad(lambda x: ms.ops.InsertGradientOf(lambda g: 2 * g)(x))(ms.Tensor([1.0])))
        [2.]
    """
    return _core.custom_gradient(lambda inputs: inputs, [x], lambda inputs, outputs, douts: [f(douts[0])])[0]


# --- printing ---------------------------------------------------------------------------------------------------------------------------


def need_eager(*values: Any) -> None:
    """Makes code that is being traced run eagerly, if possible from here on, with the tracer's warning, so that values
    have data.

    Args:
        *values: No effect.

    Examples:
        >>> import sindri as ms
        >>> ms.ops.function.need_eager(ms.Tensor([1]))
    """
    if _core.is_tracing_graph():
        what = "the values to print are asked for while a graph is traced"
        if not _core.leave_graph(what):
            raise _core.TracedValueError(what)


def print_(*input_x: Any) -> None:
    """Prints strings, numbers and tensors, one line each, when the program reaches it; a compiled graph prints in each
    of its runs.

    Args:
        *input_x: The values.

    Raises:
        TypeError: If a value has another type.

    Examples:
        >>> import sindri as ms
        >>> ms.ops.print_("x:", ms.Tensor([1, 2]))
        x:
        Tensor(shape=[2], dtype=Int64, value= [1, 2])
    """
    for item in input_x:
        if not isinstance(item, (Tensor, str, int, float, bool, tuple, list, dict, type(None), np.generic)):
            fail(TypeError, f"cannot print {type(item).__name__}", "ops.Print", "give tensors, strings and numbers")
    if not prints():
        need_eager(*input_x)
    print(*[repr(item) if isinstance(item, Tensor) else str(item) for item in input_x], sep="\n", flush=True)


def assert_(condition: Any, input_data: Any, summarize: int = 3) -> None:
    """Raises ValueError if the condition is False. Code that calls it runs eagerly.

    Args:
        condition: The condition.
        input_data: The values to show.
        summarize (int): The number of elements shown of each tensor. Default: 3.

    Raises:
        ValueError: If the condition is False.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Assert()(True, [ms.Tensor([1])]))
        None
    """
    if not bool(condition):
        parts = [str(t.asnumpy().reshape(-1)[:summarize]) if isinstance(t, Tensor) else str(t) for t in input_data]
        fail(ValueError, "assertion failed: " + ", ".join(parts), "ops.Assert")


# --- constants --------------------------------------------------------------------------------------------------------------------------


def make_range(start: int, stop: Optional[int] = None, step: int = 1) -> tuple:
    """Returns the ints of range(start), range(start, stop) or range(start, stop, step) as a tuple.

    Args:
        start (int): The first number, or the end if it is the only argument.
        stop (int): The exclusive end. Default: None.
        step (int): The difference of two numbers. Default: 1.

    Returns:
        A tuple of ints.

    Raises:
        ValueError: If there are more than 2^24 numbers.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.make_range(1, 7, 2))
        (1, 3, 5)
    """
    return _listed(range(start) if stop is None else range(start, stop, step), "ops.make_range")


def _listed(values: range, where: str) -> tuple:
    if values[MOST_NUMBERS:]:
        fail(ValueError, f"{values} has more than {MOST_NUMBERS} numbers", where, "use ops.arange")
    return tuple(values)


def make_tuple(*items: Any) -> tuple:
    """Returns its arguments as a tuple.

    Args:
        *items: The elements.

    Returns:
        A tuple.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.make_tuple(1, 2))
        (1, 2)
    """
    return items


def make_list(*items: Any) -> list:
    """Returns its arguments as a list.

    Args:
        *items: The elements.

    Returns:
        A list.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.make_list(1, 2))
        [1, 2]
    """
    return list(items)


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """Returns slice(start, stop, step).

    Args:
        start: The start.
        stop: The exclusive end.
        step: The step.

    Returns:
        A slice.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.make_slice(1, 4, None))
        slice(1, 4, None)
    """
    return slice(start, stop, step)


def tuple_len(data: Any) -> int:
    """Returns the number of elements of a tuple, list or dictionary.

    Args:
        data: The container.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tuple_len((1, 2, 3)))
        3
    """
    return len(data)


list_len = tuple_len
tuple_getitem = list_getitem = dict_getitem = operator.getitem


def tuple_setitem(data: tuple, index: int, value: Any) -> tuple:
    """Returns a tuple with one element replaced.

    Args:
        data (tuple): The tuple.
        index (int): The position.
        value: The new element.

    Returns:
        A tuple.

    Raises:
        TypeError: If `data` is not a tuple.
        IndexError: If `index` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tuple_setitem((1, 2, 3), 1, 9))
        (1, 9, 3)
    """
    if not isinstance(data, tuple):
        fail(TypeError, f"expected a tuple, got {type(data).__name__}", "ops.tuple_setitem")
    i = to_int(index, "index", "ops.tuple_setitem")
    if not -len(data) <= i < len(data):
        fail(IndexError, f"index: expected a value in [{-len(data)}, {len(data)}), got {i}", "ops.tuple_setitem")
    i %= len(data)
    return data[:i] + (value,) + data[i + 1:]


def tuple_reversed(data: tuple) -> tuple:
    """Returns a tuple in reverse order.

    Args:
        data (tuple): The tuple.

    Returns:
        A tuple.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tuple_reversed((1, 2, 3)))
        (3, 2, 1)
    """
    return tuple(reversed(data))


def tuple_to_array(input_x: tuple) -> Tensor:
    """Converts a tuple of numbers, or a range, to a vector.

    Args:
        input_x (tuple): The numbers, all of one type.

    Returns:
        A vector: int32 for ints, float32 for floats.

    Raises:
        TypeError: If `input_x` has another type or the numbers are mixed.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tuple_to_array((1, 2, 3)))
        [1 2 3]
    """
    input_x = _listed(input_x, "ops.tuple_to_array") if isinstance(input_x, range) else input_x
    if not isinstance(input_x, tuple) or not input_x:
        fail(TypeError, f"expected a tuple of numbers, got {input_x!r}", "ops.tuple_to_array")
    if len({type(v) for v in input_x}) != 1 or not is_number(input_x[0]):
        fail(TypeError, f"expected numbers of one type, got {input_x!r}", "ops.tuple_to_array")
    return Tensor(list(input_x), mstype.int32 if type(input_x[0]) is int else None)


def scalar_to_tensor(input_x: Union[int, float, bool], dtype=mstype.float32) -> Tensor:
    """Converts a number to a 0-D tensor.

    Args:
        input_x (number): The number.
        dtype (dtype): The element type. Default: float32.

    Returns:
        A 0-D tensor.

    Raises:
        TypeError: If `input_x` is not a number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scalar_to_tensor(2))
        2.0
    """
    if not is_number(input_x):
        fail(TypeError, f"expected a number, got {type(input_x).__name__}", "ops.scalar_to_tensor")
    return fill(dtype, (), input_x)


def scalar_to_array(input_x: Union[int, float, bool]) -> Tensor:
    """Converts a number to a 0-D tensor of int64, float32 or bool.

    Args:
        input_x (number): The number.

    Returns:
        A 0-D tensor.

    Raises:
        TypeError: If `input_x` is not a number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scalar_to_array(2))
        2
    """
    if not is_number(input_x):
        fail(TypeError, f"expected a number, got {type(input_x).__name__}", "ops.scalar_to_array")
    return as_tensor(input_x)


def scalar_cast(input_x: Union[int, float, bool], input_y: Any) -> Union[int, float, bool]:
    """Converts a number to bool, int or float, according to an element type.

    Args:
        input_x (number): The number.
        input_y: The element type.

    Returns:
        A Python number.

    Raises:
        TypeError: If `input_x` is not a number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scalar_cast(2.7, ms.int32))
        2
    """
    if not is_number(input_x):
        fail(TypeError, f"expected a number, got {type(input_x).__name__}", "ops.scalar_cast")
    if input_y in (mstype.bool_, bool):
        return bool(input_x)
    return float(input_x) if input_y is float or getattr(input_y, "is_floating", False) or input_y is mstype.float_ else int(input_x)


def array_to_scalar(x: Tensor) -> Union[int, float, bool]:
    """Returns the only element of a constant tensor.

    Args:
        x (Tensor): A tensor of one element.

    Returns:
        A Python number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.array_to_scalar(ms.Tensor(3)))
        3
    """
    return x.item()


# Python's operators under MindSpore's names for constants.
scalar_add, scalar_sub, scalar_mul, scalar_div, scalar_floordiv, scalar_mod, scalar_pow = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow)
scalar_eq, scalar_ne, scalar_lt, scalar_le, scalar_gt, scalar_ge = operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge
scalar_uadd, scalar_usub, scalar_log = operator.pos, operator.neg, math.log
bool_not, bool_eq, string_eq, tuple_equal, list_equal = operator.not_, operator.eq, operator.eq, operator.eq, operator.eq
is_, is_not, string_concat = operator.is_, operator.is_not, operator.add


def scalar_max(x: Any, y: Any) -> Any:
    """Returns the larger number.

    Args:
        x: The first number.
        y: The second number.

    Returns:
        A number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scalar_max(1, 2))
        2
    """
    return max(x, y)


def scalar_min(x: Any, y: Any) -> Any:
    """Returns the smaller number.

    Args:
        x: The first number.
        y: The second number.

    Returns:
        A number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.scalar_min(1, 2))
        1
    """
    return min(x, y)


def bool_and(x: bool, y: bool) -> bool:
    """Returns x and y.

    Args:
        x (bool): The first operand.
        y (bool): The second operand.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bool_and(True, False))
        False
    """
    return x and y


def bool_or(x: bool, y: bool) -> bool:
    """Returns x or y.

    Args:
        x (bool): The first operand.
        y (bool): The second operand.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bool_or(True, False))
        True
    """
    return x or y


def in_dict(key: Any, data: Any) -> bool:
    """Returns whether a key is in a dictionary.

    Args:
        key: The key.
        data: The dictionary.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.in_dict("a", {"a": 1}))
        True
    """
    return key in data


def not_in_dict(key: Any, data: Any) -> bool:
    """Returns whether a key is not in a dictionary.

    Args:
        key: The key.
        data: The dictionary.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.not_in_dict("a", {"a": 1}))
        False
    """
    return key not in data


def typeof(x: Any) -> Any:
    """Returns the element type of a tensor, or the Python type of another value.

    Args:
        x: Any value.

    Returns:
        A type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.typeof(ms.Tensor([1.0])))
        Float32
    """
    return x.dtype if isinstance(x, Tensor) else type(x)


def hastype(x: Any, t: Any) -> bool:
    """Returns whether typeof(x) is `t` or a kind of it.

    Args:
        x: Any value.
        t: A type or a class of types.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hastype(ms.Tensor([1.0]), ms.float32))
        True
    """
    return mstype.issubclass_(typeof(x), t)


def isinstance_(inst: Any, type_: Any) -> bool:
    """Returns whether a tensor has an element type, or a Python value a Python type.

    Args:
        inst: The value.
        type_: The type, a class of types or a tuple of types.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.IsInstance()(ms.Tensor([1.0]), ms.float32))
        True
    """
    if isinstance(inst, Tensor):
        return type_ in (mstype.tensor, Tensor) or any(mstype.issubclass_(inst.dtype, t) for t in (type_ if isinstance(type_, tuple) else (type_,)))
    return isinstance(inst, type_) if isinstance(type_, (type, tuple)) else mstype.issubclass_(mstype.pytype_to_dtype(type(inst)), type_)


def issubclass_(type_: Any, dtype: Any) -> bool:
    """Returns whether an element type is a type or belongs to a class of types.

    Args:
        type_: The element type.
        dtype (dtype): The type or class of types.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.IsSubClass()(ms.float32, ms.float32))
        True
    """
    return mstype.issubclass_(type_, dtype)


def isconstant(x: Any) -> bool:
    """Returns whether the value is known while a graph is traced.

    Args:
        x: Any value.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.isconstant(2))
        True
    """
    return not (isinstance(x, Tensor) and x.is_symbolic)


def same_type_shape(x: Tensor, y: Tensor) -> Tensor:
    """Returns x after checking that y has its element type and shape.

    Args:
        x (Tensor): The tensor.
        y (Tensor): The tensor to compare with.

    Returns:
        `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SameTypeShape()(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [1.]
    """
    if x.dtype is not y.dtype:
        fail(TypeError, f"expected {x.dtype}, got {y.dtype}", "ops.SameTypeShape")
    if x.shape != y.shape:
        fail(ValueError, f"expected the shape {x.shape}, got {y.shape}", "ops.SameTypeShape")
    return x


def reduced_shape(x_shape: tuple, axis: Any) -> tuple:
    """Returns a shape with the reduced axes as 1.

    Args:
        x_shape (tuple): The shape.
        axis (int or sequence of ints): The axes; None or () is all.

    Returns:
        A tuple of ints.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.reduced_shape((2, 3, 4), (1,)))
        (2, 1, 4)
    """
    axes = [to_axis(a, len(x_shape), "ops.reduced_shape") for a in to_axes(axis, "ops.reduced_shape")] or range(len(x_shape))
    return tuple(1 if d in axes else n for d, n in enumerate(x_shape))


def shape_mul(shape: tuple) -> int:
    """Returns the product of a tuple of ints.

    Args:
        shape (tuple): The ints.

    Returns:
        An int.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.shape_mul((2, 3, 4)))
        24
    """
    return math.prod(shape)


def mixed_precision_cast(dst_dtype, x: Any) -> Any:
    """Casts the floating tensors of a value; everything else is returned unchanged.

    Args:
        dst_dtype (dtype): The element type.
        x: A tensor, or a nested tuple, list or dictionary.

    Returns:
        A value of the same structure.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mixed_precision_cast(ms.float16, (ms.Tensor([1.0]), ms.Tensor([1])))[0].dtype)
        Float16
    """
    if isinstance(x, Tensor):
        return core.cast(x, dst_dtype) if is_float(x.dtype) else x
    if isinstance(x, (tuple, list)):
        return (list if isinstance(x, list) else tuple)(mixed_precision_cast(dst_dtype, v) for v in x)
    return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()} if isinstance(x, dict) else x


def tail(data: tuple) -> tuple:
    """Returns all elements of a tuple but the first.

    Args:
        data (tuple): The tuple.

    Returns:
        A tuple.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tail((1, 2, 3)))
        (2, 3)
    """
    return data[1:]


def zip_operation(*data: tuple) -> tuple:
    """Returns zip(*data) as a tuple.

    Args:
        *data: Sequences.

    Returns:
        A tuple of tuples.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.zip_operation((1, 2), (3, 4)))
        ((1, 3), (2, 4))
    """
    return tuple(zip(*data))


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: tuple) -> Any:
    """Creates a RowTensor: the slices `values` at `indices` of the first dimension of a tensor of shape `dense_shape`.

    Args:
        indices (Tensor): The row numbers.
        values (Tensor): The rows.
        dense_shape (tuple): The shape of the whole tensor.

    Returns:
        A RowTensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.make_row_tensor(ms.Tensor([1]), ms.Tensor([[2.0]]), (3, 1)).indices)
        [1]
    """
    return RowTensor(indices, values, dense_shape)


def float_status(x: Tensor) -> Tensor:
    """Returns whether an element is infinite or NaN.

    Args:
        x (Tensor): The tensor.

    Returns:
        A float32 tensor of shape [1]: 1 if an element is not finite, else 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.FloatStatus()(ms.Tensor([1.0, float("inf")])))
        [1.]
    """
    return core.reshape(core.cast(core.logical_not(core.all_finite([x])), mstype.float32), (1,))


__all__ = exported(globals()) + [name for name, value in list(globals().items())
                                 if getattr(value, "__module__", None) in ("_operator", "math") and callable(value) and not name.startswith("_")]
