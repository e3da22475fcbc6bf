"""The generator of the random ops (MindSpore: mindspore.common.generator); set_seed seeds it too."""
from __future__ import annotations

import os as _os

from sindri import _core
from sindri._core import Tensor

__all__ = ["seed", "manual_seed", "initial_seed", "get_rng_state", "set_rng_state"]


def manual_seed(seed: int) -> None:
    """Seeds the random ops only.

    Args:
        seed (int): The seed, at least 0.

    Raises:
        TypeError: If `seed` is not an int.
        ValueError: If `seed` is negative.

    Examples:
        >>> import sindri as ms
        >>> ms.manual_seed(3)
        >>> ms.initial_seed()
        3
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"seed must be an int, got {seed!r} | manual_seed")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed} | manual_seed")
    _core.reset_rng(seed)
    _core.comm.place_random_numbers()


def seed() -> int:
    """Seeds the random ops with a number from the system.

    Returns:
        int: the seed.

    Examples:
        >>> import sindri as ms
        >>> ms.seed() == ms.initial_seed()
        True
    """
    number = int.from_bytes(_os.urandom(6), "little")
    manual_seed(number)
    return number


def initial_seed() -> int:
    """Returns the initial seed of the random ops.

    Returns:
        int.

    Examples:
        >>> import sindri as ms
        >>> ms.manual_seed(3)
        >>> ms.initial_seed()
        3
    """
    return int(_core.rng_state().asnumpy().reshape(-1)[0])


def get_rng_state() -> Tensor:
    """Returns the state of the random ops, for `set_rng_state`.

    Returns:
        Tensor.

    Examples:
        >>> import sindri as ms
        >>> from sindri.common.generator import get_rng_state, set_rng_state
        >>> state = get_rng_state()
        >>> first = ms.ops.standard_normal((3,))
        >>> set_rng_state(state)
        >>> bool((ms.ops.standard_normal((3,)) == first).all())
        True
    """
    _core.end_step()  # includes the numbers drawn since the last step
    return Tensor(_core.rng_state().asnumpy().copy())


def set_rng_state(state: Tensor) -> None:
    """Restores the state of the random ops; each rank continues with its own numbers.

    Args:
        state (Tensor): The state, as `get_rng_state` returned it.

    Raises:
        TypeError: If `state` is not a Tensor.
        ValueError: If it has another shape or type.

    Examples:
        >>> import sindri as ms
        >>> state = ms.get_rng_state()
        >>> first = ms.ops.standard_normal((3,))
        >>> ms.set_rng_state(state)
        >>> bool((ms.ops.standard_normal((3,)) == first).all())
        True
    """
    now = _core.rng_state()
    if not isinstance(state, Tensor):
        raise TypeError(f"state must be a Tensor, got {type(state).__name__} | set_rng_state")
    if state.shape != now.shape or state.dtype != now.dtype:
        raise ValueError(f"expected {now.dtype} of shape {now.shape}, got {state.dtype} of shape {state.shape} | set_rng_state")
    _core.end_step()
    _core.set_rng_state(state)
    _core.comm.place_random_numbers()
