"""Values that summary ops hand over inside construct, kept until the next record.

Each tag has a Parameter of its own that the op writes, so that a compiled graph hands over its values too."""
from typing import Any, Dict, List, Tuple

import numpy as np

from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor

_KINDS = ('scalar', 'tensor', 'image', 'histogram')
_slots: Dict[Tuple[str, str], Parameter] = {}


def keep(kind: str, tag: str, value: Any) -> None:
    """Keeps `value` under `tag`. TypeError: no str, no Tensor; ValueError: empty tag, a scalar with several elements, an image that is no
    [N, C, H, W], a histogram or tensor without dimensions."""
    if kind not in _KINDS:
        raise ValueError(f"summary: unknown kind {kind!r}")
    name = kind.capitalize() + 'Summary'
    if not isinstance(tag, str):
        raise TypeError(f"{name}: the tag must be a str, got {type(tag).__name__}")
    if not tag:
        raise ValueError(f"{name}: the tag must not be empty")
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: the value of '{tag}' must be a Tensor, got {type(value).__name__}")
    shape = tuple(value.shape)
    if kind == 'scalar' and value.size != 1:
        raise ValueError(f"{name}: '{tag}' must have one element, got shape {shape}")
    if kind == 'image' and (len(shape) != 4 or shape[1] not in (1, 3)):
        raise ValueError(f"{name}: '{tag}' must have shape [N, 1 or 3, H, W], got {shape}")
    if kind in ('tensor', 'histogram') and not shape:
        raise ValueError(f"{name}: '{tag}' must have at least one dimension")
    slot = _slots.get((kind, tag))
    if slot is None or tuple(slot.shape) != shape or slot.dtype != value.dtype:
        slot = _slots[kind, tag] = Parameter(Tensor(np.zeros(shape), dtype=value.dtype), name=f'summary.{tag}', requires_grad=False)
    slot.assign(value)


def kept() -> List[Tuple[str, str, np.ndarray]]:
    """(kind, tag, array) of every value handed over so far; a tag keeps its last value."""
    from sindri.common import dtype as mstype
    out = []
    for (kind, tag), slot in _slots.items():
        value = slot.astype(mstype.float32) if slot.dtype == mstype.bfloat16 else slot
        out.append((kind, tag, np.array(value.asnumpy())))
    return out


def clear() -> None:
    """Forgets all values."""
    _slots.clear()
