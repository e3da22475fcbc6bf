"""Elementwise functions of sindri.ops.

Inputs broadcast. A Python number takes the other operand's type; a fraction next to integers gives float32.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Union

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import Parameter, Tensor, as_tensor, core, exported, floating, is_float, is_number, rounded_once, to_int, wide

Scalar = Union[Tensor, Parameter, int, float]

# Functions that are one engine operator each.
abs = core.abs
neg = core.neg
exp = core.exp
expm1 = core.expm1
log = core.log
log1p = core.log1p
sqrt = core.sqrt
rsqrt = core.rsqrt
square = core.square
reciprocal = core.reciprocal
sin = core.sin
cos = core.cos
erf = core.erf
tanh = core.tanh
sigmoid = core.sigmoid
isnan = core.isnan
isfinite = core.isfinite
logical_not = core.logical_not
add = core.add
sub = core.sub
mul = core.product
floor_mod = core.mod
pow = core.pow
maximum = core.maximum
minimum = core.minimum
equal = core.equal
not_equal = core.not_equal
less = core.less
less_equal = core.less_equal
greater = core.greater
greater_equal = core.greater_equal
logical_and = core.logical_and
bitwise_and, bitwise_or, bitwise_xor = core.bitwise_and, core.bitwise_or, core.bitwise_xor
bitwise_left_shift, bitwise_right_shift = core.bitwise_left_shift, core.bitwise_right_shift
logical_or = core.logical_or
logical_xor = core.logical_xor


sign = core.sign
floor = core.floor
ceil = core.ceil
rint = core.round
floor_div = core.floor_div

# Other names of these functions.
absolute, negative, inv = abs, neg, reciprocal
multiply = mul
floor_divide, remainder = floor_div, floor_mod
eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
tensor_add, tensor_sub, tensor_mul, tensor_pow, tensor_mod, tensor_floordiv = add, sub, mul, pow, floor_mod, floor_div
tensor_exp, tensor_expm1 = exp, expm1
tensor_lt, tensor_le, tensor_gt, tensor_ge, tensor_eq, tensor_ne = less, less_equal, greater, greater_equal, equal, not_equal
pows, floordiv, floormod, neg_tensor = pow, floor_div, floor_mod, neg
sgn = sign


def real_div(x: Scalar, y: Scalar) -> Tensor:
    """Divides x by y elementwise.

    Two integer tensors give the quotient rounded towards 0, in their type, as MindSpore's RealDiv does.

    Args:
        x (Tensor or number): The dividend.
        y (Tensor or number): The divisor.

    Returns:
        The quotient, of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.real_div(ms.Tensor([7.0, -7.0]), ms.Tensor([2.0, 2.0])))
        [ 3.5 -3.5]
        >>> print(ms.ops.real_div(ms.Tensor([7, -7]), ms.Tensor([2, 2])))
        [ 3 -3]
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and not is_float(x.dtype) and not is_float(y.dtype):
        return truncate_div(x, y)
    return core.div(x, y)  # a 0-d tensor widens the other operand here, unlike in div


def div(input: Scalar, other: Scalar, *, rounding_mode: Optional[str] = None) -> Tensor:
    """Divides input by other elementwise; integers give float32.

    A 0-d tensor next to one with dimensions does not widen it within its kind.

    Args:
        input (Tensor or number): The dividend.
        other (Tensor or number): The divisor.
        rounding_mode (str): None, "floor" to round the quotient down, or "trunc" to round it towards 0. Default:
            None.

    Returns:
        The quotient, of the broadcast shape.

    Raises:
        ValueError: If `rounding_mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.div(ms.Tensor([7.0, -7.0]), 2))
        [ 3.5 -3.5]
        >>> print(ms.ops.div(ms.Tensor([7.0, -7.0]), 2, rounding_mode="floor"))
        [ 3. -4.]
        >>> print(ms.ops.div(ms.Tensor([7.0, -7.0]), 2, rounding_mode="trunc"))
        [ 3. -3.]
    """
    if rounding_mode is None:
        return core.quotient(input, other)
    check_choice("ops.div", "rounding_mode", rounding_mode, ("floor", "trunc"))
    return floor_div(input, other) if rounding_mode == "floor" else truncate_div(input, other)


divide = div
true_divide = core.quotient
tensor_div = real_div


@rounded_once()
def subtract(input: Scalar, other: Scalar, *, alpha: Union[int, float] = 1) -> Tensor:
    """Computes input - alpha * other elementwise.

    Args:
        input (Tensor or number): The minuend.
        other (Tensor or number): The subtrahend.
        alpha (number): The factor of `other`. Default: 1.

    Returns:
        The difference, of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.subtract(ms.Tensor([5, 6]), ms.Tensor([1, 2]), alpha=2))
        [3 2]
    """
    return core.sub(input, other if alpha == 1 else core.mul(as_tensor(other), alpha))


def trunc(input: Tensor) -> Tensor:
    """Rounds each element towards 0. The gradient is 0.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.trunc(ms.Tensor([1.7, -1.7])))
        [ 1. -1.]
    """
    return core.where(core.less(input, 0), ceil(input), floor(input))


