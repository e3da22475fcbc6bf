"""Adagrad, Adadelta and ProximalAdagrad."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_strict_float
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Adagrad", "Adadelta", "ProximalAdagrad"]


class Adagrad(NativeOptimizer):
    """Adagrad: a += g²; p -= lr·g/sqrt(a).

    State: `accum.<param>` (a).

    Args:
        params (list): Parameters or groups, as in Optimizer.
        accum (float): The initial value of a, at least 0. Default: 0.1.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.001.
        update_slots (bool): Whether a is updated. Default: True.
        loss_scale (float): As in Optimizer. Default: 1.0.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if `accum` is not a float.
        ValueError: As in Optimizer, or if `accum` is negative.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.Adagrad([p], accum=0.0, learning_rate=0.1)((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy())
        [0.9 2.1]
    """

    @opt_init_args_register
    def __init__(self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, update_slots: bool = True, loss_scale: float = 1.0,
                 weight_decay: Any = 0.0) -> None:
        start = check_strict_float("Adagrad", "accum", accum, least=0)
        self.update_slots = check_bool("Adagrad", "update_slots", update_slots)
        self._build("adagrad", learning_rate, params, weight_decay, loss_scale, accum=start, update_slots=self.update_slots)
        self.accum = self._states(0)


class Adadelta(NativeOptimizer):
    """Adadelta: a = rho·a + (1 - rho)·g²; u = sqrt(d + epsilon)/sqrt(a + epsilon)·g; d = rho·d + (1 - rho)·u²; p -= lr·u.

    State: `accum.<param>` (a), `accum_update.<param>` (d).

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 1.0.
        rho (float): The decay of the averages, in [0, 1]. Default: 0.9.
        epsilon (float): Added for numerical stability; at least 0. Default: 1e-6.
        loss_scale (float): As in Optimizer. Default: 1.0.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if `rho` or `epsilon` is not a float.
        ValueError: As in Optimizer, or if `rho` or `epsilon` is out of range.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.Adadelta([p])((ms.Tensor([1.0, -1.0]),))
        >>> print(p.asnumpy().round(4))
        [0.9968 2.0032]
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 1.0, rho: float = 0.9, epsilon: float = 1e-6, loss_scale: float = 1.0,
                 weight_decay: Any = 0.0) -> None:
        self.rho = check_strict_float("Adadelta", "rho", rho, least=0, most=1)
        self.epsilon = check_strict_float("Adadelta", "epsilon", epsilon, least=0)
        self._build("adadelta", learning_rate, params, weight_decay, loss_scale, rho=self.rho, epsilon=self.epsilon)
        self.accum, self.accum_update = self._states(0), self._states(1)


class ProximalAdagrad(NativeOptimizer):
    """Proximal Adagrad: a += g²; s = lr/sqrt(a); v = p - s·g; p = sign(v)·max(|v| - s·l1, 0)/(1 + s·l2).

    State: `accum.<param>` (a).

    Args:
        params (list): Parameters or groups, as in Optimizer.
        accum (float): The initial value of a, at least 0. Default: 0.1.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.001.
        l1 (float): The L1 regularisation, at least 0. Default: 0.0.
        l2 (float): The L2 regularisation, at least 0. Default: 0.0.
        use_locking (bool): Stored without effect. Default: False.
        loss_scale (float): As in Optimizer. Default: 1.0.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if another argument has another type.
        ValueError: As in Optimizer, or if `accum`, `l1` or `l2` is negative.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.ProximalAdagrad([p], accum=0.0, learning_rate=0.1)((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy())
        [0.9 2.1]
    """

    @opt_init_args_register
    def __init__(self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, l1: float = 0.0, l2: float = 0.0, use_locking: bool = False,
                 loss_scale: float = 1.0, weight_decay: Any = 0.0) -> None:
        start = check_strict_float("ProximalAdagrad", "accum", accum, least=0)
        self.l1, self.l2 = (check_strict_float("ProximalAdagrad", name, value, least=0) for name, value in (("l1", l1), ("l2", l2)))
        self.use_locking = check_bool("ProximalAdagrad", "use_locking", use_locking)
        self._build("proximal_adagrad", learning_rate, params, weight_decay, loss_scale, accum=start, l1=self.l1, l2=self.l2)
        self.accum = self._states(0)
