"""Sharding annotations."""
from typing import Any, Callable

from sindri import context
from sindri.common.not_yet import not_yet


def shard(fn: Callable, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, device: str = 'Ascend', level: int = 0) -> Callable:
    """A function whose inputs are cut as `in_strategy` says. One process computes everything, so stand-alone the function itself comes back; in
    (semi-)automatic mode NotYetError. TypeError: fn not callable, strategies no tuples."""
    if not callable(fn):
        raise TypeError(f"shard: 'fn' must be a function or a Cell, got {type(fn).__name__}")
    if not isinstance(in_strategy, tuple) or not isinstance(out_strategy, (tuple, type(None))):
        raise TypeError("shard: 'in_strategy' must be a tuple and 'out_strategy' a tuple or None")
    if context.get_auto_parallel_context('parallel_mode') in ('semi_auto_parallel', 'auto_parallel'):
        not_yet('shard', 'model parallel')
    return fn
