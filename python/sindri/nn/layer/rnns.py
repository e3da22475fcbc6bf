"""Recurrent layers. Not there yet: constructing one raises NotYetError."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet
from sindri.nn.cell import Cell

__all__ = ["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"]


class _NotYet(Cell):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        not_yet(f"nn.{type(self).__name__}", "recurrent layers")


class LSTM(_NotYet):
    """Long short-term memory over a sequence."""


class GRU(_NotYet):
    """Gated recurrent unit over a sequence."""


class RNN(_NotYet):
    """Plain recurrent layer over a sequence."""


class LSTMCell(_NotYet):
    """One step of an LSTM."""


class GRUCell(_NotYet):
    """One step of a GRU."""


class RNNCell(_NotYet):
    """One step of a plain recurrent layer."""
