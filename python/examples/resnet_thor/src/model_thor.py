"""A Model with the interval between refreshes of the curvature as an argument."""
from __future__ import annotations

from typing import Any

from sindri.train.train_thor import ModelThor


class Model_Thor(ModelThor):
    """A Model whose optimizer computes and inverts the curvature factors at steps that are multiples of `frequency`, with or without data sinking.

    Raises ValueError if the frequency differs from that of the optimizer's layers, or if the optimizer is not THOR.
    """

    def __init__(self, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, eval_network: Any = None, eval_indexes: Any = None,
                 amp_level: str = "O0", frequency: int = 834, **kwargs: Any) -> None:
        super().__init__(network, loss_fn, optimizer, metrics, eval_network, eval_indexes, amp_level, frequency, **kwargs)
