"""Model with the interval between two refreshes of the curvature."""
from __future__ import annotations

from typing import Any

from sindri.train.train_thor import ModelThor


class Model_Thor(ModelThor):
    """A Model whose optimizer takes and inverts the curvature at every step whose number is a multiple of `frequency`, with data sinking or without.

    Raises ValueError for a frequency other than the one that the optimizer has from the layers, and for an optimizer that is not THOR.
    """

    def __init__(self, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, eval_network: Any = None, eval_indexes: Any = None,
                 amp_level: str = "O0", frequency: int = 834, **kwargs: Any) -> None:
        super().__init__(network, loss_fn, optimizer, metrics, eval_network, eval_indexes, amp_level, frequency, **kwargs)
