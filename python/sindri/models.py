"""The networks of the C++ library as Cells."""
from __future__ import annotations

from typing import Any

from sindri import _core
from sindri.nn.cell import Cell

__all__ = ["create", "names", "NativeCell"]


class NativeCell(Cell):
    """A network of the C++ library: its Parameters are this Cell's, its forward runs without Python. It nests, trains and saves like any Cell."""

    def __init__(self, native: _core.NativeCell, class_name: str) -> None:
        super().__init__()
        self.__dict__["_cell_native"] = native
        self.__dict__["cls_name"] = class_name
        for name, p in native.parameters():
            self.insert_param_to_cell(name, p, check_name_contain_dot=False)

    def set_train(self, mode: bool = True) -> NativeCell:
        """Training (True) or inference (False). Returns self."""
        self.__dict__["_cell_native"].set_train(bool(mode))
        return super().set_train(mode)

    def construct(self, *inputs: Any) -> Any:
        """The network's forward."""
        native = self.__dict__["_cell_native"]
        native.set_train(self.training)
        return native(*inputs)

    def extend_repr(self) -> str:
        """The tree of the C++ Cells."""
        return self.__dict__["_cell_native"].describe()


def create(name: str, num_classes: int = 0, in_channels: int = 0, variant: str = "", conv_init: str = "", dense_init: str = "",
           zero_init_residual: bool = False, **settings: Any) -> NativeCell:
    """A network by name (see `names()`); zero or empty arguments take its defaults. variant: "mindspore" or "torchvision"; settings: others that it declares
    (docs/settings.md). Raises ValueError for an unknown name and for what the network does not have."""
    return NativeCell(_core.create_network(name, num_classes, in_channels, variant, conv_init, dense_init, zero_init_residual, settings), name)


def names() -> list:
    """The networks there are."""
    return _core.network_names()
