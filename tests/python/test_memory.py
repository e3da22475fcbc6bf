"""Memory stays constant over 10,000 steps: eager and compiled training, Model with callbacks, datasets with Python transforms.

Each case runs in a separate process, so that memory left by other tests does not count. It compares the resident set after the first part (with filled caches
and
pools) with that at the end.
"""
import os
import subprocess
import sys

import pytest

import sindri as ms

pytestmark = pytest.mark.slow  # omitted by scripts/test.sh --quick and --fast

HEAD = '''
import ctypes, gc, os, sys

PR_SET_THP_DISABLE = 41
ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)  # otherwise the kernel may merge pages at any moment, in steps of 2 MiB

import numpy as np
import sindri as ms
from sindri import nn, ops, Tensor
from sindri import dataset as ds

ms.set_seed(1)
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * PAGE / 2**10


def flat(run, warm=1000, steps=10000, allowed=600):
    """run(n) runs n steps. The resident set may grow by `allowed` KiB between `warm` and `steps`: 1/15 KiB per step."""
    run(warm)
    before = resident()
    run(steps - warm)
    grown = resident() - before
    print(f"grown by {grown:.0f} KiB")
    sys.exit(0 if grown < allowed else 1)


X, Y = np.random.randn(8, 4).astype(np.float32), np.random.randint(0, 3, 8).astype(np.int32)


def network():
    return nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 3))
'''

TRAIN = '''
ms.set_context(mode=ms.MODE_NAME)
net = network()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 0.001))
step.set_train()


def run(n):
    for _ in range(n):
        step(Tensor(X), Tensor(Y)).asnumpy()


flat(run)
'''

FUNCTIONAL = '''
ms.set_context(mode=ms.MODE_NAME)
net = network()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
net.set_train()
gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)


def run(n):
    for i in range(n):
        value, grads = gradient(Tensor(X), Tensor(Y))
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        if i % 100 == 0:
            net(Tensor(X))[0:2].sum().item()


flat(run)
'''

MODEL = '''
import contextlib, io, tempfile
from sindri.train.callback import Callback, History, LearningRateScheduler, LossMonitor, TimeMonitor

ms.set_context(mode=ms.MODE_NAME)
net = network()
model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), nn.Momentum(net.trainable_params(), 0.01, 0.9),
                 metrics={"accuracy"})
data = ds.NumpySlicesDataset({"x": np.tile(X, (50, 1)), "y": np.tile(Y, 50)}, shuffle=True).map(lambda x: x * 1, "x").batch(8)


class Look(Callback):
    def on_train_step_end(self, run_context):
        float(run_context.original_args().net_outputs.asnumpy())


def run(n):
    with contextlib.redirect_stdout(io.StringIO()):
        model.train(n // 50, data, callbacks=[LossMonitor(10), TimeMonitor(10), Look(), LearningRateScheduler(lambda lr, step: lr)], dataset_sink_mode=SINK)
        model.eval(data)


flat(run, allowed=1500)
'''

DATASET = '''
from sindri.dataset import transforms


class Pairs:
    def __getitem__(self, i):
        return np.full((3, 4), i, np.float32), np.int32(i % 3)

    def __len__(self):
        return 20


data = ds.GeneratorDataset(Pairs(), ["x", "y"], shuffle=True, num_parallel_workers=2, python_multiprocessing=False)
data = data.map(transforms.Compose([lambda x: x + 1, lambda x: x.transpose()]), "x", num_parallel_workers=2).map(lambda y: (y, y * 2), "y", ["y", "z"])
data = data.filter(lambda x: x[0, 0] >= 0, "x").batch(2)


def run(n):
    for _ in range(n // 10):
        for row in data.create_dict_iterator(num_epochs=1):
            row["x"].asnumpy()


flat(run, allowed=1500)
'''


def check(script):
    done = subprocess.run([sys.executable, "-c", HEAD + script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def test_a_leak_is_noticed():
    """The limit is small enough: keeping one small tensor per step exceeds it."""
    kept = TRAIN.replace("MODE_NAME", "PYNATIVE_MODE").replace("def run(n)", "kept = []\n\n\ndef run(n)")
    with pytest.raises(AssertionError, match="grown by"):
        check(kept.replace("step(Tensor(X), Tensor(Y)).asnumpy()", "kept.append(step(Tensor(X), Tensor(Y)))"))


@pytest.mark.parametrize("name", ["GRAPH_MODE", "PYNATIVE_MODE"])
@pytest.mark.parametrize("script", [TRAIN, FUNCTIONAL], ids=["cells", "functions"])
def test_training_steps(script, name):
    check(script.replace("MODE_NAME", name))


@pytest.mark.parametrize("name, sink", [("GRAPH_MODE", True), ("PYNATIVE_MODE", False)])
def test_model_with_callbacks(name, sink):
    check(MODEL.replace("MODE_NAME", name).replace("SINK", str(sink)))


def test_dataset_epochs():
    check(DATASET)


def test_empty_cache_gives_memory_back():
    def resident():
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    tensors = [ms.ops.ones((4 << 20,), ms.float32) for _ in range(8)]  # 16 MB each
    assert all(float(t[0]) == 1 for t in tensors)
    del tensors
    kept = resident()
    ms.runtime.empty_cache()
    assert resident() < kept - (64 << 20)
