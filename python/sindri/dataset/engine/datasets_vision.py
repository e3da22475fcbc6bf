"""Sources of images: folders of files, CIFAR, MNIST (MindSpore: mindspore.dataset.ImageFolderDataset and its like). All run in C++."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from sindri import _core
from sindri._check import ArgumentError, check_bool, fail, is_int, named
from sindri.dataset.engine.datasets import MappableDataset

__all__ = ["Cifar100Dataset", "Cifar10Dataset", "DigitsDataset", "FashionMnistDataset", "ImageFolderDataset", "MnistDataset"]


def _path(who: str, name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        fail(TypeError, f"{name} must be a str, got {value!r} of type {type(value).__name__}", who)
    return os.fspath(value)


def _folder(who: str, value: Any) -> str:
    """The path of a folder that is there, as MindSpore asks for when the dataset is made."""
    path = _path(who, "dataset_dir", value)
    if not os.path.isdir(path):
        fail(ArgumentError, f"dataset_dir must be a folder, and '{path}' is {'a file' if os.path.exists(path) else 'not there'}", who, "check the path")
    return path


class ImageFolderDataset(MappableDataset):
    """Images in folders, one per class: column image, the bytes of the file (uint8 [n]) or with decode the pixels (uint8 [H, W, 3]), and label
    (int32).

    Classes are the folder names in order, or those of class_indexing (name to label). extensions: suffixes with dot; without, every file of a class
    folder but dot files. Links to files and folders are followed. Raises TypeError, ValueError or ArgumentError (also for a folder that is not there); at the first use IoError (an OSError) or DataError (a RuntimeError) that names the folder.
    """

    @named
    def __init__(self, dataset_dir: str, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, extensions: Optional[List[str]] = None,
                 class_indexing: Optional[Dict[str, int]] = None, decode: bool = False, num_shards: Optional[int] = None,
                 shard_id: Optional[int] = None, cache: Any = None, decrypt: Any = None):
        who = "ImageFolderDataset"
        self.dataset_dir = _folder(who, dataset_dir)
        if isinstance(extensions, str) or not all(isinstance(e, str) for e in extensions or []):
            fail(TypeError, f"extensions must be a list of str, got {extensions!r}", who)
        self.extensions = list(extensions or [])
        if class_indexing is not None and not isinstance(class_indexing, dict):
            fail(TypeError, f"class_indexing must be a dict, got {class_indexing!r}", who)
        for name, label in (class_indexing or {}).items():
            if not isinstance(name, str) or not is_int(label):
                fail(TypeError, f"class_indexing must map str to int, got {name!r}: {label!r}", who)
        self.class_indexing = dict(class_indexing or {})
        self.decode = check_bool(who, "decode", decode)
        if decrypt is not None:
            fail(NotImplementedError, "encrypted files are not supported", who, "leave decrypt out")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)

    def _source(self, options: Any) -> Any:
        return _core.dataset.image_folder(self.dataset_dir, self.extensions, self.class_indexing, self.decode, options)


class _UsageDataset(MappableDataset):
    """A source of files in one folder of which `usage` chooses some."""

    _make: Any = None
    _checked: Any = staticmethod(_folder)

    def __init__(self, dataset_dir: str, usage: Optional[str], num_samples: Optional[int], num_parallel_workers: Optional[int],
                 shuffle: Optional[bool], sampler: Any, num_shards: Optional[int], shard_id: Optional[int], cache: Any):
        who = type(self).__name__
        self.dataset_dir = self._checked(who, dataset_dir)
        if usage not in (None, "train", "test", "all"):
            fail(ValueError, f"usage must be 'train', 'test' or 'all', got {usage!r}", who)
        self.usage = usage or "all"
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)

    def _source(self, options: Any) -> Any:
        return type(self)._make(self.dataset_dir, self.usage, options)


class Cifar10Dataset(_UsageDataset):
    """The CIFAR-10 binary files: image uint8 [32, 32, 3] and label int32 (MindSpore: uint32). usage: 'train', 'test', 'all' (also None).

    Files may hold any number of rows. Raises TypeError, ValueError or ArgumentError (also for a folder that is not there); at the first use IoError (an OSError) or DataError (a
    RuntimeError).
    """

    _make: Any = staticmethod(_core.dataset.cifar10)

    @named
    def __init__(self, dataset_dir: str, usage: Optional[str] = None, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None,
                 cache: Any = None):
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class Cifar100Dataset(_UsageDataset):
    """The CIFAR-100 binary files: image uint8 [32, 32, 3], coarse_label and fine_label int32 (MindSpore: uint32). Otherwise as Cifar10Dataset."""

    _make: Any = staticmethod(_core.dataset.cifar100)

    @named
    def __init__(self, dataset_dir: str, usage: Optional[str] = None, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None,
                 cache: Any = None):
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class MnistDataset(_UsageDataset):
    """The MNIST idx files: image uint8 [28, 28, 1] and label int32 (MindSpore: uint32). usage: 'train', 'test', 'all' (also None).

    Raises as Cifar10Dataset.
    """

    _make: Any = staticmethod(_core.dataset.mnist)

    @named
    def __init__(self, dataset_dir: str, usage: Optional[str] = None, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None,
                 cache: Any = None):
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST, whose files and columns are those of MNIST."""

    _make: Any = staticmethod(_core.dataset.fashion_mnist)


def _packed_digits() -> str:
    """The digits in the installed package, or in the tree it runs from; empty when neither is there: the source's own error then says what it
    looked for.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for path in (os.path.join(package, "share", "sindri", "digits"), os.path.join(package, "..", "..", "dataset", "digits")):
        file = os.path.join(path, "digits.csv.gz")
        if os.path.exists(file):
            return file
    return ""


class DigitsDataset(_UsageDataset):
    """The 1,797 handwritten digits that come with Sindri: image uint8 [8, 8, 1] with values 0 to 16 and label int32; every fifth is of the test set.

    Of Sindri's own. dataset_file: the CSV file, packed or not, or its folder; empty: the one that comes with the package. Raises as Cifar10Dataset.
    """

    _make: Any = staticmethod(_core.dataset.digits)
    _checked: Any = staticmethod(lambda who, path: _path(who, "dataset_file", path))  # a file, or its folder

    @named
    def __init__(self, dataset_file: str = "", usage: Optional[str] = None, num_samples: Optional[int] = None,
                 num_parallel_workers: Optional[int] = None, shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None,
                 shard_id: Optional[int] = None, cache: Any = None):
        super().__init__(dataset_file or _packed_digits(), usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
