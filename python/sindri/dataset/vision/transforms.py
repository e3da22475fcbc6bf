"""Image transforms (MindSpore: mindspore.dataset.vision). Images are uint8 or float32 arrays [H, W, C] or [H, W], or Pillow images, unless stated.

In pipelines all run in C++ except ToPIL, ToNumpy, ToType to integers, and RgbToHsv, HsvToRgb, LinearTransformation and MixUp in _more.py.
"""
from __future__ import annotations

import math
from typing import Any, List, Sequence, Tuple

import numpy as np

from sindri import _core, context
from sindri._check import ArgumentError, check_bool, check_float, check_int32, enumeration, fail, is_int, is_number, pair_of_numbers, size_2d
from sindri.dataset._transform import NativeOperation, PyOperation, is_pil, numpy_type, to_pil
from sindri.dataset.vision import _pillow, _pixels
from sindri.dataset.vision._base import (FLOAT_MAX_INTEGER, NATIVE_INTER, ByteOperation, PixelOperation, fill_of, image_of, native_inter, padding_of,
                                          pillow_filter, probability, sides)
from sindri.dataset.vision._boxes import *
from sindri.dataset.vision._colour import *
from sindri.dataset.vision._files import *
from sindri.dataset.vision._geometry import *
from sindri.dataset.vision._mixing import *
from sindri.dataset.vision._more import *
from sindri.dataset.vision._policies import *
from sindri.dataset.vision.utils import Border, Inter, SliceMode

__all__ = ["AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness", "Affine", "AutoAugment",
           "AutoContrast", "BoundingBoxAugment", "CenterCrop", "ConvertColor", "Crop", "CutMixBatch", "CutOut", "Decode", "Equalize", "Erase",
           "FiveCrop", "GaussianBlur", "Grayscale", "HWC2CHW", "HorizontalFlip", "HsvToRgb", "Invert", "LinearTransformation", "MixUp", "MixUpBatch",
           "Normalize", "NormalizePad", "Pad", "PadToSize", "Perspective", "Posterize", "RandAugment", "RandomAdjustSharpness", "RandomAffine",
           "RandomAutoContrast", "RandomColor", "RandomColorAdjust", "RandomCrop", "RandomCropDecodeResize", "RandomCropWithBBox", "RandomEqualize",
           "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomHorizontalFlipWithBBox", "RandomInvert", "RandomLighting",
           "RandomPerspective", "RandomPosterize", "RandomResize", "RandomResizeWithBBox", "RandomResizedCrop", "RandomResizedCropWithBBox",
           "RandomRotation", "RandomSelectSubpolicy", "RandomSharpness", "RandomSolarize", "RandomVerticalFlip", "RandomVerticalFlipWithBBox",
           "Rescale", "Resize", "ResizeWithBBox", "ResizedCrop", "RgbToHsv", "Rotate", "SlicePatches", "Solarize", "TenCrop", "ToNumpy", "ToPIL",
           "ToTensor", "ToType", "TrivialAugmentWide", "UniformAugment", "VerticalFlip", "encode_jpeg", "encode_png", "get_image_num_channels",
           "get_image_size", "read_file", "read_image", "write_file", "write_jpeg", "write_png"]

_RATIO = (3.0 / 4.0, 4.0 / 3.0)


class Decode(NativeOperation):
    """Decodes the bytes of an image file, uint8 [n] or bytes, to RGB pixels, uint8 [H, W, 3].

    Args:
        to_pil (bool): Whether to return a Pillow image. Default: False.
        rgb (bool): The 1.x argument, which must be True. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `rgb` is False.
        BadSample: A RuntimeError when called, if the bytes cannot be decoded.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> data = vision.encode_png(np.full((2, 3, 3), 7, np.uint8))
        >>> vision.Decode()(data).shape
        (2, 3, 3)
    """

    def __init__(self, to_pil: bool = False, rgb: bool = True):
        self.to_pil = check_bool("Decode", "to_pil", to_pil)
        if check_bool("Decode", "rgb", rgb) is not True:
            fail(ValueError, "only RGB is supported", "Decode", "omit rgb")
        super().__init__(_core.dataset.decode())
        self._makes_pil = to_pil

    def _core_transform(self) -> Any:
        return None if self.to_pil else self._transform

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        value = np.frombuffer(values[0], np.uint8) if isinstance(values[0], (bytes, bytearray)) else np.asarray(values[0])
        image = super()._call(rng, [value])
        return to_pil("Decode", image) if self.to_pil else image

    def __call__(self, *values: Any) -> Any:
        return self._call(None, values)


