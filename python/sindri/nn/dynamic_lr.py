"""Lists of learning rates, one per step: the schedules of learning_rate_schedule at the epoch e = floor(step/step_per_epoch).

Numbers out of range raise ValueError, wrong types TypeError.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence

from sindri import _core
from sindri._check import check_int, check_strict_float, check_type
from sindri.nn.learning_rate_schedule import checked_cosine, checked_decay, checked_poly, checked_warm_up

__all__ = ["piecewise_constant_lr", "exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr", "cosine_decay_lr", "polynomial_decay_lr",
           "warmup_lr"]


_MOST_STEPS = 10 ** 8  # one float each: more would be a list of many gigabytes


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> List[float]:
    """learning_rates[i] before step milestone[i]; milestones must grow."""
    who = "piecewise_constant_lr"
    check_type(who, "milestone", milestone, (tuple, list))
    check_type(who, "learning_rates", learning_rates, (tuple, list))
    for i, (end, lr) in enumerate(zip(milestone, learning_rates)):
        check_int(who, f"milestone[{i}]", end, 1, _MOST_STEPS)
        check_strict_float(who, f"learning_rates[{i}]", lr, least=0)
    return _core.piecewise_constant_rates(milestone, learning_rates)


def _list(who: str, rule: str, total_step: int, step_per_epoch: int, settings: Callable[..., Dict[str, Any]], *numbers: Any) -> List[float]:
    schedule = _core.Schedule(rule, **settings(who, *numbers, unit="epoch"))
    return schedule.rates(check_int(who, "total_step", total_step, 1, _MOST_STEPS), check_int(who, "step_per_epoch", step_per_epoch, 1), who)


def exponential_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                         is_stair: bool = False) -> List[float]:
    """learning_rate·decay_rate^(e/decay_epoch), the exponent rounded down with is_stair."""
    return _list("exponential_decay_lr", "exponential", total_step, step_per_epoch, checked_decay, learning_rate, decay_rate, decay_epoch, is_stair)


def natural_exp_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                         is_stair: bool = False) -> List[float]:
    """learning_rate·exp(-decay_rate·e); with is_stair e is rounded down to a multiple of decay_epoch."""
    return _list("natural_exp_decay_lr", "natural_exp", total_step, step_per_epoch, checked_decay, learning_rate, decay_rate, decay_epoch, is_stair)


def inverse_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                     is_stair: bool = False) -> List[float]:
    """learning_rate/(1 + decay_rate·e/decay_epoch), the quotient rounded down with is_stair."""
    return _list("inverse_decay_lr", "inverse", total_step, step_per_epoch, checked_decay, learning_rate, decay_rate, decay_epoch, is_stair)


def cosine_decay_lr(min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int) -> List[float]:
    """min + (max - min)/2·(1 + cos(pi·min(e, D)/D)), D = decay_epoch. Raises ValueError unless min_lr < max_lr."""
    return _list("cosine_decay_lr", "cosine", total_step, step_per_epoch, checked_cosine, min_lr, max_lr, decay_epoch)


def polynomial_decay_lr(learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, power: float,
                        update_decay_epoch: bool = False) -> List[float]:
    """(learning_rate - end)·(1 - min(e, D)/D)^power + end, D = decay_epoch; with update_decay_epoch D grows by whole multiples of decay_epoch."""
    return _list("polynomial_decay_lr", "poly", total_step, step_per_epoch, checked_poly, learning_rate, end_learning_rate, decay_epoch,
                 power, update_decay_epoch)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> List[float]:
    """learning_rate·min(e, warmup_epoch)/warmup_epoch."""
    return _list("warmup_lr", "warm_up", total_step, step_per_epoch, checked_warm_up, learning_rate, warmup_epoch)