@rounded_once()
def truncate_div(x: Scalar, y: Scalar) -> Tensor:
    """Divides x by y and rounds the quotient towards 0, in the operands' common type.

    Args:
        x (Tensor or number): The dividend.
        y (Tensor or number): The divisor.

    Returns:
        The quotient, of the broadcast shape.

    Raises:
        TypeError: If neither operand is a tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.truncate_div(ms.Tensor([7, -7]), 2))
        [ 3 -3]
    """
    x, y = _two(x, y)
    if is_float(x.dtype) or is_float(y.dtype):
        return trunc(core.div(x, y))
    q = floor_div(x, y)
    inexact = core.not_equal(core.mul(q, y), x)
    return core.add(q, core.cast(core.logical_and(core.less(q, 0), inexact), q.dtype))


def truncate_mod(x: Scalar, y: Scalar) -> Tensor:
    """Computes x - y * truncate_div(x, y): the remainder with the sign of x. It is exact for floats.

    Args:
        x (Tensor or number): The dividend.
        y (Tensor or number): The divisor.

    Returns:
        The remainder, of the broadcast shape.

    Raises:
        TypeError: If neither operand is a tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.truncate_mod(ms.Tensor([7, -7]), 3))
        [ 1 -1]
    """
    x, y = _two(x, y)
    kind = mstype.promote_types(x.dtype, y.dtype)
    if is_float(kind):
        x, y = core.cast(x, kind), core.cast(y, kind)
        negative_ = core.less(x, 0)
        rest = core.mod(core.where(negative_, core.neg(x), x), core.abs(y))
        return core.where(negative_, core.neg(rest), rest)
    remainder_ = core.mod(x, y)  # it has the sign of y; y is subtracted where the signs of x and y differ
    wrong = core.logical_and(core.not_equal(remainder_, 0), core.logical_xor(core.less(x, 0), core.less(remainder_, 0)))
    return core.where(wrong, core.sub(remainder_, y), remainder_)


mod = truncate_mod


def fmod(input: Scalar, other: Scalar) -> Tensor:
    """Computes the remainder of input / other with the sign of input; see `truncate_mod`.

    A 0-d `other` next to an input with dimensions does not widen it within its kind.

    Args:
        input (Tensor or number): The dividend.
        other (Tensor or number): The divisor.

    Returns:
        The remainder, of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fmod(ms.Tensor([7.5, -7.5]), 2))
        [ 1.5 -1.5]
    """
    if isinstance(other, Tensor) and isinstance(input, Tensor) and not other.shape and input.shape and other.dtype != input.dtype:
        if other.dtype.is_floating == input.dtype.is_floating and mstype.bool_ not in (other.dtype, input.dtype):
            other = core.cast(other, input.dtype)
    return truncate_mod(input, other)


def _two(x: Scalar, y: Scalar) -> tuple:
    """Returns both as tensors; a number takes the other's type. Raises TypeError if neither is a tensor."""
    if is_number(x) and is_number(y):
        fail(TypeError, f"expected at least one tensor, got {x!r} and {y!r}", "ops")
    if is_number(x):
        return as_tensor(x, y), y
    return x, as_tensor(y, x)


@rounded_once()
def div_no_nan(x: Scalar, y: Scalar) -> Tensor:
    """Computes x / y, and 0 where y is 0. Integers give float32.

    Args:
        x (Tensor or number): The dividend.
        y (Tensor or number): The divisor.

    Returns:
        The quotient, of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.div_no_nan(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        [0.  0.5]
    """
    x, y = _two(floating(x) if isinstance(x, Tensor) else x, floating(y) if isinstance(y, Tensor) else y)
    zero = core.equal(y, 0)
    return core.where(zero, 0.0, core.div(x, core.where(zero, 1.0, y)))


def mul_no_nan(x: Tensor, y: Tensor) -> Tensor:
    """Computes x * y, and 0 where y is 0, whatever x is.

    Args:
        x (Tensor): The first factor, which may be infinite or NaN.
        y (Tensor): The second factor.

    Returns:
        The product, of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mul_no_nan(ms.Tensor([float("inf"), 2.0]), ms.Tensor([0.0, 4.0])))
        [0. 8.]
    """
    zero = core.equal(y, 0)
    return core.where(zero, 0, core.mul(core.where(zero, 0, x), y))


@rounded_once()
def squared_difference(x: Scalar, y: Scalar) -> Tensor:
    """Computes (x - y)² elementwise.

    Args:
        x (Tensor or number): The first operand.
        y (Tensor or number): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.squared_difference(ms.Tensor([1.0, 5.0]), ms.Tensor([3.0, 2.0])))
        [4. 9.]
    """
    return core.square(core.sub(x, y))


