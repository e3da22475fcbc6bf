"""Bessel functions compared with mpmath's values (expectations/bessel.json, tests/reference/make_bessel_tables.py), their gradients by the recurrences from the
same
values, and the ends of their domains with MindSpore's results."""
import json
import os

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, ops

with open(os.path.join(os.path.dirname(__file__), "expectations", "bessel.json"), encoding="utf-8") as f:
    STORED = json.load(f)
X = np.array(STORED.pop("places"))
WANT = {name: np.array([float(v) for v in values]) for name, values in STORED.items()}
ORDER_1 = {"j1": "odd", "i1": "odd", "i1e": "odd", "j0": "even", "i0": "even", "i0e": "even"}
FUNCTIONS = pytest.mark.parametrize("name", WANT)
# If a function oscillates, its zeros are only as exact as pi, so errors are relative to the amplitude of the oscillation.
SCALE = {name: np.minimum(1, np.sqrt(2 / np.pi / X)) if name[0] in "jy" else 0 for name in WANT}


@FUNCTIONS
def test_values(name):
    with np.errstate(over="ignore", invalid="ignore"):
        want = WANT[name]
        got = getattr(ops, "bessel_" + name)(Tensor(X)).asnumpy()
        close = np.abs(got - want) <= 4e-15 * np.maximum(np.abs(want), SCALE[name]) * np.maximum(1, X * 0.02)
        assert (close | (got == want)).all(), (X[~close], got[~close], want[~close])
        single = X[X > 1e-30].astype(np.float32)
        rounded = getattr(ops, "bessel_" + name)(Tensor(single)).asnumpy()
        same = getattr(ops, "bessel_" + name)(Tensor(single.astype(np.float64))).asnumpy().astype(np.float32)
        assert rounded.dtype == np.float32 and (rounded == same).all()


@FUNCTIONS
def test_halves_are_rounded_once(name):
    for dtype in (ms.float16, ms.bfloat16):
        x = Tensor(np.array([0.3, 1.5, 2.25, 5.0, 9.5], np.float32), dtype)
        got = getattr(ops, "bessel_" + name)(x)
        want = getattr(ops, "bessel_" + name)(x.astype(ms.float64)).astype(dtype)
        assert got.dtype == dtype and (got.astype(ms.float32).asnumpy() == want.astype(ms.float32).asnumpy()).all()


@pytest.mark.parametrize("name", ORDER_1)
def test_negative_places(name):
    f = getattr(ops, "bessel_" + name)
    sign = -1 if ORDER_1[name] == "odd" else 1
    np.testing.assert_array_equal(f(Tensor(-X)).asnumpy(), sign * f(Tensor(X)).asnumpy())


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
@FUNCTIONS
def test_gradients(name, mode):
    """The recurrences of Abramowitz and Stegun (9.1.27 to 9.1.30, 9.6.26 to 9.6.29), with mpmath's values of the functions."""
    ms.set_context(mode=mode)
    take = (X > 0.005) & (X < 600)
    x, w = X[take], {k: v[take] for k, v in WANT.items()}
    slopes = {
        "j0": -w["j1"], "j1": w["j0"] - w["j1"] / x, "y0": -w["y1"], "y1": w["y0"] - w["y1"] / x, "i0": w["i1"], "i1": w["i0"] - w["i1"] / x,
        "i0e": w["i1e"] - w["i0e"], "i1e": w["i0e"] - w["i1e"] - w["i1e"] / x, "k0": -w["k1"], "k1": -w["k0"] - w["k1"] / x,
        "k0e": w["k0e"] - w["k1e"], "k1e": w["k1e"] - w["k1e"] / x - w["k0e"],
    }
    f = getattr(ops, "bessel_" + name)
    size = np.abs(w["i0e"]) + np.abs(w["i1e"]) if name in ("i0e", "i1e") else np.abs(w["k0e"]) + np.abs(w["k1e"]) * (1 + 1 / x) if name in ("k0e", "k1e") else \
        np.abs(slopes[name]) + (0.5 if name[0] in "jy" else 0) + (np.abs(w[name]) / x if name[1] == "1" else 0)
    call = ms.jit(lambda v: f(v).sum()) if mode == ms.GRAPH_MODE else lambda v: f(v).sum()
    assert (np.abs(ms.grad(call)(Tensor(x)).asnumpy() - slopes[name]) <= 2e-14 * size * np.maximum(1, x * 0.02)).all()
    single, exact = (ms.grad(call)(Tensor(x.astype(np.float32).astype(d))) for d in (np.float32, np.float64))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(single.asnumpy(), exact.asnumpy().astype(np.float32))


def test_ends_of_the_domains():
    """As MindSpore 2.10 at 0 and below; the limits at infinity, where MindSpore returns NaN for J, Y and I."""
    inf, nan = np.inf, np.nan
    ends = np.array([0.0, -0.0, -1.5, inf, -inf, nan])
    want = {"y0": [-inf, -inf, -inf, 0, -inf, nan], "y1": [-inf, -inf, -inf, 0, -inf, nan], "k0": [inf, inf, inf, 0, inf, nan], "k1": [inf, inf, inf, 0, inf, nan],
            "k0e": [inf, inf, inf, 0, inf, nan], "k1e": [inf, inf, inf, 0, inf, nan]}
    for name, values in want.items():
        np.testing.assert_array_equal(getattr(ops, "bessel_" + name)(Tensor(ends)).asnumpy(), values)
    ends = np.array([0.0, inf, -inf, nan])
    for name, values in {"j0": [1, 0, 0, nan], "j1": [0, 0, 0, nan], "i0": [1, inf, inf, nan], "i1": [0, inf, -inf, nan], "i0e": [1, 0, 0, nan], "i1e": [0, 0, 0, nan]}.items():
        np.testing.assert_array_equal(getattr(ops, "bessel_" + name)(Tensor(ends)).asnumpy(), values)
    for name, slope in {"j0": 0, "j1": 0.5, "i0": 0, "i1": 0.5, "i1e": 0.5}.items():
        assert float(ms.grad(getattr(ops, "bessel_" + name))(Tensor(0.0))) == slope
    assert float(ms.grad(ms.grad(ops.bessel_j1))(Tensor(0.0))) == 0 and abs(float(ms.grad(ms.grad(ops.bessel_j0))(Tensor(0.0))) + 0.5) < 1e-7


@FUNCTIONS
def test_primitives_and_refused_types(name):
    primitive = getattr(ops, "Bessel" + name[:2].upper() + name[2:])()
    np.testing.assert_array_equal(primitive(Tensor(X)).asnumpy(), getattr(ops, "bessel_" + name)(Tensor(X)).asnumpy())
    for wrong in (Tensor([1, 2]), 1.0):
        with pytest.raises(TypeError, match="floating"):
            getattr(ops, "bessel_" + name)(wrong)
