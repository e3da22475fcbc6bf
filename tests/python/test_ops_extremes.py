"""Elementwise functions and related ones for tiny, huge, infinite and NaN values, compared with NumPy and closed forms."""
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
import sindri.numpy as mnp
from sindri import Tensor, nn, ops
from sindri.ops import operations as P

INF, NAN = math.inf, math.nan
FLOATS = (np.float32, np.float64)
LONG = 2 ** 53 + 1  # the first integer that float64 cannot represent


def close(got, expected, dtype=np.float32, digits=1):
    """Compares up to about 8 roundings of the type, times digits; infinities, NaN and signs of zeros must be equal."""
    got = got.asnumpy() if isinstance(got, Tensor) else got
    assert got.dtype == dtype
    with np.errstate(over="ignore"):  # values beyond the type's range are infinite
        expected = np.asarray(expected, np.float64).astype(dtype)
    np.testing.assert_allclose(got, expected, rtol=8 * digits * np.finfo(dtype).eps, atol=0)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])


def slopes(f, *inputs):
    """Returns the gradients of the sum of f's result."""
    found = ms.grad(lambda *x: ops.sum(f(*x)), tuple(range(len(inputs))))(*[Tensor(x) for x in inputs])
    return found if isinstance(found, tuple) else (found,)


# --- functions of one number ------------------------------------------------------------------------------------------------------------

erfc = np.vectorize(math.erfc, otypes=[np.float64])
WIDE = [0.0, -0.0, 1e-30, -1e-30, 1e-3, 0.4, 0.999, 1.0, -1.0, 1.5, -7.0, 30.0]
HUGE = WIDE + [1e8, -1e12, 1e20, -1e30, 3e38]
ONE = {  # the function, its reference, its derivative, where to compare (finite numbers), the results for the infinities
    "sinh": (ops.sinh, np.sinh, np.cosh, WIDE + [-10.0, -15.0, -20.0, 45.0, -60.0, 88.0, 89.0, -89.0], (-INF, INF)),
    "cosh": (ops.cosh, np.cosh, np.sinh, WIDE + [-20.0, 45.0, 88.0, 89.0, -89.0, 710.0], (INF, INF)),
    "asinh": (ops.asinh, np.arcsinh, lambda x: 1 / np.hypot(1, x), HUGE, (-INF, INF)),
    "acosh": (ops.acosh, np.arccosh, lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)), [1.0, 1.5, 2.0, 1e3, 1e8, 1e16, 1e20, 3e38], (NAN, INF)),
    "acos": (ops.acos, np.arccos, lambda x: -1 / np.sqrt((1 - x) * (1 + x)), [0.0, 1e-20, 1e-30, -1e-10, 0.5, -0.875, 1.0, -1.0], (NAN, NAN)),
    "asin": (ops.asin, np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)), [0.0, 1e-20, -1e-30, 0.5, -0.875, 1.0, -1.0], (NAN, NAN)),
    "erfc": (ops.erfc, erfc, lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x),
             [0.0, 1e-20, 0.4, 0.5, 0.51, 1.0, 3.0, 4.1, 4.2, 5.0, 6.2, 6.4, 7.0, 9.0, -0.5, -2.0, -30.0], (2, 0)),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ONE)
def test_values_and_gradients_of_one_number(name, dtype, mode):
    function, value, slope, finite, infinite = ONE[name]
    x = np.array(finite, dtype)
    exact = x.astype(np.float64)
    digits = {"asin": 4, "acos": 4, "erfc": 4}.get(name, 1)
    close(function(Tensor(x)), value(exact), dtype, digits)
    with np.errstate(divide="ignore", over="ignore"):
        found = slopes(function, x)[0].asnumpy()
        eps = np.finfo(dtype).eps
        np.testing.assert_allclose(found, slope(exact).astype(dtype), rtol=100 * eps, atol=eps if name == "cosh" else 0)
    close(function(Tensor(np.array([-INF, INF, NAN], dtype))), [*infinite, NAN], dtype)


