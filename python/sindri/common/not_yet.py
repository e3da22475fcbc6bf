"""The error of names that exist before what they stand for does."""
from __future__ import annotations

from typing import NoReturn

__all__ = ["NotYetError", "not_yet", "PARTS"]

PARTS = ("model parallel", "devices", "boost", "BERT", "recurrent layers", "record files", "export")


class NotYetError(NotImplementedError):
    """A part of the MindSpore surface that a later version of Sindri brings. `symbol` and `part` say which."""

    def __init__(self, symbol: str, part: str) -> None:
        self.symbol, self.part = symbol, part
        super().__init__(f"{symbol} is not available yet | it comes with Sindri's {part} part | see docs/guide/python.md for what there is")


def not_yet(symbol: str, part: str) -> NoReturn:
    """Raises NotYetError for `symbol`, which comes with `part`, one of PARTS."""
    raise NotYetError(symbol, part)
