"""Adadelta (Zeiler 2012)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, sign_of

__all__ = ["Adadelta"]

_ops = _core.ops


class Adadelta(RuleOptimizer):
    """Adadelta: v = rho·v + (1 - rho)·g²; d = sqrt(u + eps)/sqrt(v + eps)·g; u = rho·u + (1 - rho)·d²; p -= lr·d.

    State: `accum.<param>` (v), `accum_update.<param>` (u).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 1.0.
        rho (float): The decay of the running averages, within [0, 1]. Default: 0.9.
        eps (float): Added inside the roots, positive. Default: 1e-6.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.Adadelta([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.9993]
    """

    _counter = None
    _slots = (Slot("accum"), Slot("accum_update"))

    def __init__(self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0, *, maximize: bool = False) -> None:
        check_rate("Adadelta", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_float("Adadelta", "rho", group["rho"], least=0, most=1)
        check_float("Adadelta", "eps", group["eps"], above=0)
        check_maximize("Adadelta", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        rho, eps, decay, sign = group["rho"], group["eps"], group["weight_decay"], sign_of(group)

        def rule(p: Tensor, g: Tensor, v: Tensor, u: Tensor) -> Tuple[Tensor, ...]:
            return _ops.adadelta_update(p, v, u, g, rate, rho, eps, decay, sign)

        return rule
