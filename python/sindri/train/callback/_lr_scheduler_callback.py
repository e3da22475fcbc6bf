"""Sets the learning rate by a function of the step."""
import math
from typing import Callable

from sindri import log as logger
from sindri.train.callback._callback import Callback, RunContext
from sindri.train.callback._monitored import _Rate


class LearningRateScheduler(Callback):
    """After each step (chunk when sinking) sets the optimizer's learning rate to `learning_rate_function(lr, step)`. The optimizer must have
    one constant learning rate; otherwise nothing happens, with a warning. TypeError unless the argument is callable."""

    def __init__(self, learning_rate_function: Callable[[float, int], float]):
        super().__init__()
        if not callable(learning_rate_function):
            raise TypeError("LearningRateScheduler: 'learning_rate_function' must be callable")
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if p.get('mode') == 'eval':
            return
        rate = _Rate(p, 'LearningRateScheduler')
        if not rate.constant:
            logger.warning_once('LearningRateScheduler: the learning rate follows a schedule or differs by group, and is left alone')
            return
        old = rate.get()
        new = self.learning_rate_function(old, p.cur_step_num)
        if not math.isclose(old, new, rel_tol=1e-10):
            rate.set(new)
            logger.info('At step %s, learning_rate change to %s', p.cur_step_num, new)
