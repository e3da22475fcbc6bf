"""Ends training when nothing gets better."""
from typing import Any, Optional

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import RunContext
from sindri.train.callback._monitored import _Watch


class EarlyStopping(_Watch):
    """Requests a stop once `monitor` ('loss', 'eval_loss', a metric of Model.fit) has not become better by more than `min_delta` for `patience`
    epochs. `baseline`: a value that must be beaten. `restore_best_weights`: puts the parameters of the best epoch back.
    ValueError/TypeError for bad arguments."""

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
            for parameter in p.train_network.get_parameters() if self.restore_best_weights else ():
                if parameter.name in self.best_weights_param_dict:
                    parameter.set_data(self.best_weights_param_dict[parameter.name])

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch > 0 and self.verbose:
            print(f'Epoch {self.stopped_epoch:05d}: early stopping', flush=True)
            logger.info('early stopping after epoch %d, best %s %s', self.stopped_epoch, self.monitor, self.best)
