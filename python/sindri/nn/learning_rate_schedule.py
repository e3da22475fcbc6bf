"""Learning rates as functions of the global step. The formulas are the library's (optim/schedules/); this module adds MindSpore's names and checks."""
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
    """Base class of schedules. A subclass defines `construct(global_step)`, which returns the rate as a scalar Tensor.

    Inputs:
        global_step (Tensor): The number of the step, a scalar.

    Outputs:
        Tensor, the learning rate as a scalar.

    Examples:
        >>> import sindri as ms
        >>> class SquareRoot(ms.nn.LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 0.1 / ms.ops.sqrt(ms.ops.cast(global_step + 1, ms.float32))
        >>> print(SquareRoot()(ms.Tensor(3, ms.int32)))
        0.05
    """

    def construct(self, global_step: Tensor) -> Tensor:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, global_step)")


# Checked settings of the library's schedules, for the classes here and for the lists of dynamic_lr, in which steps are epochs.


def checked_decay(who: str, learning_rate: Any, decay_rate: Any, decay_steps: Any, is_stair: Any, unit: str = "steps") -> Dict[str, Any]:
    """Settings of "exponential", "natural_exp" and "inverse". Raises TypeError for wrong types, ValueError unless all numbers are above 0."""
    return {"learning_rate": check_strict_float(who, "learning_rate", learning_rate, above=0),
            "decay_rate": check_strict_float(who, "decay_rate", decay_rate, above=0), "decay_steps": check_int(who, f"decay_{unit}", decay_steps, 1),
            "is_stair": check_bool(who, "is_stair", is_stair)}


def checked_cosine(who: str, min_lr: Any, max_lr: Any, decay_steps: Any, unit: str = "steps") -> Dict[str, Any]:
    """Settings of "cosine". Raises TypeError for wrong types, ValueError for values out of range and unless min_lr < max_lr."""
    if check_strict_float(who, "min_lr", min_lr, least=0) >= check_strict_float(who, "max_lr", max_lr, above=0):
        fail(ValueError, f"{who}: min_lr {min_lr} must be below max_lr {max_lr}")
    return {"learning_rate": max_lr, "end": min_lr, "decay_steps": check_int(who, f"decay_{unit}", decay_steps, 1)}


def checked_poly(who: str, learning_rate: Any, end: Any, decay_steps: Any, power: Any, update: Any, unit: str = "steps") -> Dict[str, Any]:
    """Settings of "poly". Raises TypeError for wrong types, ValueError for values out of range and, if the rate must fall, unless end < learning_rate."""
    check_strict_float(who, "learning_rate", learning_rate, above=0)
    grows = check_strict_float(who, "end_learning_rate", end, least=0) >= learning_rate
    if grows and (unit == "epoch" or era() == 1):  # 2.x accepts a growing rate for the class
        fail(ValueError, f"{who}: end_learning_rate {end} must be below learning_rate {learning_rate}")
    return {"learning_rate": learning_rate, "end": end, "decay_steps": check_int(who, f"decay_{unit}", decay_steps, 1),
            "power": check_strict_float(who, "power", power, above=0), "update_decay_steps": check_bool(who, f"update_decay_{unit}", update)}


def checked_warm_up(who: str, learning_rate: Any, warmup_steps: Any, unit: str = "steps") -> Dict[str, Any]:
    """Settings of "warm_up". Raises TypeError for wrong types, ValueError for a negative rate and steps below 1."""
    return {"learning_rate": check_strict_float(who, "learning_rate", learning_rate, least=0),
            "warmup_steps": check_int(who, f"warmup_{unit}", warmup_steps, 1)}


# Keyed by name, settings and values: a schedule called in every step is created once.
_made: Callable[..., _core.Schedule] = functools.lru_cache(maxsize=256)(
    lambda rule, settings, values: _core.Schedule(rule, **dict(zip(settings, values))))


class _Named(LearningRateSchedule):
    """A schedule of the library. Its settings are attributes, which may change between calls."""

    _rule = ""  # its name in the library

    def _hold(self, settings: Dict[str, Any], **names: str) -> None:
        """Sets the settings as attributes. `names` maps setting=attribute where MindSpore's name differs."""
        attributes = [names.get(setting, setting) for setting in settings]
        self.__dict__["_cell_settings"], self.__dict__["_cell_read"] = tuple(settings), operator.attrgetter(*attributes)
        for name, value in zip(attributes, settings.values()):
            setattr(self, name, value)

    def construct(self, global_step: Tensor) -> Tensor:
        return _made(self._rule, self._cell_settings, self._cell_read(self))(global_step)


