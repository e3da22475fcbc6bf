"""Metrics under their MindSpore 1 name.

Written by scripts/python_stubs.py; do not edit."""

from sindri.train.metrics.auc import auc as auc

from sindri.train.metrics import (
    names as names, get_metric_fn as get_metric_fn, Accuracy as Accuracy, MAE as MAE, MSE as MSE, Metric as Metric,
    rearrange_inputs as rearrange_inputs, Precision as Precision, HausdorffDistance as HausdorffDistance, Recall as Recall, Fbeta as Fbeta,
    BleuScore as BleuScore, CosineSimilarity as CosineSimilarity, OcclusionSensitivity as OcclusionSensitivity, F1 as F1, Dice as Dice, ROC as ROC,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy, Top1CategoricalAccuracy as Top1CategoricalAccuracy,
    Top5CategoricalAccuracy as Top5CategoricalAccuracy, Loss as Loss, MeanSurfaceDistance as MeanSurfaceDistance,
    RootMeanSquareDistance as RootMeanSquareDistance, Perplexity as Perplexity, ConfusionMatrix as ConfusionMatrix,
    ConfusionMatrixMetric as ConfusionMatrixMetric,
)
from sindri.train.metrics import __all__ as __all__

__all__ = [
    "names", "get_metric_fn", "Accuracy", "MAE", "MSE", "Metric", "rearrange_inputs", "Precision", "HausdorffDistance", "Recall", "Fbeta",
    "BleuScore", "CosineSimilarity", "OcclusionSensitivity", "F1", "Dice", "ROC", "auc", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "Loss", "MeanSurfaceDistance", "RootMeanSquareDistance", "Perplexity", "ConfusionMatrix", "ConfusionMatrixMetric",
]
