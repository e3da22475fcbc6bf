"""RMSProp, composed of ops."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_strict_float
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["RMSProp"]

_ops = _core.ops


class RMSProp(Optimizer):
    """s = decay·s + (1 - decay)·g²; v = momentum·v + lr·g/sqrt(s + epsilon); p -= v.

    centered: c = decay·c + (1 - decay)·g, and s - c² stands for s in the root. State `mean_square.<param>` (from 1), `moment.<param>`,
    `mean_grad.<param>`. use_locking is stored only. Raises TypeError or ValueError for negative numbers and epsilon not above 0, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
                 use_locking: bool = False, centered: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = check_strict_float("RMSProp", "decay", decay, least=0)
        self.momentum = check_strict_float("RMSProp", "momentum", momentum, least=0)
        self.epsilon = check_strict_float("RMSProp", "epsilon", epsilon, above=0)
        self.use_locking, self.centered = check_bool("RMSProp", "use_locking", use_locking), check_bool("RMSProp", "centered", centered)
        if centered:
            self.mg = self._state("mean_grad")
        self.ms, self.moment = self._state("mean_square", 1.0), self._state("moment")

    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        gradients = self.scale_grad(self.gradients_centralization(self.decay_weight(tuple(gradients))))
        keep, take = self.decay, 1 - self.decay
        for i, (p, s, v, lr, g) in enumerate(zip(self.parameters, self.ms, self.moment, self._rates(), gradients)):
            s.assign(_ops.add(_ops.mul(s, keep), _ops.mul(_ops.square(g), take)))
            spread = s.value()
            if self.centered:
                c = self.mg[i]
                c.assign(_ops.add(_ops.mul(c, keep), _ops.mul(g, take)))
                spread = _ops.sub(spread, _ops.square(c))
            v.assign(_ops.add(_ops.mul(v, self.momentum), _ops.div(_ops.mul(g, lr), _ops.sqrt(_ops.add(spread, self.epsilon)))))
            p.assign(_ops.sub(p, v))
        return True
