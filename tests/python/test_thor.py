"""nn.thor: the numbers of the worked example, both modes, data sinking, loss scales, resuming, MindSpore's conversion utilities and layers."""
import numpy as np
import pytest

import sindri as ms
from sindri import nn, ops
from sindri.autograd import value_and_grad_with_uses
from sindri.nn.optim import THOR
from sindri.train import ConvertModelUtils, ConvertNetUtils, Model
from sindri.train.train_thor import ModelThor

ROWS, BATCH = 64, 8
STEPS = ROWS // BATCH


class Net(nn.Cell):
    """Every kind of layer that THOR preconditions, and some that it does not."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.flatten = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, stride=2), nn.BatchNorm2d(4), nn.Flatten()
        self.dense, self.norm, self.head = nn.Dense(4 * 16, 12), nn.LayerNorm((12,)), nn.Dense(12, 2)

    def construct(self, x):
        x = self.flatten(ops.relu(self.bn(self.conv(x))))
        return self.head(ops.relu(self.norm(self.dense(x))))


def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, 1, 8, 8)).astype(np.float32)
    return ms.dataset.NumpySlicesDataset({"x": x, "y": (x.sum(axis=(1, 2, 3)) > 0).astype(np.int32)}, shuffle=True).batch(BATCH)


def loss():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def make(frequency=5, seed=7, **more):
    ms.set_seed(seed)
    net = Net()
    settings = dict(weight_decay=1e-4, batch_size=BATCH, frequency=frequency)
    settings.update(more)
    return net, nn.thor(net, ms.Tensor(0.01), ms.Tensor(np.linspace(0.1, 0.05, 64).astype(np.float32)), 0.9, **settings)


class Watch(ms.Callback):
    """Records losses and, after each step, the first element of an inverse."""

    def __init__(self, optimizer=None, most=0):
        super().__init__()
        self.losses, self.inverses, self.optimizer, self.most = [], [], optimizer, most

    def on_train_step_end(self, run_context):
        out = run_context.original_args().net_outputs
        self.losses.append(float((out[0] if isinstance(out, tuple) else out).asnumpy()))
        if self.optimizer is not None:
            self.inverses += [p.asnumpy()[0, 0, 0] for p in self.optimizer.get_parameters() if p.name == "matrix_a_inv.dense.weight"]
        if len(self.losses) == self.most:
            run_context.request_stop()


def weights(net):
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}


def test_worked_numbers(mode):
    net = nn.Dense(2, 1, weight_init=ms.Tensor(np.float32([[1, -1]])), has_bias=False)
    x, dout = ms.Tensor(np.float32([[1, 0], [0, 2], [1, 1], [0, 0]])), ms.Tensor(np.float32([[0.25], [-0.125], [0.125], [0.25]]))
    optimizer = nn.thor(net, 0.1, 0.04, 0.9, weight_decay=0.01, batch_size=4)
    for want in ([0.92582733, -0.97593470], [0.78497343, -0.93023470]):
        _, grads, uses = value_and_grad_with_uses(lambda: ops.reduce_sum(net(x) * dout), optimizer.parameters)()
        optimizer(grads, uses=uses)
        np.testing.assert_allclose(net.weight.asnumpy()[0], want, rtol=1e-5)
    assert optimizer.curvature() == [("weight", "matmul", 2, 1, 20)]


def test_every_layer_learns_alike_in_all_forms():
    """Graph mode, op by op, with data sinking, as one chunk: the same result; the refreshes fall on steps 0, 5, 10, … across epochs of 8 steps."""
    runs = {}
    for name, mode, sink in (("graph", ms.GRAPH_MODE, False), ("eager", ms.PYNATIVE_MODE, False), ("sunk", ms.GRAPH_MODE, True)):
        ms.set_context(mode=mode)
        net, optimizer = make()
        watch = Watch(optimizer)
        Model(net, loss(), optimizer).train(4, data(), [watch], dataset_sink_mode=sink)
        runs[name] = (watch, weights(net))
        assert {c[0]: c[1] for c in optimizer.curvature()} == {"conv.weight": "conv2d", "dense.weight": "matmul", "head.weight": "matmul"}
        assert int(optimizer.cov_step.asnumpy()[0]) == 4 * STEPS
    ms.set_context(mode=ms.GRAPH_MODE)
    graph, eager = runs["graph"][0], runs["eager"][0]
    assert np.mean(graph.losses[-STEPS:]) < 0.5 * np.mean(graph.losses[:STEPS])
    np.testing.assert_allclose(graph.losses, eager.losses, rtol=2e-3)
    for name, value in runs["graph"][1].items():
        np.testing.assert_array_equal(runs["sunk"][1][name], value, err_msg=name)
    for watch in (graph, eager):
        changed = [i for i in range(1, len(watch.inverses)) if watch.inverses[i] != watch.inverses[i - 1]]
        assert changed == [5, 10, 15, 20, 25, 30]


def test_going_on_at_any_step(mode, tmp_path):
    def run(folder=None, resume=None, most=0):
        net, optimizer = make()
        model, watch = Model(net, loss(), optimizer), Watch(most=most)
        if resume:
            model.load_training_state(str(resume))
        saver = [ms.ModelCheckpoint("net", str(folder), ms.CheckpointConfig(save_checkpoint_steps=1))] if folder else []
        model.train(2, data(), [watch, *saver], dataset_sink_mode=False)
        return watch.losses, weights(model.train_network)

    whole, after = run()
    for stop in (1, 4, 5, 7, 11):
        first, _ = run(tmp_path / str(stop), most=stop)
        rest, resumed = run(resume=tmp_path / str(stop))
        assert first + rest == whole, f"stopped after step {stop}"
        for name, value in after.items():
            np.testing.assert_array_equal(resumed[name], value, err_msg=f"{name}, stopped after step {stop}")


def test_a_checkpoint_serves_the_plain_net_and_another_optimizer(tmp_path):
    net, optimizer = make()
    model = Model(net, loss(), optimizer)
    model.train(1, data(), dataset_sink_mode=False)
    path = str(tmp_path / "all.ckpt")
    ms.save_checkpoint(model.train_network, path)
    saved = ms.load_checkpoint(path)
    assert {"matrix_a_inv.dense.weight", "matrix_g_inv.conv.weight", "thor_ready", "moments.head.bias", "global_step"} <= set(saved)
    plain = Net()
    plain.add_flags_recursive(thor=False)
    left = ms.load_param_into_net(plain, {k: v for k, v in saved.items() if "damping" not in k})
    assert not left.missing_keys if hasattr(left, "missing_keys") else not left[0]
    plain.set_train(False), net.set_train(False)
    x = ms.Tensor(np.random.default_rng(0).normal(size=(3, 1, 8, 8)).astype(np.float32))
    np.testing.assert_array_equal(plain(x).asnumpy(), net(x).asnumpy())
    # A new optimizer loads the state before its first step.
    other_net, other = make(seed=8)
    ms.load_param_into_net(Model(other_net, loss(), other).train_network, saved)
    held = {p.name: p.asnumpy() for p in other.get_parameters()}
    np.testing.assert_array_equal(held["matrix_a_inv.dense.weight"], saved["matrix_a_inv.dense.weight"].asnumpy())
    assert other.variant(8) == 1


def test_steps_left_out_for_overflow(mode):
    """An initial scale that overflows: the first curvature comes from the first step that is not skipped."""
    net, optimizer = make(frequency=100)
    before = weights(net)
    manager = ms.DynamicLossScaleManager(2 ** 32, 8, 1000)  # float16 holds values up to about 2^16
    watch = Watch()
    half = ms.amp.auto_mixed_precision(net, "O2", ms.float16)
    model = Model(half, loss(), optimizer, loss_scale_manager=manager)
    model.train(4, data(), [watch], dataset_sink_mode=False)
    states = {p.name: p.asnumpy() for p in optimizer.get_parameters()}
    assert states["thor_ready"][0] == 1
    assert all(np.isfinite(v).all() for v in states.values())
    assert all(np.isfinite(v).all() for v in weights(net).values())
    assert 2 * STEPS < int(states["global_step"][0]) < 4 * STEPS  # some were skipped
    assert any((weights(net)[name] != value).any() for name, value in before.items())
    assert np.mean(watch.losses[-4:]) < np.mean(watch.losses[:4])


@pytest.mark.parametrize("scale", [128.0, 65536.0])
def test_the_loss_scale_does_not_matter(scale):
    runs = []
    for s in (1.0, scale):
        net, optimizer = make(loss_scale=s)
        settings = {} if s == 1.0 else {"loss_scale_manager": ms.FixedLossScaleManager(s, drop_overflow_update=False)}
        Model(net, loss(), optimizer, **settings).train(1, data(), dataset_sink_mode=False)
        runs.append(weights(net))
    for name, value in runs[0].items():
        np.testing.assert_allclose(runs[1][name], value, rtol=1e-6, atol=1e-7, err_msg=name)


def test_half_precision_learns():
    net, optimizer = make(loss_scale=1024)
    watch = Watch()
    Model(net, loss(), optimizer, amp_level="O2", loss_scale_manager=ms.FixedLossScaleManager(1024, False)).train(4, data(), [watch], dataset_sink_mode=False)
    assert np.mean(watch.losses[-STEPS:]) < 0.6 * np.mean(watch.losses[:STEPS])


def test_embeddings_and_cells_of_ones_own(mode):
    class Own(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(11, 6)
            self.w = ms.Parameter(ms.Tensor(np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32) * 0.3), name="w")

        def construct(self, ids):
            return ops.matmul(ops.reduce_mean(self.table(ids), 1), self.w)

    ms.set_seed(1)
    net = Own()
    optimizer = nn.thor(net, 0.05, 0.1, 0.9, batch_size=16, frequency=3)
    rng = np.random.default_rng(2)
    ids = rng.integers(0, 11, (16, 4)).astype(np.int32)
    labels = (ids[:, 0] % 3).astype(np.int32)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss()), optimizer)
    losses = [float(step(ms.Tensor(ids), ms.Tensor(labels)).asnumpy()) for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]
    assert [c[:4] for c in optimizer.curvature()] == [("w", "matmul", 6, 3), ("table.embedding_table", "embedding", 11, 6)]


def test_conversion_utilities():
    net = nn.SequentialCell([nn.DenseThor(4, 3), nn.ReLU(), nn.Dense(3, 2)])
    names = [p.name for p in net.get_parameters()]
    ConvertNetUtils().convert_to_thor_net(net)
    assert [p.name for p in net.get_parameters()] == names
    optimizer = THOR(net, 0.1, 0.03, 0.9)
    model = Model(net, loss(), optimizer)
    converted = ConvertModelUtils().convert_to_thor_model(model, network=net, loss_fn=loss(), optimizer=optimizer, metrics={"acc"}, frequency=834)
    assert isinstance(converted, ModelThor) and optimizer.get_frequency() == 834 and optimizer.variant(833) == 0  # no step has run yet
    plain = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    assert ConvertModelUtils.convert_to_thor_model(model, net, loss(), plain) is model
    with pytest.raises(ValueError, match="the model's frequency is 5, the optimizer was given 7"):
        ModelThor(net, loss(), nn.thor(net, 0.1, 0.03, 0.9, frequency=7), frequency=5)
    with pytest.raises(ValueError, match="frequency is THOR's"):
        ModelThor(net, loss(), plain, frequency=5)


def test_layers_by_their_own_names():
    cells = [nn.DenseThor(4, 3, activation="relu"), nn.Conv2dThor(2, 3, 3, group=1), nn.EmbeddingThor(7, 3), nn.EmbeddingLookupThor(7, 3)]
    inputs = [np.ones((2, 4), np.float32), np.ones((1, 2, 5, 5), np.float32), np.int32([1, 2]), np.int32([1, 2])]
    shapes = [(2, 3), (1, 3, 5, 5), (2, 3), (2, 3)]
    for cell, value, shape in zip(cells, inputs, shapes):
        assert cell.thor and cell(ms.Tensor(value)).shape == shape


@pytest.mark.parametrize("options, widths", [
    (dict(damping_form="joint"), (9, 64, 12)), (dict(fold_bias=True), (9, 65, 13)), (dict(statistics="batch_mean"), (9, 64, 12)), (dict(stagger=3), (9, 64, 12)),
    (dict(compat="mindspore"), (9, 64, 12)), (dict(damping_form="joint", fold_bias=True, stagger=2, block_size=16), (9, 65, 13))])
def test_options_learn_in_both_modes_and_go_on(options, widths, tmp_path):
    losses = {}
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        net, optimizer = make(**options)
        watch = Watch()
        Model(net, loss(), optimizer).train(4, data(), [watch], dataset_sink_mode=False)
        losses[mode] = watch.losses
        assert tuple(c[2] for c in optimizer.curvature()) == widths
    ms.set_context(mode=ms.GRAPH_MODE)
    np.testing.assert_allclose(losses[ms.GRAPH_MODE], losses[ms.PYNATIVE_MODE], rtol=5e-3)
    assert np.mean(losses[ms.GRAPH_MODE][-STEPS:]) < 0.7 * np.mean(losses[ms.GRAPH_MODE][:STEPS])
    state = {p.name: p for p in optimizer.get_parameters()}
    ms.save_checkpoint([{"name": p.name, "data": p} for p in optimizer.get_parameters()], str(tmp_path / "state.ckpt"))
    _, other = make(**options)
    ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "state.ckpt")))
    for p in other.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), state[p.name].asnumpy(), err_msg=p.name)
    assert {p.name for p in other.get_parameters()} == set(state)


@pytest.mark.parametrize("settings, kind, text", [
    (dict(momentum=-0.1), ValueError, "momentum"), (dict(momentum="0.9"), TypeError, "momentum"), (dict(frequency=0), ValueError, "frequency must be at least 1"),
    (dict(frequency=1.5), TypeError, "frequency must be an int"), (dict(learning_rate=-1.0), ValueError, "learning rate"), (dict(loss_scale=0), ValueError, "loss_scale"),
    (dict(weight_decay=-1), ValueError, "weight_decay"), (dict(batch_size=0), ValueError, "batch_size"), (dict(damping=[]), ValueError, "at least one number"),
    (dict(damping="x"), TypeError, "damping must be"), (dict(damping=-1.0), ValueError, "damping"), (dict(decay_filter=3), TypeError, "decay_filter"),
    (dict(trace_rule=(0.1, 0.2)), ValueError, "trace_rule"), (dict(split_indices=3), TypeError, "split_indices"), (dict(split_indices=[2, 1]), ValueError, "ascending order"),
    (dict(damping_form="x"), ValueError, "damping_form"), (dict(statistics="x"), ValueError, "statistics"), (dict(reduce="x"), ValueError, "reduce"),
    (dict(distribute="x"), ValueError, "distribute"), (dict(compat="x"), ValueError, "compat"), (dict(stagger=1), ValueError, "stagger"),
    (dict(fold_bias=1), TypeError, "fold_bias"), (dict(compat="mindspore", factor_decay=0.5), ValueError, "means of inverses"),
])
def test_wrong_arguments(settings, kind, text):
    given = dict(learning_rate=0.1, damping=0.03, momentum=0.9)
    given.update(settings)
    with pytest.raises(kind, match=text):
        nn.thor(nn.Dense(3, 2), **given)


def test_a_damping_that_is_too_short():
    net, _ = make()
    optimizer = nn.thor(net, 0.01, ms.Tensor(np.float32([0.1, 0.1, 0.1])), 0.9, batch_size=BATCH)
    with pytest.raises(ValueError, match="damping has 3 entries, update 3 needs one more"):
        Model(net, loss(), optimizer).train(1, data(), dataset_sink_mode=False)


def test_a_net_without_parameters_and_one_without_curvature(capfd):
    with pytest.raises(ValueError, match="no parameters to train"):
        nn.thor(nn.ReLU(), 0.1, 0.03, 0.9)
    net = nn.BatchNorm1d(3)
    optimizer = nn.thor(net, 0.1, 0.03, 0.9)
    _, grads, uses = value_and_grad_with_uses(lambda x: ops.reduce_sum(net(x) * x), optimizer.parameters)(ms.Tensor(np.eye(3, dtype=np.float32)))
    optimizer(grads, uses=uses)
    assert "this is Momentum" in capfd.readouterr().err


def test_decay_filter():
    net = nn.Dense(3, 2)
    optimizer = nn.thor(net, 0.1, 0.03, 0.9, weight_decay=0.5, decay_filter=lambda p: "bias" not in p.name)
    assert [p.name for p in optimizer.parameters] == ["weight", "bias"]
    assert list(optimizer.decay_flags) == [True, False]
