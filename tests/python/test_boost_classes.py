"""The classes of boost for custom training loops: optimizers created again, freezing by groups, dimension reduction."""
import numpy as np
import pytest

import distributed_boost_classes as two_ranks
import ranks
import sindri as ms
from sindri import boost, nn, ops

GRAD = ops.GradOperation(get_by_list=True, sens_param=True)


def make(groups=True):
    """Returns a network with its loss, six parameters, and Momentum."""
    ms.set_seed(3)
    net = nn.SequentialCell([nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 8), nn.ReLU(), nn.Dense(8, 3)])
    params = net.trainable_params()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    return net, loss, nn.Momentum([{"params": params, "weight_decay": 1e-4}] if groups else params, 0.1, 0.9)


def batch():
    rng = np.random.default_rng(1)
    return ms.Tensor(rng.normal(size=(6, 4)).astype(np.float32)), ms.Tensor(np.arange(6) % 3, ms.int32)


def changed(net, call):
    """Returns the parameters that a call has changed."""
    before = [p.asnumpy().copy() for p in net.trainable_params()]
    call()
    return [not np.array_equal(a, p.asnumpy()) for a, p in zip(before, net.trainable_params())]


def test_the_strategy_of_a_freeze_opt_says_what_each_step_trains(mode):
    net, loss, optimizer = make()
    network, freeze = boost.GradientFreeze(2, 0, 0.5, 100).freeze_generate(loss, optimizer)
    assert network is loss and freeze.groups_num == 2 and freeze.train_strategy.asnumpy()[:4].tolist() == [0, 1, 0, 1]
    step = boost.BoostTrainOneStepCell(network, freeze).set_train()
    assert step.boost_algorithms == ["grad_freeze"]
    for i in range(4):
        assert changed(net, lambda: step(*batch())) == [i % 2 == 0] * 4 + [True] * 2
    params = list(optimizer.parameters)
    own = boost.FreezeOpt(optimizer, [params[2:], params[5:], params], ms.Tensor([1, 0, 2, 2], ms.int32))
    step = boost.BoostTrainOneStepWithLossScaleCell(loss, own, ms.Tensor(16.0)).set_train()
    for first in (5, 2, 0, 0, 5, 2):
        assert changed(net, lambda: step(*batch())) == [i >= first for i in range(6)]


def test_groups_in_turn_without_a_strategy():
    net, loss, optimizer = make()
    params = list(optimizer.parameters)
    step = boost.BoostTrainOneStepCell(loss, boost.FreezeOpt(optimizer, [params[4:], params[2:]])).set_train()
    for first in (4, 2, 4, 2):
        assert changed(net, lambda: step(*batch())) == [i >= first for i in range(6)]
    assert all(changed(net, lambda: boost.BoostTrainOneStepCell(loss, boost.FreezeOpt(optimizer)).set_train()(*batch())))


def test_freeze_cells_share_the_optimizer(mode):
    net, loss, optimizer = make()
    params = list(optimizer.parameters)
    freeze = boost.FreezeOpt(optimizer, [params, params[4:]], [0, 1])
    cells = boost.freeze_cell(False, loss, freeze, 1.0, GRAD, False)
    assert len(cells) == 2
    for cell, first in zip(cells, (0, 4)):
        assert changed(net, lambda c=cell: c(*batch())) == [i >= first for i in range(6)]
        assert cell.optimizer is optimizer
    # Equals one optimizer without freezing for a step that trains all parameters.
    net, loss, optimizer = make()
    plain, plain_loss, other = make()
    boost.freeze_cell(False, loss, boost.FreezeOpt(optimizer, [list(optimizer.parameters)], [0]), 1.0, GRAD, False)[0](*batch())
    nn.TrainOneStepCell(plain_loss, other)(*batch())
    for p, q in zip(net.trainable_params(), plain.trainable_params()):
        np.testing.assert_array_equal(p.asnumpy(), q.asnumpy())


