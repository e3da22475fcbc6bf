"""A user's own classes in a training run: optimizer, training cells in the styles of official scripts, loss, metric, callback, learning-rate schedule. Each
trains in
both modes; the results must equal a float64 computation, or those of the package's class that it replaces."""
import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import Parameter, ParameterTuple, Tensor, nn, ops, train
from sindri import dataset as ds
from sindri.ops import composite as C
from sindri.ops import functional as F
from sindri.ops import operations as P

STEPS = 6  # per pass


class Linear(nn.Cell):
    """x·w + b with one output; `reference` spells out its gradients."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([[0.5], [-0.25], [1.0]], np.float32)), name='w')
        self.b = Parameter(Tensor(np.zeros(1, np.float32)), name='b')
        self.matmul = P.MatMul()

    def construct(self, x):
        return self.matmul(x, self.w) + self.b


def rows():
    """Returns twelve rows of three features; the target is a known line with small deviations."""
    x = train_cases.arrays()[0]
    return x, (x @ np.array([[1.0], [2.0], [-1.0]], np.float32) + 0.5).astype(np.float32)


def data():
    x, y = rows()
    return ds.NumpySlicesDataset((x, y), ['x', 'y'], shuffle=False).batch(2)


def reference(update, epochs=2, gradients=lambda g: g):
    """Returns (w, b) in float64 after training with mean squares; update(values, gradients, step) returns the new values."""
    x, y = (a.astype(np.float64) for a in rows())
    values = [np.array([[0.5], [-0.25], [1.0]]), np.zeros(1)]
    for step in range(epochs * STEPS):
        at = slice(2 * (step % STEPS), 2 * (step % STEPS) + 2)
        error = x[at] @ values[0] + values[1] - y[at]
        grads = gradients([x[at].T @ error * 2 / error.size, error.sum(0) * 2 / error.size])
        values = update(values, grads, step)
    return values


def sgd(rate):
    return lambda values, grads, step: [v - (rate(step) if callable(rate) else rate) * g for v, g in zip(values, grads)]


def check(net, values, rtol=2e-5):
    for p, v in zip((net.w, net.b), values):
        np.testing.assert_allclose(p.asnumpy(), v, rtol=rtol, atol=1e-6)


def losses_of(model, epochs=2, **kwargs):
    seen = []
    model.train(epochs, data(), callbacks=[train.LambdaCallback(on_train_step_end=lambda c: seen.append(c.original_args().net_outputs))], **kwargs)
    return seen


# --- optimizer ---------------------------------------------------------------------------------------------------------------------

class Sign(nn.Optimizer):
    """w -= lr·sign(moment), moment = 0.5·moment + gradient: a rule that the package lacks, written with map and with its own state."""

    def __init__(self, params, learning_rate):
        super().__init__(learning_rate, params)
        self.moments = self.parameters.clone(prefix='moment', init='zeros')
        self.hyper_map = C.HyperMap()
        self.assign = P.Assign()

    def construct(self, gradients):
        lr = self.get_lr()
        done = True
        for p, m, g in zip(self.parameters, self.moments, gradients):
            moment = F.depend(m * 0.5 + g, done)
            self.assign(m, moment)
            done = self.assign(p, p - lr * ops.sign(moment))
        return done


def test_optimizer(mode):
    moments = [0.0, 0.0]

    def update(values, grads, step):
        moments[:] = [0.5 * m + g for m, g in zip(moments, grads)]
        return [v - 0.01 * np.sign(m) for v, m in zip(values, moments)]
    net = Linear()
    optimizer = Sign(net.trainable_params(), 0.01)
    losses_of(train.Model(net, nn.MSELoss(), optimizer))
    check(net, reference(update))
    assert [p.name for p in optimizer.moments] == ['moment.w', 'moment.b']


# --- training cells ------------------------------------------------------------------------------------------------------------------

class FromScratch(nn.Cell):
    """In the style of scripts of 2020: sens filled like the loss, the update attached to the loss with depend."""

    def __init__(self, network, optimizer, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.network.add_flags(defer_inline=True)
        self.weights = ParameterTuple(network.trainable_params())
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens

    def construct(self, data, label):
        weights = self.weights
        loss = self.network(data, label)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, weights)(data, label, sens)
        return F.depend(loss, self.optimizer(grads))


clip = C.MultitypeFuncGraph('clip')


@clip.register('Number', 'Tensor')
def _clip(limit, grad):
    return C.clip_by_value(grad, F.cast(F.tuple_to_array((-limit,)), F.dtype(grad)), F.cast(F.tuple_to_array((limit,)), F.dtype(grad)))


class Clipping(nn.TrainOneStepCell):
    """The package's cell with a custom step: gradients through a HyperMap."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.hyper_map = C.HyperMap()

    def construct(self, *inputs):
        loss = self.network(*inputs)
        grads = self.grad(self.network, self.weights)(*inputs, F.fill(loss.dtype, loss.shape, self.sens))
        grads = self.grad_reducer(self.hyper_map(F.partial(clip, 0.5), grads))
        return F.depend(loss, self.optimizer(grads))


