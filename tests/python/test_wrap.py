"""Training cells: the computation of a step, loss scale and overflow, gradient reducers, parts of a batch, losses in mixed precision."""
import numpy as np
import pytest

import sindri as ms
from sindri import nn
from sindri.ops.composite.grad import GradOperation

W = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)
A, LABEL = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32), np.array([[0.5, 0.0], [1.0, 1.0]], np.float32)


def dense():
    return nn.Dense(2, 2, weight_init=ms.Tensor(W), has_bias=False)


def mse_grad(w, a=A, label=LABEL):
    return 2 * (a @ w.T - label).T @ a / label.size


def inputs():
    return ms.Tensor(A), ms.Tensor(LABEL)


def test_with_loss_cell_keeps_names(mode):
    net = nn.SequentialCell(dense())
    cell = nn.WithLossCell(net, nn.MSELoss())
    assert [p.name for p in cell.trainable_params()] == ["0.weight"]
    assert cell.backbone_network is net and cell._backbone is net and isinstance(cell._loss_fn, nn.MSELoss)
    np.testing.assert_allclose(float(cell(*inputs())), ((A @ W.T - LABEL) ** 2).mean(), 1e-6)


def test_train_one_step(mode):
    net = dense()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    w = W.astype(np.float64)
    for _ in range(3):
        loss = step(*inputs())
        assert float(loss) == pytest.approx(((A @ w.T - LABEL) ** 2).mean(), rel=1e-5)
        w = w - 0.1 * mse_grad(w)
        np.testing.assert_allclose(net.weight.asnumpy(), w, 1e-5)
    assert step.weights is step.optimizer.parameters and step.sens == 1.0 and not step.reducer_flag and step.parallel_mode == "stand_alone"


def test_sens_multiplies_and_gradients_are_given_back(mode):
    net = dense()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1, loss_scale=8.0), sens=8.0,
                               return_grad=True).set_train()
    loss, grads = step(*inputs())
    np.testing.assert_allclose(grads["weight"].asnumpy(), 8 * mse_grad(W), 1e-5)
    np.testing.assert_allclose(net.weight.asnumpy(), W - 0.1 * mse_grad(W), 1e-5)
    assert loss.shape == ()


class BatchNormNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(2)
        self.fc = dense()
        self.drop = nn.Dropout(0.5)

    def construct(self, x):
        return self.fc(self.drop(self.bn(x)))


def test_a_step_runs_the_network_once(mode):
    net = BatchNormNet()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.0)).set_train()
    step(*inputs())
    np.testing.assert_allclose(net.bn.moving_mean.asnumpy(), 0.1 * A.mean(0), 1e-6)
    step(*inputs())
    np.testing.assert_allclose(net.bn.moving_mean.asnumpy(), 0.19 * A.mean(0), 1e-6)


class OwnStep(nn.TrainOneStepCell):
    """In the style of scripts."""

    def construct(self, *args):
        loss = self.network(*args)
        sens = ms.Tensor(np.float32(4.0)) if self.sens == 1.0 else None
        grads = self.grad(self.network, self.weights)(*args, sens)
        grads = self.grad_reducer(grads)
        self.optimizer(grads)
        return loss


