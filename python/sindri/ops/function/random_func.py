"""Random functions of sindri.ops. Numbers come from the engine's state (set_seed): the same program draws the same
numbers.

With a `seed` argument (not None) a call draws from a separate stream. The stream starts with the program and depends
on that seed, not on set_seed; each further call of the program draws further numbers.
"""
from __future__ import annotations

import math
from typing import Any, Dict, Optional, Union

import numpy as np

from sindri import _core
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Parameter, Size, Tensor, as_tensor, core, exported, is_float, to_int, to_ints


_streams: Dict[int, Parameter] = {}


def _draw(op: str, seed: Any, **attrs) -> Tensor:
    """Runs one of the engine's random ops: from the engine's state, or from the stream of a seed (an int or a pair).

    The stream's key (seed, number of draws, 0) is separate state, which advances in eager and in compiled code alike.
    """
    if seed is None:
        return getattr(core, op)(**attrs)
    first, second = seed if isinstance(seed, tuple) else (seed, 0)
    number = (to_int(first, "seed", "ops.random") * 2654435761 + to_int(second, "seed", "ops.random") + 1) % 2 ** 62
    if number not in _streams:
        _streams[number] = Parameter(Tensor(np.array([number, 0, 0])), name=f"rng_stream.{number}", requires_grad=False)
    stream = _streams[number]
    key = stream.value()
    out = _core.run_op(op, [key], {**attrs, "instance": 0})[0]
    stream.assign(core.add(key, Tensor(np.array([0, 1, 0]))))
    return out


def _seed(seed: Any, seed2: int = 0) -> Any:
    """Returns None for the primitives' default seeds of 0, else the pair."""
    return (seed, seed2) if seed or seed2 else None


def _dims(shape: Size, where: str) -> tuple:
    dims = to_ints(shape, "shape", where)
    if any(n < 0 for n in dims):
        fail(ValueError, f"shape {dims} has a negative dimension", where)
    return dims


def _sizes(size: tuple, where: str) -> tuple:
    """Returns the shape of randn(2, 3), randn((2, 3)) and randn()."""
    return _dims(size[0] if len(size) == 1 and not isinstance(size[0], int) else size, where)


def keep_mask(shape: tuple, keep_prob: float, dtype, seed: Any = None) -> Tensor:
    """Draws a dropout mask: 1/keep_prob with probability keep_prob, else 0. The first dimension counts samples.

    Args:
        shape (tuple): The shape.
        keep_prob (float): The probability to keep an element.
        dtype (dtype): A floating type.
        seed (int or tuple of ints): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        The mask.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.keep_mask((2,), 1.0, ms.float32))
        [1. 1.]
    """
    if seed is None:
        return core.dropout(core.full(shape, 1.0, dtype), keep_prob)
    return core.mul(_draw("random_bernoulli", seed, shape=shape, p=keep_prob, dtype=dtype), 1.0 / keep_prob)


def standard_normal(shape: Size, seed: Optional[int] = None) -> Tensor:
    """Draws float32 numbers from N(0, 1).

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.standard_normal((2, 3)).shape)
        (2, 3)
    """
    return _draw("random_normal", seed, shape=_dims(shape, "ops.standard_normal"), mean=0.0, stddev=1.0, dtype=mstype.float32)


def normal(shape: Size, mean: Union[Tensor, int, float], stddev: Union[Tensor, int, float], seed: Optional[int] = None) -> Tensor:
    """Draws float32 numbers from N(mean, stddev²).

    Args:
        shape (int, sequence of ints or Tensor): The shape; it is broadcast with those of `mean` and `stddev`.
        mean (Tensor or number): The mean.
        stddev (Tensor or number): The standard deviation.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.normal((2, 3), 0.0, 1.0).shape)
        (2, 3)
    """
    dims = _dims(shape, "ops.normal")
    if not isinstance(mean, Tensor) and not isinstance(stddev, Tensor):
        return _draw("random_normal", seed, shape=dims, mean=float(mean), stddev=float(stddev), dtype=mstype.float32)
    dims = _broadcast(dims, mean, stddev)
    return core.add(core.mul(standard_normal(dims, seed), stddev), mean)


