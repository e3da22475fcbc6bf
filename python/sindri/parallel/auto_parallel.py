"""Wrapper that parallelises a network (MindSpore 2.5 and later)."""
from typing import Any

from sindri.common.not_yet import not_yet


class AutoParallel:
    """A network and its distribution over ranks; not available yet.

    Args:
        network (Cell): Ignored.
        parallel_mode (str): Ignored. Default: 'semi_auto'.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, network: Any, parallel_mode: str = 'semi_auto'):
        not_yet('parallel.auto_parallel.AutoParallel', 'model parallel')
