"""Image files as arrays: reading, encoding and writing them in C++, and the properties of images.

MindSpore raises RuntimeError for all errors except wrong argument types. Here each error is a RuntimeError and also the error that Python code expects: an
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
    """An array has another element type than uint8."""


class PixelShapeError(_core.ShapeError, RuntimeError):
    """The shape of an array is not that of an image, or of an image that the format supports."""


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
    """Converts an array or Tensor of uint8 to a Tensor."""
    if not isinstance(value, (np.ndarray, _core.Tensor)):
        fail(TypeError, f"{name} must be a numpy.ndarray or a Tensor, got {type(value).__name__}", who,
             "convert it with numpy.asarray" if is_pil(value) else "")
    if isinstance(value, np.ndarray):
        if value.dtype != np.uint8:
            fail(PixelTypeError, f"{name} must be uint8, got {value.dtype}", who, "round it and cast it to uint8")
        return _core.Tensor(value)
    return value


def _small_int(who: str, name: str, value: Any, least: int, most: int) -> int:
    """Checks an int: another type is a TypeError, a value out of range an ArgumentError."""
    value = check_int(who, name, value)
    if not least <= value <= most:
        fail(ArgumentError, f"{name} must be from {least} to {most}, got {value}", who)
    return value


def _image(who: str, image: Any) -> np.ndarray:
    if not isinstance(image, np.ndarray):
        fail(TypeError, f"image must be a numpy.ndarray or a Pillow image, got {type(image).__name__}", who)
    if image.ndim < 2:
        fail(ArgumentError, f"image must have at least two dimensions, got shape {list(image.shape)}", who)
    return image


def get_image_size(image: Any) -> List[int]:
    """Returns the height and width of an image.

    Args:
        image (numpy.ndarray, PIL.Image.Image): An array [..., H, W, C] or [H, W], or a Pillow image.

    Returns:
        list[int], [height, width].

    Raises:
        TypeError: If `image` has another type.
        ArgumentError: A ValueError and RuntimeError, if the array has fewer than two dimensions.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.get_image_size(np.zeros((4, 6, 3), np.uint8))
        [4, 6]
    """
    if is_pil(image):
        return [image.height, image.width]
    shape = _image("get_image_size", image).shape
    return list(shape if len(shape) == 2 else shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """Returns the number of channels of an image.

    Args:
        image (numpy.ndarray, PIL.Image.Image): An array [..., H, W, C] or [H, W], or a Pillow image.

    Returns:
        int; 1 for [H, W].

    Raises:
        TypeError: If `image` has another type.
        ArgumentError: A ValueError and RuntimeError, if the array has fewer than two dimensions.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.get_image_num_channels(np.zeros((4, 6, 3), np.uint8))
        3
    """
    if is_pil(image):
        return len(image.getbands())
    array = _image("get_image_num_channels", image)
    return 1 if array.ndim == 2 else array.shape[-1]


def read_file(filename: str) -> np.ndarray:
    """Reads the bytes of a file.

    Args:
        filename (str): The file.

    Returns:
        numpy.ndarray, uint8 [n].

    Raises:
        TypeError: If `filename` is not a str or path.
        OSError: Also a RuntimeError, if the file cannot be read.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.bin")
        ...     vision.write_file(path, np.array([1, 2], np.uint8))
        ...     vision.read_file(path).tolist()
        [1, 2]
    """
    return _called(_core.dataset.read_file, _path("read_file", filename)).asnumpy()


def write_file(filename: str, data: Any) -> None:
    """Writes bytes to a file atomically: the file is created or replaced as a whole or not at all.

    Args:
        filename (str): The file.
        data (numpy.ndarray, Tensor): The bytes, uint8 [n].

    Raises:
        TypeError: If an argument has another type.
        RuntimeError: If the data is not uint8 [n] or the file cannot be written.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.bin")
        ...     vision.write_file(path, np.array([1, 2], np.uint8))
        ...     print(vision.read_file(path))
        [1 2]
    """
    _called(_core.dataset.write_file, _path("write_file", filename), _bytes("write_file", "data", data))


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """Reads a JPEG, PNG, BMP, TIFF or WebP file. An alpha channel is dropped.

    Args:
        filename (str): The file.
        mode (ImageReadMode): UNCHANGED keeps the channels, 1 for grey images and 3 (RGB) for others. Values are uint8, uint16 for files with more bits,
            and float32 for TIFF files of that type. GRAYSCALE and COLOR convert to uint8 with 1 or 3 channels and apply the orientation that JPEG and
            PNG files record. Default: ImageReadMode.UNCHANGED.

    Returns:
        numpy.ndarray [H, W, C].

    Raises:
        TypeError: If an argument has another type.
        OSError: Also a RuntimeError, if the file cannot be read.
        BadSample: A RuntimeError, if the file is not a complete image.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.png")
        ...     vision.write_png(path, np.zeros((4, 6, 3), np.uint8))
        ...     vision.read_image(path).shape
        (4, 6, 3)
    """
    path = _path("read_image", filename)
    mode = enumeration("read_image", "mode", mode, ImageReadMode)
    picture = _called(_core.dataset.read_image, path, int(mode)).asnumpy()
    return picture.astype(np.uint16) if picture.dtype == np.int32 else picture  # the engine has no uint16


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """Encodes an image as JPEG.

    Args:
        image (numpy.ndarray, Tensor): uint8 [H, W], [H, W, 1] or [H, W, 3] (RGB).
        quality (int): From 1 to 100. Default: 75.

    Returns:
        numpy.ndarray, the file's bytes, uint8 [n].

    Raises:
        TypeError: If an argument has another type.
        RuntimeError: If the element type, shape or quality is not supported.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> data = vision.encode_jpeg(np.zeros((8, 8, 3), np.uint8))
        >>> bytes(data[:2])
        b'\\xff\\xd8'
    """
    quality = _small_int("encode_jpeg", "quality", quality, 1, 100)
    return _called(_core.dataset.encode_jpeg, _bytes("encode_jpeg", "image", image), quality).asnumpy()


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """Encodes an image as PNG.

    Args:
        image (numpy.ndarray, Tensor): uint8 [H, W], [H, W, 1] or [H, W, 3] (RGB).
        compression_level (int): 0 stores the rows; 1 to 9 all select the same fast compression, as in MindSpore. Default: 6.

    Returns:
        numpy.ndarray, the file's bytes, uint8 [n].

    Raises:
        TypeError: If an argument has another type.
        RuntimeError: If the element type, shape or level is not supported.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
        >>> bool((vision.Decode()(vision.encode_png(image)) == image).all())
        True
    """
    level = _small_int("encode_png", "compression_level", compression_level, 0, 9)
    return _called(_core.dataset.encode_png, _bytes("encode_png", "image", image), level).asnumpy()


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Writes the result of encode_jpeg to a file, whatever its extension.

    Args:
        filename (str): The file.
        image (numpy.ndarray, Tensor): As of encode_jpeg.
        quality (int): From 1 to 100. Default: 75.

    Raises:
        TypeError: If an argument has another type.
        RuntimeError: If the image is not supported or the file cannot be written.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.jpg")
        ...     vision.write_jpeg(path, np.zeros((4, 6, 3), np.uint8))
        ...     vision.read_image(path).shape
        (4, 6, 3)
    """
    path, quality = _path("write_jpeg", filename), _small_int("write_jpeg", "quality", quality, 1, 100)
    _called(_core.dataset.write_jpeg, path, _bytes("write_jpeg", "image", image), quality)


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Writes the result of encode_png to a file, whatever its extension.

    Args:
        filename (str): The file.
        image (numpy.ndarray, Tensor): As of encode_png.
        compression_level (int): As of encode_png. Default: 6.

    Raises:
        TypeError: If an argument has another type.
        RuntimeError: If the image is not supported or the file cannot be written.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.png")
        ...     vision.write_png(path, np.zeros((4, 6), np.uint8))
        ...     vision.read_image(path).shape
        (4, 6, 1)
    """
    path, level = _path("write_png", filename), _small_int("write_png", "compression_level", compression_level, 0, 9)
    _called(_core.dataset.write_png, path, _bytes("write_png", "image", image), level)
