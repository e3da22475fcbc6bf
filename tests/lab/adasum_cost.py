#!/usr/bin/env python3
"""Compares a step with Adasum to one with averaging: ResNet-20, float32, two hosts with two ranks each, 32 images per rank, overlap off.

usage: adasum_cost.py [--rate 1000mbit] [--steps N] [--rounds N]

Runs both alternately; prints the medians of their step times and the ratio as a line of JSON. Needs root (network namespaces).
"""
import argparse
import json
import os
import pathlib
import statistics
import tempfile

from lab import PROGRAM, ROOT, Lab
from test_train import table


def write_cifar(folder, records):
    """Writes random images in CIFAR-10's binary format."""
    for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        with open(folder / name, "wb") as f:
            for i in range(records):
                f.write(bytes([i % 10]) + os.urandom(3072))


def step_seconds(lab, data, adasum, steps, number):
    """Returns the median time between the ends of steps, without the first ten."""
    jobs = []
    settings = {"SINDRI_LOG__EVERY": 1, "SINDRI_TUNE": 0, "SINDRI_DATA__WORKERS": 1, "OMP_NUM_THREADS": 1, "SINDRI_JOB_TOKEN": "of-the-lab"}
    for host in (1, 2):
        folder = lab.folder / f"node{host}-{number}"
        folder.mkdir()
        (folder / "table.json").write_text(table(2, 2), encoding="utf-8")
        words = [PROGRAM, "run", "--rank-table", folder / "table.json", "--work-dir", "device{local}", "--log-file", "log.txt", "--", "sindri", "train", "--quiet",
                 "--config", ROOT / "configs/resnet20_cifar10_adasum.yaml", "--set", f"data.path={data}", "--set", f"boost.adasum.enabled={str(adasum).lower()}",
                 "--set", "dist.overlap=false", "--set", f"train.max_steps={steps}", "--set", "train.eval_interval=0", "--set", f"train.run_dir={folder}/run"]
        jobs.append(lab.start(host, words, env={**settings, "SERVER_ID": host - 1}, cwd=folder))
    for job in jobs:
        if job.wait(300) != 0:
            raise AssertionError(job.text())
    with open(lab.folder / f"node1-{number}" / "run" / "metrics.jsonl", encoding="utf-8") as f:
        times = [e["time"] for e in map(json.loads, f) if e["event"] == "step"]
    return statistics.median(b - a for a, b in zip(times[10:], times[11:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="1000mbit")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    seconds = {True: [], False: []}
    with tempfile.TemporaryDirectory() as temp, Lab(2, rate=args.rate) as lab:
        data = pathlib.Path(temp)
        write_cifar(data, max(200, args.steps * 128 // 5 + 128))
        for round_number in range(args.rounds):
            for adasum in (False, True):
                seconds[adasum].append(step_seconds(lab, data, adasum, args.steps, f"{round_number}-{int(adasum)}"))
    mean, ada = (statistics.median(seconds[which]) for which in (False, True))
    print(json.dumps({"rate": args.rate, "averaging_ms": round(1e3 * mean, 2), "adasum_ms": round(1e3 * ada, 2), "ratio": round(ada / mean, 4),
                      "rounds": [[round(1e3 * v, 1) for v in seconds[which]] for which in (False, True)]}))


if __name__ == "__main__":
    main()
