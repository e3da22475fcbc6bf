"""Activation functions, softmax and a table of activations by name."""
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
    """Applies max(x, 0) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ReLU()(ms.Tensor([-1.0, 0.5])))
        [0.  0.5]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.relu(x)


class ReLU6(Cell):
    """Applies min(max(x, 0), 6) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ReLU6()(ms.Tensor([-1.0, 2.0, 8.0])))
        [0. 2. 6.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.relu6(x)


class Sigmoid(Cell):
    """Applies 1/(1 + e^-x) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Sigmoid()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [0.2689 0.5    0.7311]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.sigmoid(x)


class Tanh(Cell):
    """Applies the hyperbolic tangent elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Tanh()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.7616  0.      0.7616]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.tanh(x)


class Tanhshrink(Cell):
    """Applies x - tanh(x) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Tanhshrink()(ms.Tensor([-1.0, 0.0, 2.0])).asnumpy().round(4))
        [-0.2384  0.      1.036 ]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.sub(x, _ops.tanh(x))


class SiLU(Cell):
    """Applies x·sigmoid(x) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.SiLU()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.2689  0.      0.7311]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.silu(x)


class Mish(Cell):
    """Applies x·tanh(log(1 + e^x)) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Mish()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.3034  0.      0.8651]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.mul(x, _ops.tanh(_ops.softplus(x)))


class HSwish(Cell):
    """Applies x·relu6(x + 3)/6 elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.HSwish()(ms.Tensor([-4.0, 0.0, 3.0])))
        [-0.  0.  3.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.hswish(x)


class HSigmoid(Cell):
    """Applies relu6(x + 3)/6 elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.HSigmoid()(ms.Tensor([-4.0, 0.0, 3.0])))
        [0.  0.5 1. ]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.hsigmoid(x)


class Softsign(Cell):
    """Applies x/(1 + |x|) elementwise.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Softsign()(ms.Tensor([-1.0, 0.0, 3.0])))
        [-0.5   0.    0.75]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.div(x, _ops.add(_ops.abs(x), 1.0))


class LogSigmoid(Cell):
    """Applies log(1/(1 + e^-x)) elementwise, without overflow.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LogSigmoid()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-1.3133 -0.6931 -0.3133]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.neg(_ops.softplus(_ops.neg(x)))


class GELU(Cell):
    """Applies the Gaussian error linear unit elementwise.

    Args:
        approximate (bool): Whether to compute 0.5x(1 + tanh(sqrt(2/pi)(x + 0.044715x³))); otherwise 0.5x(1 + erf(x/sqrt 2)), which is
            PyTorch's default. Default: True.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.GELU()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.1588  0.      0.8412]
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = check_bool("GELU", "approximate", approximate)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.gelu(x, self.approximate)

    def extend_repr(self) -> str:
        return f"approximate={self.approximate}"


class FastGelu(Cell):
    """Applies x·e^(0.851(x - |x|))/(1 + e^(-1.702|x|)) elementwise, approximately x·sigmoid(1.702x).

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.FastGelu()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.1542  0.      0.8458]
    """

    def construct(self, x: Tensor) -> Tensor:
        size = _ops.abs(x)
        return _ops.mul(_ops.div(x, _ops.add(_ops.exp(_ops.mul(size, -1.702)), 1.0)), _ops.exp(_ops.mul(_ops.sub(x, size), 0.851)))


class LeakyReLU(Cell):
    """Returns x if x > 0, else alpha·x, elementwise.

    Args:
        alpha (float): The slope for negative values. Default: 0.2.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LeakyReLU(0.5)(ms.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = check_float("LeakyReLU", "alpha", alpha)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.leaky_relu(x, self.alpha)

    def extend_repr(self) -> str:
        return f"alpha={self.alpha}"


class ELU(Cell):
    """Returns x if x > 0, else alpha·(e^x - 1), elementwise.

    Args:
        alpha (float): The factor for negative values. Default: 1.0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ELU()(ms.Tensor([-1.0, 2.0])).asnumpy().round(4))
        [-0.6321  2.    ]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_float("ELU", "alpha", alpha)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.elu(x, self.alpha)

    def extend_repr(self) -> str:
        return f"alpha={self.alpha}"


