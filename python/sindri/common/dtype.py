"""Element types (MindSpore: mindspore.dtype).

Tensors have bool, uint8, int32, int64, float16, bfloat16, float32 or float64 elements. The other names exist because scripts mention
them; a NumPy array of such a type becomes a tensor of the next wider available type (int8, int16, uint16 -> int32; uint32, uint64 -> int64).
"""
from __future__ import annotations

import enum
from typing import Any

import numpy as _np

from sindri import _core
from sindri._core import DType, dtypes as _dtypes

__all__ = ["DType", "promote_types", "bool_", "uint8", "ubyte", "int32", "intc", "int64", "intp", "long", "float16", "half", "bfloat16", "float32",
           "single", "float64", "double", "int8", "byte", "int16", "short", "uint16", "ushort", "uint32", "uintc", "uint64", "uintp", "complex64",
           "complex128", "string", "type_none", "tensor", "tensor_type", "number", "int_", "uint", "float_", "list_", "tuple_", "function",
           "type_type", "Bool", "Int", "Float", "Number", "number_type", "int_type", "uint_type", "float_type", "all_types", "dtype_to_nptype",
           "dtype_to_pytype", "pytype_to_dtype", "get_py_obj_dtype", "issubclass_", "QuantDtype"]

DType.__doc__ = """An element type such as `sindri.float32`. The types are constants of this module; DType has no constructor.

Attributes:
    name (str): MindSpore's name, such as 'Float32'.
    numpy_name (str): NumPy's name, such as 'float32'; None for a type that tensors cannot have.
    is_floating (bool): Whether this is a floating-point type.
    is_tensor_type (bool): Whether tensors can have this element type.

Examples:
    >>> import sindri as ms
    >>> ms.Tensor([1.0]).dtype == ms.float32, ms.float32.numpy_name
    (True, 'float32')
"""

bool_ = _dtypes["Bool"]
uint8 = ubyte = _dtypes["UInt8"]
int32 = intc = _dtypes["Int32"]
int64 = intp = long = _dtypes["Int64"]
float16 = half = _dtypes["Float16"]
bfloat16 = _dtypes["BFloat16"]
float32 = single = _dtypes["Float32"]
float64 = double = _dtypes["Float64"]
int8 = byte = _dtypes["Int8"]
int16 = short = _dtypes["Int16"]
uint16 = ushort = _dtypes["UInt16"]
uint32 = uintc = _dtypes["UInt32"]
uint64 = uintp = _dtypes["UInt64"]
complex64 = _dtypes["Complex64"]
complex128 = _dtypes["Complex128"]
string = _dtypes["String"]
type_none = _dtypes["TypeNone"]
tensor = tensor_type = _dtypes["Tensor"]
number = _dtypes["Number"]
int_ = _dtypes["Int"]
uint = _dtypes["UInt"]
float_ = _dtypes["Float"]
list_ = _dtypes["List"]
tuple_ = _dtypes["Tuple"]
function = _dtypes["Function"]
type_type = _dtypes["Type"]
Bool, Int, Float, Number = bool_, int_, float_, number

number_type = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16, complex64, complex128)
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16)
all_types = (bool_,) + number_type

_NUMPY = {
    bool_: _np.bool_, int8: _np.int8, int16: _np.int16, int32: _np.int32, int64: _np.int64, uint8: _np.uint8, uint16: _np.uint16, uint32: _np.uint32,
    uint64: _np.uint64, float16: _np.float16, float32: _np.float32, float64: _np.float64, complex64: _np.complex64, complex128: _np.complex128,
}
_NUMPY_ABSTRACT = {int_: _np.int64, uint: _np.uint64, float_: _np.float64}


def promote_types(type1: Any, type2: Any) -> DType:
    """Returns the element type of the result of an op on tensors of two types.

    Of two integer types or two floating-point types it is the wider one, float32 for float16 and bfloat16. Of an integer and a floating-point type it is
    the floating-point type.

    Args:
        type1 (DType): A type.
        type2 (DType): Another type.

    Returns:
        DType.

    Raises:
        TypeError: If an argument is not a type that tensors can have.

    Examples:
        >>> import sindri as ms
        >>> print(ms.promote_types(ms.uint8, ms.int32), ms.promote_types(ms.int64, ms.float16))
        Int32 Float16
    """
    return _core.promote_types(type1, type2)