class _Decay(_Named):
    """Base of the decays by a rate. Raises TypeError for wrong types, ValueError unless all numbers are above 0."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self._hold(checked_decay(self.cls_name, learning_rate, decay_rate, decay_steps, is_stair))


class ExponentialDecayLR(_Decay):
    """Exponential decay: learning_rate·decay_rate^p with p = step/decay_steps.

    Args:
        learning_rate (float): The initial rate, above 0.
        decay_rate (float): The base, above 0.
        decay_steps (int): The steps of one decay.
        is_stair (bool): Whether p is rounded down. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a number is not above 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ExponentialDecayLR(0.1, 0.9, 4)(ms.Tensor(2, ms.int32)).asnumpy().round(4))
        0.0949
    """

    _rule = "exponential"


class NaturalExpDecayLR(_Decay):
    """Natural exponential decay: learning_rate·e^(-decay_rate·step).

    MindSpore computes it in the same way; its documentation has step/decay_steps in the exponent.

    Args:
        learning_rate (float): The initial rate, above 0.
        decay_rate (float): The decay per step, above 0.
        decay_steps (int): The steps of one stair.
        is_stair (bool): Whether the step is rounded down to a multiple of `decay_steps`. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a number is not above 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.NaturalExpDecayLR(0.1, 0.9, 4)(ms.Tensor(2, ms.int32)).asnumpy().round(4))
        0.0165
    """

    _rule = "natural_exp"


class InverseDecayLR(_Decay):
    """Inverse decay: learning_rate/(1 + decay_rate·p) with p = step/decay_steps.

    Args:
        learning_rate (float): The initial rate, above 0.
        decay_rate (float): The decay, above 0.
        decay_steps (int): The steps of one decay.
        is_stair (bool): Whether p is rounded down. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a number is not above 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.InverseDecayLR(0.1, 0.9, 4)(ms.Tensor(2, ms.int32)).asnumpy().round(4))
        0.069
    """

    _rule = "inverse"


class CosineDecayLR(_Named):
    """Cosine decay: min_lr + (max_lr - min_lr)·(1 + cos(pi·min(step, decay_steps)/decay_steps))/2.

    Args:
        min_lr (float): The final rate, at least 0.
        max_lr (float): The initial rate, above `min_lr`.
        decay_steps (int): The steps until `min_lr`.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range, or `min_lr` is not below `max_lr`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.CosineDecayLR(0.01, 0.1, 4)(ms.Tensor(2, ms.int32)).asnumpy().round(4))
        0.055
    """

    _rule = "cosine"

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self._hold(checked_cosine("CosineDecayLR", min_lr, max_lr, decay_steps), learning_rate="max_lr", end="min_lr")


class PolynomialDecayLR(_Named):
    """Polynomial decay: (learning_rate - end)·(1 - min(step, N)/N)^power + end with N = decay_steps.

    Args:
        learning_rate (float): The initial rate, above 0.
        end_learning_rate (float): The final rate, at least 0; with SINDRI_MINDSPORE_ERA=1 also below `learning_rate`.
        decay_steps (int): The steps until the final rate, above 0.
        power (float): The exponent, above 0.
        update_decay_steps (bool): Whether N grows by whole multiples of `decay_steps`, without the limit on step. Default: False.

    Raises:
        TypeError: If a number is not a float, or another argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)(ms.Tensor(2, ms.int32)).asnumpy().round(4))
        0.0736
    """

    _rule = "poly"

    def __init__(self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float, update_decay_steps: bool = False) -> None:
        super().__init__()
        self._hold(checked_poly("PolynomialDecayLR", learning_rate, end_learning_rate, decay_steps, power, update_decay_steps), end="end_learning_rate")


class WarmUpLR(_Named):
    """Linear warm-up: learning_rate·min(step, warmup_steps)/warmup_steps.

    Args:
        learning_rate (float): The final rate, at least 0.
        warmup_steps (int): The steps until `learning_rate`.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.WarmUpLR(0.1, 2)(ms.Tensor(1, ms.int32)).asnumpy().round(4))
        0.05
    """

    _rule = "warm_up"

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self._hold(checked_warm_up("WarmUpLR", learning_rate, warmup_steps))
