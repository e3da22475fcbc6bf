"""mindspore.mint: functions with PyTorch's names and arguments, as far as functions of sindri.ops compute them.

Where MindSpore 2.10's CPU build has no kernel for one, it works here all the same.
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
    """Products of two equally long rows of matrices."""
    return _ops_.bmm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Matrix times vector."""
    return _ops_.mv(input, vec)


def frac(input: Tensor) -> Tensor:
    """What is left of the number without its integer part."""
    return _ops_.frac(input)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """length elements from start on along dim."""
    return _ops_.narrow(input, dim, start, length)


def cummax(input: Tensor, dim: int) -> tuple:
    """(largest elements up to each one along dim, their indices)."""
    return _ops_.cummax(input, dim)


def cummin(input: Tensor, dim: int) -> tuple:
    """(smallest elements up to each one along dim, their indices)."""
    return _ops_.cummin(input, dim)


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Optional[Tensor] = None, append: Optional[Tensor] = None) -> Tensor:
    """n times the differences of neighbours along dim."""
    return _ops_.diff(input, n, dim, prepend, append)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A diagonal of a matrix, or the matrix with a vector as its diagonal."""
    return _ops_.diagflat(input, diagonal) if len(input.shape) == 1 else _ops_.diagonal(input, diagonal).copy()


def zeros(size: Any, *, dtype: Any = None) -> Tensor:
    """Zeros of a shape."""
    return _ops_.zeros(size, dtype)


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha * other."""
    return _ops_.add(input, other if alpha == 1 else _ops_.mul(other, alpha) if isinstance(other, Tensor) else other * alpha)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other."""
    return _ops_.sub(input, other if alpha == 1 else _ops_.mul(other, alpha) if isinstance(other, Tensor) else other * alpha)


def sum(input: Tensor, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum over dimensions; of bools and integers in int64 unless dtype says otherwise."""
    return _ops_.sum(input, dim, keepdim, dtype=dtype)


