"""mindspore.mint: functions with PyTorch's names and arguments, as far as functions of sindri.ops compute them.

Functions for which MindSpore 2.10's CPU build has no kernel work here as well.
"""
from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri import _core
from sindri import ops as _ops_
from sindri._check import fail as _fail
from sindri.common import dtype as _types
from sindri.common.tensor import Tensor
from sindri.mint._drawn import bernoulli, multinomial, normal, rand, rand_like, randint, randint_like, randn, randn_like, randperm
from sindri.ops._tensor_facts import give as _give
from sindri.ops import (abs, acos, acosh, addbmm, addcdiv, addmm, addmv, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, asin, asinh, atan,
                        atan2, atanh, baddbmm, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, broadcast_to, cdist, ceil, clamp, clip, cos, cosh,
                        cross, div, divide, dot, dstack, einsum, eq, erf, erfc, erfinv, exp, exp2, expm1, eye, float_power, floor, floor_divide, fmod,
                        gcd, ge, greater, greater_equal, gt, hstack, imag, inverse, isclose, isfinite, isinf, isnan, isneginf, kthvalue, le, lerp, less,
                        less_equal, log, log10, log1p, log2, logaddexp, logaddexp2, logical_and, logical_not, logical_or, logical_xor, lt, masked_select,
                        matmul, maximum, minimum, mm, mul, nan_to_num, ne, neg, negative, not_equal, ones, ones_like, outer, pow, ravel, real, reciprocal,
                        remainder, reshape, rsqrt, searchsorted, sigmoid, sign, sin, sinc, sinh, sqrt, square, swapaxes, t, tan, tanh, trace, tril, triu,
                        trunc, unbind, xlogy, zeros_like)

fix = trunc
_Dims = Union[None, int, Sequence[int]]
_SAME = """abs acos acosh addbmm addcdiv addmm addmv arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh baddbmm bitwise_and
bitwise_not bitwise_or bitwise_xor broadcast_to cdist ceil clamp clip cos cosh cross div divide dot dstack einsum eq erf erfc erfinv exp exp2 expm1
eye fix float_power floor floor_divide fmod gcd ge greater greater_equal gt hstack inverse isclose isfinite isinf isnan isneginf kthvalue le lerp less
less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor lt masked_select matmul maximum minimum mm mul
nan_to_num ne neg negative not_equal ones ones_like outer pow ravel reciprocal remainder reshape rsqrt searchsorted sigmoid sign sin sinc sinh sqrt
square swapaxes t tan tanh trace tril triu trunc unbind xlogy zeros_like imag real
bernoulli multinomial normal rand rand_like randint randint_like randn randn_like randperm"""


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies batches of matrices pairwise.

    Args:
        input (Tensor): The left matrices, [b, n, k].
        mat2 (Tensor): The right matrices, [b, k, m].

    Returns:
        The products, [b, n, m].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.bmm(ms.ops.ones((2, 1, 3)), ms.ops.ones((2, 3, 1))).shape)
        (2, 1, 1)
    """
    return _ops_.bmm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Multiplies a matrix by a vector.

    Args:
        input (Tensor): The matrix, [n, k].
        vec (Tensor): The vector, [k].

    Returns:
        The product, [n].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.mv(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([1.0, 1.0])))
        [3. 7.]
    """
    return _ops_.mv(input, vec)


def frac(input: Tensor) -> Tensor:
    """Returns the fractional part of each element, with its sign.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.frac(ms.Tensor([1.5, -1.25])))
        [ 0.5  -0.25]
    """
    return _ops_.frac(input)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Returns `length` slices along a dimension, from `start` on.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        start (int): The first slice.
        length (int): The number of slices.

    Returns:
        A view.

    Raises:
        ValueError: If the slices leave the tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.narrow(ms.Tensor([1, 2, 3, 4]), 0, 1, 2))
        [2 3]
    """
    return _ops_.narrow(input, dim, start, length)


def cummax(input: Tensor, dim: int) -> tuple:
    """Returns the largest element so far along a dimension and its index.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.

    Returns:
        (values, int64 indices).

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.cummax(ms.Tensor([1, 3, 2]), 0))
        [1 3 3] [0 1 1]
    """
    return _ops_.cummax(input, dim)


def cummin(input: Tensor, dim: int) -> tuple:
    """Returns the smallest element so far along a dimension and its index.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.

    Returns:
        (values, int32 indices).

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.cummin(ms.Tensor([2, 3, 1]), 0))
        [2 2 1] [0 0 2]
    """
    return _ops_.cummin(input, dim)


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Optional[Tensor] = None, append: Optional[Tensor] = None) -> Tensor:
    """Computes n times the differences of neighbours along a dimension.

    Args:
        input (Tensor): The tensor.
        n (int): How often differences are taken. Default: 1.
        dim (int): The dimension. Default: -1.
        prepend (Tensor): A tensor concatenated before `input`. Default: None.
        append (Tensor): A tensor concatenated after `input`. Default: None.

    Returns:
        The differences.

    Raises:
        ValueError: If `n` is negative or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.diff(ms.Tensor([1, 4, 9, 16])))
        [3 5 7]
    """
    return _ops_.diff(input, n, dim, prepend, append)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Returns a diagonal of a matrix, or the matrix with a vector as its diagonal.

    Args:
        input (Tensor): A matrix or a vector.
        diagonal (int): The diagonal; 0 is the main diagonal. Default: 0.

    Returns:
        A vector or a matrix.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.diag(ms.Tensor([1, 2])))
        [[1 0]
         [0 2]]
        >>> print(ms.mint.diag(ms.Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    return _ops_.diagflat(input, diagonal) if len(input.shape) == 1 else _ops_.diagonal(input, diagonal).copy()


def zeros(size: Any, *, dtype: Any = None) -> Tensor:
    """Creates a tensor of zeros.

    Args:
        size (int or sequence of ints): The shape.
        dtype (dtype): The element type; None means float32. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.zeros((2, 3)))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """
    return _ops_.zeros(size, dtype)


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Computes input + alpha * other.

    Args:
        input (Tensor or number): The first operand.
        other (Tensor or number): The second operand.
        alpha (number): The factor of `other`. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.add(ms.Tensor([1, 2]), ms.Tensor([3, 4]), alpha=10))
        [31 42]
    """
    return _ops_.add(input, other if alpha == 1 else _ops_.mul(other, alpha) if isinstance(other, Tensor) else other * alpha)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Computes input - alpha * other.

    Args:
        input (Tensor or number): The minuend.
        other (Tensor or number): The subtrahend.
        alpha (number): The factor of `other`. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.sub(ms.Tensor([5, 6]), ms.Tensor([1, 2]), alpha=2))
        [3 2]
    """
    return _ops_.sub(input, other if alpha == 1 else _ops_.mul(other, alpha) if isinstance(other, Tensor) else other * alpha)


def sum(input: Tensor, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sums elements over dimensions. bool and integers give int64 unless `dtype` is given.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The sums.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.sum(ms.Tensor([[1, 2], [3, 4]]), 1))
        [3 7]
    """
    return _ops_.sum(input, dim, keepdim, dtype=dtype)


