"""Parameter groups of the optimizer: weights with weight decay, all other parameters without."""
from __future__ import annotations

from typing import Any

from sindri import Parameter, nn


def init_group_params(net: nn.Cell, weight_decay: float = 1e-4) -> list[dict[str, Any]]:
    """Returns groups with weight decay for weights and without it for batch norm's gamma and beta and all biases. Updates keep the network's order."""
    decayed_params: list[Parameter] = []
    no_decayed_params: list[Parameter] = []
    for param in net.trainable_params():
        if "beta" not in param.name and "gamma" not in param.name and "bias" not in param.name:
            decayed_params.append(param)
        else:
            no_decayed_params.append(param)
    return [{"params": decayed_params, "weight_decay": weight_decay}, {"params": no_decayed_params, "weight_decay": 0.0},
            {"order_params": net.trainable_params()}]
