"""Cases in which results could be silently wrong: counts that half types cannot hold, indices and labels out of range, sums of many elements."""
import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri.ops.function import index_func

N = 70000  # more than float16 can hold


def half(value, shape=(N,), dtype=ms.float16):
    return Tensor(np.full(shape, value, np.float32)).astype(dtype)


# --- counts of half types ---------------------------------------------------------------------------------------------------------------

LOSSES = {
    "mse_loss": (lambda x: ops.mse_loss(x, half(0)), 2.0),
    "l1_loss": (lambda x: ops.l1_loss(x, half(0)), 1.0),
    "smooth_l1_loss": (lambda x: ops.smooth_l1_loss(x, half(0), reduction="mean"), 1.0),
    "huber_loss": (lambda x: ops.huber_loss(x, half(0)), 1.0),
    "bce_with_logits": (lambda x: ops.binary_cross_entropy_with_logits(x, half(0), half(1), half(1)), 0.7310586),
    "mean": (ops.mean, 1.0),
    "nn.MSELoss": (lambda x: nn.MSELoss()(x, half(0)), 2.0),
}


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_of_means_of_many_half_elements(name, dtype, mode):
    loss, slope = LOSSES[name]
    got = ms.grad(lambda x: loss(x) * 1024)(half(1, dtype=dtype))
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(ms.float32).asnumpy(), slope * 1024 / N, rtol=1e-2)


LABELS = Tensor(np.zeros(N, np.int32))
WEIGHT = Tensor(np.ones(2, np.float32))
ROW_LOSSES = {
    "cross_entropy": lambda x: ops.cross_entropy(x, LABELS),
    "cross_entropy, weight": lambda x: ops.cross_entropy(x, LABELS, WEIGHT.astype(ms.float16)),
    "cross_entropy, smoothing": lambda x: ops.cross_entropy(x, LABELS, WEIGHT.astype(ms.float16), label_smoothing=0.1),
    "cross_entropy, probabilities": lambda x: ops.cross_entropy(x, half(0.5, (N, 2))),
    "nll_loss": lambda x: ops.nll_loss(ops.log_softmax(x, 1), LABELS),
    "kl_div": lambda x: ops.kl_div(ops.log_softmax(x, 1), ops.one_hot(LABELS, 2).astype(ms.float16), "batchmean"),
    "nn.CrossEntropyLoss": lambda x: nn.CrossEntropyLoss()(x, LABELS),
    "nn.CrossEntropyLoss, weight": lambda x: nn.CrossEntropyLoss(weight=WEIGHT.astype(ms.float16))(x, LABELS),
    "nn.NLLLoss": lambda x: nn.NLLLoss()(ops.log_softmax(x, 1), LABELS),
}


@pytest.mark.parametrize("name", ROW_LOSSES)
def test_losses_of_many_half_rows(name):
    x = half(0, (N, 2))
    value, slope = ms.value_and_grad(lambda x: ROW_LOSSES[name](x) * 1024)(x)
    assert value.dtype == ms.float16 and slope.dtype == ms.float16
    np.testing.assert_allclose(value.asnumpy(), 1024 * np.log(2), rtol=2e-3)
    if name != "cross_entropy, probabilities":
        sign = [-1, 1] if "smoothing" not in name else [-0.9, 0.9]
        np.testing.assert_allclose(slope.asnumpy()[:3], np.tile(np.asarray(sign) * 512 / N, (3, 1)), rtol=1e-2)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_statistics_of_many_half_elements(dtype, rng):
    values = rng.standard_normal(N).astype(np.float32)
    x = Tensor(values).astype(dtype)
    exact = x.astype(ms.float32).asnumpy().astype(np.float64)
    for got, expected in ((ops.var(x), exact.var()), (ops.std(x, ddof=1), exact.std(ddof=1)), (ops.std_mean(x)[0], exact.std()),
                          (ops.norm(x, 3), (np.abs(exact) ** 3).sum() ** (1 / 3)), (ops.nanmean(ops.abs(x)), np.abs(exact).mean())):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(ms.float32).asnumpy(), expected, rtol=5e-3)
    slope = ms.grad(lambda x: ops.std(x) * 1024)(x)
    assert slope.dtype == dtype
    np.testing.assert_allclose(slope.astype(ms.float32).asnumpy(), 1024 * (exact - exact.mean()) / (N * exact.std()), rtol=2e-2, atol=1e-5)


