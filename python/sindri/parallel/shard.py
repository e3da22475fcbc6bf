"""Sharding annotations."""
from typing import Any, Callable

from sindri import context
from sindri.common.not_yet import not_yet


def shard(fn: Callable, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, device: str = 'Ascend', level: int = 0) -> Callable:
    """Declares how the inputs of a function are split. In stand-alone mode one process computes everything, so the function is returned unchanged.

    Args:
        fn (Callable): A function or Cell.
        in_strategy (tuple): The split of each input.
        out_strategy (tuple, optional): The split of each output. Default: None.
        parameter_plan (dict, optional): Accepted without effect. Default: None.
        device (str): Accepted without effect. Default: 'Ascend'.
        level (int): Accepted without effect. Default: 0.

    Returns:
        Callable, `fn`.

    Raises:
        TypeError: If `fn` is not callable or a strategy is not a tuple.
        NotYetError: In automatic and semi-automatic mode.

    Examples:
        >>> from sindri.parallel import shard
        >>> shard(abs, (("dp",),))(-3)
        3
    """
    if not callable(fn):
        raise TypeError(f"shard: 'fn' must be a function or a Cell, got {type(fn).__name__}")
    if not isinstance(in_strategy, tuple) or not isinstance(out_strategy, (tuple, type(None))):
        raise TypeError("shard: 'in_strategy' must be a tuple and 'out_strategy' a tuple or None")
    if context.get_auto_parallel_context('parallel_mode') in ('semi_auto_parallel', 'auto_parallel'):
        not_yet('shard', 'model parallel')
    return fn
