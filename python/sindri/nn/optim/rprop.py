"""Rprop."""
from __future__ import annotations

from typing import Any, Tuple

from sindri._check import check_strict_float, check_type, fail
from sindri.nn.optim.optimizer import NativeOptimizer, opt_init_args_register

__all__ = ["Rprop"]


class Rprop(NativeOptimizer):
    """s *= etas[1] where g has the sign of the gradient before, etas[0] where it has the other (g is then 0); p -= sign(g)·s, s in step_sizes.

    The learning rate is the first s. State `prev.<param>` (g) and `step_size.<param>` (s). Raises TypeError for what are no pairs of floats,
    ValueError for etas outside (0, 1) and (1, inf) and for step_sizes that do not rise, and as Optimizer.
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