def addn(x) -> Tensor:
    """Adds the tensors of a tuple or list.

    Args:
        x (tuple or list of Tensors): The terms, all of one shape.

    Returns:
        The sum, of the same shape.

    Raises:
        TypeError: If `x` is not a non-empty tuple or list of tensors.
        ValueError: If the shapes differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addn([ms.Tensor([1, 2]), ms.Tensor([3, 4]), ms.Tensor([5, 6])]))
        [ 9 12]
    """
    if not isinstance(x, (tuple, list)) or not x or not all(isinstance(t, Tensor) for t in x):
        fail(TypeError, f"expected a tuple or list of tensors, got {type(x).__name__}", "ops.addn")
    for t in x[1:]:
        if t.shape != x[0].shape:
            fail(ValueError, f"expected equal shapes, got {x[0].shape} and {t.shape}", "ops.addn", "use ops.add, which broadcasts")
    return _sum_of(*x)


@rounded_once()
def _sum_of(*terms: Tensor) -> Tensor:
    total = terms[0]
    for t in terms[1:]:
        total = core.add(total, t)
    return total


accumulate_n = addn


def isinf(input: Tensor) -> Tensor:
    """Returns True where the element is infinite.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A bool tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.isinf(ms.Tensor([1.0, float("inf"), float("nan")])))
        [False  True False]
    """
    return core.logical_not(core.logical_or(core.isfinite(input), core.isnan(input)))


def isposinf(input: Tensor) -> Tensor:
    """Returns True where the element is +infinity.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A bool tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.isposinf(ms.Tensor([1.0, float("inf"), -float("inf")])))
        [False  True False]
    """
    return core.equal(input, math.inf) if is_float(input.dtype) else core.not_equal(input, input)


def isneginf(input: Tensor) -> Tensor:
    """Returns True where the element is -infinity.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A bool tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.isneginf(ms.Tensor([1.0, float("inf"), -float("inf")])))
        [False False  True]
    """
    return core.equal(input, -math.inf) if is_float(input.dtype) else core.not_equal(input, input)


@rounded_once()
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Returns True where |input - other| <= atol + rtol * |other|, as numpy.isclose does.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand; the relative tolerance is a fraction of it.
        rtol (float): The relative tolerance. Default: 1e-05.
        atol (float): The absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two NaN count as close. Default: False.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.isclose(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 2.1])))
        [ True False]
    """
    input, other = floating(input), floating(other)
    finite = core.logical_and(core.isfinite(input), core.isfinite(other))
    near = core.less_equal(core.abs(core.sub(input, other)), core.add(core.mul(core.abs(other), rtol), atol))
    out = core.logical_or(core.equal(input, other), core.logical_and(finite, near))
    return core.logical_or(out, core.logical_and(core.isnan(input), core.isnan(other))) if equal_nan else out


@rounded_once()
def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-05) -> Tensor:
    """Returns True where |x - y| < tolerance.

    Args:
        x (Tensor): The first operand.
        y (Tensor): The second operand.
        tolerance (float): The bound of the absolute difference. Default: 1e-05.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.approximate_equal(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 2.1])))
        [ True False]
    """
    return core.less(core.abs(core.sub(x, y)), tolerance)


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounds each element to the nearest whole number, halves to even.

    With `decimals` the result has that many digits after the point. The gradient is 0. Integers keep their type.

    Args:
        input (Tensor): The input, of any shape.
        decimals (int): The number of digits after the point, from -308 to 308; negative values round to tens,
            hundreds and so on. Default: 0.

    Returns:
        A tensor of input's shape and type.

    Raises:
        TypeError: If `decimals` is not an int.
        ValueError: If `decimals` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.round(ms.Tensor([0.5, 1.5, -1.7])))
        [ 0.  2. -2.]
        >>> print(ms.ops.round(ms.Tensor([1234]), decimals=-2))
        [1200]
    """
    decimals = to_int(decimals, "decimals", "ops.round")
    if not -308 <= decimals <= 308:
        fail(ValueError, f"decimals: expected a value in [-308, 308], the powers of ten that a float holds, got {decimals}", "ops.round")
    if decimals == 0:
        return rint(input)
    return _round_digits(input, decimals) if is_float(input.dtype) else _round_whole(input, decimals)


@rounded_once()
def _round_digits(input: Tensor, decimals: int) -> Tensor:
    return core.div(rint(core.mul(input, 10.0 ** decimals)), 10.0 ** decimals)


def _round_whole(input: Tensor, decimals: int) -> Tensor:
    """Rounds integers to the nearest multiple of a power of ten, without an intermediate float."""
    if decimals > 0 or input.dtype is mstype.bool_:  # rint raises for bools
        return rint(input)
    unit = 10 ** -decimals
    if unit >= 2**63:
        return core.zeros_like(input)
    wide = core.cast(input, mstype.int64)
    rest = core.mod(wide, unit)  # from 0 to unit - 1
    below, more = core.sub(wide, rest), core.sub(unit, rest)
    odd = core.not_equal(core.mod(core.floor_div(below, unit), 2), 0)
    up = core.logical_or(core.greater(rest, more), core.logical_and(core.equal(rest, more), odd))
    return core.cast(core.where(up, core.add(below, unit), below), input.dtype)


