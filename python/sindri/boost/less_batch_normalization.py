"""Networks with fewer batch norms, and a normalised head."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from sindri import _core
from sindri._check import check_bool, check_float, check_type
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Dense, Identity
from sindri.nn.layer.conv import Conv2d
from sindri.nn.layer.normalization import BatchNorm2d
from sindri.nn.native_cell import NativeCell

__all__ = ["LessBN"]

_ops = _core.ops


def _unit_rows(x: Tensor) -> Tensor:
    with _core.FullPrecisionScope():
        wide = _ops.cast(x, mstype.float32) if x.dtype in (mstype.float16, mstype.bfloat16) else x  # the range of float32 holds the squares
        squares = _ops.sum(_ops.mul(wide, wide), (1,), True)
        return _ops.cast(_ops.div(wide, _ops.sqrt(_ops.maximum(squares, Tensor(1e-4, squares.dtype)))), x.dtype)


class NormalisedDense(Cell):
    """Computes multiplier·(x/‖x‖)·(W/‖W‖)ᵀ with a Dense layer's weight W. The rows of x and W are scaled to length 1, with ‖v‖² at least 1e-4. The
    Parameters are weight and multiplier [1].

    Args:
        dense (Dense): The layer whose weight is used.
        multiplier (float): The initial factor. Default: 1.0.
    """

    def __init__(self, dense: Dense, multiplier: float = 1.0) -> None:
        super().__init__()
        self.weight = dense.weight
        place = dense.weight.name.rpartition(".")[0]  # a name assigned before stays a path
        self.multiplier = Parameter(Tensor(np.full((1,), multiplier), dense.weight.dtype), name=f"{place}.multiplier" if place else "multiplier")

    def construct(self, x: Tensor) -> Tensor:
        return _ops.mul(_ops.matmul(_unit_rows(x), _unit_rows(self.weight), False, True), self.multiplier)


class LessBN(Cell):
    """Removes the inner batch norms of a network's residual blocks (MindSpore: boost.LessBN). The network is changed in place; calls run the network.

    Blocks are Cells whose class name contains "block" or "bottleneck" ("ResidualBlock", "Bottleneck"), or that have the flag `residual_block`. Their direct
    children include three convolutions, each followed by a batch norm; the first two batch norms are removed.

    Args:
        network (Cell): The network.
        fn_flag (bool): Whether the last Dense becomes a NormalisedDense. Default: False.
        basic (bool): Whether blocks of two convolutions lose their first batch norm too. Default: False.
        fn_scale (float): The initial factor of the NormalisedDense. Default: 1.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `fn_scale` is not positive.

    Examples:
        >>> import sindri as ms
        >>> net = ms.boost.LessBN(ms.nn.SequentialCell(ms.nn.Dense(4, 2)), True)
        >>> type(net.network[0]).__name__
        'NormalisedDense'
    """

    def __init__(self, network: Cell, fn_flag: bool = False, *, basic: bool = False, fn_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        self.network = check_type("LessBN", "'network'", network, Cell)
        check_bool("LessBN", "'fn_flag'", fn_flag)
        check_bool("LessBN", "'basic'", basic)
        check_float("LessBN", "fn_scale", fn_scale, above=0)
        self.removed: List[str] = []
        self.added: List[Tuple[Parameter, Parameter]] = []  # a weight, and the factor added for it
        head = self._last_dense(network) if fn_flag else None
        self.normalised = head is not None and isinstance(head[2], NormalisedDense)  # it was normalised before
        for path, cell in list(network.cells_and_names()):
            if isinstance(cell, NativeCell):
                self._prepare(path, cell, {"fn_flag": head is not None and head[0] is cell, "fn_scale": float(fn_scale), "basic": basic})
            for name in self._inner_norms(cell, basic):
                setattr(cell, name, Identity())
                self.removed.append(f"{path}.{name}" if path else name)
        if head is not None and isinstance(head[2], Dense):
            normalised = NormalisedDense(head[2], fn_scale)
            setattr(head[0], head[1], normalised)
            self.added.append((normalised.weight, normalised.multiplier))

    @staticmethod
    def _inner_norms(cell: Cell, basic: bool) -> List[str]:
        name = type(cell).__name__.lower()
        if not ("block" in name or "bottleneck" in name or cell.get_flags().get("residual_block")):
            return []
        children = [(n, c) for n, c in cell.name_cells().items()]
        convs = [n for n, c in children if isinstance(c, Conv2d)]
        norms = [n for n, c in children if isinstance(c, BatchNorm2d)]
        if len(convs) != len(norms) or len(norms) not in (3, 2) or (len(norms) == 2 and not basic):
            return []
        return norms[:-1]

    def _prepare(self, path: str, cell: NativeCell, settings: Dict[str, Any]) -> None:
        before = dict(cell._params)
        cell._prepare("less_bn", settings if settings["fn_flag"] else {k: v for k, v in settings.items() if k != "fn_scale"})
        norms = {name.rpartition(".")[0] for name in before if name.endswith(".gamma") and name not in cell._params}
        self.removed += [f"{path}.{name}" if path else name for name in sorted(norms)]
        self.added += [(cell._params[name.rpartition(".")[0] + ".weight"], p) for name, p in cell._params.items() if name not in before]

    @staticmethod
    def _last_dense(network: Cell) -> Optional[Tuple[Cell, str, Cell]]:
        """Returns the position of the last Dense: the Cell that holds it, its name there, and the layer; a network of the C++ library finds its own. A layer
        that is normalised already stays, and no other layer replaces it."""
        place: Optional[Tuple[Cell, str, Cell]] = (network, "", network) if isinstance(network, NativeCell) else None
        for _, cell in network.cells_and_names():
            for name, child in cell.name_cells().items():
                if isinstance(child, (Dense, NormalisedDense)):
                    place = (cell, name, child)
                elif isinstance(child, NativeCell):
                    place = (child, "", child)
        return place

    def construct(self, *inputs: Any) -> Any:
        return self.network(*inputs)
