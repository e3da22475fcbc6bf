"""Cells that wrap networks of the C++ library."""
from __future__ import annotations

from typing import Any, Dict, List

from sindri import _core
from sindri.nn.cell import Cell

__all__ = ["NativeCell"]


class NativeCell(Cell):
    """A network of the C++ library as a Cell.

    The Cell has the network's Parameters, and its forward pass runs without Python. It nests, trains and saves like any Cell.

    Args:
        native (sindri._core.NativeCell): The network.
        class_name (str): The name of its class.

    Examples:
        >>> import sindri as ms
        >>> net = ms.models.create("lenet")
        >>> isinstance(net, ms.models.NativeCell)
        True
    """

    def __init__(self, native: _core.NativeCell, class_name: str) -> None:
        super().__init__()
        self.__dict__["_cell_native"] = native
        self.__dict__["cls_name"] = class_name
        for name, p in native.parameters():
            self.insert_param_to_cell(name, p, check_name_contain_dot=False)

    def _prepare(self, algorithm: str, settings: Dict[str, Any]) -> None:
        """Applies a training algorithm's changes to the network: removed Parameters leave this Cell, and new ones take the network's order."""
        native, before = self.__dict__["_cell_native"], dict(self._params)
        native.prepare(algorithm, settings)
        after = dict(native.parameters())
        path, kept = next((path, p) for path, p in before.items() if path in after)
        above = kept.name[:-len(path)] if kept.name.endswith(path) else ""  # the path of a Cell that contains this one
        for name in before.keys() - after.keys():
            self.__dict__.pop(name, None)
        self._params.clear()
        for name, p in after.items():
            if name not in before:
                p.name = above + name
            self.insert_param_to_cell(name, before.get(name, p), check_name_contain_dot=False)

    def _grouped_weights(self) -> List[Any]:
        """Returns the weights of convolutions with several groups."""
        return [self._params[name] for name in self.__dict__["_cell_native"].grouped_weights()]

    def set_train(self, mode: bool = True) -> NativeCell:
        """Sets training or inference mode.

        Args:
            mode (bool): True for training, False for inference. Default: True.

        Returns:
            The Cell itself.
        """
        self.__dict__["_cell_native"].set_train(bool(mode))
        return super().set_train(mode)

    def construct(self, *inputs: Any) -> Any:
        """Runs the network's forward pass.

        Args:
            *inputs (Tensor): The inputs.

        Returns:
            The network's output.
        """
        native = self.__dict__["_cell_native"]
        native.set_train(self.training)
        return native(*inputs)

    def extend_repr(self) -> str:
        """Returns the tree of the C++ Cells as text."""
        return self.__dict__["_cell_native"].describe()
