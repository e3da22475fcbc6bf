"""Padding and resizing of mindspore.mint.nn.functional with PyTorch's arguments."""
from __future__ import annotations

from typing import Any, Optional, Union

from sindri import ops
from sindri.common.tensor import Tensor
from sindri.ops.function.resize_func import resized


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Union[None, int, float] = None) -> Tensor:
    """Padded from the last dimension on: (left, right, top, bottom, ...). Modes 'constant' (value, default 0), 'reflect', 'replicate', 'circular'."""
    return ops.pad(input, pad, mode, value)


def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None) -> Tensor:
    """The spatial dimensions of [n, c, ...] resized to `size` or by `scale_factor`, as PyTorch does; modes as ops.interpolate has them.

    'bicubic' is Keys' convolution with a = -0.75 and borders repeated, where ops.interpolate has MindSpore's a = -0.5 without aligned corners.
    Raises ValueError for arguments that do not go together.
    """
    return resized(input, size, scale_factor, mode, align_corners, recompute_scale_factor, "mint.nn.functional.interpolate", True)


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None) -> Tensor:
    """interpolate by another name."""
    return resized(input, size, scale_factor, mode, align_corners, None, "mint.nn.functional.upsample", True)
