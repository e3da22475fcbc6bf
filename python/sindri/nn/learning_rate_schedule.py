"""Learning rates as functions of the global step. The formulas are the library's (optim/schedules/); here are MindSpore's names and checks."""
from __future__ import annotations

import functools
import operator
from typing import Any, Callable, Dict

from sindri import _core
from sindri.common.tensor import Tensor
from sindri.context import era
from sindri._check import check_bool, check_int, check_strict_float, fail
from sindri.nn.cell import Cell

__all__ = ["LearningRateSchedule", "ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR", "CosineDecayLR", "PolynomialDecayLR", "WarmUpLR"]


class LearningRateSchedule(Cell):
    """Base: a subclass defines construct(global_step), which gives the rate as a scalar tensor."""

    def construct(self, global_step: Tensor) -> Tensor:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, global_step)")


# Checked settings of the library's schedules, for the classes here and for the lists of dynamic_lr, where steps are epochs.


def checked_decay(who: str, learning_rate: Any, decay_rate: Any, decay_steps: Any, is_stair: Any, unit: str = "steps") -> Dict[str, Any]:
    """Of "exponential", "natural_exp" and "inverse". Raises TypeError for wrong types, ValueError unless all numbers are above 0."""
    return {"learning_rate": check_strict_float(who, "learning_rate", learning_rate, above=0),
            "decay_rate": check_strict_float(who, "decay_rate", decay_rate, above=0), "decay_steps": check_int(who, f"decay_{unit}", decay_steps, 1),
            "is_stair": check_bool(who, "is_stair", is_stair)}


def checked_cosine(who: str, min_lr: Any, max_lr: Any, decay_steps: Any, unit: str = "steps") -> Dict[str, Any]:
    """Of "cosine". Raises TypeError for wrong types, ValueError for numbers out of range and unless min_lr < max_lr."""
    if check_strict_float(who, "min_lr", min_lr, least=0) >= check_strict_float(who, "max_lr", max_lr, above=0):
        fail(ValueError, f"{who}: min_lr {min_lr} must be below max_lr {max_lr}")
    return {"learning_rate": max_lr, "end": min_lr, "decay_steps": check_int(who, f"decay_{unit}", decay_steps, 1)}


def checked_poly(who: str, learning_rate: Any, end: Any, decay_steps: Any, power: Any, update: Any, unit: str = "steps") -> Dict[str, Any]:
    """Of "poly". Raises TypeError for wrong types, ValueError for numbers out of range and, where the rate must fall, unless end < learning_rate."""
    check_strict_float(who, "learning_rate", learning_rate, above=0)
    grows = check_strict_float(who, "end_learning_rate", end, least=0) >= learning_rate
    if grows and (unit == "epoch" or era() == 1):  # 2.x lets the rate of the class grow
        fail(ValueError, f"{who}: end_learning_rate {end} must be below learning_rate {learning_rate}")
    return {"learning_rate": learning_rate, "end": end, "decay_steps": check_int(who, f"decay_{unit}", decay_steps, 1),
            "power": check_strict_float(who, "power", power, above=0), "update_decay_steps": check_bool(who, f"update_decay_{unit}", update)}


def checked_warm_up(who: str, learning_rate: Any, warmup_steps: Any, unit: str = "steps") -> Dict[str, Any]:
    """Of "warm_up". Raises TypeError for wrong types, ValueError for a negative rate and steps below 1."""
    return {"learning_rate": check_strict_float(who, "learning_rate", learning_rate, least=0),
            "warmup_steps": check_int(who, f"warmup_{unit}", warmup_steps, 1)}


# Of (name, settings, their values): those that are called with each step are made once.
_made: Callable[..., _core.Schedule] = functools.lru_cache(maxsize=256)(
    lambda rule, settings, values: _core.Schedule(rule, **dict(zip(settings, values))))


class _Named(LearningRateSchedule):
    """A schedule of the library. Its settings are attributes, which may change between calls."""

    _rule = ""  # the name there

    def _hold(self, settings: Dict[str, Any], **names: str) -> None:
        """Makes the settings attributes. names: setting=attribute where MindSpore's is another."""
        attributes = [names.get(setting, setting) for setting in settings]
        self.__dict__["_cell_settings"], self.__dict__["_cell_read"] = tuple(settings), operator.attrgetter(*attributes)
        for name, value in zip(attributes, settings.values()):
            setattr(self, name, value)

    def construct(self, global_step: Tensor) -> Tensor:
        return _made(self._rule, self._cell_settings, self._cell_read(self))(global_step)


class _Decay(_Named):
    """What the decays by a rate share. Raises TypeError for wrong types, ValueError unless all numbers are above 0."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self._hold(checked_decay(self.cls_name, learning_rate, decay_rate, decay_steps, is_stair))


class ExponentialDecayLR(_Decay):
    """learning_rate·decay_rate^p, p = step/decay_steps, rounded down with is_stair."""

    _rule = "exponential"


class NaturalExpDecayLR(_Decay):
    """learning_rate·e^(-decay_rate·step), with is_stair the step rounded down to a multiple of decay_steps.

    So does MindSpore compute it; its documentation has step/decay_steps in the exponent.
    """

    _rule = "natural_exp"


class InverseDecayLR(_Decay):
    """learning_rate/(1 + decay_rate·p), p = step/decay_steps, rounded down with is_stair."""

    _rule = "inverse"


class CosineDecayLR(_Named):
    """min_lr + (max_lr - min_lr)·(1 + cos(pi·min(step, decay_steps)/decay_steps))/2. Raises ValueError unless min_lr < max_lr."""

    _rule = "cosine"

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self._hold(checked_cosine("CosineDecayLR", min_lr, max_lr, decay_steps), learning_rate="max_lr", end="min_lr")


class PolynomialDecayLR(_Named):
    """(learning_rate - end)·(1 - min(step, N)/N)^power + end, N = decay_steps; with update_decay_steps N grows by whole multiples instead.

    Raises TypeError for numbers that are no floats; ValueError unless end is at least 0 (with SINDRI_MINDSPORE_ERA=1 also
    below learning_rate) and power and decay_steps are above 0.
    """

    _rule = "poly"

    def __init__(self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float, update_decay_steps: bool = False) -> None:
        super().__init__()
        self._hold(checked_poly("PolynomialDecayLR", learning_rate, end_learning_rate, decay_steps, power, update_decay_steps), end="end_learning_rate")


class WarmUpLR(_Named):
    """learning_rate·min(step, warmup_steps)/warmup_steps. Raises TypeError or ValueError for numbers of another kind or range."""

    _rule = "warm_up"

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self._hold(checked_warm_up("WarmUpLR", learning_rate, warmup_steps))
