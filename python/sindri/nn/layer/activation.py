"""Activations, softmax and the table of activations by name."""
from __future__ import annotations

from typing import Any, Optional

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, check_int, check_type, fail, is_int
from sindri.nn.cell import Cell
from sindri.ops._util import sloped
from sindri.ops.function.nn_func import celu, lrn, rrelu

__all__ = ["CELU", "Softmin", "Softmax2d", "Softmax", "LogSoftmax", "ELU", "ReLU", "ReLU6", "LeakyReLU", "SeLU", "SiLU", "Tanh", "Tanhshrink",
           "Hardtanh", "GELU", "FastGelu", "Sigmoid", "Softsign", "PReLU", "HSwish", "HSigmoid", "LogSigmoid", "SoftShrink", "HShrink", "RReLU", "LRN", "Threshold",
           "Mish", "GLU", "get_activation"]

_ops = _core.ops


class ReLU(Cell):
    """max(x, 0)."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.relu(x)


class ReLU6(Cell):
    """min(max(x, 0), 6)."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.relu6(x)


class Sigmoid(Cell):
    """1/(1 + e^-x)."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.sigmoid(x)


class Tanh(Cell):
    """Hyperbolic tangent."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.tanh(x)


class Tanhshrink(Cell):
    """x - tanh(x)."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.sub(x, _ops.tanh(x))


class SiLU(Cell):
    """x·sigmoid(x)."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.silu(x)


class Mish(Cell):
    """x·tanh(log(1 + e^x))."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.mul(x, _ops.tanh(_ops.softplus(x)))


class HSwish(Cell):
    """x·relu6(x + 3)/6."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.hswish(x)


class HSigmoid(Cell):
    """relu6(x + 3)/6."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.hsigmoid(x)


class Softsign(Cell):
    """x/(1 + |x|)."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.div(x, _ops.add(_ops.abs(x), 1.0))


class LogSigmoid(Cell):
    """log(1/(1 + e^-x)), without overflow."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.neg(_ops.softplus(_ops.neg(x)))


class GELU(Cell):
    """0.5x(1 + tanh(sqrt(2/pi)(x + 0.044715x³))); with approximate=False 0.5x(1 + erf(x/sqrt 2)), PyTorch's default."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = check_bool("GELU", "approximate", approximate)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.gelu(x, self.approximate)

    def extend_repr(self) -> str:
        return f"approximate={self.approximate}"


class FastGelu(Cell):
    """x·e^(0.851(x - |x|))/(1 + e^(-1.702|x|)), about x·sigmoid(1.702x)."""

    def construct(self, x: Tensor) -> Tensor:
        size = _ops.abs(x)
        return _ops.mul(_ops.div(x, _ops.add(_ops.exp(_ops.mul(size, -1.702)), 1.0)), _ops.exp(_ops.mul(_ops.sub(x, size), 0.851)))


