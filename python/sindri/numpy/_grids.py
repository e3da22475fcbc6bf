"""The class of sindri.numpy.mgrid and ogrid."""
from __future__ import annotations

from typing import Any

import numpy as np

from sindri._check import fail
from sindri.numpy._convert import smallest_int
from sindri.ops._util import Tensor, core


def _small(values: np.ndarray) -> Tensor:
    return Tensor(smallest_int(values) if values.dtype.kind in "iu" else values.astype(np.float32))


class Grid:
    """mgrid and ogrid: the coordinates spanned by slices between brackets.

    A step of nj means n numbers including both ends. The type is int32, or float32 if a bound or step is a fraction.
    mgrid returns full grids, ogrid grids with dimensions of size 1.

    Args:
        name (str): The name, "mgrid" or "ogrid".
        dense (bool): Whether grids are full.

    Raises:
        TypeError: If a key is not a slice.
        ValueError: If a slice has no end.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.mgrid[0:2, 0:3][1])
        [[0 1 2]
         [0 1 2]]
        >>> print(mnp.ogrid[0:2, 0:3][1])
        [[0 1 2]]
    """

    def __init__(self, name: str, dense: bool) -> None:
        self.__name__, self._dense = name, dense

    def __repr__(self) -> str:
        return f"sindri.numpy.{self.__name__}"

    def _plain(self, key: Any) -> slice:
        if not isinstance(key, slice):
            fail(TypeError, f"expected slices between the brackets, got {key!r}", f"numpy.{self.__name__}")
        if key.stop is None:
            fail(ValueError, "a slice needs an end", f"numpy.{self.__name__}", "write start:stop or start:stop:step")
        return slice(*(v.item() if isinstance(v, Tensor) else v for v in (key.start, key.stop, key.step)))

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return _small(np.mgrid[self._plain(key)])
        keys = tuple(self._plain(k) for k in key)
        if self._dense:
            return _small(np.mgrid[keys])
        return [core.reshape(_small(np.mgrid[k]), [-1 if d == i else 1 for d in range(len(keys))]) for i, k in enumerate(keys)]
