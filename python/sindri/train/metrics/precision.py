"""Precision and recall per class."""
from sindri.train.metrics.metric import EvaluationBase, PerClassMetric


class Precision(PerClassMetric, EvaluationBase):
    """True positives divided by predicted positives, 0 if there are none: per class, or per sample for 'multilabel'. The inputs are those of Accuracy.

    Args:
        eval_type (str): 'classification' or 'multilabel'. Default: 'classification'.

    Raises:
        TypeError: If `eval_type` is another value.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.Precision()(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]))
        array([0., 1.])
    """

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self._count_by(self._rule('precision'))


class Recall(PerClassMetric, EvaluationBase):
    """True positives divided by actual positives, 0 if there are none: per class, or per sample for 'multilabel'. The inputs are those of Accuracy.

    Args:
        eval_type (str): 'classification' or 'multilabel'. Default: 'classification'.

    Raises:
        TypeError: If `eval_type` is another value.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> nn.Recall()(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]))
        array([0. , 0.5])
    """

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self._count_by(self._rule('recall'))
