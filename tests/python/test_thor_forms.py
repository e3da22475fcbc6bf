"""nn.thor in every form of training step: Model, a converted training cell, a script's Cell, a loop around value_and_grad. The results are bitwise identical.
"""
import copy
import os
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest

import sindri as ms
from sindri import models, nn, ops
from sindri.nn.optim import THOR, Momentum, THOR_Ascend, THOR_GPU, ThorAscend, ThorGpu
from sindri.ops import composite as C
from sindri.ops import functional as F
from sindri.ops import operations as P
from sindri.train import ConvertModelUtils, Model
from sindri.train.train_thor import ModelThor

ROWS, BATCH, EPOCHS, FREQUENCY = 48, 8, 5, 7
STEPS = EPOCHS * ROWS // BATCH  # 30


class Net(nn.Cell):
    """Layers of every kind that THOR preconditions, with batch norm."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.flatten = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, stride=2), nn.BatchNorm2d(4), nn.Flatten()
        self.dense, self.norm, self.head = nn.Dense(4 * 16, 12), nn.LayerNorm((12,)), nn.Dense(12, 2)

    def construct(self, x):
        x = self.flatten(ops.relu(self.bn(self.conv(x))))
        return self.head(ops.relu(self.norm(self.dense(x))))


def loss():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def arrays():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, 1, 8, 8)).astype(np.float32)
    return x, (x.sum(axis=(1, 2, 3)) > 0).astype(np.int32)


def data():
    x, y = arrays()
    return ms.dataset.NumpySlicesDataset({"x": x, "y": y}, shuffle=False).batch(BATCH)


def batches():
    x, y = map(ms.Tensor, arrays())
    for _ in range(EPOCHS):
        for i in range(0, ROWS, BATCH):
            yield x[i:i + BATCH], y[i:i + BATCH]


def make(maker=nn.thor, **more):
    ms.set_seed(7)
    net = Net().set_train()
    settings = dict(weight_decay=1e-4, batch_size=BATCH, frequency=FREQUENCY)
    settings.update(more)
    return net, maker(net, ms.Tensor(0.01), ms.Tensor(np.linspace(0.1, 0.05, 64).astype(np.float32)), 0.9, **settings)


clip_grad = C.MultitypeFuncGraph("clip_grad")


@clip_grad.register("Number", "Number", "Tensor")
def _clip_grad(clip_type, clip_value, grad):
    """The clip of the published BERT: by value (0) or by norm (1)."""
    if clip_type not in (0, 1):
        return grad
    dt = F.dtype(grad)
    if clip_type == 0:
        return C.clip_by_value(grad, F.cast(F.tuple_to_array((-clip_value,)), dt), F.cast(F.tuple_to_array((clip_value,)), dt))
    return nn.ClipByNorm()(grad, F.cast(F.tuple_to_array((clip_value,)), dt))


class BertTrainOneStepCell(nn.TrainOneStepCell):
    """The training cell of the published BERT."""

    def __init__(self, network, optimizer, sens=1.0, clip=(0, 1e6)):
        super().__init__(network, optimizer, sens)
        self.cast, self.hyper_map, self.clip = P.Cast(), C.HyperMap(), clip

    def construct(self, *inputs):
        weights = self.weights
        out = self.network(*inputs)
        grads = self.grad(self.network, weights)(*inputs, self.cast(F.tuple_to_array((self.sens,)), ms.float32))
        grads = self.hyper_map(F.partial(clip_grad, *self.clip), grads)
        grads = self.grad_reducer(grads)
        return F.depend(out, self.optimizer(grads))


class OwnCell(nn.Cell):
    """A training step based only on nn.Cell."""

    def __init__(self, network, optimizer):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network.set_grad(), optimizer
        self.weights, self.grad = optimizer.parameters, ops.GradOperation(get_by_list=True)

    def construct(self, *inputs):
        out = self.network(*inputs)
        self.optimizer(self.grad(self.network, self.weights)(*inputs))
        return out


class Losses(ms.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_step_end(self, run_context):
        out = run_context.original_args().net_outputs
        self.losses.append(float((out[0] if isinstance(out, tuple) else out).asnumpy()))


def end_of(net, optimizer):
    """Returns all values that the training has changed."""
    return {p.name: p.asnumpy().copy() for p in [*net.get_parameters(), *optimizer.get_parameters()]}


def alike(one, other, what=""):
    assert one.keys() == other.keys(), what
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value, err_msg=f"{name} {what}")


def by_model(sink=False, **settings):
    net, optimizer = make()
    Model(net, loss(), optimizer, **settings).train(EPOCHS, data(), dataset_sink_mode=sink)
    return end_of(net, optimizer)


def by_converted_cell(sink=False):
    net, optimizer = make(frequency=None)
    cell = BertTrainOneStepCell(nn.WithLossCell(net, loss()), optimizer)
    model = Model(cell)
    model = ConvertModelUtils().convert_to_thor_model(model, network=cell, optimizer=optimizer, frequency=FREQUENCY)
    assert isinstance(model, ModelThor) and model.train_network is cell
    model.train(EPOCHS, data(), dataset_sink_mode=sink)
    return end_of(net, optimizer)


def by_cell_in_model(sink=False):
    """A Model that does not know the optimizer inside the training cell."""
    net, optimizer = make()
    Model(OwnCell(nn.WithLossCell(net, loss()), optimizer)).train(EPOCHS, data(), dataset_sink_mode=sink)
    return end_of(net, optimizer)


def by_own_cell():
    net, optimizer = make()
    cell = OwnCell(nn.WithLossCell(net, loss()), optimizer).set_train()
    for x, y in batches():
        cell(x, y)
    return end_of(net, optimizer)


def by_loop(take="value_and_grad"):
    net, optimizer = make()
    loss_fn = loss()

    def forward(x, y):
        return loss_fn(net(x), y)

    weights = optimizer.parameters
    step = {"value_and_grad": lambda: ms.value_and_grad(forward, None, weights), "grad": lambda: ms.grad(forward, None, weights),
            "GradOperation": lambda: ops.GradOperation(get_by_list=True)(forward, weights), "jit": lambda: ms.jit(ms.value_and_grad(forward, None, weights)),
            "ForwardValueAndGrad": lambda: nn.ForwardValueAndGrad(nn.WithLossCell(net, loss_fn), weights, get_by_list=True).set_train(),
            "vjp": lambda: lambda x, y: ops.vjp(forward, x, y, weights=weights)[1](ms.Tensor(1.0))[1]}[take]()
    for x, y in batches():
        out = step(x, y)
        optimizer(out[1] if take in ("value_and_grad", "jit", "ForwardValueAndGrad") else out)
    return end_of(net, optimizer)


def by_jit():
    net, optimizer = make()
    loss_fn = loss()
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    @ms.jit
    def train_step(x, y):
        value, grads = step(x, y)
        optimizer(grads)
        return value

    for x, y in batches():
        train_step(x, y)
    return end_of(net, optimizer)


class LookingCell(OwnCell):
    """Reads the loss on the host, before or after its gradient: the parts that it calls are compiled, the cell itself is not."""

    def __init__(self, network, optimizer, early):
        super().__init__(network, optimizer)
        self.early = early

    def construct(self, *inputs):
        out = self.network(*inputs)
        if self.early and not np.isfinite(out.asnumpy()):
            return out
        self.optimizer(self.grad(self.network, self.weights)(*inputs))
        if not self.early and not np.isfinite(out.asnumpy()):
            raise ValueError("the loss diverges")
        return out


def by_looking_cell(early=True):
    net, optimizer = make()
    cell = LookingCell(nn.WithLossCell(net, loss()), optimizer, early).set_train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning that it cannot be compiled
        for x, y in batches():
            cell(x, y)
    return end_of(net, optimizer)


def test_all_forms_of_step_train_alike(mode):
    want = by_model()
    assert int(want["global_step"][0]) == STEPS
    assert want["thor_ready"][0] == 1
    for form in (by_converted_cell, by_cell_in_model, by_own_cell, by_loop, by_jit, by_looking_cell, lambda: by_looking_cell(early=False)):
        alike(want, form(), form.__name__)
    for form in (by_model, by_converted_cell, by_cell_in_model):
        alike(want, form(sink=True), form.__name__ + " sunk")


@pytest.mark.parametrize("take", ["grad", "GradOperation", "jit", "ForwardValueAndGrad", "vjp"])
def test_all_ways_to_take_a_gradient(mode, take):
    alike(by_loop(), by_loop(take), take)


# What is recorded, and when.


def count_tapes(monkeypatch):
    """Counts the runs that record uses."""
    from sindri import _uses
    made = []

    class Counted(_uses.UsesTape):
        def __init__(self):
            super().__init__()
            made.append(weakref.ref(self))

    monkeypatch.setattr(_uses, "UsesTape", Counted)
    return made


def test_only_refreshes_record(mode, monkeypatch):
    made = count_tapes(monkeypatch)
    net, optimizer = make()
    cell = OwnCell(nn.WithLossCell(net, loss()), optimizer).set_train()
    numbers = []
    for i, batch in enumerate(batches()):
        before = len(made)
        cell(*batch)
        numbers += [i] * (len(made) > before)
    assert numbers == ([0] if mode == "graph" else [0, 7, 14, 21, 28])  # a graph records when it is traced


def test_uses_live_until_the_update(mode):
    net, optimizer = make()
    loss_fn = loss()
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    held = optimizer.__dict__["_cell_steps"]
    for i, batch in enumerate(batches()):
        _, grads = step(*batch)
        assert bool(held._taken) == (i % FREQUENCY == 0)
        step(*batch)  # the latest call counts: uses do not accumulate
        assert len(held._taken) in (0, 9)  # one of each Parameter
        optimizer(grads)
        assert not held._taken


def test_an_optimizer_made_after_the_gradient_function(mode):
    def run(early):
        ms.set_seed(7)
        net = Net().set_train()
        loss_fn, before = loss(), {p.name: p.asnumpy().copy() for p in net.get_parameters()}
        step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params())
        if early:
            for _ in range(2):
                step(*next(batches()))
            for p in net.get_parameters():
                p.set_data(ms.Tensor(before[p.name]))
        optimizer = nn.thor(net, 0.01, 0.1, 0.9, batch_size=BATCH, frequency=2)
        for _, batch in zip(range(5), batches()):
            optimizer(step(*batch)[1])
        return end_of(net, optimizer)

    alike(run(False), run(True))


def test_other_optimizers_have_nothing_recorded(mode, monkeypatch):
    made = count_tapes(monkeypatch)
    net = Net().set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    cell = OwnCell(nn.WithLossCell(net, loss()), optimizer).set_train()
    for _, batch in zip(range(3), batches()):
        cell(*batch)
    assert not made and "_cell_steps" not in optimizer.__dict__


def test_two_optimizers_have_their_own_uses(mode):
    """Each of two networks with its own THOR in one step: as in two runs."""
    def parts():
        ms.set_seed(5)
        nets = [nn.Dense(6, 4), nn.Dense(4, 3)]
        return nets, [nn.thor(net, 0.05, 0.1, 0.9, batch_size=BATCH, frequency=3 + i) for i, net in enumerate(nets)]

    rng = np.random.default_rng(0)
    x, y = [ms.Tensor(rng.normal(size=(BATCH, 6)).astype(np.float32)) for _ in range(8)], ms.Tensor(rng.integers(0, 3, BATCH).astype(np.int32))
    loss_fn = loss()

    def run(at_once):
        nets, optimizers = parts()

        def forward(x):
            return loss_fn(nets[1](ops.relu(nets[0](x))), y)

        both = ms.value_and_grad(forward, None, [*optimizers[0].parameters, *optimizers[1].parameters])
        each = [ms.value_and_grad(forward, None, o.parameters) for o in optimizers]
        for batch in x:
            grads = both(batch)[1] if at_once else (*each[0](batch)[1], *each[1](batch)[1])
            optimizers[0](grads[:2])
            optimizers[1](grads[2:])
        return end_of(nn.CellList(nets), optimizers[0]) | {"two " + k: v for k, v in end_of(nets[1], optimizers[1]).items()}

    alike(run(True), run(False))


def test_no_gradient_no_update(mode):
    net, optimizer = make()
    grads = tuple(ops.ones_like(p) for p in optimizer.parameters)
    with pytest.raises(ValueError, match="no gradient of these was taken since its last update"):
        optimizer(grads)


def test_a_network_that_updates_is_not_wrapped_again():
    net, optimizer = make()
    cell = BertTrainOneStepCell(nn.WithLossCell(net, loss()), optimizer)
    for wrap in (lambda: Model(cell, optimizer=optimizer), lambda: nn.TrainOneStepCell(cell, nn.Momentum(net.trainable_params(), 0.1, 0.9)),
                 lambda: ms.amp.build_train_network(cell, optimizer)):
        with pytest.raises(ValueError, match="is a training step already"):
            wrap()
    for name, value in (("loss_fn", loss()), ("amp_level", "O2"), ("loss_scale_manager", ms.FixedLossScaleManager(2.0))):
        with pytest.raises(ValueError, match=f"{name} has no effect with a training cell"):
            ConvertModelUtils().convert_to_thor_model(Model(cell), network=cell, optimizer=optimizer, frequency=FREQUENCY, **{name: value})


def test_a_loop_continues_after_loading(mode, tmp_path):
    """The refreshes fall on the same updates."""
    def run(first, last, resume=False):
        net, optimizer = make()
        if resume:
            kept = ms.load_checkpoint(str(tmp_path / "kept.ckpt"))
            ms.load_param_into_net(net, kept)
            ms.load_param_into_net(optimizer, kept)
        loss_fn = loss()
        step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
        for i, batch in enumerate(batches()):
            if first <= i < last:
                optimizer(step(*batch)[1])
        return net, optimizer

    net, optimizer = run(0, 11)
    ms.save_checkpoint([{"name": p.name, "data": p} for p in {p.name: p for p in [*net.get_parameters(), *optimizer.get_parameters()]}.values()],
                       str(tmp_path / "kept.ckpt"))
    alike(end_of(*run(0, STEPS)), end_of(*run(11, STEPS, resume=True)))


def test_a_copy_continues_alike(mode):
    """Between two refreshes: the copy has the inverses and the number of the next update."""
    def run(copied):
        net, optimizer = make()
        loss_fn = loss()
        step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
        for i, batch in enumerate(batches()):
            if copied and i == 10:
                optimizer = copy.copy(optimizer)
            optimizer(step(*batch)[1])
        return end_of(net, optimizer)

    alike(run(False), run(True))


# Loss scales: curvature uses the unscaled gradients.


def test_a_fixed_scale_in_the_scripts_cell(mode):
    def model():
        net, optimizer = make(loss_scale=1024.0)
        Model(net, loss(), optimizer, loss_scale_manager=ms.FixedLossScaleManager(1024.0, drop_overflow_update=False)).train(EPOCHS, data(), dataset_sink_mode=False)
        return end_of(net, optimizer)

    def cell():
        net, optimizer = make(loss_scale=1024.0)
        step = BertTrainOneStepCell(nn.WithLossCell(net, loss()), optimizer, sens=1024.0).set_train()
        for batch in batches():
            step(*batch)
        return end_of(net, optimizer)

    def by_hand():
        """Only the optimizer knows the scale."""
        net, optimizer = make(loss_scale=1024.0)
        loss_fn = loss()
        step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y) * 1024.0, None, optimizer.parameters)
        for batch in batches():
            optimizer(step(*batch)[1])
        return end_of(net, optimizer)

    want = model()
    alike(want, cell())
    alike(want, by_hand())


grad_scale = C.MultitypeFuncGraph("grad_scale")


@grad_scale.register("Tensor", "Tensor")
def _grad_scale(scale, grad):
    return grad * F.cast(P.Reciprocal()(scale), F.dtype(grad))


class BertTrainOneStepWithLossScaleCell(nn.TrainOneStepWithLossScaleCell):
    """The published BERT's, with a dynamic scale."""

    def __init__(self, network, optimizer, scale_update_cell):
        super().__init__(network, optimizer, scale_update_cell)
        self.cast, self.degree = P.Cast(), 1

    def construct(self, *inputs):
        weights = self.weights
        out = self.network(*inputs)
        scaling_sens = self.scale_sense
        status, scaling_sens = self.start_overflow_check(out, scaling_sens)
        grads = self.grad(self.network, weights)(*inputs, self.cast(scaling_sens, ms.float32))
        grads = self.grad_reducer(grads)
        grads = self.hyper_map(F.partial(grad_scale, scaling_sens * self.degree), grads)
        cond = self.get_overflow_status(status, grads)
        overflow = self.process_loss_scale(cond)
        if not overflow:
            self.optimizer(grads)
        return out, cond, scaling_sens


