"""Trains ResNet-50 with Adasum between hosts; run_node1.sh and run_node2.sh start its ranks (see README.md)."""
from __future__ import annotations

import argparse
import os

from resnet import ClassifyCorrectCell, DistAccuracy, SmallNet, resnet  # first: adds the models library to sys.path
from src.CrossEntropySmooth import CrossEntropySmooth
from src.dataset import create_dataset
from src.group_params import init_group_params
from src.initializers import init_weight
from src.lr_generator import get_lr

from sindri import FixedLossScaleManager, Model, ParallelMode, Tensor, context, set_seed
from sindri.communication import get_group_size, get_rank, init
from sindri.nn import Momentum
from sindri.train.callback import LossMonitor, TimeMonitor


def parse_args() -> argparse.Namespace:
    """Parses the command line. The defaults are those of MindSpore's tutorial."""
    parser = argparse.ArgumentParser(description="Trains ResNet-50 with Adasum between hosts.")
    parser.add_argument("--data_path", required=True, help="folder with train/ and, for --run_eval, val/ or validation_preprocess/")
    parser.add_argument("--device_target", default="CPU", help="default: %(default)s")
    parser.add_argument("--device_number", type=int, default=8, help="ranks per group; gradients are averaged within a group (default: %(default)s)")
    parser.add_argument("--net", choices=("resnet50", "small"), default="resnet50", help="small: two convolutions, for quick tests (default: %(default)s)")
    parser.add_argument("--num_classes", type=int, default=1001, help="default: %(default)s")
    parser.add_argument("--epoch_size", type=int, default=90, help="default: %(default)s")
    parser.add_argument("--warmup_epochs", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--lr_max", type=float, default=0.8, help="maximum learning rate, tuned for one group (default: %(default)s)")
    parser.add_argument("--batch_size", type=int, default=256, help="images per step and rank (default: %(default)s)")
    parser.add_argument("--image_size", type=int, default=224, help="default: %(default)s")
    parser.add_argument("--num_parallel_workers", type=int, default=8, help="threads for decoding images (default: %(default)s)")
    parser.add_argument("--run_eval", action="store_true", help="evaluate and print the accuracy after training")
    return parser.parse_args()


def main() -> None:
    """Trains the network and, with --run_eval, evaluates it."""
    args = parse_args()
    set_seed(1)
    context.set_context(mode=context.GRAPH_MODE, device_target=args.device_target)
    if args.device_target != "CPU":
        context.set_context(device_id=int(os.getenv("DEVICE_ID", "0")))
    init()
    context.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True)

    # define train dataset
    train_data_path = os.path.join(args.data_path, "train")
    ds_train = create_dataset(dataset_path=train_data_path, do_train=True, batch_size=args.batch_size, train_image_size=args.image_size,
                              eval_image_size=args.image_size, target=args.device_target, distribute=True,
                              num_parallel_workers=args.num_parallel_workers)
    step_size = ds_train.get_dataset_size()

    # define net
    net = SmallNet(args.num_classes) if args.net == "small" else resnet(num_classes=args.num_classes)
    init_weight(net=net)

    # define loss
    loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=0.1, num_classes=args.num_classes)
    loss_scale = FixedLossScaleManager(1024, drop_overflow_update=False)

    # define optimizer
    group_params = init_group_params(net)
    lr = get_lr(lr_init=0, lr_end=0.0, lr_max=args.lr_max, warmup_epochs=args.warmup_epochs, total_epochs=args.epoch_size, steps_per_epoch=step_size,
                lr_decay_mode="linear")
    opt = Momentum(group_params, Tensor(lr), 0.9, loss_scale=1024)

    # define boost config dictionary: of level O2's algorithms, only Adasum
    boost_dict = {
        "boost": {
            "mode": "manual",
            "less_bn": False,
            "grad_freeze": False,
            "adasum": True,
            "grad_accumulation": False,
            "dim_reduce": False
        },
        "common": {
            "device_number": args.device_number
        }
    }

    # define model
    dist_eval_network = ClassifyCorrectCell(net)
    model = Model(net, loss_fn=loss, optimizer=opt, loss_scale_manager=loss_scale, metrics={"Accuracy": DistAccuracy()}, amp_level="O2", boost_level="O2",
                  keep_batchnorm_fp32=False, boost_config_dict=boost_dict, eval_network=dist_eval_network)

    # define callback
    cb = [TimeMonitor(data_size=step_size), LossMonitor(step_size)]  # one line per epoch, as LossMonitor() prints on Ascend

    print("============== Starting Training ==============", flush=True)
    model.train(args.epoch_size, ds_train, callbacks=cb, sink_size=step_size, dataset_sink_mode=True)
    if args.run_eval:
        eval_data_path = next((f for f in (os.path.join(args.data_path, name) for name in ("val", "validation_preprocess")) if os.path.isdir(f)), args.data_path)
        ds_eval = create_dataset(dataset_path=eval_data_path, do_train=False, batch_size=args.batch_size, eval_image_size=args.image_size,
                                 target=args.device_target, distribute=True, num_parallel_workers=args.num_parallel_workers)
        acc = model.eval(ds_eval)
        if get_rank() == 0:
            print("============== {} ==============".format(acc), flush=True)


if __name__ == "__main__":
    main()
