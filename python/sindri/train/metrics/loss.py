"""Mean of the losses of the batches."""
from sindri.train.metrics.metric import CountedMetric


class Loss(CountedMetric):
    """Mean over batches of a scalar loss (a vector counts as its mean)."""

    _takes = 'loss'

    def __init__(self) -> None:
        super().__init__()
        self._count_by('loss')
