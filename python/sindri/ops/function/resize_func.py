"""Functions of sindri.ops that pad and resize images."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.ops._util import MOST_WINDOWS, Size, Tensor, core, exported, perm_moving, to_ints
from sindri.ops.function.pooling_func import adaptive_avg_pool1d, adaptive_avg_pool2d


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Union[None, int, float] = None) -> Tensor:
    """Padded from the last dimension on: (left, right, top, bottom, …). Modes 'constant' (value, 0), 'reflect', 'replicate', 'circular';
    negative numbers cut (constant only). Raises ValueError, also for cutting more than there is and for leaving nothing."""
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
    return core.pad(input_x, pads, float(value or 0), {"replicate": "edge"}.get(mode, mode))


def _pad_circular(x: Tensor, pads: list) -> Tensor:
    for d, size in enumerate(x.shape):
        before, after = pads[2 * d], pads[2 * d + 1]
        if before or after:
            x = core.gather(x, Tensor((np.arange(-before, size + after) % size).astype(np.int64)), d)
    return x


def pad_pairs(x: Tensor, paddings: Sequence[Sequence[int]], mode: str = "constant", value: float = 0) -> Tensor:
    """Padded by (before, after) per dimension from the first on. Raises ValueError for negative numbers or a wrong count."""
    pairs = [to_ints(p, "paddings", "ops.Pad") for p in paddings]
    if len(pairs) != len(x.shape) or any(len(p) != 2 or min(p) < 0 for p in pairs):
        fail(ValueError, f"paddings {paddings} must be one (before, after) of no negative numbers per dimension of {x.shape}", "ops.Pad")
    return core.pad(x, [v for p in pairs for v in p], value, mode)


def mirror_pad(input_x: Tensor, paddings: Any, mode: str = "REFLECT") -> Tensor:
    """Mirrored at the border, without ('REFLECT') or with ('SYMMETRIC') the border element; paddings a constant [rank, 2] tensor."""
    check_choice("ops.MirrorPad", "mode", mode, ("REFLECT", "SYMMETRIC"))
    table = paddings.asnumpy().tolist() if isinstance(paddings, Tensor) else paddings
    return pad_pairs(input_x, table, mode.lower())


def _source_positions(size: int, out: int, align_corners: bool, half_pixel: bool, scale: Optional[float] = None) -> np.ndarray:
    """Where each of `out` output places lies among `size` input places."""
    i = np.arange(out, dtype=np.float64)
    if align_corners:
        return i * ((size - 1) / (out - 1) if out > 1 else 0.0)
    step = 1.0 / scale if scale else size / out
    return (i + 0.5) * step - 0.5 if half_pixel else i * step


def _linear_matrix(size: int, out: int, align_corners: bool, half_pixel: bool, scale: Optional[float] = None) -> np.ndarray:
    """[out, size]: weights of linear interpolation."""
    at = np.clip(_source_positions(size, out, align_corners, half_pixel, scale), 0, size - 1)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    high, part = np.minimum(low + 1, size - 1), at - low
    m = np.zeros((out, size))
    np.add.at(m, (np.arange(out), low), 1 - part)
    np.add.at(m, (np.arange(out), high), part)
    return m


def _cubic_matrix(size: int, out: int, align_corners: bool, scale: Optional[float] = None) -> np.ndarray:
    """[out, size]: weights of Keys' cubic convolution as MindSpore chooses them: with aligned corners a = -0.75 and borders repeated, else
    a = -0.5 and what lies outside left out (the other weights grow)."""
    at, a = _source_positions(size, out, align_corners, not align_corners, scale), -0.75 if align_corners else -0.5
    low = np.floor(at).astype(int)
    m = np.zeros((out, size))
    for k in range(-1, 3):
        x = np.abs(at - (low + k))
        near, far = ((a + 2) * x - (a + 3)) * x * x + 1, a * (((x - 5) * x + 8) * x - 4)
        weight = np.where(x <= 1, near, np.where(x < 2, far, 0))
        if not align_corners:
            weight[(low + k < 0) | (low + k >= size)] = 0
        np.add.at(m, (np.arange(out), np.clip(low + k, 0, size - 1)), weight)
    return m / m.sum(1, keepdims=True)


def _resample(x: Tensor, axis: int, matrix: np.ndarray) -> Tensor:
    """x with its dimension axis multiplied by a constant matrix."""
    rank = len(x.shape)
    moved = core.transpose(x, perm_moving(rank, [axis], [rank - 1])) if axis != rank - 1 else x
    flat = core.reshape(moved, (math.prod(moved.shape[:-1]), moved.shape[-1]))
    out = core.reshape(core.matmul(flat, core.cast(Tensor(matrix), x.dtype), False, True), moved.shape[:-1] + (matrix.shape[0],))
    return core.transpose(out, perm_moving(rank, [rank - 1], [axis])) if axis != rank - 1 else out


def resize_nearest(x: Tensor, size: Size, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """[n, c, h, w] -> [n, c, size]: the nearest element of each place."""
    for d, out in zip((2, 3), to_ints(size, "size", "ops.ResizeNearestNeighbor")):
        at = _source_positions(x.shape[d], out, align_corners, False)
        if half_pixel_centers and not align_corners:
            at = (np.arange(out) + 0.5) * x.shape[d] / out
        place = np.floor(at + 0.5) if align_corners else np.floor(at)
        x = core.gather(x, Tensor(np.clip(place, 0, x.shape[d] - 1).astype(np.int64)), d)
    return x


def resize_bilinear(x: Tensor, size: Size, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """[n, c, h, w] -> [n, c, size] by linear interpolation in both directions."""
    for d, out in zip((2, 3), to_ints(size, "size", "ops.ResizeBilinear")):
        x = _resample(x, d, _linear_matrix(x.shape[d], out, align_corners, half_pixel_centers))
    return x


def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None) -> Tensor:
    """The spatial dimensions of [n, c, …] resized to `size` or by `scale_factor` (one of them). Modes: 'nearest' (any rank), 'nearest-exact',
    'area' and 'bicubic' (images), 'linear' (3-D), 'bilinear' (4-D), 'trilinear' (5-D). align_corners: the corners of both coincide.
    recompute_scale_factor: use the ratio of the sizes instead of scale_factor. Raises ValueError."""
    where, rank = "ops.interpolate", len(input.shape)
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
    out = input
    for d, (n, scale) in enumerate(zip(sizes, scales), start=2):
        if mode in ("nearest", "nearest-exact"):
            step = 1 / scale if scale else out.shape[d] / n
            place = np.floor((np.arange(n) + (0.5 if mode == "nearest-exact" else 0.0)) * step)
            out = core.gather(out, Tensor(np.clip(place, 0, out.shape[d] - 1).astype(np.int64)), d)
        else:
            corners = bool(align_corners)
            build = _cubic_matrix(out.shape[d], n, corners, scale) if mode == "bicubic" else _linear_matrix(out.shape[d], n, corners, not corners,
                                                                                                            scale)
            out = _resample(out, d, build)
    return out


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
             recompute_scale_factor: Optional[bool] = None) -> Tensor:
    """interpolate by another name."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


__all__ = exported(globals())
