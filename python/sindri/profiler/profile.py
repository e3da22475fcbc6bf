"""The profiler of MindSpore 2.6: a context manager that follows steps."""
import os
from typing import Any, Callable, Optional

from sindri.profiler._recording import Recording
from sindri.profiler.common import _ExperimentalConfig
from sindri.profiler.profiler import _warn_of_options
from sindri.profiler.schedule import ProfilerAction

__all__ = ['profile']


class profile:  # pylint: disable=invalid-name
    """Records the steps that a schedule chooses. `step()` ends a step.

    The arguments that are not listed are only stored, with a warning for those that would record more.

    Args:
        start_profile (bool): Whether recording starts at once. Default: True.
        schedule (Callable, optional): A function from step number to ProfilerAction, see `schedule`. Default: None, all steps.
        on_trace_ready (Callable, optional): Called with this object at the end of each active interval. Default: None, the reports are written to
            `./data/profiler`.
        experimental_config (_ExperimentalConfig, optional): Further settings, which are only stored. Default: None.

    Raises:
        TypeError: If `schedule` or `on_trace_ready` is not callable.
        RuntimeError: If a method is called outside of start and stop.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> from sindri.profiler import profile, schedule, tensorboard_trace_handler
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with profile(schedule=schedule(wait=0, active=1), on_trace_ready=tensorboard_trace_handler(folder)) as profiler:
        ...         y = ms.ops.relu(ms.Tensor([1.0]))
        ...         profiler.step()
        ...     print(len(os.listdir(folder)) > 0)
        True
    """

    def __init__(self, activities: Any = None, with_stack: bool = False, profile_memory: bool = False, data_process: bool = False,
                 parallel_strategy: bool = False, start_profile: bool = True, hbm_ddr: bool = False, pcie: bool = False, sync_enable: bool = True,
                 record_shapes: bool = False, schedule: Optional[Callable] = None, on_trace_ready: Optional[Callable] = None,
                 experimental_config: Any = None):
        if schedule is not None and not callable(schedule):
            raise TypeError("profile: 'schedule' must be callable | create it with sindri.profiler.schedule(wait=…, active=…)")
        if on_trace_ready is not None and not callable(on_trace_ready):
            raise TypeError("profile: 'on_trace_ready' must be callable")
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            raise TypeError("profile: 'experimental_config' must be an _ExperimentalConfig")
        self._hints = dict(activities=activities, with_stack=with_stack, profile_memory=profile_memory, data_process=data_process,
                           parallel_strategy=parallel_strategy, hbm_ddr=hbm_ddr, pcie=pcie, sync_enable=sync_enable, record_shapes=record_shapes,
                           experimental_config=experimental_config)
        _warn_of_options(self._hints)
        self._schedule = schedule
        self._ready = on_trace_ready
        self._recording: Any = None
        self._step = 0
        self._running = False
        if start_profile:
            self.start()

    def __enter__(self) -> 'profile':
        if not self._running:
            self.start()
        return self

    def __exit__(self, *err: Any) -> None:
        if self._running:
            self.stop()

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self._step)

    def start(self) -> None:
        """Starts profiling. Raises RuntimeError if it is running."""
        if self._running:
            raise RuntimeError('profile.start: the profiler is running already')
        self._running = True
        self._follow()

    def _follow(self) -> None:
        if self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            if self._recording is None:
                self._recording = Recording()
            self._recording.start()
        elif self._recording is not None:
            self._recording.stop()

    def step(self) -> None:
        """Ends the current step. Raises RuntimeError if profiling is not running."""
        if not self._running:
            raise RuntimeError('profile.step: the profiler is not running | call start() first')
        if self._action() is ProfilerAction.RECORD_AND_SAVE:
            self._finish()
        self._step += 1
        self._follow()

    def stop(self) -> None:
        """Stops profiling and delivers the remaining recording. Raises RuntimeError if profiling is not running."""
        if not self._running:
            raise RuntimeError('profile.stop: the profiler is not running')
        self._finish()
        self._running = False

    def _finish(self) -> None:
        if self._recording is None:
            return
        self._recording.stop()
        if self._ready is not None:
            self._ready(self)
        else:
            self._write(os.path.join(os.getcwd(), 'data', 'profiler'), True)
        self._recording = None

    def _write(self, folder: str, tables: bool) -> None:
        if self._recording is not None:
            self._recording.write(folder, tables)
