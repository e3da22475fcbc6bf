"""print() and ops.Print in traced code: at every run the graph prints what the eager code prints, in program order."""
import builtins
import threading

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, nn, ops


def f(values):
    return Tensor(np.asarray(values, np.float32))


class Talking(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(f([1, 2]), name="p")

    def construct(self, x):
        y = x * 2
        print(y)
        print("y:", y, x.sum(), x.shape, 3, 2.5, sep=" / ")
        print(f"in a text {y} and {x.sum()}", end="|\n")
        print("%s, {}".format(x.sum()) % y)
        print((y, [x > 2], {"k": y}))
        print(self.p * 1, self.p.value().astype(ms.int32), y.astype(ms.float16))
        print("constant", None, True)
        print()
        ops.Print()("P", y)
        ops.print_(y.sum(), 7)
        return (y + self.p).sum()


def printed(mode, run, capfd):
    ms.set_context(mode=mode)
    try:
        run()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return capfd.readouterr().out


def test_both_modes_print_the_same(capfd):
    def run():
        net = Talking()
        for k in range(3):  # the first of them traces
            net(f([1.5, k]))
            net.p.set_data(f([k, k]))
    eager = printed(ms.PYNATIVE_MODE, run, capfd)
    assert printed(ms.GRAPH_MODE, run, capfd) == eager
    assert eager.count("[3. 4.]\n") and eager.count("constant None True\n\nP\n") == 3 and "traced" not in eager and builtins.print is print


def test_in_gradients_conditions_and_loops(capfd):
    def g(x):
        print("x", x)
        for i in range(2):
            x = x * x
            print(i, x)
        return x.sum()

    @ms.jit
    def branching(x):
        print("before", x)
        if x.sum() > 3:
            print("big", x)
        while x.sum() < 3:
            x = x * 2
            print("grows", x)
        return x

    def run():
        gradient = ms.grad(g)
        for k in (1.0, 2.0, 1.0):
            gradient(f([k, 2]))
        for k in (0.5, 5.0, 1.0, 5.0):
            branching(f([k, 0.25]))
    graph = printed(ms.GRAPH_MODE, run, capfd)
    jit = branching.__wrapped__ if hasattr(branching, "__wrapped__") else None
    assert jit is not None
    branching = jit
    assert printed(ms.PYNATIVE_MODE, run, capfd) == graph
    assert graph.count("x [") == 3 and graph.count("big") == 2 and graph.count("grows") >= 3


def test_under_jit_in_pynative_mode(capfd):
    @ms.jit
    def h(x):
        print("h", x)
        return x + 1

    for k in range(3):
        h(f([k]))
    assert capfd.readouterr().out == "h [0.]\nh [1.]\nh [2.]\n"


def test_mixed_precision_prints_each_tensor_in_its_type(capfd):
    class Net(nn.Cell):
        def construct(self, x, y):
            print(x, y)
            return x + y

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Net().to_float(ms.float16)
        net(f([1.0001]), Tensor(np.array([3], np.int64)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert capfd.readouterr().out == "[1.] [3]\n"


def test_the_builtin_is_restored_and_other_threads_print_at_once(capfd):
    inside = []

    @ms.jit
    def h(x):
        inside.append(builtins.print)
        thread = threading.Thread(target=builtins.print, args=("from a thread",))
        thread.start()
        thread.join()
        return x + 1

    before = builtins.print
    h(f([1])), h(f([2]))
    assert builtins.print is before and inside[0] is not before
    assert capfd.readouterr().out == "from a thread\n"

    @ms.jit
    def fails(x):
        print("not reached", x)
        raise KeyError("k")

    with pytest.raises(KeyError):
        fails(f([1]))
    assert builtins.print is before


def test_an_error_of_the_stream_reaches_the_caller():
    class Broken:
        def write(self, text):
            raise OSError("full")

        def flush(self):
            pass

    @ms.jit
    def h(x):
        print(x, file=Broken())
        return x + 1

    for _ in range(2):
        with pytest.raises(OSError, match="full"):
            h(f([1])).asnumpy()
