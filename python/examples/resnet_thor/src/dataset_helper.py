"""The iterator over a dataset that Model's loops use, under the name of MindSpore's sample. The library has it: THOR needs no separate one."""
from sindri.train.train_thor.dataset_helper import DatasetHelper, connect_network_with_dataset

__all__ = ["DatasetHelper", "connect_network_with_dataset"]
