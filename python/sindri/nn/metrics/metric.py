"""The base class of metrics under its MindSpore 1 module."""
from sindri.train.metrics.metric import Metric, rearrange_inputs

__all__ = ["Metric", "rearrange_inputs"]
