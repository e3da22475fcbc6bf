"""CTCLoss for labels in coordinate form, as in TensorFlow's ctc_loss: the blank is the last class, and the gradient is

Written by scripts/python_stubs.py; do not edit."""

from typing import Any
from sindri._core import Tensor
from sindri.ops.primitive import Primitive

__all__ = ["CTCLoss"]


class CTCLoss(Primitive):
    def __init__(
        self, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False,
    ) -> None: ...
    def __call__(self, x: Tensor, labels_indices: Tensor, labels_values: Tensor, sequence_length: Tensor) -> tuple[Any, ...]: ...
