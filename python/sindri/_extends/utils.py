"""Recording of constructor arguments."""
import functools
import inspect
from typing import Any, Callable, Optional


def cell_attr_register(fn: Optional[Callable] = None, attrs: Any = None) -> Callable:
    """Decorates a Cell's `__init__` to record its arguments as text in `cell_init_args`. It works with and without
    parentheses.

    Args:
        fn (Callable): The `__init__`; None returns the decorator. Default: None.
        attrs (str or list of strs): The names to record; None means all. Default: None.

    Returns:
        The decorated function, or a decorator.

    Raises:
        TypeError: If `attrs` is neither a str nor a list.

    Examples:
        >>> import sindri as ms
        >>> from sindri._extends import cell_attr_register
        >>> class Net(ms.nn.Cell):
        ...     @cell_attr_register
        ...     def __init__(self, size):
        ...         super().__init__()
        >>> print(Net(3).cell_init_args)
        {'size': 3}
    """
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
