"""A function wrapped as a Cell."""
from typing import Any, Callable

from sindri.nn.cell import Cell


class FunctionCell(Cell):
    """Calls a function."""

    def __init__(self, fn: Callable):
        super().__init__(auto_prefix=False)
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        return self.fn(*args)
