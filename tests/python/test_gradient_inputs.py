"""Attribution of gradients: each input is distinct, even if another has the same value."""
import copy
import pickle
from collections import namedtuple

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, nn, ops


def numbers(v):
    """Returns the numbers in nested tuples of one-element tensors."""
    return tuple(numbers(x) for x in v) if isinstance(v, tuple) else v.asnumpy().item()


def cube(a, b):
    return a * a * b


def test_one_tensor_as_two_inputs(mode):
    x = Tensor([3.0])
    assert numbers(ms.grad(cube, (0, 1))(x, x)) == (18, 9)
    assert numbers(ms.grad(cube, 1)(x, x)) == 9
    assert numbers(ms.value_and_grad(lambda a, b: a * 2, (0, 1))(x, x)) == (6, (2, 0))
    assert numbers(ops.GradOperation(get_all=True)(cube)(x, x)) == (18, 9)
    assert numbers(ops.GradOperation(get_all=True)(lambda p: cube(p[0], p[1]))((x, x))) == ((18, 9),)
    assert numbers(ops.GradOperation(get_all=True, sens_param=True)(cube)(x, x, x)) == (54, 27)
    assert numbers(ms.jit(lambda q: ms.grad(cube, (0, 1))(q, q))(x)) == (18, 9)


def test_an_input_that_the_function_finds_around_it(mode):
    x = Tensor([3.0])
    assert numbers(ms.grad(lambda a: a * x)(x)) == 3
    assert numbers(ms.jit(lambda q: ms.grad(lambda a: a * q)(q))(x)) == 3
    assert numbers(ms.grad(lambda a, b: a * b)(x, b=x)) == 3


def test_gradients_of_gradients_reach_values_around(mode):
    x = Tensor([3.0])
    assert numbers(ms.grad(lambda q: ms.grad(lambda a: a * a * q)(q))(x)) == 12  # 2 q q
    assert numbers(ms.grad(lambda q: sum(ms.grad(cube, (0, 1))(q, q)))(x)) == 18  # 3 q q
    assert numbers(ms.grad(ms.grad(ms.grad(lambda a: a * a * a * a)))(x)) == 72
    assert numbers(ms.grad(lambda q: ms.grad(lambda a: q * q * a)(x))(x)) == 6


def test_derivatives_in_a_direction_and_vjp(mode):
    x, one, zero = Tensor([3.0]), Tensor([1.0]), Tensor([0.0])
    assert numbers(ms.jvp(cube, (x, x), (one, zero))) == (27, 18)
    assert numbers(ms.jvp(cube, (x, x), (zero, one))) == (27, 9)
    value, pull = ms.vjp(cube, x, x)
    assert numbers(value) == 27 and numbers(pull(one)) == (18, 9)


def test_the_value_of_a_parameter_as_input(mode):
    p = Parameter(np.array([3.0], np.float32), name="p")
    assert numbers(ms.grad(lambda a: a * p)(p.value())) == 3
    assert numbers(ms.grad(lambda a: a * 3 + p * 0, 0, p)(p.value())) == (3, 0)
    assert numbers(ms.grad(lambda a: a * 3 + p * 0, None, p)(p.value())) == 0
    assert numbers(ms.grad(lambda a, b: a * a * b, (0, 1))(p, p.value())) == (18, 9)


def test_a_recorded_run_tells_its_inputs_apart(mode):
    class Net(nn.Cell):
        def construct(self, a, b):
            return a * a * b

    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net().set_grad()
            self.grad = ops.GradOperation(get_all=True)

        def construct(self, x):
            return self.net(x, x), self.grad(self.net)(x, x)

    assert numbers(Step().set_train()(Tensor([3.0]))) == (27, (18, 9))


def test_inputs_keep_their_containers(mode):
    Pair = namedtuple("Pair", "a b")

    class Items(list):
        pass

    x, y = Tensor([3.0]), Tensor([2.0])
    grads = ops.GradOperation(get_all=True)(lambda p, q: p.a * p.b * q[0] * q[1])(Pair(x, x), Items([y, 5]))
    assert numbers(grads[0]) == (30, 30) and numbers(grads[1][0]) == 45


