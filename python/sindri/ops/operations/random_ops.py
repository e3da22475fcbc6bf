"""Random primitives. Seeds of 0 draw from the engine's state (set_seed); other seeds select a separate stream."""
from __future__ import annotations

from typing import Union

from sindri.common import dtype as mstype
from sindri.ops._util import Tensor
from sindri.ops.function import random_func as F
from sindri.ops.primitive import like, primitive

StandardNormal = primitive("StandardNormal", F.normal_with_seeds, seed=0, seed2=0)
StandardLaplace = primitive("StandardLaplace",
                            like(F.standard_laplace, lambda shape, seed, seed2: F.standard_laplace(shape, F._seed(seed, seed2))), seed=0, seed2=0)
TruncatedNormal = primitive("TruncatedNormal",
                            like(F.truncated_normal, lambda shape, dtype, seed, seed2: F.truncated_normal(shape, dtype, seed, seed2)), (), ("dtype",),
                            dtype=mstype.float32, seed=0, seed2=0)
UniformReal = primitive("UniformReal", F.uniform_real, seed=0, seed2=0)
UniformInt = primitive("UniformInt", F.uniform_int, seed=0, seed2=0)


def _bernoulli(x: Tensor, p: Union[Tensor, float], seed: int, offset: int) -> Tensor:
    """Draws 1 with probability p, else 0.

    `p` has no default: a single operand could mean the shape or, as in torch.bernoulli, the probabilities.

    Args:
        x (Tensor): The tensor whose shape and type are used.
        p (Tensor or float): The probability, one for all or one per element.
        seed (int): The seed of a separate stream; -1 uses the engine's state.
        offset (int): A second seed.

    Returns:
        A tensor of x's shape and type.

    Raises:
        ValueError: If the number `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Bernoulli()(ms.ops.zeros((3,)), 1.0))
        [1. 1. 1.]
    """
    return F.bernoulli(x, p, None if seed == -1 else (seed, offset))


Bernoulli = primitive("Bernoulli", _bernoulli, seed=-1, offset=0)
Multinomial = primitive("Multinomial",
                        like(F.multinomial, lambda x, n, seed, seed2, dtype: F.core.cast(F.multinomial(x, int(n), True, F._seed(seed, seed2)), dtype)), (),
                        ("dtype",), seed=0, seed2=0, dtype=mstype.int32)
RandomCategorical = primitive("RandomCategorical", like(F.random_categorical, lambda logits, n, seed=0,
                              dtype=mstype.int64: F.random_categorical(logits, int(n), int(seed), dtype)), (), ("dtype",), dtype=mstype.int64)
RandpermV2 = primitive("RandpermV2",
                       like(F.randperm, lambda n, seed, offset, dtype: F.randperm(int(n), seed, offset, dtype)), (), ("dtype",), seed=0, offset=0,
                       dtype=mstype.int64)
Randperm = primitive("Randperm", F.padded_randperm, (), ("dtype",), max_length=1, pad=-1, dtype=mstype.int32)
RandomShuffle = primitive("RandomShuffle", like(F.shuffle, lambda x, seed, seed2: F.shuffle(x, F._seed(seed, seed2))), seed=0, seed2=0)
RandomChoiceWithMask = primitive("RandomChoiceWithMask", F.choice_with_mask_seeds, count=256, seed=0, seed2=0)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__]
