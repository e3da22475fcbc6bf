"""Seeds (MindSpore: mindspore.set_seed)."""
from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as _np

from sindri import _core

__all__ = ["set_seed", "get_seed"]

_graph_seeds: Dict[str, int] = {}  # number of calls of _get_graph_seed for a kernel since set_seed
_times_seeded = 0  # users of separate streams start again with each seed


def set_seed(seed: int) -> None:
    """Seeds initializers, random ops, data pipelines and NumPy's generator.

    Args:
        seed (int): The seed, at least 0.

    Raises:
        TypeError: If `seed` is not an int.
        ValueError: If `seed` is negative.

    Examples:
        >>> import sindri as ms
        >>> ms.set_seed(7)
        >>> first = ms.nn.Dense(2, 3).weight.asnumpy()
        >>> ms.set_seed(7)
        >>> bool((ms.nn.Dense(2, 3).weight.asnumpy() == first).all())
        True
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"seed must be an int, got {seed!r} | set_seed")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed} | set_seed")
    global _times_seeded
    _core.set_seed(seed)
    _core.reset_rng(seed)
    _core.comm.place_random_numbers()
    _times_seeded += 1
    _graph_seeds.clear()
    _np.random.seed(seed % (1 << 32))


def get_seed() -> Optional[int]:
    """Returns the seed that was set.

    Returns:
        int, or None.

    Examples:
        >>> import sindri as ms
        >>> ms.set_seed(7)
        >>> ms.get_seed()
        7
    """
    return _core.get_seed()


def _get_graph_seed(op_seed: int, kernel_name: str) -> Tuple[int, int]:
    """Returns two seeds for a random primitive, as layers of older scripts expect them: (the seed set or 0, op_seed).

    After set_seed, an op_seed of 0 is replaced by a different number in each call for a kernel. Raises TypeError or ValueError.
    """
    if not isinstance(op_seed, int) or isinstance(op_seed, bool):
        raise TypeError(f"op_seed must be an int, got {op_seed!r} | {kernel_name}")
    if op_seed < 0:
        raise ValueError(f"op_seed must not be negative, got {op_seed} | {kernel_name}")
    seed = get_seed()
    if seed is None or op_seed:
        return seed or 0, op_seed
    calls = _graph_seeds[kernel_name] = _graph_seeds.get(kernel_name, -1) + 1
    return seed, calls * 533697028 % (1 << 31)
