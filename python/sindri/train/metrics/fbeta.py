"""Weighted harmonic mean of precision and recall."""
from typing import Any, Union

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, is_one_hot, one_hot_pair, rearrange_inputs
from sindri.train.metrics.precision import _TINY


class Fbeta(Metric):
    """(1 + b^2) tp / (b^2 actual + predicted) per class. Prediction [N, C], truth [N] or one-hot [N, C]; ValueError unless beta > 0."""

    def __init__(self, beta: float):
        super().__init__()
        if not beta > 0:
            raise ValueError(f"Fbeta: 'beta' must be above 0, got {beta}")
        self.beta = beta
        self.clear()

    def clear(self) -> None:
        self._true_positives: Any = 0
        self._actual_positives: Any = 0
        self._positives: Any = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth)."""
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        predicted, actual = one_hot_pair(self, y_pred, y)
        self._true_positives = self._true_positives + (predicted * actual).sum(axis=0)
        self._positives = self._positives + predicted.sum(axis=0)
        self._actual_positives = self._actual_positives + actual.sum(axis=0)

    def eval(self, average: bool = False) -> Union[np.ndarray, float]:
        """An array per class, or its mean when `average`; RuntimeError without samples."""
        validator.check_value_type('average', average, [bool], type(self).__name__)
        if self._class_num == 0:
            raise self._no_samples()
        weight = self.beta ** 2
        result = (1.0 + weight) * self._true_positives / (weight * self._actual_positives + self._positives + _TINY)
        return float(result.mean()) if average else result


class F1(Fbeta):
    """Fbeta with beta 1."""

    def __init__(self) -> None:
        super().__init__(1.0)
