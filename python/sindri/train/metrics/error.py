"""Mean absolute and mean squared error, per sample."""
from sindri.train.metrics.metric import CountedMetric


class MAE(CountedMetric):
    """Sum of |truth - prediction| / number of samples (rows). Takes (prediction, truth) of equal shapes."""

    def __init__(self) -> None:
        super().__init__()
        self._count_by('mae')


class MSE(CountedMetric):
    """Sum of (truth - prediction)^2 / number of samples (rows). Takes (prediction, truth) of equal shapes."""

    def __init__(self) -> None:
        super().__init__()
        self._count_by('mse')
