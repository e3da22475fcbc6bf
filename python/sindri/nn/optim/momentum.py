"""Momentum."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Momentum"]


class Momentum(NativeOptimizer):
    """v = momentum·v + g; p -= lr·v, with use_nesterov p -= lr·(g + momentum·v). State `moments.<param>` and `momentum`.

    As PyTorch's SGD with dampening 0. Raises ValueError for a negative momentum, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any, momentum: float, weight_decay: Any = 0.0, loss_scale: float = 1.0,
                 use_nesterov: bool = False) -> None:
        momentum, self.use_nesterov = check_float("Momentum", "momentum", momentum, least=0), check_bool("Momentum", "use_nesterov", use_nesterov)
        self._build("momentum", learning_rate, params, weight_decay, loss_scale, momentum=momentum, nesterov=self.use_nesterov)
        (self.momentum,) = self._shared_states()
        self.params = self.parameters
        self.moments = self._states(0)
