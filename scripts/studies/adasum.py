#!/usr/bin/env python3
"""Compares Adasum with averaging at large global batches: an MLP on CIFAR-10 averaged to 12x12 pixels, each method at its best learning rate.

usage: adasum.py simulate|ranks|hosts|report --images DIR --out FILE [--minutes M] [--seeds N] [--only REGEX]

The MLP is 432-96-64-10 with batch norm, trained for six epochs with Momentum 0.9; the rate warms up over a tenth of the steps, then falls linearly to 0.
A leaf is one worker at the bottom of Adasum's tree. There are 16 leaves with batches of 128 (2,048 samples per step) or 64 with batches of 64 (4,096).
mean: one optimizer is applied to the mean gradient. adasum: each leaf has a separate optimizer, and the parameter changes are combined along the tree.
A single worker with batches of 64 and of 128 shows which rates suit a leaf.

`simulate` computes the leaves in sequence in one process. `ranks` trains with 16 processes and the library's algorithm (each process: adasum.py rank,
started by sindri run). `hosts` trains the ResNet of the THOR study on every second 32x32 image for five epochs, with 8 or 16 ranks of 32 images on two hosts
(network namespaces, needs root). It compares averaging, Adasum between the hosts, and Adasum between all ranks, with curves by epoch.
A run is one JSON line; runs that FILE already contains are not repeated.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import dim_reduce as small  # noqa: E402  (data and network)
import sindri as ms  # noqa: E402
from sindri import nn  # noqa: E402

EPOCHS = 6
MEAN_RATES, ADASUM_RATES, SINGLE_RATES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4), (0.05, 0.0125, 0.025, 0.1, 0.2), (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4)
HOSTS_RATES = (0.1, 0.05, 0.2, 0.4, 0.8, 1.6, 3.2)
LEAVES = {2048: (16, 128), 4096: (64, 64)}


def rate_at(peak, step, steps):
    first = max(1, round(0.1 * steps))
    return peak * (step + 1) / first if step < first else peak * (steps - step) / (steps - first)


def pair(a, b):
    d, n, m = float((a * b).sum()), float((a * a).sum()), float((b * b).sum())
    return ((1 - d / (2 * n)) if n > 0 else 1) * a + ((1 - d / (2 * m)) if m > 0 else 1) * b


def tree(values):
    while len(values) > 1:
        values = [pair(values[i].astype(np.float64), values[i + 1].astype(np.float64)) for i in range(0, len(values), 2)]
    return values[0]


def simulate(recipe, train, test):
    """Returns accuracies, the last losses, and |Adasum|²/Σ|Δ|² of the first layer at some steps."""
    ms.set_seed(recipe["seed"])
    rng = np.random.default_rng(recipe["seed"])
    leaves, local = LEAVES.get(recipe["batch"], (1, recipe["batch"]))
    net = small.Mlp()
    net.set_train()
    params = list(net.trainable_params())
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    grad = ms.jit(ms.value_and_grad(lambda x, y: loss(x, y), None, params))
    steps = EPOCHS * (len(train[0]) // (leaves * local))
    adasum = recipe["how"] == "adasum"
    states = [[np.zeros(p.shape, np.float32) for p in params] for _ in range(leaves if adasum else 1)]
    ratios, losses = [], []
    begin = time.perf_counter()
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(train[0]))
        for at in range(0, len(order) - leaves * local + 1, leaves * local):
            rate = rate_at(recipe["lr"], step, steps)
            weights = [p.asnumpy().copy() for p in params]
            gradients = []
            for leaf in range(leaves):
                rows = order[at + leaf * local:at + (leaf + 1) * local]
                value, g = grad(ms.Tensor(train[0][rows]), ms.Tensor(train[1][rows]))
                gradients.append([t.asnumpy().copy() for t in g])
            losses.append(float(value.asnumpy()))
            if not np.isfinite(losses[-1]):
                return {"accuracy": 0.1, "loss": None, "ratios": ratios, "seconds": round(time.perf_counter() - begin, 1)}
            if adasum:
                for state, g in zip(states, gradients):
                    for i, v in enumerate(g):
                        state[i] = 0.9 * state[i] + v
                changes = [tree([state[i] for state in states]) for i in range(len(params))]
                if step % max(1, steps // 12) == 0:
                    ratios.append(round(float((changes[0] ** 2).sum() / sum((s[0].astype(np.float64) ** 2).sum() for s in states)), 4))
            else:
                for i in range(len(params)):
                    states[0][i] = 0.9 * states[0][i] + np.mean([g[i] for g in gradients], 0)
                changes = states[0]
            for p, w, c in zip(params, weights, changes):
                p.set_data(ms.Tensor((w - rate * c).astype(np.float32)))
            step += 1
    seconds = time.perf_counter() - begin
    as_trained = small.accuracy(net, test)  # with the moving statistics from the training run
    small.recalibrate("mlp", net, train)
    return {"accuracy": as_trained, "recalibrated": small.accuracy(net, test), "loss": float(np.mean(losses[-5:])), "ratios": ratios, "seconds": round(seconds, 1)}


def own_rows(x, y, number, size, local, rng, augment):
    """Yields a rank's part of each batch of an epoch. All ranks draw the same order, crops and flips. With augment, x holds bytes, which are normalised here.
    """
    order = rng.permutation(len(x))
    for begin in range(0, len(x) - size * local + 1, size * local):
        draws = rng.integers(0, (9, 9, 2), (size * local, 3)) if augment else None
        part = slice(number * local, (number + 1) * local)
        rows = order[begin:begin + size * local][part]
        images = x[rows]
        if augment:
            padded = np.pad(small.cifar.normalized(images), ((0, 0), (0, 0), (4, 4), (4, 4)))
            images = np.stack([p[:, t:t + 32, le:le + 32][:, :, ::-1 if f else 1] for p, (t, le, f) in zip(padded, draws[part])])
        yield images, y[rows]


def rank(args):
    """Trains as one of several ranks with BoostTrainOneStepCell."""
    from sindri.boost import AutoBoost, BoostTrainOneStepCell
    from sindri.communication import get_group_size, get_rank, init
    init()
    recipe, number, size = json.loads(args.recipe), get_rank(), get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    hosts = recipe["kind"] == "hosts"
    name, local, epochs = ("resnet", 32, 5) if hosts else ("mlp", 128, EPOCHS)
    cache = args.out.with_suffix(f".{name}.npz")
    # Sixteen processes hold images, so they are stored as bytes. Only rank 0 loads the images for evaluation.
    train = small.cifar.data_of(args.images, cache, 2)[:2] if hosts else small.data_of(name, args.images, cache)[0]
    whole, test = small.data_of(name, args.images, cache) if number == 0 else (None, None)
    ms.set_seed(recipe["seed"])
    rng = np.random.default_rng(recipe["seed"])
    net = small.make_net(name)
    each = len(train[0]) // (size * local)
    rates = [rate_at(recipe["lr"], i, epochs * each) for i in range(epochs * each)]
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    group = size // 2 if recipe["how"] == "adasum between hosts" else 1
    config = {"boost": {"mode": "manual", "less_bn": False, "grad_freeze": False, "adasum": recipe["how"] != "mean"}, "common": {"device_number": group}}
    optimizer = small.momentum(net, {"decay": 5e-4}, rates) if hosts else nn.Momentum(net.trainable_params(), rates, 0.9)
    step = BoostTrainOneStepCell(loss, optimizer, boost=AutoBoost("O2", config)).set_train()
    seconds, curve = 0.0, []
    for _ in range(epochs):
        begin = time.perf_counter()
        losses = []
        for images, labels in own_rows(*train, number, size, local, rng, augment=hosts):
            losses.append(step(ms.Tensor(images), ms.Tensor(labels)))
        losses = [float(v.asnumpy()) for v in losses]
        seconds += time.perf_counter() - begin
        if number == 0 and hosts:
            curve.append({"loss": round(float(np.mean(losses[-20:])), 4), "accuracy": small.accuracy(net, test), "seconds": round(seconds, 1)})
    if number == 0:
        line = {**recipe, "accuracy": curve[-1]["accuracy"] if curve else small.accuracy(net, test), "seconds": round(seconds, 1), "columns": step.boost_columns()}
        if curve:
            line["curve"] = curve
            small.recalibrate(name, net, whole)
            line["recalibrated"] = small.accuracy(net, test)
        with args.out.open("a") as f:
            f.write(json.dumps(line) + "\n")


def on_two_hosts(recipe, args):
    """Starts the ranks of a recipe in two network namespaces and waits for them."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "lab"))
    from lab import Lab
    ranks, local = recipe["ranks"], recipe["ranks"] // 2
    with Lab(hosts=2, rate="1000mbit") as lab:
        command = [sys.executable, __file__, "rank", "--images", args.images, "--out", args.out, "--recipe", json.dumps(recipe)]
        jobs = [lab.start(1 + r // local, command,
                          env={"RANK": r, "WORLD_SIZE": ranks, "LOCAL_RANK": r % local, "LOCAL_WORLD_SIZE": local, "MASTER_ADDR": lab.address(1), "MASTER_PORT": 29570,
                               "SINDRI_JOB_TOKEN": "of-the-study", "OMP_NUM_THREADS": 1, "PYTHONPATH": str(pathlib.Path(ms.__file__).parents[1])}) for r in range(ranks)]
        for job in jobs:
            if job.wait(3600) != 0:
                raise SystemExit(job.tail())


