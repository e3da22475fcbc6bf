"""Prints the duration of epochs."""
import time
from typing import Optional

from sindri import _checkparam as validator
from sindri import _core, context
from sindri.train.callback._callback import Callback, RunContext


class TimeMonitor(Callback):
    """Prints the duration of each epoch and step.

    It prints `Train epoch time: 1234.567 ms, per step time: 12.346 ms` (`Eval …` in an evaluation) after an epoch. With
    SINDRI_MINDSPORE_ERA=1 the mode is omitted, as in MindSpore 1.

    Args:
        data_size (int): The number of steps, used if the callback parameters' batch_num is not a positive int. Default: None.
        data_time (bool): Whether the line ends with ` (data time: 0.123 ms)`, the time per step spent outside steps (waiting for data,
            callbacks). Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `data_size` is not positive.

    Examples:
        >>> import sindri as ms
        >>> callback = ms.train.TimeMonitor(data_time=True)
    """

    def __init__(self, data_size: Optional[int] = None, data_time: bool = False):
        self.data_size = None if data_size is None else validator.check_positive_int(data_size, 'data_size', 'TimeMonitor')
        self.data_time = validator.check_bool(data_time, 'data_time', 'TimeMonitor')
        self.epoch_time = time.time()
        self._outer = self._outer_inside = 0.0  # of the training epoch around an evaluation
        self._inside = 0.0
        self._step_start = 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_time = time.time()
        self._inside = 0.0

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        self._outer, self._outer_inside = self.epoch_time, self._inside
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        self.epoch_end(run_context)
        self.epoch_time, self._inside = self._outer, self._outer_inside

    def step_begin(self, run_context: RunContext) -> None:
        if self.data_time:
            self._step_start = time.time()

    def step_end(self, run_context: RunContext) -> None:
        if self.data_time:
            self._inside += time.time() - self._step_start

    def epoch_end(self, run_context: RunContext) -> None:
        whole = (time.time() - self.epoch_time) * 1000
        p = run_context.original_args()
        batch_num = p.get('batch_num')
        steps = batch_num if isinstance(batch_num, int) and batch_num > 0 else self.data_size
        steps = validator.check_positive_int(steps, 'data_size', 'TimeMonitor')
        outside = whole - self._inside * 1000 if self.data_time else None
        line = _core.epoch_time_line(str(p.get('mode', 'train')), whole, steps, outside)
        print(line if context.era() == 2 else line.partition(' ')[2], flush=True)
