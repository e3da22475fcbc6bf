"""Perplexity of predicted probabilities."""
import math
from typing import Any, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, rearrange_inputs


class Perplexity(Metric):
    """exp of the mean negative log probability of the true classes. Probabilities [..., C], truth [...]; `ignore_label` leaves one class out."""

    def __init__(self, ignore_label: Optional[int] = None):
        super().__init__()
        self.ignore_label = ignore_label if ignore_label is None else validator.check_value_type('ignore_label', ignore_label, [int], 'Perplexity')
        self.clear()

    def clear(self) -> None:
        self._sum_metric = 0.0
        self._num_inst = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (probabilities, truth); RuntimeError when their shapes do not fit."""
        probability, label = self._pair(inputs)
        if label.size != probability.size // probability.shape[-1]:
            raise RuntimeError("Perplexity.update: truth must have the probabilities' shape without the last axis, "
                               f"got {probability.shape} and {label.shape}")
        label = label.reshape(-1).astype(int)
        p = probability.reshape(-1, probability.shape[-1])[np.arange(label.size), label]
        if self.ignore_label is not None:
            p = p[label != self.ignore_label]
        self._sum_metric -= float(np.log(np.maximum(1e-10, p)).sum())
        self._num_inst += p.size

    def eval(self) -> float:
        """A float; RuntimeError without samples."""
        if self._num_inst == 0:
            raise self._no_samples()
        return math.exp(self._sum_metric / self._num_inst)