class CELU(Cell):
    """Returns x if x > 0, else alpha·(e^(x/alpha) - 1), elementwise.

    Args:
        alpha (float): The scale for negative values; not 0. Default: 1.0.

    Raises:
        ValueError: If `alpha` is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.CELU(2.0)(ms.Tensor([-1.0, 2.0])).asnumpy().round(4))
        [-0.7869  2.    ]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_float("CELU", "alpha", alpha)
        if self.alpha == 0:
            fail(ValueError, "CELU: alpha must not be 0")

    def construct(self, x: Tensor) -> Tensor:
        return celu(x, self.alpha)


class SeLU(Cell):
    """Applies scale·elu(x, alpha) elementwise, with the constants under which activations keep mean 0 and variance 1.

    Inputs:
        x (Tensor): A tensor of any shape.

    Outputs:
        Tensor of the shape of x.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.SeLU()(ms.Tensor([-1.0, 2.0])).asnumpy().round(4))
        [-1.1113  2.1014]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.mul(_ops.elu(x, 1.6732632423543772), 1.0507009873554805)


class Hardtanh(Cell):
    """Applies min(max(x, min_val), max_val) elementwise.

    Args:
        min_val (float): The lower bound. Default: -1.0.
        max_val (float): The upper bound. Default: 1.0.

    Raises:
        ValueError: If `min_val` is not below `max_val`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Hardtanh()(ms.Tensor([-2.0, 0.5, 3.0])))
        [-1.   0.5  1. ]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val, self.max_val = check_float("Hardtanh", "min_val", min_val), check_float("Hardtanh", "max_val", max_val)
        if self.min_val >= self.max_val:
            fail(ValueError, f"Hardtanh: min_val must be below max_val, got {min_val} and {max_val}")

    def construct(self, x: Tensor) -> Tensor:
        return _ops.clamp(x, self.min_val, self.max_val)


class SoftShrink(Cell):
    """Moves x towards 0 by lambd, elementwise; values within lambd of 0 become 0.

    Args:
        lambd (float): The threshold, at least 0. Default: 0.5.

    Raises:
        ValueError: If `lambd` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.SoftShrink()(ms.Tensor([-2.0, 0.25, 1.0])))
        [-1.5  0.   0.5]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("SoftShrink", "lambd", lambd, least=0)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.sub(x, _ops.clamp(x, -self.lambd, self.lambd))


class HShrink(Cell):
    """Returns x, with values within lambd of 0 replaced by 0.

    Args:
        lambd (float): The threshold, at least 0. Default: 0.5.

    Raises:
        ValueError: If `lambd` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.HShrink()(ms.Tensor([-2.0, 0.25, 1.0])))
        [-2.  0.  1.]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = check_float("HShrink", "lambd", lambd, least=0)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.where(_ops.greater(_ops.abs(x), self.lambd), x, 0.0)


class Threshold(Cell):
    """Returns x if x > threshold, else value, elementwise.

    Args:
        threshold (float): The threshold.
        value (float): The value for elements that do not exceed it.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Threshold(0.5, 9.0)(ms.Tensor([-2.0, 0.5, 1.0])))
        [9. 9. 1.]
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = check_float("Threshold", "threshold", threshold), check_float("Threshold", "value", value)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.where(_ops.greater(x, self.threshold), x, self.value)


class PReLU(Cell):
    """Returns x if x > 0, else w·x, elementwise, with a trainable slope w.

    Args:
        channel (int): The number of slopes: one per channel (axis 1), or 1 for a common slope. Default: 1.
        w (float, Tensor, list): The initial slope: a number, or `channel` numbers. Default: 0.25.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `channel` is less than 1 or `w` has another shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.PReLU()(ms.Tensor([[-2.0, 1.0]])))
        [[-0.5  1. ]]
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
    """Gated linear unit: a·sigmoid(b), where a and b are the halves of x along an axis.

    Args:
        axis (int): The axis to split. Default: -1.

    Raises:
        ValueError: If that dimension is odd.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.GLU()(ms.Tensor([[4.0, 2.0, 0.0, 0.0]])))
        [[2. 1.]]
    """

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
    """Applies e^x/sum(e^x) along an axis.

    Args:
        axis (int): The axis, or a tuple of one axis. Default: -1.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` holds several axes.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Softmax()(ms.Tensor([[0.0, 1.0, 2.0]])).asnumpy().round(4))
        [[0.09   0.2447 0.6652]]
    """

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
    """Applies log(softmax(x)) along an axis, without overflow.

    Args:
        axis (int): The axis, or a tuple of one axis. Default: -1.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` holds several axes.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LogSoftmax()(ms.Tensor([[0.0, 1.0, 2.0]])).asnumpy().round(4))
        [[-2.4076 -1.4076 -0.4076]]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.log_softmax(x, self.axis)


