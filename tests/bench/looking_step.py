#!/usr/bin/env python3
"""Measures the cost of a GRAPH_MODE training step whose code reads a value: a LeNet with `float(loss)` in the step's construct.

usage: OMP_NUM_THREADS=1 PYTHONPATH=python python3 tests/bench/looking_step.py [--batch N] [--rounds N] [--steps N]

There are two ways to write the step: with `value_and_grad`, or like TrainOneStepCell, which runs forward and then the gradient. Each has three forms, measured
alternately: one graph (no value is read), looking (GRAPH_MODE, a value is read), op by op (PYNATIVE_MODE). Prints the processor time per step in us, the median of
the rounds. With one thread this is the step's cost on a machine that also runs other programs.
"""
import argparse
import statistics
import time
import warnings

import numpy as np

import sindri as ms
from sindri import nn, ops


class LeNet(nn.Cell):
    """For 28x28 images: two convolutions, three dense layers."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.flatten(self.pool(ops.relu(self.conv2(x))))
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x)))))


class ValueAndGrad(nn.Cell):
    """A step with one call that returns loss and gradients."""

    def __init__(self, network, optimizer, looks):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer, self.looks = network, optimizer, looks
        self.value_and_grad = ms.value_and_grad(network, None, optimizer.parameters)

    def construct(self, x, label):
        loss, grads = self.value_and_grad(x, label)
        if self.looks and float(loss) > 100:
            grads = tuple(g * 0.1 for g in grads)
        self.optimizer(grads)
        return loss


class OneStep(nn.TrainOneStepCell):
    """A step that runs forward and then the gradient, which reuses that forward run."""

    def __init__(self, network, optimizer, looks):
        super().__init__(network, optimizer)
        self.looks = looks

    def construct(self, x, label):
        loss = self.network(x, label)
        grads = self.grad(self.network, self.weights)(x, label, ops.fill(loss.dtype, loss.shape, self.sens))
        if self.looks and float(loss) > 100:
            grads = tuple(g * 0.1 for g in grads)
        self.optimizer(grads)
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    x = ms.Tensor(rng.standard_normal((args.batch, 1, 28, 28)).astype(np.float32))
    label = ms.Tensor(rng.integers(0, 10, args.batch).astype(np.int32))
    runs = {}
    for kind in (ValueAndGrad, OneStep):
        for name, mode, looks in (("one graph", ms.GRAPH_MODE, False), ("looking", ms.GRAPH_MODE, True), ("op by op", ms.PYNATIVE_MODE, True)):
            net = nn.WithLossCell(LeNet(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
            runs[kind.__name__, name] = kind(net, nn.Momentum(net.trainable_params(), 0.01, 0.9), looks).set_train(), mode
    taken = {key: [] for key in runs}
    for r in range(args.rounds + 1):
        for key, (step, mode) in runs.items() if r % 2 == 0 else reversed(runs.items()):
            ms.set_context(mode=mode)
            begin = time.process_time()
            for _ in range(args.steps):
                loss = step(x, label)
            loss.asnumpy()
            if r > 0:  # the first round compiles
                taken[key].append((time.process_time() - begin) / args.steps * 1e6)
    for (kind, name), times in taken.items():
        print(f"{kind:13} {name:10} {statistics.median(times):8.0f} us")


if __name__ == "__main__":
    main()
