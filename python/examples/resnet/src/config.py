"""Settings: the table of known keys with their defaults, a YAML file, and `--set key=value`; later wins."""
from __future__ import annotations

import argparse
import difflib
from typing import Any, Optional, Sequence

import yaml  # type: ignore[import-untyped,unused-ignore]

DEFAULTS: dict[str, Any] = {
    "net": "resnet18", "variant": "mindspore", "stem": "imagenet", "class_num": 1000, "zero_init": False,
    "dataset": "imagenet2012", "data_path": "", "image_size": 224, "batch_size": 32, "workers": 2,
    "conv_init": "XavierUniform", "dense_init": "TruncatedNormal",
    "epoch_size": 90, "lr_init": 0.0, "lr_end": 0.0, "lr_max": 0.1, "warmup_epochs": 0, "lr_decay_mode": "cosine",
    "momentum": 0.9, "weight_decay": 1e-4, "label_smooth_factor": 0.0, "composite_loss": False,
    "amp_level": "O0", "loss_scale": 1.0,
    "output": "output", "save_checkpoint_epochs": 1, "keep_checkpoint_max": 5, "eval_interval": 1, "resume": "", "pretrained": "",
    "mode": "graph", "sink": False, "print_steps": 10, "seed": 1, "distribute": False, "checkpoint": "",
}


class Config:
    """The settings as attributes, one per key of DEFAULTS."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no setting '{name}' | Config | use one of {', '.join(DEFAULTS)}")

    def __str__(self) -> str:
        return "\n".join(f"{k}: {v}" for k, v in self.__dict__.items())


def _checked(key: str, value: Any, where: str) -> Any:
    """The value in the type of the key's default."""
    if key not in DEFAULTS:
        near = difflib.get_close_matches(str(key), DEFAULTS, 1)
        raise SystemExit(
            f"error: unknown setting '{key}'\n  where: {where}\n  fix: "
            + (f"did you mean '{near[0]}'?" if near else f"use one of {', '.join(DEFAULTS)}")
        )
    kind = type(DEFAULTS[key])
    if kind is float and type(value) is str:  # YAML reads 1e-4 as text
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
    """Defaults, then the file, then `key=value` texts. Ends the program with a message for unknown keys and wrong types."""
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
            raise SystemExit(f"error: expected key=value, got '{change}'\n  where: --set")
        value = text if isinstance(DEFAULTS.get(key), str) else yaml.safe_load(text)
        values[key] = _checked(key, value, f"--set {change}")
    return Config(values)


def parse(description: str, argv: Optional[Sequence[str]] = None) -> Config:
    """The settings of a command line."""
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--config", metavar="FILE", help="YAML settings, such as config/resnet18_cifar10.yaml")
    p.add_argument("--data-path", metavar="DIR", help="short for --set data_path=DIR")
    p.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change one setting; may be repeated")
    p.add_argument("--print-config", action="store_true", help="show the settings and stop")
    a = p.parse_args(argv)
    config = load(a.config, a.set + ([f"data_path={a.data_path}"] if a.data_path else []))
    if a.print_config:
        print(config)
        raise SystemExit(0)
    if not config.data_path:
        raise SystemExit("error: data_path is not set\n  fix: --data-path DIR")
    return config