def _broadcast(dims: tuple, *others: Any) -> tuple:
    for other in others:
        shape = other.shape if isinstance(other, Tensor) else ()
        longer, shorter = (dims, shape) if len(dims) >= len(shape) else (shape, dims)
        tail = tuple(b if a == 1 else a for a, b in zip(longer[len(longer) - len(shorter):], shorter))
        dims = longer[:len(longer) - len(shorter)] + tail
    return dims


def uniform(shape: Size, minval: Union[Tensor, int, float], maxval: Union[Tensor, int, float], seed: Optional[int] = None,
            dtype=mstype.float32) -> Tensor:
    """Draws numbers from [minval, maxval).

    Args:
        shape (int, sequence of ints or Tensor): The shape; it is broadcast with those of `minval` and `maxval`.
        minval (Tensor or number): The lower bound.
        maxval (Tensor or number): The exclusive upper bound.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.
        dtype (dtype): Float32, or int32 for whole numbers. Default: float32.

    Returns:
        A tensor of that type.

    Raises:
        TypeError: If `dtype` is another type.
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.uniform((2, 3), 0.0, 1.0).shape)
        (2, 3)
    """
    dims = _broadcast(_dims(shape, "ops.uniform"), minval, maxval)
    if dtype not in (mstype.float32, mstype.int32):
        fail(TypeError, f"dtype: expected int32 or float32, got {dtype}", "ops.uniform")
    if dtype is mstype.int32:
        return _whole(dims, minval, maxval, seed, dtype)
    if not isinstance(minval, Tensor) and not isinstance(maxval, Tensor):
        return _draw("random_uniform", seed, shape=dims, low=float(minval), high=float(maxval), dtype=dtype)
    unit = _draw("random_uniform", seed, shape=dims, low=0.0, high=1.0, dtype=dtype)
    return core.add(core.mul(unit, core.sub(as_tensor(maxval, unit), minval)), minval)


def _whole(dims: tuple, low: Any, high: Any, seed: Any, dtype) -> Tensor:
    """Draws whole numbers from [low, high), of 53 random bits each."""
    unit = _draw("random_uniform", seed, shape=dims, low=0.0, high=1.0, dtype=mstype.float64)
    low, high = (core.cast(as_tensor(v), mstype.float64) for v in (low, high))
    return core.cast(core.floor(core.add(core.mul(unit, core.sub(high, low)), low)), dtype)


def uniform_int(shape: Size, minval: Union[Tensor, int], maxval: Union[Tensor, int], seed: int = 0, seed2: int = 0) -> Tensor:
    """Draws int32 numbers from [minval, maxval).

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        minval (Tensor or int): The lower bound.
        maxval (Tensor or int): The exclusive upper bound.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        seed2 (int): A second seed. Default: 0.

    Returns:
        An int32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.UniformInt()((2, 3), 0, 10).shape)
        (2, 3)
    """
    return _whole(_dims(shape, "ops.UniformInt"), minval, maxval, _seed(seed, seed2), mstype.int32)


def uniform_real(shape: Size, seed: int = 0, seed2: int = 0) -> Tensor:
    """Draws float32 numbers from [0, 1).

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        seed2 (int): A second seed. Default: 0.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.UniformReal()((2, 3)).shape)
        (2, 3)
    """
    return _draw("random_uniform", _seed(seed, seed2), shape=_dims(shape, "ops.UniformReal"), low=0.0, high=1.0, dtype=mstype.float32)


def normal_with_seeds(shape: Size, seed: int = 0, seed2: int = 0) -> Tensor:
    """Draws float32 numbers from N(0, 1).

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        seed2 (int): A second seed. Default: 0.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.StandardNormal()((2, 3)).shape)
        (2, 3)
    """
    return standard_normal(shape, _seed(seed, seed2))


def truncated_normal(shape: Size, dtype=mstype.float32, seed: int = 0, seed2: int = 0) -> Tensor:
    """Draws numbers from N(0, 1) within two standard deviations.

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        dtype (dtype): The element type. Default: float32.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        seed2 (int): A second seed. Default: 0.

    Returns:
        The tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.TruncatedNormal()((2, 3)).shape)
        (2, 3)
    """
    return _draw("random_truncated_normal", _seed(seed, seed2), shape=_dims(shape, "ops.TruncatedNormal"), mean=0.0, stddev=1.0, dtype=dtype)


