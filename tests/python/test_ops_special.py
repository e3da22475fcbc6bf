"""Functions composed of the engine's operators, compared with MindSpore 2.10.0, the C library's functions and their own gradients."""
import json
import math
import os

import numpy as np
import pytest

import sindri as ms
import special_cases
from sindri import Tensor, ops

with open(os.path.join(os.path.dirname(__file__), "expectations", "special.json"), encoding="utf-8") as f:
    WANT = json.load(f)["cases"]
CASES = special_cases.cases(ms)


def test_as_mindspore():
    assert sorted(CASES) == sorted(WANT)
    for name, call in CASES.items():
        got, (dtype, shape, values) = call(), WANT[name]
        assert (str(got.dtype), list(got.shape)) == (dtype, shape), name
        np.testing.assert_allclose(got.asnumpy().reshape(-1), [float(v) for v in values], rtol=2e-6, atol=2e-6, err_msg=name)


def test_digits_of_double():
    x = np.concatenate([np.linspace(-9.7, 40, 301), [1e-8, 1e5, 170.0]])
    np.testing.assert_allclose(ops.lgamma(Tensor(x)).asnumpy(), [math.lgamma(v) for v in x], rtol=2e-14, atol=2e-14)
    np.testing.assert_allclose((ops.digamma(Tensor(x + 1)) - ops.digamma(Tensor(x))).asnumpy(), 1 / x, rtol=1e-11, atol=1e-12)
    assert abs(ops.digamma(Tensor(np.array([1.0]))).item() + 0.57721566490153286) < 1e-15
    y = np.concatenate([np.linspace(-0.9999, 0.9999, 201), [0.99999988, -1e-300, 1e-9]])
    np.testing.assert_allclose([math.erf(v) for v in ops.erfinv(Tensor(y)).asnumpy()], y, rtol=1e-15, atol=2e-16)


@pytest.mark.parametrize("fn, slope, x", [
    (ops.lgamma, lambda x: ops.digamma(Tensor(x)).asnumpy(), np.array([-2.3, -0.5, 0.2, 1.0, 3.0, 9.0, 50.0])),
    (ops.erfinv, lambda x: np.sqrt(np.pi) / 2 * np.exp(ops.erfinv(Tensor(x)).asnumpy() ** 2), np.array([-0.9, -0.1, 0.0, 0.5, 0.999])),
    (ops.digamma, lambda x: np.array([np.pi ** 2 / 6, np.pi ** 2 / 6 - 1, np.pi ** 2 / 2]), np.array([1.0, 2.0, 0.5])),
])
def test_gradients(fn, slope, x):
    np.testing.assert_allclose(ms.grad(fn)(Tensor(x)).asnumpy(), slope(x), rtol=1e-12)


def test_fold_undoes_unfold_and_sampling_has_gradients():
    x = Tensor(np.random.default_rng(0).standard_normal((2, 3, 5, 6)))
    args = dict(kernel_size=(2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2))
    counts = ops.fold(ops.unfold(x * 0 + 1, **args), Tensor([5, 6]), **args)
    np.testing.assert_allclose((ops.fold(ops.unfold(x, **args), (5, 6), **args) / counts).asnumpy(), x.asnumpy(), rtol=1e-12)
    grid = ops.affine_grid(Tensor(np.array([[[0.9, 0.1, 0.05], [-0.2, 0.8, 0.1]]] * 2)), (2, 3, 4, 4))
    loss = lambda x, g: (ops.grid_sample(x, g) ** 2).sum()  # noqa: E731
    dx, dg = ms.grad(loss, (0, 1))(x, grid)
    step = np.random.default_rng(1).standard_normal(grid.shape) * 1e-6
    assert abs(((loss(x, grid + Tensor(step)) - loss(x, grid - Tensor(step))).item()) / 2 - (dg.asnumpy() * step).sum()) < 1e-9
    back = Tensor(np.random.default_rng(2).standard_normal(x.shape) * 1e-6)
    assert abs((loss(x + back, grid) - loss(x - back, grid)).item() / 2 - (dx * back).sum().item()) < 1e-10


def test_refused():
    for call, error in ((lambda: ops.bincount(Tensor([-1])), ValueError), (lambda: ops.bincount(Tensor([1.0])), TypeError), (lambda: ops.gcd(Tensor([1.0]), Tensor([2])), TypeError),
                        (lambda: ops.histc(Tensor([1.0]), 0), ValueError), (lambda: ops.histc(Tensor([np.inf])), ValueError), (lambda: ops.cov(Tensor(np.zeros((1, 1, 1)))), ValueError),
                        (lambda: ops.fold(Tensor(np.zeros((1, 4, 5))), (4, 4), 2), ValueError), (lambda: ops.diff(Tensor(1.0)), ValueError),
                        (lambda: ops.SegmentSum()(Tensor([1.0, 2.0]), Tensor([1, 0])), ValueError), (lambda: ops.grid_sample(Tensor(np.zeros((1, 1, 2, 2))), Tensor(np.zeros((1, 2, 2, 3)))), ValueError),
                        (lambda: ops.grid_sample(Tensor(np.zeros((1, 1, 2, 2))), Tensor(np.zeros((1, 2, 2, 2))), "cubic"), ValueError),
                        (lambda: ops.affine_grid(Tensor(np.zeros((1, 2, 2))), (1, 1, 2, 2)), ValueError)):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
