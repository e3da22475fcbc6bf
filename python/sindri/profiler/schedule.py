"""The choice of steps that `profile` records."""
import enum
import os
import socket
import time
from typing import Any, Callable, Optional


class ProfilerAction(enum.Enum):
    """The profiler's action in a step."""
    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class _Schedule:
    """Skips `skip_first` steps, then repeats wait, warmup and active `repeat` times, or without end if it is 0."""

    def __init__(self, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0):
        for name, value in dict(wait=wait, active=active, warmup=warmup, repeat=repeat, skip_first=skip_first).items():
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"schedule: '{name}' must be int, got {value!r}")
            if value < (1 if name == 'active' else 0):
                raise ValueError(f"schedule: '{name}' must be at least {1 if name == 'active' else 0}, got {value}")
        self.wait, self.active, self.warmup, self.repeat, self.skip_first = wait, active, warmup, repeat, skip_first

    def __call__(self, step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f'schedule: the step must not be negative, got {step}')
        if step < self.skip_first:
            return ProfilerAction.NONE
        cycle, at = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        if self.repeat and cycle >= self.repeat or at < self.wait:
            return ProfilerAction.NONE
        if at < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD_AND_SAVE if at == self.wait + self.warmup + self.active - 1 else ProfilerAction.RECORD

    def __repr__(self) -> str:
        return f'schedule(wait={self.wait}, active={self.active}, warmup={self.warmup}, repeat={self.repeat}, skip_first={self.skip_first})'


def schedule(*, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0) -> _Schedule:
    """Creates a schedule for `profile`: skips steps, then repeats waiting, warming up and recording.

    Args:
        wait (int): Steps without recording in each cycle.
        active (int): Recorded steps in each cycle, at least 1.
        warmup (int): Steps before the recorded ones, not recorded either. Default: 0.
        repeat (int): The number of cycles; 0 for no end. Default: 0.
        skip_first (int): Steps before the first cycle. Default: 0.

    Returns:
        Callable, a function from step number to ProfilerAction.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If an argument is out of range.

    Examples:
        >>> from sindri.profiler import schedule
        >>> plan = schedule(wait=1, active=2)
        >>> [plan(step).name for step in range(4)]
        ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    return _Schedule(wait, active, warmup, repeat, skip_first)


def tensorboard_trace_handler(dir_name: Optional[str] = None, worker_name: Optional[str] = None, analyse_flag: bool = True,
                              async_mode: bool = False) -> Callable:
    """Returns a handler for `profile(on_trace_ready=…)` that writes to `<dir_name>/<worker>_<time>_ascend_ms/`.

    Args:
        dir_name (str, optional): The folder. Default: None, `./data`.
        worker_name (str, optional): The worker's name. Default: None, from host name and process id.
        analyse_flag (bool): Whether to write tables in addition to the trace. Default: True.
        async_mode (bool): Accepted without effect: the files are small and written in the same thread. Default: False.

    Returns:
        Callable.

    Raises:
        TypeError: If `dir_name` is not a str.

    Examples:
        >>> from sindri.profiler import tensorboard_trace_handler
        >>> tensorboard_trace_handler("./traces").dir_name
        './traces'
    """
    if dir_name is not None and not isinstance(dir_name, str):
        raise TypeError(f"tensorboard_trace_handler: 'dir_name' must be a str, got {type(dir_name).__name__}")
    folder = dir_name if dir_name is not None else os.path.join(os.getcwd(), 'data')

    def handle(prof: Any) -> None:
        worker = worker_name or f'{socket.gethostname()}_{os.getpid()}'
        prof._write(os.path.join(folder, f"{worker}_{time.strftime('%Y%m%d%H%M%S')}{int(time.time() * 1000) % 1000:03d}_ascend_ms"), analyse_flag)
    handle.dir_name = folder  # type: ignore[attr-defined]
    return handle
