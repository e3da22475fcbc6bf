"""Distances between the surfaces of two masks: Hausdorff, mean, root mean square.

The distance of a point to the nearest point of the other surface is found by comparing all pairs, in pieces: surfaces are small beside
the images, and NumPy alone suffices."""
from typing import Any, Optional, Tuple

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, rearrange_inputs

_METRICS = ['euclidean', 'chessboard', 'taxicab']
_PAIRS_AT_ONCE = 1 << 22


def _edges(mask: np.ndarray) -> np.ndarray:
    """Points of the mask that have a neighbour (along an axis) outside it; beyond the border is outside."""
    inner = mask.copy()
    for axis in range(mask.ndim):
        padded = np.pad(mask, [(1, 1) if a == axis else (0, 0) for a in range(mask.ndim)])
        n = mask.shape[axis]
        inner &= np.take(padded, range(0, n), axis=axis) & np.take(padded, range(2, n + 2), axis=axis)
    return inner ^ mask


def _distances(source: np.ndarray, target: np.ndarray, metric: str) -> np.ndarray:
    """For each point of `source` the distance to the nearest of `target`; infinity without target, empty without source."""
    a, b = np.argwhere(source), np.argwhere(target)
    if len(a) == 0:
        return np.array([])
    if len(b) == 0:
        return np.full(len(a), np.inf)
    rows = max(1, _PAIRS_AT_ONCE // len(b))
    out = []
    for start in range(0, len(a), rows):
        gap = np.abs(a[start:start + rows, None, :] - b[None])
        if metric == 'euclidean':
            out.append(np.sqrt((gap * gap).sum(axis=2).min(axis=1)))
        else:
            out.append((gap.max(axis=2) if metric == 'chessboard' else gap.sum(axis=2)).min(axis=1))
    return np.concatenate(out)


class _SurfaceMetric(Metric):
    """update takes (prediction, truth, label): the masks are where the arrays equal `label`."""

    def __init__(self, distance_metric: str):
        super().__init__()
        self.distance_metric = validator.check_string(distance_metric, _METRICS, 'distance_metric', type(self).__name__)
        self.clear()

    def clear(self) -> None:
        self._y_pred_edges: Any = 0
        self._y_edges: Any = 0
        self._is_update = False

    def _masks(self, inputs: Tuple[Any, ...]) -> Tuple[np.ndarray, np.ndarray]:
        name = type(self).__name__
        self._count(inputs, 3, 'prediction, truth, label')
        y_pred, y, label = self._convert_data(inputs[0]), self._convert_data(inputs[1]), inputs[2]
        if not isinstance(label, (int, float)):
            raise TypeError(f'{name}.update: label must be int or float, got {type(label).__name__}')
        if y_pred.size == 0 or y_pred.shape != y.shape:
            raise ValueError(f'{name}.update: prediction and truth must have equal shapes and hold something, got {y_pred.shape} and {y.shape}')
        if label not in y_pred and label not in y:
            raise ValueError(f'{name}.update: label {label} occurs neither in the prediction nor in the truth')
        prediction, truth = (a if a.dtype == bool else a == label for a in (y_pred, y))
        return prediction, truth

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth, label)."""
        y_pred, y = self._masks(inputs)
        self._y_pred_edges, self._y_edges = _edges(y_pred), _edges(y)
        self._is_update = True

    def _there(self) -> np.ndarray:
        if not self._is_update:
            raise self._no_samples()
        return _distances(self._y_pred_edges, self._y_edges, self.distance_metric)

    def _back(self) -> np.ndarray:
        return _distances(self._y_edges, self._y_pred_edges, self.distance_metric)


class HausdorffDistance(_SurfaceMetric):
    """Largest distance (or its `percentile`) of a surface point of the prediction to the truth's surface; unless `directed`, the larger of
    both directions. `crop` looks only at the box around both masks."""

    def __init__(self, distance_metric: str = 'euclidean', percentile: Optional[float] = None, directed: bool = False, crop: bool = True):
        place = 'HausdorffDistance'
        self.percentile = percentile if percentile is None else validator.check_value_type('percentile', percentile, [float], place)
        self.directed = validator.check_value_type('directed', directed, [bool, type(None)], place)
        self.crop = validator.check_value_type('crop', crop, [bool, type(None)], place)
        super().__init__(distance_metric)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth, label)."""
        y_pred, y = self._masks(inputs)
        if self.crop:
            where = np.nonzero(y_pred | y)
            box = tuple(slice(w.min(), w.max() + 1) for w in where)
            # Axes of length 1 vanish, so that a flat object has a surface of its own dimension.
            y_pred, y = np.squeeze(y_pred[box]), np.squeeze(y[box])
        self._y_pred_edges, self._y_edges = _edges(y_pred), _edges(y)
        self._is_update = True

    def _largest(self, distance: np.ndarray) -> float:
        if distance.size == 0:
            return np.inf
        if not self.percentile:
            return float(distance.max())
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"HausdorffDistance: 'percentile' must be in [0, 100], got {self.percentile}")
        return float(np.percentile(distance, self.percentile))

    def eval(self) -> float:
        """A float, infinity when a surface is empty; RuntimeError before update."""
        there = self._largest(self._there())
        return there if self.directed else max(there, self._largest(self._back()))


class MeanSurfaceDistance(_SurfaceMetric):
    """Mean distance of the prediction's surface points to the truth's surface; `symmetric`: mean of both directions."""

    def __init__(self, symmetric: bool = False, distance_metric: str = 'euclidean'):
        self.symmetric = validator.check_value_type('symmetric', symmetric, [bool], type(self).__name__)
        super().__init__(distance_metric)

    def eval(self) -> float:
        """A float, infinity when a surface is empty; RuntimeError before update."""
        there = self._there()
        back = self._back() if self.symmetric else there
        if there.size == 0 or back.size == 0:
            return np.inf
        return float(np.mean((there.mean(), back.mean())) if self.symmetric else there.mean())


class RootMeanSquareDistance(_SurfaceMetric):
    """Root mean square distance between the surfaces. As in MindSpore the root is taken only when `symmetric`; otherwise the mean square of
    one direction is returned."""

    def __init__(self, symmetric: bool = False, distance_metric: str = 'euclidean'):
        self.symmetric = validator.check_value_type('symmetric', symmetric, [bool], type(self).__name__)
        super().__init__(distance_metric)

    def eval(self) -> float:
        """A float, infinity when a surface is empty; RuntimeError before update."""
        there = self._there()
        back = self._back() if self.symmetric else there
        if there.size == 0 or back.size == 0:
            return np.inf
        if not self.symmetric:
            return float(np.square(there).mean())
        return float(np.sqrt(np.mean((np.square(there).mean(), np.square(back).mean()))))
