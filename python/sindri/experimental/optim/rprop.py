"""Rprop: resilient backpropagation (Riedmiller and Braun 1993)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float, fail
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, decayed

__all__ = ["Rprop"]

_ops = _core.ops


class Rprop(RuleOptimizer):
    """Rprop: p -= sign(g)·s, with a step size s for each element.

    s is multiplied by etas[1] if the element's gradient keeps its sign and by etas[0] if the sign changes, and is limited to step_sizes. An element whose
    gradient changed its sign skips one step. State: `prev.<param>` (g), `step_size.<param>` (s) and `step_t`.

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The size of the first step, positive; later changes have no effect. Default: 1e-2.
        etas (tuple[float, float]): The factors, within (0, 1) and (1, inf). Default: (0.5, 1.2).
        step_sizes (tuple[float, float]): The smallest and largest step size, increasing. Default: (1e-6, 50).
        maximize (bool): Whether to negate the gradient. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.Rprop([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.78]
    """

    _slots = (Slot("prev"), Slot("step_size"))

    def __init__(self, params: Any, lr: Any = 1e-2, etas: Tuple[float, float] = (0.5, 1.2), step_sizes: Tuple[float, float] = (1e-6, 50), *,
                 maximize: bool = False) -> None:
        check_rate("Rprop", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})

    def _check(self, group: dict) -> None:
        for name in ("etas", "step_sizes"):
            if not isinstance(group[name], (tuple, list)) or len(group[name]) != 2:
                fail(TypeError, f"Rprop: {name} must be a tuple of two numbers, got {group[name]!r}")
        check_float("Rprop", "etas[0]", group["etas"][0], above=0, below=1)
        check_float("Rprop", "etas[1]", group["etas"][1], above=1)
        shortest = check_float("Rprop", "step_sizes[0]", group["step_sizes"][0], least=0)
        check_float("Rprop", "step_sizes[1]", group["step_sizes"][1], least=shortest)
        check_maximize("Rprop", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        (shrink, grow), (shortest, longest), first = group["etas"], group["step_sizes"], _ops.equal(step, 1.0)

        def rule(p: Tensor, g: Tensor, before: Tensor, size: Tensor) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            product = g * before
            turned = _ops.less(product, 0.0)
            one, zero = _ops.ones_like(g), _ops.zeros_like(g)
            factor = _ops.where(turned, one * shrink, _ops.where(_ops.greater(product, 0.0), one * grow, one))
            size = _ops.clamp(_ops.where(first, one * rate, size) * factor, shortest, longest)
            g = _ops.where(turned, zero, g)
            return p - _ops.sign(g) * size, g, size

        return rule
