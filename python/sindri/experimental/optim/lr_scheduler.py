"""Learning-rate schedulers of experimental optimizers (MindSpore: mindspore.experimental.optim.lr_scheduler).

A scheduler computes on the host and writes to the Parameters that hold the groups' learning rates, so neither mode recompiles. `step()` reads values; a
compiled function that calls it runs eagerly (sindri/_compile.py).
"""
from __future__ import annotations

import bisect
import math
from typing import Any, Callable, List, Optional, Sequence, Union

from sindri._check import check_choice, check_float, check_int, check_strict_float, fail, is_int, is_number
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.experimental.optim.optimizer import Optimizer

__all__ = ["StepLR", "LinearLR", "LRScheduler", "ExponentialLR", "PolynomialLR", "MultiplicativeLR", "ConstantLR", "MultiStepLR", "LambdaLR",
           "SequentialLR", "ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts", "CosineAnnealingLR"]

_Lambdas = Union[Callable[[Any], Any], Sequence[Callable[[Any], Any]]]


def _number(value: Any) -> float:
    """Returns the value of a number or of a tensor with one element."""
    return float(value.asnumpy()) if isinstance(value, Tensor) else float(value)


def _check_optimizer(who: str, optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        fail(TypeError, f"{who}: optimizer must be an optimizer of experimental.optim, got {type(optimizer).__name__}",
             "pass an optimizer of nn its schedule as learning_rate")


class LRScheduler:
    """Base class of schedulers: `step()` advances `last_epoch` and gives every group of the optimizer the learning rate that get_lr computes.

    A subclass defines `get_lr()`, which returns one rate per group from `last_epoch`, `base_lrs` (the rates before the first step) and `_last_lr` (the
    Parameters that hold the rates). The constructor takes the first step, to epoch 0.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Resuming from another epoch needs `initial_lr` in every group. Default: -1.

    Raises:
        TypeError: If the optimizer is another object or `last_epoch` is not an int.
        ValueError: If `last_epoch` is below -1.
        KeyError: If a group has no `initial_lr` when resuming.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> class Halve(optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5 ** int(self.last_epoch) for lr in self._base()]
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> scheduler = Halve(optim.SGD([w], lr=1.0))
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        who = type(self).__name__
        _check_optimizer(who, optimizer)
        check_int(who, "last_epoch", last_epoch, -1)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", Tensor(group["lr"].value()))
            elif "initial_lr" not in group:
                fail(KeyError, f"{who}: group {number} of the optimizer has no 'initial_lr', which last_epoch={last_epoch} needs",
                     "add the learning rate of the first epoch to the group: {'params': ..., 'lr': ..., 'initial_lr': ...}")
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr = [group["lr"] for group in optimizer.param_groups]
        self.groups_num = len(optimizer.param_groups)
        self.last_epoch = Parameter(Tensor(last_epoch, mstype.float32), name="last_epoch_" + who)
        self.step()

    def get_lr(self) -> List[Any]:
        """Returns one learning rate per group for `last_epoch`; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr | lr_scheduler.LRScheduler | define get_lr(self), which returns a rate per group")

    def get_last_lr(self) -> List[Tensor]:
        """Returns the current learning rates of the groups."""
        return [lr.value() for lr in self._last_lr]

    def step(self, epoch: Any = None) -> Any:
        """Advances to the next epoch, or to `epoch`, and sets the learning rates.

        Args:
            epoch (int, float, optional): The epoch. Schedules with a closed form go to it directly; others compute from the current rates as if it were
                the next epoch. Default: None, the next epoch.

        Returns:
            bool, True.
        """
        self._at(self._epoch() + 1 if epoch is None else _number(epoch))
        closed = getattr(self, "_get_closed_form_lr", None) if epoch is not None else None
        self._set(self.get_lr() if closed is None else closed())
        return True

    # Common parts of the schedules.

    def _epoch(self) -> Any:
        """Returns last_epoch as a number: an int if it is whole."""
        value = _number(self.last_epoch)
        return int(value) if value.is_integer() else value

    def _at(self, epoch: float) -> None:
        self.last_epoch.assign(Tensor(epoch, mstype.float32))

    def _set(self, rates: Sequence[Any]) -> None:
        if len(rates) != len(self._last_lr):
            fail(ValueError, f"{type(self).__name__}: get_lr gave {len(rates)} rates for {len(self._last_lr)} groups")
        for held, rate in zip(self._last_lr, rates):
            held.assign(rate.astype(held.dtype) if isinstance(rate, Tensor) else Tensor(float(rate), held.dtype))

    def _rates(self) -> List[float]:
        return [_number(lr) for lr in self._last_lr]

    def _base(self) -> List[float]:
        return [_number(lr) for lr in self.base_lrs]

    def _times(self, factor: float) -> List[float]:
        return [lr * factor for lr in self._rates()]


class StepLR(LRScheduler):
    """Multiplies the learning rates by gamma every step_size epochs.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        step_size (int): The number of epochs in a period, at least 1.
        gamma (float): The factor. Default: 0.1.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = check_int("StepLR", "step_size", step_size, 1), check_strict_float("StepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by gamma at the end of a period."""
        epoch = self._epoch()
        return self._times(1.0 if epoch == 0 or epoch % self.step_size else self.gamma)

    def _get_closed_form_lr(self) -> List[float]:
        return [lr * self.gamma ** (self._epoch() // self.step_size) for lr in self._base()]


class LinearLR(LRScheduler):
    """Multiplies the learning rates by a factor that changes linearly from start_factor to end_factor within total_iters epochs.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        start_factor (float): The first factor, within (0, 1]. Default: 1/3.
        end_factor (float): The last factor, within [0, 1]. Default: 1.0.
        total_iters (int): The number of epochs, not negative. Default: 5.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1) -> None:
        self.start_factor = check_float("LinearLR", "start_factor", start_factor, above=0, most=1)
        self.end_factor = check_float("LinearLR", "end_factor", end_factor, least=0, most=1)
        self.total_iters = check_int("LinearLR", "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by the quotient of this epoch's factor and the previous one."""
        epoch, rise = self._epoch(), self.end_factor - self.start_factor
        if epoch == 0:
            return self._times(self.start_factor)
        return self._times(1.0 if epoch > self.total_iters else 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1) * rise))

    def _get_closed_form_lr(self) -> List[float]:
        done = min(self._epoch(), self.total_iters) / self.total_iters if self.total_iters else 1.0
        return [lr * (self.start_factor + (self.end_factor - self.start_factor) * done) for lr in self._base()]


class ExponentialLR(LRScheduler):
    """Multiplies the learning rates by gamma every epoch.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        gamma (float): The factor.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = check_strict_float("ExponentialLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by gamma after epoch 0."""
        return self._times(1.0 if self._epoch() == 0 else self.gamma)

    def _get_closed_form_lr(self) -> List[float]:
        return [lr * self.gamma ** self._epoch() for lr in self._base()]


class PolynomialLR(LRScheduler):
    """Multiplies the initial learning rates by (1 - epoch/total_iters)^power; they are 0 from epoch total_iters.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        total_iters (int): The number of epochs, at least 1. Default: 5.
        power (float): The power. Default: 1.0.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.75, 0.5, 0.25, 0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = check_int("PolynomialLR", "total_iters", total_iters, 1)
        self.power = check_strict_float("PolynomialLR", "power", power)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by the quotient of this epoch's factor and the previous one."""
        epoch = self._epoch()
        if epoch == 0 or epoch > self.total_iters:
            return self._times(1.0)
        return self._times(((1 - epoch / self.total_iters) / (1 - (epoch - 1) / self.total_iters)) ** self.power)

    def _get_closed_form_lr(self) -> List[float]:
        return [lr * (1 - min(self.total_iters, self._epoch()) / self.total_iters) ** self.power for lr in self._base()]


def _lambdas(who: str, optimizer: Any, given: Any) -> List[Callable[[Any], Any]]:
    """Returns one function per group."""
    _check_optimizer(who, optimizer)
    count = len(optimizer.param_groups)
    functions = list(given) if isinstance(given, (list, tuple)) else [given] * count
    if len(functions) != count:
        fail(ValueError, f"{who}: got {len(functions)} functions for {count} groups", "give one function, or one per group")
    for function in functions:
        if not callable(function):
            fail(TypeError, f"{who}: lr_lambda must be a function of the epoch, got {type(function).__name__}")
    return functions


class LambdaLR(LRScheduler):
    """Multiplies the initial learning rates by lr_lambda(epoch).

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        lr_lambda (Callable, list[Callable]): A function from epoch to factor, or one for each group.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5 ** epoch)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: _Lambdas, last_epoch: int = -1) -> None:
        self.lr_lambdas = _lambdas("LambdaLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the initial rates, multiplied by the functions' values."""
        epoch = self._epoch()
        return [lr * _number(function(epoch)) for lr, function in zip(self._base(), self.lr_lambdas)]


class MultiplicativeLR(LRScheduler):
    """Multiplies the learning rates by lr_lambda(epoch) every epoch after the first.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        lr_lambda (Callable, list[Callable]): A function from epoch to factor, or one for each group.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: _Lambdas, last_epoch: int = -1) -> None:
        self.lr_lambdas = _lambdas("MultiplicativeLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by the functions' values."""
        epoch = self._epoch()
        if epoch == 0:
            return self._times(1.0)
        return [lr * _number(function(epoch)) for lr, function in zip(self._rates(), self.lr_lambdas)]


class ConstantLR(LRScheduler):
    """Multiplies the learning rates by factor until epoch total_iters.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        factor (float): The factor, within [0, 1]. Default: 1/3.
        total_iters (int): The number of epochs, not negative. Default: 5.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        self.factor, self.total_iters = check_float("ConstantLR", "factor", factor, least=0, most=1), check_int("ConstantLR", "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by factor in epoch 0 and divided by it in epoch total_iters."""
        epoch = self._epoch()
        if epoch == 0:
            return self._times(self.factor)
        if epoch != self.total_iters:
            return self._times(1.0)
        return self._times(1.0 / self.factor) if self.factor else self._base()

    def _get_closed_form_lr(self) -> List[float]:
        return [lr * (self.factor if self._epoch() < self.total_iters else 1.0) for lr in self._base()]


class MultiStepLR(LRScheduler):
    """Multiplies the learning rates by gamma at every epoch in milestones; an epoch that is listed twice counts twice.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        milestones (list[int]): The epochs.
        gamma (float): The factor. Default: 0.1.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        if not isinstance(milestones, (list, tuple)):
            fail(TypeError, f"MultiStepLR: milestones must be a list, got {type(milestones).__name__}")
        self.milestones = sorted(check_int("MultiStepLR", f"milestones[{i}]", m) for i, m in enumerate(milestones))
        self.gamma = check_float("MultiStepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates, multiplied by gamma at a milestone."""
        return self._times(self.gamma ** self.milestones.count(self._epoch()))

    def _get_closed_form_lr(self) -> List[float]:
        return [lr * self.gamma ** bisect.bisect_right(self.milestones, self._epoch()) for lr in self._base()]


class CosineAnnealingLR(LRScheduler):
    """Moves the learning rates along a cosine from their initial value to eta_min and back, T_max epochs each way (Loshchilov and Hutter 2017).

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        T_max (int): The number of epochs of half a period, at least 1.
        eta_min (float): The lowest rate. Default: 0.0.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.5, 0.0, 0.5, 1.0]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = check_int("CosineAnnealingLR", "T_max", T_max, 1), check_float("CosineAnnealingLR", "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates; their distance from eta_min is multiplied by the quotient of this epoch's cosine term and the previous one."""
        epoch, low = self._epoch(), self.eta_min
        if epoch == 0:
            return self._times(1.0)
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the previous term was 0
            return [lr + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2 for base, lr in zip(self._base(), self._rates())]
        quotient = (1 + math.cos(math.pi * epoch / self.T_max)) / (1 + math.cos(math.pi * (epoch - 1) / self.T_max))
        return [quotient * (lr - low) + low for lr in self._rates()]

    def _get_closed_form_lr(self) -> List[float]:
        half = (1 + math.cos(math.pi * self._epoch() / self.T_max)) / 2
        return [self.eta_min + (lr - self.eta_min) * half for lr in self._base()]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Moves the learning rates along a cosine from their initial value to eta_min, and restarts it after T_0 epochs (Loshchilov and Hutter 2017).

    Each period is T_mult times as long as the previous one. `step(epoch)` accepts fractions of an epoch.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        T_0 (int): The number of epochs of the first period, at least 1.
        T_mult (int): The growth of the periods, at least 1. Default: 1.
        eta_min (float): The lowest rate. Default: 0.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not is_int(value) or value < 1:
                fail(ValueError, f"CosineAnnealingWarmRestarts: {name} must be an int of at least 1, got {value!r}")
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min, self.T_cur = check_float("CosineAnnealingWarmRestarts", "eta_min", eta_min), float(last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[Any]:
        """Returns the rates T_cur epochs after the last restart."""
        half = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (lr - self.eta_min) * half for lr in self._base()]

    def step(self, epoch: Any = None) -> Any:
        """Advances by one epoch, or to `epoch`, and sets the learning rates.

        Args:
            epoch (int, float): The epoch, which may be a fraction. Default: None, the next one.

        Raises:
            ValueError: If `epoch` is negative.
        """
        if epoch is None and self._epoch() >= 0:
            epoch = self._epoch() + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        else:
            epoch = 0.0 if epoch is None else _number(epoch)
            if epoch < 0:
                fail(ValueError, f"CosineAnnealingWarmRestarts: epoch must not be negative, got {epoch:g}")
            self.T_cur, self.T_i = self._since_restart(epoch)
        self._at(math.floor(epoch))
        self._set(self.get_lr())
        return True

    def _since_restart(self, epoch: float) -> Any:
        """Returns (epochs since the last restart, length of the current period)."""
        if self.T_mult == 1:
            return epoch % self.T_0, self.T_0
        begin, length = 0, self.T_0
        while epoch >= begin + length:
            begin, length = begin + length, length * self.T_mult
        return epoch - begin, length


class CyclicLR(LRScheduler):
    """Cycles the learning rates: they rise from base_lr to max_lr in step_size_up steps and fall back in step_size_down (Smith 2017).

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        base_lr (float, list[float]): The lowest rate, or one for each group.
        max_lr (float, list[float]): The highest rate, or one for each group.
        step_size_up (int): The number of rising steps, positive. Default: 2000.
        step_size_down (int, optional): The number of falling steps, positive. Default: None, step_size_up.
        mode (str): 'triangular'; 'triangular2', which halves the height every cycle; 'exp_range', which multiplies it by gamma every step. Default:
            'triangular'.
        gamma (float): The factor of 'exp_range'. Default: 1.0.
        scale_fn (Callable, optional): Replaces the mode: a function from the number of the cycle or step to the factor of the height. Default: None.
        scale_mode (str): Whether scale_fn receives the number of the 'cycle' or, with 'iterations', of the step. Default: 'cycle'.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, and as LRScheduler.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.25, max_lr=1.0, step_size_up=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        ...     _ = scheduler.step()
        >>> rates
        [0.25, 0.625, 1.0, 0.625, 0.25]
    """

    def __init__(self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: Optional[int] = None,
                 mode: str = "triangular", gamma: float = 1.0, scale_fn: Optional[Callable[[Any], Any]] = None, scale_mode: str = "cycle", last_epoch: int = -1) -> None:
        _check_optimizer("CyclicLR", optimizer)
        low, self.max_lrs = self._one_per_group(optimizer, "base_lr", base_lr), self._one_per_group(optimizer, "max_lr", max_lr)
        up = check_float("CyclicLR", "step_size_up", step_size_up, above=0)
        down = up if step_size_down is None else check_float("CyclicLR", "step_size_down", step_size_down, above=0)
        self.total_step_size, self.step_up_ratio = up + down, up / (up + down)
        if scale_fn is None:
            check_choice("CyclicLR", "mode", mode, ("triangular", "triangular2", "exp_range"))
        elif not callable(scale_fn):
            fail(TypeError, f"CyclicLR: scale_fn must be a function, got {type(scale_fn).__name__}")
        self.mode, self.gamma, self._own_scale = mode, check_float("CyclicLR", "gamma", gamma), scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, low):
                group["lr"] = lr
        self._low = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(lr, mstype.float32) for lr in low]

    @staticmethod
    def _one_per_group(optimizer: Optimizer, name: str, value: Any) -> List[float]:
        count = len(optimizer.param_groups)
        values = list(value) if isinstance(value, (list, tuple)) else [value] * count
        if len(values) != count:
            fail(ValueError, f"CyclicLR: got {len(values)} values of {name} for {count} groups", "give one number, or one per group")
        return [check_float("CyclicLR", name, v, least=0) for v in values]

    def scale_fn(self, x: Any) -> Any:
        """Returns the factor for the height of cycle (or step) x.

        Args:
            x (int): The cycle, from 1, or the step, as `scale_mode` says.

        Returns:
            float.
        """
        if self._own_scale is not None:
            return self._own_scale(x)
        return 1.0 if self.mode == "triangular" else 0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma ** x

    def get_lr(self) -> List[Any]:
        """Returns the rates at this step of the cycle."""
        step = self._epoch()
        cycle = math.floor(1 + step / self.total_step_size)
        at = 1 + step / self.total_step_size - cycle
        height = at / self.step_up_ratio if at <= self.step_up_ratio else (at - 1) / (self.step_up_ratio - 1)
        scale = height * _number(self.scale_fn(cycle if self.scale_mode == "cycle" else step))
        return [low + (high - low) * scale for low, high in zip(self._low, self.max_lrs)]