def test_a_training_cell_of_ones_own(mode):
    net = dense()
    step = OwnStep(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    step(*inputs())
    np.testing.assert_allclose(net.weight.asnumpy(), W - 0.4 * mse_grad(W), 1e-5)


# Loss scale.


class Scaled(nn.Cell):
    """Its gradient is its input times a weight that starts at 1: inf if the input times the loss scale overflows."""

    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(ms.Tensor([1.0]), name="w")

    def construct(self, x):
        return (self.w * x).sum()


@pytest.mark.parametrize("optimizer", [lambda p: nn.Momentum(p, [0.25, 0.5, 0.25, 0.5, 0.25, 0.5], 0.0), lambda p: nn.RMSProp(p, 0.25)])
def test_dynamic_loss_scale(mode, optimizer):
    net = Scaled()
    opt = optimizer(net.trainable_params())
    step = nn.TrainOneStepWithLossScaleCell(net, opt, nn.DynamicLossScaleUpdateCell(2.0 ** 20, 4, 2)).set_train()
    big = np.array([2.0 ** 109], np.float32)  # infinite when multiplied by 2^20
    one = np.array([1.0], np.float32)
    scales, overflows, weights = [], [], []
    for x in (one, big, one, one, one, one):
        loss, overflow, scale = step(ms.Tensor(x))
        overflows.append(bool(overflow.asnumpy()))
        scales.append(float(scale))
        weights.append(float(net.w.asnumpy()[0]))
    # Steps 1 and 2: the window counts from step 0, so step 2 would increase the scale, but it overflows; then two clean steps increase it.
    assert overflows == [False, True, False, False, False, False]
    assert scales == [2.0 ** 20, 2.0 ** 20, 2.0 ** 18, 2.0 ** 18, 2.0 ** 20, 2.0 ** 20]
    assert weights[1] == weights[0] and weights[2] < weights[1]
    if isinstance(opt, nn.Momentum):
        assert weights == [0.75, 0.75, 0.25, 0.0, -0.5, -0.75]  # the table of rates does not advance in a skipped step
        assert opt.global_step.asnumpy() == 5
    names = {p.name for p in step.get_parameters()}
    assert {"scale_sense", "current_iterator_step", "last_overflow_iterator_step"} <= names


def test_a_step_that_is_left_out_leaves_moving_averages(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense, self.norm = nn.Dense(3, 4, weight_init='ones'), nn.BatchNorm1d(4)
            self.calls = ms.Parameter(ms.Tensor(0, ms.int32), name='calls', requires_grad=False)

        def construct(self, x):
            self.calls += 1
            return self.norm(self.dense(x)).sum()

    net = Net()
    step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params(), 0.1), nn.DynamicLossScaleUpdateCell(4, 2, 100))
    step.set_train()
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    assert not step(ms.Tensor(x))[1]
    kept = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    assert kept['calls'] == 1 and kept['norm.moving_mean'].any()
    x[0, 0] = np.inf  # the forward pass itself produces infinite activations
    assert step(ms.Tensor(x))[1]
    for p in net.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), kept[p.name], err_msg=p.name)
    x[0, 0] = 1
    assert not step(ms.Tensor(x))[1] and net.calls.asnumpy() == 2 and np.isfinite(net.norm.moving_mean.asnumpy()).all()


def test_scale_does_not_fall_below_1_nor_grow_out_of_range(mode):
    scale = ms.Parameter(ms.Tensor(1.5, ms.float32), name="s")
    cell = nn.DynamicLossScaleUpdateCell(1.5, 4, 1)
    cell(scale, ms.Tensor(True))
    assert float(scale) == 1
    scale.set_data(ms.Tensor(2.0 ** 126, ms.float32))
    cell(scale, ms.Tensor(False))
    assert float(scale) == 2.0 ** 126


def test_fixed_loss_scale_and_plain_numbers(mode):
    for sense in (nn.FixedLossScaleUpdateCell(1024.0), 1024.0, ms.Tensor([1024.0]), ms.Tensor(1024.0, ms.float32)):
        net = Scaled()
        step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params(), 0.5), sense).set_train()
        loss, overflow, scale = step(ms.Tensor([1.0]))
        assert float(scale) == 1024 and not overflow.asnumpy() and float(net.w.asnumpy()[0]) == 0.5
        step(ms.Tensor([3e36]))
        assert float(net.w.asnumpy()[0]) == 0.5
    step.set_sense_scale(ms.Tensor(2.0, ms.float32))
    assert float(step(ms.Tensor([1.0]))[2]) == 2.0


