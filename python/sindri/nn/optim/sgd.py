"""SGD."""
from __future__ import annotations

from typing import Any

from sindri import context
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, fail
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["SGD"]


class SGD(NativeOptimizer):
    """PyTorch's SGD: v = g on the first step, then momentum·v + (1 - dampening)·g; p -= lr·v, with nesterov p -= lr·(g + momentum·v).

    Weight decay without groups leaves parameters out whose names contain 'beta' or 'gamma' (with SINDRI_MINDSPORE_ERA=1 it goes to all). State
    `accum.<param>`, and `stat.<param>`, of the parameter's shape: 1 before the first step with momentum and 0 after. Raises TypeError for a weight
    decay that is a Cell, ValueError for negative numbers and for nesterov without momentum or with dampening, and as Optimizer.
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
