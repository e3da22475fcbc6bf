"""Adagrad (Duchi et al. 2011)."""
from __future__ import annotations

from typing import Any, Tuple

from sindri import _core
from sindri._check import check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Rule, RuleOptimizer, Slot, check_maximize, check_rate, decayed, like

__all__ = ["Adagrad"]

_ops = _core.ops


class Adagrad(RuleOptimizer):
    """Adagrad: v += g²; p -= lr/(1 + (t - 1)·lr_decay)·g/(sqrt(v) + eps), with the step t counted from 1.

    State: `accum.<param>` (v) and `step_t` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, positive. Default: 1e-2.
        lr_decay (float): The decay of the learning rate, not negative. Default: 0.0.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        initial_accumulator_value (float): The initial v, not negative. Default: 0.0.
        eps (float): Added to the root, positive. Default: 1e-10.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.Adagrad([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.8106]
    """

    _slots = (Slot("accum", lambda group: group["initial_accumulator_value"]),)

    def __init__(self, params: Any, lr: Any = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0, initial_accumulator_value: float = 0.0,
                 eps: float = 1e-10, *, maximize: bool = False) -> None:
        check_rate("Adagrad", lr, above_zero=True)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                                  "initial_accumulator_value": initial_accumulator_value, "maximize": maximize})

    def _check(self, group: dict) -> None:
        check_float("Adagrad", "lr_decay", group["lr_decay"], least=0)
        check_float("Adagrad", "initial_accumulator_value", group["initial_accumulator_value"], least=0)
        check_float("Adagrad", "eps", group["eps"], above=0)
        check_maximize("Adagrad", group)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        eps, lr = group["eps"], rate
        if group["lr_decay"]:
            lr = rate / like((step - 1.0) * group["lr_decay"] + 1.0, rate)

        def rule(p: Tensor, g: Tensor, v: Tensor) -> Tuple[Tensor, ...]:
            g = decayed(group, p, g)
            v = v + g * g
            return p - lr * g / (_ops.sqrt(v) + eps), v

        return rule
