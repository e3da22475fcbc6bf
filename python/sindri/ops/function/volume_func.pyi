"""Convolution and pooling of volumes [n, c, d, h, w], composed of those of images.

Written by scripts/python_stubs.py; do not edit."""

from typing import Any
from sindri._core import Tensor

__all__ = ["conv3d", "conv3d_transpose", "max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d"]

def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = 'valid', padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor: ...
def conv3d_transpose(
    inputs: Tensor, weight: Tensor, pad_mode: str = 'valid', padding: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1,
    output_padding: Any = 0,
) -> Tensor: ...
def max_pool3d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any: ...
def avg_pool3d(
    input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor: ...
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor: ...
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any: ...
