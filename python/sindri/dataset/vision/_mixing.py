"""Image transforms that mix the images of a batch, or choose among transforms. All in NumPy."""
from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np

from sindri._check import ArgumentError, check_float, check_int32, enumeration, fail
from sindri.dataset._transform import PyOperation, TensorOperation, as_operations
from sindri.dataset.vision import _pixels
from sindri.dataset.vision._base import probability
from sindri.dataset.vision.utils import ImageBatchFormat

__all__ = ["CutMixBatch", "MixUpBatch", "RandomSelectSubpolicy", "UniformAugment"]

# Batches of images with one-hot labels.


def _batch(who: str, values: Sequence[Any]) -> Tuple[np.ndarray, np.ndarray]:
    if len(values) != 2:
        fail(ArgumentError, f"two columns are expected, images and one-hot labels, got {len(values)}", who, 'give input_columns=["image", "label"]')
    images, labels = np.asarray(values[0]), np.asarray(values[1])
    if images.ndim != 4 or labels.ndim not in (2, 3) or len(images) != len(labels):
        fail(ArgumentError, f"images [N, H, W, C] and labels [N, classes] are expected, got {list(images.shape)} and {list(labels.shape)}", who,
             "use OneHot on the labels, and batch() before this")
    return images, labels


class MixUpBatch(PyOperation):
    """After batch(): images and one-hot labels mixed with those of a permutation of the batch, by one weight from Beta(alpha, alpha). Labels become
    float32.

    uint8 images are rounded: put it behind Normalize. Raises TypeError or ValueError.
    """

    _random = True

    def __init__(self, alpha: float = 1.0):
        self.alpha = check_float("MixUpBatch", "alpha", alpha, 0)
        if self.alpha == 0:
            fail(ValueError, "alpha must be positive, got 0", "MixUpBatch")

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray]:
        images, labels = _batch("MixUpBatch", values)
        weight, other = rng.beta(self.alpha, self.alpha), rng.permutation(len(images))
        mixed = weight * images.astype(np.float64) + (1 - weight) * images[other]
        targets = weight * labels.astype(np.float64) + (1 - weight) * labels[other]
        return _pixels.to_dtype(mixed, images.dtype), targets.astype(np.float32)


class CutMixBatch(PyOperation):
    """After batch(): with probability prob per image, a box of another image of the batch; labels are mixed by the area of the box, as float32.

    The box has (1 - w) of height and width for w from Beta(alpha, alpha), around a uniform place. Raises TypeError or ValueError.
    """

    _random = True

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0):
        self.format = enumeration("CutMixBatch", "image_batch_format", image_batch_format, ImageBatchFormat)
        self.alpha = check_float("CutMixBatch", "alpha", alpha, 0)
        if self.alpha == 0:
            fail(ValueError, "alpha must be positive, got 0", "CutMixBatch")
        self.prob = probability("CutMixBatch", prob)

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray]:
        images, labels = _batch("CutMixBatch", values)
        source = images if self.format == ImageBatchFormat.NHWC else images.transpose(0, 2, 3, 1)
        out, targets = source.copy(), labels.astype(np.float32)
        height, width = source.shape[1:3]
        other = rng.permutation(len(source))
        for i in range(len(source)):
            if rng.random() >= self.prob:
                continue
            side = 1 - rng.beta(self.alpha, self.alpha)
            y, x, h, w = int(rng.integers(height)), int(rng.integers(width)), int(height * side), int(width * side)
            top, left, bottom, right = max(0, y - h // 2), max(0, x - w // 2), min(height, y - h // 2 + h), min(width, x - w // 2 + w)
            out[i, top:bottom, left:right] = source[other[i], top:bottom, left:right]
            share = (bottom - top) * (right - left) / (height * width)
            targets[i] = (1 - share) * labels[i] + share * labels[other[i]]
        return out if self.format == ImageBatchFormat.NHWC else np.ascontiguousarray(out.transpose(0, 3, 1, 2)), targets


# Choices among transforms.


class UniformAugment(PyOperation):
    """num_ops transforms of the list, chosen uniformly, each applied with probability 1/2. Raises TypeError or ValueError."""

    _random = True

    def __init__(self, transforms: Sequence[Any], num_ops: int = 2):
        self.transforms = [as_operations("UniformAugment", t) for t in _pixels.flat_list(transforms)]
        self.num_ops = check_int32("UniformAugment", "num_ops", num_ops, 1)
        if self.num_ops > len(self.transforms):
            fail(ValueError, f"num_ops={num_ops} is more than the {len(self.transforms)} transforms", "UniformAugment")

    def _run(self, rng: Any, *values: Any) -> Any:
        for i in rng.choice(len(self.transforms), self.num_ops, replace=False):
            if rng.random() < 0.5:
                values = apply_all(self.transforms[i], rng, values)
        return values if len(values) > 1 else values[0]


class RandomSelectSubpolicy(PyOperation):
    """One of the sub-policies, each a list of (transform, probability). Raises TypeError or ValueError."""

    _random = True

    def __init__(self, policy: Sequence[Sequence[Tuple[Any, float]]]):
        who = "RandomSelectSubpolicy"
        if not isinstance(policy, list) or not policy or not all(isinstance(sub, list) and sub for sub in policy):
            fail(TypeError, f"policy must be a list of lists of (transform, probability), got {policy!r}", who)
        self.policy: List[List[Tuple[List[TensorOperation], float]]] = []
        for sub in policy:
            if not all(isinstance(entry, tuple) and len(entry) == 2 for entry in sub):
                fail(TypeError, f"a sub-policy must hold tuples (transform, probability), got {sub!r}", who)
            self.policy.append([(as_operations(who, op), probability(who, prob)) for op, prob in sub])

    def _run(self, rng: Any, *values: Any) -> Any:
        for operations, prob in self.policy[int(rng.integers(len(self.policy)))]:
            if rng.random() < prob:
                values = apply_all(operations, rng, values)
        return values if len(values) > 1 else values[0]


def apply_all(operations: Sequence[TensorOperation], rng: Any, values: Sequence[Any]) -> Tuple[Any, ...]:
    """The operations one after another; a tuple is several columns."""
    for operation in operations:
        result = operation._call(rng, values)
        values = result if isinstance(result, tuple) else (result,)
    return tuple(values)
