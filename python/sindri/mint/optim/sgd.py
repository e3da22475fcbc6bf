"""SGD with momentum as in PyTorch."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_rate, sign_of
from sindri.experimental.optim.sgd import check_sgd

__all__ = ["SGD"]

_ops = _core.ops


class SGD(RuleOptimizer):
    """Updates parameters by stochastic gradient descent with momentum.

    v = g in the first step, then momentum·v + (1 - dampening)·g; p -= lr·v, with nesterov lr·(g + momentum·v),
    without momentum lr·g. weight_decay·p is added to g.

    State: `momentum_buf.<param>` (v) and `step_t`. MindSpore's class keeps the rate it was constructed with; this one
    follows param_groups and schedulers.

    Args:
        params (list of Parameters or of dicts): The parameters, or groups of them.
        lr (number or Tensor): The learning rate.
        momentum (float): The momentum factor. Default: 0.
        dampening (float): Dampening for momentum. Default: 0.
        weight_decay (float): The weight decay factor. Default: 0.
        nesterov (bool): Whether to use Nesterov momentum. Default: False.
        maximize (bool): Whether the gradient is negated first. Default: False.

    Raises:
        TypeError: If an argument has another type, as in experimental.optim.Optimizer.
        ValueError: If lr, momentum or weight_decay is negative, or nesterov is used without momentum or with
            dampening.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = ms.mint.optim.SGD([w], lr=0.1)
        >>> _ = optimizer((ms.Tensor([2.0]),))
        >>> print(w.asnumpy().round(4))
        [0.8]
    """

    _slots = (Slot("momentum_buf"),)

    def __init__(self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
                 maximize: bool = False) -> None:
        check_rate("SGD", lr, above_zero=False)
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "dampening": dampening, "nesterov": nesterov,
                                  "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_sgd("SGD", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        momentum, dampening, decay, nesterov, sign = (*(group[k] for k in ("momentum", "dampening", "weight_decay", "nesterov")), sign_of(group))
        first = _ops.equal(step, 1.0)

        def rule(p: Tensor, g: Tensor, v: Tensor) -> Tuple[Tensor, ...]:
            return _ops.sgd_update(p, v, _ops.cast(first, p.dtype), g, rate, momentum, dampening, decay, sign, nesterov)[:2]

        return rule
