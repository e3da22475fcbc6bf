"""Functions of sindri.ops that pad and resize images."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import MOST_WINDOWS, Size, Tensor, core, exported, is_long, rounded_once, to_ints
from sindri.ops.function.pooling_func import adaptive_avg_pool1d, adaptive_avg_pool2d


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Union[None, int, float] = None) -> Tensor:
    """Pads dimensions, from the last one on.

    Negative numbers remove elements (mode "constant" only).

    Args:
        input_x (Tensor): The tensor.
        padding (sequence of ints): (before, after) per dimension, the last dimension first: (left, right, top,
            bottom, …).
        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".
        value (number): The value for "constant"; None means 0. Default: None.

    Returns:
        The padded tensor.

    Raises:
        ValueError: If `padding` does not fit, removes more than there is or leaves nothing, or `mode` is another
            string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.pad(ms.Tensor([1, 2, 3]), (1, 2)))
        [0 1 2 3 0 0]
        >>> print(ms.ops.pad(ms.Tensor([1, 2, 3]), (1, 1), mode="reflect"))
        [2 1 2 3 2]
    """
    where = "ops.pad"
    check_choice(where, "mode", mode, ("constant", "reflect", "replicate", "circular"))
    flat = to_ints(padding, "padding", where)
    rank = len(input_x.shape)
    if len(flat) % 2 or len(flat) > 2 * rank:
        fail(ValueError, f"padding {flat} does not fit {input_x.shape}", where, "give (before, after) per dimension, the last dimension first")
    if value is not None and mode != "constant":
        fail(ValueError, f"value goes with mode 'constant', not with '{mode}'", where)
    pads = [0] * (2 * rank)
    for i in range(len(flat) // 2):
        d = rank - 1 - i
        pads[2 * d], pads[2 * d + 1] = flat[2 * i], flat[2 * i + 1]
    if mode == "circular":
        return _pad_circular(input_x, pads)
    if min(flat, default=0) < 0:
        if mode != "constant":
            fail(ValueError, f"negative padding {flat} goes with mode 'constant'", where)
        for size, before, after in zip(input_x.shape, pads[0::2], pads[1::2]):
            if min(before, after) < -size or size + before + after < 1:
                fail(ValueError, f"padding {flat} cuts more than there is of {input_x.shape}", where, "leave at least one element")
        begin = [max(0, -pads[2 * d]) for d in range(rank)]
        end = [input_x.shape[d] - max(0, -pads[2 * d + 1]) for d in range(rank)]
        input_x, pads = core.slice(input_x, begin, end), [max(0, p) for p in pads]
    return _padded(input_x, pads, value or 0, {"replicate": "edge"}.get(mode, mode))


def _padded(x: Tensor, pads: Sequence[int], value: Union[int, float], mode: str) -> Tensor:
    """Calls core.pad, whose constant is a float. An integer that a float would round is handled by shifting x, which
    int64 does without loss.
    """
    if is_long(value) and mode == "constant" and x.dtype is mstype.int64:
        return core.add(core.pad(core.sub(x, int(value)), pads), int(value))
    return core.pad(x, pads, float(value), mode)


def _pad_circular(x: Tensor, pads: list) -> Tensor:
    for d, size in enumerate(x.shape):
        before, after = pads[2 * d], pads[2 * d + 1]
        if before or after:
            x = core.gather(x, Tensor((np.arange(-before, size + after) % size).astype(np.int64)), d)
    return x


def pad_pairs(x: Tensor, paddings: Sequence[Sequence[int]], mode: str = "constant", value: Union[int, float] = 0) -> Tensor:
    """Pads by (before, after) per dimension, from the first one on.

    Args:
        x (Tensor): The tensor.
        paddings (sequence): One (before, after) per dimension.
        mode (str): The mode of padding. Default: "constant".
        value (number): The value of the padding. Default: 0.

    Returns:
        The padded tensor.

    Raises:
        ValueError: If a number is negative or their count does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Pad(((0, 1), (1, 0)))(ms.Tensor([[1, 2]])))
        [[0 1 2]
         [0 0 0]]
    """
    pairs = [to_ints(p, "paddings", "ops.Pad") for p in paddings]
    if len(pairs) != len(x.shape) or any(len(p) != 2 or min(p) < 0 for p in pairs):
        fail(ValueError, f"paddings {paddings} must be one (before, after) of no negative numbers per dimension of {x.shape}", "ops.Pad")
    return _padded(x, [v for p in pairs for v in p], value, mode)


def mirror_pad(input_x: Tensor, paddings: Any, mode: str = "REFLECT") -> Tensor:
    """Pads by mirroring at the border.

    Args:
        input_x (Tensor): The tensor.
        paddings (Tensor or sequence): The (before, after) of each dimension, a constant of shape [rank, 2].
        mode (str): "REFLECT" to mirror without the border element, "SYMMETRIC" to mirror with it. Default: "REFLECT".

    Returns:
        The padded tensor.

    Raises:
        ValueError: If `paddings` does not fit or `mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mirror_pad(ms.Tensor([1, 2, 3]), [(1, 1)]))
        [2 1 2 3 2]
    """
    check_choice("ops.MirrorPad", "mode", mode, ("REFLECT", "SYMMETRIC"))
    table = paddings.asnumpy().tolist() if isinstance(paddings, Tensor) else paddings
    return pad_pairs(input_x, table, mode.lower())


def _nearest_positions(size: int, out: int, align_corners: bool) -> np.ndarray:
    """Returns the position of each of `out` output elements among `size` input elements, by the step between them."""
    return np.arange(out) * (((size - 1) / (out - 1) if out > 1 else 0.0) if align_corners else size / out)


def _source_positions(size: int, out: int, align_corners: bool, half_pixel: bool, scale: Optional[float] = None) -> np.ndarray:
    """Returns the position of each of `out` output elements among `size` input elements. The division is last, so that
    coinciding positions do so exactly.
    """
    i = np.arange(out, dtype=np.float64)
    if align_corners:
        return i * (size - 1) / (out - 1) if out > 1 else i * 0.0
    at = i + 0.5 if half_pixel else i
    at = at / scale if scale else at * size / out
    return at - 0.5 if half_pixel else at


def _linear_taps(size: int, out: int, align_corners: bool, half_pixel: bool, scale: Optional[float] = None) -> tuple:
    """Returns ([out, 2] input positions, their weights) of linear interpolation."""
    at = np.clip(_source_positions(size, out, align_corners, half_pixel, scale), 0, size - 1)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    return np.stack([low, np.minimum(low + 1, size - 1)], 1), np.stack([1 - (at - low), at - low], 1)


def _cubic_taps(size: int, out: int, align_corners: bool, scale: Optional[float] = None, repeat_borders: bool = False) -> tuple:
    """Returns ([out, 4] input positions, their weights) of Keys' cubic convolution.

    With aligned corners or repeat_borders a is -0.75 and borders are repeated, as in PyTorch. Otherwise a is -0.5 and
    positions outside are dropped (the other weights grow), as in MindSpore.
    """
    repeat_borders = repeat_borders or align_corners
    at, a = _source_positions(size, out, align_corners, not align_corners, scale), -0.75 if repeat_borders else -0.5
    places = np.floor(at).astype(int)[:, None] + np.arange(-1, 3)
    x = np.abs(at[:, None] - places)
    weights = np.where(x <= 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, a * (((x - 5) * x + 8) * x - 4), 0))
    if not repeat_borders:
        weights[(places < 0) | (places >= size)] = 0
    return np.clip(places, 0, size - 1), weights / weights.sum(1, keepdims=True)


def _resample(x: Tensor, axis: int, taps: tuple) -> Tensor:
    """Sums elements along axis: for each output the input positions [out, k] times weights [out, k].

    A position of weight 0 takes no part, forward or backward, so a NaN there has no effect.
    """
    places, weights = taps
    if places.shape[0] == x.shape[axis] and np.all((weights == 0) | ((weights == 1) & (places == np.arange(x.shape[axis])[:, None]))):
        return x
    along = [-1 if d == axis else 1 for d in range(len(x.shape))]
    total = None
    for place, weight in zip(places.T, weights.T):
        used = weight != 0
        if not used.any():
            continue
        part = core.gather(x, Tensor(place.astype(np.int64)), axis)
        if not (weight[used] == 1).all():
            part = core.mul(part, core.reshape(core.cast(Tensor(weight), x.dtype), along))
        if not used.all():
            part = core.where(core.reshape(Tensor(used), along), part, 0.0)
        total = part if total is None else core.add(total, part)
    return total


def resize_nearest(x: Tensor, size: Size, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """Resizes images [n, c, h, w] by the nearest element.

    Args:
        x (Tensor): The images.
        size (int, sequence of ints or Tensor): The (height, width) of the result.
        align_corners (bool): Whether the corners of input and result coincide. Default: False.
        half_pixel_centers (bool): Whether positions refer to the centres of the pixels. Default: False.

    Returns:
        A tensor of shape [n, c, height, width].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ResizeNearestNeighbor((1, 4))(ms.Tensor([[[[1.0, 2.0]]]])))
        [[[[1. 1. 2. 2.]]]]
    """
    for d, out in zip((2, 3), to_ints(size, "size", "ops.ResizeNearestNeighbor")):
        at = _nearest_positions(x.shape[d], out, align_corners)
        if half_pixel_centers and not align_corners:
            at = (np.arange(out) + 0.5) * x.shape[d] / out
        place = np.floor(at + 0.5) if align_corners else np.floor(at)
        x = core.gather(x, Tensor(np.clip(place, 0, x.shape[d] - 1).astype(np.int64)), d)
    return x


def resize_bilinear(x: Tensor, size: Size, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """Resizes images [n, c, h, w] by linear interpolation in both directions.

    Args:
        x (Tensor): The images.
        size (int, sequence of ints or Tensor): The (height, width) of the result.
        align_corners (bool): Whether the corners of input and result coincide. Default: False.
        half_pixel_centers (bool): Whether positions refer to the centres of the pixels. Default: False.

    Returns:
        A tensor of shape [n, c, height, width].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ResizeBilinear((1, 3), align_corners=True)(ms.Tensor([[[[1.0, 3.0]]]])))
        [[[[1. 2. 3.]]]]
    """
    sizes = to_ints(size, "size", "ops.ResizeBilinear")
    return _resampled(x, [_linear_taps(x.shape[d], out, align_corners, half_pixel_centers) for d, out in zip((2, 3), sizes)])


@rounded_once()
def _resampled(x: Tensor, taps: Sequence[tuple]) -> Tensor:
    """Resamples x along each dimension from the third one on; equal sizes give a copy."""
    out = x
    for d, own in enumerate(taps, start=2):
        out = _resample(out, d, own)
    return out if out is not x else core.reshape(x, x.shape)


def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None) -> Tensor:
    """Resizes the spatial dimensions of a tensor [n, c, …].

    Args:
        input (Tensor): The tensor.
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.
        mode (str): "nearest" (3 to 5 dimensions), "nearest-exact" and "area" (3 and 4), "linear" (3), "bilinear" and
            "bicubic" (4) or "trilinear" (5). Default: "nearest".
        align_corners (bool): Whether the corners of input and result coincide; not for "nearest", "nearest-exact" and
            "area". Default: None.
        recompute_scale_factor (bool): Whether to use the ratio of the sizes instead of `scale_factor`. Default: None.

    Returns:
        The resized tensor.

    Raises:
        ValueError: If the mode does not suit the number of dimensions, both or neither of `size` and `scale_factor`
            are given, or the sizes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.interpolate(ms.Tensor([[[1.0, 2.0]]]), size=4))
        [[[1. 1. 2. 2.]]]
        >>> print(ms.ops.interpolate(ms.Tensor([[[1.0, 3.0]]]), size=3, mode="linear", align_corners=True))
        [[[1. 2. 3.]]]
    """
    return resized(input, size, scale_factor, mode, align_corners, recompute_scale_factor, "ops.interpolate", False)


def resized(input: Tensor, size: Any, scale_factor: Any, mode: str, align_corners: Optional[bool], recompute_scale_factor: Optional[bool], where: str,
            repeat_borders: bool) -> Tensor:
    """Resizes the spatial dimensions of a tensor; see `interpolate`.

    Args:
        input (Tensor): The tensor.
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given.
        scale_factor (number or sequence of numbers): The factors of the sizes.
        mode (str): The mode, as in `interpolate`.
        align_corners (bool): Whether the corners of input and result coincide.
        recompute_scale_factor (bool): Whether to use the ratio of the sizes instead of `scale_factor`.
        where (str): The name of the function, for messages.
        repeat_borders (bool): Whether "bicubic" repeats the borders, as in PyTorch.

    Returns:
        The resized tensor.

    Raises:
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.resized(ms.Tensor([[[1.0, 2.0]]]), 4, None, "nearest", None, None, "example", False))
        [[[1. 1. 2. 2.]]]
    """
    rank = len(input.shape)
    ranks = {"nearest": (3, 4, 5), "nearest-exact": (3, 4), "area": (3, 4), "linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,)}
    check_choice(where, "mode", mode, tuple(ranks))
    if rank not in ranks[mode]:
        fail(ValueError, f"mode '{mode}' needs {' or '.join(map(str, ranks[mode]))} dimensions, got {input.shape}", where)
    if (size is None) == (scale_factor is None):
        fail(ValueError, "expected either size or scale_factor", where)
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        fail(ValueError, f"align_corners does not go with mode '{mode}'", where)
    dims = input.shape[2:]
    if size is not None:
        sizes, scales = list(to_ints(size, "size", where)), [None] * len(dims)
        sizes = sizes * len(dims) if len(sizes) == 1 else sizes
    else:
        factors = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * len(dims)
        sizes, scales = [int(math.floor(n * f)) for n, f in zip(dims, factors)], [None if recompute_scale_factor else float(f) for f in factors]
    if len(sizes) != len(dims) or min(sizes) < 1:
        fail(ValueError, f"sizes {sizes} do not fit {input.shape}", where)
    if max(sizes) > MOST_WINDOWS:
        fail(ValueError, f"sizes {sizes} must be at most {MOST_WINDOWS}", where)
    if mode == "area":
        return adaptive_avg_pool2d(input, tuple(sizes)) if rank == 4 else adaptive_avg_pool1d(input, sizes[0])
    if mode in ("nearest", "nearest-exact"):
        out = input
        for d, (n, scale) in enumerate(zip(sizes, scales), start=2):
            step = 1 / scale if scale else out.shape[d] / n
            place = np.floor((np.arange(n) + (0.5 if mode == "nearest-exact" else 0.0)) * step)
            out = core.gather(out, Tensor(np.clip(place, 0, out.shape[d] - 1).astype(np.int64)), d)
        return out
    corners = bool(align_corners)
    return _resampled(input, [_cubic_taps(size_, n, corners, scale, repeat_borders) if mode == "bicubic" else _linear_taps(size_, n, corners, not corners, scale)
                              for size_, n, scale in zip(dims, sizes, scales)])


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
             recompute_scale_factor: Optional[bool] = None) -> Tensor:
    """Resizes the spatial dimensions of a tensor; another name of `interpolate`.

    Args:
        input (Tensor): The tensor.
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.
        mode (str): The mode; see `interpolate`. Default: "nearest".
        align_corners (bool): Whether the corners of input and result coincide. Default: None.
        recompute_scale_factor (bool): Whether to use the ratio of the sizes instead of `scale_factor`. Default: None.

    Returns:
        The resized tensor.

    Raises:
        ValueError: If an argument does not fit; see `interpolate`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.upsample(ms.Tensor([[[1.0, 2.0]]]), scale_factor=2))
        [[[1. 1. 2. 2.]]]
    """
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


__all__ = exported(globals())
