"""Operators (MindSpore: mindspore.ops): primitives as classes, functions, and functions of functions.

operations/ holds the classes, function/ the functions that they call, composite/ gradients, maps and functions selected by type. functional
and composite are also the namespaces that scripts import as F and C.
"""
from sindri.ops.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer, constexpr, prim_arg_register, prim_attr_register
from sindri.ops.function import *  # noqa: F401,F403
from sindri.ops.operations import *  # noqa: F401,F403
from sindri.ops.operations import IsInstance, IsSubClass, Lamb, LeakyReLU, Load, Norm, SameTypeShape, SiLU, Unsqueeze
from sindri.ops.operations import _AllSwap, _MirrorOperator, _VirtualDataset, _VirtualDiv  # noqa: F401
from sindri.ops.composite.grad import *  # noqa: F401,F403
from sindri.ops.composite import GradOperation, HyperMap, Map, MultitypeFuncGraph, add_flags, grad, jacfwd, jacrev, value_and_grad, vmap
from sindri.ops import composite, function, functional, operations, primitive
from sindri.ops.functional import control_depend
from sindri.ops.primitive import constexpr as _primexpr  # noqa: F401

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_arg_register", "prim_attr_register", "GradOperation",
           "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "get_grad", "grad", "jacfwd", "jacrev", "jvp", "value_and_grad", "vjp", "vmap",
           "control_depend", "tail", "zip_operation", *function.PUBLIC, *operations.__all__]