def rand(*size: int, dtype=None, seed: Optional[int] = None) -> Tensor:
    """Draws numbers from [0, 1).

    Args:
        *size: The shape, as rand(2, 3) or rand((2, 3)).
        dtype (dtype): A floating type; None means float32. Default: None.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If `dtype` is not floating or a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rand(2, 3).shape)
        (2, 3)
    """
    return _draw("random_uniform", seed, shape=_sizes(size, "ops.rand"), low=0.0, high=1.0, dtype=_floating(dtype, "ops.rand"))


def randn(*size: int, dtype=None, seed: Optional[int] = None) -> Tensor:
    """Draws numbers from N(0, 1).

    Args:
        *size: The shape, as randn(2, 3) or randn((2, 3)).
        dtype (dtype): A floating type; None means float32. Default: None.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If `dtype` is not floating or a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.randn(2, 3).shape)
        (2, 3)
    """
    return _draw("random_normal", seed, shape=_sizes(size, "ops.randn"), mean=0.0, stddev=1.0, dtype=_floating(dtype, "ops.randn"))


def _floating(dtype: Any, where: str):
    if dtype is not None and not is_float(dtype):
        fail(ValueError, f"dtype: expected a floating type, got {dtype}", where)
    return dtype or mstype.float32


def rand_like(input: Tensor, seed: Optional[int] = None, *, dtype=None) -> Tensor:
    """Draws numbers from [0, 1) in input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.
        dtype (dtype): A floating type; None means input's type. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If the type is not floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rand_like(ms.ops.ones((2, 3))).shape)
        (2, 3)
    """
    return rand(input.shape, dtype=dtype or input.dtype, seed=seed)


def randn_like(input: Tensor, seed: Optional[int] = None, *, dtype=None) -> Tensor:
    """Draws numbers from N(0, 1) in input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.
        dtype (dtype): A floating type; None means input's type. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If the type is not floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.randn_like(ms.ops.ones((2, 3))).shape)
        (2, 3)
    """
    return randn(input.shape, dtype=dtype or input.dtype, seed=seed)


def randint(low: int, high: int, size: Size, seed: Optional[int] = None, *, dtype=None) -> Tensor:
    """Draws whole numbers from [low, high).

    Args:
        low (int): The lower bound.
        high (int): The exclusive upper bound.
        size (int, sequence of ints or Tensor): The shape.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.
        dtype (dtype): The element type; None means int64. Default: None.

    Returns:
        The tensor.

    Raises:
        TypeError: If a bound is not an int.
        ValueError: If `low` is not below `high` or a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.randint(0, 10, (2, 3)).shape)
        (2, 3)
    """
    low, high = to_int(low, "low", "ops.randint"), to_int(high, "high", "ops.randint")
    if low >= high:
        fail(ValueError, f"expected low < high, got {low} and {high}", "ops.randint")
    return _whole(_dims(size, "ops.randint"), low, high, seed, dtype or mstype.int64)


def randint_like(input: Tensor, low: int, high: int, seed: Optional[int] = None, *, dtype=None) -> Tensor:
    """Draws whole numbers from [low, high) in input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        low (int): The lower bound.
        high (int): The exclusive upper bound.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.
        dtype (dtype): The element type; None means input's type. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If `low` is not below `high`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.randint_like(ms.ops.ones((2, 3)), 0, 10).shape)
        (2, 3)
    """
    return randint(low, high, input.shape, seed, dtype=dtype or input.dtype)


def randperm(n: int, seed: int = 0, offset: int = 0, dtype=mstype.int64) -> Tensor:
    """Draws a permutation of 0 … n - 1.

    Args:
        n (int): The number of elements.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        offset (int): A second seed; a value other than 0 selects a separate stream too. Default: 0.
        dtype (dtype): The element type. Default: int64.

    Returns:
        A vector.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.sort(ms.ops.randperm(4))[0])
        [0 1 2 3]
    """
    return core.cast(_draw("random_permutation", _seed(seed, offset), n=to_int(n, "n", "ops.randperm")), dtype)


def shuffle(x: Tensor, seed: Optional[int] = None) -> Tensor:
    """Shuffles the slices of the first dimension. Gradients flow.

    Args:
        x (Tensor): The tensor; a scalar is returned unchanged.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.shuffle(ms.ops.ones((3, 2))).shape)
        (3, 2)
    """
    if not x.shape:
        return x
    return core.gather(x, _draw("random_permutation", seed, n=x.shape[0]), 0)


