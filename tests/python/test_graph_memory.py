"""What graph mode keeps and releases: graphs of dropped Cells, and of shapes that do not recur."""
import gc
import random
import weakref

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops


def resident_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 2**20


@pytest.fixture(autouse=True)
def graph_mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


def test_a_dropped_cell_is_freed():
    x = Tensor(np.ones((4, 16), np.float32))
    net = nn.Dense(16, 16)
    net(x)
    step = nn.TrainOneStepCell(nn.WithLossCell(nn.Dense(16, 16), nn.MSELoss()), nn.Momentum(nn.Dense(16, 16).trainable_params(), 0.1, 0.9))
    step(x, x)
    grad = ops.grad(lambda v: net(v).sum())
    grad(x)
    alive = [weakref.ref(net), weakref.ref(step)]
    del net, step, grad
    gc.collect()
    assert [r() for r in alive] == [None, None]


def test_dropped_cells_do_not_pile_up():
    """Without a call of the garbage collector: it counts objects, and these are few but large."""
    x = Tensor(np.ones((4, 512), np.float32))

    def use(n):
        for _ in range(n):
            nn.Dense(512, 512, weight_init="zeros")(x)

    use(110)
    before = resident_mb()
    use(200)  # 256 MB of graphs and weights
    assert resident_mb() - before < 100


@pytest.mark.parametrize("mode, warm_up, shapes", [(ms.GRAPH_MODE, 600, 700), (ms.PYNATIVE_MODE, 1200, 4000)])
def test_shapes_that_do_not_come_again(mode, warm_up, shapes):
    """The latest 64 graphs of a function stay. Memory that stays for each shape grows in every quarter; a heap fragmented by other tests does not."""
    ms.set_context(mode=mode)
    net = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU())
    dims = list(np.ndindex(9, 9, 9, 9))
    random.Random(1).shuffle(dims)

    def use(some):
        before = resident_mb()
        for d in some:
            net(Tensor(np.ones([n + 1 for n in d] + [4], np.float32)))
        gc.collect()
        return resident_mb() - before

    use(dims[:warm_up])
    quarter = shapes // 4
    grown = [use(dims[warm_up + i * quarter:warm_up + (i + 1) * quarter]) for i in range(4)]
    assert min(grown) < 0.7, grown  # graphs that stayed: 64 kB each; a text and a choice for each shape: 1 kB


def test_shapes_that_grow():
    """The graphs that stay share the memory for values between their ops, and keep nothing from the calls that created them."""
    net = nn.SequentialCell(nn.Dense(16, 64), nn.ReLU(), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 4))

    def use(sizes):
        for n in sizes:
            net(Tensor(np.ones((n, 16), np.float32)))
        gc.collect()

    use(range(1, 101))
    before = resident_mb()
    use(range(150, 10050, 50))
    assert resident_mb() - before < 25  # 2.5 MB between the ops and 0.6 MB of input; for 64 calls 190
