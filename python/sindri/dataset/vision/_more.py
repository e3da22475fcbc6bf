"""Image transforms of MindSpore 2.x that the first set (transforms.py) lacks, and what tells about images."""
from __future__ import annotations

import os
from typing import Any, List, Sequence

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_float, check_int32, enumeration, fail, is_int, is_number
from sindri.dataset._transform import is_pil
from sindri.dataset.vision import _pixels
from sindri.dataset.vision._base import ByteImageOperation, ImageOperation, image_of, probability
from sindri.dataset.vision.utils import ConvertMode

__all__ = ["AdjustGamma", "ConvertColor", "Erase", "GaussianBlur", "RandomAdjustSharpness", "RandomAutoContrast", "RandomEqualize",
           "get_image_num_channels", "get_image_size", "read_file", "write_file"]


class GaussianBlur(ImageOperation):
    """Blurs with a Gaussian kernel; kernel_size an odd number or (width, height), sigma a number, (x, y), or by the size of the kernel.

    Raises TypeError or ValueError.
    """

    def __init__(self, kernel_size: Any, sigma: Any = None):
        who = "GaussianBlur"
        sizes = [kernel_size] if is_int(kernel_size) else kernel_size
        if not isinstance(sizes, (list, tuple)) or len(sizes) not in (1, 2):
            fail(TypeError, f"kernel_size must be an int or a tuple of 2, got {kernel_size!r}", who)
        self.kernel = [check_int32(who, "kernel_size", v, 1, 4095) for v in sizes]
        if any(v % 2 == 0 for v in self.kernel):
            fail(ValueError, f"kernel_size must be odd, got {kernel_size}", who)
        # MindSpore takes the sigma of the first size for both.
        sigmas = [self.kernel[0] * 0.15 + 0.35] if sigma is None else [sigma] if is_number(sigma) else sigma
        if not isinstance(sigmas, (list, tuple)) or len(sigmas) not in (1, 2):
            fail(TypeError, f"sigma must be a number or a tuple of 2, got {sigma!r}", who)
        self.sigma = [check_float(who, "sigma", v, 0) for v in sigmas]

    def _pixels(self, image: np.ndarray, rng: Any) -> np.ndarray:
        return _core.dataset.gaussian_blur(np.ascontiguousarray(image), [self.kernel[-1], self.kernel[0]], self.sigma[0], self.sigma[-1])


class Erase(ImageOperation):
    """Fills a rectangle of an image [H, W, C] with value, a number or one per channel. inplace: in the array that is given.

    Raises TypeError or ValueError; RuntimeError beyond the image.
    """

    _channels = (1, 3)

    def __init__(self, top: int, left: int, height: int, width: int, value: Any = 0, inplace: bool = False):
        who = "Erase"
        self.box = (check_int32(who, "top", top), check_int32(who, "left", left), check_int32(who, "height", height, 1),
                    check_int32(who, "width", width, 1))
        self.value = [check_float(who, "value", v, 0, 255) for v in _pixels.flat_list(value)]
        if len(self.value) not in (1, 3):
            fail(TypeError, f"value must be a number or a tuple of 3, got {value!r}", who)
        self.inplace = check_bool(who, "inplace", inplace)

    def _pixels(self, image: np.ndarray, rng: Any) -> np.ndarray:
        top, left, height, width = self.box
        if top + height > image.shape[0] or left + width > image.shape[1]:
            fail(ArgumentError, f"the rectangle of {height} x {width} at ({top}, {left}) is beyond the image {list(image.shape)}", "Erase")
        out = image if self.inplace and image.flags.writeable else image.copy()
        out[top:top + height, left:left + width] = self.value[0] if image.ndim == 2 or len(self.value) == 1 else self.value
        return out


