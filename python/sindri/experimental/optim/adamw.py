"""AdamW (Loshchilov and Hutter 2019)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri.common.tensor import Tensor
from sindri.experimental.optim.adam import AdamBase, corrected_rule
from sindri.experimental.optim.optimizer import Rule

__all__ = ["AdamW"]


class AdamW(AdamBase):
    """AdamW: p *= 1 - lr·weight_decay; m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= lr·m/(1 - beta1^t)/(sqrt(v/(1 - beta2^t)) + eps).

    State: `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), `max_exp_avg_sq.<param>` with amsgrad, and `state_step` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, not negative. Default: 1e-3.
        betas (tuple[float, float]): beta1 and beta2, within [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the root, not negative. Default: 1e-8.
        weight_decay (float): The decoupled weight decay, not negative. Default: 1e-2.
        amsgrad (bool): Whether the largest v so far replaces v in the root. Default: False.
        maximize (bool): Whether to negate the gradient. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.AdamW([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.8016]
    """

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        return corrected_rule(group, rate, step, decoupled=True)