class LeakyReLU(Cell):
    """x where it is above 0, alpha·x elsewhere."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = check_float("LeakyReLU", "alpha", alpha)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.leaky_relu(x, self.alpha)

    def extend_repr(self) -> str:
        return f"alpha={self.alpha}"


class ELU(Cell):
    """x where it is above 0, alpha·(e^x - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_float("ELU", "alpha", alpha)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.elu(x, self.alpha)

    def extend_repr(self) -> str:
        return f"alpha={self.alpha}"


class CELU(Cell):
    """x where it is above 0, alpha·(e^(x/alpha) - 1) elsewhere. Raises ValueError for alpha 0."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_float("CELU", "alpha", alpha)
        if self.alpha == 0:
            fail(ValueError, "CELU: alpha must not be 0")

    def construct(self, x: Tensor) -> Tensor:
        return celu(x, self.alpha)


class SeLU(Cell):
    """scale·elu(x, alpha) with the constants under which activations keep mean 0 and variance 1."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.mul(_ops.elu(x, 1.6732632423543772), 1.0507009873554805)


class Hardtanh(Cell):
    """min(max(x, min_val), max_val). Raises ValueError unless min_val < max_val."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val, self.max_val = check_float("Hardtanh", "min_val", min_val), check_float("Hardtanh", "max_val", max_val)
        if self.min_val >= self.max_val:
            fail(ValueError, f"Hardtanh: min_val must be below max_val, got {min_val} and {max_val}")

    def construct(self, x: Tensor) -> Tensor:
        return _ops.clamp(x, self.min_val, self.max_val)


class SoftShrink(Cell):
    """x moved towards 0 by lambd, and 0 within lambd of it."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("SoftShrink", "lambd", lambd, least=0)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.sub(x, _ops.clamp(x, -self.lambd, self.lambd))


class HShrink(Cell):
    """x, and 0 within lambd of it."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("HShrink", "lambd", lambd, least=0)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.where(_ops.greater(_ops.abs(x), self.lambd), x, 0.0)


class Threshold(Cell):
    """x where it is above threshold, value elsewhere."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = check_float("Threshold", "threshold", threshold), check_float("Threshold", "value", value)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.where(_ops.greater(x, self.threshold), x, self.value)


class PReLU(Cell):
    """x where it is above 0, w·x elsewhere, with a trained `w` of `channel` elements (one per channel of axis 1, or one for all).

    `w` is its initial value: a number, or a tensor or list of `channel` numbers. Raises TypeError or ValueError for others.
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        check_int("PReLU", "channel", channel, 1)
        if isinstance(w, (list, tuple)):
            w = Tensor(list(w), mstype.float32)
        if isinstance(w, Tensor):
            if tuple(w.shape) != (channel,):
                fail(ValueError, f"PReLU: w must have the shape ({channel},), got {tuple(w.shape)}")
        else:
            check_float("PReLU", "w", w)
        self.w = Parameter(initializer(w, (channel,)), name="a")

    def construct(self, x: Tensor) -> Tensor:
        w: Tensor = self.w
        if len(x.shape) > 2 and w.shape[0] > 1:
            w = _ops.reshape(w, (1, w.shape[0]) + (1,) * (len(x.shape) - 2))
        return sloped(x, _ops.cast(w, x.dtype))


class GLU(Cell):
    """a·sigmoid(b), the halves of x along `axis`. Raises ValueError when that dimension is odd."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = check_int("GLU", "axis", axis)

    def construct(self, x: Tensor) -> Tensor:
        size = x.shape[self.axis]
        if size % 2:
            fail(ValueError, f"GLU: dimension {self.axis} of {tuple(x.shape)} must be even")
        a, b = _ops.split(x, (size // 2, size // 2), self.axis)
        return _ops.mul(a, _ops.sigmoid(b))


class Softmax(Cell):
    """e^x/sum(e^x) along `axis`. A tuple of one axis is taken too."""

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        if isinstance(axis, (tuple, list)):
            if len(axis) != 1:
                fail(ValueError, f"{self.cls_name}: axis must be one axis, got {tuple(axis)}")
            axis = axis[0]
        if not is_int(axis):
            fail(TypeError, f"{self.cls_name}: axis must be an int, got {axis!r}")
        self.axis = int(axis)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.softmax(x, self.axis)

    def extend_repr(self) -> str:
        return f"axis={self.axis}"


class LogSoftmax(Softmax):
    """log(softmax(x)) along `axis`, computed without overflow."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.log_softmax(x, self.axis)


class Softmin(Softmax):
    """softmax(-x) along `axis`."""

    def construct(self, x: Tensor) -> Tensor:
        return _ops.softmax(_ops.neg(x), self.axis)


class Softmax2d(Cell):
    """Softmax over the channels of [N, C, H, W] or [C, H, W]. Raises ValueError for another rank."""

    def construct(self, x: Tensor) -> Tensor:
        if len(x.shape) not in (3, 4):
            fail(ValueError, f"Softmax2d: the input must have 3 or 4 dimensions, got {tuple(x.shape)}")
        return _ops.softmax(x, -3)


_activation = {"softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "relu": ReLU, "relu6": ReLU6, "silu": SiLU,
               "tanh": Tanh, "tanhshrink": Tanhshrink, "hardtanh": Hardtanh, "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU, "celu": CELU,
               "selu": SeLU, "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU, "leakyrelu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid,
               "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink, "mish": Mish}


def get_activation(name: Optional[str], prim_name: Optional[str] = None) -> Optional[Cell]:
    """The activation cell of that name, in any case; None for None and an empty name. `prim_name` stands in the message.

    Raises TypeError for what is no text, KeyError for an unknown name.
    """
    if name is None:
        return None
    check_type(prim_name or "get_activation", "the activation", name, str)
    if not name:
        return None
    cls = _activation.get(name.lower())
    if cls is None:
        fail(KeyError, f"{prim_name or 'get_activation'}: the activation '{name}' is not known", "use one of " + ", ".join(sorted(_activation)))
    return cls()


class RReLU(Cell):
    """x where it is not negative, else x times a slope drawn from U(lower, upper) for every element, in evaluation too, as MindSpore does."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3) -> None:
        super().__init__()
        self.lower, self.upper = check_float("RReLU", "lower", lower, least=0, most=1), check_float("RReLU", "upper", upper, least=0, most=1)
        if lower > upper:
            fail(ValueError, f"RReLU: lower {lower} must not be above upper {upper}")

    def construct(self, x: Tensor) -> Tensor:
        return rrelu(x, self.lower, self.upper)


class LRN(Cell):
    """x / (bias + alpha·sum of squares over the depth_radius channels on either side)^beta of [N, C, H, W]. Raises ValueError for another
    norm_region than 'ACROSS_CHANNELS'."""

    def __init__(self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = "ACROSS_CHANNELS") -> None:
        super().__init__()
        self.depth_radius, self.norm_region = check_int("LRN", "depth_radius", depth_radius, 0), norm_region
        self.bias, self.alpha, self.beta = check_float("LRN", "bias", bias), check_float("LRN", "alpha", alpha), check_float("LRN", "beta", beta)
        if norm_region != "ACROSS_CHANNELS":
            fail(ValueError, f"LRN: norm_region {norm_region!r} is not known", "use 'ACROSS_CHANNELS'")

    def construct(self, input_x: Tensor) -> Tensor:
        return lrn(input_x, self.depth_radius, self.bias, self.alpha, self.beta, self.norm_region)
