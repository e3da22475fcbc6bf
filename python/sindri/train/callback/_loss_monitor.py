"""Prints the loss."""
import math
from typing import Any, List, Tuple

import numpy as np

from sindri import _core, context
from sindri._check import is_int
from sindri.train.callback._callback import Callback, RunContext, _InternalCallbackParam, _loss_numbers


class LossMonitor(Callback):
    """Prints `epoch: 1 step: 625, loss is 2.302585` whenever at least `per_print_times` steps passed since the last line (0: never), the step
    counted within the epoch; in `Model.fit` also `Eval result: epoch 1, metrics: {…}`. A loss that is NaN or infinite ends training with
    ValueError: on the CPU at once, on other devices, which would have to be waited for, with the next line and at the latest at the end of an epoch or
    behind 100 steps, and before a ModelCheckpoint saves. ValueError unless per_print_times is an int of at least 0."""

    _MOST_AHEAD = 100

    def __init__(self, per_print_times: int = 1):
        if not is_int(per_print_times) or per_print_times < 0:
            raise ValueError(f"LossMonitor: 'per_print_times' must be an int of at least 0, got {per_print_times!r}")
        self._per_print_times = per_print_times
        self._last_print_time = 0
        self._unseen: List[Tuple[int, int, Any]] = []  # epoch, step and outputs of steps whose loss was not looked at

    def on_train_begin(self, run_context: RunContext) -> None:
        # Steps count from 1 anew in each training; an object may serve several.
        self._last_print_time = 0
        self._unseen.clear()
        p = run_context.original_args()
        if isinstance(p, _InternalCallbackParam):  # of a loop of this library
            p._look_before_saves(self._look)
        super().on_train_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Nothing is printed per batch of an evaluation."""

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
        """MindSpore 1 prints the digits of a float32, 2 those of a Python float."""
        return str(np.float32(loss)) if isinstance(loss, float) and context.era() == 1 else str(loss)

    def _look(self) -> Any:
        """The loss of the last step; ValueError for the first that is not finite."""
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
