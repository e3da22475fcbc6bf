"""Trains a residual network with nn.thor through MindSpore's ConvertModelUtils: `python train_thor.py` (see README.md)."""
from __future__ import annotations

import argparse

from small_resnet import SmallResNet, digits
from thor_schedule import get_thor_damping, get_thor_lr

import sindri as ms
from sindri import FixedLossScaleManager, Tensor, nn
from sindri.nn.optim import THOR
from sindri.train import Model
from sindri.train.callback import CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor
from sindri.train.train_thor import ConvertModelUtils


def parse() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--frequency", type=int, default=22, help="steps between refreshes of the curvature")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--damping", type=float, default=0.1)
    parser.add_argument("--output", default="", help="folder for checkpoints")
    parser.add_argument("--distribute", action="store_true", help="run as one of several ranks (sindri run -n 4 -- python train_thor.py --distribute)")
    return parser.parse_args()


def main() -> None:
    """Trains, prints the loss and time of each epoch, then the accuracy on the test part of the digits."""
    args = parse()
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    shard = {}
    if args.distribute:
        from sindri.communication import get_group_size, get_rank, init
        init()
        ms.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
        shard = {"num_shards": get_group_size(), "shard_id": get_rank()}
    data = digits("train", args.batch_size, **shard)
    steps = data.get_dataset_size()

    net = SmallResNet(lambda i, o, k, s: nn.Conv2d(i, o, k, s, weight_init="he_normal"), lambda i, o: nn.Dense(i, o))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    lr = get_thor_lr(0, args.lr, 2.0, args.epochs, steps, decay_epochs=args.epochs)
    damping = get_thor_damping(0, args.damping, 0.5, args.epochs, steps)
    scale = 128.0
    opt = THOR(net, Tensor(lr), Tensor(damping), 0.9, 5e-4, scale, args.batch_size, decay_filter=lambda p: p.name not in ("bias",), frequency=args.frequency)
    manager = FixedLossScaleManager(scale, drop_overflow_update=False)
    model = Model(net, loss_fn=loss, optimizer=opt, metrics={"acc"}, loss_scale_manager=manager)
    model = ConvertModelUtils().convert_to_thor_model(model=model, network=net, loss_fn=loss, optimizer=opt, loss_scale_manager=manager, metrics={"acc"},
                                                      amp_level="O0", keep_batchnorm_fp32=False)
    callbacks = [TimeMonitor(data_size=steps), LossMonitor(steps)]
    if args.output:
        callbacks.append(ModelCheckpoint(prefix="resnet", directory=args.output, config=CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=3)))
    model.train(args.epochs, data, callbacks=callbacks, dataset_sink_mode=True)
    print("result:", model.eval(digits("test", 32)))


if __name__ == "__main__":
    main()
