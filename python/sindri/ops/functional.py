"""The functions of sindri.ops under one name (MindSpore: mindspore.ops.functional, in scripts `F`), with the spellings of 1.x."""
from sindri.ops.composite import GradOperation, HyperMap, Map, MultitypeFuncGraph, add_flags, grad, value_and_grad, vmap  # noqa: F401
from sindri.ops.composite.grad import *  # noqa: F401,F403
from sindri.ops.function import *  # noqa: F401,F403
from sindri.ops.function import PUBLIC as _functions


def control_depend(depended: object, depending: object) -> object:
    """Order between two operations in 1.x. Operations run in program order, so nothing is left to do; returns the second."""
    return depending


__all__ = [*_functions, "control_depend", "grad", "value_and_grad", "vmap"]
