"""Layers, losses, schedules and optimizers compared with values from the real MindSpore (tests/reference/make_nn_expectations.py)."""
import json
import os

import loss_cases
import nn_cases
import numpy as np
import pytest

import sindri as ms

FOLDER = os.path.join(os.path.dirname(__file__), "expectations")
STORED = {family: json.load(open(os.path.join(FOLDER, f"nn_{family}.json"))) for family in nn_cases.RUNS}


def compare(ours, theirs, path, rtol, atol):
    """Compares two results of nn_cases.run_*; theirs was stored as text."""
    assert type(ours) is type(theirs) or {type(ours), type(theirs)} <= {int, float}, path
    if isinstance(ours, dict) and "values" in ours:
        assert list(ours["shape"]) == theirs["shape"], path
        np.testing.assert_allclose(ours["values"], theirs["values"], rtol, atol, err_msg=path)
    elif isinstance(ours, dict):
        assert sorted(ours) == sorted(theirs), path
        for k in ours:
            compare(ours[k], theirs[k], f"{path}.{k}", rtol, atol)
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), path
        for i, (a, b) in enumerate(zip(ours, theirs)):
            compare(a, b, f"{path}[{i}]", rtol, atol)
    elif isinstance(ours, (int, float)):
        assert ours == pytest.approx(theirs, rel=rtol, abs=atol), path
    else:
        assert ours == theirs, path


def cases(family):
    return sorted(name for name, stored in STORED[family].items() if stored is not None)


def test_every_case_is_stored():
    for family, (table, _) in nn_cases.RUNS.items():
        assert sorted(STORED[family]) == sorted(table)
        assert all(v is not None for v in STORED[family].values())


@pytest.mark.parametrize("name", cases("layers"))
def test_layer(name, mode):
    compare(nn_cases.run_layer(ms, name), STORED["layers"][name], name, 2e-5, 2e-6)


@pytest.mark.parametrize("name", cases("losses"))
def test_loss(name, mode):
    compare(nn_cases.run_loss(ms, name), STORED["losses"][name], name, 2e-5, 1e-6)


@pytest.mark.parametrize("name", cases("schedules"))
def test_schedule(name, mode):
    compare(nn_cases.run_schedule(ms, name), STORED["schedules"][name], name, 2e-6, 1e-9)


@pytest.mark.parametrize("name", cases("lists"))
def test_list(name):
    compare(nn_cases.run_list(ms, name), STORED["lists"][name], name, 1e-8, 0)


@pytest.mark.parametrize("name", cases("optimizers"))
def test_optimizer(name, mode):
    compare(nn_cases.run_optimizer(ms, name), STORED["optimizers"][name], name, 2e-5, 5e-6)


@pytest.mark.parametrize("name", cases("trainings"))
def test_training(name, mode):
    compare(nn_cases.run_training(ms, name), STORED["trainings"][name], name, 2e-4, 2e-5)


# Cases that MindSpore's CPU build lacks or computes wrongly, compared with formulas.

X = np.array([[-1.5, -0.3, 0.0, 0.2, 1.0, 2.5]], np.float32)


def run(cell, *arrays):
    return cell(*[ms.Tensor(a) for a in arrays]).asnumpy()


def test_selu(mode):
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    want = scale * np.where(X > 0, X, alpha * np.expm1(X))
    np.testing.assert_allclose(run(ms.nn.SeLU(), X), want, 1e-6)
    slope = ms.grad(lambda t: ms.nn.SeLU()(t).sum())(ms.Tensor(X)).asnumpy()
    np.testing.assert_allclose(slope[:, 3:], np.full((1, 3), scale), 1e-6)


def test_roll(mode):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(run(ms.nn.Roll((1, -2), (0, 1)), a), np.roll(a, (1, -2), (0, 1)))
    np.testing.assert_array_equal(run(ms.nn.Roll(4, 1), a), a)


def test_cosine_similarity(mode):
    a, b = np.array([[3, 4], [0, 0]], np.float32), np.array([[4, 3], [1, 2]], np.float32)
    from sindri.nn.layer.math import CosineSimilarity  # nn.CosineSimilarity is the metric, as in MindSpore
    np.testing.assert_allclose(run(CosineSimilarity(), a, b), [24 / 25, 0], 1e-6)


def test_soft_margin(mode):
    logits, labels = np.array([0.5, -2.0], np.float32), np.array([1.0, -1.0], np.float32)
    np.testing.assert_allclose(run(ms.nn.SoftMarginLoss("none"), logits, labels), np.log1p(np.exp([-0.5, -2.0])), 1e-6)


def test_matmul_layer(mode):
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(run(ms.nn.MatMul(), a, b), a @ b)
    np.testing.assert_array_equal(run(ms.nn.MatMul(), b, a.T), b @ a.T)
    np.testing.assert_array_equal(run(ms.nn.MatMul(transpose_x2=True), a, a), a @ a.T)


def test_l1_regularizer():
    assert float(ms.nn.L1Regularizer(0.5)(ms.Tensor(X))) == pytest.approx(0.5 * np.abs(X).sum(), rel=1e-6)


# Properties that the cases do not cover: defaults, attributes, names, errors.


def test_defaults_that_scripts_rely_on():
    conv = ms.nn.Conv2d(3, 8, 3)
    assert (conv.pad_mode, conv.padding, conv.has_bias, conv.bias, conv.kernel_size, conv.stride) == ("same", 0, False, None, (3, 3), (1, 1))
    dense = ms.nn.Dense(100, 50)
    assert conv.weight.shape == (8, 3, 3, 3) and dense.has_bias and dense.weight.shape == (50, 100)
    assert ms.nn.LayerNorm((4,)).epsilon == 1e-7 and ms.nn.BatchNorm2d(3).momentum == 0.9
    assert ms.nn.MaxPool2d(3).stride == 1 and ms.nn.LeakyReLU().alpha == 0.2
    assert ms.nn.Dropout().keep_prob == 0.5 and ms.nn.Dropout(p=0.2).keep_prob == 0.8
    assert not ms.nn.Dropout().training


