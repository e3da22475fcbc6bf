"""Data pipelines (MindSpore: mindspore.dataset).

Written by scripts/python_stubs.py; do not edit."""

from sindri._core.dataset import BadSample as BadSample, EmptyDatasetError as EmptyDatasetError

from sindri import _core as _core
from sindri.dataset.core import config as config
from sindri.dataset import engine as engine
from sindri.dataset.engine import *
from sindri.dataset import audio as audio, text as text, transforms as transforms, utils as utils, vision as vision

__all__ = [
    "DatasetCache", "Schema", "Shuffle", "zip", "MindDataset", "TFRecordDataset", "CLUEDataset", "CSVDataset", "TextFileDataset", "GeneratorDataset",
    "NumpySlicesDataset", "PaddedDataset", "Cifar100Dataset", "Cifar10Dataset", "FashionMnistDataset", "ImageFolderDataset", "MnistDataset",
    "DistributedSampler", "PKSampler", "RandomSampler", "SequentialSampler", "SubsetRandomSampler", "SubsetSampler", "WeightedRandomSampler",
]
