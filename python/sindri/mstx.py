"""Markers of the profiling tool. The CPU has no device timeline, so marks are written to the debug log."""
import itertools
from typing import Any

from sindri import log as logger

__all__ = ['mark', 'range_start', 'range_end']

_ids = itertools.count(1)
_open: dict = {}


def _text(message: Any) -> str:
    if not isinstance(message, str) or not message:
        raise TypeError(f"mstx: 'message' must be a non-empty str, got {message!r}")
    return message


def mark(message: str, stream: Any = None, domain: str = 'default') -> None:
    """Marks a point in time in the debug log.

    Args:
        message (str): The text.
        stream (Stream): Accepted for compatibility; there is one stream. Default: None.
        domain (str): Accepted for compatibility. Default: 'default'.

    Raises:
        TypeError: If `message` is not a str or is empty.

    Examples:
        >>> import sindri as ms
        >>> ms.mstx.mark('epoch 1')
    """
    logger.debug('mstx mark %s', _text(message))


def range_start(message: str, stream: Any = None, domain: str = 'default') -> int:
    """Opens a range.

    Args:
        message (str): The text.
        stream (Stream): Accepted for compatibility. Default: None.
        domain (str): Accepted for compatibility. Default: 'default'.

    Returns:
        int: the number of the range, above 0.

    Raises:
        TypeError: If `message` is not a str or is empty.

    Examples:
        >>> import sindri as ms
        >>> number = ms.mstx.range_start('forward')
        >>> ms.mstx.range_end(number)
    """
    number = next(_ids)
    _open[number] = _text(message)
    logger.debug('mstx range %d begins: %s', number, message)
    return number


def range_end(range_id: int, domain: str = 'default') -> None:
    """Closes a range. An unknown number is ignored with a warning.

    Args:
        range_id (int): The number of the range.
        domain (str): Accepted for compatibility. Default: 'default'.

    Raises:
        TypeError: If `range_id` is not an int.

    Examples:
        >>> import sindri as ms
        >>> number = ms.mstx.range_start('forward')
        >>> ms.mstx.range_end(number)
    """
    if not isinstance(range_id, int) or isinstance(range_id, bool):
        raise TypeError(f"mstx.range_end: 'range_id' must be int, got {range_id!r}")
    message = _open.pop(range_id, None)
    if message is None:
        logger.warning('mstx.range_end: no open range has the number %d', range_id)
        return
    logger.debug('mstx range %d ends: %s', range_id, message)
