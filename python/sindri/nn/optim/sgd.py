"""SGD: the rule is one op."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core, context
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_float, fail
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register, takes_controls

__all__ = ["SGD"]

_ops = _core.ops


class SGD(Optimizer):
    """PyTorch's SGD: v = g on the first step, then momentum·v + (1 - dampening)·g; p -= lr·v, with nesterov p -= lr·(g + momentum·v).

    Weight decay without groups leaves parameters out whose names contain 'beta' or 'gamma' (with SINDRI_MINDSPORE_ERA=1 it goes to all). State `accum.<param>`, and `stat.<param>`, of the parameter's shape: 1
    before the first step with momentum and 0 after. Raises TypeError for a weight decay that is a Cell, ValueError for negative numbers and for
    nesterov without momentum or with dampening, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0,
                 nesterov: bool = False, loss_scale: float = 1.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._momentum = check_float("SGD", "momentum", momentum, least=0)
        self.dampening = check_float("SGD", "dampening", dampening, least=0)
        self.nesterov = check_bool("SGD", "nesterov", nesterov)
        if nesterov and (self._momentum == 0 or self.dampening != 0):
            fail(ValueError, f"SGD: nesterov needs a momentum above 0 and dampening 0, got {momentum} and {dampening}")
        if self.dynamic_weight_decay:
            fail(TypeError, "SGD: weight_decay must be a number, got a Cell")
        self.momentum = Parameter(Tensor(self._momentum, self._scalar_dtype), name="momentum")
        self.accum = self._state("accum")
        self.stat = self._state("stat", 1.0)

    @takes_controls
    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        prepared = self._prepare(gradients, filters=context.era() == 2)
        momentum, dampening, nesterov, skip = self._momentum, self.dampening, self.nesterov, self.__dict__["_cell_skip"]
        for p, v, stat, lr, (grad, decay, scale, inv_scale) in zip(self.parameters, self.accum, self.stat, self._rates(), prepared):
            first = _ops.slice(_ops.reshape(stat, (-1,)), (0,), (1,))  # all its elements are alike
            new_p, new_v, new_stat = _ops.sgd_update(p, v, first, grad, lr, momentum, dampening, decay, scale, nesterov, inv_scale, skip)
            p.assign(new_p)
            if momentum:
                v.assign(new_v)
                stat.assign(_ops.broadcast_to(_ops.reshape(new_stat, ()), stat.shape))
        return True