class Resize(NativeOperation):
    """Resizes images [H, W], [H, W, C] and batches [..., H, W, C] with any number of channels.

    Args:
        size (int, tuple[int]): (height, width); an int is the length of the shorter edge, and the longer edge is truncated to whole pixels (rounded with
            SINDRI_MINDSPORE_ERA=1).
        interpolation (Inter): The interpolation; PILCUBIC and PILLINEAR are Pillow's filters. Default: Inter.LINEAR.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Resize(4)(np.zeros((8, 12, 3), np.uint8)).shape
        (4, 6, 3)
    """

    _keeps_pillow = True

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR):
        self.size = size_2d("Resize", size)
        self.interpolation = enumeration("Resize", "interpolation", interpolation, Inter)
        self._rounds = context.era() == 1
        super().__init__(self._made())

    def _made(self) -> Any:
        native = NATIVE_INTER.get(self.interpolation)
        if native is not None:
            return _core.dataset.resize(self.size, native, self._rounds)
        if self.interpolation in (Inter.PILCUBIC, Inter.PILLINEAR):
            return _core.dataset.pillow_resize(self.size, self.interpolation == Inter.PILCUBIC, self._rounds)
        return None

    def _name(self) -> str:
        return super()._name() if self._transform is not None else f"Resize({self.size}, {self.interpolation.name})"

    def _target(self, height: int, width: int) -> Tuple[int, int]:
        if len(self.size) == 2:
            return self.size[0], self.size[1]
        exact = np.float32(max(height, width)) / np.float32(min(height, width)) * np.float32(self.size[0])
        return self._with_longer(int(math.floor(exact + 0.5) if self._rounds else exact), height, width)

    def _pillow_target(self, height: int, width: int) -> Tuple[int, int]:
        if len(self.size) == 2 or self._rounds:
            return self._target(height, width)
        if min(height, width) == self.size[0]:
            return height, width
        # MindSpore uses the aspect w / h in double precision here, which at times yields one pixel less than for arrays.
        return self._with_longer(int(self.size[0] / (width / height)) if width < height else int(self.size[0] * (width / height)), height, width)

    def _with_longer(self, longer: int, height: int, width: int) -> Tuple[int, int]:
        return (self.size[0], longer) if height <= width else (longer, self.size[0])

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        if self._transform is None and not is_pil(values[0]):
            fail(TypeError, f"ANTIALIAS needs a Pillow image, got {type(values[0]).__name__}", "Resize",
                 "put ToPIL() or Decode(to_pil=True) before it, or use PILLINEAR")
        return super()._call(rng, values)

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        height, width = self._pillow_target(image.height, image.width)
        return image.resize((width, height), pillow_filter(self.interpolation))


class CenterCrop(NativeOperation):
    """Crops the centre of an image; a smaller image is padded with 0.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.

    Raises:
        TypeError: If `size` has another type.
        ValueError: If `size` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.CenterCrop(1)(np.arange(9, dtype=np.uint8).reshape(3, 3)).tolist()
        [[4]]
    """

    _keeps_pillow = True

    def __init__(self, size: Any):
        self.size = size_2d("CenterCrop", size)
        super().__init__(_core.dataset.center_crop(self.size))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        # For Pillow images half pixels round to even, and the area outside of the image is zero.
        height, width = self.size[0], self.size[-1]
        top, left = round((image.height - height) / 2), round((image.width - width) / 2)
        return image.crop((left, top, left + width, top + height))


