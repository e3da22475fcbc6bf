"""Cells: attributes, names, modes, containers, hooks, custom gradients; graph mode compared with eager mode."""
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, ParameterTuple, Tensor, nn, ops


class Linear(nn.Cell):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = Parameter(np.full((n_out, n_in), 0.5, np.float32))
        self.bias = Parameter(np.zeros(n_out, np.float32))

    def construct(self, x):
        return ops.matmul(x, self.weight.T) + self.bias


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = Linear(3, 4)
        self.body = nn.SequentialCell(Linear(4, 4), Linear(4, 2))

    def construct(self, x):
        return self.body(ops.relu(self.fc1(x)))


def test_names_are_attribute_paths():
    net = Two()
    names = ["fc1.weight", "fc1.bias", "body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias"]
    assert [p.name for p in net.get_parameters()] == names == [n for n, _ in net.parameters_and_names()]
    assert [n for n, _ in net.cells_and_names()] == ["", "fc1", "body", "body.0", "body.1"]
    outer = nn.Cell(auto_prefix=False)
    outer.network = net
    assert [p.name for p in outer.get_parameters()] == names


def test_attribute_rules():
    net = Two()
    with pytest.raises(TypeError, match="it cannot become"):
        net.fc1 = 3
    with pytest.raises(TypeError, match="it cannot become"):
        net.fc1.weight = "text"
    net.fc1.bias = Tensor(np.ones(4, np.float32))
    assert isinstance(net.fc1.bias, Parameter) and net.fc1.bias.asnumpy().tolist() == [1] * 4
    net.fc1.bias = 2
    assert net.fc1.bias.asnumpy().tolist() == [2] * 4
    net.fc1.bias = None
    assert net.fc1.bias is None and [p.name for p in net.fc1.get_parameters()] == ["fc1.weight"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        net.nothing

    class Early(nn.Cell):
        def __init__(self):
            self.w = Parameter(1.0)

    with pytest.raises(AttributeError, match="super"):
        Early()


def test_starts_in_inference_mode():
    net = Two()
    assert not net.training and net.set_train() is net and net.body[0].training and net.phase == "train"
    assert not net.set_train(False).body[1].training


def test_parameter_rules():
    with pytest.raises(ValueError, match="bool"):
        Parameter(True)
    with pytest.raises(TypeError):
        Parameter("x")
    with pytest.raises(ValueError):
        Parameter(1.0, name=" ")
    p = Parameter(np.zeros((2, 2), np.float32), name="w")
    assert str(p) == "Parameter (name=w, shape=(2, 2), dtype=Float32, requires_grad=True)" and Parameter(3).dtype is ms.int32
    with pytest.raises(ValueError, match="shape"):
        p.set_data(Tensor(np.zeros(3, np.float32)))
    p.set_data(Tensor(np.ones((2, 2), np.float16)))
    assert p.dtype is ms.float32 and p.asnumpy().sum() == 4
    with pytest.raises(TypeError):
        Parameter(np.zeros(2, np.int32), name="i").set_data(Tensor(np.zeros(2, np.float32)))
    q = p.clone("zeros")
    assert q.asnumpy().sum() == 0 and q.name == "w"
    assert [x.name for x in ParameterTuple([p]).clone("moments", "zeros")] == ["moments.w"]
    with pytest.raises(ValueError, match="two Parameters"):
        ParameterTuple([p, q])


def test_parameter_is_a_view_of_its_value_only():
    a = np.zeros(2, np.float32)
    p = Parameter(Tensor.from_numpy(a))
    a[0] = 5
    assert p.asnumpy().tolist() == [0, 0]
    held = p.value()
    p.set_data(Tensor(np.ones(2, np.float32)))
    assert held.asnumpy().tolist() == [0, 0]


def test_construct_writes_parameters_in_order(mode):
    class Count(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Parameter(0, requires_grad=False)
            self.acc = Parameter(np.zeros(2, np.float32), requires_grad=False)

        def construct(self, x):
            self.n += 1
            self.acc = self.acc + x
            doubled = self.acc * 2
            self.acc = doubled
            return self.acc + self.n

    net = Count()
    assert net(Tensor([1.0, 2.0])).asnumpy().tolist() == [3, 5]
    assert net(Tensor([1.0, 2.0])).asnumpy().tolist() == [8, 14]
    assert net.n.asnumpy() == 2 and net.acc.asnumpy().tolist() == [6, 12]


def test_graph_is_traced_once_per_signature():
    ms.set_context(mode=ms.GRAPH_MODE)
    calls = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = 2.0

        def construct(self, x, n=1, flag=None):
            calls.append(x.shape)
            return (x * self.scale + n, {"a": [x, (n, flag)]}) if self.training else x

    net = Net()
    x, y = Tensor([1.0]), Tensor([1.0, 2.0])
    for _ in range(3):
        net(x), net(y)
    assert calls == [(1,), (2,)]
    net.set_train()
    out, rest = net(x, 3, flag="f")
    assert out.asnumpy().tolist() == [5] and rest["a"][1] == (3, "f") and isinstance(rest["a"], list)
    net.set_train(False)(x)
    net.set_train()(x, 3, flag="f")
    assert len(calls) == 3  # graphs compiled before are used again
    net.scale = 4.0
    assert net(x, 3, flag="f")[0].asnumpy().tolist() == [7] and len(calls) == 4


def test_a_value_asked_for_falls_back_with_one_warning():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x):
            return x if float(x.sum()) > 0 else -x

    net = Net()
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        assert net(Tensor([1.0])).asnumpy() == 1 and net(Tensor([-2.0])).asnumpy() == 2 and net(Tensor([[3.0]])).asnumpy() == 3
    assert len(w) == 1 and "Net cannot be compiled" in str(w[0].message) and "test_cell.py" in str(w[0].message)


def test_modes_agree_bitwise(rng):
    x = Tensor(rng.standard_normal((5, 3)).astype(np.float32))
    results = []
    for m in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=m)
        ms.set_seed(3)
        net = Two()
        loss = ms.value_and_grad(lambda a: net(a).sum(), None, ParameterTuple(net.trainable_params()))
        value, grads = loss(x)
        results.append([value.asnumpy()] + [g.asnumpy() for g in grads])
    assert all(np.array_equal(a, b) for a, b in zip(*results))


