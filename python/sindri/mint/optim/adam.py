"""Adam as PyTorch computes it."""
from __future__ import annotations

from typing import Any, Tuple

from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.experimental.optim.adam import AdamBase, corrected_rule
from sindri.experimental.optim.optimizer import Rule

__all__ = ["Adam"]


class Adam(AdamBase):
    """m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= lr·m/(1 - beta1^t)/(sqrt(v/(1 - beta2^t)) + eps).

    weight_decay·p is added to g; maximize negates the gradient first. amsgrad replaces v in the root by the largest v so far. State
    `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), `max_exp_avg_sq.<param>` with amsgrad, and `state_step` (t).
    Raises TypeError or ValueError for betas outside [0, 1), another negative number, and as experimental.optim.Optimizer.
    """

    _counter_start = Tensor([0], mstype.float32)

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        return corrected_rule(group, rate, step, decoupled=False)
