"""THOR. It comes with the second-order part; until then calling it raises NotYetError."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet

__all__ = ["thor", "THOR"]


def thor(net: Any, learning_rate: Any, damping: Any, momentum: float, weight_decay: float = 0.0, loss_scale: float = 1.0, batch_size: int = 32,
         use_nesterov: bool = False, decay_filter: Any = None, split_indices: Any = None, enable_clip_grad: bool = False,
         frequency: int = 100) -> Any:
    """The second-order optimizer for a net."""
    return not_yet("nn.thor", "THOR")


THOR = thor