def test_forward_run_is_reused_by_the_gradient_call(mode):
    runs = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(np.array([3.0], np.float32))
            self.seen = Parameter(0, requires_grad=False)

        def construct(self, x):
            runs.append(1)
            self.seen += 1
            return self.w * x

    class Step(nn.Cell):
        def __init__(self, net):
            super().__init__(auto_prefix=False)
            self.net = net
            self.net.set_grad()
            self.weights = ParameterTuple(net.trainable_params())
            self.grad = ops.GradOperation(get_by_list=True, sens_param=True)

        def construct(self, x):
            loss = self.net(x)
            sens = ops.ones_like(loss) * 10
            return loss, self.grad(self.net, self.weights)(x, sens)

    step = Step(Net()).set_train()
    loss, grads = step(Tensor([2.0]))
    assert loss.asnumpy() == 6 and grads[0].asnumpy() == 20 and step.net.seen.asnumpy() == 1 and len(runs) == 1


def test_own_gradient(mode):
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return dout * 100, out

    g = ops.GradOperation(get_all=True)(Net())(Tensor([2.0]), Tensor([3.0]))
    assert g[0].asnumpy() == 100 and g[1].asnumpy() == 6


def test_hooks():
    net, seen = Linear(3, 1), []
    handle = net.register_forward_hook(lambda cell, args, out: seen.append(out.shape))
    pre = net.register_forward_pre_hook(lambda cell, args: (args[0] * 2,))
    x = Tensor(np.ones((1, 3), np.float32))
    assert net(x).item() == 3 and seen == [(1, 1)]
    handle.remove(), pre.remove()
    assert net(x).item() == 1.5 and len(seen) == 1
    got = []
    net.register_backward_hook(lambda cell, grad_in, grad_out: got.append((grad_in[0].asnumpy().tolist(), grad_out[0].asnumpy().tolist())))
    ms.grad(net)(x)
    assert got == [([[0.5, 0.5, 0.5]], [[1.0]])]


