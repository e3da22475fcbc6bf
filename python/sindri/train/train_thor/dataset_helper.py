"""DatasetHelper, under its module in THOR's part of MindSpore 1."""
from sindri.train.dataset_helper import DatasetHelper, connect_network_with_dataset

__all__ = ["DatasetHelper", "connect_network_with_dataset"]