def bernoulli(input: Tensor, p: Union[Tensor, float] = 0.5, seed: Optional[int] = None) -> Tensor:
    """Draws 1 with probability p, else 0.

    Args:
        input (Tensor): The tensor whose shape and type are used.
        p (Tensor or float): The probability, one for all or one per element. Default: 0.5.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If the number `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bernoulli(ms.ops.zeros((3,)), 1.0))
        [1. 1. 1.]
    """
    if isinstance(p, Tensor):
        unit = _draw("random_uniform", seed, shape=input.shape, low=0.0, high=1.0, dtype=mstype.float32)
        return core.cast(core.less(unit, p), input.dtype)
    if not 0 <= p <= 1:
        fail(ValueError, f"p: expected a value in [0, 1], got {p}", "ops.bernoulli")
    return _draw("random_bernoulli", seed, shape=input.shape, p=float(p), dtype=input.dtype)


def _gumbel(shape: tuple, seed: Any) -> Tensor:
    unit = _draw("random_uniform", seed, shape=shape, low=0.0, high=1.0, dtype=mstype.float64)
    return core.neg(core.log(core.neg(core.log(core.maximum(unit, 1e-300)))))


def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype=mstype.int64) -> Tensor:
    """Draws classes with the probabilities softmax(logits) of each row, as the largest of logits + Gumbel noise.

    Args:
        logits (Tensor): The unnormalised log probabilities, [n, c].
        num_sample (int): The number of samples per row.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        dtype (dtype): The element type. Default: int64.

    Returns:
        A tensor of shape [n, num_sample].

    Raises:
        ValueError: If `logits` does not have 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.random_categorical(ms.Tensor([[0.0, 100.0]]), 3))
        [[1 1 1]]
    """
    if len(logits.shape) != 2:
        fail(ValueError, f"expected 2 dimensions, got {logits.shape}", "ops.random_categorical")
    scores = core.expand_dims(core.cast(logits, mstype.float64), 1)
    noise = _gumbel((logits.shape[0], num_sample, logits.shape[1]), _seed(seed))
    return core.cast(core.argmax(core.add(scores, noise), 2), dtype)


def _check_weights(rows: np.ndarray, needed: int) -> None:
    if not np.all(np.isfinite(rows) & (rows >= 0)):
        fail(ValueError, "a weight is negative, infinite or NaN", "ops.multinomial")
    if needed > rows.shape[1]:
        fail(ValueError, f"{needed} different samples of {rows.shape[1]}", "ops.multinomial", "use replacement=True")
    if np.any(np.count_nonzero(rows, 1) < needed):
        fail(ValueError, f"fewer than {needed} weights of a row are above 0", "ops.multinomial", "give more, or use replacement=True")


def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: Optional[int] = None) -> Tensor:
    """Draws positions with probabilities proportional to the elements of a vector, or of each row of a matrix.

    Without replacement, the num_samples largest of log(p) + Gumbel noise are taken (Efraimidis and Spirakis 2006). In
    traced code, negative and NaN weights count as 0 instead of raising an error.

    Args:
        input (Tensor): The weights, [c] or [n, c].
        num_samples (int): The number of samples.
        replacement (bool): Whether a position may be drawn again. Default: True.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        An int32 tensor of shape [num_samples] or [n, num_samples].

    Raises:
        ValueError: If a weight is negative, infinite or NaN, or fewer weights than needed are above 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.multinomial(ms.Tensor([0.0, 1.0]), 3))
        [1 1 1]
    """
    rows = core.cast(core.expand_dims(input, 0) if len(input.shape) == 1 else input, mstype.float64)
    if not rows.is_symbolic:
        _check_weights(rows.asnumpy(), 1 if replacement else num_samples)
    positive = core.greater(rows, 0)
    logits = core.where(positive, core.log(core.where(positive, rows, 1.0)), -math.inf)
    if replacement:
        noise = _gumbel((rows.shape[0], num_samples, rows.shape[1]), seed)
        out = core.argmax(core.add(core.expand_dims(logits, 1), noise), 2)
    else:
        if num_samples > rows.shape[1]:
            fail(ValueError, f"{num_samples} different samples of {rows.shape[1]}", "ops.multinomial", "use replacement=True")
        out = core.topk(core.add(logits, _gumbel(rows.shape, seed)), num_samples, 1)[1]
    out = core.cast(out, mstype.int32)
    return core.squeeze(out, 0) if len(input.shape) == 1 else out


