"""What a row may hold, and how a source's values become its columns. No data set lives here."""
from __future__ import annotations

import builtins
from typing import Any, Sequence

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, fail, nearest


def storable(value: Any, who: str) -> Any:
    """An array of a type that a column may have: what the engine lacks is widened (int8, int16 and uint16 to int32, uint32 and uint64 to int64). A dict
    is returned unchanged.

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
    """The columns of a row that a source gives: a tuple or list is one value each, a dict names them, anything else is a single one; so is a dict
    without the name of the only column.

    Raises ArgumentError (a RuntimeError) for another number of values, or names that are missing.
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
    """Whether a row holds what no tensor does: text or a dict."""
    return any(isinstance(value, dict) or np.asarray(value).dtype.kind in "US" for value in row if not isinstance(value, _core.Tensor))


def delivered(value: Any, as_numpy: bool) -> Any:
    """A column as an iterator gives it: a Tensor or array, text as an array. The same of all that a dict or a list in it holds."""
    if isinstance(value, dict):
        return {name: delivered(part, as_numpy) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(delivered(part, as_numpy) for part in value) if type(value) in (list, tuple) else value
    array = value if isinstance(value, np.ndarray) else storable(value, "Iterator")
    return array if as_numpy or array.dtype.kind in "USO" else _core.Tensor(array)


def common_shape(a: list, b: list) -> list:
    """The dimensions both have, None where they differ."""
    return [x if x == y else None for x, y in builtins.zip(a, b)] if len(a) == len(b) else [None]


def type_of(dtype: Any) -> Any:
    """A NumPy type; the engine's own for bfloat16, which NumPy lacks."""
    if isinstance(dtype, np.dtype):
        return np.dtype("S" if dtype.kind == "S" else "U") if dtype.kind in "US" else dtype
    name = dtype if isinstance(dtype, str) else dtype.numpy_name
    return _core.dtypes["BFloat16"] if name == "bfloat16" else np.dtype(name)
