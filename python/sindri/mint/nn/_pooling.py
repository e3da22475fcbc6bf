"""Pooling of mindspore.mint.nn.functional with PyTorch's arguments: the stride defaults to the kernel size, and the
batch dimension may be missing.
"""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

from sindri import ops
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.mint.nn._convolution import in_batch, numbers
from sindri.ops._util import core


def _window(kernel_size: Any, stride: Any, padding: Any, dims: int, where: str) -> Tuple[List[int], List[int], List[int]]:
    """Returns checked (kernel, stride, padding) of `dims` numbers each. Raises ValueError for a padding of more than
    half the kernel.
    """
    kernel = numbers(kernel_size, dims, "kernel_size", where, 1)
    step = kernel if stride is None else numbers(stride, dims, "stride", where, 1)
    pads = numbers(padding, dims, "padding", where, 0)
    if any(2 * p > k for p, k in zip(pads, kernel)):
        fail(ValueError, f"padding {tuple(pads)} must be at most half of the kernel {tuple(kernel)}", where)
    return kernel, step, pads


def _divisor(value: Optional[int], where: str) -> int:
    """Returns divisor_override as ops expect it: 0 for None. Raises ValueError for 0."""
    if value == 0 and not isinstance(value, bool):
        fail(ValueError, "divisor_override must not be 0", where)
    return 0 if value is None else value


def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """Computes the means of windows of signals [n, c, l] or [c, l].

    Args:
        input (Tensor): The input.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding with zeros, at most half the window. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.

    Returns:
        The means.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.avg_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2))
        [[[1.5 3.5]]]
    """
    where = "mint.nn.functional.avg_pool1d"
    k, s, p = _window(kernel_size, stride, padding, 1, where)
    return in_batch(lambda x: ops.avg_pool1d(x, k[0], s[0], p[0], ceil_mode, count_include_pad), input, 1, where)


def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: Optional[int] = None) -> Tensor:
    """Computes the means of windows of images [n, c, h, w] or [c, h, w].

    Args:
        input (Tensor): The input.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding with zeros, at most half the window. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.
        divisor_override (int): A divisor of the sums; None divides by the size of the window. Default: None.

    Returns:
        The means.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.avg_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[2.5]]]]
    """
    where = "mint.nn.functional.avg_pool2d"
    k, s, p = _window(kernel_size, stride, padding, 2, where)
    return in_batch(lambda x: ops.avg_pool2d(x, tuple(k), tuple(s), tuple(p), ceil_mode, count_include_pad, _divisor(divisor_override, where)), input, 2, where)


def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: Optional[int] = None) -> Tensor:
    """Computes the means of windows of volumes [n, c, d, h, w] or [c, d, h, w].

    Args:
        input (Tensor): The input.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding with zeros, at most half the window. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.
        divisor_override (int): A divisor of the sums; None divides by the size of the window. Default: None.

    Returns:
        The means.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.avg_pool3d(ms.ops.ones((1, 1, 2, 2, 2)), 2))
        [[[[[1.]]]]]
    """
    where = "mint.nn.functional.avg_pool3d"
    k, s, p = _window(kernel_size, stride, padding, 3, where)
    return in_batch(lambda x: ops.avg_pool3d(x, tuple(k), tuple(s), tuple(p), ceil_mode, count_include_pad, _divisor(divisor_override, where)), input, 3, where)


def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Any:
    """Computes the maxima of windows of images [n, c, h, w] or [c, h, w].

    Args:
        input (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding, which does not count, at most half the window. Default: 0.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions in the flat image).

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.max_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[4.]]]]
    """
    where = "mint.nn.functional.max_pool2d"
    k, s, p = _window(kernel_size, stride, padding, 2, where)
    spread = tuple(numbers(dilation, 2, "dilation", where, 1))
    if len(input.shape) == 3 and return_indices:
        values, places = ops.max_pool2d(core.expand_dims(input, 0), tuple(k), tuple(s), tuple(p), spread, True, ceil_mode)
        return core.squeeze(values, 0), core.squeeze(places, 0)
    return in_batch(lambda x: ops.max_pool2d(x, tuple(k), tuple(s), tuple(p), spread, return_indices, ceil_mode), input, 2, where)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 output_size: Optional[Sequence[int]] = None) -> Tensor:
    """Writes maxima of [n, c, h, w] or [c, h, w] back to their positions in the flat image; all other elements are 0.
    See `ops.max_unpool2d`.

    Args:
        input (Tensor): The maxima.
        indices (Tensor): Their positions.
        kernel_size (int or sequence of ints): The window of the pooling.
        stride (int or sequence of ints): Its stride; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): Its padding. Default: 0.
        output_size (sequence of ints): The size of the result, if pooling dropped elements. Default: None.

    Returns:
        A tensor of the size before pooling.

    Raises:
        ValueError: If the shapes or sizes are incompatible, or a position is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.max_unpool2d(ms.Tensor([[[[4.0]]]]), ms.Tensor([[[[3]]]]), 2))
        [[[[0. 0.]
           [0. 4.]]]]
    """
    return ops.max_unpool2d(input, indices, kernel_size, stride, padding, None if output_size is None else tuple(output_size))


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Computes the means over windows that cover signals [n, c, l] or [c, l].

    Args:
        input (Tensor): The input.
        output_size (int or sequence of ints): The number of windows per dimension.

    Returns:
        The means.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.adaptive_avg_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2))
        [[[1.5 3.5]]]
    """
    return ops.adaptive_avg_pool1d(input, _first(output_size))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Computes the means over windows that cover images [n, c, h, w] or [c, h, w].

    Args:
        input (Tensor): The input.
        output_size (int or sequence of ints): The number of windows per dimension; None keeps a size.

    Returns:
        The means.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.adaptive_avg_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[2.5]]]]
    """
    return ops.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Computes the means over windows that cover volumes [n, c, d, h, w] or [c, d, h, w].

    Args:
        input (Tensor): The input.
        output_size (int or sequence of ints): The number of windows per dimension; None keeps a size.

    Returns:
        The means.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.adaptive_avg_pool3d(ms.ops.ones((1, 1, 2, 2, 2)), 1))
        [[[[[1.]]]]]
    """
    return ops.adaptive_avg_pool3d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Computes the maxima over windows that cover signals [n, c, l] or [c, l].

    Args:
        input (Tensor): The input.
        output_size (int or sequence of ints): The number of windows per dimension.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions).

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.adaptive_max_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2))
        [[[2. 4.]]]
    """
    out = ops.adaptive_max_pool2d(core.expand_dims(input, -2), (1, _first(output_size)), return_indices)
    return tuple(core.squeeze(v, -2) for v in out) if return_indices else core.squeeze(out, -2)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Computes the maxima over windows that cover images [n, c, h, w] or [c, h, w].

    Args:
        input (Tensor): The input.
        output_size (int or sequence of ints): The number of windows per dimension; None keeps a size.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions in the flat image).

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.adaptive_max_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[4.]]]]
    """
    out = ops.adaptive_max_pool2d(input, output_size, return_indices)
    return (out[0], core.cast(out[1], mstype.int64)) if return_indices else out


def _first(output_size: Union[int, Sequence[int]]) -> Any:
    """Returns the only number of a one-dimensional output_size."""
    return output_size[0] if isinstance(output_size, (tuple, list)) and len(output_size) == 1 else output_size
