"""Tensors, Parameters, element types, initializers, seeds, compiled functions (MindSpore: mindspore.common).

Written by scripts/python_stubs.py; do not edit."""


from sindri.common import dtype as dtype
from sindri.common.dtype import (
    DType as DType, promote_types as promote_types, function as function, type_type as type_type, number_type as number_type, int_type as int_type,
    uint_type as uint_type, float_type as float_type, all_types as all_types, issubclass_ as issubclass_, QuantDtype as QuantDtype,
)
from sindri.common.dtype import (
    Bool as Bool, Int as Int, Float as Float, Number as Number, bool_ as bool_, bfloat16 as bfloat16, byte as byte, complex64 as complex64,
    complex128 as complex128, double as double, dtype_to_nptype as dtype_to_nptype, dtype_to_pytype as dtype_to_pytype, float16 as float16,
    float32 as float32, float64 as float64, float_ as float_, get_py_obj_dtype as get_py_obj_dtype, half as half, int8 as int8, int16 as int16,
    int32 as int32, int64 as int64, int_ as int_, intc as intc, intp as intp, list_ as list_, long as long, number as number,
    pytype_to_dtype as pytype_to_dtype, short as short, single as single, string as string, tensor_type as tensor_type, tuple_ as tuple_,
    type_none as type_none, ubyte as ubyte, uint as uint, uint8 as uint8, uint16 as uint16, uint32 as uint32, uint64 as uint64, uintc as uintc,
    uintp as uintp, ushort as ushort,
)
from sindri.common.tensor import Tensor as Tensor, from_dlpack as from_dlpack, from_numpy as from_numpy, tensor as tensor
from sindri.common.parameter import Parameter as Parameter, ParameterTuple as ParameterTuple
from sindri.common.seed import get_seed as get_seed, set_seed as set_seed
from sindri.common.api import (
    JitConfig as JitConfig, jit as jit, jit_class as jit_class, lazy_inline as lazy_inline, ms_class as ms_class, ms_function as ms_function,
    ms_memory_recycle as ms_memory_recycle, mutable as mutable,
)
from sindri.common.sparse_tensor import COOTensor as COOTensor, CSRTensor as CSRTensor, RowTensor as RowTensor
from sindri.common import initializer as initializer

__all__ = [
    "dtype", "bool_", "uint8", "ubyte", "int32", "intc", "int64", "intp", "long", "float16", "half", "bfloat16", "float32", "single", "float64",
    "double", "int8", "byte", "int16", "short", "uint16", "ushort", "uint32", "uintc", "uint64", "uintp", "complex64", "complex128", "string",
    "type_none", "tensor", "tensor_type", "number", "int_", "uint", "float_", "list_", "tuple_", "Int", "dtype_to_nptype", "dtype_to_pytype",
    "pytype_to_dtype", "get_py_obj_dtype", "Tensor", "Parameter", "ParameterTuple", "get_seed", "set_seed", "QuantDtype", "from_numpy", "JitConfig",
    "jit", "jit_class", "lazy_inline", "ms_function", "ms_memory_recycle", "mutable", "COOTensor", "CSRTensor", "RowTensor", "initializer",
]
