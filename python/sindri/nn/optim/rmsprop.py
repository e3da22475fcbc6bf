"""RMSProp."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_strict_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["RMSProp"]


class RMSProp(NativeOptimizer):
    """s = decay·s + (1 - decay)·g²; v = momentum·v + lr·g/sqrt(s + epsilon); p -= v.

    centered: c = decay·c + (1 - decay)·g, and s - c² stands for s in the root. State `mean_square.<param>` (from 1), `moment.<param>`,
    `mean_grad.<param>`. use_locking is stored only. Raises TypeError or ValueError for negative numbers and epsilon not above 0, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
                 use_locking: bool = False, centered: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0) -> None:
        self.decay = check_strict_float("RMSProp", "decay", decay, least=0)
        self.momentum = check_strict_float("RMSProp", "momentum", momentum, least=0)
        self.epsilon = check_strict_float("RMSProp", "epsilon", epsilon, above=0)
        self.use_locking, self.centered = check_bool("RMSProp", "use_locking", use_locking), check_bool("RMSProp", "centered", centered)
        self._build("rmsprop", learning_rate, params, weight_decay, loss_scale, decay=self.decay, momentum=self.momentum, epsilon=self.epsilon,
                    centered=self.centered)
        if centered:
            self.mg = self._states(2)
        self.ms, self.moment = self._states(0), self._states(1)
