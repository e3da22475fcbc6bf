"""Overlap of two masks."""
from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric


class Dice(CountedMetric):
    """2 p.y / (p.p + y.y + smooth) per batch of equal shapes [N, ...], summed and divided by the number of samples (so a batch of N counts 1/N, as
    MindSpore has it)."""

    def __init__(self, smooth: float = 1e-5):
        super().__init__()
        self.smooth = validator.check_positive_float(smooth, 'smooth', 'Dice')
        self._count_by('dice', smooth=smooth)