def test_freeze_cells_collect_gradients():
    net, loss, optimizer = make()
    params = list(optimizer.parameters)
    cells = boost.freeze_cell(False, loss, boost.FreezeOpt(optimizer, [params, params[4:]], [0, 1]), 1.0, GRAD, True, max_accumulation_step=2)
    for cell, first in zip(cells, (0, 4)):
        assert not any(changed(net, lambda c=cell: c(*batch())))
        assert changed(net, lambda c=cell: c(*batch())) == [i >= first for i in range(6)]


@pytest.mark.parametrize("error, text, call", [
    (TypeError, "'opt' must be", lambda o, p: boost.FreezeOpt(None)),
    (ValueError, "'train_parameter_groups' is None", lambda o, p: boost.FreezeOpt(o, None, [0])),
    (TypeError, "'train_parameter_groups' must be", lambda o, p: boost.FreezeOpt(o, 3)),
    (TypeError, "group 0 of 'train_parameter_groups' must be", lambda o, p: boost.FreezeOpt(o, [p[0]])),
    (ValueError, "group 1 of 'train_parameter_groups' contains parameters that the optimizer does not update", lambda o, p: boost.FreezeOpt(o, [p, [ms.Parameter(1.0)]])),
    (ValueError, "contains parameters that the optimizer does not update", lambda o, p: boost.FreezeOpt(o, [[]])),
    (ValueError, "has 2, groups are numbered 0 to 1", lambda o, p: boost.FreezeOpt(o, [p, p[2:]], [0, 2])),
    (ValueError, "has 0.5", lambda o, p: boost.FreezeOpt(o, [p], [0.5])),
    (ValueError, "is empty", lambda o, p: boost.FreezeOpt(o, [p], [])),
    (ValueError, "one-dimensional int32", lambda o, p: boost.FreezeOpt(o, [p], ms.Tensor([[0]], ms.int32))),
    (TypeError, "'optimizer' must be", lambda o, p: boost.freeze_cell(False, nn.Dense(2, 2), o, 1.0, GRAD, False)),
    (TypeError, "'grad' must be", lambda o, p: boost.freeze_cell(False, nn.Dense(2, 2), boost.FreezeOpt(o), 1.0, None, False)),
    (TypeError, "'opt' must be", lambda o, p: boost.OptimizerProcess(None)),
    (ValueError, "no parameters", lambda o, p: boost.ParameterProcess().generate_group_params(p, [])),
    (TypeError, "must be", lambda o, p: boost.ParameterProcess().generate_group_params(p, [1])),
])
def test_what_is_refused(error, text, call):
    _, _, optimizer = make()
    with pytest.raises(error, match=text):
        call(optimizer, list(optimizer.parameters))


def test_freezing_twice_is_refused():
    _, loss, optimizer = make()
    on = boost.AutoBoost("O1", {"boost": {"mode": "manual", "less_bn": False}})
    with pytest.raises(ValueError, match="grad_freeze is enabled by 'boost' and by the optimizer"):
        boost.BoostTrainOneStepCell(loss, boost.FreezeOpt(optimizer), boost=on)
    with pytest.raises(RuntimeError, match="FreezeOpt cannot be called"):
        boost.FreezeOpt(optimizer)(())


