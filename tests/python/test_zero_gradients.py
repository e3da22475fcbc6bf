"""Gradients at points where a power or a root has none but the whole function's gradient is finite, or 0 by convention (PyTorch's)."""
import math

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri.ops import operations as P

Z, ONE = [0.0, 0.0, 0.0], [[0.0, 0.0, 0.0], [0.0, 3.0, -4.0]]
PAIR = ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]])


def gradients(fn, *inputs, dtype=np.float32):
    found = ms.grad(lambda *x: ops.sum(fn(*x)), tuple(range(len(inputs))))(*[Tensor(np.array(x, dtype)) for x in inputs])
    return [g.asnumpy() for g in (found if isinstance(found, tuple) else (found,))]


ZERO = {
    **{f"norm {p}": (lambda x, p=p: ops.norm(x, p), (Z,)) for p in (0, 0.5, 1, 1.5, 2, 3.0, 4, -1, -2.5, math.inf, -math.inf)},
    **{f"vector_norm {p}": (lambda x, p=p: ops.vector_norm(x, p, 0), (Z,)) for p in (0.5, 1.5, 3.0)},
    "frobenius": (lambda x: ops.matrix_norm(x), ([[0.0, 0], [0, 0]],)), "norm of numpy": (lambda x: ms.numpy.norm(x, 3), (Z,)),
    "LpNorm": (lambda x: P.LpNorm(0, 3)(x), (Z,)),
    "std": (lambda x: ops.std(x, 0, 0), ([3.0, 3.0],)), "std ddof": (lambda x: ops.std(x, 0, 1), ([3.0, 3.0, 3.0],)),
    "std_mean": (lambda x: ops.std_mean(x)[0], ([3.0, 3.0],)), "ReduceStd": (lambda x: P.ReduceStd()(x)[0], ([3.0, 3.0],)),
    "mnp.std": (lambda x: ms.numpy.std(x), ([3.0, 3.0],)), "mnp.nanstd": (lambda x: ms.numpy.nanstd(x), ([3.0, 3.0],)),
    **{f"cdist {p}": (lambda x, y, p=p: ops.cdist(x, y, p), PAIR) for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)},
    **{f"pdist {p}": (lambda x, p=p: ops.pdist(x, p), ([[1.0, 2], [1, 2]],)) for p in (0.5, 1.5, 2.0, 3.0)},
    **{f"dist {p}": (lambda x, y, p=p: ops.dist(x, y, p), PAIR) for p in (0.5, 1.5, 2.0, 3.0)},
    **{f"lp_pool {p}": (lambda x, p=p: ops.lp_pool1d(x, p, 2), ([[[0.0, 0, 0, 0]]],)) for p in (0.5, 1.5, 2.0, 3.0)},
    "hypot": (ops.hypot, (Z, Z)), "cosine_similarity": (lambda x, y: ops.cosine_similarity(x, y, 0), (Z, Z)),
    "RMSELoss": (lambda x, y: nn.RMSELoss()(x, y), PAIR), "mnp.cbrt": (ms.numpy.cbrt, (Z,)),
    "CosineEmbedding": (lambda x, y: nn.CosineEmbeddingLoss()(x, y, Tensor([1], ms.int32)), ([Z], [Z])),
    "clip": (lambda x: ops.clip_by_norm(x, 1.0, 3.0) - x, (Z,)), "clip 0.5": (lambda x: ops.clip_by_norm(x, 1.0, 0.5) - x, (Z,)),
    "renorm": (lambda x: ops.renorm(x, 1.5, 0, 1.0) - x, ([[0.0, 0], [0, 0]],)),
    "global norm": (lambda x: ops.clip_by_global_norm([x], 1.0)[0] - x, (Z,)),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ZERO)
def test_zero(name, dtype):
    fn, inputs = ZERO[name]
    for g in gradients(fn, *inputs, dtype=dtype):
        np.testing.assert_array_equal(g, np.zeros_like(g))


FINITE = {  # next to the row or slice of zeros is an ordinary one, which keeps its gradient
    "norm 3": (lambda x: ops.norm(x, 3, 1), ONE, lambda x: np.sign(x) * x ** 2 / (np.abs(x) ** 3).sum(1, keepdims=True) ** (2 / 3)),
    "norm 1.5": (lambda x: ops.norm(x, 1.5, 1), ONE, lambda x: np.sign(x) * np.abs(x) ** 0.5 / (np.abs(x) ** 1.5).sum(1, keepdims=True) ** (1 / 3)),
    "std": (lambda x: ops.std(x, 1), ONE, lambda x: (x - x.mean(1, keepdims=True)) / (3 * x.std(1, keepdims=True))),
    "l2_normalize": (lambda x: P.L2Normalize(1, 0.0)(x)[1], [[1.0, 0, 0], [0, 3, 4]], None),
}