def test_recompute_keeps_values_gradients_and_state(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = Linear(3, 3)
            self.n = Parameter(0, requires_grad=False)

        def construct(self, x):
            self.n += 1
            return ops.dropout(ops.tanh(self.fc(x)), 0.5)

    results = []
    for on in (False, True):
        ms.set_seed(5)
        net = Net()
        if on:
            net.recompute()
        value, grads = ms.value_and_grad(lambda a: net(a).sum(), None, ParameterTuple(net.trainable_params()))(Tensor(np.ones((2, 3), np.float32)))
        results.append([value.asnumpy(), net.n.asnumpy()] + [g.asnumpy() for g in grads])
    assert all(np.array_equal(a, b) for a, b in zip(*results)) and results[0][1] == 1


def test_recompute_gives_every_value_its_gradient(mode):
    class Net(nn.Cell):
        def __init__(self, tied, on):
            super().__init__()
            self.tied = [tied]  # a Parameter of another Cell: a list is not a child
            if on:
                self.recompute()

        def construct(self, a, b, m=None):
            return a * b * m * self.tied[0] + a

    results = []
    for on in (False, True):
        tied = Parameter(Tensor(np.array([2.0, 3.0], np.float32)), name="tied")
        net = Net(tied, on)

        def f(x, k):
            return net(x, x, m=k * 1.0).sum()

        x, k = Tensor(np.array([1.0, 2.0], np.float32)), Tensor(np.array([5.0, 7.0], np.float32))
        grads = ms.grad(f, (0, 1), ParameterTuple([tied]))(x, k)
        results.append([g.asnumpy().tolist() for g in (*grads[0], *grads[1])])
    assert results[0] == results[1] == [[21.0, 85.0], [2.0, 12.0], [5.0, 28.0]]


def test_containers():
    seq = nn.SequentialCell(OrderedDict([("a", Linear(2, 2)), ("b", Linear(2, 2))]))
    assert [p.name for p in seq.get_parameters()] == ["a.weight", "a.bias", "b.weight", "b.bias"] and len(seq) == 2
    seq = nn.SequentialCell([Linear(2, 2)])
    seq.append(Linear(2, 1))
    assert seq(Tensor(np.ones((1, 2), np.float32))).shape == (1, 1) and [p.name for p in seq[1].get_parameters()] == ["1.weight", "1.bias"]
    seq.insert(0, Linear(2, 2))
    del seq[1]
    assert len(seq) == 2 and [n for n in seq.name_cells()] == ["0", "1"] and len(seq[:1]) == 1
    cells = nn.CellList([Linear(1, 1), Linear(1, 1)])
    assert len(cells) == 2 and cells[-1] is list(cells)[1]
    with pytest.raises(NotImplementedError):
        cells(1)
    with pytest.raises(TypeError, match="expected a Cell"):
        nn.SequentialCell(3)


def test_repr_shows_the_tree():
    class Named(nn.Cell):
        def extend_repr(self):
            return "k=1"

    assert repr(Named()) == "Named<k=1>" and "(fc1): Linear<>" in repr(Two())


def test_native_network_trains_like_any_cell(mode):
    net = ms.models.create("lenet")
    net.set_train()
    x = Tensor(np.ones((2,) + (1, 32, 32), np.float32))
    params = ParameterTuple(net.trainable_params())
    value, grads = ms.value_and_grad(lambda a: net(a).sum(), None, params)(x)
    assert np.isfinite(value.asnumpy()) and len(grads) == len(params) and any(np.abs(g.asnumpy()).max() > 0 for g in grads)
    outer = nn.SequentialCell(net)
    assert all(p.name.startswith("0.") for p in outer.get_parameters())


def test_memory_of_parameters_in_closures():
    ms.set_context(mode=ms.GRAPH_MODE)

    def make():
        p = Parameter(np.ones(2, np.float32), name="p")
        return ms.jit(lambda x: x + p)

    f = make()
    for _ in range(3):
        assert f(Tensor([1.0, 2.0])).asnumpy().tolist() == [2, 3]


def test_gradients_of_integer_arithmetic(mode):
    x, y = Tensor(1, ms.int32), Tensor(2, ms.int32)
    g = ops.GradOperation(get_all=True)(lambda a, b: a * b)(x, y)
    assert str(g) == "(Tensor(shape=[], dtype=Int32, value= 2), Tensor(shape=[], dtype=Int32, value= 1))"
    assert ops.GradOperation()(lambda a, b: a * b)(x, y).asnumpy() == 2


def test_gradients_of_integer_arithmetic_without_an_input_to_follow(mode):
    whole = Tensor([1, 2, 3])
    for x in (2, 2.0, {"a": whole}):
        f = (lambda a: a["a"] * whole) if isinstance(x, dict) else lambda a: a * whole
        assert ms.grad(f)(x) == () and ops.GradOperation()(f)(x) == () and ops.GradOperation(get_all=True)(f)(x) == ()
        value, grads = ms.value_and_grad(f)(x)
        assert value.shape == (3,) and grads == ()
    first, second = ms.grad(lambda a, n: a * n, (0, 1))(whole, 3)
    assert first.dtype is ms.int64 and first.asnumpy().tolist() == [3, 3, 3] and second is None
    assert ops.GradOperation()(lambda n, a: a * n)(3, whole) == ()
    pairs = ops.GradOperation(get_all=True)(lambda n, a: a[0] * a[1] * n)(3, (whole, 2))
    assert pairs[0][0].asnumpy().tolist() == [6, 6, 6] and pairs[0][1] is None
    assert ms.grad(lambda a, b: a * b)(whole, b=whole + 1).asnumpy().tolist() == [2, 3, 4]


def test_a_dict_of_inputs_leaves_the_gradients_of_the_others_in_place(mode):
    x, y = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    grads = ops.GradOperation(get_all=True)(lambda a, b: a["x"] * b)({"x": x}, y)
    assert len(grads) == 1 and grads[0].asnumpy().tolist() == [2, 3]


def test_a_second_run_for_integer_gradients_leaves_no_trace(mode):
    p = Parameter(np.ones(1, np.float32), name="p")

    def f(x):
        ops.assign(p, p + 1)
        return x * ops.cast(p, ms.int64)

    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(np.zeros(1, np.int64), requires_grad=False)

        def construct(self, x):
            self.count = self.count + 1
            return x * x * self.count

    x = Tensor([1, 2])
    assert ms.grad(f)(x).asnumpy().tolist() == [2, 2] and p.asnumpy() == 2
    value, grad = ms.value_and_grad(f)(x)
    assert value.asnumpy().tolist() == [3, 6] and grad.asnumpy().tolist() == [3, 3] and p.asnumpy() == 3
    net = Counting()
    assert ms.grad(net)(x).asnumpy().tolist() == [2, 4] and net.count.asnumpy() == 1
    assert ops.GradOperation()(net)(x).asnumpy().tolist() == [4, 8] and net.count.asnumpy() == 2


def test_random_numbers_differ_between_replays():
    class Net(nn.Cell):
        def construct(self, x):
            return ops.dropout(x, 0.5)

    x, results = Tensor(np.ones(64, np.float32)), []
    for m in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=m)
        ms.set_seed(4)
        net = Net().set_train()
        results.append([net(x).asnumpy().copy() for _ in range(3)])
    assert not np.array_equal(results[0][0], results[0][1]) and all(np.array_equal(a, b) for a, b in zip(*results))


