"""Model under the name that MindSpore's second-order training has for it."""
from __future__ import annotations

from typing import Any, Optional

from sindri._check import fail
from sindri.nn.cell import Cell
from sindri.nn.optim.thor import THOR
from sindri.train.model import Model


class ModelThor(Model):
    """A Model. The steps that refresh the curvature are those whose number is a multiple of THOR's frequency, with data sinking or without, over any
    length of epochs; a validation set may be given to train. `frequency` sets that of the optimizer, for scripts that have it here.

    network may be a training cell that holds the optimizer (BertTrainOneStepCell of MindSpore's BERT): it is trained as it is. Raises ValueError for a
    frequency with another optimizer, and for a loss_fn, an amp_level or a loss_scale_manager with a training cell, which has its own."""

    def __init__(self, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, eval_network: Any = None, eval_indexes: Any = None,
                 amp_level: str = "O0", frequency: Optional[int] = None, **kwargs: Any) -> None:
        if frequency is not None:
            if not isinstance(optimizer, THOR):
                fail(ValueError, f"ModelThor: frequency is THOR's, the optimizer is {type(optimizer).__name__}", "use nn.thor, or leave frequency out")
            optimizer.take_frequency(frequency)
        own = optimizer is not None and isinstance(network, Cell) and any(cell is optimizer for _, cell in network.cells_and_names())
        if own:
            given = {"loss_fn": loss_fn, "amp_level": None if amp_level == "O0" else amp_level, "loss_scale_manager": kwargs.get("loss_scale_manager")}
            for name, value in given.items():
                if value is not None:
                    fail(ValueError, f"ModelThor: {name} has no effect with a training cell, and {type(network).__name__} is one",
                         f"leave {name} out, or give the network without its training step")
        super().__init__(network, loss_fn, None if own else optimizer, metrics, eval_network, eval_indexes, amp_level, **kwargs)
        if own:
            self._optimizer = optimizer  # whose steps have numbers
