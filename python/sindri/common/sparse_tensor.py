"""Sparse containers of MindSpore's tutorials: COOTensor, CSRTensor, RowTensor. They hold dense tensors; to_dense goes through scatter_add."""
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
    """Values at coordinates: indices [n, rank] (int32 or int64), values [n], shape. Equal coordinates add up. Raises TypeError or ValueError."""

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
        """The same with values of another type."""
        return COOTensor(self.indices, self.values.astype(dtype), self.shape)

    def to_tuple(self) -> tuple[Any, ...]:
        """(indices, values, shape)."""
        return self.indices, self.values, self.shape

    def to_dense(self) -> Tensor:
        """A dense tensor; equal coordinates add up."""
        position: Any = None
        size = 1
        for d in range(self.ndim):
            column = _ops.reshape(_ops.slice(self.indices, [0, d], [self.indices.shape[0], d + 1]), [self.indices.shape[0]])
            position = column if position is None else position * self.shape[d] + column
            size *= self.shape[d]
        return _ops.reshape(_ops.scatter_add(_ops.full([size], 0, self.dtype), position, self.values, 0), self.shape)

    def to_csr(self) -> CSRTensor:
        """The matrix in CSR form, rows in order. Raises ValueError unless it has two dimensions."""
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
    """A sparse matrix by rows: indptr [rows + 1], indices [n] (columns), values [n], shape. Raises TypeError or ValueError."""

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
        """The same with values of another type."""
        return CSRTensor(self.indptr, self.indices, self.values.astype(dtype), self.shape)

    def to_tuple(self) -> tuple[Any, ...]:
        """(indptr, indices, values, shape)."""
        return self.indptr, self.indices, self.values, self.shape

    def to_coo(self) -> COOTensor:
        """The same values with row and column each."""
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr.asnumpy()))
        return COOTensor(Tensor(np.stack([rows.astype(self.indices.asnumpy().dtype), self.indices.asnumpy()], 1)), self.values, self.shape)

    def to_dense(self) -> Tensor:
        """A dense matrix."""
        return self.to_coo().to_dense()

    def mv(self, dense_vector: Tensor) -> Tensor:
        """The product with a column [columns, 1] -> [rows, 1]."""
        return _ops.matmul(self.to_dense(), dense_vector)

    def sum(self, axis: int) -> Tensor:
        """Sums over an axis; the result keeps two dimensions."""
        return _ops.sum(self.to_dense(), [axis], True)

    def __repr__(self) -> str:
        return f"CSRTensor(shape={list(self.shape)}, dtype={self.dtype}, indptr={self.indptr!r}, indices={self.indices!r}, values={self.values!r})"


class RowTensor:
    """Rows of a larger tensor: indices [n], values [n, …], dense_shape. Raises TypeError for other types."""

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
