"""AdamW (Loshchilov and Hutter 2019)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri.common.tensor import Tensor
from sindri.experimental.optim.adam import AdamBase, corrected_rule
from sindri.experimental.optim.optimizer import Rule

__all__ = ["AdamW"]


class AdamW(AdamBase):
    """p *= 1 - lr·weight_decay; m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= lr·m/(1 - beta1^t)/(sqrt(v/(1 - beta2^t)) + eps).

    maximize negates the gradient. amsgrad replaces v in the root by the largest v so far. State `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v),
    `max_exp_avg_sq.<param>` with amsgrad, and `state_step` (t).
    Raises TypeError or ValueError for betas outside [0, 1), another negative number, and as Optimizer.
    """

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        return corrected_rule(group, rate, step, decoupled=True)
