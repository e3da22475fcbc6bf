"""Lists of learning rates, one per step; e = floor(step/step_per_epoch). Numbers out of range raise ValueError, wrong types TypeError."""
from __future__ import annotations

import math
from typing import Callable, List, Sequence

from sindri._check import check_bool, check_int, check_strict_float, check_type, fail

__all__ = ["piecewise_constant_lr", "exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr", "cosine_decay_lr", "polynomial_decay_lr",
           "warmup_lr"]


_MOST_STEPS = 10 ** 8  # one float each: more would be a list of many gigabytes


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> List[float]:
    """learning_rates[i] before step milestone[i]; milestones must grow."""
    who = "piecewise_constant_lr"
    check_type(who, "milestone", milestone, (tuple, list))
    check_type(who, "learning_rates", learning_rates, (tuple, list))
    if not milestone or len(milestone) != len(learning_rates):
        fail(ValueError, f"{who}: {len(milestone)} milestones for {len(learning_rates)} learning rates")
    out: List[float] = []
    for i, (end, lr) in enumerate(zip(milestone, learning_rates)):
        check_int(who, f"milestone[{i}]", end, len(out) + 1, _MOST_STEPS)
        check_strict_float(who, f"learning_rates[{i}]", lr, least=0)
        out += [lr] * (end - len(out))
    return out


def _per_step(who: str, total_step: int, step_per_epoch: int, value: Callable[[int], float]) -> List[float]:
    check_int(who, "total_step", total_step, 1, _MOST_STEPS)
    check_int(who, "step_per_epoch", step_per_epoch, 1)
    try:
        return [value(i // step_per_epoch) for i in range(total_step)]
    except OverflowError as e:
        raise ValueError(f"{who}: a learning rate is larger than a float can be | use smaller rates, powers or fewer steps") from e


def _check_decay(who: str, learning_rate: float, decay_rate: float, decay_epoch: int, is_stair: bool) -> None:
    check_strict_float(who, "learning_rate", learning_rate, above=0)
    check_strict_float(who, "decay_rate", decay_rate, above=0)
    check_int(who, "decay_epoch", decay_epoch, 1)
    check_bool(who, "is_stair", is_stair)


def exponential_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                         is_stair: bool = False) -> List[float]:
    """learning_rate·decay_rate^(e/decay_epoch), the exponent rounded down with is_stair."""
    who = "exponential_decay_lr"
    _check_decay(who, learning_rate, decay_rate, decay_epoch, is_stair)
    return _per_step(who, total_step, step_per_epoch, lambda e: learning_rate * decay_rate ** (e // decay_epoch if is_stair else e / decay_epoch))


def natural_exp_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                         is_stair: bool = False) -> List[float]:
    """learning_rate·exp(-decay_rate·e); with is_stair e is rounded down to a multiple of decay_epoch."""
    who = "natural_exp_decay_lr"
    _check_decay(who, learning_rate, decay_rate, decay_epoch, is_stair)
    return _per_step(who, total_step, step_per_epoch,
                     lambda e: learning_rate * math.exp(-decay_rate * (e // decay_epoch * decay_epoch if is_stair else e)))


def inverse_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
                     is_stair: bool = False) -> List[float]:
    """learning_rate/(1 + decay_rate·e/decay_epoch), the quotient rounded down with is_stair."""
    who = "inverse_decay_lr"
    _check_decay(who, learning_rate, decay_rate, decay_epoch, is_stair)
    return _per_step(who, total_step, step_per_epoch,
                     lambda e: learning_rate / (1 + decay_rate * (e // decay_epoch if is_stair else e / decay_epoch)))


def cosine_decay_lr(min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int) -> List[float]:
    """min + (max - min)/2·(1 + cos(pi·min(e, D)/D)), D = decay_epoch. Raises ValueError unless min_lr < max_lr."""
    who = "cosine_decay_lr"
    check_strict_float(who, "min_lr", min_lr, least=0)
    check_strict_float(who, "max_lr", max_lr, above=0)
    check_int(who, "decay_epoch", decay_epoch, 1)
    if min_lr >= max_lr:
        fail(ValueError, f"{who}: min_lr {min_lr} must be below max_lr {max_lr}")
    half = 0.5 * (max_lr - min_lr)
    return _per_step(who, total_step, step_per_epoch, lambda e: min_lr + half * (1 + math.cos(math.pi * min(e, decay_epoch) / decay_epoch)))


def polynomial_decay_lr(learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, power: float,
                        update_decay_epoch: bool = False) -> List[float]:
    """(learning_rate - end)·(1 - min(e, D)/D)^power + end, D = decay_epoch; with update_decay_epoch D grows by whole multiples of decay_epoch."""
    who = "polynomial_decay_lr"
    check_strict_float(who, "learning_rate", learning_rate, above=0)
    check_strict_float(who, "end_learning_rate", end_learning_rate, least=0)
    check_int(who, "decay_epoch", decay_epoch, 1)
    check_strict_float(who, "power", power, above=0)
    check_bool(who, "update_decay_epoch", update_decay_epoch)
    if end_learning_rate >= learning_rate:
        fail(ValueError, f"{who}: end_learning_rate {end_learning_rate} must be below learning_rate {learning_rate}")

    def value(e: int) -> float:
        length = decay_epoch * max(math.ceil(e / decay_epoch), 1) if update_decay_epoch else decay_epoch
        return (learning_rate - end_learning_rate) * (1 - min(e, length) / length) ** power + end_learning_rate

    return _per_step(who, total_step, step_per_epoch, value)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> List[float]:
    """learning_rate·min(e, warmup_epoch)/warmup_epoch."""
    check_strict_float("warmup_lr", "learning_rate", learning_rate, least=0)
    check_int("warmup_lr", "warmup_epoch", warmup_epoch, 1)
    return _per_step("warmup_lr", total_step, step_per_epoch, lambda e: learning_rate * min(e, warmup_epoch) / warmup_epoch)
