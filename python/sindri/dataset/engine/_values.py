"""The values that a row may hold, and the conversion of a source's values to columns."""
from __future__ import annotations

import builtins
from typing import Any, Sequence

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, fail, nearest


def storable(value: Any, who: str) -> Any:
    """Converts a value to an array of a type that a column may have. Types that the engine lacks are widened: int8, int16 and uint16 to int32, uint32
    and uint64 to int64. A dict is returned unchanged.

    Raises TypeError for other Python objects and complex numbers, ValueError for numbers above 2^63 - 1.
    """
    if isinstance(value, dict):
        return value
    array = value.asnumpy() if isinstance(value, _core.Tensor) else np.asarray(value)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "i" and size < 4 or kind == "u" and size == 2:
        return array.astype(np.int32)
    if kind == "u" and size > 1:
        if size == 8 and array.size and array.max() > np.iinfo(np.int64).max:
            fail(ValueError, f"the value {array.max()} does not fit into int64", who)
        return array.astype(np.int64)
    if kind not in "biufUS" or kind == "f" and size > 8:
        fail(TypeError, f"a column cannot hold {array.dtype} (a {type(value).__name__})", who, "give numbers, bools, text or a dict")
    return array


def as_columns(value: Any, names_: Sequence[str]) -> tuple:
    """Returns the columns of a row from a source. A tuple or list holds one value per column, a dict holds them by name. Anything else is the value of
    the only column; so is a dict that lacks the only column's name.

    Raises ArgumentError (a RuntimeError) for a different number of values or missing names.
    """
    if isinstance(value, dict) and (len(names_) > 1 or names_[0] in value):
        missing = [name for name in names_ if name not in value]
        if missing:
            fail(ArgumentError, f"the source gave no value for the column '{missing[0]}'", "GeneratorDataset", nearest(missing[0], map(str, value)))
        return tuple(value[name] for name in names_)
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(values) != len(names_):
        fail(ArgumentError, f"the source gave {len(values)} values for {len(names_)} column_names", "GeneratorDataset",
             "give a tuple with one value per column")
    return values


def in_python_only(row: Sequence[Any]) -> bool:
    """Whether a row holds a value that no tensor can hold: text or a dict."""
    return any(isinstance(value, dict) or np.asarray(value).dtype.kind in "US" for value in row if not isinstance(value, _core.Tensor))


def delivered(value: Any, as_numpy: bool) -> Any:
    """Converts a column to what an iterator returns: a Tensor or array, text as an array. Applies also to everything inside a dict or list."""
    if isinstance(value, dict):
        return {name: delivered(part, as_numpy) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(delivered(part, as_numpy) for part in value) if type(value) in (list, tuple) else value
    array = value if isinstance(value, np.ndarray) else storable(value, "Iterator")
    return array if as_numpy or array.dtype.kind in "USO" else _core.Tensor(array)


def common_shape(a: list, b: list) -> list:
    """Returns the common dimensions, None where the shapes differ."""
    return [x if x == y else None for x, y in builtins.zip(a, b)] if len(a) == len(b) else [None]


def type_of(dtype: Any) -> Any:
    """Returns a NumPy type; the engine's type for bfloat16, which NumPy lacks."""
    if isinstance(dtype, np.dtype):
        return np.dtype("S" if dtype.kind == "S" else "U") if dtype.kind in "US" else dtype
    name = dtype if isinstance(dtype, str) else dtype.numpy_name
    return _core.dtypes["BFloat16"] if name == "bfloat16" else np.dtype(name)
