"""The base of metrics, under its module in MindSpore 1."""
from sindri.train.metrics.metric import Metric, rearrange_inputs

__all__ = ["Metric", "rearrange_inputs"]
