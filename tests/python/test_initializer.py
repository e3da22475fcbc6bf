"""Initializers: distributions by their formulas, aliases, seeds, shapes, user-defined rules."""
import numpy as np
import pytest

import sindri as ms
from sindri.common import initializer as I
from sindri.common.initializer import initializer


def draw(init, shape=(200, 100), dtype=ms.float32):
    return initializer(init, shape, dtype).init_data().asnumpy()


@pytest.mark.parametrize("alias, cls", [
    ("normal", I.Normal), ("Normal", I.Normal), ("TruncatedNormal", I.TruncatedNormal), ("truncatednormal", I.TruncatedNormal),
    ("uniform", I.Uniform), ("xavier_uniform", I.XavierUniform), ("XavierUniform", I.XavierUniform), ("xavier_normal", I.XavierNormal),
    ("he_uniform", I.HeUniform), ("HeUniform", I.HeUniform), ("he_normal", I.HeNormal), ("one", I.One), ("ones", I.One), ("ZEROS", I.Zero),
    ("zero", I.Zero), ("identity", I.Identity), ("orthogonal", I.Orthogonal), ("varianceScaling", I.VarianceScaling)])
def test_aliases_stand_for_classes_without_arguments(alias, cls):
    ms.set_seed(5)
    by_alias = draw(alias, (8, 6))
    ms.set_seed(5)
    np.testing.assert_array_equal(by_alias, draw(cls(), (8, 6)))


def test_constants():
    assert (draw("ones", (2, 3)) == 1).all() and (draw(0, 4) == 0).all() and (draw(I.Constant(2.5), (2,)) == 2.5).all()
    assert draw(7, [2, 2], ms.int32).dtype == np.int32 and (draw(7, [2, 2], ms.int32) == 7).all()
    np.testing.assert_array_equal(draw("identity", (2, 3)), np.eye(2, 3, dtype=np.float32))


@pytest.mark.parametrize("init, mean, std, low, high", [
    (I.Normal(), 0, 0.01, -1, 1), (I.Normal(0.5, 3.0), 3, 0.5, 0, 6), (I.TruncatedNormal(0.02), 0, 0.02 * 0.8796, -0.04, 0.04),
    (I.TruncatedNormal(1.0, 5.0, 0.0, 2.0), 5.7226, 0.4977, 5, 7), (I.Uniform(), 0, 0.07 / 3 ** 0.5, -0.07, 0.07),
    (I.XavierUniform(), 0, (2 / 300) ** 0.5, -(6 / 300) ** 0.5, (6 / 300) ** 0.5), (I.XavierUniform(2), 0, 2 * (2 / 300) ** 0.5, -0.283, 0.283),
    (I.XavierNormal(), 0, (2 / 300) ** 0.5, -1, 1), (I.HeUniform(), 0, (2 / 100) ** 0.5, -(6 / 100) ** 0.5, (6 / 100) ** 0.5),
    (I.HeUniform(5 ** 0.5), 0, 0.1 / 3 ** 0.5, -0.1, 0.1), (I.HeUniform(mode="fan_out"), 0, (2 / 200) ** 0.5, -(6 / 200) ** 0.5, (6 / 200) ** 0.5),
    (I.HeNormal(nonlinearity="relu"), 0, (2 / 100) ** 0.5, -1, 1), (I.VarianceScaling(), 0, 0.1, -0.228, 0.228),
    (I.VarianceScaling(2.0, "fan_avg", "uniform"), 0, (2 / 150) ** 0.5, -0.2, 0.2),
    (I.VarianceScaling(1.0, "fan_out", "untruncated_normal"), 0, 200 ** -0.5, -1, 1)])
def test_distributions(init, mean, std, low, high):
    v = draw(init).astype(np.float64)
    n = v.size
    assert abs(v.mean() - mean) < 5 * std / n ** 0.5 and abs(v.std() / std - 1) < 0.03
    assert low - 1e-6 <= v.min() and v.max() <= high + 1e-6
    if low > -1 and high < 1:
        assert v.max() > 0.95 * high  # the bound is reached


def test_fans_of_a_convolution():
    assert I._calculate_fan_in_and_fan_out((8, 4, 3, 5)) == (60, 120)
    v = draw("he_normal", (64, 16, 3, 3))
    assert abs(v.std() / (2 / 144) ** 0.5 - 1) < 0.03


