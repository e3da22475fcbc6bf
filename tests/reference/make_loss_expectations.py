"""Writes tests/nn/expectations/losses.json with MindSpore (recorded with 2.10.0, CPU) from the cases of tests/python/loss_cases.py; the tests of both
languages read it: python tests/reference/make_loss_expectations.py

What MindSpore's CPU build lacks (soft margin, multilabel margin, triplets) is computed of its documented formula in float64, gradients by central differences."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import loss_cases  # noqa: E402
import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402


def soft_margin(x, y):
    return np.log1p(np.exp(-y * x))


def triplet_margin(x, positive, negative, margin, p=2, swap=False, eps=1e-6):
    def distance(a, b):
        return (np.abs(a - b + eps) ** p).sum(-1) ** (1 / p)
    far = distance(x, negative)
    return np.maximum(distance(x, positive) - (np.minimum(far, distance(positive, negative)) if swap else far) + margin, 0)


def multilabel_margin(x, target):
    rows = []
    for scores, classes in zip(np.atleast_2d(x), np.atleast_2d(target)):
        named = [int(c) for c in classes[:list(classes).index(-1) if -1 in classes else len(classes)]]
        others = [c for c in range(len(scores)) if c not in named]
        rows.append(sum(max(0, 1 - (scores[y] - scores[i])) for y in named for i in others) / len(scores))
    return np.array(rows) if np.ndim(x) == 2 else rows[0]


FORMULAS = {"multilabel_margin": multilabel_margin, "soft_margin": soft_margin, "triplet_margin": triplet_margin}


def by_formula(case):
    inputs, step = [np.asarray(a, np.float64) for a in case["inputs"]], 1e-6

    def loss(*values):
        terms = FORMULAS[case["rule"]](*values, **case["settings"])
        return terms if case["reduction"] == "none" else getattr(np, case["reduction"])(terms)
    grads = []
    for i in case["by"]:
        grad = np.zeros(inputs[i].shape)
        for at in np.ndindex(*grad.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in inputs]
                moved[i][at] += sign * step
                ends.append(loss(*moved).sum())
            grad[at] = (ends[0] - ends[1]) / (2 * step)
        grads.append(loss_cases.described(grad))
    return {"loss": loss_cases.described(np.asarray(loss(*inputs))), "grads": grads}


ms.set_context(mode=ms.PYNATIVE_MODE)
lines = []
for case in loss_cases.cases():
    source = "formula" if case["rule"] in FORMULAS else "mindspore"
    lines.append(json.dumps({**loss_cases.stored(case), "source": source, **(by_formula(case) if source == "formula" else loss_cases.run(ms, case))}))
with open(os.path.join(HERE, "..", "nn", "expectations", "losses.json"), "w", encoding="utf-8") as f:
    f.write("[\n" + ",\n".join(lines) + "\n]\n")
