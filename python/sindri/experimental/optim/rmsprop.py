"""RMSprop (Tieleman and Hinton 2012)."""
from __future__ import annotations

from typing import Any, Iterator, Tuple

from sindri import _core
from sindri._check import check_bool, check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, decayed

__all__ = ["RMSprop"]

_ops = _core.ops


class RMSprop(RuleOptimizer):
    """RMSprop: s = alpha·s + (1 - alpha)·g²; d = g/(sqrt(s) + eps); b = momentum·b + d; p -= lr·b (with momentum 0 lr·d).

    With centered, c = alpha·c + (1 - alpha)·g, and the root contains s - c². State: `mean_square.<param>` (s), `moment.<param>` (b), and with centered
    `mean_grad.<param>` (c).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 1e-2.
        alpha (float): The decay of the mean square, not negative. Default: 0.99.
        eps (float): Added to the root, positive. Default: 1e-8.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        momentum (float): The momentum, not negative. Default: 0.0.
        centered (bool): Whether to subtract the squared mean gradient. Default: False.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.RMSprop([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [-0.8953]
    """

    _counter = None
    _slots = (Slot("mean_square"), Slot("moment"))
    _mean = Slot("mean_grad")

    def __init__(self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0, momentum: float = 0.0,
                 centered: bool = False, maximize: bool = False) -> None:
        check_rate("RMSprop", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
                                  "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_float("RMSprop", "eps", group["eps"], above=0)
        check_float("RMSprop", "alpha", group["alpha"], least=0)
        check_float("RMSprop", "momentum", group["momentum"], least=0)
        check_bool("RMSprop", "centered", group["centered"])
        check_maximize("RMSprop", group)

    def _used_slots(self) -> Iterator[Slot]:
        yield from self._slots
        if any(group["centered"] for group in self.param_groups):
            yield self._mean

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        alpha, eps, momentum = group["alpha"], group["eps"], group["momentum"]

        def rule(p: Tensor, g: Tensor, s: Tensor, b: Tensor, c: Any = None) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            s = s * alpha + g * g * (1 - alpha)
            variance = s
            if group["centered"]:
                c = c * alpha + g * (1 - alpha)
                variance = s - c * c
            step_ = g / (_ops.sqrt(variance) + eps)
            if momentum:
                step_ = b = b * momentum + step_
            return (p - rate * step_, s, b) + (() if c is None else (c,))

        return rule
