"""Learning rate and damping of the published ResNet-50 runs with THOR: one value per step of a training run."""
from __future__ import annotations

from typing import Any

import numpy as np


def get_thor_lr(global_step: int, lr_init: float, decay: float, total_epochs: int, steps_per_epoch: int, decay_epochs: int = 100) -> np.ndarray[Any, Any]:
    """Returns lr_init·(1 - epoch/total_epochs)^decay for the steps from global_step on, halved from decay_epochs on and again one epoch later."""
    rates = []
    for i in range(total_epochs * steps_per_epoch):
        epoch = (i + 1) / steps_per_epoch
        rate = lr_init * (1.0 - epoch / total_epochs) ** decay
        rates.append(rate * 0.5 ** ((epoch >= decay_epochs) + (epoch >= decay_epochs + 1)))
    return np.array(rates[global_step:], np.float32)


def get_thor_damping(global_step: int, damping_init: float, decay_rate: float, total_epochs: int, steps_per_epoch: int) -> np.ndarray[Any, Any]:
    """Returns damping_init·decay_rate^(epoch/10) for the steps from global_step on."""
    epochs = (np.arange(total_epochs * steps_per_epoch) + 1) / steps_per_epoch
    return (damping_init * decay_rate ** (epochs / 10)).astype(np.float32)[global_step:]