def mean(input: Tensor, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Computes the mean over dimensions.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The means.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.mean(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [1.5 3.5]
    """
    return _ops_.mean(input if dtype is None else _ops_.cast(input, dtype), dim, keepdim)


def prod(input: Tensor, dim: Optional[int] = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Multiplies elements over a dimension, or all of them.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension; None means all. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The products.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.prod(ms.Tensor([[1, 2], [3, 4]]), 1))
        [ 2 12]
    """
    return _ops_.prod(input, dim, keepdim, dtype)


def _extremum(name: str, input: Tensor, dim: Any, keepdim: bool) -> Any:
    if isinstance(dim, Tensor):
        return getattr(_ops_, name + "imum")(input, dim)
    return getattr(_ops_, "a" + name)(input) if dim is None else getattr(_ops_, name)(input, dim, keepdim)


def max(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Returns the largest element, or the largest elements along a dimension, or the larger elements of two tensors.

    Args:
        input (Tensor): The tensor.
        dim (int or Tensor): The dimension, or a second tensor; None means all elements. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        A scalar; (values, int64 indices) with a dimension; a tensor of the broadcast shape with a second tensor.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.max(ms.Tensor([[1.0, 5.0], [7.0, 2.0]])))
        7.0
        >>> print(*ms.mint.max(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [5. 7.] [1 0]
    """
    return _extremum("max", input, dim, keepdim)


def min(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Returns the smallest element, or the smallest elements along a dimension, or the smaller elements of two tensors.

    Args:
        input (Tensor): The tensor.
        dim (int or Tensor): The dimension, or a second tensor; None means all elements. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        A scalar; (values, int64 indices) with a dimension; a tensor of the broadcast shape with a second tensor.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.min(ms.Tensor([[1.0, 5.0], [7.0, 2.0]])))
        1.0
        >>> print(*ms.mint.min(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [1. 2.] [0 1]
    """
    return _extremum("min", input, dim, keepdim)


def amax(input: Tensor, dim: _Dims = (), keepdim: bool = False) -> Tensor:
    """Returns the largest element over dimensions.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; () is all. Default: ().
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        The maxima.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.amax(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [5. 7.]
    """
    return _ops_.amax(input, dim or None if not isinstance(dim, int) else dim, keepdim)


def amin(input: Tensor, dim: _Dims = (), keepdim: bool = False) -> Tensor:
    """Returns the smallest element over dimensions.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; () is all. Default: ().
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        The minima.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.amin(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [1. 2.]
    """
    return _ops_.amin(input, dim or None if not isinstance(dim, int) else dim, keepdim)


def argmax(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Returns the index of the first largest element along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension; None uses the flat tensor. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        An int64 tensor.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.argmax(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [1 0]
    """
    return _ops_.argmax(input, dim, keepdim)


def argmin(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Returns the index of the first smallest element along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension; None uses the flat tensor. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        An int64 tensor.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.argmin(ms.Tensor([[1.0, 5.0], [7.0, 2.0]]), 1))
        [0 1]
    """
    return _ops_.cast(_ops_.argmin(input, dim, keepdim), _types.int64)


def all(input: Tensor, dim: _Dims = None, keepdim: bool = False) -> Tensor:
    """Returns whether all elements over dimensions are not 0.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        A bool tensor.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.all(ms.Tensor([[True, False], [True, True]]), 1))
        [False  True]
    """
    return _ops_.all(input, dim, keepdim)


def any(input: Tensor, dim: _Dims = None, keepdim: bool = False) -> Tensor:
    """Returns whether any element over dimensions is not 0.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        A bool tensor.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.any(ms.Tensor([[True, False], [False, False]]), 1))
        [ True False]
    """
    return _ops_.any(input, dim, keepdim)


def logsumexp(input: Tensor, dim: _Dims, keepdim: bool = False) -> Tensor:
    """Computes log(sum(exp(input))) over dimensions without overflow.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        A tensor of the reduced shape.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.logsumexp(ms.Tensor([1.0, 2.0, 3.0]), 0).asnumpy().round(4))
        3.4076
    """
    return _ops_.logsumexp(input, dim, keepdim)


def std(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Computes the standard deviation over dimensions. The sum of squares is divided by count - correction.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        correction (int): The number subtracted from the count. Default: 1.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        The standard deviations.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.std(ms.Tensor([1.0, 2.0, 3.0])))
        1.0
    """
    return _ops_.std(input, dim, correction, keepdim)


def var(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Computes the variance over dimensions. The sum of squares is divided by count - correction.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        correction (int): The number subtracted from the count. Default: 1.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        The variances.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.var(ms.Tensor([1.0, 2.0, 3.0])))
        1.0
    """
    return _ops_.var(input, dim, correction, keepdim)


def std_mean(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> tuple:
    """Computes the standard deviation and the mean over dimensions; see `std`.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        correction (int): The number subtracted from the count. Default: 1.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        (standard deviation, mean).

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.std_mean(ms.Tensor([1.0, 2.0, 3.0])))
        1.0 2.0
    """
    return _ops_.std_mean(input, dim, correction, keepdim)


def var_mean(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> tuple:
    """Computes the variance and the mean over dimensions; see `var`.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        correction (int): The number subtracted from the count. Default: 1.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.

    Returns:
        (variance, mean).

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.var_mean(ms.Tensor([1.0, 2.0, 3.0])))
        1.0 2.0
    """
    return _ops_.var_mean(input, dim, correction, keepdim)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Computes the sums up to and including each element along a dimension. bool and integers give int64 unless `dtype`
    is given.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.cumsum(ms.Tensor([1, 2, 3]), 0))
        [1 3 6]
    """
    return _ops_.cumsum(input, dim, _types.int64 if dtype is None and not input.dtype.is_floating else dtype)


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Computes the products up to and including each element along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.cumprod(ms.Tensor([1, 2, 3]), 0))
        [1 2 6]
    """
    return _ops_.cumprod(input, dim, dtype)


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple:
    """Sorts elements along a dimension. Equal elements keep their order.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.
        stable (bool): No effect: sorting is always stable. Default: False.

    Returns:
        (sorted values, int64 indices).

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.sort(ms.Tensor([3.0, 1.0, 2.0])))
        [1. 2. 3.] [1 2 0]
    """
    values, indices = _ops_.sort(input, dim, descending)
    return values, _ops_.cast(indices, _types.int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Returns the indices that sort the tensor along a dimension; see `sort`.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.
        stable (bool): No effect: sorting is always stable. Default: False.

    Returns:
        An int64 tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.argsort(ms.Tensor([3.0, 1.0, 2.0])))
        [1 2 0]
    """
    return sort(input, dim=dim, descending=descending)[1]


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple:
    """Returns the k largest or smallest elements along a dimension with their indices.

    Args:
        input (Tensor): The tensor.
        k (int): The number of elements.
        dim (int): The dimension. Default: -1.
        largest (bool): Whether to return the largest elements; False returns the smallest. Default: True.
        sorted (bool): No effect: the result is always sorted. Default: True.

    Returns:
        (values, int64 indices).

    Raises:
        ValueError: If `dim` is out of range or `k` exceeds the dimension.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.topk(ms.Tensor([1.0, 4.0, 2.0, 3.0]), 2))
        [4. 3.] [1 3]
    """
    values, indices = _ops_.topk(input, k, dim, largest, sorted)
    return values, _ops_.cast(indices, _types.int64)


def median(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Returns the median of all elements, or of those along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension; None means all elements. Default: None.
        keepdim (bool): Whether the reduced dimension is kept with size 1. Default: False.

    Returns:
        The median, or (medians, int64 indices) with `dim`.

    Raises:
        ValueError: If `dim` is out of range or there are no elements.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.median(ms.Tensor([3.0, 1.0, 2.0])))
        2.0
    """
    return _ops_.median(_ops_.reshape(input, (-1,)), 0)[0] if dim is None else _ops_.median(input, dim, keepdim)


def norm(input: Tensor, p: Any = "fro", dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Computes the p-norm of the elements over dimensions; over two dimensions it is still the norm of the elements as a
    vector.

    Args:
        input (Tensor): The tensor.
        p (number or str): The order; "fro" is 2, "nuc" is the sum of a matrix's singular values. Default: "fro".
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The norms.

    Raises:
        ValueError: If `p` is not supported or a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.norm(ms.Tensor([3.0, 4.0])))
        5.0
    """
    if p == "nuc":
        return _ops_.matrix_norm(input, "nuc", (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    return _ops_.vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Concatenates tensors along an existing dimension.

    Args:
        tensors (sequence of Tensors): The tensors; their shapes differ along `dim` only.
        dim (int): The dimension to concatenate along. Default: 0.

    Returns:
        The concatenated tensor.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If the shapes are incompatible or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.cat((ms.Tensor([[1, 2]]), ms.Tensor([[3, 4]]))))
        [[1 2]
         [3 4]]
    """
    return _ops_.concat(tensors, dim)


concat = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Stacks tensors along a new dimension.

    Args:
        tensors (sequence of Tensors): Tensors of one shape.
        dim (int): The position of the new dimension. Default: 0.

    Returns:
        A tensor with one dimension more.

    Raises:
        TypeError: If `tensors` is not a tuple or list of tensors.
        ValueError: If the shapes differ or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.stack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return _ops_.stack(tensors, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple:
    """Splits a tensor along a dimension.

    Args:
        tensor (Tensor): The tensor.
        split_size_or_sections (int or sequence of ints): The size of each piece (the last may be smaller), or the
            sizes of all.
        dim (int): The dimension. Default: 0.

    Returns:
        A tuple of views.

    Raises:
        ValueError: If the sizes do not add up or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.split(ms.Tensor([1, 2, 3, 4, 5]), 2))
        [1 2] [3 4] [5]
    """
    return _ops_.split(tensor, split_size_or_sections, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """Splits a tensor into at most `chunks` pieces along a dimension; an empty dimension gives exactly `chunks` pieces.

    Args:
        input (Tensor): The tensor.
        chunks (int): The greatest number of pieces.
        dim (int): The dimension. Default: 0.

    Returns:
        A tuple of views.

    Raises:
        ValueError: If `chunks` is below 1 or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.mint.chunk(ms.Tensor([1, 2, 3, 4, 5]), 2))
        [1 2 3] [4 5]
    """
    if isinstance(chunks, int) and chunks > 0 and -len(input.shape) <= dim < len(input.shape) and input.shape[dim] == 0:
        return tuple(_ops_.narrow(input, dim, 0, 0) for _ in range(chunks))
    return _ops_.chunk(input, chunks, dim)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchanges two dimensions.

    Args:
        input (Tensor): The tensor.
        dim0 (int): The first dimension.
        dim1 (int): The second dimension.

    Returns:
        A view.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.transpose(ms.Tensor([[1, 2], [3, 4]]), 0, 1))
        [[1 3]
         [2 4]]
    """
    return _ops_.swapaxes(input, dim0, dim1)


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Permutes the dimensions.

    Args:
        input (Tensor): The tensor.
        dims (sequence of ints): The order of the dimensions.

    Returns:
        A view.

    Raises:
        ValueError: If `dims` is not a permutation.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.permute(ms.ops.ones((2, 3, 4)), (2, 0, 1)).shape)
        (4, 2, 3)
    """
    return _ops_.permute(input, dims)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Flattens dimensions start_dim to end_dim into one.

    Args:
        input (Tensor): The tensor.
        start_dim (int): The first dimension to flatten. Default: 0.
        end_dim (int): The last dimension to flatten. Default: -1.

    Returns:
        A view.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.flatten(ms.ops.ones((2, 3, 4)), 1).shape)
        (2, 12)
    """
    return input.flatten(start_dim=start_dim, end_dim=end_dim)


def squeeze(input: Tensor, dim: Any) -> Tensor:
    """Removes the given dimensions that have size 1.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions.

    Returns:
        A view.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.squeeze(ms.ops.ones((1, 3, 1)), 0).shape)
        (3, 1)
    """
    return _ops_.squeeze(input, dim)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Inserts a dimension of size 1.

    Args:
        input (Tensor): The tensor.
        dim (int): The position of the new dimension.

    Returns:
        A view.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.unsqueeze(ms.Tensor([1, 2, 3]), 0).shape)
        (1, 3)
    """
    return _ops_.expand_dims(input, dim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Gathers elements along a dimension: out[i][j] = input[i][index[i][j]] for dim 1.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        index (Tensor): The indices, of input's rank.

    Returns:
        A tensor of index's shape.

    Raises:
        ValueError: If an index or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.gather(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([[0, 0], [1, 0]])))
        [[1 1]
         [4 3]]
    """
    return _ops_.gather_elements(input, dim, index)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Gathers slices along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        index (Tensor): A vector of indices.

    Returns:
        The slices.

    Raises:
        ValueError: If `index` is not a vector, or an index or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.index_select(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([1])))
        [[2]
         [4]]
    """
    return _ops_.index_select(input, dim, index)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Adds alpha times the slices of `source` to those that `index` names along a dimension. The input is unchanged.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        index (Tensor): A vector of indices.
        source (Tensor): The slices.
        alpha (number): The factor of `source`. Default: 1.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If an index or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.index_add(ms.Tensor([1, 2, 3]), 0, ms.Tensor([0, 2]), ms.Tensor([10, 10])))
        [11  2 13]
    """
    return input.index_add(dim, index, source, alpha=alpha)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Writes src[i][j] to [index[i][j]][j] for dim 0. The input is unchanged.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension that `index` indexes.
        index (Tensor): The indices, of input's rank.
        src (Tensor or number): The values.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If the shapes are incompatible, or an index or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.scatter(ms.Tensor([1, 2, 3]), 0, ms.Tensor([0, 2]), ms.Tensor([10, 30])))
        [10  2 30]
    """
    return _ops_.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Adds src[i][j] to [index[i][j]][j] for dim 0. The input is unchanged.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension that `index` indexes.
        index (Tensor): The indices, of input's rank.
        src (Tensor): The values, of index's shape.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If the shapes are incompatible, or an index or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.scatter_add(ms.Tensor([1, 2, 3]), 0, ms.Tensor([0, 2]), ms.Tensor([10, 30])))
        [11  2 33]
    """
    return _ops_.tensor_scatter_elements(input, index, src, dim, "add")


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Returns the slice at an index of a dimension, without that dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        index (int): The index.

    Returns:
        A view.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.select(ms.Tensor([[1, 2], [3, 4]]), 0, 1))
        [3 4]
    """
    return input.select(dim, index)


def take(input: Tensor, index: Tensor) -> Tensor:
    """Returns elements of the flat tensor.

    Args:
        input (Tensor): The tensor.
        index (Tensor): The positions, of any shape.

    Returns:
        A tensor of index's shape.

    Raises:
        ValueError: If an index is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.take(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([0, 3])))
        [1 4]
    """
    return _ops_.gather(_ops_.reshape(input, (-1,)), index, 0)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Selects elements of `input` where a condition is True, else of `other`.

    Without `input` and `other` it returns the positions where the condition is True.

    Args:
        condition (Tensor): The condition.
        input (Tensor or number): The values for True. Default: None.
        other (Tensor or number): The values for False. Default: None.

    Returns:
        A tensor of the broadcast shape, or a tuple of one int64 vector per dimension.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.where(ms.Tensor([True, False]), ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [1 4]
    """
    return _ops_.nonzero(condition, as_tuple=True) if input is None and other is None else _ops_.where(condition, input, other)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Returns the positions of the elements that are not 0. Code that calls it runs eagerly.

    Args:
        input (Tensor): The tensor.
        as_tuple (bool): Whether to return one vector per dimension. Default: False.

    Returns:
        An int64 tensor of shape [n, rank], or a tuple of vectors.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nonzero(ms.Tensor([[0, 1], [2, 0]])))
        [[0 1]
         [1 0]]
    """
    return _ops_.nonzero(input, as_tuple=as_tuple)


def count_nonzero(input: Tensor, dim: _Dims = None) -> Tensor:
    """Counts the elements over dimensions that are not 0.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.

    Returns:
        An int64 tensor.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.count_nonzero(ms.Tensor([[0, 1], [2, 3]]), 1))
        [1 2]
    """
    return _ops_.sum(_ops_.not_equal(input, 0), dim)


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Repeats a tensor dims[d] times along dimension d.

    Args:
        input (Tensor): The tensor.
        dims (sequence of ints): The number of repetitions per dimension.

    Returns:
        The repeated tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.tile(ms.Tensor([1, 2]), (2, 2)))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    return _ops_.tile(input, dims)


def repeat_interleave(input: Tensor, repeats: Any, dim: Optional[int] = None) -> Tensor:
    """Repeats each element in sequence along a dimension.

    Args:
        input (Tensor): The tensor.
        repeats (int, sequence of ints or Tensor): The number of repetitions, one for all or one per element.
        dim (int): The dimension; None repeats the flat tensor. Default: None.

    Returns:
        The repeated tensor.

    Raises:
        ValueError: If there are several repeats, but not one per element.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.repeat_interleave(ms.Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    return _ops_.repeat_interleave(input, repeats, dim)


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reverses the order of the elements along dimensions.

    Args:
        input (Tensor): The tensor.
        dims (int or sequence of ints): The dimensions.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If a dimension is named twice or is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.flip(ms.Tensor([[1, 2], [3, 4]]), (1,)))
        [[2 1]
         [4 3]]
    """
    return _ops_.flip(input, dims)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Shifts elements along dimensions; those shifted out at one end enter at the other.

    Args:
        input (Tensor): The tensor.
        shifts (int or sequence of ints): The number of places, one per dimension.
        dims (int or sequence of ints): The dimensions; None shifts the flat tensor. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `shifts` and `dims` differ in length.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.roll(ms.Tensor([1, 2, 3, 4]), 1))
        [4 1 2 3]
    """
    return _ops_.roll(input, shifts, dims)


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """Returns the distinct elements in ascending order. Code that calls it runs eagerly.

    Args:
        input (Tensor): The tensor.
        sorted (bool): No effect: the elements are always sorted. Default: True.
        return_inverse (bool): Whether to return the index of each element in the result. Default: False.
        return_counts (bool): Whether to return how often each element occurs. Default: False.

    Returns:
        The elements, or a tuple of them and what was asked for, as int64.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.unique(ms.Tensor([3, 1, 3, 2])))
        [1 2 3]
    """
    values, inverse, counts = np.unique(input.asnumpy(), return_inverse=True, return_counts=True)
    out = [Tensor(values)] + ([Tensor(inverse.reshape(input.shape).astype(np.int64))] if return_inverse else [])
    out += [Tensor(counts.astype(np.int64))] if return_counts else []
    return out[0] if len(out) == 1 else tuple(out)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Computes exp(input) divided by its sum along a dimension.

    Args:
        input (Tensor): The tensor.
        dim (int): The dimension.
        dtype (dtype): The type that the input is cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.softmax(ms.Tensor([1.0, 2.0, 3.0]), 0).asnumpy().round(4))
        [0.09   0.2447 0.6652]
    """
    return _ops_.softmax(input if dtype is None else _ops_.cast(input, dtype), dim)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple:
    """Creates coordinate grids: one tensor per vector, repeated along the dimensions of the others.

    Args:
        *tensors: The vectors, also as one tuple or list.
        indexing (str): "ij", or "xy" to exchange the first two dimensions. Default: "ij".

    Returns:
        A tuple of tensors of one shape.

    Raises:
        ValueError: If `indexing` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.meshgrid(ms.Tensor([1, 2]), ms.Tensor([3, 4]))[0])
        [[1 1]
         [2 2]]
    """
    vectors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return _ops_.meshgrid(*vectors, indexing=indexing)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """Creates evenly spaced numbers from start to end, both included.

    Args:
        start (number or Tensor): The first number.
        end (number or Tensor): The last number.
        steps (int): The number of elements.
        dtype (dtype): The element type; None means float32. Default: None.

    Returns:
        A vector.

    Raises:
        ValueError: If `steps` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    out = _ops_.linspace(start, end, steps)
    return out if dtype is None else _ops_.cast(out, dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """Creates the numbers start, start + step, … before end; arange(end) counts from 0.

    Args:
        start (number): The first number. Default: 0.
        end (number): The exclusive end. Default: None.
        step (number): The difference of two numbers. Default: 1.
        dtype (dtype): The element type; None means int64, or float32 if an argument is a float. Default: None.

    Returns:
        A vector.

    Raises:
        ValueError: If `step` is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.arange(5))
        [0 1 2 3 4]
    """
    return _ops_.arange(start, end, step, dtype=dtype)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Creates a tensor with every element `fill_value`.

    Args:
        size (int or sequence of ints): The shape.
        fill_value (number): The value.
        dtype (dtype): The element type; None means that of the value, int64, float32 or bool. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.full((2, 2), 7))
        [[7 7]
         [7 7]]
    """
    return _ops_.full(size, fill_value, dtype=dtype)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Creates a tensor of input's shape with every element `fill_value`.

    Args:
        input (Tensor): The tensor whose shape is used.
        fill_value (number): The value.
        dtype (dtype): The element type; None means input's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.full_like(ms.Tensor([1, 2]), 7))
        [7 7]
    """
    return _ops_.full_like(input, fill_value, dtype=dtype)


def empty(*size: Any, dtype: Any = None) -> Tensor:
    """Creates a tensor of a shape; its elements are 0 here.

    Args:
        *size: The shape, as (2, 3) or 2, 3.
        dtype (dtype): The element type; None means float32. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.empty(2, 3).shape)
        (2, 3)
    """
    return _ops_.zeros(size[0] if len(size) == 1 else size, dtype or _types.float32)


def empty_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Creates a tensor of input's shape; its elements are 0 here.

    Args:
        input (Tensor): The tensor whose shape is used.
        dtype (dtype): The element type; None means input's type. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.empty_like(ms.Tensor([1, 2])).shape)
        (2,)
    """
    return _ops_.zeros_like(input, dtype=dtype)


