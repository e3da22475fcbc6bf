"""Functions of sindri.ops that bring values or gradients into bounds."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

from sindri._check import fail
from sindri.ops._util import Tensor, as_tensor, core, exported, is_float, is_number, to_axis, wide
from sindri.ops.function.reduce_func import vector_norm

Bound = Union[None, Tensor, int, float]


def clamp(input: Union[Tensor, Sequence[Tensor]], min: Bound = None, max: Bound = None) -> Union[Tensor, tuple]:
    """min(max(x, lower bound), upper bound), of one tensor or each of a tuple or list; where the bounds cross, the upper one holds.
    Raises ValueError when both bounds are None."""
    return clip_by_value(input, min, max)


clip = clamp


def clip_by_value(x: Union[Tensor, Sequence[Tensor]], clip_value_min: Bound = None, clip_value_max: Bound = None, *, min: Bound = None,
                  max: Bound = None) -> Union[Tensor, tuple]:
    """clamp; min and max are other names of the bounds."""
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
    """x scaled by min(1, max_norm/(norm + 1e-6)), the norm taken over all tensors of a list, in float32 (float64 where one of them is).
    error_if_nonfinite asks for the norm's value (such code runs eagerly) and raises RuntimeError when it is not finite."""
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
    """input with each slice along axis whose p-norm is above maxnorm scaled down to it. Raises ValueError for p below 1 and a negative maxnorm."""
    where = "ops.renorm"
    if not p >= 1 or not maxnorm >= 0:
        fail(ValueError, f"expected p of at least 1 and maxnorm of at least 0, got {p} and {maxnorm}", where)
    a = to_axis(axis, len(input.shape), where)
    norm = vector_norm(wide(input), p, tuple(d for d in range(len(input.shape)) if d != a), True)
    scale = core.where(core.greater(norm, maxnorm), core.div(float(maxnorm), core.add(norm, 1e-7)), 1.0)
    return core.cast(core.mul(wide(input), scale), input.dtype)


def global_norm(x: Sequence[Tensor]) -> Tensor:
    """The 2-norm of all elements of all tensors, in float32 (float64 where one of them is): the root of the sum of their squares, added up in the
    order of the tensors, as the optimizers of the C++ library have it."""
    return core.global_norm(list(x))


def clip_by_global_norm(x: Sequence[Tensor], clip_norm: Union[int, float, Tensor] = 1.0, use_norm: Optional[Any] = None) -> tuple:
    """Every tensor times clip_norm/max(norm, clip_norm), in float32 (float64 where one of them is), each in its own type again; norm:
    use_norm, else that of all tensors. Raises TypeError unless x is a tuple or list of tensors, ValueError unless clip_norm is positive."""
    where = "ops.clip_by_global_norm"
    if not isinstance(x, (tuple, list)) or not x or not all(isinstance(t, Tensor) for t in x):
        fail(TypeError, f"expected a tuple or list of tensors, got {type(x).__name__}", where)
    if isinstance(clip_norm, bool) or not (isinstance(clip_norm, Tensor) or is_number(clip_norm)):
        fail(TypeError, f"clip_norm: expected a number, got {clip_norm!r}", where)
    if is_number(clip_norm) and not clip_norm > 0:
        fail(ValueError, f"clip_norm: expected a positive number, got {clip_norm}", where)
    if isinstance(use_norm, bool):
        fail(TypeError, f"use_norm: expected a norm that is known already, got {use_norm}", where, "leave it out to have the norm computed")
    return core.clip_by_global_norm(list(x), clip_norm if isinstance(clip_norm, Tensor) else float(clip_norm), None if use_norm is None else as_tensor(use_norm))


__all__ = exported(globals())