@pytest.mark.parametrize("scale", [2.0 ** 10, 2.0 ** 20])
def test_dynamic_scales_by_cells_and_by_hand(mode, scale):
    def model():
        net, optimizer = make()
        Model(net, loss(), optimizer, loss_scale_manager=ms.DynamicLossScaleManager(scale, 2, 9)).train(EPOCHS, data(), dataset_sink_mode=False)
        return end_of(net, optimizer)

    def cell(kind):
        net, optimizer = make()
        step = kind(nn.WithLossCell(net, loss()), optimizer, nn.DynamicLossScaleUpdateCell(scale, 2, 9)).set_train()
        for batch in batches():
            step(*batch)
        return end_of(net, optimizer)

    def by_hand(scaler):
        net, optimizer = make()
        loss_fn = loss()
        step = ms.value_and_grad(lambda x, y: scaler.scale(loss_fn(net(x), y)), None, optimizer.parameters)
        for batch in batches():
            grads = scaler.unscale(step(*batch)[1])
            finite = ms.amp.all_finite(grads)
            if finite:
                optimizer(grads)
            scaler.adjust(finite)
        return end_of(net, optimizer)

    want = model()
    alike(want, cell(nn.TrainOneStepWithLossScaleCell))
    alike(want, cell(BertTrainOneStepWithLossScaleCell))
    alike(want, by_hand(ms.amp.DynamicLossScaler(scale, 2, 9)))
    alike(want, by_hand(ms.amp.StaticLossScaler(scale)))


