"""Convolution and pooling of volumes [n, c, d, h, w], composed of those of images.

A convolution is one image convolution per slice of the kernel, summed. Pooling reduces rows and columns first, then
depths.
"""
from __future__ import annotations

import math
from typing import Any, Callable, List, Optional, Sequence

from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, adaptive_sizes, core, exported, need_divisor, rounded_once, to_int, to_ints, volume_pads, zeros_around
from sindri.ops.function.nn_func import bias_add, conv_transpose2d
from sindri.ops.function.pooling_func import adaptive_max_pool, max_pool_with_places


def _triple(value: Any, name: str, where: str) -> List[int]:
    """Returns three ints above 0: one for every dimension, or (depth, height, width)."""
    numbers: Sequence[int] = to_ints(value, name, where)
    numbers = numbers[-3:] if len(numbers) == 5 else list(numbers) * 3 if len(numbers) == 1 else list(numbers)
    if len(numbers) != 3 or min(numbers) < 1:
        fail(ValueError, f"{name} must be one int above 0 or three, got {value!r}", where)
    return list(numbers)


def _need_volume(x: Tensor, where: str) -> None:
    if len(x.shape) != 5:
        fail(ValueError, f"expected 5 dimensions [n, c, d, h, w], got {x.shape}", where)


def _depths(x: Tensor, first: int, count: int, step: int) -> Tensor:
    """Returns every step-th slice of the depth from `first` on, `count` of them."""
    begin, end, steps = [0] * 5, list(x.shape), [1] * 5
    begin[2], end[2], steps[2] = first, first + (count - 1) * step + 1, step
    return core.slice(x, begin, end, steps)


