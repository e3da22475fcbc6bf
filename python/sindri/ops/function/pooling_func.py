"""Functions of sindri.ops that pool windows of signals and images [n, c, …], and that extract the windows."""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from sindri import _core
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, adaptive_sizes, check_parts, core, exported, need_divisor, pair, rounded_once, to_ints, zeros_around
from sindri.ops.function.index_func import tensor_scatter_elements
from sindri.ops.function.nn_func import in_nchw, spatial_pads


def pool(kind: Callable, x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str, where: str, pad: Any = 0) -> Tensor:
    """Pools images as the primitives MaxPool and AvgPool name the arguments.

    Args:
        kind (Callable): A function of (images, kernel, stride, pads).
        x (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        strides (int or sequence of ints): The step of the windows.
        pad_mode (str): "valid", "same" or "pad".
        data_format (str): "NCHW" or "NHWC".
        where (str): The name of the function, for messages.
        pad (int or sequence of ints): The padding for "pad". Default: 0.

    Returns:
        The pooled images.

    Raises:
        ValueError: If the shapes are incompatible or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> kind = lambda images, kernel, stride, pads: ms.ops.max_pool2d(images, kernel, stride, pads)
        >>> print(ms.ops.function.pool(kind, ms.ops.ones((1, 1, 4, 4)), 2, 2, "valid", "NCHW", "example").shape)
        (1, 1, 2, 2)
    """
    kernel, stride = pair(kernel_size, "kernel_size", where), pair(strides, "strides", where)

    def run(image: Tensor) -> Tensor:
        if len(image.shape) != 4:
            fail(ValueError, f"expected 4 dimensions, got {image.shape}", where)
        return kind(image, kernel, stride, spatial_pads(pad_mode, pad, image.shape[2:], kernel, stride, (1, 1), where))
    return in_nchw(run, x, data_format, where)


def _window(kernel_size: Any, stride: Any, padding: Any, where: str) -> tuple:
    kernel = pair(kernel_size, "kernel_size", where)
    stride = kernel if stride is None else pair(stride, "stride", where)
    pads = spatial_pads("pad", padding, (), (), (), (), where)
    if max(*kernel, *stride, *pads) >= 2 ** 31:
        fail(ValueError, f"kernel_size {kernel}, stride {stride} and padding {pads} must be below 2³¹", where)
    return kernel, stride, pads


def max_pool2d(x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
               ceil_mode: bool = False):
    """Computes the maxima of windows of images [n, c, h, w].

    Args:
        x (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding; it does not count. Default: 0.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions in the flat image).

    Raises:
        ValueError: If the window does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.max_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[4.]]]]
    """
    kernel, stride, pads = _window(kernel_size, stride, padding, "ops.max_pool2d")
    spread = pair(dilation, "dilation", "ops.max_pool2d")
    if spread != [1, 1]:
        return dilated_max_pool(x, kernel, stride, pads, ceil_mode, spread, return_indices)
    if not return_indices:
        return core.max_pool2d(x, kernel, stride, pads, ceil_mode)
    return max_pool_with_places(x, kernel, stride, pads, ceil_mode)


def max_pool_with_places(x: Tensor, kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int], ceil_mode: bool = False) -> tuple:
    """Computes the maxima of windows of images and their positions. The engine stores positions inside the window.

    Args:
        x (Tensor): The images, [n, c, h, w].
        kernel (sequence of ints): The window.
        stride (sequence of ints): The step of the windows.
        pad (sequence of ints): The padding, (top, bottom, left, right).
        ceil_mode (bool): Whether partial windows at the end count. Default: False.

    Returns:
        (maxima, int64 positions in the flat image).

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.function.max_pool_with_places(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), [2, 2], [2, 2], [0, 0, 0, 0]))
        [[[[4.]]]] [[[[3]]]]
    """
    y, place = _core.run_op("max_pool2d", [x], {"kernel": kernel, "stride": stride, "pad": pad, "ceil_mode": ceil_mode})
    place = core.cast(place, mstype.int64)
    row = core.reshape(core.sub(core.mul(core.arange(0, y.shape[2]), stride[0]), pad[0]), (-1, 1))
    column = core.sub(core.mul(core.arange(0, y.shape[3]), stride[1]), pad[2])
    row, column = core.add(row, core.floor_div(place, kernel[1])), core.add(column, core.mod(place, kernel[1]))
    return y, core.add(core.mul(row, x.shape[3]), column)