class RandomCrop(NativeOperation):
    """Pads an image, then crops it at a uniform position.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        padding (int, tuple[int], optional): For all sides, (left and right, top and bottom) or (left, top, right, bottom). Default: None.
        pad_if_needed (bool): Whether to pad images smaller than `size`. Default: False.
        fill_value (int, tuple[int]): The value of constant padding, from 0 to 255. Default: 0.
        padding_mode (Border): The kind of padding. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: When called, if the crop is larger than the image.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomCrop(4, padding=1)(np.zeros((4, 6, 3), np.uint8)).shape
        (4, 4, 3)
    """

    _random = True
    _keeps_pillow = True

    def __init__(self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT):
        who = "RandomCrop"
        self.size = size_2d(who, size)
        self.padding = [] if padding is None else self._sides_of(padding_of(who, padding))
        self.pad_if_needed = check_bool(who, "pad_if_needed", pad_if_needed)
        self.fill_value = fill_of(who, fill_value)
        self.padding_mode = enumeration(who, "padding_mode", padding_mode, Border)
        super().__init__(_core.dataset.random_crop(self.size, self.padding, pad_if_needed, self.fill_value, padding_mode.value))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        height, width = self.size[0], self.size[-1]
        if self.padding:
            image = _pillow.padded(image, sides(self.padding), self.fill_value, self.padding_mode.value)
        right, down = (max(0, want - have) if self.pad_if_needed else 0 for want, have in zip((width, height), image.size))
        if right or down:
            image = _pillow.padded(image, (right, down, right, down), self.fill_value, self.padding_mode.value)
        if height > image.height or width > image.width:
            fail(ArgumentError, f"the crop of {height} x {width} is larger than the image of {image.height} x {image.width}", "RandomCrop",
                 "resize first, or set padding or pad_if_needed")
        top, left = int(rng.integers(image.height - height + 1)), int(rng.integers(image.width - width + 1))
        return image.crop((left, top, left + width, top + height))

    @staticmethod
    def _sides_of(padding: List[int]) -> List[int]:
        return padding


