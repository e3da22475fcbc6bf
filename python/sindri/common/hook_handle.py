"""Handles that remove hooks (MindSpore: mindspore.common.hook_handle)."""
from __future__ import annotations

from typing import Callable, MutableMapping

from sindri._compile import clock


class HookHandle:
    """The result of registering a hook.

    Args:
        table (MutableMapping): The hooks by handle.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_forward_hook(lambda cell, inputs, output: output + 1)
        >>> handle.remove()
        >>> print(net(ms.Tensor([1.0])))
        [1.]
    """

    def __init__(self, table: MutableMapping[HookHandle, Callable[..., object]]) -> None:
        self._table = table

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        clock[0] += 1
        self._table.pop(self, None)