def test_a_skipped_step_leaves_no_trace(mode):
    """A step that overflows is skipped: the values that its gradients recorded, including infinities, do not enter the next update."""
    def run(broken):
        net, optimizer = make(frequency=1)
        loss_fn, scaler = loss(), ms.amp.StaticLossScaler(64.0)
        frozen = {p.name: p for p in net.get_parameters() if "moving" in p.name}
        step = ms.value_and_grad(lambda x, y: scaler.scale(loss_fn(net(x), y)), None, optimizer.parameters)
        for i, (x, y) in enumerate(batches()):
            if broken and i == 4:
                kept = {name: p.asnumpy().copy() for name, p in frozen.items()}
                bad = scaler.unscale(step(x * float("inf"), y)[1])
                assert not ms.amp.all_finite(bad)
                for name, p in frozen.items():
                    p.set_data(ms.Tensor(kept[name]))
            optimizer(scaler.unscale(step(x, y)[1]))
        return end_of(net, optimizer)

    alike(run(False), run(True))


def test_several_scalers_are_refused():
    net, optimizer = make()
    loss_fn, scalers = loss(), (ms.amp.StaticLossScaler(2.0), ms.amp.StaticLossScaler(4.0))
    step = ms.value_and_grad(lambda x, y: scalers[0].scale(loss_fn(net(x), y)) + scalers[1].scale(loss_fn(net(x), y)), None, optimizer.parameters)
    with pytest.raises(ValueError, match="several loss scales"):
        step(*next(batches()))