def test_matrices():
    q = draw(I.Orthogonal(2.0), (4, 2, 3)).reshape(4, 6)
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(4), atol=1e-5)
    q = draw("orthogonal", (6, 4))
    np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-5)
    s = draw(I.Sparse(0.3, 1.0), (10, 4))
    assert ((s == 0).sum(0) == 3).all()
    d = draw(I.Dirac(2), (4, 2, 3, 3))
    assert d.sum() == 4 and d[0, 0, 1, 1] == d[1, 1, 1, 1] == d[2, 0, 1, 1] == d[3, 1, 1, 1] == 1


def test_seeds_decide():
    ms.set_seed(3)
    a, b = draw("normal", (5,)), draw("normal", (5,))
    ms.set_seed(3)
    again = draw("normal", (5,))
    ms.set_seed(4)
    other = draw("normal", (5,))
    np.testing.assert_array_equal(a, again)
    assert (a != b).all() and (a != other).all()


def test_lazy_until_needed():
    ms.set_seed(3)
    first = initializer("normal", (3, 4))
    second = draw("normal", (5,))  # drawn before the first one
    assert first.has_init and first.shape == (3, 4) and first.dtype == ms.float32
    ms.set_seed(3)
    np.testing.assert_array_equal(second, draw("normal", (5,)))
    t = ms.Tensor(shape=(2, 2), dtype=ms.float16, init=I.One())
    assert t.init_data().asnumpy().dtype == np.float16 and (t.asnumpy() == 1).all()


def test_a_tensor_is_checked_and_taken():
    t = ms.Tensor(np.ones((2, 3), np.float32))
    assert initializer(t, (2, 3)) is t and initializer(t) is t
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        initializer(t, (3, 2))


def test_a_rule_of_ones_own():
    class Ramp(I.Initializer):
        def __init__(self, step):
            super().__init__(step=step)
            self.step = step

        def _initialize(self, arr):
            arr[...] = np.arange(arr.size).reshape(arr.shape) * self.step

    np.testing.assert_array_equal(draw(Ramp(2), (2, 2)), [[0, 2], [4, 6]])
    assert ms.nn.Dense(2, 2, weight_init=Ramp(1)).weight.asnumpy()[1, 1] == 3
    assert draw(Ramp(1), (2,), ms.float16).dtype == np.float16
    arr = np.zeros((2, 2), np.float32)
    Ramp(3)(arr)
    assert arr[1, 1] == 9
    I.One()(arr)
    assert (arr == 1).all()


def test_attributes_that_scripts_read():
    assert (I.Normal(0.02).sigma, I.TruncatedNormal(0.02).sigma, I.Uniform(0.1).scale) == (0.02, 0.02, 0.1)
    assert (I.XavierUniform(2).gain, I.Constant(3).value, I.HeUniform(0.1).negative_slope) == (2, 3, 0.1)
    assert repr(I.Normal(0.02)) == "Normal(sigma=0.02, mean=0.0)"


WRONG = [
    (ValueError, "nromal", lambda: initializer("nromal", (2,))),
    (ValueError, "constant", lambda: initializer("constant", (2,))),
    (TypeError, "init", lambda: initializer(None, (2,))),
    (TypeError, "init", lambda: initializer([1, 2], (2,))),
    (ValueError, "shape", lambda: initializer("ones", (2, 0))),
    (ValueError, "shape", lambda: initializer("ones", (2, -1))),
    (ValueError, "shape", lambda: initializer("ones", (2.0,))),
    (TypeError, "shape", lambda: initializer("ones", "2")),
    (ValueError, "shape", lambda: initializer("ones")),
    (ValueError, "fan", lambda: draw("he_normal", (3,))),
    (ValueError, "matrix", lambda: draw("identity", (3,))),
    (ValueError, "mode", lambda: I.HeUniform(mode="fan")),
    (ValueError, "nonlinearity", lambda: I.HeNormal(nonlinearity="swish")),
    (ValueError, "distribution", lambda: I.VarianceScaling(distribution="normal")),
    (ValueError, "sigma", lambda: I.Normal(-1.0)),
    (ValueError, "sparsity", lambda: I.Sparse(1.5)),
    (ValueError, "groups", lambda: I.Dirac(0)),
    (TypeError, "value", lambda: I.Constant("a")),
    (NotImplementedError, "_initialize", lambda: draw(I.Initializer(), (2,))),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_wrong_arguments(at):
    kind, text, make = WRONG[at]
    with pytest.raises(kind, match=text):
        make()