DEFAULT_DRAWS = {  # the layer, and the fan_in that bounds MindSpore 2.10's random values
    "dense": (lambda nn: nn.Dense(256, 120), 256),
    "conv1d": (lambda nn: nn.Conv1d(16, 32, 3, has_bias=True), 48),
    "conv2d": (lambda nn: nn.Conv2d(16, 32, 3, has_bias=True), 144),
    "conv2d_group": (lambda nn: nn.Conv2d(16, 32, 3, group=4, has_bias=True), 36),
    "conv3d": (lambda nn: nn.Conv3d(16, 32, 3, has_bias=True), 432),
    "conv1d_transpose": (lambda nn: nn.Conv1dTranspose(16, 128, 3, has_bias=True), 384),
    "conv2d_transpose": (lambda nn: nn.Conv2dTranspose(16, 128, 3, has_bias=True), 1152),
    "conv2d_transpose_group": (lambda nn: nn.Conv2dTranspose(16, 128, 3, group=4, has_bias=True), 288),
    "conv3d_transpose": (lambda nn: nn.Conv3dTranspose(16, 128, 3, has_bias=True), 3456),
}


@pytest.mark.parametrize("name", DEFAULT_DRAWS)
def test_default_initial_values_are_those_of_the_era(name, monkeypatch):
    """Weight and bias from U(±1/sqrt(fan_in)), as in MindSpore 2.10; in era 1 from N(0, 0.01), and zeros."""
    make, fan_in = DEFAULT_DRAWS[name]
    layer, bound = make(ms.nn), fan_in ** -0.5
    for p in (layer.weight, layer.bias):
        v = p.asnumpy()
        assert 0.8 * bound < np.abs(v).max() <= bound * 1.0001 and abs(v.mean()) < bound / 4
    spread = layer.weight.asnumpy().std()
    assert spread == pytest.approx(bound / 3 ** 0.5, rel=0.1)
    monkeypatch.setenv("SINDRI_MINDSPORE_ERA", "1")
    layer = make(ms.nn)
    assert abs(float(layer.weight.asnumpy().std()) - 0.01) < 1e-3 and not layer.bias.asnumpy().any()


def test_fixed_default_initial_values():
    """Layers whose defaults are the same in both eras."""
    for table in (ms.nn.Embedding(500, 40).embedding_table, ms.nn.DenseBnAct(256, 120).dense.weight, ms.nn.Conv2dBnAct(16, 32, 3).conv.weight):
        assert abs(float(table.asnumpy().std()) - 0.01) < 1e-3
    assert not ms.nn.DenseBnAct(256, 120).dense.bias.asnumpy().any() and [p.asnumpy().tolist() for p in ms.nn.PReLU().get_parameters()] == [[0.25]]


def test_batch_norm_names_alone_and_attached():
    norm = ms.nn.BatchNorm2d(3)
    assert [p.name for p in norm.get_parameters()] == ["mean", "variance", "gamma", "beta"]
    net = ms.nn.SequentialCell(ms.nn.Conv2d(1, 3, 1), norm)
    assert [p.name for p in net.get_parameters()] == ["0.weight", "1.moving_mean", "1.moving_variance", "1.gamma", "1.beta"]
    assert [p.name for p in net.trainable_params()] == ["0.weight", "1.gamma", "1.beta"]


def test_batch_norm_writes_moving_values_once_per_training_call(mode):
    norm = ms.nn.BatchNorm2d(2, momentum=0.5)
    a = ms.Tensor(np.array([[[[1.0]], [[2.0]]], [[[3.0]], [[6.0]]]], np.float32))
    norm(a)
    np.testing.assert_array_equal(norm.moving_mean.asnumpy(), [0, 0])
    norm.set_train()
    norm(a)
    np.testing.assert_allclose(norm.moving_mean.asnumpy(), [1, 2])
    np.testing.assert_allclose(norm.moving_variance.asnumpy(), [0.5 + 0.5 * 2, 0.5 + 0.5 * 8])  # unbiased
    norm(a)
    np.testing.assert_allclose(norm.moving_mean.asnumpy(), [1.5, 3])


def test_dropout_keeps_and_scales(mode):
    drop = ms.nn.Dropout(keep_prob=0.8).set_train()
    a = ms.Tensor(np.ones((200, 100), np.float32))
    first, second = drop(a).asnumpy(), drop(a).asnumpy()
    np.testing.assert_allclose(np.unique(first), [0, 1.25])
    assert abs((first > 0).mean() - 0.8) < 0.02 and (first != second).any()
    assert drop.set_train(False)(a).asnumpy().min() == 1


def test_channel_dropout_drops_whole_channels(mode):
    out = ms.nn.Dropout2d(0.5).set_train()(ms.Tensor(np.ones((8, 16, 3, 3), np.float32))).asnumpy()
    per_channel = out.reshape(128, 9)
    assert (per_channel == per_channel[:, :1]).all() and 30 < (per_channel[:, 0] == 0).sum() < 98
    assert not ms.nn.Dropout2d(1.0).set_train()(ms.Tensor(np.ones((2, 2, 3, 3), np.float32))).asnumpy().any()


def test_embedding_padding_row_and_lookup():
    table = ms.nn.Embedding(5, 3, padding_idx=2).embedding_table
    assert table.name == "embedding_table" and not table.asnumpy()[2].any() and table.asnumpy()[1].any()
    look = ms.nn.EmbeddingLookup(5, 3, max_norm=0.5, param_init=ms.Tensor(np.eye(5, 3, dtype=np.float32)))
    np.testing.assert_allclose(look(ms.Tensor([1, 4], ms.int32)).asnumpy(), [[0, 0.5, 0], [0, 0, 0]])


