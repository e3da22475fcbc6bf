"""Layers that collect second-order information. They come with THOR; until then constructing one raises NotYetError."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet
from sindri.nn.cell import Cell

__all__ = ["DenseThor", "Conv2dThor", "EmbeddingThor", "EmbeddingLookupThor"]


class _NotYet(Cell):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        not_yet(f"nn.{type(self).__name__}", "THOR")


class DenseThor(_NotYet):
    """Dense with second-order information."""


class Conv2dThor(_NotYet):
    """Conv2d with second-order information."""


class EmbeddingThor(_NotYet):
    """Embedding with second-order information."""


class EmbeddingLookupThor(_NotYet):
    """EmbeddingLookup with second-order information."""