class Functional(nn.Cell):
    """In the style of 2.x scripts: value_and_grad of the forward function."""

    def __init__(self, network, optimizer):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network, optimizer
        self.grad_fn = ops.value_and_grad(lambda x, y: self.network(x, y), None, optimizer.parameters)

    def construct(self, data, label):
        loss, grads = self.grad_fn(data, label)
        return ops.depend(loss, self.optimizer(grads))


class ReplacedParts(nn.TrainOneStepCell):
    """Only parts are replaced; the order stays the package's."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer, sens=2.0)
        self.grad_reducer = Halve()


class Halve(nn.Cell):
    def construct(self, grads):
        return tuple(g * 0.5 for g in grads)


@pytest.mark.parametrize('style', [FromScratch, Clipping, Functional, ReplacedParts])
def test_training_cell(mode, style):
    net = Linear()
    optimizer = nn.SGD(net.trainable_params(), 0.05)
    step = style(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    seen = losses_of(train.Model(step))
    limit = 0.5 if style is Clipping else np.inf
    check(net, reference(sgd(0.05), gradients=lambda grads: [np.clip(g, -limit, limit) for g in grads]))
    assert len(seen) == 2 * STEPS and float(seen[-1].asnumpy()) < float(seen[STEPS - 1].asnumpy())


class Accumulating(nn.TrainOneStepCell):
    """Gradient accumulation in the style of the tutorials: sums in the cell's own Parameters, an update every second step."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.sums = self.weights.clone(prefix='sum', init='zeros')
        self.count = Parameter(Tensor(0, ms.int32), name='count', requires_grad=False)

    def construct(self, *inputs):
        loss = self.network(*inputs)
        grads = self.grad_no_sens(self.network, self.weights)(*inputs)
        for s, g in zip(self.sums, grads):
            ops.assign_add(s, g)
        ops.assign_add(self.count, Tensor(1, ms.int32))
        if self.count == 2:
            loss = F.depend(loss, self.optimizer(self.sums))
            for s in self.sums:
                ops.assign(s, ops.zeros_like(s))
            ops.assign(self.count, Tensor(0, ms.int32))
        return loss


@pytest.mark.filterwarnings('ignore:.*runs eagerly')
def test_training_cell_that_accumulates(mode):
    held = []

    def update(values, grads, step):
        held.append(grads)
        if len(held) < 2:
            return values
        summed = [a + b for a, b in zip(*held)]
        held.clear()
        return sgd(0.05)(values, summed, step)
    net = Linear()
    losses_of(train.Model(Accumulating(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05))))
    check(net, reference(update))


class TwoNetworks(nn.Cell):
    """In the style of generative scripts: two networks, two optimizers, a step of each."""

    def __init__(self, first, second):
        super().__init__(auto_prefix=False)
        self.first, self.second = first, second

    def construct(self, x, y):
        a, b = self.first(x, y), self.second(x, y)
        return a + b


def test_training_cell_of_two_networks(mode):
    nets = [Linear(), Linear()]
    cells = [FromScratch(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), rate)) for net, rate in zip(nets, (0.05, 0.01))]
    losses_of(train.Model(TwoNetworks(*cells)))
    for net, rate in zip(nets, (0.05, 0.01)):
        check(net, reference(sgd(rate)))


# --- loss, metric, callback, schedule ------------------------------------------------------------------------------------------------

class Huber(nn.LossBase):
    """Quadratic near 0, linear far from it: the base's get_loss reduces."""

    def construct(self, logits, labels):
        error = ops.abs(logits - labels)
        return self.get_loss(ops.select(error < 1.0, 0.5 * error * error, error - 0.5))


