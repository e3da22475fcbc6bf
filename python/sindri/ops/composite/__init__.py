"""Functions of functions (MindSpore: mindspore.ops.composite): gradients, maps over tuples, functions with versions by type."""
from sindri.ops.composite.base import HyperMap, Map, MultitypeFuncGraph, add_flags, core
from sindri.ops.composite.grad import *  # noqa: F401,F403
from sindri.ops.composite.grad import GradOperation, grad, value_and_grad
from sindri.ops.composite.jacobian import jacfwd, jacrev
from sindri.ops.composite.vmap import vmap
from sindri.ops.function.array_func import repeat_elements
from sindri.ops.function.choose_func import sequence_mask
from sindri.ops.function.creation_func import ones_like, zeros_like
from sindri.ops.function.clip_func import clip_by_global_norm, clip_by_norm, clip_by_value
from sindri.ops.function.linalg_func import batch_dot, dot, matmul, mm, tensor_dot
from sindri.ops.function.other_func import partial, tail, zip_operation
from sindri.ops.function.random_func import laplace, multinomial, normal, random_categorical, uniform
from sindri.ops.function.reduce_func import count_nonzero, cummin

__all__ = ["GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "batch_dot", "clip_by_global_norm", "clip_by_value",
           "count_nonzero", "cummin", "dot", "laplace", "matmul", "mm", "multinomial", "normal", "ones_like", "repeat_elements",
           "sequence_mask", "tail", "tensor_dot", "uniform", "zeros_like", "zip_operation"]
