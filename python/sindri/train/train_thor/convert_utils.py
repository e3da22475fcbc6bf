"""MindSpore's conversion of nets and models for THOR, for scripts that call it. Here nets and Models serve THOR as they are."""
from __future__ import annotations

from typing import Any, Optional

from sindri import log as logger
from sindri._check import fail
from sindri.nn.cell import Cell
from sindri.nn.optim.thor import THOR
from sindri.train.train_thor.model_thor import ModelThor


class ConvertNetUtils:
    """Tags a net as second-order. MindSpore replaces its Dense, Conv2d and Embedding by layers that take the curvature; nn.thor reads it from the step, so
    the net's Cells and Parameters stay as they are."""

    def convert_to_thor_net(self, net: Any) -> None:
        """Sets the flag `thor` on the net and its Cells. Raises TypeError for what is no Cell."""
        if not isinstance(net, Cell):
            fail(TypeError, f"convert_to_thor_net: a Cell is expected, got {type(net).__name__}")
        net.add_flags_recursive(thor=True)


class ConvertModelUtils:
    """Gives scripts the Model they ask for: any Model takes THOR's steps of both forms, with data sinking or without."""

    @staticmethod
    def convert_to_thor_model(model: Any, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, amp_level: str = "O0",
                              loss_scale_manager: Any = None, keep_batchnorm_fp32: bool = False, frequency: Optional[int] = None) -> Any:
        """Returns the model if the optimizer is not THOR, else a ModelThor of the arguments. `frequency`, which MindSpore 1.2 has here, is set on the
        optimizer. network may be a training cell that calls the optimizer itself; then each step is one call of that cell, as in MindSpore. Raises
        ValueError if the optimizer was given another frequency, and as ModelThor."""
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
