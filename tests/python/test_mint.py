"""mindspore.mint: MindSpore 2.10.0's values if its CPU build has a kernel, else PyTorch's rules."""
import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint
from mindspore.mint.nn import functional as F

X = Tensor(np.array([[1, 5, 2], [7, 3, 4]], np.float32))
V = Tensor(np.array([3, 1, 2], np.float32))
I = Tensor(np.array([[0], [1]]))
B = Tensor([True, False])
f32, i64 = "Float32", "Int64"


@pytest.mark.parametrize("call, expected", [
    (lambda: mint.add(X, X, alpha=2), (f32, [[3, 15, 6], [21, 9, 12]])), (lambda: mint.sub(V, 1, alpha=2), (f32, [1, -1, 0])), (lambda: mint.sum(X, 1, True), (f32, [[8], [14]])),
    (lambda: mint.sum(X, dim=1, dtype=ms.float64), ("Float64", [8, 14])), (lambda: mint.max(X), (f32, 7)), (lambda: mint.max(X, 1, True)[1], (i64, [[1], [0]])),
    (lambda: mint.max(X, X + 1), (f32, [[2, 6, 3], [8, 4, 5]])), (lambda: mint.min(X, 0)[0], (f32, [1, 3, 2])), (lambda: mint.argmin(X, 1, True), (i64, [[0], [1]])),
    (lambda: mint.cat((X, X), 1)[0], (f32, [1, 5, 2, 1, 5, 2])), (lambda: mint.stack((V, V), 1), (f32, [[3, 3], [1, 1], [2, 2]])), (lambda: mint.split(X, [1, 2], 1)[1], (f32, [[5, 2], [3, 4]])),
    (lambda: mint.chunk(X, 2)[1], (f32, [[7, 3, 4]])), (lambda: mint.transpose(X, 0, 1), (f32, [[1, 7], [5, 3], [2, 4]])), (lambda: mint.permute(X, (1, 0)), (f32, [[1, 7], [5, 3], [2, 4]])),
    (lambda: mint.flatten(X), (f32, [1, 5, 2, 7, 3, 4])), (lambda: mint.squeeze(X[None], 0), (f32, X.tolist())), (lambda: mint.unsqueeze(V, dim=0), (f32, [[3, 1, 2]])),
    (lambda: mint.gather(X, 1, I), (f32, [[1], [3]])), (lambda: mint.index_select(X, 1, Tensor([0, 2])), (f32, [[1, 2], [7, 4]])),
    (lambda: mint.scatter(X, 1, I, Tensor([[9.0], [8.0]])), (f32, [[9, 5, 2], [7, 8, 4]])), (lambda: mint.scatter_add(X, 1, I, Tensor([[9.0], [8.0]])), (f32, [[10, 5, 2], [7, 11, 4]])),
    (lambda: mint.index_add(X, 0, Tensor([1]), V[None], alpha=2), (f32, [[1, 5, 2], [13, 5, 8]])), (lambda: mint.where(X > 2, X, 0.0), (f32, [[0, 5, 0], [7, 3, 4]])),
    (lambda: mint.where(B)[0], (i64, [0])), (lambda: mint.var(X, 1, correction=0), (f32, [26 / 9, 26 / 9])), (lambda: mint.std_mean(X, 1, keepdim=True)[1], (f32, [[8 / 3], [14 / 3]])),
    (lambda: mint.prod(X, 1), (f32, [10, 84])), (lambda: mint.cumsum(B, 0), (i64, [1, 1])), (lambda: mint.sort(V, descending=True)[1], (i64, [0, 2, 1])), (lambda: mint.topk(V, 2)[0], (f32, [3, 2])),
    (lambda: mint.argsort(V), (i64, [1, 2, 0])), (lambda: mint.median(X), (f32, 3)), (lambda: mint.median(X, 1)[0], (f32, [2, 4])), (lambda: mint.norm(V), (f32, 14 ** 0.5)),
    (lambda: mint.norm(X, 1, 1), (f32, [8, 14])), (lambda: mint.full((2,), 3), (i64, [3, 3])), (lambda: mint.arange(0, 1, 0.5), (f32, [0, 0.5])), (lambda: mint.linspace(0, 1, 3), (f32, [0, 0.5, 1])),
    (lambda: mint.tile(V, (2,)), (f32, [3, 1, 2, 3, 1, 2])), (lambda: mint.flip(V, (0,)), (f32, [2, 1, 3])), (lambda: mint.roll(V, 1), (f32, [2, 3, 1])), (lambda: mint.select(X, 0, 1), (f32, [7, 3, 4])),
    (lambda: mint.take(X, Tensor([0, 5])), (f32, [1, 4])), (lambda: mint.count_nonzero(X > 2, 1), (i64, [1, 3])), (lambda: mint.unique(V, return_counts=True)[1], (i64, [1, 1, 1])),
    (lambda: mint.meshgrid(V, V)[0][0], (f32, [3, 3, 3])), (lambda: mint.round(V / 3, decimals=1), (f32, [1, 0.3, 0.7])), (lambda: mint.bincount(Tensor([1, 2])), (i64, [0, 1, 1])),
    (lambda: mint.repeat_interleave(V, 2, 0), (f32, [3, 3, 1, 1, 2, 2])), (lambda: mint.amax(X, 1), (f32, [5, 7])), (lambda: mint.amin(X), (f32, 1)), (lambda: mint.all(B), ("Bool", False)),
    (lambda: mint.clone(V), (f32, [3, 1, 2])), (lambda: mint.empty(2, 3) * 0, (f32, [[0] * 3] * 2)), (lambda: mint.vdot(V, V), (f32, 14)), (lambda: mint.histc(V, 2), (f32, [1, 2])),
    (lambda: mint.softmax(X, 1)[0], (f32, [0.0171478, 0.9362395, 0.0466126])), (lambda: F.linear(V, X, Tensor([1.0, 2.0])), (f32, [13, 34])), (lambda: F.one_hot(Tensor([0, 2]), 3), (i64, [[1, 0, 0], [0, 0, 1]])),
    (lambda: F.one_hot(Tensor([0, 1])), (i64, [[1, 0], [0, 1]])), (lambda: F.normalize(Tensor([[3.0, 4.0]])), (f32, [[0.6, 0.8]])), (lambda: F.layer_norm(Tensor([[1.0, 3.0]]), 2, eps=0.0), (f32, [[-1, 1]])),
    (lambda: F.mse_loss(X, X + 2), (f32, 4)), (lambda: F.l1_loss(X, X + 2, "sum"), (f32, 12)), (lambda: F.log_softmax(V * 0, 0), (f32, [-np.log(3)] * 3)), (lambda: F.cross_entropy(V[None] * 0, Tensor([1])), (f32, np.log(3))),
    (lambda: F.nll_loss(-X, Tensor([1, 0]), ignore_index=0), (f32, 5)), (lambda: F.binary_cross_entropy(X / 10, X / 10, X, "sum"), (f32, 13.592313)),
    (lambda: F.binary_cross_entropy_with_logits(V, V / 3, reduction="none", pos_weight=V), (f32, [0.1457621, 0.9799284, 0.8782134])),
    (lambda: F.kl_div(-V, V / 6, "sum"), (f32, 1.3219291)), (lambda: F.kl_div(-X, -X * 1.5, "batchmean", True), (f32, -0.0922261)), (lambda: F.kl_div(-V, -V * 2, "none", True), (f32, [-0.0074363, -0.1353353, -0.0366313])),
    (lambda: F.cosine_embedding_loss(X, X, Tensor([1, -1]), 0.25, "none"), (f32, [0, 0.75])), (lambda: F.soft_margin_loss(V, V / V), (f32, 0.1629257)),
    (lambda: F.leaky_relu(-V), (f32, [-0.03, -0.01, -0.02])), (lambda: F.glu(Tensor([[2.0, 0.0]]), dim=1), (f32, [[1]])), (lambda: F.threshold(V, 1, 9), (f32, [3, 9, 2])),
    (lambda: F.logsigmoid(V * 0), (f32, [-np.log(2)] * 3)), (lambda: mint.diag(X, 1), (f32, [5, 4])), (lambda: mint.diag(V, diagonal=-1)[1], (f32, [3, 0, 0, 0])), (lambda: mint.mv(X, V), (f32, [12, 32])),
    (lambda: mint.narrow(X, dim=1, start=1, length=1), (f32, [[5], [3]])), (lambda: mint.diff(X, dim=0), (f32, [[6, -2, 2]])), (lambda: mint.cummax(V, dim=0)[0], (f32, [3, 3, 3])), (lambda: mint.frac(V / 2), (f32, [0.5, 0.5, 0])),
    (lambda: F.gelu(V * 0), (f32, [0, 0, 0])), (lambda: F.dropout(V, 0.0), (f32, [3, 1, 2])), (lambda: F.embedding(Tensor([1]), X), (f32, [[7, 3, 4]])), (lambda: F.relu(-V), (f32, [0, 0, 0])),
])
def test_values(call, expected):
    got = call()
    assert str(got.dtype) == expected[0]
    np.testing.assert_allclose(got.asnumpy(), np.array(expected[1]), rtol=2e-6, atol=1e-6)
    assert got.shape == np.shape(expected[1])


