"""Data pipelines (MindSpore: mindspore.dataset).

Written by scripts/python_stubs.py; do not edit."""

from sindri._core.dataset import BadSample as BadSample, EmptyDatasetError as EmptyDatasetError

from sindri import _core as _core
from sindri.dataset.core import config as config
from sindri.dataset import engine as engine
from sindri.dataset.engine import *
from sindri.dataset import text as text, transforms as transforms, vision as vision

__all__ = [
    "BadSample", "EmptyDatasetError", "config", "engine", "text", "transforms", "vision", "BatchInfo", "Dataset", "DatasetCache", "MappableDataset",
    "NonMappableDataset", "Schema", "Shuffle", "SourceDataset", "zip", "MindDataset", "TFRecordDataset", "CLUEDataset", "CSVDataset",
    "TextFileDataset", "GeneratorDataset", "NumpySlicesDataset", "PaddedDataset", "Cifar100Dataset", "Cifar10Dataset", "DigitsDataset",
    "FashionMnistDataset", "ImageFolderDataset", "MnistDataset", "BuiltinSampler", "DistributedSampler", "IterSampler", "PKSampler", "RandomSampler",
    "Sampler", "SequentialSampler", "SubsetRandomSampler", "SubsetSampler", "WeightedRandomSampler",
]
