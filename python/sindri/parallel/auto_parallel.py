"""Wrapper that makes a network parallel (2.5 and later)."""
from typing import Any

from sindri.common.not_yet import not_yet


class AutoParallel:
    """Holds a network and how it is split over ranks. Not yet there: raises NotYetError."""

    def __init__(self, network: Any, parallel_mode: str = 'semi_auto'):
        not_yet('parallel.auto_parallel.AutoParallel', 'model parallel')