class RandomResizedCrop(NativeOperation):
    """Crops a random area with a random aspect ratio and resizes it. Pillow images are resized with Pillow's filters.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        scale (tuple[float, float]): The range of the area, as a fraction of the image. Default: (0.08, 1.0).
        ratio (tuple[float, float]): The range of width / height. Default: (3/4, 4/3).
        interpolation (Inter): The interpolation. Default: Inter.BILINEAR.
        max_attempts (int): The number of attempts before a central crop is used. Default: 10.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomResizedCrop(4)(np.zeros((8, 12, 3), np.uint8)).shape
        (4, 4, 3)
    """

    _random = True
    _keeps_pillow = True
    _make: Any = staticmethod(_core.dataset.random_resized_crop)

    def __init__(self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = _RATIO, interpolation: Inter = Inter.BILINEAR, max_attempts: int = 10):
        who = type(self).__name__
        self.size = size_2d(who, size)
        self.scale = pair_of_numbers(who, "scale", scale, 0.0, FLOAT_MAX_INTEGER)
        self.ratio = pair_of_numbers(who, "ratio", ratio, 0.0, FLOAT_MAX_INTEGER)
        if self.scale[1] <= 0 or self.ratio[0] <= 0:
            fail(ValueError, f"the upper scale and the lower ratio must be above 0, got {scale} and {ratio}", who)
        self.interpolation = interpolation
        self.max_attempts = check_int32(who, "max_attempts", max_attempts, 1)
        super().__init__(self._make(self.size, self.scale, self.ratio, native_inter(who, interpolation), self.max_attempts))

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        if not is_pil(values[0]) and not np.size(values[0]):
            fail(ArgumentError, f"an image with pixels is expected, got shape {list(np.shape(values[0]))}", type(self).__name__)
        return super()._call(rng, values)

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        left, top, width, height = self._box(image.width, image.height, rng)
        size = (self.size[-1], self.size[0])
        return image.resize(size, pillow_filter(self.interpolation), box=(left, top, left + width, top + height))

    def _box(self, width: int, height: int, rng: np.random.Generator) -> Tuple[int, int, int, int]:
        for _ in range(self.max_attempts):
            area = rng.uniform(*self.scale) * width * height
            aspect = math.exp(rng.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = int(math.sqrt(area * aspect) + 0.5), int(math.sqrt(area / aspect) + 0.5)
            if 0 < w <= width and 0 < h <= height:
                return int(rng.integers(width - w + 1)), int(rng.integers(height - h + 1)), w, h
        aspect = min(max(width / height, self.ratio[0]), self.ratio[1])
        w, h = min(width, int(height * aspect + 0.5)), min(height, int(width / aspect + 0.5))
        return (width - w) // 2, (height - h) // 2, w, h


class RandomCropDecodeResize(RandomResizedCrop):
    """Decode and RandomResizedCrop in one step, on the bytes of an image file; decodes only the part that the crop needs.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        scale (tuple[float, float]): The range of the area, as a fraction of the image. Default: (0.08, 1.0).
        ratio (tuple[float, float]): The range of width / height. Default: (3/4, 4/3).
        interpolation (Inter): The interpolation. Default: Inter.BILINEAR.
        max_attempts (int): The number of attempts before a central crop is used. Default: 10.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        BadSample: A RuntimeError when called, if the bytes cannot be decoded.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> data = vision.encode_jpeg(np.zeros((8, 12, 3), np.uint8))
        >>> vision.RandomCropDecodeResize(4)(data).shape
        (4, 4, 3)
    """

    _keeps_pillow = False
    _make: Any = staticmethod(_core.dataset.random_crop_decode_resize)

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        value = values[0]
        return NativeOperation._call(self, rng, [np.frombuffer(value, np.uint8) if isinstance(value, (bytes, bytearray)) else value])


class RandomHorizontalFlip(NativeOperation):
    """Flips an image horizontally with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If `prob` is not a number.
        ValueError: If `prob` is outside of [0, 1].

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomHorizontalFlip(1.0)(np.array([[1, 2]], np.uint8)).tolist()
        [[2, 1]]
    """

    _random = True
    _keeps_pillow = True

    def __init__(self, prob: float = 0.5):
        self.prob = probability("RandomHorizontalFlip", prob)
        super().__init__(_core.dataset.random_horizontal_flip(self.prob))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.flipped(image, across=True) if rng.random() < self.prob else image


class HorizontalFlip(NativeOperation):
    """Flips an image horizontally.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.HorizontalFlip()(np.array([[1, 2]], np.uint8)).tolist()
        [[2, 1]]
    """

    def __init__(self) -> None:
        super().__init__(_core.dataset.horizontal_flip())


class Rescale(NativeOperation):
    """Computes x * rescale + shift in float32, for numeric arrays of any shape.

    Args:
        rescale (float): The factor.
        shift (float): The summand.

    Raises:
        TypeError: If an argument is not a number.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Rescale(0.5, 1.0)(np.array([[0, 2]], np.uint8)).tolist()
        [[1.0, 2.0]]
    """

    def __init__(self, rescale: float, shift: float):
        super().__init__(_core.dataset.rescale(check_float("Rescale", "rescale", rescale), check_float("Rescale", "shift", shift)))


def _mean_std(who: str, mean: Any, std: Any) -> Tuple[List[float], List[float]]:
    for name, values in (("mean", mean), ("std", std)):
        if not isinstance(values, (list, tuple, np.ndarray)) or len(values) == 0:
            fail(TypeError, f"{name} must be a non-empty list of numbers, got {values!r}", who)
    if len(mean) != len(std):
        fail(ValueError, f"mean and std must have the same length, got {len(mean)} and {len(std)}", who)
    means, stds = [check_float(who, "mean", v) for v in mean], [check_float(who, "std", v) for v in std]
    if not all(v > 0 for v in stds):
        fail(ValueError, f"std must be positive, got {stds}", who)
    return means, stds


class Normalize(NativeOperation):
    """Computes (x - mean) / std per channel in float32. Accepts numeric arrays with any number of channels, and batches of images.

    Args:
        mean (Sequence[float]): One value per channel, or one for all, in the units of the input.
        std (Sequence[float]): The same, positive.
        is_hwc (bool): Whether images are [H, W, C] instead of [C, H, W]. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, or when called, the image has another number of channels.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> normalize = vision.Normalize([100, 0, 0], [50, 1, 1])
        >>> normalize(np.array([[[200, 1, 2]]], np.uint8)).tolist()
        [[[2.0, 1.0, 2.0]]]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True):
        self.mean, self.std = _mean_std("Normalize", mean, std)
        self.is_hwc = check_bool("Normalize", "is_hwc", is_hwc)
        super().__init__(_core.dataset.normalize(self.mean, self.std, is_hwc))


class HWC2CHW(NativeOperation):
    """Transposes [H, W, C] to [C, H, W]; [H, W] stays unchanged.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.HWC2CHW()(np.zeros((4, 6, 3), np.float32)).shape
        (3, 4, 6)
    """

    def __init__(self) -> None:
        super().__init__(_core.dataset.hwc2chw())


# Types and layouts.


class NormalizePad(NativeOperation):
    """Applies Normalize and appends a channel of zeros.

    Args:
        mean (Sequence[float]): One value per channel, in the units of the input.
        std (Sequence[float]): The same, positive.
        dtype (str): 'float32' or 'float16'. Default: "float32".
        is_hwc (bool): Whether images are [H, W, C] instead of [C, H, W]. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        ArgumentError: A ValueError and RuntimeError when called, if the image has another number of channels.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.NormalizePad([0, 0, 0], [1, 1, 1])(np.ones((2, 2, 3), np.uint8)).shape
        (2, 2, 4)
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True):
        who = "NormalizePad"
        self.mean, self.std = _mean_std(who, mean, std)
        if dtype not in ("float32", "float16"):
            fail(ValueError, f"dtype must be 'float32' or 'float16', got {dtype!r}", who)
        self.is_hwc = check_bool(who, "is_hwc", is_hwc)
        super().__init__(_core.dataset.normalize_pad(self.mean, self.std, dtype, is_hwc))

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        image = np.asarray(values[0])
        if image.ndim != 3 or image.shape[2 if self.is_hwc else 0] != len(self.mean):
            fail(ArgumentError, f"an image with {len(self.mean)} channels is expected, got shape {list(image.shape)}", "NormalizePad")
        return self._transform.apply([image], 0)[0]