def test_batch_norm_3d_holds_a_2d_one(mode):
    """Its parameters are named as in MindSpore's files, which load without a warning."""
    net = ms.nn.SequentialCell(ms.nn.BatchNorm3d(2, momentum=0.5))
    names = ["0.bn2d.moving_mean", "0.bn2d.moving_variance", "0.bn2d.gamma", "0.bn2d.beta"]
    assert [p.name for p in net.get_parameters()] == names
    theirs = {n: ms.Parameter(ms.Tensor(np.full(2, 2.0, np.float32)), n) for n in names}
    assert list(ms.load_param_into_net(net, theirs, strict_load=True)) == [[], []]
    x = np.random.default_rng(0).standard_normal((2, 2, 2, 3, 4)).astype(np.float32)
    want = (x - 2) / np.sqrt(2 + 1e-5) * 2 + 2
    np.testing.assert_allclose(run(net, x), want, 1e-5, 1e-5)
    net.set_train()
    np.testing.assert_allclose(run(net, x).mean((0, 2, 3, 4)), [2, 2], rtol=1e-5)
    np.testing.assert_allclose(net[0].bn2d.moving_mean.asnumpy(), 1 + 0.5 * x.mean((0, 2, 3, 4)), 1e-5)
    for bad in (np.zeros((2, 2, 3, 4), np.float32), np.zeros((2, 3, 2, 3, 4), np.float32)):
        with pytest.raises(ValueError, match="5 dimensions|num_features"):
            run(ms.nn.BatchNorm3d(2), bad)


def test_batch_statistics_in_use_move_the_moving_ones(mode):
    """use_batch_statistics decides, not the training flag: True updates the moving statistics in evaluation, too; False keeps them in training."""
    x = np.random.default_rng(0).standard_normal((4, 2, 3, 3)).astype(np.float32) + 3
    for used, training in ((True, False), (True, True), (False, True), (None, False)):
        norm = ms.nn.BatchNorm2d(2, use_batch_statistics=used).set_train(training)
        run(norm, x)
        np.testing.assert_allclose(norm.moving_mean.asnumpy(), 0.1 * x.mean((0, 2, 3)) if used else [0, 0], 1e-5)


def test_nhwc_is_for_the_gpu_target():
    with pytest.raises(ValueError, match="NHWC"):
        ms.nn.Conv2d(3, 4, 3, data_format="NHWC")
    ms.set_context(device_target="GPU")
    a = np.random.default_rng(0).standard_normal((2, 5, 6, 3)).astype(np.float32)
    nchw, nhwc = ms.nn.Conv2d(3, 4, 3, has_bias=True), ms.nn.Conv2d(3, 4, 3, has_bias=True, data_format="NHWC")
    assert nhwc.weight.shape == (4, 3, 3, 3)
    nhwc.weight.set_data(ms.Tensor(nchw.weight.asnumpy().transpose(0, 2, 3, 1).copy()))
    nhwc.bias.set_data(nchw.bias)
    want = run(nchw, a.transpose(0, 3, 1, 2).copy()).transpose(0, 2, 3, 1)
    np.testing.assert_allclose(run(nhwc, a), want, 1e-5, 1e-6)
    pool = run(ms.nn.MaxPool2d(2, 2, "same", "NHWC"), a)
    np.testing.assert_array_equal(pool, run(ms.nn.MaxPool2d(2, 2, "same"), a.transpose(0, 3, 1, 2).copy()).transpose(0, 2, 3, 1))
    norm = ms.nn.BatchNorm2d(3, data_format="NHWC").set_train()
    np.testing.assert_allclose(run(norm, a).mean((0, 1, 2)), np.zeros(3), atol=1e-6)


def test_get_activation():
    assert type(ms.nn.get_activation("ReLU")) is ms.nn.ReLU
    assert ms.nn.get_activation(None) is None and ms.nn.get_activation("") is None
    with pytest.raises(KeyError, match="relux"):
        ms.nn.get_activation("relux")
    with pytest.raises(KeyError):
        ms.nn.Dense(2, 2, activation="nothing")


