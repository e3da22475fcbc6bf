"""Loss-scale managers: which scale the loss is multiplied by, and what happens when gradients overflow."""
from typing import Any

from sindri import _checkparam as validator
from sindri.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ['LossScaleManager', 'FixedLossScaleManager', 'DynamicLossScaleManager']

# Largest scale: above it the scale's inverse is no normal float32.
_MAX_SCALE = 2.0 ** 126


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
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)) or not 0 < loss_scale <= _MAX_SCALE:
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
        if not self._drop_overflow_update:
            return None
        return FixedLossScaleUpdateCell(self._loss_scale)


class DynamicLossScaleManager(LossScaleManager):
    """Halves (divides by scale_factor) the scale on overflow, not below 1, and multiplies it after scale_window clean steps.
    ValueError: init_loss_scale below 1, scale_factor or scale_window not positive."""

    def __init__(self, init_loss_scale: float = 2 ** 24, scale_factor: int = 2, scale_window: int = 2000):
        if isinstance(init_loss_scale, bool) or not isinstance(init_loss_scale, (int, float)) or not 1.0 <= init_loss_scale <= _MAX_SCALE:
            raise ValueError(f"DynamicLossScaleManager: 'init_loss_scale' must be a number from 1 to 2^126, got {init_loss_scale!r}")
        self.loss_scale = init_loss_scale
        validator.check_positive_int(scale_window, 'scale_window', 'DynamicLossScaleManager')
        self.scale_window = scale_window
        if isinstance(scale_factor, bool) or not isinstance(scale_factor, (int, float)) or scale_factor <= 0:
            raise ValueError(f"DynamicLossScaleManager: 'scale_factor' must be a positive number, got {scale_factor!r}")
        self.scale_factor = scale_factor
        self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = 1000
        self.bad_step = 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        """Takes note of one step. RuntimeError after 1000 overflows in a row: such a network does not train at any scale."""
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
            if self.bad_step > self.bad_step_max:
                raise RuntimeError(f'DynamicLossScaleManager: gradients overflowed in {self.bad_step} steps in a row | '
                                   f'loss scale {self.loss_scale} | '
                                   'check the data, the learning rate and the initial values for infinite or NaN numbers')
        else:
            self.bad_step = 0
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale = min(self.loss_scale * self.increase_ratio, _MAX_SCALE)
        self.cur_iter += 1

    def _follow(self, step: Any) -> None:
        self.loss_scale = _number(step.scale_sense)
        cell = step.loss_scaling_manager
        if hasattr(cell, 'cur_iter') and hasattr(cell, 'last_overflow_iter'):
            self.cur_iter, self.last_overflow_iter = int(_number(cell.cur_iter)), int(_number(cell.last_overflow_iter))

    def get_drop_overflow_update(self) -> bool:
        return True

    def get_update_cell(self) -> Any:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
