"""Lamb."""
from __future__ import annotations

from typing import Any

from sindri.nn.optim.adam import check_betas
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Lamb"]


class Lamb(NativeOptimizer):
    """Adam's moments with bias correction, u = m̂/(sqrt(v̂) + eps) + weight_decay·p, p -= lr·|p|/|u|·u (the ratio is 1 where a norm is 0).

    State `lamb_m.<param>`, `lamb_v.<param>`; global_step counts every step. Raises TypeError or ValueError for betas outside (0, 1) and eps not above
    0, and as Optimizer.
    """

    _support_parallel_optimizer = True

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6, weight_decay: Any = 0.0) -> None:
        check_betas("Lamb", beta1, beta2, eps)
        self._build("lamb", learning_rate, params, weight_decay, beta1=beta1, beta2=beta2, eps=eps)
        self._show_as_tensors(beta1=beta1, beta2=beta2, eps=eps)
        self.params = self.parameters
        self.moments1, self.moments2 = self._states(0), self._states(1)