def clone(input: Tensor) -> Tensor:
    """Returns a new tensor with the same values.

    Args:
        input (Tensor): The tensor.

    Returns:
        The new tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.clone(ms.Tensor([1, 2])))
        [1 2]
    """
    return input.copy()


def item(input: Tensor) -> Any:
    """Returns the only element as a Python number.

    Args:
        input (Tensor): A tensor of one element.

    Returns:
        A Python number.

    Raises:
        ValueError: If there are several elements.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.item(ms.Tensor([3])))
        3
    """
    return input.item()


def equal(input: Tensor, other: Tensor) -> bool:
    """Returns whether the shapes and all elements are equal.

    Args:
        input (Tensor): The first tensor.
        other (Tensor): The second tensor.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.equal(ms.Tensor([1, 2]), ms.Tensor([1, 2])))
        True
    """
    return input.shape == other.shape and bool(_ops_.all(_ops_.equal(input, other)))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Returns whether |input - other| <= atol + rtol * |other| for all elements.

    Args:
        input (Tensor): The first tensor.
        other (Tensor): The second tensor.
        rtol (float): The relative tolerance. Default: 1e-05.
        atol (float): The absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two NaN count as close. Default: False.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.allclose(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 2.0])))
        True
    """
    return bool(_ops_.all(_ops_.isclose(input, other, rtol, atol, equal_nan)))


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounds to a number of decimals, halves to even.

    Args:
        input (Tensor): The input, of any shape.
        decimals (int): The number of digits after the point. Default: 0.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.round(ms.Tensor([0.5, 1.5, -1.7])))
        [ 0.  2. -2.]
    """
    return _ops_.round(input) if decimals == 0 else _ops_.div(_ops_.round(_ops_.mul(input, 10.0 ** decimals)), 10.0 ** decimals)


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Counts the elements in each of `bins` equal parts of [min, max]; see `ops.histc`.

    Args:
        input (Tensor): The tensor.
        bins (int): The number of parts. Default: 100.
        min (float): The lower bound. Default: 0.
        max (float): The upper bound. Default: 0.

    Returns:
        A vector of `bins` elements.

    Raises:
        ValueError: If `bins` is below 1 or `min` exceeds `max`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.histc(ms.Tensor([1.0, 2.0, 1.0]), 4, 0.0, 3.0))
        [0. 2. 1. 0.]
    """
    return _ops_.histc(input, bins, min, max)


def bincount(input: Tensor, weights: Optional[Tensor] = None, minlength: int = 0) -> Tensor:
    """Counts how often each number from 0 on occurs in a vector of integers. Code that calls it runs eagerly.

    Args:
        input (Tensor): A vector of integers.
        weights (Tensor): The weight of each element; None means 1. Default: None.
        minlength (int): The least size of the result. Default: 0.

    Returns:
        An int64 vector, or one of the weights' type.

    Raises:
        ValueError: If a number is negative or `input` is not a vector.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.bincount(ms.Tensor([0, 2, 2])))
        [1 0 2]
    """
    counts = _ops_.bincount(input, weights, minlength)
    return counts if weights is not None else _ops_.cast(counts, _types.int64)


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Computes input + value * tensor1 * tensor2.

    Args:
        input (Tensor): The tensor to add to.
        tensor1 (Tensor): The first factor.
        tensor2 (Tensor): The second factor.
        value (number): The factor of the product. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.addcmul(ms.Tensor([1.0, 1.0]), ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0]), value=2))
        [ 7. 17.]
    """
    return _ops_.addcmul(input, tensor1, tensor2, value)


