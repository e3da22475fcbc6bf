"""Transforms that are not about images (MindSpore: mindspore.dataset.transforms). TypeCast, OneHot, and the random choices among
transforms that do so, run in C++ inside pipelines, the others are NumPy.
"""
from __future__ import annotations

import operator
from enum import IntEnum
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_float, check_int32, enumeration, fail, is_int, is_number
from sindri.dataset._transform import NativeOperation, PyOperation, TensorOperation, as_operations, numpy_type
from sindri.dataset.vision._mixing import apply_all, core_chains

__all__ = ["Compose", "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "PadEnd", "RandomApply", "RandomChoice", "RandomOrder", "Relational",
           "Slice", "TypeCast", "Unique"]


class Relational(IntEnum):
    """Comparisons of Mask."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARE: Dict[Relational, Callable[[Any, Any], Any]] = {
    Relational.EQ: operator.eq, Relational.NE: operator.ne, Relational.GT: operator.gt, Relational.GE: operator.ge, Relational.LT: operator.lt,
    Relational.LE: operator.le}


class TypeCast(NativeOperation):
    """To another element type: a type of sindri.common.dtype or of NumPy that tensors have. From floats to integers toward zero, saturating.

    Raises TypeError.
    """

    def __init__(self, output_type: Any = None, data_type: Any = None):
        if (output_type is None) == (data_type is None):
            fail(TypeError, "one element type is expected", "TypeCast")
        super().__init__(_core.dataset.type_cast(data_type if output_type is None else output_type))


class OneHot(NativeOperation):
    """Integer label [] -> [num_classes], or [N] -> [N, num_classes] behind batch(). With a smoothing_rate r float32: 1 - r + r / n at the label, r /
    n elsewhere.

    Raises TypeError or ValueError; BadSample (a RuntimeError) for a label out of range.
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0):
        self.num_classes = check_int32("OneHot", "num_classes", num_classes, 1)
        super().__init__(_core.dataset.one_hot(self.num_classes, check_float("OneHot", "smoothing_rate", smoothing_rate, 0.0, 1.0)))


class Fill(PyOperation):
    """An array of the same shape and type filled with a number, str or bytes. Raises TypeError."""

    def __init__(self, fill_value: Any):
        if not isinstance(fill_value, (str, bytes, bool)) and not is_number(fill_value):
            fail(TypeError, f"fill_value must be a number, str or bytes, got {fill_value!r}", "Fill")
        self.fill_value = fill_value

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        array = np.asarray(values[0])
        if (array.dtype.kind in "US") != isinstance(self.fill_value, (str, bytes)):
            fail(_core.DTypeError, f"an array of {array.dtype} cannot be filled with {self.fill_value!r}", "Fill")
        dtype = np.asarray(self.fill_value).dtype if array.dtype.kind in "US" else array.dtype
        try:
            return np.full(array.shape, np.asarray(self.fill_value).astype(dtype), dtype)
        except OverflowError as e:
            raise ArgumentError(f"{self.fill_value!r} does not fit {dtype} | Fill") from e


class Mask(PyOperation):
    """x operator constant, elementwise, in dtype (bool). Raises TypeError."""

    def __init__(self, operator: Relational, constant: Any, dtype: Any = np.bool_):
        self.operator = enumeration("Mask", "operator", operator, Relational)
        if not isinstance(constant, (str, bytes, bool)) and not is_number(constant):
            fail(TypeError, f"constant must be a number or str, got {constant!r}", "Mask")
        self.constant = constant
        self.dtype = numpy_type("Mask", "dtype", dtype)

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        return np.asarray(_COMPARE[self.operator](np.asarray(values[0]), self.constant)).astype(self.dtype)


