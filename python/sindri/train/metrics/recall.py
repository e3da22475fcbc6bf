"""Recall (defined next to Precision)."""
from sindri.train.metrics.precision import Recall

__all__ = ['Recall']
