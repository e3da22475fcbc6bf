"""Bases of callbacks that monitor a value or set the learning rate."""
from typing import Any, Dict, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri import log as logger
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback, RunContext


class _Watch(Callback):
    """Watches `monitor`: 'loss' in every epoch, 'eval_loss' or a metric's name in every evaluation of Model.fit. `mode` says whether smaller or
    larger is better; 'auto' prefers larger values of accuracies."""

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
        """int: Epochs without an improvement; evaluations, if a value of evaluations is watched."""
        return self._rule.wait

    @property
    def best(self) -> float:
        """float: The best value so far."""
        return self._rule.best

    @property
    def cooldown_counter(self) -> int:
        """int: Epochs left that are not counted."""
        return self._rule.cooldown

    def _begin(self) -> None:
        more = self.mode == 'max' or self.mode == 'auto' and 'acc' in self.monitor
        self._rule = _core.Patience(more, self.min_delta, self.patience, self.baseline)

    def on_train_begin(self, run_context: RunContext) -> None:
        self._begin()

    def state_dict(self) -> Dict[str, Any]:
        """Returns the best value, the epochs waited and the cooldown."""
        return {'best': self._rule.best, 'wait': self._rule.wait, 'cooldown': self._rule.cooldown}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Continues counting from a saved state."""
        self._rule.best, self._rule.wait, self._rule.cooldown = float(state['best']), int(state['wait']), int(state['cooldown'])

    def _current(self, p: Any) -> Optional[float]:
        """Returns the watched value, or None if there is none: silently in an epoch of Model.fit without an evaluation, else with a warning."""
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
    """Returns the attribute with an optimizer's learning rate: a Parameter, a schedule, or several if groups differ; None without one."""
    of_groups = getattr(optimizer, 'lrs', None)  # of experimental.optim
    if isinstance(of_groups, ParameterTuple) and of_groups:
        return of_groups[0] if len(of_groups) == 1 else of_groups
    return getattr(optimizer, 'learning_rate', None)


class _Rate:
    """The learning rate of a run's optimizer. Raises ValueError without an optimizer."""

    def __init__(self, p: Any, place: str):
        optimizer = p.get('optimizer') or getattr(p.train_network, 'optimizer', None)
        if optimizer is None:
            raise ValueError(f'{place}: the training network has no optimizer')
        self._rate = rate_held(optimizer)
        self.constant = isinstance(self._rate, Parameter)

    def get(self) -> float:
        """Returns the current rate; only if it is constant."""
        return float(self._rate.asnumpy())

    def set(self, rate: float) -> None:
        """Sets the rate from the next step on."""
        self._rate.set_data(Tensor(np.array(rate, np.float32)))
