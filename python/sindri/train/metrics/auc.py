"""Area under a curve."""
import numpy as np

from sindri import _core


def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> float:
    """Returns the area under the points (x, y) by the trapezoidal rule.

    Args:
        x (numpy.ndarray): The x coordinates, [N] or [N, 1], ascending or descending.
        y (numpy.ndarray): The y coordinates, of x's shape.
        reorder (bool): Whether the points are sorted by x. Default: False.

    Returns:
        float.

    Raises:
        TypeError: If an argument is not an array.
        ValueError: If the lengths differ, there are fewer than two points, or x is not sorted.

    Examples:
        >>> import numpy as np
        >>> from sindri.train.metrics import auc
        >>> auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
        0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"auc: 'x' and 'y' must be numpy.ndarray, got {type(x).__name__} and {type(y).__name__}")
    for name, a in (('x', x), ('y', y)):
        if not (a.ndim == 1 or a.ndim == 2 and a.shape[1] == 1):
            raise ValueError(f"auc: '{name}' must have shape [N] or [N, 1], got {a.shape}")
    return _core.auc(x.reshape(-1).tolist(), y.reshape(-1).tolist(), reorder)