@rounded_once()
def conv3d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
           dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolves volumes [n, c, d, h, w] with a weight [o, c/groups, kd, kh, kw].

    Args:
        input (Tensor): The volumes.
        weight (Tensor): The weight.
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride, one number or (depth, height, width). Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (int or sequence of ints): The padding for "pad": one number, (depth, height, width) or (head, tail,
            top, bottom, left, right). Default: 0.
        dilation (int or sequence of ints): The dilation, one number or (depth, height, width). Default: 1.
        groups (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape [n, o, d', h', w'].

    Raises:
        ValueError: If the shapes are incompatible, `pad_mode` is another string, or `padding` is given for another mode
            than "pad".

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.conv3d(ms.ops.ones((1, 1, 2, 2, 2)), ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[8.]]]]]
    """
    where = "ops.conv3d"
    _need_volume(input, where)
    if len(weight.shape) != 5:
        fail(ValueError, f"expected a weight of 5 dimensions, got {weight.shape}", where)
    s, spread, kernel = _triple(stride, "stride", where), _triple(dilation, "dilation", where), weight.shape[2:]
    pads = volume_pads(pad_mode, padding, input.shape[2:], kernel, s, spread, where)
    x = core.pad(input, [0] * 4 + pads[:2] + [0] * 4) if any(pads[:2]) else input
    count = (x.shape[2] - spread[0] * (kernel[0] - 1) - 1) // s[0] + 1
    if count < 1:
        fail(ValueError, f"the kernel {tuple(kernel)} is larger than the input {input.shape}", where)
    n, c, _, h, w = x.shape
    out: Any = None
    for k in range(kernel[0]):
        images = core.reshape(core.transpose(_depths(x, k * spread[0], count, s[0]), [0, 2, 1, 3, 4]), (n * count, c, h, w))
        part = core.conv2d(images, core.squeeze(_depths(weight, k, 1, 1), 2), s[1:], pads[2:], spread[1:], to_int(groups, "groups", where))
        out = part if out is None else core.add(out, part)
    out = out if bias is None else bias_add(out, bias)
    return core.transpose(core.reshape(out, (n, count) + tuple(out.shape[1:])), [0, 2, 1, 3, 4])


def _pool3d(kind: Callable, x: Tensor, kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int], where: str) -> Tensor:
    """Applies kind(images, kernel, stride, pads) over height and width, then over the depth."""
    _need_volume(x, where)
    n, c, d = x.shape[:3]
    flat = kind(core.reshape(x, (n * c, d) + tuple(x.shape[3:])), list(kernel[1:]), list(stride[1:]), list(pads[2:]))
    h, w = flat.shape[-2:]
    flat = kind(core.reshape(flat, (n * c, 1, d, h * w)), [kernel[0], 1], [stride[0], 1], list(pads[:2]) + [0, 0])
    return core.reshape(flat, (n, c, flat.shape[2], h, w))


def _mean_pool3d(x: Tensor, kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int], ceil_mode: bool, count_include_pad: bool,
                 divisor: int, where: str) -> Tensor:
    """Computes the means of windows, or with a divisor their sums divided by it."""
    if not divisor:
        return _pool3d(lambda v, k, s, p: core.avg_pool2d(v, k, s, p, ceil_mode, count_include_pad), x, kernel, stride, pads, where)
    _need_volume(x, where)
    padded = zeros_around(x, kernel, stride, pads, ceil_mode)  # so that every window has the same number of elements
    out = _pool3d(lambda v, k, s, p: core.avg_pool2d(v, k, s, p, False, True), padded, kernel, stride, [0] * 6, where)
    return core.mul(out, math.prod(kernel) / divisor)


def _max_pool3d_with_places(x: Tensor, kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int], ceil_mode: bool,
                            where: str) -> tuple:
    """Returns (maxima of windows, their int64 positions in the flat volume [d, h, w])."""
    _need_volume(x, where)
    n, c, d, h, w = x.shape
    flat, place = max_pool_with_places(core.reshape(x, (n * c, d, h, w)), list(kernel[1:]), list(stride[1:]), list(pads[2:]), ceil_mode)
    rows, columns = flat.shape[-2:]
    size = rows * columns
    column = core.reshape(flat, (n * c, 1, d, size))
    y, above = max_pool_with_places(column, [kernel[0], 1], [stride[0], 1], list(pads[:2]) + [0, 0], ceil_mode)
    depth = core.reshape(core.floor_div(above, size), (n * c, y.shape[2], size))  # positions of the second pass count [d, h'·w']
    place = core.add(core.mul(depth, h * w), core.gather_elements(core.reshape(place, (n * c, d, size)), depth, 1))
    shape = (n, c, y.shape[2], rows, columns)
    return core.reshape(y, shape), core.reshape(place, shape)


@rounded_once()
def conv3d_transpose(inputs: Tensor, weight: Tensor, pad_mode: str = "valid", padding: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1,
                     output_padding: Any = 0) -> Tensor:
    """Applies a transposed convolution to volumes: the gradient of `conv3d` with respect to its input.

    With "same" the sizes are those of the input times the stride; "valid" gives at least that.

    Args:
        inputs (Tensor): The volumes, [n, c, d, h, w].
        weight (Tensor): The weight, [c, o/group, kd, kh, kw].
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (int or sequence of ints): The padding for "pad"; see `conv3d`. Default: 0.
        stride (int or sequence of ints): The stride, one number or (depth, height, width). Default: 1.
        dilation (int or sequence of ints): The dilation, one number or (depth, height, width). Default: 1.
        group (int): The number of groups of channels. Default: 1.
        output_padding (int or sequence of ints): The number of rows added at the end for "pad", below the stride or
            the dilation. Default: 0.

    Returns:
        A tensor of shape [n, o, d', h', w'].

    Raises:
        ValueError: If the shapes are incompatible, or `output_padding` is too large or given for another mode than "pad".

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.conv3d_transpose(ms.ops.ones((1, 1, 1, 1, 1)), ms.ops.ones((1, 1, 2, 2, 2))).shape)
        (1, 1, 2, 2, 2)
    """
    where = "ops.conv3d_transpose"
    _need_volume(inputs, where)
    s, spread, kernel = _triple(stride, "stride", where), _triple(dilation, "dilation", where), weight.shape[2:]
    pads = volume_pads("valid" if pad_mode.lower() == "same" else pad_mode, padding, inputs.shape[2:], kernel, s, spread, where)
    extra: Sequence[int] = to_ints(output_padding, "output_padding", where)
    extra = list(extra) * 3 if len(extra) == 1 else list(extra)[-3:]
    if any(extra) and pad_mode.lower() != "pad":
        fail(ValueError, f"output_padding {output_padding!r} requires pad_mode 'pad'", where)
    if any(not 0 <= e < max(a, b) for e, a, b in zip(extra, s, spread)):
        fail(ValueError, f"output_padding {output_padding!r} must be at least 0 and below stride {stride!r} or dilation {dilation!r}", where)
    n, c, d, h, w = inputs.shape
    images = core.reshape(core.transpose(inputs, [0, 2, 1, 3, 4]), (n * d, c, h, w))
    whole: Any = None
    for k in range(kernel[0]):
        part = conv_transpose2d(images, core.squeeze(_depths(weight, k, 1, 1), 2), None, s[1:], 0, 0, group, spread[1:])
        part = core.reshape(part, (n, d, 1) + tuple(part.shape[1:]))
        part = core.reshape(core.pad(part, [0] * 4 + [0, s[0] - 1] + [0] * 6), (n, d * s[0]) + tuple(part.shape[3:]))
        behind = spread[0] * (kernel[0] - 1 - k) - (s[0] - 1)  # the zeros after the last slice belong to no window
        part = core.pad(part, [0, 0, k * spread[0], max(behind, 0)] + [0] * 6)
        part = core.slice(part, [0] * 5, [n, (d - 1) * s[0] + spread[0] * (kernel[0] - 1) + 1] + list(part.shape[2:]))
        whole = part if whole is None else core.add(whole, part)
    out = core.transpose(whole, [0, 2, 1, 3, 4])
    if pad_mode.lower() == "same":
        over = [out.shape[2 + i] - inputs.shape[2 + i] * s[i] for i in range(3)]
        pads = [v for o in over for v in (max(o, 0) // 2, o - max(o, 0) // 2)]
    elif pad_mode.lower() == "valid":  # as many rows as the windows need, also after a kernel shorter than the stride
        pads = [v for i in range(3) for v in (0, min(spread[i] * (kernel[i] - 1) + 1 - s[i], 0))]
    after = [pads[2 * i + 1] - extra[i] for i in range(3)]
    if min(after) < 0:
        out = core.pad(out, [0] * 4 + [v for a in after for v in (0, max(-a, 0))])
    end = [out.shape[2 + i] - max(after[i], 0) for i in range(3)]
    return core.slice(out, [0, 0] + pads[0::2], list(out.shape[:2]) + end)


def max_pool3d(x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Any:
    """Computes the maxima of windows of volumes [n, c, d, h, w].

    Args:
        x (Tensor): The volumes.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding; it does not count. Default: 0.
        dilation (int or sequence of ints): Must be 1. Default: 1.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions in the flat volume).

    Raises:
        ValueError: If `dilation` is not 1 or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.max_pool3d(ms.ops.ones((1, 1, 2, 2, 2)), 2))
        [[[[[1.]]]]]
    """
    where = "ops.max_pool3d"
    if _triple(dilation, "dilation", where) != [1, 1, 1]:
        fail(ValueError, f"dilation {dilation!r} is not supported", where, "use dilation=1")
    kernel = _triple(kernel_size, "kernel_size", where)
    step = kernel if stride is None else _triple(stride, "stride", where)
    pads = volume_pads("pad", padding, (), (), (), (), where)
    if return_indices:
        return _max_pool3d_with_places(x, kernel, step, pads, ceil_mode, where)
    return _pool3d(lambda v, k, s, p: core.max_pool2d(v, k, s, p, ceil_mode), x, kernel, step, pads, where)


@rounded_once()
def avg_pool3d(input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int = 0) -> Tensor:
    """Computes the means of windows of volumes [n, c, d, h, w].

    Args:
        input_x (Tensor): The volumes.
        kernel_size (int or sequence of ints): The window. Default: 1.
        stride (int or sequence of ints): The step of the windows. Default: 1.
        padding (int or sequence of ints): The padding with zeros. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.
        divisor_override (int): A divisor of the sums; 0 divides by the size of the window. Default: 0.

    Returns:
        The means.

    Raises:
        TypeError: If `divisor_override` is not an int.
        ValueError: If `divisor_override` is negative or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.avg_pool3d(ms.ops.ones((1, 1, 2, 2, 2)), 2))
        [[[[[1.]]]]]
    """
    where = "ops.avg_pool3d"
    kernel, pads = _triple(kernel_size, "kernel_size", where), volume_pads("pad", padding, (), (), (), (), where)
    return _mean_pool3d(input_x, kernel, _triple(stride, "stride", where), pads, ceil_mode, count_include_pad,
                        need_divisor(divisor_override, where), where)


def _lead(x: Tensor, where: str) -> tuple:
    if len(x.shape) not in (4, 5):
        fail(ValueError, f"expected [n, c, d, h, w] or [c, d, h, w], got {x.shape}", where)
    return tuple(x.shape[:-3])


@rounded_once()
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Computes the means over windows that cover volumes [n, c, d, h, w] or [c, d, h, w] evenly.

    Args:
        input (Tensor): The volumes.
        output_size (int or sequence of ints): The size, one for all dimensions or three; None keeps a dimension's
            size.

    Returns:
        A tensor of that size.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1 or the shape is incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adaptive_avg_pool3d(ms.ops.ones((1, 1, 4, 4, 4)), 2).shape)
        (1, 1, 2, 2, 2)
    """
    where = "ops.adaptive_avg_pool3d"
    lead, (depth, height, width) = _lead(input, where), adaptive_sizes(output_size, input.shape[-3:], where)
    planes = core.adaptive_avg_pool2d(core.reshape(input, (1, -1) + tuple(input.shape[-2:])), height, width)
    columns = core.reshape(planes, (1, -1, input.shape[-3], height * width))
    return core.reshape(core.adaptive_avg_pool2d(columns, depth, height * width), lead + (depth, height, width))


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Computes the maxima over windows that cover volumes [n, c, d, h, w] or [c, d, h, w] evenly.

    Args:
        input (Tensor): The volumes.
        output_size (int or sequence of ints): The size, one for all dimensions or three; None keeps a dimension's
            size.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Returns:
        The maxima, or (maxima, int32 positions in the flat volume).

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1 or the shape is incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adaptive_max_pool3d(ms.ops.ones((1, 1, 4, 4, 4)), 2).shape)
        (1, 1, 2, 2, 2)
    """
    where = "ops.adaptive_max_pool3d"
    _lead(input, where)
    y, places = adaptive_max_pool(input, adaptive_sizes(output_size, input.shape[-3:], where), return_indices, where)
    return (y, core.cast(places, mstype.int32)) if return_indices else y


__all__ = exported(globals())
