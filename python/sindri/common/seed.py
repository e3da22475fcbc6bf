"""Seeds (MindSpore: mindspore.set_seed)."""
from __future__ import annotations

from typing import Optional

import numpy as _np

from sindri import _core

__all__ = ["set_seed", "get_seed"]

_times_seeded = 0  # what draws from streams of its own begins anew with each seed


def set_seed(seed: int) -> None:
    """Seeds initializers, random ops, data pipelines, and NumPy's generator. Raises TypeError unless it is an int, ValueError when negative."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"seed must be an int, got {seed!r} | set_seed")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed} | set_seed")
    global _times_seeded
    _core.set_seed(seed)
    _core.reset_rng(seed)
    _core.comm.place_random_numbers()
    _times_seeded += 1
    _np.random.seed(seed % (1 << 32))


def get_seed() -> Optional[int]:
    """The seed set, or None."""
    return _core.get_seed()
