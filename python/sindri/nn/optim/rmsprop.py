"""RMSProp."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_strict_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["RMSProp"]


class RMSProp(NativeOptimizer):
    """RMSProp: s = decay·s + (1 - decay)·g²; v = momentum·v + lr·g/sqrt(s + epsilon); p -= v.

    State: `mean_square.<param>` (s, initially 1), `moment.<param>` (v), `mean_grad.<param>` (c) with `centered`.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.1.
        decay (float): The decay of the average, at least 0. Default: 0.9.
        momentum (float): The momentum, at least 0. Default: 0.0.
        epsilon (float): Added for numerical stability; above 0. Default: 1e-10.
        use_locking (bool): Stored without effect. Default: False.
        centered (bool): Whether s - c² with c = decay·c + (1 - decay)·g replaces s in the root. Default: False.
        loss_scale (float): As in Optimizer. Default: 1.0.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if another argument has another type.
        ValueError: As in Optimizer, or if a number is out of range.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.RMSProp([p])((ms.Tensor([1.0, -1.0]),))
        >>> print(p.asnumpy().round(4))
        [0.9 2.1]
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
