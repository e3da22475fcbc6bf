"""First stage of dimension-reduction training: regular training that saves snapshots of the weights (see README.md)."""
from __future__ import annotations

import argparse
import os

from settings import eval_data, make_net, parser_of, set_up, train_data
from src.CrossEntropySmooth import CrossEntropySmooth
from src.group_params import init_group_params
from src.initializers import init_weight
from src.lr_generator import get_lr

from sindri import FixedLossScaleManager, Model, Tensor, nn
from sindri.communication import get_rank
from sindri.nn import Momentum
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor


def parse_args() -> argparse.Namespace:
    """Parses the command line."""
    parser = parser_of("First stage of dimension-reduction training.")
    parser.add_argument("--epoch_size", type=int, default=70, help="epochs to train (default: %(default)s)")
    parser.add_argument("--total_epochs", type=int, default=90, help="epochs of the learning-rate schedule (default: %(default)s)")
    parser.add_argument("--warmup_epochs", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--lr_max", type=float, default=0.8, help="default: %(default)s")
    parser.add_argument("--amp_level", default="O2", help="default: %(default)s")
    parser.add_argument("--loss_scale", type=float, default=1024, help="default: %(default)s")
    parser.add_argument("--save_checkpoint_epochs", type=int, default=10, help="epochs between checkpoints (default: %(default)s)")
    parser.add_argument("--snapshots_per_epoch", type=int, default=1, help="weight snapshots for stage 2; the last 40 are kept (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    """Trains, saves snapshots, and evaluates."""
    args = parse_args()
    set_up(args)

    # define train dataset
    ds_train = train_data(args)
    step_size = ds_train.get_dataset_size()

    # define net
    net = make_net(args)
    init_weight(net=net)

    # define loss
    class_num = 10 if args.data_path == "digits" else args.class_num
    loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=0.1, num_classes=class_num)
    loss_scale = FixedLossScaleManager(args.loss_scale, drop_overflow_update=False)

    # define optimizer
    group_params = init_group_params(net)
    lr = get_lr(lr_init=0, lr_end=0.0, lr_max=args.lr_max, warmup_epochs=args.warmup_epochs, total_epochs=args.total_epochs, steps_per_epoch=step_size,
                lr_decay_mode="linear")
    opt = Momentum(group_params, Tensor(lr), 0.9, loss_scale=args.loss_scale)

    # define metrics
    metrics = {"Accuracy": nn.Accuracy()}

    # define model
    model = Model(net, loss_fn=loss, optimizer=opt, loss_scale_manager=loss_scale, metrics=metrics, amp_level=args.amp_level, boost_level="O0",
                  keep_batchnorm_fp32=False)

    # define callback_1: weights and the optimizer's state
    # One line per epoch, as LossMonitor() prints on Ascend, where an epoch with data sinking is one call.
    cb: list[Callback] = [TimeMonitor(data_size=step_size), LossMonitor(step_size)]
    if get_rank() == 0:
        steps = step_size * min(args.save_checkpoint_epochs, args.epoch_size)
        config_ck = CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=10)
        cb += [ModelCheckpoint(prefix="resnet", directory="./checkpoint_stage_1", config=config_ck)]

    # define callback_2: only the weights, for stage 2
    if get_rank() == 0:
        config_ck = CheckpointConfig(save_checkpoint_steps=max(1, step_size // args.snapshots_per_epoch), keep_checkpoint_max=40, saved_network=net)
        cb += [ModelCheckpoint(prefix="resnet", directory=os.path.join("./checkpoint_stage_1", "checkpoint_pca"), config=config_ck)]

    print("============== Starting Training ==============", flush=True)
    model.train(args.epoch_size, ds_train, callbacks=cb, sink_size=step_size, dataset_sink_mode=True)

    if get_rank() == 0:
        print("============== Starting Testing ==============", flush=True)
        acc = model.eval(eval_data(args))
        print("============== {} ==============".format(acc), flush=True)


if __name__ == "__main__":
    main()
