"""Metrics, their registered names, and their lookup for `Model(metrics=…)`."""
from typing import Any, Dict, List, Optional

from sindri.train.metrics.accuracy import Accuracy
from sindri.train.metrics.auc import auc
from sindri.train.metrics.bleu_score import BleuScore
from sindri.train.metrics.confusion_matrix import ConfusionMatrix, ConfusionMatrixMetric
from sindri.train.metrics.cosine_similarity import CosineSimilarity
from sindri.train.metrics.dice import Dice
from sindri.train.metrics.error import MAE, MSE
from sindri.train.metrics.fbeta import F1, Fbeta
from sindri.train.metrics.loss import Loss
from sindri.train.metrics.metric import EvaluationBase, Metric, rearrange_inputs
from sindri.train.metrics.occlusion_sensitivity import OcclusionSensitivity
from sindri.train.metrics.perplexity import Perplexity
from sindri.train.metrics.precision import Precision, Recall
from sindri.train.metrics.roc import ROC
from sindri.train.metrics.surface import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance
from sindri.train.metrics.topk import Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy

__all__ = ['names', 'get_metric_fn', 'Accuracy', 'MAE', 'MSE', 'Metric', 'rearrange_inputs', 'Precision', 'HausdorffDistance', 'Recall', 'Fbeta',
           'BleuScore', 'CosineSimilarity', 'OcclusionSensitivity', 'F1', 'Dice', 'ROC', 'auc', 'TopKCategoricalAccuracy',
           'Top1CategoricalAccuracy', 'Top5CategoricalAccuracy', 'Loss', 'MeanSurfaceDistance', 'RootMeanSquareDistance', 'Perplexity',
           'ConfusionMatrix', 'ConfusionMatrixMetric']

_REGISTRY: Dict[str, Any] = {
    'accuracy': Accuracy, 'acc': Accuracy, 'precision': Precision, 'recall': Recall, 'F1': F1, 'dice': Dice, 'roc': ROC, 'auc': auc,
    'bleu_score': BleuScore, 'cosine_similarity': CosineSimilarity, 'occlusion_sensitivity': OcclusionSensitivity,
    'topk': TopKCategoricalAccuracy, 'hausdorff_distance': HausdorffDistance, 'top_1_accuracy': Top1CategoricalAccuracy,
    'top_5_accuracy': Top5CategoricalAccuracy, 'mae': MAE, 'mse': MSE, 'loss': Loss, 'mean_surface_distance': MeanSurfaceDistance,
    'root_mean_square_distance': RootMeanSquareDistance, 'perplexity': Perplexity, 'confusion_matrix': ConfusionMatrix,
    'confusion_matrix_metric': ConfusionMatrixMetric,
}


def names() -> List[str]:
    """Returns all registered names, sorted.

    Returns:
        List of str.

    Examples:
        >>> from sindri.train import metrics
        >>> metrics.names()[:3]
        ['F1', 'acc', 'accuracy']
    """
    return sorted(_REGISTRY)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """Returns a new metric by its registered name.

    Args:
        name (str): The name.
        *args: The arguments of the metric; `auc` is a function and is called with them.
        **kwargs: The keyword arguments.

    Returns:
        Metric.

    Raises:
        KeyError: If the name is unknown.

    Examples:
        >>> from sindri import nn
        >>> nn.get_metric_fn('topk', k=3).k
        3
    """
    if name not in _REGISTRY:
        raise KeyError(f"get_metric_fn: no metric is called {name!r} | known are {', '.join(names())}")
    return _REGISTRY[name](*args, **kwargs)


def get_metrics(metrics: Any) -> Optional[Dict[str, Metric]]:
    """Returns metrics by name.

    Args:
        metrics (dict, set, list, tuple): A dict of name to Metric, or registered names; or None.

    Returns:
        Dict of name to Metric; None for None.

    Raises:
        TypeError: If `metrics` has another type.
        KeyError: If a name is unknown.

    Examples:
        >>> from sindri import nn
        >>> list(nn.get_metrics({'mse', 'mae'}))
        ['mae', 'mse']
    """
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"'metrics' must map str to Metric, got {name!r}: {type(metric).__name__}")
        return metrics
    if isinstance(metrics, (set, list, tuple)):
        # A set has no order; sorted, results print the same in every run.
        return {name: get_metric_fn(name) for name in (sorted(metrics) if isinstance(metrics, set) else metrics)}
    raise TypeError(f"'metrics' must be None, a dict, or a set or list of names, got {type(metrics).__name__}")
