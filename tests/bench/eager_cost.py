#!/usr/bin/env python3
"""Measures the cost of eager ops from Python: 64x64 add and matmul, relu of 4 elements, a LeNet training step (batch 32), in Sindri, PyTorch and MindSpore.

usage: PYTHONPATH=python python3 tests/bench/eager_cost.py [--rounds N] [--threads N] [--cases a,b]

Each framework runs in a separate process with the same number of threads; it is stopped while another is measured. Each round measures all frameworks, in an
order that changes from round to round. A figure is the median over the rounds; `least` is the fastest round, which other programs on the machine disturb least.

The timed statement is `result = a + a` or similar, in a loop compiled for that statement, so the loop contains no call of a Python function of ours. After 200
iterations the last result is copied to the host. This waits for queued work before the clock is read: MindSpore's PyNative mode runs ops on another thread, and
a framework that only queued them would look faster than it is. `queued` is the same loop for MindSpore without the wait: the time after which Python may
continue. A LeNet step ends with its loss on the host. Cyclic garbage collection is on, as it is for users. MindSpore launches kernels from one thread
(runtime_num_threads=1) besides Python's: with two threads, or its default, it was slower on two cores.

The peers' interpreters are SINDRI_PEERS_PYTHON (PyTorch) and SINDRI_PEERS_PYTHON_MINDSPORE; a framework without one is omitted.
"""
import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time

import numpy as np


def lenet_parameters():
    """Returns fixed weights: shapes of LeNet's layers, values of a seeded generator."""
    rng = np.random.default_rng(0)
    shapes = {"conv1": (6, 1, 5, 5), "conv2": (16, 6, 5, 5), "fc1": (120, 400), "fc2": (84, 120), "fc3": (10, 84)}
    return {k: (rng.standard_normal(s) * 0.1).astype(np.float32) for k, s in shapes.items()}


def mindspore_like(ms):
    nn, ops, Tensor = ms.nn, ms.ops, ms.Tensor
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    w = lenet_parameters()

    class LeNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init=Tensor(w["conv1"]))
            self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init=Tensor(w["conv2"]))
            self.fc1 = nn.Dense(400, 120, weight_init=Tensor(w["fc1"]))
            self.fc2 = nn.Dense(120, 84, weight_init=Tensor(w["fc2"]))
            self.fc3 = nn.Dense(84, 10, weight_init=Tensor(w["fc3"]))
            self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

        def construct(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.pool(self.relu(self.conv2(x)))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))

    net = LeNet()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
    a, s = Tensor(np.ones((64, 64), np.float32)), Tensor(np.ones(4, np.float32))
    x, y = Tensor(np.ones((32, 1, 32, 32), np.float32)), Tensor(np.arange(32, dtype=np.int32) % 10)
    matmul, relu = ops.MatMul(), ops.ReLU()
    return {"add": "a + a", "matmul": "matmul(a, a)", "relu": "relu(s)", "lenet_step": "step(x, y).asnumpy()"}, locals()


def pytorch(torch):
    w = {k: torch.nn.Parameter(torch.from_numpy(v)) for k, v in lenet_parameters().items()}

    class LeNet(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = torch.nn.Conv2d(1, 6, 5, bias=False), torch.nn.Conv2d(6, 16, 5, bias=False)
            self.fc1, self.fc2, self.fc3 = torch.nn.Linear(400, 120), torch.nn.Linear(120, 84), torch.nn.Linear(84, 10)
            for name, p in w.items():
                getattr(self, name).weight = p
            self.relu, self.pool, self.flatten = torch.nn.ReLU(), torch.nn.MaxPool2d(2, 2), torch.nn.Flatten()

        def forward(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.pool(self.relu(self.conv2(x)))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))

    net = LeNet()
    optimizer, loss_fn = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9), torch.nn.CrossEntropyLoss()
    a, s = torch.ones(64, 64), torch.ones(4)
    x, y = torch.ones(32, 1, 32, 32), torch.arange(32) % 10

    def step():
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    matmul, relu = torch.matmul, torch.relu
    return {"add": "a + a", "matmul": "matmul(a, a)", "relu": "relu(s)", "lenet_step": "step()"}, locals()


BURST = {"lenet_step": 1}  # calls between two readings of the clock; 200 of the single ops


