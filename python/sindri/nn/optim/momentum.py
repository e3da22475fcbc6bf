"""Momentum: the rule is one op."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_float
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register, takes_controls

__all__ = ["Momentum"]

_momentum_update = _core.ops.momentum_update


class Momentum(Optimizer):
    """v = momentum·v + g; p -= lr·v, with use_nesterov p -= lr·(g + momentum·v). State `moments.<param>` and `momentum`.

    As PyTorch's SGD with dampening 0. Raises ValueError for a negative momentum, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any, momentum: float, weight_decay: Any = 0.0, loss_scale: float = 1.0,
                 use_nesterov: bool = False) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_float("Momentum", "momentum", momentum, least=0)
        self.momentum = Parameter(Tensor(float(momentum), self._scalar_dtype), name="momentum")
        self.params = self.parameters
        self.use_nesterov = check_bool("Momentum", "use_nesterov", use_nesterov)
        self.moments = self._state("moments")

    @takes_controls
    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        prepared = self._prepare(gradients)
        momentum, nesterov, skip = self.momentum, self.use_nesterov, self.__dict__["_cell_skip"]
        for p, v, lr, (grad, decay, scale, inv_scale) in zip(self.params, self.moments, self._rates(), prepared):
            new_p, new_v = _momentum_update(p, v, grad, lr, momentum, decay, scale, nesterov, inv_scale, skip)
            p.assign(new_p)
            v.assign(new_v)
        return True
