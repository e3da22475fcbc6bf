"""Initial values of parameters: the initializer classes, their aliases and `initializer`.

The engine's generator (Philox) draws the values, keyed by the seed and by the number of initializers that ran since `set_seed`. So a network created
after the same `set_seed` has bitwise identical initial values, in Python and in C++. MindSpore draws from NumPy, so its numbers differ.
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
    """Base class of the rules that fill a tensor.

    A custom rule overrides `_initialize(arr)`, which fills the NumPy array `arr` in place. Calling an initializer with an array does the same.

    Args:
        **kwargs: The arguments of the rule, for its repr.

    Raises:
        TypeError: If an argument that must be a number is not one.

    Examples:
        >>> import numpy as np
        >>> from sindri.common.initializer import Initializer, initializer
        >>> class Ramp(Initializer):
        ...     def _initialize(self, arr):
        ...         arr[...] = np.arange(arr.size).reshape(arr.shape)
        >>> print(initializer(Ramp(), (2, 2)).init_data())
        [[0. 1.]
         [2. 3.]]
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
        """Returns a tensor filled by this rule. Raises ValueError for an unsuitable shape."""
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
    """Fills with zeros.

    Examples:
        >>> from sindri.common.initializer import Zero, initializer
        >>> print(initializer(Zero(), (2,)).init_data())
        [0. 0.]
    """

    def __init__(self) -> None:
        super().__init__()
        self._native = _init.Zero()


@_register("ones")
class One(Initializer):
    """Fills with ones.

    Examples:
        >>> from sindri.common.initializer import One, initializer
        >>> print(initializer(One(), (2,)).init_data())
        [1. 1.]
    """

    def __init__(self) -> None:
        super().__init__()
        self._native = _init.One()


@_register()
class Constant(Initializer):
    """Fills with one value.

    Args:
        value (float, Tensor, numpy.ndarray): A number, or a tensor or array with one element.

    Raises:
        TypeError: If `value` is not a number.
        ValueError: If it has several elements.

    Examples:
        >>> from sindri.common.initializer import Constant, initializer
        >>> print(initializer(Constant(3), (2,)).init_data())
        [3. 3.]
    """

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
        if isinstance(self.value, numbers.Integral) and abs(int(self.value)) > 2 ** 53 and dtype == mstype.int64:  # the engine's rule stores a float
            return Tensor(np.full(tuple(shape), int(self.value), np.int64))
        return super()._draw(shape, dtype)


@_register()
class Normal(Initializer):
    """Draws from N(mean, sigma²); the default of Embedding, with sigma 0.01.

    Args:
        sigma (float): The standard deviation. Default: 0.01.
        mean (float): The mean. Default: 0.0.

    Raises:
        TypeError: If an argument is not a number.

    Examples:
        >>> from sindri.common.initializer import Normal, initializer
        >>> initializer(Normal(0.02), (2, 3)).shape
        (2, 3)
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean
        self._native = _init.Normal(sigma, mean)


@_register()
class TruncatedNormal(Initializer):
    """Draws from N(mean, sigma²) truncated to mean + sigma·[a, b] by redrawing; the variance is not rescaled.

    Args:
        sigma (float): The standard deviation before truncation. Default: 0.01.
        mean (float): The mean. Default: 0.0.
        a (float): The lower bound, in standard deviations. Default: -2.0.
        b (float): The upper bound, in standard deviations. Default: 2.0.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If the range is empty.

    Examples:
        >>> from sindri.common.initializer import TruncatedNormal, initializer
        >>> float(abs(initializer(TruncatedNormal(1.0), (100,)).init_data().asnumpy()).max()) <= 2.0
        True
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b
        self._native = _init.TruncatedNormal(sigma, mean, a, b)