def frac(x: Tensor) -> Tensor:
    """Computes x - trunc(x), the fractional part with the sign of x.

    Args:
        x (Tensor): The input, of any shape.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.frac(ms.Tensor([1.5, -1.25])))
        [ 0.5  -0.25]
    """
    return core.sub(x, trunc(x))


@rounded_once(mstype.float64)
def log2(input: Tensor) -> Tensor:
    """Computes the logarithm to base 2. It is exact for powers of 2 in float32 and half types.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.log2(ms.Tensor([1.0, 2.0, 8.0])))
        [0. 1. 3.]
    """
    return core.div(core.log(input), math.log(2))


@rounded_once(mstype.float64)
def log10(input: Tensor) -> Tensor:
    """Computes the logarithm to base 10.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.log10(ms.Tensor([1.0, 10.0, 1000.0])))
        [0. 1. 3.]
    """
    return core.div(core.log(input), math.log(10))


def exp2(input: Tensor) -> Tensor:
    """Computes 2 to the power of each element. bfloat16 gives float32, as in MindSpore.

    Args:
        input (Tensor): The exponents, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.exp2(ms.Tensor([0.0, 1.0, 3.0])))
        [1. 2. 8.]
    """
    x = _not_bfloat16(floating(input))
    return core.pow(core.full((), 2.0, x.dtype), x)


def _not_bfloat16(x: Tensor) -> Tensor:
    return core.cast(x, mstype.float32) if x.dtype is mstype.bfloat16 else x


def positive(input: Tensor) -> Tensor:
    """Returns the input itself.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        `input`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.positive(ms.Tensor([1, -2])))
        [ 1 -2]
    """
    return input


@rounded_once()
def deg2rad(x: Tensor) -> Tensor:
    """Converts degrees to radians.

    Args:
        x (Tensor): The angles in degrees.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.deg2rad(ms.Tensor([90.0, 180.0])).asnumpy().round(4))
        [1.5708 3.1416]
    """
    return core.mul(floating(x), math.pi / 180)


@rounded_once()
def rad2deg(x: Tensor) -> Tensor:
    """Converts radians to degrees.

    Args:
        x (Tensor): The angles in radians.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rad2deg(ms.Tensor([0.0, 3.1415927])).asnumpy().round(4))
        [  0. 180.]
    """
    return core.mul(floating(x), 180 / math.pi)


def erfc(input: Tensor) -> Tensor:
    """Computes the complementary error function 1 - erf(x).

    In float32 the relative error is about 1e-6 as long as the result is a normal number (x up to 9), in float64 about
    1e-14 (x up to 26). Above 0.5 it follows Chiarella and Reichel, "On the evaluation of integrals related to the
    error function" (1968): the trapezium rule for exp(-x²)·x/pi times the integral of exp(-t²)/(x² + t²), corrected
    for the pole.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.erfc(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [1.8427 1.     0.1573]
    """
    x = wide(floating(input))
    h, terms = (0.5, 12) if x.dtype is mstype.float64 else (0.75, 6)
    s = core.clamp(x, 0.5, 28.0)
    s2 = core.square(s)
    total = core.div(h / math.pi, s2)
    for t in (n * h for n in range(1, terms + 1)):
        total = core.add(total, core.div(2 * h / math.pi * math.exp(-t * t), core.add(s2, t * t)))
    # exp(-s²) in two factors: the square of a short number is exact, whereas rounding s² would lose digits.
    short = core.stop_gradient(core.mul(core.round(core.mul(s, 16.0)), 1 / 16))
    power = core.mul(core.exp(core.neg(core.square(short))), core.exp(core.mul(core.sub(short, s), core.add(short, s))))
    pole = core.exp(core.mul(s, -2 * math.pi / h))
    pole = core.where(core.less(s, math.pi / h), core.div(core.mul(pole, 2.0), core.sub(1.0, pole)), 0.0)
    out = core.where(core.greater(x, 0.5), core.sub(core.mul(power, core.mul(s, total)), pole), core.sub(1.0, core.erf(x)))
    return core.cast(out, floating(input).dtype)


@rounded_once()
def tan(input: Tensor) -> Tensor:
    """Computes the tangent of angles in radians.

    Args:
        input (Tensor): The angles, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tan(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.5574]
    """
    return core.div(core.sin(input), core.cos(input))


def _half_exps(x: Tensor) -> tuple:
    """Returns (exp(x)/2, exp(-x)/2), computed as exp(x/2)·(exp(x/2)/2), which stays finite where exp(x) overflows.

    One factor and half of the exponent are constants to the gradient. The gradient is then the value itself and does
    not overflow either.
    """
    h = core.sub(x, core.stop_gradient(core.clamp(core.mul(x, 0.5), -1000.0, 1000.0)))
    up, down = core.exp(h), core.exp(core.neg(h))
    return core.mul(up, core.stop_gradient(core.mul(up, 0.5))), core.mul(down, core.stop_gradient(core.mul(down, 0.5)))


