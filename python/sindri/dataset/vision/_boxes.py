"""Transforms of an image together with its bounding boxes, columns (image, boxes): boxes [N, 4 or more] of (x, y, width, height, ...) in pixels. Boxes
that a crop removes entirely are dropped; if none remains, the result has one box of zeros. All run in C++.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from sindri import _core, context
from sindri._check import ArgumentError, check_bool, check_float, check_int32, enumeration, fail, pair_of_numbers, size_2d
from sindri.dataset._transform import NativeOperation, TensorOperation, as_operations, core_chain
from sindri.dataset.vision._base import FLOAT_MAX_INTEGER, fill_of, native_inter, padding_of, probability
from sindri.dataset.vision.utils import Border, Inter

__all__ = ["BoundingBoxAugment", "RandomCropWithBBox", "RandomHorizontalFlipWithBBox", "RandomResizeWithBBox", "RandomResizedCropWithBBox",
           "RandomVerticalFlipWithBBox", "ResizeWithBBox"]


class _BoxOperation(NativeOperation):
    """Base class of the transforms with boxes."""

    _columns = 2

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        if len(values) == 2:
            shape = np.shape(values[1])
            if len(shape) != 2 or shape[1] < 4:
                fail(ArgumentError, f"boxes [N, 4 or more] are expected, got shape {list(shape)}", type(self).__name__)
        return super()._call(rng, values)


class RandomHorizontalFlipWithBBox(_BoxOperation):
    """Flips an image and its boxes horizontally with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If `prob` has another type.
        ValueError: If `prob` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 3), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> vision.RandomHorizontalFlipWithBBox(1.0)(image, boxes)[1].tolist()
        [[4.0, 0.0, 2.0, 2.0]]
    """

    _random = True

    def __init__(self, prob: float = 0.5):
        super().__init__(_core.dataset.flip_with_boxes(probability("RandomHorizontalFlipWithBBox", prob), False))


class RandomVerticalFlipWithBBox(_BoxOperation):
    """Flips an image and its boxes vertically with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If `prob` has another type.
        ValueError: If `prob` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 3), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> vision.RandomVerticalFlipWithBBox(1.0)(image, boxes)[1].tolist()
        [[0.0, 2.0, 2.0, 2.0]]
    """

    _random = True

    def __init__(self, prob: float = 0.5):
        super().__init__(_core.dataset.flip_with_boxes(probability("RandomVerticalFlipWithBBox", prob), True))


class ResizeWithBBox(_BoxOperation):
    """Resizes an image and its boxes, as Resize.

    Args:
        size (int, tuple[int]): (height, width); an int is the length of the shorter edge.
        interpolation (Inter): The interpolation. Default: Inter.LINEAR.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 3), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> vision.ResizeWithBBox((8, 12))(image, boxes)[1].tolist()
        [[0.0, 0.0, 4.0, 4.0]]
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR):
        who = "ResizeWithBBox"
        inter = native_inter(who, enumeration(who, "interpolation", interpolation, Inter))
        super().__init__(_core.dataset.resize_with_boxes(_core.dataset.resize(size_2d(who, size), inter, context.era() == 1)))


class RandomResizeWithBBox(_BoxOperation):
    """Resizes an image and its boxes with a random interpolation, as RandomResize.

    Args:
        size (int, tuple[int]): (height, width); an int is the length of the shorter edge.

    Raises:
        TypeError: If `size` has another type.
        ValueError: If `size` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 3), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> vision.RandomResizeWithBBox((8, 12))(image, boxes)[1].tolist()
        [[0.0, 0.0, 4.0, 4.0]]
    """

    _random = True

    def __init__(self, size: Any):
        super().__init__(_core.dataset.resize_with_boxes(_core.dataset.random_resize(size_2d("RandomResizeWithBBox", size), context.era() == 1)))


class RandomCropWithBBox(_BoxOperation):
    """Crops an image and its boxes at a random position, as RandomCrop.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        padding (int, tuple[int], optional): As of RandomCrop. Default: None.
        pad_if_needed (bool): As of RandomCrop. Default: False.
        fill_value (int, tuple[int]): As of RandomCrop. Default: 0.
        padding_mode (Border): As of RandomCrop. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: When called, if the crop is larger than the image.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 3), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> vision.RandomCropWithBBox((4, 6))(image, boxes)[1].tolist()
        [[0.0, 0.0, 2.0, 2.0]]
    """

    _random = True

    def __init__(self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT):
        who = "RandomCropWithBBox"
        crop = _core.dataset.random_crop(size_2d(who, size), [] if padding is None else padding_of(who, padding),
                                         check_bool(who, "pad_if_needed", pad_if_needed), fill_of(who, fill_value),
                                         enumeration(who, "padding_mode", padding_mode, Border).value)
        super().__init__(_core.dataset.crop_with_boxes(crop))


class RandomResizedCropWithBBox(_BoxOperation):
    """Crops and resizes an image and its boxes, as RandomResizedCrop.

    Args:
        size (int, tuple[int]): (height, width), or the edge of a square.
        scale (tuple[float, float]): As of RandomResizedCrop. Default: (0.08, 1.0).
        ratio (tuple[float, float]): As of RandomResizedCrop. Default: (3/4, 4/3).
        interpolation (Inter): The interpolation. Default: Inter.BILINEAR.
        max_attempts (int): As of RandomResizedCrop. Default: 10.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 3), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> vision.RandomResizedCropWithBBox(8)(image, boxes)[0].shape
        (8, 8, 3)
    """

    _random = True

    def __init__(self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4.0, 4.0 / 3.0), interpolation: Inter = Inter.BILINEAR,
                 max_attempts: int = 10):
        who = "RandomResizedCropWithBBox"
        shares = pair_of_numbers(who, "scale", scale, 0.0, FLOAT_MAX_INTEGER)
        aspects = pair_of_numbers(who, "ratio", ratio, 0.0, FLOAT_MAX_INTEGER)
        if shares[1] <= 0 or aspects[0] <= 0:
            fail(ValueError, f"the upper scale and the lower ratio must be above 0, got {scale} and {ratio}", who)
        crop = _core.dataset.random_resized_crop(size_2d(who, size), shares, aspects, native_inter(who, interpolation),
                                                 check_int32(who, "max_attempts", max_attempts, 1))
        super().__init__(_core.dataset.crop_with_boxes(crop))


class BoundingBoxAugment(_BoxOperation):
    """Applies a transform to the image inside randomly chosen boxes.

    Args:
        transform (TensorOperation): A C++ transform of dataset.vision that keeps the size and type of an image.
        ratio (float): The fraction of boxes to choose, from 0 to 1. Default: 0.3.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image, boxes = np.zeros((4, 6, 1), np.uint8), np.array([[0, 0, 2, 2]], np.float32)
        >>> int(vision.BoundingBoxAugment(vision.Invert(), 1.0)(image, boxes)[0].sum()) // 255
        4
    """

    _random = True

    def __init__(self, transform: Any, ratio: float = 0.3):
        who = "BoundingBoxAugment"
        if not isinstance(transform, TensorOperation):
            fail(TypeError, f"transform must be one of dataset.vision, got {transform!r}", who)
        chain = core_chain(as_operations(who, transform))
        if chain is None:
            fail(ValueError, f"{transform._name()} is not a C++ transform of one column", who, "use one of dataset.vision that accepts and returns an array")
        super().__init__(_core.dataset.bounding_box_augment(chain, check_float(who, "ratio", ratio, 0.0, 1.0)))