def test_mindspore_1s_era():
    """In MindSpore 1 data sinks in chunks, and a fixed learning rate does not count updates; THOR's damping and refreshes do."""
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "all_forms or loop_continues"],
                         env={**os.environ, "SINDRI_MINDSPORE_ERA": "1"}, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0 and "4 passed" in run.stdout, run.stdout[-3000:]


# Names, and the lines of MindSpore's recipes.


def test_names():
    assert THOR_GPU is ThorGpu is THOR and THOR_Ascend is ThorAscend and issubclass(ThorAscend, THOR)
    net = nn.Dense(3, 2)
    # The class for Ascend has no use_nesterov: decay_filter is the eighth argument.
    optimizer = THOR_Ascend(net, 0.1, 0.03, 0.9, 0.5, 1.0, 32, lambda p: "bias" not in p.name, [0])
    assert list(optimizer.decay_flags) == [True, False] and optimizer.split_indices == [0]
    assert nn.ThorAscend is ThorAscend and nn.THOR_GPU is THOR


def test_the_lines_for_bert(mode, tmp_path):
    """A training cell with clipping by norm, learning rate and damping by step, and decay_filter: equal to the same step by hand."""
    decays = lambda x: 'layernorm' not in x.name.lower() and 'bias' not in x.name.lower()  # noqa: E731
    damping = ms.Tensor(np.linspace(0.1, 0.05, STEPS).astype(np.float32))
    settings = dict(decay_filter=decays, split_indices=None)

    def optimizer_of(network):
        return THOR(network, ms.Tensor(np.linspace(0.02, 0.001, STEPS).astype(np.float32)), damping, 0.9, 1e-3, 1.0, BATCH, **settings)

    ms.set_seed(7)
    net = Net()
    net_with_loss = nn.WithLossCell(net, loss())
    optimizer = optimizer_of(net_with_loss)
    net_with_grads = BertTrainOneStepCell(net_with_loss, optimizer=optimizer, clip=(1, 1.0))
    model = Model(net_with_grads)
    model = ConvertModelUtils().convert_to_thor_model(model, network=net_with_grads, optimizer=optimizer, frequency=FREQUENCY)
    watch = Losses()
    model.train(EPOCHS, data(), callbacks=[watch], dataset_sink_mode=False, sink_size=-1)
    want = end_of(net, optimizer)
    assert len(watch.losses) == STEPS == int(want["global_step"][0]) and watch.losses[-1] < 0.5 * watch.losses[0]

    ms.set_seed(7)
    net = Net().set_train()
    optimizer, loss_fn, clip = optimizer_of(net), loss(), nn.ClipByNorm()
    optimizer.take_frequency(FREQUENCY)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    for x, y in batches():
        optimizer(tuple(clip(g, ms.Tensor([1.0])) for g in step(x, y)[1]))
    alike(want, end_of(net, optimizer))


