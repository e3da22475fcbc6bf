"""Checks of sequences, axes, shapes and element types."""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from sindri import context
from sindri._check import fail, got, is_int, type_names
from sindri._checkparam._numbers import _subject, _types, check_positive_float, check_positive_int, check_non_negative_int, check_value_type
from sindri.common import dtype as mstype


def check_is_sequence(value: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is a list or tuple."""
    return check_value_type(arg_name or '', value, (list, tuple), prim_name)


def _each(check: Callable, doc: str) -> Callable:
    def checked(sequence: Any, arg_name: Optional[str] = None, prim_name: Optional[str] = None) -> Any:
        for index, item in enumerate(check_is_sequence(sequence, arg_name, prim_name)):
            check(item, f'{arg_name}[{index}]', prim_name)
        return sequence
    checked.__name__ = checked.__qualname__ = f'{check.__name__}_sequence'
    checked.__doc__ = doc
    return checked


check_positive_int_sequence = _each(check_positive_int, "Checks that the value is a list or tuple of ints above 0.")
check_non_negative_int_sequence = _each(check_non_negative_int, "Checks that the value is a list or tuple of ints of at least 0.")
check_positive_float_sequence = _each(check_positive_float, "Checks that the value is a list or tuple of floats above 0.")


def check_element_type_of_iterable(arg_name: str, arg_value: Any, valid_types: Iterable, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is a list or tuple whose elements have one of `valid_types`."""
    kinds = _types(valid_types)
    for index, item in enumerate(check_value_type(arg_name, arg_value, (list, tuple), prim_name)):
        if not isinstance(item, kinds):
            fail(TypeError, f"{_subject(f'{arg_name}[{index}]', prim_name)} must be {type_names(kinds)}, {got(item)}")
    return arg_value


def check_element_type_of_dict(arg_name: str, arg_value: Any, key_types: Iterable, value_types: Iterable, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is a dict with keys and values of the given types."""
    check_value_type(arg_name, arg_value, dict, prim_name)
    check_element_type_of_iterable(f'{arg_name}.keys', list(arg_value), key_types, prim_name)
    check_element_type_of_iterable(f'{arg_name}.values', list(arg_value.values()), value_types, prim_name)
    return arg_value


def check_size_and_element_type_of_tuple(arg_name: str, arg_value: Any, expect_size: int, expect_element_type: type, prim_name: Optional[str] = None) -> Any:
    """Checks that the value is a tuple of `expect_size` elements of one type."""
    if len(check_value_type(arg_name, arg_value, tuple, prim_name)) != expect_size:
        fail(ValueError, f"{_subject(arg_name, prim_name)} must have {expect_size} elements, got {len(arg_value)}")
    return check_element_type_of_iterable(arg_name, arg_value, (expect_element_type,), prim_name)


def _expand(count: int, kinds: tuple, name: str) -> Callable:
    def expand(x: Any) -> tuple:
        if is_int(x):
            return (x,) * count
        if not isinstance(x, kinds) or len(x) != count or not all(is_int(v) for v in x):
            fail(TypeError, f"expected an int or {count} of them in a {type_names(kinds)}, {got(x)}", name)
        return tuple(x)
    expand.__name__ = expand.__qualname__ = name
    expand.__doc__ = f"Returns an int repeated {count} times, or a {type_names(kinds)} of {count} ints as a tuple. Raises TypeError for others."
    return expand


once, twice, triple = _expand(1, (tuple,), 'once'), _expand(2, (tuple,), 'twice'), _expand(3, (tuple,), 'triple')
once_sequence, twice_sequence = _expand(1, (tuple, list), 'once_sequence'), _expand(2, (tuple, list), 'twice_sequence')
triple_sequence = _expand(3, (tuple, list), 'triple_sequence')


def check_axis_in_range(axis: int, ndim: int) -> int:
    """Returns the axis counted from 0. Raises TypeError, and ValueError outside [-ndim, ndim)."""
    if not isinstance(axis, int):
        fail(TypeError, f"an axis must be int, {got(axis)}")
    if not -ndim <= axis < ndim:
        fail(ValueError, f"the axis must be in [-{ndim}, {ndim}), got {axis}")
    return axis % ndim


def _distinct(axes: tuple) -> tuple:
    if len(set(axes)) != len(axes):
        fail(ValueError, f"the axes {axes} name one twice")
    return axes


def check_axis_valid(axes: Any, ndim: int) -> tuple:
    """Returns distinct axes counted from 0: all of them for None, one for an int."""
    if axes is None:
        return tuple(range(ndim))
    return _distinct(tuple(check_axis_in_range(axis, ndim) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))))


def check_and_canonicalize_axes(axes: Any, ndim: int) -> tuple:
    """Returns distinct axes counted from 0, for an int or a tuple."""
    return _distinct(tuple(check_axis_in_range(axis, ndim) for axis in (axes if isinstance(axes, tuple) else (axes,))))


def check_axis_type(axis: Any, type_int: bool = True, type_tuple: bool = True, type_list: bool = True) -> bool:
    """Returns True for an int, or a tuple or list of ints, if that kind is allowed. Raises TypeError for others."""
    if type_int and isinstance(axis, int):
        return True
    kinds = tuple(kind for kind, allowed in ((tuple, type_tuple), (list, type_list)) if allowed)
    if not isinstance(axis, kinds) or not all(isinstance(a, int) for a in axis):
        fail(TypeError, f"the axis must be {type_names(((int,) if type_int else ()) + kinds)}, {got(axis)}")
    return True


def check_transpose_axis(axes: tuple, ndim: int) -> tuple:
    """Returns the permutation that Tensor.transpose(*axes) denotes: all axes reversed if none is given."""
    if not axes or (len(axes) == 1 and axes[0] is None):
        return tuple(range(ndim - 1, -1, -1))
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        return tuple(axes[0])
    if len(axes) == 1 and not isinstance(axes[0], int):
        fail(TypeError, f"axes must be int, tuple or list, {got(axes[0])}", "Tensor.transpose")
    if len(axes) != ndim:
        fail(ValueError, f"got {len(axes)} axes for {ndim} dimensions", "Tensor.transpose", "give one axis per dimension")
    return tuple(axes)


def check_swapaxes_axis(axes: Any, ndim: int) -> Any:
    """Returns an axis, or a tuple of axes, counted from 0."""
    if not isinstance(axes, (int, tuple, list)):
        fail(TypeError, f"axes must be int, tuple or list, {got(axes)}", "ops.swapaxes")
    return check_axis_in_range(axes, ndim) if isinstance(axes, int) else tuple(check_axis_in_range(axis, ndim) for axis in axes)


def check_reshape_shp(shp: tuple) -> tuple:
    """Returns the shape that Tensor.reshape(*shp) denotes."""
    if len(shp) != 1 or isinstance(shp[0], int):
        return shp
    return tuple(check_value_type('shape', shp[0], (tuple, list), 'Tensor.reshape'))


def check_flatten_order(order: str) -> None:
    """Checks that the order is 'C' or 'F'."""
    if check_value_type('order', order, str, 'Tensor.flatten') not in ('C', 'F'):
        fail(ValueError, f"'order' must be 'C' or 'F', got {order!r}", "Tensor.flatten")


def prepare_shape_for_squeeze(shape: Sequence[int], axes: Union[int, Sequence[int]]) -> tuple:
    """Returns the shape without `axes`, which must have size 1."""
    check_value_type('axes', axes, (int, tuple, list), 'Tensor.squeeze')
    dropped = {check_axis_in_range(axis, len(shape)) for axis in ((axes,) if isinstance(axes, int) else axes)}
    for axis in dropped:
        if shape[axis] != 1:
            fail(ValueError, f"axis {axis} has size {shape[axis]}, not 1", "Tensor.squeeze")
    return tuple(n for axis, n in enumerate(shape) if axis not in dropped)


def expanded_shape(ndim: int, axis_size: int, axis: int) -> tuple:
    """Returns a shape of ones with `axis_size` at `axis`."""
    return tuple(axis_size if i == axis else 1 for i in range(ndim))


def infer_out_shape(*shapes: Sequence[int]) -> tuple:
    """Returns the shape that all shapes broadcast to. Raises ValueError if they do not."""
    try:
        return np.broadcast_shapes(*(tuple(s) for s in shapes))
    except ValueError:
        return fail(ValueError, f"shapes {', '.join(str(tuple(s)) for s in shapes)} do not broadcast")


def tuple_slice(tup: tuple, start: Optional[int], end: Optional[int]) -> tuple:
    """Returns tup[start:end]."""
    return tup[start:end]


def max_(*args: Any) -> Any:
    """Returns the largest argument."""
    return max(*args)


def min_(*args: Any) -> Any:
    """Returns the smallest argument."""
    return min(*args)


def check_equal_shape(arg_name1: str, arg_shape1: Sequence[int], arg_name2: str, arg_shape2: Sequence[int], prim_name: Optional[str] = None) -> None:
    """Checks that two shapes are equal."""
    if tuple(arg_shape1) != tuple(arg_shape2):
        fail(ValueError, f"{_subject(arg_name1, prim_name)} and '{arg_name2}' must have equal shapes, got {tuple(arg_shape1)} and {tuple(arg_shape2)}")


def check_reduce_shape(ori_shape: Sequence[int], shape: Sequence[int], axis: Union[int, Sequence[int]], prim_name: str, arg_name1: str,
                       arg_name2: str) -> None:
    """Checks that `shape` is `ori_shape` without `axis`."""
    dropped = (axis,) if isinstance(axis, int) else tuple(axis)
    if list(shape) != [n for i, n in enumerate(ori_shape) if i not in dropped]:
        fail(ValueError, f"For '{prim_name}', '{arg_name1}' {tuple(ori_shape)} reduced along {axis} must have the shape of '{arg_name2}', got {tuple(shape)}")


def check_pad_value_by_mode(pad_mode: str, padding: Any, prim_name: Optional[str]) -> Any:
    """Checks that padding is 0 unless `pad_mode` is 'pad'."""
    if pad_mode != 'pad' and padding != 0:
        fail(ValueError, f"{_subject('padding', prim_name)} must be 0 for pad_mode '{pad_mode}', got {padding}")
    return padding


def check_valid_input(arg_name: str, arg_value: Any, prim_name: Optional[str]) -> Any:
    """Checks that the value is not None."""
    if arg_value is None:
        fail(ValueError, f"{_subject(arg_name, prim_name)} must not be None")
    return arg_value


def check_astype_dtype(dtype: Any) -> Any:
    """Returns the dtype for a name, a Python or NumPy type, or a dtype. Raises TypeError for others."""
    if isinstance(dtype, str):
        names = {"int": "int64", "float": "float64", "bool": "bool_"}
        found = getattr(mstype, names.get(dtype.lower(), dtype.lower()), None)
        if isinstance(found, mstype.DType):
            return found
    elif isinstance(dtype, type):
        return mstype.pytype_to_dtype(dtype)
    elif isinstance(dtype, mstype.DType):
        return dtype
    return fail(TypeError, f"expected an element type, {got(dtype)}", "Tensor.astype")


def check_type_support(dtype: Any, device: str, supported_dtypes: Iterable) -> bool:
    """Returns whether `dtype` is supported, or the device target differs from `device`."""
    return dtype in tuple(supported_dtypes) or context.get_context('device_target') != device


def _same(args: Dict[str, Any], valid: Any, prim_name: Optional[str]) -> None:
    allowed = _types(valid)
    first: List[Tuple[str, Any]] = []
    for name, dtype in args.items():
        if not any(dtype == t for t in allowed):
            fail(TypeError, f"{_subject(name, prim_name)} must have one of the types {', '.join(str(t) for t in allowed)}, got {dtype}")
        first = first or [(name, dtype)]
        if dtype != first[0][1]:
            fail(TypeError, f"{_subject(name, prim_name)} must have the type of '{first[0][0]}', {first[0][1]}, got {dtype}")


def check_types_same_and_valid(args: Dict[str, Any], valid_values: Any, prim_name: Optional[str]) -> None:
    """Checks that types by argument name are equal and among `valid_values`."""
    _same(args, valid_values, prim_name)


def check_tensors_dtypes_same_and_valid(args: Dict[str, Any], valid_dtypes: Any, prim_name: Optional[str]) -> None:
    """Checks that element types by argument name are equal and among `valid_dtypes`."""
    _same(args, valid_dtypes, prim_name)


def check_scalar_or_tensor_types_same(args: Dict[str, Any], valid_values: Any, prim_name: Optional[str], allow_mix: bool = False) -> None:
    """Checks that element types of tensors and numbers by argument name are equal and among `valid_values`."""
    _same(args, valid_values, prim_name)


def _is_data(item: Any, kinds: tuple) -> bool:
    if item is None:
        return None in kinds
    if not isinstance(item, tuple(k for k in kinds if k is not None)):
        return False
    if getattr(item, 'size', 1) == 0:
        fail(ValueError, "the input data is empty")
    return True


def check_input_data(*data: Any, data_class: Any) -> None:
    """Checks that values have `data_class`, a type or several (None for None), within lists, tuples and dicts.

    Raises TypeError for others, ValueError for empty values.
    """
    kinds = tuple(data_class) if isinstance(data_class, (tuple, list)) else (data_class,)
    for item in data:
        if isinstance(item, (list, tuple, dict)):
            check_input_data(*(item.values() if isinstance(item, dict) else item), data_class=data_class)
        elif not _is_data(item, kinds):
            fail(TypeError, f"the input data must be {type_names(_types(kinds))}, or tuples, lists or dicts of these, {got(item)}")


def check_input_dataset(*dataset: Any, dataset_type: Any) -> bool:
    """Returns whether there are datasets, all of one type."""
    return bool(dataset) and all(isinstance(item, dataset_type) for item in dataset)


def check_output_data(data: Any) -> None:
    """Checks that the value is not None; raises RuntimeError."""
    if data is None:
        fail(RuntimeError, "the output data is None", "", "return a value from the network's construct")


def check_input_format(input_param: str) -> str:
    """Checks that the format is 'NCHW'."""
    if input_param != 'NCHW':
        fail(ValueError, f"the data format must be 'NCHW', got {input_param!r}")
    return input_param


def check_hook_fn(hook_fn: Callable) -> None:
    """Checks that the value is a function."""
    if not callable(hook_fn):
        fail(TypeError, f"a hook must be a function, {got(hook_fn)}")


__all__ = ["once", "twice", "triple", "once_sequence", "twice_sequence", "triple_sequence", "prepare_shape_for_squeeze", "expanded_shape",
           "infer_out_shape", "tuple_slice", "max_", "min_", "check_and_canonicalize_axes", "check_astype_dtype", "check_axis_in_range",
           "check_axis_type", "check_axis_valid", "check_element_type_of_dict", "check_element_type_of_iterable", "check_flatten_order",
           "check_hook_fn", "check_input_data", "check_input_dataset", "check_input_format", "check_is_sequence", "check_non_negative_int_sequence",
           "check_output_data", "check_pad_value_by_mode", "check_positive_float_sequence", "check_positive_int_sequence", "check_reduce_shape",
           "check_reshape_shp", "check_scalar_or_tensor_types_same", "check_size_and_element_type_of_tuple", "check_swapaxes_axis",
           "check_tensors_dtypes_same_and_valid", "check_transpose_axis", "check_type_support", "check_types_same_and_valid", "check_valid_input"]
