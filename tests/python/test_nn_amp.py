"""Mixed precision by level and by list, the training cell of a network, loss scalers."""
import inspect

import numpy as np
import pytest

import sindri as ms
from sindri import amp, nn, ops


class Net(nn.Cell):
    """Records the type of each part's input."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, weight_init="he_normal")
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.norm = nn.LayerNorm((64,))
        self.fc = nn.Dense(64, 3, weight_init="he_normal", has_bias=True)
        self.__dict__["_cell_seen"] = {}  # not part of the Cell's state

    def construct(self, x):
        seen = self.__dict__["_cell_seen"]
        for part in (self.conv, self.bn, self.relu, self.flatten, self.norm, self.fc):
            x = part(x)
            seen[part.get_scope()] = x.dtype
        return x


def half(t):
    return t.astype(np.float16).astype(np.float64)


def make(seed=4):
    ms.set_seed(seed)
    return Net()


X = np.random.default_rng(0).standard_normal((4, 2, 4, 4)).astype(np.float32)
LABEL = np.array([0, 2, 1, 0], np.int32)
F16, F32 = ms.float16, ms.float32


@pytest.mark.parametrize("level, types", [
    ("O0", dict(conv=F32, bn=F32, relu=F32, norm=F32, fc=F32)), ("O1", dict(conv=F32, bn=F32, relu=F32, norm=F32, fc=F32)),
    ("O2", dict(conv=F16, bn=F16, relu=F16, norm=F16, fc=F16)), ("O3", dict(conv=F16, bn=F16, relu=F16, norm=F16, fc=F16))])
def test_types_by_level(level, types, mode):
    net = amp.auto_mixed_precision(make(), level).set_train()
    out = net(ms.Tensor(X))
    assert out.dtype == F32
    seen = net.__dict__["_cell_seen"]
    assert {k: seen[k] for k in types} == types
    assert all(p.dtype == F32 for p in net.get_parameters())
    plain = make().set_train()(ms.Tensor(X)).asnumpy()
    error = np.abs(out.asnumpy() - plain).max()
    assert error == 0 if level == "O0" else 0 < error < 0.03


def test_o1_runs_dense_in_half_only(mode):
    net = nn.SequentialCell(nn.Dense(3, 2, weight_init=ms.Tensor(np.array([[0.1, 0.2, 0.3], [1 / 3, 2 / 3, 1]], np.float32)), bias_init=0), nn.Softmax())
    amp.auto_mixed_precision(net, "O1")
    x = np.array([[1.1, 2.3, -0.7]], np.float32)
    logits = (half(x) @ half(net[0].weight.asnumpy()).T).astype(np.float16).astype(np.float32)
    want = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(net(ms.Tensor(x)).asnumpy(), want, 1e-6)  # the softmax has float32's precision


def test_batch_norm_of_o2_is_float32_between_half_activations(mode):
    x = np.random.default_rng(1).standard_normal((8, 3, 2, 2)).astype(np.float32) * 3
    net, plain = nn.SequentialCell(nn.BatchNorm2d(3)), nn.BatchNorm2d(3)
    for cell in (net[0], plain):
        cell.gamma.set_data(ms.Tensor(np.array([0.3, 1.7, -2.1], np.float32)))
    amp.auto_mixed_precision(net, "O2").set_train()
    got = net(ms.Tensor(x)).asnumpy()
    want = plain.set_train()(ms.Tensor(half(x).astype(np.float32))).asnumpy()
    np.testing.assert_array_equal(got, want.astype(np.float16).astype(np.float32))
    np.testing.assert_array_equal(net[0].moving_mean.asnumpy(), plain.moving_mean.asnumpy())
    np.testing.assert_array_equal(net[0].moving_variance.asnumpy(), plain.moving_variance.asnumpy())


def test_layer_norm_of_o2_is_float32(mode):
    x = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
    net = amp.auto_mixed_precision(nn.SequentialCell(nn.LayerNorm((5,))), "O2")
    want = nn.LayerNorm((5,))(ms.Tensor(half(x).astype(np.float32))).asnumpy()
    np.testing.assert_array_equal(net(ms.Tensor(x)).asnumpy(), want.astype(np.float16).astype(np.float32))


def test_names_attributes_and_classes_stay():
    before, net = make(), amp.auto_mixed_precision(make(), "O2")
    assert [p.name for p in net.get_parameters()] == [p.name for p in before.get_parameters()]
    assert [n for n, _ in net.cells_and_names()] == [n for n, _ in before.cells_and_names()]
    assert isinstance(net.bn, nn.BatchNorm2d) and net.conv.weight.name == "conv.weight"


def test_a_later_level_replaces_the_earlier_one(mode):
    x = ms.Tensor(X)
    twice = amp.auto_mixed_precision(amp.auto_mixed_precision(make(), "O3"), "O1")
    np.testing.assert_array_equal(twice(x).asnumpy(), amp.auto_mixed_precision(make(), "O1")(x).asnumpy())


def types(net):
    """Returns the types in which the Cells of Net ran in one training pass, and the type of the output."""
    out = net.set_train()(ms.Tensor(X))
    return dict(net.__dict__["_cell_seen"], out=out.dtype)


LEVELS = {"O1": lambda net: amp.auto_mixed_precision(net, "O1"), "O2": lambda net: amp.auto_mixed_precision(net, "O2"),
          "O3": lambda net: amp.auto_mixed_precision(net, "O3"), "auto": lambda net: amp.auto_mixed_precision(net, "auto"),
          "ops": lambda net: amp.auto_mixed_precision(net, "ops_O3"),
          "white": lambda net: amp.custom_mixed_precision(net, white_list=[nn.Conv2d]),
          "black": lambda net: amp.custom_mixed_precision(net, black_list=[nn.Dense]),
          "build": lambda net: amp.build_train_network(net, opt(net), sparse_loss(), "O2", loss_scale_manager=None)}


@pytest.mark.parametrize("level", sorted(LEVELS))
def test_o0_takes_a_level_back(level, mode):
    net, plain = make(), make()
    LEVELS[level](net)
    net.set_train(False)
    assert (net(ms.Tensor(X)).asnumpy() != plain(ms.Tensor(X)).asnumpy()).any()
    assert amp.auto_mixed_precision(net, "O0") is net
    np.testing.assert_array_equal(net(ms.Tensor(X)).asnumpy(), plain(ms.Tensor(X)).asnumpy())
    assert set(types(net).values()) == {F32} and all(p.dtype == F32 for p in net.get_parameters())


def test_a_level_replaces_any_level_set_before(mode):
    for first in LEVELS:
        for second in LEVELS:
            net, fresh = make(), make()
            LEVELS[second](LEVELS[first](net) and net)
            LEVELS[second](fresh)
            assert types(net) == types(fresh), (first, second)
            np.testing.assert_array_equal(net(ms.Tensor(X)).asnumpy(), fresh(ms.Tensor(X)).asnumpy())


def test_a_level_replaces_those_of_its_parts(mode):
    net = make()
    amp.auto_mixed_precision(net, "O2")
    for part in (net.conv, net.norm, net.fc):
        amp.auto_mixed_precision(part, "O3", ms.bfloat16)
    amp.auto_mixed_precision(net, "O0")
    np.testing.assert_array_equal(net(ms.Tensor(X)).asnumpy(), make()(ms.Tensor(X)).asnumpy())
    whole = nn.SequentialCell(net)
    amp.auto_mixed_precision(whole, "O3")
    amp.auto_mixed_precision(net, "O0")  # this Cell alone, as for an evaluation of a network trained inside another Cell
    np.testing.assert_array_equal(net(ms.Tensor(X)).asnumpy(), make()(ms.Tensor(X)).asnumpy())


@pytest.mark.parametrize("level", ["O1", "O2", "O3", "auto", "build"])
@pytest.mark.parametrize("own", [ms.float32, ms.bfloat16])
def test_to_float_goes_before_every_level(level, own, mode):
    for before in (True, False):
        net = make()
        for part in (net.conv, net.bn, net.norm) if before else ():
            part.to_float(own)
        LEVELS[level](net)
        if not before:
            net.conv.to_float(own)
            LEVELS[level](net)  # set twice: the level's own marks are replaced, the user's stay
        got, level_alone = types(net), make()
        LEVELS[level](level_alone)
        assert got["conv"] == own and got["out"] == F32
        if before:
            assert (got["bn"], got["norm"]) == (own, own) and not net.bn._mixed
        assert got["fc"] == types(level_alone)["fc"]
        amp.auto_mixed_precision(net, "O0")
        assert net.conv(ms.Tensor(X)).dtype == own and net.fc._to_float is None


def test_to_float_of_a_cell_holds_for_all_inside_it(mode):
    inner = nn.SequentialCell(nn.Dense(4, 4)).to_float(F32)
    inner.append(nn.Dense(4, 4))  # after to_float
    net = nn.SequentialCell(nn.Dense(4, 4), inner)
    x = ms.Tensor(np.random.default_rng(2).standard_normal((2, 4)).astype(np.float32))
    for level in ("O1", "O2", "O3"):
        amp.auto_mixed_precision(net, level)
        assert net[0]._to_float == F16 and [c._to_float for c in (inner, inner[0], inner[1])] == [F32, F32, None]
        assert net[1](net[0](x)).dtype == F32
    whole = make().to_float(ms.bfloat16)
    amp.auto_mixed_precision(whole, "auto")
    assert types(whole)["relu"] == ms.bfloat16 and types(whole)["out"] == F32


def test_auto_runs_products_in_half_and_norms_in_float32(mode):
    net = amp.auto_mixed_precision(make(), "auto").set_train()
    out = net(ms.Tensor(X))
    seen = net.__dict__["_cell_seen"]
    assert (seen["conv"], seen["norm"], seen["fc"], out.dtype) == (F16, F32, F32, F32)  # the bias is float32


@pytest.mark.parametrize("short, full", [("O0", "O0"), ("O1", "cells_O1"), ("O2", "cells_O2"), ("O3", "cells_O3"), ("auto", "ops_O1")])
def test_a_full_name_means_what_its_short_one_does(short, full, mode):
    by_short, by_full = amp.auto_mixed_precision(make(), short), amp.auto_mixed_precision(make(), full)
    assert types(by_short) == types(by_full)
    np.testing.assert_array_equal(by_short(ms.Tensor(X)).asnumpy(), by_full(ms.Tensor(X)).asnumpy())


def test_levels_of_settings_files_cast_op_by_op(mode):
    net = amp.auto_mixed_precision(make(), "ops_O2")
    want = dict(conv=F16, bn=F16, relu=F16, flatten=F16, norm=F32, fc=F16, out=F32)
    assert types(net) == want and net.conv._to_float is None and not net.bn._mixed
    for dtype, cell_type in ((None, nn.TrainOneStepCell), (F16, nn.TrainOneStepWithLossScaleCell), (F32, nn.TrainOneStepWithLossScaleCell)):
        built = make()
        named = {} if dtype is None else {"cast_model_type": dtype}
        cell = amp.build_train_network(built, opt(built), sparse_loss(), "ops_O2", **named)
        assert type(cell) is cell_type and types(built)["conv"] == (dtype or ms.bfloat16) and types(built)["norm"] == F32
        cell(ms.Tensor(X), ms.Tensor(LABEL))
    keeps = make()
    amp.build_train_network(keeps, opt(keeps), sparse_loss(), "ops_O3", keep_batchnorm_fp32=True)
    alike = make()
    amp.build_train_network(alike, opt(alike), sparse_loss(), "ops_O2", loss_scale_manager=None)
    np.testing.assert_array_equal(keeps(ms.Tensor(X)).asnumpy(), alike(ms.Tensor(X)).asnumpy())


def test_bfloat16():
    net = amp.auto_mixed_precision(make(), "O3", ms.bfloat16)
    assert net(ms.Tensor(X)).dtype == F32 and net.__dict__["_cell_seen"]["conv"] == ms.bfloat16


def test_lists_of_ones_own(mode):
    white = amp.custom_mixed_precision(make(), white_list=[nn.Conv2d])
    white(ms.Tensor(X))
    dense_only = amp.custom_mixed_precision(make(), white_list=[nn.Dense])
    np.testing.assert_array_equal(dense_only.conv(ms.Tensor(X)).asnumpy(), make().conv(ms.Tensor(X)).asnumpy())
    assert (white.conv(ms.Tensor(X)).asnumpy() != make().conv(ms.Tensor(X)).asnumpy()).any()
    black = amp.custom_mixed_precision(make(), black_list=[nn.Dense])
    out = black(ms.Tensor(X))
    assert out.dtype == F32 and black.__dict__["_cell_seen"]["bn"] == F16
    assert amp.get_white_list() is not amp.get_white_list() and nn.Dense in amp.get_white_list() and nn.LayerNorm in amp.get_black_list()


WRONG = [
    (TypeError, "Cell", lambda: amp.auto_mixed_precision(1, "O1")),
    (ValueError, "O5", lambda: amp.auto_mixed_precision(make(), "O5")),
    (ValueError, "dtype", lambda: amp.auto_mixed_precision(make(), "O1", ms.float32)),
    (ValueError, "neither", lambda: amp.custom_mixed_precision(make())),
    (ValueError, "both", lambda: amp.custom_mixed_precision(make(), white_list=[], black_list=[])),
    (TypeError, "list", lambda: amp.custom_mixed_precision(make(), white_list=(nn.Dense,))),
    (TypeError, "classes", lambda: amp.custom_mixed_precision(make(), black_list=["Dense"])),
    (ValueError, "level", lambda: amp.build_train_network(make(), opt(make()), level="O4")),
    (TypeError, "level", lambda: amp.build_train_network(make(), opt(make()), level=2)),
    (ValueError, "boost_level", lambda: amp.build_train_network(make(), opt(make()), boost_level="O3")),
    (ValueError, "boost_level", lambda: amp.build_train_network(make(), opt(make()), boost_level="O9")),
    (ValueError, "keep_bn", lambda: amp.build_train_network(make(), opt(make()), keep_bn=True)),
    (TypeError, "keep_batchnorm_fp32", lambda: amp.build_train_network(make(), opt(make()), level="O2", keep_batchnorm_fp32=1)),
    (TypeError, "optimizer", lambda: amp.build_train_network(make(), None)),
    (TypeError, "loss_scale_manager", lambda: amp.build_train_network(make(), opt(make()), loss_scale_manager=1024)),
    (TypeError, "float16, bfloat16 or float32", lambda: amp.build_train_network(make(), opt(make()), cast_model_type=ms.float64)),
    (TypeError, "float16, bfloat16 or float32", lambda: amp.build_train_network(make(), opt(make()), cast_model_type=None)),
    (ValueError, "scale_value", lambda: amp.StaticLossScaler(0.5)),
    (TypeError, "scale_value", lambda: amp.StaticLossScaler("1")),
    (ValueError, "scale_window", lambda: amp.DynamicLossScaler(1024, 2, 0)),
]


def opt(net, **kwargs):
    return nn.Momentum(net.trainable_params(), 0.1, 0.9, **kwargs)


def sparse_loss():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_wrong_arguments(at):
    kind, text, make_it = WRONG[at]
    with pytest.raises(kind, match=text):
        make_it()


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_training_at_every_level(level, mode):
    net = make()
    cell = amp.build_train_network(net, opt(net), sparse_loss(), level, loss_scale_manager=None)
    assert type(cell) is nn.TrainOneStepCell and cell.training
    losses = [float(cell(ms.Tensor(X), ms.Tensor(LABEL))) for _ in range(15)]
    assert losses[-1] < 0.2 * losses[0]
    assert all(p.dtype == F32 for p in net.get_parameters())


@pytest.mark.parametrize("target, half", [("CPU", ms.bfloat16), ("GPU", F16), ("Ascend", F16)])
@pytest.mark.parametrize("level", ["O1", "O2", "O3", "auto"])
def test_the_half_type_of_a_level_follows_the_target(level, target, half):
    ms.set_context(device_target=target)
    built, modelled = make(), make()
    step = amp.build_train_network(built, opt(built), sparse_loss(), level)
    model = ms.Model(modelled, sparse_loss(), opt(modelled), amp_level=level)
    dynamic = target != "CPU" and level == "O2" or target == "GPU" and level == "auto"
    for net, cell in ((built, step), (modelled, model.train_network)):
        assert type(cell) is (nn.TrainOneStepWithLossScaleCell if dynamic else nn.TrainOneStepCell)
        seen = types(net)
        assert seen["out"] == F32
        if level == "auto" and target == "CPU":
            assert net._amp.dtype == half and (seen["conv"], seen["norm"]) == (half, F32)
        else:
            assert net.conv._to_float == half and seen["conv"] == (F32 if level == "O1" else half)
        losses = [cell(ms.Tensor(X), ms.Tensor(LABEL)) for _ in range(20)]
        first, last = [float(x[0] if dynamic else x) for x in (losses[0], losses[-1])]
        assert last < 0.5 * first


@pytest.mark.parametrize("level, want", [("O1", F32), ("O2", F16), ("O3", F16), ("auto", F32)])
def test_softmax_and_a_loss_inside_the_network(level, want, mode):
    class WithLoss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc, self.softmax = nn.Dense(3, 4), nn.Softmax()
            self.loss = sparse_loss()
            self.__dict__["_cell_seen"] = []

        def construct(self, x, label):
            h = self.fc(x)
            loss = self.loss(h, label)
            self.__dict__["_cell_seen"][:] = [self.softmax(h).dtype, ms.ops.log_softmax(h).dtype, loss.dtype]
            return loss

    net = amp.auto_mixed_precision(WithLoss(), level)
    assert net(ms.Tensor(X[:, 0, 0, :3]), ms.Tensor(LABEL)).dtype == F32  # docs/guide/mixed_precision.md, section In Python
    assert net.__dict__["_cell_seen"] == [want] * 3
    net.softmax.to_float(F32)
    net.loss.to_float(F32)
    net(ms.Tensor(X[:, 0, 0, :3]), ms.Tensor(LABEL))
    assert [net.__dict__["_cell_seen"][i] for i in (0, 2)] == [F32] * 2


@pytest.mark.parametrize("dtype", [F16, ms.bfloat16, F32])
def test_cast_model_type_names_the_type(dtype):
    for level in ("O0", "O1", "O2", "O3"):
        net = make()
        cell = amp.build_train_network(net, opt(net), sparse_loss(), level, cast_model_type=dtype)
        # float32 at O2 keeps its scale, as in MindSpore; bfloat16 needs none.
        assert type(cell) is (nn.TrainOneStepCell if level != "O2" or dtype == ms.bfloat16 else nn.TrainOneStepWithLossScaleCell)
        assert types(net)["relu"] == dtype
        cell(ms.Tensor(X), ms.Tensor(LABEL))
    model = ms.Model(net, sparse_loss(), opt(net), amp_level="O2", loss_scale_manager=amp.DynamicLossScaleManager(1024, 2, 10))
    assert isinstance(model.train_network, nn.TrainOneStepWithLossScaleCell) and types(net)["relu"] == ms.bfloat16


def test_signatures_keep_mindspores_default_type():
    assert inspect.signature(amp.auto_mixed_precision).parameters["dtype"].default == F16
    assert inspect.signature(amp.custom_mixed_precision).parameters["dtype"].default == F16


def test_o2_scales_its_loss_dynamically(mode):
    net = make()
    cell = amp.build_train_network(net, opt(net), sparse_loss(), "O2", cast_model_type=F16)
    assert isinstance(cell, nn.TrainOneStepWithLossScaleCell) and cell.training
    results = [cell(ms.Tensor(X), ms.Tensor(LABEL)) for _ in range(20)]
    assert float(results[0][2]) == 2.0 ** 24 and bool(results[0][1].asnumpy())  # the initial scale overflows half, so it decreases
    assert float(results[-1][2]) < 2.0 ** 20 and not bool(results[-1][1].asnumpy())
    assert float(results[-1][0]) < 0.5 * float(results[0][0])


def test_managers_decide_the_cell():
    net = make()
    from sindri.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager
    dynamic = amp.build_train_network(net, opt(net), sparse_loss(), loss_scale_manager=DynamicLossScaleManager(1024, 2, 10))
    assert isinstance(dynamic, nn.TrainOneStepWithLossScaleCell) and float(dynamic.scale_sense) == 1024
    dropping = amp.build_train_network(net, opt(net), sparse_loss(), loss_scale_manager=FixedLossScaleManager(1024))
    assert isinstance(dropping, nn.TrainOneStepWithLossScaleCell)
    keeping = amp.build_train_network(net, opt(net, loss_scale=1024.0), sparse_loss(), loss_scale_manager=FixedLossScaleManager(1024, False))
    assert type(keeping) is nn.TrainOneStepCell and keeping.sens == 1024
    assert amp.FixedLossScaleManager is FixedLossScaleManager


SCALES = [  # manager, the optimizer's loss_scale, the error
    (lambda: amp.FixedLossScaleManager(64, False), 32.0, "FixedLossScaleManager's is 64, Momentum's 32.0"),
    (lambda: amp.FixedLossScaleManager(64), 64.0, "divided twice.* Momentum's loss_scale 64.0"),
    (lambda: amp.DynamicLossScaleManager(64), 64.0, "divided twice"),
    (lambda: amp.FixedLossScaleManager(64, False), 64.0, None), (lambda: amp.FixedLossScaleManager(64), 1.0, None),
    (lambda: amp.DynamicLossScaleManager(64), 1.0, None), (lambda: amp.FixedLossScaleManager(1, False), 1.0, None)]


@pytest.mark.parametrize("at", range(len(SCALES)))
def test_loss_scales_of_manager_and_optimizer_agree(at):
    manager, own, wrong = SCALES[at]

    def step(**kwargs):
        net = make()
        cell = amp.build_train_network(net, nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=kwargs.pop("own", 1.0)), sparse_loss(), **kwargs)
        cell(ms.Tensor(X), ms.Tensor(LABEL))
        return [p.asnumpy() for p in net.get_parameters()]

    if wrong is not None:
        with pytest.raises(ValueError, match=wrong):
            step(own=own, loss_scale_manager=manager())
        with pytest.raises(ValueError, match=wrong):
            net = make()
            ms.Model(net, sparse_loss(), opt(net, loss_scale=own), loss_scale_manager=manager())
        return
    for got, plain in zip(step(own=own, loss_scale_manager=manager()), step()):
        np.testing.assert_allclose(got, plain, 1e-5, 1e-7)


def test_an_optimizer_that_divides_by_nothing_beside_a_scale_is_warned_of(capfd):
    net = make()  # as in an example for MindSpore's Model.train
    ms.Model(net, sparse_loss(), opt(net), loss_scale_manager=amp.FixedLossScaleManager(1024, False))
    assert "gradients are 1024 times too large" in capfd.readouterr().err


def test_the_default_manager_of_o2_and_an_optimizers_scale():
    ms.set_context(device_target="GPU")
    net = make()
    with pytest.raises(ValueError, match=r"divided twice.*FixedLossScaleManager\(1024.0, drop_overflow_update=False\)"):
        ms.Model(net, sparse_loss(), opt(net, loss_scale=1024.0), amp_level="O2")


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_keep_batchnorm_fp32_of_levels_that_cast_no_batch_norm(level):
    # As in MindSpore, whose own default at these levels is False.
    for keep in (True, False, None):
        net = make()
        ms.Model(net, sparse_loss(), opt(net), amp_level=level, keep_batchnorm_fp32=keep)
        assert net.bn._to_float is None and types(net)["bn"] == F32


def test_a_scale_does_not_change_the_step():
    results = []
    from sindri.train.loss_scale_manager import FixedLossScaleManager
    for scale in (1.0, 1024.0):
        net = make()
        cell = amp.build_train_network(net, opt(net, loss_scale=scale), sparse_loss(), loss_scale_manager=FixedLossScaleManager(scale, False))
        cell(ms.Tensor(X), ms.Tensor(LABEL))
        results.append([p.asnumpy() for p in net.get_parameters()])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, 1e-5, 1e-7)


def test_auto_level_follows_the_target():
    for target, level in (("GPU", "O2"), ("Ascend", "O3")):
        ms.set_context(device_target=target)
        net = make()
        cell = amp.build_train_network(net, opt(net), sparse_loss(), "auto")
        assert isinstance(cell, nn.TrainOneStepWithLossScaleCell) == (level == "O2")
        assert net.bn._mixed == (level == "O2")


def test_keep_batchnorm_fp32_overrides_the_level():
    for level, keep in (("O2", False), ("O3", True)):
        net = make()
        amp.build_train_network(net, opt(net), sparse_loss(), level, keep_batchnorm_fp32=keep, loss_scale_manager=None)
        assert net.bn._mixed == keep


def test_static_loss_scaler(mode):
    scaler = amp.StaticLossScaler(1024)
    g = (ms.Tensor([2.0]), (ms.Tensor(np.array([4.0], np.float16)),))
    scaled = scaler.scale(g)
    assert scaled[0].asnumpy() == 2048 and scaled[1][0].asnumpy() == 4096 and scaled[1][0].dtype == F16
    assert scaler.unscale(scaled)[1][0].asnumpy() == 4
    assert scaler.scale(ms.Tensor([1.0])).asnumpy() == 1024
    assert scaler.adjust(ms.Tensor(False)) is False and float(scaler.scale_value) == 1024


def test_dynamic_loss_scaler():
    scaler = amp.DynamicLossScaler(1024, 2, 2)
    seen = []
    for finite in (True, True, False, True, False, True, True):
        assert scaler.adjust(ms.Tensor(finite)) is True
        seen.append((float(scaler.scale_value), int(scaler.counter)))
    assert seen == [(1024, 1), (2048, 0), (1024, 0), (1024, 1), (512, 0), (512, 1), (1024, 0)]
    low = amp.DynamicLossScaler(1, 2, 1)
    low.adjust(ms.Tensor(False))
    assert float(low.scale_value) == 1
    top = amp.DynamicLossScaler(2.0 ** 127, 4, 1)
    top.adjust(ms.Tensor(True))
    assert float(top.scale_value) == 2.0 ** 127


def test_all_finite(mode):
    good, bad = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, np.nan])
    assert amp.all_finite((good, (good,))).asnumpy() and not amp.all_finite((good, [bad])).asnumpy() and not amp.all_finite(bad).asnumpy()


def test_functional_training_with_a_scaler(mode):
    net = make().set_train()
    loss_fn, optimizer, scaler = sparse_loss(), opt(net), amp.DynamicLossScaler(2.0 ** 10, 2, 1000)
    amp.auto_mixed_precision(net, "O2")

    def forward(data, label):
        logits = net(data)
        return scaler.scale(loss_fn(logits, label)), logits

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    losses = []
    for _ in range(15):
        (loss, _), grads = grad_fn(ms.Tensor(X), ms.Tensor(LABEL))
        grads = scaler.unscale(grads)
        if amp.all_finite(grads):
            optimizer(grads)
        losses.append(float(scaler.unscale(loss)))
    assert losses[-1] < 0.3 * losses[0]


class CastInside(nn.Cell):
    """Computes exp in float32 for safety, then passes the result to a layer that runs in half."""

    def __init__(self, how):
        super().__init__()
        self.fc, self.how, self.types = nn.Dense(3, 2, "ones", "zeros"), how, []

    def construct(self, x):
        y = ops.exp(self.how(x) + 1)
        y = y / y.sum(-1, keepdims=True)
        out = self.fc(y)
        self.types[:] = [x.dtype, y.dtype, out.dtype, (x * 2).dtype]
        return y, out


CASTS = {"function": lambda x: ops.cast(x, ms.float32), "method": lambda x: x.astype(ms.float32), "primitive": lambda x: ops.Cast()(x, ms.float32),
         "named": lambda x: x.float()}


@pytest.mark.parametrize("how", CASTS)
def test_a_cast_in_a_half_cell_holds_until_the_next_cell(how, mode):
    """exp(12) overflows in float16; later operators do not undo an explicit cast to float32."""
    net = CastInside(CASTS[how]).to_float(ms.float16)
    x = np.array([[11.0, 12.0, 9.0]], np.float32)
    y, out = net(ms.Tensor(x))
    want = np.exp(x - 12) / np.exp(x - 12).sum()
    np.testing.assert_allclose(y.asnumpy(), want, 1e-5)
    assert net.types == [ms.float16, ms.float32, ms.float16, ms.float16] and out.dtype == ms.float16
    np.testing.assert_allclose(out.asnumpy(), [[1, 1]], 1e-2)


def test_gradients_pass_through_held_casts(mode):
    net = CastInside(CASTS["function"]).to_float(ms.float16)
    forward = lambda x: ops.cast((net(x)[0] * ms.Tensor([[1.0, 2.0, 3.0]])).sum(), ms.float32)
    x = np.array([[11.0, 12.0, 9.0]], np.float32)
    p = np.exp(x - 12) / np.exp(x - 12).sum()
    w = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(ms.grad(forward)(ms.Tensor(x)).asnumpy(), p * (w - (p * w).sum()), 2e-3, 1e-4)