def padded_randperm(n: Tensor, max_length: int, pad: int, dtype) -> Tensor:
    """Draws a permutation of 0 … n - 1, followed by `pad` up to max_length elements.

    Args:
        n (Tensor): The number of elements, an int32 or int64 tensor of shape [1].
        max_length (int): The size of the result.
        pad (int): The value after the permutation.
        dtype (dtype): The element type.

    Returns:
        A vector of `max_length` elements.

    Raises:
        TypeError: If `n` is not int32 or int64.
        ValueError: If `n` is outside [0, max_length] or `dtype` does not hold the numbers.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Randperm(max_length=3, pad=-1)(ms.Tensor([1], ms.int32)))
        [ 0 -1 -1]
    """
    where = "ops.Randperm"
    if n.dtype not in (mstype.int32, mstype.int64):
        fail(TypeError, f"n must be int32 or int64, got {n.dtype}", where)
    if n.size != 1 or max_length < 1:
        fail(ValueError, f"expected one number n and max_length above 0, got {n.shape} and {max_length}", where)
    if max(max_length - 1, abs(pad)) > (np.iinfo(mstype.dtype_to_nptype(dtype)).max if not is_float(dtype) else 2 ** 24):
        fail(ValueError, f"{dtype} does not hold max_length {max_length} and pad {pad}", where)

    def check(given: list) -> None:
        if not 0 <= int(given[0].asnumpy().item()) <= max_length:
            fail(ValueError, f"n {int(given[0].asnumpy().item())} is outside [0, {max_length}]", where)
    _core.host_call([n], hash((where, max_length)), check)
    places = core.arange(0, max_length, 1, mstype.int64)
    drawn = core.less(places, core.reshape(core.cast(n, mstype.int64), (1,)))
    keys = core.where(drawn, core.random_uniform((max_length,), 0.0, 1.0, mstype.float64), core.add(core.cast(places, mstype.float64), 2.0))
    order = core.topk(keys, max_length, 0, False)[1]
    return core.cast(core.where(drawn, order, pad), dtype)


def dropout_bits(shape: Size, keep_prob: Union[Tensor, float], Seed0: int = 0, Seed1: int = 0) -> Tensor:
    """Draws a mask for DropoutDoMask: one bit per element, lowest first, 1 with probability keep_prob.

    Args:
        shape (int, sequence of ints or Tensor): The shape of the n elements.
        keep_prob (Tensor or float): The probability to keep an element.
        Seed0 (int): A seed; values other than 0 use a separate random stream. Default: 0.
        Seed1 (int): A second seed. Default: 0.

    Returns:
        A uint8 vector of 16·ceil(n/128) elements.

    Raises:
        ValueError: If `keep_prob` is not in (0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.DropoutGenMask()((4, 4), 1.0).shape)
        (16,)
    """
    count = math.prod(_dims(shape, "ops.DropoutGenMask"))
    if not isinstance(keep_prob, Tensor) and not 0.0 < keep_prob <= 1.0:
        fail(ValueError, f"keep_prob must be in (0, 1], got {keep_prob}", "ops.DropoutGenMask")
    size = (count + 127) // 128 * 16
    unit = _draw("random_uniform", _seed(Seed0, Seed1), shape=(size, 8), low=0.0, high=1.0, dtype=mstype.float32)
    bits = core.cast(core.less(unit, core.cast(as_tensor(keep_prob), mstype.float32)), mstype.int32)
    return core.cast(core.sum(core.mul(bits, Tensor(1 << np.arange(8, dtype=np.int32))), [1]), mstype.uint8)


