"""Runs MindSpore for `sindri benchmark`: one process per mode, controlled over pipes. Embedded in the program at build time.

usage: mindspore_peer.py '{"net": ..., "batch": N, "precision": "f32", "task": "train", "mode": "graph", "threads": N}'

Uses the protocol of pytorch_peer.py. Modes: graph, pynative.
"""
import json
import os
import resource
import sys
import time

ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # library output must not mix with the answers
os.environ.setdefault("GLOG_v", "3")


def answer(**values):
    ANSWERS.write(json.dumps(values) + "\n")
    ANSWERS.flush()


def stop(kind, error):
    answer(error=f"{type(error).__name__}: {error}", kind=kind)
    sys.exit(1)


try:
    import numpy as np
    import mindspore as ms
    from mindspore import nn
except Exception as e:  # a broken installation can raise more than ImportError
    stop("import", e)


def conv(i, o, kernel, stride=1):
    return nn.Conv2d(i, o, kernel, stride, pad_mode="pad", padding=kernel // 2)


class Block(nn.Cell):
    """Basic block (3x3, 3x3) or bottleneck (1x1, 3x3 with the stride, 1x1), with a projection if the shape changes."""

    def __init__(self, i, o, stride, bottleneck):
        super().__init__()
        w = o // 4 if bottleneck else o
        if bottleneck:
            layers = [conv(i, w, 1), nn.BatchNorm2d(w), nn.ReLU(), conv(w, w, 3, stride), nn.BatchNorm2d(w), nn.ReLU(), conv(w, o, 1), nn.BatchNorm2d(o)]
        else:
            layers = [conv(i, o, 3, stride), nn.BatchNorm2d(o), nn.ReLU(), conv(o, o, 3), nn.BatchNorm2d(o)]
        self.main = nn.SequentialCell(layers)
        self.projects = stride != 1 or i != o
        if self.projects:
            self.shortcut = nn.SequentialCell([conv(i, o, 1, stride), nn.BatchNorm2d(o)])
        self.relu = nn.ReLU()

    def construct(self, x):
        rest = x
        if self.projects:
            rest = self.shortcut(x)
        return self.relu(self.main(x) + rest)


def resnet(stem, i, widths, counts, bottleneck, side, classes):
    layers = list(stem)
    for stage, (w, count) in enumerate(zip(widths, counts)):
        for block in range(count):
            layers.append(Block(i, w, 2 if stage and not block else 1, bottleneck))
            i = w
    return nn.SequentialCell(*layers, nn.AvgPool2d(side, 1), nn.Flatten(), nn.Dense(i, classes))


def imagenet_resnet(counts, bottleneck):
    k = 4 if bottleneck else 1
    stem = [conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, pad_mode="same")]
    return resnet(stem, 64, [64 * k, 128 * k, 256 * k, 512 * k], counts, bottleneck, 7, 1000), (3, 224, 224), 1000


def cifar_resnet(widths, counts):
    stem = [conv(3, widths[0], 3), nn.BatchNorm2d(widths[0]), nn.ReLU()]
    return resnet(stem, widths[0], widths, counts, False, 32 >> (len(widths) - 1), 10), (3, 32, 32), 10


def valid(i, o):
    return nn.Conv2d(i, o, 5, pad_mode="valid")


def lenet():
    return nn.SequentialCell(valid(1, 6), nn.ReLU(), nn.MaxPool2d(2, 2), valid(6, 16), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(400, 120),
                             nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)), (1, 32, 32), 10


def mlp():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10)), (1, 28, 28), 10


def digits():
    return nn.SequentialCell(conv(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), conv(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2, 2),
                             conv(32, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(256, 10)), (1, 8, 8), 10


NETS = {
    "mlp": mlp, "lenet": lenet, "digits": digits,
    "resnet18": lambda: imagenet_resnet([2, 2, 2, 2], False), "resnet34": lambda: imagenet_resnet([3, 4, 6, 3], False),
    "resnet50": lambda: imagenet_resnet([3, 4, 6, 3], True), "resnet101": lambda: imagenet_resnet([3, 4, 23, 3], True),
    "resnet152": lambda: imagenet_resnet([3, 8, 36, 3], True),
    "resnet18_cifar": lambda: cifar_resnet([64, 128, 256, 512], [2, 2, 2, 2]), "resnet20": lambda: cifar_resnet([16, 32, 64], [3, 3, 3]),
    "resnet32": lambda: cifar_resnet([16, 32, 64], [5, 5, 5]), "resnet56": lambda: cifar_resnet([16, 32, 64], [9, 9, 9]),
}


def make_step(task):
    ms.set_context(mode=ms.GRAPH_MODE if task["mode"] == "graph" else ms.PYNATIVE_MODE, device_target="CPU", runtime_num_threads=task["threads"])
    ms.set_seed(1)
    net, shape, classes = NETS[task["net"]]()
    parameters = sum(p.size for p in net.trainable_params())
    x = ms.Tensor(np.random.RandomState(0).randn(task["batch"], *shape).astype(np.float32))
    y = ms.Tensor((np.arange(task["batch"]) * 7 % classes).astype(np.int32))
    half = {"f32": None, "bf16": ms.bfloat16, "f16": ms.float16}[task["precision"]]
    if half is not None:
        net = ms.amp.auto_mixed_precision(net, amp_level="O2", dtype=half)
    if task["task"] == "infer":
        net.set_train(False)
        return lambda: net(x).asnumpy(), parameters
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9, 1e-4)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), optimizer)
    train.set_train()
    return lambda: float(train(x, y).asnumpy()), parameters


def main():
    begin = time.perf_counter()
    step, parameters = make_step(json.loads(sys.argv[1]))
    answer(ready=True, version=ms.__version__, parameters=parameters, build_s=time.perf_counter() - begin)
    for line in sys.stdin:
        _, steps, seconds = line.split()
        times, begin = [], time.perf_counter()
        while len(times) < int(steps) or time.perf_counter() - begin < float(seconds):
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        answer(median_s=sorted(times)[len(times) // 2], steps=len(times), peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


try:
    main()
except Exception as e:
    stop("run", e)
