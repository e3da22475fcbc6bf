"""Functions of sindri.ops that are formulas over the engine's operators: gamma and error functions, counting,
differences, divisors, segments, sampling at positions.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence

import numpy as np

from sindri import _core
from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import FEW_PARTS, Tensor, as_tensor, core, exported, floating, is_float, pair, rounded_once, to_axis, to_count, to_int, to_ints, wide
from sindri.ops.function.array_func import concat, narrow
from sindri.ops.function.index_func import (unsorted_segment_max, unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sum)
from sindri.ops.function.math_func import abs, floor, round, sign, tan

_SHIFT = 8  # from this argument on, the asymptotic series below are exact to the last digit of float64
_LGAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


def _in_double(input: Tensor, formula: Callable[[Tensor], Tensor]) -> Tensor:
    """Evaluates the formula in float64, where its differences keep enough digits; the result has input's floating type."""
    x = floating(input)
    return core.cast(formula(core.cast(x, mstype.float64)), x.dtype)


def _series(w: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Returns the sum of coefficients[k] / w^(2k), by Horner's rule."""
    u, out = core.reciprocal(core.square(w)), core.full((), coefficients[-1], w.dtype)
    for c in reversed(coefficients[:-1]):
        out = core.add(core.mul(out, u), c)
    return out


def _mirrored(x: Tensor) -> tuple:
    """Returns the terms of the reflection formulas: (x < 1/2; whichever of x and 1 - x is at least 1/2; x minus its
    nearest integer, or 1/4 where x >= 1/2).
    """
    low = core.less(x, 0.5)
    return low, core.where(low, core.sub(1.0, x), x), core.where(low, core.sub(x, round(x)), 0.25)


def _lgamma(x: Tensor) -> Tensor:
    low, z, r = _mirrored(core.where(core.isfinite(x), x, 1.0))
    small = core.less(z, float(_SHIFT))
    w, product = core.where(small, core.add(z, float(_SHIFT)), z), core.where(small, z, 1.0)
    for k in range(1, _SHIFT):
        product = core.mul(product, core.where(small, core.add(z, float(k)), 1.0))
    stirling = core.add(core.sub(core.mul(core.sub(w, 0.5), core.log(w)), w), 0.5 * math.log(2 * math.pi))
    value = core.sub(core.add(stirling, core.div(_series(w, _LGAMMA), w)), core.log(product))
    reflected = core.sub(core.sub(math.log(math.pi), core.log(abs(core.sin(core.mul(r, math.pi))))), value)
    return core.where(core.isfinite(x), core.where(low, reflected, value), core.where(core.isnan(x), x, math.inf))


def lgamma(input: Tensor) -> Tensor:
    """Computes log |Gamma(input)|. It is infinite at 0, at negative integers and at infinities.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lgamma(ms.Tensor([0.5, 1.0, 5.0])).asnumpy().round(4))
        [0.5724 0.     3.1781]
    """
    return _in_double(input, _lgamma)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Computes the multivariate log-gamma function of dimension p: p(p - 1)/4·log(π) + Σ lgamma(input - j/2), j = 0 … p
    - 1.

    Args:
        input (Tensor): The input, of any shape.
        p (int): The dimension.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `p` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mvlgamma(ms.Tensor([3.0]), 2).asnumpy().round(4))
        [1.5502]
    """
    p = to_count(p, "p", "ops.mvlgamma", FEW_PARTS)

    def formula(x: Tensor) -> Tensor:
        out = core.add(_lgamma(x), p * (p - 1) / 4 * math.log(math.pi))
        for j in range(1, p):
            out = core.add(out, _lgamma(core.sub(x, j / 2)))
        return out
    return _in_double(input, formula)


def _digamma(x: Tensor) -> Tensor:
    low, z, r = _mirrored(core.where(core.isfinite(x), x, 1.0))
    small = core.less(z, float(_SHIFT))
    w = core.where(small, core.add(z, float(_SHIFT)), z)
    value = core.sub(core.log(w), core.div(0.5, w))
    value = core.add(value, core.div(_series(w, _DIGAMMA), core.square(w)))
    for k in range(_SHIFT):
        value = core.sub(value, core.where(small, core.reciprocal(core.where(small, core.add(z, float(k)), 1.0)), 0.0))
    pole = core.logical_and(low, core.equal(r, 0.0))
    reflected = core.sub(value, core.div(math.pi, tan(core.mul(core.where(pole, 0.25, r), math.pi))))
    at_zero = core.where(core.less(core.reciprocal(x), 0.0), math.inf, -math.inf)  # the limit from the side of the zero's sign
    out = core.where(pole, core.where(core.equal(x, 0.0), at_zero, math.nan), core.where(low, reflected, value))
    return core.where(core.isfinite(x), out, core.where(core.equal(x, math.inf), math.inf, math.nan))


def digamma(input: Tensor) -> Tensor:
    """Computes the derivative of `lgamma`; -inf at 0, inf at -0, NaN at negative integers.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.digamma(ms.Tensor([0.5, 1.0])).asnumpy().round(4))
        [-1.9635 -0.5772]
    """
    return _in_double(input, _digamma)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)  # B2, B4, …
_MOST_DERIVATIVES = 100


def _cotangent_derivative(n: int) -> list:
    """Returns the coefficients c of d^n/dx^n cot(x) = sum of c[k] cot(x)^k, from cot' = -(1 + cot²)."""
    out = [0, 1]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(out)][1:]
        out = [-(a + b) for a, b in zip([*slope, 0, 0], [0, 0, *slope])]
    return out


