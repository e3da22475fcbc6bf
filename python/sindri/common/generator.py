"""The generator of the random ops by itself (MindSpore: mindspore.common.generator); set_seed seeds it too."""
from __future__ import annotations

import os as _os

from sindri import _core
from sindri._core import Tensor

__all__ = ["seed", "manual_seed", "initial_seed", "get_rng_state", "set_rng_state"]


def manual_seed(seed: int) -> None:
    """Seeds the random ops, and nothing else. Raises TypeError unless it is an int, ValueError when negative."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"seed must be an int, got {seed!r} | manual_seed")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed} | manual_seed")
    _core.reset_rng(seed)
    _core.comm.place_random_numbers()


def seed() -> int:
    """Seeds the random ops with a number from the system, which it returns."""
    number = int.from_bytes(_os.urandom(6), "little")
    manual_seed(number)
    return number


def initial_seed() -> int:
    """The seed that the random ops began with."""
    return int(_core.rng_state().asnumpy().reshape(-1)[0])


def get_rng_state() -> Tensor:
    """The state of the random ops, for set_rng_state."""
    _core.end_step()  # numbers drawn since the last step are behind this state
    return Tensor(_core.rng_state().asnumpy().copy())


def set_rng_state(state: Tensor) -> None:
    """The random ops go on from here, each rank with its own numbers. Raises TypeError or ValueError for what get_rng_state did not give."""
    now = _core.rng_state()
    if not isinstance(state, Tensor):
        raise TypeError(f"state must be a Tensor, got {type(state).__name__} | set_rng_state")
    if state.shape != now.shape or state.dtype != now.dtype:
        raise ValueError(f"expected {now.dtype} of shape {now.shape}, got {state.dtype} of shape {state.shape} | set_rng_state")
    _core.end_step()
    _core.set_rng_state(state)
    _core.comm.place_random_numbers()
