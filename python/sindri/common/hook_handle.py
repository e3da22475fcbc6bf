"""What takes a hook away again (MindSpore: mindspore.common.hook_handle)."""
from __future__ import annotations

from typing import Callable, MutableMapping

from sindri._compile import clock


class HookHandle:
    """What registering a hook returns: remove() takes the hook away."""

    def __init__(self, table: MutableMapping[HookHandle, Callable[..., object]]) -> None:
        self._table = table

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        clock[0] += 1
        self._table.pop(self, None)