WRONG = [
    (ValueError, "padding", lambda: ms.nn.Conv2d(3, 4, 3, padding=1)),
    (ValueError, "padding", lambda: ms.nn.Conv2d(3, 4, 3, pad_mode="valid", padding=1)),
    (ValueError, "group", lambda: ms.nn.Conv2d(3, 4, 3, group=2)),
    (ValueError, "pad_mode", lambda: ms.nn.Conv2d(3, 4, 3, pad_mode="full")),
    (ValueError, "kernel_size", lambda: ms.nn.Conv2d(3, 4, 0)),
    (TypeError, "kernel_size", lambda: ms.nn.Conv2d(3, 4, 3.0)),
    (TypeError, "in_channels", lambda: ms.nn.Conv2d("3", 4, 3)),
    (ValueError, "shape", lambda: ms.nn.Conv2d(3, 4, 3, weight_init=ms.Tensor(np.zeros((4, 3, 3, 2), np.float32)))),
    (ValueError, "shape", lambda: ms.nn.Dense(3, 4, weight_init=ms.Tensor(np.zeros((3, 4), np.float32)))),
    (ValueError, "in_channels", lambda: ms.nn.Dense(0, 4)),
    (TypeError, "has_bias", lambda: ms.nn.Dense(3, 4, has_bias=1)),
    (ValueError, "num_features", lambda: ms.nn.BatchNorm2d(0)),
    (ValueError, "momentum", lambda: ms.nn.BatchNorm2d(3, momentum=1.1)),
    (TypeError, "normalized_shape", lambda: ms.nn.LayerNorm(4)),
    (ValueError, "keep_prob", lambda: ms.nn.Dropout(0.0)),
    (ValueError, "keep_prob", lambda: ms.nn.Dropout(1.5)),
    (ValueError, "p must", lambda: ms.nn.Dropout(p=1.0)),
    (TypeError, "keep_prob", lambda: ms.nn.Dropout("a")),
    (ValueError, "padding_idx", lambda: ms.nn.Embedding(5, 3, padding_idx=5)),
    (TypeError, "vocab_size", lambda: ms.nn.Embedding(5.0, 3)),
    (ValueError, "kernel_size", lambda: ms.nn.MaxPool2d(0)),
    (ValueError, "half", lambda: ms.nn.MaxPool2d(2, pad_mode="pad", padding=2)),
    (ValueError, "return_indices", lambda: ms.nn.MaxPool2d(2, return_indices=True)),
    (ValueError, "mode", lambda: ms.nn.Pad(((1, 1),), "EDGE")),
    (TypeError, "paddings", lambda: ms.nn.Pad(1)),
    (TypeError, "approximate", lambda: ms.nn.GELU("tanh")),
    (TypeError, "axis", lambda: ms.nn.Softmax(1.5)),
    (ValueError, "reduction", lambda: ms.nn.MSELoss("avg")),
    (ValueError, "reduction", lambda: ms.nn.LossBase("avg")),
    (TypeError, "sparse", lambda: ms.nn.SoftmaxCrossEntropyWithLogits(sparse=1)),
    (TypeError, "weight", lambda: ms.nn.CrossEntropyLoss(weight=[1.0])),
    (ValueError, "label_smoothing", lambda: ms.nn.CrossEntropyLoss(label_smoothing=2.0)),
    (TypeError, "Parameter", lambda: ms.nn.BCEWithLogitsLoss(weight=ms.Parameter(np.ones(3, np.float32)))),
    (TypeError, "learning_rate", lambda: ms.nn.PolynomialDecayLR(1, 0.1, 4, 0.5)),
    (ValueError, "end_learning_rate", lambda: ms.nn.PolynomialDecayLR(0.1, -0.1, 4, 0.5)),
    (TypeError, "warmup_steps", lambda: ms.nn.WarmUpLR(0.1, 4.0)),
    (ValueError, "decay_steps", lambda: ms.nn.ExponentialDecayLR(0.1, 0.9, 0)),
    (TypeError, "is_stair", lambda: ms.nn.InverseDecayLR(0.1, 0.9, 4, 1)),
    (ValueError, "max_lr", lambda: ms.nn.CosineDecayLR(0.2, 0.1, 4)),
    (ValueError, "milestone", lambda: ms.nn.piecewise_constant_lr([5, 2], [0.1, 0.2])),
    (TypeError, "learning_rates", lambda: ms.nn.piecewise_constant_lr([2, 5], [1, 2])),
    (ValueError, "total_step", lambda: ms.nn.cosine_decay_lr(0.01, 0.1, 0, 2, 2)),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_wrong_arguments(at):
    kind, text, make = WRONG[at]
    with pytest.raises(kind, match=text) as e:
        make()
    assert "\n" not in str(e.value)


WRONG_INPUTS = [
    ("in_channels=3", lambda: ms.nn.Dense(3, 2), (4, 5)),
    ("flatten", lambda: ms.nn.Dense(3, 2), (4, 5, 2, 2)),
    ("in_channels=6", lambda: ms.nn.Dense(6, 2), (4, 3)),  # 6 divides the 12 elements, so the input would fit after flattening
    ("4 dimensions", lambda: ms.nn.Conv2d(3, 4, 3), (3, 8, 8)),
    ("3 dimensions", lambda: ms.nn.Conv1d(3, 4, 3), (2, 3, 8, 8)),
    ("4 dimensions", lambda: ms.nn.BatchNorm2d(3), (2, 3)),
    ("channels", lambda: ms.nn.BatchNorm2d(3), (2, 4, 3, 3)),
    ("normalized_shape", lambda: ms.nn.LayerNorm((3,)), (2, 4)),
    ("3 or 4 dimensions", lambda: ms.nn.MaxPool2d(2), (8, 8)),
    ("start_dim", lambda: ms.nn.Flatten(), (3,)),
    ("even", lambda: ms.nn.GLU(), (2, 3)),
]


@pytest.mark.parametrize("at", range(len(WRONG_INPUTS)))
def test_wrong_inputs(at):
    text, make, shape = WRONG_INPUTS[at]
    with pytest.raises(ValueError, match=text):
        make()(ms.Tensor(np.ones(shape, np.float32)))


def test_loss_base_for_losses_of_ones_own(mode):
    class Weighted(ms.nn.LossBase):
        def construct(self, logits, labels):
            return self.get_loss(logits - labels, weights=2.0)

    a, b = ms.Tensor(np.array([1.0, 4.0], np.float16)), ms.Tensor(np.array([0.0, 1.0], np.float16))
    for reduction, want in (("mean", 4.0), ("sum", 8.0), ("none", [2.0, 6.0])):
        got = Weighted(reduction)(a, b)
        assert got.dtype == ms.float16
        np.testing.assert_array_equal(got.asnumpy(), np.array(want, np.float16))
    base = ms.nn.LossBase()
    assert base.get_axis(ms.Tensor(np.zeros((2, 3), np.float32))) == (0, 1)
    assert (base.reduce, base.average) == (True, True)
    with pytest.raises(NotImplementedError):
        base(a, b)
    from sindri.nn.loss.loss import _Loss
    assert issubclass(_Loss, ms.nn.LossBase)


def test_label_out_of_range_names_the_row():
    loss = ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    with pytest.raises(RuntimeError, match="7"):
        loss(ms.Tensor(np.zeros((2, 5), np.float32)), ms.Tensor([0, 7], ms.int32))


@pytest.mark.parametrize("make", ["LSTM", "GRU", "RNN", "LSTMCell", "Transformer"])
def test_layers_that_come_later_say_so(make):
    with pytest.raises(ms.NotYetError, match=make):
        getattr(ms.nn, make)(3, 4)


# Layers that MindSpore's CPU build lacks, compared with formulas.


def images(rng, *shape):
    return rng.random(shape, np.float32)


@pytest.mark.parametrize("rank, shape", [("1d", (2, 3, 7)), ("2d", (2, 3, 4, 5)), ("3d", (2, 3, 2, 4, 3))])
def test_instance_norm(rank, shape, mode, rng):
    x = images(rng, *shape)
    net = getattr(ms.nn, f"InstanceNorm{rank}")(3, eps=1e-3, gamma_init=ms.Tensor([1.0, 2.0, -1.0]), beta_init=ms.Tensor([0.5, 0.0, 1.0])).set_train()
    axes = tuple(range(2, len(shape)))
    channels = (1, 3) + (1,) * len(axes)
    want = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    want = want * np.reshape([1.0, 2.0, -1.0], channels) + np.reshape([0.5, 0.0, 1.0], channels)
    np.testing.assert_allclose(net(ms.Tensor(x)).asnumpy(), want, rtol=1e-4, atol=1e-5)
    assert sorted(p.name for p in net.get_parameters()) == ["beta", "gamma", "mean", "variance"]
    with pytest.raises(ValueError, match="channels"):
        net(ms.Tensor(np.zeros((2, 4) + shape[2:], np.float32)))


def _ssim(a, b, size, sigma, max_val):
    """Computes SSIM and its structure part of two images [H, W], window by window."""
    d = np.arange(size) - (size - 1) / 2
    w = np.exp(-(d[:, None] ** 2 + d[None] ** 2) / (2 * sigma ** 2))
    w /= w.sum()
    c1, c2, out = (0.01 * max_val) ** 2, (0.03 * max_val) ** 2, []
    for i in range(a.shape[0] - size + 1):
        for j in range(a.shape[1] - size + 1):
            p, q = a[i:i + size, j:j + size].astype(np.float64), b[i:i + size, j:j + size].astype(np.float64)
            mp, mq = (w * p).sum(), (w * q).sum()
            vp, vq, cov = (w * p * p).sum() - mp ** 2, (w * q * q).sum() - mq ** 2, (w * p * q).sum() - mp * mq
            structure = (2 * cov + c2) / (vp + vq + c2)
            out.append(((2 * mp * mq + c1) / (mp ** 2 + mq ** 2 + c1) * structure, structure))
    return np.mean(out, 0)


def test_image_quality(mode, rng):
    a, b = images(rng, 2, 2, 9, 8), images(rng, 2, 2, 9, 8)
    b = 0.7 * a + 0.3 * b
    np.testing.assert_allclose(ms.nn.PSNR(2.0)(ms.Tensor(a), ms.Tensor(b)).asnumpy(), 10 * np.log10(4 / np.mean((a - b) ** 2, (1, 2, 3))), rtol=1e-5)
    want = [np.mean([_ssim(a[n, c], b[n, c], 5, 1.5, 1.0)[0] for c in range(2)]) for n in range(2)]
    np.testing.assert_allclose(ms.nn.SSIM(filter_size=5)(ms.Tensor(a), ms.Tensor(b)).asnumpy(), want, rtol=1e-4)
    half = lambda v: v[:, :, :8].reshape(2, 2, 4, 2, 4, 2).mean((3, 5))
    ha, hb = half(a), half(b)
    want = [np.mean([max(_ssim(a[n, c], b[n, c], 3, 1.5, 1.0)[1], 0) ** 0.4 * max(_ssim(ha[n, c], hb[n, c], 3, 1.5, 1.0)[0], 0) ** 0.6
                     for c in range(2)]) for n in range(2)]
    np.testing.assert_allclose(ms.nn.MSSSIM(power_factors=(0.4, 0.6), filter_size=3)(ms.Tensor(a), ms.Tensor(b)).asnumpy(), want, rtol=1e-4)
    pixels = (a * 255).astype(np.uint8)
    assert ms.nn.PSNR(255)(ms.Tensor(pixels), ms.Tensor(255 - pixels)).asnumpy() == pytest.approx(
        10 * np.log10(255.0 ** 2 / np.mean((2.0 * pixels - 255) ** 2, (1, 2, 3))), rel=1e-4)
    with pytest.raises(ValueError, match="filter_size"):
        ms.nn.SSIM()(ms.Tensor(a), ms.Tensor(b))


def test_resize_bilinear_layer(rng):
    x = images(rng, 1, 2, 3, 4)
    net = ms.nn.ResizeBilinear()
    assert net(ms.Tensor(x), scale_factor=2).shape == (1, 2, 6, 8)
    y = net(ms.Tensor(x), size=(5, 7), align_corners=True).asnumpy()
    np.testing.assert_allclose(y[:, :, [0, 0, -1, -1], [0, -1, 0, -1]], x[:, :, [0, 0, -1, -1], [0, -1, 0, -1]], rtol=1e-6)
    with pytest.raises(ValueError, match="size or scale_factor"):
        net(ms.Tensor(x))


def test_ftrl_zeroes_small_weights():
    """MindSpore's CPU kernel adds l1 regardless of the sign; this test uses the paper's formula."""
    p = ms.Parameter(ms.Tensor([0.5, -0.5, 0.1]), name="w")
    g = np.array([0.3, -0.2, 0.01], np.float32)
    ms.nn.FTRL([p], learning_rate=0.1, l1=1.0, l2=0.05)((ms.Tensor(g),))
    n = 0.1 + g ** 2
    z = g - (np.sqrt(n) - np.sqrt(0.1)) / 0.1 * np.array([0.5, -0.5, 0.1])
    want = np.where(np.abs(z) > 1.0, (np.sign(z) - z) / (np.sqrt(n) / 0.1 + 0.1), 0)
    np.testing.assert_allclose(p.asnumpy(), want, atol=1e-7)
    p.set_data(ms.Tensor([0.5, -0.5, 0.1]))
    ms.nn.FTRL([p], learning_rate=0.1, l1=0.005)((ms.Tensor(g),))
    z, n = g - (np.sqrt(n) - np.sqrt(0.1)) / 0.1 * np.array([0.5, -0.5, 0.1]), n
    np.testing.assert_allclose(p.asnumpy(), np.where(np.abs(z) > 0.005, (np.sign(z) * 0.005 - z) / (np.sqrt(n) / 0.1), 0), rtol=1e-4)
    with pytest.raises(ValueError, match="one number"):
        ms.nn.FTRL([p], learning_rate=ms.nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5))


