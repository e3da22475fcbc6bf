"""Samplers: which rows of a source are read, in which order (MindSpore: mindspore.dataset.Sampler and similar).

The sequential, random, distributed and subset samplers run inside the C++ pipeline. Samplers with a child, with weights or classes, and those
written in Python are drawn here, once per epoch, from (seed, epoch).
"""
from __future__ import annotations

import builtins
from typing import Any, Callable, Iterator, List, Optional, Sequence, Union

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, INT32_MAX, check_bool, check_int32, fail, is_int, is_number

__all__ = ["BuiltinSampler", "DistributedSampler", "IterSampler", "PKSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
           "SubsetSampler", "WeightedRandomSampler"]

_Labels = Callable[[str], np.ndarray]
_INT64_MAX = 9223372036854775807


def _count(who: str, num_samples: Optional[int]) -> Optional[int]:
    """Returns the limit on the number of rows; None and 0 mean all."""
    if num_samples is None:
        return None
    return check_int32(who, "num_samples", num_samples, 0, _INT64_MAX) or None


class BuiltinSampler:
    """Base class of all samplers. A sampler chooses from the rows of its child sampler.

    Args:
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If `num_samples` is not an int.
        ValueError: If `num_samples` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> sampler = ds.SubsetSampler([2, 1, 0], num_samples=2)
        >>> isinstance(sampler, ds.engine.BuiltinSampler), sampler.get_num_samples()
        (True, 2)
    """

    def __init__(self, num_samples: Optional[int] = None):
        self.num_samples = _count(type(self).__name__, num_samples)
        self.child_sampler: Optional[BuiltinSampler] = None

    def add_child(self, sampler: "BuiltinSampler") -> None:
        """Adds a sampler from whose rows this one chooses.

        Args:
            sampler (BuiltinSampler): The child.

        Raises:
            TypeError: If the argument is not a sampler.
            ArgumentError: A RuntimeError, if the sampler has a child already.

        Examples:
            >>> import sindri.dataset as ds
            >>> sampler = ds.SequentialSampler(num_samples=2)
            >>> sampler.add_child(ds.SubsetSampler([2, 1, 0]))
            >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=sampler)]
            [3, 2]
        """
        if not isinstance(sampler, BuiltinSampler):
            fail(TypeError, f"a sampler is expected, got {sampler!r}", f"{type(self).__name__}.add_child")
        if self.child_sampler is not None:
            fail(ArgumentError, "the sampler has a child already", f"{type(self).__name__}.add_child")
        self.child_sampler = sampler

    def get_child(self) -> Optional["BuiltinSampler"]:
        """Returns the child sampler or None."""
        return self.child_sampler

    def get_num_samples(self) -> Optional[int]:
        """Returns the smallest limit of this sampler and its children, None without a limit."""
        caps = [n for n in (self.num_samples, self.child_sampler.get_num_samples() if self.child_sampler else None) if n is not None]
        return min(caps) if caps else None

    def is_shuffled(self) -> bool:
        """Returns whether this sampler or one of its children shuffles rows."""
        return self._mixes() or (self.child_sampler is not None and self.child_sampler.is_shuffled())

    def is_sharded(self) -> bool:
        """Returns whether this sampler or one of its children reads one shard of several."""
        return self.child_sampler is not None and self.child_sampler.is_sharded()

    def _mixes(self) -> bool:
        return False

    def _orders_all(self) -> bool:
        """Whether an epoch starts with a list of all rows in a new order."""
        return False

    def _core_sampler(self) -> Optional[Any]:
        """Returns the equivalent C++ sampler; None if the rows are drawn in Python."""
        return None if self.child_sampler is not None else self._core()

    def _core(self) -> Optional[Any]:
        return None

    def _draw(self, rows: int, seed: int, epoch: int, labels: _Labels, level: int = 0) -> np.ndarray:
        """Returns the row ids of one epoch of a source with `rows` rows."""
        ids = np.arange(rows) if self.child_sampler is None else self.child_sampler._draw(rows, seed, epoch, labels, level + 1)
        picked = np.asarray(self._pick(ids, np.random.default_rng([seed, epoch, level]), labels), dtype=np.int64)
        return picked if self.num_samples is None else picked[:self.num_samples]

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        raise NotImplementedError


