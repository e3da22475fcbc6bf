"""Loss-scale managers: the scale by which the loss is multiplied, and the reaction to overflow."""
from typing import Any

from sindri import _checkparam as validator
from sindri import _core
from sindri._check import is_number
from sindri.nn.wrap.loss_scale import LARGEST_SCALE, DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ['LossScaleManager', 'FixedLossScaleManager', 'DynamicLossScaleManager']


def _number(tensor: Any) -> float:
    return float(tensor.asnumpy().reshape(-1)[0])


class LossScaleManager:
    """Base class of loss-scale managers; a subclass defines `get_loss_scale`, `update_loss_scale` and `get_update_cell`.

    Examples:
        >>> import sindri as ms
        >>> isinstance(ms.train.FixedLossScaleManager(), ms.train.LossScaleManager)
        True
    """

    def get_loss_scale(self) -> float:
        """Returns the scale of the next step.

        Returns:
            float.
        """
        raise NotImplementedError(f'{type(self).__name__}.get_loss_scale is not defined')

    def update_loss_scale(self, overflow: bool) -> None:
        """Records whether a step's gradients overflowed.

        Args:
            overflow (bool): Whether they did.
        """
        raise NotImplementedError(f'{type(self).__name__}.update_loss_scale is not defined')

    def get_update_cell(self) -> Any:
        """Returns the Cell that updates the scale inside the training step, or None if gradients are not checked.

        Returns:
            Cell or None.
        """
        raise NotImplementedError(f'{type(self).__name__}.get_update_cell is not defined')

    def get_drop_overflow_update(self) -> bool:
        """Returns whether a step with overflow is skipped.

        Returns:
            bool.
        """
        return False

    def _follow(self, step: Any) -> None:
        """Copies the state of the training cell, which decides, after something other than one step may have changed it."""


class FixedLossScaleManager(LossScaleManager):
    """A constant loss scale.

    With `drop_overflow_update=False` gradients are not checked, and the optimizer must have the same `loss_scale`, by which it divides. Otherwise the
    step divides, and the optimizer's must be 1 (Model and build_train_network raise ValueError).

    Args:
        loss_scale (float): The scale, above 0. Default: 128.0.
        drop_overflow_update (bool): Whether steps with overflow are skipped. Default: True.

    Raises:
        TypeError: If `drop_overflow_update` is not a bool.
        ValueError: If `loss_scale` is not a positive number of at most 2^126.

    Examples:
        >>> import sindri as ms
        >>> ms.train.FixedLossScaleManager(1024.0).get_loss_scale()
        1024.0
    """

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
        """Does nothing: the scale is constant.

        Args:
            overflow (bool): Ignored.
        """

    def _follow(self, step: Any) -> None:
        self._loss_scale = _number(step.scale_sense)  # a checkpoint may contain another

    def get_update_cell(self) -> Any:
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that adapts to overflow.

    An overflow divides the scale by `scale_factor`, not below 1; `scale_window` steps without overflow multiply it.

    Args:
        init_loss_scale (float): The initial scale, from 1 to 2^126. Default: 2**24.
        scale_factor (int): The factor. Default: 2.
        scale_window (int): The number of steps. Default: 2000.

    Raises:
        TypeError: If `scale_window` is not an int.
        ValueError: If `init_loss_scale` is below 1, or `scale_factor` or `scale_window` is not positive.

    Examples:
        >>> import sindri as ms
        >>> manager = ms.train.DynamicLossScaleManager(1024, scale_factor=2, scale_window=2000)
        >>> manager.update_loss_scale(True)
        >>> manager.get_loss_scale()
        512.0
    """

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
        """Records one step.

        Args:
            overflow (bool): Whether its gradients overflowed.

        Raises:
            RuntimeError: After 1000 consecutive overflows: such a network does not train at any scale.
        """
        whole = isinstance(self.loss_scale, int) and isinstance(self.increase_ratio, int) and not overflow  # an int stays one until it is divided
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
