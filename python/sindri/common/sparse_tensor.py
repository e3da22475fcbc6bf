"""Sparse containers of MindSpore's tutorials: COOTensor, CSRTensor, RowTensor. They contain dense tensors; to_dense uses scatter_add."""
from __future__ import annotations

from typing import Any

import numpy as np

from sindri import _core
from sindri._core import Tensor

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "RowTensorInner"]

_ops = _core.ops


def _check(t: Any, rank: Any, what: Any, where: Any) -> None:
    if not isinstance(t, Tensor):
        raise TypeError(f"{what} must be a Tensor, got {type(t).__name__} | {where}")
    if len(t.shape) != rank:
        raise ValueError(f"{what} must have {rank} dimension{'s' if rank > 1 else ''}, got {len(t.shape)} | {where}")


def _shape(shape: Any, where: Any) -> Any:
    if not isinstance(shape, tuple) or not all(isinstance(d, int) and d > 0 for d in shape):
        raise TypeError(f"shape must be a tuple of positive ints, got {shape!r} | {where}")
    return shape


class COOTensor:
    """A sparse tensor given by coordinates; values at equal coordinates are summed.

    Args:
        indices (Tensor): The coordinates [n, rank], int32 or int64.
        values (Tensor): The values [n].
        shape (tuple): The shape of the dense tensor.
        coo_tensor (COOTensor): A COOTensor to copy instead. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the shapes do not match.

    Examples:
        >>> import sindri as ms
        >>> coo = ms.COOTensor(ms.Tensor([[0, 1], [1, 0]]), ms.Tensor([2.0, 3.0]), (2, 2))
        >>> print(coo.to_dense())
        [[0. 2.]
         [3. 0.]]
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None) -> None:
        if coo_tensor is not None:
            indices, values, shape = coo_tensor.indices, coo_tensor.values, coo_tensor.shape
        _check(indices, 2, "indices", "COOTensor")
        _check(values, 1, "values", "COOTensor")
        if indices.shape[0] != values.shape[0] or indices.shape[1] != len(_shape(shape, "COOTensor")):
            raise ValueError(f"indices {indices.shape} do not fit values {values.shape} and shape {shape} | COOTensor | give indices [n, rank]")
        self.indices, self.values, self.shape = indices, values, shape
        self.dtype, self.ndim, self.size = values.dtype, len(shape), values.size

    def astype(self, dtype: Any) -> COOTensor:
        """Returns a copy with values of another type.

        Args:
            dtype (DType): The type.

        Returns:
            COOTensor.
        """
        return COOTensor(self.indices, self.values.astype(dtype), self.shape)

    def to_tuple(self) -> tuple[Any, ...]:
        """Returns (indices, values, shape)."""
        return self.indices, self.values, self.shape

    def to_dense(self) -> Tensor:
        """Returns a dense tensor; values at equal coordinates are summed.

        Returns:
            Tensor.
        """
        position: Any = None
        size = 1
        for d in range(self.ndim):
            column = _ops.reshape(_ops.slice(self.indices, [0, d], [self.indices.shape[0], d + 1]), [self.indices.shape[0]])
            position = column if position is None else position * self.shape[d] + column
            size *= self.shape[d]
        return _ops.reshape(_ops.scatter_add(_ops.full([size], 0, self.dtype), position, self.values, 0), self.shape)

    def to_csr(self) -> CSRTensor:
        """Returns the matrix in CSR form, with sorted rows.

        Returns:
            CSRTensor.

        Raises:
            ValueError: If the tensor does not have two dimensions.
        """
        if self.ndim != 2:
            raise ValueError(f"only matrices have a CSR form, this has {self.ndim} dimensions | COOTensor.to_csr")
        idx, val = self.indices.asnumpy(), self.values.asnumpy()
        order = np.lexsort((idx[:, 1], idx[:, 0]))
        indptr = np.zeros(self.shape[0] + 1, idx.dtype)
        np.add.at(indptr, idx[:, 0] + 1, 1)
        return CSRTensor(Tensor(np.cumsum(indptr).astype(idx.dtype)), Tensor(idx[order, 1]), Tensor(val[order]), self.shape)

    def __repr__(self) -> str:
        return f"COOTensor(shape={list(self.shape)}, dtype={self.dtype}, indices={self.indices!r}, values={self.values!r})"


class CSRTensor:
    """A sparse matrix stored by rows.

    Args:
        indptr (Tensor): The start of each row in `indices` [rows + 1].
        indices (Tensor): The columns [n].
        values (Tensor): The values [n].
        shape (tuple): The shape (rows, columns).
        csr_tensor (CSRTensor): A CSRTensor to copy instead. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the shapes do not match.

    Examples:
        >>> import sindri as ms
        >>> csr = ms.CSRTensor(ms.Tensor([0, 1, 2]), ms.Tensor([1, 0]), ms.Tensor([2.0, 3.0]), (2, 2))
        >>> print(csr.to_dense())
        [[0. 2.]
         [3. 0.]]
    """

    def __init__(self, indptr: Any = None, indices: Any = None, values: Any = None, shape: Any = None, csr_tensor: Any = None) -> None:
        if csr_tensor is not None:
            indptr, indices, values, shape = csr_tensor.indptr, csr_tensor.indices, csr_tensor.values, csr_tensor.shape
        for name, t in (("indptr", indptr), ("indices", indices), ("values", values)):
            _check(t, 1, name, "CSRTensor")
        if len(_shape(shape, "CSRTensor")) != 2 or indptr.shape[0] != shape[0] + 1 or indices.shape != values.shape:
            raise ValueError(f"indptr {indptr.shape}, indices {indices.shape}, values {values.shape} do not fit shape {shape} | CSRTensor")
        self.indptr, self.indices, self.values, self.shape = indptr, indices, values, shape
        self.dtype, self.ndim, self.size = values.dtype, 2, values.size

    def astype(self, dtype: Any) -> CSRTensor:
        """Returns a copy with values of another type.

        Args:
            dtype (DType): The type.

        Returns:
            CSRTensor.
        """
        return CSRTensor(self.indptr, self.indices, self.values.astype(dtype), self.shape)

    def to_tuple(self) -> tuple[Any, ...]:
        """Returns (indptr, indices, values, shape)."""
        return self.indptr, self.indices, self.values, self.shape

    def to_coo(self) -> COOTensor:
        """Returns the matrix in COO form.

        Returns:
            COOTensor.
        """
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr.asnumpy()))
        return COOTensor(Tensor(np.stack([rows.astype(self.indices.asnumpy().dtype), self.indices.asnumpy()], 1)), self.values, self.shape)

    def to_dense(self) -> Tensor:
        """Returns a dense matrix.

        Returns:
            Tensor.
        """
        return self.to_coo().to_dense()

    def mv(self, dense_vector: Tensor) -> Tensor:
        """Returns the product with a column [columns, 1] -> [rows, 1].

        Args:
            dense_vector (Tensor): The column.

        Returns:
            Tensor.
        """
        return _ops.matmul(self.to_dense(), dense_vector)

    def sum(self, axis: int) -> Tensor:
        """Returns sums over an axis; the result keeps two dimensions.

        Args:
            axis (int): The axis.

        Returns:
            Tensor.
        """
        return _ops.sum(self.to_dense(), [axis], True)

    def __repr__(self) -> str:
        return f"CSRTensor(shape={list(self.shape)}, dtype={self.dtype}, indptr={self.indptr!r}, indices={self.indices!r}, values={self.values!r})"


class RowTensor:
    """Some rows of a larger tensor.

    Args:
        indices (Tensor): The rows [n].
        values (Tensor): Their values [n, …].
        shape (tuple): The shape of the dense tensor.
        dense_shape (tuple): Another name of `shape`. Default: None.
        row_tensor (RowTensor): A RowTensor to copy instead. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `indices` does not have one dimension.

    Examples:
        >>> import sindri as ms
        >>> rows = ms.RowTensor(ms.Tensor([1]), ms.Tensor([[1.0, 2.0]]), (3, 2))
        >>> rows.dense_shape
        (3, 2)
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, dense_shape: Any = None, row_tensor: Any = None) -> None:
        if row_tensor is not None:
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        shape = shape if shape is not None else dense_shape
        _check(indices, 1, "indices", "RowTensor")
        if not isinstance(values, Tensor):
            raise TypeError(f"values must be a Tensor, got {type(values).__name__} | RowTensor")
        self.indices, self.values, self.dense_shape = indices, values, _shape(shape, "RowTensor")

    def __repr__(self) -> str:
        return f"RowTensor(shape={list(self.dense_shape)}, dtype={self.values.dtype}, indices={self.indices!r}, values={self.values!r})"


RowTensorInner = RowTensor
