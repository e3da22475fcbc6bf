#!/usr/bin/env python3
"""Measures how gradient freezing and fewer batch norms change ResNet-20's accuracy on CIFAR-10.

usage: cheaper_steps.py run|report --images DIR --out FILE [--minutes M] [--seeds N] [--epochs N] [--only REGEX] [--program PATH]

Trains configs/resnet20_cifar10.yaml with the program, in a schedule of N epochs (default: five), once unchanged and once with each algorithm of SETTINGS. A run
is one JSON line of FILE with the test accuracy and loss after every epoch. Runs that FILE already contains are not repeated (--minutes: start no run after this
time). `report` prints the means, and each run's difference from the unchanged network with the same seed.
"""
import argparse
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES, BATCH = 50000, 128
SETTINGS = {
    "whole": {},
    "freeze_type 1": {"boost.grad_freeze.enabled": "true", "boost.grad_freeze.freeze_type": 1},
    "freeze_type 0": {"boost.grad_freeze.enabled": "true", "boost.grad_freeze.freeze_type": 0},
    "less_bn": {"boost.less_bn.enabled": "true", "boost.less_bn.basic": "true", "boost.less_bn.fn_scale": 10},
    "less_bn, fn_scale 1": {"boost.less_bn.enabled": "true", "boost.less_bn.basic": "true"},
}


def train(program, images, name, seed, epochs, folder):
    """Returns one row per epoch: test accuracy and loss."""
    values = {"data.path": images, "train.epochs": epochs, "train.seed": seed, "train.run_dir": folder, **SETTINGS[name]}
    if "freeze" in name:
        values["boost.grad_freeze.total_steps"] = PICTURES // BATCH * epochs
    words = [program, "train", "--quiet", "--config", ROOT / "configs/resnet20_cifar10.yaml"]
    for key, value in values.items():
        words += ["--set", f"{key}={value}"]
    subprocess.run(words, check=True)
    with open(folder / "metrics.csv", newline="", encoding="utf-8") as f:
        return [{"accuracy": float(row["eval_accuracy"]), "loss": float(row["eval_loss"])} for row in csv.DictReader(f) if row["eval_accuracy"]]


def report(rows):
    def last(name):
        return {r["seed"]: r["curve"][-1] for r in rows if r["name"] == name}
    whole = last("whole")
    print("| | mean accuracy, % | by seed | compared with the whole net | test loss |\n| --- | --- | --- | --- | --- |")
    for name in SETTINGS:
        if not (found := last(name)):
            continue
        values = [100 * found[s]["accuracy"] for s in sorted(found)]
        apart = [100 * (found[s]["accuracy"] - whole[s]["accuracy"]) for s in sorted(found) if s in whole]
        print(f"| {name} | {statistics.mean(values):.2f} | {' / '.join(f'{v:.2f}' for v in values)} | "
              f"{statistics.mean(apart):+.2f} ({min(apart):+.2f} to {max(apart):+.2f}) | {statistics.mean(e['loss'] for e in found.values()):.3f} |" if apart else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--images", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--only", default="", help="settings whose name matches")
    parser.add_argument("--program", default=ROOT / "build/release/sindri")
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.out.read_text().splitlines()] if args.out.exists() else []
    if args.what == "report":
        return report(rows)
    if args.images is None:
        parser.error("run needs --images")
    begin = time.monotonic()
    held = {(r["name"], r["seed"], r["epochs"]) for r in rows}
    for seed in range(args.seeds):
        for name in SETTINGS:
            if (name, seed, args.epochs) in held or not re.search(args.only, name):
                continue
            if time.monotonic() - begin > 60 * args.minutes:
                return 0
            with tempfile.TemporaryDirectory() as temp:
                start = time.monotonic()
                curve = train(args.program, args.images, name, seed, args.epochs, pathlib.Path(temp) / "run")
            with args.out.open("a") as f:
                f.write(json.dumps({"name": name, "seed": seed, "epochs": args.epochs, "curve": curve, "seconds": round(time.monotonic() - start, 1)}) + "\n")
            print(name, seed, curve[-1], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
