"""Image transforms that rotate, shear and warp, and those that return several crops. All run in C++."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_bool, check_float, enumeration, fail, is_number, pair_of_numbers, size_2d
from sindri.dataset._transform import NativeOperation, PyOperation, is_pil, to_pil
from sindri.dataset.vision import _pillow
from sindri.dataset.vision._base import (FLOAT_MAX_INTEGER, PixelOperation, center_of, fill_of, image_of, native_inter, pillow_warp_filter,
                                          probability)
from sindri.dataset.vision.utils import Inter

__all__ = ["Affine", "FiveCrop", "Perspective", "RandomAffine", "RandomPerspective", "RandomRotation", "Rotate", "TenCrop"]


class _Rotation(PixelOperation):
    """Base class of the rotations."""

    _batches = True

    def _set(self, who: str, degrees: Tuple[float, float], resample: Any, expand: Any, center: Any, fill_value: Any) -> None:
        enumeration(who, "resample", resample, Inter)
        self.degrees, self.resample, self.expand = degrees, resample, check_bool(who, "expand", expand)
        self.center, self.fill_value = center_of(who, center), fill_of(who, fill_value)
        NativeOperation.__init__(self, _core.dataset.rotate(degrees, native_inter(who, resample), self.expand, self.center or (), self.fill_value))


class Rotate(_Rotation):
    """Rotates counterclockwise.

    Args:
        degrees (float): The angle.
        resample (Inter): NEAREST, BILINEAR, BICUBIC or AREA (which equals BILINEAR). Default: Inter.NEAREST.
        expand (bool): Whether the result is enlarged to contain the whole image. Default: False.
        center (tuple[float, float], optional): The centre (x, y). Default: None, the image's centre.
        fill_value (int, tuple[int]): The value outside of the image, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Rotate(180)(np.array([[1, 2], [3, 4]], np.uint8)).tolist()
        [[4, 3], [2, 1]]
    """

    def __init__(self, degrees: float, resample: Inter = Inter.NEAREST, expand: bool = False, center: Any = None, fill_value: Any = 0):
        angle = check_float("Rotate", "degrees", degrees, -FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER)
        self._set("Rotate", (angle, angle), resample, expand, center, fill_value)


class RandomRotation(_Rotation):
    """Rotates by a uniform angle. Pillow rotates Pillow images, and its expanded image may be a pixel larger.

    Args:
        degrees (float, tuple[float, float]): The range (low, high); a number d means (-d, d).
        resample (Inter): As of Rotate. Default: Inter.NEAREST.
        expand (bool): As of Rotate. Default: False.
        center (tuple[float, float], optional): As of Rotate. Default: None.
        fill_value (int, tuple[int]): As of Rotate. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomRotation((180, 180))(np.array([[1, 2], [3, 4]], np.uint8)).tolist()
        [[4, 3], [2, 1]]
    """

    _random = True
    _keeps_pillow = True

    def __init__(self, degrees: Any, resample: Inter = Inter.NEAREST, expand: bool = False, center: Any = None, fill_value: Any = 0):
        who = "RandomRotation"
        most = check_float(who, "degrees", degrees, 0, FLOAT_MAX_INTEGER) if is_number(degrees) else FLOAT_MAX_INTEGER
        angles = (-most, most) if is_number(degrees) else pair_of_numbers(who, "degrees", degrees, -most, most)
        self._set(who, angles, resample, expand, center, fill_value)

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        resample = pillow_warp_filter("RandomRotation", self.resample)
        return _pillow.rotated(image, rng.uniform(*self.degrees), resample, self.expand, self.center, self.fill_value)


def _same(value: float) -> Tuple[float, float]:
    return value, value


class Affine(PixelOperation):
    """Rotates, translates, scales and shears an image.

    Args:
        degrees (float): The clockwise rotation in degrees.
        translate (tuple[float, float]): The translation in fractions of width and height, from -1 to 1.
        scale (float): The factor, positive.
        shear (float, tuple[float, float]): The shear in degrees, of x or of x and y.
        resample (Inter): The interpolation. Default: Inter.NEAREST.
        fill_value (int, tuple[int]): The value outside of the image, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Affine(180, (0, 0), 1.0, 0)(np.array([[[1], [2]], [[3], [4]]], np.uint8)).reshape(2, 2).tolist()
        [[4, 3], [2, 1]]
    """

    def __init__(self, degrees: float, translate: Sequence[float], scale: float, shear: Any, resample: Inter = Inter.NEAREST, fill_value: Any = 0):
        who = "Affine"
        self.degrees = check_float(who, "degrees", degrees, -FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER)
        self.translate = pair_of_numbers(who, "translate", translate, -1, 1, ordered=False)
        self.scale = check_float(who, "scale", scale, 0)
        if self.scale == 0:
            fail(ValueError, "scale must be positive, got 0", who)
        self.shear = (check_float(who, "shear", shear), 0.0) if is_number(shear) else pair_of_numbers(who, "shear", shear, ordered=False)
        inter, fill = native_inter(who, enumeration(who, "resample", resample, Inter)), fill_of(who, fill_value)
        super().__init__(_core.dataset.affine(_same(self.degrees), [_same(v) for v in self.translate], _same(self.scale), [_same(v) for v in self.shear],
                                              inter, fill))


def _ranges(who: str, name: str, value: Any, least: Optional[float], most: Optional[float]) -> List[Tuple[float, float]]:
    """Returns (low, high) for x and y from two numbers (none for y) or four."""
    if not isinstance(value, (list, tuple)) or len(value) not in (2, 4):
        fail(TypeError, f"{name} must be a tuple of 2 or 4 numbers, got {value!r}", who)
    return [pair_of_numbers(who, name, part, least, most) for part in (value[:2], value[2:] or (0, 0))]


class RandomAffine(PixelOperation):
    """Applies Affine with uniform random parameters. A Pillow image is translated by whole pixels and transformed by Pillow.

    Args:
        degrees (float, tuple[float, float]): The range (low, high) of the rotation; a number d means (-d, d).
        translate (tuple[float], optional): The range (x low, x high) or (x low, x high, y low, y high), in fractions of width and height. Default: None.
        scale (tuple[float, float], optional): The range (low, high). Default: None.
        shear (float, tuple[float], optional): As `translate`, in degrees; a number s means (-s, s). Default: None.
        resample (Inter): The interpolation. Default: Inter.NEAREST.
        fill_value (int, tuple[int]): The value outside of the image, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomAffine((180, 180))(np.array([[[1], [2]], [[3], [4]]], np.uint8)).reshape(2, 2).tolist()
        [[4, 3], [2, 1]]
    """

    _random = True
    _keeps_pillow = True

    def __init__(self, degrees: Any, translate: Any = None, scale: Any = None, shear: Any = None, resample: Inter = Inter.NEAREST, fill_value: Any = 0):
        who = "RandomAffine"
        most = check_float(who, "degrees", degrees, 0, FLOAT_MAX_INTEGER) if is_number(degrees) else FLOAT_MAX_INTEGER
        self.degrees = (-most, most) if is_number(degrees) else pair_of_numbers(who, "degrees", degrees, -most, most)
        self.translate = [(0.0, 0.0)] * 2 if translate is None else _ranges(who, "translate", translate, -1, 1)
        self.scale = (1.0, 1.0) if scale is None else pair_of_numbers(who, "scale", scale, 0, FLOAT_MAX_INTEGER)
        if self.scale[0] == 0:
            fail(ValueError, "the lower scale must be above 0", who)
        if is_number(shear):
            bound = check_float(who, "shear", shear, 0)
            shear = (-bound, bound)
        self.shear = [(0.0, 0.0)] * 2 if shear is None else _ranges(who, "shear", shear, None, None)
        self.resample, self.fill_value = enumeration(who, "resample", resample, Inter), fill_of(who, fill_value)
        super().__init__(_core.dataset.affine(self.degrees, self.translate, self.scale, self.shear, native_inter(who, resample), self.fill_value))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        resample = pillow_warp_filter("RandomAffine", self.resample)
        degrees, scale = rng.uniform(*self.degrees), rng.uniform(*self.scale)
        right, down = (round(rng.uniform(*share) * edge) for share, edge in zip(self.translate, image.size))
        return _pillow.affine(image, degrees, (right, down), scale, tuple(rng.uniform(*s) for s in self.shear), resample, self.fill_value)


def _points(who: str, name: str, points: Any) -> np.ndarray:
    """Returns four corners (x, y). Raises TypeError or ValueError."""
    if not isinstance(points, (list, tuple)) or len(points) != 4 or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in points):
        fail(TypeError, f"{name} must be four points (x, y), got {points!r}", who)
    return np.asarray([[check_float(who, name, v) for v in point] for point in points])


def _perspective(who: str, start: np.ndarray, end: np.ndarray) -> List[float]:
    """Returns the matrix [3, 3] that maps four points to four others."""
    rows = []
    for (x, y), (u, v) in zip(start, end):
        rows.append([x, y, 1, 0, 0, 0, -x * u, -y * u])
        rows.append([0, 0, 0, x, y, 1, -x * v, -y * v])
    try:
        return [*np.linalg.solve(np.asarray(rows, np.float64), end.ravel()).tolist(), 1.0]
    except np.linalg.LinAlgError:
        fail(ValueError, f"no perspective maps {start.tolist()} to {end.tolist()}", who, "three of the points must not lie on a line")


class Perspective(PixelOperation):
    """Applies the perspective transform that maps four points to four others. Points are (x, y), for example the corners clockwise from the top left.

    Args:
        start_points (sequence of tuple): The four points in the image.
        end_points (sequence of tuple): Their four positions in the result.
        interpolation (Inter): The interpolation. Default: Inter.BILINEAR.

    Raises:
        TypeError: If the points are not four pairs of numbers, or an argument has another type.
        ValueError: If three of the points lie on a line.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> corners, mirrored = [(0, 0), (2, 0), (2, 2), (0, 2)], [(2, 0), (0, 0), (0, 2), (2, 2)]
        >>> image = np.arange(9, dtype=np.uint8).reshape(3, 3, 1)
        >>> vision.Perspective(corners, mirrored, vision.Inter.NEAREST)(image)[:, :, 0].tolist()
        [[2, 1, 0], [5, 4, 3], [8, 7, 6]]
    """

    _keeps_pillow = True

    def __init__(self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR):
        who = "Perspective"
        start, end = _points(who, "start_points", start_points), _points(who, "end_points", end_points)
        self.interpolation, self._way_back = interpolation, _perspective(who, end, start)
        super().__init__(_core.dataset.warp(_perspective(who, start, end), native_inter(who, interpolation), [0]))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.perspective(image, self._way_back, pillow_warp_filter("Perspective", self.interpolation))


class RandomPerspective(PixelOperation):
    """Applies a random perspective transform with probability `prob`.

    Args:
        distortion_scale (float): The largest inward movement of each corner, as a fraction of half the image, from 0 to 1. Default: 0.5.
        prob (float): The probability. Default: 0.5.
        interpolation (Inter): The interpolation. Default: Inter.BICUBIC.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomPerspective(prob=1.0)(np.zeros((8, 12, 3), np.uint8)).shape
        (8, 12, 3)
    """

    _random = True
    _keeps_pillow = True

    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC):
        who = "RandomPerspective"
        self.distortion_scale, self.prob = check_float(who, "distortion_scale", distortion_scale, 0.0, 1.0), probability(who, prob)
        self.interpolation = interpolation
        super().__init__(_core.dataset.random_perspective(self.distortion_scale, self.prob, native_inter(who, interpolation)))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        who = "RandomPerspective"
        resample = pillow_warp_filter(who, self.interpolation)
        if rng.random() >= self.prob:
            return image
        corners, moved = _pillow.corners_moved_inwards(image.width, image.height, self.distortion_scale, rng)
        return _pillow.perspective(image, _perspective(who, np.asarray(moved, np.float64), np.asarray(corners, np.float64)), resample)


class FiveCrop(PyOperation):
    """Returns five crops of an image as five columns: the four corners, row by row from the top left, and the centre.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.

    Raises:
        TypeError: If `size` has another type.
        ValueError: If `size` is out of range; when called, ArgumentError, a ValueError, if the image is smaller than the crops.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> [int(crop[0, 0]) for crop in vision.FiveCrop(1)(np.arange(9, dtype=np.uint8).reshape(3, 3))]
        [0, 2, 6, 8, 4]
    """

    def __init__(self, size: Any):
        self.size = size_2d(type(self).__name__, size)

    def _core_transform(self) -> Any:
        return _core.dataset.corner_crops(self.size, False, False)

    def _parts(self, image: np.ndarray) -> List[np.ndarray]:
        height, width = self.size[0], self.size[-1]
        down, right = image.shape[0] - height, image.shape[1] - width
        if down < 0 or right < 0:
            fail(ArgumentError, f"crops of {height} x {width} are larger than the image {list(image.shape)}", type(self).__name__)
        places = [(0, 0), (0, right), (down, 0), (down, right), (round(down / 2), round(right / 2))]
        return [image[y:y + height, x:x + width] for y, x in places]

    def _run(self, rng: Any, *values: Any) -> Any:
        who = type(self).__name__
        parts = [np.ascontiguousarray(part) for part in self._parts(image_of(who, values[0]))]
        return tuple(to_pil(who, part) for part in parts) if is_pil(values[0]) else tuple(parts)


class TenCrop(FiveCrop):
    """Returns ten crops of an image as ten columns: FiveCrop of the image and of the flipped image.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        use_vertical_flip (bool): Flips vertically instead of horizontally. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `size` is out of range; when called, ArgumentError, a ValueError, if the image is smaller than the crops.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> [int(crop[0, 0]) for crop in vision.TenCrop(1)(np.arange(9, dtype=np.uint8).reshape(3, 3))]
        [0, 2, 6, 8, 4, 2, 0, 8, 6, 4]
    """

    def __init__(self, size: Any, use_vertical_flip: bool = False):
        super().__init__(size)
        self.use_vertical_flip = check_bool("TenCrop", "use_vertical_flip", use_vertical_flip)

    def _core_transform(self) -> Any:
        return _core.dataset.corner_crops(self.size, True, self.use_vertical_flip)

    def _parts(self, image: np.ndarray) -> List[np.ndarray]:
        return super()._parts(image) + super()._parts(image[::-1] if self.use_vertical_flip else image[:, ::-1])
