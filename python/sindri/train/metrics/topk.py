"""Whether the true class is among the k best."""
from sindri.train.metrics.metric import CountedMetric


class TopKCategoricalAccuracy(CountedMetric):
    """Share of samples whose class is among the k highest scores. Prediction [N, C], truth [N] or one-hot [N, C].
    Of equal scores the one with the lower class number comes first. TypeError unless k is int, ValueError below 1."""

    def __init__(self, k: int):
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"{type(self).__name__}: 'k' must be int, got {k!r}")
        if k < 1:
            raise ValueError(f"{type(self).__name__}: 'k' must be at least 1, got {k}")
        self.k = k
        self._count_by('topk', k=k)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k = 1."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """TopKCategoricalAccuracy with k = 5."""

    def __init__(self) -> None:
        super().__init__(5)
