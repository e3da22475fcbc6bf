"""Trains a ResNet: `python train.py --config config/resnet18_cifar10.yaml --data-path DIR` (README.md)."""
from __future__ import annotations

import glob
import os
from typing import Any

from src.config import Config, parse
from src.dataset import create_dataset
from src.initializers import init_weights
from src.loss import CrossEntropySmooth
from src.lr_generator import get_lr
from src.resnet import NETS

import sindri as ms
from sindri import nn
from sindri.dataset import Dataset
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, RunContext, TimeMonitor

METRICS = {"top_1_accuracy", "top_5_accuracy", "loss"}


def set_up(config: Config) -> str:
    """Seed, execution mode, and with `distribute` the process group; returns the folder to write to, of which every rank has one of its own."""
    ms.set_seed(config.seed)
    ms.set_context(mode={"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}[config.mode], device_target="CPU")
    if config.distribute:
        from sindri.communication import get_group_size, get_rank, init
        init()
        ms.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
        return os.path.join(config.output, f"ckpt_{get_rank()}")
    return str(config.output)


def make_network(config: Config) -> nn.Cell:
    """The network of the settings. Raises KeyError for an unknown net."""
    return NETS[config.net](config.class_num, variant=config.variant, stem=config.stem, zero_init=config.zero_init)


def group_params(net: nn.Cell, weight_decay: float) -> list[dict[str, Any]]:
    """Weights with decay; batch norm's gamma and beta and all biases without; updated in the network's order."""
    decayed: list[ms.Parameter] = []
    plain: list[ms.Parameter] = []
    for p in net.trainable_params():
        exempt = any(word in p.name for word in ("beta", "gamma", "bias"))
        (plain if exempt else decayed).append(p)
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}, {"order_params": net.trainable_params()}]


BEST = "best.ckpt"  # weights alone, of the best evaluation


def newest_checkpoint(folder: str) -> str:
    """Path of the checkpoint of a training that was written last. Ends the program when there is none."""
    files = [f for f in glob.glob(os.path.join(folder, "*.ckpt")) if os.path.basename(f) != BEST]
    if not files:
        raise SystemExit(f"error: there is no checkpoint to resume from\n  where: {folder}")
    return max(files, key=os.path.getmtime)


def resume(path: str, net: nn.Cell, optimizer: nn.Optimizer, steps_per_epoch: int) -> tuple[int, int]:
    """Loads weights, moments and counters; returns (whole epochs done, steps done). An epoch that was cut short is run again from its start."""
    values = ms.load_checkpoint(path)
    if "step_num" not in values:
        raise SystemExit(f"error: the file holds weights, not the state of a training\n  where: {path}\n"
                         f"  fix: start a training from them with --set pretrained={path}")
    values.pop("learning_rate", None)  # the schedule is that of the settings, which may ask for more epochs now
    ms.load_param_into_net(net, values)
    ms.load_param_into_net(optimizer, values)
    steps = int(values["step_num"].asnumpy())
    epochs = steps // steps_per_epoch
    if steps % steps_per_epoch:
        print(f"{path} was saved {steps % steps_per_epoch} steps into epoch {epochs + 1}; that epoch starts again")
        optimizer.global_step.set_data(ms.Tensor([epochs * steps_per_epoch], ms.int32))
    return epochs, epochs * steps_per_epoch


class Evaluation(Callback):
    """Evaluates every `interval` epochs, prints the result and keeps the best weights in best.ckpt."""

    def __init__(self, model: ms.Model, net: nn.Cell, dataset: Dataset, interval: int, folder: str) -> None:
        super().__init__()
        self.model, self.net, self.dataset, self.interval, self.path = model, net, dataset, interval, os.path.join(folder, BEST)
        self.best = -1.0
        self.results: dict[str, float] = {}

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if p.cur_epoch_num % self.interval and p.cur_epoch_num != p.epoch_num:
            return
        self.results = self.model.eval(self.dataset, dataset_sink_mode=False)
        print(f"epoch: {p.cur_epoch_num}, " + ", ".join(f"{k}: {v:.4f}" for k, v in sorted(self.results.items())), flush=True)
        if self.results["top_1_accuracy"] > self.best:
            self.best = self.results["top_1_accuracy"]
            ms.save_checkpoint(self.net, self.path)


def train(config: Config) -> tuple[nn.Cell, dict[str, float]]:
    """One training by the settings; returns (network, results of the last evaluation)."""
    output = set_up(config)
    data = create_dataset(config.data_path, config.dataset, True, config.batch_size, config.image_size, config.workers, config.distribute)
    steps = data.get_dataset_size()
    net = make_network(config)
    init_weights(net, config.conv_init, config.dense_init)
    if config.pretrained:
        ms.load_param_into_net(net, ms.load_checkpoint(config.pretrained))

    rates = get_lr(config.lr_init, config.lr_end, config.lr_max, config.warmup_epochs, config.epoch_size, steps, config.lr_decay_mode)
    # An optimizer divides gradients by loss_scale, so it is given only what a manager multiplies the loss by.
    manager = ms.FixedLossScaleManager(config.loss_scale, drop_overflow_update=False) if config.loss_scale != 1.0 else None
    optimizer = nn.Momentum(group_params(net, config.weight_decay), ms.Tensor(rates), config.momentum, loss_scale=config.loss_scale)
    loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=config.label_smooth_factor, num_classes=config.class_num,
                              composite=config.composite_loss)
    model = ms.Model(net, loss_fn=loss, optimizer=optimizer, metrics=METRICS, amp_level=config.amp_level, loss_scale_manager=manager)

    first_epoch, first_step = 0, 0
    if config.resume:
        path = newest_checkpoint(output) if config.resume == "auto" else config.resume
        first_epoch, first_step = resume(path, net, optimizer, steps)
        print(f"resumed from {path}: {first_epoch} of {config.epoch_size} epochs are done")
        if first_epoch >= config.epoch_size:
            return net, {}

    saving = CheckpointConfig(save_checkpoint_steps=config.save_checkpoint_epochs * steps, keep_checkpoint_max=config.keep_checkpoint_max,
                              append_info=[{"epoch_num": 0, "step_num": first_step}])
    callbacks: list[Callback] = [TimeMonitor(steps), LossMonitor(config.print_steps), ModelCheckpoint(prefix=config.net, directory=output, config=saving)]
    evaluation = None
    if config.eval_interval:
        valid = create_dataset(config.data_path, config.dataset, False, config.batch_size, config.image_size, config.workers)
        evaluation = Evaluation(model, net, valid, config.eval_interval, output)
        callbacks.append(evaluation)
    model.train(config.epoch_size, data, callbacks=callbacks, dataset_sink_mode=config.sink, initial_epoch=first_epoch)
    return net, evaluation.results if evaluation else {}


if __name__ == "__main__":
    train(parse("Trains a ResNet."))
