"""Tensors, Parameters, element types, initializers, seeds, compiled functions (MindSpore: mindspore.common)."""
from sindri.common import dtype
from sindri.common.dtype import *
from sindri.common.dtype import (Bool, Int, Float, Number, bool_, bfloat16, byte, complex64, complex128, double, dtype_to_nptype, dtype_to_pytype, float16, float32,
                                 float64, float_, get_py_obj_dtype, half, int8, int16, int32, int64, int_, intc, intp, list_, long, number, pytype_to_dtype,
                                 short, single, string, tensor_type, tuple_, type_none, ubyte, uint, uint8, uint16, uint32, uint64, uintc, uintp, ushort)
from sindri.common.tensor import Tensor, from_dlpack, from_numpy, tensor
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.seed import get_seed, set_seed
from sindri.common.api import JitConfig, jit, jit_class, lazy_inline, ms_class, ms_function, ms_memory_recycle, mutable
from sindri.common.sparse_tensor import COOTensor, CSRTensor, RowTensor
from sindri.common import initializer

__all__ = ["dtype", "bool_", "uint8", "ubyte", "int32", "intc", "int64", "intp", "long", "float16", "half", "bfloat16",
           "float32", "single", "float64", "double", "int8", "byte", "int16", "short", "uint16", "ushort", "uint32", "uintc", "uint64", "uintp",
           "complex64", "complex128", "string", "type_none", "tensor", "tensor_type", "number", "int_", "uint", "float_", "list_", "tuple_",
           "Int",
           "dtype_to_nptype", "dtype_to_pytype", "pytype_to_dtype", "get_py_obj_dtype", "Tensor", "Parameter",
           "ParameterTuple", "get_seed", "set_seed", "QuantDtype", "from_numpy",
           "JitConfig", "jit", "jit_class", "lazy_inline", "ms_function", "ms_memory_recycle", "mutable",
           "COOTensor", "CSRTensor", "RowTensor", "initializer"]