def _polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Returns the sum of coefficients[k] x^k, by Horner's rule."""
    out = core.full((), float(coefficients[-1]), x.dtype)
    for c in reversed(coefficients[:-1]):
        out = core.add(core.mul(out, x), float(c))
    return out


def _polygamma(n: int, x: Tensor) -> Tensor:
    """Computes (-1)^(n+1)·n!·Σ (x + k)^-(n+1) for n >= 1.

    The first n + 10 terms are summed one by one, the others by the Euler-Maclaurin formula. For x <= 0 the reflection
    ψₙ(x) = (-1)ⁿ·ψₙ(1 - x) - π·dⁿ/dxⁿ cot(πx) is used.
    """
    sign, count = (-1.0) ** (n + 1), n + 10
    known = core.isfinite(x)
    low = core.logical_and(known, core.less_equal(x, 0.0))
    z = core.where(low, core.sub(1.0, x), core.where(known, x, 1.0))
    small = core.less(z, float(count))
    w = core.where(small, core.add(z, float(count)), z)
    rest = [1 / n] + [b * (math.factorial(n + 2 * j - 1) / (math.factorial(n) * math.factorial(2 * j))) for j, b in enumerate(_BERNOULLI, 1)]
    total = core.mul(core.add(_series(w, rest), core.div(0.5, w)), core.pow(w, float(-n)))
    for k in range(count):
        total = core.add(total, core.where(small, core.pow(core.add(z, float(k)), float(-n - 1)), 0.0))
    value = core.mul(total, sign * math.factorial(n))
    r = core.sub(x, round(x))
    pole = core.logical_and(low, core.equal(r, 0.0))
    r = core.where(core.logical_and(low, core.logical_not(pole)), r, 0.25)
    cotangent = core.div(core.sin(core.mul(core.sub(0.5, abs(r)), math.pi)), core.sin(core.mul(r, math.pi)))  # the cosine as a sine, which is exactly 0 at 1/2
    turned = core.mul(_polynomial(cotangent, _cotangent_derivative(n)), math.pi ** (n + 1))
    value = core.where(low, core.sub(core.mul(value, -sign), turned), value)
    return core.where(known, core.where(pole, sign * math.inf, value), core.where(core.equal(x, math.inf), 0.0, math.nan))


def polygamma(n: Any, input: Tensor) -> Tensor:
    """Computes the n-th derivative of `digamma`. It is infinite at 0 and negative integers.

    Args:
        n (int or Tensor): The order, one or several; it broadcasts with `input`, and a tensor's values are read.
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If `n` is not an integer.
        ValueError: If `n` is outside [0, 100].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.polygamma(1, ms.Tensor([1.0, 2.0])).asnumpy().round(4))
        [1.6449 0.6449]
    """
    orders = np.asarray(n.asnumpy() if isinstance(n, Tensor) else n)
    if orders.dtype.kind not in "iu":
        fail(TypeError, f"n: expected integers, got {orders.dtype}", "ops.polygamma")
    if orders.size and not 0 <= orders.min() <= orders.max() <= _MOST_DERIVATIVES:
        fail(ValueError, f"n: expected values in [0, {_MOST_DERIVATIVES}], got {orders.min()} to {orders.max()}", "ops.polygamma")
    x = floating(input)
    out = core.broadcast_to(x, np.broadcast_shapes(x.shape, orders.shape))
    for k in np.unique(orders).tolist():
        out = core.where(Tensor(orders == k), _in_double(x, lambda v, k=k: _polygamma(k, v) if k else _digamma(v)), out)
    return out


def i0(input: Tensor) -> Tensor:
    """Computes the modified Bessel function of the first kind and order 0. Integers give float32.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.i0(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     1.2661]
    """
    return core.bessel_i0(input)