class ToTensor(PyOperation):
    """Converts [H, W, C] or [H, W] to [C, H, W] and divides by 255.

    Args:
        output_type (DType, type): The result's type. Default: numpy.float32.

    Raises:
        TypeError: If `output_type` is not a type.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.ToTensor()(np.array([[0, 255]], np.uint8)).tolist()
        [[[0.0, 1.0]]]
    """

    def __init__(self, output_type: Any = np.float32):
        self.output_type = numpy_type("ToTensor", "output_type", output_type)
        native = self.output_type.kind == "f" and self.output_type.itemsize <= 8
        self._transform = _core.dataset.to_tensor(self.output_type.name) if native else None

    def _core_transform(self) -> Any:
        return self._transform

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        image = image_of("ToTensor", values[0])
        if self._transform is not None:
            return self._transform.apply([image], 0)[0]
        planes = image[None] if image.ndim == 2 else image.transpose(2, 0, 1)
        return (planes.astype(np.float32) * np.float32(1 / 255)).astype(self.output_type)


class ToPIL(PyOperation):
    """Converts a uint8 array to a Pillow image. The operations after it in the same map run in Python.

    Raises:
        TypeError: When called, if Pillow cannot represent the array.
        RuntimeError: When called, if Pillow is not installed.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.ToNumpy()(vision.ToPIL()(np.zeros((8, 12, 3), np.uint8))).shape
        (8, 12, 3)
    """

    _makes_pil = True

    def _run(self, rng: Any, *values: Any) -> Any:
        return values[0] if is_pil(values[0]) else to_pil("ToPIL", image_of("ToPIL", values[0]))


