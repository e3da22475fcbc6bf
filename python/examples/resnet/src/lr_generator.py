"""Learning rates, and THOR's damping, for every step of a training run."""
from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

Array = np.ndarray[Any, Any]


def _warmed(lr_init: float, lr_max: float, total_steps: int, warmup_steps: int, decay: Callable[[int], float], first: int = 0) -> list[float]:
    """Returns rates that rise linearly from lr_init to lr_max and then follow decay(step). `first`: number of steps by which the rise is ahead."""
    return [lr_init + (lr_max - lr_init) * (i + first) / warmup_steps if i < warmup_steps else decay(i) for i in range(total_steps)]


def _generate_steps_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Divides the rate by 10 after 30 %, 60 % and 80 % of all steps."""
    edges = [0.3 * total_steps, 0.6 * total_steps, 0.8 * total_steps]
    return _warmed(lr_init, lr_max, total_steps, warmup_steps, lambda i: lr_max * 0.1 ** sum(i >= edge for edge in edges))


def _generate_poly_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Decays with the square of a line from 1 to 0."""
    left = max(total_steps - warmup_steps, 1)
    return _warmed(lr_init, lr_max, total_steps, warmup_steps, lambda i: lr_max * max(0.0, 1.0 - (i - warmup_steps) / left) ** 2)


def _generate_cosine_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Decays with a line times a cosine of 0.47 periods, plus 1e-5 of lr_max: the schedule of NVIDIA's ResNet-50."""
    left = max(total_steps - warmup_steps, 1)

    def decay(i: int) -> float:
        return lr_max * ((total_steps - i) / left * 0.5 * (1.0 + math.cos(2.0 * math.pi * 0.47 * i / left)) + 0.00001)

    return _warmed(lr_init, lr_max, total_steps, warmup_steps, decay, first=1)


def _generate_half_cosine_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Decays with half a cosine to lr_end."""
    left = max(total_steps - warmup_steps, 1)
    return _warmed(lr_init, lr_max, total_steps, warmup_steps,
                   lambda i: lr_end + 0.5 * (lr_max - lr_end) * (1.0 + math.cos(math.pi * (i - warmup_steps) / left)), first=1)


def _generate_linear_lr(lr_init: float, lr_end: float, lr_max: float, total_steps: int, warmup_steps: int) -> list[float]:
    """Decays linearly to lr_end."""
    left = max(total_steps - warmup_steps, 1)
    return _warmed(lr_init, lr_max, total_steps, warmup_steps, lambda i: lr_max - (lr_max - lr_end) * (i - warmup_steps) / left)


MODES = {"steps": _generate_steps_lr, "poly": _generate_poly_lr, "cosine": _generate_cosine_lr, "half_cosine": _generate_half_cosine_lr,
         "linear": _generate_linear_lr}


def get_lr(lr_init: float, lr_end: float, lr_max: float, warmup_epochs: int, total_epochs: int, steps_per_epoch: int,
           lr_decay_mode: str) -> Array:
    """Returns a float32 array with one rate per step of the whole run. Raises ValueError for an unknown mode."""
    if lr_decay_mode not in MODES:
        raise ValueError(f"lr_decay_mode '{lr_decay_mode}' is not known | get_lr | use one of {', '.join(MODES)}")
    total, warmup = total_epochs * steps_per_epoch, warmup_epochs * steps_per_epoch
    return np.array(MODES[lr_decay_mode](lr_init, lr_end, lr_max, total, warmup), np.float32)


def get_thor_lr(global_step: int, lr_init: float, decay: float, total_epochs: int, steps_per_epoch: int, decay_epochs: int = 100) -> Array:
    """Returns lr_init·(1 - epoch/total_epochs)^decay for the steps from global_step on, halved from decay_epochs on and again one epoch later."""
    epochs = (np.arange(total_epochs * steps_per_epoch) + 1) / steps_per_epoch
    rates = lr_init * (1.0 - epochs / total_epochs) ** decay * 0.5 ** ((epochs >= decay_epochs).astype(int) + (epochs >= decay_epochs + 1))
    return rates.astype(np.float32)[global_step:]


def get_thor_damping(global_step: int, damping_init: float, decay_rate: float, total_epochs: int, steps_per_epoch: int) -> Array:
    """Returns damping_init·decay_rate^(epoch/10) for the steps from global_step on."""
    epochs = (np.arange(total_epochs * steps_per_epoch) + 1) / steps_per_epoch
    return (damping_init * decay_rate ** (epochs / 10)).astype(np.float32)[global_step:]
