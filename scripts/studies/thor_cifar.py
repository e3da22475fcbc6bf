#!/usr/bin/env python3
"""Compares THOR with Momentum on a small ResNet and real CIFAR-10 images: epochs and seconds until THOR matches the result of Momentum's best recipe.

usage: thor_cifar.py tune|final|report --images DIR --out FILE [--minutes M] [--threads N] [--only REGEX]

Network: a ResNet with one basic block per stage, widths 16, 32, 64. Data: every second training image of DIR/train/<class>/*.jpg, batches of 128, random
crop (4 pixels of padding) and flip. `tune` trains on nine tenths of the images and evaluates on the remaining tenth; both optimizers get the same number of
trials, in the grids below. `final` trains on all of them with the recipes in FINAL, three seeds each (or --seeds), and evaluates the test set once per run.
A run is one JSON line of FILE, written when it ends. Runs that FILE already contains are not repeated, so a study can be run in pieces (--minutes: start no
run after this time).
`report` prints tables of FILE.
"""
import argparse
import json
import math
import pathlib
import re
import sys
import time

import numpy as np

import sindri as ms
from sindri import nn, ops
from sindri.common.initializer import HeNormal, initializer

BATCH = 128


# Data.


def load(folder, every):
    """Returns images as uint8 [n, 32, 32, 3] and labels, in the order of classes and names."""
    from sindri.dataset.vision import Decode
    decode = Decode()
    images, labels = [], []
    for label, name in enumerate(sorted(p.name for p in folder.iterdir() if p.is_dir())):
        for path in sorted((folder / name).glob("*.jpg"))[::every]:
            images.append(decode(np.frombuffer(path.read_bytes(), np.uint8)))
            labels.append(label)
    return np.stack(images), np.array(labels, np.int32)


def data_of(root, cache, every=2):
    """Returns (train images, labels, test images, labels) with every second training image; decodes them once."""
    if not cache.exists():
        x, y = load(root / "train", every)
        xt, yt = load(root / "test", 1)
        np.savez(cache, x=x, y=y, xt=xt, yt=yt)
    d = np.load(cache)
    return d["x"], d["y"], d["xt"], d["yt"]


MEAN, STD = np.array([125.3, 123.0, 113.9], np.float32), np.array([63.0, 62.1, 66.7], np.float32)


def normalized(images):
    return np.ascontiguousarray(((images.astype(np.float32) - MEAN) / STD).transpose(0, 3, 1, 2))


def batches(x, y, rng, size=BATCH):
    """Yields one epoch of shuffled, cropped and flipped batches; drops the remainder."""
    order = rng.permutation(len(x))
    padded = np.pad(x, ((0, 0), (0, 0), (4, 4), (4, 4)))
    for begin in range(0, len(x) - size + 1, size):
        rows = order[begin:begin + size]
        out = np.empty((size, 3, 32, 32), np.float32)
        tops, lefts, flips = rng.integers(0, 9, size), rng.integers(0, 9, size), rng.integers(0, 2, size)
        for i, row in enumerate(rows):
            cut = padded[row, :, tops[i]:tops[i] + 32, lefts[i]:lefts[i] + 32]
            out[i] = cut[:, :, ::-1] if flips[i] else cut
        yield out, y[rows]


# Network.


def conv(inputs, outputs, kernel, stride=1):
    weight = initializer(HeNormal(mode="fan_out", nonlinearity="relu"), (outputs, inputs, kernel, kernel))
    return nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, weight_init=weight)


class Block(nn.Cell):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.shortcut = nn.SequentialCell([conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)]) if stride > 1 else None
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem, self.bn, self.relu = conv(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU()
        self.stages = nn.SequentialCell([Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2)])
        self.fc = nn.Dense(64, 10)

    def construct(self, x):
        return self.fc(ops.reduce_mean(self.stages(self.relu(self.bn(self.stem(x)))), (2, 3)))


# Recipes.


def rates(peak, warmup, steps):
    """Returns rates that rise linearly over the first part of the steps, then fall to 0 along a cosine."""
    first = max(1, round(warmup * steps))
    return [peak * (i + 1) / first if i < first else peak * 0.5 * (1 + math.cos(math.pi * (i - first) / max(1, steps - first))) for i in range(steps)]


def optimizer_of(recipe, net, steps):
    lr = rates(recipe["lr"], recipe["warmup"], steps)
    if recipe["optimizer"] == "momentum":
        groups = [{"params": net.trainable_params()}]
        return nn.Momentum(groups, lr, 0.9, weight_decay=recipe["decay"])
    fall = recipe["damping_end"]
    damping = [recipe["damping"] * fall ** (i / steps) for i in range(steps)]
    return nn.thor(net, ms.Tensor(np.array(lr, np.float32)), ms.Tensor(np.array(damping, np.float32)), 0.9, weight_decay=recipe["decay"], batch_size=BATCH,
                   frequency=recipe["frequency"], block_size=recipe.get("block_size", 128), factor_decay=recipe.get("factor_decay", 0.0))