def _erfinv(x: Tensor) -> Tensor:
    """Iterates Halley's method from Winitzki's approximation (2008), whose error is at most 2e-3.

    The steps carry no gradient. The gradient is that of the inverse function, dx·exp(y²)·sqrt(pi)/2 with the result
    y; further derivatives depend on y again.
    """
    inside = core.less(abs(x), 1.0)
    given = core.where(inside, x, 0.0)
    y = core.stop_gradient(given)
    a, tail = 0.147, core.log(core.mul(core.sub(1.0, y), core.add(1.0, y)))
    b = core.add(core.mul(tail, 0.5), 2 / (math.pi * a))
    root = core.sqrt(core.maximum(core.sub(core.sqrt(core.sub(core.square(b), core.div(tail, a))), b), 0.0))
    out = core.mul(sign(y), root)
    for _ in range(4):
        step = core.mul(core.sub(core.erf(out), y), core.mul(core.exp(core.square(out)), math.sqrt(math.pi) / 2))
        out = core.sub(out, core.div(step, core.add(core.mul(out, step), 1.0)))
    out = _inverse_of_erf(given, core.stop_gradient(out))
    return core.where(inside, out, core.where(core.equal(abs(x), 1.0), core.mul(sign(x), math.inf), math.nan))


def _inverse_of_erf(x: Tensor, y: Tensor) -> Tensor:
    """Returns y, which is erfinv(x), with its gradient."""
    def rule(inputs: Sequence[Tensor], outputs: Sequence[Tensor], gradients: Sequence[Tensor]) -> list:
        slope = core.mul(core.exp(core.square(_inverse_of_erf(inputs[0], inputs[1]))), math.sqrt(math.pi) / 2)
        return [core.mul(gradients[0], slope), core.zeros_like(inputs[1])]
    return _core.custom_gradient(lambda inputs: [core.add(inputs[1], 0.0)], [x, y], rule)[0]


def erfinv(input: Tensor) -> Tensor:
    """Computes the inverse of erf; infinite at -1 and 1, NaN outside [-1, 1].

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.erfinv(ms.Tensor([0.0, 0.5])).asnumpy().round(4))
        [0.     0.4769]
    """
    return _in_double(input, _erfinv)


# --- counting ---------------------------------------------------------------------------------------------------------------------------


def bincount(input: Tensor, weights: Optional[Tensor] = None, minlength: int = 0) -> Tensor:
    """Counts how often each number from 0 on occurs in a vector of integers.

    It reads the largest number, so code that calls it runs eagerly.

    Args:
        input (Tensor): A vector of integers.
        weights (Tensor): The weight of each element; None means 1. Default: None.
        minlength (int): The least size of the result. Default: 0.

    Returns:
        A float32 vector, or one of the weights' type.

    Raises:
        TypeError: If `input` is not of integers.
        ValueError: If `input` is not a vector or a number is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bincount(ms.Tensor([0, 2, 2])))
        [1. 0. 2.]
    """
    if len(input.shape) != 1 or is_float(input.dtype):
        fail(ValueError if len(input.shape) != 1 else TypeError, f"expected a vector of integers, got {input.shape} of {input.dtype}", "ops.bincount")
    values = input.asnumpy()
    if values.min(initial=0) < 0:
        fail(ValueError, f"a number is negative: {values.min()}", "ops.bincount")
    count = max(int(values.max(initial=-1)) + 1, to_int(minlength, "minlength", "ops.bincount"))
    counted = core.full(input.shape, 1.0) if weights is None else floating(weights)
    return unsorted_segment_sum(counted, input, count)


@rounded_once()
def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:  # noqa: A002
    """Counts the elements in each of `bins` equal parts of [min, max], in input's type. Elements outside are omitted.

    If the bounds are equal, the smallest and the largest element are used; such code runs eagerly.

    Args:
        input (Tensor): The tensor.
        bins (int): The number of parts. Default: 100.
        min (float): The lower bound. Default: 0.0.
        max (float): The upper bound. Default: 0.0.

    Returns:
        A vector of `bins` elements.

    Raises:
        ValueError: If `bins` is below 1, `min` exceeds `max` or the range is not finite.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.histc(ms.Tensor([1.0, 2.0, 1.0]), 4, 0.0, 3.0))
        [0. 2. 1. 0.]
    """
    bins, low, high = to_int(bins, "bins", "ops.histc"), float(min), float(max)
    if bins < 1 or low > high:
        fail(ValueError, f"expected at least one bin and min <= max, got {bins}, [{low}, {high}]", "ops.histc")
    x = core.reshape(floating(input), (-1,))
    if low == high and input.size:
        low, high = float(core.min(x).item()), float(core.max(x).item())
    if not (math.isfinite(low) and math.isfinite(high)):
        fail(ValueError, f"the range [{low}, {high}] is not finite", "ops.histc")
    if low == high:
        low, high = low - 1, high + 1
    inside = core.logical_and(core.greater_equal(x, low), core.less_equal(x, high))
    place = core.cast(core.mul(core.sub(core.where(inside, x, low), low), bins / (high - low)), mstype.int64)
    place = core.where(inside, core.minimum(place, bins - 1), -1)
    return core.cast(unsorted_segment_sum(core.full(x.shape, 1.0), place, bins), input.dtype)


