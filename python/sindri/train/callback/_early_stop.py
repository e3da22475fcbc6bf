"""Ends training when a value stops improving."""
from typing import Any, Dict, Optional

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import RunContext
from sindri.train.callback._monitored import _Watch


class EarlyStopping(_Watch):
    """Requests a stop once a monitored value has not improved for some epochs.

    Epochs are counted; if a value of evaluations is monitored, evaluations are.

    Args:
        monitor (str): 'loss', 'eval_loss' or a metric of Model.fit. Default: 'eval_loss'.
        min_delta (float): The smallest change that counts as an improvement. Default: 0.
        patience (int): The number of epochs or evaluations without improvement. Default: 0.
        verbose (bool): Whether a stop is printed. Default: False.
        mode (str): 'min', 'max' or 'auto'. Default: 'auto'.
        baseline (float): The initial best value, which must be improved on. Default: None.
        restore_best_weights (bool): Whether the parameters of the best epoch are restored when training ends, also after its last epoch.
            Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import sindri as ms
        >>> callback = ms.train.EarlyStopping(monitor='eval_loss', patience=3, restore_best_weights=True)
    """

    def __init__(self, monitor: str = 'eval_loss', min_delta: float = 0, patience: int = 0, verbose: bool = False, mode: str = 'auto',
                 baseline: Optional[float] = None, restore_best_weights: bool = False):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        self.baseline = baseline if baseline is None else validator.check_value_type('baseline', baseline, [float], 'EarlyStopping')
        self.restore_best_weights = validator.check_bool(restore_best_weights, 'restore_best_weights', 'EarlyStopping')
        self.stopped_epoch = 0
        self.best_weights_param_dict: Any = None

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        self.stopped_epoch = 0
        self.best_weights_param_dict = None

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        value = self._current(p)
        if value is None:
            return
        better = self._rule.see(value)
        if self.restore_best_weights and (better or self.best_weights_param_dict is None):
            self.best_weights_param_dict = {q.name: Tensor(q) for q in p.train_network.get_parameters()}
        if self._rule.exhausted():
            self.stopped_epoch = p.cur_epoch_num
            run_context.request_stop()
            self._restore(p)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        if self._rule.exhausted():  # a resumed run that had stopped early
            run_context.request_stop()

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch == 0:
            self._restore(run_context.original_args())
        elif self.verbose:
            print(f'Epoch {self.stopped_epoch:05d}: early stopping', flush=True)
            logger.info('early stopping after epoch %d, best %s %s', self.stopped_epoch, self.monitor, self.best)

    def _restore(self, p: Any) -> None:
        if not self.restore_best_weights or self.best_weights_param_dict is None:
            return
        for parameter in p.train_network.get_parameters():
            if parameter.name in self.best_weights_param_dict:
                parameter.set_data(self.best_weights_param_dict[parameter.name])

    def state_dict(self) -> Dict[str, Any]:
        """Returns the best value, the number of epochs waited and, with `restore_best_weights`, the best parameters.

        Returns:
            Dict.
        """
        return {**super().state_dict(), 'best_weights': self.best_weights_param_dict}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Continues from a saved state.

        Args:
            state (dict): The state.
        """
        super().load_state_dict(state)
        self.best_weights_param_dict = state['best_weights'] if self.restore_best_weights else None
