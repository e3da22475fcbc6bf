"""Overlap of two masks."""
from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric


class Dice(CountedMetric):
    """Dice coefficient 2 p·y/(p·p + y·y + smooth) of a batch of equal shapes [N, ...].

    The batches' values are summed and divided by the number of samples, so that a batch of N counts 1/N, as in MindSpore.

    Args:
        smooth (float): Added to the denominator; above 0. Default: 1e-5.

    Raises:
        TypeError: If `smooth` is not a float.
        ValueError: If `smooth` is not above 0.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> round(nn.Dice()(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])), 4)
        0.6667
    """

    def __init__(self, smooth: float = 1e-5):
        super().__init__()
        self.smooth = validator.check_positive_float(smooth, 'smooth', 'Dice')
        self._count_by('dice', smooth=smooth)