class ScaledInDouble(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(ms.Tensor(np.array([0.3, -0.7, 1.1]), ms.float64), name="w")

    def construct(self, x):
        return ms.ops.sum(ms.ops.square(self.w * x))


def test_loss_scales_keep_the_digits_of_float64(mode):
    """float32 can represent neither 1000.1 nor its reciprocal: if they were rounded, a float64 gradient would be wrong in the eighth digit."""
    x = ms.Tensor(np.array([0.11, 0.23, -0.31]), ms.float64)
    exact = np.array([0.3, -0.7, 1.1]) * (1 - 0.5 * 2 * x.asnumpy() ** 2)
    for make in (lambda p: nn.SGD(p, 0.5), lambda p: nn.Momentum(p, 0.5, 0.0), lambda p: nn.Adagrad(p, learning_rate=0.5)):  # the last has no
        plain, scaled = ScaledInDouble(), ScaledInDouble()  # update op that divides
        nn.TrainOneStepCell(plain, make(plain.trainable_params())).set_train()(x)
        nn.TrainOneStepWithLossScaleCell(scaled, make(scaled.trainable_params()), 1000.1).set_train()(x)
        np.testing.assert_allclose(scaled.w.asnumpy(), plain.w.asnumpy(), rtol=1e-14)
    own = ScaledInDouble()
    nn.TrainOneStepCell(own, nn.Momentum(own.trainable_params(), 0.5, 0.0, loss_scale=1000.1), 1000.1).set_train()(x)
    np.testing.assert_allclose(own.w.asnumpy(), exact, rtol=1e-14)
    opt = nn.Momentum(own.trainable_params(), 0.5, 0.0, loss_scale=1000.1)
    np.testing.assert_allclose(opt.scale_grad((x,))[0].asnumpy(), x.asnumpy() / 1000.1, rtol=1e-15)
    scaler = ms.amp.StaticLossScaler(1000.1)
    np.testing.assert_allclose(scaler.unscale(scaler.scale(x)).asnumpy(), x.asnumpy(), rtol=1e-15)


class OwnScaledStep(nn.TrainOneStepWithLossScaleCell):
    """In BERT's style: the parts called by name, the optimizer inside an `if`."""

    def construct(self, x):
        loss = self.network(x)
        scale = self.scale_sense
        status, scale = self.start_overflow_check(loss, scale)
        grads = self.grad(self.network, self.weights)(x, scale.astype(ms.float32).reshape(()))
        grads = self.hyper_map(ms.ops.partial(nn.wrap.loss_scale._grad_scale, scale), grads)
        grads = self.grad_reducer(grads)
        cond = self.get_overflow_status(status, grads)
        overflow = self.process_loss_scale(cond)
        if not overflow:
            self.optimizer(grads)
        return loss, cond, scale.value()


@pytest.mark.filterwarnings("ignore:.*runs eagerly")
def test_a_scaled_training_cell_of_ones_own(mode):
    net = Scaled()
    step = OwnScaledStep(net, nn.SGD(net.trainable_params(), 0.5), nn.DynamicLossScaleUpdateCell(2.0 ** 20, 2, 10)).set_train()
    assert not step(ms.Tensor([1.0]))[1].asnumpy() and float(net.w.asnumpy()[0]) == 0.5
    assert step(ms.Tensor([2.0 ** 109]))[1].asnumpy() and float(net.w.asnumpy()[0]) == 0.5
    assert float(step.scale_sense) == 2.0 ** 19


def test_both_modes_give_the_same_bits():
    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(2)
        net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dense(3, 2))
        opt = nn.Adam(net.trainable_params(), nn.WarmUpLR(0.1, 3), weight_decay=0.01)
        step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), opt, nn.DynamicLossScaleUpdateCell(2.0 ** 12, 2, 2)).set_train()
        losses = [step(*inputs())[0].asnumpy() for _ in range(4)]
        results.append(losses + [p.asnumpy() for p in step.get_parameters()])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


# Other cells.


def test_gradient_cells(mode):
    net = dense()
    grads = nn.WithGradCell(net, nn.MSELoss())(*inputs())
    np.testing.assert_allclose(grads[0].asnumpy(), mse_grad(W), 1e-5)
    with_loss = nn.WithLossCell(net, nn.MSELoss()).set_train()
    weights = ms.ParameterTuple(net.trainable_params())
    loss, grads = nn.ForwardValueAndGrad(with_loss, weights, get_by_list=True)(*inputs())
    assert float(loss) == pytest.approx(((A @ W.T - LABEL) ** 2).mean(), rel=1e-5)
    np.testing.assert_allclose(grads[0].asnumpy(), mse_grad(W), 1e-5)
    _, grads = nn.ForwardValueAndGrad(with_loss, weights, get_by_list=True, sens_param=True)(*inputs(), ms.Tensor(3.0, ms.float32))
    np.testing.assert_allclose(grads[0].asnumpy(), 3 * mse_grad(W), 1e-5)
    _, (of_inputs, of_weights) = nn.ForwardValueAndGrad(with_loss, weights, get_all=True, get_by_list=True)(*inputs())
    assert len(of_inputs) == 2 and len(of_weights) == 1


