"""Metrics, their registered names, and their lookup for `Model(metrics=…)`.

Written by scripts/python_stubs.py; do not edit."""

from typing import Any
from sindri.train.metrics.metric import Metric

from sindri.train.metrics.accuracy import Accuracy as Accuracy
from sindri.train.metrics.auc import auc as auc
from sindri.train.metrics.bleu_score import BleuScore as BleuScore
from sindri.train.metrics.confusion_matrix import ConfusionMatrix as ConfusionMatrix, ConfusionMatrixMetric as ConfusionMatrixMetric
from sindri.train.metrics.cosine_similarity import CosineSimilarity as CosineSimilarity
from sindri.train.metrics.dice import Dice as Dice
from sindri.train.metrics.error import MAE as MAE, MSE as MSE
from sindri.train.metrics.fbeta import F1 as F1, Fbeta as Fbeta
from sindri.train.metrics.loss import Loss as Loss
from sindri.train.metrics.metric import EvaluationBase as EvaluationBase, Metric as Metric, rearrange_inputs as rearrange_inputs
from sindri.train.metrics.occlusion_sensitivity import OcclusionSensitivity as OcclusionSensitivity
from sindri.train.metrics.perplexity import Perplexity as Perplexity
from sindri.train.metrics.precision import Precision as Precision, Recall as Recall
from sindri.train.metrics.roc import ROC as ROC
from sindri.train.metrics.surface import (
    HausdorffDistance as HausdorffDistance, MeanSurfaceDistance as MeanSurfaceDistance, RootMeanSquareDistance as RootMeanSquareDistance,
)
from sindri.train.metrics.topk import (
    Top1CategoricalAccuracy as Top1CategoricalAccuracy, Top5CategoricalAccuracy as Top5CategoricalAccuracy,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy,
)

__all__ = [
    "names", "get_metric_fn", "Accuracy", "MAE", "MSE", "Metric", "rearrange_inputs", "Precision", "HausdorffDistance", "Recall", "Fbeta",
    "BleuScore", "CosineSimilarity", "OcclusionSensitivity", "F1", "Dice", "ROC", "auc", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "Loss", "MeanSurfaceDistance", "RootMeanSquareDistance", "Perplexity", "ConfusionMatrix", "ConfusionMatrixMetric",
]

def names() -> list[str]: ...
def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any: ...
def get_metrics(metrics: Any) -> dict[str, Metric] | None: ...
