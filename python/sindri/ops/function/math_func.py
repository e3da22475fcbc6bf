"""Elementwise functions of sindri.ops. Inputs broadcast; a Python number takes the other operand's type, a fraction beside integers gives float32."""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Union

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import Parameter, Tensor, as_tensor, core, exported, floating, is_float, is_number, rounded_once, to_int, wide

Scalar = Union[Tensor, Parameter, int, float]

# One engine operator each.
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

# The same under other names.
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
    """x / y; two integer tensors give the quotient rounded towards 0 in their type, as MindSpore's RealDiv does."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and not is_float(x.dtype) and not is_float(y.dtype):
        return truncate_div(x, y)
    return core.div(x, y)  # a 0-d tensor counts here, unlike in div


def div(input: Scalar, other: Scalar, *, rounding_mode: Optional[str] = None) -> Tensor:
    """input / other, integers giving float32; rounding_mode 'floor' or 'trunc' rounds the quotient. A 0-d tensor next to one with dimensions does not widen it
    within its kind. Raises ValueError for another mode."""
    if rounding_mode is None:
        return core.quotient(input, other)
    check_choice("ops.div", "rounding_mode", rounding_mode, ("floor", "trunc"))
    return floor_div(input, other) if rounding_mode == "floor" else truncate_div(input, other)


divide = div
true_divide = core.quotient
tensor_div = real_div


@rounded_once()
def subtract(input: Scalar, other: Scalar, *, alpha: Union[int, float] = 1) -> Tensor:
    """input - alpha * other."""
    return core.sub(input, other if alpha == 1 else core.mul(as_tensor(other), alpha))


def trunc(input: Tensor) -> Tensor:
    """Each element rounded towards 0; gradient 0."""
    return core.where(core.less(input, 0), ceil(input), floor(input))


@rounded_once()
def truncate_div(x: Scalar, y: Scalar) -> Tensor:
    """The quotient rounded towards 0, in the operands' common type."""
    x, y = _two(x, y)
    if is_float(x.dtype) or is_float(y.dtype):
        return trunc(core.div(x, y))
    q = floor_div(x, y)
    inexact = core.not_equal(core.mul(q, y), x)
    return core.add(q, core.cast(core.logical_and(core.less(q, 0), inexact), q.dtype))


def truncate_mod(x: Scalar, y: Scalar) -> Tensor:
    """x - y * truncate_div(x, y): the remainder with the sign of x; exact for floats."""
    x, y = _two(x, y)
    kind = mstype.promote_types(x.dtype, y.dtype)
    if is_float(kind):
        x, y = core.cast(x, kind), core.cast(y, kind)
        negative_ = core.less(x, 0)
        rest = core.mod(core.where(negative_, core.neg(x), x), core.abs(y))
        return core.where(negative_, core.neg(rest), rest)
    remainder_ = core.mod(x, y)  # of the sign of y; moved by y where the signs of x and y differ
    wrong = core.logical_and(core.not_equal(remainder_, 0), core.logical_xor(core.less(x, 0), core.less(remainder_, 0)))
    return core.where(wrong, core.sub(remainder_, y), remainder_)


mod = truncate_mod


def fmod(input: Scalar, other: Scalar) -> Tensor:
    """truncate_mod; a 0-d `other` next to an input with dimensions does not widen it within its kind."""
    if isinstance(other, Tensor) and isinstance(input, Tensor) and not other.shape and input.shape and other.dtype != input.dtype:
        if other.dtype.is_floating == input.dtype.is_floating and mstype.bool_ not in (other.dtype, input.dtype):
            other = core.cast(other, input.dtype)
    return truncate_mod(input, other)


def _two(x: Scalar, y: Scalar) -> tuple:
    """Both as tensors, a number in the other's type. Raises TypeError when neither is a tensor."""
    if is_number(x) and is_number(y):
        fail(TypeError, f"expected at least one tensor, got {x!r} and {y!r}", "ops")
    if is_number(x):
        return as_tensor(x, y), y
    return x, as_tensor(y, x)


@rounded_once()
def div_no_nan(x: Scalar, y: Scalar) -> Tensor:
    """x / y, and 0 where y is 0."""
    x, y = _two(floating(x) if isinstance(x, Tensor) else x, floating(y) if isinstance(y, Tensor) else y)
    zero = core.equal(y, 0)
    return core.where(zero, 0.0, core.div(x, core.where(zero, 1.0, y)))


