"""Ctrl-C during training: the current step is finished first, so that parameters and optimizer state are consistent."""
import signal
import threading
from typing import Any, Optional


class Interrupt:
    """While this context is entered, records the first Ctrl-C, and `check` raises KeyboardInterrupt between steps. A second Ctrl-C is raised at
    once. Does nothing outside the main thread, or if the program has another SIGINT handler."""

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
        """bool: Whether Ctrl-C was pressed."""
        return self._noted

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed."""
        if self._noted:
            raise KeyboardInterrupt
