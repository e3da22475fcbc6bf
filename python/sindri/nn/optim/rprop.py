"""Rprop."""
from __future__ import annotations

from typing import Any, Tuple

from sindri._check import check_strict_float, check_type, fail
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Rprop"]


class Rprop(NativeOptimizer):
    """Resilient backpropagation: p -= sign(g)·s with a step size s per element, limited to `step_sizes`.

    s is multiplied by etas[1] if g has the sign of the previous gradient, and by etas[0] if it has the opposite sign; g is then 0. The learning
    rate is the initial s. State: `prev.<param>` (g), `step_size.<param>` (s).

    Args:
        params (list): Parameters or groups, as in Optimizer.
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): As in Optimizer. Default: 0.1.
        etas (tuple): The factors, in (0, 1) and above 1. Default: (0.5, 1.2).
        step_sizes (tuple): The smallest and the largest step size. Default: (1e-6, 50.0).
        weight_decay (float, Cell): As in Optimizer. Default: 0.0.

    Raises:
        TypeError: As in Optimizer, or if `etas` or `step_sizes` is not a tuple of floats.
        ValueError: As in Optimizer, or if `etas` is out of range or `step_sizes` descends.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.Rprop([p])((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy())
        [0.9 2.1]
    """

    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: Any = 0.1, etas: Tuple[float, float] = (0.5, 1.2), step_sizes: Tuple[float, float] = (1e-6, 50.),
                 weight_decay: Any = 0.) -> None:
        for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
            if len(check_type("Rprop", name, pair, tuple)) != 2:
                fail(ValueError, f"Rprop: {name} must hold two numbers, got {pair}")
        self.etaminus = check_strict_float("Rprop", "etas[0]", etas[0], above=0, below=1)
        self.etaplus = check_strict_float("Rprop", "etas[1]", etas[1], above=1)
        self.step_size_min = check_strict_float("Rprop", "step_sizes[0]", step_sizes[0])
        self.step_size_max = check_strict_float("Rprop", "step_sizes[1]", step_sizes[1], least=step_sizes[0])
        self._build("rprop", learning_rate, params, weight_decay, eta_minus=self.etaminus, eta_plus=self.etaplus, step_min=self.step_size_min,
                    step_max=self.step_size_max)
        self.prev, self.step_size = self._states(0), self._states(1)