def mul_no_nan(x: Tensor, y: Tensor) -> Tensor:
    """x * y, and 0 where y is 0 whatever x is."""
    zero = core.equal(y, 0)
    return core.where(zero, 0, core.mul(core.where(zero, 0, x), y))


@rounded_once()
def squared_difference(x: Scalar, y: Scalar) -> Tensor:
    """(x - y) squared."""
    return core.square(core.sub(x, y))


def addn(x) -> Tensor:
    """The sum of the equal-shaped tensors of a tuple or list. Raises TypeError for anything else, ValueError for differing shapes."""
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
    """True where the element is infinite."""
    return core.logical_not(core.logical_or(core.isfinite(input), core.isnan(input)))


def isposinf(input: Tensor) -> Tensor:
    """True where the element is +infinity."""
    return core.equal(input, math.inf) if is_float(input.dtype) else core.not_equal(input, input)


def isneginf(input: Tensor) -> Tensor:
    """True where the element is -infinity."""
    return core.equal(input, -math.inf) if is_float(input.dtype) else core.not_equal(input, input)


@rounded_once()
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """|input - other| <= atol + rtol * |other|, as numpy.isclose."""
    input, other = floating(input), floating(other)
    finite = core.logical_and(core.isfinite(input), core.isfinite(other))
    near = core.less_equal(core.abs(core.sub(input, other)), core.add(core.mul(core.abs(other), rtol), atol))
    out = core.logical_or(core.equal(input, other), core.logical_and(finite, near))
    return core.logical_or(out, core.logical_and(core.isnan(input), core.isnan(other))) if equal_nan else out


@rounded_once()
def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-05) -> Tensor:
    """|x - y| < tolerance."""
    return core.less(core.abs(core.sub(x, y)), tolerance)


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number (halves to even), or the nearest with `decimals` digits after the point; gradient 0. Integers keep their type."""
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
    """Integers to the nearest multiple of a power of ten, without a floating number in between."""
    if decimals > 0 or input.dtype is mstype.bool_:  # bools are refused there
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
    """x - trunc(x)."""
    return core.sub(x, trunc(x))


@rounded_once(mstype.float64)
def log2(input: Tensor) -> Tensor:
    """Logarithm to base 2; exact for powers of 2 in float32 and half types."""
    return core.div(core.log(input), math.log(2))


@rounded_once(mstype.float64)
def log10(input: Tensor) -> Tensor:
    """Logarithm to base 10."""
    return core.div(core.log(input), math.log(10))


def exp2(input: Tensor) -> Tensor:
    """2 to the power of each element; of bfloat16 float32, as MindSpore's."""
    x = _not_bfloat16(floating(input))
    return core.pow(core.full((), 2.0, x.dtype), x)


def _not_bfloat16(x: Tensor) -> Tensor:
    return core.cast(x, mstype.float32) if x.dtype is mstype.bfloat16 else x


def positive(input: Tensor) -> Tensor:
    """The input itself."""
    return input


@rounded_once()
def deg2rad(x: Tensor) -> Tensor:
    """Degrees as radians."""
    return core.mul(floating(x), math.pi / 180)


@rounded_once()
def rad2deg(x: Tensor) -> Tensor:
    """Radians as degrees."""
    return core.mul(floating(x), 180 / math.pi)


def erfc(input: Tensor) -> Tensor:
    """1 - erf(x), to about 1e-6 of itself in float32 as long as it is a normal number (x up to 9), to 1e-14 in float64 (x up to 26). Above 0.5
    by Chiarella and Reichel, "On the evaluation of integrals related to the error function" (1968): the trapezium rule for
    exp(-x²)·x/pi times the integral of exp(-t²)/(x² + t²), corrected for the pole."""
    x = wide(floating(input))
    h, terms = (0.5, 12) if x.dtype is mstype.float64 else (0.75, 6)
    s = core.clamp(x, 0.5, 28.0)
    s2 = core.square(s)
    total = core.div(h / math.pi, s2)
    for t in (n * h for n in range(1, terms + 1)):
        total = core.add(total, core.div(2 * h / math.pi * math.exp(-t * t), core.add(s2, t * t)))
    # exp(-s²) in two factors: the square of a short number is exact, where the rounding of s² would cost digits.
    short = core.stop_gradient(core.mul(core.round(core.mul(s, 16.0)), 1 / 16))
    power = core.mul(core.exp(core.neg(core.square(short))), core.exp(core.mul(core.sub(short, s), core.add(short, s))))
    pole = core.exp(core.mul(s, -2 * math.pi / h))
    pole = core.where(core.less(s, math.pi / h), core.div(core.mul(pole, 2.0), core.sub(1.0, pole)), 0.0)
    out = core.where(core.greater(x, 0.5), core.sub(core.mul(power, core.mul(s, total)), pole), core.sub(1.0, core.erf(x)))
    return core.cast(out, floating(input).dtype)


