"""Weighted harmonic mean of precision and recall."""
from sindri.train.metrics.metric import PerClassMetric


class Fbeta(PerClassMetric):
    """F-beta score (1 + beta²)·tp/(beta²·actual + predicted) per class.

    Inputs: prediction [N, C], truth [N] or one-hot [N, C].

    Args:
        beta (float): The weight of recall, above 0.

    Raises:
        ValueError: If `beta` is not above 0.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.Fbeta(2.0)(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 0]))
        array([1., 1.])
    """

    def __init__(self, beta: float):
        super().__init__()
        if not beta > 0:
            raise ValueError(f"Fbeta: 'beta' must be above 0, got {beta}")
        self.beta = beta
        self._count_by('fbeta', beta=float(beta))


class F1(Fbeta):
    """F-beta score with beta 1.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.F1()(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1])).round(4)
        array([0.    , 0.6667])
    """

    def __init__(self) -> None:
        super().__init__(1.0)
