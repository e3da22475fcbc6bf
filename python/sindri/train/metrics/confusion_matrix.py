"""Confusion matrix, and the many rates that derive from one."""
from typing import Any, Callable, Dict, Tuple

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric, Metric, rearrange_inputs


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


def _ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """numerator / denominator, NaN where the denominator is 0."""
    numerator, denominator = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.divide(numerator, denominator, out=out, where=np.broadcast_to(denominator, out.shape) != 0)


def _prevalence_threshold(tp: Any, fp: Any, tn: Any, fn: Any) -> np.ndarray:
    tpr, tnr = _ratio(tp, tp + fn), _ratio(tn, tn + fp)
    return _ratio(np.sqrt(tpr * (1 - tnr)) + tnr - 1, tpr + tnr - 1)


# Rate of (true positives, false positives, true negatives, false negatives).
_RATES: Dict[str, Callable] = {
    'tpr': lambda tp, fp, tn, fn: _ratio(tp, tp + fn),
    'tnr': lambda tp, fp, tn, fn: _ratio(tn, fp + tn),
    'ppv': lambda tp, fp, tn, fn: _ratio(tp, tp + fp),
    'npv': lambda tp, fp, tn, fn: _ratio(tn, tn + fn),
    'fnr': lambda tp, fp, tn, fn: _ratio(fn, tp + fn),
    'fpr': lambda tp, fp, tn, fn: _ratio(fp, fp + tn),
    'fdr': lambda tp, fp, tn, fn: _ratio(fp, fp + tp),
    'for': lambda tp, fp, tn, fn: _ratio(fn, fn + tn),
    'pt': _prevalence_threshold,
    'ts': lambda tp, fp, tn, fn: _ratio(tp, tp + fn + fp),
    'acc': lambda tp, fp, tn, fn: _ratio(tp + tn, tp + fn + fp + tn),
    'ba': lambda tp, fp, tn, fn: (_ratio(tp, tp + fn) + _ratio(tn, fp + tn)) / 2,
    'f1': lambda tp, fp, tn, fn: _ratio(2 * tp, 2 * tp + fn + fp),
    'mcc': lambda tp, fp, tn, fn: _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
    'fm': lambda tp, fp, tn, fn: np.sqrt(_ratio(tp, tp + fp) * _ratio(tp, tp + fn)),
    'bm': lambda tp, fp, tn, fn: _ratio(tp, tp + fn) + _ratio(tn, fp + tn) - 1,
    'mk': lambda tp, fp, tn, fn: _ratio(tp, tp + fp) + _ratio(tn, tn + fn) - 1,
}
_SYNONYMS = {
    'tpr': 'sensitivity recall hit_rate true_positive_rate', 'tnr': 'specificity selectivity true_negative_rate',
    'ppv': 'precision positive_predictive_value', 'npv': 'negative_predictive_value', 'fnr': 'miss_rate false_negative_rate',
    'fpr': 'fall_out false_positive_rate', 'fdr': 'false_discovery_rate', 'for': 'false_omission_rate', 'pt': 'prevalence_threshold',
    'ts': 'threat_score critical_success_index csi', 'acc': 'accuracy', 'ba': 'balanced_accuracy', 'f1': 'f1_score',
    'mcc': 'matthews_correlation_coefficient', 'fm': 'fowlkes_mallows_index', 'bm': 'informedness bookmaker_informedness', 'mk': 'markedness deltap',
}
_SHORT = {word: short for short, words in _SYNONYMS.items() for word in [short, *words.split()]}


def _short_name(metric_name: str) -> str:
    name = metric_name.replace(' ', '_').lower()
    if name not in _SHORT:
        raise NotImplementedError(f"ConfusionMatrixMetric: unknown 'metric_name' {metric_name!r} | known are {', '.join(sorted(_SHORT))}")
    return _SHORT[name]


def _reduce(values: np.ndarray, how: str) -> Tuple[np.ndarray, np.ndarray]:
    """Reduces [B, C] leaving NaN out; returns the result and how many entries were no NaN (of the last averaged axis for 'mean')."""
    good = (~np.isnan(values)).astype(float)
    values = np.nan_to_num(values, nan=0.0)

    def mean(x: np.ndarray, count: np.ndarray) -> np.ndarray:
        return np.divide(x, count, out=np.zeros_like(x), where=count > 0)

    if how == 'mean':
        per_sample = mean(values.sum(axis=1), good.sum(axis=1))
        samples = (good.sum(axis=1) > 0).astype(float).sum(axis=0)
        return mean(per_sample.sum(axis=0), samples), samples
    if how == 'none':
        return values, good
    axis: Any = {'sum': (0, 1), 'mean_batch': 0, 'sum_batch': 0, 'mean_channel': 1, 'sum_channel': 1}[how]
    total, count = values.sum(axis=axis), good.sum(axis=axis)
    return (mean(total, count) if how.startswith('mean') else total), count


class ConfusionMatrixMetric(Metric):
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
        self.clear()

    def clear(self) -> None:
        self._counts = np.zeros(4)
        self._rate_sum = 0.0
        self._rate_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth), both one-hot, of equal shapes."""
        y_pred, y = self._pair(inputs)
        if not (y.astype(np.uint8) == y).all():
            raise ValueError('ConfusionMatrixMetric.update: truth must hold 0 and 1')
        if y_pred.ndim < 2:
            raise ValueError(f'ConfusionMatrixMetric.update: prediction needs at least 2 dimensions, got {y_pred.ndim}')
        if y_pred.shape != y.shape:
            raise ValueError(f'ConfusionMatrixMetric.update: prediction and truth must have equal shapes, got {y_pred.shape} and {y.shape}')
        if not self.skip_channel and y.shape[1] > 1:
            y_pred, y = y_pred[:, 1:], y[:, 1:]
        p, t = (a.astype(float).reshape(a.shape[0], a.shape[1], -1) for a in (y_pred, y))
        tp, tn = (p + t == 2).sum(axis=2), (p + t == 0).sum(axis=2)
        positive = t.sum(axis=2)
        counts = np.stack([tp, t.shape[-1] - positive - tn, tn, positive - tp], axis=-1).astype(float)  # [B, C, 4]: tp, fp, tn, fn
        if not self.calculation_method:
            self._counts += counts.sum(axis=(0, 1))
            return
        if y_pred.ndim == 2 or y_pred.ndim == 3 and y_pred.shape[-1] == 1:
            raise ValueError('ConfusionMatrixMetric.update: one element per sample gives no rate per sample | set calculation_method=False')
        rate, number = _reduce(_RATES[_short_name(self.metric_name)](*np.moveaxis(counts, -1, 0)), self.decrease)
        if rate.size != 1:
            raise ValueError(f"ConfusionMatrixMetric.update: decrease={self.decrease!r} leaves {rate.shape} values | use 'mean' or 'sum'")
        self._rate_sum += rate.item() * int(number.item())
        self._rate_num += int(number.item())

    def eval(self) -> Any:
        """An array [1] of the rate of all counts, or the mean of the rates; RuntimeError without rates."""
        if self.calculation_method:
            if self._rate_num == 0:
                raise self._no_samples()
            return self._rate_sum / self._rate_num
        return np.atleast_1d(_RATES[_short_name(self.metric_name)](*self._counts))