@_register()
class Uniform(Initializer):
    """Draws from U(-scale, scale).

    Args:
        scale (float): The bound. Default: 0.07.

    Raises:
        TypeError: If `scale` is not a number.

    Examples:
        >>> from sindri.common.initializer import Uniform, initializer
        >>> initializer(Uniform(0.1), (2, 3)).shape
        (2, 3)
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale
        self._native = _init.Uniform(scale)


@_register("xavier_uniform")
class XavierUniform(Initializer):
    """Draws from U(-b, b) with b = gain·sqrt(6/(fan_in + fan_out)).

    Args:
        gain (float): The factor. Default: 1.

    Raises:
        TypeError: If `gain` is not a number.

    Examples:
        >>> from sindri.common.initializer import XavierUniform, initializer
        >>> initializer(XavierUniform(), (2, 3)).shape
        (2, 3)
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain
        self._native = _init.XavierUniform(gain)


@_register("xavier_normal")
class XavierNormal(Initializer):
    """Draws from N(0, gain²·2/(fan_in + fan_out)).

    Args:
        gain (float): The factor. Default: 1.

    Raises:
        TypeError: If `gain` is not a number.

    Examples:
        >>> from sindri.common.initializer import XavierNormal, initializer
        >>> initializer(XavierNormal(), (2, 3)).shape
        (2, 3)
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain
        self._native = _init.XavierNormal(gain)


@_register("he_uniform")
class HeUniform(Initializer):
    """Draws from U(-b, b) with b = gain·sqrt(3/fan), where gain is that of the nonlinearity.

    Args:
        negative_slope (float): The slope of leaky_relu. Default: 0.
        mode (str): The fan, 'fan_in' or 'fan_out'. Default: 'fan_in'.
        nonlinearity (str): The nonlinearity. Default: 'leaky_relu'.

    Raises:
        TypeError: If `negative_slope` is not a number.
        ValueError: If the mode or nonlinearity is unknown.

    Examples:
        >>> from sindri.common.initializer import HeUniform, initializer
        >>> initializer(HeUniform(nonlinearity='relu'), (2, 3)).shape
        (2, 3)
    """

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity
        self._native = _init.HeUniform(negative_slope, mode, nonlinearity)


@_register("he_normal")
class HeNormal(Initializer):
    """Draws from N(0, gain²/fan), where gain is that of the nonlinearity.

    Args:
        negative_slope (float): The slope of leaky_relu. Default: 0.
        mode (str): The fan, 'fan_in' or 'fan_out'. Default: 'fan_in'.
        nonlinearity (str): The nonlinearity. Default: 'leaky_relu'.

    Raises:
        TypeError: If `negative_slope` is not a number.
        ValueError: If the mode or nonlinearity is unknown.

    Examples:
        >>> from sindri.common.initializer import HeNormal, initializer
        >>> initializer(HeNormal(), (8, 3, 3, 3)).shape
        (8, 3, 3, 3)
    """

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity
        self._native = _init.HeNormal(negative_slope, mode, nonlinearity)


@_register()
class VarianceScaling(Initializer):
    """Draws with the variance scale/fan.

    Args:
        scale (float): The factor. Default: 1.0.
        mode (str): The fan, 'fan_in', 'fan_out' or 'fan_avg'. Default: 'fan_in'.
        distribution (str): 'truncated_normal', 'untruncated_normal' or 'uniform'. Default: 'truncated_normal'.

    Raises:
        TypeError: If `scale` is not a number.
        ValueError: If an argument is out of range or unknown.

    Examples:
        >>> from sindri.common.initializer import VarianceScaling, initializer
        >>> initializer(VarianceScaling(mode='fan_avg'), (2, 3)).shape
        (2, 3)
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self._native = _init.VarianceScaling(scale, mode, distribution)


@_register()
class Identity(Initializer):
    """Fills a matrix with ones on the diagonal and zeros elsewhere. Another rank raises ValueError.

    Examples:
        >>> from sindri.common.initializer import Identity, initializer
        >>> print(initializer(Identity(), (2, 2)).init_data())
        [[1. 0.]
         [0. 1.]]
    """

    def __init__(self) -> None:
        super().__init__()
        self._native = _init.Identity()


