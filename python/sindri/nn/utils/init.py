"""Building networks whose values come from a checkpoint."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Says that the parameters of networks built inside will be loaded. A hint: they are drawn all the same (as without it), so that a network which
    is not loaded wholly holds defined values; `init_parameters_data()` has nothing left to do."""
    yield