def loop(statement, names):
    """Returns f(n), which runs the statement n times and returns the last result."""
    scope = dict(names)
    exec(f"def run(n):\n    for _ in range(n):\n        last = {statement}\n    return last", scope)  # pylint: disable=exec-used
    return scope["run"]


def measure(run, burst, wait, seconds):
    """Returns the microseconds per call, measured over `seconds`."""
    n, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        last = run(burst)
        if wait:
            getattr(last, "asnumpy", int)()  # MindSpore queues ops: wait for them
        n += burst
    taken = time.perf_counter() - begin
    getattr(last, "asnumpy", int)()
    return taken / n * 1e6


def worker(framework, threads, chosen):
    """Answers each line on stdin with the microseconds per call of every case."""
    if framework == "pytorch":
        import torch
        torch.set_num_threads(threads)
        cases, names = pytorch(torch)
    else:
        ms = __import__(framework)
        if framework == "mindspore":
            if "sindri" in sys.modules:
                raise SystemExit("error: `mindspore` is Sindri here | give the interpreter of an environment without it")
            ms.set_context(runtime_num_threads=1)
        cases, names = mindspore_like(ms)
    loops = {case: loop(statement, names) for case, statement in cases.items() if case in chosen}
    for case, run in loops.items():
        measure(run, BURST.get(case, 200), True, 0.2)
    print("ready", flush=True)
    for _ in sys.stdin:
        out = {case: measure(run, BURST.get(case, 200), True, 0.3) for case, run in loops.items()}
        if framework == "mindspore":
            out["queued"] = {case: measure(run, 200, False, 0.05) for case, run in loops.items() if case not in BURST}
        print(json.dumps(out), flush=True)


def start(name, python, threads, chosen):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    if name != "sindri":
        env.pop("PYTHONPATH", None)  # otherwise `import mindspore` would import Sindri's package of that name
    process = subprocess.Popen([python, __file__, "--worker", name, "--threads", str(threads), "--cases", ",".join(chosen)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env=env, stderr=subprocess.DEVNULL)
    while (line := process.stdout.readline()).strip() != "ready":
        if not line:
            raise SystemExit(f"error: {name} did not start | {python} | run it with --worker {name} to see why")
    process.send_signal(signal.SIGSTOP)
    return process


def ask(process):
    """Runs one round of a framework; it is stopped outside its turn."""
    process.send_signal(signal.SIGCONT)
    process.stdin.write("go\n")
    process.stdin.flush()
    out = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGSTOP)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cases", default="add,matmul,relu,lenet_step", help="cases to measure (default: all)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    cases = args.cases.split(",")
    if args.worker:
        return worker(args.worker, args.threads, cases)
    peers = {"sindri": sys.executable, "pytorch": os.environ.get("SINDRI_PEERS_PYTHON"), "mindspore": os.environ.get("SINDRI_PEERS_PYTHON_MINDSPORE")}
    running = {name: start(name, python, args.threads, cases) for name, python in peers.items() if python}
    rounds = {name: [] for name in running}
    order = random.Random(0)
    for _ in range(args.rounds):
        for name in order.sample(list(running), len(running)):
            rounds[name].append(ask(running[name]))
    for p in running.values():
        p.send_signal(signal.SIGCONT)
        p.stdin.close()
        p.wait()
    median = {name: {c: statistics.median(r[c] for r in taken) for c in cases} for name, taken in rounds.items()}
    least = {name: {c: min(r[c] for r in taken) for c in cases} for name, taken in rounds.items()}
    print(f"{'us per call':<20}" + "".join(f"{c:>22}" for c in cases))
    for name in running:
        print(f"{name:<20}" + "".join(f"{median[name][c]:13.2f} ({least[name][c]:.2f})".rjust(22) for c in cases))
    if "mindspore" in running:
        queued = {c: statistics.median(r["queued"][c] for r in rounds["mindspore"]) for c in cases if c not in BURST}
        print(f"{'mindspore, queued':<20}" + "".join((f"{queued[c]:13.2f}" if c in queued else "").rjust(22) for c in cases))
    for name in running:
        if name != "sindri":
            ratios = (f"{median['sindri'][c] / median[name][c]:.2f} ({least['sindri'][c] / least[name][c]:.2f})".rjust(22) for c in cases)
            print(f"{'over ' + name:<20}" + "".join(ratios))
    print("medians over the rounds; in brackets, the minimum")
    return 0


if __name__ == "__main__":
    sys.exit(main())