def test_eval_cell(mode):
    cell = nn.WithEvalCell(dense(), nn.MSELoss(), add_cast_fp32=True)
    loss, out, label = cell(ms.Tensor(A), ms.Tensor(LABEL.astype(np.float16)))
    assert out.dtype == ms.float32 and label.dtype == ms.float32
    np.testing.assert_allclose(out.asnumpy(), A @ W.T, 1e-6)
    assert float(loss) == pytest.approx(((A @ W.T - LABEL) ** 2).mean(), rel=1e-5)


@pytest.mark.parametrize("make", [lambda n: nn.PipelineCell(n, 2), lambda n: nn.GradAccumulationCell(n, 2), lambda n: nn.MicroBatchInterleaved(n, 2)])
def test_parts_of_a_batch_add_up(mode, make):
    net = dense()
    cell = make(nn.WithLossCell(net, nn.MSELoss()))
    halves = [((A[i:i + 1] @ W.T - LABEL[i:i + 1]) ** 2).mean() for i in range(2)]
    assert float(cell(*inputs())) == pytest.approx(sum(halves), rel=1e-5)
    step = nn.TrainOneStepCell(cell, nn.SGD(net.trainable_params(), 0.1)).set_train()
    step(*inputs())
    np.testing.assert_allclose(net.weight.asnumpy(), W - 0.1 * 2 * mse_grad(W), 1e-5)
    with pytest.raises(ValueError, match="divide"):
        cell(ms.Tensor(A[:1]), ms.Tensor(LABEL[:1]))


def test_pipeline_stages_are_stored():
    net = nn.SequentialCell(dense(), nn.ReLU())
    nn.PipelineCell(net, 2, stage_config={"0": 0, "1": 1})
    assert net[1].pipeline_stage == 1
    with pytest.raises(KeyError, match="'2'"):
        nn.PipelineCell(net, 2, stage_config={"2": 0})
    with pytest.raises(ValueError, match="shard"):
        nn.PipelineCell(net, 2).shard(((1,),))


def test_gradient_reducers(mode, monkeypatch):
    net = dense()
    g = (ms.Tensor(W),)
    same = nn.DistributedGradReducer(net.trainable_params())(g)
    np.testing.assert_array_equal(same[0].asnumpy(), W)
    with pytest.raises(RuntimeError, match="degree is 4.*communication.init"):
        nn.DistributedGradReducer(net.trainable_params(), mean=True, degree=4)
    monkeypatch.setenv("RANK_SIZE", "1")
    monkeypatch.setenv("RANK_ID", "0")
    ms.communication.init()
    try:
        mean = nn.DistributedGradReducer(net.trainable_params(), mean=True, degree=4)(g)
        summed = nn.DistributedGradReducer(net.trainable_params(), mean=False, degree=4)(g)
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=4)
        with pytest.raises(RuntimeError, match="device_num is 4.*1 process"):
            nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    finally:
        ms.communication.release()
    np.testing.assert_array_equal(mean[0].asnumpy(), W / 4)
    np.testing.assert_array_equal(summed[0].asnumpy(), W)
    np.testing.assert_array_equal(nn.PipelineGradReducer(ms.ParameterTuple(net.trainable_params()), 8.0)(g)[0].asnumpy(), W / 8)
    for degree in (0, -1, 1.5):
        with pytest.raises(ValueError, match="degree"):
            nn.DistributedGradReducer(net.trainable_params(), True, degree)


def test_data_parallel_on_one_rank_reduces_over_it(mode):
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=1)
    net = dense()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    assert step.reducer_flag and isinstance(step.grad_reducer, nn.DistributedGradReducer) and step.degree == 1 and step.mean
    step(*inputs())
    np.testing.assert_allclose(net.weight.asnumpy(), W - 0.1 * mse_grad(W), 1e-5)


