"""Wrappers of an optimizer for adaptive summation. They need several ranks and are not available yet: constructing one raises NotYetError."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet
from sindri.nn.cell import Cell

__all__ = ["AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell"]


class AdaSumByDeltaWeightWrapCell(Cell):
    """Adaptive summation of the changes of weights; not available yet.

    Args:
        optimizer (Optimizer): The optimizer.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, optimizer: Any) -> None:
        super().__init__(auto_prefix=False)
        not_yet("nn.AdaSumByDeltaWeightWrapCell", "boost")


class AdaSumByGradWrapCell(Cell):
    """Adaptive summation of gradients; not available yet.

    Args:
        optimizer (Optimizer): The optimizer.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, optimizer: Any) -> None:
        super().__init__(auto_prefix=False)
        not_yet("nn.AdaSumByGradWrapCell", "boost")
