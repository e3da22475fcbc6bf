"""Precision and recall per class."""
import sys
from typing import Any, Union

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import EvaluationBase, one_hot_pair, rearrange_inputs

# Keeps a class without a single prediction at 0 instead of 0/0.
_TINY = sys.float_info.min


class _HitRate(EvaluationBase):
    """True positives / (predicted or actual) positives: per class, or per sample for 'multilabel'."""

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._class_num = 0
        self._true_positives = np.empty(0)
        self._positives = np.empty(0)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth), as Accuracy does."""
        y_pred, y = self._checked(inputs)
        if self._type == 'classification':
            predicted, actual = one_hot_pair(self, y_pred, y)
        else:
            if self._class_num not in (0, y_pred.shape[1]):
                raise ValueError(f"{type(self).__name__}.update: prediction has {y_pred.shape[1]} classes, earlier batches had {self._class_num}")
            self._class_num = y_pred.shape[1]
            predicted, actual = (a.swapaxes(1, 0).reshape(self._class_num, -1) for a in (y_pred, y))
        hits = (predicted * actual).sum(axis=0)
        positives = self._base(predicted, actual).sum(axis=0)
        if self._type == 'multilabel':
            self._true_positives = np.concatenate((self._true_positives, hits))
            self._positives = np.concatenate((self._positives, positives))
        elif self._positives.size == 0:
            self._true_positives, self._positives = hits, positives
        else:
            self._true_positives = self._true_positives + hits
            self._positives = self._positives + positives

    def _base(self, predicted: np.ndarray, actual: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def eval(self, average: bool = False) -> Union[np.ndarray, float]:
        """An array per class (per sample for 'multilabel'), or its mean when `average`; RuntimeError without samples."""
        if self._class_num == 0:
            raise self._no_samples()
        validator.check_value_type('average', average, [bool], type(self).__name__)
        result = self._true_positives / (self._positives + _TINY)
        return float(result.mean()) if average else result


class Precision(_HitRate):
    """True positives / predicted positives."""

    def _base(self, predicted: np.ndarray, actual: np.ndarray) -> np.ndarray:
        return predicted


class Recall(_HitRate):
    """True positives / actual positives."""

    def _base(self, predicted: np.ndarray, actual: np.ndarray) -> np.ndarray:
        return actual