@rounded_once()
def tan(input: Tensor) -> Tensor:
    """Tangent of radians."""
    return core.div(core.sin(input), core.cos(input))


def _half_exps(x: Tensor) -> tuple:
    """(exp(x)/2, exp(-x)/2) as exp(x/2)·(exp(x/2)/2), which stays finite where exp(x) does not. One factor and half of the exponent are
    constants to the gradient, which is then the value itself and does not overflow, either."""
    h = core.sub(x, core.stop_gradient(core.clamp(core.mul(x, 0.5), -1000.0, 1000.0)))
    up, down = core.exp(h), core.exp(core.neg(h))
    return core.mul(up, core.stop_gradient(core.mul(up, 0.5))), core.mul(down, core.stop_gradient(core.mul(down, 0.5)))


@rounded_once()
def sinh(input: Tensor) -> Tensor:
    """Hyperbolic sine, accurate near 0 and up to the largest number of the type."""
    x = floating(input)
    near = core.less(core.abs(x), 1.0)
    e = core.expm1(core.where(near, x, 0.0))
    return core.where(near, core.mul(core.add(e, core.div(e, core.add(e, 1.0))), 0.5), core.sub(*_half_exps(x)))


@rounded_once()
def cosh(input: Tensor) -> Tensor:
    """Hyperbolic cosine, up to the largest number of the type."""
    return core.add(*_half_exps(floating(input)))


def _log_of_twice(far: Tensor, x: Tensor, near: Tensor) -> Tensor:
    """log(2x) where far holds, else log1p(near). There x is so large that log1p(x) is log(x)."""
    out = core.log1p(core.where(far, x, near))
    return core.where(far, core.add(out, math.log(2)), out)


@rounded_once()
def asinh(input: Tensor) -> Tensor:
    """Inverse hyperbolic sine: sign(x)·log1p(|x|·(1 + |x|/(1 + sqrt(1 + x²)))), and sign(x)·log(2|x|) where x² could overflow."""
    x = floating(input)
    negative_ = core.less(x, 0)
    a = core.where(negative_, core.neg(x), x)  # not abs, whose gradient at 0 is 0
    far = core.greater(a, 1e16)
    s = core.where(far, 1.0, a)
    ratio = core.div(s, core.add(core.sqrt(core.add(core.square(s), 1.0)), 1.0))
    y = _log_of_twice(far, a, core.mul(s, core.add(ratio, 1.0)))
    return core.where(negative_, core.neg(y), y)


@rounded_once()
def acosh(input: Tensor) -> Tensor:
    """Inverse hyperbolic cosine: log1p(t + sqrt(t)·sqrt(x + 1)) with t = x - 1, and log(2x) for the largest x; NaN below 1."""
    x = floating(input)
    far = core.greater(x, 1e16)
    s = core.where(far, 2.0, x)
    t = core.sub(s, 1.0)
    return _log_of_twice(far, x, core.add(t, core.mul(core.sqrt(t), core.sqrt(core.add(s, 1.0)))))


@rounded_once()
def atanh(input: Tensor) -> Tensor:
    """Inverse hyperbolic tangent: half of log((1 + x)/(1 - x))."""
    x = floating(input)
    return core.mul(core.sub(core.log1p(x), core.log1p(core.neg(x))), 0.5)


def _atan_within_1(t: Tensor) -> Tensor:
    """Arc tangent of numbers in [-1, 1]; see atan."""
    for _ in range(3):
        t = core.div(t, core.add(core.sqrt(core.add(core.square(t), 1.0)), 1.0))
    t2, total = core.square(t), None
    for k in (19, 17, 15, 13, 11, 9, 7, 5, 3, 1):
        coefficient = (1 if k % 4 == 1 else -1) / k
        total = core.full((), coefficient, t.dtype) if total is None else core.add(core.mul(total, t2), coefficient)
    return core.mul(core.mul(t, total), 8.0)


