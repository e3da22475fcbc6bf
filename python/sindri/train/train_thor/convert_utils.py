"""Conversion of networks and models to THOR."""
from typing import Any

from sindri.common.not_yet import not_yet


class ConvertNetUtils:
    """Replaces layers by THOR layers; raises NotYetError."""

    def __init__(self) -> None:
        not_yet('train.ConvertNetUtils', 'THOR')

    def convert_to_thor_net(self, net: Any) -> None:
        """Replaces Dense, Conv2d and Embedding in place."""


class ConvertModelUtils:
    """Turns a Model into one that alternates second-order and first-order steps. Constructing it works, converting raises NotYetError for a
    THOR optimizer and gives the model back unchanged for any other."""

    @staticmethod
    def convert_to_thor_model(model: Any, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, amp_level: str = 'O0',
                              loss_scale_manager: Any = None, keep_batchnorm_fp32: bool = False, frequency: int = 834) -> Any:
        """The model, unless the optimizer is THOR."""
        if 'thor' in type(optimizer).__name__.lower():
            not_yet('train.ConvertModelUtils.convert_to_thor_model', 'THOR')
        return model
