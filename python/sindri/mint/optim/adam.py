"""Adam as in PyTorch."""
from __future__ import annotations

from typing import Any, Tuple

from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.experimental.optim.adam import AdamBase, corrected_rule
from sindri.experimental.optim.optimizer import Rule

__all__ = ["Adam"]


class Adam(AdamBase):
    """Updates parameters by the Adam rule.

    m = beta1·m + (1 - beta1)·g, v = beta2·v + (1 - beta2)·g², p -= lr·m/(1 - beta1^t)/(sqrt(v/(1 - beta2^t)) + eps).
    weight_decay·p is added to g.

    State: `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), `max_exp_avg_sq.<param>` with amsgrad, and `state_step`
    (t).

    Args:
        params (list of Parameters or of dicts): The parameters, or groups of them.
        lr (number or Tensor): The learning rate. Default: 0.001.
        betas: The decays of the first and the second moment. Default: (0.9, 0.999).
        eps (float): A value added to the root. Default: 1e-08.
        weight_decay (float): The weight decay factor. Default: 0.0.
        amsgrad (bool): Whether the root uses the largest v so far. Default: False.
        maximize (bool): Whether the gradient is negated first. Default: False.

    Raises:
        TypeError: If an argument has another type, as in experimental.optim.Optimizer.
        ValueError: If a beta is outside [0, 1) or another number is negative.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = ms.mint.optim.Adam([w], lr=0.1)
        >>> _ = optimizer((ms.Tensor([2.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """

    _counter_start = Tensor([0], mstype.float32)

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        return corrected_rule(group, rate, step, decoupled=False)