def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Writes beta * input + alpha * outer(vec1, vec2) into the input.

    Args:
        input (Tensor): The matrix, [n, m].
        vec1 (Tensor): The left vector, [n].
        vec2 (Tensor): The right vector, [m].
        beta (number): The factor of `input`. Default: 1.
        alpha (number): The factor of the product. Default: 1.

    Returns:
        `input`.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.addr_(ms.Tensor([[1.0], [1.0]]), ms.Tensor([1.0, 2.0]), ms.Tensor([3.0])))
        [[4.]
         [7.]]
    """
    return _give(input, _ops_.addr(input, vec1, vec2, beta=beta, alpha=alpha))


def nansum(input: Tensor, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sums elements over dimensions; NaN counts as 0.

    Args:
        input (Tensor): The tensor.
        dim (int or sequence of ints): The dimensions; None means all. Default: None.
        keepdim (bool): Whether reduced dimensions are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The sums.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nansum(ms.Tensor([1.0, float("nan"), 2.0])))
        3.0
    """
    return _ops_.nansum(input, dim, keepdim, dtype=dtype)


def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> tuple:
    """Solves A·x = b for triangular matrices A. Leading dimensions broadcast.

    Args:
        b (Tensor): The right-hand sides, [.., n, m].
        A (Tensor): The matrices, [.., n, n].
        upper (bool): Whether `A` is upper triangular. Default: True.
        transpose (bool): Whether to solve Aᵀ·x = b. Default: False.
        unitriangular (bool): Whether the diagonal counts as 1. Default: False.

    Returns:
        (x, a copy of A).

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.triangular_solve(ms.Tensor([[2.0], [4.0]]), ms.Tensor([[1.0, 0.0], [0.0, 2.0]]))[0])
        [[2.]
         [2.]]
    """
    lead = np.broadcast_shapes(b.shape[:-2], A.shape[:-2])
    matrix, right = _ops_.broadcast_to(A, lead + A.shape[-2:]), _ops_.broadcast_to(b, lead + b.shape[-2:])
    return _core.ops.triangular_solve(matrix, right, not upper, transpose, unitriangular), _ops_.reshape(A, A.shape)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Optional[int] = None) -> Any:
    """Returns the elements, or with `dim` the slices along it, that differ from the preceding one.

    The number of results depends on values, so code that calls it runs eagerly.

    Args:
        input (Tensor): The tensor.
        return_inverse (bool): Whether to return the index of each one in the result. Default: False.
        return_counts (bool): Whether to return how often each one is repeated. Default: False.
        dim (int): The dimension; None uses the flat tensor. Default: None.

    Returns:
        The elements, or a tuple of them and what was asked for, as int64.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.unique_consecutive(ms.Tensor([1, 1, 2, 1])))
        [1 2 1]
    """
    x = _ops_.reshape(input, (-1,)) if dim is None else input
    axis = 0 if dim is None else dim
    values = np.moveaxis(x.asnumpy(), axis, 0)
    flat = values.reshape(len(values), -1)
    first = np.ones(len(flat), bool)
    first[1:] = (flat[1:] != flat[:-1]).any(1)
    places = np.flatnonzero(first)
    inverse = np.cumsum(first) - 1
    out = [_ops_.index_select(x, axis, Tensor(places))]
    out += [Tensor(inverse.reshape(input.shape if dim is None else -1))] if return_inverse else []
    out += [Tensor(np.diff(np.append(places, len(flat))))] if return_counts else []
    return out[0] if len(out) == 1 else tuple(out)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Computes the cross-correlation along time of [time, batch, channels] with a weight [k, channels, out].

    Args:
        input (Tensor): The sequences.
        weight (Tensor): The weight.
        bias (Tensor): The bias, [out].
        pad (int): The number of zeros at both ends. Default: 0.

    Returns:
        A tensor of shape [time', batch, out].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.conv_tbc(ms.ops.ones((4, 1, 1)), ms.ops.ones((2, 1, 1)), ms.Tensor([0.0])).ravel())
        [2. 2. 2.]
    """
    signals = nn.functional.conv1d(_ops_.permute(input, (1, 2, 0)), _ops_.permute(weight, (2, 1, 0)), bias, 1, pad)
    return _ops_.permute(signals, (2, 0, 1))


def _channels(input: Tensor, where: str) -> tuple:
    """Returns (all dimensions but 1, the shape of one value per channel)."""
    if len(input.shape) < 2:
        _fail(ValueError, f"the input must have at least 2 dimensions, got shape {tuple(input.shape)}", where)
    return tuple(d for d in range(len(input.shape)) if d != 1), [-1 if d == 1 else 1 for d in range(len(input.shape))]


def batch_norm_stats(input: Tensor, eps: float) -> tuple:
    """Computes one rank's statistics for batch normalisation over ranks. Half types give float32.

    Args:
        input (Tensor): The input, [n, c, …].
        eps (float): A value added to the variance.

    Returns:
        (mean, 1/sqrt(variance + eps)), both [c].

    Raises:
        ValueError: If `input` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.batch_norm_stats(ms.Tensor([[1.0], [3.0]]), 0.0)[1].asnumpy().round(4))
        [1.]
    """
    axes, _ = _channels(input, "mint.batch_norm_stats")
    x = input if input.dtype is _types.float64 else _ops_.cast(input, _types.float32)
    mean = _ops_.mean(x, axes, True)
    variance = _ops_.mean(_ops_.square(_ops_.sub(x, mean)), axes)
    return _ops_.reshape(mean, (-1,)), _ops_.rsqrt(_ops_.add(variance, eps))


def batch_norm_gather_stats_with_counts(input: Tensor, mean: Tensor, invstd: Tensor, running_mean: Optional[Tensor] = None,
                                        running_var: Optional[Tensor] = None, momentum: float = 0.1, eps: float = 1e-5,
                                        counts: Optional[Tensor] = None) -> tuple:
    """Combines the ranks' statistics of `batch_norm_stats`.

    `running_mean` and `running_var`, if given, are updated in place with the unbiased variance.

    Args:
        input (Tensor): This rank's input, [n, c, …].
        mean (Tensor): The ranks' means, [ranks, c].
        invstd (Tensor): The ranks' 1/sqrt(variance + eps), [ranks, c].
        running_mean (Tensor): The moving mean, [c]. Default: None.
        running_var (Tensor): The moving variance, [c]. Default: None.
        momentum (float): The weight of the batch in the update. Default: 0.1.
        eps (float): A value added to the variance. Default: 1e-05.
        counts (Tensor): The number of values per channel of each rank, [ranks]; None means that of `input` for all.
            Default: None.

    Returns:
        (mean, 1/sqrt(variance + eps)), both [c].

    Raises:
        ValueError: If `input` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.batch_norm_gather_stats_with_counts(ms.Tensor([[1.0], [3.0]]), ms.Tensor([[2.0], [4.0]]), ms.Tensor([[1.0], [1.0]]))[0])
        [3.]
    """
    _channels(input, "mint.batch_norm_gather_stats_with_counts")
    kind = mean.dtype
    values = _ops_.full((mean.shape[0],), input.size // input.shape[1], dtype=kind) if counts is None else _ops_.cast(counts, kind)
    each = _ops_.reshape(values, (-1, 1))
    total = _ops_.sum(each)
    whole = _ops_.div(_ops_.sum(_ops_.mul(mean, each), 0), total)
    own = _ops_.sub(_ops_.reciprocal(_ops_.square(invstd)), eps)  # the ranks' variances
    variance = _ops_.div(_ops_.sum(_ops_.mul(_ops_.add(own, _ops_.square(_ops_.sub(mean, whole))), each), 0), total)
    unbiased = _ops_.mul(variance, _ops_.div(total, _ops_.maximum(_ops_.sub(total, 1), 1)))
    for running, batch in ((running_mean, whole), (running_var, unbiased)):
        if running is not None:
            _give(running, _ops_.add(_ops_.mul(running, 1 - momentum), _ops_.mul(_ops_.stop_gradient(batch), momentum)))
    return whole, _ops_.rsqrt(_ops_.add(variance, eps))


def batch_norm_elemt(input: Tensor, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, mean: Optional[Tensor] = None,
                     invstd: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """Computes (input - mean) * invstd * weight + bias per channel, in input's type.

    Args:
        input (Tensor): The input, [n, c, …].
        weight (Tensor): The scale, [c]; None means ones. Default: None.
        bias (Tensor): The shift, [c]; None means zeros. Default: None.
        mean (Tensor): The means, [c]. Default: None.
        invstd (Tensor): 1/sqrt(variance + eps), [c]. Default: None.
        eps (float): No effect: `invstd` includes it. Default: 1e-05.

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `mean` or `invstd` is missing, or `input` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.batch_norm_elemt(ms.Tensor([[1.0], [3.0]]), mean=ms.Tensor([2.0]), invstd=ms.Tensor([1.0])))
        [[-1.]
         [ 1.]]
    """
    _, shape = _channels(input, "mint.batch_norm_elemt")
    if mean is None or invstd is None:
        _fail(ValueError, "mean and invstd are needed", "mint.batch_norm_elemt", "give those of batch_norm_stats")
    out = _ops_.mul(_ops_.sub(_ops_.cast(input, mean.dtype), _ops_.reshape(mean, shape)), _ops_.reshape(invstd, shape))
    out = out if weight is None else _ops_.mul(out, _ops_.reshape(_ops_.cast(weight, mean.dtype), shape))
    out = out if bias is None else _ops_.add(out, _ops_.reshape(_ops_.cast(bias, mean.dtype), shape))
    return _ops_.cast(out, input.dtype)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Computes the scalar product of two vectors.

    Args:
        input (Tensor): The first vector.
        other (Tensor): The second vector.

    Returns:
        A scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.vdot(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        11.0
    """
    return _ops_.sum(_ops_.mul(input, other))


__all__ = _SAME.split() + [name for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == __name__ and name[0] != "_"]

from sindri.mint import linalg, nn, optim, special  # noqa: E402
from sindri.mint.nn.functional import conv2d  # noqa: E402

__all__.append("conv2d")
