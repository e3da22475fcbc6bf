"""The error of names whose implementation is not available yet."""
from __future__ import annotations

from typing import NoReturn

__all__ = ["NotYetError", "not_yet", "PARTS"]

PARTS = ("model parallel", "devices", "boost", "BERT", "recurrent layers", "record files", "export")


class NotYetError(NotImplementedError):
    """The error of a part of the MindSpore API that a later version of Sindri will include.

    Args:
        symbol (str): The name that was used.
        part (str): The part of Sindri that will include it.

    Examples:
        >>> import sindri as ms
        >>> try:
        ...     ms.nn.LSTM(2, 3)
        ... except NotYetError as error:
        ...     print(error.symbol, '/', error.part)
        nn.LSTM / recurrent layers
    """

    def __init__(self, symbol: str, part: str) -> None:
        self.symbol, self.part = symbol, part
        super().__init__(f"{symbol} is not available yet | it comes with Sindri's {part} part | see docs/guide/python.md for what there is")


def not_yet(symbol: str, part: str) -> NoReturn:
    """Raises NotYetError for a name.

    Args:
        symbol (str): The name.
        part (str): The part that will include it, one of PARTS.

    Raises:
        NotYetError: Always.

    Examples:
        >>> from sindri.common.not_yet import NotYetError, not_yet
        >>> try:
        ...     not_yet("nn.LSTM", "recurrent layers")
        ... except NotYetError as error:
        ...     print(error.symbol)
        nn.LSTM
    """
    raise NotYetError(symbol, part)
