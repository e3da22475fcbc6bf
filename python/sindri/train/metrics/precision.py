"""Precision and recall per class."""
from sindri.train.metrics.metric import EvaluationBase, PerClassMetric


class Precision(PerClassMetric, EvaluationBase):
    """True positives / predicted positives, 0 for none: per class, or per sample for 'multilabel'. Takes what Accuracy takes."""

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self._count_by(self._rule('precision'))


class Recall(PerClassMetric, EvaluationBase):
    """True positives / actual positives, 0 for none: per class, or per sample for 'multilabel'. Takes what Accuracy takes."""

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self._count_by(self._rule('recall'))
