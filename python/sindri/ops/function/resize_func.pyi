"""Functions of sindri.ops that pad and resize images.

Written by scripts/python_stubs.py; do not edit."""

from collections.abc import Sequence
from typing import Any
from sindri._core import Tensor

__all__ = ["pad", "pad_pairs", "mirror_pad", "resize_nearest", "resize_bilinear", "interpolate", "resized", "upsample"]

def pad(input_x: Tensor, padding: Any, mode: str = 'constant', value: None | int | float = None) -> Tensor: ...
def pad_pairs(x: Tensor, paddings: Sequence[Sequence[int]], mode: str = 'constant', value: int | float = 0) -> Tensor: ...
def mirror_pad(input_x: Tensor, paddings: Any, mode: str = 'REFLECT') -> Tensor: ...
def resize_nearest(x: Tensor, size: int | Sequence[int] | Tensor, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor: ...
def resize_bilinear(x: Tensor, size: int | Sequence[int] | Tensor, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor: ...
def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor: ...
def resized(
    input: Tensor, size: Any, scale_factor: Any, mode: str, align_corners: bool | None, recompute_scale_factor: bool | None, where: str,
    repeat_borders: bool,
) -> Tensor: ...
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor: ...
