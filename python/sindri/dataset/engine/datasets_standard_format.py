"""Sources for record files: TFRecord and MindRecord. Not available yet."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet
from sindri.dataset.engine.datasets import SourceDataset

__all__ = ["MindDataset", "TFRecordDataset"]


class TFRecordDataset(SourceDataset):
    """Reads rows of TFRecord files; not available yet.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        not_yet("dataset.TFRecordDataset", "record files")


class MindDataset(SourceDataset):
    """Reads rows of MindRecord files; not available yet.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        not_yet("dataset.MindDataset", "record files")
