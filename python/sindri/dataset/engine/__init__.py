"""Data sets, samplers and iterators.

datasets.py has Dataset, its methods and what they share; the nodes the methods make are in _rows.py (one data set's rows changed, chosen, ordered or
joined), _batching.py and _sync.py, the bases of the sources in _sources.py, the sources in the datasets_*.py of their kind. _values.py says what a row may hold,
iterators.py reads a tree of nodes.
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

# MindSpore has every source in this module.
for _module in (datasets_standard_format, datasets_text, datasets_user_defined, datasets_vision):
    for _name in _module.__all__:
        setattr(datasets, _name, getattr(_module, _name))
del _module, _name

__all__ = ["BatchInfo", "Dataset", "DatasetCache", "MappableDataset", "NonMappableDataset", "Schema", "Shuffle", "SourceDataset", "zip",
           *datasets_standard_format.__all__, *datasets_text.__all__, *datasets_user_defined.__all__, *datasets_vision.__all__, *samplers.__all__]
