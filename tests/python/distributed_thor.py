"""A training with THOR as one of several ranks: `python distributed_thor.py FOLDER NAME DISTRIBUTE`. Each rank takes its part of batches of 16; rank 0 writes weights
and curvature to FOLDER/NAME.npz."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import nn
from sindri.communication import get_group_size, get_rank, init


def main(folder, name, distribute):
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(6, 5), nn.ReLU(), nn.Dense(5, 3))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64, 6)).astype(np.float32), rng.integers(0, 3, 64).astype(np.int32)
    rows = 16 // size
    optimizer = nn.thor(net, 0.05, 0.1, 0.9, batch_size=rows, frequency=3, block_size=3, distribute=distribute, split_indices=[0])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), optimizer).set_train()
    for i in range(10):
        optimizer.select_variant(i)
        begin = i % 4 * 16 + rank * rows
        step(ms.Tensor(x[begin:begin + rows]), ms.Tensor(y[begin:begin + rows]))
    if rank == 0:
        np.savez(pathlib.Path(folder) / f"{name}.npz", **{p.name: p.asnumpy() for p in [*net.trainable_params(), *optimizer.get_parameters()]})


if __name__ == "__main__":
    main(*sys.argv[1:])
