"""Momentum."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Momentum"]


class Momentum(NativeOptimizer):
    """SGD with momentum: v = momentum·v + g; p -= lr·v. Identical to PyTorch's SGD with dampening 0.

    State: `moments.<param>` (v), `momentum`.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer.
        momentum (float): The momentum, at least 0.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.
        loss_scale (float): As in Optimizer. Default: 1.0.
        use_nesterov (bool): Whether the update is p -= lr·(g + momentum·v). Default: False.

    Raises:
        TypeError: As in Optimizer.
        ValueError: As in Optimizer, or if `momentum` is negative.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> optimizer = ms.nn.Momentum([p], learning_rate=0.5, momentum=0.5)
        >>> _ = optimizer((ms.Tensor([1.0, 1.0]),)), optimizer((ms.Tensor([1.0, 1.0]),))
        >>> print(p.asnumpy())
        [-0.25  0.75]
        >>> net = ms.nn.Dense(3, 2)
        >>> groups = [{"params": [net.weight], "weight_decay": 0.01}, {"params": [net.bias], "lr": 0.2}]
        >>> optimizer = ms.nn.Momentum(groups, learning_rate=0.1, momentum=0.9)
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any, momentum: float, weight_decay: Any = 0.0, loss_scale: float = 1.0,
                 use_nesterov: bool = False) -> None:
        momentum, self.use_nesterov = check_float("Momentum", "momentum", momentum, least=0), check_bool("Momentum", "use_nesterov", use_nesterov)
        self._build("momentum", learning_rate, params, weight_decay, loss_scale, momentum=momentum, nesterov=self.use_nesterov)
        (self.momentum,) = self._shared_states()
        self.params = self.parameters
        self.moments = self._states(0)