def test_beyond_float32():
    close(ops.sinh(Tensor(np.array([-45.0, 700.0, -710.0]))), np.sinh([-45.0, 700, -710]), np.float64)
    close(ops.cosh(Tensor(np.array([-710.0]))), np.cosh([-710.0]), np.float64)
    close(ops.asinh(Tensor(np.array([1e160, -1e300]))), np.arcsinh([1e160, -1e300]), np.float64)
    close(ops.acosh(Tensor(np.array([1e160, 1e308]))), np.arccosh([1e160, 1e308]), np.float64)
    close(ops.erfc(Tensor(np.array([20.0, 26.0]))), erfc([20.0, 26.0]), np.float64, 4)
    close(slopes(ops.sinh, np.array([-710.0]))[0], np.cosh([-710.0]), np.float64)


def test_acosh_below_1_is_nan():
    assert np.isnan(ops.acosh(Tensor([0.5, 0.0, -1.5, -1e4, -1e20])).asnumpy()).all()


@pytest.mark.parametrize("name", ["sinh", "cosh", "asinh", "acosh", "erfc"])
def test_half_types(name):
    kept = {"sinh": slice(5), "cosh": slice(5), "acosh": slice(3, 8), "erfc": slice(4)}.get(name, slice(8))
    for dtype, digits in ((ms.float16, 4e-3), (ms.bfloat16, 3e-2)):
        x = Tensor([0.0, 1e-3, 0.75, 3.0, 11.5, 250.0, 300.0, 30000.0]).astype(dtype)
        exact = x.astype(ms.float32).asnumpy().astype(np.float64)
        got = ONE[name][0](x)
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(ms.float32).asnumpy()[kept], ONE[name][1](exact[kept]), rtol=digits)


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_sinc_near_0(dtype, mode):
    x = np.array([0, 1e-5, -1e-3, 0.01, 0.1, 0.3, 0.33, 1.5, -2.25], dtype)
    s = math.pi * x.astype(np.float64)
    series = -s / 3 + s ** 3 / 30 - s ** 5 / 840 + s ** 7 / 45360
    with np.errstate(invalid="ignore", divide="ignore"):
        exact = np.where(np.abs(s) < 0.05, series, (np.cos(s) - np.sin(s) / s) / s) * math.pi
    np.testing.assert_allclose(slopes(ops.sinc, x)[0].asnumpy(), exact, rtol=40 * np.finfo(dtype).eps)
    close(ops.sinc(Tensor(x)), np.sinc(x.astype(np.float64)), dtype, 2)


def test_nan_stays():
    close(ops.heaviside(Tensor([NAN, -1.0, 0.0, 2.0]), Tensor(7.0)), [NAN, 0, 7, 1])
    close(ops.hardshrink(Tensor([NAN, 0.5, -3.0, INF])), [NAN, 0, -3, INF])


# --- functions of two numbers -----------------------------------------------------------------------------------------------------------

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -7.0, INF, -INF, NAN, 1e-30, -1e-40, 1e30, -3e38, 1e8])
TWO = {"atan2": (ops.atan2, np.arctan2), "hypot": (ops.hypot, np.hypot), "fmod": (ops.fmod, np.fmod), "logaddexp": (ops.logaddexp, np.logaddexp),
       "logaddexp2": (ops.logaddexp2, np.logaddexp2)}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", TWO)
def test_values_of_two_special_numbers(name, dtype, mode):
    a, b = (v.ravel().astype(dtype) for v in np.meshgrid(SPECIAL, SPECIAL))
    function, reference = TWO[name]
    with np.errstate(all="ignore"):
        expected = reference(a, b)
    got = function(Tensor(a), Tensor(b)).asnumpy()
    assert got.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=8 * np.finfo(dtype).eps, atol=1e-43)  # a few times the smallest subnormal
    if not name.startswith("log"):
        np.testing.assert_array_equal(np.signbit(got)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)])


