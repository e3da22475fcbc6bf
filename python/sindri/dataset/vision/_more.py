"""MindSpore 2.x image transforms that are not in transforms.py."""
from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_float, check_int32, fail, is_int, is_number
from sindri.dataset._transform import PyOperation
from sindri.dataset.vision import _pixels
from sindri.dataset.vision._base import PixelOperation

__all__ = ["Erase", "GaussianBlur", "HsvToRgb", "LinearTransformation", "MixUp", "RgbToHsv"]


class GaussianBlur(PixelOperation):
    """Blurs with a Gaussian kernel.

    Args:
        kernel_size (int, tuple[int, int]): The size of the kernel, odd, or (width, height).
        sigma (float, tuple[float, float], optional): The standard deviation, or (x, y). Default: None, derived from `kernel_size`.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image = np.zeros((5, 5, 1), np.uint8)
        >>> image[2, 2] = 100
        >>> int(vision.GaussianBlur(3, 0.5)(image)[2, 2, 0])
        62
    """

    def __init__(self, kernel_size: Any, sigma: Any = None):
        who = "GaussianBlur"
        sizes = [kernel_size] if is_int(kernel_size) else kernel_size
        if not isinstance(sizes, (list, tuple)) or len(sizes) not in (1, 2):
            fail(TypeError, f"kernel_size must be an int or a tuple of 2, got {kernel_size!r}", who)
        self.kernel = [check_int32(who, "kernel_size", v, 1, 4095) for v in sizes]
        if any(v % 2 == 0 for v in self.kernel):
            fail(ValueError, f"kernel_size must be odd, got {kernel_size}", who)
        # As in MindSpore, the sigma of the first size is used for both.
        sigmas = [self.kernel[0] * 0.15 + 0.35] if sigma is None else [sigma] if is_number(sigma) else sigma
        if not isinstance(sigmas, (list, tuple)) or len(sigmas) not in (1, 2):
            fail(TypeError, f"sigma must be a number or a tuple of 2, got {sigma!r}", who)
        self.sigma = [check_float(who, "sigma", v, 0) for v in sigmas]
        super().__init__(_core.dataset.gaussian_blur([self.kernel[-1], self.kernel[0]], self.sigma[0], self.sigma[-1]))