class Sampler(BuiltinSampler):
    """Base class of samplers written in Python: override __iter__ to yield the row ids of one epoch. `dataset_size` is the number of rows of the source.

    Args:
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Examples:
        >>> import sindri.dataset as ds
        >>> from sindri.dataset.engine import Sampler
        >>> class Reversed(Sampler):
        ...     def __iter__(self):
        ...         return iter(range(self.dataset_size - 1, -1, -1))
        >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=Reversed())]
        [3, 2, 1]
    """

    def __init__(self, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError("a Sampler needs __iter__, which yields row ids")

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        self.dataset_size = len(ids)
        return _chosen(type(self).__name__, self, ids)


class IterSampler(Sampler):
    """Reads the row ids from an iterable, again in each epoch.

    Args:
        sampler (Iterable): Yields the row ids.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If `num_samples` is not an int.
        ValueError: If `num_samples` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=ds.IterSampler([2, 0]))]
        [3, 1]
    """

    def __init__(self, sampler: Any, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.sampler)


def _chosen(who: str, source: Any, ids: np.ndarray) -> np.ndarray:
    """Returns the entries of `ids` at the positions that a Python sampler yields."""
    places = []
    for place in source:
        if not is_int(place):
            fail(TypeError, f"a sampler must give ints, got {place!r} of type {type(place).__name__}", who)
        if not 0 <= place < len(ids):
            fail(ArgumentError, f"the sampler gave row {place}, there are {len(ids)}", who)
        places.append(int(place))
    return ids[np.asarray(places, dtype=np.int64)]


class SequentialSampler(BuiltinSampler):
    """Reads rows in order.

    Args:
        start_index (int, optional): The first row. Default: None, 0.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If an argument is negative.

    Examples:
        >>> import sindri.dataset as ds
        >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3, 4], sampler=ds.SequentialSampler(1, 2))]
        [2, 3]
    """

    def __init__(self, start_index: Optional[int] = None, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.start_index = 0 if start_index is None else check_int32("SequentialSampler", "start_index", start_index, 0, _INT64_MAX)

    def _core(self) -> Any:
        return _core.dataset.sequential_sampler(self.start_index, self.num_samples)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        return ids[self.start_index:]


class RandomSampler(BuiltinSampler):
    """Reads all rows in a new order each epoch.

    Args:
        replacement (bool): Whether to draw rows independently, so that they may repeat. Default: False.
        num_samples (int, optional): The number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_samples` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> sorted(int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=ds.RandomSampler()))
        [1, 2, 3]
    """

    def __init__(self, replacement: bool = False, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.replacement = check_bool("RandomSampler", "replacement", replacement)
        if self.replacement and (self.num_samples or 0) > INT32_MAX:  # drawn at the start of an epoch; without replacement it is only a limit
            fail(ValueError, f"num_samples must be at most {INT32_MAX} with replacement, got {num_samples}", "RandomSampler")
        self.deterministic = False
        self.reshuffle_each_epoch = True

    def _mixes(self) -> bool:
        return True

    def _orders_all(self) -> bool:
        return not (self.replacement and self.num_samples)

    def _core(self) -> Any:
        return _core.dataset.random_sampler(self.replacement, self.num_samples)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        if self.replacement:
            return ids[rng.integers(0, len(ids), self.num_samples or len(ids))]
        return rng.permutation(ids)


class DistributedSampler(BuiltinSampler):
    """Reads one shard of several. All shards see the same order and have the same length: the first rows repeat if the number of rows is not
    divisible.

    Args:
        num_shards (int): The number of shards.
        shard_id (int): The shard to read.
        shuffle (bool): Whether to shuffle. Default: True.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        offset (int): Shifts the positions by this many, in which case no row repeats; -1 for none. Default: -1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A RuntimeError, if `shard_id` or `offset` is not below `num_shards`.

    Examples:
        >>> import sindri.dataset as ds
        >>> sampler = ds.DistributedSampler(2, 1, shuffle=False)
        >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3, 4], sampler=sampler)]
        [2, 4]
    """

    def __init__(self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: Optional[int] = None, offset: int = -1):
        super().__init__(num_samples)
        self.num_shards = check_int32("DistributedSampler", "num_shards", num_shards, 1)
        self.shard_id = check_int32("DistributedSampler", "shard_id", shard_id, 0)
        if self.shard_id >= self.num_shards:
            fail(ArgumentError, f"shard_id must be less than num_shards={num_shards}, got {shard_id}", "DistributedSampler")
        self.shuffle = check_bool("DistributedSampler", "shuffle", shuffle)
        self.offset = check_int32("DistributedSampler", "offset", offset, -1)
        if self.offset >= self.num_shards:
            fail(ArgumentError, f"offset must be less than num_shards={num_shards}, got {offset}", "DistributedSampler")

    def is_sharded(self) -> bool:
        return self.num_shards > 1 or super().is_sharded()

    def _mixes(self) -> bool:
        return self.shuffle

    def _orders_all(self) -> bool:
        return self.shuffle

    def _core(self) -> Any:
        return _core.dataset.distributed_sampler(self.num_shards, self.shard_id, self.shuffle, self.num_samples, self.offset, True)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        order = rng.permutation(ids) if self.shuffle else ids
        if self.offset >= 0:
            first = (self.shard_id - self.offset) % self.num_shards
            return order[first::self.num_shards]
        if len(order) == 0:
            return order
        each = -(-len(order) // self.num_shards)
        return order[(self.shard_id + self.num_shards * np.arange(each)) % len(order)]


class PKSampler(BuiltinSampler):
    """Reads `num_val` rows of each class. The labels are read once, in one pass over `class_column`.

    Args:
        num_val (int): The number of rows per class.
        num_class (int, optional): Not supported. Default: None.
        shuffle (bool): Whether to draw the rows of a class at random. Default: False.
        class_column (str): The column with the labels. Default: "label".
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        NotImplementedError: If `num_class` is given.
        ArgumentError: A RuntimeError at first use, if a class has fewer rows.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.NumpySlicesDataset({"label": [0, 1, 0, 1]}, sampler=ds.PKSampler(1))
        >>> [int(label) for label, in data]
        [0, 1]
    """

    def __init__(self, num_val: int, num_class: Optional[int] = None, shuffle: bool = False, class_column: str = "label",
                 num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.num_val = check_int32("PKSampler", "num_val", num_val, 1)
        if num_class is not None:
            fail(NotImplementedError, "num_class is not supported", "PKSampler", "omit num_class: rows of every class are read")
        self.shuffle = check_bool("PKSampler", "shuffle", shuffle)
        if not isinstance(class_column, str):
            fail(TypeError, f"class_column must be a str, got {class_column!r}", "PKSampler")
        self.class_column = class_column

    def _mixes(self) -> bool:
        return self.shuffle

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        of_row = labels(self.class_column)[ids]
        parts: List[np.ndarray] = []
        for label in np.unique(of_row):
            members = ids[of_row == label]
            if len(members) < self.num_val:
                fail(ArgumentError, f"class {label} has {len(members)} rows, num_val is {self.num_val}", "PKSampler")
            parts.append(rng.permutation(members)[:self.num_val] if self.shuffle else members[:self.num_val])
        return np.concatenate(parts) if parts else ids[:0]


class SubsetSampler(BuiltinSampler):
    """Reads the given rows, in this order.

    Args:
        indices (int, Sequence[int]): The row ids.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an index is negative.
        ArgumentError: A RuntimeError at first use, if an index is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SubsetSampler([2, 0]))]
        [3, 1]
    """

    def __init__(self, indices: Union[int, Sequence[int]], num_samples: Optional[int] = None):
        super().__init__(num_samples)
        who = type(self).__name__
        if is_int(indices):
            indices = [indices]  # type: ignore[list-item]
        self.indices = [check_int32(who, "index", i, 0, _INT64_MAX) for i in indices]  # type: ignore[union-attr]

    def _core(self) -> Any:
        return _core.dataset.subset_sampler(self.indices, self.num_samples)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        return _chosen(type(self).__name__, self.indices, ids)


class SubsetRandomSampler(SubsetSampler):
    """Reads the given rows, in a new order each epoch.

    Args:
        indices (int, Sequence[int]): The row ids.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an index is negative.
        ArgumentError: A RuntimeError at first use, if an index is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> sorted(int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SubsetRandomSampler([2, 0])))
        [1, 3]
    """

    def _mixes(self) -> bool:
        return True

    def _core(self) -> Any:
        return _core.dataset.subset_random_sampler(self.indices, self.num_samples)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        return rng.permutation(super()._pick(ids, rng, labels))


class WeightedRandomSampler(BuiltinSampler):
    """Draws rows with probabilities proportional to `weights`. Rows at positions from len(weights) on have no weight and are never drawn.

    Args:
        weights (Sequence[float]): One weight per row, finite and not negative, with a positive sum.
        num_samples (int, optional): The number of rows per epoch. Default: None, as many as there are rows.
        replacement (bool): Whether rows may repeat. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A RuntimeError at first use, if there are more weights than rows, or too few rows to draw without replacement.

    Examples:
        >>> import sindri.dataset as ds
        >>> sampler = ds.WeightedRandomSampler([0, 1, 0], num_samples=2)
        >>> [int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=sampler)]
        [2, 2]
    """

    def __init__(self, weights: Sequence[float], num_samples: Optional[int] = None, replacement: bool = True):
        super().__init__(num_samples)
        if not isinstance(weights, (list, tuple, np.ndarray)):
            fail(TypeError, f"weights must be a list of numbers, got {weights!r}", "WeightedRandomSampler")
        for i, weight in enumerate(weights):
            if not is_number(weight):
                fail(TypeError, f"weights must be numbers, weights[{i}] is {weight!r}", "WeightedRandomSampler")
            if not (weight >= 0 and np.isfinite(weight)):
                fail(ValueError, f"weights must be finite and not negative, weights[{i}] is {weight}", "WeightedRandomSampler")
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.size == 0 or not self.weights.sum() > 0:
            fail(ValueError, "weights must have a positive sum", "WeightedRandomSampler")
        self.replacement = check_bool("WeightedRandomSampler", "replacement", replacement)

    def _mixes(self) -> bool:
        return True

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        if len(self.weights) > len(ids):
            fail(ArgumentError, f"there are {len(self.weights)} weights for {len(ids)} rows", "WeightedRandomSampler", "give at most one weight per row")
        count = self.num_samples or len(ids)
        drawable = int(np.count_nonzero(self.weights))
        if not self.replacement and count > drawable:
            fail(ArgumentError, f"{count} rows cannot be drawn without replacement from {drawable} with a weight", "WeightedRandomSampler")
        return rng.choice(ids[:len(self.weights)], size=count, replace=self.replacement, p=self.weights / self.weights.sum())


def as_sampler(who: str, sampler: Any) -> BuiltinSampler:
    """Converts a user's argument to a sampler: a sampler, an object with __iter__ or with __getitem__ and __len__, or a list of row ids. Raises TypeError."""
    if isinstance(sampler, BuiltinSampler):
        return sampler
    if isinstance(sampler, (list, tuple, builtins.range, np.ndarray)):
        return SubsetSampler([int(i) for i in sampler])
    if hasattr(sampler, "__iter__") or (hasattr(sampler, "__getitem__") and hasattr(sampler, "__len__")):
        return IterSampler(sampler if hasattr(sampler, "__iter__") else _Indexable(sampler))
    fail(TypeError, f"sampler must be a sampler or an iterable of row ids, got {sampler!r}", who)


class _Indexable:
    """Iterates an object that has only __getitem__ and __len__."""

    def __init__(self, items: Any):
        self.items = items

    def __iter__(self) -> Iterator[int]:
        return (self.items[i] for i in range(len(self.items)))
