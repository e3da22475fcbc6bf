"""Evaluates a checkpoint: `python eval.py --config config/resnet18_cifar10.yaml --data-path DIR --set checkpoint=FILE` (README.md)."""
from __future__ import annotations

from typing import Any

from src.config import Config, parse
from src.dataset import create_dataset
from src.loss import CrossEntropySmooth
from train import METRICS, make_network, set_up

import sindri as ms


def evaluate(config: Config) -> dict[str, Any]:
    """Top-1, top-5 and loss of a checkpoint over the evaluation data, as a dict."""
    set_up(config)
    data = create_dataset(config.data_path, config.dataset, False, config.batch_size, config.image_size, config.workers)
    net = make_network(config)
    not_loaded = ms.load_param_into_net(net, ms.load_checkpoint(config.checkpoint))
    if len(not_loaded):
        raise SystemExit(f"error: {config.checkpoint} lacks {len(not_loaded)} parameters of {config.net}, the first is {list(not_loaded[0])[0]}\n"
                         "  fix: check net, stem and class_num")
    net.set_train(False)
    loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=config.label_smooth_factor, num_classes=config.class_num)
    return ms.Model(net, loss_fn=loss, metrics=METRICS).eval(data, dataset_sink_mode=False)


if __name__ == "__main__":
    settings = parse("Evaluates a checkpoint.")
    if not settings.checkpoint:
        raise SystemExit("error: no checkpoint is given\n  fix: --set checkpoint=FILE")
    print("result:", evaluate(settings), "ckpt=", settings.checkpoint)
