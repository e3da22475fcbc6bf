"""Trains three small networks with default initial values, five seeds each, and prints the test accuracies: LeNet, an MLP and a small ResNet on the digits in
dataset/digits.

    PYTHONPATH=python python tests/reference/compare_training.py sindri
    $SINDRI_PEERS_PYTHON_MINDSPORE tests/reference/compare_training.py mindspore

Both packages run the same code, with batches from NumPy's generator. Initial values, and so the accuracies, differ by seed. The comparison
is about this spread: the two packages' means must lie within it (docs/benchmarks.md has the figures).
"""
import gzip
import importlib
import os
import sys

import numpy as np

SEEDS, BATCH = range(5), 32
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dataset", "digits", "digits.csv.gz")


def digits():
    """Returns (train images [N, 1, 8, 8] in [0, 1], train labels, test images, test labels), split as described in dataset/digits/README.md."""
    with gzip.open(DIGITS, "rt", encoding="ascii") as f:
        rows = np.loadtxt(f, delimiter=",", dtype=np.float32)
    x, y = rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64].astype(np.int32)
    test = np.arange(len(x)) % 5 == 4
    return x[~test], y[~test], x[test], y[test]


def networks(nn, size):
    """Returns name -> (network, learning rate, epochs); `size` is the side of an image."""

    class LeNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 3), nn.Conv2d(6, 16, 3)
            self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
            self.fc1, self.fc2, self.fc3 = nn.Dense(16 * (size // 4) ** 2, 120), nn.Dense(120, 84), nn.Dense(84, 10)

        def construct(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.pool(self.relu(self.conv2(x)))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))

    class Block(nn.Cell):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
            self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3), nn.BatchNorm2d(outputs)
            self.relu, self.plain = nn.ReLU(), stride == 1 and inputs == outputs
            if not self.plain:
                self.down, self.down_bn = nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)

        def construct(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + (x if self.plain else self.down_bn(self.down(x))))

    class ResNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv, self.bn, self.relu = nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU()
            self.blocks = nn.SequentialCell(Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2))
            self.flatten, self.fc = nn.Flatten(), nn.Dense(32 * (-(-size // 4)) ** 2, 10)

        def construct(self, x):
            return self.fc(self.flatten(self.blocks(self.relu(self.bn(self.conv(x))))))

    def mlp():
        return nn.SequentialCell(nn.Flatten(), nn.Dense(size * size, 64), nn.ReLU(), nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 10))

    return {"LeNet": (LeNet, 0.05, 8), "MLP": (mlp, 0.05, 8), "ResNet": (ResNet, 0.02, 2)}


def accuracy(ms, make, rate, epochs, seed, data):
    """Returns the test accuracy after training from one seed."""
    nn = ms.nn
    x, y, test_x, test_y = data
    ms.set_seed(seed)
    net = make()
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    order = np.random.default_rng(seed)
    for _ in range(epochs):
        at = order.permutation(len(x))
        for i in range(0, len(x) - BATCH + 1, BATCH):
            rows = at[i:i + BATCH]
            step(ms.Tensor(x[rows]), ms.Tensor(y[rows]))
    net.set_train(False)
    return float((net(ms.Tensor(test_x)).asnumpy().argmax(1) == test_y).mean())


def run(ms, seeds=SEEDS, names=None):
    """Returns name -> accuracies by seed."""
    data = digits()
    made = networks(ms.nn, data[0].shape[-1])
    return {name: [accuracy(ms, *made[name], seed, data) for seed in seeds] for name in names or made}


if __name__ == "__main__":
    package = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "sindri")
    package.set_context(mode=package.GRAPH_MODE)
    for title in ("LeNet", "MLP", "ResNet"):
        found = run(package, names=[title])[title]
        values = np.array(found)
        print(f"{title:7} mean {values.mean():.4f}  spread {values.min():.4f} to {values.max():.4f}  {' '.join(f'{v:.4f}' for v in found)}", flush=True)