def test_volume_primitives(mode, rng):
    """Convolution and pooling of volumes with primitives, as C3D and 3-D U-Nets call them."""
    a, w = ms.Tensor(images(rng, 1, 2, 4, 5, 4)), ms.Tensor(images(rng, 3, 2, 2, 3, 2))
    conv = ms.nn.Conv3d(2, 3, (2, 3, 2), pad_mode="pad", padding=1, weight_init=w)
    got = ms.ops.Conv3D(out_channel=3, kernel_size=(2, 3, 2), pad_mode="pad", pad=1)(a, w)
    np.testing.assert_allclose(got.asnumpy(), conv(a).asnumpy(), rtol=1e-6)
    pool = ms.ops.MaxPool3D(kernel_size=2, strides=2, pad_mode="pad", pad_list=1)(a)
    np.testing.assert_allclose(pool.asnumpy(), ms.nn.MaxPool3d(2, 2, "pad", 1)(a).asnumpy())
    mean = ms.ops.AvgPool3D(kernel_size=(1, 2, 2), strides=(1, 2, 2))(a)
    np.testing.assert_allclose(mean.asnumpy(), a.asnumpy()[:, :, :, :4].reshape(1, 2, 4, 2, 2, 2, 2).mean((4, 6)), rtol=1e-6)
    with pytest.raises(ValueError, match="5 dimensions"):
        ms.ops.MaxPool3D()(ms.Tensor(np.zeros((1, 2, 3, 4), np.float32)))
    with pytest.raises(ValueError, match="larger"):
        ms.ops.conv3d(a, ms.Tensor(np.zeros((3, 2, 9, 1, 1), np.float32)))
    with pytest.raises(ValueError, match="output_padding"):
        ms.nn.Conv3dTranspose(2, 3, 3, output_padding=1)