def mean(input: Tensor, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean over dimensions."""
    return _ops_.mean(input if dtype is None else _ops_.cast(input, dtype), dim, keepdim)


def prod(input: Tensor, dim: Optional[int] = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Product over a dimension or everything."""
    return _ops_.prod(input, dim, keepdim, dtype)


def _extremum(name: str, input: Tensor, dim: Any, keepdim: bool) -> Any:
    if isinstance(dim, Tensor):
        return getattr(_ops_, name + "imum")(input, dim)
    return getattr(_ops_, "a" + name)(input) if dim is None else getattr(_ops_, name)(input, dim, keepdim)


def max(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element; with dim (values, their indices); with a tensor in its place the larger elements of both."""
    return _extremum("max", input, dim, keepdim)


def min(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element; with dim (values, their indices); with a tensor in its place the smaller elements of both."""
    return _extremum("min", input, dim, keepdim)


def amax(input: Tensor, dim: _Dims = (), keepdim: bool = False) -> Tensor:
    """Largest elements over dimensions."""
    return _ops_.amax(input, dim or None if not isinstance(dim, int) else dim, keepdim)


def amin(input: Tensor, dim: _Dims = (), keepdim: bool = False) -> Tensor:
    """Smallest elements over dimensions."""
    return _ops_.amin(input, dim or None if not isinstance(dim, int) else dim, keepdim)


def argmax(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first largest element along dim, or in the flat tensor."""
    return _ops_.argmax(input, dim, keepdim)


def argmin(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first smallest element along dim, or in the flat tensor."""
    return _ops_.cast(_ops_.argmin(input, dim, keepdim), _types.int64)


def all(input: Tensor, dim: _Dims = None, keepdim: bool = False) -> Tensor:
    """Whether all elements over dimensions are not 0."""
    return _ops_.all(input, dim, keepdim)


def any(input: Tensor, dim: _Dims = None, keepdim: bool = False) -> Tensor:
    """Whether any element over dimensions is not 0."""
    return _ops_.any(input, dim, keepdim)


def logsumexp(input: Tensor, dim: _Dims, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))) over dimensions."""
    return _ops_.logsumexp(input, dim, keepdim)


def std(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Standard deviation over dimensions, the squares divided by the count less correction."""
    return _ops_.std(input, dim, correction, keepdim)


def var(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Variance over dimensions, the squares divided by the count less correction."""
    return _ops_.var(input, dim, correction, keepdim)


def std_mean(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> tuple:
    """(std, mean)."""
    return _ops_.std_mean(input, dim, correction, keepdim)


def var_mean(input: Tensor, dim: _Dims = None, *, correction: int = 1, keepdim: bool = False) -> tuple:
    """(var, mean)."""
    return _ops_.var_mean(input, dim, correction, keepdim)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Sums up to and including each element along dim; of bools and integers in int64 unless dtype says otherwise."""
    return _ops_.cumsum(input, dim, _types.int64 if dtype is None and not input.dtype.is_floating else dtype)


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Products up to and including each element along dim."""
    return _ops_.cumprod(input, dim, dtype)


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple:
    """(sorted values, their indices) along dim; equal elements keep their order whatever `stable` says."""
    values, indices = _ops_.sort(input, dim, descending)
    return values, _ops_.cast(indices, _types.int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices of sort."""
    return sort(input, dim=dim, descending=descending)[1]


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple:
    """(the k largest or smallest values along dim, their int64 indices)."""
    values, indices = _ops_.topk(input, k, dim, largest, sorted)
    return values, _ops_.cast(indices, _types.int64)


def median(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """The median of all elements; with dim (medians, indices)."""
    return _ops_.median(_ops_.reshape(input, (-1,)), 0)[0] if dim is None else _ops_.median(input, dim, keepdim)


def norm(input: Tensor, p: Any = "fro", dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm of the elements over dimensions, of vectors also over two of them; 'fro' means 2, 'nuc' the sum of a matrix's singular values."""
    if p == "nuc":
        return _ops_.matrix_norm(input, "nuc", (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    return _ops_.vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one behind the other along dim."""
    return _ops_.concat(tensors, dim)


concat = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors side by side along a new dimension."""
    return _ops_.stack(tensors, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple:
    """Pieces of the given size or sizes along dim."""
    return _ops_.split(tensor, split_size_or_sections, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """At most `chunks` pieces along dim; of an empty dimension exactly so many."""
    if isinstance(chunks, int) and chunks > 0 and -len(input.shape) <= dim < len(input.shape) and input.shape[dim] == 0:
        return tuple(_ops_.narrow(input, dim, 0, 0) for _ in range(chunks))
    return _ops_.chunk(input, chunks, dim)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    return _ops_.swapaxes(input, dim0, dim1)


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """The dimensions in the order of dims."""
    return _ops_.permute(input, dims)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one."""
    return input.flatten(start_dim=start_dim, end_dim=end_dim)


def squeeze(input: Tensor, dim: Any) -> Tensor:
    """Without the named dimensions that have size 1."""
    return _ops_.squeeze(input, dim)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """input with a dimension of size 1 put in."""
    return _ops_.expand_dims(input, dim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """One element per place of index, picked along dim."""
    return _ops_.gather_elements(input, dim, index)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along dim that index names."""
    return _ops_.index_select(input, dim, index)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """input with alpha times the slices of source added to those that index names along dim."""
    return input.index_add(dim, index, source, alpha=alpha)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """input with the elements of src put where index names along dim."""
    return _ops_.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """input with the elements of src added where index names along dim."""
    return _ops_.tensor_scatter_elements(input, index, src, dim, "add")


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at index of a dimension, without it."""
    return input.select(dim, index)


def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the flat tensor."""
    return _ops_.gather(_ops_.reshape(input, (-1,)), index, 0)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of input where condition holds, else of other; without them the indices where it does, one tensor per dimension."""
    return _ops_.nonzero(condition, as_tuple=True) if input is None and other is None else _ops_.where(condition, input, other)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of elements that are not 0."""
    return _ops_.nonzero(input, as_tuple=as_tuple)


def count_nonzero(input: Tensor, dim: _Dims = None) -> Tensor:
    """How many elements over dimensions are not 0, in int64."""
    return _ops_.sum(_ops_.not_equal(input, 0), dim)


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """input repeated dims[d] times along dimension d."""
    return _ops_.tile(input, dims)


def repeat_interleave(input: Tensor, repeats: Any, dim: Optional[int] = None) -> Tensor:
    """Each element repeated along dim, or of the flat tensor."""
    return _ops_.repeat_interleave(input, repeats, dim)


def flip(input: Tensor, dims: Any) -> Tensor:
    """The elements along dims in reverse order."""
    return _ops_.flip(input, dims)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along dims, those that leave coming in at the other end."""
    return _ops_.roll(input, shifts, dims)


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The different elements in ascending order, with the place of each element among them and how often each occurs on request; runs eagerly."""
    values, inverse, counts = np.unique(input.asnumpy(), return_inverse=True, return_counts=True)
    out = [Tensor(values)] + ([Tensor(inverse.reshape(input.shape).astype(np.int64))] if return_inverse else [])
    out += [Tensor(counts.astype(np.int64))] if return_counts else []
    return out[0] if len(out) == 1 else tuple(out)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """exp(input) over its sum along dim."""
    return _ops_.softmax(input if dtype is None else _ops_.cast(input, dtype), dim)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple:
    """Coordinates of a grid of vectors."""
    vectors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return _ops_.meshgrid(*vectors, indexing=indexing)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """steps numbers from start to end at equal distances."""
    out = _ops_.linspace(start, end, steps)
    return out if dtype is None else _ops_.cast(out, dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """start, start + step, … below end."""
    return _ops_.arange(start, end, step, dtype=dtype)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of a shape with every element fill_value, in int64 or float32 as the value is unless dtype says otherwise."""
    return _ops_.full(size, fill_value, dtype=dtype)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of input's shape with every element fill_value."""
    return _ops_.full_like(input, fill_value, dtype=dtype)


def empty(*size: Any, dtype: Any = None) -> Tensor:
    """A tensor of a shape; its elements are 0 here."""
    return _ops_.zeros(size[0] if len(size) == 1 else size, dtype or _types.float32)


def empty_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """A tensor of input's shape; its elements are 0 here."""
    return _ops_.zeros_like(input, dtype=dtype)


def clone(input: Tensor) -> Tensor:
    """A tensor of its own with the same value."""
    return input.copy()


def item(input: Tensor) -> Any:
    """The only element as a Python number."""
    return input.item()


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    return input.shape == other.shape and bool(_ops_.all(_ops_.equal(input, other)))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are equal within atol + rtol * |other|."""
    return bool(_ops_.all(_ops_.isclose(input, other, rtol, atol, equal_nan)))


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounded to a number of decimals, halves to even."""
    return _ops_.round(input) if decimals == 0 else _ops_.div(_ops_.round(_ops_.mul(input, 10.0 ** decimals)), 10.0 ** decimals)


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of `bins` equal parts of [min, max]; see ops.histc."""
    return _ops_.histc(input, bins, min, max)


def bincount(input: Tensor, weights: Optional[Tensor] = None, minlength: int = 0) -> Tensor:
    """How often each number from 0 on occurs, in int64, or with what weight."""
    counts = _ops_.bincount(input, weights, minlength)
    return counts if weights is not None else _ops_.cast(counts, _types.int64)


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return _ops_.addcmul(input, tensor1, tensor2, value)


def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """input given beta * input + alpha * outer(vec1, vec2)."""
    return _give(input, _ops_.addr(input, vec1, vec2, beta=beta, alpha=alpha))


def nansum(input: Tensor, dim: _Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """sum with NaN counted as 0."""
    return _ops_.nansum(input, dim, keepdim, dtype=dtype)


def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> tuple:
    """(x with A x = b for triangular A, or with its transpose, and a copy of A). Leading dimensions broadcast. unitriangular: the diagonal counts as 1."""
    lead = np.broadcast_shapes(b.shape[:-2], A.shape[:-2])
    matrix, right = _ops_.broadcast_to(A, lead + A.shape[-2:]), _ops_.broadcast_to(b, lead + b.shape[-2:])
    return _core.ops.triangular_solve(matrix, right, not upper, transpose, unitriangular), _ops_.reshape(A, A.shape)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Optional[int] = None) -> Any:
    """The elements, or with dim the slices along it, that differ from the one before. On request with the int64 place of each one among them and how often
    each is repeated. How many there are depends on the values, so such code runs eagerly."""
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
    """Cross-correlation along time of input [time, batch, channels] with weight [k, channels, out], plus bias [out]; pad zeros at both ends."""
    signals = nn.functional.conv1d(_ops_.permute(input, (1, 2, 0)), _ops_.permute(weight, (2, 1, 0)), bias, 1, pad)
    return _ops_.permute(signals, (2, 0, 1))


def _channels(input: Tensor, where: str) -> tuple:
    """(dimensions but 1, shape of one value per channel)."""
    if len(input.shape) < 2:
        _fail(ValueError, f"the input must have at least 2 dimensions, got shape {tuple(input.shape)}", where)
    return tuple(d for d in range(len(input.shape)) if d != 1), [-1 if d == 1 else 1 for d in range(len(input.shape))]


def batch_norm_stats(input: Tensor, eps: float) -> tuple:
    """(mean, 1/sqrt(variance + eps)) of every channel of [n, c, ...], of half types in float32: one rank's part of batch normalisation over ranks."""
    axes, _ = _channels(input, "mint.batch_norm_stats")
    x = input if input.dtype is _types.float64 else _ops_.cast(input, _types.float32)
    mean = _ops_.mean(x, axes, True)
    variance = _ops_.mean(_ops_.square(_ops_.sub(x, mean)), axes)
    return _ops_.reshape(mean, (-1,)), _ops_.rsqrt(_ops_.add(variance, eps))


def batch_norm_gather_stats_with_counts(input: Tensor, mean: Tensor, invstd: Tensor, running_mean: Optional[Tensor] = None,
                                        running_var: Optional[Tensor] = None, momentum: float = 0.1, eps: float = 1e-5,
                                        counts: Optional[Tensor] = None) -> tuple:
    """(mean, 1/sqrt(variance + eps)) over all ranks of their statistics [ranks, c] and numbers of values per channel `counts` [ranks].

    running_mean and running_var, where given, are updated in place with the unbiased variance. Without counts all ranks have as many values as input.
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
    """(input - mean) * invstd * weight + bias per channel of [n, c, ...], in input's type. eps has no effect: invstd holds it. Raises ValueError without
    mean and invstd."""
    _, shape = _channels(input, "mint.batch_norm_elemt")
    if mean is None or invstd is None:
        _fail(ValueError, "mean and invstd are needed", "mint.batch_norm_elemt", "give those of batch_norm_stats")
    out = _ops_.mul(_ops_.sub(_ops_.cast(input, mean.dtype), _ops_.reshape(mean, shape)), _ops_.reshape(invstd, shape))
    out = out if weight is None else _ops_.mul(out, _ops_.reshape(_ops_.cast(weight, mean.dtype), shape))
    out = out if bias is None else _ops_.add(out, _ops_.reshape(_ops_.cast(bias, mean.dtype), shape))
    return _ops_.cast(out, input.dtype)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The scalar product of two vectors."""
    return _ops_.sum(_ops_.mul(input, other))


__all__ = _SAME.split() + [name for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == __name__ and name[0] != "_"]

from sindri.mint import linalg, nn, optim, special  # noqa: E402
from sindri.mint.nn.functional import conv2d  # noqa: E402

__all__.append("conv2d")
