"""Colours of images of Pillow, by Pillow: its arithmetic differs in places from that on arrays. Used only where there is such an image."""
from __future__ import annotations

from typing import Any, Sequence


def enhanced(kind: str, image: Any, factor: float) -> Any:
    """Brightness, Contrast, Color or Sharpness."""
    from PIL import ImageEnhance  # type: ignore[import-not-found,unused-ignore]
    return getattr(ImageEnhance, kind)(image).enhance(factor)


def hue_turned(image: Any, shift: float) -> Any:
    """The hue, a byte, turned by a part of a circle."""
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


def auto_contrast(image: Any, cutoff: float, ignore: Sequence[int]) -> Any:
    from PIL import ImageOps  # type: ignore[import-not-found,unused-ignore]
    return ImageOps.autocontrast(image, cutoff, list(ignore) or None)
