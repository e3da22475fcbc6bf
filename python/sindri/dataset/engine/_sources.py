"""Base classes of the datasets that read a source (MindSpore: SourceDataset, MappableDataset, NonMappableDataset)."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_int32, fail
from sindri.dataset._transform import generator, random_key
from sindri.dataset.engine import samplers
from sindri.dataset.engine.datasets import Dataset
from sindri.dataset.engine.iterators import choose_seed


class SourceDataset(Dataset):
    """Base class of the sources, the datasets that read files, arrays or functions.

    Args:
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        num_samples (int, optional): The largest number of rows per epoch, after shuffling. Default: None, all.
        shuffle (bool, optional): Whether to shuffle; each source names its values. Default: None.
        num_shards (int, optional): The number of shards; needs `shard_id`. Default: None.
        shard_id (int, optional): The shard to read; needs `num_shards`. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if arguments contradict each other.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2, 3], num_samples=2, shuffle=False)
        >>> isinstance(data, ds.engine.SourceDataset), data.get_dataset_size()
        (True, 2)
    """

    _draw_key: Tuple[int, int] = (0, 0)  # seed and epoch, for rows chosen in Python

    def __init__(self, num_parallel_workers: Optional[int] = None, num_samples: Optional[int] = None, shuffle: Any = None,
                 num_shards: Optional[int] = None, shard_id: Optional[int] = None, cache: Any = None):
        who = type(self).__name__
        self.num_samples = None if num_samples is None else check_int32(who, "num_samples", num_samples, 0, samplers._INT64_MAX) or None
        if (num_shards is None) != (shard_id is None):
            fail(ArgumentError, f"num_shards and shard_id must be given together, only {'num_shards' if shard_id is None else 'shard_id'} is given", who)
        self.num_shards = None if num_shards is None else check_int32(who, "num_shards", num_shards, 1)
        self.shard_id = None if shard_id is None else check_int32(who, "shard_id", shard_id, 0)
        if self.num_shards is not None and self.shard_id >= self.num_shards:  # type: ignore[operator]
            fail(ArgumentError, f"shard_id must be less than num_shards={num_shards}, got {shard_id}", who)
        self.shuffle_flag = shuffle
        super().__init__((), num_parallel_workers, cache)

    def _sharded(self) -> bool:
        return self.num_shards is not None and self.num_shards > 1


class NonMappableDataset(SourceDataset):
    """Base class of the sources that can only be read in sequence.

    Args:
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        num_samples (int, optional): The largest number of rows per epoch, after shuffling. Default: None, all.
        shuffle (bool, optional): Whether to shuffle; each source names its values. Default: None.
        num_shards (int, optional): The number of shards; needs `shard_id`. Default: None.
        shard_id (int, optional): The shard to read; needs `num_shards`. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if arguments contradict each other.

    Examples:
        >>> import sindri.dataset as ds
        >>> issubclass(ds.TextFileDataset, ds.engine.NonMappableDataset)
        True
    """


class MappableDataset(SourceDataset):
    """Base class of the sources whose rows can be read in any order. A sampler excludes shuffle, num_shards and shard_id.

    Args:
        num_parallel_workers (int, optional): Worker threads. Default: None, as configured.
        sampler (Sampler, Iterable, optional): Chooses the rows. Default: None.
        num_samples (int, optional): The largest number of rows per epoch, after shuffling. Default: None, all.
        shuffle (bool, optional): Whether to shuffle. Default: None, shuffled unless a sampler is given.
        num_shards (int, optional): The number of shards; needs `shard_id`. Default: None.
        shard_id (int, optional): The shard to read; needs `num_shards`. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError, if arguments contradict each other.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SubsetSampler([2, 0]))
        >>> isinstance(data, ds.engine.MappableDataset), [int(x) for x, in data]
        (True, [3, 1])
    """

    def __init__(self, num_parallel_workers: Optional[int] = None, sampler: Any = None, num_samples: Optional[int] = None,
                 shuffle: Optional[bool] = None, num_shards: Optional[int] = None, shard_id: Optional[int] = None, cache: Any = None):
        who = type(self).__name__
        if shuffle is not None:
            check_bool(who, "shuffle", shuffle)
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.sampler: Optional[samplers.BuiltinSampler] = None
        if sampler is not None:
            if shuffle is not None or num_shards is not None:
                fail(ArgumentError, f"a sampler excludes {'shuffle' if shuffle is not None else 'num_shards and shard_id'}", who,
                     "use the sampler's own parameters, such as DistributedSampler(num_shards, shard_id, shuffle)")
            self.sampler = samplers.as_sampler(who, sampler)

    def use_sampler(self, new_sampler: Any) -> None:
        """Replaces the sampler. shuffle, num_shards, shard_id and the previous sampler no longer apply.

        Args:
            new_sampler (Sampler, Iterable): The sampler.

        Raises:
            TypeError: If the argument is None or not a sampler.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2, 3])
            >>> data.use_sampler(ds.SequentialSampler(1))
            >>> [int(x) for x, in data]
            [2, 3]
        """
        if new_sampler is None:
            fail(TypeError, "a sampler is expected, got None", f"{type(self).__name__}.use_sampler")
        self.sampler = samplers.as_sampler(type(self).__name__, new_sampler)
        self.shuffle_flag = self.num_shards = self.shard_id = None
        self._forget()

    def add_sampler(self, new_sampler: Any) -> None:
        """Adds a sampler that chooses from the rows of the current sampler.

        Args:
            new_sampler (Sampler, Iterable): The sampler.

        Raises:
            TypeError: If the argument is not a sampler.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SubsetSampler([2, 1]))
            >>> data.add_sampler(ds.SequentialSampler(num_samples=1))
            >>> [int(x) for x, in data]
            [3]
        """
        sampler = samplers.as_sampler(type(self).__name__, new_sampler)
        sampler.add_child(self._effective_sampler())
        self.use_sampler(sampler)

    def is_shuffled(self) -> bool:
        """Returns whether rows are shuffled."""
        return self.sampler.is_shuffled() if self.sampler is not None else self.shuffle_flag is not False

    def is_sharded(self) -> bool:
        """Returns whether this is one shard of several."""
        return self._sharded()

    def _sharded(self) -> bool:
        return self.sampler.is_sharded() if self.sampler is not None else super()._sharded()

    def _effective_sampler(self) -> samplers.BuiltinSampler:
        """Returns the sampler equivalent to shuffle, shards and num_samples."""
        if self.sampler is not None:
            return self.sampler
        shuffled = self.shuffle_flag is not False
        if self.num_shards is not None:
            return samplers.DistributedSampler(self.num_shards, self.shard_id, shuffled)  # type: ignore[arg-type]
        return samplers.RandomSampler() if shuffled else samplers.SequentialSampler()

    def _drawn(self) -> bool:
        return self.sampler is not None and self.sampler._core_sampler() is None

    def _draw(self, seed: int, epoch: int) -> np.ndarray:
        """Returns the row ids of one epoch, drawn in Python."""
        ids = self._effective_sampler()._draw(self._rows(), seed, epoch, self._labels)
        return ids if self.num_samples is None else ids[:self.num_samples]

    def _options(self) -> Any:
        if self._drawn():
            ids = self._draw(*self._draw_key)
            if len(ids) == 0:
                raise _core.dataset.EmptyDatasetError(f"the sampler chose no rows | {type(self).__name__}")
            return _core.dataset.SourceOptions(sampler=_core.dataset.subset_sampler(ids.tolist(), None), num_parallel_workers=self._workers())
        sampler = None if self.sampler is None else self.sampler._core_sampler()
        return _core.dataset.SourceOptions(self.num_samples, self._workers(), self.shuffle_flag, sampler, self.num_shards, self.shard_id)

    def _build(self) -> Optional[Any]:
        return self._source(self._options())

    def _source(self, options: Any) -> Any:
        """Returns the C++ source."""
        raise NotImplementedError

    def _whole(self) -> Any:
        """Returns the C++ source with all rows in order."""
        return self._source(_core.dataset.SourceOptions(shuffle=False))

    def _rows(self) -> int:
        """Returns the number of rows of the source, before sampling."""
        return self._whole().get_dataset_size()

    def _labels(self, column: str) -> np.ndarray:
        """Returns all values of one scalar column, read in one pass over the source."""
        whole = self._whole()
        columns = list(whole.get_col_names())
        self._place_of(column, "PKSampler", columns)
        iterator = _core.dataset.Iterator(whole.project([column]), num_epochs=1)
        try:
            return np.asarray([row[0].item() for row in iter(lambda: iterator.next(True), None)])
        finally:
            iterator.close()

    def num_classes(self) -> Optional[int]:
        handle = self._native()
        return None if handle is None else handle.num_classes()

    def get_class_indexing(self) -> Dict[str, int]:
        handle = self._native()
        return {} if handle is None else dict(handle.get_class_indexing())

    def _split_rows(self) -> int:
        if self._sharded():
            fail(ArgumentError, "the dataset is sharded already", "split", "split first, and give num_shards to the parts by use_sampler")
        return len(self._split_ids())

    def _split_ids(self) -> np.ndarray:
        if self.sampler is None:
            ids = np.arange(self._rows())
            return ids if self.num_samples is None else ids[:self.num_samples]
        return self._draw(choose_seed(self), 0)

    def _split_order(self, randomize: bool) -> np.ndarray:
        ids = self._split_ids()
        return generator(random_key(choose_seed(self), 0x73706C6974)).permutation(ids) if randomize else ids

    def _part(self, places: np.ndarray) -> Dataset:
        part: Any = self._clone()
        part.num_samples = None
        part.use_sampler(samplers.SubsetSampler(places.tolist()))
        return part