A = np.array([[[2.0, 1.0], [1.0, 3.0]], [[0.0, -4.0], [5.0, 1.0]]], np.float32)


def test_linalg_and_special():
    """Compared with NumPy; MindSpore's CPU build has no kernels for these."""
    from mindspore.mint import linalg, special
    close = np.testing.assert_allclose
    close(linalg.inv(Tensor(A)).asnumpy(), np.linalg.inv(A), rtol=1e-5)
    close(linalg.vector_norm(V).asnumpy(), np.linalg.norm([3, 1, 2]), rtol=1e-6)
    close(linalg.vector_norm(Tensor(A), 3, dim=1, keepdim=True).asnumpy(), np.linalg.norm(A, 3, axis=1, keepdims=True), rtol=1e-5)
    for order in ("fro", "nuc", 1, -1, float("inf"), 2, -2):
        close(linalg.matrix_norm(Tensor(A), order).asnumpy(), np.linalg.norm(A, order, axis=(-2, -1)), rtol=1e-5)
        close(linalg.norm(Tensor(A), order, dim=(0, 1), keepdim=True).asnumpy(), np.linalg.norm(A, order, axis=(0, 1), keepdims=True), rtol=1e-5)
    close(linalg.norm(V, 3).asnumpy(), np.linalg.norm([3, 1, 2], 3), rtol=1e-6)
    assert linalg.norm(V, dtype=ms.float64).dtype == ms.float64
    x = np.array([0.5, 1.25, 2.5], np.float32)
    for name, want in (("expm1", np.expm1(x)), ("exp2", np.exp2(x)), ("round", np.round(x)), ("sinc", np.sinc(x)), ("log1p", np.log1p(x)),
                       ("erfc", [0.47950012, 0.07709987, 0.00040695])):
        close(getattr(special, name)(Tensor(x)).asnumpy(), want, rtol=1e-5)
    close(special.log_softmax(Tensor(x), 0).asnumpy(), x - np.log(np.exp(x).sum()), rtol=1e-5)
    assert special.log_softmax(Tensor(x), dim=0, dtype=ms.float16).dtype == ms.float16
    assert all(callable(getattr(module, name)) for module in (linalg, special) for name in module.__all__)


