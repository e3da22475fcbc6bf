"""Perplexity of predicted probabilities."""
from typing import Any, Optional

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs


class Perplexity(CountedMetric):
    """Perplexity: exp of the mean negative log probability of the true classes.

    Inputs: probabilities [..., C], truth [...].

    Args:
        ignore_label (int): A class that is omitted. Default: None.

    Raises:
        TypeError: If `ignore_label` is not an int.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> round(nn.Perplexity()(np.array([[0.5, 0.5]]), np.array([0])), 4)
        2.0
    """

    def __init__(self, ignore_label: Optional[int] = None):
        super().__init__()
        self.ignore_label = ignore_label if ignore_label is None else validator.check_value_type('ignore_label', ignore_label, [int], 'Perplexity')
        self._count_by('perplexity', **({} if ignore_label is None else {'ignore_label': ignore_label}))

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Adds one batch.

        Args:
            *inputs: (probabilities, truth).

        Raises:
            RuntimeError: If their shapes do not match.
        """
        probability, label = self._pair(inputs)
        if label.size != probability.size // probability.shape[-1]:
            raise RuntimeError("Perplexity.update: truth must have the probabilities' shape without the last axis, "
                               f"got {probability.shape} and {label.shape}")
        self._counter.update(probability, label)
