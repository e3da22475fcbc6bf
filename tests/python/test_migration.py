"""The rows of docs/guide/migration.md, computed in Sindri and in PyTorch. Skipped if PyTorch is not installed."""
import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri.tools import convert

torch = pytest.importorskip("torch")
F = torch.nn.functional
RNG = np.random.default_rng(0)
x = RNG.standard_normal((2, 4, 8, 8)).astype(np.float32)
X, T = Tensor(x), torch.from_numpy(x)
logits = RNG.standard_normal((6, 5)).astype(np.float32)
L, TL = Tensor(logits), torch.from_numpy(logits)
classes = RNG.integers(0, 5, 6)
B, TB = Tensor(classes.astype(np.int32)), torch.from_numpy(classes)
index = RNG.integers(0, 8, (2, 4, 3, 8))
I, TI = Tensor(index), torch.from_numpy(index)


def agree(ours, theirs, tolerance=2e-6):
    ours = ours.asnumpy() if isinstance(ours, Tensor) else np.asarray(ours)
    theirs = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else np.asarray(theirs)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=tolerance)


def loaded(cell, module):
    """Returns the Cell with the module's weights."""
    assert len(ms.load_param_into_net(cell, convert.from_torch(module))) == 0
    return cell


LAYERS = {
    "conv": (lambda: nn.Conv2d(4, 6, 3, 2, pad_mode="pad", padding=1, has_bias=True), lambda: torch.nn.Conv2d(4, 6, 3, 2, 1)),
    "conv valid": (lambda: nn.Conv2d(4, 6, 3, pad_mode="valid"), lambda: torch.nn.Conv2d(4, 6, 3, bias=False)),
    "conv group": (lambda: nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, group=2), lambda: torch.nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)),
    "conv transposed": (
        lambda: nn.Conv2dTranspose(4, 6, 3, 2, pad_mode="pad", padding=1),
        lambda: torch.nn.ConvTranspose2d(4, 6, 3, 2, 1, bias=False),
    ),
    "dense": (lambda: nn.Dense(8, 5), lambda: torch.nn.Linear(8, 5)),
    "layer norm": (lambda: nn.LayerNorm((8,), epsilon=1e-5), lambda: torch.nn.LayerNorm(8)),
    "group norm": (lambda: nn.GroupNorm(2, 4), lambda: torch.nn.GroupNorm(2, 4)),
    "max pool": (lambda: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), lambda: torch.nn.MaxPool2d(3, 2, 1)),
    "avg pool": (lambda: nn.AvgPool2d(2, 2), lambda: torch.nn.AvgPool2d(2)),
    "adaptive": (lambda: nn.AdaptiveAvgPool2d(1), lambda: torch.nn.AdaptiveAvgPool2d(1)),
    "flatten": (nn.Flatten, torch.nn.Flatten),
    "gelu tanh": (nn.GELU, lambda: torch.nn.GELU(approximate="tanh")),
    "gelu erf": (lambda: nn.GELU(approximate=False), torch.nn.GELU),
    "leaky": (lambda: nn.LeakyReLU(0.01), torch.nn.LeakyReLU),
    "leaky default": (nn.LeakyReLU, lambda: torch.nn.LeakyReLU(0.2)),
    "hswish": (nn.HSwish, torch.nn.Hardswish),
    "hsigmoid": (nn.HSigmoid, torch.nn.Hardsigmoid),
    "silu": (nn.SiLU, torch.nn.SiLU),
    "softmax": (lambda: nn.Softmax(axis=1), lambda: torch.nn.Softmax(dim=1)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(mode, name):
    torch.manual_seed(3)
    ours, theirs = (make() for make in LAYERS[name])
    agree(loaded(ours, theirs)(X) if list(theirs.parameters()) else ours(X), theirs(T))


def test_conv1d_and_embedding():
    torch.manual_seed(3)
    theirs = torch.nn.Conv1d(4, 6, 3, padding=1)
    agree(loaded(nn.Conv1d(4, 6, 3, pad_mode="pad", padding=1, has_bias=True), theirs)(X[:, :, 0]), theirs(T[:, :, 0]))
    table = torch.nn.Sequential(torch.nn.Embedding(8, 3))
    ours = nn.Embedding(8, 3)
    ours.embedding_table.set_data(Tensor(table[0].weight.detach().numpy()))
    agree(ours(I), table(TI))


def test_batch_norm_momentum_and_running_values():
    """0.9 in Sindri is 0.1 in PyTorch."""
    ours, theirs = nn.BatchNorm2d(4, momentum=0.9).set_train(), torch.nn.BatchNorm2d(4, momentum=0.1)
    for _ in range(3):
        agree(ours(X), theirs(T))
    agree(ours.moving_mean, theirs.running_mean)


def test_dropout_and_defaults():
    ones = Tensor(np.ones(20000, np.float32))
    keeps = [float((layer.set_train()(ones).asnumpy() != 0).mean()) for layer in (nn.Dropout(0.8), nn.Dropout(p=0.2))]
    assert keeps == pytest.approx([0.8, 0.8], abs=0.02)
    assert nn.Conv2d(16, 16, 3).weight.asnumpy().std() == pytest.approx(0.01, rel=0.1) and nn.Dense(500, 500).weight.asnumpy().std() == pytest.approx(
        0.01, rel=0.05
    )
    assert nn.MaxPool2d(2)(X).shape == (2, 4, 7, 7) and not nn.Dense(1, 1).training


FUNCTIONS = {
    "reshape": (lambda: X.reshape(2, -1), lambda: T.view(2, -1)),
    "transpose": (lambda: X.transpose(0, 2, 3, 1), lambda: T.permute(0, 2, 3, 1)),
    "swapaxes": (lambda: X.swapaxes(1, 2), lambda: T.transpose(1, 2)),
    "concat": (lambda: ops.concat((X, X), 1), lambda: torch.cat((T, T), 1)),
    "stack": (lambda: ops.stack((X, X), 1), lambda: torch.stack((T, T), 1)),
    "split": (lambda: ops.split(X, 2, 1)[1], lambda: torch.split(T, 2, 1)[1]),
    "chunk": (lambda: ops.chunk(X, 2, 1)[1], lambda: torch.chunk(T, 2, 1)[1]),
    "expand_dims": (lambda: ops.expand_dims(X, 1), lambda: T.unsqueeze(1)),
    "broadcast_to": (lambda: ops.broadcast_to(X[:, :1], (2, 4, 8, 8)), lambda: T[:, :1].expand(2, 4, 8, 8)),
    "tile": (lambda: ops.tile(X, (1, 2, 1, 1)), lambda: T.repeat(1, 2, 1, 1)),
    "matmul": (lambda: ops.matmul(X, X), lambda: T @ T),
    "bmm": (lambda: ops.bmm(X[:, 0], X[:, 1]), lambda: torch.bmm(T[:, 0], T[:, 1])),
    "einsum": (lambda: ops.einsum("bchw,bdhw->bcd", X, X), lambda: torch.einsum("bchw,bdhw->bcd", T, T)),
    "gather_elements": (lambda: ops.gather_elements(X, 2, I), lambda: torch.gather(T, 2, TI)),
    "gather": (lambda: ops.gather(X, Tensor([2, 0]), 1), lambda: torch.index_select(T, 1, torch.tensor([2, 0]))),
    "scatter": (lambda: ops.tensor_scatter_elements(X, I, X[:, :, :3] * 0 + 7, 2), lambda: T.scatter(2, TI, T[:, :, :3] * 0 + 7)),
    "gather_nd": (lambda: ops.gather_nd(X, Tensor([[0, 1], [1, 2]])), lambda: T[[0, 1], [1, 2]]),
    "where": (lambda: ops.where(X > 0, X, 0.0), lambda: torch.where(T > 0, T, 0.0)),
    "masked_fill": (lambda: X.masked_fill(X > 0, 0.0), lambda: T.masked_fill(T > 0, 0.0)),
    "clamp": (lambda: ops.clamp(X, -1, 1), lambda: T.clamp(-1, 1)),
    "one_hot": (lambda: ops.one_hot(B, 5, Tensor(1.0), Tensor(0.0)), lambda: F.one_hot(TB, 5).float()),
    "pad": (lambda: ops.pad(X, (1, 2, 3, 0)), lambda: F.pad(T, (1, 2, 3, 0))),
    "nn.Pad": (lambda: nn.Pad(((0, 0), (0, 0), (3, 0), (1, 2)))(X), lambda: F.pad(T, (1, 2, 3, 0))),
    "interpolate": (lambda: ops.interpolate(X, size=(16, 16), mode="bilinear"), lambda: F.interpolate(T, size=(16, 16), mode="bilinear")),
    "unfold": (lambda: ops.unfold(X, 3, 1, 1, 2), lambda: F.unfold(T, 3, 1, 1, 2)),
    "normalize": (lambda: ops.L2Normalize(1)(X), lambda: F.normalize(T, dim=1)),
    "topk": (lambda: ops.topk(X, 2)[0], lambda: torch.topk(T, 2)[0]),
    "sort": (lambda: ops.sort(X, 1)[0], lambda: torch.sort(T, 1)[0]),
    "cumsum": (lambda: ops.cumsum(X, 1), lambda: torch.cumsum(T, 1)),
    "logsumexp": (lambda: ops.logsumexp(X, 1), lambda: torch.logsumexp(T, 1)),
    "index of max": (lambda: ops.ArgMaxWithValue(1)(X)[0].astype(ms.int64), lambda: T.max(1)[1]),
    "value of max": (lambda: ops.ArgMaxWithValue(1)(X)[1], lambda: T.max(1)[0]),
    "std": (lambda: X.std(), lambda: T.std(correction=0)),
    "std ddof": (lambda: X.std(ddof=1), lambda: T.std()),
    "var": (lambda: X.var(), lambda: T.var(correction=0)),
    "cross entropy": (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(L, B), lambda: F.cross_entropy(TL, TB)),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1)(L, B), lambda: F.cross_entropy(TL, TB, label_smoothing=0.1)),
    "nll": (lambda: nn.NLLLoss()(nn.LogSoftmax()(L), B), lambda: F.nll_loss(F.log_softmax(TL, -1), TB)),
    "mse": (lambda: nn.MSELoss()(L, L * 2), lambda: F.mse_loss(TL, TL * 2)),
    "l1": (lambda: nn.L1Loss()(L, L * 2), lambda: F.l1_loss(TL, TL * 2)),
    "huber": (lambda: nn.HuberLoss()(L, L * 2), lambda: F.huber_loss(TL, TL * 2)),
    "smooth l1": (lambda: nn.SmoothL1Loss()(L, L * 2), lambda: F.smooth_l1_loss(TL, TL * 2, reduction="none")),
    "bce logits": (lambda: nn.BCEWithLogitsLoss()(L, (L > 0).astype(ms.float32)), lambda: F.binary_cross_entropy_with_logits(TL, (TL > 0).float())),
    "bce": (lambda: nn.BCELoss()(nn.Sigmoid()(L), (L > 0).astype(ms.float32)), lambda: F.binary_cross_entropy(torch.sigmoid(TL), (TL > 0).float())),
    "clip": (lambda: ops.clip_by_global_norm((X, L), 1.0)[1], lambda: TL / torch.sqrt((T**2).sum() + (TL**2).sum())),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_losses(name):
    ours, theirs = FUNCTIONS[name]
    agree(ours(), theirs())


