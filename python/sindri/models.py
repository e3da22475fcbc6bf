"""The networks of the C++ library as Cells."""
from __future__ import annotations

from typing import Any

from sindri import _core
from sindri.nn.native_cell import NativeCell

__all__ = ["create", "names", "NativeCell"]


def create(name: str, num_classes: int = 0, in_channels: int = 0, variant: str = "", conv_init: str = "", dense_init: str = "",
           zero_init_residual: bool = False, **settings: Any) -> NativeCell:
    """Creates a network by name.

    Args:
        name (str): The name, see `names()`.
        num_classes (int): The number of classes. Default: 0, the network's default.
        in_channels (int): The number of input channels. Default: 0, the network's default.
        variant (str): "mindspore" or "torchvision". Default: "", the network's default.
        conv_init (str): How convolutions are initialised. Default: "", the network's default.
        dense_init (str): How dense layers are initialised. Default: "", the network's default.
        zero_init_residual (bool): For ResNets, whether gamma of each block's last batch norm is initialised to 0. Default: False.
        **settings: Other settings that the network declares (docs/settings.md).

    Returns:
        NativeCell.

    Raises:
        ValueError: If the name is unknown, or the network does not have a setting.

    Examples:
        >>> import sindri as ms
        >>> net = ms.models.create("lenet", num_classes=10)
        >>> net(ms.ops.ones((1, 1, 32, 32), ms.float32)).shape
        (1, 10)
    """
    return NativeCell(_core.create_network(name, num_classes, in_channels, variant, conv_init, dense_init, zero_init_residual, settings), name)


def names() -> list:
    """Returns the names of the networks.

    Returns:
        List of str.

    Examples:
        >>> import sindri as ms
        >>> "resnet50" in ms.models.names()
        True
    """
    return _core.network_names()
