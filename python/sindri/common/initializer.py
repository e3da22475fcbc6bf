"""Initial values of parameters: the initializer classes, their aliases and `initializer`.

The values are drawn by the engine's generator (Philox), keyed by the seed and by how many initializers ran since `set_seed`: a network built
after the same `set_seed` starts from the same bits, in Python and in C++ alike. MindSpore draws from NumPy, so its numbers differ.
"""
from __future__ import annotations

import numbers
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Type, Union

import numpy as np

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor

__all__ = ["Initializer", "initializer", "TruncatedNormal", "Normal", "Uniform", "HeUniform", "HeNormal", "XavierUniform", "XavierNormal", "One",
           "Zero", "Constant", "Identity", "Sparse", "Dirac", "Orthogonal", "VarianceScaling"]

_ALIASES: Dict[str, Type["Initializer"]] = {}
_init = _core.init


_NUMBERS = frozenset(("sigma", "mean", "a", "b", "scale", "gain", "negative_slope", "groups", "sparsity"))  # arguments of the rules here


class Initializer:
    """Base of the rules that fill a tensor.

    A rule of one's own overrides `_initialize(arr)`, which fills the NumPy array `arr` in place. Calling an initializer with an array does that.
    """

    _native: Any = None  # the engine's rule

    def __init__(self, **kwargs: Any) -> None:
        for name in _NUMBERS & kwargs.keys():
            if not isinstance(kwargs[name], (numbers.Real, np.bool_)):
                raise TypeError(f"{type(self).__name__}: {name} must be a number, got {kwargs[name]!r} of type {type(kwargs[name]).__name__}")
        self._kwargs = kwargs

    def _initialize(self, arr: np.ndarray) -> None:
        if self._native is None:
            raise NotImplementedError(f"{type(self).__name__} does not define _initialize | override _initialize(self, arr)")
        arr[...] = _init.draw(self._native, arr.shape, arr.dtype).asnumpy()

    def __call__(self, arr: np.ndarray) -> None:
        self._initialize(arr)

    def _draw(self, shape: Sequence[int], dtype: Any) -> Tensor:
        """A tensor filled by this rule. Raises ValueError for a shape that does not suit it."""
        if self._native is not None and type(self)._initialize is Initializer._initialize:
            return _init.draw(self._native, tuple(shape), dtype)
        arr = np.zeros(tuple(shape), np.float32)
        self._initialize(arr)
        return Tensor(arr, dtype=dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._kwargs.items())})"


def _register(*aliases: str) -> Callable[[Type[Initializer]], Type[Initializer]]:
    def add(cls: Type[Initializer]) -> Type[Initializer]:
        for name in (cls.__name__, *aliases):
            _ALIASES[name.lower()] = cls
        return cls

    return add


@_register("zeros")
class Zero(Initializer):
    """All zeros."""

    def __init__(self) -> None:
        super().__init__()
        self._native = _init.Zero()


@_register("ones")
class One(Initializer):
    """All ones."""

    def __init__(self) -> None:
        super().__init__()
        self._native = _init.One()


@_register()
class Constant(Initializer):
    """Every element is `value`, a number (or a tensor or array with one element). Raises TypeError or ValueError for others."""

    def __init__(self, value: Any) -> None:
        if isinstance(value, (Tensor, np.ndarray)):
            if value.size != 1:
                raise ValueError(f"Constant: value must be one number, got shape {tuple(value.shape)}")
            value = value.item()
        if not isinstance(value, (numbers.Real, np.bool_)):
            raise TypeError(f"Constant: value must be a number, got {value!r} of type {type(value).__name__}")
        super().__init__(value=value)
        self.value = value
        self._native = _init.Constant(float(value))

    def _draw(self, shape: Sequence[int], dtype: Any) -> Tensor:
        if isinstance(self.value, numbers.Integral) and abs(int(self.value)) > 2 ** 53 and dtype == mstype.int64:  # the engine's rule has a float
            return Tensor(np.full(tuple(shape), int(self.value), np.int64))
        return super()._draw(shape, dtype)


@_register()
class Normal(Initializer):
    """N(mean, sigma²). The default of Embedding, with sigma 0.01."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean
        self._native = _init.Normal(sigma, mean)


@_register()
class TruncatedNormal(Initializer):
    """N(mean, sigma²) cut to mean + sigma·[a, b] by drawing again; the variance is not scaled back. Raises ValueError for an empty range."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b
        self._native = _init.TruncatedNormal(sigma, mean, a, b)


@_register()
class Uniform(Initializer):
    """U(-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale
        self._native = _init.Uniform(scale)


@_register("xavier_uniform")
class XavierUniform(Initializer):
    """U(-b, b), b = gain·sqrt(6/(fan_in + fan_out))."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain
        self._native = _init.XavierUniform(gain)


