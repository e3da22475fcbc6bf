"""Lists of learning rates, one per step: the schedules of learning_rate_schedule at the epoch e = floor(step/step_per_epoch).

A value out of range raises ValueError, a wrong type TypeError.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence

from sindri import _core
from sindri._check import check_int, check_strict_float, check_type
from sindri.nn.learning_rate_schedule import checked_cosine, checked_decay, checked_poly, checked_warm_up

__all__ = ["piecewise_constant_lr", "exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr", "cosine_decay_lr", "polynomial_decay_lr",
           "warmup_lr"]


_MOST_STEPS = 10 ** 8  # one float per step: a longer list would take many gigabytes


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> List[float]:
    """Returns piecewise constant rates: learning_rates[i] before step milestone[i].

    Args:
        milestone (list): The steps at which the rate changes, in ascending order.
        learning_rates (list): The rates.

    Returns:
        List of float, of length milestone[-1].

    Raises:
        TypeError: If an argument or an entry has another type.
        ValueError: If the milestones do not ascend or a value is out of range.

    Examples:
        >>> from sindri import nn
        >>> nn.piecewise_constant_lr([2, 5], [0.1, 0.05])
        [0.1, 0.1, 0.05, 0.05, 0.05]
    """
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
    """Returns the rates learning_rate·decay_rate^(e/decay_epoch).

    Args:
        learning_rate (float): The initial rate, above 0.
        decay_rate (float): The base, above 0.
        total_step (int): The number of steps.
        step_per_epoch (int): The steps of an epoch.
        decay_epoch (int): The epochs of one decay.
        is_stair (bool): Whether the exponent is rounded down. Default: False.

    Returns:
        List of float, one per step.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> from sindri import nn
        >>> [round(lr, 4) for lr in nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1)]
        [0.1, 0.1, 0.09, 0.09, 0.081, 0.081]
    """
    return _list("exponential_decay_lr", "exponential", total_step, step_per_epoch, checked_decay, learning_rate, decay_rate, decay_epoch, is_stair)


def natural_exp_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                         is_stair: bool = False) -> List[float]:
    """Returns the rates learning_rate·exp(-decay_rate·e).

    Args:
        learning_rate (float): The initial rate, above 0.
        decay_rate (float): The decay per epoch, above 0.
        total_step (int): The number of steps.
        step_per_epoch (int): The steps of an epoch.
        decay_epoch (int): The epochs of one stair.
        is_stair (bool): Whether e is rounded down to a multiple of `decay_epoch`. Default: False.

    Returns:
        List of float, one per step.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> from sindri import nn
        >>> [round(lr, 4) for lr in nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 1)]
        [0.1, 0.1, 0.0407, 0.0407, 0.0165, 0.0165]
    """
    return _list("natural_exp_decay_lr", "natural_exp", total_step, step_per_epoch, checked_decay, learning_rate, decay_rate, decay_epoch, is_stair)


def inverse_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                     is_stair: bool = False) -> List[float]:
    """Returns the rates learning_rate/(1 + decay_rate·e/decay_epoch).

    Args:
        learning_rate (float): The initial rate, above 0.
        decay_rate (float): The decay, above 0.
        total_step (int): The number of steps.
        step_per_epoch (int): The steps of an epoch.
        decay_epoch (int): The epochs of one decay.
        is_stair (bool): Whether the quotient e/decay_epoch is rounded down. Default: False.

    Returns:
        List of float, one per step.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> from sindri import nn
        >>> [round(lr, 4) for lr in nn.inverse_decay_lr(0.1, 0.9, 6, 2, 1)]
        [0.1, 0.1, 0.0526, 0.0526, 0.0357, 0.0357]
    """
    return _list("inverse_decay_lr", "inverse", total_step, step_per_epoch, checked_decay, learning_rate, decay_rate, decay_epoch, is_stair)


def cosine_decay_lr(min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int) -> List[float]:
    """Returns the rates min_lr + (max_lr - min_lr)/2·(1 + cos(pi·min(e, D)/D)) with D = decay_epoch.

    Args:
        min_lr (float): The final rate, at least 0.
        max_lr (float): The initial rate, above `min_lr`.
        total_step (int): The number of steps.
        step_per_epoch (int): The steps of an epoch.
        decay_epoch (int): The epochs until `min_lr`.

    Returns:
        List of float, one per step.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range, or `min_lr` is not below `max_lr`.

    Examples:
        >>> from sindri import nn
        >>> [round(lr, 4) for lr in nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)]
        [0.1, 0.1, 0.055, 0.055, 0.01, 0.01]
    """
    return _list("cosine_decay_lr", "cosine", total_step, step_per_epoch, checked_cosine, min_lr, max_lr, decay_epoch)


def polynomial_decay_lr(learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, power: float,
                        update_decay_epoch: bool = False) -> List[float]:
    """Returns the rates (learning_rate - end)·(1 - min(e, D)/D)^power + end with D = decay_epoch.

    Args:
        learning_rate (float): The initial rate, above 0.
        end_learning_rate (float): The final rate, below `learning_rate`.
        total_step (int): The number of steps.
        step_per_epoch (int): The steps of an epoch.
        decay_epoch (int): The epochs until the final rate.
        power (float): The exponent, above 0.
        update_decay_epoch (bool): Whether D grows by whole multiples of `decay_epoch`. Default: False.

    Returns:
        List of float, one per step.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> from sindri import nn
        >>> [round(lr, 4) for lr in nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)]
        [0.1, 0.1, 0.0736, 0.0736, 0.01, 0.01]
    """
    return _list("polynomial_decay_lr", "poly", total_step, step_per_epoch, checked_poly, learning_rate, end_learning_rate, decay_epoch,
                 power, update_decay_epoch)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> List[float]:
    """Returns the rates learning_rate·min(e, warmup_epoch)/warmup_epoch.

    Args:
        learning_rate (float): The final rate, at least 0.
        total_step (int): The number of steps.
        step_per_epoch (int): The steps of an epoch.
        warmup_epoch (int): The epochs until `learning_rate`.

    Returns:
        List of float, one per step.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> from sindri import nn
        >>> [round(lr, 4) for lr in nn.warmup_lr(0.1, 6, 2, 2)]
        [0.0, 0.0, 0.05, 0.05, 0.1, 0.1]
    """
    return _list("warmup_lr", "warm_up", total_step, step_per_epoch, checked_warm_up, learning_rate, warmup_epoch)