@rounded_once()
def sinh(input: Tensor) -> Tensor:
    """Computes the hyperbolic sine. It is accurate near 0 and up to the largest number of the type.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.sinh(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.1752]
    """
    x = floating(input)
    near = core.less(core.abs(x), 1.0)
    e = core.expm1(core.where(near, x, 0.0))
    return core.where(near, core.mul(core.add(e, core.div(e, core.add(e, 1.0))), 0.5), core.sub(*_half_exps(x)))


@rounded_once()
def cosh(input: Tensor) -> Tensor:
    """Computes the hyperbolic cosine. It is accurate up to the largest number of the type.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cosh(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     1.5431]
    """
    return core.add(*_half_exps(floating(input)))


def _log_of_twice(far: Tensor, x: Tensor, near: Tensor) -> Tensor:
    """Computes log(2x) where `far` is True, else log1p(near). Where `far` is True, x is so large that log1p(x) equals
    log(x).
    """
    out = core.log1p(core.where(far, x, near))
    return core.where(far, core.add(out, math.log(2)), out)


@rounded_once()
def asinh(input: Tensor) -> Tensor:
    """Computes the inverse hyperbolic sine.

    The formula is sign(x)·log1p(|x|·(1 + |x|/(1 + sqrt(1 + x²)))), and sign(x)·log(2|x|) where x² could overflow.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.asinh(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.8814  0.      0.8814]
    """
    x = floating(input)
    negative_ = core.less(x, 0)
    a = core.where(negative_, core.neg(x), x)  # not abs: its gradient at 0 is 0
    far = core.greater(a, 1e16)
    s = core.where(far, 1.0, a)
    ratio = core.div(s, core.add(core.sqrt(core.add(core.square(s), 1.0)), 1.0))
    y = _log_of_twice(far, a, core.mul(s, core.add(ratio, 1.0)))
    return core.where(negative_, core.neg(y), y)


@rounded_once()
def acosh(input: Tensor) -> Tensor:
    """Computes the inverse hyperbolic cosine; NaN below 1.

    The formula is log1p(t + sqrt(t)·sqrt(x + 1)) with t = x - 1, and log(2x) for the largest x.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.acosh(ms.Tensor([1.0, 2.0])).asnumpy().round(4))
        [0.    1.317]
    """
    x = floating(input)
    far = core.greater(x, 1e16)
    s = core.where(far, 2.0, x)
    t = core.sub(s, 1.0)
    return _log_of_twice(far, x, core.add(t, core.mul(core.sqrt(t), core.sqrt(core.add(s, 1.0)))))


@rounded_once()
def atanh(input: Tensor) -> Tensor:
    """Computes the inverse hyperbolic tangent, log((1 + x)/(1 - x))/2.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.atanh(ms.Tensor([0.0, 0.5])).asnumpy().round(4))
        [0.     0.5493]
    """
    x = floating(input)
    return core.mul(core.sub(core.log1p(x), core.log1p(core.neg(x))), 0.5)


def _atan_within_1(t: Tensor) -> Tensor:
    """Returns the arc tangent of numbers in [-1, 1]; see atan."""
    for _ in range(3):
        t = core.div(t, core.add(core.sqrt(core.add(core.square(t), 1.0)), 1.0))
    t2, total = core.square(t), None
    for k in (19, 17, 15, 13, 11, 9, 7, 5, 3, 1):
        coefficient = (1 if k % 4 == 1 else -1) / k
        total = core.full((), coefficient, t.dtype) if total is None else core.add(core.mul(total, t2), coefficient)
    return core.mul(core.mul(t, total), 8.0)


@rounded_once(mstype.float64)
def atan(input: Tensor) -> Tensor:
    """Computes the arc tangent, in [-pi/2, pi/2].

    |x| > 1 is reduced to 1/x. The angle is then halved three times (tan(a/2) = x/(1 + sqrt(1 + x²))). The rest is at
    most pi/32; ten terms of the series x - x³/3 + x⁵/5 - … give it to double precision.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.atan(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.7854  0.      0.7854]
    """
    x = floating(input)
    far = core.greater(core.abs(x), 1.0)
    angle = _atan_within_1(core.where(far, core.reciprocal(core.where(far, x, 1.0)), x))
    return core.where(far, core.sub(core.mul(sign(x), math.pi / 2), angle), angle)


def _below_0(x: Tensor) -> Tensor:
    """Returns True where x is negative; -0 counts as negative."""
    return core.less(core.add(x, core.reciprocal(x)), 0)


@rounded_once(mstype.float64)
def atan2(input: Scalar, other: Scalar) -> Tensor:
    """Computes the angle of the point (other, input), in [-pi, pi].

    Signs of zeros and infinities are handled as in C. The smaller coordinate is divided by the larger one.

    Args:
        input (Tensor or number): The ordinates y.
        other (Tensor or number): The abscissas x.

    Returns:
        The angles in radians, of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.atan2(ms.Tensor([1.0, 1.0]), ms.Tensor([1.0, -1.0])).asnumpy().round(4))
        [0.7854 2.3562]
    """
    y, x = _two(input, other)
    y, x = floating(y), floating(x)
    infinite = core.equal(core.minimum(core.abs(y), core.abs(x)), math.inf)
    y, x = core.where(infinite, sign(y), y), core.where(infinite, sign(x), x)
    steep = core.greater(core.abs(y), core.abs(x))
    divisor = core.where(steep, y, x)
    angle = _atan_within_1(core.div(core.where(steep, x, y), core.where(core.equal(divisor, 0), 1.0, divisor)))
    turn = core.where(_below_0(y), core.full((), -math.pi, angle.dtype), core.full((), math.pi, angle.dtype))
    flat = core.where(_below_0(x), core.add(angle, turn), angle)
    return core.where(steep, core.sub(core.mul(sign(y), math.pi / 2), angle), flat)


