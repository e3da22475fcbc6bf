"""Recurrent layers. They are not available yet: constructing one raises NotYetError."""
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
    """Long short-term memory over a sequence; not available yet.

    Raises:
        NotYetError: Always.
    """


class GRU(_NotYet):
    """Gated recurrent units over a sequence; not available yet.

    Raises:
        NotYetError: Always.
    """


class RNN(_NotYet):
    """Simple recurrent layer over a sequence; not available yet.

    Raises:
        NotYetError: Always.
    """


class LSTMCell(_NotYet):
    """One step of an LSTM; not available yet.

    Raises:
        NotYetError: Always.
    """


class GRUCell(_NotYet):
    """One step of a GRU; not available yet.

    Raises:
        NotYetError: Always.
    """


class RNNCell(_NotYet):
    """One step of a simple recurrent layer; not available yet.

    Raises:
        NotYetError: Always.
    """
