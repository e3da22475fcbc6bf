"""Trains a ResNet: `python train.py --config_path src/resnet50_imagenet2012_config.yaml --data_path DIR` (see README.md)."""
from __future__ import annotations

import glob
import os
from typing import Any

from src.config import Config
from src.CrossEntropySmooth import CrossEntropySmooth
from src.dataset import DATASETS
from src.group_params import init_group_params
from src.initializers import init_weight
from src.lr_generator import get_lr
from src.resnet import NETS

from sindri import FixedLossScaleManager, Model, ParallelMode, Tensor, context, load_checkpoint, load_param_into_net, nn, save_checkpoint, set_seed
from sindri import dtype as mstype
from sindri.communication import get_group_size, get_rank, init
from sindri.dataset import Dataset
from sindri.nn import Momentum
from sindri.train.callback import Callback, CheckpointConfig, LossMonitor, ModelCheckpoint, RunContext, TimeMonitor

METRICS = {"top_1_accuracy", "top_5_accuracy", "loss"}
BEST = "best.ckpt"  # only the weights, of the best evaluation


def set_up(config: Config) -> str:
    """Sets the seed, the execution mode, the device and, with run_distribute, the process group. Returns the rank's folder for checkpoints."""
    set_seed(config.seed)
    mode = {"GRAPH": context.GRAPH_MODE, "PYNATIVE": context.PYNATIVE_MODE}[config.mode_name]
    context.set_context(mode=mode, device_target=config.device_target, save_graphs=False)
    if not config.run_distribute:
        return str(config.checkpoint_path)
    if config.device_target != "CPU":
        context.set_context(device_id=int(os.getenv("DEVICE_ID", "0")))
    init()
    context.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True)
    if config.all_reduce_fusion_config:
        context.set_auto_parallel_context(all_reduce_fusion_config=config.all_reduce_fusion_config)
    return os.path.join(config.checkpoint_path, f"ckpt_{get_rank()}")


def make_dataset(config: Config, do_train: bool) -> Dataset:
    """Creates the configured dataset for training or evaluation. Raises KeyError for an unknown dataset."""
    path = config.data_path if do_train else config.eval_dataset_path or config.data_path
    return DATASETS[config.dataset](dataset_path=path, do_train=do_train, repeat_num=1, batch_size=config.batch_size,
                                    train_image_size=config.train_image_size, eval_image_size=config.eval_image_size, target=config.device_target,
                                    distribute=do_train and config.run_distribute, num_parallel_workers=config.num_parallel_workers)


def make_network(config: Config) -> nn.Cell:
    """Creates the configured network. Raises KeyError for an unknown network."""
    form = {"stem": config.stem} if config.stem else {}
    return NETS[config.net_name](class_num=config.class_num, variant=config.variant, zero_init=config.zero_init, **form)


def make_loss(config: Config) -> nn.Cell:
    """Creates the cross entropy with the configured label smoothing."""
    factor = config.label_smooth_factor if config.use_label_smooth else 0.0
    return CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=factor, num_classes=config.class_num, composite=config.composite_loss)


def newest_checkpoint(folder: str) -> str:
    """Returns the path of the latest training checkpoint. Exits if there is none."""
    files = [f for f in glob.glob(os.path.join(folder, "*.ckpt")) if os.path.basename(f) != BEST]
    if not files:
        raise SystemExit(f"error: there is no checkpoint to resume from\n  where: {folder}")
    return max(files, key=os.path.getmtime)


def resume(path: str, net: nn.Cell, optimizer: nn.Optimizer, steps_per_epoch: int) -> tuple[int, int]:
    """Loads weights, moments and counters; returns (complete epochs, their steps). An incomplete epoch restarts from its beginning."""
    values = load_checkpoint(path)
    if "step_num" not in values:
        raise SystemExit(f"error: the file contains only weights, not the state of a training run\n  where: {path}\n"
                         f"  fix: to start from its weights, use --pre_trained {path}")
    values.pop("learning_rate", None)  # the settings define the schedule and may have more epochs now
    load_param_into_net(net, values)
    load_param_into_net(optimizer, values)
    steps = int(values["step_num"].asnumpy())
    epochs = steps // steps_per_epoch
    if steps % steps_per_epoch:
        print(f"{path} was saved {steps % steps_per_epoch} steps into epoch {epochs + 1}; that epoch starts again")
        optimizer.global_step.set_data(Tensor([epochs * steps_per_epoch], mstype.int32))
    return epochs, epochs * steps_per_epoch


