"""Image files as arrays: reading, encoding and writing them in C++, and what tells about images.

MindSpore raises RuntimeError for all that is wrong beside the types of arguments: here each error is that and what Python code would expect, an
OSError, TypeError or ValueError.
"""
from __future__ import annotations

import os
from typing import Any, Callable, List

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_int, enumeration, fail, got
from sindri.dataset._transform import is_pil
from sindri.dataset.vision.utils import ImageReadMode

__all__ = ["encode_jpeg", "encode_png", "get_image_num_channels", "get_image_size", "read_file", "read_image", "write_file", "write_jpeg",
           "write_png"]


class FileError(_core.IoError, RuntimeError):
    """A file cannot be read or written."""


class PixelTypeError(_core.DTypeError, RuntimeError):
    """An array holds something else than bytes."""


class PixelShapeError(_core.ShapeError, RuntimeError):
    """An array has the shape of no picture, or of one that the format does not have."""


_WITH_RUNTIME_ERROR = ((_core.IoError, FileError), (_core.DTypeError, PixelTypeError), (_core.ShapeError, PixelShapeError),
                       (_core.InvalidValueError, ArgumentError))


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except _core.Error as e:
        for kind, also in _WITH_RUNTIME_ERROR:
            if isinstance(e, kind):
                error = also(str(e))
                error.__dict__.update(e.__dict__)  # message, where, fix, code
                raise error from None
        raise


def _path(who: str, filename: Any) -> bytes:
    if not isinstance(filename, (str, os.PathLike)):
        fail(TypeError, f"filename must be a str, {got(filename)}", who)
    path = os.fsencode(filename)
    if b"\0" in path:
        fail(ArgumentError, f"filename {filename!r} holds a zero byte", who)
    return path


def _bytes(who: str, name: str, value: Any) -> _core.Tensor:
    """An array or Tensor of uint8."""
    if not isinstance(value, (np.ndarray, _core.Tensor)):
        fail(TypeError, f"{name} must be a numpy.ndarray or a Tensor, got {type(value).__name__}", who,
             "convert it with numpy.asarray" if is_pil(value) else "")
    if isinstance(value, np.ndarray):
        if value.dtype != np.uint8:
            fail(PixelTypeError, f"{name} must be uint8, got {value.dtype}", who, "round it and cast it to uint8")
        return _core.Tensor(value)
    return value


def _small_int(who: str, name: str, value: Any, least: int, most: int) -> int:
    """A whole number; one that is none is a TypeError, one outside of the range an ArgumentError."""
    value = check_int(who, name, value)
    if not least <= value <= most:
        fail(ArgumentError, f"{name} must be from {least} to {most}, got {value}", who)
    return value


def _image(who: str, image: Any) -> np.ndarray:
    if not isinstance(image, np.ndarray):
        fail(TypeError, f"image must be a numpy.ndarray or an image of Pillow, got {type(image).__name__}", who)
    if image.ndim < 2:
        fail(ArgumentError, f"image must have at least two dimensions, got shape {list(image.shape)}", who)
    return image


def get_image_size(image: Any) -> List[int]:
    """[height, width] of an array [..., H, W, C] or [H, W], or of an image of Pillow. Raises TypeError or ArgumentError."""
    if is_pil(image):
        return [image.height, image.width]
    shape = _image("get_image_size", image).shape
    return list(shape if len(shape) == 2 else shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """The channels of an array [..., H, W, C] or of an image of Pillow; 1 for [H, W]. Raises TypeError or ArgumentError."""
    if is_pil(image):
        return len(image.getbands())
    array = _image("get_image_num_channels", image)
    return 1 if array.ndim == 2 else array.shape[-1]


def read_file(filename: str) -> np.ndarray:
    """The bytes of a file, uint8 [n]. Raises TypeError, or an OSError and RuntimeError for one that cannot be read."""
    return _called(_core.dataset.read_file, _path("read_file", filename)).asnumpy()


def write_file(filename: str, data: Any) -> None:
    """Makes or replaces a file with the bytes uint8 [n] of an array or Tensor, all of them or none.

    Raises TypeError; an error that is a RuntimeError too for what is not uint8 [n] or cannot be written.
    """
    _called(_core.dataset.write_file, _path("write_file", filename), _bytes("write_file", "data", data))


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """The picture of a JPEG, PNG, BMP, TIFF or WebP file, [H, W, C]; alpha is left out.

    UNCHANGED: C is 1 for grey pictures, 3 (RGB) for others; uint8, of files that have more uint16, of TIFF float32 too. GRAYSCALE and COLOR: uint8,
    C = 1 or 3, turned as the camera noted in JPEG and PNG files. Raises TypeError; an OSError and RuntimeError for a file that cannot be read,
    BadSample (a RuntimeError) for what is no whole image.
    """
    path = _path("read_image", filename)
    mode = enumeration("read_image", "mode", mode, ImageReadMode)
    picture = _called(_core.dataset.read_image, path, int(mode)).asnumpy()
    return picture.astype(np.uint16) if picture.dtype == np.int32 else picture  # the engine has no uint16


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """The JPEG file of a picture uint8 [H, W], [H, W, 1] or [H, W, 3] (RGB), an array or Tensor, as uint8 [n].

    quality is from 1 to 100. Raises TypeError; an error that is a RuntimeError too for another type of elements, shape or quality.
    """
    quality = _small_int("encode_jpeg", "quality", quality, 1, 100)
    return _called(_core.dataset.encode_jpeg, _bytes("encode_jpeg", "image", image), quality).asnumpy()


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """The same as a PNG file. compression_level 0 stores the rows, 1 to 9 are one quick way to compress them, as in MindSpore."""
    level = _small_int("encode_png", "compression_level", compression_level, 0, 9)
    return _called(_core.dataset.encode_png, _bytes("encode_png", "image", image), level).asnumpy()


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """write_file of encode_jpeg, whatever the name ends in. Raises as both do."""
    path, quality = _path("write_jpeg", filename), _small_int("write_jpeg", "quality", quality, 1, 100)
    _called(_core.dataset.write_jpeg, path, _bytes("write_jpeg", "image", image), quality)


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """write_file of encode_png, whatever the name ends in. Raises as both do."""
    path, level = _path("write_png", filename), _small_int("write_png", "compression_level", compression_level, 0, 9)
    _called(_core.dataset.write_png, path, _bytes("write_png", "image", image), level)
