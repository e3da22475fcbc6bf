"""Confusion matrix, and the many rates that derive from one."""
from typing import Any

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric


class ConfusionMatrix(CountedMetric):
    """[num_classes, num_classes] counts, rows are true classes. Prediction [N, C, ...] (arg-max is taken), or like the truth: classes, or
    scores that `threshold` cuts. `normalize`: 'no_norm', 'target' (rows), 'prediction' (columns), 'all'."""

    def __init__(self, num_classes: int, normalize: str = 'no_norm', threshold: float = 0.5):
        super().__init__()
        self.num_classes = validator.check_value_type('num_classes', num_classes, [int], 'ConfusionMatrix')
        self.normalize = validator.check_string(normalize, ['no_norm', 'target', 'prediction', 'all'], 'normalize', 'ConfusionMatrix')
        self.threshold = validator.check_value_type('threshold', threshold, [float], 'ConfusionMatrix')
        self._count_by('confusion_matrix', num_classes=num_classes, normalize=normalize, threshold=threshold)

    @property
    def confusion_matrix(self) -> np.ndarray:
        """The counts so far, as float64."""
        return np.array(self._counter.counts()['confusion_matrix']).reshape(self.num_classes, -1)

    def eval(self) -> np.ndarray:
        """The matrix as float64; rows or columns without samples are 0. RuntimeError before update."""
        self._check_counted()
        return np.array(self._counter.eval()).reshape(self.num_classes, -1)


class ConfusionMatrixMetric(CountedMetric):
    """One rate of the confusion matrix (names and synonyms: sensitivity/recall/tpr, specificity/tnr, precision/ppv, f1_score/f1, mcc, …).
    Prediction and truth are one-hot [N, C, ...]. calculation_method False: counts of all samples are summed first; True: the rate is taken
    per sample and class, reduced by `decrease`. skip_channel False leaves class 0 out (the name is MindSpore's, and so is the sense).
    NotImplementedError for an unknown metric_name."""

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
        """An array [1] of the rate of all counts, or the mean of the rates; RuntimeError without rates."""
        if self.calculation_method:
            return super().eval()
        return np.array(self._counter.eval())
