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


class ReLU(Cell):
    """max(input, 0)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.relu(input)


class _InPlace(Cell):
    """Base of activations with the argument `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = check_bool(self.cls_name, "inplace", inplace)


class ReLU6(_InPlace):
    """min(max(input, 0), 6)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)

    def construct(self, input: Tensor) -> Tensor:
        return F.relu6(input, self.inplace)


class SiLU(_InPlace):
    """input times its sigmoid."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)

    def construct(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class ELU(_InPlace):
    """input above 0, alpha·(e^input - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = check_float("ELU", "alpha", alpha)

    def construct(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class Hardtanh(_InPlace):
    """input clamped to [min_val, max_val]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val, self.max_val = check_float("Hardtanh", "min_val", min_val), check_float("Hardtanh", "max_val", max_val)

    def construct(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(_InPlace):
    """input above threshold, value elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = check_float("Threshold", "threshold", threshold), check_float("Threshold", "value", value)

    def construct(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class SELU(Cell):
    """1.0507·(input above 0, 1.6733·(e^input - 1) elsewhere)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.selu(input)


class Mish(Cell):
    """input·tanh(softplus(input))."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.mish(input)


class Sigmoid(Cell):
    """1/(1 + e^-input)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Cell):
    """Hyperbolic tangent."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Cell):
    """The logarithm of the sigmoid."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Hardsigmoid(Cell):
    """relu6(input + 3)/6."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input)


class Hardswish(Cell):
    """input·relu6(input + 3)/6."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return F.hardswish(input)


class Hardshrink(Cell):
    """input, and 0 within lambd of 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("Hardshrink", "lambd", lambd)

    def construct(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(Cell):
    """input moved towards 0 by lambd, and 0 within lambd of it."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("Softshrink", "lambd", lambd, least=0)

    def construct(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class GELU(Cell):
    """input·Φ(input); approximate 'tanh': its approximation."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class GLU(Cell):
    """The first half along dim times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = check_int("GLU", "dim", dim)

    def construct(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class Softmax(Cell):
    """e^input over its sum along dim; without dim see functional.softmax."""

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)

    def extend_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """The logarithm of Softmax."""

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__(dim)

    def construct(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class PReLU(Cell):
    """input above 0, weight·input elsewhere. Parameter `weight` [num_parameters]: one for all, or one per channel (dimension 1), at first `init`."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = check_int("PReLU", "num_parameters", num_parameters, 1)
        start = initializer(check_float("PReLU", "init", init), (num_parameters,), dtype or mstype.float32)
        self.weight = Parameter(start, name="weight")

    def construct(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)
