"""What callbacks that watch a number or set the learning rate share."""
from typing import Any, Dict, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri import log as logger
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback, RunContext


class _Watch(Callback):
    """Watches `monitor`: 'loss' at every epoch, 'eval_loss' or a metric's name at every evaluation of Model.fit. `mode` says whether less or more
    is better; 'auto' takes more for accuracies."""

    def __init__(self, monitor: str, min_delta: float, patience: int, verbose: bool, mode: str):
        super().__init__()
        place = type(self).__name__
        self.monitor = validator.check_value_type('monitor', monitor, str, place)
        validator.check_value_type('min_delta', min_delta, [float, int], place)
        self.min_delta = validator.check_non_negative_float(float(min_delta), 'min_delta', place)
        self.patience = validator.check_non_negative_int(patience, 'patience', place)
        self.verbose = validator.check_bool(verbose, 'verbose', place)
        self.mode = validator.check_string(mode, ['auto', 'min', 'max'], 'mode', place)
        self.baseline: Optional[float] = None
        self._begin()

    @property
    def wait(self) -> int:
        """Epochs, or evaluations where an evaluation is watched, without a better number."""
        return self._rule.wait

    @property
    def best(self) -> float:
        """The best number so far."""
        return self._rule.best

    @property
    def cooldown_counter(self) -> int:
        """Epochs that are not counted any more."""
        return self._rule.cooldown

    def _begin(self) -> None:
        more = self.mode == 'max' or self.mode == 'auto' and 'acc' in self.monitor
        self._rule = _core.Patience(more, self.min_delta, self.patience, self.baseline)

    def on_train_begin(self, run_context: RunContext) -> None:
        self._begin()

    def state_dict(self) -> Dict[str, Any]:
        """Best number, epochs waited and cooldown."""
        return {'best': self._rule.best, 'wait': self._rule.wait, 'cooldown': self._rule.cooldown}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Continues counting from `state`."""
        self._rule.best, self._rule.wait, self._rule.cooldown = float(state['best']), int(state['wait']), int(state['cooldown'])

    def _current(self, p: Any) -> Optional[float]:
        """The watched number. None where there is none: silently in an epoch of Model.fit without an evaluation, else with a warning."""
        results = p.get('eval_results') or {}
        if self.monitor != 'loss' and not getattr(p, '_evaluated', True):
            return None
        found = p.get('net_outputs') if self.monitor == 'loss' else results.get(self.monitor)
        if self.monitor == 'loss' and isinstance(found, (tuple, list)):
            found = found[0]
        if found is None:
            logger.warning("%s: there is no '%s' yet | it watches 'loss', or what Model.fit evaluates: %s", type(self).__name__, self.monitor,
                           ', '.join(sorted(results)) or 'nothing so far')
            return None
        value = np.asarray(found.asnumpy() if isinstance(found, Tensor) else found)
        if value.size != 1:
            raise ValueError(f"{type(self).__name__}: '{self.monitor}' must be one number, got shape {value.shape}")
        return float(value.reshape(-1)[0])


def rate_held(optimizer: Any) -> Any:
    """The attribute that holds an optimizer's learning rate: a Parameter, a schedule, or several of them where groups differ. None without one."""
    of_groups = getattr(optimizer, 'lrs', None)  # of experimental.optim
    if isinstance(of_groups, ParameterTuple) and of_groups:
        return of_groups[0] if len(of_groups) == 1 else of_groups
    return getattr(optimizer, 'learning_rate', None)


class _Rate:
    """The learning rate of the optimizer that a training works with. ValueError without an optimizer."""

    def __init__(self, p: Any, place: str):
        optimizer = p.get('optimizer') or getattr(p.train_network, 'optimizer', None)
        if optimizer is None:
            raise ValueError(f'{place}: the training network has no optimizer')
        self._rate = rate_held(optimizer)
        self.constant = isinstance(self._rate, Parameter)

    def get(self) -> float:
        """Now; only where it is constant."""
        return float(self._rate.asnumpy())

    def set(self, rate: float) -> None:
        """From the next step on."""
        self._rate.set_data(Tensor(np.array(rate, np.float32)))