def cov(input: Tensor, *, correction: int = 1, fweights: Optional[Tensor] = None, aweights: Optional[Tensor] = None) -> Tensor:
    """Computes the covariances of the rows of a matrix, whose columns are observations. Half types give float32.

    Args:
        input (Tensor): The observations, [variables, n] or [n].
        correction (int): The number subtracted from the number of observations in the divisor. Default: 1.
        fweights (Tensor): How often each observation counts. Default: None.
        aweights (Tensor): With what weight each observation counts. Default: None.

    Returns:
        A matrix, or a scalar for a single row.

    Raises:
        ValueError: If `input` has more than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cov(ms.Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    if len(input.shape) > 2:
        fail(ValueError, f"expected at most 2 dimensions, got {input.shape}", "ops.cov")
    x = wide(floating(core.reshape(input, (1, -1)) if len(input.shape) < 2 else input))
    weights = None
    for w in (fweights, aweights):
        if w is not None:
            w = core.cast(w, x.dtype)
            weights = w if weights is None else core.mul(weights, w)
    if weights is None:
        weights = core.full((x.shape[1],), 1.0, x.dtype)
    total = core.sum(weights)
    mean = core.div(core.sum(core.mul(x, weights), [1], True), total)
    centred = core.sub(x, mean)
    if aweights is None or correction == 0:
        norm = core.sub(total, float(correction))
    else:
        norm = core.sub(total, core.div(core.mul(core.sum(core.mul(weights, core.cast(aweights, x.dtype))), float(correction)), total))
    out = core.div(core.matmul(core.mul(centred, weights), centred, False, True), core.maximum(norm, 0.0))
    return core.reshape(out, ()) if x.shape[0] == 1 else out


def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Optional[Tensor] = None, append: Optional[Tensor] = None) -> Tensor:
    """Computes n times the differences of neighbours along an axis; for bools, whether they differ.

    Args:
        x (Tensor): The tensor.
        n (int): How often differences are taken. Default: 1.
        axis (int): The axis. Default: -1.
        prepend (Tensor): A tensor concatenated before `x` along the axis. Default: None.
        append (Tensor): A tensor concatenated after `x` along the axis. Default: None.

    Returns:
        A tensor of n elements less along the axis.

    Raises:
        ValueError: If `x` is a scalar, `n` is negative or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.diff(ms.Tensor([1, 4, 9, 16])))
        [3 5 7]
    """
    if not x.shape or to_int(n, "n", "ops.diff") < 0:
        fail(ValueError, f"expected at least one dimension and n from 0 on, got {x.shape} and {n}", "ops.diff")
    a = to_axis(axis, len(x.shape), "ops.diff")
    parts = [as_tensor(p) for p in (prepend, x, append) if p is not None]
    out = concat(parts, a) if len(parts) > 1 else x
    for _ in range(n):
        count = out.shape[a] - 1
        if count < 0:
            break
        later, earlier = narrow(out, a, 1, count)._detached(), narrow(out, a, 0, count)._detached()
        out = core.not_equal(later, earlier) if out.dtype is mstype.bool_ else core.sub(later, earlier)
    return out


@rounded_once()
def trapz(y: Tensor, x: Optional[Tensor] = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrates y along a dimension by the trapezium rule.

    Args:
        y (Tensor): The values.
        x (Tensor): The positions, a vector or a tensor of y's shape; None means equally spaced. Default: None.
        dx (float): The spacing if `x` is None. Default: 1.0.
        dim (int): The dimension. Default: -1.

    Returns:
        The integrals.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.trapz(ms.Tensor([1.0, 2.0, 3.0])))
        4.0
    """
    y = floating(y)
    d = to_axis(dim, len(y.shape), "ops.trapz")
    count = max(y.shape[d] - 1, 0)
    middle = core.mul(core.add(narrow(y, d, y.shape[d] - count, count), narrow(y, d, 0, count)), 0.5)
    if x is None:
        return core.mul(core.sum(middle, [d]), dx)
    step = diff(x, axis=0 if len(x.shape) == 1 else d)
    if len(step.shape) == 1:
        step = core.reshape(step, [-1 if e == d else 1 for e in range(len(y.shape))])
    return core.sum(core.mul(middle, step), [d])


# Bits of the significand with the leading one, smallest and largest positive number.
_SPACING = {mstype.float16: (11, 2.0 ** -24, 65504.0), mstype.bfloat16: (8, 2.0 ** -133, (2 - 2.0 ** -7) * 2.0 ** 127),
            mstype.float32: (24, 2.0 ** -149, (2 - 2.0 ** -23) * 2.0 ** 127), mstype.float64: (53, 5e-324, (2 - 2.0 ** -52) * 2.0 ** 1023)}


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """Returns the next number of input's type in the direction of other. The gradient is that of input.

    Args:
        input (Tensor): The numbers.
        other (Tensor): The direction.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If an operand is not floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.nextafter(ms.Tensor([0.0]), ms.Tensor([1.0])) > 0)
        [ True]
    """
    if not is_float(input.dtype) or not is_float(other.dtype):
        fail(TypeError, f"expected floating tensors, got {input.dtype} and {other.dtype}", "ops.nextafter")
    kind = mstype.promote_types(input.dtype, other.dtype)
    x, target = core.cast(input, kind), core.cast(other, kind)
    bits, least, most = _SPACING[kind]
    # Between 1/2 and 5/4 of the distance to the neighbour, so that the sum is rounded to it. Below a power of two that distance is halved.
    step = core.stop_gradient(core.maximum(core.mul(abs(wide(x)), 1.25 * 2.0 ** -bits), least))
    moved = core.cast(core.add(wide(x), core.where(core.greater(target, x), step, core.neg(step))), kind)
    moved = core.where(core.isfinite(x), moved, core.mul(sign(x), most))
    out = core.where(core.equal(x, target), target, moved)
    return core.where(core.logical_or(core.isnan(x), core.isnan(target)), math.nan, out)


