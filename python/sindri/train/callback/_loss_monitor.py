"""Prints the loss during training."""
import math
from typing import Any, List, Tuple

import numpy as np

from sindri import _core, context
from sindri._check import is_int
from sindri.train.callback._callback import Callback, RunContext, _InternalCallbackParam, _loss_numbers


class LossMonitor(Callback):
    """Prints the loss during training, and the metrics in `Model.fit`.

    It prints `epoch: 1 step: 625, loss is 2.302585` whenever at least `per_print_times` steps have passed since the last line; the step is counted
    within the epoch. In `Model.fit` it also prints `Eval result: epoch 1, metrics: {…}`.

    A loss that is NaN or infinite ends training with ValueError. On the CPU this happens at once. Other devices would have to be synchronised; there
    it happens with the next line, at the latest at the end of an epoch or after 100 steps, and before a ModelCheckpoint saves.

    Args:
        per_print_times (int): The steps between lines; 0 prints none. Default: 1.

    Raises:
        ValueError: If `per_print_times` is not an int of at least 0.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> history = model.train(1, data, callbacks=ms.train.LossMonitor())
        epoch: 1 step: 1, loss is 4.0
        epoch: 1 step: 2, loss is 1.0
    """

    _MOST_AHEAD = 100

    def __init__(self, per_print_times: int = 1):
        if not is_int(per_print_times) or per_print_times < 0:
            raise ValueError(f"LossMonitor: 'per_print_times' must be an int of at least 0, got {per_print_times!r}")
        self._per_print_times = per_print_times
        self._last_print_time = 0
        self._unseen: List[Tuple[int, int, Any]] = []  # epoch, step and outputs of steps whose loss was not read yet

    def on_train_begin(self, run_context: RunContext) -> None:
        # Steps count from 1 again in each run; one object may serve several.
        self._last_print_time = 0
        self._unseen.clear()
        p = run_context.original_args()
        if isinstance(p, _InternalCallbackParam):  # a training loop of this library
            p._look_before_saves(self._look)
        super().on_train_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Does nothing: nothing is printed for batches of an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """

    def step_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        epoch = getattr(p, 'cur_epoch_num', 1)
        step = (p.cur_step_num - 1) % int(p.batch_num) + 1
        self._unseen.append((epoch, step, p.net_outputs))
        prints = self._per_print_times != 0 and p.cur_step_num - self._last_print_time >= self._per_print_times
        if not prints and _core.current_device() != 'cpu' and len(self._unseen) < self._MOST_AHEAD:
            return
        loss = self._look()
        if prints:
            self._last_print_time = p.cur_step_num
            print(_core.loss_line(epoch, step, self._text(loss)), flush=True)

    @staticmethod
    def _text(loss: Any) -> str:
        """Returns the digits of a float32, as MindSpore 1 prints, or of a Python float, as MindSpore 2 does."""
        return str(np.float32(loss)) if isinstance(loss, float) and context.era() == 1 else str(loss)

    def _look(self) -> Any:
        """Returns the loss of the last step. Raises ValueError for the first loss that is not finite."""
        unseen, self._unseen = self._unseen, []
        loss = None
        for (epoch, step, _), loss in zip(unseen, _loss_numbers([outputs for _, _, outputs in unseen])):
            if isinstance(loss, float) and not math.isfinite(loss):
                raise ValueError(f'epoch: {epoch} step: {step}. Invalid loss, terminating training. | the loss is {loss} | '
                                 'lower the learning rate, check the data for NaN, or set a loss_scale_manager that drops such steps')
        return loss

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self._look()
        p = run_context.original_args()
        metrics = p.get('metrics')
        if metrics:
            print(f'Eval result: epoch {p.cur_epoch_num}, metrics: {metrics}', flush=True)
        super().on_train_epoch_end(run_context)