def _cathetus(x: Tensor) -> Tensor:
    """Computes sqrt(1 - x²) as a product of two roots: the gradient of the root of a product is NaN where one factor is
    0.
    """
    return core.mul(core.sqrt(core.sub(1.0, x)), core.sqrt(core.add(x, 1.0)))


@rounded_once(mstype.float64)
def asin(input: Tensor) -> Tensor:
    """Computes the arc sine; NaN outside [-1, 1].

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.asin(ms.Tensor([-1.0, 0.0, 0.5])).asnumpy().round(4))
        [-1.5708  0.      0.5236]
    """
    x = floating(input)
    return atan2(x, _cathetus(x))


@rounded_once(mstype.float64)
def acos(input: Tensor) -> Tensor:
    """Computes the arc cosine; NaN outside [-1, 1].

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.acos(ms.Tensor([1.0, 0.0, 0.5])).asnumpy().round(4))
        [0.     1.5708 1.0472]
    """
    x = floating(input)
    return atan2(_cathetus(x), x)


arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh = acos, acosh, asin, asinh, atan, atan2, atanh


@rounded_once()
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Computes sqrt(input² + other²) without overflow or underflow of the squares.

    The formula is the larger of the two times sqrt(1 + (smaller/larger)²). The result is infinite where one operand
    is infinite; the gradient is 0 there and where both are 0.

    Args:
        input (Tensor): The first cathetus.
        other (Tensor): The second cathetus.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hypot(ms.Tensor([3.0, 5.0]), ms.Tensor([4.0, 12.0])))
        [ 5. 13.]
    """
    a, b = core.abs(floating(input)), core.abs(floating(other))
    infinite = core.logical_or(core.equal(a, math.inf), core.equal(b, math.inf))
    a, b = core.where(infinite, 0.0, a), core.where(infinite, 0.0, b)
    large = core.maximum(a, b)
    ratio = core.div(core.minimum(a, b), core.where(core.equal(large, 0), 1.0, large))
    return core.where(infinite, math.inf, core.mul(large, core.sqrt(core.add(core.square(ratio), 1.0))))


@rounded_once(mstype.float64)
def sinc(input: Tensor) -> Tensor:
    """Computes sin(pi·x)/(pi·x), and 1 at 0.

    For |pi·x| < 1 the series is used, because its gradient keeps its digits.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.sinc(ms.Tensor([0.0, 0.5, 1.5])).asnumpy().round(4))
        [ 1.      0.6366 -0.2122]
    """
    x = core.mul(floating(input), math.pi)
    near = core.less(core.abs(x), 1.0)
    square_, total = core.square(core.where(near, x, 0.0)), None
    for k in range(16 if x.dtype is mstype.float64 else 10, -1, -2):
        coefficient = (1 if k % 4 == 0 else -1) / math.factorial(k + 1)
        total = core.full((), coefficient, x.dtype) if total is None else core.add(core.mul(total, square_), coefficient)
    far = core.where(near, 1.0, x)
    return core.where(near, total, core.div(core.sin(far), far))


@rounded_once()
def lerp(input: Tensor, end: Tensor, weight: Scalar) -> Tensor:
    """Interpolates linearly: input + weight * (end - input).

    Args:
        input (Tensor): The value at weight 0.
        end (Tensor): The value at weight 1.
        weight (Tensor or number): The weight.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lerp(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 6.0]), 0.5))
        [2. 4.]
    """
    return core.add(input, core.mul(core.sub(end, input), weight))


@rounded_once()
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar = 1) -> Tensor:
    """Computes input + value * tensor1 * tensor2.

    Args:
        input (Tensor): The tensor to add to.
        tensor1 (Tensor): The first factor.
        tensor2 (Tensor): The second factor.
        value (Tensor or number): The factor of the product. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addcmul(ms.Tensor([1.0, 1.0]), ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0]), 2))
        [ 7. 17.]
    """
    return core.add(input, core.mul(core.mul(tensor1, tensor2), value))


@rounded_once()
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar = 1) -> Tensor:
    """Computes input + value * tensor1 / tensor2.

    Args:
        input (Tensor): The tensor to add to.
        tensor1 (Tensor): The dividend.
        tensor2 (Tensor): The divisor.
        value (Tensor or number): The factor of the quotient. Default: 1.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addcdiv(ms.Tensor([1.0, 1.0]), ms.Tensor([4.0, 6.0]), ms.Tensor([2.0, 3.0]), 2))
        [5. 5.]
    """
    return core.add(input, core.mul(core.div(tensor1, tensor2), value))


@rounded_once()
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Computes log(exp(input) + exp(other)) without overflow. Two equal infinities give that infinity.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logaddexp(ms.Tensor([0.0, 1000.0]), ms.Tensor([0.0, 1000.0])).asnumpy().round(4))
        [6.9309998e-01 1.0006932e+03]
    """
    input, other = floating(input), floating(other)
    distance = core.where(core.equal(input, other), 0.0, core.abs(core.sub(input, other)))
    return core.add(core.maximum(input, other), core.log1p(core.exp(core.neg(distance))))