class Evaluation(Callback):
    """Evaluates every `interval` epochs, prints the result and keeps the best weights in best.ckpt."""

    def __init__(self, model: Model, net: nn.Cell, dataset: Dataset, interval: int, best_path: str) -> None:
        super().__init__()
        self.model, self.net, self.dataset, self.interval, self.path = model, net, dataset, interval, best_path
        self.best = -1.0
        self.results: dict[str, float] = {}

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if p.cur_epoch_num % self.interval and p.cur_epoch_num != p.epoch_num:
            return
        self.results = self.model.eval(self.dataset, dataset_sink_mode=False)
        print(f"epoch: {p.cur_epoch_num}, " + ", ".join(f"{k}: {v:.4f}" for k, v in sorted(self.results.items())), flush=True)
        if self.path and self.results["top_1_accuracy"] > self.best:
            self.best = self.results["top_1_accuracy"]
            save_checkpoint(self.net, self.path)


def start(config: Config, ckpt_save_dir: str, net: nn.Cell, opt: nn.Optimizer, step_size: int) -> tuple[int, int]:
    """Loads the checkpoint to resume from, if any; returns (complete epochs, their steps)."""
    if not config.resume_ckpt:
        return 0, 0
    path = newest_checkpoint(ckpt_save_dir) if config.resume_ckpt == "auto" else config.resume_ckpt
    first_epoch, first_step = resume(path, net, opt, step_size)
    print(f"resumed from {path}: {first_epoch} of {config.epoch_size} epochs are done")
    return first_epoch, first_step


def train(config: Config) -> tuple[nn.Cell, dict[str, float]]:
    """Executes one training run; returns (network, results of the last evaluation)."""
    ckpt_save_dir = set_up(config)
    dataset = make_dataset(config, do_train=True)
    step_size = dataset.get_dataset_size()

    # Network and initial weights.
    net = make_network(config)
    init_weight(net, config.conv_init, config.dense_init)
    if config.pre_trained:
        load_param_into_net(net, load_checkpoint(config.pre_trained))

    # Learning rate, optimizer, loss and model. The optimizer divides gradients by loss_scale, so the manager needs the same value.
    lr = Tensor(get_lr(lr_init=config.lr_init, lr_end=config.lr_end, lr_max=config.lr_max, warmup_epochs=config.warmup_epochs,
                       total_epochs=config.epoch_size, steps_per_epoch=step_size, lr_decay_mode=config.lr_decay_mode))
    opt = Momentum(init_group_params(net, config.weight_decay), lr, config.momentum, loss_scale=config.loss_scale)
    loss_scale = FixedLossScaleManager(config.loss_scale, drop_overflow_update=False)
    model = Model(net, loss_fn=make_loss(config), optimizer=opt, loss_scale_manager=loss_scale, metrics=METRICS, amp_level=config.amp_level,
                  keep_batchnorm_fp32=config.keep_batchnorm_fp32)

    first_epoch, first_step = start(config, ckpt_save_dir, net, opt, step_size)
    if first_epoch >= config.epoch_size:
        return net, {}

    # Callbacks.
    cb: list[Callback] = [TimeMonitor(data_size=step_size), LossMonitor(config.print_steps)]
    if config.save_checkpoint:
        config_ck = CheckpointConfig(save_checkpoint_steps=config.save_checkpoint_epochs * step_size, keep_checkpoint_max=config.keep_checkpoint_max,
                                     append_info=[{"epoch_num": 0, "step_num": first_step}])
        cb += [ModelCheckpoint(prefix="resnet", directory=ckpt_save_dir, config=config_ck)]
    evaluation = None
    if config.run_eval:
        best = os.path.join(ckpt_save_dir, BEST) if config.save_best_ckpt else ""
        evaluation = Evaluation(model, net, make_dataset(config, do_train=False), config.eval_interval, best)
        cb += [evaluation]

    model.train(config.epoch_size, dataset, callbacks=cb, sink_size=dataset.get_dataset_size(), dataset_sink_mode=config.dataset_sink_mode,
                initial_epoch=first_epoch)
    return net, evaluation.results if evaluation else {}


if __name__ == "__main__":
    from src.config import config as settings
    if not settings.data_path:
        raise SystemExit("error: data_path is not set\n  fix: --data_path DIR")
    train(settings)
