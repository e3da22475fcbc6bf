"""Convolutions of mindspore.mint.nn.functional with PyTorch's arguments: padding is one number per dimension, 'same' or
'valid'; the batch dimension may be missing.
"""
from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence

from sindri import ops
from sindri._check import check_choice, fail
from sindri.common.tensor import Tensor
from sindri.ops._util import core, to_int, to_ints, transposed_conv2d


def numbers(value: Any, count: int, name: str, where: str, least: int) -> List[int]:
    """Returns `count` ints from one or from `count` of them, each at least `least`. Raises TypeError or ValueError."""
    values = to_ints(value, name, where)
    values = values * count if len(values) == 1 else values
    if len(values) != count or min(values) < least:
        fail(ValueError, f"{name}: expected an int or {count} of them, at least {least}, got {value!r}", where)
    return list(values)


def pads_of(padding: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int], where: str) -> List[int]:
    """Returns (before, after) for every dimension; the odd zero of 'same' is added after. Raises ValueError for 'same'
    with a stride other than 1.
    """
    if not isinstance(padding, str):
        return [p for v in numbers(padding, len(kernel), "padding", where, 0) for p in (v, v)]
    check_choice(where, "padding", padding, ("same", "valid"))
    if padding == "valid":
        return [0] * (2 * len(kernel))
    if any(s != 1 for s in stride):
        fail(ValueError, f"padding 'same' goes with stride 1, got stride {tuple(stride)}", where, "give the padding as numbers")
    totals = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return [p for t in totals for p in (t // 2, t - t // 2)]


def in_batch(fn: Callable[[Tensor], Tensor], x: Tensor, dims: int, where: str) -> Tensor:
    """Applies fn to [n, c, ...] with `dims` dimensions after the channels; [c, ...] becomes a batch of one. Raises
    ValueError for another rank.
    """
    rank = len(x.shape)
    if rank == dims + 2:
        return fn(x)
    if rank != dims + 1:
        fail(ValueError, f"the input must have {dims + 1} or {dims + 2} dimensions, got shape {tuple(x.shape)}", where)
    return core.squeeze(fn(core.expand_dims(x, 0)), 0)


def _check_weight(weight: Tensor, dims: int, where: str) -> None:
    if len(weight.shape) != dims + 2:
        fail(ValueError, f"the weight must have {dims + 2} dimensions, got shape {tuple(weight.shape)}", where)


def _with_bias(out: Tensor, bias: Optional[Tensor]) -> Tensor:
    return out if bias is None else core.add(out, core.reshape(bias, (1, -1) + (1,) * (len(out.shape) - 2)))


def conv2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Computes the cross-correlation of images with a weight, plus bias.

    Args:
        input (Tensor): The input, [n, c, h, w] or [c, h, w].
        weight (Tensor): The weight, [o, c/groups, kh, kw].
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int, sequence of ints or str): The padding at both ends of each dimension, "same" (stride 1 only) or
            "valid". Default: 0.
        dilation (int or sequence of ints): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape [n, o, h', w'] or [o, h', w'].

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.conv2d(ms.ops.ones((1, 1, 3, 3)), ms.ops.ones((1, 1, 2, 2))))
        [[[[4. 4.]
           [4. 4.]]]]
    """
    where = "mint.nn.functional.conv2d"
    _check_weight(weight, 2, where)
    s, d = numbers(stride, 2, "stride", where, 1), numbers(dilation, 2, "dilation", where, 1)
    pads = pads_of(padding, weight.shape[2:], s, d, where)
    return in_batch(lambda x: _with_bias(core.conv2d(x, weight, s, pads, d, to_int(groups, "groups", where)), bias), input, 2, where)


def conv1d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Computes the cross-correlation of sequences with a weight, plus bias.

    Args:
        input (Tensor): The input, [n, c, l] or [c, l].
        weight (Tensor): The weight, [o, c/groups, k].
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int, sequence of ints or str): The padding at both ends of each dimension, "same" (stride 1 only) or
            "valid". Default: 0.
        dilation (int or sequence of ints): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape [n, o, l'] or [o, l'].

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.conv1d(ms.ops.ones((1, 1, 4)), ms.ops.ones((1, 1, 2))))
        [[[2. 2. 2.]]]
    """
    where = "mint.nn.functional.conv1d"
    _check_weight(weight, 1, where)
    s, d = numbers(stride, 1, "stride", where, 1), numbers(dilation, 1, "dilation", where, 1)
    pads = [0, 0] + pads_of(padding, weight.shape[2:], s, d, where)

    def run(x: Tensor) -> Tensor:
        out = core.conv2d(core.expand_dims(x, 2), core.expand_dims(weight, 2), [1] + s, pads, [1] + d, to_int(groups, "groups", where))
        return core.squeeze(_with_bias(out, bias), 2)
    return in_batch(run, input, 1, where)


