"""Second stage: training in the span of the first one's snapshots: `python train_boost_stage_2.py --pretrained-weight-path CKPT` (README.md)."""
from __future__ import annotations

import argparse
import os

from reduce_net import data_and_net, join

import sindri as ms
from sindri import nn
from sindri.train import Model
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor


def parse() -> argparse.Namespace:
    """The settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-path", default="", help="folder with train/ and test/ class folders of 32x32 images; without: the digits")
    parser.add_argument("--pretrained-weight-path", required=True, help="checkpoint of the first stage's end")
    parser.add_argument("--pca-mat-path", default=None, help="components as a .npy file; without: computed of the snapshots")
    parser.add_argument("--weight-load-dir", default="./checkpoint_stage_1/checkpoint_pca", help="snapshots")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--components", type=int, default=32)
    parser.add_argument("--batch-size", type=int, default=128, help="of a rank")
    parser.add_argument("--distribute", action="store_true", help="one of several ranks")
    return parser.parse_args()


def main() -> None:
    """Trains and tests."""
    args = parse()
    rank, size, shard = join(args.distribute)
    train, test, net = data_and_net(args.data_path, args.batch_size, **shard)
    steps = train.get_dataset_size()
    if not os.path.isfile(args.pretrained_weight_path):
        raise SystemExit(f"error: there is no checkpoint\n  where: {args.pretrained_weight_path}\n  fix: run the first stage (run_stage_1.sh), or correct the path")
    ms.load_param_into_net(net, ms.load_checkpoint(args.pretrained_weight_path))

    opt = nn.SGD(net.trainable_params(), learning_rate=1.0)
    boost_dict = {
        "boost": {"mode": "manual", "dim_reduce": True},
        "common": {"device_num": size},
        "dim_reduce": {
            "rho": 0.55, "gamma": 0.9, "alpha": 0.001, "sigma": 0.4, "n_component": args.components, "pca_mat_path": args.pca_mat_path,
            "weight_load_dir": args.weight_load_dir, "timeout": 1200,
        },
    }
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss_fn=loss, optimizer=opt, metrics={"acc"}, boost_level="O1", boost_config_dict=boost_dict)

    callbacks: list[Callback] = [TimeMonitor(data_size=steps), LossMonitor(steps)]
    if rank == 0:
        config = CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=2)
        callbacks.append(ModelCheckpoint(prefix="resnet", directory="./checkpoint_stage_2", config=config))
    print("============== Starting Training ==============", flush=True)
    model.train(args.epochs, train, callbacks=callbacks, dataset_sink_mode=False)
    if rank == 0:
        print("============== Starting Testing ==============", flush=True)
        print(f"============== {model.eval(test)} ==============", flush=True)


if __name__ == "__main__":
    main()
