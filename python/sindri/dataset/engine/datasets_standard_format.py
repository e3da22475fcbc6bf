"""Sources for record files: TFRecord and MindRecord. Not available yet."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet
from sindri.dataset.engine.datasets import SourceDataset

__all__ = ["MindDataset", "TFRecordDataset"]


class TFRecordDataset(SourceDataset):
    """Rows of TFRecord files. Not available yet."""

    def __init__(self, *args: Any, **kwargs: Any):
        not_yet("dataset.TFRecordDataset", "record files")


class MindDataset(SourceDataset):
    """Rows of MindRecord files. Not available yet."""

    def __init__(self, *args: Any, **kwargs: Any):
        not_yet("dataset.MindDataset", "record files")
