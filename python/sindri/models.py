"""The networks of the C++ library as Cells."""
from __future__ import annotations

from typing import Any

from sindri import _core
from sindri.nn.native_cell import NativeCell

__all__ = ["create", "names", "NativeCell"]


def create(name: str, num_classes: int = 0, in_channels: int = 0, variant: str = "", conv_init: str = "", dense_init: str = "",
           zero_init_residual: bool = False, **settings: Any) -> NativeCell:
    """A network by name (see `names()`); zero or empty arguments take its defaults. variant: "mindspore" or "torchvision"; settings: others that it declares
    (docs/settings.md). Raises ValueError for an unknown name and for what the network does not have."""
    return NativeCell(_core.create_network(name, num_classes, in_channels, variant, conv_init, dense_init, zero_init_residual, settings), name)


def names() -> list:
    """The networks there are."""
    return _core.network_names()
