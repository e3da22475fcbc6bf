"""What EarlyStopping and ReduceLROnPlateau share: a watched number and which way is better."""
from typing import Any, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback

_MODES = ['auto', 'min', 'max']


class _Watch(Callback):
    """Watches `monitor`: 'loss', 'eval_loss' or a metric's name. `mode` says whether less or more is better; 'auto' takes more for accuracies."""

    def __init__(self, monitor: str, min_delta: float, patience: int, verbose: bool, mode: str):
        super().__init__()
        place = type(self).__name__
        self.monitor = validator.check_value_type('monitor', monitor, str, place)
        validator.check_value_type('min_delta', min_delta, [float, int], place)
        validator.check_non_negative_float(float(min_delta), 'min_delta', place)
        self.patience = validator.check_non_negative_int(patience, 'patience', place)
        self.verbose = validator.check_bool(verbose, 'verbose', place)
        self.mode = validator.check_string(mode, _MODES, 'mode', place)
        more = mode == 'max' or (mode == 'auto' and ('acc' in monitor))
        self._better = np.greater if more else np.less
        self.min_delta = abs(float(min_delta)) * (1 if more else -1)
        self.wait = 0
        self.best: Any = -np.inf if more else np.inf

    def _current(self, p: Any) -> Optional[float]:
        """The watched number, None with a warning when there is none yet."""
        found: Any = None
        if self.monitor == 'loss':
            found = p.get('net_outputs')
            found = found[0] if isinstance(found, (tuple, list)) else found
        else:
            found = (p.get('eval_results') or {}).get(self.monitor)
        if found is None:
            logger.warning("%s: there is no '%s' yet | it watches 'loss', or what Model.fit evaluates: %s", type(self).__name__, self.monitor,
                           ', '.join(sorted((p.get('eval_results') or {}))) or 'nothing so far')
            return None
        if isinstance(found, Tensor):
            found = found.asnumpy()
        value = np.asarray(found)
        if value.size != 1:
            raise ValueError(f"{type(self).__name__}: '{self.monitor}' must be one number, got shape {value.shape}")
        return float(value.reshape(-1)[0])

    def _improved(self, value: float) -> bool:
        return bool(self._better(value - self.min_delta, self.best))
