"""Writes tests/optim/expectations/optimizers.txt: every case of optimizer_cases.py over fifty steps.

    python tests/reference/make_optimizer_expectations.py mindspore      # recorded with 2.10.0: all cases that its CPU build supports
    python tests/reference/make_optimizer_expectations.py formula        # cases that it lacks, or computes differently from its documentation

Lines: `case NAME OPTIMIZER SOURCE`, then `lr`, `weight_decay`, `set KEY VALUE`, `group PARAMETER lr|weight_decay|grad_centralization VALUE`, and the
results: `at STEP PARAMETER VALUES`, and after the last step `state NAME VALUES`.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import optimizer_cases as cases  # noqa: E402

OUT = os.path.join(HERE, "..", "optim", "expectations", "optimizers.txt")


def text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(repr(float(v)) for v in value) if isinstance(value, list) else repr(value)


def header(case, source):
    lines = [f"case {case['name']} {case['optimizer']} {source}", f"lr {text(case['lr'])}", f"weight_decay {text(case.get('weight_decay', 0.0))}"]
    lines += [f"set {k} {text(v)}" for k, v in case["settings"].items()]
    for name, group in case.get("groups", {}).items():
        lines += [f"group {name} {k} {text(v)}" for k, v in group.items()] or [f"group {name} own 1"]
    return lines


def values(array):
    return " ".join(f"{v:.9g}" for v in array.astype("float64").ravel())


def with_mindspore(case):
    import mindspore as ms
    import numpy as np
    from mindspore import nn
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    params = {n: ms.Parameter(ms.Tensor(np.array(v, np.float32).reshape(cases.SHAPES[n])), name=n) for n, v in cases.STARTS.items()}
    opt = cases.build(nn, params, case)
    scale = case["settings"].get("loss_scale", 1.0)
    lines = []
    for step in range(1, cases.STEPS + 1):
        opt(tuple(ms.Tensor((np.array(cases.gradient(step, n), np.float32) * np.float32(scale)).reshape(cases.SHAPES[n])) for n in params))
        if step in cases.SHOWN:
            lines += [f"at {step} {n} {values(p.asnumpy())}" for n, p in params.items()]
    skipped = set(params) | {"learning_rate", "global_step", "fake_lr", "momentum"}
    states = {p.name: p for p in opt.get_parameters()}
    if case["optimizer"] == "lars":
        states.update({p.name: p for p in opt.opt.get_parameters()})
    return lines + [f"state {n} {values(p.asnumpy())}" for n, p in states.items() if n not in skipped and not n.startswith("learning_rate")]


def with_formula(case):
    """Computes MindSpore's documented formulas (nn.Momentum with use_nesterov, nn.Adagrad, nn.FTRL, nn.Lamb, ops.LARSUpdate followed by nn.Momentum) in
    float64."""
    import numpy as np
    s, norm = case["settings"], np.linalg.norm
    params = {n: np.array(v) for n, v in cases.STARTS.items()}
    m, v = {n: np.zeros_like(p) for n, p in params.items()}, {n: np.zeros_like(p) for n, p in params.items()}
    lines = []
    for t in range(1, cases.STEPS + 1):
        lr = case["lr"][t - 1] if isinstance(case["lr"], list) else case["lr"]
        for n, p in params.items():
            g = np.array(cases.gradient(t, n))
            decay = 0.0 if "beta" in n or "gamma" in n else case.get("weight_decay", 0.0)
            if case["optimizer"] == "adagrad":
                params[n] = p - lr * g / np.sqrt(s["accum"])
                continue
            if case["optimizer"] == "ftrl":  # m: the sum of squares, v: the linear term
                before = m[n] + 0.1 if t == 1 else m[n]
                m[n] = before + g * g
                v[n] = v[n] + g - (np.sqrt(m[n]) - np.sqrt(before)) / lr * p
                step = (np.sign(v[n]) * s["l1"] - v[n]) / (np.sqrt(m[n]) / lr + 2 * s["l2"])
                params[n] = np.where(np.abs(v[n]) > s["l1"], step, 0.0)
                continue
            if case["optimizer"] == "lamb":
                m[n], v[n] = 0.9 * m[n] + 0.1 * g, 0.999 * v[n] + 0.001 * g * g
                u = m[n] / (1 - 0.9 ** t) / (np.sqrt(v[n] / (1 - 0.999 ** t)) + 1e-6) + decay * p
                params[n] = p - lr * norm(p) / norm(u) * u
                continue
            if case["optimizer"] == "momentum":
                m[n] = s["momentum"] * m[n] + g
                params[n] = p - lr * (g + s["momentum"] * m[n])
                continue
            if "LayerNorm" not in n and "bias" not in n:
                factor = s["coefficient"] * norm(p) / (norm(g) + decay * norm(p) + 1e-5)
                g = (min(factor / lr, 1.0) if s.get("use_clip") else factor) * (g + decay * p)
            m[n] = s["momentum"] * m[n] + g
            params[n] = p - lr * m[n]
        if t in cases.SHOWN:
            lines += [f"at {t} {n} {values(p)}" for n, p in params.items()]
    return lines


def main():
    source = sys.argv[1]
    run = {"mindspore": with_mindspore, "formula": with_formula}[source]
    kept = {}
    if os.path.exists(OUT):
        for line in open(OUT, encoding="utf-8").read().splitlines():
            if line.startswith("case "):
                lines = kept[line.split()[1]] = []
            lines.append(line)
    for case in cases.CASES:
        if (source == "formula") != case.get("formula", False):
            continue
        try:
            kept[case["name"]] = header(case, source) + run(case)
        except (RuntimeError, TypeError, ValueError) as e:
            print(f"{case['name']}: not with {source}:", " ".join(str(e).replace("-", "").split())[:300])
    with open(OUT, "w", encoding="utf-8") as f:
        f.write("".join("\n".join(kept[c["name"]]) + "\n" for c in cases.CASES if c["name"] in kept))


main()
