"""Perplexity of predicted probabilities."""
from typing import Any, Optional

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs


class Perplexity(CountedMetric):
    """exp of the mean negative log probability of the true classes. Probabilities [..., C], truth [...]; `ignore_label` leaves one class out."""

    def __init__(self, ignore_label: Optional[int] = None):
        super().__init__()
        self.ignore_label = ignore_label if ignore_label is None else validator.check_value_type('ignore_label', ignore_label, [int], 'Perplexity')
        self._count_by('perplexity', **({} if ignore_label is None else {'ignore_label': ignore_label}))

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (probabilities, truth); RuntimeError when their shapes do not fit."""
        probability, label = self._pair(inputs)
        if label.size != probability.size // probability.shape[-1]:
            raise RuntimeError("Perplexity.update: truth must have the probabilities' shape without the last axis, "
                               f"got {probability.shape} and {label.shape}")
        self._counter.update(probability, label)
