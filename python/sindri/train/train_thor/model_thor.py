"""Model under its name in MindSpore's second-order training."""
from __future__ import annotations

from typing import Any, Optional

from sindri._check import fail
from sindri.nn.cell import Cell
from sindri.nn.optim.thor import THOR
from sindri.train.model import Model

__all__ = ["ModelThor"]


class ModelThor(Model):
    """A Model for THOR.

    The steps that refresh the curvature are those whose number is a multiple of THOR's frequency, with or without data sinking, for epochs of any
    length; `train` accepts a validation set. `network` may be a training cell that contains the optimizer (BertTrainOneStepCell of MindSpore's BERT): it
    is trained directly.

    Args:
        network (Cell): As in Model.
        loss_fn (Cell): As in Model. Default: None.
        optimizer (Cell): As in Model. Default: None.
        metrics (dict, set, list): As in Model. Default: None.
        eval_network (Cell): As in Model. Default: None.
        eval_indexes (list): As in Model. Default: None.
        amp_level (str): As in Model. Default: "O0".
        frequency (int): The optimizer's frequency, for scripts that set it here. Default: None.
        **kwargs: As in Model.

    Raises:
        TypeError: As Model.
        ValueError: If `frequency` is given with another optimizer; if a training cell, which has its own, is combined with `loss_fn`, `amp_level` or
            a `loss_scale_manager`; or as Model.

    Examples:
        >>> from sindri import nn
        >>> from sindri.train.train_thor import ModelThor
        >>> net = nn.Dense(3, 2)
        >>> model = ModelThor(net, nn.MSELoss(), nn.thor(net, 0.1, 0.03, 0.9), frequency=10)
    """

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
            self._optimizer = optimizer  # steps are numbered for it
