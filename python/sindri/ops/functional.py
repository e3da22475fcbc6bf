"""The functions of sindri.ops under one name (MindSpore: mindspore.ops.functional, in scripts `F`), with the names of
1.x.
"""
from sindri.ops.composite import GradOperation, HyperMap, Map, MultitypeFuncGraph, add_flags, grad, value_and_grad, vmap  # noqa: F401
from sindri.ops.composite.grad import *  # noqa: F401,F403
from sindri.ops.function import *  # noqa: F401,F403
from sindri.ops.function import PUBLIC as _functions


def control_depend(depended: object, depending: object) -> object:
    """Orders two operations in MindSpore 1.x. Operations run in program order here, so it has no effect.

    Args:
        depended: The first operation.
        depending: The second operation.

    Returns:
        `depending`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.control_depend(ms.Tensor([1]), ms.Tensor([2])))
        [2]
    """
    return depending


__all__ = [*_functions, "control_depend", "grad", "value_and_grad", "vmap"]
