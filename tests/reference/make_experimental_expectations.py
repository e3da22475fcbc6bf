"""Writes tests/python/expectations/experimental.json: the cases of experimental_cases.py with MindSpore (2.10.0) and PyTorch (2.x).

    python tests/reference/make_experimental_expectations.py mindspore
    python tests/reference/make_experimental_expectations.py torch

Each run replaces the values of that source: optimizers as {step: {parameter: values}} with the final state ("state", MindSpore's only), and schedules as lists of
the rates of both groups.
"""
import json
import os
import sys
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import experimental_cases as cases  # noqa: E402

OUT = os.path.join(HERE, "..", "python", "expectations", "experimental.json")


def start(name):
    return np.array(cases.STARTS[name], np.float32).reshape(cases.SHAPES[name])


def gradient(step, name):
    return np.array(cases.gradient(step, name), np.float32).reshape(cases.SHAPES[name])


def listed(array):
    return [float(f"{v:.9g}") for v in np.asarray(array, np.float64).ravel()]


def attempt(out, name, run):
    try:
        out[name] = run()
    except Exception as e:  # noqa: BLE001 - MindSpore's CPU build lacks kernels
        print(f"{name}: {type(e).__name__}: {' '.join(str(e).split())[:200]}")


def with_mindspore():
    import mindspore as ms
    from mindspore.experimental import optim
    from mindspore.experimental.optim import lr_scheduler
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")

    def optimizer(case):
        params = {n: ms.Parameter(ms.Tensor(start(n)), name=n) for n in cases.STARTS}
        opt = getattr(optim, case["optimizer"])(cases.groups(params, case), **case["options"])
        out = {}
        for step in range(1, cases.STEPS + 1):
            opt(tuple(ms.Tensor(gradient(step, p.name)) for p in opt.parameters))
            for group, factor in zip(opt.param_groups, cases.factors_after(step)):
                ms.ops.assign(group["lr"], group["lr"] * factor)
            if step in cases.SHOWN:
                out[str(step)] = {n: listed(p.asnumpy()) for n, p in params.items()}
        out["state"] = {p.name: listed(p.asnumpy()) for p in opt.get_parameters() if p.name not in params}
        return out

    def of_rates():
        params = [ms.Parameter(ms.Tensor([1.0], ms.float32), name=f"p{i}") for i in range(2)]
        return optim.SGD([{"params": [p], "lr": rate} for p, rate in zip(params, cases.RATES)], lr=0.1)

    def schedule(case):
        opt = of_rates()
        scheduler = getattr(lr_scheduler, case["scheduler"])(opt, *case["args"], **case["kwargs"])
        return cases.run_schedule(case, scheduler, lambda: [listed(g["lr"].asnumpy())[0] for g in opt.param_groups])

    def sequence(make):
        opt = of_rates()
        return cases.run_schedule({"epochs": None, "metrics": None, "steps": 14}, make(lr_scheduler, opt),
                                  lambda: [listed(g["lr"].asnumpy())[0] for g in opt.param_groups])

    return optimizer, schedule, sequence


def with_torch():
    import torch
    warnings.simplefilter("ignore")

    def optimizer(case):
        params = {n: torch.nn.Parameter(torch.from_numpy(start(n))) for n in cases.STARTS}
        opt = getattr(torch.optim, case["optimizer"])(cases.groups(params, case), **case["options"])
        out = {}
        for step in range(1, cases.STEPS + 1):
            for n, p in params.items():
                p.grad = torch.from_numpy(gradient(step, n))
            opt.step()
            for group, factor in zip(opt.param_groups, cases.factors_after(step)):
                group["lr"] *= factor
            if step in cases.SHOWN:
                out[str(step)] = {n: listed(p.detach().numpy()) for n, p in params.items()}
        return out

    def of_rates():
        return torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(1))], "lr": rate} for rate in cases.RATES], lr=0.1)

    def schedule(case):
        opt = of_rates()
        own = {"cycle_momentum": False} if case["scheduler"] == "CyclicLR" else {}
        scheduler = getattr(torch.optim.lr_scheduler, case["scheduler"])(opt, *case["args"], **case["kwargs"], **own)
        return cases.run_schedule(case, scheduler, lambda: [g["lr"] for g in opt.param_groups])

    def sequence(make):
        opt = of_rates()
        return cases.run_schedule({"epochs": None, "metrics": None, "steps": 14}, make(torch.optim.lr_scheduler, opt), lambda: [g["lr"] for g in opt.param_groups])

    return optimizer, schedule, sequence


def main():
    source = sys.argv[1]
    optimizer, schedule, sequence = {"mindspore": with_mindspore, "torch": with_torch}[source]()
    found = {"optimizers": {}, "schedules": {}}
    for case in cases.CASES:
        attempt(found["optimizers"], case["name"], lambda: optimizer(case))
    for case in cases.SCHEDULES:
        attempt(found["schedules"], case["name"], lambda: schedule(case))
    for name, make in cases.SEQUENCES.items():
        attempt(found["schedules"], name, lambda: sequence(make))
    everything = {}
    if os.path.exists(OUT):
        with open(OUT, encoding="utf-8") as f:
            everything = json.load(f)
    everything[source] = found
    with open(OUT, "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(f'"{s}": {{\n' + ",\n".join(f'"{kind}": {{\n' + ",\n".join(f"{json.dumps(n)}: {json.dumps(v)}" for n, v in values.items())
                                                                  + "\n}" for kind, values in everything[s].items()) + "\n}" for s in sorted(everything)) + "\n}\n")


main()
