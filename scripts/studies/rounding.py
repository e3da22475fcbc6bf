#!/usr/bin/env python3
"""Measures rounding errors of float32 matrix products and convolutions against float64, with the same inputs in Sindri and PyTorch.

usage: PYTHONPATH=python build/venv/bin/python scripts/studies/rounding.py sindri > ours
       PEERS/pytorch/bin/python scripts/studies/rounding.py torch [ours]

Prints one line per case and kind of input: mean and largest |error| over all seeds, as fractions of the mean |result|. Given a file with the other framework's
lines, also prints the ratio of the two. SINDRI_KERNEL (gemm, im2col, …) selects kernels; SINDRI_CPU_ISA, ATEN_CPU_CAPABILITY and ONEDNN_MAX_CPU_ISA select an
instruction set.
"""
import sys

import numpy as np

SEEDS = 5
MATMULS = [(64, 4096, 64), (256, 4096, 256), (512, 512, 512), (16, 4096, 1000)]  # M, K, N
CONVOLUTIONS = [(4, 16, 32, 16), (4, 64, 28, 64), (2, 256, 14, 256), (1, 512, 14, 512)]  # N, C, H = W, O; 3x3, padding 1


def kernels(framework):
    if framework == "torch":
        import torch
        import torch.nn.functional as F
        torch.set_grad_enabled(False)
        print(f"# torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads", file=sys.stderr)
        return (lambda a, b: (torch.from_numpy(a) @ torch.from_numpy(b)).numpy(),
                lambda x, w: F.conv2d(torch.from_numpy(x), torch.from_numpy(w), padding=1).numpy())
    import sindri as ms
    from sindri import Tensor, ops
    ms.set_context(mode=ms.PYNATIVE_MODE)
    print(f"# sindri {ms.__version__}", file=sys.stderr)
    return (lambda a, b: ops.matmul(Tensor(a), Tensor(b)).asnumpy(), lambda x, w: ops.conv2d(Tensor(x), Tensor(w), pad_mode="pad", padding=1).asnumpy())


def exact_conv(x, w):
    n, c, h, _ = x.shape
    p = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    columns = np.stack([p[:, :, i:i + h, j:j + h] for i in range(3) for j in range(3)], 2)  # [n, c, 9, h, w]
    return np.einsum("ok,nkp->nop", w.astype(np.float64).reshape(len(w), -1), columns.reshape(n, c * 9, h * h), optimize=True).reshape(n, len(w), h, h)


def inputs(kind, seed, *shapes):
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal if kind == "normal" else rng.random
    return [draw(s).astype(np.float32) for s in shapes]


def main():
    framework, other = sys.argv[1], {}
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as f:
            other = {tuple(line.split()[:2]): [float(v) for v in line.split()[2:4]] for line in f}
    matmul, conv = kernels(framework)
    for case, function, exact, shapes in (
            [(f"matmul_{m}x{k}x{n}", matmul, lambda a, b: a.astype(np.float64) @ b.astype(np.float64), ((m, k), (k, n))) for m, k, n in MATMULS] +
            [(f"conv3x3_{n}x{c}x{h}x{h}_{o}", conv, exact_conv, ((n, c, h, h), (o, c, 3, 3))) for n, c, h, o in CONVOLUTIONS]):
        for kind in ("normal", "uniform"):
            mean, largest = [], []
            for seed in range(SEEDS):
                data = inputs(kind, seed, *shapes)
                right = exact(*data)
                error = np.abs(function(*data) - right)
                mean.append(error.mean() / np.abs(right).mean())
                largest.append(error.max() / np.abs(right).mean())
            line = f"{case} {kind} {np.mean(mean):.3g} {np.max(largest):.3g}"
            if (case, kind) in other:
                line += "   other: {:.3g} {:.3g}, ratio {:.2f} {:.2f}".format(*other[case, kind], other[case, kind][0] / np.mean(mean),
                                                                            other[case, kind][1] / np.max(largest))
            print(line)


main()