def test_a_divisor_of_mean_pooling_counts_partial_windows_whole(mode):
    """MindSpore 2.10's values: elements beyond the edge are zeros."""
    ones = ms.Tensor(np.ones((1, 1, 1, 3, 4), np.float32))
    for pooled in (ms.ops.avg_pool3d(ones, (1, 2, 3), 2, 0, True, True, 4),
                   ms.ops.AvgPool3D((1, 2, 3), 2, ceil_mode=True, divisor_override=4)(ones),
                   ms.nn.AvgPool3d((1, 2, 3), 2, ceil_mode=True, divisor_override=4)(ones),
                   ms.ops.avg_pool2d(ones[0], (2, 3), 2, 0, True, True, 4)):
        assert pooled.asnumpy().reshape(2, 2).tolist() == [[1.5, 1.0], [0.75, 0.5]]
    x = ms.Tensor(np.arange(75, dtype=np.float32).reshape(1, 1, 3, 5, 5))
    for inside in (True, False):
        got = ms.ops.avg_pool3d(x, 2, 2, 0, True, inside, 3).asnumpy().reshape(-1) * 3
        np.testing.assert_allclose(got[:12], [124, 140, 76, 204, 220, 116, 132, 140, 73, 212, 220, 113], rtol=1e-6)
        got = ms.ops.avg_pool3d(x, 2, 2, 1, True, inside, 3).asnumpy().reshape(-1) * 3
        np.testing.assert_allclose(got[:12], [0, 3, 7, 15, 36, 44, 35, 76, 84, 75, 156, 164], rtol=1e-6, atol=1e-6)
    got = ms.ops.AvgPool3D(2, 2, "same", 0, True, True, 3)(x).asnumpy().reshape(-1) * 3
    np.testing.assert_allclose(got[:12], [124, 140, 76, 204, 220, 116, 132, 140, 73, 212, 220, 113], rtol=1e-6)
    for make in (lambda d: ms.ops.avg_pool3d(x, 2, 2, divisor_override=d), lambda d: ms.ops.avg_pool2d(x[0], 2, 2, divisor_override=d),
                 lambda d: ms.ops.AvgPool3D(2, 2, divisor_override=d)(x), lambda d: ms.nn.AvgPool3d(2, 2, divisor_override=d)):
        for bad, error in ((-3, ValueError), (2.5, TypeError), (True, TypeError)):
            with pytest.raises(error, match="divisor_override"):
                make(bad)
    with pytest.raises(ValueError, match="divisor_override"):
        ms.nn.AvgPool3d(2, 2, divisor_override=0)


def test_pooling_of_one_volume_and_places_of_maxima(mode):
    """Positions are MindSpore 2.10's."""
    x = ms.Tensor(np.arange(75, dtype=np.float32).reshape(1, 1, 3, 5, 5))
    for layer in (ms.nn.MaxPool3d(2, 2), ms.nn.AvgPool3d(2, 2), ms.nn.MaxPool3d(3, 2, "pad", 1)):
        assert np.array_equal(layer(x[0]).asnumpy(), layer(x).asnumpy()[0])
    for layer in (ms.nn.MaxPool3d(2, 2), ms.nn.AvgPool3d(2, 2)):
        with pytest.raises(ValueError, match="4 or 5 dimensions"):
            layer(x[0, 0])
    places = [31, 33, 34, 41, 43, 44, 46, 48, 49, 56, 58, 59, 66, 68, 69, 71, 73, 74]
    layer = ms.nn.MaxPool3d(3, 2, "pad", 1, 1, True)
    for values, where in (layer(x), ms.ops.max_pool3d(x, 3, 2, 1, return_indices=True), ms.nn.MaxPool3d(2, 2, "pad", 0, 1, True, True)(x)):
        assert where.dtype is ms.int64 and where.shape == values.shape == (1, 1, 2, 3, 3)
        assert where.asnumpy().reshape(-1).tolist() == values.asnumpy().reshape(-1).tolist() == places
    values, where = layer(x[0])
    assert where.shape == values.shape == (1, 2, 3, 3) and where.asnumpy().reshape(-1).tolist() == places
    _, where = ms.ops.max_pool3d(ms.Tensor(np.zeros((1, 2, 3, 3, 3), np.float32)), 2, 1, return_indices=True)  # the first of equal values
    assert where.asnumpy().reshape(2, 8).tolist() == [[0, 1, 3, 4, 9, 10, 12, 13]] * 2
    grad = ms.grad(lambda a: ms.ops.max_pool3d(a, 2, return_indices=True)[0].sum())(x).asnumpy().reshape(-1)
    assert grad.nonzero()[0].tolist() == [31, 33, 41, 43]
    with pytest.raises(ValueError, match="pad_mode 'pad'"):
        ms.nn.MaxPool3d(2, 2, return_indices=True)
    with pytest.raises(ValueError, match="dilation"):
        ms.ops.max_pool3d(x, 2, dilation=2)


