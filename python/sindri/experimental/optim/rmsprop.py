"""RMSprop (Tieleman and Hinton 2012)."""
from __future__ import annotations

from typing import Any, Iterator, Tuple

from sindri import _core
from sindri._check import check_bool, check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, decayed

__all__ = ["RMSprop"]

_ops = _core.ops


class RMSprop(RuleOptimizer):
    """s = alpha·s + (1 - alpha)·g²; d = g/(sqrt(s) + eps); b = momentum·b + d; p -= lr·b (with momentum 0 lr·d).

    With centered, c = alpha·c + (1 - alpha)·g and s - c² stands in the root. weight_decay·p is added to g; maximize negates the gradient first.
    State `mean_square.<param>` (s), `moment.<param>` (b), `mean_grad.<param>` (c) with centered.
    Raises TypeError or ValueError for lr or eps not above 0, another negative number, and as Optimizer.
    """

    _counter = None
    _slots = (Slot("mean_square"), Slot("moment"))
    _mean = Slot("mean_grad")

    def __init__(self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0, momentum: float = 0.0,
                 centered: bool = False, maximize: bool = False) -> None:
        check_rate("RMSprop", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
                                  "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_float("RMSprop", "eps", group["eps"], above=0)
        check_float("RMSprop", "alpha", group["alpha"], least=0)
        check_float("RMSprop", "momentum", group["momentum"], least=0)
        check_bool("RMSprop", "centered", group["centered"])
        check_maximize("RMSprop", group)

    def _used_slots(self) -> Iterator[Slot]:
        yield from self._slots
        if any(group["centered"] for group in self.param_groups):
            yield self._mean

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        alpha, eps, momentum = group["alpha"], group["eps"], group["momentum"]

        def rule(p: Tensor, g: Tensor, s: Tensor, b: Tensor, c: Any = None) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            s = s * alpha + g * g * (1 - alpha)
            variance = s
            if group["centered"]:
                c = c * alpha + g * (1 - alpha)
                variance = s - c * c
            step_ = g / (_ops.sqrt(variance) + eps)
            if momentum:
                step_ = b = b * momentum + step_
            return (p - rate * step_, s, b) + (() if c is None else (c,))

        return rule
