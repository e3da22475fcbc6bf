"""Padding and resizing of mindspore.mint.nn.functional with PyTorch's arguments."""
from __future__ import annotations

from typing import Any, Optional, Union

from sindri import ops
from sindri.common.tensor import Tensor
from sindri.ops.function.resize_func import resized


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Union[None, int, float] = None) -> Tensor:
    """Pads dimensions, from the last one on.

    Args:
        input (Tensor): The tensor.
        pad (sequence of ints): (before, after) per dimension, the last dimension first: (left, right, top, bottom,
            …).
        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".
        value (number): The value for "constant"; None means 0. Default: None.

    Returns:
        The padded tensor.

    Raises:
        ValueError: If `pad` does not fit or `mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.pad(ms.Tensor([1, 2, 3]), (1, 2)))
        [0 1 2 3 0 0]
    """
    return ops.pad(input, pad, mode, value)


def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None) -> Tensor:
    """Resizes the spatial dimensions of a tensor [n, c, ...] as PyTorch does.

    "bicubic" is Keys' convolution with a = -0.75 and repeated borders; `ops.interpolate` has MindSpore's a = -0.5
    without aligned corners.

    Args:
        input (Tensor): The tensor.
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.
        mode (str): The mode, as in `ops.interpolate`. Default: "nearest".
        align_corners (bool): Whether the corners of input and result coincide. Default: None.
        recompute_scale_factor (bool): Whether to use the ratio of the sizes instead of `scale_factor`. Default: None.

    Returns:
        The resized tensor.

    Raises:
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.interpolate(ms.Tensor([[[1.0, 2.0]]]), size=4))
        [[[1. 1. 2. 2.]]]
    """
    return resized(input, size, scale_factor, mode, align_corners, recompute_scale_factor, "mint.nn.functional.interpolate", True)


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None) -> Tensor:
    """Resizes the spatial dimensions of a tensor; another name of `interpolate`.

    Args:
        input (Tensor): The tensor.
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.
        mode (str): The mode, as in `ops.interpolate`. Default: "nearest".
        align_corners (bool): Whether the corners of input and result coincide. Default: None.

    Returns:
        The resized tensor.

    Raises:
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.upsample(ms.Tensor([[[1.0, 2.0]]]), scale_factor=2))
        [[[1. 1. 2. 2.]]]
    """
    return resized(input, size, scale_factor, mode, align_corners, None, "mint.nn.functional.upsample", True)
