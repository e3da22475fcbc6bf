#!/usr/bin/env python3
"""Cost of an eager op from Python: add and matmul of 64x64, relu of 4 elements, a LeNet training step (batch 32), beside PyTorch and MindSpore.

usage: PYTHONPATH=python python3 tests/bench/eager_cost.py [--rounds N] [--threads N]

Peers are the interpreters SINDRI_PEERS_PYTHON (PyTorch) and SINDRI_PEERS_PYTHON_MINDSPORE; without one it is left out. Rounds go in turns; medians.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np


def lenet_parameters():
    """Fixed weights: shapes of LeNet's layers, values of a seeded generator."""
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
    return {"add": lambda: a + a, "matmul": lambda: matmul(a, a), "relu": lambda: relu(s), "lenet_step": lambda: step(x, y).asnumpy()}


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

    return {"add": lambda: a + a, "matmul": lambda: torch.matmul(a, a), "relu": lambda: torch.relu(s), "lenet_step": step}


def worker(framework, threads):
    """Answers each line on stdin with the microseconds per call of every case."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    if framework == "pytorch":
        import torch
        torch.set_num_threads(threads)
        cases = pytorch(torch)
    else:
        ms = __import__(framework)
        cases = mindspore_like(ms)
    for f in cases.values():
        for _ in range(5):
            f()
    print("ready", flush=True)
    for _ in sys.stdin:
        out = {}
        for name, f in cases.items():
            n, begin = 0, time.perf_counter()
            while time.perf_counter() - begin < 0.3:
                for _ in range(100 if name != "lenet_step" else 1):
                    last = f()
                    n += 1
                getattr(last, "asnumpy", lambda: None)()  # MindSpore queues ops: wait for them
            out[name] = (time.perf_counter() - begin) / n * 1e6
        print(json.dumps(out), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args.worker, args.threads)
    peers = {"sindri": sys.executable, "pytorch": os.environ.get("SINDRI_PEERS_PYTHON"), "mindspore": os.environ.get("SINDRI_PEERS_PYTHON_MINDSPORE")}
    running = {}
    for name, python in peers.items():
        if python:
            env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), OMP_WAIT_POLICY="passive" if name == "sindri" else os.environ.get("OMP_WAIT_POLICY", ""))
            if not env["OMP_WAIT_POLICY"]:
                del env["OMP_WAIT_POLICY"]
            p = subprocess.Popen([python, __file__, "--worker", name, "--threads", str(args.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env=env, stderr=subprocess.DEVNULL)
            while p.stdout.readline().strip() != "ready":
                if p.poll() is not None:
                    raise SystemExit(f"error: {name} did not start | {python}")
            running[name] = p
    results = {name: [] for name in running}
    for _ in range(args.rounds):
        for name, p in running.items():
            p.stdin.write("go\n")
            p.stdin.flush()
            results[name].append(json.loads(p.stdout.readline()))
    for p in running.values():
        p.stdin.close()
    cases = list(results["sindri"][0])
    median = {name: {c: statistics.median(r[c] for r in rounds) for c in cases} for name, rounds in results.items()}
    print("us per call " + "".join(f"{c:>14}" for c in cases))
    for name in running:
        print(f"{name:<12}" + "".join(f"{median[name][c]:14.2f}" for c in cases))
    for name in running:
        if name != "sindri":
            print(f"over {name:<10}" + "".join(f"{median['sindri'][c] / median[name][c]:13.2f}x" for c in cases))


if __name__ == "__main__":
    main()
