"""Padding of windows over two spatial dimensions, computed as the C++ layers do."""
from __future__ import annotations

from typing import Any, Dict, Tuple

from sindri._check import check_choice, check_int, fail

Pads = Tuple[int, int, int, int]


def same_pads(size: int, kernel: int, stride: int, dilation: int = 1) -> Tuple[int, int]:
    """Returns the padding before and after a dimension for which the output is ceil(size / stride); an odd element is added after it."""
    out = (size + stride - 1) // stride
    total = max((out - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def check_padding(who: str, pad_mode: Any, padding: Any) -> Pads:
    """Returns `padding` as (top, bottom, left, right).

    Raises TypeError, or ValueError if padding is given with a mode other than "pad".
    """
    check_choice(who, "pad_mode", pad_mode, ("same", "valid", "pad"))
    if isinstance(padding, (tuple, list)):
        if len(padding) not in (2, 4):
            fail(ValueError, f"{who}: padding must be an int or 4 of them (top, bottom, left, right), got {tuple(padding)!r}")
        values = [check_int(who, "padding", p, 0) for p in padding]
        top, bottom, left, right = values if len(values) == 4 else (values[0], values[0], values[1], values[1])
    else:
        top = bottom = left = right = check_int(who, "padding", padding, 0)
    if pad_mode != "pad" and (top or bottom or left or right):
        fail(ValueError, f"{who}: padding {padding!r} is given with pad_mode '{pad_mode}'", "set pad_mode to 'pad', or leave padding at 0")
    return top, bottom, left, right


class Padder:
    """Returns the pads of an input of a given height and width, and caches those of 'same'."""

    def __init__(self, pad_mode: str, pads: Pads, kernel: Tuple[int, int], stride: Tuple[int, int], dilation: Tuple[int, int] = (1, 1)) -> None:
        self._fixed = None if pad_mode == "same" else pads
        self._window = (kernel, stride, dilation)
        self._seen: Dict[Tuple[int, int], Pads] = {}

    def __call__(self, height: int, width: int) -> Pads:
        if self._fixed is not None:
            return self._fixed
        pads = self._seen.get((height, width))
        if pads is None:
            kernel, stride, dilation = self._window
            pads = same_pads(height, kernel[0], stride[0], dilation[0]) + same_pads(width, kernel[1], stride[1], dilation[1])
            self._seen[(height, width)] = pads
        return pads
