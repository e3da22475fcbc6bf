#!/usr/bin/env python3
"""Compares dimension-reduction training with annealing and averaging: two more epochs of each, from a training run stopped at 7/9 of its schedule.

usage: dim_reduce.py mlp|resnet|report --images DIR --out FILE [--minutes M] [--seeds N] [--only REGEX] [--snapshots FROM,EACH]

mlp: CIFAR-10 averaged to 12x12 pixels, 432-96-64-10 with batch norm, batches of 128, Momentum 0.9. The rate is 0.4 after two epochs of warm-up and then falls
linearly to 0 over 30 epochs; the run stops at 23. resnet: one basic block per stage (16, 32, 64), every second 32x32 image, crop and flip, batches of 128, rate
0.4 after one epoch of warm-up, 18 epochs; the run stops at 14. Snapshots: two per epoch over the last 16 epochs (resnet: four over the last 6).

Then, from the same weights, two epochs of each method: the schedule continues; the rate falls to 0; snapshots are averaged and batch norm's statistics are
measured again (no training); P-BFGS; P-SGD with a rate that falls to 0. A run is one JSON line; runs that FILE already contains are not repeated.
"""
import argparse
import json
import pathlib
import re
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import thor_cifar as cifar  # noqa: E402  (data, batches and network of the THOR study)
import sindri as ms  # noqa: E402
from sindri import nn  # noqa: E402
from sindri.boost import AutoBoost, BoostTrainOneStepCell  # noqa: E402

PLANS = {"mlp": {"epochs": 30, "stop": 23, "warmup": 2, "lr": 0.4, "decay": 1e-4, "from": 8, "per_epoch": 2, "stage2_batch": 2048, "components": 31},
         "resnet": {"epochs": 18, "stop": 14, "warmup": 1, "lr": 0.4, "decay": 5e-4, "from": 9, "per_epoch": 4, "stage2_batch": 1000, "components": 23}}
# The first settings of each method are those of the table in docs/boost/dim_reduce.md, for all seeds; the others were tried on seed 0.
VARIANTS = {"mlp": {"continue": [{}], "anneal": [{}], "average": [{}],
                    "pbfgs": [{"alpha": 0.001}, {"alpha": 0.0}, {"alpha": 0.001, "n_components": 16}],
                    "psgd": [{"rate": 0.1}, {"rate": 0.3}, {"rate": 1.0}]},
            "resnet": {"continue": [{}], "anneal": [{}], "average": [{}],
                       "pbfgs": [{"alpha": 0.03}, {"alpha": 0.03, "batch": 500}, {"alpha": 0.03, "batch": 250}, {"alpha": 0.1}, {"alpha": 0.2}, {"alpha": 0.05},
                                 {"alpha": 0.01}, {"alpha": 0.003}, {"alpha": 0.001}, {"alpha": 0.0}, {"alpha": 0.01, "n_components": 12}],
                       "psgd": [{"rate": 1.0}, {"rate": 0.1}, {"rate": 0.3}]}}


class Mlp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Flatten(), nn.Dense(432, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dense(96, 64), nn.BatchNorm1d(64), nn.ReLU(),
                                       nn.Dense(64, 10)])

    def construct(self, x):
        return self.body(x)


def data_of(net, root, cache):
    """Returns (train, test), each as normalised images and labels."""
    x, y, xt, yt = cifar.data_of(root, cache, 1 if net == "mlp" else 2)
    x, xt = cifar.normalized(x), cifar.normalized(xt)
    if net == "resnet":
        return (x, y), (xt, yt)

    def small(images):
        n = len(images)
        whole = images.reshape(n, 3, 32, 32)[:, :, 1:31, 1:31]  # 30 = 12 · 2.5: each of the 12 pixels is the mean of 2.5 x 2.5
        weights = np.zeros((12, 30), np.float32)
        for i in range(12):
            for k in range(30):
                weights[i, k] = max(0, min(2.5 * (i + 1), k + 1) - max(2.5 * i, k)) / 2.5
        return np.einsum("ik,nckl,jl->ncij", weights, whole, weights, optimize=True).astype(np.float32)
    x, xt = small(x), small(xt)
    mean, std = x.mean(0), x.std(0) + 1e-6
    return ((x - mean) / std, y), ((xt - mean) / std, yt)


def rows(net, x, y, size, rng):
    if net == "resnet":
        yield from cifar.batches(x, y, rng, size)
        return
    order = rng.permutation(len(x))
    for begin in range(0, len(x) - size + 1, size):
        at = order[begin:begin + size]
        yield x[at], y[at]


