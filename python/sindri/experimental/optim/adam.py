"""Adam (Kingma and Ba 2015)."""
from __future__ import annotations

from typing import Any, Iterator, Tuple

from sindri import _core
from sindri._check import check_bool, check_float
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import (Rule, RuleOptimizer, Slot, check_betas, check_maximize, check_rate, decayed, like, one_minus_power,
                                                 power_of, sign_of)

__all__ = ["Adam", "AdamBase"]

_ops = _core.ops


class AdamBase(RuleOptimizer):
    """Base class of Adam and AdamW: their options and state.

    State: `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), with amsgrad also `max_exp_avg_sq.<param>`.

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, not negative.
        betas (tuple[float, float]): beta1 and beta2, within [0, 1).
        eps (float): Added to the root, not negative.
        weight_decay (float): The weight decay, not negative.
        amsgrad (bool): Whether the largest v so far replaces v in the root.
        maximize (bool): Whether to negate the gradient first.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> from sindri.experimental.optim.adam import AdamBase
        >>> optimizer = optim.AdamW([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> isinstance(optimizer, AdamBase), [p.name for p in optimizer.exp_avg]
        (True, ['exp_avg.w'])
    """

    _counter = "state_step"
    _slots = (Slot("exp_avg"), Slot("exp_avg_sq"))
    _largest = Slot("max_exp_avg_sq")

    def __init__(self, params: Any, lr: Any, betas: Tuple[float, float], eps: float, weight_decay: float, amsgrad: bool, maximize: bool) -> None:
        check_rate(type(self).__name__, lr, above_zero=False)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize})

    def _check(self, group: dict) -> None:
        who = self.cls_name
        check_betas(who, group)
        check_float(who, "eps", group["eps"], least=0)
        check_bool(who, "amsgrad", group["amsgrad"])
        check_maximize(who, group)

    def _used_slots(self) -> Iterator[Slot]:
        yield from self._slots
        if any(group["amsgrad"] for group in self.param_groups):  # in that case for all groups: states are found by the parameter's position
            yield self._largest


class Adam(AdamBase):
    """Adam: m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= lr·sqrt(1 - beta2^t)/(1 - beta1^t)·m/(sqrt(v) + eps).

    As in nn.Adam, eps is added to the root of v before its bias correction; mint.optim.Adam adds it after the correction, as PyTorch does. State:
    `exp_avg.<param>` (m), `exp_avg_sq.<param>` (v), `max_exp_avg_sq.<param>` with amsgrad, and `state_step` (t).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace those given here.
        lr (float, Tensor): The learning rate, not negative. Default: 1e-3.
        betas (tuple[float, float]): beta1 and beta2, within [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the root, not negative. Default: 1e-8.
        weight_decay (float): weight_decay·p is added to g. Not negative. Default: 0.0.
        amsgrad (bool): Whether the largest v so far replaces v in the root. Default: False.
        maximize (bool): Whether to negate the gradient first. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = optim.Adam([w], lr=0.1)
        >>> for g in (0.5, 1.0):
        ...     _ = optimizer((ms.Tensor([g]),))
        >>> print(w.asnumpy().round(4))
        [0.8035]
    """

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        (beta1, beta2), eps, decay, sign = group["betas"], group["eps"], group["weight_decay"], sign_of(group)
        power1, power2 = power_of(beta1, step), power_of(beta2, step)

        def rule(p: Tensor, g: Tensor, m: Tensor, v: Tensor, largest: Any = None) -> Tuple[Tensor, ...]:
            if group["amsgrad"]:
                return _ops.amsgrad_update(p, m, v, largest, g, rate, power1, power2, beta1, beta2, eps, decay, sign)
            return _ops.adam_update(p, m, v, g, rate, power1, power2, beta1, beta2, eps, decay, sign)

        return rule


def corrected_rule(group: dict, rate: Tensor, step: Tensor, decoupled: bool) -> Rule:
    """Returns the rule of PyTorch's Adam: p -= lr·m/(1 - beta1^t)/(sqrt(v/(1 - beta2^t)) + eps). decoupled: weight decay shrinks the parameter, otherwise it is
    added to the gradient."""
    if group["amsgrad"]:
        return _amsgrad_rule(group, rate, step, decoupled)
    (beta1, beta2), eps, sign, decay = group["betas"], group["eps"], sign_of(group), group["weight_decay"]
    power1, power2 = power_of(beta1, step), power_of(beta2, step)

    def rule(p: Tensor, g: Tensor, m: Tensor, v: Tensor, largest: Any = None) -> Tuple[Tensor, ...]:
        if decoupled:
            direction, m, v = _ops.lamb_direction(p, m, v, g, power1, power2, beta1, beta2, eps, decay, sign)
        else:
            direction, m, v = _ops.lamb_direction(p, m, v, decayed(group, p, g), power1, power2, beta1, beta2, eps)
        return p - rate * direction, m, v

    return rule


def _amsgrad_rule(group: dict, rate: Tensor, step: Tensor, decoupled: bool) -> Rule:
    (beta1, beta2), eps, decay = group["betas"], group["eps"], group["weight_decay"]
    size, root = rate / like(one_minus_power(beta1, step), rate), like(_ops.sqrt(one_minus_power(beta2, step)), rate)

    def rule(p: Tensor, g: Tensor, m: Tensor, v: Tensor, largest: Tensor) -> Tuple[Tensor, ...]:
        g = g * sign_of(group) if decoupled else decayed(group, p, g)
        m = m * beta1 + g * (1 - beta1)
        v = v * beta2 + g * g * (1 - beta2)
        largest = _ops.maximum(largest, v)
        if decoupled and decay:
            p = p * (1.0 - rate * decay)
        return p - size * m / (_ops.sqrt(largest) / root + eps), m, v, largest

    return rule
