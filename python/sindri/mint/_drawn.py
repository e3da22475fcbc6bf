"""Random functions of mindspore.mint, drawn from the state that set_seed and manual_seed set."""
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
    """Numbers from [0, 1) of a shape. Raises ValueError for a generator, as the next functions do."""
    _check("mint.rand", generator, device)
    return _ops_.rand(*size, dtype=_kind(dtype))


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Numbers from N(0, 1) of a shape."""
    _check("mint.randn", generator, device)
    return _ops_.randn(*size, dtype=_kind(dtype))


def rand_like(input: Tensor, *, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Numbers from [0, 1) of input's shape, and of its type unless dtype says otherwise."""
    _check("mint.rand_like", None, device)
    return _ops_.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Numbers from N(0, 1) of input's shape, and of its type unless dtype says otherwise."""
    _check("mint.randn_like", None, device)
    return _ops_.randn_like(input, dtype=dtype)


def _range(args: Tuple[Any, ...], rest: int, where: str) -> Tuple[Any, ...]:
    """(low, high, *others) of arguments whose first one, low, may be missing: it is 0 then."""
    if len(args) not in (rest + 1, rest + 2):
        fail(TypeError, f"expected {rest + 1} or {rest + 2} arguments, got {len(args)}", where)
    return args if len(args) == rest + 2 else (0, *args)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Whole numbers from [low, high) of a shape, int64 unless dtype says otherwise: randint(high, size) or randint(low, high, size)."""
    _check("mint.randint", generator, device)
    low, high, size = _range(args, 1, "mint.randint")
    return _ops_.cast(_ops_.randint(low, high, size), _types.int64 if dtype is None else dtype)


def randint_like(*args: Any, dtype: Any = None, device: Optional[str] = None) -> Tensor:
    """Whole numbers from [low, high) of input's shape, and of its type unless dtype says otherwise: randint_like(input, high) or (input, low, high)."""
    _check("mint.randint_like", None, device)
    if not args or not isinstance(args[0], Tensor):
        fail(TypeError, f"input: expected a tensor, got {args[:1]!r}", "mint.randint_like")
    low, high = _range(args[1:], 0, "mint.randint_like")
    return _ops_.cast(_ops_.randint(low, high, args[0].shape), args[0].dtype if dtype is None else dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = _types.int64) -> Tensor:
    """A random permutation of 0 to n - 1."""
    _check("mint.randperm", generator)
    return _ops_.randperm(n, dtype=dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """float32 numbers from N(mean, std²): of the broadcast shape of tensors mean and std, or of numbers of shape size. Raises ValueError for a std below 0,
    and for numbers without size."""
    _check("mint.normal", generator)
    if not isinstance(std, Tensor) and std < 0:
        fail(ValueError, f"std: expected a value of at least 0, got {std}", "mint.normal")
    if size is None:
        if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
            fail(ValueError, "mean and std are numbers", "mint.normal", "give size, or tensors")
        size = _ops_.add(mean, std).shape
    return _ops_.add(_ops_.mul(_ops_.randn(*(size if isinstance(size, (tuple, list)) else (size,))), std), mean)


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that is each element of input, else 0, in its shape and type."""
    _check("mint.bernoulli", generator)
    return _ops_.cast(_ops_.less(_ops_.rand_like(input, dtype=_types.float32), input), input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """int64 places drawn with probabilities proportional to the elements of a vector, or of each row of a matrix; see ops.multinomial."""
    _check("mint.multinomial", generator)
    return _ops_.cast(_ops_.multinomial(input, num_samples, replacement), _types.int64)
