"""Lamb."""
from __future__ import annotations

from typing import Any

from sindri.nn.optim.adam import check_betas
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Lamb"]


class Lamb(NativeOptimizer):
    """Layer-wise adaptive Adam: u = m̂/(sqrt(v̂) + eps) + weight_decay·p; p -= lr·|p|/|u|·u.

    m̂ and v̂ are Adam's moments with bias correction. The ratio |p|/|u| is 1 if a norm is 0. State: `lamb_m.<param>`, `lamb_v.<param>`;
    global_step counts every step.

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer.
        beta1 (float): The decay of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): The decay of the second moment, in (0, 1). Default: 0.999.
        eps (float): Added to the denominator; above 0. Default: 1e-6.
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if a beta or `eps` is not a float.
        ValueError: As in Optimizer, or if a beta is outside (0, 1) or `eps` is not above 0.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([3.0, 4.0]), name="p")
        >>> _ = ms.nn.Lamb([p], learning_rate=0.1)((ms.Tensor([1.0, 0.0]),))
        >>> print(p.asnumpy().round(3))
        [2.5 4. ]
    """

    _support_parallel_optimizer = True

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6, weight_decay: Any = 0.0) -> None:
        check_betas("Lamb", beta1, beta2, eps)
        self._build("lamb", learning_rate, params, weight_decay, beta1=beta1, beta2=beta2, eps=eps)
        self._show_as_tensors(beta1=beta1, beta2=beta2, eps=eps)
        self.params = self.parameters
        self.moments1, self.moments2 = self._states(0), self._states(1)