def dropout_of_bits(x: Tensor, mask: Tensor, keep_prob: Union[Tensor, float]) -> Tensor:
    """Returns x / keep_prob where the mask of DropoutGenMask has a 1, else 0.

    Args:
        x (Tensor): The input.
        mask (Tensor): The mask for x's shape.
        keep_prob (Tensor or float): The probability that the mask was drawn with.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If the mask has another size or type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.DropoutDoMask()(ms.Tensor([1.0, 2.0]), ms.ops.DropoutGenMask()((2,), 1.0), 1.0))
        [1. 2.]
    """
    size = (x.size + 127) // 128 * 16
    if mask.dtype != mstype.uint8 or mask.shape != (size,):
        fail(ValueError, f"the mask for {x.shape} is uint8 [{size}], got {mask.dtype} {mask.shape}", "ops.DropoutDoMask", "use ops.DropoutGenMask")
    bits = core.bitwise_and(core.reshape(core.cast(mask, mstype.int32), (size, 1)), Tensor(1 << np.arange(8, dtype=np.int32)))
    kept = core.reshape(core.slice(core.reshape(core.not_equal(bits, 0), (size * 8,)), [0], [x.size]), x.shape)
    return core.where(kept, core.div(x, core.cast(as_tensor(keep_prob), x.dtype)), core.zeros_like(x))


def laplace(shape: Size, mean: Tensor, lambda_param: Tensor, seed: Optional[int] = None) -> Tensor:
    """Draws numbers with density exp(-|x - mean|/lambda)/(2·lambda).

    Args:
        shape (int, sequence of ints or Tensor): The shape; it is broadcast with those of `mean` and `lambda_param`.
        mean (Tensor): The mean.
        lambda_param (Tensor): The scale.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.laplace((2, 3), ms.Tensor(0.0), ms.Tensor(1.0)).shape)
        (2, 3)
    """
    dims = _broadcast(_dims(shape, "ops.laplace"), mean, lambda_param)
    return core.add(core.mul(standard_laplace(dims, seed), lambda_param), mean)


def standard_laplace(shape: Size, seed: Optional[int] = None) -> Tensor:
    """Draws float32 numbers with density exp(-|x|)/2.

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If a dimension is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.standard_laplace((2, 3)).shape)
        (2, 3)
    """
    u = _draw("random_uniform", seed, shape=_dims(shape, "ops.standard_laplace"), low=-0.5, high=0.5, dtype=mstype.float64)
    x = core.mul(core.sign(u), core.neg(core.log1p(core.maximum(core.mul(core.abs(u), -2.0), -1 + 2.0 ** -53))))
    return core.cast(x, mstype.float32)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: Any = None) -> tuple:
    """Draws positions without repetition from those where the input is True.

    Args:
        input_x (Tensor): A bool tensor.
        count (int): The number of positions. Default: 256.
        seed (int): The seed of a separate stream; None uses the engine's state. Default: None.

    Returns:
        (int32 positions [count, rank], bool [count]: which rows were drawn); the other rows are 0.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.choice_with_mask(ms.Tensor([False, True]), 2))
        [[1]
         [0]] [ True False]
    """
    flat = core.reshape(input_x, (-1,))
    score = core.where(flat, _draw("random_uniform", seed, shape=flat.shape, low=0.0, high=1.0, dtype=mstype.float64), -1.0)
    taken = min(count, flat.shape[0])
    values, places = core.topk(score, taken, 0)
    real = core.greater_equal(values, 0)
    places = core.where(real, places, 0)
    columns = []
    for n in reversed(input_x.shape):
        columns.append(core.mod(places, n))
        places = core.floor_div(places, n)
    index = core.cast(core.stack(columns[::-1], 1), mstype.int32)
    return core.pad(index, [0, count - taken, 0, 0]), core.cast(core.pad(core.cast(real, mstype.int32), [0, count - taken]), mstype.bool_)


def choice_with_mask_seeds(input_x: Tensor, count: int = 256, seed: int = 0, seed2: int = 0) -> tuple:
    """Draws positions without repetition from those where the input is True.

    Args:
        input_x (Tensor): A bool tensor.
        count (int): The number of positions. Default: 256.
        seed (int): A seed other than 0 selects a separate stream. Default: 0.
        seed2 (int): A second seed. Default: 0.

    Returns:
        (int32 positions [count, rank], bool [count]: which rows were drawn); the other rows are 0.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.RandomChoiceWithMask(2)(ms.Tensor([False, True])))
        [[1]
         [0]] [ True False]
    """
    return choice_with_mask(input_x, count, _seed(seed, seed2))


__all__ = exported(globals())
