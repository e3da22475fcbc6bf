"""Creation of networks whose values come from a checkpoint."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Announces that the parameters of networks created inside will be loaded.

    This is a hint: parameters are initialised as without it, so that a partly loaded network has defined values. `init_parameters_data()` then has
    nothing to do.

    Returns:
        A context manager.

    Examples:
        >>> import sindri as ms
        >>> with ms.nn.utils.no_init_parameters():
        ...     net = ms.nn.Dense(2, 3)
        >>> net.weight.shape
        (3, 2)
    """
    yield
