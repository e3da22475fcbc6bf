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
    """Adamax: m = beta1·m + (1 - beta1)·g; u = max(beta2·u, |g| + eps); p -= lr/(1 - beta1^t)·m/u.

    State: `exp_avg.<param>` (m), `exp_inf.<param>` (u) and `step_t` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 2e-3.
        betas (tuple[float, float]): beta1 and beta2, within [0, 1). Default: (0.9, 0.999).
        eps (float): Added to |g|, positive. Default: 1e-8.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.Adamax([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.8237]
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