def common_divisor(input: Tensor, other: Tensor) -> Tensor:
    """Computes greatest common divisors, also of floats, by as many rounds of Euclid's algorithm as the largest needs.

    Code that calls it runs eagerly.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape; NaN if a float is not finite.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.common_divisor(ms.Tensor([1.5]), ms.Tensor([1.0])))
        [0.5]
    """
    a, b = core.add(input, core.zeros_like(other)), core.add(other, core.zeros_like(input))
    a, b = (t if t.dtype is mstype.uint8 else core.abs(t) for t in (a, b))
    if is_float(a.dtype):
        known = core.logical_and(core.isfinite(a), core.isfinite(b))
        a, b = core.where(known, a, math.nan), core.where(known, b, 0)
    while bool(core.any(core.not_equal(b, 0))):
        a, b = core.where(core.equal(b, 0), a, b), core.where(core.equal(b, 0), b, core.mod(a, core.where(core.equal(b, 0), 1, b)))
    return a


def common_multiple(input: Tensor, other: Tensor) -> Tensor:
    """Computes least common multiples, also of floats, from `common_divisor`.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape; 0 where an operand is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.common_multiple(ms.Tensor([1.5]), ms.Tensor([1.0])))
        [3.]
    """
    divisor = common_divisor(input, other)
    out = core.mul(core.floor_div(input, core.where(core.equal(divisor, 0), 1, divisor)), other)
    return out if out.dtype is mstype.uint8 else core.abs(out)


def _two_integers(input: Any, other: Any, where: str) -> tuple:
    a, b = as_tensor(input, other if isinstance(other, Tensor) else None), as_tensor(other, input if isinstance(input, Tensor) else None)
    if is_float(a.dtype) or is_float(b.dtype):
        fail(TypeError, f"expected integers, got {a.dtype} and {b.dtype}", where)
    return a, b


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Computes the greatest common divisors of integers.

    It takes as many rounds as the largest numbers need, so code that calls it runs eagerly.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If an operand is floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gcd(ms.Tensor([12, 7]), ms.Tensor([18, 21])))
        [6 7]
    """
    return common_divisor(*_two_integers(input, other, "ops.gcd"))


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Computes the least common multiples of integers; 0 where an operand is 0. Code that calls it runs eagerly.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If an operand is floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lcm(ms.Tensor([4, 7]), ms.Tensor([6, 21])))
        [12 21]
    """
    return common_multiple(*_two_integers(input, other, "ops.lcm"))


# --- Bessel functions ---------------------------------------------------------------------------------------------------------------------


def _of_floats(x: Tensor, function: Callable[[Tensor], Tensor], where: str) -> Tensor:
    if not isinstance(x, Tensor) or not is_float(x.dtype):
        fail(TypeError, f"x: expected a floating tensor, got {x.dtype if isinstance(x, Tensor) else repr(x)}", where, "convert it with ops.cast")
    return function(x)


def bessel_j0(x: Tensor) -> Tensor:
    """Computes the Bessel function of the first kind and order 0.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_j0(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     0.7652]
    """
    return _of_floats(x, core.bessel_j0, "ops.bessel_j0")


def bessel_j1(x: Tensor) -> Tensor:
    """Computes the Bessel function of the first kind and order 1.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_j1(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.4401]
    """
    return _of_floats(x, core.bessel_j1, "ops.bessel_j1")


def bessel_y0(x: Tensor) -> Tensor:
    """Computes the Bessel function of the second kind and order 0; -inf for x <= 0.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_y0(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [  -inf 0.0883]
    """
    return _of_floats(x, core.bessel_y0, "ops.bessel_y0")


def bessel_y1(x: Tensor) -> Tensor:
    """Computes the Bessel function of the second kind and order 1; -inf for x <= 0.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_y1(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [   -inf -0.7812]
    """
    return _of_floats(x, core.bessel_y1, "ops.bessel_y1")


def bessel_i0(x: Tensor) -> Tensor:
    """Computes the modified Bessel function of the first kind and order 0.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_i0(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     1.2661]
    """
    return _of_floats(x, core.bessel_i0, "ops.bessel_i0")


