"""Whether the true class is among the k best."""
from typing import Any

import numpy as np

from sindri.train.metrics.metric import Metric, is_one_hot, rearrange_inputs


class TopKCategoricalAccuracy(Metric):
    """Share of samples whose class is among the k highest scores. Prediction [N, C], truth [N] or one-hot [N, C].
    Of equal scores the one with the lower class number comes first. TypeError unless k is int, ValueError below 1."""

    def __init__(self, k: int):
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"{type(self).__name__}: 'k' must be int, got {k!r}")
        if k < 1:
            raise ValueError(f"{type(self).__name__}: 'k' must be at least 1, got {k}")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self._correct_num = 0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth)."""
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        if y_pred.shape[1] < self.k:
            raise ValueError(f"{type(self).__name__}: the {self.k} best of {y_pred.shape[1]} classes are all of them, which is never wrong; "
                             f"use TopKCategoricalAccuracy(k) with k below {y_pred.shape[1]}")
        best = np.argsort(-y_pred, axis=1, kind='stable')[:, :self.k]
        self._correct_num += int((best == y.reshape(-1, 1)).any(axis=1).sum())
        self._samples_num += y.size

    def eval(self) -> float:
        """A float; RuntimeError without samples."""
        if self._samples_num == 0:
            raise self._no_samples()
        return self._correct_num / self._samples_num


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k = 1."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k = 5."""

    def __init__(self) -> None:
        super().__init__(5)