@rounded_once()
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Computes log2(2^input + 2^other) without overflow.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logaddexp2(ms.Tensor([0.0, 1.0]), ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1. 2.]
    """
    ln2 = math.log(2)
    return core.div(logaddexp(core.mul(floating(input), ln2), core.mul(floating(other), ln2)), ln2)


@rounded_once()
def xlogy(input: Scalar, other: Scalar) -> Tensor:
    """Computes input * log(other), and 0 where input is 0.

    Args:
        input (Tensor or number): The factor.
        other (Tensor or number): The argument of the logarithm.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.xlogy(ms.Tensor([0.0, 2.0]), ms.Tensor([0.0, 3.0])).asnumpy().round(4))
        [0.     2.1972]
    """
    x, y = _two(input, other)
    x, y = floating(x), floating(y)
    usual = core.logical_or(core.not_equal(x, 0), core.logical_and(core.greater(y, 0), core.isfinite(y)))  # otherwise the logarithm is not finite
    return core.where(usual, core.mul(x, core.log(core.where(usual, y, 1.0))), 0.0)


@rounded_once()
def xdivy(x: Scalar, y: Scalar) -> Tensor:
    """Computes x / y, and 0 where x is 0.

    Args:
        x (Tensor or number): The dividend.
        y (Tensor or number): The divisor.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.xdivy(ms.Tensor([0.0, 3.0]), ms.Tensor([0.0, 2.0])))
        [0.  1.5]
    """
    x, y = _two(x, y)
    x, y = floating(x), floating(y)
    usual = core.logical_or(core.not_equal(x, 0), core.logical_or(core.greater(y, 0), core.less(y, 0)))
    return core.where(usual, core.div(x, core.where(usual, y, 1.0)), 0.0)


@rounded_once()
def logit(input: Tensor, eps: Optional[float] = None) -> Tensor:
    """Computes log(x/(1 - x)), after clamping x to [eps, 1 - eps] if `eps` is given.

    Args:
        input (Tensor): The probabilities, of any shape.
        eps (float): The bound, or None; a negative value counts as None. Default: None.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logit(ms.Tensor([0.5, 0.9])).asnumpy().round(4))
        [0.     2.1972]
        >>> print(ms.ops.logit(ms.Tensor([0.0, 1.0]), eps=0.1).asnumpy().round(4))
        [-2.1972  2.1972]
    """
    x = floating(input)
    if eps is not None and eps >= 0:
        x = core.clamp(x, eps, 1 - eps)
    return core.sub(core.log(x), core.log1p(core.neg(x)))


def _kind(v: Any) -> str:
    return str(v.dtype) if isinstance(v, Tensor) else type(v).__name__


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Computes the step function: 0 below 0, 1 above, `values` at 0, NaN for NaN.

    Args:
        input (Tensor): The input, of any shape.
        values (Tensor): The result where input is 0; a number is accepted too.

    Returns:
        A tensor of the broadcast shape, in input's type.

    Raises:
        TypeError: If `input` is not a tensor or the tensors' types differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.heaviside(ms.Tensor([-2.0, 0.0, 3.0]), ms.Tensor([0.5])))
        [0.  0.5 1. ]
    """
    if not isinstance(input, Tensor) or isinstance(values, Tensor) and values.dtype != input.dtype:
        fail(TypeError, f"expected two tensors of one type, got {_kind(input)} and {_kind(values)}", "ops.heaviside")
    step = core.cast(core.greater(input, 0), input.dtype)
    step = core.where(core.isnan(input), math.nan, step) if is_float(input.dtype) else step
    return core.where(core.equal(input, 0), values, step)


def copysign(x: Tensor, other: Scalar) -> Tensor:
    """Computes |x| with the sign of `other`; -0 counts as positive. bfloat16 gives float32, as in MindSpore.

    Args:
        x (Tensor): The magnitudes.
        other (Tensor or number): The signs.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.copysign(ms.Tensor([1.0, -2.0]), ms.Tensor([-3.0, 4.0])))
        [-1.  2.]
    """
    x, other = _two(x, other)
    a = core.abs(_not_bfloat16(floating(x)))
    return core.where(core.less(other, 0), core.neg(a), a)


def signbit(input: Tensor) -> Tensor:
    """Returns True where the element is below 0.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A bool tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.signbit(ms.Tensor([-1.0, 0.0, 2.0])))
        [ True False False]
    """
    return core.less(input, 0)


