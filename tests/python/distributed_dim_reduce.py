"""Steps of boost.DimReduce as one of two ranks, which share three components: `python distributed_dim_reduce.py FOLDER`. Writes the weights of both forms."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import boost, nn
from sindri.communication import get_rank, init


class Quadratic(nn.Cell):
    def __init__(self):
        super().__init__()
        self.h = ms.Tensor(np.float32([3, 1, 0.5, 2, 4]))
        self.w = ms.Parameter(ms.Tensor(np.ones(5, np.float32)), name="w")

    def construct(self):
        return 0.5 * (self.h * self.w * self.w).sum()


def weights(matrix, rank, size):
    net = Quadratic()
    cell = boost.DimReduce(net, nn.SGD([net.w], 1.0), [net.w], matrix, 3, 0.55, 0.9, 0.01, 0.4, rank, size)
    for _ in range(6):
        cell(net(), (net.h * net.w,), [net.w], [])
    return net.w.asnumpy()


def main(folder):
    init()
    rank = get_rank()
    whole = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 3)))[0].T.astype(np.float32)
    padded = np.concatenate([whole, np.zeros((1, 5), np.float32)])
    np.savez(pathlib.Path(folder) / f"{rank}.npz", shared=weights(padded[2 * rank:2 * rank + 2], rank, 2), alone=weights(whole, 0, 1))


if __name__ == "__main__":
    main(*sys.argv[1:])
