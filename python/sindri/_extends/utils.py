"""Recording of constructor arguments."""
import functools
import inspect
from typing import Any, Callable, Optional


def cell_attr_register(fn: Optional[Callable] = None, attrs: Any = None) -> Callable:
    """Decorator for a Cell's `__init__` that records its arguments as text in `cell_init_args` (of the names in `attrs`, a str or list, or of all).
    With and without parentheses. TypeError: attrs."""
    if attrs is not None and not isinstance(attrs, (str, list, tuple)):
        raise TypeError(f"cell_attr_register: 'attrs' must be a str or a list of them, got {type(attrs).__name__}")
    names = [attrs] if isinstance(attrs, str) else attrs

    def wrap(init: Callable) -> Callable:
        signature = inspect.signature(init)

        @functools.wraps(init)
        def register(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            given = {k: v for k, v in list(bound.arguments.items())[1:] if names is None or k in names}
            self.cell_init_args = str(given) if names is None else type(self).__name__ + str(given)
        return register
    return wrap(fn) if fn is not None else wrap
