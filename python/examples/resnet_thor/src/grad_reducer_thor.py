"""Averaging of the layers' matrices over ranks. The optimizer averages A and G before it inverts them; it does not average the inverses."""
from __future__ import annotations

from typing import Any, Sequence

from sindri import context


def reduction(layers: int, split_indices: Sequence[int] = ()) -> dict[str, Any]:
    """Returns THOR's arguments for a network with this number of layers, or an empty dict in stand-alone mode.

    split_indices: the last layer of each group that one all-reduce averages; indices beyond the network are dropped.
    """
    if context.get_auto_parallel_context("parallel_mode") == "stand_alone":
        return {}
    groups = sorted({min(int(i), layers - 1) for i in split_indices} | {layers - 1})
    return {"reduce": "factor_mean", "split_indices": groups}