def test_an_optimizer_like_another_that_centralises_gradients():
    net = nn.SequentialCell([nn.Conv2d(16, 4, 3), nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, group=4), nn.BatchNorm2d(4), nn.Flatten(), nn.Dense(64, 3)])
    process = boost.OptimizerProcess(nn.Momentum([{"params": net.trainable_params(), "lr": 0.05, "weight_decay": 0.01}], 0.1, 0.9, use_nesterov=True))
    process.add_grad_centralization(net)
    new = process.generate_new_optimizer()
    central = {p.name for group in process.origin_params if group.get("grad_centralization") for p in group["params"]}
    assert central == {"0.weight", "4.weight"}  # not the grouped convolution, the norm or biases
    assert isinstance(new, nn.Momentum) and new.use_nesterov and len(process.origin_params) == 2
    assert all(group["lr"] == 0.05 and group["weight_decay"] == 0.01 for group in process.origin_params)
    gradients = tuple(ms.Tensor(np.random.default_rng(i).normal(size=p.shape).astype(np.float32)) for i, p in enumerate(new.parameters))
    at = [p.name for p in new.parameters].index("0.weight")
    weight = new.parameters[at]
    before, g = weight.asnumpy().copy(), gradients[at].asnumpy()
    new(gradients)
    g = g + 0.01 * before  # decay first, as in MindSpore
    g = g - g.mean(axis=(1, 2, 3), keepdims=True)
    np.testing.assert_allclose(weight.asnumpy(), before - 0.05 * (g + 0.9 * g), rtol=1e-4, atol=1e-6)


def test_an_optimizer_without_groups_stays_without_centralisation(capfd):
    net, _, optimizer = make(groups=False)
    process = boost.OptimizerProcess(nn.LARS(optimizer, coefficient=0.02))
    process.add_grad_centralization(net)
    assert "gradients are centralised by parameter group" in capfd.readouterr().err
    new = process.generate_new_optimizer()
    assert isinstance(new, nn.LARS) and new._coefficient == 0.02 and isinstance(new.opt, nn.Momentum)


def test_groups_for_a_part_of_the_parameters():
    net, _, _ = make()
    params = net.trainable_params()
    process = boost.ParameterProcess()
    assert process.generate_group_params(params[:2], params) == [{"params": params[:2]}]
    origin = [{"params": params[:3], "lr": 0.1}, {"params": params[3:5], "lr": 0.2, "weight_decay": 0.1}, {"order_params": params}]
    assert process.generate_group_params(params[2:], origin) == [{"params": params[2:3], "lr": 0.1}, {"params": params[3:5], "lr": 0.2, "weight_decay": 0.1},
                                                                 {"order_params": params[2:]}, {"params": params[5:], "lr": 0.2, "weight_decay": 0.1}]
    process.assign_parameter_group(params, [2, 4])
    assert [p.comm_fusion for p in params] == [1, 1, 2, 2, 3, 3]
    boost.ParameterProcess().assign_parameter_group(params)
    assert [p.comm_fusion for p in params] == [1, 1, 1, 2, 2, 2]


class Quadratic(nn.Cell):
    """½·Σ h·w²; NaN above `ceiling`."""

    def __init__(self, h, ceiling=1e30):
        super().__init__()
        self.h, self.ceiling = ms.Tensor(np.float32(h)), ceiling
        self.w = ms.Parameter(ms.Tensor(np.ones(3, np.float32)), name="w")

    def construct(self):
        return 0.5 * (self.h * self.w * self.w).sum()


def reduced(h, **more):
    net = Quadratic(h)
    settings = {"rho": 0.55, "gamma": 0.9, "alpha": 0.001, "sigma": 0.4, **more}
    matrix = np.float32([[1, 0, 0], [0, 1, 0]])
    cell = boost.DimReduce(net, nn.SGD([net.w], 1.0), [net.w], matrix, 2, rank=0, rank_size=1, **settings)
    clone = ms.Parameter(ms.Tensor(net.w.asnumpy()), name="clone")

    def step():
        loss = net()
        cell(loss, (net.h * net.w,), [net.w], [clone])
        np.testing.assert_array_equal(clone.asnumpy(), net.w.asnumpy())
        return float(loss.asnumpy())
    return net, cell, step


