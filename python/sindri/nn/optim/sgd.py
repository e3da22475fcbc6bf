"""Stochastic gradient descent."""
from __future__ import annotations

from typing import Any

from sindri import context
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, fail
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["SGD"]


class SGD(NativeOptimizer):
    """Stochastic gradient descent as in PyTorch: v = g in the first step, then momentum·v + (1 - dampening)·g; p -= lr·v.

    Without groups, parameters whose names contain "beta" or "gamma" do not decay; with SINDRI_MINDSPORE_ERA=1 all do. State: `accum.<param>` (v)
    and `stat.<param>`, of the parameter's shape: 1 before the first step with momentum and 0 afterwards.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.1.
        momentum (float): The momentum, at least 0. Default: 0.0.
        dampening (float): The dampening of momentum, at least 0. Default: 0.0.
        weight_decay (float): The weight decay, a number. Default: 0.0.
        nesterov (bool): Whether the update is p -= lr·(g + momentum·v). Default: False.
        loss_scale (float): As in Optimizer. Default: 1.0.

    Raises:
        TypeError: As in Optimizer, or if `weight_decay` is a Cell.
        ValueError: As in Optimizer, if a number is negative, or if `nesterov` is used without momentum or with dampening.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> optimizer = ms.nn.SGD([p], learning_rate=0.5)
        >>> _ = optimizer((ms.Tensor([1.0, 1.0]),))
        >>> print(p.asnumpy())
        [0.5 1.5]
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0,
                 nesterov: bool = False, loss_scale: float = 1.0) -> None:
        self._momentum = check_float("SGD", "momentum", momentum, least=0)
        self.dampening = check_float("SGD", "dampening", dampening, least=0)
        self.nesterov = check_bool("SGD", "nesterov", nesterov)
        self._build("sgd", learning_rate, params, weight_decay, loss_scale, momentum=self._momentum, dampening=self.dampening, nesterov=self.nesterov,
                    decay_all=context.era() == 1)
        if self.dynamic_weight_decay:
            fail(TypeError, "SGD: weight_decay must be a number, got a Cell")
        self.momentum = Parameter(Tensor(self._momentum, self._rate_type()), name="momentum")
        self.accum, self.stat = self._states(0), self._states(1)
