"""Elementwise functions of one, two and three tensors: types, mixed types, scalars, special values, broadcasting, empty and 0-d tensors."""
from . import lines

# name: an expression for a float32 input in its domain
UNARY = {name: "X(2, 3)" for name in (
    "abs absolute arctan atan arcsinh asinh ceil cos cosh deg2rad rad2deg erf erfc exp exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf "
    "neg negative positive relu relu6 round sgn sigmoid sign signbit silu sin sinc sinh square tan tanh tanhshrink trunc logsigmoid "
    "selu celu elu gelu mish softsign softplus hardsigmoid hardswish hardtanh hardshrink softshrink nan_to_num leaky_relu is_floating_point is_complex "
    "log_softmax softmax softmin fast_gelu ravel rank size shape numel").split()}
UNARY.update({name: "X(2, 3, lo=-0.9, hi=0.9)" for name in "acos arccos asin arcsin atanh arctanh".split()})
UNARY.update({name: "X(2, 3, lo=1.0, hi=3.0)" for name in
              "acosh arccosh log log1p log2 log10 sqrt rsqrt reciprocal inv inverse".split() if name != "inverse"})
UNARY.update({"logit": "X(2, 3, lo=0.1, hi=0.9)", "logical_not": "b([True, False])", "invert": "i([0, 3, -4])"})
PLAIN = "abs sin exp log sqrt relu sigmoid tanh floor round sign square neg ceil erf reciprocal rsqrt isnan isfinite log1p expm1 trunc cos".split()

METHODS = ("abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad erf erfc exp expm1 floor frac isfinite isinf isneginf isposinf isnan log log10 "
           "log1p log2 logical_not logit neg negative positive rad2deg reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan "
           "tanh trunc abs absolute nan_to_num hardshrink inv").split()

BINARY = ("add sub mul div divide true_divide subtract multiply floor_divide floor_div floor_mod fmod remainder maximum minimum fmax fmin pow atan2 "
          "arctan2 hypot copysign eq ne gt ge lt le equal not_equal greater greater_equal less less_equal logaddexp logaddexp2 ldexp heaviside xlogy "
          "xdivy logical_and logical_or logical_xor float_power truncate_div truncate_mod isclose gcd lcm bitwise_and bitwise_or bitwise_xor").split()
MIXED = "add sub mul div floor_divide fmod remainder maximum pow eq lt logical_and".split()
PAIRS = ("i([7, -7, 3]), i([2, 2, -2])", "u8([200, 3]), u8([100, 5])", "b([True, False]), b([True, True])", "i([7, -7]), f([2, 2])", "h([1.5, 2]), f([2, 3])",
         "l([7, -7]), i([2, 3])", "f([1.5, -2]), 2", "i([7, -7]), 2", "i([7, -7]), 2.5", "2, f([1.5, 2])", "2.5, i([1, 2])", "b([True, False]), 2",
         "h([1.5, 2]), 3", "h([1.5, 2]), 0.1", "u8([3, 4]), i8([-1, 2])", "f([nan, 1, inf]), f([1, nan, 2])", "f([]), f([])", "f(2.5), f([1, 2])", "d([1, 2]), f([3, 4])",
         "bf([1.5, 2]), f([2, 3])", "bf([1.5, 2]), h([2, 3])", "f([1, 2]), True", "f([1, 0]), f([0, 0])", "u8([3]), l([-4])", "f([[1.], [2.]]), f([1, 2, 3])",
         "f([1, 2]), f([1, 2, 3])")
OPERATORS = "+ - * / // % ** @ == != < <= > >= & | ^".split()
OPERANDS = ("x, y = i([6, -7, 3]), i([3, 2, 1])", "x, y = f([1.5, -2, 4]), f([2, 3, 1])", "x, y = b([True, False]), b([True, True])", "x, y = i([6, -7]), 3",
            "x, y = f([1.5, -2]), 3", "x, y = i([6, -7]), 1.5", "x, y = 3, i([6, 7])", "x, y = 1.5, i([6, 7])", "x, y = 2.0, f([1.5, -2])", "x, y = u8([6, 250]), u8([3, 10])",
            "x, y = u8([6, 250]), -1", "x, y = f([1, 2]), True", "x, y = b([True, False]), 1", "x, y = h([1, 2]), f([3, 4])", "x, y = i([1, 2]), l([3, 4])",
            "x, y = f([1, 2]), np.array([3, 4], np.float32)", "x, y = i([]), i([])", "x, y = f(3), f(2)", "x, y = b([True]), i([6])", "x, y = d([1.5]), 2",
            "x, y = f([1, 2]), [3, 4]", "x, y = f([1, 2]), (3.5, 4)", "x, y = f([1, 2]), None", "x, y = f([1, 2]), 'a'", "x, y = l([100]), l([100])")