class ToNumpy(PyOperation):
    """Converts a Pillow image to an array.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.ToNumpy()(vision.ToPIL()(np.zeros((8, 12), np.uint8))).shape
        (8, 12)
    """

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        return np.array(values[0])


class ToType(PyOperation):
    """Casts an array.

    Args:
        data_type (DType, type): A type of NumPy or of sindri.common.dtype.

    Raises:
        TypeError: If `data_type` is not a type.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.ToType(np.float32)(np.array([1, 2], np.uint8)).dtype
        dtype('float32')
    """

    def __init__(self, data_type: Any):
        self.data_type = numpy_type("ToType", "data_type", data_type)
        # For integers NumPy's conversion wraps, whereas that in C++ saturates.
        native = self.data_type.kind == "f" and self.data_type.itemsize <= 8
        self._transform = _core.dataset.type_cast(self.data_type.name) if native else None

    def _core_transform(self) -> Any:
        return self._transform

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        return np.asarray(values[0]).astype(self.data_type)


class SlicePatches(PyOperation):
    """Splits an image into num_height * num_width patches, row by row. Each patch is a column.

    Args:
        num_height (int): The number of patches from top to bottom. Default: 1.
        num_width (int): The number of patches from left to right. Default: 1.
        slice_mode (SliceMode): PAD pads an image whose size is not divisible; DROP drops the remainder. Default: SliceMode.PAD.
        fill_value (int): The value of padding, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, ArgumentError if the image has fewer pixels than patches in a direction.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> [patch.shape for patch in vision.SlicePatches(2, 1)(np.zeros((8, 12, 3), np.uint8))]
        [(4, 12, 3), (4, 12, 3)]
    """

    def __init__(self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD, fill_value: int = 0):
        who = "SlicePatches"
        self.num_height, self.num_width = check_int32(who, "num_height", num_height, 1), check_int32(who, "num_width", num_width, 1)
        self.slice_mode = enumeration(who, "slice_mode", slice_mode, SliceMode)
        self.fill_value = check_int32(who, "fill_value", fill_value, 0, 255)

    def _core_transform(self) -> Any:
        return _core.dataset.slice_patches(self.num_height, self.num_width, self.slice_mode == SliceMode.DROP, self.fill_value)

    def _run(self, rng: Any, *values: Any) -> Any:
        image = image_of("SlicePatches", values[0])
        height, width = image.shape[:2]
        if self.num_height > height or self.num_width > width:
            fail(ArgumentError, f"an image of {height} x {width} cannot be cut into {self.num_height} x {self.num_width} patches", "SlicePatches")
        drop = self.slice_mode == SliceMode.DROP
        h = height // self.num_height if drop else -(-height // self.num_height)
        w = width // self.num_width if drop else -(-width // self.num_width)
        if not drop:
            image = _pixels.pad(image, (0, 0, w * self.num_width - width, h * self.num_height - height), [self.fill_value], "constant")
        patches = tuple(np.ascontiguousarray(image[i * h:(i + 1) * h, j * w:(j + 1) * w]) for i in range(self.num_height)
                        for j in range(self.num_width))
        return patches if len(patches) > 1 else patches[0]


# Geometry.


class VerticalFlip(PixelOperation):
    """Flips an image, or a batch [..., H, W, C], vertically.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.VerticalFlip()(np.array([[1], [2]], np.uint8)).tolist()
        [[2], [1]]
    """

    _batches = True

    def __init__(self) -> None:
        super().__init__(_core.dataset.vertical_flip())


class RandomVerticalFlip(PixelOperation):
    """Flips an image, or a batch [..., H, W, C], vertically with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If `prob` is not a number.
        ValueError: If `prob` is outside of [0, 1].

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomVerticalFlip(1.0)(np.array([[1], [2]], np.uint8)).tolist()
        [[2], [1]]
    """

    _random = True
    _batches = True
    _keeps_pillow = True

    def __init__(self, prob: float = 0.5):
        self.prob = probability("RandomVerticalFlip", prob)
        super().__init__(_core.dataset.random_vertical_flip(self.prob))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.flipped(image, across=False) if rng.random() < self.prob else image


