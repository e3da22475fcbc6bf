"""Evaluates a checkpoint: `python eval.py --config_path FILE --data_path DIR --checkpoint_path FILE` (see README.md)."""
from __future__ import annotations

import os
from typing import Any

from src.config import Config
from train import make_dataset, make_loss, make_network, set_up

from sindri import Model, load_checkpoint, load_param_into_net


def evaluate(config: Config) -> dict[str, Any]:
    """Returns a dict with the top-1 and top-5 accuracy of a checkpoint on the evaluation data."""
    set_up(config)
    dataset = make_dataset(config, do_train=False)
    net = make_network(config)
    not_loaded = load_param_into_net(net, load_checkpoint(config.checkpoint_path))
    if len(not_loaded):
        raise SystemExit(f"error: {config.checkpoint_path} lacks {len(not_loaded)} parameters of {config.net_name}, such as {list(not_loaded[0])[0]}\n"
                         "  fix: check net_name, stem and class_num")
    net.set_train(False)
    model = Model(net, loss_fn=make_loss(config), metrics={"top_1_accuracy", "top_5_accuracy"})
    return model.eval(dataset, dataset_sink_mode=False)


if __name__ == "__main__":
    from src.config import config as settings
    if not settings.data_path and not settings.eval_dataset_path:
        raise SystemExit("error: data_path is not set\n  fix: --data_path DIR")
    if not os.path.isfile(settings.checkpoint_path):
        raise SystemExit(f"error: checkpoint_path is not a file\n  where: {settings.checkpoint_path}\n  fix: --checkpoint_path FILE")
    print("result:", evaluate(settings), "ckpt=", settings.checkpoint_path)
