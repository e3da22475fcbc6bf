"""Learning rates for every step of a training."""
from __future__ import annotations

import math
from typing import Any

import numpy as np


def cosine_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Rises linearly to lr_max, then falls as a line times a cosine of 0.47 turns (plus 1e-5 of lr_max): the schedule of NVIDIA's ResNet-50."""
    decay_steps = max(total_steps - warmup_steps, 1)
    rates = []
    for i in range(total_steps):
        if i < warmup_steps:
            rates.append(lr_init + (lr_max - lr_init) * (i + 1) / warmup_steps)
        else:
            line = (total_steps - i) / decay_steps
            cosine = 0.5 * (1.0 + math.cos(2.0 * math.pi * 0.47 * i / decay_steps))
            rates.append(lr_max * (line * cosine + 0.00001))
    return rates


def half_cosine_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Rises linearly to lr_max, then falls to lr_end along half a cosine."""
    decay_steps = max(total_steps - warmup_steps, 1)
    rates = []
    for i in range(total_steps):
        if i < warmup_steps:
            rates.append(lr_init + (lr_max - lr_init) * (i + 1) / warmup_steps)
        else:
            rates.append(lr_end + 0.5 * (lr_max - lr_end) * (1.0 + math.cos(math.pi * (i - warmup_steps) / decay_steps)))
    return rates


MODES = {"cosine": cosine_lr, "half_cosine": half_cosine_lr}


def get_lr(lr_init: float, lr_end: float, lr_max: float, warmup_epochs: int, total_epochs: int, steps_per_epoch: int,
           lr_decay_mode: str) -> np.ndarray[Any, Any]:
    """float32 array with one rate per step of the whole training. Raises ValueError for an unknown mode."""
    if lr_decay_mode not in MODES:
        raise ValueError(f"lr_decay_mode '{lr_decay_mode}' is not known | get_lr | use one of {', '.join(MODES)}")
    total, warmup = total_epochs * steps_per_epoch, warmup_epochs * steps_per_epoch
    return np.array(MODES[lr_decay_mode](lr_init, lr_end, lr_max, total, warmup), np.float32)
