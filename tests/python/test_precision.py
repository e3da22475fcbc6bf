"""Precision: float64 keeps its digits through constants, attributes and norms; running products and sums are rounded once."""
import math

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri import numpy as mnp

X = np.linspace(-30, 4, 35) + 0.01
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
# name: (function, its values, its gradient) at X
ACTIVATIONS = {
    "celu": (lambda x: ops.celu(x, 0.7), np.where(X > 0, X, 0.7 * np.expm1(X / 0.7)), np.where(X > 0, 1, np.exp(X / 0.7))),
    "CELU": (nn.CELU(1.3), np.where(X > 0, X, 1.3 * np.expm1(X / 1.3)), np.where(X > 0, 1, np.exp(X / 1.3))),
    "celu below 0": (lambda x: ops.celu(x, -0.9), np.where(X > 0, X, -0.9 * np.expm1(X / -0.9)), np.where(X > 0, 1, np.exp(X / -0.9))),
    "elu": (lambda x: ops.elu(x, 0.7), np.where(X > 0, X, 0.7 * np.expm1(X)), np.where(X > 0, 1, 0.7 * np.exp(X))),
    "selu": (ops.selu, SCALE * np.where(X > 0, X, ALPHA * np.expm1(X)), SCALE * np.where(X > 0, 1, ALPHA * np.exp(X))),
    "SeLU": (nn.SeLU(), SCALE * np.where(X > 0, X, ALPHA * np.expm1(X)), SCALE * np.where(X > 0, 1, ALPHA * np.exp(X))),
    "hardsigmoid": (ops.hardsigmoid, np.clip(X / 6 + 0.5, 0, 1), np.where(abs(X) < 3, 1 / 6, 0)),
    "leaky_relu": (lambda x: ops.leaky_relu(x, 0.1), np.where(X > 0, X, 0.1 * X), np.where(X > 0, 1, 0.1)),
}


def test_activations_and_their_gradients_in_float64():
    for name, (function, values, slopes) in ACTIVATIONS.items():
        x = Tensor(X)
        got, slope = function(x), ms.grad(function)(x)
        assert got.dtype == slope.dtype == ms.float64, name
        np.testing.assert_allclose(got.asnumpy(), values, 2e-15, 1e-15, err_msg=name)
        np.testing.assert_allclose(slope.asnumpy(), slopes, 2e-15, 0, err_msg=name)


@pytest.mark.parametrize("half", [ms.float16, ms.bfloat16])
def test_losses_of_two_types_are_computed_in_the_wider_one(half):
    """The half type is not used before the other operand enters, which would leave 3 digits of the float32 result."""
    r = np.random.default_rng(3)
    x = Tensor(r.uniform(0.1, 0.9, (4, 5)), ms.float32).astype(half)
    wide, y = x.astype(ms.float32), Tensor(r.uniform(0.1, 0.9, (4, 5)), ms.float32)
    target = Tensor([1, -1, 1, -1], ms.int32)
    for loss in (nn.BCELoss(), nn.BCEWithLogitsLoss(), ops.binary_cross_entropy_with_logits, lambda a, b: nn.CosineEmbeddingLoss()(a, b, target),
                 lambda a, b: ops.cosine_embedding_loss(a, b, target)):
        got = loss(x, y)
        assert got.dtype == ms.float32
        np.testing.assert_allclose(got.asnumpy(), loss(wide, y).asnumpy(), 1e-6)


def test_celu_has_slope_1_at_0():
    at_0 = Tensor(np.zeros(1, np.float32))
    assert ms.grad(nn.CELU())(at_0).item() == ms.grad(ops.celu)(at_0).item() == 1


