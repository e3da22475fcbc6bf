"""Recall (defined beside Precision)."""
from sindri.train.metrics.precision import Recall

__all__ = ['Recall']
