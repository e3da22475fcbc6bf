"""Markers of the profiling tool. On the CPU there is no device timeline to mark: marks go to the debug log."""
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
    """One point in time, written to the debug log. `stream` and `domain` are taken for scripts' sake; there is one stream."""
    logger.debug('mstx mark %s', _text(message))


def range_start(message: str, stream: Any = None, domain: str = 'default') -> int:
    """Opens a range and returns its number, above 0."""
    number = next(_ids)
    _open[number] = _text(message)
    logger.debug('mstx range %d begins: %s', number, message)
    return number


def range_end(range_id: int, domain: str = 'default') -> None:
    """Closes a range. An unknown number is ignored with a warning."""
    if not isinstance(range_id, int) or isinstance(range_id, bool):
        raise TypeError(f"mstx.range_end: 'range_id' must be int, got {range_id!r}")
    message = _open.pop(range_id, None)
    if message is None:
        logger.warning('mstx.range_end: no open range has the number %d', range_id)
        return
    logger.debug('mstx range %d ends: %s', range_id, message)