INPLACE = "+= -= *= /= //= %= **= &= |= ^=".split()


def special(name):
    yield f"ops.{name}(f([nan, inf, -inf, 0, -0.0]))"


def unary():
    for name, x in UNARY.items():
        yield f"ops.{name}({x})"
        yield f"ops.{name}(input={x})"
        if name not in ("inverse", "logical_not", "invert"):
            yield f"ops.{name}({x}.astype(ms.float16))"
            yield from special(name)
    for name in PLAIN:
        for x in ("i([3, 1, 2])", "u8([3, 1])", "b([True, False])", "f([])", "f(0.5)", "d([0.5, 2])", "bf([0.5, 2])", "X(2, 1, 3)", "l([1])"):
            yield f"ops.{name}({x})"
        yield f"ops.{name}(2.0)"
    for name in METHODS:
        yield f"{UNARY[name] if name in UNARY else 'X(2, 3)'}.{name}()"


def binary():
    for name in BINARY:
        yield f"ops.{name}(f([1.5, 2, -3]), f([2, 0.5, 2]))"
        yield f"ops.{name}(i([7, -7, 3]), i([2, 2, 2]))"
        yield f"ops.{name}(f([1.5, nan]), 2)"
        yield f"ops.{name}(b([True, False]), b([True, True]))"
        yield f"ops.{name}(input=f([1.5, 2]), {'exponent' if name in ('pow', 'float_power') else 'other'}=f([2, 3]))"
        if name not in ("floor_div", "truncate_div", "truncate_mod", "floor_mod", "arctan2"):
            yield f"f([1.5, 2, -3]).{name}(f([2, 0.5, 2]))"
            yield f"i([6, 2]).{name}(3)"
    for name in MIXED:
        for pair in PAIRS:
            yield f"ops.{name}({pair})"


def operators():
    for operands in OPERANDS:
        for o in OPERATORS:
            yield f"{operands}; x {o} y"
    for x in ("f([1.5, -2])", "i([6, 7])", "b([True, False])", "u8([6, 7])", "h([3])"):
        for o in INPLACE:
            for y in ("2", "1.5", "i([2])", "f([2.5])"):
                yield f"x = {x}; x {o} {y}; x"
        for o in ("-x", "+x", "~x", "abs(x)", "not x", "bool(x[0])", "float(x[0])", "int(x[0])", "round(float(x[0]))", "x[0].__index__()", "divmod(x, x)", "len(x)",
                  "list(x)", "complex(x[0])", "x in [x]", "hash(x) == hash(x)", "x << 1", "x >> 1"):
            yield f"x = {x}; {o}"


