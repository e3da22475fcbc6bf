#!/usr/bin/env python3
"""Measures the cost of definitions in Python: a ResNet-18 in Python against the C++ library's, and a dataset's map in Python against the C++ transforms.

usage: PYTHONPATH=python python3 tests/bench/python_step.py [--batch N] [--side N] [--rounds N] [--images N]

Step: graph mode, momentum, random data. The network of python/examples/resnet (stem 'cifar') and sindri.models.create of the same shape run under the same
TrainOneStepCell, in one process and alternately (A B, B A, …). The ratio is that of the medians; `nodes` counts the nodes of the optimized graphs.
Map: the CIFAR training transforms (crop with padding, flip, rescale, normalise, HWC to CHW) on random images, as C++ transforms and as one Python function of
NumPy arrays; images per second, also alternately. `none` has no map; `python alone` is the function in a plain loop.
OMP_NUM_THREADS sets the number of threads.
"""
import argparse
import os
import statistics
import sys
import time

import numpy as np

import sindri as ms
from sindri import nn
from sindri.dataset import GeneratorDataset, vision

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "examples", "resnet"))
from src.resnet import resnet18  # noqa: E402


def training_step(net):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
    return step


def compiled(step):
    """Returns the engine's information about the step's compiled graph."""
    entries = [e for v in step.__dict__["_cell_graphs"].entries.values() for e in v if e.fn is not None]
    return entries[-1].fn.info()


def in_turns(tasks, rounds):
    """Returns the seconds of each task per round; the order changes from round to round."""
    taken = {name: [] for name in tasks}
    for r in range(rounds):
        for name in list(tasks) if r % 2 == 0 else list(tasks)[::-1]:
            begin = time.perf_counter()
            tasks[name]()
            taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(t) for name, t in taken.items()}


def compare_steps(batch, side, rounds):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    x = ms.Tensor(rng.standard_normal((batch, 3, side, side)).astype(np.float32))
    y = ms.Tensor(rng.integers(0, 10, batch).astype(np.int32))
    steps = {"python": training_step(resnet18(10, stem="cifar")), "c++": training_step(ms.models.create("resnet18_cifar", 10))}
    for step in steps.values():
        for _ in range(3):
            step(x, y).asnumpy()
    seconds = in_turns({name: (lambda s=step: s(x, y).asnumpy()) for name, step in steps.items()}, rounds)
    for name, step in steps.items():
        info = compiled(step)
        print(f"step, {name:<7} {seconds[name] * 1e3:9.2f} ms   "
              f"nodes {info['nodes']} of {info['nodes_traced']} traced, arena {info['arena_bytes'] / 1e6:.1f} MB")
    print(f"step, python over c++ {seconds['python'] / seconds['c++']:.4f}")


def numpy_transforms(image):
    """The same transforms in NumPy."""
    top, left = np.random.randint(0, 9, 2)
    image = np.pad(image, ((4, 4), (4, 4), (0, 0)))[top:top + 32, left:left + 32]
    if np.random.random() < 0.5:
        image = image[:, ::-1]
    image = (image.astype(np.float32) / 255 - (0.4914, 0.4822, 0.4465)) / (0.2023, 0.1994, 0.2010)
    return np.ascontiguousarray(image.transpose(2, 0, 1), dtype=np.float32)


def compare_maps(images, rounds):
    pictures = np.random.default_rng(0).integers(0, 256, (images, 32, 32, 3), dtype=np.uint8)

    class Pictures:
        def __len__(self):
            return images

        def __getitem__(self, i):
            return (pictures[i],)

    native = [vision.RandomCrop((32, 32), (4, 4, 4, 4)), vision.RandomHorizontalFlip(), vision.Rescale(1 / 255, 0.0),
              vision.Normalize((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)), vision.HWC2CHW()]

    def epoch(operations):
        data = GeneratorDataset(Pictures(), ["image"], shuffle=False)
        if operations is not None:
            data = data.map(operations, input_columns=["image"])
        return sum(1 for _ in data.batch(128).create_tuple_iterator(num_epochs=1))

    tasks = {"none": lambda: epoch(None), "c++": lambda: epoch(native), "python": lambda: epoch(numpy_transforms)}
    for task in tasks.values():
        task()
    seconds = in_turns(tasks, rounds)
    begin = time.perf_counter()
    for image in pictures:
        numpy_transforms(image)
    seconds["python alone"] = time.perf_counter() - begin
    for name, s in seconds.items():
        print(f"map, {name:<13} {images / s:9.0f} images/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--images", type=int, default=2000)
    args = parser.parse_args()
    if args.rounds:
        compare_steps(args.batch, args.side, args.rounds)
    if args.images:
        compare_maps(args.images, 5)


if __name__ == "__main__":
    main()
