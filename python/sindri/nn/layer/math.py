"""Layers of plain arithmetic."""
from __future__ import annotations

from typing import Optional, Sequence, Tuple, Union

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, check_int, fail, is_int, is_number
from sindri.nn.cell import Cell
from sindri.ops._util import rounded_once

__all__ = ["ReduceLogSumExp", "Range", "CosineSimilarity", "MatMul", "Moments", "MatInverse"]

_ops = _core.ops
Axis = Union[int, Sequence[int]]


def _axes(who: str, axis: Optional[Axis]) -> Tuple[int, ...]:
    if axis is None:
        return ()
    if isinstance(axis, int) and is_int(axis):
        return (int(axis),)
    if isinstance(axis, (tuple, list)) and all(is_int(a) for a in axis):
        return tuple(axis)
    fail(TypeError, f"{who}: axis must be an int or a tuple of ints, got {axis!r}")


class ReduceLogSumExp(Cell):
    """log(sum(e^x)) over `axis` (empty: all), without overflow."""

    def __init__(self, axis: Axis, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool("ReduceLogSumExp", "keep_dims", keep_dims)
        self._axes = _axes("ReduceLogSumExp", axis)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.logsumexp(x, self._axes, self.keep_dims)


class Range(Cell):
    """The numbers start, start + delta, … below limit (limit None: from 0 below start), int32 of ints and float32 else.

    Raises TypeError for what is no number, ValueError for delta 0.
    """

    def __init__(self, start: float, limit: Optional[float] = None, delta: float = 1) -> None:
        super().__init__()
        if limit is None:
            start, limit = 0, start
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            if not is_number(value):
                fail(TypeError, f"Range: {name} must be an int or a float, got {value!r}")
        if delta == 0:
            fail(ValueError, "Range: delta must not be 0")
        self.start, self.limit, self.delta = start, limit, delta
        self._dtype = mstype.int32 if all(is_int(v) for v in (start, limit, delta)) else mstype.float32

    def construct(self) -> Tensor:
        return _ops.arange(self.start, self.limit, self.delta, self._dtype)


class CosineSimilarity(Cell):
    """x1·x2/max(|x1|·|x2|, eps) along `dim`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = check_int("CosineSimilarity", "dim", dim), check_float("CosineSimilarity", "eps", eps, least=0)

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        return self._cosine(x1, x2)

    @rounded_once()
    def _cosine(self, x1: Tensor, x2: Tensor) -> Tensor:
        axes = (self.dim,)
        norms = _ops.mul(_ops.norm(x1, 2.0, axes), _ops.norm(x2, 2.0, axes))
        return _ops.div(_ops.sum(_ops.mul(x1, x2), axes), _ops.maximum(norms, self.eps))


class MatMul(Cell):
    """Product over the last two dimensions, each operand transposed there if asked; leading dimensions broadcast, vectors as in NumPy."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1, self.transpose_x2 = check_bool("MatMul", "transpose_x1", transpose_x1), check_bool("MatMul", "transpose_x2", transpose_x2)

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        row, column = len(x1.shape) == 1, len(x2.shape) == 1
        a, b = _ops.expand_dims(x1, 0) if row else x1, _ops.expand_dims(x2, 1) if column else x2
        y = _ops.batch_matmul(a, b, self.transpose_x1 and not row, self.transpose_x2 and not column)
        if column:
            y = _ops.squeeze(y, -1)
        return _ops.squeeze(y, -1 if column else -2) if row else y


class Moments(Cell):
    """Mean and (biased) variance over `axis` (None: all), a tuple of two."""

    def __init__(self, axis: Optional[Axis] = None, keep_dims: Optional[bool] = None) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims
        self._axes = _axes("Moments", axis)
        self._keep = False if keep_dims is None else check_bool("Moments", "keep_dims", keep_dims)

    def construct(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        dtype = x.dtype
        wide = _ops.cast(x, mstype.float32) if dtype in (mstype.float16, mstype.bfloat16) else x
        mean = _ops.mean(wide, self._axes, True)
        variance = _ops.mean(_ops.square(_ops.sub(wide, mean)), self._axes, self._keep)
        if not self._keep:
            mean = _ops.reshape(mean, tuple(variance.shape))
        return (_ops.cast(mean, dtype), _ops.cast(variance, dtype)) if wide.dtype != dtype else (mean, variance)


class MatInverse(Cell):
    """Inverse of the matrices in the last two dimensions. Raises ValueError for a singular one."""

    def construct(self, a: Tensor) -> Tensor:
        return _ops.inverse(a)