OTHER = lines("""
ops.clamp(X(2, 3), -1, 1)
ops.clamp(X(2, 3), min=0)
ops.clamp(X(2, 3), max=0.5)
ops.clamp(i([1, 5, 9]), 2, 7)
ops.clamp(i([1, 5, 9]), 2.5, 7)
ops.clamp(X(2, 3), f([-1, 0, 1]), f([0, 1, 2]))
ops.clamp(f([nan, 1, 3]), 0, 2)
ops.clamp(X(2, 3), 1, -1)
ops.clip(X(2, 3), -1, 1)
ops.clip_by_value(X(2, 3), f(-1), f(1))
ops.clip_by_value(X(2, 3), 0)
ops.clip_by_value([X(2), X(3)], -1, 1)
ops.clamp(X(2, 3))
X(2, 3).clamp(0, 1)
X(2, 3).clip(0, 1)
X(2, 3).clip(0)
ops.lerp(X(2, 3), X(2, 3, s=1), 0.25)
ops.lerp(X(2, 3), X(2, 3, s=1), X(2, 3, s=2))
ops.lerp(X(2, 3), X(3, s=1), 0.5)
ops.addcmul(X(2, 3), X(2, 3, s=1), X(2, 3, s=2))
ops.addcmul(X(2, 3), X(2, 3, s=1), X(2, 3, s=2), 0.5)
ops.addcdiv(X(2, 3), X(2, 3, s=1), X(2, 3, s=2, lo=1.0), 2.0)
ops.addcdiv(X(2, 3), X(3, s=1), X(2, 1, s=2, lo=1.0))
X(2, 3).addcmul(X(2, 3, s=1), X(2, 3, s=2), 0.5)
X(2, 3).addcdiv(X(2, 3, s=1), X(2, 3, s=2, lo=1.0))
ops.where(b([True, False]), f([1, 2]), f([3, 4]))
ops.where(b([True, False]), 1.5, f([3, 4]))
ops.where(b([True, False]), i([1, 2]), f([3, 4]))
ops.where(b([True, False]), 1, 2)
ops.where(b([True, False]), f([1, 2]), 0)
ops.where(b([[True], [False]]), f([1, 2]), f([3, 4]))
ops.where(i([1, 0]), f([1, 2]), f([3, 4]))
ops.where(f([1, 0]), f([1, 2]), f([3, 4]))
f([1, 2]).where(b([True, False]), 0.0)
f([1, 2]).where(b([True, False]), f([5, 6]))
ops.select(b([True, False]), f([1, 2]), f([3, 4]))
ops.select(b([True, False]), f([1, 2]), 3.0)
ops.select(b([True, False]), i([1, 2]), 3)
ops.select(b([True, False]), 1.0, 2.0)
ops.masked_fill(f([1, 2, 3]), b([True, False, True]), 0.5)
ops.masked_fill(i([1, 2, 3]), b([True, False, True]), 7)
ops.masked_fill(f([1, 2, 3]), b([True, False, True]), f(9))
ops.masked_fill(X(2, 3), b([True, False, True]), 0)
f([1, 2]).masked_fill(b([True, False]), -inf)
ops.nan_to_num(f([nan, inf, -inf, 1]), nan=1.0, posinf=2.0, neginf=-3.0)
ops.nan_to_num(h([nan, inf, -inf, 1]))
ops.round(f([0.5, 1.5, 2.5, -0.5, -1.5]))
ops.round(f([1.2345, -2.3456]), decimals=2)
ops.round(d([0.5, 1.5, 2.5]))
ops.round(i([1, 2]))
f([1.25, 2.35]).round(1)
ops.leaky_relu(X(2, 3), 0.1)
ops.elu(X(2, 3), 0.5)
ops.elu(X(2, 3), 1.0)
ops.celu(X(2, 3), 2.0)
ops.gelu(X(2, 3), approximate='tanh')
ops.gelu(X(2, 3), approximate='none')
ops.gelu(X(2, 3), 'wrong')
ops.hardshrink(X(2, 3), 1.0)
ops.softshrink(X(2, 3), 0.25)
ops.hardtanh(X(2, 3), -0.5, 0.25)
ops.softplus(X(2, 3), 2, 1)
ops.softplus(f([30, 10, -30]))
ops.threshold(X(2, 3), 0.5, 9.0)
ops.threshold(i([1, 5]), 2, 0)
ops.prelu(X(2, 3), f([0.25]))
ops.prelu(X(2, 3), f([0.25, 0.5, 1]))
ops.prelu(X(2, 3, 2), f([0.25, 0.5, 1]))
ops.glu(X(2, 4))
ops.glu(X(4, 3), 0)
ops.glu(X(2, 3))
ops.swiglu(X(2, 4))
ops.logit(f([0.1, 0.5, 1.2]), 0.01)
ops.logit(f([0, 1]))
ops.softmax(X(2, 3), 0)
ops.softmax(X(2, 3), axis=-2)
ops.softmax(X(2, 3), -1, dtype=ms.float16)
ops.softmax(h([1, 2]), dtype=ms.float32)
ops.softmax(X(2, 3), (0, 1))
ops.softmax(X(2, 3), 2)
ops.softmax(f(3))
ops.softmax(i([1, 2]))
ops.log_softmax(X(2, 3), 0)
ops.log_softmax(X(2, 3, 2), 1)
ops.softmin(X(2, 3), 0)
X(2, 3).softmax(0)
ops.gumbel_softmax(X(2, 3)).shape
ops.gumbel_softmax(X(2, 3), hard=True).sum(-1)
ops.isclose(f([1, 2, nan]), f([1, 2.00001, nan]))
ops.isclose(f([1, 2, nan]), f([1, 2.1, nan]), rtol=0.1, equal_nan=True)
ops.isclose(i([1, 2]), i([1, 3]))
ops.approximate_equal(f([1, 2]), f([1, 2.1]), 0.2)
ops.approximate_equal(f([1, 2]), f([1, 2.000001]))
ops.addn([f([1, 2]), f([3, 4]), f([5, 6])])
ops.addn([i([1, 2]), f([3, 4])])
ops.accumulate_n([f([1, 2]), f([3, 4])])
ops.add(f([1, 2]), f([3, 4]), alpha=2)
ops.add(x=f([1, 2]), y=f([3, 4]))
ops.add(f([1, 2]), other=2)
ops.mul(input=2, other=f([1, 2]))
f([1, 2]).add(other=f([3, 4]))
f([1, 2]).mul(other=2)
f([1, 2]).pow(exponent=2)
f([1, 2]).eq(other=f([1, 3]))
ops.maximum(input=f([1, 5]), other=f([3, 4]))
ops.sqrt(f([4]), input=f([4]))
ops.sub(f([1, 2]), f([3, 4]), alpha=2)
f([1, 2]).add(f([3, 4]), alpha=2)
f([1, 2]).sub(f([3, 4]), alpha=2)
ops.div(f([7, -7]), f([2, 2]), rounding_mode='floor')
ops.div(f([7, -7]), f([2, 2]), rounding_mode='trunc')
ops.div(i([7, -7]), i([2, 2]), rounding_mode='floor')
ops.div(i([7, -7]), 2, rounding_mode='trunc')
ops.div(f([7]), f([2]), rounding_mode='up')
f([7, -7]).div(2, rounding_mode='floor')
ops.pow(i([2, 3]), i([3, 2]))
ops.pow(i([2, 3]), -1)
ops.pow(2, f([1, 2]))
ops.pow(f([-2, 4]), 0.5)
ops.pow(h([2]), 3)
ops.pow(b([True]), b([False]))
ops.bitwise_left_shift(i([1, 2]), 3)
ops.bitwise_right_shift(i([16, -8]), 2)
ops.bitwise_and(i([6]), 3)
ops.bitwise_or(u8([6]), u8([1]))
ops.bitwise_xor(b([True]), b([True]))
ops.polygamma(i(1), f([1, 2]))
ops.digamma(f([1, 2.5]))
ops.digamma(f([-0.0, 0.0, -1.0, inf, nan]))
ops.lgamma(f([1, 2.5]))
ops.erfinv(f([0.1, -0.5]))
ops.i0(f([0, 1, 2]))
ops.rrelu(X(2, 3), 0.2, 0.2)
ops.cast(f([1.7, -1.7]), ms.int32)
ops.cast(f([300, -1]), ms.uint8)
ops.cast(f([nan, 0, 2]), ms.bool_)
ops.cast(b([True]), ms.float16)
ops.cast(2, ms.float32)
ops.cast(2.5, ms.int32)
ops.cast(i([1]), 'float32')
ops.xlogy(f([0, 2]), f([3, 4]))
ops.xlogy(0, f([3, 4]))
ops.xlogy(f([0, 2]), 3)
ops.sigmoid(i([0, 1]))
ops.exp(i([0, 1]))
ops.sin(b([True]))
ops.sqrt(i([4, 9]))
ops.sqrt(f([-1]))
ops.rsqrt(f([0, -1]))
ops.log(f([0, -1]))
ops.reciprocal(f([0, 2]))
ops.reciprocal(i([2, 4]))
ops.polar(f([1, 2]), f([0, 1]))
ops.trapz(f([1, 2, 3]))
ops.cosine_similarity(X(2, 3), X(2, 3, s=1))
ops.cosine_similarity(X(2, 3), X(2, 3, s=1), dim=0)
ops.dropout(X(2, 3), p=0.0)
ops.dropout(X(2, 3), 0.5, training=False)
ops.dropout(X(2, 3), p=1.5)
ops.is_tensor(f([1]))
ops.is_tensor(1)
ops.is_nonzero(f([1]))
ops.is_nonzero(f([0]))
ops.is_nonzero(f([1, 2]))
ops.isreal(f([1]))
ops.scalar_to_tensor(1.5)
ops.scalar_to_tensor(1)
ops.scalar_to_tensor(2, ms.float32)
ops.tuple_to_array((1, 2, 3))
ops.typeof(f([1]))
ops.stop_gradient(X(2))
ops.float_power(i([2, 3]), 2)
ops.float_power(2.0, f([1, 2]))
ops.exp2(f([1, 2]))
ops.threshold(f([1, 2]), 1, 5)
ops.hypot(f([3]), f([4]))
ops.nextafter(f([1]), f([2]))
ops.trunc(i([1]))
ops.sgn(f([-2, 0, 3]))
ops.positive(b([True]))
ops.logical_not(f([0, 1]))
ops.logical_and(f([0, 1]), i([1, 1]))
ops.logical_xor(b([True, False]), True)
ops.square(i([3]))
ops.square(u8([20]))
""")

CASES = [*unary(), *binary(), *operators(), *OTHER]
