"""Second stage of dimension-reduction training: moves the weights in the span of the first stage's snapshots (see README.md)."""
from __future__ import annotations

import argparse
import os

from settings import eval_data, make_net, parser_of, set_up, train_data
from src.CrossEntropySmooth import CrossEntropySmooth
from src.group_params import init_group_params

from sindri import Model, load_checkpoint, load_param_into_net, nn
from sindri.communication import get_group_size, get_rank
from sindri.nn import SGD
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor


def parse_args() -> argparse.Namespace:
    """Parses the command line."""
    parser = parser_of("Second stage of dimension-reduction training.")
    parser.add_argument("--pretrained_weight_path", required=True, help="last checkpoint of the first stage")
    parser.add_argument("--pca_mat_path", default=None, help=".npy file with the components; by default they are computed from the snapshots")
    parser.add_argument("--weight_load_dir", default="./checkpoint_stage_1/checkpoint_pca", help="folder of the snapshots (default: %(default)s)")
    parser.add_argument("--epoch_size", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--n_component", type=int, default=32, help="number of components, less than the number of snapshots (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    """Trains and evaluates."""
    args = parse_args()
    set_up(args)

    # define train dataset
    ds_train = train_data(args)
    step_size = ds_train.get_dataset_size()

    # define net
    net = make_net(args)
    if not os.path.isfile(args.pretrained_weight_path):
        raise SystemExit(f"error: the checkpoint does not exist\n  where: {args.pretrained_weight_path}\n  fix: run the first stage (run_stage_1.sh), or correct the path")
    weight_dict = load_checkpoint(args.pretrained_weight_path)
    load_param_into_net(net, weight_dict)

    # define loss
    class_num = 10 if args.data_path == "digits" else args.class_num
    loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=0.1, num_classes=class_num)

    # define optimizer
    group_params = init_group_params(net)
    opt = SGD(group_params, learning_rate=1.0)

    # define metrics
    metrics = {"Accuracy": nn.Accuracy()}

    # define boost config dictionary
    boost_dict = {
        "boost": {
            "mode": "manual",
            "dim_reduce": True
        },
        "common": {
            "device_num": get_group_size()
        },
        "dim_reduce": {
            "rho": 0.55,
            "gamma": 0.9,
            "alpha": 0.001,
            "sigma": 0.4,
            "n_component": args.n_component,  # PCA components
            "pca_mat_path": args.pca_mat_path,  # file of the components
            "weight_load_dir": args.weight_load_dir,  # folder of the snapshots
            "timeout": 1200
        }
    }

    # define model
    model = Model(net, loss_fn=loss, optimizer=opt, metrics=metrics, boost_level="O1", boost_config_dict=boost_dict)

    # define callback
    cb: list[Callback] = [TimeMonitor(data_size=step_size), LossMonitor(step_size)]
    if get_rank() == 0:
        config_ck = CheckpointConfig(save_checkpoint_steps=step_size, keep_checkpoint_max=2)
        cb += [ModelCheckpoint(prefix="resnet", directory="./checkpoint_stage_2", config=config_ck)]

    print("============== Starting Training ==============", flush=True)
    model.train(args.epoch_size, ds_train, callbacks=cb, sink_size=step_size, dataset_sink_mode=True)

    if get_rank() == 0:
        print("============== Starting Testing ==============", flush=True)
        acc = model.eval(eval_data(args))
        print("============== {} ==============".format(acc), flush=True)


if __name__ == "__main__":
    main()