class OwnSquares(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mean = P.ReduceMean()

    def construct(self, logits, labels):
        return self.mean(ops.square(logits - labels), (0, 1))


@pytest.mark.parametrize('own, like', [(lambda: Huber('mean'), lambda: nn.SmoothL1Loss(reduction='mean')), (OwnSquares, nn.MSELoss)])
def test_loss(mode, own, like):
    nets = [Linear(), Linear()]
    for net, loss in zip(nets, (own(), like())):
        losses_of(train.Model(net, loss, nn.SGD(net.trainable_params(), 0.05)))
    check(nets[0], [nets[1].w.asnumpy(), nets[1].b.asnumpy()], rtol=1e-6)


class Within(train.Metric):
    """The share of predictions less than `far` from their targets."""

    def __init__(self, far):
        super().__init__()
        self.far = far
        self.clear()

    def clear(self):
        self.good = self.all = 0

    def update(self, *inputs):
        prediction, target = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        self.good += int((np.abs(prediction - target) < self.far).sum())
        self.all += target.size

    def eval(self):
        if self.all == 0:
            raise RuntimeError('Within: no rows')
        return self.good / self.all


class Watch(train.Callback):
    """Records the events and ends the run when the loss is small enough."""

    def __init__(self, content):
        super().__init__()
        self.content, self.hooks, self.evaluated = content, [], []

    def on_train_begin(self, run_context):
        self.hooks.append('begin')

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self.hooks.append(p.cur_step_num)
        loss = p.net_outputs[0] if isinstance(p.net_outputs, tuple) else p.net_outputs
        if float(loss.asnumpy()) < self.content:
            run_context.request_stop()

    def on_eval_end(self, run_context):
        self.evaluated.append(run_context.original_args().metrics['within'])

    def on_train_end(self, run_context):
        self.hooks.append('end')


def test_metric_and_callback(mode):
    net = Linear()
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.05), metrics={'within': Within(1.0), 'mse': nn.MSE()})
    x, y = rows()
    assert model.eval(data())['within'] == float((np.abs(x @ net.w.asnumpy() - y) < 1.0).mean())
    watch = Watch(content=0.02)
    model.fit(60, data(), data(), callbacks=watch)
    steps = len(watch.hooks) - 2
    assert watch.hooks == ['begin', *range(1, steps + 1), 'end'] and STEPS < steps < 60 * STEPS
    assert watch.evaluated[-1] > watch.evaluated[0]


class Halving(nn.learning_rate_schedule.LearningRateSchedule):
    """rate·0.5^(step // every), computed by ops from the step's number."""

    def __init__(self, rate, every):
        super().__init__()
        self.rate, self.every = rate, every
        self.pow, self.cast = P.Pow(), P.Cast()

    def construct(self, global_step):
        return self.rate * self.pow(0.5, ops.floor(self.cast(global_step, ms.float32) / self.every))


@pytest.mark.parametrize('optimizer', ['package', 'own'])
def test_learning_rate_schedule(mode, optimizer):
    net = Linear()
    schedule = Halving(0.08, 4)

    class Plain(nn.Optimizer):
        def construct(self, gradients):
            lr = self.get_lr()
            for p, g in zip(self.parameters, gradients):
                ops.assign(p, p - lr * g)
            return True
    rule = nn.SGD(net.trainable_params(), schedule) if optimizer == 'package' else Plain(schedule, net.trainable_params())
    losses_of(train.Model(net, nn.MSELoss(), rule))
    check(net, reference(sgd(lambda step: 0.08 * 0.5 ** (step // 4))))
    assert int(rule.global_step.asnumpy().reshape(-1)[0]) == 2 * STEPS


def test_all_of_them_in_one_training(mode):
    """All user classes together, with a loss scale and a checkpoint during the run."""
    net = Linear()
    model = train.Model(net, Huber('mean'), Sign(net.trainable_params(), Halving(0.05, 36)), metrics={'within': Within(1.0)},
                        loss_scale_manager=train.DynamicLossScaleManager(2 ** 10, 2, 1000))
    before = model.eval(data())['within']
    watch = Watch(content=0.0)
    model.fit(12, data(), data(), valid_frequency=6, callbacks=[watch, train.LossMonitor(24)])
    assert len(watch.hooks) == 12 * STEPS + 2 and len(watch.evaluated) == 2 and watch.evaluated[-1] > before
