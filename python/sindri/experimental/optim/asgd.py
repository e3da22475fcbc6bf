"""ASGD: SGD with a decreasing learning rate, and the average of its weights (Polyak and Juditsky 1992)."""
from __future__ import annotations

import math
from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float, check_strict_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, decayed, like

__all__ = ["ASGD"]

_ops = _core.ops


class ASGD(RuleOptimizer):
    """Averaged SGD: p = (1 - lambd·eta)·p - eta·g; ax = p while mu is 1, otherwise ax + mu·(p - ax); then eta = lr/(1 + lambd·lr·t)^alpha, mu = 1/max(1, t -
    t0).

    In the first step eta is lr. State: `ax.<param>`, for each group `eta_group_<number>` and `mu_group_<number>`, and `step_t` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 1e-2.
        lambd (float): The decay term. Default: 1e-4.
        alpha (float): The power of the decrease of eta. Default: 0.75.
        t0 (float): The step at which averaging starts. Default: 1e6.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type; `lambd` and `t0` must be floats.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.ASGD([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.85]
    """

    _slots = (Slot("ax"), Slot("eta", of_groups=True), Slot("mu", lambda group: 1.0, of_groups=True))

    def __init__(self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0.0,
                 maximize: bool = False) -> None:
        check_rate("ASGD", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_strict_float("ASGD", "lambd", group["lambd"])
        check_float("ASGD", "alpha", group["alpha"])
        check_strict_float("ASGD", "t0", group["t0"])
        check_maximize("ASGD", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        lambd, held_eta, held_mu = group["lambd"], self.eta[number], self.mu[number]
        eta, mu = _ops.where(_ops.equal(step, 1.0), rate, held_eta.value()), held_mu.value()
        held_eta.assign(rate / _ops.pow(rate * like(step, rate) * lambd + 1.0, _ops.full((), group["alpha"], rate.dtype)))
        held_mu.assign(like(_ops.reciprocal(_ops.clamp(step - group["t0"], 1.0, math.inf)), rate))
        averages = _ops.not_equal(mu, 1.0)

        def rule(p: Tensor, g: Tensor, ax: Tensor) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            p = p * (1.0 - eta * lambd) - eta * g
            return p, _ops.where(averages, ax + (p - ax) * mu, p)

        return rule
