"""Mean absolute and mean squared error per sample."""
from sindri.train.metrics.metric import CountedMetric


class MAE(CountedMetric):
    """Mean absolute error: the sum of |truth - prediction| divided by the number of samples (rows). Prediction and truth have equal shapes.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.MAE()(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
        0.5
    """

    def __init__(self) -> None:
        super().__init__()
        self._count_by('mae')


class MSE(CountedMetric):
    """Mean squared error: the sum of (truth - prediction)² divided by the number of samples (rows). Prediction and truth have equal shapes.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.MSE()(np.array([0.0, 1.0]), np.array([2.0, 1.0]))
        2.0
    """

    def __init__(self) -> None:
        super().__init__()
        self._count_by('mse')
