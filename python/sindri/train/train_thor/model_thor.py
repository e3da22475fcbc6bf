"""Model under the name that MindSpore's second-order training has for it."""
from __future__ import annotations

from typing import Any, Optional

from sindri._check import fail
from sindri.nn.optim.thor import THOR
from sindri.train.model import Model


class ModelThor(Model):
    """A Model. The steps that refresh the curvature are those whose number is a multiple of THOR's frequency, with data sinking or without, over any
    length of epochs; a validation set may be given to train. `frequency` sets that of the optimizer, for scripts that have it here."""

    def __init__(self, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, eval_network: Any = None, eval_indexes: Any = None,
                 amp_level: str = "O0", frequency: Optional[int] = None, **kwargs: Any) -> None:
        if frequency is not None:
            if not isinstance(optimizer, THOR):
                fail(ValueError, f"ModelThor: frequency is THOR's, the optimizer is {type(optimizer).__name__}", "use nn.thor, or leave frequency out")
            optimizer.take_frequency(frequency)
        super().__init__(network, loss_fn, optimizer, metrics, eval_network, eval_indexes, amp_level, **kwargs)