def test_an_inserted_parameter_is_an_attribute(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.insert_param_to_cell("w", Parameter(np.full(2, 3, np.float32)))
            self.insert_param_to_cell("a.b", Parameter(np.ones(2, np.float32)), check_name_contain_dot=False)
            self.none = 1
            self.insert_param_to_cell("empty", None)

        def construct(self, x):
            return x * self.w

    net = Net()
    assert net(Tensor([1.0, 2.0])).asnumpy().tolist() == [3, 6] and net.w.name == "w" and net.empty is None
    net.w = Tensor([1.0, 1.0])
    assert isinstance(net.w, Parameter) and net(Tensor([1.0, 2.0])).asnumpy().tolist() == [1, 2]
    assert [n for n, _ in net.parameters_and_names()] == ["w", "a.b"] and not hasattr(net, "a.b")
    for name in ("none", "construct", "training"):
        with pytest.raises(KeyError, match="in use"):
            net.insert_param_to_cell(name, Parameter(1.0))
    net.insert_param_to_cell("w", Parameter(np.zeros(2, np.float32), name="v"))
    assert net.w.name == "v"

    class Tuple(nn.Cell):
        def __init__(self, *params):
            super().__init__()
            self.taken = 7
            self.all = ParameterTuple(params)

    net = Tuple(Parameter(1.0, name="free"), Parameter(2.0, name="taken"), Parameter(3.0, name="construct"))
    assert net.free.name == "free" and net.taken == 7 and not isinstance(net.construct, Parameter) and len(list(net.get_parameters())) == 3


def test_missing_attributes_of_cells_with_getattr_are_named():
    class Wrapper(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dense(2, 3)

        def __getattr__(self, name):
            if name == "out_channels":
                return self.inner.out_channels
            return super().__getattr__(name)

    class Outer(Wrapper):
        def __getattr__(self, name):
            return 1 if name == "one" else super().__getattr__(name)

    for net in (Wrapper(), Outer()):
        assert net.out_channels == 3 and not hasattr(net, "absent") and getattr(net, "absent", 4) == 4
        with pytest.raises(AttributeError, match=f"'{type(net).__name__}' object has no attribute 'absent'"):
            net.absent
    assert Outer().one == 1 and "__getattr__" not in vars(nn.Cell)


def test_writes_through_a_numpy_view_reach_folded_weights():
    net = nn.SequentialCell([nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU()]).set_train(False)
    x = Tensor(np.random.default_rng(0).normal(size=(1, 3, 8, 8)).astype(np.float32))
    first = net(x).asnumpy().copy()
    view = net[0].weight.asnumpy()
    for factor in (3.0, 0.5):
        view *= factor
        np.testing.assert_allclose(net(x).asnumpy(), first * (3 if factor == 3 else 1.5), 1e-4, 1e-5)
    view *= 2
    del view  # earlier writes are visible all the same
    np.testing.assert_allclose(net(x).asnumpy(), first * 3, 1e-4, 1e-5)