@_register()
class Orthogonal(Initializer):
    """Fills the matrix [dimension 0, the rest] with orthonormal rows (or columns, if these are fewer), times gain.

    Args:
        gain (float): The factor. Default: 1.0.

    Raises:
        TypeError: If `gain` is not a number.

    Examples:
        >>> from sindri.common.initializer import Orthogonal, initializer
        >>> q = initializer(Orthogonal(), (2, 3)).init_data().asnumpy()
        >>> print(abs(q @ q.T).round(3))
        [[1. 0.]
         [0. 1.]]
    """

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain
        self._native = _init.Orthogonal(gain)


@_register()
class Dirac(Initializer):
    """Fills a convolution weight (rank 3 to 5) so that the convolution returns its input, in each group.

    Args:
        groups (int): The number of groups. Default: 1.

    Raises:
        TypeError: If `groups` is not a number.
        ValueError: If `groups` is below 1.

    Examples:
        >>> from sindri.common.initializer import Dirac, initializer
        >>> print(initializer(Dirac(), (1, 1, 3)).init_data())
        [[[0. 1. 0.]]]
    """

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups
        self._native = _init.Dirac(groups)


@_register()
class Sparse(Initializer):
    """Fills a matrix from N(0, sigma²), with ceil(sparsity·rows) zeros in every column.

    Args:
        sparsity (float): The fraction of zeros, in [0, 1].
        sigma (float): The standard deviation. Default: 0.01.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If `sparsity` is outside [0, 1].

    Examples:
        >>> from sindri.common.initializer import Sparse, initializer
        >>> print((initializer(Sparse(0.5), (4, 2)).init_data().asnumpy() == 0).sum(0))
        [2 2]
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma
        self._native = _init.Sparse(sparsity, sigma)


def _calculate_fan_in_and_fan_out(shape: Sequence[int]) -> Tuple[int, int]:
    """Returns fan_in and fan_out of a weight [out, in, kernel...]. Raises ValueError for fewer than two dimensions."""
    return _init.fan_in_and_out(tuple(shape))


def _calculate_correct_fan(shape: Sequence[int], mode: str) -> int:
    """Returns the fan that `mode` ('fan_in' or 'fan_out', in upper or lower case) names. Raises ValueError for another mode."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', got {mode!r} | initializer")
    return _calculate_fan_in_and_fan_out(shape)[mode.lower() == "fan_out"]


def _assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Fills arr in place with a number or an array and returns it; custom rules call it from _initialize."""
    arr[...] = np.reshape(num, arr.shape) if np.ndim(num) else num
    return arr


def _calculate_gain(nonlinearity: str, param: Optional[float] = None) -> float:
    """Returns the gain of a nonlinearity: 1 for linear, conv*d and sigmoid, 5/3 tanh, sqrt(2) relu, sqrt(2/(1 + slope²)) leaky_relu (slope 0.01 by default)."""
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
    """Returns a tensor that is filled by a rule.

    The values are drawn when they are first needed: by `init_data()`, or when a Parameter is created from the tensor.

    Args:
        init (str, Initializer, float, Tensor): An alias (in upper or lower case), an Initializer, a number, or a Tensor of this shape.
        shape (int, tuple, list): The shape. Default: None, only for a Tensor.
        dtype (DType): The element type. Default: float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `init` or `shape` has another type.
        ValueError: If the alias is unknown, a dimension is below 1, the shape does not suit the rule, or a Tensor has another shape.

    Examples:
        >>> import sindri as ms
        >>> from sindri.common.initializer import initializer
        >>> print(initializer('ones', (2, 2), ms.int32).init_data())
        [[1 1]
         [1 1]]
        >>> initializer('xavier_uniform', (3, 2)).shape
        (3, 2)
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
