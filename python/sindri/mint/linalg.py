"""mindspore.mint.linalg, with PyTorch's names and arguments."""
from __future__ import annotations

from typing import Any, Sequence, Union

from sindri import ops as _ops_
from sindri.common.tensor import Tensor

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]

_Dims = Union[None, int, Sequence[int]]


def inv(input: Tensor) -> Tensor:
    """Inverts matrices [..., n, n].

    Args:
        input (Tensor): The matrices.

    Returns:
        The inverses.

    Raises:
        ValueError: If a matrix is singular.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.linalg.inv(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return _ops_.inverse(input)


def qr(A: Tensor, mode: str = "reduced") -> tuple:
    """Decomposes matrices as A = q·r.

    Args:
        A (Tensor): The matrices, [..., m, n].
        mode (str): "reduced" or "complete", as in `ops.qr`, or "r" for an empty tensor and the reduced r.
            Default: "reduced".

    Returns:
        (q, r).

    Raises:
        ValueError: If `mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print([t.shape for t in ms.mint.linalg.qr(ms.ops.ones((3, 2)))])
        [(3, 2), (2, 2)]
    """
    q, r = _ops_.qr(A, "reduced" if mode == "r" else mode)
    return (_ops_.zeros((0,), A.dtype), r) if mode == "r" else (q, r)


def vector_norm(x: Tensor, ord: Union[int, float] = 2, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Computes (sum |x|^ord)^(1/ord) over dimensions.

    Args:
        x (Tensor): The tensor.
        ord (number): The order. Default: 2.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not a number.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.linalg.vector_norm(ms.Tensor([3.0, 4.0])))
        5.0
    """
    return _ops_.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A: Tensor, ord: Union[int, float, str] = "fro", dim: _Dims = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Computes the norm of the matrices in two dimensions.

    Args:
        A (Tensor): The tensor.
        ord (str or number): The order: "fro", "nuc", 1, 2, inf or their negatives. Default: "fro".
        dim (sequence of ints): The two dimensions. Default: (-2, -1).
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not supported.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.linalg.matrix_norm(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        6.0
    """
    return _ops_.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Tensor, ord: Union[None, int, float, str] = None, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Computes `matrix_norm` over two dimensions or `vector_norm` over one; without `dim` and `ord` the 2-norm of all
    elements.

    Args:
        A (Tensor): The tensor.
        ord (str or number): The order; None means the 2-norm. Default: None.
        dim (int or sequence of ints): The dimensions. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not supported.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.linalg.norm(ms.Tensor([3.0, 4.0])))
        5.0
    """
    return _ops_.norm(A, ord, dim, keepdim, dtype=dtype)
