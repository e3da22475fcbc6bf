"""Trains a small network with Adasum between groups of ranks: `sindri run -n 4 -- python train_adasum.py` (README.md)."""
from __future__ import annotations

import argparse

import sindri as ms
from sindri import nn
from sindri.communication import get_group_size, get_rank, init
from sindri.dataset import DigitsDataset, vision
from sindri.train import Model
from sindri.train.callback import LossMonitor, TimeMonitor


def parse() -> argparse.Namespace:
    """The settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=16, help="of a rank")
    parser.add_argument("--device-number", type=int, default=1, help="ranks of a group, which average their gradients; 8 on hosts of 8")
    parser.add_argument("--lr", type=float, default=0.05, help="the one that is tuned for a single group")
    return parser.parse_args()


def main() -> None:
    """Trains and tests."""
    args = parse()
    init()
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    transforms = [vision.Rescale(1 / 16, 0), vision.HWC2CHW()]
    train = DigitsDataset(usage="train", num_shards=get_group_size(), shard_id=get_rank()).map(transforms, "image").batch(args.batch_size, drop_remainder=True)
    test = DigitsDataset(usage="test").map(transforms, "image").batch(32)
    net = nn.SequentialCell(nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(256, 10))
    steps = train.get_dataset_size()
    boost_dict = {
        "boost": {"mode": "manual", "less_bn": False, "grad_freeze": False, "adasum": True, "grad_accumulation": False, "dim_reduce": False},
        "common": {"device_number": args.device_number},
    }
    model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), nn.Momentum(net.trainable_params(), args.lr, 0.9), {"acc"},
                  boost_level="O2", boost_config_dict=boost_dict)
    print("============== Starting Training ==============", flush=True)
    model.train(args.epochs, train, callbacks=[TimeMonitor(data_size=steps), LossMonitor(steps)], dataset_sink_mode=False)
    if get_rank() == 0:
        print("result:", model.eval(test), flush=True)


if __name__ == "__main__":
    main()