def test_remainders_keep_their_digits():
    close(ops.fmod(Tensor([-1.0, -0.1, -7.3]), 1000.0), np.float32([-1, -0.1, -7.3]))
    close(ops.fmod(Tensor([5.3]), -1e6), np.float32([5.3]))
    close(mnp.fmod(Tensor([-5.0]), INF), [-5.0])
    np.testing.assert_array_equal(ops.fmod(Tensor([7, -7, -2 ** 31], ms.int32), Tensor([-3, 3, 2], ms.int32)).asnumpy(), [1, -1, 0])
    by_x, by_y = slopes(ops.fmod, np.float32([-1, 5.3, -7.3, 0]), np.float32([1e8, -1e6, 2, 3]))
    np.testing.assert_array_equal(by_x.asnumpy(), 1)
    np.testing.assert_array_equal(by_y.asnumpy(), [0, 0, 3, 0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_atan2(dtype, mode):
    y = np.array([1, 2, 2, 0, -3, 0, 1e-30, 1e30, -2, 1], dtype)
    x = np.array([0, 0, 1e-25, 2, -4, -1, 1e-30, -1e30, 1e-30, 1e25], dtype)
    by_y, by_x = slopes(ops.atan2, y, x)
    r = np.hypot(y.astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(by_y.asnumpy(), x / r / r, rtol=50 * np.finfo(dtype).eps, atol=1e-40)
    np.testing.assert_allclose(by_x.asnumpy(), -y / r / r, rtol=50 * np.finfo(dtype).eps, atol=1e-40)
    for slope in slopes(ops.atan2, np.array([0, INF, -INF, 1], dtype), np.array([0, INF, 1, -INF], dtype)):
        assert np.isfinite(slope.asnumpy()).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_hypot(dtype, mode):
    a, b = np.array([1e30, 3, -3e20, 0, 1e-30, 5], dtype), np.array([1, 4, 4e20, -2, 1e-30, 5], dtype)
    by_a, by_b = slopes(ops.hypot, a, b)
    r = np.hypot(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(by_a.asnumpy(), a / r, rtol=20 * np.finfo(dtype).eps)
    np.testing.assert_allclose(by_b.asnumpy(), b / r, rtol=20 * np.finfo(dtype).eps)
    for slope in slopes(ops.hypot, np.array([0, INF, 1], dtype), np.array([0, INF, INF], dtype)):
        assert np.isfinite(slope.asnumpy()).all()


def test_gradients_of_logaddexp(mode):
    by_a, by_b = slopes(ops.logaddexp, np.float32([1, -INF, INF, -INF, 2]), np.float32([1, -INF, INF, 3, 1]))
    close(by_a, [0.5, 0.5, 0.5, 0, 1 / (1 + math.exp(-1))])
    close(by_b, [0.5, 0.5, 0.5, 1, 1 / (1 + math.exp(1))])


# --- along an axis ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64])
def test_logcumsumexp_of_minus_infinity(dtype, mode):
    got = ops.logcumsumexp(Tensor([-INF, -INF, 1.0, 2.0]).astype(dtype), 0)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(ms.float32).asnumpy(), [-INF, -INF, 1, 2 + math.log1p(math.exp(-1))], rtol=2e-3)


def test_nan_wins_in_running_extrema(mode):
    for function in (ops.cummax, ops.cummin):
        value, index = function(Tensor([3.0, NAN, 1.0, 5.0, NAN, 2.0]), 0)
        close(value, [3] + [NAN] * 5)
        np.testing.assert_array_equal(index.asnumpy(), [0, 1, 1, 1, 4, 4])
    np.testing.assert_array_equal(ops.cummax(Tensor([3, 1, 5, 5]), 0)[1].asnumpy(), [0, 0, 2, 3])


def test_extrema_and_variances_of_nothing():
    close(mnp.nanmax(Tensor([NAN])), NAN)
    close(mnp.nanmin(Tensor([[NAN, 1.0], [NAN, NAN]]), 1), [1, NAN])
    assert mnp.nanmax(Tensor([1, 2])) == 2
    close(mnp.nanvar(Tensor([1.0]), ddof=3), NAN)
    close(mnp.nanvar(Tensor([[1.0, 3.0], [NAN, NAN]]), 1), [1, NAN])
    close(ops.var(Tensor([1.0, 2.0]), ddof=5), INF)
    close(mnp.cov(Tensor([[1.0, 2.0], [3.0, 4.0]]), ddof=5), np.full((2, 2), INF))
    assert np.isnan(mnp.cov(Tensor(np.zeros((2, 0), np.float32))).asnumpy()).all()
    close(slopes(lambda x: mnp.nanvar(x, 1), np.float32([[1, 3], [NAN, NAN]]))[0].asnumpy()[0], [-1, 1])


@pytest.mark.parametrize("call", [lambda: mnp.bincount(Tensor([1, -1])), lambda: mnp.bincount(Tensor([1, -1]), length=3),
                                  lambda: mnp.histogram(Tensor([1.0, 2.0]), 2, (2, 1)), lambda: mnp.histogram(Tensor([1.0, NAN])),
                                  lambda: mnp.histogram(Tensor([1.0, 2.0]), [3.0, 1.0, 2.0]), lambda: mnp.digitize(Tensor([1.0]), [1.0, 3.0, 2.0])])
def test_what_numpy_refuses(call):
    with pytest.raises(ValueError, match="numpy"):
        call()


# --- random draws -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights, count, replacement", [([-1.0, 1.0], 5, True), ([NAN, 1.0], 5, True), ([INF, 1.0], 5, True), ([0.0, 0.0], 1, True),
                                                        ([0.0, 1.0], 2, False), ([[1.0, 1.0], [0.0, 1.0]], 2, False)])
def test_multinomial_refuses_weights_that_are_none(weights, count, replacement):
    with pytest.raises(ValueError, match="multinomial"):
        ops.multinomial(Tensor(weights), count, replacement)


def test_multinomial_in_compiled_code_never_draws_what_is_no_weight():
    draw = ms.jit(lambda w: ops.multinomial(w, 100))
    np.testing.assert_array_equal(draw(Tensor([-1.0, NAN, 0.0, 1.0])).asnumpy(), 3)


# --- integers that a float cannot represent ---------------------------------------------------------------------------------------------


def holds(got, values, dtype=ms.int64):
    assert got.dtype == dtype
    assert got.asnumpy().tolist() == values


def test_long_integers_in_ops(mode):
    holds(ops.arange(LONG, LONG + 2), [LONG, LONG + 1])
    holds(ops.arange(LONG, LONG - 6, -3), [LONG, LONG - 3])
    holds(ops.arange(5, LONG, LONG - 6), [5, LONG - 1])
    holds(ops.arange(LONG, 0), [])
    holds(ops.range(LONG, LONG + 2, 1), [LONG, LONG + 1])
    holds(ops.one_hot(Tensor([1]), 2, LONG, 0), [[0, LONG]])
    holds(ops.one_hot(Tensor([1]), 2, 1, -LONG), [[-LONG, 1]])
    holds(Tensor([1]).new_full((1,), LONG), [LONG])
    holds(ops.scalar_to_tensor(LONG, ms.int64), LONG)


@pytest.mark.parametrize("call, values", [
    (lambda: mnp.array(2 ** 31), 2 ** 31), (lambda: mnp.array([1, 2 ** 40]), [1, 2 ** 40]), (lambda: mnp.abs(-2 ** 40), 2 ** 40),
    (lambda: mnp.asarray(np.int64(-2 ** 40)), -2 ** 40), (lambda: mnp.add(2 ** 31, 0), 2 ** 31), (lambda: mnp.add(0, 2 ** 31), 2 ** 31),
    (lambda: mnp.arange(2 ** 31, 2 ** 31 + 2), [2 ** 31, 2 ** 31 + 1]), (lambda: mnp.full((1,), 2 ** 40), [2 ** 40])])
def test_integers_beyond_int32_in_numpy(call, values):
    holds(call(), values)


def test_integers_within_int32_in_numpy():
    holds(mnp.array([-2 ** 31, 2 ** 31 - 1]), [-2 ** 31, 2 ** 31 - 1], ms.int32)
    holds(mnp.arange(3), [0, 1, 2], ms.int32)
    holds(mnp.add(1, 2), 3, ms.int32)
    holds(mnp.count_nonzero(2 ** 32), 1, ms.int32)


def test_no_long_integer_wraps_in_full():
    for value in (2 ** 40, 2 ** 60):
        with pytest.raises(ValueError, match="does not fit"):
            ops.full((1,), value, dtype=ms.int32)
        with pytest.raises(ValueError, match="does not fit"):
            ops.arange(value, value + 3, dtype=ms.int32)
    assert ops.arange(-2 ** 60, 3 - 2 ** 60, dtype=ms.float64).shape == (3,)
    holds(ops.full((1,), LONG, dtype=ms.int64), [LONG])
    assert ops.full((1,), 2 ** 60, dtype=ms.float32).asnumpy() == 2.0 ** 60


# Results of NumPy 1.26 and MindSpore 2.10 on x86-64, for float16, float32 and float64 alike if the type holds the value.
CAST_TO_INTEGERS = {
    "int32": [(1e30, -2147483648), (-1e30, -2147483648), (3e9, -2147483648), (-3e9, -2147483648), (2147483648.0, -2147483648), (math.nan, -2147483648),
              (math.inf, -2147483648), (-math.inf, -2147483648), (300.0, 300), (-1.5, -1)],
    "int64": [(1e30, -2**63), (-1e30, -2**63), (1e19, -2**63), (3e9, 3000000000), (-3e9, -3000000000), (math.nan, -2**63), (math.inf, -2**63), (300.0, 300)],
    "uint8": [(1e30, 0), (-1e30, 0), (4294967301.0, 0), (math.nan, 0), (math.inf, 0), (300.0, 44), (-1.0, 255), (255.75, 255), (-300.5, 212)],
}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", CAST_TO_INTEGERS)
def test_floats_out_of_range_become_the_integers_of_mindspore(target, source, mode):
    given, expected = zip(*CAST_TO_INTEGERS[target])
    ms.set_context(mode=mode)
    for repeat in (1, 40):  # more than a vector's width
        out = ops.cast(Tensor(np.array(given * repeat, source)), getattr(ms, target)).asnumpy()
        np.testing.assert_array_equal(out, np.array(expected * repeat, target))


@pytest.mark.parametrize("call", ["count_nonzero", "sum", "prod"])
@pytest.mark.parametrize("dtype", ["bool", "uint8"])
def test_sums_of_narrow_types_make_no_wide_copy(dtype, call):
    """Eight bytes per element would be 512 MiB, which exceeds the limit."""
    program = (f"import numpy as np, resource, sindri as ms\n"
               f"from sindri import ops, Tensor\n"
               f"t = Tensor(np.ones(2**26, np.{dtype if dtype != 'bool' else 'bool_'}))\n"
               f"used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
               f"resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)\n"
               f"out = ops.{call}(t)\n"
               f"assert out.asnumpy() == {1 if call == 'prod' else 2**26}, out\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "SINDRI_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr


# --- integers that no float can represent -------------------------------------------------------------------------------------------------

L = lambda v: Tensor(np.asarray(v, np.int64))  # noqa: E731
I4 = lambda v: Tensor(np.asarray(v, np.int32))  # noqa: E731
WHOLE = {
    "full": (lambda b: ops.full((2,), b, dtype=ms.int64), lambda b: [b, b]), "full_like": (lambda b: ops.full_like(L([0, 0]), b), lambda b: [b, b]),
    "fill": (lambda b: L([0, 0]).fill(b), lambda b: [b, b]), "itemset": (lambda b: L([0]).itemset(b), lambda b: [b]),
    "add": (lambda b: L([1]) + b, lambda b: [1 + b]), "rsub": (lambda b: b - L([1]), lambda b: [b - 1]), "mul": (lambda b: L([1]) * b, lambda b: [b]),
    "sub alpha": (lambda b: ops.subtract(L([1]), L([1]), alpha=b), lambda b: [1 - b]),
    "clamp": (lambda b: ops.clamp(L([b - 9, b + 9]), b - 1, b + 1), lambda b: [b - 1, b + 1]),
    "clip_by_value": (lambda b: ops.clip_by_value(L([b - 9, b + 9]), b - 1), lambda b: [b - 1, b + 9]),
    "mnp.clip": (lambda b: mnp.clip(L([b - 9, b + 9]), b - 1, b + 1), lambda b: [b - 1, b + 1]),
    "maximum": (lambda b: ops.maximum(L([0]), b), lambda b: [max(0, b)]), "arange": (lambda b: ops.arange(b, b + 3), lambda b: [b, b + 1, b + 2]),
    "equal": (lambda b: L([b, b - 1, b + 1]) == b, lambda b: [True, False, False]), "less": (lambda b: ops.less(L([b, b - 1]), b), lambda b: [False, True]),
    "isclose": (lambda b: ops.equal(L([b]), L([b + 1])), lambda b: [False]), "pow": (lambda b: ops.pow(L([b]), 1), lambda b: [b]),
    "floor_div": (lambda b: ops.floor_div(L([b]), 1), lambda b: [b]), "fmod": (lambda b: ops.floor_mod(L([7]), 4) + b, lambda b: [3 + b]),
    "masked_fill": (lambda b: ops.masked_fill(L([0, 1]), Tensor([True, False]), b), lambda b: [b, 1]),
    "index_fill": (lambda b: ops.index_fill(L([0, 0]), 0, I4([1]), b), lambda b: [0, b]),
    "scatter": (lambda b: ops.scatter(L([0, 0]), 0, I4([1]), b), lambda b: [0, b]),
    "fill_diagonal": (lambda b: L([[0, 1], [2, 3]]).fill_diagonal(b), lambda b: [[b, 1], [2, b]]),
    "where": (lambda b: ops.where(Tensor([True, False]), b, L([0, 1])), lambda b: [b, 1]),
    "select": (lambda b: ops.select(Tensor([True, False]), b, L([0, 1])), lambda b: [b, 1]),
    "one_hot": (lambda b: ops.one_hot(I4([1]), 2, b, -b), lambda b: [[-b, b]]),
    "nn.OneHot": (lambda b: nn.OneHot(depth=2, on_value=b, off_value=-b, dtype=ms.int64)(I4([1])), lambda b: [[-b, b]]),
    "pad": (lambda b: ops.pad(L([1, -1]), (1, 2), value=b), lambda b: [b, 1, -1, b, b]), "ConstantPad1d": (lambda b: nn.ConstantPad1d(1, b)(L([[1]])), lambda b: [[b, 1, b]]),
    "mnp.pad": (lambda b: mnp.pad(L([1]), 1, constant_values=b), lambda b: [b, 1, b]),
    "threshold": (lambda b: ops.threshold(L([0, 9]), 3, b), lambda b: [b, 9]), "assign": (lambda b: ops.assign(ms.Parameter(L([0]), name="w"), b), lambda b: [b]),
    "setitem": (lambda b: _with(L([0, 0]), b), lambda b: [0, b]), "mean": (lambda b: ops.mean(L([b, b])), lambda b: b), "real_div": (lambda b: P.RealDiv()(L([b]), L([1])), lambda b: [b]),
    "tensor_scatter_update": (lambda b: ops.tensor_scatter_elements(L([0, 0]), I4([1]), L([b])), lambda b: [0, b]),
    "tensor_scatter_div": (lambda b: ops.tensor_scatter_div(L([b]), I4([[0]]), L([1])), lambda b: [b]),
    "unsorted_segment_max": (lambda b: ops.unsorted_segment_max(L([b]), I4([0]), 1), lambda b: [b]),
    "bucketize": (lambda b: ops.bucketize(L([b - 1, b, b + 1]), [b]), lambda b: [0, 0, 1]), "searchsorted": (lambda b: ops.searchsorted(L([b]), L([b, b + 1])), lambda b: [0, 1]),
    "Tensor": (lambda b: Tensor(b), lambda b: b), "mnp.full": (lambda b: mnp.full((1,), b), lambda b: [b]),
    "initializer": (lambda b: ms.common.initializer.initializer(ms.common.initializer.Constant(b), (1,), ms.int64).init_data(), lambda b: [b]),
}


def _with(x, value):
    x[1] = value
    return x


@pytest.mark.parametrize("big", [LONG, -LONG, 2 ** 62 + 1])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_stay_whole(name, big, mode):
    fn, wanted = WHOLE[name]
    got = fn(big).asnumpy()
    assert got.dtype.kind in "ib"
    np.testing.assert_array_equal(got, np.asarray(wanted(big)))
