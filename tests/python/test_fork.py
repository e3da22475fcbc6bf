"""A process forked after use: multiprocessing's default on Linux. The child has the parent's memory and only one of its threads."""
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np

import sindri as ms
from sindri import Tensor, nn, ops
from sindri.dataset import GeneratorDataset

FORK = multiprocessing.get_context("fork")


def in_child(f, seconds=60):
    """Returns f's result from a forked process; fails if it does not end."""
    near, far = FORK.Pipe(False)
    p = FORK.Process(target=lambda: far.send(f()))
    p.start()
    assert near.poll(seconds), "the forked process hangs"
    out = near.recv()
    p.join(10)
    assert p.exitcode == 0
    return out


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.dense = nn.Conv2d(8, 16, 3), nn.Dense(16, 10)

    def construct(self, x):
        return self.dense(ops.ReduceMean()(ops.relu(self.conv(x)), (2, 3)))


def work(net, x):
    """Uses elementwise ops on all threads, a convolution and its gradients, and a matrix product."""
    grads = ops.grad(lambda v: net(v).sum(), None, net.trainable_params())(x)
    big = Tensor(np.linspace(-1, 1, 600 * 500, dtype=np.float32).reshape(600, 500))
    return [v.asnumpy() for v in (net(x), *grads, big * big + big, ops.matmul(big, big.T))]


def test_ops_layers_and_gradients_after_use():
    before = ms.get_context("mode")
    x = Tensor(np.random.default_rng(1).standard_normal((8, 8, 32, 32)).astype(np.float32))
    try:
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            net = Net()
            expected = work(net, x)

            def child():
                same = all(np.array_equal(a, b) for a, b in zip(work(net, x), expected))
                fresh = work(Net(), Tensor(np.ones((3, 8, 20, 20), np.float32)))  # plans that the parent never created
                again = in_child(lambda: all(np.array_equal(a, b) for a, b in zip(work(net, x), expected)))  # forked again
                return same, len(fresh), again

            assert in_child(child) == (True, len(expected), True)
            assert all(np.array_equal(a, b) for a, b in zip(work(net, x), expected))  # the parent continues
    finally:
        ms.set_context(mode=before)


def test_pool_of_workers_beside_busy_threads():
    """Forks while other threads hold all kinds of locks: memory, plans, kernel choices."""
    stop = threading.Event()

    def busy(seed):
        rng, n = np.random.default_rng(seed), 0
        while not stop.is_set():
            n += 1
            a = Tensor(rng.standard_normal((64 + n % 400, 64)).astype(np.float32))
            ops.matmul(a, a.T).sum().asnumpy()

    threads = [threading.Thread(target=busy, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    try:
        for _ in range(4):
            assert in_child(lambda: float(ops.matmul(Tensor(np.ones((300, 300), np.float32)), Tensor(np.ones((300, 300), np.float32))).sum().asnumpy())) == 300.0**3
        with FORK.Pool(2) as pool:
            results = pool.map_async(sample, range(20))
            assert [round(v) for v in results.get(60)] == [i * 40000 for i in range(20)]
    finally:
        stop.set()
        for t in threads:
            t.join()


def sample(i):
    return float((Tensor(np.full((200, 200), i, np.float32)) * 1.0).sum().asnumpy())


def test_iterator_dropped_by_the_child():
    """Its threads belong to the parent: ending it must not wait for them."""
    data = GeneratorDataset([(np.full(3, i, np.float32),) for i in range(40)], ["x"], shuffle=False).batch(4)
    it = data.create_tuple_iterator(output_numpy=True, num_epochs=1)
    next(it)
    holder = [it]
    del it

    def child():
        holder.clear()
        return [float(row[0][0, 0]) for row in data.create_tuple_iterator(output_numpy=True, num_epochs=1)]

    assert in_child(child) == [float(v) for v in range(0, 40, 4)]


def test_idle_threads_rest_where_openmp_was_loaded_before():
    """Waiting threads must not use CPU time, also if another package loaded the OpenMP runtime with its own wait policy."""
    code = """if True:
        import ctypes, time
        ctypes.CDLL("libgomp.so.1")
        import numpy as np
        from sindri import Tensor
        a = Tensor(np.ones((1000, 300), np.float32))
        for _ in range(3): (a + a).asnumpy()
        time.sleep(0.02)
        start = time.process_time()
        for _ in range(30):
            (a + a).asnumpy()
            time.sleep(0.004)
        print(time.process_time() - start)"""
    env = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    assert float(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout) < 0.05
