"""The values passed to the summary primitives, kept until the collector reads them.

In eager code the value itself is kept. A traced graph has no values. There the value is written into a Parameter made
for it (an ordered state write, part of the compiled step), together with a count of writes that tells the collector
whether it was written again.
"""
from __future__ import annotations

from typing import Dict, List, Tuple

import numpy as np

from sindri.common import dtype as mstype
from sindri.ops._util import Parameter, Tensor, core


class _Slot:
    """A Parameter that replays of a traced graph write one summary into, and the number of writes that the collector has
    seen.
    """

    def __init__(self, name: str, value: Tensor):
        # bfloat16 has no NumPy type; it is kept as float32.
        kind = mstype.float32 if value.dtype is mstype.bfloat16 else value.dtype
        self.value = Parameter(Tensor(np.zeros(value.shape, mstype.dtype_to_nptype(kind))), name=f"summary.{name}", requires_grad=False)
        self.count = Parameter(0, name=f"summary_count.{name}", requires_grad=False)
        self.seen = 0

    def write(self, value: Tensor) -> None:
        self.value.assign(core.cast(value, self.value.dtype))
        self.count.assign(core.add(self.count, 1))


_eager: Dict[str, Tensor] = {}
_slots: Dict[tuple, _Slot] = {}


def put(name: str, value: Tensor) -> None:
    """Keeps the value under a name such as "loss[:Scalar]". Of several values within a step the last one stays."""
    value = core.stop_gradient(value)
    if not value.is_symbolic:
        _eager[name] = Tensor(value)
        return
    key = (name, value.shape, str(value.dtype))
    if key not in _slots:
        _slots[key] = _Slot(name, value)
    _slots[key].write(value)


def take() -> List[Tuple[str, Tensor]]:
    """Returns (name, value) of everything written since the last call."""
    found: Dict[str, Tensor] = {}
    for (name, _, _), slot in _slots.items():
        count = int(slot.count.asnumpy())
        if count != slot.seen:
            slot.seen = count
            found[name] = Tensor(slot.value.asnumpy().copy())
    found.update(_eager)
    _eager.clear()
    return list(found.items())
