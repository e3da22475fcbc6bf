"""Adam and its variants."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_strict_float, fail
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Adam", "AdamOffload", "AdamWeightDecay", "LazyAdam", "AdaMax"]


def check_betas(who: str, beta1: Any, beta2: Any, eps: Any) -> None:
    """Checks floats: the betas in (0, 1), eps above 0. Raises TypeError or ValueError."""
    check_strict_float(who, "beta1", beta1, above=0, below=1)
    check_strict_float(who, "beta2", beta2, above=0, below=1)
    check_strict_float(who, "eps", eps, above=0)


class Adam(NativeOptimizer):
    """Adam with bias correction: p -= lr·sqrt(1 - beta2^t)/(1 - beta1^t)·m/(sqrt(v) + eps).

    m = beta1·m + (1 - beta1)·g and v = beta2·v + (1 - beta2)·g². State: `moment1.<param>` (m), `moment2.<param>` (v), `vhat.<param>` with
    `use_amsgrad`, `beta1_power` and `beta2_power`.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 1e-3.
        beta1 (float): The decay of m, in (0, 1). Default: 0.9.
        beta2 (float): The decay of v, in (0, 1). Default: 0.999.
        eps (float): Added to the denominator; above 0. Default: 1e-8.
        use_locking (bool): Stored without effect. Default: False.
        use_nesterov (bool): Whether beta1·m + (1 - beta1)·g replaces m in the update. Default: False.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.
        loss_scale (float): As in Optimizer. Default: 1.0.
        use_amsgrad (bool): Whether the largest v so far replaces v in the update; not with `use_nesterov`. Default: False.
        **kwargs: `use_lazy` and `use_offload`, stored without effect.

    Raises:
        TypeError: As in Optimizer, or if another argument has another type or a keyword is unknown.
        ValueError: As in Optimizer, or if a beta is outside (0, 1), `eps` is not above 0, or `use_amsgrad` is combined with `use_nesterov`.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> optimizer = ms.nn.Adam([p], learning_rate=0.1)
        >>> _ = optimizer((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy().round(4))
        [0.9 2.1]
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
            fail(ValueError, "Adam: use_amsgrad cannot be combined with use_nesterov")
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        amsgrad = {"amsgrad": True} if self.use_amsgrad else {}
        self._build(self._rule, learning_rate, params, weight_decay, loss_scale, beta1=beta1, beta2=beta2, eps=eps, nesterov=self.use_nesterov, **amsgrad)
        self.beta1_power, self.beta2_power = self._shared_states()
        self.moment1, self.moment2 = self._states(0), self._states(1)
        if self.use_amsgrad:
            self.vhat = self._states(2)


class AdamOffload(Adam):
    """Adam under the name of MindSpore's variant that computes the update on the host; here it is computed on the device.

    Args:
        params (list): As in Adam.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Adam. Default: 1e-3.
        beta1 (float): As in Adam. Default: 0.9.
        beta2 (float): As in Adam. Default: 0.999.
        eps (float): As in Adam. Default: 1e-8.
        use_locking (bool): Stored without effect. Default: False.
        use_nesterov (bool): As in Adam. Default: False.
        weight_decay (float, Cell): As in Adam. Default: 0.0.
        loss_scale (float): As in Adam. Default: 1.0.

    Raises:
        TypeError: As in Adam.
        ValueError: As in Adam.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.AdamOffload([p], learning_rate=0.1)((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy().round(4))
        [0.9 2.1]
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdamWeightDecay(NativeOptimizer):
    """Adam with decoupled weight decay and without bias correction: p -= lr·(m/(sqrt(v) + eps) + weight_decay·p).

    State: `adam_m.<param>` (m), `adam_v.<param>` (v).

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 1e-3.
        beta1 (float): The decay of m, in (0, 1). Default: 0.9.
        beta2 (float): The decay of v, in (0, 1). Default: 0.999.
        eps (float): Added to the denominator; above 0. Default: 1e-6.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if a beta or `eps` is not a float.
        ValueError: As in Optimizer, or if a beta is outside (0, 1) or `eps` is not above 0.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.AdamWeightDecay([p], learning_rate=0.1)((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy().round(4))
        [0.6838 2.3162]
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
    """Adam. For gradients that contain only some rows of a table, MindSpore keeps the other rows' moments; gradients here contain every row.

    Args:
        params (list): As in Adam.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Adam. Default: 1e-3.
        beta1 (float): As in Adam. Default: 0.9.
        beta2 (float): As in Adam. Default: 0.999.
        eps (float): As in Adam. Default: 1e-8.
        use_locking (bool): Stored without effect. Default: False.
        use_nesterov (bool): As in Adam. Default: False.
        weight_decay (float, Cell): As in Adam. Default: 0.0.
        loss_scale (float): As in Adam. Default: 1.0.

    Raises:
        TypeError: As in Adam.
        ValueError: As in Adam.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.LazyAdam([p], learning_rate=0.1)((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy().round(4))
        [0.9 2.1]
    """

    _rule = "lazy_adam"

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, use_locking: bool = False,
                 use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdaMax(NativeOptimizer):
    """AdaMax: p -= lr/(1 - beta1^t)·m/(v + eps), where v is the larger of beta2·v and |g|.

    State: `moment1.<param>` (m), `moment2.<param>` (v), `beta1_power`.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.001.
        beta1 (float): The decay of m, in (0, 1). Default: 0.9.
        beta2 (float): The decay of v, in (0, 1). Default: 0.999.
        eps (float): Added to the denominator; above 0. Default: 1e-8.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.
        loss_scale (float): As in Optimizer. Default: 1.0.

    Raises:
        TypeError: As in Optimizer, or if a beta or `eps` is not a float.
        ValueError: As in Optimizer, or if a beta is outside (0, 1) or `eps` is not above 0.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.AdaMax([p], learning_rate=0.1)((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy().round(4))
        [0.9 2.1]
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: Any = 0.0,
                 loss_scale: float = 1.0) -> None:
        check_betas("AdaMax", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self._build("adamax", learning_rate, params, weight_decay, loss_scale, beta1=beta1, beta2=beta2, eps=eps)
        (self.beta1_power,) = self._shared_states()
        self.moment1, self.moment2 = self._states(0), self._states(1)
