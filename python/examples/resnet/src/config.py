"""Settings, in ascending precedence: the defaults below, a YAML file, and `--key value` arguments.

`from src.config import config` reads the command line of the program: `--config_path FILE` (default: src/resnet50_imagenet2012_config.yaml) and any
key of DEFAULTS. `load` does the same for code without a command line.
"""
from __future__ import annotations

import argparse
import difflib
import os
from typing import Any, Optional, Sequence

import yaml  # type: ignore[import-untyped,unused-ignore]

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_FILE = os.path.join(HERE, "resnet50_imagenet2012_config.yaml")

DEFAULTS: dict[str, Any] = {
    # Network and data.
    "net_name": "resnet50", "dataset": "imagenet2012", "class_num": 1001, "data_path": "", "eval_dataset_path": "", "batch_size": 32,
    "train_image_size": 224, "eval_image_size": 224, "num_parallel_workers": 8,
    # Execution.
    "device_target": "CPU", "device_num": 1, "run_distribute": False, "mode_name": "GRAPH", "seed": 1, "dataset_sink_mode": True, "amp_level": "O2",
    "keep_batchnorm_fp32": False, "all_reduce_fusion_config": [],
    # Variant and initial values of the network.
    "variant": "mindspore", "stem": "", "zero_init": False, "conv_init": "XavierUniform", "dense_init": "TruncatedNormal", "pre_trained": "",
    # The optimizer.
    "epoch_size": 90, "lr_init": 0.0, "lr_end": 0.0, "lr_max": 0.1, "warmup_epochs": 0, "lr_decay_mode": "cosine", "momentum": 0.9, "weight_decay": 1e-4,
    "loss_scale": 1024.0, "use_label_smooth": True, "label_smooth_factor": 0.0, "composite_loss": False,
    # Checkpoints and evaluation. checkpoint_path: in train.py the folder to save to, in eval.py the file to evaluate.
    "checkpoint_path": "./checkpoint", "save_checkpoint": True, "save_checkpoint_epochs": 5, "keep_checkpoint_max": 10, "resume_ckpt": "",
    "run_eval": False, "eval_interval": 1, "save_best_ckpt": True, "print_steps": 1,
}


class Config:
    """Settings as attributes, one per key of DEFAULTS."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no setting '{name}' | Config | use one of {', '.join(DEFAULTS)}")

    def __str__(self) -> str:
        return "\n".join(f"{k}: {v}" for k, v in self.__dict__.items())


def _checked(key: str, value: Any, where: str) -> Any:
    """Returns the value, converted to the type of the key's default. Exits for an unknown key or another type."""
    if key not in DEFAULTS:
        near = difflib.get_close_matches(str(key), DEFAULTS, 1)
        raise SystemExit(
            f"error: unknown setting '{key}'\n  where: {where}\n  fix: "
            + (f"did you mean '{near[0]}'?" if near else f"use one of {', '.join(DEFAULTS)}")
        )
    kind = type(DEFAULTS[key])
    if kind is float and type(value) is str:  # YAML reads 1e-4 as a string
        try:
            value = float(value)
        except ValueError:
            pass
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise SystemExit(f"error: setting '{key}' must be of type {kind.__name__}, got {value!r}\n  where: {where}")
    return value


def load(path: Optional[str], changes: Sequence[str] = ()) -> Config:
    """Returns the defaults, changed by the file and then by `key=value` strings. Exits with a message for unknown keys and wrong types."""
    values = dict(DEFAULTS)
    if path:
        try:
            with open(path, encoding="utf-8") as f:
                table = yaml.safe_load(f) or {}
        except (OSError, yaml.YAMLError) as e:
            raise SystemExit(f"error: the settings cannot be read: {e}\n  where: {path}") from None
        if not isinstance(table, dict):
            raise SystemExit(f"error: expected `key: value` lines\n  where: {path}")
        for key, value in table.items():
            values[key] = _checked(key, value, path)
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise SystemExit(f"error: expected key=value, got '{change}'\n  where: command line")
        value = text if isinstance(DEFAULTS.get(key), str) else yaml.safe_load(text)
        values[key] = _checked(key, value, f"--{key} {text}")
    return Config(values)


def get_config(argv: Optional[Sequence[str]] = None) -> Config:
    """Returns the settings of a command line, by default that of the program: `--config_path FILE`, `--key value` or `--key=value`, `--print_config`."""
    p = argparse.ArgumentParser(description="Settings: `--KEY VALUE` changes one of the keys below.", epilog="keys: " + ", ".join(DEFAULTS), allow_abbrev=False)
    p.add_argument("--config_path", metavar="FILE", default=DEFAULT_FILE, help="YAML settings, such as src/resnet18_cifar10_config.yaml")
    p.add_argument("--print_config", action="store_true", help="print the settings and exit")
    known, words = p.parse_known_args(argv)
    changes, i = [], 0
    while i < len(words):
        name, equals, text = words[i].partition("=")
        if not name.startswith("--"):
            raise SystemExit(f"error: expected --KEY VALUE, got '{words[i]}'\n  where: command line")
        if not equals:
            i += 1
            if i == len(words):
                raise SystemExit(f"error: {name} has no value\n  where: command line")
            text = words[i]
        changes.append(f"{name[2:]}={text}")
        i += 1
    values = load(known.config_path, changes)
    if known.print_config:
        print(values)
        raise SystemExit(0)
    return values


def __getattr__(name: str) -> Any:
    """Reads `config` from the command line at its first use."""
    if name != "config":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["config"] = get_config()
    return globals()["config"]
