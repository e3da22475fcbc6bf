"""Adagrad and Adadelta, composed of ops."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_strict_float
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["Adagrad", "Adadelta"]

_ops = _core.ops


class Adagrad(Optimizer):
    """a += g²; p -= lr·g/sqrt(a), a starting at accum; without update_slots a stays. State `accum.<param>`.

    Raises TypeError or ValueError for a negative accum, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, update_slots: bool = True, loss_scale: float = 1.0,
                 weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        start = check_strict_float("Adagrad", "accum", accum, least=0)
        self.update_slots = check_bool("Adagrad", "update_slots", update_slots)
        self.accum = self._state("accum", start)

    def construct(self, grads: Tuple[Tensor, ...]) -> bool:
        grads = self.scale_grad(self.gradients_centralization(self.decay_weight(tuple(grads))))
        for p, a, lr, g in zip(self.parameters, self.accum, self._rates(), grads):
            if self.update_slots:
                a.assign(_ops.add(a, _ops.square(g)))
            p.assign(_ops.sub(p, _ops.div(_ops.mul(g, lr), _ops.sqrt(a))))
        return True


class Adadelta(Optimizer):
    """a = rho·a + (1 - rho)·g²; u = sqrt(d + epsilon)/sqrt(a + epsilon)·g; d = rho·d + (1 - rho)·u²; p -= lr·u.

    State `accum.<param>` (a) and `accum_update.<param>` (d). Raises TypeError or ValueError for rho outside [0, 1] and a negative epsilon, and as
    Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1.0, rho: float = 0.9, epsilon: float = 1e-6, loss_scale: float = 1.0,
                 weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = check_strict_float("Adadelta", "rho", rho, least=0, most=1)
        self.epsilon = check_strict_float("Adadelta", "epsilon", epsilon, least=0)
        self.accum, self.accum_update = self._state("accum"), self._state("accum_update")

    def construct(self, grads: Tuple[Tensor, ...]) -> bool:
        grads = self.scale_grad(self.gradients_centralization(self.decay_weight(tuple(grads))))
        keep, take = self.rho, 1 - self.rho
        for p, a, d, lr, g in zip(self.parameters, self.accum, self.accum_update, self._rates(), grads):
            a.assign(_ops.add(_ops.mul(a, keep), _ops.mul(_ops.square(g), take)))
            u = _ops.mul(_ops.div(_ops.sqrt(_ops.add(d, self.epsilon)), _ops.sqrt(_ops.add(a, self.epsilon))), g)
            d.assign(_ops.add(_ops.mul(d, keep), _ops.mul(_ops.square(u), take)))
            p.assign(_ops.sub(p, _ops.mul(u, lr)))
        return True
