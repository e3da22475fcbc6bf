"""Learning rates as functions of the global step, computed with ops. p = step/decay_steps, rounded down with is_stair."""
from __future__ import annotations

import math
from typing import Any

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.context import era
from sindri._check import check_bool, check_int, check_strict_float, fail
from sindri.nn.cell import Cell

__all__ = ["LearningRateSchedule", "ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR", "CosineDecayLR", "PolynomialDecayLR", "WarmUpLR"]

_ops = _core.ops


class LearningRateSchedule(Cell):
    """Base: a subclass defines construct(global_step), which gives the rate as a scalar tensor."""

    def construct(self, global_step: Tensor) -> Tensor:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, global_step)")


def _constant(value: float) -> Tensor:
    return _ops.full((), value)


def _as_float(step: Any) -> Tensor:
    return _ops.cast(step, mstype.float32)


def _at_most(step: Any, steps: int) -> Tensor:
    return _ops.minimum(_as_float(step), _constant(float(steps)))


def _progress(step: Any, decay_steps: int, is_stair: bool) -> Tensor:
    p = _ops.div(_as_float(step), float(decay_steps))
    return _ops.floor(p) if is_stair else p


class _Decay(LearningRateSchedule):
    """What the decays by a rate share. Raises TypeError for wrong types, ValueError unless all numbers are above 0."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self.learning_rate = check_strict_float(self.cls_name, "learning_rate", learning_rate, above=0)
        self.decay_rate = check_strict_float(self.cls_name, "decay_rate", decay_rate, above=0)
        self.decay_steps = check_int(self.cls_name, "decay_steps", decay_steps, 1)
        self.is_stair = check_bool(self.cls_name, "is_stair", is_stair)


class ExponentialDecayLR(_Decay):
    """learning_rate·decay_rate^p."""

    def construct(self, global_step: Tensor) -> Tensor:
        return _ops.mul(_ops.pow(_constant(self.decay_rate), _progress(global_step, self.decay_steps, self.is_stair)), self.learning_rate)


class NaturalExpDecayLR(_Decay):
    """learning_rate·e^(-decay_rate·step), with is_stair the step rounded down to a multiple of decay_steps.

    So does MindSpore compute it; its documentation has step/decay_steps in the exponent.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        step = _as_float(global_step)
        if self.is_stair:
            step = _ops.mul(_ops.floor(_ops.div(step, float(self.decay_steps))), float(self.decay_steps))
        return _ops.mul(_ops.exp(_ops.mul(step, -self.decay_rate)), self.learning_rate)


class InverseDecayLR(_Decay):
    """learning_rate/(1 + decay_rate·p)."""

    def construct(self, global_step: Tensor) -> Tensor:
        below = _ops.add(_ops.mul(_progress(global_step, self.decay_steps, self.is_stair), self.decay_rate), 1.0)
        return _ops.div(_constant(self.learning_rate), below)


class CosineDecayLR(LearningRateSchedule):
    """min_lr + (max_lr - min_lr)·(1 + cos(pi·min(step, decay_steps)/decay_steps))/2. Raises ValueError unless min_lr < max_lr."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        who = "CosineDecayLR"
        self.min_lr, self.max_lr = check_strict_float(who, "min_lr", min_lr, least=0), check_strict_float(who, "max_lr", max_lr, above=0)
        self.decay_steps = check_int(who, "decay_steps", decay_steps, 1)
        if self.min_lr >= self.max_lr:
            fail(ValueError, f"{who}: min_lr {min_lr} must be below max_lr {max_lr}")

    def construct(self, global_step: Tensor) -> Tensor:
        angle = _ops.mul(_at_most(global_step, self.decay_steps), math.pi / self.decay_steps)
        return _ops.add(_ops.mul(_ops.add(_ops.cos(angle), 1.0), 0.5 * (self.max_lr - self.min_lr)), self.min_lr)


class PolynomialDecayLR(LearningRateSchedule):
    """(learning_rate - end)·(1 - min(step, N)/N)^power + end, N = decay_steps; with update_decay_steps N grows by whole multiples instead.

    Raises TypeError for numbers that are no floats; ValueError unless end is at least 0 (with SINDRI_MINDSPORE_ERA=1 also
    below learning_rate) and power and decay_steps are above 0.
    """

    def __init__(self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float, update_decay_steps: bool = False) -> None:
        super().__init__()
        who = "PolynomialDecayLR"
        self.learning_rate = check_strict_float(who, "learning_rate", learning_rate, above=0)
        self.end_learning_rate = check_strict_float(who, "end_learning_rate", end_learning_rate, least=0)
        if self.end_learning_rate >= self.learning_rate and era() == 1:  # 2.x lets the rate grow
            fail(ValueError, f"{who}: end_learning_rate {end_learning_rate} must be below learning_rate {learning_rate}")
        self.decay_steps = check_int(who, "decay_steps", decay_steps, 1)
        self.power = check_strict_float(who, "power", power, above=0)
        self.update_decay_steps = check_bool(who, "update_decay_steps", update_decay_steps)

    def construct(self, global_step: Tensor) -> Tensor:
        steps = float(self.decay_steps)
        if self.update_decay_steps:
            step = _as_float(global_step)
            periods = _ops.maximum(_ops.ceil(_ops.div(step, steps)), _constant(1.0))
            p = _ops.div(step, _ops.mul(periods, steps))
        else:
            p = _ops.div(_at_most(global_step, self.decay_steps), steps)
        span = self.learning_rate - self.end_learning_rate
        return _ops.add(_ops.mul(_ops.pow(_ops.sub(1.0, p), self.power), span), self.end_learning_rate)


class WarmUpLR(LearningRateSchedule):
    """learning_rate·min(step, warmup_steps)/warmup_steps. Raises TypeError or ValueError for numbers of another kind or range."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = check_strict_float("WarmUpLR", "learning_rate", learning_rate, least=0)
        self.warmup_steps = check_int("WarmUpLR", "warmup_steps", warmup_steps, 1)

    def construct(self, global_step: Tensor) -> Tensor:
        return _ops.mul(_ops.div(_at_most(global_step, self.warmup_steps), float(self.warmup_steps)), self.learning_rate)
