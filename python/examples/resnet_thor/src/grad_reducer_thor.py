"""How the layers' matrices are averaged over ranks. The optimizer averages A and G themselves before it inverts them, not the inverses."""
from __future__ import annotations

from typing import Any, Sequence

from sindri import context


def reduction(layers: int, split_indices: Sequence[int] = ()) -> dict[str, Any]:
    """THOR's arguments for a network of that many layers. split_indices: the last layer of each group that is averaged in one all-reduce; those
    beyond the network are dropped. Empty where ranks do not train together."""
    if context.get_auto_parallel_context("parallel_mode") == "stand_alone":
        return {}
    groups = sorted({min(int(i), layers - 1) for i in split_indices} | {layers - 1})
    return {"reduce": "factor_mean", "split_indices": groups}
