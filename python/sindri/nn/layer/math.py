"""Arithmetic layers."""
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
    """Computes log(sum(e^x)) over some dimensions, without overflow.

    Args:
        axis (int, tuple): The dimensions; () is all.
        keep_dims (bool): Whether they are kept with size 1. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ReduceLogSumExp(1)(ms.Tensor([[0.0, 0.0]])).asnumpy().round(4))
        [0.6931]
    """

    def __init__(self, axis: Axis, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool("ReduceLogSumExp", "keep_dims", keep_dims)
        self._axes = _axes("ReduceLogSumExp", axis)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.logsumexp(x, self._axes, self.keep_dims)


class Range(Cell):
    """Returns the sequence start, start + delta, … below limit; called without arguments.

    The type is int32 if all arguments are ints, else float32.

    Args:
        start (int, float): The first value; if `limit` is None, the limit, and the sequence starts at 0.
        limit (int, float): The limit, not included. Default: None.
        delta (int, float): The increment. Default: 1.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If `delta` is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Range(1, 8, 2)())
        [1 3 5 7]
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
    """Cosine similarity x1·x2/max(|x1|·|x2|, eps) along a dimension.

    Args:
        dim (int): The dimension. Default: 1.
        eps (float): The smallest product of the norms, at least 0. Default: 1e-8.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `eps` is negative.

    Examples:
        >>> from sindri.nn.layer.math import CosineSimilarity
        >>> import sindri as ms
        >>> print(CosineSimilarity()(ms.Tensor([[3.0, 4.0]]), ms.Tensor([[4.0, 3.0]])).asnumpy().round(4))
        [0.96]
    """

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
    """Matrix product over the last two dimensions; leading dimensions broadcast, vectors are treated as in NumPy.

    Args:
        transpose_x1 (bool): Whether x1 is transposed in its last two dimensions. Default: False.
        transpose_x2 (bool): Whether x2 is transposed in its last two dimensions. Default: False.

    Raises:
        TypeError: If an argument is not a bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MatMul()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([1.0, 1.0])))
        [3. 7.]
    """

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
    """Returns (mean, biased variance) over some dimensions.

    Args:
        axis (int, tuple): The dimensions. Default: None, all.
        keep_dims (bool): Whether they are kept with size 1. Default: None, False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> mean, variance = ms.nn.Moments(axis=1)(ms.Tensor([[1.0, 3.0]]))
        >>> print(mean, variance)
        [2.] [1.]
    """

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
    """Inverts the matrices in the last two dimensions.

    Inputs:
        a (Tensor): Square matrices, shape [..., n, n].

    Outputs:
        Tensor of the shape of a.

    Raises:
        ValueError: If a matrix is singular.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MatInverse()(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """

    def construct(self, a: Tensor) -> Tensor:
        return _ops.inverse(a)