def dtype_to_nptype(type_: Any) -> Any:
    """Returns the NumPy type of an element type; float32 for bfloat16, which NumPy lacks.

    Args:
        type_ (DType): The element type.

    Returns:
        The NumPy type.

    Raises:
        KeyError: If there is none.

    Examples:
        >>> import sindri as ms
        >>> ms.dtype_to_nptype(ms.int32)
        <class 'numpy.int32'>
    """
    if type_ is bfloat16:
        return _np.float32
    return _NUMPY[type_]


def dtype_to_pytype(type_: Any) -> Any:
    """Returns the Python type of an element type.

    Args:
        type_ (DType): The element type.

    Returns:
        bool, int, float or complex.

    Raises:
        KeyError: If there is none.

    Examples:
        >>> import sindri as ms
        >>> ms.dtype_to_pytype(ms.float16)
        <class 'float'>
    """
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[_np.dtype({**_NUMPY, **_NUMPY_ABSTRACT, bfloat16: _np.float32}[type_]).kind]


def pytype_to_dtype(obj: Any) -> Any:
    """Returns the element type of a Python or NumPy type.

    Args:
        obj (type): The type; an element type is returned unchanged.

    Returns:
        DType.

    Raises:
        NotImplementedError: If `obj` has no element type.

    Examples:
        >>> import sindri as ms
        >>> ms.pytype_to_dtype(int)
        Int64
    """
    if isinstance(obj, DType):
        return obj
    simple = {bool: bool_, int: int64, float: float64, str: string, list: list_, tuple: tuple_, type(None): type_none}
    if isinstance(obj, type) and obj in simple:
        return simple[obj]
    for ours, numpys in _NUMPY.items():
        if obj is numpys or (isinstance(obj, _np.dtype) and obj == numpys):
            return ours
    raise NotImplementedError(f"{obj!r} has no element type | pytype_to_dtype | give a Python or NumPy number type")


def get_py_obj_dtype(obj: Any) -> Any:
    """Returns the element type of a value: a tensor's, or that of the Python value's type.

    Args:
        obj: The value.

    Returns:
        DType.

    Raises:
        NotImplementedError: If the value's type has no element type.

    Examples:
        >>> import sindri as ms
        >>> ms.get_py_obj_dtype(1)
        Int64
    """
    return obj.dtype if hasattr(obj, "dtype") and isinstance(obj.dtype, DType) else pytype_to_dtype(type(obj))


def issubclass_(type_: Any, dtype: Any) -> Any:
    """Returns whether an element type is `dtype` or belongs to the abstract type `dtype` (number, int_, float_, uint).

    Args:
        type_ (DType): The element type.
        dtype (DType): The element type or abstract type.

    Returns:
        bool.

    Examples:
        >>> from sindri.common import dtype as mstype
        >>> mstype.issubclass_(mstype.int32, mstype.int_)
        True
    """
    if type_ is dtype:
        return True
    groups = {number: number_type, int_: int_type, uint: uint_type, float_: float_type}
    return dtype in groups and type_ in groups[dtype]


_simple_types = {"bool": bool_, "int": int64, "float": float32}


def _whole_number(self: enum.Enum) -> int:
    """Returns the number that stands for the type in files."""
    return self._value_


# Widths of quantisation: INT1 to INT16 are 0 to 15, UINT1 to UINT16 100 to 115. As in MindSpore `value` is a method.
_make_enum: Any = enum.Enum  # type checkers cannot handle computed names
QuantDtype: Any = _make_enum("QuantDtype", [(f"{kind}{bits}", base + bits - 1) for kind, base in (("INT", 0), ("UINT", 100)) for bits in range(1, 17)],
                             module=__name__)
QuantDtype.__doc__ = "Element types of quantised values, INT1 to INT16 and UINT1 to UINT16."
QuantDtype.__str__ = lambda self: self.name
QuantDtype.value = _whole_number