def test_an_input_changed_in_place_is_changed_for_the_caller():
    x = Tensor([3.0])

    def f(a):
        b = a * a
        a[0] = 5.0
        return b

    assert numbers(ms.grad(f)(x)) == 6 and x.item() == 5


class Square(nn.Cell):
    """Computes w x x and counts its runs."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(np.array([1.0], np.float32), name="w")
        self.runs = Parameter(0, requires_grad=False, name="runs")

    def construct(self, x):
        self.runs += 1
        if not isinstance(x, Tensor):
            x = Tensor(x) if isinstance(x, np.ndarray) else x[0]
        return self.w * x * x if self.training else x * 0


def trained():
    net = Square()
    net.set_grad()
    return net.set_train()


def change_tensor(net, x):
    x[0] = 5.0


def change_member(net, x):
    x[0][0] = 5.0


@pytest.mark.parametrize("x, change", [(Tensor([1.0]), change_tensor), (Parameter(np.array([1.0], np.float32), name="x"), change_tensor),
                                       ([Tensor([1.0])], change_member)], ids=["tensor", "parameter", "list"])
def test_a_recorded_run_does_not_count_for_an_input_that_has_changed(mode, x, change):
    net = trained()
    net(x)
    change(net, x)
    grads = ms.grad(net, 0, net.w)(x)
    assert numbers(grads) == ((10,) if isinstance(x, list) else 10, 25) and net.runs.item() == 2


@pytest.mark.parametrize("change", [lambda net: net.w.set_data(Tensor([3.0])), lambda net: net.set_train(False),
                                    lambda net: net.register_forward_hook(lambda cell, args, out: out * 3)], ids=["parameter", "training", "hook"])
def test_a_recorded_run_does_not_count_for_a_cell_that_has_changed(mode, change):
    net, x = trained(), Tensor([1.0])
    net(x)
    change(net)
    assert numbers(ms.grad(net)(x)) == (6 if net.training else 0) and net.runs.item() == 2


def test_a_recorded_run_counts_for_what_is_the_same():
    for x in (Tensor([1.0]), [Tensor([1.0])], (Tensor([1.0]), np.array([float("nan")]))):
        net = trained()
        net(x)
        Square().k = 5  # another Cell
        ms.grad(net, None, net.w)(x)
        assert net.runs.item() == 1


def test_a_hook_of_a_tensor_sees_and_changes_its_gradient(mode):
    def product(x, y):
        z = x * y
        z.register_hook(lambda g: g * 2)
        return z * y

    assert numbers(ms.grad(product, (0, 1))(Tensor(1.0), Tensor(2.0))) == (8, 6)  # z's own gradient 2 became 4; y's, as a factor of z·y, stays 1·2


def test_a_hook_of_an_argument_ends_with_the_call_and_a_removed_one_does_nothing():
    seen = []

    def square(x):
        x.register_hook(lambda g: seen.append(g.asnumpy().item()))
        x.register_hook(lambda g: g * 100).remove()
        return x * x

    x = Tensor(3.0)
    for times in (1, 2):
        assert numbers(ms.grad(square)(x)) == 6
        assert seen == [6.0] * times
    assert numbers(ms.grad(lambda v: v * v)(x)) == 6 and len(seen) == 2


def test_what_cannot_be_a_hook_of_a_tensor():
    with pytest.raises(TypeError, match="expected a function, got int"):
        Tensor(1.0).register_hook(3)
    with pytest.raises(TypeError, match="expected a function, got str"):
        Parameter(Tensor(1.0), name="p").register_hook("clamp")


class Weighted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w, self.v = Parameter(Tensor([2.0, 3.0]), name="w"), Parameter(Tensor([1.0, 1.0]), name="v")

    def construct(self, x):
        return (x * self.w * self.w + self.v).sum()


def test_hooks_of_a_parameter_change_its_gradient_in_order_until_they_are_removed(mode):
    """MindSpore 2.10's values."""
    net, x = Weighted(), Tensor([1.0, 1.0])
    weights = ms.ParameterTuple(net.trainable_params())
    functions = [lambda x, f=ms.value_and_grad(net, None, weights): f(x)[1], ms.ops.GradOperation(get_by_list=True)(net, weights),
                 lambda x, f=ms.grad(net, 0, weights): f(x)[1]]

    def gradients():
        found = [[g.asnumpy().tolist() for g in f(x)] for f in functions]
        assert found == [found[0]] * len(functions)
        return found[0]

    assert gradients() == [[4, 6], [1, 1]]
    ten = net.w.register_hook(lambda g: g * 10)
    assert gradients() == [[40, 60], [1, 1]]
    one = net.w.register_hook(lambda g: g + 1)
    assert gradients() == [[41, 61], [1, 1]]
    ten.remove()
    assert gradients() == [[5, 7], [1, 1]]
    one.remove()
    assert gradients() == [[4, 6], [1, 1]]
    net.w.register_hook(lambda g: None)
    assert gradients() == [[4, 6], [1, 1]]


