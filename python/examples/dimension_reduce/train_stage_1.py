"""First stage: ordinary training, stopped before its schedule ends, which keeps snapshots of the weights: `python train_stage_1.py` (README.md)."""
from __future__ import annotations

import argparse

from reduce_net import data_and_net, join

import sindri as ms
from sindri import nn
from sindri.train import Model
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor


def parse() -> argparse.Namespace:
    """The settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-path", default="", help="folder with train/ and test/ class folders of 32x32 images; without: the digits")
    parser.add_argument("--epochs", type=int, default=18, help="of the schedule")
    parser.add_argument("--stop", type=int, default=14, help="epochs that are trained")
    parser.add_argument("--batch-size", type=int, default=16, help="of a rank")
    parser.add_argument("--lr", type=float, default=0.2)
    parser.add_argument("--distribute", action="store_true", help="one of several ranks")
    return parser.parse_args()


def main() -> None:
    """Trains, keeps snapshots of the last epochs, and tests."""
    args = parse()
    rank, _, shard = join(args.distribute)
    train, test, net = data_and_net(args.data_path, args.batch_size, **shard)
    steps = train.get_dataset_size()
    warm = steps
    rates = [args.lr * ((i + 1) / warm if i < warm else (args.epochs * steps - i) / (args.epochs * steps - warm)) for i in range(args.epochs * steps)]
    opt = nn.Momentum(net.trainable_params(), ms.Tensor(rates, ms.float32), 0.9, weight_decay=5e-4)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss_fn=loss, optimizer=opt, metrics={"acc"}, boost_level="O0")

    callbacks: list[Callback] = [TimeMonitor(data_size=steps), LossMonitor(steps)]
    if rank == 0:
        whole = CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=2)
        callbacks.append(ModelCheckpoint(prefix="resnet", directory="./checkpoint_stage_1", config=whole))
        weights = CheckpointConfig(save_checkpoint_steps=max(1, steps // 6), keep_checkpoint_max=40, saved_network=net)
        callbacks.append(ModelCheckpoint(prefix="resnet", directory="./checkpoint_stage_1/checkpoint_pca", config=weights))
    print("============== Starting Training ==============", flush=True)
    model.train(args.stop, train, callbacks=callbacks, dataset_sink_mode=False)
    if rank == 0:
        print("============== Starting Testing ==============", flush=True)
        print(f"============== {model.eval(test)} ==============", flush=True)


if __name__ == "__main__":
    main()
