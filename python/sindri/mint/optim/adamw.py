"""AdamW, whose weight decay is decoupled from the gradient."""
from __future__ import annotations

from typing import Any, Tuple

from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.experimental.optim import adamw

__all__ = ["AdamW", "FusedAdamW"]


class AdamW(adamw.AdamW):
    """Updates parameters by the AdamW rule of experimental.optim.AdamW. `state_step` is a float32 of shape [1], as in
    MindSpore's class.

    Args:
        params (list of Parameters or of dicts): The parameters, or groups of them.
        lr (number or Tensor): The learning rate. Default: 0.001.
        betas: The decays of the first and the second moment. Default: (0.9, 0.999).
        eps (float): A value added to the root. Default: 1e-08.
        weight_decay (float): The weight decay factor. Default: 0.01.
        amsgrad (bool): Whether the root uses the largest v so far. Default: False.
        maximize (bool): Whether the gradient is negated first. Default: False.

    Raises:
        TypeError: If an argument has another type, as in experimental.optim.Optimizer.
        ValueError: If a beta is outside [0, 1) or another number is negative.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = ms.mint.optim.AdamW([w], lr=0.1, weight_decay=0.0)
        >>> _ = optimizer((ms.Tensor([2.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """

    _counter_start = Tensor([0], mstype.float32)

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """Updates parameters as AdamW does. MindSpore's class of this name keeps a group's parameters in contiguous memory.

    Args:
        params (list of Parameters or of dicts): The parameters, or groups of them.
        lr (number or Tensor): The learning rate. Default: 0.001.
        betas (tuple of floats): The decays of the first and the second moment. Default: (0.9, 0.999).
        eps (float): A value added to the root. Default: 1e-08.
        weight_decay (float): The weight decay factor. Default: 0.01.
        amsgrad (bool): Whether the root uses the largest v so far. Default: False.
        maximize (bool): Whether the gradient is negated first. Default: False.

    Raises:
        TypeError: If an argument has another type, as in experimental.optim.Optimizer.
        ValueError: If a beta is outside [0, 1) or another number is negative.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = ms.mint.optim.FusedAdamW([w], lr=0.1, weight_decay=0.0)
        >>> _ = optimizer((ms.Tensor([2.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """
