"""Learning rate and damping of THOR's ResNet trainings: one value for each step of a training, counted from the step that is made."""
from __future__ import annotations

from typing import Any

import numpy as np


def get_thor_lr(global_step: int, lr_init: float, decay: float, total_epochs: int, steps_per_epoch: int, decay_epochs: int = 100) -> np.ndarray[Any, Any]:
    """lr_init·(1 - epoch/total_epochs)^decay, halved from decay_epochs on and once more an epoch later; from global_step on."""
    rates = []
    for i in range(total_epochs * steps_per_epoch):
        epoch = (i + 1) / steps_per_epoch
        rate = lr_init * (1.0 - epoch / total_epochs) ** decay
        rates.append(rate * 0.5 ** ((epoch >= decay_epochs) + (epoch >= decay_epochs + 1)))
    return np.array(rates[global_step:], np.float32)


def get_thor_damping(global_step: int, damping_init: float, decay_rate: float, total_epochs: int, steps_per_epoch: int) -> np.ndarray[Any, Any]:
    """damping_init·decay_rate^(epoch/10), from global_step on."""
    epochs = (np.arange(total_epochs * steps_per_epoch) + 1) / steps_per_epoch
    return (damping_init * decay_rate ** (epochs / 10)).astype(np.float32)[global_step:]
