"""Prints the loss."""
import math

from sindri import _core
from sindri._check import is_int
from sindri.train.callback._callback import Callback, RunContext, _loss_number


class LossMonitor(Callback):
    """Prints `epoch: 1 step: 625, loss is 2.302585` whenever at least `per_print_times` steps passed since the last line (0: never), the step
    counted within the epoch; in `Model.fit` also `Eval result: epoch 1, metrics: {…}`. A loss that is NaN or infinite ends training with
    ValueError. ValueError unless per_print_times is an int of at least 0."""

    def __init__(self, per_print_times: int = 1):
        if not is_int(per_print_times) or per_print_times < 0:
            raise ValueError(f"LossMonitor: 'per_print_times' must be an int of at least 0, got {per_print_times!r}")
        self._per_print_times = per_print_times
        self._last_print_time = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        # Steps count from 1 anew in each training; an object may serve several.
        self._last_print_time = 0
        super().on_train_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Nothing is printed per batch of an evaluation."""

    def step_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        loss = _loss_number(p.net_outputs)
        epoch = getattr(p, 'cur_epoch_num', 1)
        step = (p.cur_step_num - 1) % int(p.batch_num) + 1
        if isinstance(loss, float) and not math.isfinite(loss):
            raise ValueError(f'epoch: {epoch} step: {step}. Invalid loss, terminating training. | the loss is {loss} | '
                             'lower the learning rate, check the data for NaN, or set a loss_scale_manager that drops such steps')
        if self._per_print_times != 0 and p.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = p.cur_step_num
            print(_core.loss_line(epoch, step, str(loss)), flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        metrics = p.get('metrics')
        if metrics:
            print(f'Eval result: epoch {p.cur_epoch_num}, metrics: {metrics}', flush=True)
        super().on_train_epoch_end(run_context)