O = torch.optim
OPTIMIZERS = {
    "Momentum": (lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.01), lambda p: O.SGD(p, 0.1, 0.9, weight_decay=0.01)),
    "Nesterov": (lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True), lambda p: O.SGD(p, 0.1, 0.9, nesterov=True)),
    "SGD": (lambda p: nn.SGD(p, 0.1, 0.9, weight_decay=0.01), lambda p: O.SGD(p, 0.1, 0.9, weight_decay=0.01)),
    "Adam": (lambda p: nn.Adam(p, 0.01, weight_decay=0.01), lambda p: O.Adam(p, 0.01, weight_decay=0.01)),
    "Adagrad": (lambda p: nn.Adagrad(p, accum=0.1, learning_rate=0.01), lambda p: O.Adagrad(p, 0.01, initial_accumulator_value=0.1)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    rng = np.random.default_rng(1)
    start = rng.standard_normal((3, 4)).astype(np.float32)
    p, q = ms.Parameter(Tensor(start), "weight"), torch.nn.Parameter(torch.from_numpy(start.copy()))
    ours, theirs = OPTIMIZERS[name][0]([p]), OPTIMIZERS[name][1]([q])
    for _ in range(10):
        g = rng.standard_normal((3, 4)).astype(np.float32)
        ours((Tensor(g),))
        q.grad = torch.from_numpy(g.copy())
        theirs.step()
    agree(p, q, 1e-5)


def test_decay_leaves_gamma_and_beta_out():
    """Applies without groups; a group's value holds as given."""
    for make, decays in ((lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.5), False), (lambda p: nn.SGD(p, 0.1, 0.9, weight_decay=0.5), False),
                         (lambda p: nn.SGD([{"params": p}], 0.1, 0.9, weight_decay=0.5), True)):
        gamma = ms.Parameter(Tensor(np.ones(3, np.float32)), "bn.gamma")
        make([gamma])((Tensor(np.zeros(3, np.float32)),))
        assert (gamma.asnumpy() < 1).all() == decays