class Pad(PixelOperation):
    """Adds a border.

    Args:
        padding (int, tuple[int]): For all sides, (left and right, top and bottom) or (left, top, right, bottom).
        fill_value (int, tuple[int]): The value of constant padding, from 0 to 255. Default: 0.
        padding_mode (Border): The kind of padding. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Pad((1, 0))(np.array([[5]], np.uint8)).tolist()
        [[0, 5, 0]]
    """

    _keeps_pillow = True

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT):
        self.padding = sides(self._sides_of(padding_of("Pad", padding)))
        self.fill_value = fill_of("Pad", fill_value)
        self.padding_mode = enumeration("Pad", "padding_mode", padding_mode, Border)
        super().__init__(_core.dataset.pad(self.padding, self.fill_value, padding_mode.value))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.padded(image, self.padding, self.fill_value, self.padding_mode.value)

    @staticmethod
    def _sides_of(padding: List[int]) -> List[int]:
        return padding


class PadToSize(PixelOperation):
    """Pads an image to a size.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        offset (int, tuple[int], optional): The position (top, left) of the image in the result; an int is used for both. Default: None, the centre.
        fill_value (int, tuple[int]): The value of constant padding, from 0 to 255. Default: 0.
        padding_mode (Border): The source of padding pixels. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: When called, if the image is larger than `size`.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.PadToSize((3, 3))(np.ones((1, 1, 1), np.uint8))[:, :, 0].tolist()
        [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    """

    def __init__(self, size: Any, offset: Any = None, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT):
        who = "PadToSize"
        self.size = size_2d(who, size)
        places = [] if offset is None else [offset] if is_int(offset) else list(offset)
        if len(places) not in (0, 1, 2):
            fail(ValueError, f"offset must be an int or (top, left), got {offset!r}", who)
        self.offset = [check_int32(who, "offset", v, 0) for v in places]
        self.fill_value = fill_of(who, fill_value)
        self.padding_mode = enumeration(who, "padding_mode", padding_mode, Border)
        super().__init__(_core.dataset.pad_to_size(self.size, self.offset * 2 if len(self.offset) == 1 else self.offset, self.fill_value,
                                                   padding_mode.value))


class Crop(PixelOperation):
    """Crops an image at a fixed position.

    Args:
        coordinates (tuple[int, int]): The position (top, left).
        size (int, tuple[int]): (height, width), or the edge of a square.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: When called, if the crop is not inside the image.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Crop((1, 0), (2, 1))(np.arange(9, dtype=np.uint8).reshape(3, 3)).tolist()
        [[3], [6]]
    """

    def __init__(self, coordinates: Any, size: Any):
        if not isinstance(coordinates, (list, tuple)) or len(coordinates) != 2:
            fail(TypeError, f"coordinates must be (top, left), got {coordinates!r}", "Crop")
        self.top, self.left = (check_int32("Crop", "coordinates", v, 0) for v in coordinates)
        self.size = size_2d("Crop", size)
        super().__init__(_core.dataset.crop(self.top, self.left, self.size))


class ResizedCrop(PixelOperation):
    """Crops an image at a fixed position and resizes the crop.

    Args:
        top (int): The first row of the crop.
        left (int): The first column of the crop.
        height (int): The height of the crop, positive.
        width (int): The width of the crop, positive.
        size (int, tuple[int]): (height, width) of the result, or the edge of a square.
        interpolation (Inter): The interpolation. Default: Inter.BILINEAR.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: When called, if the crop is not inside the image.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.ResizedCrop(0, 0, 4, 4, size=(2, 3))(np.zeros((8, 12, 3), np.uint8)).shape
        (2, 3, 3)
    """

    def __init__(self, top: int, left: int, height: int, width: int, size: Any, interpolation: Inter = Inter.BILINEAR):
        who = "ResizedCrop"
        self.box = (check_int32(who, "top", top), check_int32(who, "left", left), check_int32(who, "height", height, 1),
                    check_int32(who, "width", width, 1))
        edges = size_2d(who, size)
        self.size = (edges[0], edges[-1])
        self.interpolation = enumeration(who, "interpolation", interpolation, Inter)
        super().__init__(_core.dataset.resized_crop(self.box, self.size, native_inter(who, interpolation)))


