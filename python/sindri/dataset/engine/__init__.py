"""Datasets, samplers and iterators.

datasets.py defines Dataset, its methods and shared parts. The nodes that the methods create are in _rows.py (change, choose, order or join rows),
_batching.py and _sync.py. The base classes of sources are in _sources.py, the sources in a datasets_*.py for each kind. _values.py defines what a row may
hold, and iterators.py reads a tree of nodes.
"""
from sindri.dataset.core import config
from sindri.dataset.engine import (cache, datasets, datasets_standard_format, datasets_text, datasets_user_defined, datasets_vision, iterators,
                                   samplers)
from sindri.dataset.engine.cache import DatasetCache
from sindri.dataset.engine.datasets import BatchInfo, Dataset, MappableDataset, NonMappableDataset, Schema, Shuffle, SourceDataset, zip
from sindri.dataset.engine.datasets_standard_format import *
from sindri.dataset.engine.datasets_text import *
from sindri.dataset.engine.datasets_user_defined import *
from sindri.dataset.engine.datasets_vision import *
from sindri.dataset.engine.samplers import *

# In MindSpore this module contains every source.
for _module in (datasets_standard_format, datasets_text, datasets_user_defined, datasets_vision):
    for _name in _module.__all__:
        setattr(datasets, _name, getattr(_module, _name))
del _module, _name

__all__ = ["BatchInfo", "Dataset", "DatasetCache", "MappableDataset", "NonMappableDataset", "Schema", "Shuffle", "SourceDataset", "zip",
           *datasets_standard_format.__all__, *datasets_text.__all__, *datasets_user_defined.__all__, *datasets_vision.__all__, *samplers.__all__]
