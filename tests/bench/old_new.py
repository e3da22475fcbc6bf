#!/usr/bin/env python3
"""Compares two builds of Sindri: training steps, compile time, eager calls and steps from Python, alternately.

usage: python3 tests/bench/old_new.py OLD NEW [--rounds N] [--seconds S] [--cases a,b] [--instructions]

OLD and NEW are checkouts with a release build and its Python module (scripts/build.sh release --python). Each block of a case is a separate process; old and
new
take turns, in reverse order every other round. A figure is the minimum over its blocks, which other programs on the machine disturb least; the medians and
quartiles next to it show how quiet the machine was. If the quartiles are further apart than the ratio is from 1, the machine cannot resolve the difference.
Then
use --instructions: it counts the instructions of a step with valgrind (one thread, kernels fixed, the difference between two lengths of training), which depend
on nothing else.

Cases: NAME/graph and NAME/pynative are `sindri benchmark` (ms per step), NAME/infer is inference (ms per batch of one), and NAME/compile is the time to trace
and
compile (ms). py/… are Python: eager ops (us per call, from eager_cost.py) and LeNet steps in both modes (us).
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

STEPS = {  # net: (batch, modes)
    "mlp": (64, ("graph", "pynative")), "lenet": (32, ("graph", "pynative")), "resnet20": (32, ("graph",)), "resnet18_cifar": (8, ("graph",)),
    "resnet50": (2, ("graph",)),
}
EAGER = ("add", "matmul", "relu", "lenet_step")


def run(tree, command, **env):
    """Returns the stdout of a command in a build's environment. Kernels are not measured, so both builds run the same ones."""
    full = dict(os.environ, OMP_NUM_THREADS="2", SINDRI_TUNE="0", PYTHONPATH=str(tree / "python"), **env)
    done = subprocess.run(command, env=full, cwd=tempfile.gettempdir(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def benchmark(tree, net, batch, mode, seconds, task="train"):
    """Returns the record of a `sindri benchmark` run with one block."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        run(tree, [tree / "build/release/sindri", "benchmark", net, "--batch", str(batch), "--mode", mode, "--task", task, "--rounds", "1", "--seconds", str(seconds),
                   "--json", out, "--quiet"])
        return json.loads(out.read_text())["runs"][0]


PYTHON = """
import sys, json
sys.path.insert(0, {here!r})
import eager_cost as cost
import sindri
case, mode, seconds = {case!r}, {mode!r}, {seconds}
cases, names = cost.mindspore_like(sindri)
sindri.set_context(mode=getattr(sindri, mode + "_MODE"))
loop = cost.loop(cases[case], names)
burst = cost.BURST.get(case, 200)
cost.measure(loop, burst, True, 0.2)
print(min(cost.measure(loop, burst, True, 0.02) for _ in range(int(seconds / 0.02))))
"""


def python_case(tree, case, mode, seconds):
    """Returns us per call, the minimum of short bursts."""
    return float(run(tree, [tree / "build/venv/bin/python", "-c", PYTHON.format(here=str(HERE), case=case, mode=mode, seconds=seconds)]))


def all_cases(seconds):
    """Returns name -> function that takes a tree and returns a figure."""
    cases = {}
    for net, (batch, modes) in STEPS.items():
        for mode in modes:
            cases[f"{net}/{mode}"] = lambda t, n=net, b=batch, m=mode: benchmark(t, n, b, m, seconds)["ms_per_step"]
    cases["resnet50/infer"] = lambda t: benchmark(t, "resnet50", 1, "graph", seconds, "infer")["ms_per_step"]
    for net in ("resnet50", "resnet152"):
        cases[f"{net}/compile"] = lambda t, n=net: 1e3 * benchmark(t, n, 1, "graph", 0.01)["compile_s"]
    for case in EAGER:
        cases[f"py/{case}"] = lambda t, c=case: python_case(t, c, "PYNATIVE", seconds)
    cases["py/lenet_step_graph"] = lambda t: python_case(t, "lenet_step", "GRAPH", seconds)
    return cases


def instructions(tree, mode):
    """Returns the instructions of one training step on the digits, from runs of 10 and 20 steps."""
    counts = []
    for steps in (10, 20):
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, OMP_NUM_THREADS="1", SINDRI_NUM_THREADS="1", SINDRI_STRICT="1", SINDRI_TUNE="0",
                       OMP_WAIT_POLICY="passive")  # if it were unset, the program would start itself again, which valgrind does not follow
            done = subprocess.run(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", tree / "build/release/sindri", "train", "--config",
                 tree / "configs/digits.yaml", "--set", f"train.max_steps={steps}", "--set", f"train.mode={mode}", "--set", f"train.run_dir={folder}/runs"],
                env=env, cwd=tree, capture_output=True, text=True, check=False)
            found = re.search(r"Collected : (\d+)", done.stderr)
            if not found:
                raise SystemExit(f"error: callgrind gave no count: {done.stderr[-600:]}")
            counts.append(int(found.group(1)))
    return (counts[1] - counts[0]) / 10


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    q = statistics.quantiles(values, n=4)
    return q[0], q[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("new", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--rounds", type=int, default=9, help="blocks of each build and case (default: 9)")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a block (default: 0.7)")
    parser.add_argument("--cases", default="", help="names or prefixes of names, separated by commas (default: all)")
    parser.add_argument("--instructions", action="store_true", help="count instructions of a step with valgrind instead")
    args = parser.parse_args()
    if args.instructions:
        for mode in ("graph", "pynative"):
            old, new = instructions(args.old, mode), instructions(args.new, mode)
            print(f"{mode:10} {old / 1e6:10.3f} {new / 1e6:10.3f} million instructions a step  {new / old:.4f}", flush=True)
        return
    wanted = [c for c in args.cases.split(",") if c]
    cases = {name: f for name, f in all_cases(args.seconds).items() if not wanted or any(name.startswith(w) for w in wanted)}
    if not cases:
        raise SystemExit(f"error: no case begins with {args.cases} | available: {', '.join(all_cases(0))}")
    times = {name: ([], []) for name in cases}
    for r in range(args.rounds):
        for name, f in cases.items():
            for which in ((0, 1) if r % 2 == 0 else (1, 0)):
                times[name][which].append(f((args.old, args.new)[which]))
        print(f"round {r + 1} of {args.rounds}", file=sys.stderr, flush=True)
    print(f"{'case':22} {'old':>10} {'new':>10} {'new/old':>8}   medians and quartiles, old; new; ratio of medians")
    for name, (old, new) in times.items():
        spread = ["{:.4g} ({:.4g} to {:.4g})".format(statistics.median(v), *quartiles(v)) for v in (old, new)]
        print(f"{name:22} {min(old):10.4g} {min(new):10.4g} {min(new) / min(old):8.3f}   {'; '.join(spread)}; "
              f"{statistics.median(new) / statistics.median(old):.3f}", flush=True)


if __name__ == "__main__":
    main()