def bessel_i0e(x: Tensor) -> Tensor:
    """Computes e^-|x|·bessel_i0(x) without overflow.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_i0e(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     0.4658]
    """
    return _of_floats(x, core.bessel_i0e, "ops.bessel_i0e")


def bessel_i1(x: Tensor) -> Tensor:
    """Computes the modified Bessel function of the first kind and order 1.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_i1(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.5652]
    """
    return _of_floats(x, core.bessel_i1, "ops.bessel_i1")


def bessel_i1e(x: Tensor) -> Tensor:
    """Computes e^-|x|·bessel_i1(x) without overflow.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_i1e(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.2079]
    """
    return _of_floats(x, core.bessel_i1e, "ops.bessel_i1e")


def bessel_k0(x: Tensor) -> Tensor:
    """Computes the modified Bessel function of the second kind and order 0; inf for x <= 0.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_k0(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [  inf 0.421]
    """
    return _of_floats(x, core.bessel_k0, "ops.bessel_k0")


def bessel_k0e(x: Tensor) -> Tensor:
    """Computes e^x·bessel_k0(x) without underflow.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_k0e(ms.Tensor([1.0])).asnumpy().round(4))
        [1.1445]
    """
    return _of_floats(x, core.bessel_k0e, "ops.bessel_k0e")


def bessel_k1(x: Tensor) -> Tensor:
    """Computes the modified Bessel function of the second kind and order 1; inf for x <= 0.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_k1(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [   inf 0.6019]
    """
    return _of_floats(x, core.bessel_k1, "ops.bessel_k1")


def bessel_k1e(x: Tensor) -> Tensor:
    """Computes e^x·bessel_k1(x) without underflow.

    Args:
        x (Tensor): A floating tensor.

    Returns:
        A tensor of x's shape and type.

    Raises:
        TypeError: If `x` is not a floating tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bessel_k1e(ms.Tensor([1.0])).asnumpy().round(4))
        [1.6362]
    """
    return _of_floats(x, core.bessel_k1e, "ops.bessel_k1e")


# --- segments ---------------------------------------------------------------------------------------------------------------------------


def _segments_of(x: Tensor, segment_ids: Tensor, where: str) -> int:
    if len(segment_ids.shape) != 1 or not x.shape or segment_ids.shape[0] != x.shape[0]:
        fail(ValueError, f"expected one segment number for each of the slices of {x.shape}, got {segment_ids.shape}", where)
    ids = segment_ids.asnumpy()
    if ids.size and (ids[0] < 0 or (np.diff(ids) < 0).any()):
        fail(ValueError, "the segment numbers must ascend from 0 on", where, "use an UnsortedSegment op")
    return int(ids[-1]) + 1 if ids.size else 0


def segment_sum(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Sums the slices with the same segment number.

    The numbers ascend and determine how many segments there are, so code that calls it runs eagerly.

    Args:
        input_x (Tensor): The tensor.
        segment_ids (Tensor): The segment number of each slice of the first dimension.

    Returns:
        A tensor of shape [segments, …]; 0 for a number that does not occur.

    Raises:
        ValueError: If the shapes are incompatible or the numbers do not ascend from 0 on.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SegmentSum()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 0, 1])))
        [3. 3.]
    """
    return unsorted_segment_sum(input_x, segment_ids, _segments_of(input_x, segment_ids, "ops.SegmentSum"))


def _counts(x: Tensor, segment_ids: Tensor, count: int) -> Tensor:
    ones = core.full(segment_ids.shape, 1.0, x.dtype if is_float(x.dtype) else mstype.float32)
    return core.reshape(unsorted_segment_sum(ones, segment_ids, count), (count,) + (1,) * (len(x.shape) - 1))


def segment_mean(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Averages the slices with the same segment number; see SegmentSum.

    Args:
        input_x (Tensor): The tensor.
        segment_ids (Tensor): The segment number of each slice of the first dimension.

    Returns:
        A tensor of shape [segments, …]; 0 for a number that does not occur.

    Raises:
        ValueError: If the shapes are incompatible or the numbers do not ascend from 0 on.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SegmentMean()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 0, 1])))
        [1.5 3. ]
    """
    n = _segments_of(input_x, segment_ids, "ops.SegmentMean")
    total = unsorted_segment_sum(input_x, segment_ids, n)
    return core.cast(core.div(total, core.maximum(_counts(input_x, segment_ids, n), 1.0)), input_x.dtype)


def _segment_extreme(x: Tensor, segment_ids: Tensor, reduce: Callable, where: str) -> Tensor:
    n = _segments_of(x, segment_ids, where)
    return core.where(core.greater(_counts(x, segment_ids, n), 0.0), reduce(x, segment_ids, n), core.full((), 0.0, x.dtype))


