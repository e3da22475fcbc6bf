"""Tensors, Parameters, element types, initializers, seeds, compiled functions (MindSpore: mindspore.common)."""
from sindri.common import dtype
from sindri.common.dtype import *
from sindri.common.dtype import (Bool, Int, Float, Number, bool_, bfloat16, byte, complex64, complex128, double, dtype_to_nptype, dtype_to_pytype, float16, float32,
                                 float64, float_, get_py_obj_dtype, half, int8, int16, int32, int64, int_, intc, intp, list_, long, number, pytype_to_dtype,
                                 short, single, string, tensor_type, tuple_, type_none, ubyte, uint, uint8, uint16, uint32, uint64, uintc, uintp, ushort)
from sindri.common.tensor import Tensor, from_dlpack, tensor
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.seed import get_seed, set_seed
from sindri.common.api import JitConfig, jit, jit_class, lazy_inline, ms_class, ms_function, ms_memory_recycle, mutable
from sindri.common.sparse_tensor import COOTensor, CSRTensor, RowTensor
from sindri.common import initializer
