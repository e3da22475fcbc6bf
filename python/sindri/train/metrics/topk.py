"""Top-k accuracy."""
from sindri.train.metrics.metric import CountedMetric


class TopKCategoricalAccuracy(CountedMetric):
    """Fraction of samples whose class is among the k highest scores. Of equal scores the one with the lower class index comes first.

    Inputs: prediction [N, C], truth [N] or one-hot [N, C].

    Args:
        k (int): The number of scores, at least 1.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `k` is below 1.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.TopKCategoricalAccuracy(2)(np.array([[0.1, 0.5, 0.4], [0.1, 0.5, 0.4]]), np.array([2, 0]))
        0.5
    """

    def __init__(self, k: int):
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"{type(self).__name__}: 'k' must be int, got {k!r}")
        if k < 1:
            raise ValueError(f"{type(self).__name__}: 'k' must be at least 1, got {k}")
        self.k = k
        self._count_by('topk', k=k)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k = 1.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.Top1CategoricalAccuracy()(np.array([[0.1, 0.5, 0.4], [0.6, 0.3, 0.1]]), np.array([2, 0]))
        0.5
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k = 5.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.Top5CategoricalAccuracy()(np.array([[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]] * 2), np.array([1, 0]))
        0.5
    """

    def __init__(self) -> None:
        super().__init__(5)
