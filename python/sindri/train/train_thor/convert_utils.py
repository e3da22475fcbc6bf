"""MindSpore's conversion of networks and models for THOR, for scripts that call it. Here networks and Models need no conversion."""
from __future__ import annotations

from typing import Any, Optional

from sindri import log as logger
from sindri._check import fail
from sindri.nn.cell import Cell
from sindri.nn.optim.thor import THOR
from sindri.train.train_thor.model_thor import ModelThor

__all__ = ["ConvertNetUtils", "ConvertModelUtils"]


class ConvertNetUtils:
    """Marks a network as second-order.

    MindSpore replaces its Dense, Conv2d and Embedding by layers that compute the curvature. nn.thor reads it from the step, so the network's Cells and
    Parameters are not changed.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(2, 3)
        >>> ms.train.ConvertNetUtils().convert_to_thor_net(net)
        >>> net.thor
        True
    """

    def convert_to_thor_net(self, net: Any) -> None:
        """Sets the flag `thor` on the network and its Cells.

        Args:
            net (Cell): The network.

        Raises:
            TypeError: If `net` is not a Cell.
        """
        if not isinstance(net, Cell):
            fail(TypeError, f"convert_to_thor_net: a Cell is expected, got {type(net).__name__}")
        net.add_flags_recursive(thor=True)


class ConvertModelUtils:
    """Returns the Model that scripts request: any Model runs THOR's steps of both forms, with or without data sinking.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net, loss = nn.Dense(3, 2), nn.MSELoss()
        >>> optimizer = nn.thor(net, 0.1, 0.03, 0.9)
        >>> model = ms.train.ConvertModelUtils.convert_to_thor_model(ms.Model(net, loss, optimizer), net, loss, optimizer)
        >>> type(model).__name__
        'ModelThor'
    """

    @staticmethod
    def convert_to_thor_model(model: Any, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, amp_level: str = "O0",
                              loss_scale_manager: Any = None, keep_batchnorm_fp32: bool = False, frequency: Optional[int] = None) -> Any:
        """Returns a ModelThor of the arguments; if the optimizer is not THOR, the model.

        `network` may be a training cell that calls the optimizer itself; then each step is one call of that cell, as in MindSpore.

        Args:
            model (Model): The model.
            network (Cell): As in ModelThor.
            loss_fn (Cell): As in ModelThor. Default: None.
            optimizer (Cell): As in ModelThor. Default: None.
            metrics (dict, set, list): As in ModelThor. Default: None.
            amp_level (str): As in ModelThor. Default: "O0".
            loss_scale_manager (LossScaleManager): As in ModelThor. Default: None.
            keep_batchnorm_fp32 (bool): As in ModelThor. Default: False.
            frequency (int): Set on the optimizer, as in MindSpore 1.2. Default: None.

        Returns:
            Model.

        Raises:
            ValueError: If the optimizer was created with another frequency, or as ModelThor.
        """
        if not isinstance(optimizer, THOR):
            if "thor" in type(optimizer).__name__.lower():
                logger.warning("convert_to_thor_model: %s is a class of the script's, not nn.thor: the model is returned as it is%s | such an optimizer decides in "
                               "its construct when it takes the curvature", type(optimizer).__name__, "" if frequency is None else ", and frequency has no effect")
            return model
        settings: dict = {"amp_level": amp_level}
        if loss_scale_manager is not None:
            settings["loss_scale_manager"] = loss_scale_manager
        if amp_level != "O0":
            settings["keep_batchnorm_fp32"] = keep_batchnorm_fp32
        return ModelThor(network, loss_fn, optimizer, metrics, frequency=frequency, **settings)
