"""Fraction of correct predictions."""
from sindri.train.metrics.metric import CountedMetric, EvaluationBase


class Accuracy(CountedMetric, EvaluationBase):
    """Fraction of correct predictions.

    Inputs of 'classification': prediction [N, C, ...], truth [N, ...] class indices or one-hot like the prediction. Inputs of 'multilabel': 0/1 arrays
    of equal shape; a sample is correct if its whole row is. The number of classes may not change between batches.

    Args:
        eval_type (str): 'classification' or 'multilabel'. Default: 'classification'.

    Raises:
        TypeError: If `eval_type` is another value.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> metric = nn.Accuracy()
        >>> metric.clear()
        >>> metric.update(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]))
        >>> metric.eval()
        0.5
    """

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self._count_by(self._rule('accuracy'))
