"""NAdam: Adam with Nesterov momentum (Dozat 2016)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_betas, check_rate, decayed, like, one_minus_power, power_of

__all__ = ["NAdam"]

_ops = _core.ops


class NAdam(RuleOptimizer):
    """mu_t = beta1·(1 - 0.96^(t·momentum_decay)/2), and M the product of all of them so far; m and v as in Adam;
    p -= lr·((1 - mu_t)/(1 - M)·g + mu_{t+1}/(1 - M·mu_{t+1})·m)/(sqrt(v/(1 - beta2^t)) + eps).

    weight_decay·p is added to g. State `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), per group `mu_product_group_<number>` (M), and `step_t` (t).
    Raises TypeError or ValueError for lr or eps not above 0, betas outside [0, 1), another negative number, and as Optimizer.
    """

    _slots = (Slot("exp_avg"), Slot("exp_avg_sq"), Slot("mu_product", lambda group: 1.0, of_groups=True))

    def __init__(self, params: Any, lr: Any = 2e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
                 momentum_decay: float = 4e-3) -> None:
        check_rate("NAdam", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay})

    def _check(self, group: dict) -> None:
        check_betas("NAdam", group)
        check_float("NAdam", "eps", group["eps"], above=0)
        check_float("NAdam", "momentum_decay", group["momentum_decay"], least=0)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        (beta1, beta2), eps, held = group["betas"], group["eps"], self.mu_product[number]

        def momentum(t: Tensor) -> Tensor:
            return (1.0 - power_of(0.96, t * group["momentum_decay"]) * 0.5) * beta1

        now, following = momentum(step), momentum(step + 1.0)
        product = _ops.cast(held.value(), mstype.float64) * now
        held.assign(_ops.cast(product, held.dtype))
        of_gradient, of_momentum = rate * like((1.0 - now) / (1.0 - product), rate), rate * like(following / (1.0 - product * following), rate)
        root = like(_ops.sqrt(one_minus_power(beta2, step)), rate)

        def rule(p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            m = m * beta1 + g * (1 - beta1)
            v = v * beta2 + g * g * (1 - beta2)
            return p - (of_gradient * g + of_momentum * m) / (_ops.sqrt(v) / root + eps), m, v

        return rule