def accuracy(net, test):
    net.set_train(False)
    right = 0
    for begin in range(0, len(test[0]), 500):
        right += int((net(ms.Tensor(test[0][begin:begin + 500])).asnumpy().argmax(1) == test[1][begin:begin + 500]).sum())
    net.set_train()
    return right / len(test[0])


def recalibrate(name, net, train, batches=40):
    """Sets batch norm's statistics for the current weights: the mean over the statistics of `batches` batches."""
    norms = [c for _, c in net.cells_and_names() if isinstance(c, (nn.BatchNorm1d, nn.BatchNorm2d))]
    sums = [[0.0, 0.0] for _ in norms]
    net.set_train()
    count = 0
    for images, _ in rows(name, *train, 500, np.random.default_rng(0)):
        for c in norms:
            c.moving_mean.set_data(ms.Tensor(np.zeros(c.moving_mean.shape, np.float32)))
            c.moving_variance.set_data(ms.Tensor(np.zeros(c.moving_variance.shape, np.float32)))
        net(ms.Tensor(images))
        for s, c in zip(sums, norms):
            s[0] = s[0] + c.moving_mean.asnumpy() / (1 - c.momentum)
            s[1] = s[1] + c.moving_variance.asnumpy() / (1 - c.momentum)
        count += 1
        if count == batches:
            break
    for s, c in zip(sums, norms):
        c.moving_mean.set_data(ms.Tensor((s[0] / count).astype(np.float32)))
        c.moving_variance.set_data(ms.Tensor((s[1] / count).astype(np.float32)))


def make_net(name):
    return Mlp() if name == "mlp" else cifar.Net()


def momentum(net, plan, rates):
    decayed = [p for p in net.trainable_params() if "weight" in p.name]
    others = [p for p in net.trainable_params() if "weight" not in p.name]
    return nn.Momentum([{"params": decayed, "weight_decay": plan["decay"]}, {"params": others, "weight_decay": 0.0}], rates, 0.9)


def train_epochs(name, step, train, size, epochs, rng):
    losses, start = [], time.perf_counter()
    for _ in range(epochs):
        for images, labels in rows(name, *train, size, rng):
            losses.append(step(ms.Tensor(images), ms.Tensor(labels)))
    losses = [float(v.asnumpy()) for v in losses]
    return losses, time.perf_counter() - start


def stage_1(name, plan, seed, train, folder):
    """Trains to `stop` with several snapshots per epoch. Returns the network and the rates of the remaining steps."""
    ms.set_seed(seed)
    rng = np.random.default_rng(seed)
    net = make_net(name)
    each = len(train[0]) // 128
    warm, total = plan["warmup"] * each, plan["epochs"] * each
    rates = [plan["lr"] * ((i + 1) / warm if i < warm else (total - i) / (total - warm)) for i in range(total)]
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), momentum(net, plan, rates))
    step.set_train()
    number = 0
    for epoch in range(plan["stop"]):
        for i, (images, labels) in enumerate(rows(name, *train, 128, rng)):
            step(ms.Tensor(images), ms.Tensor(labels))
            if epoch + 1 >= plan["from"] and (i + 1) * plan["per_epoch"] // each != i * plan["per_epoch"] // each:
                number += 1
                ms.save_checkpoint(net, str(folder / f"s-{number}_1.ckpt"))
    ms.save_checkpoint(net, str(folder / "end.last"))
    return net, rates[plan["stop"] * each:], number