def test_what_one_process_cannot_do_is_refused():
    """A script that expects several processes must not train alone."""
    net = dense()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=4)
    with pytest.raises(RuntimeError, match="communication.init"):
        nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    for setting in ({"parallel_mode": "semi_auto_parallel"}, {"parallel_mode": "auto_parallel"}, {"parallel_mode": "hybrid_parallel"},
                    {"pipeline_stages": 2}):
        with pytest.raises(ValueError, match=f"{next(iter(setting))}.*is not supported.*'stand_alone' or 'data_parallel'"):
            ms.set_auto_parallel_context(**setting)
    assert ms.get_auto_parallel_context("parallel_mode") == "data_parallel" and ms.get_auto_parallel_context("pipeline_stages") == 1


def test_parameter_update(mode):
    p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
    out = nn.ParameterUpdate(p)(ms.Tensor([3.0, 4.0]))
    np.testing.assert_array_equal(p.asnumpy(), [3, 4])
    np.testing.assert_array_equal(out.asnumpy(), [3, 4])


def test_grad_scale_function():
    scale, grad = ms.Tensor(4.0, ms.float32), ms.Tensor(np.array([2.0], np.float16))
    out = nn.wrap.loss_scale._grad_scale(scale, grad)
    assert out.dtype == ms.float16 and out.asnumpy() == 0.5


LINEAR = dense
WRONG = [
    (TypeError, "backbone", lambda: nn.WithLossCell(1, nn.MSELoss())),
    (TypeError, "loss_fn", lambda: nn.WithLossCell(LINEAR(), lambda a, b: a)),
    (TypeError, "add_cast_fp32", lambda: nn.WithEvalCell(LINEAR(), nn.MSELoss(), 1)),
    (TypeError, "network", lambda: nn.TrainOneStepCell(None, nn.SGD(LINEAR().trainable_params()))),
    (TypeError, "optimizer", lambda: nn.TrainOneStepCell(LINEAR(), LINEAR())),
    (ValueError, "sens", lambda: nn.TrainOneStepCell(LINEAR(), nn.SGD(LINEAR().trainable_params()), 0)),
    (TypeError, "scale_sense", lambda: nn.TrainOneStepWithLossScaleCell(LINEAR(), nn.SGD(LINEAR().trainable_params()), "1")),
    (ValueError, "scale_sense", lambda: nn.TrainOneStepWithLossScaleCell(LINEAR(), nn.SGD(LINEAR().trainable_params()), ms.Tensor([1.0, 2.0]))),
    (ValueError, "loss_scale_value", lambda: nn.DynamicLossScaleUpdateCell(0, 2, 10)),
    (ValueError, "scale_factor", lambda: nn.DynamicLossScaleUpdateCell(2, 1, 10)),
    (TypeError, "scale_window", lambda: nn.DynamicLossScaleUpdateCell(2, 2, 1.5)),
    (TypeError, "loss_scale_value", lambda: nn.FixedLossScaleUpdateCell("a")),
    (TypeError, "micro_size", lambda: nn.PipelineCell(LINEAR(), 1.5)),
    (ValueError, "micro_size", lambda: nn.GradAccumulationCell(LINEAR(), 0)),
    (TypeError, "param", lambda: nn.ParameterUpdate(ms.Tensor([1.0]))),
    (TypeError, "get_all", lambda: nn.ForwardValueAndGrad(LINEAR(), get_all=1)),
    (ms.NotYetError, "GetNextSingleOp", lambda: nn.GetNextSingleOp([], [], "q")),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_wrong_arguments(at):
    kind, text, make = WRONG[at]
    with pytest.raises(kind, match=text):
        make()


def test_gradients_of_a_recorded_run_are_taken_once():
    """The gradient call differentiates the forward call just before it."""
    net = BatchNormNet().set_train().set_grad()
    with_loss = nn.WithLossCell(net, nn.MSELoss()).set_train().set_grad()
    weights = ms.ParameterTuple(net.trainable_params())
    batch = inputs()
    with_loss(*batch)
    GradOperation(get_by_list=True)(with_loss, weights)(*batch)
    np.testing.assert_allclose(net.bn.moving_mean.asnumpy(), 0.1 * A.mean(0), 1e-6)