class PadEnd(PyOperation):
    """Pads at the end to pad_shape with pad_value (0, or an empty str), or cuts to it; None keeps a dimension. Raises TypeError or ValueError."""

    def __init__(self, pad_shape: Sequence[Optional[int]], pad_value: Any = None):
        if not isinstance(pad_shape, (list, tuple)):
            fail(TypeError, f"pad_shape must be a list of ints and None, got {pad_shape!r}", "PadEnd")
        self.pad_shape = [None if dim is None else check_int32("PadEnd", "pad_shape", dim, 1) for dim in pad_shape]
        if pad_value is not None and not isinstance(pad_value, (str, bytes, bool)) and not is_number(pad_value):
            fail(TypeError, f"pad_value must be a number, str or bytes, got {pad_value!r}", "PadEnd")
        self.pad_value = pad_value

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        array = np.asarray(values[0])
        if array.ndim != len(self.pad_shape):
            fail(ArgumentError, f"an array of rank {len(self.pad_shape)} is expected, got shape {list(array.shape)}", "PadEnd")
        text = array.dtype.kind in "US"
        if self.pad_value is not None and text != isinstance(self.pad_value, (str, bytes)):
            fail(_core.DTypeError, f"an array of {array.dtype} cannot be padded with {self.pad_value!r}", "PadEnd")
        shape = [have if want is None else want for have, want in zip(array.shape, self.pad_shape)]
        pad = ("" if array.dtype.kind == "U" else b"" if text else 0) if self.pad_value is None else self.pad_value
        dtype = np.promote_types(array.dtype, np.asarray(pad).dtype) if text else array.dtype
        try:
            out = np.full(shape, pad, dtype)
        except OverflowError as e:
            raise ArgumentError(f"{pad!r} does not fit {dtype} | PadEnd") from e
        common = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, shape))
        out[common] = array[common]
        return out


class Concatenate(PyOperation):
    """Joins 1-D columns into one, with constant arrays before and behind. axis: 0 or -1. Raises TypeError or ValueError."""

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None):
        if not is_int(axis):
            fail(TypeError, f"axis must be an int, got {axis!r}", "Concatenate")
        if axis not in (0, -1):
            fail(ValueError, f"only 1-D arrays are joined, along axis 0, got axis {axis}", "Concatenate")
        self.axis = axis
        self.prepend, self.append = self._constant("prepend", prepend), self._constant("append", append)

    @staticmethod
    def _constant(name: str, value: Any) -> List[np.ndarray]:
        if value is None:
            return []
        if np.asarray(value).ndim != 1:
            fail(ValueError, f"{name} must be a 1-D array, got shape {list(np.asarray(value).shape)}", "Concatenate")
        return [np.asarray(value)]

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        columns = [np.asarray(value) for value in values]
        if any(column.ndim != 1 for column in columns):
            fail(ArgumentError, f"1-D columns are expected, got shapes {[list(c.shape) for c in columns]}", "Concatenate")
        parts = [*self.prepend, *columns, *self.append]
        if len({part.dtype.kind in "US" for part in parts}) > 1 or (columns[0].dtype.kind not in "US" and len({c.dtype for c in columns}) > 1):
            fail(_core.DTypeError, f"columns of one type are expected, got {[str(part.dtype) for part in parts]}", "Concatenate")
        joined = np.concatenate(parts)
        return joined if columns[0].dtype.kind in "US" else joined.astype(columns[0].dtype)


class Duplicate(PyOperation):
    """One column -> two equal ones."""

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray]:
        if len(values) != 1:
            fail(ArgumentError, f"1 column is expected, got {len(values)}", "Duplicate")
        return np.asarray(values[0]), np.array(values[0])


class Slice(PyOperation):
    """Part of an array: for each axis a slice, an index (which keeps the axis), a list of indices, None or ... for all. Raises TypeError."""

    def __init__(self, *slices: Any):
        if not slices:
            fail(TypeError, "at least one slice is expected", "Slice")
        for entry in slices:
            whole = entry is None or entry is Ellipsis or isinstance(entry, slice) or is_int(entry)
            if not whole and not (isinstance(entry, list) and entry and all(is_int(i) for i in entry)):
                fail(TypeError, f"a slice must be a slice, an int, a list of ints, None or ..., got {entry!r}", "Slice")
        self.slices = slices

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        array = np.asarray(values[0])
        if len(self.slices) > array.ndim and not (len(self.slices) == 1 and self.slices[0] in (None, Ellipsis)):
            fail(ArgumentError, f"{len(self.slices)} slices are given for an array of shape {list(array.shape)}", "Slice")
        for axis, entry in enumerate(self.slices):
            if entry is None or entry is Ellipsis:
                continue
            try:
                array = array[(slice(None),) * axis + (entry,)] if isinstance(entry, slice) else array.take([entry] if is_int(entry) else entry, axis)
            except (IndexError, OverflowError) as e:
                raise ArgumentError(f"{entry} is out of range for shape {list(array.shape)} | Slice") from e
        return array


