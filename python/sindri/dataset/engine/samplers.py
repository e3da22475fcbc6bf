"""Samplers: which rows of a source are read, in which order (MindSpore: mindspore.dataset.Sampler and its like).

The sequential, random, distributed and subset samplers run inside the C++ pipeline. Those with a child sampler, with weights or classes,
and those written in Python are drawn here, once per epoch, from (seed, epoch).
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
    """A cap on the rows; None and 0 mean all."""
    if num_samples is None:
        return None
    return check_int32(who, "num_samples", num_samples, 0, _INT64_MAX) or None


class BuiltinSampler:
    """Base of all samplers. `num_samples` caps the rows of an epoch, None takes all. A child sampler's rows are what this one chooses from."""

    def __init__(self, num_samples: Optional[int] = None):
        self.num_samples = _count(type(self).__name__, num_samples)
        self.child_sampler: Optional[BuiltinSampler] = None

    def add_child(self, sampler: "BuiltinSampler") -> None:
        """Makes `sampler` choose first. Raises ArgumentError (a RuntimeError) when there is a child already."""
        if not isinstance(sampler, BuiltinSampler):
            fail(TypeError, f"a sampler is expected, got {sampler!r}", f"{type(self).__name__}.add_child")
        if self.child_sampler is not None:
            fail(ArgumentError, "the sampler has a child already", f"{type(self).__name__}.add_child")
        self.child_sampler = sampler

    def get_child(self) -> Optional["BuiltinSampler"]:
        """The child sampler or None."""
        return self.child_sampler

    def get_num_samples(self) -> Optional[int]:
        """The least cap of this sampler and its children, None without any."""
        caps = [n for n in (self.num_samples, self.child_sampler.get_num_samples() if self.child_sampler else None) if n is not None]
        return min(caps) if caps else None

    def is_shuffled(self) -> bool:
        """Whether this sampler or a child of it mixes rows."""
        return self._mixes() or (self.child_sampler is not None and self.child_sampler.is_shuffled())

    def is_sharded(self) -> bool:
        """Whether this sampler or a child of it takes one shard of several."""
        return self.child_sampler is not None and self.child_sampler.is_sharded()

    def _mixes(self) -> bool:
        return False

    def _orders_all(self) -> bool:
        """Whether an epoch begins with a list of all rows in a new order."""
        return False

    def _core_sampler(self) -> Optional[Any]:
        """The C++ sampler that does the same; None where the rows are drawn in Python."""
        return None if self.child_sampler is not None else self._core()

    def _core(self) -> Optional[Any]:
        return None

    def _draw(self, rows: int, seed: int, epoch: int, labels: _Labels, level: int = 0) -> np.ndarray:
        """Row ids of one epoch of a source with `rows` rows."""
        ids = np.arange(rows) if self.child_sampler is None else self.child_sampler._draw(rows, seed, epoch, labels, level + 1)
        picked = np.asarray(self._pick(ids, np.random.default_rng([seed, epoch, level]), labels), dtype=np.int64)
        return picked if self.num_samples is None else picked[:self.num_samples]

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        raise NotImplementedError


class Sampler(BuiltinSampler):
    """Base of samplers written in Python: override __iter__ to give the row ids of one epoch. `dataset_size` is the number of rows of the source."""

    def __init__(self, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError("a Sampler needs __iter__, which gives row ids")

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        self.dataset_size = len(ids)
        return _chosen(type(self).__name__, self, ids)


class IterSampler(Sampler):
    """Takes the row ids from an iterable, anew in each epoch."""

    def __init__(self, sampler: Any, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.sampler)


def _chosen(who: str, source: Any, ids: np.ndarray) -> np.ndarray:
    """The entries of `ids` at the places that a Python sampler names."""
    places = []
    for place in source:
        if not is_int(place):
            fail(TypeError, f"a sampler must give ints, got {place!r} of type {type(place).__name__}", who)
        if not 0 <= place < len(ids):
            fail(ArgumentError, f"the sampler gave row {place}, there are {len(ids)}", who)
        places.append(int(place))
    return ids[np.asarray(places, dtype=np.int64)]


class SequentialSampler(BuiltinSampler):
    """Rows in their order, from start_index on. Raises TypeError or ValueError."""

    def __init__(self, start_index: Optional[int] = None, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.start_index = 0 if start_index is None else check_int32("SequentialSampler", "start_index", start_index, 0, _INT64_MAX)

    def _core(self) -> Any:
        return _core.dataset.sequential_sampler(self.start_index, self.num_samples)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        return ids[self.start_index:]


class RandomSampler(BuiltinSampler):
    """All rows in a new order each epoch; with replacement, independent draws. Raises TypeError or ValueError."""

    def __init__(self, replacement: bool = False, num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.replacement = check_bool("RandomSampler", "replacement", replacement)
        if self.replacement and (self.num_samples or 0) > INT32_MAX:  # drawn at the start of an epoch; without replacement it is only a cap
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
    """One shard of several, all equally long: the first rows appear twice where the count does not divide. All shards see the same order.

    offset: positions shift by it, and nothing repeats; -1 for none. Raises TypeError, ValueError, or ArgumentError (a RuntimeError) for a shard_id
    that is too large.
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
    """num_val rows of each class. The labels are read in one pass over `class_column`, once.

    Raises TypeError or ValueError, NotImplementedError for a num_class; at the first use ArgumentError (a RuntimeError) when a class has fewer rows.
    """

    def __init__(self, num_val: int, num_class: Optional[int] = None, shuffle: bool = False, class_column: str = "label",
                 num_samples: Optional[int] = None):
        super().__init__(num_samples)
        self.num_val = check_int32("PKSampler", "num_val", num_val, 1)
        if num_class is not None:
            fail(NotImplementedError, "num_class is not supported", "PKSampler", "leave it out: rows of every class are taken")
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
    """These rows, in this order. Raises TypeError, ValueError, or at the first use ArgumentError (a RuntimeError) for an index out of range."""

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
    """These rows, in a new order each epoch. Raises as SubsetSampler."""

    def _mixes(self) -> bool:
        return True

    def _core(self) -> Any:
        return _core.dataset.subset_random_sampler(self.indices, self.num_samples)

    def _pick(self, ids: np.ndarray, rng: np.random.Generator, labels: _Labels) -> np.ndarray:
        return rng.permutation(super()._pick(ids, rng, labels))


class WeightedRandomSampler(BuiltinSampler):
    """Draws rows with probabilities in proportion to `weights`, num_samples of them (None: as many as there are rows). Rows without a weight, those from
    len(weights) on, are never drawn. Raises TypeError or ValueError; at the first use ArgumentError (a RuntimeError) for more weights than rows.
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
    """A sampler for what users give: a sampler, an object with __iter__ or with __getitem__ and __len__, or a list of row ids. Raises TypeError."""
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