def conv3d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Computes the cross-correlation of volumes with a weight, plus bias.

    Args:
        input (Tensor): The input, [n, c, d, h, w] or [c, d, h, w].
        weight (Tensor): The weight, [o, c/groups, kd, kh, kw].
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int, sequence of ints or str): The padding at both ends of each dimension, "same" (stride 1 only) or
            "valid". Default: 0.
        dilation (int or sequence of ints): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape [n, o, d', h', w'] or [o, d', h', w'].

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.conv3d(ms.ops.ones((1, 1, 2, 2, 2)), ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[8.]]]]]
    """
    where = "mint.nn.functional.conv3d"
    _check_weight(weight, 3, where)
    s, d = numbers(stride, 3, "stride", where, 1), numbers(dilation, 3, "dilation", where, 1)
    pads = pads_of(padding, weight.shape[2:], s, d, where)
    return in_batch(lambda x: ops.conv3d(x, weight, bias, tuple(s), "pad", tuple(pads), tuple(d), groups), input, 3, where)


def conv_transpose2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     groups: int = 1, dilation: Any = 1) -> Tensor:
    """Applies a transposed convolution to images.

    The height of the result is (h - 1)*stride - 2*padding + dilation*(kh - 1) + output_padding + 1; the width
    likewise.

    Args:
        input (Tensor): The input, [n, c, h, w] or [c, h, w].
        weight (Tensor): The weight, [c, o/groups, kh, kw].
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int or sequence of ints): The number of rows and columns cut off at each edge. Default: 0.
        output_padding (int or sequence of ints): The number of rows and columns added at the end, below the stride or
            the dilation. Default: 0.
        groups (int): The number of groups of channels. Default: 1.
        dilation (int or sequence of ints): The dilation. Default: 1.

    Returns:
        A tensor of shape [n, o, h', w'] or [o, h', w'].

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.conv_transpose2d(ms.ops.ones((1, 1, 2, 2)), ms.ops.ones((1, 1, 2, 2))))
        [[[[1. 2. 1.]
           [2. 4. 2.]
           [1. 2. 1.]]]]
    """
    where = "mint.nn.functional.conv_transpose2d"
    _check_weight(weight, 2, where)
    s, d = numbers(stride, 2, "stride", where, 1), numbers(dilation, 2, "dilation", where, 1)
    extra, p = numbers(output_padding, 2, "output_padding", where, 0), numbers(padding, 2, "padding", where, 0)
    if any(e >= max(a, b) for e, a, b in zip(extra, s, d)):
        fail(ValueError, f"output_padding {tuple(extra)} must be below stride {tuple(s)} or dilation {tuple(d)}", where)
    pads, count = [p[0], p[0], p[1], p[1]], to_int(groups, "groups", where)
    return in_batch(lambda x: _with_bias(transposed_conv2d(x, weight, s, pads, extra, d, count), bias), input, 2, where)