def nan_to_num(input: Tensor, nan: Optional[float] = None, posinf: Optional[float] = None, neginf: Optional[float] = None) -> Tensor:
    """Replaces NaN and infinities by numbers. Integer tensors are returned unchanged.

    Args:
        input (Tensor): The input, of any shape.
        nan (float): The value for NaN; None means 0. Default: None.
        posinf (float): The value for +infinity; None means the type's largest number. Default: None.
        neginf (float): The value for -infinity; None means the type's smallest number. Default: None.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.nan_to_num(ms.Tensor([float("nan"), float("inf"), 1.0]), posinf=9.0))
        [0. 9. 1.]
    """
    if not is_float(input.dtype):
        return input
    largest = {mstype.float16: 65504.0, mstype.bfloat16: 3.3895313892515355e38, mstype.float32: 3.4028234663852886e38}.get(input.dtype,
                                                                                                                           1.7976931348623157e308)
    out = core.where(core.isnan(input), 0.0 if nan is None else float(nan), input)
    out = core.where(core.equal(out, math.inf), largest if posinf is None else float(posinf), out)
    return core.where(core.equal(out, -math.inf), -largest if neginf is None else float(neginf), out)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Returns the larger element; a number wins over NaN.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fmax(ms.Tensor([1.0, float("nan")]), ms.Tensor([3.0, 2.0])))
        [3. 2.]
    """
    return core.where(core.isnan(input), other, core.where(core.isnan(other), input, core.maximum(input, other)))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Returns the smaller element; a number wins over NaN.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fmin(ms.Tensor([1.0, float("nan")]), ms.Tensor([3.0, 2.0])))
        [1. 2.]
    """
    return core.where(core.isnan(input), other, core.where(core.isnan(other), input, core.minimum(input, other)))


def float_power(input: Scalar, exponent: Scalar) -> Tensor:
    """Computes input to the power of exponent in float64.

    Args:
        input (Tensor or number): The base.
        exponent (Tensor or number): The exponent.

    Returns:
        A float64 tensor of the broadcast shape.

    Raises:
        TypeError: If neither operand is a tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.float_power(ms.Tensor([2, 3]), 2))
        [4. 9.]
    """
    return core.pow(*(core.cast(t, mstype.float64) for t in _two(input, exponent)))


@rounded_once()
def ldexp(x: Tensor, other: Scalar) -> Tensor:
    """Computes x * 2^other.

    Args:
        x (Tensor): The factor.
        other (Tensor or number): The exponents.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ldexp(ms.Tensor([1.0, 3.0]), ms.Tensor([2, 3])))
        [ 4. 24.]
    """
    return core.mul(floating(x), exp2(as_tensor(other, x)))


def bitwise_not(input: Tensor) -> Tensor:
    """Inverts all bits, -x - 1 for signed integers; for bool it is the logical not.

    Args:
        input (Tensor): An integer or bool tensor.

    Returns:
        A tensor of input's shape and type.

    Raises:
        TypeError: If the type is floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bitwise_not(ms.Tensor([0, 5])))
        [-1 -6]
    """
    if input.dtype is mstype.bool_:
        return core.logical_not(input)
    if is_float(input.dtype):
        fail(TypeError, f"expected integers, got {input.dtype}", "ops.bitwise_not")
    return core.sub(core.neg(input), 1) if input.dtype is not mstype.uint8 else core.sub(255, input)


invert = bitwise_not


def is_floating_point(input: Tensor) -> bool:
    """Returns whether the element type is floating point.

    Args:
        input (Tensor): The tensor.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.is_floating_point(ms.Tensor([1.0])))
        True
    """
    return is_float(input.dtype)


def is_complex(input: Tensor) -> bool:
    """Returns False: Sindri has no complex tensors.

    Args:
        input (Tensor): The tensor.

    Returns:
        False.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.is_complex(ms.Tensor([1.0])))
        False
    """
    return False


def isreal(input: Tensor) -> Tensor:
    """Returns True for every element: Sindri has no complex tensors.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A bool tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.isreal(ms.Tensor([1.0, 2.0])))
        [ True  True]
    """
    return core.full(input.shape, 1.0, mstype.bool_)


def real(input: Tensor) -> Tensor:
    """Returns the real part: a new tensor with the same values.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.real(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """
    return core.reshape(input, input.shape)


def imag(input: Tensor) -> Tensor:
    """Returns the imaginary part: zeros.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.imag(ms.Tensor([1.0, 2.0])))
        [0. 0.]
    """
    return core.zeros_like(input)


def conj(input: Tensor) -> Tensor:
    """Returns the complex conjugate: a new tensor with the same values.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.conj(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """
    return core.reshape(input, input.shape)


def is_nonzero(input: Tensor) -> bool:
    """Returns whether the only element is not 0. It reads the tensor's value, so code that calls it runs eagerly.

    Args:
        input (Tensor): A tensor of one element.

    Returns:
        A bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.is_nonzero(ms.Tensor([2])))
        True
    """
    return bool(input != 0)


__all__ = exported(globals())
