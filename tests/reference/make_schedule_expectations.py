"""Writes tests/optim/expectations/schedules.txt: every case of schedule_cases.py, with MindSpore (recorded with 2.10.0, CPU).

    python tests/reference/make_schedule_expectations.py

Lines: `case schedule NAME`, `case list NAME` or `case loss_scale WHO`, then `set KEY VALUE`, and the results: `values` of steps 0, 1, … (float32 for
schedules, float64 for lists). For loss scales: `overflow FLAGS`, then after each step `scale` and the counters: `current` and `last` (cell), these and
`overflows` (manager), `counter` (scaler).
"""
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import amp, nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import schedule_cases as cases  # noqa: E402

OUT = os.path.join(HERE, "..", "optim", "expectations", "schedules.txt")


def text(value):
    return str(value).lower() if isinstance(value, bool) else "[" + ",".join(text(v) for v in value) + "]" if isinstance(value, list) else repr(value)


def header(kind, rule, settings):
    return [f"case {kind} {rule}", *(f"set {k} {text(v)}" for k, v in settings.items())]


def row(name, values):
    return name + " " + " ".join(repr(float(v)) if isinstance(v, float) else f"{float(v):.9g}" for v in values)


def number(tensor):
    return np.asarray(tensor.asnumpy()).ravel()[0]


def scales(who, scale, factor, window, flags):
    overflows = [flag == "1" for flag in flags]
    rows = {}

    def note(**numbers):
        for key, value in numbers.items():
            rows.setdefault(key, []).append(value)

    if who == "cell":
        cell, held = nn.DynamicLossScaleUpdateCell(scale, factor, window), ms.Parameter(ms.Tensor(scale, ms.float32), name="scale")
        for overflow in overflows:
            cell(held, ms.Tensor(overflow))
            note(scale=number(held), current=number(cell.cur_iter), last=number(cell.last_overflow_iter))
    elif who == "manager":
        manager = ms.DynamicLossScaleManager(scale, factor, window)
        for overflow in overflows:
            manager.update_loss_scale(overflow)
            note(scale=float(manager.loss_scale), current=manager.cur_iter, last=manager.last_overflow_iter, overflows=manager.bad_step)
    else:
        scaler = amp.DynamicLossScaler(scale, factor, window)
        for overflow in overflows:
            scaler.adjust(ms.Tensor(not overflow))
            note(scale=number(scaler.scale_value), counter=number(scaler.counter))
    return [row(key, values) for key, values in rows.items()]


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    lines = []
    for name, args in cases.SCHEDULES:
        schedule = getattr(nn, name)(*args)
        lines += header("schedule", *cases.named(cases.CLASSES[name], args))
        lines.append(row("values", [number(schedule(ms.Tensor(i, ms.int32))) for i in range(cases.STEPS)]))
    for name, args in cases.LISTS:
        lines += header("list", *cases.named(cases.FUNCTIONS[name], args))
        lines.append(row("values", [float(v) for v in getattr(nn, name)(*args)]))
    for who, scale, factor, window, flags in cases.SCALES:
        lines += header("loss_scale", who, {"scale": scale, "factor": factor, "window": window})
        lines += [row("overflow", [int(f) for f in flags]), *scales(who, scale, factor, window, flags)]
    with open(OUT, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


main()