class Softmin(Softmax):
    """Applies softmax(-x) along an axis.

    Args:
        axis (int): The axis, or a tuple of one axis. Default: -1.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` holds several axes.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Softmin()(ms.Tensor([[0.0, 1.0, 2.0]])).asnumpy().round(4))
        [[0.6652 0.2447 0.09  ]]
    """

    def construct(self, x: Tensor) -> Tensor:
        return _ops.softmax(_ops.neg(x), self.axis)


class Softmax2d(Cell):
    """Applies softmax over the channels of an input [N, C, H, W] or [C, H, W].

    Inputs:
        x (Tensor): Shape [N, C, H, W] or [C, H, W].

    Outputs:
        Tensor of the shape of x.

    Raises:
        ValueError: If the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Softmax2d()(ms.ops.zeros((2, 1, 2), ms.float32)))
        [[[0.5 0.5]]
        <BLANKLINE>
         [[0.5 0.5]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        if len(x.shape) not in (3, 4):
            fail(ValueError, f"Softmax2d: the input must have 3 or 4 dimensions, got {tuple(x.shape)}")
        return _ops.softmax(x, -3)


_activation = {"softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "relu": ReLU, "relu6": ReLU6, "silu": SiLU,
               "tanh": Tanh, "tanhshrink": Tanhshrink, "hardtanh": Hardtanh, "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU, "celu": CELU,
               "selu": SeLU, "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU, "leakyrelu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid,
               "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink, "mish": Mish}


def get_activation(name: Optional[str], prim_name: Optional[str] = None) -> Optional[Cell]:
    """Returns a new activation Cell by name.

    Args:
        name (str): The name, in upper or lower case, such as "relu" or "gelu".
        prim_name (str): The name of the caller in error messages. Default: None.

    Returns:
        Cell; None if `name` is None or empty.

    Raises:
        TypeError: If `name` is not a str.
        KeyError: If the name is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.get_activation("relu")
        ReLU<>
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
    """Returns x if x >= 0, else x times a random slope, elementwise.

    The slopes are drawn from U(lower, upper) for every element, in evaluation too, as in MindSpore.

    Args:
        lower (float): The lower bound of the slopes, in [0, 1]. Default: 1/8.
        upper (float): The upper bound of the slopes, in [0, 1]. Default: 1/3.

    Raises:
        ValueError: If a bound is outside [0, 1], or `lower` is above `upper`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.RReLU(0.5, 0.5)(ms.Tensor([-2.0, 3.0])))
        [-1.  3.]
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3) -> None:
        super().__init__()
        self.lower, self.upper = check_float("RReLU", "lower", lower, least=0, most=1), check_float("RReLU", "upper", upper, least=0, most=1)
        if lower > upper:
            fail(ValueError, f"RReLU: lower {lower} must not be above upper {upper}")

    def construct(self, x: Tensor) -> Tensor:
        return rrelu(x, self.lower, self.upper)


class LRN(Cell):
    """Local response normalisation over the channels of an input [N, C, H, W].

    Computes x / (bias + alpha·sum)^beta, where sum adds the squares over the channel and `depth_radius` channels on either side.

    Args:
        depth_radius (int): The number of channels on either side, at least 0. Default: 5.
        bias (float): The bias. Default: 1.0.
        alpha (float): The factor of the sum. Default: 1.0.
        beta (float): The exponent. Default: 0.5.
        norm_region (str): "ACROSS_CHANNELS". Default: "ACROSS_CHANNELS".

    Raises:
        ValueError: If `norm_region` is another text.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LRN()(ms.ops.ones((1, 3, 1, 1), ms.float32)).asnumpy().ravel())
        [0.5 0.5 0.5]
    """

    def __init__(self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = "ACROSS_CHANNELS") -> None:
        super().__init__()
        self.depth_radius, self.norm_region = check_int("LRN", "depth_radius", depth_radius, 0), norm_region
        self.bias, self.alpha, self.beta = check_float("LRN", "bias", bias), check_float("LRN", "alpha", alpha), check_float("LRN", "beta", beta)
        if norm_region != "ACROSS_CHANNELS":
            fail(ValueError, f"LRN: norm_region {norm_region!r} is not known", "use 'ACROSS_CHANNELS'")

    def construct(self, input_x: Tensor) -> Tensor:
        return lrn(input_x, self.depth_radius, self.bias, self.alpha, self.beta, self.norm_region)