def test_gradient_of_sparse_softmax_cross_entropy_primitive_over_many_half_rows():
    slope = ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(half(0, (N, 2)), LABELS)
    assert slope.dtype == ms.float16
    np.testing.assert_allclose(slope.asnumpy()[0], [-0.5 / N, 0.5 / N], rtol=1e-2)


# --- indices ----------------------------------------------------------------------------------------------------------------------------

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def ints(values, dtype=np.int32):
    return Tensor(np.asarray(values, dtype))


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


OUTSIDE = {
    "x[i, j]": lambda bad: X[ints([0]), ints([bad])],
    "x[:, j, i]": lambda bad: ops.stack([X, X])[:, ints([1]), ints([bad])],
    "gather_nd": lambda bad: ops.gather_nd(X, ints([[0, bad]])),
    "gather, batch_dims": lambda bad: ops.gather(X, ints([[0], [bad]]), 1, 1),
    "scatter_nd": lambda bad: ops.scatter_nd(ints([[0, bad]]), ones(1), (2, 3)),
    **{f"tensor_scatter_{how}": lambda bad, how=how: getattr(ops, f"tensor_scatter_{how}")(X, ints([[0, bad]]), ones(1))
       for how in ("add", "sub", "mul", "div", "max", "min")},
    "TensorScatterUpdate": lambda bad: ops.TensorScatterUpdate()(X, ints([[0, bad]]), ones(1)),
    "tensor_scatter_elements": lambda bad: ops.tensor_scatter_elements(X, ints([[bad]]), ones(1, 1), 1),
    **{f"scatter_{how}": lambda bad, how=how: getattr(ops, f"scatter_{how}")(ms.Parameter(ones(3, 2)), ints([bad]), ones(1, 2))
       for how in ("update", "add", "sub", "mul", "div", "max", "min")},
    "scatter_nd_max": lambda bad: ops.scatter_nd_max(ms.Parameter(X), ints([[1, bad]]), ones(1)),
    "index_add": lambda bad: ops.index_add(X, ints([bad]), ones(2, 1), 1),
    "index_fill": lambda bad: ops.index_fill(X, 1, ints([bad]), 1.0),
    "inplace_update": lambda bad: ops.inplace_update(ops.transpose(X, (1, 0)), ones(1, 2), (bad,)),
}


@pytest.mark.parametrize("bad", [3, 5, -4])
@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_outside_its_dimension_raises(name, bad):
    axis = {"x[:, j, i]": 2, "inplace_update": 0}.get(name, 0 if name.startswith("scatter_") and "nd" not in name else 1)
    with pytest.raises(ValueError, match=rf"index {bad} at position \[.*\] is outside dimension {axis} of size 3"):
        OUTSIDE[name](bad)


@pytest.mark.parametrize("name", OUTSIDE)
def test_negative_indices_count_from_the_end(name):
    got, expected = (OUTSIDE[name](k).asnumpy() for k in (-1, 2))
    assert got.tolist() == expected.tolist()


def test_an_index_outside_its_dimension_raises_in_compiled_code(mode):
    class Net(nn.Cell):
        def construct(self, x, i, j):
            return x[i, j] + ops.gather_nd(x, ops.stack([i, j], -1))

    net = Net()
    assert net(X, ints([0, 1]), ints([2, -3])).asnumpy().tolist() == [4, 6]
    with pytest.raises(ValueError, match="index 5 .* outside dimension 1 of size 3"):
        net(X, ints([0, 1]), ints([0, 5])).asnumpy()


