"""Functions of sindri.ops that clip values or gradients.

Written by scripts/python_stubs.py; do not edit."""

from collections.abc import Sequence
from typing import Any
from sindri._core import Tensor

__all__ = ["clamp", "clip", "clip_by_value", "clip_by_norm", "renorm", "global_norm", "clip_by_global_norm"]

def clamp(
    input: Tensor | Sequence[Tensor], min: None | Tensor | int | float = None, max: None | Tensor | int | float = None,
) -> Tensor | tuple[Any, ...]: ...
clip = clamp
def clip_by_value(
    x: Tensor | Sequence[Tensor], clip_value_min: None | Tensor | int | float = None, clip_value_max: None | Tensor | int | float = None, *,
    min: None | Tensor | int | float = None, max: None | Tensor | int | float = None,
) -> Tensor | tuple[Any, ...]: ...
def clip_by_norm(
    x: Tensor | Sequence[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
) -> Tensor | tuple[Any, ...]: ...
def renorm(input: Tensor, p: float, axis: int, maxnorm: float) -> Tensor: ...
def global_norm(x: Sequence[Tensor]) -> Tensor: ...
def clip_by_global_norm(x: Sequence[Tensor], clip_norm: int | float | Tensor = 1.0, use_norm: Any | None = None) -> tuple[Any, ...]: ...
