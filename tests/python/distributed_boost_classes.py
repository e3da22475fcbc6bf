"""Classes of boost as one of two ranks: `python distributed_boost_classes.py FOLDER` writes weights. Runs steps of boost.DimReduce, which shard three
components,
and of the cells of boost.freeze_cell, with one row of the batch per rank."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import boost, nn, ops
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


X, Y, RATE = np.float32([[1, 2, 3], [-1, 0.5, 2]]), np.float32([[1, -1], [0.5, 2]]), 0.1


def frozen(rank, reducer_flag, **settings):
    """Returns the weight and bias after a step that trains both and one that trains the bias."""
    ms.set_seed(5)
    net = nn.Dense(3, 2)
    loss = nn.WithLossCell(net, nn.MSELoss())
    params = net.trainable_params()
    groups = boost.FreezeOpt(nn.SGD(params, RATE), [params, params[1:]])
    cells = boost.freeze_cell(reducer_flag, loss, groups, 1.0, ops.GradOperation(get_by_list=True, sens_param=True), False, **settings)
    for cell in cells:
        assert cell.reducer_flag is reducer_flag
        cell(ms.Tensor(X[rank:rank + 1]), ms.Tensor(Y[rank:rank + 1]))
    return np.concatenate([p.asnumpy().ravel() for p in params])


def main(folder):
    init()
    rank = get_rank()
    whole = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 3)))[0].T.astype(np.float32)
    padded = np.concatenate([whole, np.zeros((1, 5), np.float32)])
    np.savez(pathlib.Path(folder) / f"{rank}.npz", shared=weights(padded[2 * rank:2 * rank + 2], rank, 2), alone=weights(whole, 0, 1),
             apart=frozen(rank, False), mean=frozen(rank, True, mean=True), sum=frozen(rank, True, mean=False), fourth=frozen(rank, True, mean=True, degree=4))


if __name__ == "__main__":
    main(*sys.argv[1:])
