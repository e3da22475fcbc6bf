"""Image transforms that mix the images of a batch, in C++, and those that choose among transforms, in C++ if all of those are."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import ArgumentError, check_float, check_int32, enumeration, fail
from sindri.dataset._transform import NativeOperation, PyOperation, TensorOperation, as_operations, core_chain
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


class _Mixing(NativeOperation):
    """Base class of MixUpBatch and CutMixBatch."""

    _random = True
    _columns = 2

    def _call(self, rng: Any, values: Sequence[Any]) -> Any:
        return super()._call(rng, _batch(type(self).__name__, values))


class MixUpBatch(_Mixing):
    """Mixes the images and one-hot labels of a batch with a permutation of the batch, by one weight from Beta(alpha, alpha). Use after batch().

    Labels become float32. uint8 images are rounded, so place it after Normalize.

    Args:
        alpha (float): The parameter of the Beta distribution, positive. Default: 1.0.

    Raises:
        TypeError: If `alpha` is not a number.
        ValueError: If `alpha` is not positive.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> images, labels = np.zeros((2, 4, 4, 3), np.float32), np.eye(2, dtype=np.float32)
        >>> mixed = vision.MixUpBatch()(images, labels)
        >>> mixed[0].shape, mixed[1].sum(1).round(4).tolist()
        ((2, 4, 4, 3), [1.0, 1.0])
    """

    def __init__(self, alpha: float = 1.0):
        self.alpha = check_float("MixUpBatch", "alpha", alpha, 0)
        if self.alpha == 0:
            fail(ValueError, "alpha must be positive, got 0", "MixUpBatch")
        super().__init__(_core.dataset.mix_up_batch(self.alpha))


class CutMixBatch(_Mixing):
    """Replaces a box of an image by that of another image of the batch, with probability `prob` per image, and mixes the one-hot labels by area. Use after
    batch().

    The box has the share (1 - w) of height and width for w from Beta(alpha, alpha), around a uniform position. Labels become float32.

    Args:
        image_batch_format (ImageBatchFormat): NHWC or NCHW.
        alpha (float): The parameter of the Beta distribution, positive. Default: 1.0.
        prob (float): The probability. Default: 1.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> images, labels = np.zeros((2, 4, 4, 3), np.float32), np.eye(2, dtype=np.float32)
        >>> mixed = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)(images, labels)
        >>> mixed[0].shape, mixed[1].sum(1).round(4).tolist()
        ((2, 4, 4, 3), [1.0, 1.0])
    """

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0):
        self.format = enumeration("CutMixBatch", "image_batch_format", image_batch_format, ImageBatchFormat)
        self.alpha = check_float("CutMixBatch", "alpha", alpha, 0)
        if self.alpha == 0:
            fail(ValueError, "alpha must be positive, got 0", "CutMixBatch")
        self.prob = probability("CutMixBatch", prob)
        super().__init__(_core.dataset.cut_mix_batch(self.format == ImageBatchFormat.NHWC, self.alpha, self.prob))


# Choices among transforms.


class UniformAugment(PyOperation):
    """Chooses transforms of a list uniformly and applies each with probability 1/2.

    Args:
        transforms (sequence): The transforms.
        num_ops (int): The number of transforms to choose. Default: 2.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_ops` is not positive or larger than the number of transforms.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> augment = vision.UniformAugment([vision.RandomCrop(4), vision.CenterCrop(4), vision.Resize((4, 4))], num_ops=3)
        >>> augment(np.zeros((4, 4, 3), np.uint8)).shape
        (4, 4, 3)
    """

    _random = True

    def __init__(self, transforms: Sequence[Any], num_ops: int = 2):
        self.transforms = [as_operations("UniformAugment", t) for t in _pixels.flat_list(transforms)]
        self.num_ops = check_int32("UniformAugment", "num_ops", num_ops, 1)
        if self.num_ops > len(self.transforms):
            fail(ValueError, f"num_ops={num_ops} is more than the {len(self.transforms)} transforms", "UniformAugment")

    def _core_transform(self) -> Optional[Any]:
        chains = core_chains(self.transforms)
        return None if chains is None else _core.dataset.uniform_augment(chains, self.num_ops)

    def _run(self, rng: Any, *values: Any) -> Any:
        for i in rng.choice(len(self.transforms), self.num_ops, replace=False):
            if rng.random() < 0.5:
                values = apply_all(self.transforms[i], rng, values)
        return values if len(values) > 1 else values[0]


class RandomSelectSubpolicy(PyOperation):
    """Applies a sub-policy, chosen uniformly. Each transform of the sub-policy runs with its own probability.

    Args:
        policy (list): The sub-policies, lists of tuples (transform, probability).

    Raises:
        TypeError: If `policy` is not a list of lists of (transform, probability).
        ValueError: If a probability is not from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> augment = vision.RandomSelectSubpolicy([[(vision.Invert(), 1.0), (vision.Posterize(1), 0.0)]])
        >>> augment(np.array([[[100], [200]]], np.uint8)).tolist()
        [[[155], [55]]]
    """

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

    def _core_transform(self) -> Optional[Any]:
        policy: Any = [[(core_chain(operations), prob) for operations, prob in sub] for sub in self.policy]
        if any(chain is None for sub in policy for chain, _ in sub):
            return None
        return _core.dataset.random_select_subpolicy(policy)

    def _run(self, rng: Any, *values: Any) -> Any:
        for operations, prob in self.policy[int(rng.integers(len(self.policy)))]:
            if rng.random() < prob:
                values = apply_all(operations, rng, values)
        return values if len(values) > 1 else values[0]


def core_chains(groups: Sequence[Sequence[TensorOperation]]) -> Optional[List[List[Any]]]:
    """Returns the C++ transforms of each group; None if one of them needs Python."""
    chains = []
    for group in groups:
        chain = core_chain(group)
        if chain is None:
            return None
        chains.append(chain)
    return chains


def apply_all(operations: Sequence[TensorOperation], rng: Any, values: Sequence[Any]) -> Tuple[Any, ...]:
    """Applies operations in sequence; a tuple result stands for several columns."""
    for operation in operations:
        result = operation._call(rng, values)
        values = result if isinstance(result, tuple) else (result,)
    return tuple(values)
