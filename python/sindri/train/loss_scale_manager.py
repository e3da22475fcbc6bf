"""Loss-scale managers: which scale the loss is multiplied by, and what happens when gradients overflow."""
from typing import Any

from sindri import _checkparam as validator
from sindri import _core
from sindri._check import is_number
from sindri.nn.wrap.loss_scale import LARGEST_SCALE, DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ['LossScaleManager', 'FixedLossScaleManager', 'DynamicLossScaleManager']


def _number(tensor: Any) -> float:
    return float(tensor.asnumpy().reshape(-1)[0])


class LossScaleManager:
    """Base class; a subclass defines the three methods below."""

    def get_loss_scale(self) -> float:
        """The scale of the next step."""
        raise NotImplementedError(f'{type(self).__name__}.get_loss_scale is not defined')

    def update_loss_scale(self, overflow: bool) -> None:
        """Takes note of whether a step's gradients overflowed."""
        raise NotImplementedError(f'{type(self).__name__}.update_loss_scale is not defined')

    def get_update_cell(self) -> Any:
        """The Cell that keeps the scale inside the training step, or None when no check takes place."""
        raise NotImplementedError(f'{type(self).__name__}.get_update_cell is not defined')

    def get_drop_overflow_update(self) -> bool:
        """Whether a step with overflow is left out."""
        return False

    def _follow(self, step: Any) -> None:
        """Takes over the state of the training cell, which decides, after something other than one step may have changed it."""


class FixedLossScaleManager(LossScaleManager):
    """One scale. With drop_overflow_update=False gradients are not checked, and the optimizer must be given the same `loss_scale`, by which it
    divides; otherwise the step divides, and the optimizer's must be 1 (Model and build_train_network raise ValueError). ValueError unless
    loss_scale is positive."""

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True):
        if not is_number(loss_scale) or not 0 < loss_scale <= LARGEST_SCALE:
            raise ValueError(f"FixedLossScaleManager: 'loss_scale' must be a positive number of at most 2^126, got {loss_scale!r}")
        self._loss_scale = loss_scale
        self._drop_overflow_update = validator.check_value_type('drop_overflow_update', drop_overflow_update, [bool], 'FixedLossScaleManager')

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """The scale stays."""

    def _follow(self, step: Any) -> None:
        self._loss_scale = _number(step.scale_sense)  # a checkpoint may hold another

    def get_update_cell(self) -> Any:
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """Halves (divides by scale_factor) the scale on overflow, not below 1, and multiplies it after scale_window clean steps.
    ValueError: init_loss_scale below 1, scale_factor or scale_window not positive."""

    def __init__(self, init_loss_scale: float = 2 ** 24, scale_factor: int = 2, scale_window: int = 2000):
        if not is_number(init_loss_scale) or not 1.0 <= init_loss_scale <= LARGEST_SCALE:
            raise ValueError(f"DynamicLossScaleManager: 'init_loss_scale' must be a number from 1 to 2^126, got {init_loss_scale!r}")
        self.scale_window = validator.check_positive_int(scale_window, 'scale_window', 'DynamicLossScaleManager')
        if not is_number(scale_factor) or scale_factor <= 0:
            raise ValueError(f"DynamicLossScaleManager: 'scale_factor' must be a positive number, got {scale_factor!r}")
        self.loss_scale, self.scale_factor, self.increase_ratio, self.decrease_ratio = init_loss_scale, scale_factor, scale_factor, 1 / scale_factor
        self.cur_iter, self.last_overflow_iter, self.bad_step_max, self.bad_step = 1, 0, 1000, 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        """Takes note of one step. RuntimeError after 1000 overflows in a row: such a network does not train at any scale."""
        whole = isinstance(self.loss_scale, int) and isinstance(self.increase_ratio, int) and not overflow  # stays so until it is divided
        scale, self.cur_iter, self.last_overflow_iter, self.bad_step = _core.next_loss_scale_count(
            self.loss_scale, self.cur_iter, self.last_overflow_iter, self.bad_step, bool(overflow), self.increase_ratio, self.decrease_ratio,
            self.scale_window)
        self.loss_scale = int(scale) if whole else scale
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(f'DynamicLossScaleManager: gradients overflowed in {self.bad_step} steps in a row | loss scale {self.loss_scale} | '
                               'check the data, the learning rate and the initial values for infinite or NaN numbers')

    def _follow(self, step: Any) -> None:
        self.loss_scale = _number(step.scale_sense)
        cell = step.loss_scaling_manager
        if hasattr(cell, 'cur_iter') and hasattr(cell, 'last_overflow_iter'):
            self.cur_iter, self.last_overflow_iter = int(_number(cell.cur_iter)), int(_number(cell.last_overflow_iter))

    def get_drop_overflow_update(self) -> bool:
        return True

    def get_update_cell(self) -> Any:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
