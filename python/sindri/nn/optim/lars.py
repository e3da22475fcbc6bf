"""LARS: rescales the gradients of another optimizer, layer by layer."""
from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_strict_float, check_type, fail
from sindri.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["LARS"]

_ops = _core.ops


class LARS(Optimizer):
    """Layer-wise adaptive rate scaling of another optimizer's gradients.

    The gradient of a parameter for which `lars_filter` is true becomes coefficient·|w|/(|g| + wd·|w| + epsilon)·(g + wd·w). The factor is 1 if a
    norm is 0; with `use_clip` it is min(factor/lr, 1). Other parameters receive the unscaled gradient, without decay. LARS performs the weight
    decay and the division by the loss scale instead of the wrapped optimizer.

    Args:
        optimizer (Optimizer): The optimizer.
        epsilon (float): Added to the denominator. Default: 1e-5.
        coefficient (float): The trust coefficient. Default: 0.001.
        use_clip (bool): Whether the factor is clipped. Default: False.
        lars_filter (Callable): `lars_filter(parameter)` returns whether the gradient is scaled. Default: true for names without "LayerNorm"
            and "bias".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `use_clip` is combined with learning rates that are both dynamic and per group.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([3.0, 4.0]), name="p")
        >>> _ = ms.nn.LARS(ms.nn.Momentum([p], 1.0, 0.0))((ms.Tensor([1.0, 0.0]),))
        >>> print(p.asnumpy().round(3))
        [2.995 4.   ]
    """

    @opt_init_args_register
    def __init__(self, optimizer: Optimizer, epsilon: float = 1e-5, coefficient: float = 0.001, use_clip: bool = False,
                 lars_filter: Callable[[Parameter], bool] = lambda x: "LayerNorm" not in x.name and "bias" not in x.name) -> None:
        check_type("LARS", "optimizer", optimizer, Optimizer)
        super().__init__(0.0, list(optimizer.parameters))
        self._epsilon = check_strict_float("LARS", "epsilon", epsilon)
        self._coefficient = check_strict_float("LARS", "coefficient", coefficient)
        self.use_clip = check_bool("LARS", "use_clip", use_clip)
        if use_clip and optimizer.is_group_lr and optimizer.dynamic_lr:
            fail(ValueError, "LARS: use_clip cannot be combined with learning rates that are both dynamic and per group")
        self.opt = optimizer
        taken = ["dynamic_decay_flags", "dynamic_weight_decay", "weight_decay", "global_step", "is_group", "decay_flags", "exec_weight_decay", "loss_scale",
                 "need_scale", "reciprocal_scale", *(["is_group_lr", "dynamic_lr"] if use_clip else [])]
        for name in taken:
            setattr(self, name, getattr(optimizer, name))
        if use_clip:
            self.origin_learning_rate = optimizer.learning_rate
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        self.learning_rate = Parameter(Tensor(0.0, mstype.float32), name="fake_lr")
        optimizer.decay_flags = (False,) * self.param_length
        optimizer.dynamic_decay_flags = (False,) * self.param_length if self.is_group else False
        optimizer.dynamic_weight_decay = optimizer.exec_weight_decay = False
        optimizer.reciprocal_scale, optimizer.need_scale = Tensor(1.0, mstype.float32), False

    def _current_rates(self) -> Tuple[Any, ...]:
        """Returns the learning rate of every parameter, without advancing global_step."""
        lr = self.origin_learning_rate
        if self.is_group_lr:
            return tuple(lr)
        return (self._scalar(lr(self.global_step)) if self.dynamic_lr else lr,) * self.param_length

    def construct(self, gradients: Tuple[Tensor, ...]) -> Any:
        if len(gradients) != self.param_length:
            fail(ValueError, f"LARS: {len(gradients)} gradients for {self.param_length} parameters")
        gradients = self.scale_grad(tuple(gradients))
        rates = self._current_rates() if self.use_clip else (None,) * self.param_length
        scaled = []
        for p, g, lr, decay, flag in zip(self.parameters, gradients, rates, self._decays(), self.lars_flag):
            scaled.append(_core.lars_gradient(p, g, decay, lr, self._coefficient, self._epsilon) if flag else g)
        result = self.opt(tuple(scaled))
        if context.era() == 1 and self.dynamic_weight_decay and not (self.opt.dynamic_lr or self.opt.__dict__["_cell_native"].needs_step_count):
            self._advance()
        return result

    def _decays(self) -> Tuple[Optional[Tensor], ...]:
        """Returns the decay of every parameter, without the loss scale; None if it does not decay."""
        if not self.exec_weight_decay:
            return (None,) * self.param_length
        decay = self.get_weight_decay()
        decays = []
        for p, d, flag in zip(self.parameters, decay if self.is_group else (decay,) * self.param_length, self.decay_flags):
            if isinstance(d, Tensor):
                d = _ops.div(_ops.reshape(_ops.cast(d, p.dtype), ()), self.loss_scale)
            decays.append(None if not flag else d if isinstance(d, Tensor) else _ops.full((), d / self.loss_scale, p.dtype))
        return tuple(decays)
