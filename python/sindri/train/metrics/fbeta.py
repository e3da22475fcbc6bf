"""Weighted harmonic mean of precision and recall."""
from sindri.train.metrics.metric import PerClassMetric


class Fbeta(PerClassMetric):
    """(1 + b^2) tp / (b^2 actual + predicted) per class. Prediction [N, C], truth [N] or one-hot [N, C]; ValueError unless beta > 0."""

    def __init__(self, beta: float):
        super().__init__()
        if not beta > 0:
            raise ValueError(f"Fbeta: 'beta' must be above 0, got {beta}")
        self.beta = beta
        self._count_by('fbeta', beta=float(beta))


class F1(Fbeta):
    """Fbeta with beta 1."""

    def __init__(self) -> None:
        super().__init__(1.0)
