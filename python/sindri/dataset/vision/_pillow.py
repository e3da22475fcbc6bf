"""Image transforms on Pillow images, computed by Pillow, whose arithmetic differs from that on arrays. Used only for such images."""
from __future__ import annotations

import math
from typing import Any, List, Sequence, Tuple

import numpy as np

# The principal components of ImageNet's colours, each multiplied by the square root of its eigenvalue.
_PRINCIPAL = np.array([[55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009], [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
                       [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203]])


def enhanced(kind: str, image: Any, factor: float) -> Any:
    """Adjusts Brightness, Contrast, Color or Sharpness."""
    from PIL import ImageEnhance  # type: ignore[import-not-found,unused-ignore]
    return getattr(ImageEnhance, kind)(image).enhance(factor)


def hue_turned(image: Any, shift: float) -> Any:
    """Shifts the hue, a byte, by a fraction of the colour circle."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    if image.mode in ("L", "1", "I", "F"):
        return image
    hue, saturation, value = image.convert("HSV").split()
    turn = int(shift * 255)
    hue = hue.point([(level + turn) % 256 for level in range(256)])
    return Image.merge("HSV", (hue, saturation, value)).convert(image.mode)


def equalized(image: Any) -> Any:
    from PIL import ImageOps  # type: ignore[import-not-found,unused-ignore]
    return ImageOps.equalize(image)


def inverted(image: Any) -> Any:
    from PIL import ImageOps  # type: ignore[import-not-found,unused-ignore]
    return ImageOps.invert(image)


def auto_contrast(image: Any, cutoff: float, ignore: Sequence[int]) -> Any:
    from PIL import ImageOps  # type: ignore[import-not-found,unused-ignore]
    return ImageOps.autocontrast(image, cutoff, list(ignore) or None)


def gamma_adjusted(image: Any, gamma: float, gain: float) -> Any:
    """Applies a table of 256 levels; images without 1 or 3 channels are returned unchanged."""
    channels = len(image.getbands())
    if channels not in (1, 3):
        return image
    return image.point([int(255.999 * gain * (level / 255.0) ** gamma) for level in range(256)] * channels)


def grey(image: Any, channels: int) -> Any:
    """Converts to one channel (mode L) or three equal ones (RGB)."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    level = image.convert("L")
    return level if channels == 1 else Image.merge("RGB", (level, level, level))


def lit(image: Any, amounts: Sequence[float]) -> Any:
    """Converts to RGB and adds a colour along ImageNet's principal components with the given coefficients, rounded down."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    pixels = np.asarray(image.convert("RGB"), np.float64) + _PRINCIPAL @ np.asarray(amounts, np.float64)
    return Image.fromarray(np.uint8(np.clip(pixels, 0, 255)))


def colours_adjusted(image: Any, factors: Sequence[float], order: Sequence[int]) -> Any:
    """Adjusts brightness, contrast, saturation and hue by their factors, in this order."""
    for i in order:
        image = hue_turned(image, factors[3]) if i == 3 else enhanced(("Brightness", "Contrast", "Color")[i], image, factors[i])
    return image


def _fill(image: Any, fill: Sequence[int]) -> Any:
    """Returns the fill value, one number or three, as the image's mode requires."""
    return fill[0] if len(image.getbands()) == 1 else tuple(fill) * 3 if len(fill) == 1 else tuple(fill)


def padded(image: Any, sides: Tuple[int, int, int, int], fill: Sequence[int], mode: str) -> Any:
    """Adds (left, top, right, bottom) pixels; a palette is kept."""
    from PIL import Image, ImageOps  # type: ignore[import-not-found,unused-ignore]
    palette = image.getpalette() if image.mode == "P" else None
    if mode == "constant":
        out = ImageOps.expand(image, border=tuple(sides), fill=fill[0] if palette else _fill(image, fill))
    else:
        left, top, right, bottom = sides
        pixels = np.asarray(image)
        out = Image.fromarray(np.pad(pixels, ((top, bottom), (left, right)) + ((0, 0),) * (pixels.ndim - 2), mode))  # type: ignore[call-overload]
    if palette:
        out.putpalette(palette)
    return out


def flipped(image: Any, across: bool) -> Any:
    """Flips horizontally (across) or vertically."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT if across else Image.Transpose.FLIP_TOP_BOTTOM)


def rotated(image: Any, degrees: float, resample: int, expand: bool, center: Any, fill: Sequence[int]) -> Any:
    """Rotates counterclockwise; a rotation by a multiple of 90 degrees only moves pixels."""
    return image.rotate(degrees % 360.0, resample, expand, center, fillcolor=_fill(image, fill))


def affine(image: Any, degrees: float, translate: Tuple[float, float], scale: float, shear: Tuple[float, float], resample: int, fill: Sequence[int]) -> Any:
    """Rotates clockwise around the centre, translates by whole pixels (x, y), scales, and shears by degrees."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    x, y = image.width * 0.5 + 0.5, image.height * 0.5 + 0.5
    along, down = math.radians(degrees + shear[0]), math.radians(degrees + shear[1])
    # Pillow expects the map from a pixel of the result to its source.
    share = 1.0 / scale / (math.cos(along) * math.cos(down) + math.sin(along) * math.sin(down))
    a, b = share * math.cos(along), share * math.sin(along)
    d, e = share * -math.sin(down), share * math.cos(down)
    to_x, to_y = x + translate[0], y + translate[1]
    matrix = (a, b, x - a * to_x - b * to_y, d, e, y - d * to_x - e * to_y)
    return image.transform(image.size, Image.Transform.AFFINE, matrix, resample, fillcolor=_fill(image, fill))


def perspective(image: Any, matrix: Sequence[float], resample: int) -> Any:
    """matrix: eight numbers that map a pixel of the result to its source."""
    from PIL import Image  # type: ignore[import-not-found,unused-ignore]
    return image.transform(image.size, Image.Transform.PERSPECTIVE, list(matrix[:8]), resample)


def corners_moved_inwards(width: int, height: int, distortion: float, rng: np.random.Generator) -> Tuple[List[Tuple[int, int]], List[Tuple[int, int]]]:
    """Returns an image's corners clockwise from the top left, and their new positions: moved inwards by up to `distortion` of half the image."""
    right, bottom = width - 1, height - 1
    most_x, most_y = int(width / 2 * distortion), int(height / 2 * distortion)
    corners = [(0, 0), (right, 0), (right, bottom), (0, bottom)]
    moved = [(abs(x - int(rng.integers(most_x + 1))), abs(y - int(rng.integers(most_y + 1)))) for x, y in corners]
    return corners, moved
