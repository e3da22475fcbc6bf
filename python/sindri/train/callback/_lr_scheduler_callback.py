"""Sets the learning rate by a function of the step."""
import math
from typing import Callable

from sindri import log as logger
from sindri.train.callback._callback import Callback, RunContext
from sindri.train.callback._monitored import _Rate


class LearningRateScheduler(Callback):
    """Sets the optimizer's learning rate to `learning_rate_function(lr, step)` after each step, or chunk when sinking.

    The optimizer must have one constant learning rate; otherwise the callback only warns.

    Args:
        learning_rate_function (Callable): Receives the learning rate and the step and returns the new rate.

    Raises:
        TypeError: If the argument is not callable.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
        >>> optimizer = nn.SGD(net.trainable_params(), 0.25)
        >>> model = ms.Model(net, nn.MSELoss(), optimizer)
        >>> history = model.train(1, data, callbacks=ms.train.LearningRateScheduler(lambda lr, step: lr / 2))
        >>> print(optimizer.learning_rate.asnumpy())
        0.0625
    """

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
