"""Common parts of the image transforms: argument checks, and the base class of transforms from image to image."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_float, check_int32, enumeration, fail, is_int, pair_of_numbers
from sindri.dataset._transform import NativeOperation, is_pil
from sindri.dataset.vision.utils import Inter

FLOAT_MAX_INTEGER = 16777216  # MindSpore's bound for numeric arguments of image transforms
NATIVE_INTER = {Inter.NEAREST: "NEAREST", Inter.LINEAR: "LINEAR", Inter.CUBIC: "CUBIC", Inter.AREA: "AREA"}


def native_inter(who: str, interpolation: Any) -> str:
    enumeration(who, "interpolation", interpolation, Inter)
    if interpolation not in NATIVE_INTER:
        fail(ValueError, f"interpolation {interpolation.name} is not supported", who, "use NEAREST, LINEAR, CUBIC or AREA")
    return NATIVE_INTER[interpolation]


def pillow_warp_filter(who: str, interpolation: Inter) -> int:
    """Returns the filter for a rotated or distorted Pillow image. Raises TypeError for filters that Pillow lacks."""
    if interpolation not in (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC):
        fail(TypeError, f"{interpolation.name} is not available for Pillow images", who, "use NEAREST, BILINEAR or BICUBIC, or ToNumpy() before it")
    return int(interpolation)


def pillow_filter(interpolation: Inter) -> int:
    # Pillow's constants: NEAREST 0, LANCZOS 1, BILINEAR 2, BICUBIC 3, BOX 4.
    return {Inter.AREA: 4, Inter.PILCUBIC: 3, Inter.PILLINEAR: 2}.get(interpolation, int(interpolation))


def probability(who: str, prob: Any) -> float:
    return check_float(who, "prob", prob, 0.0, 1.0)


def padding_of(who: str, padding: Any) -> List[int]:
    """Returns [all], [left and right, top and bottom] or [left, top, right, bottom]."""
    values = [padding] if is_int(padding) else padding
    if not isinstance(values, (list, tuple)):
        fail(TypeError, f"padding must be an int or a tuple of 2 or 4, got {padding!r}", who)
    if len(values) not in ((1, 2, 4) if is_int(padding) else (2, 4)):
        fail(ValueError, f"padding must have 2 or 4 numbers, got {len(values)}", who)
    return [check_int32(who, "padding", v, 0) for v in values]


def sides(padding: Sequence[int]) -> Tuple[int, int, int, int]:
    if len(padding) == 1:
        return padding[0], padding[0], padding[0], padding[0]
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    return padding[0], padding[1], padding[2], padding[3]


def fill_of(who: str, fill_value: Any) -> List[int]:
    values = [fill_value] if is_int(fill_value) else fill_value
    if not isinstance(values, (list, tuple)) or len(values) not in (1, 3):
        fail(TypeError, f"fill_value must be an int or a tuple of 3, got {fill_value!r}", who)
    return [check_int32(who, "fill_value", v, 0, 255) for v in values]


def image_of(who: str, value: Any, channels: Sequence[int] = ()) -> np.ndarray:
    """Returns the pixels of an image, [H, W] or [H, W, C]. Raises ArgumentError, a ValueError and RuntimeError."""
    array = np.asarray(value)
    if array.ndim not in (2, 3):
        fail(ArgumentError, f"an image [H, W] or [H, W, C] is expected, got shape {list(array.shape)}", who)
    if channels and (1 if array.ndim == 2 else array.shape[2]) not in channels:
        fail(ArgumentError, f"an image with {' or '.join(map(str, channels))} channels is expected, got shape {list(array.shape)}", who)
    return array


class PixelOperation(NativeOperation):
    """A C++ transform from image to image."""

    _channels: Sequence[int] = ()
    _bytes = False  # uint8 only
    _batches = False  # accepts [..., H, W, C] too

    def _of_nothing(self, who: str, array: np.ndarray) -> np.ndarray:
        """Returns the result for an image without pixels."""
        fail(ArgumentError, f"an image with pixels is expected, got shape {list(array.shape)}", who)

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        who = type(self).__name__
        if len(values) != 1:
            fail(ArgumentError, f"1 column is expected, got {len(values)}", who, "map each column separately")
        if self._keeps_pillow and is_pil(values[0]):
            return super()._call(rng, values)
        array = np.asarray(values[0])
        if not self._batches or array.ndim < 4:
            array = image_of(who, array, self._channels)
        if self._bytes and array.dtype != np.uint8:
            fail(_core.DTypeError, f"a uint8 image is expected, got {array.dtype}", who)
        if not array.size:
            return self._of_nothing(who, array)
        return self._transform.apply([array], self._key(rng))[0]


class ByteOperation(PixelOperation):
    """A C++ transform from image to image, for uint8 images only. An image without pixels is returned unchanged."""

    _bytes = True

    def _of_nothing(self, who: str, array: np.ndarray) -> np.ndarray:
        return array


def center_of(who: str, center: Any) -> Optional[Tuple[float, float]]:
    """Returns None or (x, y)."""
    return None if center is None else pair_of_numbers(who, "center", center, ordered=False)
