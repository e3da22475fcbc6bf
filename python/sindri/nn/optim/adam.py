"""Adam and its kin: one op per parameter; Adam's bias correction comes from two shared scalars."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from sindri import _core
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_strict_float, fail
from sindri.nn.cell import Cell
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register, takes_controls

__all__ = ["Adam", "AdamWeightDecay", "LazyAdam", "AdaMax"]

_ops = _core.ops


def check_betas(who: str, beta1: Any, beta2: Any, eps: Any) -> None:
    """Floats, the betas in (0, 1), eps above 0. Raises TypeError or ValueError."""
    check_strict_float(who, "beta1", beta1, above=0, below=1)
    check_strict_float(who, "beta2", beta2, above=0, below=1)
    check_strict_float(who, "eps", eps, above=0)


class Adam(Optimizer):
    """Adam with bias correction: p -= lr·sqrt(1 - beta2^t)/(1 - beta1^t)·m/(sqrt(v) + eps).

    With use_nesterov beta1·m + (1 - beta1)·g stands for m, with use_amsgrad the largest v so far for v. State `moment1.<param>`, `moment2.<param>`
    (`vhat.<param>`), `beta1_power`, `beta2_power`. use_locking and the keywords use_lazy and use_offload say how to run and are stored only.
    Raises TypeError or ValueError for betas outside (0, 1), eps not above 0 and unknown keywords, and as Optimizer.
    """

    _power_shape: Tuple[int, ...] = ()

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0, use_amsgrad: bool = False, **kwargs: bool) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas("Adam", beta1, beta2, eps)
        self.use_locking, self.use_nesterov = check_bool("Adam", "use_locking", use_locking), check_bool("Adam", "use_nesterov", use_nesterov)
        self.use_amsgrad = check_bool("Adam", "use_amsgrad", use_amsgrad)
        for name in kwargs:
            if name not in ("use_lazy", "use_offload"):
                fail(TypeError, f"Adam: the keyword '{name}' is not known")
        self.use_lazy, self.use_offload = (check_bool("Adam", k, kwargs.get(k, False)) for k in ("use_lazy", "use_offload"))
        if self.use_amsgrad and self.use_nesterov:
            fail(ValueError, "Adam: use_amsgrad does not go with use_nesterov")
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = Parameter(_ops.full(self._power_shape, 1.0, self._scalar_dtype), name="beta1_power")
        self.beta2_power = Parameter(_ops.full(self._power_shape, 1.0, self._scalar_dtype), name="beta2_power")
        self.moment1, self.moment2 = self._state("moment1"), self._state("moment2")
        if self.use_amsgrad:
            self.vhat = self._state("vhat")

    @takes_controls
    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        prepared = self._prepare(gradients)
        rates = self._rates()
        before1, before2 = self.beta1_power.value(), self.beta2_power.value()
        power1, power2 = _ops.mul(before1, self.beta1), _ops.mul(before2, self.beta2)
        self.beta1_power.assign(self._unless_skipped(before1, power1))
        self.beta2_power.assign(self._unless_skipped(before2, power2))
        power1, power2 = _ops.reshape(power1, ()), _ops.reshape(power2, ())
        if self.use_amsgrad:
            self._amsgrad(prepared, rates, power1, power2)
            return True
        skip, settings = self.__dict__["_cell_skip"], (self.beta1, self.beta2, self.eps)
        for p, m, v, lr, (grad, decay, scale, inv_scale) in zip(self.parameters, self.moment1, self.moment2, rates, prepared):
            new_p, new_m, new_v = _ops.adam_update(p, m, v, grad, lr, power1, power2, *settings, decay, scale, self.use_nesterov, inv_scale, skip)
            p.assign(new_p)
            m.assign(new_m)
            v.assign(new_v)
        return True

    def _amsgrad(self, prepared: list, rates: Tuple[Tensor, ...], power1: Tensor, power2: Tensor) -> None:
        correction = _ops.div(_ops.sqrt(_ops.sub(1.0, power2)), _ops.sub(1.0, power1))
        for p, m, v, vhat, lr, (grad, decay, scale, inv_scale) in zip(self.parameters, self.moment1, self.moment2, self.vhat, rates, prepared):
            old_p, old_m, old_v, old_vhat = p.value(), m.value(), v.value(), vhat.value()
            grad = grad if scale == 1.0 else _ops.mul(grad, scale)
            grad = grad if inv_scale is None else _ops.mul(grad, _ops.cast(inv_scale, grad.dtype))
            grad = grad if decay == 0.0 else _ops.add(grad, _ops.mul(old_p, decay))
            new_m = _ops.add(_ops.mul(old_m, self.beta1), _ops.mul(grad, 1 - self.beta1))
            new_v = _ops.add(_ops.mul(old_v, self.beta2), _ops.mul(_ops.square(grad), 1 - self.beta2))
            new_vhat = _ops.maximum(old_vhat, new_v)
            step = _ops.div(_ops.mul(new_m, _ops.mul(lr, correction)), _ops.add(_ops.sqrt(new_vhat), self.eps))
            for state, old, new in ((p, old_p, _ops.sub(old_p, step)), (m, old_m, new_m), (v, old_v, new_v), (vhat, old_vhat, new_vhat)):
                state.assign(self._unless_skipped(old, new))


class AdamWeightDecay(Optimizer):
    """p -= lr·(m/(sqrt(v) + eps) + weight_decay·p), without bias correction. State `adam_m.<param>`, `adam_v.<param>`.

    Raises TypeError or ValueError for betas outside (0, 1) and eps not above 0, and as Optimizer.
    """

    _support_parallel_optimizer = True
    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
                 weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas("AdamWeightDecay", beta1, beta2, eps)
        # As tensors because optimizers derived from this one read them; the update op takes the numbers.
        self.beta1, self.beta2, self.eps = (Tensor(np.array([v], np.float32)) for v in (beta1, beta2, eps))
        self._settings = (beta1, beta2, eps)
        self.moments1, self.moments2 = self._state("adam_m"), self._state("adam_v")

    @takes_controls
    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        if len(gradients) != self.param_length:
            fail(ValueError, f"AdamWeightDecay: {len(gradients)} gradients for {self.param_length} parameters")
        decays = [self._decay_of(i) for i in range(self.param_length)]
        dynamic = {id(d): d(self.global_step) for d in decays if isinstance(d, Cell)}
        skip = self.__dict__["_cell_skip"]
        inv_scale = self.__dict__["_cell_inv_scale"]
        if self.grad_centralization:
            if inv_scale is not None:
                gradients = tuple(_ops.mul(g, _ops.cast(inv_scale, g.dtype)) for g in gradients)
            gradients, inv_scale = self.gradients_centralization(tuple(gradients)), None
        for p, m, v, lr, grad, decay in zip(self.parameters, self.moments1, self.moments2, self._rates(), gradients, decays):
            old = p.value()
            fixed = 0.0 if isinstance(decay, Cell) else decay
            new_p, new_m, new_v = _ops.adam_weight_decay_update(p, m, v, grad, lr, *self._settings, fixed, 1.0, inv_scale, skip)
            if isinstance(decay, Cell):
                rate = _ops.mul(_ops.reshape(_ops.cast(dynamic[id(decay)], p.dtype), ()), lr)
                new_p = self._unless_skipped(old, _ops.sub(new_p, _ops.mul(old, rate)))
            p.assign(new_p)
            m.assign(new_m)
            v.assign(new_v)
        return True


class LazyAdam(Adam):
    """Adam. Where a gradient holds rows of a table only, MindSpore leaves the other rows' moments alone; gradients here hold every row."""

    _power_shape = (1,)

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdaMax(Optimizer):
    """p -= lr/(1 - beta1^t)·m/(v + eps), v the larger of beta2·v and |g|. State `moment1.<param>`, `moment2.<param>`, `beta1_power`.

    Raises TypeError or ValueError for betas outside (0, 1) and eps not above 0, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: Any = 0.0,
                 loss_scale: float = 1.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas("AdaMax", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = Parameter(_ops.full((1,), 1.0, self._scalar_dtype), name="beta1_power")
        self.moment1, self.moment2 = self._state("moment1"), self._state("moment2")

    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        gradients = self.scale_grad(self.gradients_centralization(self.decay_weight(tuple(gradients))))
        power = _ops.mul(self.beta1_power.value(), self.beta1)
        self.beta1_power.assign(power)
        for p, m, v, lr, g in zip(self.parameters, self.moment1, self.moment2, self._rates(), gradients):
            m.assign(_ops.add(_ops.mul(m, self.beta1), _ops.mul(g, 1 - self.beta1)))
            v.assign(_ops.maximum(_ops.mul(v, self.beta2), _ops.abs(g)))
            p.assign(_ops.sub(p, _ops.div(_ops.mul(m, _ops.div(lr, _ops.sub(1.0, power))), _ops.add(v, self.eps))))
        return True