def test_hooks_of_a_parameter_that_a_function_finds_or_gets(mode):
    w = Parameter(Tensor([2.0]), name="w")
    around, of_argument = ms.grad(lambda x: x * w, None, w), ms.grad(lambda x, p: x * p, 1)
    assert (around(Tensor([3.0])).item(), of_argument(Tensor([3.0]), w).item()) == (3, 3)
    handle = w.register_hook(lambda g: g * 2)
    assert (around(Tensor([3.0])).item(), of_argument(Tensor([3.0]), w).item()) == (6, 6)
    handle.remove()
    assert (around(Tensor([3.0])).item(), of_argument(Tensor([3.0]), w).item()) == (3, 3)
    w.requires_grad = False
    assert (around(Tensor([3.0])).item(), of_argument(Tensor([3.0]), w).item()) == (0, 0)


def test_a_hook_of_a_parameter_reads_values_and_a_training_step_uses_what_it_returns(mode):
    net, seen = Weighted(), []
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5)).set_train()
    net.v.register_hook(lambda g: seen.append(g.asnumpy().tolist()))
    net.v.register_hook(lambda g: ms.ops.clamp(g, -0.25, 0.25))
    for done in (1, 2):
        step(Tensor([1.0, 1.0]))
        assert seen == [[1.0, 1.0]] * done
        assert net.v.asnumpy().tolist() == [1 - 0.125 * done] * 2


def test_hooks_of_a_parameter_stay_with_it(mode):
    net = Weighted()
    net.w.register_hook(lambda g: g * 0)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [g.asnumpy().tolist() for g in ms.grad(other, None, other.trainable_params())(Tensor([1.0, 1.0]))] == [[4, 6], [1, 1]]
    net.w.requires_grad = False
    net.w.register_hook(pytest.fail)
    assert ms.grad(net, None, net.w)(Tensor([1.0, 1.0])).asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("returned, error", [(lambda g: g.asnumpy(), TypeError), (lambda g: g.sum(), ValueError)])
def test_what_a_hook_of_a_parameter_cannot_return(returned, error):
    net = Weighted()
    net.w.register_hook(returned)
    with pytest.raises(error, match="a hook of parameter 'w' returned"):
        ms.grad(net, None, net.w)(Tensor([1.0, 1.0]))


def test_no_grad_with_and_without_a_tape_around(mode):
    """Without a tape, the code inside belongs to the graph like all other code."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(3.0), name="w")

        def construct(self, x):
            with ms.common.api._no_grad():
                k = x * self.w
            return k * x

    net, x = Net(), Tensor(2.0)
    assert float(net(x)) == 12 and float(ms.grad(net)(x)) == 6
    assert float(ms.grad(net, None, net.w)(x)) == 0
