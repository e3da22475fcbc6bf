"""Settings of the published training runs: `config_ascend` for 8 Ascend devices, `config_gpu` for 8 GPUs, both with 32 images per device and step."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Sequence

import yaml  # type: ignore[import-untyped,unused-ignore]

config_ascend = SimpleNamespace(
    class_num=1001, batch_size=32, image_size=224, loss_scale=128.0, momentum=0.9, weight_decay=5e-4, epoch_size=45, save_checkpoint=True,
    save_checkpoint_epochs=1, keep_checkpoint_max=45, save_checkpoint_path="./", use_label_smooth=True, label_smooth_factor=0.1, lr_init=0.05803,
    lr_decay=4.0839, lr_end_epoch=53, damping_init=0.03, damping_decay=0.50036, frequency=834, amp_level="O2", split_indices=[26, 53])

config_gpu = SimpleNamespace(
    class_num=1001, batch_size=32, image_size=224, loss_scale=128.0, momentum=0.9, weight_decay=5e-4, epoch_size=40, save_checkpoint=True,
    save_checkpoint_epochs=1, keep_checkpoint_max=40, save_checkpoint_path="./", use_label_smooth=True, label_smooth_factor=0.1, lr_init=0.05672,
    lr_decay=4.9687, lr_end_epoch=50, damping_init=0.02345, damping_decay=0.5467, frequency=834, amp_level="O2", split_indices=[26, 53])

config = config_ascend


def take(target: str, changes: Sequence[str] = ()) -> SimpleNamespace:
    """Returns the settings for a device target, with `key=value` changes. Exits for an unknown key or a value of another type."""
    chosen = SimpleNamespace(**vars(config_gpu if target == "GPU" else config_ascend))
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or not hasattr(chosen, key):
            raise SystemExit(f"error: '{change}' is not KEY=VALUE with a KEY of {', '.join(vars(chosen))}\n  where: --set")
        old, value = getattr(chosen, key), text if isinstance(getattr(chosen, key), str) else yaml.safe_load(text)
        if isinstance(old, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(old):
            raise SystemExit(f"error: {key} must be of type {type(old).__name__}, got {text!r}\n  where: --set")
        setattr(chosen, key, value)
    return chosen
