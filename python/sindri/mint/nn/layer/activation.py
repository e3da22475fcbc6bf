"""Activations of mindspore.mint.nn. With `inplace` the input itself is given the result."""
from __future__ import annotations

from typing import Any, Optional

from sindri._check import check_bool, check_float, check_int
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell

__all__ = ["ReLU", "ReLU6", "SiLU", "ELU", "Hardtanh", "Threshold", "SELU", "Mish", "Sigmoid", "Tanh", "LogSigmoid", "Hardsigmoid", "Hardswish",
           "Hardshrink", "Softshrink", "GELU", "GLU", "Softmax", "LogSoftmax", "PReLU"]


class ReLU(Cell):
    """Applies max(input, 0) elementwise.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReLU()(ms.Tensor([-1.0, 0.5])))
        [0.  0.5]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.relu(input)


class _InPlace(Cell):
    """Base class of activations with the argument `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = check_bool(self.cls_name, "inplace", inplace)


class ReLU6(_InPlace):
    """Applies min(max(input, 0), 6) elementwise.

    Args:
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReLU6()(ms.Tensor([-1.0, 8.0])))
        [0. 6.]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)

    def construct(self, input: Tensor) -> Tensor:
        return F.relu6(input, self.inplace)


class SiLU(_InPlace):
    """Multiplies the input by its sigmoid.

    Args:
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.SiLU()(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.7311]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)

    def construct(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class ELU(_InPlace):
    """Returns the input above 0, else alpha·(e^input - 1).

    Args:
        alpha (float): The factor below 0. Default: 1.0.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ELU()(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-0.6321  0.5   ]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = check_float("ELU", "alpha", alpha)

    def construct(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class Hardtanh(_InPlace):
    """Clips the input to [min_val, max_val].

    Args:
        min_val (float): The lower bound. Default: -1.0.
        max_val (float): The upper bound. Default: 1.0.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Hardtanh()(ms.Tensor([-2.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val, self.max_val = check_float("Hardtanh", "min_val", min_val), check_float("Hardtanh", "max_val", max_val)

    def construct(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(_InPlace):
    """Returns the input above a threshold, else a value.

    Args:
        threshold (float): The threshold.
        value (float): The replacement.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Threshold(1.0, 9.0)(ms.Tensor([0.5, 1.5])))
        [9.  1.5]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = check_float("Threshold", "threshold", threshold), check_float("Threshold", "value", value)

    def construct(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class SELU(Cell):
    """Applies 1.0507·(input above 0, else 1.6733·(e^input - 1)).

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.SELU()(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-1.1113  0.5254]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.selu(input)


class Mish(Cell):
    """Computes input·tanh(softplus(input)).

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Mish()(ms.Tensor([-1.0, 1.0])).asnumpy().round(4))
        [-0.3034  0.8651]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.mish(input)


class Sigmoid(Cell):
    """Computes 1/(1 + e^-input).

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Sigmoid()(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.5    0.7311]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Cell):
    """Computes the hyperbolic tangent.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Tanh()(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.7616]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Cell):
    """Computes the logarithm of the sigmoid.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.LogSigmoid()(ms.Tensor([-1.0, 1.0])).asnumpy().round(4))
        [-1.3133 -0.3133]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Hardsigmoid(Cell):
    """Computes relu6(input + 3)/6.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Hardsigmoid()(ms.Tensor([0.0, 3.0])))
        [0.5 1. ]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input)


class Hardswish(Cell):
    """Computes input·relu6(input + 3)/6.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Hardswish()(ms.Tensor([0.0, 3.0])))
        [0. 3.]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.hardswish(input)


class Hardshrink(Cell):
    """Sets elements in [-lambd, lambd] to 0 and keeps the others.

    Args:
        lambd (float): The bound. Default: 0.5.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Hardshrink()(ms.Tensor([-1.0, 0.2])))
        [-1.  0.]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("Hardshrink", "lambd", lambd)

    def construct(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(Cell):
    """Moves the input towards 0 by lambd; elements in [-lambd, lambd] become 0.

    Args:
        lambd (float): The distance, at least 0. Default: 0.5.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Softshrink()(ms.Tensor([-1.0, 0.2])))
        [-0.5  0. ]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("Softshrink", "lambd", lambd, least=0)

    def construct(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class GELU(Cell):
    """Computes input·Φ(input), where Φ is the standard normal distribution function.

    Args:
        approximate (str): "none" to use erf, or "tanh" for the approximation by tanh. Default: "none".

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.GELU()(ms.Tensor([-1.0, 1.0])).asnumpy().round(4))
        [-0.1587  0.8413]
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class GLU(Cell):
    """Splits the input in two halves along a dimension and returns the first times the sigmoid of the second.

    Args:
        dim (int): The dimension. Default: -1.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.GLU()(ms.Tensor([2.0, 4.0, 0.0, 0.0])))
        [1. 2.]
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = check_int("GLU", "dim", dim)

    def construct(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class Softmax(Cell):
    """Computes e^input divided by its sum along a dimension.

    Args:
        dim (int): The dimension; None means 0 for 0, 1 and 3 dimensions and 1 for others. Default: None.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Softmax(0)(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [0.09   0.2447 0.6652]
    """

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)

    def extend_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """Computes the logarithm of softmax along a dimension.

    Args:
        dim (int): The dimension; None means 0 for 0, 1 and 3 dimensions and 1 for others. Default: None.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.LogSoftmax(0)(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [-2.4076 -1.4076 -0.4076]
    """

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__(dim)

    def construct(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class PReLU(Cell):
    """Returns the input above 0, else weight·input.

    The parameter `weight` has shape [num_parameters].

    Args:
        num_parameters (int): 1, or the number of channels (dimension 1). Default: 1.
        init (float): The initial value. Default: 0.25.
        dtype (dtype): The type of the parameter; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.PReLU()(ms.Tensor([-1.0, 0.5])).asnumpy())
        [-0.25  0.5 ]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = check_int("PReLU", "num_parameters", num_parameters, 1)
        start = initializer(check_float("PReLU", "init", init), (num_parameters,), dtype or mstype.float32)
        self.weight = Parameter(start, name="weight")

    def construct(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)