def dilated_max_pool(x: Tensor, kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int], ceil_mode: bool, dilation: Sequence[int],
                     places: bool = False) -> Any:
    """Computes the maxima of windows whose elements are `dilation` apart, by one strided slice per element.

    Args:
        x (Tensor): The images, [n, c, h, w].
        kernel (sequence of ints): The window.
        stride (sequence of ints): The step of the windows.
        pad (sequence of ints): The padding, (top, bottom, left, right).
        ceil_mode (bool): Whether partial windows at the end count.
        dilation (sequence of ints): The distance of a window's elements.
        places (bool): Whether to return the positions in the flat image too, the first of equal ones. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions).

    Raises:
        ValueError: If the window does not fit the images.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.dilated_max_pool(ms.Tensor([[[[1.0, 2.0, 3.0]]]]), [1, 2], [1, 1], [0, 0, 0, 0], False, [1, 2]))
        [[[[3.]]]]
    """
    where, ends = "ops.max_pool2d", list(pad)
    for i, size in enumerate(x.shape[2:]):
        reach, whole = dilation[i] * (kernel[i] - 1) + 1, size + pad[2 * i] + pad[2 * i + 1]
        if reach > whole:
            fail(ValueError, f"a kernel of {list(kernel)} with dilation {list(dilation)} does not fit {x.shape}", where)
        rest = (whole - reach) % stride[i]
        if ceil_mode and rest and (whole - reach) // stride[i] * stride[i] + stride[i] < size + pad[2 * i]:  # no window starts after the image
            ends[2 * i + 1] += stride[i] - rest
    padded = core.pad(x, [0, 0, 0, 0] + ends, -math.inf)
    taken = windows(padded, kernel, stride, dilation, 0, where)
    n, c, kh, kw, oh, ow = taken.shape
    flat = core.reshape(taken, (n, c, kh * kw, oh, ow))
    y = core.max(flat, [2])
    if not places:
        return y
    place = core.cast(core.argmax(flat, 2), mstype.int64)
    row = core.reshape(core.sub(core.mul(core.arange(0, oh), stride[0]), pad[0]), (-1, 1))
    column = core.sub(core.mul(core.arange(0, ow), stride[1]), pad[2])
    row = core.add(row, core.mul(core.floor_div(place, kw), dilation[0]))
    return y, core.add(core.mul(row, x.shape[3]), core.add(column, core.mul(core.mod(place, kw), dilation[1])))


def avg_pool2d(input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int = 0) -> Tensor:
    """Computes the means of windows of images [n, c, h, w].

    Args:
        input_x (Tensor): The images.
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
        ValueError: If `divisor_override` is negative or the window does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.avg_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[2.5]]]]
    """
    kernel, stride, pads = _window(kernel_size, stride, padding, "ops.avg_pool2d")
    divisor = need_divisor(divisor_override, "ops.avg_pool2d")
    if not divisor:
        return core.avg_pool2d(input_x, kernel, stride, pads, ceil_mode, count_include_pad)
    out = core.avg_pool2d(zeros_around(input_x, kernel, stride, pads, ceil_mode), kernel, stride, [0, 0, 0, 0], False, True)
    return core.mul(out, kernel[0] * kernel[1] / divisor)


def _as_images(fn: Callable, x: Tensor) -> Tensor:
    """Applies fn to [n, c, 1, l] for signals [n, c, l] or [c, l]."""
    return core.squeeze(fn(core.expand_dims(x, -2)), -2) if len(x.shape) == 3 else _as_images(fn, core.expand_dims(x, 0))[0]