def report(lines):
    print("| batch | how | rate | test accuracy, %: mean | by seed | batch norm measured again |\n| --- | --- | --- | --- | --- | --- |")
    keys = sorted({(r["kind"], r["batch"], r["how"], r["lr"]) for r in lines})
    for kind, batch, how, lr in keys:
        some = [r for r in lines if (r["kind"], r["batch"], r["how"], r["lr"]) == (kind, batch, how, lr)]
        a, b = [100 * r["accuracy"] for r in some], [100 * r["recalibrated"] for r in some if "recalibrated" in r]
        where = {"ranks": " (16 processes)", "hosts": f" ({batch // 32} ranks on two hosts)"}.get(kind, "")
        print(f"| {batch}{where} | {how} | {lr} | **{np.mean(a):.2f}** | {', '.join(f'{v:.2f}' for v in a)} | {f'{np.mean(b):.2f}' if b else ''} |")
    for kind, batch, how, lr in keys:
        curves = [[e["accuracy"] for e in r["curve"]] for r in lines if (r["kind"], r["batch"], r["how"], r["lr"]) == (kind, batch, how, lr) and r.get("curve")]
        if curves:
            print(f"{batch // 32} ranks, {how}, {lr}: accuracy by epoch {', '.join(f'{100 * v:.2f}' for v in np.mean(curves, 0))}")
    for r in lines:
        if r.get("ratios") and r["seed"] == 0 and r["lr"] == ADASUM_RATES[0]:
            print(f"ratios of the first layer at {r['batch']}, rate {r['lr']}: {r['ratios']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=["simulate", "ranks", "hosts", "rank", "report"])
    parser.add_argument("--images", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--recipe", default="")
    parser.add_argument("--program", default="sindri", help="starts ranks")
    args = parser.parse_args()
    if args.phase == "rank":
        return rank(args)
    lines = small.cifar.done(args.out)
    if args.phase == "report":
        return report(lines)
    begin = time.monotonic()
    grid = [{"kind": "simulate", "batch": b, "how": "mean", "lr": lr} for b in (64, 128) for lr in SINGLE_RATES]
    grid += [{"kind": "simulate", "batch": b, "how": how, "lr": lr} for b in LEAVES for how, rates in (("adasum", ADASUM_RATES), ("mean", MEAN_RATES)) for lr in rates]
    if args.phase == "ranks":
        grid = [{"kind": "ranks", "batch": 2048, "how": how, "lr": lr} for how, lr in (("adasum", 0.05), ("adasum", 0.1), ("mean", 0.4), ("mean", 0.8), ("mean", 1.6))]
    if args.phase == "hosts":
        grid = [{"kind": "hosts", "batch": 32 * ranks, "how": how, "lr": lr, "ranks": ranks} for ranks in (8, 16)
                for how, rates in (("adasum between hosts", HOSTS_RATES[:5]), ("adasum between ranks", HOSTS_RATES[:4]), ("mean", HOSTS_RATES)) for lr in rates]
        small.data_of("resnet", args.images, args.out.with_suffix(".resnet.npz"))
    known = {json.dumps({k: r[k] for k in ("kind", "batch", "how", "lr", "ranks", "seed") if k in r}) for r in lines}
    train = test = None
    for seed in range(args.seeds):
        for recipe in grid:
            recipe = {**recipe, "seed": seed}
            if json.dumps(recipe) in known or not re.search(args.only, json.dumps(recipe)):
                continue
            if time.monotonic() - begin > args.minutes * 60:
                print("adasum: the time is up; the same command continues", flush=True)
                return
            if args.phase == "hosts":
                on_two_hosts(recipe, args)
                print(args.out.read_text().splitlines()[-1], flush=True)
                continue
            if args.phase == "ranks":
                subprocess.run([args.program, "run", "-n", "16", "--", sys.executable, __file__, "rank", "--images", str(args.images), "--out", str(args.out), "--recipe",
                                json.dumps(recipe)], check=True)
                print(args.out.read_text().splitlines()[-1], flush=True)
                continue
            if train is None:
                train, test = small.data_of("mlp", args.images, args.out.with_suffix(".mlp.npz"))
            result = simulate(recipe, train, test)
            with args.out.open("a") as f:
                f.write(json.dumps({**recipe, **result}) + "\n")
            print(f"{json.dumps(recipe)}: {100 * result['accuracy']:.2f} %, {result['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
