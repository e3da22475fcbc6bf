"""Area under a curve."""
import numpy as np


def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> float:
    """Area under the points (x, y) by the trapezoidal rule. x must rise or fall throughout, or is sorted when `reorder`.
    TypeError unless both are arrays, ValueError for different lengths or fewer than two points."""
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"auc: 'x' and 'y' must be numpy.ndarray, got {type(x).__name__} and {type(y).__name__}")
    for name, a in (('x', x), ('y', y)):
        if not (a.ndim == 1 or a.ndim == 2 and a.shape[1] == 1):
            raise ValueError(f"auc: '{name}' must have shape [N] or [N, 1], got {a.shape}")
    x, y = x.reshape(-1), y.reshape(-1)
    if x.shape != y.shape:
        raise ValueError(f"auc: 'x' and 'y' must have equal lengths, got {len(x)} and {len(y)}")
    if len(x) < 2:
        raise ValueError(f"auc: needs at least 2 points, got {len(x)}")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    step = np.diff(x)
    sign = 1.0
    if (step < 0).any():
        if (step > 0).any():
            raise ValueError("auc: 'x' must rise or fall throughout | pass reorder=True to sort it")
        sign = -1.0
    return float(sign * ((y[1:] + y[:-1]) * step / 2.0).sum())