@rounded_once(mstype.float64)
def atan(input: Tensor) -> Tensor:
    """Arc tangent. |x| > 1 goes through 1/x; then the angle is halved three times (tan(a/2) = x/(1 + sqrt(1 + x²))), and the rest,
    at most pi/32, is summed by the series x - x³/3 + x⁵/5 - … of ten terms, which is exact to double precision."""
    x = floating(input)
    far = core.greater(core.abs(x), 1.0)
    angle = _atan_within_1(core.where(far, core.reciprocal(core.where(far, x, 1.0)), x))
    return core.where(far, core.sub(core.mul(sign(x), math.pi / 2), angle), angle)


def _below_0(x: Tensor) -> Tensor:
    """Whether x is negative; -0 counts."""
    return core.less(core.add(x, core.reciprocal(x)), 0)


@rounded_once(mstype.float64)
def atan2(input: Scalar, other: Scalar) -> Tensor:
    """The angle of the point (other, input), in [-pi, pi], for zeros and infinities with a sign as in C. The smaller coordinate is divided
    by the larger one."""
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
    """sqrt(1 - x²). Of two roots, as the gradient of the root of a product is NaN where one factor is 0."""
    return core.mul(core.sqrt(core.sub(1.0, x)), core.sqrt(core.add(x, 1.0)))


@rounded_once(mstype.float64)
def asin(input: Tensor) -> Tensor:
    """Arc sine; NaN outside [-1, 1]."""
    x = floating(input)
    return atan2(x, _cathetus(x))


@rounded_once(mstype.float64)
def acos(input: Tensor) -> Tensor:
    """Arc cosine; NaN outside [-1, 1]."""
    x = floating(input)
    return atan2(_cathetus(x), x)


arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh = acos, acosh, asin, asinh, atan, atan2, atanh


@rounded_once()
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """sqrt(input² + other²), without overflow and underflow on the way: the larger of the two times sqrt(1 + (smaller/larger)²). Infinite where
    one is; gradient 0 there and where both are 0."""
    a, b = core.abs(floating(input)), core.abs(floating(other))
    infinite = core.logical_or(core.equal(a, math.inf), core.equal(b, math.inf))
    a, b = core.where(infinite, 0.0, a), core.where(infinite, 0.0, b)
    large = core.maximum(a, b)
    ratio = core.div(core.minimum(a, b), core.where(core.equal(large, 0), 1.0, large))
    return core.where(infinite, math.inf, core.mul(large, core.sqrt(core.add(core.square(ratio), 1.0))))


@rounded_once(mstype.float64)
def sinc(input: Tensor) -> Tensor:
    """sin(pi·x)/(pi·x), and 1 at 0; for |pi·x| < 1 by its series, whose gradient keeps its digits."""
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
    """input + weight * (end - input)."""
    return core.add(input, core.mul(core.sub(end, input), weight))


@rounded_once()
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return core.add(input, core.mul(core.mul(tensor1, tensor2), value))


@rounded_once()
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return core.add(input, core.mul(core.div(tensor1, tensor2), value))


@rounded_once()
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(exp(input) + exp(other)), without overflow; of two equal infinities that infinity."""
    input, other = floating(input), floating(other)
    distance = core.where(core.equal(input, other), 0.0, core.abs(core.sub(input, other)))
    return core.add(core.maximum(input, other), core.log1p(core.exp(core.neg(distance))))


@rounded_once()
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """log2(2^input + 2^other), without overflow."""
    ln2 = math.log(2)
    return core.div(logaddexp(core.mul(floating(input), ln2), core.mul(floating(other), ln2)), ln2)


@rounded_once()
def xlogy(input: Scalar, other: Scalar) -> Tensor:
    """input * log(other), and 0 where input is 0."""
    x, y = _two(input, other)
    x, y = floating(x), floating(y)
    usual = core.logical_or(core.not_equal(x, 0), core.logical_and(core.greater(y, 0), core.isfinite(y)))  # else the logarithm is not finite
    return core.where(usual, core.mul(x, core.log(core.where(usual, y, 1.0))), 0.0)


@rounded_once()
def xdivy(x: Scalar, y: Scalar) -> Tensor:
    """x / y, and 0 where x is 0."""
    x, y = _two(x, y)
    x, y = floating(x), floating(y)
    usual = core.logical_or(core.not_equal(x, 0), core.logical_or(core.greater(y, 0), core.less(y, 0)))
    return core.where(usual, core.div(x, core.where(usual, y, 1.0)), 0.0)


@rounded_once()
def logit(input: Tensor, eps: Optional[float] = None) -> Tensor:
    """log(x/(1 - x)), x first brought into [eps, 1 - eps] when eps is given."""
    x = floating(input)
    if eps is not None and eps >= 0:
        x = core.clamp(x, eps, 1 - eps)
    return core.sub(core.log(x), core.log1p(core.neg(x)))


def _kind(v: Any) -> str:
    return str(v.dtype) if isinstance(v, Tensor) else type(v).__name__


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above, `values` at 0, NaN for NaN. Raises TypeError unless both are tensors of one type; values may be a number."""
    if not isinstance(input, Tensor) or isinstance(values, Tensor) and values.dtype != input.dtype:
        fail(TypeError, f"expected two tensors of one type, got {_kind(input)} and {_kind(values)}", "ops.heaviside")
    step = core.cast(core.greater(input, 0), input.dtype)
    step = core.where(core.isnan(input), math.nan, step) if is_float(input.dtype) else step
    return core.where(core.equal(input, 0), values, step)


