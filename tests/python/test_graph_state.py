"""When compiled calls are reused: everything that changes a result leads to another graph, and nothing else does."""
import gc

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, nn, ops


class Scale(nn.Cell):
    """x times an attribute, twice that while training."""

    def __init__(self, k=1.0):
        super().__init__()
        self.k = k
        self.p = Parameter(np.array([1.0], np.float32), name="p")

    def construct(self, x):
        y = x * self.p * self.k
        return y * 2 if self.training else y


class Held(nn.Cell):
    """A Cell in a list, which does not make it a child."""

    def __init__(self, net):
        super().__init__()
        self.nets = [net]

    def construct(self, x):
        return self.nets[0](x)


def graphs_of(f):
    """Returns the number of graphs of a jit function."""
    return sum(len(v) for v in f._graphs.entries.values())


def through_grad(net):
    g = ms.grad(lambda x: net(x))
    return lambda x: g(x)


def through_value(net):
    g = ms.value_and_grad(net)
    return lambda x: g(x)[0]


def through_argument(net):
    f = ms.jit(lambda c, x: c(x))
    return lambda x: f(net, x)


def through_attributes(net):
    """Of a Cell that is passed as an argument, not called."""
    f = ms.jit(lambda c, x: x * c.p * c.k * (2 if c.training else 1))
    return lambda x: f(net, x)


def through_closure(net):
    return ms.jit(lambda x: x * net.p * net.k * (2 if net.training else 1))


WAYS = {"cell": lambda net: net, "nested": lambda net: nn.SequentialCell(net), "jit": lambda net: ms.jit(lambda x: net(x)), "grad": through_grad,
        "value_and_grad": through_value, "argument": through_argument, "attributes": through_attributes, "closure": through_closure, "list": Held,
        "operation": lambda net: ops.GradOperation()(net)}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_the_state_of_cells_counts_however_they_are_reached(mode, way):
    net = Scale()
    run, x = WAYS[way](net), Tensor([1.0])
    assert run(x).item() == 1
    net.set_train()
    assert run(x).item() == 2
    net.set_train(False)
    assert run(x).item() == 1
    net.k = 3.0
    assert run(x).item() == 3
    for k in range(10):  # each may be allocated at the address of an earlier one
        net.p = Parameter(np.array([k], np.float32), name="p")
        assert run(x).item() == 3 * k


def test_dropout_of_a_jit_function_follows_the_training_flag():
    net = nn.Dropout(p=0.5)
    net.set_train()
    f, x = ms.jit(lambda x: net(x)), Tensor(np.ones(64, np.float32))
    assert (f(x).asnumpy() == 0).any()
    net.set_train(False)
    assert (f(x).asnumpy() == 1).all()


@pytest.mark.parametrize("make", [lambda k: Tensor([float(k)]), lambda k: np.array([k], np.float32), lambda k: [float(k)], lambda k: {"a": {"b": float(k)}},
                                  lambda k: lambda x: x * k], ids=["tensor", "array", "list", "dict", "function"])
def test_attributes_that_take_the_place_of_others(mode, make):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.m = make(0)

        def construct(self, x):
            m = self.m
            while isinstance(m, dict):
                m = next(iter(m.values()))
            return m(x) if callable(m) else x * (m if isinstance(m, Tensor) else m[0] if isinstance(m, list) else float(m[0]) if isinstance(m, np.ndarray) else m)

    net, x = Net(), Tensor([1.0])
    for k in range(1, 12):
        net.m = make(k)
        gc.collect(0)
        assert net(x).item() == k


