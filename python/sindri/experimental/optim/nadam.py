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
    """NAdam: p -= lr·((1 - mu_t)/(1 - M)·g + mu_{t+1}/(1 - M·mu_{t+1})·m)/(sqrt(v/(1 - beta2^t)) + eps), with m and v as in Adam.

    mu_t = beta1·(1 - 0.96^(t·momentum_decay)/2), and M is the product of all mu so far. State: `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), for each group
    `mu_product_group_<number>` (M), and `step_t` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 2e-3.
        betas (tuple[float, float]): beta1 and beta2, within [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the root, positive. Default: 1e-8.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        momentum_decay (float): The decay of the momentum, not negative. Default: 4e-3.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.NAdam([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.7981]
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
