"""Layers, shapes and parameters of a Python network. The program's `sindri summary` shows the networks of the C++ library."""
from __future__ import annotations

from typing import Any, Optional

from sindri import context
from sindri.common import Tensor, dtype as mstype
from sindri.nn.cell import Cell
from sindri.ops.function.creation_func import zeros

__all__ = ["CellSummary", "NetworkSummary", "summary"]


class CellSummary:
    """One row of a summary.

    Args:
        name (str): Dotted path of the Cell.
        cell (Cell): The Cell.

    Attributes:
        name (str): Dotted path of the Cell; empty for the network itself.
        kind (str): Name of its class.
        outputs (list[tuple[int, ...]]): Shapes of the tensors that its last call returned; empty if it was not called.
        parameters (int): Number of elements in the parameters of the Cell and of the Cells inside it.
        trainable (int): The part of them that requires gradients.
        calls (int): Number of calls.

    Examples:
        >>> import sindri as ms
        >>> row = ms.summary(ms.nn.Dense(4, 3), (2, 4)).cells[0]
        >>> row.kind, row.outputs, row.parameters
        ('Dense', [(2, 3)], 15)
    """

    def __init__(self, name: str, cell: Cell) -> None:
        self.name, self.kind = name, type(cell).__name__
        self.outputs: list[tuple[int, ...]] = []
        sizes = [(p.size, p.requires_grad) for p in cell.get_parameters()]
        self.parameters = sum(size for size, _ in sizes)
        self.trainable = sum(size for size, trained in sizes if trained)
        self.calls = 0


class NetworkSummary:
    """The rows of `summary`; printing it shows the table.

    Args:
        cells (list[CellSummary]): The rows.
        depth (int): The levels of nested Cells that printing shows; None for all.

    Attributes:
        cells (list[CellSummary]): The network and the Cells within it, in the order of cells_and_names().
        parameters (int): Number of elements in all parameters.
        trainable (int): The part of them that requires gradients.

    Examples:
        >>> import sindri as ms
        >>> result = ms.summary(ms.nn.Dense(4, 3), (2, 4))
        >>> len(result.cells), result.trainable
        (1, 15)
    """

    def __init__(self, cells: list[CellSummary], depth: Optional[int]) -> None:
        self.cells, self._depth = cells, depth
        self.parameters, self.trainable = cells[0].parameters, cells[0].trainable

    def __str__(self) -> str:
        rows = [("layer", "output", "parameters")]
        for cell in self.cells:
            level = cell.name.count(".") + 1 if cell.name else 0
            if self._depth is None or level <= self._depth:
                label = f"{cell.name.rpartition('.')[2]} ({cell.kind})" if cell.name else cell.kind
                outputs = ", ".join(str(list(shape)) for shape in cell.outputs) or "not called"
                rows.append(("  " * level + label, outputs, f"{cell.parameters:,}"))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]
        return "\n".join([*lines, f"{self.parameters:,} parameters, {self.trainable:,} of them trainable"])

    __repr__ = __str__


def _tensors(value: Any) -> list[Tensor]:
    """Returns the tensors in an output, in order."""
    if isinstance(value, (tuple, list)):
        return [t for part in value for t in _tensors(part)]
    if isinstance(value, dict):
        return _tensors(list(value.values()))
    return [value] if isinstance(value, Tensor) else []


def _inputs(given: tuple[Any, ...]) -> list[Any]:
    """Returns the inputs, with zeros in place of shapes."""
    def is_shape(value: Any) -> bool:
        return isinstance(value, (tuple, list)) and bool(value) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)
    return [zeros(tuple(value), mstype.float32) if is_shape(value) else value for value in given]


def summary(net: Cell, *inputs: Any, depth: Optional[int] = None) -> NetworkSummary:
    """Calls a network once and lists its Cells with output shapes and parameters.

    The network runs in PyNative mode and in evaluation mode, so moving statistics do not change; its training flags are restored.

    Args:
        net (Cell): The network.
        *inputs: The arguments of the call. A tuple or list of integers is a shape and is replaced by zeros of float32.
        depth (int): The levels of nested Cells that printing shows. Default: None, all.

    Returns:
        NetworkSummary, which prints as a table.

    Raises:
        TypeError: If `net` is not a Cell.
        ValueError: If no input is given, or `depth` is negative.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> print(ms.summary(nn.SequentialCell(nn.Dense(4, 3), nn.ReLU()), (2, 4)))
        layer           output  parameters
        SequentialCell  [2, 3]          15
          0 (Dense)     [2, 3]          15
          1 (ReLU)      [2, 3]           0
        15 parameters, 15 of them trainable
    """
    if not isinstance(net, Cell):
        raise TypeError(f"summary: 'net' must be a Cell, got {type(net).__name__}")
    if not inputs:
        raise ValueError("summary: no input was given | give a tensor or a shape for each argument of construct, e.g. summary(net, (1, 3, 224, 224))")
    if depth is not None and depth < 0:
        raise ValueError(f"summary: 'depth' must not be negative, got {depth}")
    rows = {cell: CellSummary(name, cell) for name, cell in net.cells_and_names()}
    training = {cell: cell.training for cell in rows}

    def note(cell: Cell, _: Any, output: Any) -> None:
        rows[cell].outputs = [tuple(t.shape) for t in _tensors(output)]
        rows[cell].calls += 1

    mode = context.get_context("mode")
    handles = [cell.register_forward_hook(note) for cell in rows]
    try:
        context.set_context(mode=context.PYNATIVE_MODE)
        if any(training.values()):
            net.set_train(False)
        net(*_inputs(inputs))
    finally:
        context.set_context(mode=mode)
        for handle in handles:
            handle.remove()
        if any(training.values()):
            for cell, flag in training.items():  # outer Cells first, because set_train also sets inner Cells
                cell.set_train(flag)
    return NetworkSummary(list(rows.values()), depth)
