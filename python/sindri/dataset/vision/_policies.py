"""Augmentation policies that draw operations and their strengths, for uint8 RGB images, all in C++."""
from __future__ import annotations

from typing import Any

from sindri import _core
from sindri._check import check_int32, enumeration, fail
from sindri.dataset.vision._base import ByteOperation, fill_of, native_inter
from sindri.dataset.vision.utils import AutoAugmentPolicy, Inter

__all__ = ["AutoAugment", "RandAugment", "TrivialAugmentWide"]


class _Policy(ByteOperation):
    """Base class of the policies."""

    _random = True
    _channels = (3,)


class RandAugment(_Policy):
    """Applies `num_ops` operations in sequence, drawn from 14, all with the strength `magnitude` of num_magnitude_bins steps (arXiv:1909.13719).

    Args:
        num_ops (int): The number of operations. Default: 2.
        magnitude (int): The strength, below num_magnitude_bins. Default: 9.
        num_magnitude_bins (int): The number of strengths, at least 2. Default: 31.
        interpolation (Inter): The interpolation of geometric operations. Default: Inter.NEAREST.
        fill_value (int, tuple[int]): The value outside of the image, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandAugment()(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    def __init__(self, num_ops: int = 2, magnitude: int = 9, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0):
        who = "RandAugment"
        self.num_ops = check_int32(who, "num_ops", num_ops, 0)
        self.num_magnitude_bins = check_int32(who, "num_magnitude_bins", num_magnitude_bins, 2)
        self.magnitude = check_int32(who, "magnitude", magnitude, 0)
        if self.magnitude >= self.num_magnitude_bins:
            fail(ValueError, f"magnitude must be below num_magnitude_bins={num_magnitude_bins}, got {magnitude}", who)
        super().__init__(_core.dataset.rand_augment(self.num_ops, self.magnitude, self.num_magnitude_bins, native_inter(who, interpolation),
                                                    fill_of(who, fill_value)))


class TrivialAugmentWide(_Policy):
    """Applies one operation, drawn from 14, with a random one of num_magnitude_bins strengths (arXiv:2103.10158).

    Args:
        num_magnitude_bins (int): The number of strengths, at least 2. Default: 31.
        interpolation (Inter): The interpolation of geometric operations. Default: Inter.NEAREST.
        fill_value (int, tuple[int]): The value outside of the image, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.TrivialAugmentWide()(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    def __init__(self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0):
        who = "TrivialAugmentWide"
        self.num_magnitude_bins = check_int32(who, "num_magnitude_bins", num_magnitude_bins, 2)
        super().__init__(_core.dataset.trivial_augment_wide(self.num_magnitude_bins, native_inter(who, interpolation), fill_of(who, fill_value)))


class AutoAugment(_Policy):
    """Applies one of the 25 pairs of operations that were found for the dataset `policy` (arXiv:1805.09501).

    Args:
        policy (AutoAugmentPolicy): The dataset. Default: AutoAugmentPolicy.IMAGENET.
        interpolation (Inter): The interpolation of geometric operations. Default: Inter.NEAREST.
        fill_value (int, tuple[int]): The value outside of the image, from 0 to 255. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AutoAugment()(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    def __init__(self, policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0):
        who = "AutoAugment"
        self.policy = enumeration(who, "policy", policy, AutoAugmentPolicy)
        super().__init__(_core.dataset.auto_augment(policy.value, native_inter(who, interpolation), fill_of(who, fill_value)))
