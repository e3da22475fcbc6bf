"""Adamax (Kingma and Ba 2015, section 7.1)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_betas, check_maximize, check_rate, decayed, like, one_minus_power

__all__ = ["Adamax"]

_ops = _core.ops


class Adamax(RuleOptimizer):
    """m = beta1·m + (1 - beta1)·g; u = max(beta2·u, |g| + eps); p -= lr/(1 - beta1^t)·m/u.

    weight_decay·p is added to g; maximize negates the gradient first. State `exp_avg.<param>` (m), `exp_inf.<param>` (u) and `step_t` (t).
    Raises TypeError or ValueError for lr or eps not above 0, betas outside [0, 1), a negative weight_decay, and as Optimizer.
    """

    _slots = (Slot("exp_avg"), Slot("exp_inf"))

    def __init__(self, params: Any, lr: Any = 2e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, *,
                 maximize: bool = False) -> None:
        check_rate("Adamax", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_betas("Adamax", group)
        check_float("Adamax", "eps", group["eps"], above=0)
        check_maximize("Adamax", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        (beta1, beta2), eps = group["betas"], group["eps"]
        size = rate / like(one_minus_power(beta1, step), rate)

        def rule(p: Tensor, g: Tensor, m: Tensor, u: Tensor) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            m = m * beta1 + g * (1 - beta1)
            u = _ops.maximum(u * beta2, _ops.abs(g) + eps)
            return p - size * m / u, m, u

        return rule