def test_numbers_that_become_float64_keep_their_digits():
    f64 = ms.float64
    made = [Tensor(0.7, f64), Tensor([0.7], f64), Tensor([[1, 0.7]], f64)[0, 1], ms.tensor((0.7,), f64), ms.Parameter(Tensor([0.7], f64)).value(),
            mnp.array([0.7], f64), mnp.linspace(0, 0.7, 3, dtype=f64)[2], mnp.arange(0, 1, 0.7, dtype=f64)[1]]
    assert [(t.dtype, t.item()) for t in made] == [(f64, 0.7)] * len(made)
    x = Tensor(np.zeros(4))
    x[0], x[1:3] = 0.7, [0.7, 0.1]
    assert x.asnumpy().tolist() == [0.7, 0.7, 0.1, 0]
    np.testing.assert_allclose(ops.logspace(0.1, 0.7, 3, dtype=f64).asnumpy(), np.logspace(0.1, 0.7, 3), 1e-15)
    assert Tensor([2.0**24 + 1, -1.9], ms.int64).asnumpy().tolist() == Tensor([2.0**24 + 1, -1.9], ms.int32).asnumpy().tolist() == [2**24 + 1, -1]
    assert Tensor(0.7).dtype == Tensor([0.7]).dtype == ms.float32  # without a type


def test_norms_of_float64_clip_in_float64():
    a, b = np.array([3.1, -4.7]), np.array([[0.3]])
    norm, one = math.sqrt((a**2).sum() + 0.09), Tensor(b.astype(np.float32))
    for p, size in ((2, norm), (1, 8.1), (math.inf, 4.7), (3.3, float((abs(a) ** 3.3).sum() + 0.3**3.3) ** (1 / 3.3))):
        got = ops.clip_by_norm([Tensor(a), Tensor(b)], 0.7, p)
        for x, y in zip((a, b), got):
            assert y.dtype == ms.float64
            np.testing.assert_allclose(y.asnumpy(), x * (0.7 / (size + 1e-6)), 1e-14)
    for limit in (0.7, Tensor(0.7, ms.float64)):
        got = ops.clip_by_global_norm((Tensor(a), Tensor(b)), limit)
        np.testing.assert_allclose(got[0].asnumpy(), a * (0.7 / norm), 1e-15)
    np.testing.assert_allclose(nn.ClipByNorm()(Tensor(a), Tensor(0.7, ms.float64)).asnumpy(), a * (0.7 / np.linalg.norm(a)), 1e-15)
    mixed = ops.clip_by_global_norm((Tensor(a), one, Tensor(a.astype(np.float16))), 0.7)  # each keeps its type
    assert [t.dtype for t in mixed] == [ms.float64, ms.float32, ms.float16]
    assert [t.dtype for t in ops.clip_by_norm([one, Tensor([3], ms.int32)], 0.5)] == [ms.float32, ms.int32]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_running_products_are_rounded_once(dtype):
    x = np.random.default_rng(1).uniform(0.9, 1.1, (4, 1000)).astype(dtype)
    exact = np.cumprod(x.astype(np.float64), 1)
    ulp = np.finfo(dtype).eps * (0.51 if dtype is np.float32 else 0.6)
    got = ops.cumprod(Tensor(x), 1)
    assert got.asnumpy().dtype == dtype
    np.testing.assert_allclose(got.asnumpy(), exact, ulp, np.finfo(dtype).tiny)
    reverse = ops.CumProd(False, True)(Tensor(x), 1)
    np.testing.assert_allclose(reverse.asnumpy(), np.cumprod(x[:, ::-1].astype(np.float64), 1)[:, ::-1], ulp, np.finfo(dtype).tiny)


def test_exclusive_sums_keep_what_is_small_beside_the_element():
    x = Tensor(np.array([1, 1e8, 3, np.inf], np.float32))
    assert ops.CumSum(exclusive=True)(x, 0).asnumpy().tolist() == [0, 1, 1e8, 1e8]
    assert ops.CumSum(exclusive=True, reverse=True)(x, 0).asnumpy().tolist() == [math.inf, math.inf, math.inf, 0]
    weights = Tensor(np.array([1, 2, 3, 4], np.float32))
    assert ms.grad(lambda t: ops.CumSum(True, False)(t, 0) * weights)(x).asnumpy().tolist() == [9, 7, 4, 0]
    assert ops.CumSum(True, True)(Tensor(np.array([1, 2, 3], np.int32)), 0).asnumpy().tolist() == [5, 3, 0]
    assert ops.CumSum(True)(Tensor(np.zeros((0, 2), np.float32)), 0).shape == (0, 2)
