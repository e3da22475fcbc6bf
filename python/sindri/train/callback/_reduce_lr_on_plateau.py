"""Lowers the learning rate when a value stops improving."""
from typing import Any, Dict, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.train.callback._callback import RunContext
from sindri.train.callback._monitored import _Rate, _Watch


class ReduceLROnPlateau(_Watch):
    """Multiplies the learning rate by a factor once a monitored value has not improved for some epochs.

    Epochs are counted; if a value of evaluations is monitored, evaluations are. The optimizer must have one constant learning rate.

    Args:
        monitor (str): 'loss', 'eval_loss' or a metric of Model.fit. Default: 'eval_loss'.
        factor (float): The factor, in (0, 1). Default: 0.1.
        patience (int): The number of epochs or evaluations without improvement. Default: 10.
        verbose (bool): Whether a change is printed. Default: False.
        mode (str): 'min', 'max' or 'auto'. Default: 'auto'.
        min_delta (float): The smallest change that counts as an improvement. Default: 1e-4.
        cooldown (int): The number of epochs or evaluations to wait after a change. Default: 0.
        min_lr (float): The smallest learning rate. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import sindri as ms
        >>> callback = ms.train.ReduceLROnPlateau(monitor='eval_loss', factor=0.5, patience=3)
    """

    def __init__(self, monitor: str = 'eval_loss', factor: float = 0.1, patience: int = 10, verbose: bool = False, mode: str = 'auto',
                 min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        self.factor = validator.check_float_range(float(factor), 0.0, 1.0, validator.INC_NEITHER, 'factor', 'ReduceLROnPlateau')
        self.cooldown = validator.check_non_negative_int(cooldown, 'cooldown', 'ReduceLROnPlateau')
        validator.check_value_type('min_lr', min_lr, [float, int], 'ReduceLROnPlateau')
        self.min_lr = validator.check_non_negative_float(float(min_lr), 'min_lr', 'ReduceLROnPlateau')
        self._watched_rate: Optional[_Rate] = None

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        self._watched_rate = _Rate(run_context.original_args(), 'ReduceLROnPlateau')

    def state_dict(self) -> Dict[str, Any]:
        """Returns the best value, the epochs waited, the cooldown and the learning rate.

        Returns:
            Dict.
        """
        rate = self._watched_rate
        return {**super().state_dict(), 'rate': rate.get() if rate is not None and rate.constant else None}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Continues from a saved state, with its learning rate.

        Args:
            state (dict): The state.
        """
        super().load_state_dict(state)
        if state['rate'] is not None and self._watched_rate is not None and self._watched_rate.constant:
            self._watched_rate.set(state['rate'])

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        rate = _Rate(p, 'ReduceLROnPlateau')
        value = self._current(p)
        if value is None:
            return
        self._rule.see(value)
        if not self._rule.exhausted():
            return
        if not rate.constant:
            raise ValueError('ReduceLROnPlateau: the learning rate follows a schedule or differs by group | give the optimizer one float')
        old = rate.get()
        if old <= np.float32(self.min_lr):
            return
        new = max(old * self.factor, self.min_lr)
        rate.set(new)
        self._rule.cooldown, self._rule.wait = self.cooldown, 0
        if self.verbose:
            print(f'Epoch {p.cur_epoch_num}: ReduceLROnPlateau reducing learning rate to {new}.', flush=True)
            logger.info('epoch %d: learning rate %g -> %g', p.cur_epoch_num, old, new)
