"""Data pipelines (MindSpore: mindspore.dataset).

    import sindri.dataset as ds
    from sindri.dataset import vision

    data = ds.ImageFolderDataset("train")
    data = data.map([vision.RandomCropDecodeResize(224), vision.RandomHorizontalFlip()], "image").batch(32, drop_remainder=True)

A row's content depends only on the seed, the epoch and the row's position. The number of workers and of shards does not change it.
"""
from sindri import _core
from sindri.dataset.core import config
from sindri.dataset import engine
from sindri.dataset.engine import *
from sindri.dataset import audio, text, transforms, utils, vision

BadSample = _core.dataset.BadSample
EmptyDatasetError = _core.dataset.EmptyDatasetError

_BASES = {"BatchInfo", "BuiltinSampler", "Dataset", "DigitsDataset", "IterSampler", "MappableDataset", "NonMappableDataset", "Sampler", "SourceDataset"}
__all__ = [name for name in engine.__all__ if name not in _BASES]  # as MindSpore: bases and modules are attributes
