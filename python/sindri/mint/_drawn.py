"""Random functions of mindspore.mint. They draw from the state that set_seed and manual_seed set."""
from __future__ import annotations

from typing import Any, Optional, Tuple

from sindri import ops as _ops_
from sindri._check import fail
from sindri.common import dtype as _types
from sindri.common.tensor import Tensor


def _check(where: str, generator: Any = None, device: Optional[str] = None) -> None:
    if generator is not None:
        fail(ValueError, "a separate generator is not supported", where, "use set_seed or manual_seed, and omit generator")
    if device not in (None, "CPU", "GPU", "Ascend"):
        fail(ValueError, f"device: expected 'CPU', 'GPU' or 'Ascend', got {device!r}", where)


def _kind(dtype: Any) -> Any:
    return _types.float32 if dtype is None else dtype


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Draws numbers from [0, 1).

    Args:
        *size: The shape, as (2, 3) or 2, 3.
        generator: Must be None. Default: None.
        dtype (dtype): A floating type; None means float32. Default: None.
        device (str): None, "CPU", "GPU" or "Ascend"; no effect. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If `generator` is given, `device` is another string or `dtype` is not floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.rand(2, 3).shape)
        (2, 3)
    """
    _check("mint.rand", generator, device)
    return _ops_.rand(*size, dtype=_kind(dtype))


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Draws numbers from N(0, 1).

    Args:
        *size: The shape, as (2, 3) or 2, 3.
        generator: Must be None. Default: None.
        dtype (dtype): A floating type; None means float32. Default: None.
        device (str): None, "CPU", "GPU" or "Ascend"; no effect. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If `generator` is given, `device` is another string or `dtype` is not floating.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.randn(2, 3).shape)
        (2, 3)
    """
    _check("mint.randn", generator, device)
    return _ops_.randn(*size, dtype=_kind(dtype))


def rand_like(input: Tensor, *, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Draws numbers from [0, 1) in input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        dtype (dtype): A floating type; None means input's type. Default: None.
        device (str): None, "CPU", "GPU" or "Ascend"; no effect. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If the type is not floating or `device` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.rand_like(ms.ops.ones((2, 3))).shape)
        (2, 3)
    """
    _check("mint.rand_like", None, device)
    return _ops_.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Draws numbers from N(0, 1) in input's shape.

    Args:
        input (Tensor): The tensor whose shape is used.
        dtype (dtype): A floating type; None means input's type. Default: None.
        device (str): None, "CPU", "GPU" or "Ascend"; no effect. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If the type is not floating or `device` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.randn_like(ms.ops.ones((2, 3))).shape)
        (2, 3)
    """
    _check("mint.randn_like", None, device)
    return _ops_.randn_like(input, dtype=dtype)


def _range(args: Tuple[Any, ...], rest: int, where: str) -> Tuple[Any, ...]:
    """Returns (low, high, *others) of arguments whose first one, low, may be missing and is then 0."""
    if len(args) not in (rest + 1, rest + 2):
        fail(TypeError, f"expected {rest + 1} or {rest + 2} arguments, got {len(args)}", where)
    return args if len(args) == rest + 2 else (0, *args)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Draws whole numbers from [low, high): randint(high, size) or randint(low, high, size).

    Args:
        *args: The bounds and the shape.
        generator: Must be None. Default: None.
        dtype (dtype): The element type; None means int64. Default: None.
        device (str): None, "CPU", "GPU" or "Ascend"; no effect. Default: None.

    Returns:
        The tensor.

    Raises:
        TypeError: If the number of arguments does not fit.
        ValueError: If `generator` is given, `device` is another string or low is not below high.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.randint(0, 10, (2, 3)).shape)
        (2, 3)
    """
    _check("mint.randint", generator, device)
    low, high, size = _range(args, 1, "mint.randint")
    return _ops_.cast(_ops_.randint(low, high, size), _types.int64 if dtype is None else dtype)


def randint_like(*args: Any, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Draws whole numbers from [low, high) in input's shape: randint_like(input, high) or randint_like(input, low,
    high).

    Args:
        *args: The tensor and the bounds.
        dtype (dtype): The element type; None means input's type. Default: None.
        device (str): None, "CPU", "GPU" or "Ascend"; no effect. Default: None.

    Returns:
        The tensor.

    Raises:
        TypeError: If the first argument is not a tensor or the number of arguments does not fit.
        ValueError: If `device` is another string or low is not below high.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.randint_like(ms.ops.ones((2, 3)), 10).shape)
        (2, 3)
    """
    _check("mint.randint_like", None, device)
    if not args or not isinstance(args[0], Tensor):
        fail(TypeError, f"input: expected a tensor, got {args[:1]!r}", "mint.randint_like")
    low, high = _range(args[1:], 0, "mint.randint_like")
    return _ops_.cast(_ops_.randint(low, high, args[0].shape), args[0].dtype if dtype is None else dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = _types.int64) -> Tensor:
    """Draws a permutation of 0 … n - 1.

    Args:
        n (int): The number of elements.
        generator: Must be None. Default: None.
        dtype (dtype): The element type. Default: int64.

    Returns:
        A vector.

    Raises:
        ValueError: If `generator` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.sort(ms.mint.randperm(4))[0])
        [0 1 2 3]
    """
    _check("mint.randperm", generator)
    return _ops_.randperm(n, dtype=dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Draws float32 numbers from N(mean, std²).

    Tensors give a result of their broadcast shape; numbers need `size`.

    Args:
        mean (number or Tensor): The mean. Default: 0.0.
        std (number or Tensor): The standard deviation. Default: 1.0.
        size (int or sequence of ints): The shape. Default: None.
        generator: Must be None. Default: None.

    Returns:
        A float32 tensor.

    Raises:
        ValueError: If `std` is negative, both are numbers without `size`, or `generator` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.normal(0.0, 1.0, (2, 3)).shape)
        (2, 3)
    """
    _check("mint.normal", generator)
    if not isinstance(std, Tensor) and std < 0:
        fail(ValueError, f"std: expected a value of at least 0, got {std}", "mint.normal")
    if size is None:
        if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
            fail(ValueError, "mean and std are numbers", "mint.normal", "give size, or tensors")
        size = _ops_.add(mean, std).shape
    return _ops_.add(_ops_.mul(_ops_.randn(*(size if isinstance(size, (tuple, list)) else (size,))), std), mean)


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """Draws 1 with the probability given by each element, else 0.

    Args:
        input (Tensor): The probabilities.
        generator: Must be None. Default: None.

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `generator` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.bernoulli(ms.Tensor([0.0, 1.0])))
        [0. 1.]
    """
    _check("mint.bernoulli", generator)
    return _ops_.cast(_ops_.less(_ops_.rand_like(input, dtype=_types.float32), input), input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Draws positions with probabilities proportional to the elements of a vector, or of each row of a matrix; see
    `ops.multinomial`.

    Args:
        input (Tensor): The weights, [c] or [n, c].
        num_samples (int): The number of samples.
        replacement (bool): Whether a position may be drawn again. Default: False.
        generator: Must be None. Default: None.

    Returns:
        An int64 tensor of shape [num_samples] or [n, num_samples].

    Raises:
        ValueError: If the weights do not suffice or `generator` is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.multinomial(ms.Tensor([0.0, 1.0]), 1))
        [1]
    """
    _check("mint.multinomial", generator)
    return _ops_.cast(_ops_.multinomial(input, num_samples, replacement), _types.int64)
