"""Functions of functions (MindSpore: mindspore.ops.composite): gradients, maps over tuples, functions with versions by type.

Written by scripts/python_stubs.py; do not edit."""


from sindri.ops.composite.base import HyperMap as HyperMap, Map as Map, MultitypeFuncGraph as MultitypeFuncGraph, add_flags as add_flags, core as core
from sindri.ops.composite.grad import get_grad as get_grad, jvp as jvp, vjp as vjp
from sindri.ops.composite.grad import GradOperation as GradOperation, grad as grad, value_and_grad as value_and_grad
from sindri.ops.composite.jacobian import jacfwd as jacfwd, jacrev as jacrev
from sindri.ops.composite.vmap import vmap as vmap
from sindri.ops.function.array_func import repeat_elements as repeat_elements
from sindri.ops.function.choose_func import sequence_mask as sequence_mask
from sindri.ops.function.creation_func import ones_like as ones_like, zeros_like as zeros_like
from sindri.ops.function.clip_func import clip_by_global_norm as clip_by_global_norm, clip_by_norm as clip_by_norm, clip_by_value as clip_by_value
from sindri.ops.function.linalg_func import batch_dot as batch_dot, dot as dot, matmul as matmul, mm as mm, tensor_dot as tensor_dot
from sindri.ops.function.other_func import partial as partial, tail as tail, zip_operation as zip_operation
from sindri.ops.function.random_func import (
    laplace as laplace, multinomial as multinomial, normal as normal, random_categorical as random_categorical, uniform as uniform,
)
from sindri.ops.function.reduce_func import count_nonzero as count_nonzero, cummin as cummin

__all__ = [
    "GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "batch_dot", "clip_by_global_norm", "clip_by_value", "count_nonzero",
    "cummin", "dot", "laplace", "matmul", "mm", "multinomial", "normal", "ones_like", "repeat_elements", "sequence_mask", "tail", "tensor_dot",
    "uniform", "zeros_like", "zip_operation",
]
