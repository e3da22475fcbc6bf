"""The iterator over a dataset that Model's loops use, under the name in MindSpore's sample. It is the library's: THOR needs no separate one."""
from sindri.train.train_thor.dataset_helper import DatasetHelper, connect_network_with_dataset

__all__ = ["DatasetHelper", "connect_network_with_dataset"]
