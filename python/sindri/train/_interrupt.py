"""Ctrl-C during training: the running step is finished first, so that parameters and optimizer state belong together."""
import signal
import threading
from typing import Any, Optional


class Interrupt:
    """While this context is entered, the first Ctrl-C is noted and `check` raises KeyboardInterrupt between steps; a second one is raised at
    once. Does nothing outside the main thread, or when the program has a SIGINT handler of its own."""

    def __init__(self) -> None:
        self._noted = False
        self._before: Optional[Any] = None

    def __enter__(self) -> 'Interrupt':
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *err: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, signum: int, frame: Any) -> None:
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True

    @property
    def noted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._noted

    def check(self) -> None:
        """Raises KeyboardInterrupt if it was."""
        if self._noted:
            raise KeyboardInterrupt
