"""AdamW, whose weight decay is apart from the gradient."""
from __future__ import annotations

from typing import Any, Tuple

from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.experimental.optim import adamw

__all__ = ["AdamW", "FusedAdamW"]


class AdamW(adamw.AdamW):
    """The rule of experimental.optim.AdamW; `state_step` is a float32 of shape [1], as in MindSpore's class."""

    _counter_start = Tensor([0], mstype.float32)

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """AdamW under the name of MindSpore's form that keeps a group's parameters in one piece of memory; here it computes as AdamW does."""