class Erase(PixelOperation):
    """Fills a rectangle of an image [H, W, C] with a value.

    Args:
        top (int): The first row of the rectangle.
        left (int): The first column of the rectangle.
        height (int): The height of the rectangle, positive.
        width (int): The width of the rectangle, positive.
        value (float, tuple[float]): The value from 0 to 255, or one per channel. Default: 0.
        inplace (bool): Whether a direct call changes the given array. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: When called, if the rectangle is not inside the image.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Erase(0, 1, 2, 1, value=9)(np.ones((2, 3, 1), np.uint8))[:, :, 0].tolist()
        [[1, 9, 1], [1, 9, 1]]
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
        super().__init__(_core.dataset.erase(self.box, self.value))

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        out = super()._call(rng, values)
        if self.inplace and isinstance(values[0], np.ndarray) and values[0].flags.writeable:
            values[0][...] = out
            return values[0]
        return out


class _HsvConversion(PyOperation):
    """Base class of the conversions between RGB and HSV, with all values from 0 to 1, for an image or a batch. NumPy, in float64."""

    def __init__(self, is_hwc: bool = False):
        self.is_hwc = check_bool(type(self).__name__, "is_hwc", is_hwc)

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        images = np.asarray(values[0])
        axis = -1 if self.is_hwc else -3
        if images.ndim not in (3, 4) or images.shape[axis] != 3:
            fail(ArgumentError, f"an image or a batch of images of 3 channels is expected, got shape {list(images.shape)}", type(self).__name__,
                 "set is_hwc to True if the channels come last")
        parts = np.moveaxis(images.astype(np.float64), axis, 0)
        return np.ascontiguousarray(np.moveaxis(np.stack(self._converted(*parts)), 0, axis))

    def _converted(self, *parts: np.ndarray) -> List[np.ndarray]:
        raise NotImplementedError


class RgbToHsv(_HsvConversion):
    """Converts RGB to hue, saturation and value, all from 0 to 1, for an image [C, H, W] or a batch [N, C, H, W].

    Args:
        is_hwc (bool): Whether the channels come last: [H, W, C] or [N, H, W, C]. Default: False.

    Raises:
        TypeError: If `is_hwc` is not a bool.
        ValueError: When called, ArgumentError for other shapes.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RgbToHsv(is_hwc=True)(np.array([[[0.0, 0.5, 0.0]]])).tolist()
        [[[0.3333333333333333, 1.0, 0.5]]]
    """

    def _converted(self, *parts: np.ndarray) -> List[np.ndarray]:
        r, g, b = parts
        high = np.maximum(np.maximum(r, g), b)
        span = high - np.minimum(np.minimum(r, g), b)
        safe, top = np.where(span == 0, 1, span), np.where(high == 0, 1, high)
        red, green, blue = (high - r) / safe, (high - g) / safe, (high - b) / safe
        sector = np.where(r == high, blue - green, np.where(g == high, 2 + red - blue, 4 + green - red))
        return [np.where(span == 0, 0, sector / 6 % 1), span / top, high]


class HsvToRgb(_HsvConversion):
    """Converts hue, saturation and value to RGB, all from 0 to 1, for an image [C, H, W] or a batch [N, C, H, W].

    Args:
        is_hwc (bool): Whether the channels come last: [H, W, C] or [N, H, W, C]. Default: False.

    Raises:
        TypeError: If `is_hwc` is not a bool.
        ValueError: When called, ArgumentError for other shapes.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.HsvToRgb(is_hwc=True)(np.array([[[0.0, 1.0, 0.5]]])).tolist()
        [[[0.5, 0.0, 0.0]]]
    """

    def _converted(self, *parts: np.ndarray) -> List[np.ndarray]:
        h, s, v = parts
        sector = np.floor(h * 6).astype(np.int64)
        f = h * 6 - sector
        p, q, t = v * (1 - s), v * (1 - s * f), v * (1 - s * (1 - f))
        place = sector % 6
        return [np.choose(place, choice) for choice in ([v, q, p, p, t, v], [t, v, v, q, p, p], [p, p, t, v, v, q])]


class LinearTransformation(PyOperation):
    """Computes (flattened image - mean_vector) @ transformation_matrix and returns it in the image's shape.

    Args:
        transformation_matrix (numpy.ndarray): The matrix [D, D], for images of D values.
        mean_vector (numpy.ndarray): The vector [D].

    Raises:
        TypeError: If an argument is not a NumPy array.
        ValueError: If the shapes do not match; when called, ArgumentError if the image does not have D values.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.LinearTransformation(2 * np.eye(4), np.ones(4))(np.arange(4.0).reshape(1, 2, 2)).tolist()
        [[[-2.0, 0.0], [2.0, 4.0]]]
    """

    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray):
        who = "LinearTransformation"
        for name, value in (("transformation_matrix", transformation_matrix), ("mean_vector", mean_vector)):
            if not isinstance(value, np.ndarray):
                fail(TypeError, f"{name} must be a NumPy array, got {value!r}", who)
        if transformation_matrix.ndim != 2 or len({*transformation_matrix.shape, *mean_vector.shape}) != 1 or mean_vector.ndim != 1:
            fail(ValueError, f"a matrix [D, D] and a vector [D] are expected, got {list(transformation_matrix.shape)} and {list(mean_vector.shape)}", who)
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        image = np.asarray(values[0])
        if image.size != self.mean_vector.size:
            fail(ArgumentError, f"an image of {self.mean_vector.size} numbers is expected, got shape {list(image.shape)}", "LinearTransformation")
        return ((image.reshape(1, -1) - self.mean_vector) @ self.transformation_matrix).reshape(image.shape)


class MixUp(PyOperation):
    """Mixes the images and one-hot labels of a batch with those of the next row, by weights from Beta(alpha, alpha), in float64.

    Args:
        batch_size (int): The number of images of a batch.
        alpha (float): The parameter of the Beta distribution, positive.
        is_single (bool): False mixes with the result of the previous call instead, which requires a single worker. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, ArgumentError if the batch has another size.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> images, labels = np.zeros((2, 4, 4, 3), np.float32), np.eye(2, dtype=np.float32)
        >>> mixed = vision.MixUp(batch_size=2, alpha=1.0)(images, labels)
        >>> mixed[0].shape, mixed[1].sum(1).round(4).tolist()
        ((2, 4, 4, 3), [1.0, 1.0])
    """

    _random = True

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True):
        self.batch_size = check_int32("MixUp", "batch_size", batch_size, 1)
        self.alpha = check_float("MixUp", "alpha", alpha, above=0)
        self.is_single = check_bool("MixUp", "is_single", is_single)
        self._before: Any = None

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray]:
        if len(values) != 2:
            fail(ArgumentError, f"two columns are expected, images and one-hot labels, got {len(values)}", "MixUp")
        images, labels = np.asarray(values[0]), np.asarray(values[1])
        if len(images) != self.batch_size or len(labels) != self.batch_size:
            fail(ArgumentError, f"a batch of {self.batch_size} is expected, got {list(images.shape)} and {list(labels.shape)}", "MixUp")
        weights = rng.beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            others = np.roll(images, -1, axis=0), np.roll(labels, -1, axis=0)
        else:
            others = self._before or (images, labels)
        mixed = tuple(part * w + other * (1 - w) for part, other, w in
                      ((part, other, weights.reshape(-1, *[1] * (part.ndim - 1))) for part, other in zip((images, labels), others)))
        self._before = None if self.is_single else mixed
        return mixed[0], mixed[1]
