#!/usr/bin/env python3
"""Measures the error of one float32 convolution against float64, kernel by kernel, and compares it with PyTorch's if a Python with PyTorch is given.

usage: PYTHONPATH=python conv_error.py [--pytorch PYTHON]

3x3, padding 1, inputs and weights uniform in [0, 1). Prints the root mean square of the relative error.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

SHAPES = ((4, 16, 32), (4, 64, 56), (2, 128, 28), (2, 256, 14))  # images, channels in and out, height and width
KERNELS = ("onednn", "tiled", "winograd", "im2col")


def data(shape):
    """Returns input and weight, in float32."""
    n, c, h = shape
    rng = np.random.default_rng(c)
    return rng.uniform(0, 1, (n, c, h, h)).astype(np.float32), rng.uniform(0, 1, (c, c, 3, 3)).astype(np.float32)


def by_sindri(x, w):
    """Convolves with the kernel that SINDRI_KERNEL names."""
    import sindri as ms
    from sindri import ops
    return ops.conv2d(ms.Tensor(x), ms.Tensor(w), pad_mode="pad", padding=1).asnumpy()


def by_pytorch(x, w):
    """Convolves with this Python's PyTorch."""
    import torch
    return torch.nn.functional.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()


def errors(convolve, truth):
    """Returns the error for every shape."""
    out = []
    for shape in SHAPES:
        want = truth[str(shape)]
        out.append(float(np.sqrt(np.mean(((convolve(*data(shape)) - want) / want) ** 2))))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pytorch", metavar="PYTHON")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(errors({"sindri": by_sindri, "pytorch": by_pytorch}[args.child[0]], np.load(args.child[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        report(args.pytorch, os.path.join(folder, "float64.npz"))


def report(pytorch, path):
    """Prints a row for each kernel. `path` is the file for the float64 results."""
    np.savez(path, **{str(shape): by_sindri(*(a.astype(np.float64) for a in data(shape))) for shape in SHAPES})
    runs = [(name, [sys.executable, __file__, "--child", "sindri", path], {"SINDRI_KERNEL": name}) for name in KERNELS]
    if pytorch:
        runs.insert(0, ("pytorch", [pytorch, __file__, "--child", "pytorch", path], {}))
    print("channels  " + "  ".join(f"{c:>7}" for _, c, _ in SHAPES))
    for name, command, environment in runs:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
        print(f"{name:<9} " + "  ".join(f"{e:7.1e}" for e in json.loads(done.stdout.splitlines()[-1])))


if __name__ == "__main__":
    main()
