"""Trains ResNet-50 with THOR: `python train.py --dataset_path DIR` (see README.md)."""
from __future__ import annotations

import argparse
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
from src.config import take
from src.crossentropy import CrossEntropy
from src.dataset import create_dataset
from src.model_thor import Model_Thor as Model
from src.resnet_thor import resnet50
from src.thor import THOR

from sindri import FixedLossScaleManager, ParallelMode, Tensor, context, set_seed
from sindri.communication import get_group_size, get_rank, init
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor

Array = np.ndarray[Any, Any]


def get_model_lr(global_step: int, lr_init: float, decay: float, total_epochs: int, steps_per_epoch: int, decay_epochs: int = 100) -> Array:
    """Returns lr_init·(1 - epoch/total_epochs)^decay for the steps from global_step on, halved from decay_epochs on and again one epoch later."""
    epochs = (np.arange(total_epochs * steps_per_epoch) + 1) / steps_per_epoch
    rates = lr_init * (1.0 - epochs / total_epochs) ** decay * 0.5 ** ((epochs >= decay_epochs).astype(int) + (epochs >= decay_epochs + 1))
    return rates.astype(np.float32)[global_step:]


def get_model_damping(global_step: int, damping_init: float, decay_rate: float, total_epochs: int, steps_per_epoch: int) -> Array:
    """Returns damping_init·decay_rate^(epoch/10) for the steps from global_step on."""
    epochs = (np.arange(total_epochs * steps_per_epoch) + 1) / steps_per_epoch
    return (damping_init * decay_rate ** (epochs / 10)).astype(np.float32)[global_step:]


def set_up(args_opt: argparse.Namespace, config: SimpleNamespace) -> str:
    """Sets the execution mode, the device and, with run_distribute, the process group. Returns the folder for checkpoints, ckpt_<rank> for GPU."""
    set_seed(1)
    context.set_context(mode=context.GRAPH_MODE, device_target=args_opt.device_target, save_graphs=False)
    folder: str = config.save_checkpoint_path
    if not args_opt.run_distribute:
        return folder
    if args_opt.device_target == "Ascend":
        context.set_context(device_id=int(os.getenv("DEVICE_ID", "0")))
    init()
    if get_group_size() != args_opt.device_num:
        raise SystemExit(f"error: --device_num is {args_opt.device_num}, but {get_group_size()} ranks run\n  fix: start as many ranks, or change --device_num")
    context.set_auto_parallel_context(device_num=args_opt.device_num, parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True)
    return os.path.join(folder, f"ckpt_{get_rank()}") if args_opt.device_target == "GPU" else folder


def train(args_opt: argparse.Namespace) -> None:
    """Executes one training run."""
    config = take(args_opt.device_target, args_opt.set)
    ckpt_save_dir = set_up(args_opt, config)
    dataset = create_dataset(dataset_path=args_opt.dataset_path, do_train=True, repeat_num=1, batch_size=config.batch_size, target=args_opt.device_target,
                             image_size=config.image_size)
    step_size = dataset.get_dataset_size()

    # Network. The damping has one value per step of 70 epochs.
    damping = Tensor(get_model_damping(0, config.damping_init, config.damping_decay, 70, step_size))
    net = resnet50(class_num=config.class_num, damping=damping, loss_scale=config.loss_scale, frequency=config.frequency, batch_size=config.batch_size)

    # Loss and optimizer.
    if not config.use_label_smooth:
        config.label_smooth_factor = 0.0
    loss = CrossEntropy(smooth_factor=config.label_smooth_factor, num_classes=config.class_num)
    lr = get_model_lr(0, config.lr_init, config.lr_decay, config.lr_end_epoch, step_size, decay_epochs=39)
    opt = THOR(filter(lambda x: x.requires_grad, net.get_parameters()), Tensor(lr), config.momentum,
               filter(lambda x: "matrix_A" in x.name, net.get_parameters()), filter(lambda x: "matrix_G" in x.name, net.get_parameters()),
               filter(lambda x: "A_inv_max" in x.name, net.get_parameters()), filter(lambda x: "G_inv_max" in x.name, net.get_parameters()),
               config.weight_decay, config.loss_scale, split_indices=config.split_indices)

    # Model and callbacks.
    loss_scale = FixedLossScaleManager(config.loss_scale, drop_overflow_update=False)
    model = Model(net, loss_fn=loss, optimizer=opt, amp_level=config.amp_level, loss_scale_manager=loss_scale,
                  keep_batchnorm_fp32=args_opt.device_target == "GPU", metrics={"acc"}, frequency=config.frequency)
    cb: list[Callback] = [TimeMonitor(data_size=step_size), LossMonitor()]
    if config.save_checkpoint:
        config_ck = CheckpointConfig(save_checkpoint_steps=config.save_checkpoint_epochs * step_size, keep_checkpoint_max=config.keep_checkpoint_max)
        cb += [ModelCheckpoint(prefix="resnet", directory=ckpt_save_dir, config=config_ck)]
    model.train(config.epoch_size, dataset, callbacks=cb, sink_size=step_size, dataset_sink_mode=True)


def parse() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description="Image classification with THOR.")
    parser.add_argument("--run_distribute", action="store_true", help="run as one of several ranks")
    parser.add_argument("--device_num", type=int, default=1, help="number of ranks")
    parser.add_argument("--device_target", default="Ascend", choices=("Ascend", "GPU", "CPU"), help="published settings to use, and device if Sindri supports it")
    parser.add_argument("--dataset_path", required=True, help="folder with one folder of training images per class")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a setting of src/config.py; may be repeated")
    return parser.parse_args()


if __name__ == "__main__":
    train(parse())