def test_python_values_and_names():
    assert mint.equal(X, X + 0) is True and mint.equal(X, V) is False and mint.allclose(X, X + 1e-9) is True and mint.item(Tensor(3.0)) == 3.0
    for module in (mint, F):
        assert all(callable(getattr(module, name)) for name in module.__all__) and len(module.__all__) == len(set(module.__all__)) and "Tensor" not in module.__all__


@pytest.mark.parametrize("p", [1, 2, 3.0, "fro", float("inf")])
@pytest.mark.parametrize("dim", [None, 0, (0, 1), (0, 2)])
def test_norm_is_that_of_vectors_also_over_two_dimensions(p, dim):
    """As in torch.norm: never a matrix norm (which ops.norm computes over two dimensions), except for 'nuc'."""
    x = np.random.default_rng(5).normal(size=(2, 3, 4)).astype(np.float32)
    power = 2.0 if p == "fro" else p
    want = np.abs(x).max(dim, keepdims=True) if power == np.inf else (np.abs(x) ** power).sum(dim, keepdims=True) ** (1 / power)
    got = mint.norm(ms.Tensor(x), p, dim, True)
    np.testing.assert_allclose(got.asnumpy(), want, 1e-5)
    np.testing.assert_allclose(mint.norm(ms.Tensor(x), p, dim).asnumpy(), np.squeeze(want, dim), 1e-5)
    np.testing.assert_allclose(mint.norm(ms.Tensor(x[0]), "nuc").asnumpy(), np.linalg.norm(x[0], "nuc"), 1e-5)


@pytest.mark.parametrize("loss, function", [
    (mint.nn.L1Loss("sum"), lambda: F.l1_loss(X, X * 2, "sum")), (mint.nn.MSELoss(), lambda: F.mse_loss(X, X * 2)),
    (mint.nn.SmoothL1Loss("none", 3.0), lambda: ms.ops.smooth_l1_loss(X, X * 2, 3.0, "none")), (mint.nn.SoftMarginLoss(), lambda: F.soft_margin_loss(X, X * 2)),
    (mint.nn.BCEWithLogitsLoss(X, "sum", V), lambda: F.binary_cross_entropy_with_logits(X, X * 2, X, "sum", V)),
    (mint.nn.KLDivLoss("batchmean", True), lambda: F.kl_div(X, X * 2, "batchmean", True)), (mint.nn.CrossEntropyLoss(V, label_smoothing=0.5), lambda: F.cross_entropy(X, X * 2, V, label_smoothing=0.5))])
def test_losses_are_their_functions(loss, function):
    got, want = loss(X, X * 2).asnumpy(), function().asnumpy()
    assert got.shape == want.shape and got.tobytes() == want.tobytes()


def test_losses_of_other_inputs():
    classes, rows = Tensor([2, 0]), Tensor(np.eye(2, 3, dtype=np.float32))
    assert float(mint.nn.NLLLoss(V, 2, "sum")(X, classes)) == -21 and mint.nn.CrossEntropyLoss(reduction="none")(X, classes).shape == (2,)
    np.testing.assert_allclose(mint.nn.BCELoss(V, "sum")(X / 10, X / 10).asnumpy(), F.binary_cross_entropy(X / 10, X / 10, V, "sum").asnumpy())
    np.testing.assert_allclose(mint.nn.CosineEmbeddingLoss(0.5, "none")(rows, rows, Tensor([1, -1])).asnumpy(), [0, 0.5], atol=1e-6)
    with pytest.raises(ValueError, match="reduction"):
        mint.nn.MSELoss("avg")(X, X)
