"""Image sources: folders of files, CIFAR, MNIST (MindSpore: mindspore.dataset.ImageFolderDataset and similar). All run in C++."""
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
    """Returns the path of an existing folder. As in MindSpore, it must exist when the dataset is created."""
    path = _path(who, "dataset_dir", value)
    if not os.path.isdir(path):
        fail(ArgumentError, f"dataset_dir must be a folder, and '{path}' is {'a file' if os.path.exists(path) else 'missing'}", who, "check the path")
    return path


class ImageFolderDataset(MappableDataset):
    """Images in folders, one folder per class: columns image and label (int32).

    Classes are the folder names in order, or those of `class_indexing`. Links to files and folders are followed.

    Args:
        dataset_dir (str): The folder that contains the class folders.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        extensions (list[str], optional): File suffixes with dot. Default: None, every file of a class folder except dot files.
        class_indexing (dict, optional): Labels by folder name. Default: None.
        decode (bool): Whether image holds the decoded pixels (uint8 [H, W, 3]) instead of the file's bytes (uint8 [n]). Default: False.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.
        decrypt: Not supported. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if the folder does not exist or arguments contradict each other.
        NotImplementedError: If `decrypt` is given.
        IoError: An OSError at first use, which names the folder that cannot be read.
        DataError: A RuntimeError at first use, which names the folder whose contents are invalid.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.ImageFolderDataset("imagenet/train", decode=True)  # doctest: +SKIP
        >>> data.get_class_indexing()  # doctest: +SKIP
        {'cat': 0, 'dog': 1}
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
            fail(NotImplementedError, "encrypted files are not supported", who, "omit decrypt")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)

    def _source(self, options: Any) -> Any:
        return _core.dataset.image_folder(self.dataset_dir, self.extensions, self.class_indexing, self.decode, options)


class _UsageDataset(MappableDataset):
    """A source of files in one folder, of which `usage` selects some."""

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
    """The CIFAR-10 binary files: columns image (uint8 [32, 32, 3]) and label (int32; MindSpore: uint32). Files may hold any number of rows.

    Args:
        dataset_dir (str): The folder with the files.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, all.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if the folder does not exist or arguments contradict each other.
        IoError: An OSError at first use, if a file cannot be read.
        DataError: A RuntimeError at first use, if a file is invalid.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.Cifar10Dataset("cifar-10-batches-bin", usage="train")  # doctest: +SKIP
        >>> data.get_dataset_size()  # doctest: +SKIP
        50000
    """

    _make: Any = staticmethod(_core.dataset.cifar10)

    @named
    def __init__(self, dataset_dir: str, usage: Optional[str] = None, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None,
                 cache: Any = None):
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class Cifar100Dataset(_UsageDataset):
    """The CIFAR-100 binary files: columns image (uint8 [32, 32, 3]), coarse_label and fine_label (int32; MindSpore: uint32).

    Args:
        dataset_dir (str): The folder with the files.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, all.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if the folder does not exist or arguments contradict each other.
        IoError: An OSError at first use, if a file cannot be read.
        DataError: A RuntimeError at first use, if a file is invalid.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.Cifar100Dataset("cifar-100-binary", usage="train")  # doctest: +SKIP
        >>> data.get_dataset_size()  # doctest: +SKIP
        50000
    """

    _make: Any = staticmethod(_core.dataset.cifar100)

    @named
    def __init__(self, dataset_dir: str, usage: Optional[str] = None, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None,
                 cache: Any = None):
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class MnistDataset(_UsageDataset):
    """The MNIST idx files: columns image (uint8 [28, 28, 1]) and label (int32; MindSpore: uint32).

    Args:
        dataset_dir (str): The folder with the files.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, all.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if the folder does not exist or arguments contradict each other.
        IoError: An OSError at first use, if a file cannot be read.
        DataError: A RuntimeError at first use, if a file is invalid.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.MnistDataset("mnist", usage="train")  # doctest: +SKIP
        >>> data.get_dataset_size()  # doctest: +SKIP
        60000
    """

    _make: Any = staticmethod(_core.dataset.mnist)

    @named
    def __init__(self, dataset_dir: str, usage: Optional[str] = None, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None,
                 cache: Any = None):
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class FashionMnistDataset(MnistDataset):
    """Reads Fashion-MNIST, which has the files and columns of MNIST.

    Args:
        dataset_dir (str): The folder with the files.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, all.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if the folder does not exist or arguments contradict each other.
        IoError: An OSError at first use, if a file cannot be read.
        DataError: A RuntimeError at first use, if a file is invalid.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.FashionMnistDataset("fashion-mnist", usage="train")  # doctest: +SKIP
        >>> data.get_dataset_size()  # doctest: +SKIP
        60000
    """

    _make: Any = staticmethod(_core.dataset.fashion_mnist)


def _packed_digits() -> str:
    """Returns the path of the digits in the installed package or in the source tree; empty if neither exists, in which case the source's error lists
    the paths it tried.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for path in (os.path.join(package, "share", "sindri", "digits"), os.path.join(package, "..", "..", "dataset", "digits")):
        file = os.path.join(path, "digits.csv.gz")
        if os.path.exists(file):
            return file
    return ""


class DigitsDataset(_UsageDataset):
    """The 1,797 handwritten digits that are bundled with Sindri: columns image (uint8 [8, 8, 1], values 0 to 16) and label (int32). Every fifth
    digit belongs to the test set. Specific to Sindri.

    Args:
        dataset_file (str): The CSV file, compressed or not, or its folder. Default: "", the file in the package.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, all.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        IoError: An OSError at first use, if the file cannot be read.
        DataError: A RuntimeError at first use, if the file is invalid.

    Examples:
        >>> from sindri.dataset.engine import DigitsDataset
        >>> data = DigitsDataset(usage="test", shuffle=False)
        >>> data.get_dataset_size(), data.output_shapes()
        (359, [[8, 8, 1], []])
    """

    _make: Any = staticmethod(_core.dataset.digits)
    _checked: Any = staticmethod(lambda who, path: _path(who, "dataset_file", path))  # a file, or its folder

    @named
    def __init__(self, dataset_file: str = "", usage: Optional[str] = None, num_samples: Optional[int] = None,
                 num_parallel_workers: Optional[int] = None, shuffle: Optional[bool] = None, sampler: Any = None, num_shards: Optional[int] = None,
                 shard_id: Optional[int] = None, cache: Any = None):
        super().__init__(dataset_file or _packed_digits(), usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
