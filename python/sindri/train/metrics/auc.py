"""Area under a curve."""
import numpy as np

from sindri import _core


def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> float:
    """Area under the points (x, y), [N] or [N, 1], by the trapezoidal rule. x must rise or fall throughout, or is sorted when `reorder`.
    TypeError unless both are arrays, ValueError for different lengths or fewer than two points."""
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"auc: 'x' and 'y' must be numpy.ndarray, got {type(x).__name__} and {type(y).__name__}")
    for name, a in (('x', x), ('y', y)):
        if not (a.ndim == 1 or a.ndim == 2 and a.shape[1] == 1):
            raise ValueError(f"auc: '{name}' must have shape [N] or [N, 1], got {a.shape}")
    return _core.auc(x.reshape(-1).tolist(), y.reshape(-1).tolist(), reorder)
