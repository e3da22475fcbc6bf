"""Pooling of mindspore.mint.nn.functional with PyTorch's arguments: without a stride the kernel's size is the step, and a batch may be missing."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

from sindri import ops
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.mint.nn._convolution import in_batch, numbers
from sindri.ops._util import core


def _window(kernel_size: Any, stride: Any, padding: Any, dims: int, where: str) -> Tuple[List[int], List[int], List[int]]:
    """Checked (kernel, stride, padding) of `dims` numbers each. Raises ValueError for a padding of more than half the kernel."""
    kernel = numbers(kernel_size, dims, "kernel_size", where, 1)
    step = kernel if stride is None else numbers(stride, dims, "stride", where, 1)
    pads = numbers(padding, dims, "padding", where, 0)
    if any(2 * p > k for p, k in zip(pads, kernel)):
        fail(ValueError, f"padding {tuple(pads)} must be at most half of the kernel {tuple(kernel)}", where)
    return kernel, step, pads


def _divisor(value: Optional[int], where: str) -> int:
    """divisor_override as ops count it: 0 for None. Raises ValueError for 0."""
    if value == 0 and not isinstance(value, bool):
        fail(ValueError, "divisor_override must not be 0", where)
    return 0 if value is None else value


def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """Means of windows of [n, c, l] or [c, l]; without stride it is kernel_size."""
    where = "mint.nn.functional.avg_pool1d"
    k, s, p = _window(kernel_size, stride, padding, 1, where)
    return in_batch(lambda x: ops.avg_pool1d(x, k[0], s[0], p[0], ceil_mode, count_include_pad), input, 1, where)


def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: Optional[int] = None) -> Tensor:
    """Means of windows of [n, c, h, w] or [c, h, w]; without stride it is kernel_size. divisor_override: sums divided by it instead."""
    where = "mint.nn.functional.avg_pool2d"
    k, s, p = _window(kernel_size, stride, padding, 2, where)
    return in_batch(lambda x: ops.avg_pool2d(x, tuple(k), tuple(s), tuple(p), ceil_mode, count_include_pad, _divisor(divisor_override, where)), input, 2, where)


def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: Optional[int] = None) -> Tensor:
    """Means of windows of [n, c, d, h, w] or [c, d, h, w]; without stride it is kernel_size. divisor_override: sums divided by it instead."""
    where = "mint.nn.functional.avg_pool3d"
    k, s, p = _window(kernel_size, stride, padding, 3, where)
    return in_batch(lambda x: ops.avg_pool3d(x, tuple(k), tuple(s), tuple(p), ceil_mode, count_include_pad, _divisor(divisor_override, where)), input, 3, where)


def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Any:
    """Maxima of windows of [n, c, h, w] or [c, h, w]; without stride it is kernel_size. return_indices: also their int64 places in the flat image."""
    where = "mint.nn.functional.max_pool2d"
    k, s, p = _window(kernel_size, stride, padding, 2, where)
    spread = tuple(numbers(dilation, 2, "dilation", where, 1))
    if len(input.shape) == 3 and return_indices:
        values, places = ops.max_pool2d(core.expand_dims(input, 0), tuple(k), tuple(s), tuple(p), spread, True, ceil_mode)
        return core.squeeze(values, 0), core.squeeze(places, 0)
    return in_batch(lambda x: ops.max_pool2d(x, tuple(k), tuple(s), tuple(p), spread, return_indices, ceil_mode), input, 2, where)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 output_size: Optional[Sequence[int]] = None) -> Tensor:
    """Maxima of [n, c, h, w] or [c, h, w] put back to their places in the flat image, zeros elsewhere; see ops.max_unpool2d."""
    return ops.max_unpool2d(input, indices, kernel_size, stride, padding, None if output_size is None else tuple(output_size))


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over output_size windows that cover [n, c, l] or [c, l]."""
    return ops.adaptive_avg_pool1d(input, _first(output_size))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over output_size windows that cover [n, c, h, w] or [c, h, w]; None keeps a size."""
    return ops.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over output_size windows that cover [n, c, d, h, w] or [c, d, h, w]; None keeps a size."""
    return ops.adaptive_avg_pool3d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over output_size windows that cover [n, c, l] or [c, l]; return_indices: also their int64 places."""
    out = ops.adaptive_max_pool2d(core.expand_dims(input, -2), (1, _first(output_size)), return_indices)
    return tuple(core.squeeze(v, -2) for v in out) if return_indices else core.squeeze(out, -2)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over output_size windows that cover [n, c, h, w] or [c, h, w]; return_indices: also their int64 places in the flat image."""
    out = ops.adaptive_max_pool2d(input, output_size, return_indices)
    return (out[0], core.cast(out[1], mstype.int64)) if return_indices else out


def _first(output_size: Union[int, Sequence[int]]) -> Any:
    """The only number of an output_size of one dimension."""
    return output_size[0] if isinstance(output_size, (tuple, list)) and len(output_size) == 1 else output_size