class Unique(PyOperation):
    """The different values of an array in ascending order, the place of each element among them (int32), and their counts (int32)."""

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        found, places, counts = np.unique(np.asarray(values[0]).ravel(), return_inverse=True, return_counts=True)
        return found, places.ravel().astype(np.int32), counts.astype(np.int32)


class Compose(TensorOperation):
    """Transforms and functions one after another. In a pipeline it is as if they were listed in map. Raises TypeError or ValueError."""

    def __init__(self, transforms: List[Any]):
        self.transforms = _listed("Compose", transforms)
        self.operations = as_operations("Compose", transforms)
        self._random = any(op._random for op in self.operations)

    def _expand(self) -> List[TensorOperation]:
        return self.operations

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        return _single(apply_all(self.operations, rng, values))

    def __call__(self, *values: Any) -> Any:
        for operation in self.operations:
            function: Any = operation
            result = function(*values) if callable(function) else function._call(None, values)
            values = result if isinstance(result, tuple) else (result,)
        return _single([np.asarray(value) if isinstance(value, np.generic) else value for value in values])


class _Choice(PyOperation):
    """Base of the random choices among a list of transforms."""

    _random = True

    def __init__(self, transforms: List[Any]):
        who = type(self).__name__
        self.transforms = _listed(who, transforms)
        self.operations = [as_operations(who, t) for t in self.transforms]
        self._objects = any(op._objects for group in self.operations for op in group)
        self._makes_pil = any(op._makes_pil for group in self.operations for op in group)

    def _core_transform(self) -> Optional[Any]:
        chains = core_chains(self.operations)
        return None if chains is None else self._made_of(chains)

    def _made_of(self, chains: List[List[Any]]) -> Any:
        """The C++ transform."""
        raise NotImplementedError


class RandomApply(_Choice):
    """All transforms one after another with probability prob, else none. Raises TypeError or ValueError."""

    def __init__(self, transforms: List[Any], prob: float = 0.5):
        super().__init__(transforms)
        self.prob = check_float("RandomApply", "prob", prob, 0.0, 1.0)

    def _made_of(self, chains: List[List[Any]]) -> Any:
        return _core.dataset.random_apply([transform for chain in chains for transform in chain], self.prob)

    def _run(self, rng: Any, *values: Any) -> Any:
        if rng.random() < self.prob:
            for group in self.operations:
                values = apply_all(group, rng, values)
        return _single(values)


class RandomChoice(_Choice):
    """One of the transforms. Raises TypeError or ValueError."""

    def _made_of(self, chains: List[List[Any]]) -> Any:
        return _core.dataset.random_choice(chains)

    def _run(self, rng: Any, *values: Any) -> Any:
        return _single(apply_all(self.operations[int(rng.integers(len(self.operations)))], rng, values))


class RandomOrder(_Choice):
    """All transforms in random order. Raises TypeError or ValueError."""

    def _made_of(self, chains: List[List[Any]]) -> Any:
        return _core.dataset.random_order(chains)

    def _run(self, rng: Any, *values: Any) -> Any:
        for i in rng.permutation(len(self.operations)):
            values = apply_all(self.operations[i], rng, values)
        return _single(values)


def _listed(who: str, transforms: Any) -> List[Any]:
    if not isinstance(transforms, (list, tuple)):
        fail(TypeError, f"transforms must be a list, got {transforms!r}", who)
    if not transforms:
        fail(ValueError, "transforms is empty", who)
    return list(transforms)


def _single(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)
