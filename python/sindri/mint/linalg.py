"""mindspore.mint.linalg, with PyTorch's names and arguments."""
from __future__ import annotations

from typing import Any, Sequence, Union

from sindri import ops as _ops_
from sindri.common.tensor import Tensor

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]

_Dims = Union[None, int, Sequence[int]]


def inv(input: Tensor) -> Tensor:
    """The inverse of each matrix [..., n, n]."""
    return _ops_.inverse(input)


def qr(A: Tensor, mode: str = "reduced") -> tuple:
    """(q, r) with A = q·r; mode 'reduced' or 'complete' as ops.qr, 'r': an empty tensor and the reduced r."""
    q, r = _ops_.qr(A, "reduced" if mode == "r" else mode)
    return (_ops_.zeros((0,), A.dtype), r) if mode == "r" else (q, r)


def vector_norm(x: Tensor, ord: Union[int, float] = 2, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over dim, over all elements without one; computed in dtype."""
    return _ops_.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A: Tensor, ord: Union[int, float, str] = "fro", dim: _Dims = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of the matrices in two dimensions: 'fro', 'nuc', 1, 2, inf or their negatives; computed in dtype."""
    return _ops_.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Tensor, ord: Union[None, int, float, str] = None, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """matrix_norm over two dimensions, vector_norm over one; of all elements without dim and ord."""
    return _ops_.norm(A, ord, dim, keepdim, dtype=dtype)