class RandomResize(PixelOperation):
    """Resizes with a random interpolation, chosen for each image or batch [..., H, W, C].

    Args:
        size (int, tuple[int]): (height, width); an int is the length of the shorter edge.

    Raises:
        TypeError: If `size` has another type.
        ValueError: If `size` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomResize((4, 6))(np.zeros((8, 12, 3), np.uint8)).shape
        (4, 6, 3)
    """

    _random = True
    _batches = True

    def __init__(self, size: Any):
        self.size = size_2d("RandomResize", size)
        super().__init__(_core.dataset.random_resize(self.size, context.era() == 1))


# Erased regions.


class CutOut(NativeOperation):
    """Sets squares at uniform random positions to 0.

    Args:
        length (int): The edge of a square in pixels.
        num_patches (int): The number of squares. Default: 1.
        is_hwc (bool): Whether the image is [H, W, C]; otherwise [C, H, W]. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> int(vision.CutOut(length=2)(np.ones((1, 1, 3), np.uint8)).sum())
        0
    """

    _random = True

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True):
        self.length, self.num_patches = check_int32("CutOut", "length", length, 1), check_int32("CutOut", "num_patches", num_patches, 1)
        self.is_hwc = check_bool("CutOut", "is_hwc", is_hwc)
        super().__init__(_core.dataset.cut_out(self.length, self.num_patches, self.is_hwc))

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        image = np.asarray(values[0])
        if image.ndim not in (2, 3) or not image.size:
            fail(ArgumentError, f"an image with pixels is expected, got shape {list(image.shape)}", "CutOut")
        return super()._call(rng, values)


class RandomErasing(NativeOperation):
    """Fills a random rectangle of an array [C, H, W] with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.
        scale (tuple[float, float]): The range of the area, as a fraction of the image. Default: (0.02, 0.33).
        ratio (tuple[float, float]): The range of the aspect ratio. Default: (0.3, 3.3).
        value (float, tuple[float], str): A number, one per channel, or 'random' for noise. Default: 0.
        inplace (bool): Whether a direct call changes the given array. Default: False.
        max_attempts (int): The number of attempts to place the rectangle. Default: 10.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> erased = vision.RandomErasing(1.0)(np.ones((3, 32, 32), np.float32))
        >>> bool(0 < erased.mean() < 1)
        True
    """

    _random = True

    def __init__(self, prob: float = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0, inplace: bool = False,
                 max_attempts: int = 10):
        who = "RandomErasing"
        self.prob = probability(who, prob)
        self.scale = pair_of_numbers(who, "scale", scale, 0.0, FLOAT_MAX_INTEGER)
        self.ratio = pair_of_numbers(who, "ratio", ratio, 0.0, FLOAT_MAX_INTEGER)
        if self.ratio[0] <= 0:
            fail(ValueError, f"the lower ratio must be above 0, got {ratio}", who)
        values = [] if value == "random" else [check_float(who, "value", v) for v in _pixels.flat_list(value)]
        self.value = value
        self.inplace = check_bool(who, "inplace", inplace)
        self.max_attempts = check_int32(who, "max_attempts", max_attempts, 1)
        super().__init__(_core.dataset.random_erasing(self.prob, self.scale, self.ratio, values, self.max_attempts))

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        image = np.asarray(values[0])
        if image.ndim != 3:
            fail(ArgumentError, f"an array [C, H, W] is expected, got shape {list(image.shape)}", "RandomErasing",
                 "put ToTensor() or HWC2CHW() before it")
        out = super()._call(rng, [image])
        if self.inplace and image.flags.writeable:
            image[...] = out
            return image
        return out