def test_containers_and_arrays_that_change_in_place(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.numbers, self.table, self.array, self.deep, self.names = [1.0], {"a": 1.0}, np.ones(1, np.float32), ([{"a": [1.0]}],), {"one"}

        def construct(self, x):
            return x * self.numbers[-1] * self.table["a"] * float(self.array[0]) * self.deep[0][0]["a"][0] * len(self.names) * len(self.table)

    net, x = Net(), Tensor([1.0])
    assert net(x).item() == 1
    net.numbers[0] = 2.0
    assert net(x).item() == 2
    net.numbers.append(3.0)
    assert net(x).item() == 3
    net.table["a"] = 2.0
    assert net(x).item() == 6
    net.table["b"] = 2.0
    assert net(x).item() == 12
    net.array[0] = 0.5
    assert net(x).item() == 6
    net.deep[0][0]["a"][0] = 2.0
    assert net(x).item() == 12
    net.names.add("two")
    assert net(x).item() == 24


def test_equal_members_lead_to_no_other_graph():
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.numbers, self.array = [1.5, float("nan")], np.array([1.0, np.nan])

        def construct(self, x):
            runs.append(1)
            return x * self.numbers[0]

    net, x = Net(), Tensor([1.0])
    for _ in range(3):
        assert net(x).item() == 1.5
        net.numbers[:] = [float("1.5"), float("nan")]
        net.array = net.array.copy()
    assert len(runs) == 1


def test_arrays_as_arguments_are_told_apart_by_their_content(mode):
    class Net(nn.Cell):
        def construct(self, x, a):
            return x + Tensor(a)

    net, x, a = Net(), Tensor([1.0]), np.ones(1, np.float32)
    assert net(x, a).item() == 2
    a[0] = 7
    assert net(x, a).item() == 8
    assert [net(x, np.full(1, k, np.float32)).item() for k in range(6)] == [1, 2, 3, 4, 5, 6]


def test_numbers_are_told_apart_by_type_and_sign(mode):
    full = ms.jit(lambda x, a: ops.full((1,), a, dtype=ms.float32) + x * 0)
    kind = ms.jit(lambda x, a: x * {bool: 1, int: 2, float: 3, np.float32: 4}[type(a)])
    at = ms.jit(lambda x, table: x * {bool: 1, int: 2, float: 3}[type(next(iter(table)))])
    x = Tensor([-0.0])
    assert [bool(np.signbit(full(x, a).asnumpy()[0])) for a in (0.0, -0.0, 0.0)] == [False, True, False]
    x = Tensor([1.0])
    assert [kind(x, a).item() for a in (True, 1, 1.0, np.float32(1))] == [1, 2, 3, 4]
    assert [at(x, {a: x}).item() for a in (True, 1, 1.0)] == [1, 2, 3]
    cell = Scale(0.0)
    assert np.signbit(cell(Tensor([-1.0])).asnumpy()[0])
    cell.k = -0.0
    assert not np.signbit(cell(Tensor([-1.0])).asnumpy()[0])


def test_hooks_that_come_and_go(mode):
    net, x, got = nn.ReLU(), Tensor([1.0]), []
    outer = nn.SequentialCell(net)
    for run in (net, outer):
        got.append(run(x).item())
        first = net.register_forward_hook(lambda cell, args, out: out * 2)
        got.append(run(x).item())
        second = net.register_forward_hook(lambda cell, args, out: out * 5)
        pre = net.register_forward_pre_hook(lambda cell, args: args[0] * 7)
        got.append(run(x).item())
        first.remove(), pre.remove()
        got.append(run(x).item())
        second.remove()
        got.append(run(x).item())
    assert got == [1, 2, 70, 5, 1] * 2


def test_a_slice_or_an_array_of_equal_content_finds_its_graph():
    f = ms.jit(lambda x, s, a: x[s] * float(a[0]))
    x = Tensor([1.0, 2.0, 3.0])
    for _ in range(3):
        assert f(x, slice(1, None), np.array([2.0])).asnumpy().tolist() == [4, 6]
    assert graphs_of(f) == 1


def test_what_an_eager_run_changes_is_no_reason_to_trace_again():
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n, self.log = 0, []

        def construct(self, x):
            runs.append(1)
            if float(x.sum()) > 0:
                self.n += 1
                self.log.append(self.n)
            return x

    net = Net()
    with pytest.warns(UserWarning, match="runs eagerly"):
        net(Tensor([1.0]))
    for _ in range(3):
        net(Tensor([1.0]))
    assert len(runs) == 5 and net.log == [1, 2, 3, 4]  # traced once


def test_requires_grad_switched_after_a_gradient(mode):
    net, x = nn.Dense(2, 2), Tensor(np.ones((1, 2), np.float32))
    weights = ops.GradOperation(get_by_list=True)(net)
    assert len(weights(x)) == 2
    net.weight.requires_grad = False
    assert [g.shape for g in weights(x)] == [(2,)]
    net.weight.requires_grad = True
    assert len(weights(x)) == 2


def test_names_of_gradients_follow_their_parameters(mode):
    net, x = Scale(), Tensor([1.0])
    g = ms.grad(net, None, net.p, return_ids=True)
    assert g(x)[0] == "p"
    net.p.name = "q"
    assert g(x)[0] == "q"


def test_tensors_that_change_in_place_outside(mode):
    around, net, x = Tensor([1.0, 1.0]), Scale(), Tensor([1.0, 1.0])
    net.k = Tensor([1.0, 1.0])
    f = ms.jit(lambda x: x * around)
    assert f(x).asnumpy().tolist() == [1, 1] and net(x).asnumpy().tolist() == [1, 1]
    around[0] = net.k[0] = 9.0
    assert f(x).asnumpy().tolist() == [9, 1] and net(x).asnumpy().tolist() == [9, 1]
    around.add_(1.0), net.k.add_(1.0)
    assert f(x).asnumpy().tolist() == [10, 2] and net(x).asnumpy().tolist() == [10, 2]


@pytest.mark.filterwarnings("ignore:.*runs eagerly")
def test_tensors_that_construct_changes_in_place(mode):
    around = Tensor([0.0, 0.0])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.t = Tensor([0.0, 0.0])

        def construct(self, x):
            self.t[0] = x.sum()
            around.add_(x)
            return self.t + x

    net = Net()
    for k in (1.0, 2.0, 3.0):
        assert net(Tensor([k, k])).asnumpy().tolist() == [3 * k, k]
        assert net.t.asnumpy().tolist() == [2 * k, 0]
    assert around.asnumpy().tolist() == [6, 6]


def test_tensors_made_while_tracing_may_change_in_place():
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = []

    class Net(nn.Cell):
        def construct(self, x):
            runs.append(1)
            y, z = Tensor(np.zeros(2, np.float32)), x * 1
            y[0] = x.sum()
            z[1] = 5.0
            return y + z

    net = Net()
    for k in (1.0, 2.0):
        assert net(Tensor([k, k])).asnumpy().tolist() == [3 * k, 5]
    assert len(runs) == 1


class OwnStep(nn.Cell):
    """Forward, then the gradient of the same Cell, in the style of published training Cells, without set_grad()."""

    def __init__(self, net, rate=0.0):
        super().__init__(auto_prefix=False)
        self.net, self.weights = net, ms.ParameterTuple(net.trainable_params())
        self.grad, self.rate = ops.GradOperation(get_by_list=True), rate

    def construct(self, x):
        y = self.net(x)
        grads = self.grad(self.net, self.weights)(x)
        for p, g in zip(self.weights, grads):
            p.assign(p - self.rate * g)
        return y


def test_a_gradient_takes_the_forward_run_over_in_a_graph():
    """Batch statistics are updated once and dropout draws once, with or without set_grad(); one graph serves all steps."""
    ms.set_context(mode=ms.GRAPH_MODE)
    x = Tensor(np.random.default_rng(0).standard_normal((6, 2, 3, 3)).astype(np.float32))
    results = []
    for marked in (False, True):
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Conv2d(2, 2, 3), nn.BatchNorm2d(2, momentum=0.5), nn.ReLU(), nn.Dropout(p=0.5))
        if marked:
            net.set_grad()
        step = OwnStep(net, 0.1).set_train()
        y = [step(x).asnumpy() for _ in range(3)]
        results.append(y + [p.asnumpy() for p in net.get_parameters()])
        assert sum(len(v) for v in step.__dict__["_cell_graphs"].entries.values()) == 1
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)
    norm = nn.BatchNorm2d(2, momentum=0.5)
    OwnStep(norm).set_train()(x)
    np.testing.assert_allclose(norm.moving_mean.asnumpy(), 0.5 * x.asnumpy().mean((0, 2, 3)), 1e-5, 1e-7)


def test_compile_only_compiles():
    """Weights, statistics, schedule and random numbers do not change; the first step then runs the existing graph."""
    ms.set_context(mode=ms.GRAPH_MODE)
    x, y = Tensor(np.ones((4, 3), np.float32)), Tensor(np.zeros((4, 2), np.float32))

    def make():
        ms.set_seed(5)
        net = nn.SequentialCell(nn.Dense(3, 2), nn.BatchNorm1d(2), nn.Dropout(p=0.5))
        return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), [0.1, 0.2], 0.9)).set_train()

    plain, compiled = make(), make()
    ms.set_seed(6)
    want = [plain(x, y).asnumpy() for _ in range(2)]
    before = [p.asnumpy() for p in compiled.get_parameters()]
    ms.set_seed(6)
    assert compiled.compile(x, y) is None
    for p, old in zip(compiled.get_parameters(), before):
        np.testing.assert_array_equal(p.asnumpy(), old, err_msg=p.name)
    graph = compiled.__dict__["_cell_graphs"].entries
    assert sum(map(len, graph.values())) == 1
    np.testing.assert_array_equal([compiled(x, y).asnumpy() for _ in range(2)], want)
    assert sum(map(len, graph.values())) == 1
