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
    """The options of SGD."""
    momentum = check_float(who, "momentum", group["momentum"], least=0)
    dampening = check_float(who, "dampening", group["dampening"])
    if check_bool(who, "nesterov", group["nesterov"]) and (momentum == 0 or dampening != 0):
        fail(ValueError, f"{who}: nesterov needs a momentum above 0 and dampening 0, got {momentum:g} and {dampening:g}")
    check_maximize(who, group)


class SGD(RuleOptimizer):
    """v = g in the first step, then momentum·v + (1 - dampening)·g; p -= lr·v, with nesterov lr·(g + momentum·v), without momentum lr·g.

    weight_decay·p is added to g; maximize negates the gradient first. State `accum.<param>` (v), `stat.<param>` (1 before the first step with
    momentum, then 0).
    Raises TypeError or ValueError for a negative lr, momentum or weight_decay, nesterov without momentum or with dampening, and as Optimizer.
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
