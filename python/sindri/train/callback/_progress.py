"""The progress line of a training run: on a terminal, in a notebook, in a file."""
import html
import os
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from sindri import _core
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication.management import GlobalComm, _launched, get_rank
from sindri.train.callback._callback import Callback, RunContext, _loss_numbers
from sindri.train.callback._monitored import rate_held

_SWITCH = {'on': True, '1': True, 'off': False, '0': False}
_MOST_UNSEEN = 100  # steps whose losses were not read yet
_DEVICE_LOOK = 1.0  # seconds between reads of a loss that synchronise a device
_NOTEBOOK_COLUMNS = 100
_NOTEBOOK_LOOK = 0.25


def _is_terminal(stream: Any) -> bool:
    try:
        return stream is not None and stream.isatty() and stream.fileno() >= 0
    except (AttributeError, OSError, ValueError):
        return False


def _notebook_display() -> Any:
    """Returns IPython's display() if this process is the kernel of a notebook and has loaded it; else None."""
    shell = getattr(sys.modules.get('IPython'), 'get_ipython', lambda: None)()
    return getattr(sys.modules.get('IPython.display'), 'display', None) if getattr(shell, 'kernel', None) is not None else None


class ProgressBar(Callback):
    """Shows the progress of training in one line: epoch, step, loss, metric, learning rate, samples per second and remaining time.

    The line is redrawn, and there is a line for every epoch. `Model.train` and `Model.fit` add a bar on a terminal and in a notebook, with two
    exceptions: in a script that imports `mindspore`, whose output must not change, and in a rank of a launched job, because launchers connect logs
    to a terminal. The environment variable SINDRI_PROGRESS switches it `off` or `on` everywhere. A bar in the list of callbacks is always used; if
    the output is not a terminal, and in a rank, it writes plain lines, one per epoch.

    The line goes to stderr, or to stdout if only that is a terminal. Text that scripts and other callbacks print meanwhile replaces it, and it is
    drawn again below. Only rank 0 shows it.

    Args:
        quiet (bool): Whether to write plain lines on a terminal too. Default: False.

    Examples:
        >>> from sindri.train.callback import ProgressBar
        >>> callbacks = [ProgressBar(quiet=True)]
    """

    def __init__(self, quiet: bool = False):
        self._quiet = bool(quiet)
        self._bar: Any = None
        self._display: Any = None
        self._streams: List[Tuple[str, Any, Any]] = []
        self._metric: Optional[Tuple[str, float]] = None
        self._evaluations = (0, 0)
        self._forget_epoch()

    # --- one training run ------------------------------------------------------------------------------------------------------------

    def on_train_begin(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if GlobalComm.INITED and get_rank() != 0:
            return
        stream = sys.stdout if _is_terminal(sys.stdout) and not _is_terminal(sys.stderr) else sys.stderr
        display = None if self._quiet else _notebook_display()
        every, batches = self._evaluations
        intervals = [c._get_save_checkpoint_steps or 0 for c in p.get('list_callback', ()) if hasattr(c, '_get_save_checkpoint_steps')]
        self._bar = _core.Progress(None if display is not None else _fileno(stream), epochs=max(1, int(p.epoch_num)), steps_per_epoch=max(1, int(p.batch_num)),
                                   eval_every=every, eval_steps=batches, save_every_steps=max(intervals, default=0), quiet=self._quiet)
        self._stream = stream
        self._batch = _batch_size(p.get('train_dataset'))
        self._rates = _rates_of(p.get('optimizer'))
        self._done = int(p.cur_step_num)
        self._saved = p.get('last_save_ckpt_step')
        self._loss: Optional[float] = None
        self._metric = None
        self._looked = 0.0
        self._forget_epoch()
        self._mark = self._computed = time.perf_counter()
        if display is not None:
            self._display = display({'text/plain': '', 'text/html': ''}, raw=True, display_id=True)
            self._updated = 0.0
        elif self._bar.redraws:
            self._share_streams()

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        self._mark = time.perf_counter()

    def on_train_step_end(self, run_context: RunContext) -> None:
        if self._bar is None:
            return
        p = run_context.original_args()
        now = time.perf_counter()
        steps = int(p.cur_step_num) - self._done
        self._done = int(p.cur_step_num)
        if p.get('last_save_ckpt_step') != self._saved:
            self._saved = p.get('last_save_ckpt_step')
            self._bar.save_took(now - self._computed)
            self._mark += now - self._computed
        seconds, self._mark = now - self._mark, now
        if steps <= 0:
            return
        self._epoch_steps += steps
        self._epoch_seconds += seconds
        self._unseen.append(_loss_of(p.net_outputs))
        wait = 0.0 if _core.current_device() == 'cpu' else _DEVICE_LOOK
        watched = self._bar.redraws or self._display is not None
        if len(self._unseen) >= _MOST_UNSEEN or (watched and self._bar.due(steps) and now - self._looked >= wait):
            self._look()
            self._looked = now
        per_epoch = max(1, int(p.batch_num))
        step = (self._done - 1) % per_epoch + 1
        self._bar.step(int(p.cur_epoch_num), step, steps, self._batch * steps, seconds, self._loss, self._rate(), self._metric)
        self._show_in_notebook(now)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Does nothing: batches of an evaluation are not shown."""

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Does nothing: batches of an evaluation are not shown."""

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        if self._bar is None:
            return
        p = run_context.original_args()
        self._look()
        results: Dict[str, Any] = p.get('eval_results') or {} if p.get('metrics') else {}
        metrics = [(name.replace('_', ' ') if name == 'eval_loss' else name, float(value)) for name, value in results.items() if _is_number(value)]
        shown = [m for m in metrics if m[0] != 'eval loss']
        self._metric = shown[0] if shown else self._metric
        loss = self._loss_sum / self._losses if self._losses else None
        rate = self._batch * self._epoch_steps / self._epoch_seconds if self._epoch_seconds > 0 else 0.0
        self._say(_core.epoch_text(int(p.cur_epoch_num), int(p.epoch_num), loss, metrics, rate))
        self._forget_epoch()

    def __exit__(self, *err: Any) -> None:
        if self._bar is None:
            return
        self._bar.finish()
        self._give_streams_back()
        if self._display is not None:
            self._update_display(self._bar.line(_NOTEBOOK_COLUMNS))
        self._bar = self._display = None

    # --- reports from Model ----------------------------------------------------------------------------------------------------------

    def _expect_evaluations(self, every: int, batches: int) -> None:
        """Sets the number of epochs between evaluations, 0 for none, and the batches of one."""
        self._evaluations = (every, batches)

    def _step_computed(self) -> None:
        """A step is done; the callbacks follow."""
        self._computed = time.perf_counter()

    def _evaluating(self) -> None:
        if self._bar is not None:
            self._eval_start = time.perf_counter()
            self._bar.phase('evaluating')

    def _evaluated(self) -> None:
        if self._bar is not None:
            self._bar.eval_took(time.perf_counter() - self._eval_start)

    # --- losses and rates -------------------------------------------------------------------------------------------------------------

    def _forget_epoch(self) -> None:
        self._unseen: List[Any] = []
        self._loss_sum, self._losses, self._epoch_steps, self._epoch_seconds = 0.0, 0, 0, 0.0

    def _look(self) -> None:
        """Reads the losses of the last steps; a device is synchronised once."""
        unseen, self._unseen = self._unseen, []
        for loss in _loss_numbers(unseen):
            if isinstance(loss, float):
                self._loss = loss
                if np.isfinite(loss):
                    self._loss_sum += loss
                    self._losses += 1

    def _rate(self) -> Optional[float]:
        if isinstance(self._rates, np.ndarray):
            return float(self._rates[min(self._done - 1, len(self._rates) - 1)])
        return float(self._rates.asnumpy().reshape(-1)[0]) if self._rates is not None else None

    # --- output ----------------------------------------------------------------------------------------------------------------------

    def _say(self, line: str) -> None:
        if self._display is not None:
            print(line, flush=True)
        elif self._bar.redraws:
            self._bar.print(line)
        else:  # through Python's stream, which keeps the order with other prints
            print(line, file=self._stream, flush=True)

    def _update_display(self, line: str) -> None:
        self._display.update({'text/plain': line, 'text/html': f'<pre>{html.escape(line)}</pre>'}, raw=True)

    def _show_in_notebook(self, now: float) -> None:
        if self._display is not None and now - self._updated >= _NOTEBOOK_LOOK:
            self._updated = now
            self._update_display(self._bar.line(_NOTEBOOK_COLUMNS))

    def _share_streams(self) -> None:
        """Lets printed text replace the line: wraps sys.stdout and sys.stderr if they are the terminal."""
        for name in ('stdout', 'stderr'):
            stream = getattr(sys, name)
            if _is_terminal(stream):
                shared = _SharedStream(stream, self._bar)
                setattr(sys, name, shared)
                self._streams.append((name, stream, shared))

    def _give_streams_back(self) -> None:
        while self._streams:
            name, stream, shared = self._streams.pop()
            shared._bar = None
            if getattr(sys, name) is shared:  # the script may have replaced it
                setattr(sys, name, stream)


class _SharedStream:
    """A terminal's stream shared with the line: the line makes room for written text, and waits until a line that was started is complete."""

    def __init__(self, stream: Any, bar: Any):
        self._stream, self._bar = stream, bar

    def write(self, text: str) -> int:
        """Writes the text at once."""
        if self._bar is None or not text:
            return int(self._stream.write(text))
        self._bar.hide()
        written = self._stream.write(text)
        self._stream.flush()
        self._bar.hold(not text.endswith('\n'))
        return int(written)

    def writelines(self, lines: Any) -> None:
        """Writes each line."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)


def _fileno(stream: Any) -> Optional[int]:
    """Returns the file number of a terminal; elsewhere lines go through Python's stream."""
    return stream.fileno() if _is_terminal(stream) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _loss_of(outputs: Any) -> Any:
    """Returns the part of a step's outputs that is kept until it is read."""
    return outputs[0] if isinstance(outputs, (tuple, list)) and outputs and isinstance(outputs[0], Tensor) else outputs


def _batch_size(dataset: Any) -> int:
    try:
        size = dataset.get_batch_size()
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return 0
    return size if isinstance(size, int) and size > 0 else 0


def _rates_of(optimizer: Any) -> Any:
    """Returns the Parameter with the rate, or the table of rates by step; None if the rate is computed or differs by group."""
    rate = rate_held(optimizer)
    if isinstance(rate, Parameter):
        return rate
    table = getattr(rate, 'learning_rate', None)
    return table.asnumpy().reshape(-1) if isinstance(table, Parameter) and len(table.shape) == 1 else None


def _switch() -> Optional[bool]:
    """Returns SINDRI_PROGRESS; None if it is not set. Raises ValueError for another value."""
    value = os.environ.get('SINDRI_PROGRESS', '')
    if value and value not in _SWITCH:
        raise ValueError(f"environment variable SINDRI_PROGRESS must be 'on' or 'off', got {value!r}")
    return _SWITCH.get(value)


def _default_bar(callbacks: List[Callback]) -> Optional[ProgressBar]:
    """Returns the bar among the callbacks, or a new one if the output is interactive."""
    for callback in callbacks:
        if isinstance(callback, ProgressBar):
            return callback
    wanted = _switch()
    if wanted is None and ('mindspore' in sys.modules or _launched()):
        wanted = False
    if wanted is None:
        wanted = _notebook_display() is not None or ((_is_terminal(sys.stderr) or _is_terminal(sys.stdout)) and os.environ.get('TERM', '') not in ('', 'dumb'))
    return ProgressBar() if wanted else None
