"""Arithmetic on the pixels of arrays [H, W] or [H, W, C]. uint8 results are rounded to nearest and saturated."""
from __future__ import annotations

from typing import Callable, List, Sequence, Tuple

import numpy as np

from sindri import _core

__all__ = ["adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "adjust_sharpness", "auto_contrast", "equalize", "grey", "pad",
           "pillow_resize", "to_dtype"]


def to_dtype(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Computed values in the element type of the image."""
    if dtype == np.uint8:
        return np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return values.astype(dtype)


def grey(image: np.ndarray) -> np.ndarray:
    """0.299 R + 0.587 G + 0.114 B, [H, W]."""
    if image.ndim == 2:
        return image
    if image.shape[2] == 1:
        return image[:, :, 0]
    if image.dtype == np.uint8:
        # Pillow's fixed point, so that both give the same level.
        r, g, b = (image[:, :, c].astype(np.int32) for c in range(3))
        return ((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16).astype(np.uint8)
    return (image[:, :, :3] @ np.asarray([0.299, 0.587, 0.114])).astype(image.dtype)


def adjust_brightness(image: np.ndarray, factor: float) -> np.ndarray:
    """x * factor."""
    return to_dtype(image * np.float64(factor), image.dtype)


def adjust_contrast(image: np.ndarray, factor: float) -> np.ndarray:
    """mean * (1 - factor) + x * factor; mean: of the grey image, rounded."""
    mean = np.rint(grey(image).mean(dtype=np.float64)) if image.dtype == np.uint8 else grey(image).mean(dtype=np.float64)
    return to_dtype(mean * (1 - factor) + image * np.float64(factor), image.dtype)


def adjust_saturation(image: np.ndarray, factor: float) -> np.ndarray:
    """grey * (1 - factor) + x * factor."""
    return to_dtype(grey(image)[:, :, None] * np.float64(1 - factor) + image * np.float64(factor), image.dtype)


def adjust_hue(image: np.ndarray, shift: float) -> np.ndarray:
    """Turns the hue by `shift` of a circle. For uint8 hue and saturation are bytes in between, as in OpenCV."""
    if image.dtype == np.uint8:
        return _core.dataset.turn_hue(np.ascontiguousarray(image), shift)
    rgb = image.astype(np.float64)
    high, low = rgb.max(axis=2), rgb.min(axis=2)
    span = high - low
    safe = np.where(span == 0, 1, span)
    r, g, b = rgb[:, :, 0], rgb[:, :, 1], rgb[:, :, 2]
    sector = np.where(high == r, (g - b) / safe, np.where(high == g, 2 + (b - r) / safe, 4 + (r - g) / safe))
    place = (np.where(span == 0, 0, sector) + shift * 6) % 6
    out = np.empty_like(rgb)
    for channel, offset in ((0, 5), (1, 3), (2, 1)):
        k = (offset + place) % 6
        out[:, :, channel] = high - span * np.clip(np.minimum(k, 4 - k), 0, 1)
    return to_dtype(out, image.dtype)


def adjust_sharpness(image: np.ndarray, factor: float) -> np.ndarray:
    """blurred + factor * (x - blurred); the blur is (sum of the 3 x 3 neighbours + 4 x) / 13, border pixels stay."""
    x = image.astype(np.float64)
    blurred = x.copy()
    if image.shape[0] > 2 and image.shape[1] > 2:
        h, w = image.shape[:2]
        total = sum(x[i:h - 2 + i, j:w - 2 + j] for i in range(3) for j in range(3)) + 4 * x[1:-1, 1:-1]
        blurred[1:-1, 1:-1] = to_dtype(total / 13, image.dtype)
    return to_dtype(blurred + factor * (x - blurred), image.dtype)


def _each_channel(image: np.ndarray, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    if not image.size:
        return image
    return f(image) if image.ndim == 2 else np.stack([f(image[:, :, c]) for c in range(image.shape[2])], axis=2)


def equalize(image: np.ndarray) -> np.ndarray:
    """Spreads the histogram of each channel of a uint8 image."""
    def channel(x: np.ndarray) -> np.ndarray:
        counts = np.bincount(x.ravel(), minlength=256)
        first = int(np.flatnonzero(counts)[0])
        rest = x.size - counts[first]
        if rest == 0:
            return x
        levels = np.cumsum(counts) - counts[first]
        return to_dtype(np.clip(levels, 0, None) * (255.0 / rest), image.dtype)[x]

    return _each_channel(image, channel)


def auto_contrast(image: np.ndarray, cutoff: float, ignore: Sequence[int]) -> np.ndarray:
    """Stretches each channel of a uint8 image to 0 ... 255, leaving out `cutoff` percent of the pixels at both ends and the levels in `ignore`."""
    def channel(x: np.ndarray) -> np.ndarray:
        counts = np.bincount(x.ravel(), minlength=256)
        counts[list(ignore)] = 0
        cut = int(counts.sum() * cutoff / 100)
        for order in (range(256), range(255, -1, -1)):
            left = cut
            for level in order:
                taken = min(left, counts[level])
                counts[level] -= taken
                left -= taken
                if left == 0:
                    break
        used = np.flatnonzero(counts)
        if len(used) == 0 or used[-1] <= used[0]:
            return x
        # In single precision, and cut off, as in MindSpore.
        scale = np.float32(255) / np.float32(used[-1] - used[0])
        levels = np.arange(256, dtype=np.float32) * scale + np.float32(-used[0]) * scale
        return np.clip(levels, 0, 255).astype(np.uint8)[x]

    return _each_channel(image, channel)


def pad(image: np.ndarray, sides: Tuple[int, int, int, int], fill: Sequence[int], mode: str) -> np.ndarray:
    """Adds (left, top, right, bottom) pixels."""
    left, top, right, bottom = sides
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (image.ndim - 2)
    if mode != "constant":
        return np.pad(image, widths, mode=mode)  # type: ignore[call-overload]
    out = np.empty([image.shape[0] + top + bottom, image.shape[1] + left + right, *image.shape[2:]], dtype=image.dtype)
    out[...] = fill[0] if image.ndim == 2 or len(fill) == 1 else np.asarray(fill[:image.shape[2]])
    out[top:top + image.shape[0], left:left + image.shape[1]] = image
    return out


def _pillow_weights(size: int, out: int, cubic: bool) -> np.ndarray:
    """[out, size]: what each input pixel gives to each output pixel. The kernel widens when the image shrinks."""
    scale = size / out
    widen = max(scale, 1.0)
    support = (2.0 if cubic else 1.0) * widen
    weights = np.zeros((out, size))
    for i in range(out):
        center = (i + 0.5) * scale
        first, last = max(int(center - support + 0.5), 0), min(int(center + support + 0.5), size)
        x = np.abs((np.arange(first, last) - center + 0.5) / widen)
        if cubic:
            a = -0.5
            k = np.where(x < 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, (((x - 5) * x + 8) * x - 4) * a, 0))
        else:
            k = np.clip(1 - x, 0, None)
        weights[i, first:last] = k / k.sum()
    return weights


def pillow_resize(image: np.ndarray, size: Tuple[int, int], cubic: bool) -> np.ndarray:
    """Pillow's bilinear or bicubic filter: first along rows, then along columns, with a rounding between them for uint8."""
    across = _half_up(np.moveaxis(np.tensordot(_pillow_weights(image.shape[1], size[1], cubic), image.astype(np.float64), (1, 1)), 0, 1), image.dtype)
    return _half_up(np.tensordot(_pillow_weights(image.shape[0], size[0], cubic), across.astype(np.float64), (1, 0)), image.dtype)


def _half_up(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return to_dtype(np.floor(values + 0.5), dtype) if dtype == np.uint8 else values.astype(dtype)


def flat_list(value: object) -> List[int]:
    """A number or a sequence of them as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]  # type: ignore[list-item]
