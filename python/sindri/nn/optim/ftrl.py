"""FTRL, composed of ops."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_strict_float, fail
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["FTRL"]

_ops = _core.ops


class FTRL(Optimizer):
    """Follow the regularised leader (McMahan et al. 2013): z += g - (n'^-lr_power - n^-lr_power)/lr·p with n' = n + g²; then p is 0 where |z| <= l1
    and (sign(z)·l1 - z)/(n'^-lr_power/lr + 2·l2) elsewhere.

    State `moments.<param>` (n, from initial_accum) and `linear.<param>` (z). use_locking is stored only. Raises TypeError or ValueError for
    negative numbers, lr_power above 0, dynamic learning rates and groups with their own, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, initial_accum: float = 0.1, learning_rate: float = 0.001, lr_power: float = -0.5, l1: float = 0.0, l2: float = 0.0,
                 use_locking: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            fail(ValueError, "FTRL: the learning rate must be one number", "leave 'lr' out of the groups and give a float")
        start = check_strict_float("FTRL", "initial_accum", initial_accum, least=0)
        self.lr = check_strict_float("FTRL", "learning_rate", learning_rate, above=0)
        self.lr_power = check_strict_float("FTRL", "lr_power", lr_power, most=0)
        self.l1, self.l2 = check_strict_float("FTRL", "l1", l1, least=0), check_strict_float("FTRL", "l2", l2, least=0)
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length  # beta and gamma decay here too
        self.use_locking = check_bool("FTRL", "use_locking", use_locking)
        self.moments, self.linear = self._state("moments", start), self._state("linear")

    def construct(self, grads: Tuple[Tensor, ...]) -> bool:
        grads = self.scale_grad(self.gradients_centralization(self.decay_weight(tuple(grads))))
        for p, n, z, lr, g in zip(self.parameters, self.moments, self.linear, self._rates(), grads):
            old = n.value()
            new = _ops.add(old, _ops.square(g))
            root, old_root = _ops.pow(new, -self.lr_power), _ops.pow(old, -self.lr_power)
            linear = _ops.sub(_ops.add(z, g), _ops.mul(_ops.div(_ops.sub(root, old_root), lr), p))
            n.assign(new)
            z.assign(linear)
            step = _ops.div(_ops.sub(_ops.mul(_ops.sign(linear), self.l1), linear), _ops.add(_ops.div(root, lr), 2 * self.l2))
            p.assign(_ops.where(_ops.greater(_ops.abs(linear), self.l1), step, _ops.zeros_like(step)))
        return True
