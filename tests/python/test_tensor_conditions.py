"""`if`, `while`, `and`, `or` and `not` on tensors in compiled code: published steps run as graphs, without a warning, and bitwise identical to eager mode. A
branch that
is not taken has no effect."""
import warnings

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, ParameterTuple, Tensor, nn, ops
from sindri.ops import composite as C
from sindri.ops import functional as F
from sindri.ops import operations as P

STEPS = 50


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def bits(v):
    if isinstance(v, (tuple, list)):
        return tuple(bits(x) for x in v)
    if isinstance(v, Tensor):
        a = v.asnumpy()
        return str(a.dtype), a.shape, a.tobytes()
    return v


def entries(cell):
    return [e for found in cell._cell_graphs.entries.values() for e in found]


def both(make, calls, paths=None, also=lambda cell: ()):
    """Calls a newly created Cell in each mode; every result and, at the end, every Parameter must be bitwise identical. In GRAPH_MODE no call is eager and
    construct runs
    once per path."""
    runs = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(5)
        cell = make()
        runs.append(([bits(cell(*call)) for call in calls], [(p.name, bits(p.value())) for p in cell.get_parameters()], also(cell)))
    for i, (a, b) in enumerate(zip(runs[0][0], runs[1][0])):
        assert a == b, f"call {i}"
    assert runs[0][1:] == runs[1][1:]
    assert not any(e.eager for e in entries(cell))
    if paths is not None:
        assert sum(e.traces for e in entries(cell)) == paths
    return cell


class Net(nn.Cell):
    """Moving statistics and random numbers: state in addition to the weights."""

    def __init__(self):
        super().__init__()
        self.a, self.norm, self.drop, self.b = nn.Dense(4, 8), nn.BatchNorm1d(8), nn.Dropout(p=0.3), nn.Dense(8, 2)

    def construct(self, x):
        return self.b(self.drop(ops.relu(self.norm(self.a(x)))))


def with_loss():
    return nn.WithLossCell(Net().set_train(), nn.MSELoss())


def batches(overflow=(), steps=STEPS, seed=3):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(steps):
        x, label = rng.standard_normal((6, 4)).astype(np.float32), rng.standard_normal((6, 2)).astype(np.float32)
        if i in overflow:
            label[0, 0] = np.inf if i % 2 else np.nan
        out.append((Tensor(x), Tensor(label)))
    return out


grad_scale = C.MultitypeFuncGraph("grad_scale_of_this_test")


@grad_scale.register("Tensor", "Tensor")
def _grad_scale(scale, grad):
    return grad * F.cast(P.Reciprocal()(scale), F.dtype(grad))


accumulate, reset = C.MultitypeFuncGraph("accumulate_of_this_test"), C.MultitypeFuncGraph("reset_of_this_test")


@accumulate.register("Tensor", "Tensor")
def _accumulate(total, grad):
    return F.depend(True, F.assign_add(total, F.cast(grad, F.dtype(total))))


@reset.register("Tensor")
def _reset(total):
    return F.depend(True, F.assign(total, F.zeros_like(total)))


class LossScaleStep(nn.TrainOneStepWithLossScaleCell):
    """In the style of BERT's pre-training scripts: the optimizer runs in a branch."""

    def __init__(self, network, optimizer, scale):
        super().__init__(network, optimizer, scale)
        self.degree, self.cast = 1, P.Cast()
        self.loss_scale = Parameter(Tensor(scale.get_loss_scale(), ms.float32), name="loss_scale")

    def construct(self, x, label, sens=None):
        weights = self.weights
        loss = self.network(x, label)
        scaling_sens = self.loss_scale if sens is None else sens
        status, scaling_sens = self.start_overflow_check(loss, scaling_sens)
        grads = self.grad(self.network, weights)(x, label, self.cast(scaling_sens, ms.float32))
        grads = self.grad_reducer(grads)
        grads = self.hyper_map(F.partial(grad_scale, scaling_sens * self.degree), grads)
        cond = self.get_overflow_status(status, grads)
        overflow = cond
        if sens is None:
            overflow = self.loss_scaling_manager(self.loss_scale, cond)
        if not overflow:
            self.optimizer(grads)
        return loss, cond, scaling_sens


