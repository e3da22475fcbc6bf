"""Follow the regularised leader (FTRL)."""
from __future__ import annotations

from typing import Any

from sindri._check import check_bool, check_strict_float, fail, is_number
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["FTRL"]


class FTRL(NativeOptimizer):
    """Follow the regularised leader (McMahan et al. 2013).

    With n' = n + g²: z += g - (n'^-lr_power - n^-lr_power)/lr·p; then p is 0 if |z| <= l1, else (sign(z)·l1 - z)/(n'^-lr_power/lr + 2·l2).

    State: `moments.<param>` (n), `linear.<param>` (z).

    Args:
        params (list): Parameters, or groups without `lr`, as in Optimizer.
        initial_accum (float): The initial value of n, at least 0. Default: 0.1.
        learning_rate (float): The learning rate, one number above 0. Default: 0.001.
        lr_power (float): The exponent, at most 0. Default: -0.5.
        l1 (float): The L1 regularisation, at least 0. Default: 0.0.
        l2 (float): The L2 regularisation, at least 0. Default: 0.0.
        use_locking (bool): Stored without effect. Default: False.
        loss_scale (float): As in Optimizer. Default: 1.0.
        weight_decay (float, Cell): As in Optimizer, but parameters named beta and gamma decay too. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if another argument has another type.
        ValueError: As in Optimizer, or if a number is out of range, the learning rate is dynamic or a group has its own.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([0.0, 0.0]), name="p")
        >>> _ = ms.nn.FTRL([p], learning_rate=0.1)((ms.Tensor([1.0, -1.0]),))
        >>> print(p.asnumpy().round(4))
        [-0.0953  0.0953]
    """

    @opt_init_args_register
    def __init__(self, params: Any, initial_accum: float = 0.1, learning_rate: float = 0.001, lr_power: float = -0.5, l1: float = 0.0, l2: float = 0.0,
                 use_locking: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0) -> None:
        grouped = isinstance(params, (list, tuple)) and any(isinstance(p, dict) and "lr" in p for p in params)
        if grouped or not is_number(learning_rate):
            fail(ValueError, "FTRL: the learning rate must be one number", "remove 'lr' from the groups and give a float")
        start = check_strict_float("FTRL", "initial_accum", initial_accum, least=0)
        self.lr = check_strict_float("FTRL", "learning_rate", learning_rate, above=0)
        self.lr_power = check_strict_float("FTRL", "lr_power", lr_power, most=0)
        self.l1, self.l2 = check_strict_float("FTRL", "l1", l1, least=0), check_strict_float("FTRL", "l2", l2, least=0)
        self.use_locking = check_bool("FTRL", "use_locking", use_locking)
        self._build("ftrl", learning_rate, params, weight_decay, loss_scale, initial_accum=start, lr_power=self.lr_power, l1=self.l1, l2=self.l2)
        if not self.is_group:
            self.__dict__["decay_flags"] = (True,) * self.param_length  # beta and gamma decay here too
        self.moments, self.linear = self._states(0), self._states(1)
