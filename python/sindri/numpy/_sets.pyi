"""Sets, choices, grids and multi-dimensional histograms of sindri.numpy.

Written by scripts/python_stubs.py; do not edit."""

from typing import Any
from sindri._core import Tensor
from sindri.numpy._grids import Grid

__all__ = ["setdiff1d", "intersect1d", "choose", "mgrid", "ogrid", "histogramdd", "histogram2d"]

def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor: ...
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any: ...
def choose(a: Any, choices: Any, mode: str = 'clip') -> Tensor: ...
mgrid: Grid
ogrid: Grid
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple[Any, ...]: ...
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple[Any, ...]: ...