def test_dimension_reduction_of_a_quadratic(mode):
    """The exact steps of MindSpore's algorithm with two trials, as in tests/boost/dim_reduce_test.cc."""
    net, cell, step = reduced([1.5, 0.5, 9])
    cell.max_search = 2
    losses = [5.5, 4.5737395, 4.29197129, 4.0614848]
    weights = [[0.175, 0.725, 0.991], [-0.03316327, 0.29846939, 0.973981], [-0.02933055, 0.04294329, 0.94989807], [-0.00449457, -0.00020225, 0.91967435]]
    for loss, weight in zip(losses, weights):
        assert step() == pytest.approx(loss, rel=1e-5)
        np.testing.assert_allclose(net.w.asnumpy(), weight, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(cell.bk.asnumpy(), [[0.56221376, -0.00470017], [-0.00470017, 1.9997885]], atol=2e-3)


def test_trials_that_fail_leave_the_span_as_it_is():
    net, cell, step = reduced([4, 1, 9])
    cell.max_search = 2  # never enough for a curvature of 4
    step()
    np.testing.assert_allclose(net.w.asnumpy(), [1, 1, 0.991], rtol=1e-6)
    net, cell, step = reduced([4, 1, 9])
    step()  # the default of ten is enough
    np.testing.assert_allclose(cell.sk.asnumpy()[:, 0], [-0.3025 * 4, -0.3025], rtol=1e-5)


def test_dimension_reduction_refuses():
    net = Quadratic([1, 1, 1])
    def build(matrix, rank=0, size=1, rho=0.5):
        return boost.DimReduce(net, nn.SGD([net.w], 1.0), [net.w], matrix, 2, rho, 0.9, 0.001, 0.4, rank, size)
    with pytest.raises(ValueError, match=r"has shape \(3, 3\), but 2 components of 3 weights on 1 ranks need \(2, 3\)"):
        build(np.eye(3))
    with pytest.raises(ValueError, match="'rank_size' is 2, but must be 1 or the world size 1"):
        build(np.eye(3)[:1], 0, 2)
    with pytest.raises(ValueError, match="rank 2 must be below 'rank_size' 1"):
        build(np.eye(3)[:2], 2)
    with pytest.raises(ValueError, match="rho must be"):
        build(np.eye(3)[:2], rho=1.0)


def freeze_by_hand(rows, scale):
    """Computes the result of distributed_boost_classes.frozen, with the gradients of these rows summed and scaled."""
    ms.set_seed(5)
    net = nn.Dense(3, 2)
    w, b = (p.asnumpy().copy() for p in net.trainable_params())
    for both in (True, False):
        d = [w @ two_ranks.X[r] + b - two_ranks.Y[r] for r in rows]  # for the mean of two squares
        b_step = sum(d) * scale
        if both:
            w = w - two_ranks.RATE * scale * sum(np.outer(e, two_ranks.X[r]) for e, r in zip(d, rows))
        b = b - two_ranks.RATE * b_step
    return np.concatenate([w.ravel(), b])


def test_two_ranks(tmp_path):
    """Three components on two ranks, one of them padded with a row of zeros, take the same steps as one rank with all components; the cells of freeze_cell
    reduce gradients."""
    ended = ranks.run(two_ranks.__file__, [tmp_path], 2)
    assert [e.code for e in ended] == [0] * 2, ranks.text(ended)
    found = [dict(np.load(tmp_path / f"{r}.npz")) for r in range(2)]
    np.testing.assert_array_equal(found[0]["shared"], found[1]["shared"])
    np.testing.assert_allclose(found[0]["shared"], found[0]["alone"], rtol=1e-3, atol=1e-4)
    assert np.abs(found[0]["alone"]).max() < 1  # it has moved
    for r in range(2):
        np.testing.assert_allclose(found[r]["apart"], freeze_by_hand([r], 1), rtol=1e-5, atol=1e-6)
        for name, scale in (("mean", 1 / 2), ("sum", 1), ("fourth", 1 / 4)):
            np.testing.assert_allclose(found[r][name], freeze_by_hand([0, 1], scale), rtol=1e-5, atol=1e-6)