def test_gradients_of_bands_are_bands(align):
    """One function spreads what the other collects, also in a graph."""
    rng = np.random.default_rng(2)
    diagonals, matrices, weights = (Tensor(rng.standard_normal(s)) for s in ((2, 3, 3), (2, 3, 4), (2, 3, 4)))
    band, same = (-1, 1), np.testing.assert_array_equal
    zeros = Tensor(np.zeros((2, 3, 3)))
    for wrap in (lambda f: f, ms.jit):
        spread = ms.grad(wrap(lambda d: (ops.matrix_diag(d, band, 3, 4, 5.0, align) * weights).sum()))(diagonals)
        same(spread.asnumpy(), ops.matrix_diag_part(weights, band, 0.0, align).asnumpy())
        collected = ms.grad(wrap(lambda x: (ops.matrix_diag_part(x, band, 5.0, align) * diagonals).sum()))(matrices)
        same(collected.asnumpy(), ops.matrix_diag(diagonals, band, 3, 4, 0.0, align).asnumpy())
        dx, dd = ms.grad(wrap(lambda x, d: (ops.matrix_set_diag(x, d, band, align) * weights).sum()), (0, 1))(matrices, diagonals)
        same(dx.asnumpy(), ops.matrix_set_diag(weights, zeros, band, align).asnumpy())
        same(dd.asnumpy(), ops.matrix_diag_part(weights, band, 0.0, align).asnumpy())


def test_blocks_of_space_and_their_gradients():
    rng = np.random.default_rng(4)
    x = Tensor(rng.standard_normal((2, 3, 4, 5)))
    blocks, pads = (3, 2), ((1, 1), (1, 0))
    np.testing.assert_array_equal(ops.batch_to_space_nd(ops.space_to_batch_nd(x, blocks, pads), blocks, pads).asnumpy(), x.asnumpy())
    w = Tensor(rng.standard_normal(ops.space_to_batch_nd(x, blocks, pads).shape))
    for wrap in (lambda f: f, ms.jit):
        g = ms.grad(wrap(lambda v: (ops.space_to_batch_nd(v, blocks, pads) * w).sum()))(x)
        np.testing.assert_array_equal(g.asnumpy(), ops.batch_to_space_nd(w, blocks, pads).asnumpy())


@pytest.mark.parametrize("error, call", [
    (ValueError, lambda: ops.matrix_diag(Tensor([1.0, 2.0]), (1, 0))), (ValueError, lambda: ops.matrix_diag(Tensor([1.0, 2.0]), 0, 1)), (ValueError, lambda: ops.matrix_diag(Tensor([1.0, 2.0]), (0, 1))),
    (ValueError, lambda: ops.matrix_diag(Tensor([1.0, 2.0]), align="LEFT")), (ValueError, lambda: ops.matrix_diag_part(Tensor([1.0]), 0, 0.0)), (ValueError, lambda: ops.matrix_diag_part(Tensor([[1.0]]), 1, 0.0)),
    (ValueError, lambda: ops.matrix_set_diag(Tensor([[1.0]]), Tensor([1.0, 2.0]))), (TypeError, lambda: ops.matrix_diag(Tensor([1.0]), 0.5)),
    (ValueError, lambda: ops.batch_to_space_nd(Tensor(np.zeros((3, 1, 1))), 2, [[0, 0]])), (ValueError, lambda: ops.batch_to_space_nd(Tensor(np.zeros((2, 1, 1))), 2, [[1, 1]])),
    (ValueError, lambda: ops.space_to_batch_nd(Tensor(np.zeros((1, 1, 3))), 2, [[0, 0]])), (ValueError, lambda: ops.space_to_batch_nd(Tensor(np.zeros((1, 1, 4))), 0, [[0, 0]])),
    (ValueError, lambda: ops.ctc_greedy_decoder(Tensor(np.zeros((2, 1, 3))), Tensor([3]))), (ValueError, lambda: ops.ctc_greedy_decoder(Tensor(np.zeros((2, 3))), Tensor([1]))),
    (TypeError, lambda: ops.ctc_greedy_decoder(Tensor(np.zeros((2, 1, 3))), Tensor([2]), 1)),
])
def test_bands_and_blocks_refuse(error, call):
    with pytest.raises(error):
        call()