def avg_pool1d(input_x: Tensor, kernel_size: int = 1, stride: int = 1, padding: int = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Tensor:
    """Computes the means of windows of signals [n, c, l] or [c, l].

    Args:
        input_x (Tensor): The signals.
        kernel_size (int): The window. Default: 1.
        stride (int): The step of the windows. Default: 1.
        padding (int): The padding with zeros at both ends. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.

    Returns:
        The means.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.avg_pool1d(ms.Tensor([[[1.0, 2.0, 3.0]]]), 2))
        [[[1.5 2.5]]]
    """
    k, s, p = (to_ints(v, n, "ops.avg_pool1d")[0] for v, n in ((kernel_size, "kernel_size"), (stride, "stride"), (padding, "padding")))
    return _as_images(lambda x: core.avg_pool2d(x, [1, k], [1, s], [0, 0, p, p], ceil_mode, count_include_pad), input_x)


def max_pool1d(x: Tensor, kernel_size: int, stride: Optional[int] = None, padding: int = 0, ceil_mode: bool = False) -> Tensor:
    """Computes the maxima of windows of signals [n, c, l] or [c, l].

    Args:
        x (Tensor): The signals.
        kernel_size (int): The window.
        stride (int): The step of the windows; None means `kernel_size`. Default: None.
        padding (int): The padding at both ends; it does not count. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.

    Returns:
        The maxima.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.max_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2))
        [[[2. 4.]]]
    """
    k = to_ints(kernel_size, "kernel_size", "ops.max_pool1d")[0]
    s = k if stride is None else to_ints(stride, "stride", "ops.max_pool1d")[0]
    return _as_images(lambda image: core.max_pool2d(image, [1, k], [1, s], [0, 0, padding, padding], ceil_mode), x)


def _with_batch(fn: Callable, x: Tensor) -> Tensor:
    return fn(core.expand_dims(x, 0))[0] if len(x.shape) == 3 else fn(x)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Computes the means over oh x ow windows that cover images [n, c, h, w] or [c, h, w].

    Args:
        input (Tensor): The images.
        output_size (int or sequence of ints): The size, one for both dimensions or (oh, ow); None keeps a dimension's
            size.

    Returns:
        A tensor of that size.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adaptive_avg_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[2.5]]]]
    """
    oh, ow = adaptive_sizes(output_size, input.shape[-2:], "ops.adaptive_avg_pool2d")
    return _with_batch(lambda x: core.adaptive_avg_pool2d(x, oh, ow), input)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Tensor:
    """Computes the maxima over oh x ow windows that cover images [n, c, h, w] or [c, h, w].

    Args:
        input (Tensor): The images.
        output_size (int or sequence of ints): The size, one for both dimensions or (oh, ow); None keeps a dimension's
            size.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Returns:
        The maxima, or (maxima, int64 positions in the flat image).

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adaptive_max_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[4.]]]]
    """
    where = "ops.adaptive_max_pool2d"
    y, places = adaptive_max_pool(input, adaptive_sizes(output_size, input.shape[-2:], where), return_indices, where)
    return (y, places) if return_indices else y


def adaptive_max_pool(x: Tensor, counts: Sequence[int], places: bool, where: str) -> Tuple[Tensor, Optional[Tensor]]:
    """Computes the maxima over windows that cover the last dimensions evenly, and their positions.

    The dimensions are reduced one by one from the last, so that the first of equal elements is found. Positions count
    through these dimensions.

    Args:
        x (Tensor): The input.
        counts (sequence of ints): The number of windows per dimension.
        places (bool): Whether to return positions.
        where (str): The name of the function, for messages.

    Returns:
        (maxima, int64 positions or None).

    Raises:
        ValueError: If there are more windows than elements.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.function.adaptive_max_pool(ms.Tensor([[1.0, 4.0, 2.0, 3.0]]), [2], True, "example"))
        [[4. 3.]] [[1 3]]
    """
    rank, sizes, found = len(x.shape), x.shape[-len(counts):], None
    for k in reversed(range(len(counts))):
        count, size, d = counts[k], sizes[k], rank - len(counts) + k
        check_parts(count, x, where)
        step = math.prod(sizes[k + 1:])
        values, at = [], []
        for i in range(count):
            lo, hi = i * size // count, -(-(i + 1) * size // count)
            begin, end = [0] * rank, list(x.shape)
            begin[d], end[d] = lo, hi
            part = core.slice(x, begin, end)
            values.append(core.max(part, [d], True))
            if places:
                index = core.cast(core.argmax(part, d, True), mstype.int64)
                place = core.mul(core.add(index, lo), step)
                if found is not None:
                    place = core.add(place, core.gather_elements(core.slice(found, begin, end), index, d))
                at.append(place)
        x, found = core.concat(values, d), core.concat(at, d) if places else None
    return x, found


def _max_unpool(x: Tensor, indices: Tensor, settings: Sequence[Any], output_size: Any, rank: int, where: str) -> Tensor:
    """Returns zeros with the elements of x at their positions, which are flat over the last rank dimensions. settings:
    kernel_size, stride, padding.
    """
    kernel, stride, pads = (list(v) * rank if len(v) == 1 else list(v) for v in (to_ints(s, "kernel_size, stride or padding", where) for s in settings))
    if len(x.shape) not in (rank + 1, rank + 2) or indices.shape != x.shape or not len(kernel) == len(stride) == len(pads) == rank:
        fail(ValueError, f"expected {rank + 1} or {rank + 2} dimensions, as many indices, and {rank} numbers each, got {x.shape}, {indices.shape}, {settings}",
             where)
    if min(*kernel, *stride) < 1 or min(pads) < 0:
        fail(ValueError, f"kernel_size {kernel} and stride {stride} must be at least 1, padding {pads} at least 0", where)
    size = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[-rank:], stride, pads, kernel)]
    if output_size:
        wanted = to_ints(output_size, "output_size", where)[-rank:]
        if len(wanted) != rank or any(abs(w - n) >= s for w, n, s in zip(wanted, size, stride)):
            fail(ValueError, f"output_size {output_size} is not within {stride} of {size}", where)
        size = list(wanted)
    if min(size) < 1:
        fail(ValueError, f"nothing is left of {x.shape} with kernel_size {kernel}, stride {stride} and padding {pads}", where)
    lead = x.shape[:-rank]
    rows = (math.prod(lead), math.prod(x.shape[-rank:]))
    out = tensor_scatter_elements(core.full((rows[0], math.prod(size)), 0.0, x.dtype), core.reshape(indices, rows), core.reshape(x, rows), 1)
    return core.reshape(out, lead + tuple(size))


def max_unpool1d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Optional[tuple] = None) -> Tensor:
    """Writes maxima of [n, c, l] or [c, l] back to their positions; all other elements are 0.

    Args:
        x (Tensor): The maxima.
        indices (Tensor): Their positions.
        kernel_size (int): The window of the pooling.
        stride (int): Its stride; None means `kernel_size`. Default: None.
        padding (int): Its padding. Default: 0.
        output_size (tuple): The size of the result, if pooling dropped elements; it may differ from the computed one
            by less than the stride. Default: None.

    Returns:
        A tensor of the size before pooling.

    Raises:
        ValueError: If the shapes or sizes are incompatible, or a position is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.max_unpool1d(ms.Tensor([[[2.0, 4.0]]]), ms.Tensor([[[1, 3]]]), 2))
        [[[0. 2. 0. 4.]]]
    """
    return _max_unpool(x, indices, (kernel_size, kernel_size if stride is None else stride, padding), output_size, 1, "ops.max_unpool1d")


def max_unpool2d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Optional[tuple] = None) -> Tensor:
    """Writes maxima of [n, c, h, w] or [c, h, w] back to their positions in the flat image; see `max_unpool1d`.

    Args:
        x (Tensor): The maxima.
        indices (Tensor): Their positions.
        kernel_size (int or sequence of ints): The window of the pooling.
        stride (int or sequence of ints): Its stride; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): Its padding. Default: 0.
        output_size (tuple): The size of the result, if pooling dropped elements. Default: None.

    Returns:
        A tensor of the size before pooling.

    Raises:
        ValueError: If the shapes or sizes are incompatible, or a position is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.max_unpool2d(ms.Tensor([[[[4.0]]]]), ms.Tensor([[[[3]]]]), 2))
        [[[[0. 0.]
           [0. 4.]]]]
    """
    return _max_unpool(x, indices, (kernel_size, kernel_size if stride is None else stride, padding), output_size, 2, "ops.max_unpool2d")


def max_unpool3d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Optional[tuple] = None) -> Tensor:
    """Writes maxima of [n, c, d, h, w] or [c, d, h, w] back to their positions in the flat volume; see `max_unpool1d`.

    Args:
        x (Tensor): The maxima.
        indices (Tensor): Their positions.
        kernel_size (int or sequence of ints): The window of the pooling.
        stride (int or sequence of ints): Its stride; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): Its padding. Default: 0.
        output_size (tuple): The size of the result, if pooling dropped elements. Default: None.

    Returns:
        A tensor of the size before pooling.

    Raises:
        ValueError: If the shapes or sizes are incompatible, or a position is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.max_unpool3d(ms.Tensor([[[[[4.0]]]]]), ms.Tensor([[[[[7]]]]]), 2).shape)
        (1, 1, 2, 2, 2)
    """
    return _max_unpool(x, indices, (kernel_size, kernel_size if stride is None else stride, padding), output_size, 3, "ops.max_unpool3d")


def adaptive_avg_pool1d(input: Tensor, output_size: int) -> Tensor:
    """Computes the means over output_size windows that cover signals [n, c, l] or [c, l].

    Args:
        input (Tensor): The signals.
        output_size (int): The size.

    Returns:
        A tensor of that size.

    Raises:
        ValueError: If `output_size` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adaptive_avg_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2))
        [[[1.5 3.5]]]
    """
    return _as_images(lambda x: adaptive_avg_pool2d(x, (1, to_ints(output_size, "output_size", "ops.adaptive_avg_pool1d")[0])), input)


def adaptive_max_pool1d(input: Tensor, output_size: int) -> Tensor:
    """Computes the maxima over output_size windows that cover signals [n, c, l] or [c, l].

    Args:
        input (Tensor): The signals.
        output_size (int): The size.

    Returns:
        A tensor of that size.

    Raises:
        ValueError: If `output_size` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.adaptive_max_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2))
        [[[2. 4.]]]
    """
    return _as_images(lambda x: adaptive_max_pool2d(x, (1, output_size)), input)


@rounded_once()
def _lp_pool(x: Tensor, norm_type: Union[int, float], kernel: Sequence[int], stride: Sequence[int], ceil_mode: bool) -> Tensor:
    """Computes (sum of x^norm_type)^(1/norm_type) over windows of [n, c, h, w].

    Windows cut by the border count as whole ones with the mean of their elements. Where the sum is 0, so is the
    gradient.
    """
    p = float(norm_type)
    powers = core.power_or_zero(x, p) if p > 0 else core.pow(x, p)
    total = core.mul(core.avg_pool2d(powers, list(kernel), list(stride), [0, 0, 0, 0], ceil_mode, False), float(math.prod(kernel)))
    return core.power_or_zero(total, 1 / p)


def _norm_window(norm_type: Any, kernel: Sequence[int], stride: Sequence[int], where: str) -> None:
    if not isinstance(norm_type, (int, float)) or isinstance(norm_type, bool):
        fail(TypeError, f"norm_type: expected a number, got {norm_type!r}", where)
    if norm_type == 0 or min(*kernel, *stride) < 1:
        fail(ValueError, f"norm_type {norm_type} must not be 0, kernel_size {kernel} and stride {stride} must be at least 1", where)


def lp_pool1d(x: Tensor, norm_type: Union[int, float], kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """Computes (sum of x^norm_type)^(1/norm_type) over windows of signals [n, c, l] or [c, l].

    Args:
        x (Tensor): The signals.
        norm_type (number): The exponent, not 0.
        kernel_size (int): The window.
        stride (int): The step of the windows; None means `kernel_size`. Default: None.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.

    Returns:
        The norms.

    Raises:
        TypeError: If `norm_type` is not a number.
        ValueError: If `norm_type` is 0, or the window or stride is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lp_pool1d(ms.Tensor([[[3.0, 4.0]]]), 2, 2))
        [[[5.]]]
    """
    k = to_ints(kernel_size, "kernel_size", "ops.lp_pool1d")[0]
    s = k if stride is None else to_ints(stride, "stride", "ops.lp_pool1d")[0]
    _norm_window(norm_type, [k], [s], "ops.lp_pool1d")
    return _as_images(lambda image: _lp_pool(image, norm_type, [1, k], [1, s], ceil_mode), x)


def lp_pool2d(x: Tensor, norm_type: Union[int, float], kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """Computes (sum of x^norm_type)^(1/norm_type) over windows of images [n, c, h, w] or [c, h, w].

    Args:
        x (Tensor): The images.
        norm_type (number): The exponent, not 0.
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.

    Returns:
        The norms.

    Raises:
        TypeError: If `norm_type` is not a number.
        ValueError: If `norm_type` is 0, or the window or stride is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lp_pool2d(ms.Tensor([[[[3.0, 4.0]]]]), 2, (1, 2)))
        [[[[5.]]]]
    """
    kernel = pair(kernel_size, "kernel_size", "ops.lp_pool2d")
    step = kernel if stride is None else pair(stride, "stride", "ops.lp_pool2d")
    _norm_window(norm_type, kernel, step, "ops.lp_pool2d")
    return _with_batch(lambda image: _lp_pool(image, norm_type, kernel, step, ceil_mode), x)


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Extracts every window of images as a column: [n, c, h, w] -> [n, c·kh·kw, l].

    Args:
        input (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        padding (int or sequence of ints): The padding with zeros. Default: 0.
        stride (int or sequence of ints): The step of the windows. Default: 1.

    Returns:
        The columns.

    Raises:
        ValueError: If the window does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.unfold(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), (1, 2)))
        [[[1. 3.]
          [2. 4.]]]
    """
    patches = windows(input, kernel_size, stride, dilation, padding, "ops.unfold")
    n, c, kh, kw, oh, ow = patches.shape
    return core.reshape(patches, (n, c * kh * kw, oh * ow))


