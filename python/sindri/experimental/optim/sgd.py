"""SGD with momentum."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri._check import check_bool, check_float, fail
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, sign_of

__all__ = ["SGD"]

_ops = _core.ops


def check_sgd(who: str, group: dict) -> None:
    """Checks the options of SGD."""
    momentum = check_float(who, "momentum", group["momentum"], least=0)
    dampening = check_float(who, "dampening", group["dampening"])
    if check_bool(who, "nesterov", group["nesterov"]) and (momentum == 0 or dampening != 0):
        fail(ValueError, f"{who}: nesterov needs a momentum above 0 and dampening 0, got {momentum:g} and {dampening:g}")
    check_maximize(who, group)


class SGD(RuleOptimizer):
    """SGD: v = g in the first step, then momentum·v + (1 - dampening)·g; p -= lr·v, with nesterov lr·(g + momentum·v), without momentum lr·g.

    State: `accum.<param>` (v), `stat.<param>` (1 before the first step with momentum, then 0).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, not negative.
        momentum (float): The momentum, not negative. Default: 0.
        dampening (float): The dampening of the momentum. Default: 0.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        nesterov (bool): Whether to use Nesterov momentum, which needs momentum and no dampening. Default: False.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.SGD([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.85]
    """

    _counter = None
    _slots = (Slot("accum"), Slot("stat", lambda group: 1.0))

    def __init__(self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0.0, nesterov: bool = False, *,
                 maximize: bool = False) -> None:
        check_rate("SGD", lr, above_zero=False)
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                                  "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_sgd("SGD", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        momentum, dampening, decay, nesterov, sign = (*(group[k] for k in ("momentum", "dampening", "weight_decay", "nesterov")), sign_of(group))

        def rule(p: Tensor, g: Tensor, v: Tensor, first: Tensor) -> Tuple[Tensor, ...]:
            return _ops.sgd_update(p, v, first, g, rate, momentum, dampening, decay, sign, nesterov)

        return rule