class OldLossScaleStep(nn.Cell):
    """The form of 1.1: the sum of flags, and a result from both branches."""

    def __init__(self, network, optimizer, scale):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer, self.weights = network.set_grad(), optimizer, ParameterTuple(optimizer.parameters)
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.reduce_sum, self.less_equal, self.base = P.ReduceSum(keep_dims=False), P.LessEqual(), Tensor(1, ms.float32)
        self.hyper_map, self.manager = C.HyperMap(), scale
        self.loss_scale = Parameter(Tensor(scale.get_loss_scale(), ms.float32), name="loss_scale")

    def construct(self, x, label):
        loss = self.network(x, label)
        grads = self.grad(self.network, self.weights)(x, label, F.fill(F.dtype(loss), F.shape(loss), self.loss_scale))
        grads = self.hyper_map(F.partial(grad_scale, self.loss_scale), grads)
        flag_sum = self.reduce_sum(P.AddN()([F.cast(P.FloatStatus()(g), ms.float32).reshape(()) for g in grads]), ())
        cond = self.less_equal(self.base, flag_sum)
        overflow = self.manager(self.loss_scale, cond)
        if overflow:
            succ = False
        else:
            succ = self.optimizer(grads)
        return F.depend((loss, cond, self.loss_scale), succ)


class AccumulationStep(nn.Cell):
    """Gradients are summed; every third step they are applied, unless they overflowed, and reset."""

    def __init__(self, network, optimizer, scale, n):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer, self.weights = network.set_grad(), optimizer, ParameterTuple(optimizer.parameters)
        self.accumulation_steps = Tensor(n, ms.int32)
        self.one, self.zero = Tensor([1], ms.int32), Tensor([0], ms.int32)
        self.local_step = Parameter(Tensor([0], ms.int32), name="local_step")
        self.accu_grads = self.weights.clone(prefix="accu_grads", init="zeros")
        self.accu_overflow = Parameter(Tensor([0], ms.int32), name="accu_overflow")
        self.loss_scale = Parameter(Tensor(scale.get_loss_scale(), ms.float32), name="loss_scale")
        self.grad, self.hyper_map, self.manager = C.GradOperation(get_by_list=True, sens_param=True), C.HyperMap(), scale
        self.not_equal, self.select, self.logical_or = P.NotEqual(), P.Select(), P.LogicalOr()

    def construct(self, x, label):
        loss = self.network(x, label)
        is_accu_step = self.not_equal(self.local_step, self.accumulation_steps)
        self.local_step = self.select(is_accu_step, self.local_step + self.one, self.one)
        mean_loss = loss / self.accumulation_steps
        grads = self.grad(self.network, self.weights)(x, label, F.cast(self.loss_scale, ms.float32))
        accu_succ = self.hyper_map(accumulate, self.accu_grads, grads)
        mean_loss = F.depend(mean_loss, accu_succ)
        bad = F.cast(P.LogicalNot()(ops.isfinite(P.AddN()([g.sum() for g in grads]))), ms.int32).reshape((1,))
        self.accu_overflow = self.select(is_accu_step, self.accu_overflow + bad, bad)
        is_accu_step = self.not_equal(self.local_step, self.accumulation_steps)
        if is_accu_step:
            succ = False
        else:
            grads = self.hyper_map(F.partial(grad_scale, self.loss_scale * self.accumulation_steps), self.accu_grads)
            overflow = self.manager(self.loss_scale, (self.accu_overflow > 0).reshape(()))
            if overflow:
                succ = False
            else:
                succ = self.optimizer(grads)
            succ = F.depend(succ, self.hyper_map(reset, self.accu_grads))
        return F.depend((mean_loss, is_accu_step, self.loss_scale), succ)


def adam(cell):
    rate = nn.ExponentialDecayLR(0.05, 0.9, 10)
    return nn.AdamWeightDecay(cell.trainable_params(), rate, weight_decay=0.01)


def momentum(cell):
    return nn.Momentum(cell.trainable_params(), 0.05, 0.9)


OVERFLOWS = (0, 7, 8, 21, 40)


@pytest.mark.parametrize("step", [LossScaleStep, OldLossScaleStep])
@pytest.mark.parametrize("optimizer", [adam, momentum])
def test_optimizer_unless_overflow(step, optimizer):
    def make():
        net = with_loss()
        return step(net, optimizer(net), nn.DynamicLossScaleUpdateCell(2.0 ** 10, 2, 6)).set_train()

    cell = both(make, batches(OVERFLOWS), paths=2)
    manager = cell.manager if step is OldLossScaleStep else cell.loss_scaling_manager
    assert manager.cur_iter.asnumpy() == STEPS + 1 and np.isfinite(cell.weights[0].asnumpy()).all()
    if optimizer is adam:
        assert cell.optimizer.global_step.asnumpy() == STEPS - len(OVERFLOWS)


def test_accumulation():
    def make():
        net = with_loss()
        return AccumulationStep(net, adam(net), nn.DynamicLossScaleUpdateCell(2.0 ** 10, 2, 6), 3).set_train()

    both(make, batches((4, 10, 11)), paths=3)


