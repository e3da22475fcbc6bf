"""Functions of sindri.ops that clip values or gradients."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

from sindri._check import fail
from sindri.ops._util import Tensor, as_tensor, core, exported, is_float, is_number, to_axis, wide
from sindri.ops.function.reduce_func import vector_norm

Bound = Union[None, Tensor, int, float]


def clamp(input: Union[Tensor, Sequence[Tensor]], min: Bound = None, max: Bound = None) -> Union[Tensor, tuple]:
    """Clips values to [min, max]. If the bounds cross, the upper one holds.

    Args:
        input (Tensor or sequence of Tensors): A tensor, or a tuple or list of them.
        min (Tensor or number): The lower bound, or None. Default: None.
        max (Tensor or number): The upper bound, or None. Default: None.

    Returns:
        A tensor, or a tuple of them.

    Raises:
        ValueError: If both bounds are None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.clamp(ms.Tensor([-2.0, 0.5, 3.0]), -1.0, 1.0))
        [-1.   0.5  1. ]
    """
    return clip_by_value(input, min, max)


clip = clamp


def clip_by_value(x: Union[Tensor, Sequence[Tensor]], clip_value_min: Bound = None, clip_value_max: Bound = None, *, min: Bound = None,
                  max: Bound = None) -> Union[Tensor, tuple]:
    """Clips values to [clip_value_min, clip_value_max]; see `clamp`.

    Args:
        x (Tensor or sequence of Tensors): A tensor, or a tuple or list of them.
        clip_value_min (Tensor or number): The lower bound, or None. Default: None.
        clip_value_max (Tensor or number): The upper bound, or None. Default: None.
        min (Tensor or number): Another name of `clip_value_min`. Default: None.
        max (Tensor or number): Another name of `clip_value_max`. Default: None.

    Returns:
        A tensor, or a tuple of them.

    Raises:
        ValueError: If both bounds are None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.clip_by_value(ms.Tensor([-2.0, 0.5, 3.0]), -1.0, 1.0))
        [-1.   0.5  1. ]
    """
    low, high = clip_value_min if min is None else min, clip_value_max if max is None else max
    if low is None and high is None:
        fail(ValueError, "expected at least one bound, got None and None", "ops.clip_by_value")
    if isinstance(x, (tuple, list)):
        return tuple(clip_by_value(t, low, high) for t in x)
    if is_float(x.dtype) and (low is None or is_number(low)) and (high is None or is_number(high)):
        return core.clamp(x, -math.inf if low is None else float(low), math.inf if high is None else float(high))
    x = x if low is None else core.maximum(x, low)
    return x if high is None else core.minimum(x, high)


def clip_by_norm(x: Union[Tensor, Sequence[Tensor]], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Union[Tensor,
                                                                                                                                         tuple]:
    """Scales tensors by min(1, max_norm/(norm + 1e-6)).

    The norm is computed over all tensors, in float32 (float64 if one of them is float64).

    Args:
        x (Tensor or sequence of Tensors): A tensor, or a list of them.
        max_norm (float): The bound of the norm.
        norm_type (float): The order of the norm, above 0; inf is accepted. Default: 2.0.
        error_if_nonfinite (bool): Whether a norm that is not finite is an error; the norm is then read, so such code
            runs eagerly. Default: False.

    Returns:
        A tensor, or a tuple of them.

    Raises:
        TypeError: If `x` is not a tensor or a list of tensors.
        ValueError: If `norm_type` is not positive.
        RuntimeError: If `error_if_nonfinite` is True and the norm is not finite.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.clip_by_norm(ms.Tensor([3.0, 4.0]), 1.0).asnumpy().round(4))
        [0.6 0.8]
    """
    given = [x] if isinstance(x, Tensor) else list(x)
    if not given or not all(isinstance(t, Tensor) for t in given):
        fail(TypeError, f"expected a tensor or a list of tensors, got {type(x).__name__}", "ops.clip_by_norm")
    p = float(norm_type)
    if not p > 0:
        fail(ValueError, f"norm_type: expected a positive number, got {norm_type}", "ops.clip_by_norm", "use 1, 2 or inf")
    norm = core.total_norm(given, p)
    if error_if_nonfinite and not bool(core.isfinite(norm)):
        fail(RuntimeError, f"the {norm_type}-norm is not finite", "ops.clip_by_norm", "leave error_if_nonfinite off to scale anyway")
    out = core.clip_by_total_norm(given, float(max_norm), norm)
    return out[0] if isinstance(x, Tensor) else out


def renorm(input: Tensor, p: float, axis: int, maxnorm: float) -> Tensor:
    """Scales each slice along an axis whose p-norm exceeds maxnorm down to that norm.

    Args:
        input (Tensor): The tensor.
        p (float): The order of the norm, at least 1.
        axis (int): The axis.
        maxnorm (float): The bound of the norm.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `p` is below 1, `maxnorm` is negative or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.renorm(ms.Tensor([[3.0, 4.0], [0.3, 0.4]]), 2.0, 0, 1.0).asnumpy().round(4))
        [[0.6 0.8]
         [0.3 0.4]]
    """
    where = "ops.renorm"
    if not p >= 1 or not maxnorm >= 0:
        fail(ValueError, f"expected p of at least 1 and maxnorm of at least 0, got {p} and {maxnorm}", where)
    a = to_axis(axis, len(input.shape), where)
    norm = vector_norm(wide(input), p, tuple(d for d in range(len(input.shape)) if d != a), True)
    scale = core.where(core.greater(norm, maxnorm), core.div(float(maxnorm), core.add(norm, 1e-7)), 1.0)
    return core.cast(core.mul(wide(input), scale), input.dtype)


def global_norm(x: Sequence[Tensor]) -> Tensor:
    """Returns the 2-norm of all elements of all tensors, in float32 (float64 if one of them is float64).

    It is the root of the sum of squares, summed in the order of the tensors, as the optimizers of the C++ library
    compute it.

    Args:
        x (sequence of Tensors): The tensors.

    Returns:
        A scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.global_norm([ms.Tensor([3.0]), ms.Tensor([4.0])]))
        5.0
    """
    return core.global_norm(list(x))


def clip_by_global_norm(x: Sequence[Tensor], clip_norm: Union[int, float, Tensor] = 1.0, use_norm: Optional[Any] = None) -> tuple:
    """Scales every tensor by clip_norm/max(norm, clip_norm).

    The factor is computed in float32 (float64 if one of the tensors is float64); each result has its tensor's type.

    Args:
        x (sequence of Tensors): A tuple or list of tensors.
        clip_norm (Tensor or number): The bound of the norm, positive. Default: 1.0.
        use_norm (Tensor or number): The norm; None computes the 2-norm of all tensors. Default: None.

    Returns:
        A tuple of tensors.

    Raises:
        TypeError: If `x` is not a tuple or list of tensors, `clip_norm` is not a number or `use_norm` is a bool.
        ValueError: If `clip_norm` is not positive.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.clip_by_global_norm([ms.Tensor([3.0]), ms.Tensor([4.0])], 1.0)[0].asnumpy().round(4))
        [0.6]
    """
    where = "ops.clip_by_global_norm"
    if not isinstance(x, (tuple, list)) or not x or not all(isinstance(t, Tensor) for t in x):
        fail(TypeError, f"expected a tuple or list of tensors, got {type(x).__name__}", where)
    if isinstance(clip_norm, bool) or not (isinstance(clip_norm, Tensor) or is_number(clip_norm)):
        fail(TypeError, f"clip_norm: expected a number, got {clip_norm!r}", where)
    if is_number(clip_norm) and not clip_norm > 0:
        fail(ValueError, f"clip_norm: expected a positive number, got {clip_norm}", where)
    if isinstance(use_norm, bool):
        fail(TypeError, f"use_norm: expected a norm that is known already, got {use_norm}", where, "omit it to compute the norm")
    return core.clip_by_global_norm(list(x), clip_norm if isinstance(clip_norm, Tensor) else float(clip_norm), None if use_norm is None else as_tensor(use_norm))


__all__ = exported(globals())