def stage_2(name, plan, variant, settings, seed, train, test, folder, rest, snapshots):
    ms.set_seed(1000 + seed)
    rng = np.random.default_rng(1000 + seed)
    net = make_net(name)
    files = sorted(folder.glob("s-*.ckpt"), key=lambda p: int(re.findall(r"s-(\d+)_", p.name)[0]))
    last = next(folder.glob("end*"))
    ms.load_param_into_net(net, ms.load_checkpoint(str(last)))
    out = {"net": name, "variant": variant, "settings": settings, "seed": seed}
    if variant == "stage 1":
        return {**out, "accuracy": accuracy(net, test)}
    if variant == "average":
        all_of = [{k: v.asnumpy().astype(np.float64) for k, v in ms.load_checkpoint(str(f)).items()} for f in files]
        for p in net.get_parameters():
            p.set_data(ms.Tensor(np.mean([a[p.name] for a in all_of], 0).astype(np.float32)))
        recalibrate(name, net, train)
        return {**out, "accuracy": accuracy(net, test)}
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    each = len(train[0]) // 128
    size = 128
    if variant in ("continue", "anneal"):
        rates = rest[:2 * each] if variant == "continue" else [rest[0] * (1 - i / (2 * each)) for i in range(2 * each)]
        step = nn.TrainOneStepCell(loss, momentum(net, plan, rates))
    else:
        own = dict(settings)
        size = own.pop("batch", plan["stage2_batch"])
        own["n_components"] = min(own.get("n_components") or plan["components"], snapshots - 1)
        if variant == "psgd":
            own.update(method="sgd", decay_steps=2 * each, momentum=0.9)
            size = 128
        config = {"boost": {"mode": "manual", "dim_reduce": True, "less_bn": False, "grad_freeze": False},
                  "dim_reduce": {**own, "weight_load_dir": str(folder)}}
        step = BoostTrainOneStepCell(loss, nn.SGD(net.trainable_params(), 1.0), boost=AutoBoost("O1", config))
    step.set_train()
    losses, seconds = train_epochs(name, step, train, size, 2, rng)
    out.update(seconds=round(seconds, 2), steps=len(losses), first_loss=losses[0], loss=float(np.mean(losses[-max(1, len(losses) // 10):])))
    if hasattr(step, "boost_columns"):
        out["columns"] = step.boost_columns()
    out["before_recalibration"] = accuracy(net, test)
    recalibrate(name, net, train)
    return {**out, "accuracy": accuracy(net, test)}


def report(lines):
    for name in PLANS:
        some = [r for r in lines if r["net"] == name]
        if not some:
            continue
        print(f"\n{name}\n\n| variant | settings | test accuracy, %: mean | by seed |\n| --- | --- | --- | --- |")
        keys = []
        for r in some:
            if (r["variant"], json.dumps(r["settings"])) not in keys:
                keys.append((r["variant"], json.dumps(r["settings"])))
        for variant, settings in keys:
            a = [100 * r["accuracy"] for r in some if r["variant"] == variant and json.dumps(r["settings"]) == settings]
            print(f"| {variant} | {settings} | **{np.mean(a):.2f}** | {', '.join(f'{v:.2f}' for v in a)} |")
        for r in some:
            c = r.get("columns", {})
            if "rejected" in c:
                done = [int(v) for k, v in c.items() if k.startswith("accepted")]
                print(f"    seed {r['seed']} {r['settings']}: accepted by trial {done}, rejected {int(c['rejected'])}, share {c['subspace_share']:.3f}, "
                      f"{1000 * r['seconds'] / r['steps']:.0f} ms a step")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["mlp", "resnet", "report"])
    parser.add_argument("--images", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--snapshots", metavar="FROM,EACH", help="first epoch with snapshots, and snapshots per epoch (mlp: 8,2; resnet: 9,4)")
    parser.add_argument("--only", default="", help="variants that match this regular expression")
    args = parser.parse_args()
    lines = cifar.done(args.out)
    if args.what == "report":
        return report(lines)
    if args.images is None:
        sys.exit("dim_reduce: --images names the folder with train/ and test/")
    begin = time.monotonic()
    ms.set_context(mode=ms.GRAPH_MODE)
    plan = dict(PLANS[args.what])
    if args.snapshots:
        plan["from"], plan["per_epoch"] = map(int, args.snapshots.split(","))
    train, test = data_of(args.what, args.images, args.out.with_suffix(f".{args.what}.npz"))
    known = {(r["net"], r["variant"], json.dumps(r["settings"]), r["seed"]) for r in lines}
    for seed in range(args.seeds):
        wanted = [("stage 1", {})] + [(v, s) for v, all_of in VARIANTS[args.what].items() for s in (all_of if seed == 0 else all_of[:1])]
        wanted = [(v, s) for v, s in wanted if (args.what, v, json.dumps(s), seed) not in known and re.search(args.only, v)]
        if not wanted:
            continue
        if time.monotonic() - begin > args.minutes * 60:
            print("dim_reduce: the time is up; the same command continues", flush=True)
            return
        with tempfile.TemporaryDirectory() as temp:
            folder = pathlib.Path(temp)
            _, rest, snapshots = stage_1(args.what, plan, seed, train, folder)
            for variant, settings in wanted:
                r = stage_2(args.what, plan, variant, settings, seed, train, test, folder, rest, snapshots)
                with args.out.open("a") as f:
                    f.write(json.dumps(r) + "\n")
                print(f"{args.what} seed {seed} {variant} {settings}: {100 * r['accuracy']:.2f} % {r.get('columns', '')}", flush=True)


if __name__ == "__main__":
    main()
