"""Runs every op sample in PyTorch (float64) and stores outputs and gradients.

usage: build/release/tests/ops_tests --dump-samples | python tests/reference/make_op_expectations.py tests/ops/expectations
"""
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

from formula import mixed, unit

KEEP = 200  # stored values per tensor, spread over it
DTYPES = {"bool": torch.bool, "uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64, "float16": torch.float16,
          "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


def arg_values(sample, index, a):
    shape, n = a["shape"], int(np.prod(a["shape"], dtype=np.int64))
    key = f"{sample}#{index}"
    if a["values"]:
        return np.array(a["values"]).reshape(shape)
    if a["kind"] == "distinct":
        order = np.argsort(mixed(key, n), kind="stable")
        v = np.empty(n)
        v[order] = a["lo"] + (a["hi"] - a["lo"]) * np.arange(n) / max(n, 1)
        return v.reshape(shape)
    v = a["lo"] + (a["hi"] - a["lo"]) * unit(key, n)
    if a["kind"] == "integers" or a["dtype"] in ("bool", "uint8", "int32", "int64"):
        v = np.floor(v)
    if a["kind"] == "away0":
        v = np.where(np.abs(v) < 0.1, np.where(v < 0, v - 0.1, v + 0.1), v)
    v = v.reshape(shape)
    if a["kind"] == "spd" and n:
        v = v @ np.swapaxes(v, -1, -2) / shape[-1] + np.eye(shape[-1])
    return v


def make_args(s):
    out = []
    for i, a in enumerate(s["args"]):
        dtype = DTYPES[a["dtype"]] if a["dtype"] else torch.float64
        t = torch.tensor(arg_values(f'{s["op"]}/{s["name"]}', i, a)).to(dtype)
        out.append(t)
    return out


def pad4(p):
    return (p[2], p[3], p[0], p[1])


def conv2d(x, w, a):
    return F.conv2d(F.pad(x, pad4(a["pad"])), w, None, a["stride"], 0, a["dilation"], a["groups"])


def conv_grad(which):
    def f(t, a, shape):
        def g(x, w):
            return conv2d(x, w, a)
        other = t[1]
        var = torch.zeros(shape, dtype=t[0].dtype, requires_grad=True)
        y = g(var, other) if which == "x" else g(other, var)
        return torch.autograd.grad(y, var, t[0], create_graph=True)[0]
    return f


def reduce(fn, empty_all=True):
    def f(t, a):
        x = t[0]
        axes = [d % max(x.dim(), 1) for d in a["axes"]] or list(range(x.dim()))
        return fn(x, tuple(axes), a["keep_dims"]) if x.dim() else fn(x.reshape(1), (0,), False)
    return f


def prod(x, axes, keep):
    for d in sorted(axes, reverse=True):
        x = torch.prod(x, d, keepdim=keep)
    return x


def batch_norm(t, a):
    x, gamma, beta = t[:3]
    axes = [0] + list(range(2, x.dim()))
    return F.batch_norm(x, None, None, gamma, beta, True, 0.1, a["eps"]), x.mean(axes), x.var(axes, unbiased=False)


def pooled(kind):
    def f(t, a):
        x = t[0]
        k, s, p = a["kernel"], a["stride"], a["pad"]
        if kind == "max":
            if p[0] == p[1] and p[2] == p[3]:
                return F.max_pool2d(x, k, s, (p[0], p[2]), ceil_mode=a["ceil_mode"])
            return None if a["ceil_mode"] else F.max_pool2d(F.pad(x, pad4(p), value=float("-inf")), k, s)
        if p[0] == p[1] and p[2] == p[3]:
            return F.avg_pool2d(x, k, s, (p[0], p[2]), a["ceil_mode"], a["count_include_pad"])
        return None
    return f


def ctc_loss(t, a):
    """Returns the loss with the gradient with respect to log_probs. PyTorch's adds exp(log_probs), which a preceding log_softmax would cancel."""
    y, targets, steps, lengths = t[0], *(v.long() for v in t[1:])
    if (targets == a["blank"]).any():
        raise ValueError("PyTorch's gradient for a label equal to the blank is not the gradient of its loss")
    loss, plain = (F.ctc_loss(y, targets, steps, lengths, a["blank"], "none", zero) for zero in (a["zero_infinity"], False))
    counted = (torch.arange(y.shape[0])[:, None] < steps) & torch.isfinite(plain)
    return loss - torch.where(counted, (y.exp() - y.exp().detach()).sum(2), torch.zeros((), dtype=y.dtype)).sum(0)


def cross_entropy_sparse(t, a):
    return F.cross_entropy(t[0], t[1].long(), reduction="none", label_smoothing=a["label_smoothing"], ignore_index=a["ignore_index"])


def layer_norm(t, a):
    x = t[0]
    axis = a["begin_norm_axis"] % x.dim()
    within = list(range(axis, x.dim()))
    inv_std = torch.rsqrt(x.var(within, unbiased=False, keepdim=True) + a["eps"])
    return F.layer_norm(x, x.shape[axis:], t[1], t[2], a["eps"]), x.mean(within, keepdim=True), inv_std


def matmul(t, a):
    x = t[0].transpose(-1, -2) if a["transpose_a"] else t[0]
    y = t[1].transpose(-1, -2) if a["transpose_b"] else t[1]
    return torch.matmul(x, y)


def slice_(t, a):
    x = t[0]
    if any(s < 0 for s in (a.get("stride") or [])):
        return None
    idx = tuple(slice(b, e, s) for b, e, s in zip(a["begin"], a["end"], a["stride"] or [1] * len(a["begin"])))
    return x[idx]


def backwards(f, t, a):
    turn = (lambda x: torch.flip(x, [a["axis"]])) if a.get("reverse") else (lambda x: x)
    return turn(f(*(turn(x) for x in t)))


def linear_scan(t, a):
    """The recurrence as defined, one position at a time."""
    def scan(x, b):
        x, b = x.movedim(a["axis"], 0), b.movedim(a["axis"], 0)
        out = []
        for i in range(len(b)):
            out.append(b[i] if i == 0 else x[i - 1 if a["late"] else i] * out[-1] + b[i])
        return (torch.stack(out) if out else b * x).movedim(0, a["axis"])
    return backwards(scan, t, a)


UNARY = {n: getattr(torch, n) for n in "neg abs sign floor ceil round exp expm1 log log1p sqrt rsqrt square reciprocal sin cos erf tanh sigmoid relu".split()}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.true_divide, "pow": torch.pow, "maximum": torch.maximum,
          "minimum": torch.minimum, "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
          "greater_equal": torch.ge, "floor_div": torch.floor_divide, "mod": torch.remainder, "logical_and": torch.logical_and,
          "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}
OPS = {n: (lambda f: lambda t, a: f(t[0]))(f) for n, f in UNARY.items()}
OPS.update({n: (lambda f: lambda t, a: f(t[0], t[1]))(f) for n, f in BINARY.items()})
OPS.update({
    "relu6": lambda t, a: F.relu6(t[0]), "silu": lambda t, a: F.silu(t[0]), "softplus": lambda t, a: F.softplus(t[0], threshold=1e9),
    "hswish": lambda t, a: F.hardswish(t[0]), "hsigmoid": lambda t, a: F.relu6(t[0] + 3) / 6,  # F.hardsigmoid multiplies by 1/6 rounded to float32
    "leaky_relu": lambda t, a: F.leaky_relu(t[0], a["alpha"]), "elu": lambda t, a: F.elu(t[0], a["alpha"]),
    "gelu": lambda t, a: F.gelu(t[0], approximate="tanh" if a["approximate"] else "none"),
    "isnan": lambda t, a: torch.isnan(t[0]), "isfinite": lambda t, a: torch.isfinite(t[0]), "logical_not": lambda t, a: torch.logical_not(t[0]),
    "where": lambda t, a: torch.where(t[0], t[1], t[2]), "clamp": lambda t, a: torch.clamp(t[0], a["lo"], a["hi"]),
    "sum": reduce(lambda x, d, k: x.sum(d, keepdim=k)), "mean": reduce(lambda x, d, k: x.mean(d, keepdim=k)), "prod": reduce(prod),
    "max": reduce(lambda x, d, k: x.amax(d, keepdim=k)), "min": reduce(lambda x, d, k: x.amin(d, keepdim=k)),
    "logsumexp": reduce(lambda x, d, k: torch.logsumexp(x, d, keepdim=k)),
    "norm": lambda t, a: reduce(lambda x, d, k: torch.linalg.vector_norm(x, a["p"], d, k))(t, a),
    "cumsum": lambda t, a: torch.flip(torch.cumsum(torch.flip(t[0], [a["axis"]]), a["axis"]), [a["axis"]]) if a.get("reverse") else torch.cumsum(t[0], a["axis"]),
    "cumprod": lambda t, a: backwards(lambda x: torch.cumprod(x, a["axis"]), t, a), "linear_scan": linear_scan,
    "matmul": matmul, "batch_matmul": matmul, "conv2d": lambda t, a: conv2d(t[0], t[1], a),
    "conv2d_input_grad": lambda t, a: conv_grad("x")(t, a, a["x_shape"]), "conv2d_weight_grad": lambda t, a: conv_grad("w")(t, a, a["w_shape"]),
    "batch_norm_train": batch_norm, "batch_norm_infer": lambda t, a: F.batch_norm(t[0], t[3], t[4], t[1], t[2], False, 0.1, a["eps"]),
    "layer_norm": layer_norm, "max_pool2d": pooled("max"), "avg_pool2d": pooled("avg"),
    "adaptive_avg_pool2d": lambda t, a: F.adaptive_avg_pool2d(t[0], (a["oh"], a["ow"])), "global_avg_pool2d": lambda t, a: t[0].mean((2, 3), keepdim=True),
    "softmax": lambda t, a: F.softmax(t[0], a["axis"]), "log_softmax": lambda t, a: F.log_softmax(t[0], a["axis"]),
    "ctc_loss": ctc_loss,
    "softmax_cross_entropy_sparse": cross_entropy_sparse,
    "softmax_cross_entropy_dense": lambda t, a: -(t[1] * F.log_softmax(t[0], 1)).sum(1),
    "reshape": lambda t, a: t[0].reshape(a["shape"]), "transpose": lambda t, a: t[0].permute(a["perm"]), "concat": lambda t, a: torch.cat(t, a["axis"]),
    "split": lambda t, a: torch.split(t[0], a["sizes"], a["axis"]), "slice": slice_, "broadcast_to": lambda t, a: t[0].expand(a["shape"]),
    "sum_to": lambda t, a: t[0].sum_to_size(a["shape"]), "tile": lambda t, a: t[0].tile(a["repeats"]),
    "cholesky": lambda t, a: torch.linalg.cholesky(t[0]), "inverse": lambda t, a: torch.linalg.inv(t[0]),
})


def stored(t):
    flat = t.detach().to(torch.float64).reshape(-1).numpy()
    count = min(len(flat), KEEP)
    at = [i * len(flat) // count for i in range(count)]
    return len(flat), " ".join(repr(float(flat[i])) for i in at)


def lines_of(s):
    args = make_args(s)
    free = [i for i, a in enumerate(s["args"]) if not a["dtype"] and i not in s["no_gradient"]]
    for i in free:
        args[i].requires_grad_(True)
    out = OPS[s["op"]](args, s["attrs"])
    if out is None:
        return
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    for i, t in enumerate(out):
        n, text = stored(t)
        yield f'{s["name"]} out {i} {n} {text}'
    total, keyed = 0, f'{s["op"]}/{s["name"]}'
    for i, t in enumerate(out):
        if t.is_floating_point() and t.requires_grad:
            w = torch.tensor(2 * unit(f"{keyed}#{100 + i}", t.numel()) - 1).reshape(t.shape)
            total = total + (t * w).sum()
    if not s["gradient"] or not free or not torch.is_tensor(total):
        return
    grads = torch.autograd.grad(total, [args[i] for i in free], allow_unused=True)
    for i, g in zip(free, grads):
        n, text = stored(g if g is not None else torch.zeros_like(args[i]))
        yield f'{s["name"]} grad {i} {n} {text}'


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    per_op, unknown, failed = {}, set(), []
    for s in json.load(sys.stdin):
        if s["op"] not in OPS:
            unknown.add(s["op"])
            continue
        try:
            per_op.setdefault(s["op"], []).extend(lines_of(s))
        except Exception as e:  # PyTorch rejects the sample (zero sizes it has no rule for); the other checks cover it
            failed.append(f'{s["op"]}/{s["name"]}: {str(e).splitlines()[0]}')
    for op, lines in per_op.items():
        with open(os.path.join(folder, op + ".txt"), "w") as f:
            f.write("\n".join(lines) + "\n")
    print(f"torch {torch.__version__}: {len(per_op)} ops, {sum(map(len, per_op.values()))} lines")
    print("no PyTorch counterpart:", ", ".join(sorted(unknown)))
    for line in failed:
        print("omitted:", line)


main()
