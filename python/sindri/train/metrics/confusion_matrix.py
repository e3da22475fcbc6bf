"""Confusion matrix, and the rates derived from it."""
from typing import Any

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric


class ConfusionMatrix(CountedMetric):
    """Counts of predictions per true class, [num_classes, num_classes]; rows are true classes.

    Inputs: prediction [N, C, ...] (the arg-max is used), or of the truth's shape: classes, or scores that `threshold` cuts.

    Args:
        num_classes (int): The number of classes.
        normalize (str): 'no_norm', 'target' (by rows), 'prediction' (by columns) or 'all'. Default: 'no_norm'.
        threshold (float): The threshold of scores. Default: 0.5.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `normalize` is another value.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> print(nn.ConfusionMatrix(2)(np.array([1, 0]), np.array([1, 1])))
        [[0. 0.]
         [1. 1.]]
    """

    def __init__(self, num_classes: int, normalize: str = 'no_norm', threshold: float = 0.5):
        super().__init__()
        self.num_classes = validator.check_value_type('num_classes', num_classes, [int], 'ConfusionMatrix')
        self.normalize = validator.check_string(normalize, ['no_norm', 'target', 'prediction', 'all'], 'normalize', 'ConfusionMatrix')
        self.threshold = validator.check_value_type('threshold', threshold, [float], 'ConfusionMatrix')
        self._count_by('confusion_matrix', num_classes=num_classes, normalize=normalize, threshold=threshold)

    @property
    def confusion_matrix(self) -> np.ndarray:
        """numpy.ndarray: The counts so far, as float64."""
        return np.array(self._counter.counts()['confusion_matrix']).reshape(self.num_classes, -1)

    def eval(self) -> np.ndarray:
        """Returns the matrix as float64; rows or columns without samples are 0.

        Returns:
            numpy.ndarray.

        Raises:
            RuntimeError: Before `update`.
        """
        self._check_counted()
        return np.array(self._counter.eval()).reshape(self.num_classes, -1)


class ConfusionMatrixMetric(CountedMetric):
    """One rate of the confusion matrix of one-hot predictions and truth [N, C, ...].

    Args:
        skip_channel (bool): False omits class 0 (name and meaning are MindSpore's). Default: True.
        metric_name (str): A name or synonym: sensitivity/recall/tpr, specificity/tnr, precision/ppv, f1_score/f1, mcc, … Default: 'sensitivity'.
        calculation_method (bool): False sums the counts of all samples first; True computes the rate per sample and class and reduces it by
            `decrease`. Default: False.
        decrease (str): 'none', 'mean', 'sum', 'mean_batch', 'sum_batch', 'mean_channel' or 'sum_channel'. Default: 'mean'.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `decrease` is another value.
        NotImplementedError: If `metric_name` is unknown.

    Examples:
        >>> import numpy as np
        >>> from sindri.train.metrics import ConfusionMatrixMetric
        >>> ConfusionMatrixMetric()(np.array([[0, 1], [1, 0]]), np.array([[0, 1], [0, 1]]))
        array([0.5])
    """

    def __init__(self, skip_channel: bool = True, metric_name: str = 'sensitivity', calculation_method: bool = False, decrease: str = 'mean'):
        super().__init__()
        place = 'ConfusionMatrixMetric'
        self.skip_channel = validator.check_value_type('skip_channel', skip_channel, [bool], place)
        self.metric_name = validator.check_value_type('metric_name', metric_name, [str], place)
        self.calculation_method = validator.check_value_type('calculation_method', calculation_method, [bool], place)
        choices = ['none', 'mean', 'sum', 'mean_batch', 'sum_batch', 'mean_channel', 'sum_channel']
        self.decrease = validator.check_string(decrease, choices, 'decrease', place)
        rate = metric_name.replace(' ', '_').lower()
        try:
            self._count_by('confusion_matrix_metric', skip_channel=skip_channel, metric_name=rate, calculation_method=calculation_method, decrease=decrease)
        except ValueError as error:
            raise NotImplementedError(f"ConfusionMatrixMetric: {error}") from None

    def eval(self) -> Any:
        """Returns an array [1] with the rate of all counts, or the mean of the rates.

        Returns:
            numpy.ndarray or float.

        Raises:
            RuntimeError: If there are no rates.
        """
        if self.calculation_method:
            return super().eval()
        return np.array(self._counter.eval())