@pytest.mark.parametrize("name", FINITE)
def test_a_slice_of_zeros_leaves_the_others_alone(name):
    fn, x, slope = FINITE[name]
    got = gradients(fn, x, dtype=np.float64)[0]
    assert np.isfinite(got).all()
    if slope is not None:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, np.nan_to_num(slope(np.array(x))), rtol=1e-12)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_focal_loss_of_a_certain_prediction(gamma):
    g = gradients(lambda x: nn.FocalLoss(gamma=gamma)(x, Tensor([[0]], ms.int32)), [[200.0, -200.0]])
    np.testing.assert_array_equal(g[0], [[0, 0]])


def test_second_derivatives_at_zero_are_finite():
    twice = ms.grad(lambda x: ms.grad(lambda v: ops.norm(v, 3))(x).sum())
    np.testing.assert_array_equal(twice(Tensor(Z)).asnumpy(), Z)


def test_products_with_zero_keep_the_slope_of_the_other_factor():
    assert [g.tolist() for g in gradients(ops.xlogy, [0.0, 0.0, 2.0], [2.0, 0.0, 4.0], dtype=np.float64)] == [[math.log(2), 0, math.log(4)], [0, 0, 0.5]]
    assert [g.tolist() for g in gradients(ops.xdivy, [0.0, 0.0, 2.0], [2.0, 0.0, 4.0])] == [[0.5, 0, 0.25], [0, 0, -0.125]]


# --- gradients of integers (MindSpore 2.10's numbers, tests/reference/mindspore_2_10 has no scripts for them) -----------------------------


def test_the_gradient_of_integers_is_that_of_their_values_in_their_type(mode):
    half = lambda x: (x * 2.5).sum()  # noqa: E731
    for kind in (ms.int32, ms.int64, ms.uint8):
        got = ms.grad(half)(Tensor([1, 2], kind))
        assert got.dtype is kind
        np.testing.assert_array_equal(got.asnumpy(), [2, 2])
    np.testing.assert_array_equal(ms.grad(lambda x: (x * -2.5).sum())(Tensor([1, 2], ms.int64)).asnumpy(), [-2, -2])
    np.testing.assert_array_equal(ms.grad(lambda x: (x * x).sum())(Tensor([1, 2], ms.int32)).asnumpy(), [2, 4])
    np.testing.assert_array_equal(ms.grad(lambda x: (x * x * 1.0).sum())(Tensor([1, 2], ms.int32)).asnumpy(), [2, 4])
    np.testing.assert_array_equal(ms.grad(lambda x: ops.exp(x.astype(ms.float32)).sum())(Tensor([1, 2], ms.int32)).asnumpy(), [2, 7])
    got = ms.grad(half)(Tensor([True, False]))
    assert got.dtype is ms.bool_ and got.asnumpy().all()


def test_the_gradient_of_integers_beside_floats():
    of_x, of_y = ms.grad(lambda x, y: (x * y).sum(), (0, 1))(Tensor([1, 2], ms.int64), Tensor([1.5, 2.7]))
    assert of_x.dtype is ms.int64 and of_y.dtype is ms.float32
    np.testing.assert_array_equal(of_x.asnumpy(), [1, 2])
    np.testing.assert_array_equal(of_y.asnumpy(), [1, 2])


def test_integers_that_choose_have_gradient_zero():
    logits, labels = Tensor([[1.0, 2.0]]), Tensor([1], ms.int32)
    for fn in (lambda x, i: nn.CrossEntropyLoss()(x, i), lambda x, i: ops.gather(x, i, 1).sum(), lambda x, i: (ops.one_hot(i, 2, 1.0, 0.0) * x).sum(),
               lambda x, i: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(x, i), lambda x, i: ops.embedding_lookup(x.T, i).sum()
               if hasattr(ops, "embedding_lookup") else x.sum()):
        of_x, of_i = ms.grad(fn, (0, 1))(logits, labels)
        assert np.abs(of_x.asnumpy()).max() > 0
        np.testing.assert_array_equal(of_i.asnumpy(), [0])