@_register("xavier_normal")
class XavierNormal(Initializer):
    """N(0, gain²·2/(fan_in + fan_out))."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain
        self._native = _init.XavierNormal(gain)


@_register("he_uniform")
class HeUniform(Initializer):
    """U(-b, b), b = gain·sqrt(3/fan); fan is that of `mode` ('fan_in' or 'fan_out'), gain that of the nonlinearity.

    Raises ValueError for an unknown mode or nonlinearity.
    """

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity
        self._native = _init.HeUniform(negative_slope, mode, nonlinearity)


@_register("he_normal")
class HeNormal(Initializer):
    """N(0, gain²/fan), otherwise as HeUniform."""

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity
        self._native = _init.HeNormal(negative_slope, mode, nonlinearity)


@_register()
class VarianceScaling(Initializer):
    """Variance scale/fan; mode 'fan_in', 'fan_out' or 'fan_avg'; distribution 'truncated_normal', 'untruncated_normal' or 'uniform'.

    Raises ValueError for anything else.
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self._native = _init.VarianceScaling(scale, mode, distribution)


@_register()
class Identity(Initializer):
    """Ones on the diagonal of a matrix. A shape that is not that of a matrix is a ValueError."""

    def __init__(self) -> None:
        super().__init__()
        self._native = _init.Identity()


@_register()
class Orthogonal(Initializer):
    """Orthonormal rows (or columns, whichever are fewer) of the matrix [dimension 0, the rest], times gain."""

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain
        self._native = _init.Orthogonal(gain)


@_register()
class Dirac(Initializer):
    """A convolution weight (rank 3 to 5) that passes its input through, in each of `groups`. Raises ValueError for groups below 1."""

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups
        self._native = _init.Dirac(groups)


@_register()
class Sparse(Initializer):
    """A matrix of N(0, sigma²) with ceil(sparsity·rows) zeros in every column. Raises ValueError for a sparsity outside [0, 1]."""

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma
        self._native = _init.Sparse(sparsity, sigma)


def _calculate_fan_in_and_fan_out(shape: Sequence[int]) -> Tuple[int, int]:
    """fan_in and fan_out of a weight [out, in, kernel...]. Raises ValueError for fewer than two dimensions."""
    return _init.fan_in_and_out(tuple(shape))


def _calculate_correct_fan(shape: Sequence[int], mode: str) -> int:
    """The fan that `mode` ('fan_in' or 'fan_out', in any case) names. Raises ValueError for another mode."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', got {mode!r} | initializer")
    return _calculate_fan_in_and_fan_out(shape)[mode.lower() == "fan_out"]


def _assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Fills arr in place with a number or an array: what rules of one's own call from _initialize. Returns arr."""
    arr[...] = np.reshape(num, arr.shape) if np.ndim(num) else num
    return arr


def _calculate_gain(nonlinearity: str, param: Optional[float] = None) -> float:
    """Gain of a nonlinearity: 1 for linear, conv*d and sigmoid, 5/3 tanh, sqrt(2) relu, sqrt(2/(1 + slope²)) leaky_relu (slope 0.01 unless given)."""
    return _init.calculate_gain(nonlinearity, 0.01 if param is None else param)


def _checked_shape(shape: Any) -> Tuple[int, ...]:
    dims = (shape,) if isinstance(shape, numbers.Integral) else shape
    if not isinstance(dims, (tuple, list)):
        raise TypeError(f"initializer: shape must be an int, a tuple or a list, got {shape!r} of type {type(shape).__name__}")
    for d in dims:
        if not isinstance(d, numbers.Integral) or isinstance(d, bool) or d < 1:
            raise ValueError(f"initializer: shape must hold ints above 0, got {shape!r}")
    return tuple(int(d) for d in dims)


def initializer(init: Union[str, Initializer, float, Tensor], shape: Union[int, Sequence[int], None] = None, dtype: Any = mstype.float32) -> Tensor:
    """A tensor of the given shape and type, filled by `init`: an alias (in any case), an Initializer, a number, or a tensor of that very shape.

    The values are drawn when they are first needed: by `init_data()`, or when a Parameter is made of the tensor.
    Raises TypeError for an `init` of another type and a shape that is none; ValueError for an unknown alias, dimensions below 1, a shape that does
    not suit the rule and a tensor of another shape.
    """
    if isinstance(init, Tensor):
        if shape is not None and tuple(init.shape) != _checked_shape(shape):
            raise ValueError(f"initializer: a tensor of shape {tuple(init.shape)} is given for shape {_checked_shape(shape)}")
        return init
    if isinstance(init, str):
        cls = _ALIASES.get(init.lower())
        if cls is None or cls in (Constant, Sparse):
            known = ", ".join(sorted(k for k, c in _ALIASES.items() if c not in (Constant, Sparse)))
            raise ValueError(f"initializer: '{init}' is not known | use one of {known}")
        init = cls()
    elif isinstance(init, numbers.Real):
        init = Constant(init)
    elif not isinstance(init, Initializer):
        raise TypeError(f"initializer: init must be a str, a number, an Initializer or a Tensor, got {init!r} of type {type(init).__name__}")
    if shape is None:
        raise ValueError(f"initializer: no shape is given for {init!r}")
    dims = _checked_shape(shape)
    return Tensor(shape=dims, dtype=dtype, init=init)
