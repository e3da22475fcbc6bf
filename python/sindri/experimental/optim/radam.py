"""RAdam: rectified Adam (Liu et al. 2020)."""
from __future__ import annotations

import math
from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_betas, check_rate, decayed, like, one_minus_power, power_of

__all__ = ["RAdam"]

_ops = _core.ops


class RAdam(RuleOptimizer):
    """Rectified Adam: uses the first moment only, until v is based on enough gradients.

    With R = 2/(1 - beta2) - 1 and r = R - 2·t·beta2^t/(1 - beta2^t): p -= lr·m/(1 - beta1^t) while r <= 5; after that the step is multiplied by
    sqrt((r - 4)(r - 2)R/((R - 4)(R - 2)r))·sqrt(1 - beta2^t)/(sqrt(v) + eps). State: `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v) and `step_t` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 1e-3.
        betas (tuple[float, float]): beta1 and beta2, within [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the root, positive. Default: 1e-8.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.RAdam([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.8737]
    """

    _slots = (Slot("exp_avg"), Slot("exp_avg_sq"))

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0) -> None:
        check_rate("RAdam", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def _check(self, group: dict) -> None:
        check_betas("RAdam", group)
        check_float("RAdam", "eps", group["eps"], above=0)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        (beta1, beta2), eps = group["betas"], group["eps"]
        size, room = rate / like(one_minus_power(beta1, step), rate), one_minus_power(beta2, step)
        most = 2 / (1 - beta2) - 1
        length = most - step * power_of(beta2, step) * 2.0 / room
        trusted = _ops.greater(length, 5.0)
        seen = _ops.clamp(length, 5.0, math.inf)  # keeps the root real if the other branch is selected
        factor = like(_ops.sqrt((seen - 4.0) * (seen - 2.0) * most / (seen * ((most - 4) * (most - 2))) * room) if most > 5 else room, rate)

        def rule(p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            m = m * beta1 + g * (1 - beta1)
            v = v * beta2 + g * g * (1 - beta2)
            direction = size * m
            return p - _ops.where(trusted, direction * factor / (_ops.sqrt(v) + eps), direction), m, v

        return rule