def run(recipe, train, judge):
    """Trains. Returns per epoch the mean training loss, the accuracy on the images of `judge`, and the seconds of training so far."""
    ms.set_seed(recipe["seed"])
    rng = np.random.default_rng(recipe["seed"])
    net = Net()
    x, y = train
    steps = len(x) // BATCH * recipe["epochs"]
    optimizer = optimizer_of(recipe, net, steps)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    curve, seconds, number = [], 0.0, 0
    second_order = recipe["optimizer"] == "thor"
    for epoch in range(recipe["epochs"]):
        losses, start = [], time.perf_counter()
        for images, labels in batches(x, y, rng):
            if second_order:
                optimizer.select_variant(number)
            losses.append(step(ms.Tensor(images), ms.Tensor(labels)))
            number += 1
        mean = float(np.mean([v.asnumpy() for v in losses]))
        seconds += time.perf_counter() - start
        net.set_train(False)
        right = 0
        for begin in range(0, len(judge[0]), 500):
            right += int((net(ms.Tensor(judge[0][begin:begin + 500])).asnumpy().argmax(1) == judge[1][begin:begin + 500]).sum())
        net.set_train()
        curve.append({"epoch": epoch + 1, "loss": mean, "accuracy": right / len(judge[0]), "seconds": round(seconds, 2)})
        if not math.isfinite(mean):
            break
    return curve


# Trials by optimizer and schedule length, the same number for both: (learning rate, weight decay), and (learning rate, initial damping, weight decay).
MOMENTUM_TRIALS = {12: [(lr, decay) for lr in (0.05, 0.1, 0.2, 0.4, 0.8) for decay in (5e-4, 1e-3)],
                   10: [(lr, decay) for lr in (0.1, 0.2, 0.4, 0.8) for decay in (5e-4, 1e-3)]}
THOR_TRIALS = {6: [(0.03, 0.03, 5e-4), (0.06, 0.03, 5e-4), (0.1, 0.03, 5e-4), (0.06, 0.1, 5e-4), (0.1, 0.1, 5e-4), (0.2, 0.1, 5e-4), (0.1, 0.3, 5e-4), (0.2, 0.3, 5e-4)],
               9: [(0.2, 0.1, 5e-4), (0.3, 0.1, 5e-4), (0.2, 0.03, 5e-4), (0.2, 0.1, 1e-3)],
               7: [(0.2, 0.03, 5e-4), (0.3, 0.03, 5e-4), (0.2, 0.1, 5e-4), (0.3, 0.1, 5e-4), (0.4, 0.1, 5e-4), (0.2, 0.03, 2e-4)]}


def grid():
    """Returns the recipes of all trials."""
    out = [{"optimizer": "momentum", "epochs": epochs, "lr": lr, "decay": decay, "warmup": 0.1} for epochs, trials in MOMENTUM_TRIALS.items() for lr, decay in trials]
    return out + [{"optimizer": "thor", "epochs": epochs, "lr": lr, "decay": decay, "warmup": 0.03, "damping": damping, "damping_end": 0.1, "frequency": 20}
                  for epochs, trials in THOR_TRIALS.items() for lr, damping, decay in trials]


# The best recipes of the trials, and shorter schedules of them.
FINAL = [{"optimizer": "momentum", "epochs": epochs, "lr": 0.4, "decay": 5e-4, "warmup": 0.1} for epochs in (12, 11, 10)]
FINAL += [{"optimizer": "thor", "epochs": epochs, "lr": 0.3, "decay": 5e-4, "warmup": 0.03, "damping": 0.03, "damping_end": 0.1, "frequency": 20} for epochs in (8, 7, 6)]


def key(recipe):
    return json.dumps(recipe, sort_keys=True)


def done(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report(rows):
    for phase in ("tune", "final"):
        some = [r for r in rows if r["phase"] == phase]
        if not some:
            continue
        print(f"\n{phase}: last epoch of each run\n")
        print("| optimizer | epochs | lr | decay | damping | seed | loss | accuracy | s/epoch |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        for r in sorted(some, key=lambda r: (r["recipe"]["optimizer"], r["recipe"]["epochs"], -r["curve"][-1]["accuracy"])):
            c, e = r["recipe"], r["curve"][-1]
            print(f"| {c['optimizer']} | {c['epochs']} | {c['lr']} | {c['decay']} | {c.get('damping', '')} | {c['seed']} | {e['loss']:.4f} | {e['accuracy']:.4f} | "
                  f"{e['seconds'] / e['epoch']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=["tune", "final", "report"])
    parser.add_argument("--images", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seeds", default="1,2,3", help="of `final`, separated by commas")
    parser.add_argument("--only", default="", help="recipes whose JSON text matches this regular expression")
    args = parser.parse_args()
    if args.phase == "report":
        report(done(args.out))
        return
    if args.images is None:
        sys.exit("thor_cifar: --images names the folder with train/ and test/")
    begin = time.monotonic()
    ms.set_context(mode=ms.GRAPH_MODE)
    x, y, xt, yt = data_of(args.images, args.out.with_suffix(".npz"))
    x = normalized(x)
    held = np.arange(len(x)) % 10 == 0
    if args.phase == "tune":
        train, judge = (x[~held], y[~held]), (x[held], y[held])
        recipes = [dict(r, seed=1) for r in grid()]
    else:
        train, judge = (x, y), (normalized(xt), yt)
        recipes = [dict(r, seed=s) for s in map(int, args.seeds.split(",")) for r in FINAL]
    known = {(r["phase"], key(r["recipe"])) for r in done(args.out)}
    for recipe in recipes:
        if (args.phase, key(recipe)) in known or not re.search(args.only, key(recipe)):
            continue
        if time.monotonic() - begin > args.minutes * 60:
            print("thor_cifar: the time is up; the same command continues", flush=True)
            return
        curve = run(recipe, train, judge)
        with args.out.open("a") as f:
            f.write(json.dumps({"phase": args.phase, "recipe": recipe, "curve": curve}) + "\n")
        last = curve[-1]
        print(f"{key(recipe)}: loss {last['loss']:.4f}, accuracy {last['accuracy']:.4f}, {last['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