def windows(x: Tensor, kernel_size: Any, stride: Any, dilation: Any, padding: Any, where: str) -> Tensor:
    """Extracts windows of images by one strided slice per position of the kernel.

    Args:
        x (Tensor): The images, [n, c, h, w].
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows.
        dilation (int or sequence of ints): The distance of a window's elements.
        padding (int or sequence of ints): The padding with zeros.
        where (str): The name of the function, for messages.

    Returns:
        A tensor of shape [n, c, kh, kw, oh, ow].

    Raises:
        ValueError: If the window does not fit the images.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.windows(ms.ops.ones((1, 1, 4, 4)), 2, 2, 1, 0, "example").shape)
        (1, 1, 2, 2, 2, 2)
    """
    k, s, d = pair(kernel_size, "kernel_size", where), pair(stride, "stride", where), pair(dilation, "dilation", where)
    if min(*k, *s, *d) < 1:
        fail(ValueError, f"kernel_size {k}, stride {s} and dilation {d} must be at least 1", where)
    x = core.pad(x, [0, 0, 0, 0] + spatial_pads("pad", padding, (), (), (), (), where))
    n, c, h, w = x.shape
    oh, ow = ((size - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i, size in enumerate((h, w)))
    if oh < 1 or ow < 1:
        fail(ValueError, f"a kernel of {k} with dilation {d} does not fit {x.shape}", where)
    check_parts(k[0] * k[1], x, where)
    parts = [core.slice(x, [0, 0, i * d[0], j * d[1]], [n, c, i * d[0] + (oh - 1) * s[0] + 1, j * d[1] + (ow - 1) * s[1] + 1], [1, 1, s[0], s[1]])
             for i in range(k[0]) for j in range(k[1])]
    return core.reshape(core.stack(parts, 2), (n, c, k[0], k[1], oh, ow))


__all__ = exported(globals())
