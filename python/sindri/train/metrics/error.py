"""Mean absolute and mean squared error, per sample."""
from typing import Any

import numpy as np

from sindri.train.metrics.metric import Metric, rearrange_inputs


class _Error(Metric):
    """Sum of an error over all elements / number of samples (rows)."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._error_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth) of equal shapes."""
        y_pred, y = self._pair(inputs)
        if y_pred.size != y.size:
            raise ValueError(f"{type(self).__name__}.update: prediction and truth must have equal shapes, got {y_pred.shape} and {y.shape}")
        self._error_sum += float(self._error(y.reshape(y_pred.shape) - y_pred).sum())
        self._samples_num += y.shape[0]

    def _error(self, difference: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def eval(self) -> float:
        """A float; RuntimeError without samples."""
        if self._samples_num == 0:
            raise self._no_samples()
        return self._error_sum / self._samples_num


class MAE(_Error):
    """Sum of |truth - prediction| / number of samples."""

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.abs(difference)


class MSE(_Error):
    """Sum of (truth - prediction)^2 / number of samples."""

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.square(difference)