def resnet(class_num):
    return models.create("resnet50", class_num, variant="mindspore")


class Config:
    """The keys that the lines read, with numbers for a few steps."""

    class_num, batch_size, epoch_size, pretrain_epoch_size, frequency = 10, 4, 2, 0, 3
    momentum, weight_decay, loss_scale = 0.9, 5e-4, 128


@pytest.mark.parametrize("dataset_sink_mode", [True, False])
def test_the_lines_for_resnet50(dataset_sink_mode):
    config = Config()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    dataset = ms.dataset.NumpySlicesDataset({"image": rng.normal(size=(16, 3, 32, 32)).astype(np.float32), "label": rng.integers(0, 10, 16).astype(np.int32)},
                                            shuffle=False).batch(config.batch_size)
    step_size = dataset.get_dataset_size()
    net = resnet(class_num=config.class_num)
    lr = ms.Tensor(np.full(config.epoch_size * step_size, 1e-3, np.float32))
    damping = np.full(config.epoch_size * step_size, 0.03, np.float32)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
    loss_scale = ms.FixedLossScaleManager(config.loss_scale, drop_overflow_update=False)
    opt = Momentum(net.trainable_params(), lr, config.momentum)
    model = Model(net, loss_fn=loss, optimizer=opt, loss_scale_manager=loss_scale, metrics={'acc'}, amp_level="O2", keep_batchnorm_fp32=False)
    split_indices = [26, 53]
    opt = THOR(net, lr, ms.Tensor(damping), config.momentum, config.weight_decay, config.loss_scale, config.batch_size, split_indices=split_indices)
    model = ConvertModelUtils().convert_to_thor_model(model=model, network=net, loss_fn=loss, optimizer=opt, loss_scale_manager=loss_scale, metrics={'acc'},
                                                      amp_level="O2", keep_batchnorm_fp32=False, frequency=config.frequency)
    cb = Losses()
    model.train(config.epoch_size - config.pretrain_epoch_size, dataset, callbacks=cb, sink_size=dataset.get_dataset_size(), dataset_sink_mode=dataset_sink_mode)
    assert len(cb.losses) == config.epoch_size * step_size == int(opt.cov_step.asnumpy()[0])
    assert np.isfinite(cb.losses).all() and len(opt.curvature()) == 54  # 53 convolutions, one dense layer