def copysign(x: Tensor, other: Scalar) -> Tensor:
    """|x| with the sign of other (that of +0 for zeros); of bfloat16 float32, as MindSpore's."""
    x, other = _two(x, other)
    a = core.abs(_not_bfloat16(floating(x)))
    return core.where(core.less(other, 0), core.neg(a), a)


def signbit(input: Tensor) -> Tensor:
    """True below 0."""
    return core.less(input, 0)


def nan_to_num(input: Tensor, nan: Optional[float] = None, posinf: Optional[float] = None, neginf: Optional[float] = None) -> Tensor:
    """NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the type's largest and smallest number)."""
    if not is_float(input.dtype):
        return input
    largest = {mstype.float16: 65504.0, mstype.bfloat16: 3.3895313892515355e38, mstype.float32: 3.4028234663852886e38}.get(input.dtype,
                                                                                                                           1.7976931348623157e308)
    out = core.where(core.isnan(input), 0.0 if nan is None else float(nan), input)
    out = core.where(core.equal(out, math.inf), largest if posinf is None else float(posinf), out)
    return core.where(core.equal(out, -math.inf), -largest if neginf is None else float(neginf), out)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """The larger element; a number wins against NaN."""
    return core.where(core.isnan(input), other, core.where(core.isnan(other), input, core.maximum(input, other)))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """The smaller element; a number wins against NaN."""
    return core.where(core.isnan(input), other, core.where(core.isnan(other), input, core.minimum(input, other)))


def float_power(input: Scalar, exponent: Scalar) -> Tensor:
    """input to the power of exponent, in float64."""
    return core.pow(*(core.cast(t, mstype.float64) for t in _two(input, exponent)))


@rounded_once()
def ldexp(x: Tensor, other: Scalar) -> Tensor:
    """x * 2^other."""
    return core.mul(floating(x), exp2(as_tensor(other, x)))


def bitwise_not(input: Tensor) -> Tensor:
    """All bits inverted: -x - 1; logical not for bool."""
    if input.dtype is mstype.bool_:
        return core.logical_not(input)
    if is_float(input.dtype):
        fail(TypeError, f"expected integers, got {input.dtype}", "ops.bitwise_not")
    return core.sub(core.neg(input), 1) if input.dtype is not mstype.uint8 else core.sub(255, input)


invert = bitwise_not


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating point."""
    return is_float(input.dtype)


def is_complex(input: Tensor) -> bool:
    """False: there are no complex tensors."""
    return False


def isreal(input: Tensor) -> Tensor:
    """True everywhere: there are no complex tensors."""
    return core.full(input.shape, 1.0, mstype.bool_)


def real(input: Tensor) -> Tensor:
    """The real part: a tensor of its own with the same values."""
    return core.reshape(input, input.shape)


def imag(input: Tensor) -> Tensor:
    """The imaginary part: zeros."""
    return core.zeros_like(input)


def conj(input: Tensor) -> Tensor:
    """The complex conjugate: a tensor of its own with the same values."""
    return core.reshape(input, input.shape)


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0. Asks the tensor's value, so code with it runs eagerly."""
    return bool(input != 0)


__all__ = exported(globals())