def test_counter_in_a_parameter():
    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network = with_loss()
            self.optimizer = momentum(self.network)
            self.sums = self.optimizer.parameters.clone(prefix="sums", init="zeros")
            self.step = Parameter(Tensor(0, ms.int32), name="step", requires_grad=False)
            self.value_and_grad = ms.value_and_grad(self.network, None, self.optimizer.parameters)

        def construct(self, x, label):
            loss, grads = self.value_and_grad(x, label)
            self.step += 1
            for total, g in zip(self.sums, grads):
                ops.assign_add(total, g / 4)
            if self.step % 4 == 0:
                self.optimizer(self.sums)
                for total in self.sums:
                    ops.assign(total, ops.zeros_like(total))
            return loss, self.step

    both(Step, batches(), paths=2)


def test_bounded_loops_and_their_gradients():
    """Newton's method until it converges, at most twelve passes."""
    class Root(nn.Cell):
        def __init__(self):
            super().__init__()
            self.passes = Parameter(Tensor(0, ms.int32), name="passes", requires_grad=False)

        def construct(self, a):
            x, i = ops.ones_like(a), Tensor(0, ms.int32)
            while i < 12 and ops.abs(x * x - a).max() > 1e-3:
                x = (x + a / x) / 2
                i = i + 1
            self.passes = self.passes + i
            return x, i

    rng = np.random.default_rng(0)
    calls = [(Tensor((rng.random(3) * 10.0 ** rng.integers(0, 4)).astype(np.float32)),) for _ in range(STEPS)]
    cell = both(Root, calls)
    assert 3 < sum(e.traces for e in entries(cell)) <= 12

    class Gradient(nn.Cell):
        def __init__(self):
            super().__init__()
            self.root = Root()

        def construct(self, a):
            return ops.grad(lambda v: self.root(v)[0].sum())(a)

    both(Gradient, calls)


def test_branches_of_other_shapes_and_kinds():
    class Pick(nn.Cell):
        """In the style of tagging scripts: each branch returns another static length, another structure, and Python values."""
        def construct(self, x, flag):
            if flag == 2:
                return x[:, :2], "two"
            if flag == 3 or not x.sum() > 0:
                return x[:, :3].sum(), (x, 3)
            return x

    x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    calls = [(v, Tensor(flag, ms.int32)) for flag in (2, 3, 4, 2, 4, 3) for v in (x, -x)]
    both(Pick, calls, paths=4)