def test_double_parameters(mode):
    """Layers in float64 train as in float32; the factors stay float32 (like the state in a checkpoint)."""
    def train(dtype):
        rng = np.random.default_rng(5)
        net = nn.SequentialCell([nn.Dense(6, 5, dtype=dtype), nn.ReLU(), nn.Dense(5, 3, dtype=dtype)])
        for p in net.trainable_params():
            p.set_data(ms.Tensor(rng.normal(size=p.shape) * 0.3, dtype))
        optimizer = nn.thor(net, ms.Tensor(np.full(12, 0.05, np.float32)), ms.Tensor(np.full(12, 0.03, np.float32)), 0.9, batch_size=16, frequency=3)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss()), optimizer)
        x, y = rng.normal(size=(16, 6)), rng.integers(0, 3, 16)
        losses = [float(step(ms.Tensor(x, dtype), ms.Tensor(y, ms.int32))) for _ in range(12)]
        kept = {p.dtype for p in optimizer.get_parameters() if p.name.startswith("matrix_")}
        return losses, kept

    (double, kept), (single, _) = train(ms.float64), train(ms.float32)
    assert kept == {ms.float32} and double[-1] < double[0]
    np.testing.assert_allclose(double, single, rtol=2e-4)


def test_split_indices_may_count_parameters(mode):
    """As in published BERT settings, whose last number is that of the last parameter."""
    def train(split):
        ms.set_seed(1)
        net = Net()
        optimizer = nn.thor(net, 0.05, 0.1, 0.9, batch_size=BATCH, frequency=2, split_indices=split)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss()), optimizer)
        rows = next(batches())
        return [float(step(*rows)) for _ in range(4)]

    count = len(Net().trainable_params())
    assert train([3, count - 1]) == train(None) == train([0, 2])
    with pytest.raises(ValueError, match=f"names layer {count}, there are 3 layers with factors and {count} parameters"):
        train([3, count])


def test_overrides_that_will_not_be_called_are_told():
    """MindSpore's Model and THOR internally call methods that scripts for old versions override."""
    with pytest.warns(RuntimeWarning, match="ModelThorOfScript: _train_dataset_sink_process will not be called"):
        class ModelThorOfScript(Model):
            def _train_dataset_sink_process(self, *arguments):
                raise AssertionError
    with pytest.warns(RuntimeWarning, match="Own: _get_second_gradients will not be called"):
        class Own(THOR_Ascend):
            def _get_second_gradients(self, *arguments):
                raise AssertionError
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Plain(Model):
            def _helper(self):
                return ModelThorOfScript, Own
    assert Plain


def test_an_optimizer_of_the_scripts_own_is_told(capfd):
    """convert_to_thor_model returns such a model unchanged."""
    class THOR_Ascend(Momentum):  # noqa: N801  the name in the published article
        pass
    net = Net()
    model = Model(net, loss(), THOR_Ascend(net.trainable_params(), 0.1, 0.9))
    assert ConvertModelUtils.convert_to_thor_model(model, net, loss(), model._optimizer, frequency=5) is model
    said = capfd.readouterr().err
    assert "THOR_Ascend is a class of the script's" in said and "frequency has no effect" in said
