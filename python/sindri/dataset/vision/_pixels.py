"""Helpers for arrays and lists in the image transforms."""
from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

__all__ = ["flat_list", "pad"]


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


def flat_list(value: object) -> List[int]:
    """Returns a number or a sequence of numbers as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]  # type: ignore[list-item]