class SequentialLR:
    """Runs several schedules in sequence: schedulers[i] starts at epoch milestones[i - 1], with its own epoch 0.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        schedulers (list[LRScheduler]): The schedules of this optimizer.
        milestones (list[int]): The epochs at which the following schedules start, one less than there are schedulers.
        last_epoch (int): The number of the last epoch; -1 starts a schedule. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a scheduler belongs to another optimizer, or the number of milestones is wrong.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> from sindri.experimental.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = SequentialLR(optimizer, [ConstantLR(optimizer, 0.5, 2), ExponentialLR(optimizer, 0.5)], milestones=[2])
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(float(scheduler.get_last_lr()[0]))
        ...     scheduler.step()
        >>> rates
        [0.5, 0.5, 1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1) -> None:
        _check_optimizer("SequentialLR", optimizer)
        if not isinstance(schedulers, (list, tuple)) or not all(isinstance(s, LRScheduler) for s in schedulers):
            fail(TypeError, "SequentialLR: schedulers must be a list of schedulers")
        if any(s.optimizer is not optimizer for s in schedulers):
            fail(ValueError, "SequentialLR: all schedulers must belong to the given optimizer")
        if not isinstance(milestones, (list, tuple)):
            fail(TypeError, f"SequentialLR: milestones must be a list, got {type(milestones).__name__}")
        if not schedulers or len(milestones) != len(schedulers) - 1:
            fail(ValueError, f"SequentialLR: {len(schedulers)} schedulers need {max(len(schedulers) - 1, 0)} milestones, got {len(milestones)}")
        check_int("SequentialLR", "last_epoch", last_epoch, -1)
        self.optimizer, self._schedulers = optimizer, list(schedulers)
        self._milestones = [check_int("SequentialLR", f"milestones[{i}]", m) for i, m in enumerate(milestones)]
        self.last_epoch = last_epoch + 1
        # Each constructor took a step, and all of them multiplied the same rates. Keep only the first scheduler's step.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self._schedulers:
            scheduler._at(scheduler._epoch() - 1)
        self._schedulers[0].step()

    def step(self) -> None:
        """Advances to the next epoch and sets the learning rates by the current schedule."""
        self.last_epoch += 1
        now = bisect.bisect_right(self._milestones, self.last_epoch)
        if now > 0 and self._milestones[now - 1] == self.last_epoch:
            self._schedulers[now].step(0)
        else:
            self._schedulers[now].step()

    def get_last_lr(self) -> List[Tensor]:
        """Returns the current learning rates of the groups."""
        return [group["lr"].value() for group in self.optimizer.param_groups]


class ReduceLROnPlateau:
    """Multiplies the learning rates by factor when a metric has not improved for more than `patience` steps.

    Args:
        optimizer (experimental.optim.Optimizer): The optimizer whose learning rates it sets.
        mode (str): Whether a 'min' or 'max' value is better. Default: 'min'.
        factor (float): The factor, within [0, 1). Default: 0.1.
        patience (int): The number of steps without improvement that have no effect. Default: 10.
        threshold (float): The smallest improvement. Default: 1e-4.
        threshold_mode (str): Whether the threshold is relative to the best value ('rel') or absolute ('abs'). Default: 'rel'.
        cooldown (int): The number of steps after a reduction that do not count as bad. Default: 0.
        min_lr (float, list[float]): The lowest rate, or one for each group. Default: 0.
        eps (float): Smaller changes are skipped. Default: 1e-8.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        >>> for loss in (0.9, 0.9, 0.9):
        ...     _ = scheduler.step(loss)
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8) -> None:
        who = "ReduceLROnPlateau"
        _check_optimizer(who, optimizer)
        self.factor, self.eps = check_float(who, "factor", factor, least=0, below=1), check_float(who, "eps", eps, least=0)
        self.mode, self.threshold_mode = check_choice(who, "mode", mode, ("min", "max")), check_choice(who, "threshold_mode", threshold_mode, ("rel", "abs"))
        self.patience, self.cooldown = check_int(who, "patience", patience, 0), check_int(who, "cooldown", cooldown, 0)
        self.threshold = check_float(who, "threshold", threshold)
        groups = optimizer.param_groups
        least = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(groups)
        if len(least) != len(groups):
            fail(ValueError, f"{who}: got {len(least)} values of min_lr for {len(groups)} groups", "give one number, or one per group")
        self.min_lrs = [check_float(who, "min_lr", v, least=0) for v in least]
        self.optimizer, self.last_epoch, self.num_bad_epochs, self.cooldown_counter = optimizer, 0, 0, 0
        self.best = math.inf if mode == "min" else -math.inf

    @property
    def in_cooldown(self) -> bool:
        """Whether fewer than `cooldown` steps have passed since the last reduction."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any) -> Any:
        """Evaluates the metric of an epoch, and reduces the learning rates if it has stopped improving.

        Args:
            metrics (float, Tensor): A number or a tensor with one element.

        Returns:
            bool, True.

        Raises:
            TypeError: If `metrics` has another type.
        """
        if not is_number(metrics) and not (isinstance(metrics, Tensor) and metrics.size == 1):
            fail(TypeError, f"ReduceLROnPlateau: metrics must be a number or a Tensor with one element, got {type(metrics).__name__}")
        value = float(metrics.asnumpy().reshape(())) if isinstance(metrics, Tensor) else float(metrics)
        self.last_epoch += 1
        if self._improves(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        return True

    def _improves(self, value: float) -> bool:
        if math.isinf(self.best):
            return value < self.best if self.mode == "min" else value > self.best
        margin = self.threshold * self.best if self.threshold_mode == "rel" else self.threshold
        return value < self.best - margin if self.mode == "min" else value > self.best + margin

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs):
            old = _number(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                group["lr"] = new

    def get_last_lr(self) -> List[Tensor]:
        """Returns the current learning rates of the groups."""
        return [group["lr"].value() for group in self.optimizer.param_groups]
