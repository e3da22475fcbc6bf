"""Adam and its kin."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_strict_float, fail
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Adam", "AdamOffload", "AdamWeightDecay", "LazyAdam", "AdaMax"]


def check_betas(who: str, beta1: Any, beta2: Any, eps: Any) -> None:
    """Floats, the betas in (0, 1), eps above 0. Raises TypeError or ValueError."""
    check_strict_float(who, "beta1", beta1, above=0, below=1)
    check_strict_float(who, "beta2", beta2, above=0, below=1)
    check_strict_float(who, "eps", eps, above=0)


class Adam(NativeOptimizer):
    """Adam with bias correction: p -= lr·sqrt(1 - beta2^t)/(1 - beta1^t)·m/(sqrt(v) + eps).

    With use_nesterov beta1·m + (1 - beta1)·g stands for m, with use_amsgrad the largest v so far for v. State `moment1.<param>`, `moment2.<param>`
    (`vhat.<param>`), `beta1_power`, `beta2_power`. use_locking and the keywords use_lazy and use_offload say how to run and are stored only.
    Raises TypeError or ValueError for betas outside (0, 1), eps not above 0 and unknown keywords, and as Optimizer.
    """

    _rule = "adam"

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0, use_amsgrad: bool = False, **kwargs: bool) -> None:
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
        amsgrad = {"amsgrad": True} if self.use_amsgrad else {}
        self._build(self._rule, learning_rate, params, weight_decay, loss_scale, beta1=beta1, beta2=beta2, eps=eps, nesterov=self.use_nesterov, **amsgrad)
        self.beta1_power, self.beta2_power = self._shared_states()
        self.moment1, self.moment2 = self._states(0), self._states(1)
        if self.use_amsgrad:
            self.vhat = self._states(2)


class AdamOffload(Adam):
    """Adam under the name of MindSpore's form that computes the update on the host: here a device does it. use_locking is stored only."""

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdamWeightDecay(NativeOptimizer):
    """p -= lr·(m/(sqrt(v) + eps) + weight_decay·p), without bias correction. State `adam_m.<param>`, `adam_v.<param>`.

    Raises TypeError or ValueError for betas outside (0, 1) and eps not above 0, and as Optimizer.
    """

    _support_parallel_optimizer = True

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
                 weight_decay: Any = 0.0) -> None:
        check_betas("AdamWeightDecay", beta1, beta2, eps)
        self._build("adam_weight_decay", learning_rate, params, weight_decay, beta1=beta1, beta2=beta2, eps=eps)
        self._show_as_tensors(beta1=beta1, beta2=beta2, eps=eps)
        self.moments1, self.moments2 = self._states(0), self._states(1)


class LazyAdam(Adam):
    """Adam. Where a gradient holds rows of a table only, MindSpore leaves the other rows' moments alone; gradients here hold every row."""

    _rule = "lazy_adam"

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdaMax(NativeOptimizer):
    """p -= lr/(1 - beta1^t)·m/(v + eps), v the larger of beta2·v and |g|. State `moment1.<param>`, `moment2.<param>`, `beta1_power`.

    Raises TypeError or ValueError for betas outside (0, 1) and eps not above 0, and as Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: Any = 0.0,
                 loss_scale: float = 1.0) -> None:
        check_betas("AdaMax", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self._build("adamax", learning_rate, params, weight_decay, loss_scale, beta1=beta1, beta2=beta2, eps=eps)
        (self.beta1_power,) = self._shared_states()
        self.moment1, self.moment2 = self._states(0), self._states(1)
