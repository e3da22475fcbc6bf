"""ASGD."""
from __future__ import annotations

from typing import Any

from sindri._check import check_strict_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["ASGD"]


class ASGD(NativeOptimizer):
    """p = (1 - lambd·eta)·p - eta·g beside the average ax of the weights: ax += mu·(p - ax). After update t eta = lr/(1 + lambd·lr·t)^alpha and mu =
    1/max(1, t - t0). State `ax_.<param>` (p while mu is 1), `eta_<param>`, `mu_<param>`.

    Raises TypeError for what are no floats, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: Any = 0.) -> None:
        self.lambd, self.alpha, self.t0 = (check_strict_float("ASGD", name, value) for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)))
        self._build("asgd", learning_rate, params, weight_decay, lambd=self.lambd, alpha=self.alpha, t0=self.t0)
        self.ax, self.eta, self.mu = self._states(0), self._states(1), self._states(2)