def segment_max(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Returns the largest of the slices with the same segment number; see SegmentSum.

    Args:
        input_x (Tensor): The tensor.
        segment_ids (Tensor): The segment number of each slice of the first dimension.

    Returns:
        A tensor of shape [segments, …]; 0 for a number that does not occur.

    Raises:
        ValueError: If the shapes are incompatible or the numbers do not ascend from 0 on.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SegmentMax()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 0, 1])))
        [2. 3.]
    """
    return _segment_extreme(input_x, segment_ids, unsorted_segment_max, "ops.SegmentMax")


def segment_min(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Returns the smallest of the slices with the same segment number; see SegmentSum.

    Args:
        input_x (Tensor): The tensor.
        segment_ids (Tensor): The segment number of each slice of the first dimension.

    Returns:
        A tensor of shape [segments, …]; 0 for a number that does not occur.

    Raises:
        ValueError: If the shapes are incompatible or the numbers do not ascend from 0 on.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SegmentMin()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 0, 1])))
        [1. 3.]
    """
    return _segment_extreme(input_x, segment_ids, unsorted_segment_min, "ops.SegmentMin")


def segment_prod(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Multiplies the slices with the same segment number; see SegmentSum.

    Args:
        input_x (Tensor): The tensor.
        segment_ids (Tensor): The segment number of each slice of the first dimension.

    Returns:
        A tensor of shape [segments, …]; 1 for a number that does not occur.

    Raises:
        ValueError: If the shapes are incompatible or the numbers do not ascend from 0 on.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SegmentProd()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 0, 1])))
        [2. 3.]
    """
    return unsorted_segment_prod(input_x, segment_ids, _segments_of(input_x, segment_ids, "ops.SegmentProd"))


# --- windows and positions ----------------------------------------------------------------------------------------------------------------


def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sums the columns of `unfold` at the positions they were extracted from: [n, c·kh·kw, l] -> [n, c, h, w].

    Args:
        input (Tensor): The columns.
        output_size (int or sequence of ints): The size of the images.
        kernel_size (int or sequence of ints): The window.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        padding (int or sequence of ints): The padding. Default: 0.
        stride (int or sequence of ints): The step of the windows. Default: 1.

    Returns:
        The images.

    Raises:
        ValueError: If the shapes or sizes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fold(ms.Tensor([[[1.0, 3.0], [2.0, 4.0]]]), (2, 2), (1, 2)))
        [[[[1. 2.]
           [3. 4.]]]]
    """
    size, k = to_ints(output_size, "output_size", "ops.fold"), pair(kernel_size, "kernel_size", "ops.fold")
    size = list(size) * 2 if len(size) == 1 else list(size)
    d, p, s = (pair(v, name, "ops.fold") for v, name in ((dilation, "dilation"), (padding, "padding"), (stride, "stride")))
    if len(size) != 2 or min(*size, *k, *d, *s) < 1 or min(p) < 0:
        fail(ValueError, f"output_size {size}, kernel_size {k}, dilation {d} and stride {s} must be positive, padding {p} not negative", "ops.fold")
    whole = [size[i] + 2 * p[i] for i in (0, 1)]
    windows = [(whole[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in (0, 1)]
    shape = input.shape
    if len(shape) != 3 or shape[1] % (k[0] * k[1]) or shape[2] != windows[0] * windows[1]:
        fail(ValueError, f"expected [n, c·{k[0] * k[1]}, {windows[0] * windows[1]}] for an image of {size}, got {shape}", "ops.fold")
    n, c = shape[0], shape[1] // (k[0] * k[1])
    rows, columns = (np.add.outer(np.arange(k[i]) * d[i], np.arange(windows[i]) * s[i]) for i in (0, 1))  # [k, windows]
    places = rows[:, None, :, None] * whole[1] + columns[None, :, None, :]
    source = core.reshape(input, (n * c, k[0] * k[1] * shape[2]))
    image = core.scatter_add(core.full((n * c, whole[0] * whole[1]), 0.0, input.dtype), Tensor(places.reshape(-1).astype(np.int64)), source, 1)
    return core.slice(core.reshape(image, (n, c, whole[0], whole[1])), [0, 0, p[0], p[1]], [n, c, p[0] + size[0], p[1] + size[1]])


@rounded_once()
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool = False) -> Tensor:
    """Computes the positions at which `grid_sample` samples an affinely mapped image.

    Positions are in units of -1 to 1, the last coordinate first.

    Args:
        theta (Tensor): The mapping, [n, 2, 3] for images or [n, 3, 4] for volumes.
        size (sequence of ints): The shape of the result of sampling, [n, c, h, w] or [n, c, d, h, w].
        align_corners (bool): Whether -1 and 1 are the centres of the border elements. Default: False.

    Returns:
        A tensor of shape [n, h, w, 2] or [n, d, h, w, 3].

    Raises:
        ValueError: If `theta` does not fit `size`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.affine_grid(ms.Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2)))
        [[[[-0.5  0. ]
           [ 0.5  0. ]]]]
    """
    sizes = to_ints(size, "size", "ops.affine_grid")
    d = len(sizes) - 2
    if d not in (2, 3) or theta.shape != (sizes[0], d, d + 1):
        fail(ValueError, f"theta of {theta.shape} does not fit size {sizes}", "ops.affine_grid", "give theta [n, 2, 3] with 4 sizes, or [n, 3, 4] with 5")
    axes = [np.linspace(-1, 1, n) if align_corners and n > 1 else (np.arange(n) * 2 + 1) / n - 1 if not align_corners else np.zeros(n) for n in sizes[2:]]
    mesh = np.stack([*np.meshgrid(*axes, indexing="ij")][::-1] + [np.ones(sizes[2:])], -1).reshape(1, -1, d + 1)
    base = core.broadcast_to(core.cast(Tensor(mesh.astype(np.float64)), theta.dtype), (sizes[0], mesh.shape[1], d + 1))
    return core.reshape(core.batch_matmul(base, theta, False, True), (sizes[0], *sizes[2:], d))


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """Folds x back into [low, high] at its ends."""
    span = high - low
    if span <= 0:
        return core.mul(x, 0.0)
    x = abs(core.sub(x, low))
    turns, rest = floor(core.div(x, span)), core.mod(x, span)
    return core.add(core.where(core.equal(core.mod(turns, 2.0), 0.0), rest, core.sub(span, rest)), low)


@rounded_once()
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False) -> Tensor:
    """Samples images [n, c, h, w] or volumes [n, c, d, h, w] at positions.

    Positions are in units of -1 to 1, the last coordinate first.

    Args:
        input (Tensor): The images or volumes.
        grid (Tensor): The positions, [n, …, 2] or [n, …, 3].
        mode (str): "bilinear" or "nearest". Default: "bilinear".
        padding_mode (str): The values beyond the border: "zeros", "border" or "reflection". Default: "zeros".
        align_corners (bool): Whether -1 and 1 are the centres of the border elements. Default: False.

    Returns:
        A tensor of shape [n, c, …].

    Raises:
        ValueError: If the shapes are incompatible or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.grid_sample(ms.Tensor([[[[1.0, 3.0]]]]), ms.Tensor([[[[0.0, 0.0]]]])))
        [[[[2.]]]]
    """
    check_choice("ops.grid_sample", "mode", mode, ("bilinear", "nearest"))
    check_choice("ops.grid_sample", "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    d = len(input.shape) - 2
    if d not in (2, 3) or len(grid.shape) != d + 2 or grid.shape[-1] != d or grid.shape[0] != input.shape[0]:
        fail(ValueError, f"a grid of {grid.shape} does not fit {input.shape}", "ops.grid_sample", "give [n, h, w, 2] for images, [n, d, h, w, 3] for volumes")
    n, c, sizes = input.shape[0], input.shape[1], input.shape[2:]
    count = math.prod(grid.shape[1:-1])
    flat = core.reshape(core.transpose(input, [0, *range(2, d + 2), 1]), (n * math.prod(sizes), c))
    places = core.split(core.reshape(grid, (n, count, d)), [1] * d, 2)[::-1]
    at = []
    for place, size in zip(places, sizes):
        x = core.reshape(place, (n, count))
        x = core.mul(core.add(x, 1.0), (size - 1) / 2) if align_corners else core.sub(core.mul(core.add(x, 1.0), size / 2), 0.5)
        if padding_mode == "reflection":
            x = _reflected(x, 0.0, size - 1.0) if align_corners else _reflected(x, -0.5, size - 0.5)
        at.append(x if padding_mode == "zeros" else core.clamp(x, 0.0, size - 1.0))
    first = core.reshape(core.arange(0, n), (n, 1))
    out, nothing = None, core.full((), 0.0, input.dtype)
    for corner in range(1 if mode == "nearest" else 2 ** d):
        weight, index, inside = core.full((n, count), 1.0, input.dtype), first, None
        for axis, (x, size) in enumerate(zip(at, sizes)):
            whole = round(x) if mode == "nearest" else core.add(floor(x), float(corner >> axis & 1))
            if mode == "bilinear":
                weight = core.mul(weight, core.sub(1.0, abs(core.sub(x, core.stop_gradient(whole)))))
            there = core.logical_and(core.greater_equal(whole, 0.0), core.less(whole, float(size)))
            inside = there if inside is None else core.logical_and(inside, there)
            index = core.add(core.mul(index, size), core.cast(core.where(there, whole, 0.0), mstype.int64))
        # Elements outside or without weight take no part, forward or backward, so a NaN there has no effect.
        taken = core.reshape(core.logical_and(inside, core.not_equal(weight, 0)), (-1, 1))
        part = core.where(core.reshape(inside, (-1, 1)), core.gather(flat, core.reshape(index, (-1,)), 0), nothing)
        part = core.where(taken, core.mul(part, core.reshape(weight, (-1, 1))), nothing)
        out = part if out is None else core.add(out, part)
    out = core.reshape(out, (n, count, c))
    return core.reshape(core.transpose(out, [0, 2, 1]), (n, c, *grid.shape[1:-1]))


__all__ = exported(globals())
