"""Runs with training algorithms as one of two ranks: `python distributed_boost_train.py FOLDER`. Writes the weights after one call of Model.train and after
several."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import nn
from sindri.communication import get_group_size, get_rank, init
from sindri.train.loss_scale_manager import DynamicLossScaleManager

ACCUMULATE = {"grad_accumulation": {"grad_accumulation_step": 4}}
ADASUM = {"adasum": {"group": "rank"}}


def build(algorithms, **more):
    ms.set_seed(3)
    net = nn.SequentialCell([nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 2)])
    config = {"boost": {"mode": "manual", "less_bn": False, "grad_freeze": False, **dict.fromkeys(algorithms, True)}, **algorithms}
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return net, ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), boost_level="O2", boost_config_dict=config, **more)


def rows(rank, size):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(48, 3)).astype(np.float32)
    columns = {"x": x, "y": (x.sum(axis=1) > 0).astype(np.int32)}
    return ms.dataset.NumpySlicesDataset(columns, shuffle=False, num_shards=size, shard_id=rank).batch(4)


def trained(algorithms, calls, rank, size):
    """Returns the state after three epochs of six steps, split into `calls` calls."""
    net, model = build(algorithms)
    for _ in range(calls):
        model.train(3 // calls, rows(rank, size), dataset_sink_mode=False)
    return np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()])


def overflowing(on, rank):
    """Returns the loss scale and the weights of a run in which one rank's second batch is not finite."""
    net, model = build({"adasum": {**ADASUM["adasum"], "on": on}}, loss_scale_manager=DynamicLossScaleManager(1024, 2, 100))
    cell = model.train_network
    for i, (x, y) in enumerate(rows(rank, 2).create_tuple_iterator(num_epochs=1)):
        cell(ms.Tensor(np.full(x.shape, np.inf, np.float32)) if rank == 1 and i == 1 else x, y)
    return np.concatenate([cell.scale_sense.asnumpy().ravel(), *(p.asnumpy().ravel() for p in net.trainable_params())])


def main(folder):
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    np.savez(pathlib.Path(folder) / f"{rank}.npz", **{f"{name} {calls}": trained(algorithms, calls, rank, size)
                                                      for name, algorithms in (("accumulation", ACCUMULATE), ("adasum", ADASUM)) for calls in (1, 3)},
             **{f"overflow {on}": overflowing(on, rank) for on in ("delta", "gradient")})


if __name__ == "__main__":
    main(*sys.argv[1:])
