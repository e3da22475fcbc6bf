#!/usr/bin/env python3
"""Compares THOR with SGD with momentum on a small MLP: epochs until THOR reaches the training loss of tuned SGD after eight epochs.

usage: thor_mlp.py --images DIR --out FILE [--seeds 5]

Data: all of CIFAR-10 (DIR/train, DIR/test: folders of JPEG files by class), averaged to 12x12 pixels, each input normalised to mean 0 and variance 1. Network:
432-96-64-10 with ReLU, batches of 128, momentum 0.9, eight epochs. SGD: a rate that falls linearly to 0, the best of {0.01, 0.03, 0.1}. THOR:
lr·(1 - t/T)², damping halved every two epochs. Each run is one JSON line of FILE; runs that FILE already contains are not repeated. Prints a table of the mean
training loss by epoch over the seeds, and the first epoch in which THOR reaches SGD's last loss. Takes about two minutes on two cores.
"""
import argparse
import json
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from thor_cifar import done, key, load  # noqa: E402

BATCH, EPOCHS = 128, 8
SGD = [{"optimizer": "sgd", "lr": lr} for lr in (0.01, 0.03, 0.1)]
THOR = [{"optimizer": "thor", "lr": 0.03, "damping": 0.3, "frequency": 20, "block_size": 0}, {"optimizer": "thor", "lr": 0.03, "damping": 0.3, "frequency": 20, "block_size": 32},
        {"optimizer": "thor", "lr": 0.03, "damping": 0.3, "frequency": 200, "block_size": 0}, {"optimizer": "thor", "lr": 0.03, "damping": 0.3, "frequency": 5, "block_size": 0},
        {"optimizer": "thor", "lr": 0.03, "damping": 0.3, "frequency": 20, "block_size": 0, "factor_decay": 0.95},
        {"optimizer": "thor", "lr": 0.003, "damping": 0.003, "frequency": 20, "block_size": 0}]


def averaged(images):
    """Maps [n, 32, 32, 3] to [n, 432]: each of the 12x12 pixels is the mean over the area that it covers."""
    edges = np.linspace(0, 32, 13)
    weight = np.zeros((12, 32), np.float32)
    for i in range(12):
        for j in range(32):
            weight[i, j] = max(0.0, min(edges[i + 1], j + 1) - max(edges[i], j)) / (edges[i + 1] - edges[i])
    rows = np.einsum("ih,nhwc->niwc", weight, images.astype(np.float32))
    return np.einsum("jw,niwc->nijc", weight, rows).reshape(len(images), -1)


def data_of(root, cache):
    if not cache.exists():
        x, y = load(root / "train", 1)
        xt, yt = load(root / "test", 1)
        np.savez(cache, x=averaged(x), y=y, xt=averaged(xt), yt=yt)
    d = np.load(cache)
    mean, std = d["x"].mean(0), d["x"].std(0)
    return (d["x"] - mean) / std, d["y"], (d["xt"] - mean) / std, d["yt"]


def run(recipe, x, y, xt, yt):
    ms.set_seed(recipe["seed"])
    rng = np.random.default_rng(recipe["seed"])
    net = nn.SequentialCell([nn.Dense(432, 96, weight_init="he_normal"), nn.ReLU(), nn.Dense(96, 64, weight_init="he_normal"), nn.ReLU(),
                             nn.Dense(64, 10, weight_init="he_normal")])
    per_epoch = len(x) // BATCH
    steps = per_epoch * EPOCHS
    if recipe["optimizer"] == "sgd":
        rates = [recipe["lr"] * (1 - i / steps) for i in range(steps)]
        optimizer = nn.Momentum(net.trainable_params(), rates, 0.9)
    else:
        rates = np.array([recipe["lr"] * (1 - i / steps) ** 2 for i in range(steps)], np.float32)
        damping = np.array([recipe["damping"] * 0.5 ** (i / per_epoch / 2) for i in range(steps)], np.float32)
        optimizer = nn.thor(net, ms.Tensor(rates), ms.Tensor(damping), 0.9, batch_size=BATCH, frequency=recipe["frequency"], block_size=recipe["block_size"],
                            factor_decay=recipe.get("factor_decay", 0.0))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), optimizer)
    step.set_train()
    losses, number = [], 0
    for _ in range(EPOCHS):
        order, total = rng.permutation(len(x)), []
        for i in range(per_epoch):
            rows = order[i * BATCH:(i + 1) * BATCH]
            if recipe["optimizer"] == "thor":
                optimizer.select_variant(number)
            total.append(step(ms.Tensor(x[rows]), ms.Tensor(y[rows])))
            number += 1
        losses.append(float(np.mean([v.asnumpy() for v in total])))
    return losses, float((net(ms.Tensor(xt)).asnumpy().argmax(1) == yt).mean())


def name_of(recipe):
    return ", ".join(f"{k} {v}" for k, v in recipe.items() if k != "seed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    data = data_of(args.images, args.out.with_suffix(".npz"))
    results = {key(r["recipe"]): r for r in done(args.out)}
    for recipe in [dict(r, seed=s) for r in SGD + THOR for s in range(1, args.seeds + 1)]:
        if key(recipe) in results:
            continue
        losses, accuracy = run(recipe, *data)
        results[key(recipe)] = {"recipe": recipe, "losses": losses, "accuracy": accuracy}
        with args.out.open("a") as f:
            f.write(json.dumps(results[key(recipe)]) + "\n")
    rows = []
    for recipe in SGD + THOR:
        runs = [results[key(dict(recipe, seed=s))] for s in range(1, args.seeds + 1)]
        rows.append((recipe, np.mean([r["losses"] for r in runs], 0), np.array([r["losses"] for r in runs]), np.mean([r["accuracy"] for r in runs])))
    goal = min(mean[-1] for recipe, mean, _, _ in rows if recipe["optimizer"] == "sgd")
    print("| recipe | " + " | ".join(str(e + 1) for e in range(EPOCHS)) + " | test accuracy | epochs to SGD's last loss |\n|" + " --- |" * (EPOCHS + 3))
    for recipe, mean, all_runs, accuracy in rows:
        first = [next((e + 1 for e, v in enumerate(r) if v <= goal), 0) for r in all_runs]
        reached = f"{max(first)} (each seed: {first})" if all(first) else "not reached"
        print(f"| {name_of(recipe)} | " + " | ".join(f"{v:.3f}" for v in mean) + f" | {accuracy * 100:.1f} % | {reached} |")


if __name__ == "__main__":
    main()