def test_int32_indices_reach_every_element_of_large_tensors():
    """Tests the positions only: a tensor of more than 2^31 elements would cost gigabytes."""
    last = ints([[49999, 43999], [49999, -44000]])
    assert index_func._row_numbers((50000, 44000), last).asnumpy().tolist() == [50000 * 44000 - 1, 49999 * 44000]


# --- labels -----------------------------------------------------------------------------------------------------------------------------

LOGITS = Tensor(np.log(np.array([[.1, .2, .7]] * 3, np.float32)))
CLASS_WEIGHT = Tensor(np.array([1, 2, 3], np.float32))
LABELLED = {
    "nll_loss": lambda y, **k: ops.nll_loss(LOGITS, y, **k),
    "nll_loss, weight": lambda y, **k: ops.nll_loss(LOGITS, y, CLASS_WEIGHT, **k),
    "cross_entropy": lambda y, **k: ops.cross_entropy(LOGITS, y, **k),
    "cross_entropy, weight": lambda y, **k: ops.cross_entropy(LOGITS, y, CLASS_WEIGHT, **k),
    "nn.NLLLoss": lambda y, **k: nn.NLLLoss(**k)(LOGITS, y),
    "nn.CrossEntropyLoss, weight": lambda y, **k: nn.CrossEntropyLoss(CLASS_WEIGHT, **k)(LOGITS, y),
}


@pytest.mark.parametrize("name", LABELLED)
def test_a_label_that_is_no_class_raises(name, mode):
    loss = LABELLED[name]
    for bad in (-1, -2, 3):
        with pytest.raises(ms.DataError, match=f"label {bad} in row 1 is outside"):
            loss(ints([0, bad, 2])).asnumpy()
    expected = loss(ints([0, -100, 2])).asnumpy()
    assert np.isfinite(expected) and loss(ints([0, -1, 2]), ignore_index=-1).asnumpy() == expected


def test_labels_of_margin_and_focal_losses_do_not_wrap():
    with pytest.raises(ValueError, match="index -1"):
        ops.multi_margin_loss(LOGITS, ints([0, -1, 2]))
    with pytest.raises(ValueError, match="index -1"):
        nn.FocalLoss()(ones(2, 3, 1), ints([[[0]], [[-1]]]))


# --- sums of many elements --------------------------------------------------------------------------------------------------------------


def test_global_average_pooling_keeps_its_digits():
    y = ops.adaptive_avg_pool2d(Tensor(np.full((1, 2, 512, 512), 0.1, np.float32)), 1)
    np.testing.assert_allclose(y.asnumpy().ravel(), np.float32(0.1), rtol=1e-6)


@pytest.mark.parametrize("value", [2 ** 53 + 1, -2 ** 53 - 1, 2 ** 63 - 1, -2 ** 63, 7, 2.0])
def test_masked_fill_keeps_every_digit_of_int64(value):
    y = ops.masked_fill(ints([1, 2], np.int64), Tensor([True, False]), value)
    assert y.dtype == ms.int64 and y.asnumpy().tolist() == [int(value), 2]


@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_a_segment_number_outside_raises_and_a_negative_one_is_left_out(name, mode):
    reduce = getattr(ops, f"unsorted_segment_{name}")
    x = Tensor(np.array([2, 5, 3], np.float32))
    np.testing.assert_array_equal(reduce(x, Tensor(np.array([1, 1, -1], np.int32)), 2).asnumpy()[1], {"sum": 7, "max": 5, "min": 2, "prod": 10}[name])
    with pytest.raises(ValueError, match="index 2 at position"):
        reduce(x, Tensor(np.array([0, 2, 1], np.int32)), 2).asnumpy()


# --- one-hot values of random draws -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [-1, 0, 1, -3])
def test_hard_gumbel_softmax_is_one_hot_along_dim(dim):
    out = ops.gumbel_softmax(Tensor(np.zeros((2, 3, 5), np.float32)), hard=True, dim=dim).asnumpy()
    assert out.shape == (2, 3, 5)
    np.testing.assert_allclose(out.sum(dim), 1, rtol=1e-6)
    np.testing.assert_allclose(out.max(dim), 1, rtol=1e-6)