def test_what_is_not_taken_leaves_nothing():
    class Guarded(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.n = Parameter(Tensor([1.0, 2.0]), name="w"), Parameter(Tensor(0, ms.int32), name="n")
            self.drop = nn.Dropout(p=0.5).set_train()

        def construct(self, x):
            before = self.w.value()
            if x.max() > 100:
                raise ValueError("too large")
            if x.min() < 0:
                self.w = ops.log(x)  # NaN
                self.n += 1
                return before, self.drop(x)
            self.w[0] = x[0]
            return before, self.w, x / 0

    calls = [(Tensor(v),) for v in ([1.0, 2.0], [-1.0, 1.0], [0.0, 3.0], [-2.0, -1.0], [5.0, 5.0])]
    cell = both(Guarded, calls, paths=2)
    ms.set_context(mode=ms.GRAPH_MODE)
    for _ in range(2):
        with pytest.raises(ValueError, match="too large"):
            cell(Tensor([200.0, 1.0]))
    assert cell.w.asnumpy()[0] == 5 and cell.n.asnumpy() == 2 and not any(e.eager for e in entries(cell))


def test_an_error_behind_a_condition_leaves_what_was_written():
    class Fails(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Parameter(Tensor(0.0), name="a"), Parameter(Tensor(0.0), name="b")

        def construct(self, x):
            self.a += 1
            if x > 0:
                self.b += x
                raise RuntimeError("no")
            return x

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        cell = Fails()
        for v in (1.0, -1.0, 2.0):
            if v > 0:
                with pytest.raises(RuntimeError, match="no"):
                    cell(Tensor(v))
            else:
                cell(Tensor(v))
        assert (cell.a.asnumpy(), cell.b.asnumpy()) == (3, 3)


def test_conditions_inside_what_is_differentiated():
    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.norm, self.drop = Parameter(Tensor([1.0, -2.0, 3.0]), name="w"), nn.BatchNorm1d(3), nn.Dropout(p=0.4)

        def construct(self, x):
            y = self.drop(self.norm(x * self.w))
            if y.sum() > 0:
                y = y * self.w
            if not (y.max() > 2 and y.min() < -2):
                y = ops.exp(y)
            return y.sum()

    class Step(nn.Cell):
        def __init__(self, kind):
            super().__init__()
            self.net = Inner().set_train()
            if kind == "recompute":
                self.net.recompute()
            if kind == "recorded":
                self.net.set_grad()
            self.optimizer = momentum(self.net)
            self.grad = C.GradOperation(get_by_list=True)

        def construct(self, x):
            loss = self.net(x)
            grads = self.grad(self.net, self.optimizer.parameters)(x)
            self.optimizer(grads)
            return loss

    rng = np.random.default_rng(1)
    calls = [(Tensor(rng.standard_normal((4, 3)).astype(np.float32)),) for _ in range(STEPS)]
    for kind in ("plain", "recompute", "recorded"):
        both(lambda k=kind: Step(k), calls)


def test_jit_functions():
    w = Parameter(Tensor(0.0), name="w")

    @ms.jit
    def f(x):
        if x > w:
            ops.assign(w, x)
            return x * 2
        return w - x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [float(f(Tensor(v))) for v in (1.0, 3.0, 2.0, 0.5, 4.0)] == [2, 6, 1, 2.5, 8] and w.asnumpy() == 4


def test_a_value_behind_a_condition_is_eager_from_there():
    """A call that reads a value continues eagerly; if many calls do so, later ones start eagerly."""
    seen = []

    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n, self.w = Parameter(Tensor(0, ms.int32), name="n"), Parameter(Tensor(np.ones(3, np.float32)), name="w")
            self.drop = nn.Dropout(p=0.5).set_train()

        def construct(self, x):
            self.n += 1
            y = self.drop(x)
            if x.sum() > 0:
                grads = ops.grad(lambda v: (v * self.w * y).sum())(x)
                self.w = self.w - grads
                seen.append(float(y.sum()))
                return self.drop(y) + self.w, self.w
            return y, self.w

    rng = np.random.default_rng(1)
    xs = [Tensor(rng.standard_normal(3).astype(np.float32)) for _ in range(12)]
    runs = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(2)
        cell = Looks()
        seen.clear()
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            runs.append(([bits(cell(x)) for x in xs], list(seen), bits(cell.n.value()), bits(cell.w.value())))
        if mode == ms.GRAPH_MODE:
            assert len(w) == 1 and "continues eagerly from there" in str(w[0].message) and "test_tensor_conditions.py" in str(w[0].message)
            entry, = entries(cell)
            assert type(cell(xs[0])[1]) is Tensor and entry.eager and entry.looks == 3
    assert runs[0] == runs[1]


def test_a_parameter_returned_by_an_eager_call_is_a_tensor():
    class Eager(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0]), name="w")

        def construct(self, x):
            float(x)
            return self.w, [self.w]

    ms.set_context(mode=ms.GRAPH_MODE)
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        a, (b,) = Eager()(Tensor(1.0))
    assert len(w) == 1 and type(a) is Tensor and type(b) is Tensor


def test_attributes_changed_beside_conditions():
    """A trace that changes an attribute is not reused for other calls; a Cell that changes one in every call runs eagerly."""
    class Counts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls, self.log, self.first, self.w = 0, [], None, Parameter(Tensor(0.0), name="w")

        def construct(self, x):
            if self.first is None:
                self.first = 2.0
            if x > 0:
                self.w += self.first
            if self.always:
                self.calls += 1
                self.log.append(self.calls)
            return x * self.calls + self.w

    for always in (False, True):
        results = []
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            cell = Counts()
            cell.always = always
            with warnings.catch_warnings(record=True) as w:
                warnings.simplefilter("always")
                results.append([bits(cell(Tensor(v))) for v in (1.0, -1.0, 2.0, -2.0, 3.0, -3.0) * 2] + [cell.log])
            assert len(w) == (1 if always and mode == ms.GRAPH_MODE else 0) and all("what its Cells hold" in str(x.message) for x in w)
        assert results[0] == results[1]


def test_compile_goes_as_far_as_the_first_condition():
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Parameter(Tensor(0, ms.int32), name="n")

        def construct(self, x):
            self.n += 1
            return x * 2 if x > 0 else x

    ms.set_context(mode=ms.GRAPH_MODE)
    cell = Two()
    cell.compile(Tensor(1.0))
    cell.compile(Tensor(1.0))
    assert cell.n.asnumpy() == 0
    assert [float(cell(Tensor(v))) for v in (3.0, -3.0, 1.0)] == [6, -3, 2] and cell.n.asnumpy() == 3
    assert sum(e.traces for e in entries(cell)) == 3


def test_more_ways_than_are_kept():
    class Long(nn.Cell):
        def construct(self, x, n):
            i = Tensor(0, ms.int32)
            while i < n:
                x = x * 1.001
                i = i + 1
            return x, i

    both(Long, [(Tensor([1.0]), Tensor(n, ms.int32)) for n in (1500, 3, 1500, 0, 1100)])
