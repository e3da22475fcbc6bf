"""Profiling that a JSON file enables during a training run."""
import atexit
import json
import os
import time
import weakref
from typing import Any, Dict, Optional

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.profiler._recording import Recording
from sindri.train.callback._callback import Callback, RunContext

__all__ = ['DynamicProfilerMonitor']


class DynamicProfilerMonitor(Callback):
    """Reads `<cfg_path>/profiler_config.json`, and records the steps that it names (`start_step`, `stop_step`) to `<output_path>/rank0_start<a>_stop<b>`.

    Pass it to Model.train as a callback, or call `step()` after every step of a custom loop. The file is read again when it has changed and poll_interval
    seconds have passed.

    Args:
        cfg_path (str): The folder of the file.
        output_path (str): The folder for the recordings. Default: './dyn_profile_data'.
        poll_interval (int): Seconds, at least 1. Default: 2.

    Raises:
        TypeError: If an argument has another type or is unknown.
        ValueError: If `poll_interval` is below 1.

    Examples:
        >>> import sindri as ms
        >>> monitor = ms.profiler.DynamicProfilerMonitor(cfg_path="./config", output_path="./profile")  # doctest: +SKIP
        >>> model.train(10, data, callbacks=[monitor])  # doctest: +SKIP
    """

    def __init__(self, cfg_path: Optional[str] = None, output_path: str = './dyn_profile_data', poll_interval: int = 2, **kwargs: Any):
        super().__init__()
        if kwargs:
            raise TypeError(f"DynamicProfilerMonitor: unknown argument '{sorted(kwargs)[0]}'")
        if not isinstance(cfg_path, str):
            raise TypeError(f"DynamicProfilerMonitor: 'cfg_path' must be a str, got {cfg_path!r}")
        validator.check_value_type('output_path', output_path, str, 'DynamicProfilerMonitor')
        validator.check_positive_int(poll_interval, 'poll_interval', 'DynamicProfilerMonitor')
        self._file = os.path.join(os.path.realpath(cfg_path), 'profiler_config.json')
        self._output_path = os.path.realpath(output_path)
        self._poll_interval = poll_interval
        self._looked = 0.0
        self._stamp = 0.0
        self._plan: Dict[str, int] = {}
        self._recording: Any = None
        self._steps = 0  # calls of step()
        self._left = 0  # steps that step() still records
        atexit.register(_finish, weakref.ref(self))

    def _read(self) -> None:
        if time.time() - self._looked < self._poll_interval:
            return
        self._looked = time.time()
        try:
            stamp = os.path.getmtime(self._file)
            if stamp == self._stamp:
                return
            with open(self._file, encoding='utf-8') as f:
                config = json.load(f)
            plan = {'start': int(config['start_step']), 'stop': int(config['stop_step'])}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as e:
            logger.warning("DynamicProfilerMonitor: cannot use '%s': %s", self._file, e)
            return
        self._stamp = stamp
        self._plan = plan if 0 < plan['start'] <= plan['stop'] else {}

    def step_begin(self, run_context: RunContext) -> None:
        self._read()
        step = run_context.original_args().cur_step_num
        if self._plan and self._recording is None and self._plan['start'] <= step <= self._plan['stop']:
            self._recording = Recording()
            self._recording.start()

    def step_end(self, run_context: RunContext) -> None:
        step = run_context.original_args().cur_step_num
        if self._recording is not None and step >= self._plan['stop']:
            self._save()

    def step(self) -> None:
        """Ends a step of a loop without Model.train.

        After `start_step` steps the next `stop_step - start_step + 1` steps are recorded, as in MindSpore: those numbered start_step to stop_step from 0. A
        recording that is active when the program ends is written then."""
        self._steps += 1
        if self._recording is not None:
            self._left -= 1
            if self._left == 0:
                self._save()
            return
        self._read()
        if self._plan and self._plan['start'] <= self._steps <= self._plan['stop']:
            self._left = self._plan['stop'] - self._plan['start'] + 1
            self._recording = Recording()
            self._recording.start()

    def end(self, run_context: RunContext) -> None:
        if self._recording is not None:
            self._save()

    def _save(self) -> None:
        self._recording.write(os.path.join(self._output_path, f"rank0_start{self._plan['start']}_stop{self._plan['stop']}"))
        self._recording, self._plan = None, {}


def _finish(monitor: Any) -> None:
    """Writes the active recording of a monitor when the program ends."""
    if monitor() is not None and monitor()._recording is not None:
        monitor()._save()
