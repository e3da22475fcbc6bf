"""A run with THOR as one of several ranks: `python distributed_thor.py FOLDER NAME DISTRIBUTE [FORM]`. Each rank takes its part of batches of 16; rank 0 writes
weights and curvature to FOLDER/NAME.npz. FORM: "cell", a TrainOneStepCell; "loop", separate calls of value_and_grad, the reducer and the optimizer."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import nn
from sindri.communication import get_group_size, get_rank, init


def main(folder, name, distribute, form="cell"):
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
    net_with_loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    if form == "cell":
        step = nn.TrainOneStepCell(net_with_loss, optimizer).set_train()
    else:
        gradients, reducer = ms.value_and_grad(net_with_loss, None, optimizer.parameters), nn.DistributedGradReducer(optimizer.parameters)

        def step(*batch):
            optimizer(reducer(gradients(*batch)[1]))

    for i in range(10):
        begin = i % 4 * 16 + rank * rows
        step(ms.Tensor(x[begin:begin + rows]), ms.Tensor(y[begin:begin + rows]))
    if rank == 0:
        np.savez(pathlib.Path(folder) / f"{name}.npz", **{p.name: p.asnumpy() for p in [*net.trainable_params(), *optimizer.get_parameters()]})


if __name__ == "__main__":
    main(*sys.argv[1:])