def _grey(image: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """OpenCV's grey of uint8 channels, in whole numbers of 1 / 2^15; for floats the exact weights."""
    red, green, blue = (image[:, :, c] for c in order)
    if image.dtype == np.uint8:
        total = red.astype(np.int32) * 9798 + green.astype(np.int32) * 19235 + blue.astype(np.int32) * 3735
        return ((total + (1 << 14)) >> 15).astype(np.uint8)
    return (red * 0.299 + green * 0.587 + blue * 0.114).astype(image.dtype)


class ConvertColor(ImageOperation):
    """Other channels, or another order of them: convert_mode is one of ConvertMode. An added alpha channel is opaque (255). Raises TypeError."""

    def __init__(self, convert_mode: ConvertMode):
        self.convert_mode = enumeration("ConvertColor", "convert_mode", convert_mode, ConvertMode)

    def _pixels(self, image: np.ndarray, rng: Any) -> np.ndarray:
        source, target = self.convert_mode.name[len("COLOR_"):].split("2")
        channels = 1 if image.ndim == 2 else image.shape[2]
        wanted = 1 if source == "GRAY" else len(source)
        if channels != wanted:
            fail(ArgumentError, f"{self.convert_mode.name} takes {wanted} channels, got shape {list(image.shape)}", "ConvertColor")
        if source == "GRAY":
            planes = {c: image.reshape(image.shape[:2]) for c in "RGB"}
        else:
            planes = {c: image[:, :, i] for i, c in enumerate(source)}
        if target == "GRAY":
            return _grey(image, [source.index(c) for c in "RGB"])
        # MindSpore has BGR2RGBA and its like put alpha behind the colours, as everywhere.
        opaque = np.full(image.shape[:2], 255, image.dtype)
        return np.stack([planes.get(c, opaque) for c in target], axis=2)


class AdjustGamma(ImageOperation):
    """gain * x^gamma on values from 0 to 1, cut to that range; for floats (gain * x)^gamma, as MindSpore has it. Raises TypeError or ValueError."""

    def __init__(self, gamma: float, gain: float = 1):
        self.gamma, self.gain = check_float("AdjustGamma", "gamma", gamma, 0), check_float("AdjustGamma", "gain", gain)

    def _pixels(self, image: np.ndarray, rng: Any) -> np.ndarray:
        if image.dtype == np.uint8:
            levels = (256 - 1e-3) * self.gain * np.power(np.arange(256) / 255.0, self.gamma)
            return np.clip(levels, 0, 255).astype(np.uint8)[image]
        return np.clip(np.power(image * self.gain, self.gamma), 0, 1).astype(image.dtype)


class RandomAdjustSharpness(ImageOperation):
    """AdjustSharpness(degree) with probability prob. Raises TypeError or ValueError."""

    _random = True

    def __init__(self, degree: float, prob: float = 0.5):
        self.degree, self.prob = check_float("RandomAdjustSharpness", "degree", degree, 0), probability("RandomAdjustSharpness", prob)

    def _pixels(self, image: np.ndarray, rng: Any) -> np.ndarray:
        return _pixels.adjust_sharpness(image, self.degree) if rng.random() < self.prob else image


class RandomAutoContrast(ByteImageOperation):
    """AutoContrast with probability prob. Raises TypeError or ValueError."""

    _random = True

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5):
        who = "RandomAutoContrast"
        self.cutoff, self.prob = check_float(who, "cutoff", cutoff, 0, 50), probability(who, prob)
        self.ignore = [check_int32(who, "ignore", v, 0, 255) for v in ([] if ignore is None else _pixels.flat_list(ignore))]

    def _bytes(self, image: np.ndarray, rng: Any) -> np.ndarray:
        return _pixels.auto_contrast(image, self.cutoff, self.ignore) if rng.random() < self.prob else image


class RandomEqualize(ByteImageOperation):
    """Equalize with probability prob. Raises TypeError or ValueError."""

    _random = True

    def __init__(self, prob: float = 0.5):
        self.prob = probability("RandomEqualize", prob)

    def _bytes(self, image: np.ndarray, rng: Any) -> np.ndarray:
        return _pixels.equalize(image) if rng.random() < self.prob else image


def get_image_size(image: Any) -> List[int]:
    """[height, width] of an array or an image of Pillow."""
    return [image.height, image.width] if is_pil(image) else list(image_of("get_image_size", image).shape[:2])


def get_image_num_channels(image: Any) -> int:
    """The channels of an array or an image of Pillow; 1 for [H, W]."""
    if is_pil(image):
        return len(image.getbands())
    array = image_of("get_image_num_channels", image)
    return 1 if array.ndim == 2 else array.shape[2]


def read_file(filename: str) -> np.ndarray:
    """The bytes of a file, uint8 [n]. Raises TypeError, or OSError for one that cannot be read."""
    if not isinstance(filename, (str, os.PathLike)):
        fail(TypeError, f"filename must be a str, got {filename!r}", "read_file")
    return np.fromfile(filename, np.uint8)


def write_file(filename: str, data: Any) -> None:
    """Writes the bytes of a uint8 [n] array to a file. Raises TypeError, or OSError for one that cannot be written."""
    array = data.asnumpy() if isinstance(data, _core.Tensor) else np.asarray(data)
    if not isinstance(filename, (str, os.PathLike)):
        fail(TypeError, f"filename must be a str, got {filename!r}", "write_file")
    if array.dtype != np.uint8 or array.ndim != 1:
        fail(TypeError, f"a uint8 array [n] is expected, got {array.dtype}{list(array.shape)}", "write_file")
    array.tofile(filename)
