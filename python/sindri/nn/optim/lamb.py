"""Lamb, composed of ops."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from sindri import _core, context
from sindri.common.tensor import Tensor
from sindri.nn._check import fail
from sindri.nn.cell import Cell
from sindri.nn.optim.adam import check_betas
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["Lamb"]

_ops = _core.ops


class Lamb(Optimizer):
    """Adam's moments with bias correction, u = m̂/(sqrt(v̂) + eps) + weight_decay·p, p -= lr·|p|/|u|·u (the ratio is 1 where a norm is 0).

    State `lamb_m.<param>`, `lamb_v.<param>`; global_step counts every step. Raises TypeError or ValueError for betas outside (0, 1) and eps not above
    0, and as Optimizer.
    """

    _support_parallel_optimizer = True

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6, weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas("Lamb", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = (Tensor(np.array([v], np.float32)) for v in (beta1, beta2, eps))
        self._settings = (beta1, beta2, eps)
        self.params = self.parameters
        self.moments1, self.moments2 = self._state("lamb_m"), self._state("lamb_v")

    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        if len(gradients) != self.param_length:
            fail(ValueError, f"Lamb: {len(gradients)} gradients for {self.param_length} parameters")
        beta1, beta2, eps = self._settings
        decays = [self._decay_of(i) for i in range(self.param_length)]
        dynamic = {id(d): d(self.global_step) for d in decays if isinstance(d, Cell)}
        rates = self._rates()
        if context.era() == 2 or not self._is_dynamic_lr_or_weight_decay():
            self._advance()
        step = _ops.cast(_ops.reshape(self.global_step, ()), self._scalar_dtype)
        left1, left2 = (_ops.sub(1.0, _ops.pow(_ops.full((), b, self._scalar_dtype), step)) for b in (beta1, beta2))
        for p, m, v, lr, grad, decay in zip(self.params, self.moments1, self.moments2, rates, self.gradients_centralization(tuple(gradients)),
                                            decays):
            new_m = _ops.add(_ops.mul(m, beta1), _ops.mul(grad, 1 - beta1))
            new_v = _ops.add(_ops.mul(v, beta2), _ops.mul(_ops.square(grad), 1 - beta2))
            update = _ops.div(_ops.div(new_m, left1), _ops.add(_ops.sqrt(_ops.div(new_v, left2)), eps))
            if isinstance(decay, Cell):
                decay = _ops.reshape(_ops.cast(dynamic[id(decay)], p.dtype), ())
                update = _ops.add(update, _ops.mul(p, decay))
            elif decay != 0.0:
                update = _ops.add(update, _ops.mul(p, decay))
            p_norm, u_norm = _ops.norm(p), _ops.norm(update)
            both = _ops.logical_and(_ops.greater(p_norm, 0.0), _ops.greater(u_norm, 0.0))
            # The divisor is made harmless first: 0/0 in the part not chosen would be a NaN all the same.
            ratio = _ops.where(both, _ops.div(p_norm, _ops.where(both, u_norm, 1.0)), 1.0)
            p.assign(_ops.sub(p, _ops.mul(update, _ops.mul(ratio, lr))))
            m.assign(new_m)
            v.assign(new_v)
        return True
