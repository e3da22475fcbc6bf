"""Averaged stochastic gradient descent."""
from __future__ import annotations

from typing import Any

from sindri._check import check_strict_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["ASGD"]


class ASGD(NativeOptimizer):
    """Averaged SGD: p = (1 - lambd·eta)·p - eta·g, and the average of the weights ax += mu·(p - ax).

    After update t, eta = lr/(1 + lambd·lr·t)^alpha and mu = 1/max(1, t - t0). State: `ax_.<param>` (p while mu is 1), `eta_<param>`,
    `mu_<param>`.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.1.
        lambd (float): The decay. Default: 1e-4.
        alpha (float): The exponent of eta. Default: 0.75.
        t0 (float): The update at which averaging starts. Default: 1e6.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if `lambd`, `alpha` or `t0` is not a float.
        ValueError: As in Optimizer.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.ASGD([p], learning_rate=0.1)((ms.Tensor([1.0, -1.0]),))
        >>> print(p.asnumpy().round(3))
        [0.9 2.1]
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: Any = 0.) -> None:
        self.lambd, self.alpha, self.t0 = (check_strict_float("ASGD", name, value) for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)))
        self._build("asgd", learning_rate, params, weight_decay, lambd=self.lambd, alpha=self.alpha, t0=self.t0)
        self.ax, self.eta, self.mu = self._states(0), self._states(1), self._states(2)
