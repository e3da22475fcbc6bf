"""Overlap of two masks."""
from typing import Any

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, rearrange_inputs


class Dice(Metric):
    """2 p.y / (p.p + y.y + smooth) per batch, summed and divided by the number of samples (so a batch of N counts 1/N, as MindSpore has it)."""

    def __init__(self, smooth: float = 1e-5):
        super().__init__()
        self.smooth = validator.check_positive_float(smooth, 'smooth', 'Dice')
        self.clear()

    def clear(self) -> None:
        self._dice_coeff_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth) of equal shapes [N, ...]."""
        y_pred, y = self._pair(inputs)
        if y_pred.shape != y.shape:
            raise ValueError(f"Dice.update: prediction and truth must have equal shapes, got {y_pred.shape} and {y.shape}")
        p, t = y_pred.reshape(-1), y.reshape(-1)
        self._samples_num += y.shape[0]
        self._dice_coeff_sum += 2 * float(np.dot(p, t)) / float(np.dot(p, p) + np.dot(t, t) + self.smooth)

    def eval(self) -> float:
        """A float; RuntimeError without samples."""
        if self._samples_num == 0:
            raise self._no_samples()
        return self._dice_coeff_sum / self._samples_num
