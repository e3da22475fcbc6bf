"""Datasets, samplers and iterators.

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.core import config as config
from sindri.dataset.engine import (
    cache as cache, datasets as datasets, datasets_standard_format as datasets_standard_format, datasets_text as datasets_text,
    datasets_user_defined as datasets_user_defined, datasets_vision as datasets_vision, iterators as iterators, samplers as samplers,
)
from sindri.dataset.engine.cache import DatasetCache as DatasetCache
from sindri.dataset.engine.datasets import (
    BatchInfo as BatchInfo, Dataset as Dataset, MappableDataset as MappableDataset, NonMappableDataset as NonMappableDataset, Schema as Schema,
    Shuffle as Shuffle, SourceDataset as SourceDataset, zip as zip,
)
from sindri.dataset.engine.datasets_standard_format import *
from sindri.dataset.engine.datasets_text import *
from sindri.dataset.engine.datasets_user_defined import *
from sindri.dataset.engine.datasets_vision import *
from sindri.dataset.engine.samplers import *

__all__ = [
    "BatchInfo", "Dataset", "DatasetCache", "MappableDataset", "NonMappableDataset", "Schema", "Shuffle", "SourceDataset", "zip", "MindDataset",
    "TFRecordDataset", "CLUEDataset", "CSVDataset", "TextFileDataset", "GeneratorDataset", "NumpySlicesDataset", "PaddedDataset", "Cifar100Dataset",
    "Cifar10Dataset", "DigitsDataset", "FashionMnistDataset", "ImageFolderDataset", "MnistDataset", "BuiltinSampler", "DistributedSampler",
    "IterSampler", "PKSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "SubsetSampler", "WeightedRandomSampler",
]
