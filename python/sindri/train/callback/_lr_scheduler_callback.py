"""Sets the learning rate by a function of the step."""
import math
from typing import Callable

import numpy as np

from sindri import log as logger
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback, RunContext


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
        optimizer = p.get('optimizer') or getattr(p.train_network, 'optimizer', None)
        if optimizer is None:
            raise ValueError('LearningRateScheduler: the training network has no optimizer')
        if getattr(optimizer, 'dynamic_lr', False) or getattr(optimizer, 'is_group_lr', False):
            logger.warning_once('LearningRateScheduler: the learning rate follows a schedule or differs by group, and is left alone')
            return
        rate = optimizer.learning_rate
        old = float(rate.asnumpy())
        new = self.learning_rate_function(old, p.cur_step_num)
        if not math.isclose(old, new, rel_tol=1e-10):
            rate.set_data(Tensor(np.array(new, np.float32)))
            logger.info('At step %s, learning_rate change to %s', p.cur_step_num, new)

