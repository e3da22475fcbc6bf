"""Share of right answers."""
from sindri.train.metrics.metric import CountedMetric, EvaluationBase


class Accuracy(CountedMetric, EvaluationBase):
    """Right answers / samples. 'classification': prediction [N, C, ...], truth [N, ...] class indices or one-hot like the prediction.
    'multilabel': 0/1 arrays of equal shape, a sample is right when its whole row is. The number of classes may not change between batches."""

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self._count_by(self._rule('accuracy'))