def test_output_padding_of_volumes_is_below_stride_or_dilation():
    x, w = ms.Tensor(np.ones((1, 1, 2, 2, 2), np.float32)), ms.Tensor(np.ones((1, 1, 2, 2, 2), np.float32))
    for extra, stride, dilation in ((1, 1, 1), (2, 2, 2), ((0, 0, 1), 1, 1), ((0, 3, 0), (1, 3, 1), 1)):
        with pytest.raises(ValueError, match="output_padding"):
            ms.nn.Conv3dTranspose(1, 1, 2, stride, "pad", 0, dilation, 1, extra)
        with pytest.raises(ValueError, match="output_padding"):
            ms.ops.conv3d_transpose(x, w, "pad", 0, stride, dilation, 1, extra)
    assert ms.nn.Conv3dTranspose(1, 1, 2, 2, "pad", 0, 1, 1, 1)(x).shape == (1, 1, 5, 5, 5)


def test_normalization_keeps_half_types(mode):
    half = np.arange(144, dtype=np.float16).reshape(2, 2, 4, 3, 3)
    for layer, x in ((ms.nn.InstanceNorm1d(2), half[:, :, 0, 0]), (ms.nn.InstanceNorm2d(2), half[:, :, 0]), (ms.nn.InstanceNorm3d(2), half),
                     (ms.nn.GroupNorm(2, 2), half[:, :, 0]), (ms.nn.LayerNorm((3,), 1, -1), half)):
        y = layer(ms.Tensor(x))
        assert y.dtype is ms.float16
        np.testing.assert_allclose(y.asnumpy(), layer(ms.Tensor(x.astype(np.float32))).asnumpy(), atol=2e-3)


def test_process_groups_name_ranks_that_run_once():
    for bad in ([[0, 0]], [[0], [0]], [[0], [1]], [[-1]]):
        with pytest.raises(ValueError, match="process_groups"):
            ms.nn.SyncBatchNorm(3, process_groups=bad)
    assert ms.nn.SyncBatchNorm(3, process_groups=[[0]]).process_groups == [[0]]


@pytest.mark.parametrize("name, shape", [("Conv1d", (1, 1, 3)), ("Conv2d", (1, 1, 3, 3)), ("Conv3d", (1, 1, 3, 3, 3)),
                                         ("Conv1dTranspose", (1, 1, 3)), ("Conv2dTranspose", (1, 1, 3, 3)),
                                         ("Conv3dTranspose", (1, 1, 3, 3, 3))])
def test_convolutions_read_has_bias_at_each_call(name, shape, mode):
    x = ms.Tensor(np.ones(shape, np.float32))
    layer = getattr(ms.nn, name)(1, 1, 1, has_bias=True, weight_init="ones", bias_init="ones")
    assert np.all(layer(x).asnumpy() == 2)
    layer.has_bias = False
    assert np.all(layer(x).asnumpy() == 1)
    layer.has_bias = True
    assert np.all(layer(x).asnumpy() == 2)


def test_padding_layers_cut_what_there_is():
    """Bounds as in MindSpore 2.10."""
    x = ms.Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    for bad in ((-6, 1, 0, 0), (1, -5, 0, 0), (5, -5, 0, 0), (0, 0, -5, 1), (-4, 0, 0, 0), (-2, -2, 0, 0), (-3, -3, 4, 0)):
        for layer in (ms.nn.ZeroPad2d(bad), ms.nn.ConstantPad2d(bad, 2.0), lambda v, p=bad: ms.ops.pad(v, p)):
            with pytest.raises(ValueError, match="cuts more than there is"):
                layer(x)
    assert ms.nn.ZeroPad2d((-3, 0, 0, 0))(x).asnumpy().reshape(-1).tolist() == [3, 7, 11, 15]
    assert ms.nn.ConstantPad2d((-4, 1, 0, 0), 2.0)(x).asnumpy().reshape(-1).tolist() == [2] * 4


