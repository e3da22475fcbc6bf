"""One step with Adasum as one of four ranks, in groups of two: `python distributed_adasum.py FOLDER HOW MODE`. Writes the weight and its expected value."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import boost, nn
from sindri.communication import get_group_size, get_rank, init


def adasum(a, b):
    d, n, m = (a * b).sum(), (a * a).sum(), (b * b).sum()
    return (1 - d / (2 * n)) * a + (1 - d / (2 * m)) * b


def main(folder, how, mode):
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    x = np.random.default_rng(1).normal(size=(size, 4, 3)).astype(np.float32)
    y = np.random.default_rng(2).normal(size=(size, 4, 2)).astype(np.float32)
    start = np.float32([[1, 0, -1], [0.5, 0.2, 0]])
    net = nn.Dense(3, 2, weight_init=ms.Tensor(start), has_bias=False)
    rate = 0.1
    grads = [2 * (x[r] @ start.T - y[r]).T @ x[r] / 8 for r in range(size)]
    groups = [(grads[0] + grads[1]) / 2, (grads[2] + grads[3]) / 2]
    expected = start - rate * adasum(*groups)
    if how == "cell":
        own = rate * groups[rank // 2]
        boost.AdaSum(rank, 2, 2, net.trainable_params())((ms.Tensor(own.astype(np.float32)),), tuple(net.trainable_params()), (ms.Tensor(start),))
    else:
        config = {"boost": {"mode": "manual", "less_bn": False, "grad_freeze": False, "adasum": True}, "common": {"device_number": 2}, "adasum": {"on": how}}
        step = boost.BoostTrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), rate), boost=boost.AutoBoost("O2", config)).set_train()
        step(ms.Tensor(x[rank]), ms.Tensor(y[rank]))
    np.savez(pathlib.Path(folder) / f"{rank}.npz", weight=net.weight.asnumpy(), expected=expected.astype(np.float32))


if __name__ == "__main__":
    main(*sys.argv[1:])
