"""Transforms for other data than images (MindSpore: mindspore.dataset.transforms). TypeCast and OneHot run in C++ inside pipelines, and so do the
random choices among transforms if all of those do. The others are NumPy.
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
    """Comparisons for Mask."""

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
    """Casts to another element type. Floats are converted to integers toward zero with saturation.

    Args:
        output_type (DType, type): A type of sindri.common.dtype or of NumPy that tensors support.
        data_type (DType, type): The 1.x name of `output_type`.

    Raises:
        TypeError: If the type is not supported, or not exactly one is given.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.TypeCast(np.int32)(np.array([1.7, -1.7])).tolist()
        [1, -1]
    """

    def __init__(self, output_type: Any = None, data_type: Any = None):
        if (output_type is None) == (data_type is None):
            fail(TypeError, "one element type is expected", "TypeCast")
        super().__init__(_core.dataset.type_cast(data_type if output_type is None else output_type))


class OneHot(NativeOperation):
    """Converts an integer label [] to a one-hot vector [num_classes], or [N] to [N, num_classes] after batch().

    With a smoothing rate r the result is float32: 1 - r + r/n at the label and r/n elsewhere, for n classes.

    Args:
        num_classes (int): The number of classes.
        smoothing_rate (float): The label smoothing, from 0 to 1. Default: 0.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        BadSample: A RuntimeError when called, if a label is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.OneHot(3)(np.array(1, np.int32)).tolist()
        [0, 1, 0]
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0):
        self.num_classes = check_int32("OneHot", "num_classes", num_classes, 1)
        super().__init__(_core.dataset.one_hot(self.num_classes, check_float("OneHot", "smoothing_rate", smoothing_rate, 0.0, 1.0)))


class Fill(PyOperation):
    """Returns an array of the same shape and type, filled with a value.

    Args:
        fill_value (int, float, bool, str, bytes): The value.

    Raises:
        TypeError: If `fill_value` has another type or does not suit the array.
        ArgumentError: A ValueError and RuntimeError when called, if the value does not fit the array's type.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.Fill(7)(np.array([1, 2])).tolist()
        [7, 7]
    """

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
    """Compares an array with a constant, elementwise.

    Args:
        operator (Relational): The comparison.
        constant (int, float, bool, str): The right operand.
        dtype (DType, type): The result's type. Default: numpy.bool_.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.Mask(transforms.Relational.GT, 1)(np.array([0, 1, 2])).tolist()
        [False, False, True]
    """

    def __init__(self, operator: Relational, constant: Any, dtype: Any = np.bool_):
        self.operator = enumeration("Mask", "operator", operator, Relational)
        if not isinstance(constant, (str, bytes, bool)) and not is_number(constant):
            fail(TypeError, f"constant must be a number or str, got {constant!r}", "Mask")
        self.constant = constant
        self.dtype = numpy_type("Mask", "dtype", dtype)

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        return np.asarray(_COMPARE[self.operator](np.asarray(values[0]), self.constant)).astype(self.dtype)


class PadEnd(PyOperation):
    """Pads or cuts an array at the end of each dimension.

    Args:
        pad_shape (list[int, None]): The resulting shape; None keeps a dimension.
        pad_value (int, float, bool, str, bytes): The padding. Default: None, 0 or an empty str.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, or when called, the array has another rank.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.PadEnd([4], 9)(np.array([1, 2])).tolist()
        [1, 2, 9, 9]
    """

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
    """Concatenates 1-D columns, optionally with constant arrays at the start and the end.

    Args:
        axis (int): 0 or -1. Default: 0.
        prepend (array, optional): The array at the start. Default: None.
        append (array, optional): The array at the end. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.Concatenate(append=np.array([9]))(np.array([1]), np.array([2, 3])).tolist()
        [1, 2, 3, 9]
    """

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
    """Returns a column and a copy of it.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> [column.tolist() for column in transforms.Duplicate()(np.array([1, 2]))]
        [[1, 2], [1, 2]]
    """

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray]:
        if len(values) != 1:
            fail(ArgumentError, f"1 column is expected, got {len(values)}", "Duplicate")
        return np.asarray(values[0]), np.array(values[0])


class Slice(PyOperation):
    """Returns a part of an array.

    Args:
        slices (slice, int, list[int], None, Ellipsis): One for each axis: a slice, an index (which keeps the axis), a list of indices; None or ...
            keeps everything.

    Raises:
        TypeError: If a slice has another type.
        ArgumentError: A ValueError and RuntimeError when called, if a slice is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.Slice(slice(1, 3))(np.array([4, 5, 6, 7])).tolist()
        [5, 6]
    """

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
    """Returns the distinct values of an array in ascending order, each element's index among them (int32), and their counts (int32).

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> [part.tolist() for part in transforms.Unique()(np.array([5, 3, 5]))]
        [[3, 5], [1, 0, 1], [1, 2]]
    """

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        found, places, counts = np.unique(np.asarray(values[0]).ravel(), return_inverse=True, return_counts=True)
        return found, places.ravel().astype(np.int32), counts.astype(np.int32)


class Compose(TensorOperation):
    """Applies transforms and functions in sequence. In a pipeline this equals listing them in map.

    Args:
        transforms (list[Callable]): Transforms and functions.

    Raises:
        TypeError: If `transforms` is not a list.
        ValueError: If it is empty or an element is not callable.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.Compose([lambda x: x + 1, transforms.TypeCast(np.float32)])(np.array([1, 2])).tolist()
        [2.0, 3.0]
    """

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
    """Base class of the random choices among a list of transforms."""

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
        """Returns the C++ transform."""
        raise NotImplementedError


class RandomApply(_Choice):
    """Applies all transforms in sequence with probability `prob`, otherwise none.

    Args:
        transforms (list[Callable]): Transforms and functions.
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `transforms` is empty or `prob` is outside of [0, 1].

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.RandomApply([lambda x: x + 1], prob=1.0)(np.array([1])).tolist()
        [2]
    """

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
    """Applies one of the transforms, chosen uniformly.

    Args:
        transforms (list[Callable]): Transforms and functions.

    Raises:
        TypeError: If `transforms` is not a list.
        ValueError: If it is empty.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.RandomChoice([lambda x: x + 1, lambda x: x - 1])(np.array([1])).item() in (0, 2)
        True
    """

    def _made_of(self, chains: List[List[Any]]) -> Any:
        return _core.dataset.random_choice(chains)

    def _run(self, rng: Any, *values: Any) -> Any:
        return _single(apply_all(self.operations[int(rng.integers(len(self.operations)))], rng, values))


class RandomOrder(_Choice):
    """Applies all transforms in random order.

    Args:
        transforms (list[Callable]): Transforms and functions.

    Raises:
        TypeError: If `transforms` is not a list.
        ValueError: If it is empty.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import transforms
        >>> transforms.RandomOrder([lambda x: x + 1, lambda x: x * 2])(np.array([1])).item() in (3, 4)
        True
    """

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
        fail(ValueError, "transforms must hold at least one transform, got none", who)
    return list(transforms)


def _single(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)