def test_power_factors_of_msssim_are_checked():
    for bad, error in (((), ValueError), (("a",), TypeError), ((0.5, True), TypeError),
                       ((0.5, float("nan")), ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="power_factors"):
            ms.nn.MSSSIM(power_factors=bad)


with open(os.path.join(os.path.dirname(__file__), "..", "nn", "expectations", "losses.json"), encoding="utf-8") as f:
    LOSSES = json.load(f)  # tests/nn/loss_expectations_test.cc reads it, too


def test_every_loss_is_stored():
    assert [c["name"] for c in LOSSES] == [c["name"] for c in loss_cases.cases()]


def compare_loss(case, got):
    want = next(c for c in LOSSES if c["name"] == case["name"])
    tolerance = (1e-9, 1e-12) if case["inputs"][0].dtype == np.float64 else (2e-5, 2e-6)
    for ours, theirs in zip([got["loss"], *got["grads"]], [want["loss"], *want["grads"]]):
        assert ours["shape"] == theirs["shape"]
        np.testing.assert_allclose(ours["values"], theirs["values"], *tolerance)


@pytest.mark.parametrize("case", loss_cases.cases(), ids=lambda c: c["name"])
def test_loss_and_gradients(case, mode):
    compare_loss(case, loss_cases.run(ms, case))


@pytest.mark.parametrize("case", [c for c in loss_cases.cases() if c["rule"] in loss_cases.FUNCTIONS], ids=lambda c: c["name"])
def test_loss_function_and_gradients(case, mode):
    compare_loss(case, loss_cases.run(ms, case, as_function=True))


def test_ctc_loss_in_its_forms(mode):
    case = next(c for c in loss_cases.cases() if c["name"] == "ctc none")
    y, targets, steps, lengths = (ms.Tensor(a) for a in case["inputs"])
    whole, log_alpha = ms.ops.ctc_loss(y, targets, steps, lengths, reduction="none")
    np.testing.assert_array_equal(ms.ops.operations.CTCLossV2()(y, targets, steps, lengths)[0].asnumpy(), whole.asnumpy())
    joined = ms.Tensor(np.array([1, 2, 2, 3, 1, 4], np.int64))  # without the padding of the rows
    loss = ms.nn.CTCLoss(reduction="none")
    np.testing.assert_array_equal(loss(y, joined, (7, 5, 6), (3, 2, 1)).asnumpy(), whole.asnumpy())
    assert log_alpha.shape == (3, 7, 7) and np.isneginf(log_alpha.asnumpy()[1, 5:]).all() and np.isneginf(log_alpha.asnumpy()[2, :, 3:]).all()
    ends = [np.logaddexp(*log_alpha.asnumpy()[n, t - 1, 2 * k - 1:2 * k + 1]) for n, (t, k) in enumerate(((7, 3), (5, 2), (6, 1)))]
    np.testing.assert_allclose(-np.array(ends), whole.asnumpy(), 1e-6)
    for one in (loss(y[:, 1], targets[1], ms.Tensor(5), ms.Tensor(2)), loss(y[:, 1], targets[1], ms.Tensor([5]), (2,))):
        assert one.shape == () and float(one) == float(whole[1])


def test_triplet_margin_primitive_is_the_function(mode):
    x, y, z = (ms.Tensor(nn_cases.data((4, 5), seed, -2, 2)) for seed in (3, 4, 5))
    got = ms.ops.operations.TripletMarginLoss(3, True, reduction="none")(x, y, z, ms.Tensor(3.7))
    assert got.shape == (4,)
    np.testing.assert_array_equal(got.asnumpy(), ms.ops.triplet_margin_loss(x, y, z, 3.7, 3, swap=True, reduction="none").asnumpy())


def test_ctc_loss_of_too_few_steps(mode):
    y = ms.ops.log_softmax(ms.Tensor(nn_cases.data((3, 2, 4), 3, -2, 2)), 2)
    given = ms.Tensor([[1, 1], [1, 2]], ms.int32), (2, 3), (2, 2)  # a repeated label needs three steps
    assert np.isinf(ms.nn.CTCLoss(reduction="none")(y, *given).asnumpy()).tolist() == [True, False]
    loss = ms.nn.CTCLoss(reduction="none", zero_infinity=True)
    grad = ms.grad(lambda x: loss(x, *given).sum())(y).asnumpy()
    assert float(loss(y, *given)[0]) == 0 and (grad[:, 0] == 0).all() and np.isfinite(grad).all() and (grad[:, 1] != 0).any()


@pytest.mark.parametrize("error, match, change", [
    (ValueError, "blank must be a class", {"blank": 4}), (RuntimeError, "input length 4 is outside .0, 3.", {"steps": (4, 3)}),
    (RuntimeError, "target length 3 is outside .0, 2.", {"lengths": (3, 1)}), (RuntimeError, "label 4 is outside .0, 4.", {"targets": [[1, 4], [1, 2]]}),
    (RuntimeError, "label -1 is outside", {"targets": [[-1, 1], [1, 2]]}), (TypeError, "int32 or int64", {"targets": [[1.0, 2.0], [1.0, 2.0]]}),
    (ValueError, "target_lengths must be .2.", {"lengths": (1,)}), (ValueError, "targets must be", {"targets": [[1, 2]]}),
    (RuntimeError, "target length 2 is outside .0, 1.", {"targets": [1, 2, 3]}), (ValueError, "reduction", {"reduction": "avg"})])
def test_ctc_loss_refuses(error, match, change):
    given = {"targets": [[1, 2], [3, 1]], "steps": (3, 3), "lengths": (2, 2), "blank": 0, "reduction": "none", **change}
    with pytest.raises(error, match=match):
        loss = ms.nn.CTCLoss(given["blank"], given["reduction"])
        loss(ms.Tensor(nn_cases.data((3, 2, 4), 3, -3, -1)), ms.Tensor(given["targets"]), given["steps"], given["lengths"])


def test_losses_of_ones_own_reduce_and_weigh(mode):
    class Doubled(ms.nn.HuberLoss):
        """The terms are the library's, the reduction is the user's."""

        def get_loss(self, x, weights=1.0):
            return super().get_loss(x * 2, weights)

    x, y = ms.Tensor([1.0, 3.0]), ms.Tensor([0.5, 0.0])
    assert float(Doubled("sum")(x, y)) == 2 * (0.125 + 2.5)
    loss = ms.nn.HuberLoss("sum", 1.0)
    assert float(loss(x, y)) == 2.625
    loss.delta = 2.0  # read at the next call
    assert float(loss(x, y)) == 0.125 + 4.0
    base = ms.nn.LossBase("sum")
    assert float(base.get_loss(x, 2)) == 8.0 and float(base.get_loss(x, ms.Tensor([1.0, 0.5]))) == 2.5
    assert base.get_loss(ms.Tensor([60000.0, 60000.0], ms.float16)).dtype == ms.float16
    with pytest.raises(TypeError, match="labels must be a Tensor"):
        loss(x, 1.0)


@pytest.mark.parametrize("settings", [
    {"stride": 1, "output_padding": 1, "dilation": 2}, {"stride": 2, "output_padding": 1}, {"stride": 2, "output_padding": (2, 1), "dilation": 3},
    {"stride": (1, 3), "output_padding": (1, 2), "dilation": (2, 1), "padding": 1}, {"stride": 3, "output_padding": 2, "padding": 0}])
@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_transposed_convolution_computes_what_the_function_does(kernel, settings, rng):
    pad = settings.get("padding", 0) if kernel > 1 else 0
    x = ms.Tensor(rng.standard_normal((1, 2, 5, 4)).astype(np.float32))
    net = ms.nn.Conv2dTranspose(2, 3, kernel, pad_mode="pad", has_bias=True, **{**settings, "padding": pad})
    wanted = ms.ops.conv_transpose2d(x, net.weight, net.bias, settings["stride"], pad, settings["output_padding"], 1, settings.get("dilation", 1))
    got = net(x)
    np.testing.assert_array_equal(got.asnumpy(), wanted.asnumpy())
    # The transpose is the gradient of the convolution: <conv(z), x> = <z, transpose(x)> for every z, except for elements that no window reaches.
    z = ms.Tensor(rng.standard_normal(got.shape).astype(np.float32))
    forward = ms.ops.conv2d(z, net.weight, None, settings["stride"], "pad", pad, settings.get("dilation", 1))[:, :, :5, :4]
    bias = (z * net.bias.reshape(1, 3, 1, 1)).sum()
    np.testing.assert_allclose((forward * x).sum().asnumpy(), ((z * got).sum() - bias).asnumpy(), rtol=1e-3, atol=1e-3)
