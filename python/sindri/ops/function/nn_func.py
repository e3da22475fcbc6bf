"""Network functions of sindri.ops: activations, dense layers, convolution, normalisation, dropout."""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import (Parameter, Size, Tensor, as_tensor, core, exported, filled, floating, is_float, pair, perm_moving, rounded_once, sloped,
                              to_axis, to_int, to_ints, transposed_conv2d)
from sindri.ops.function.linalg_func import matmul
from sindri.ops.function.random_func import keep_mask

# --- activations ------------------------------------------------------------------------------------------------------------------------

relu6 = core.relu6
silu = core.silu
hardswish = core.hswish
hardsigmoid = core.hsigmoid


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies max(x, 0) elementwise.

    Args:
        input (Tensor): The input, of any shape.
        inplace (bool): Whether the input tensor itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.relu(ms.Tensor([-1.0, 0.5])))
        [0.  0.5]
    """
    out = core.relu(input)
    if inplace:
        input._replace(out)
    return out


def leaky_relu(input: Tensor, alpha: float = 0.2) -> Tensor:
    """Returns x above 0, else alpha * x.

    Args:
        input (Tensor): The input, of any shape.
        alpha (float): The slope below 0. Default: 0.2.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.leaky_relu(ms.Tensor([-1.0, 0.5])))
        [-0.2  0.5]
    """
    return core.leaky_relu(input, float(alpha))


def elu(input_x: Tensor, alpha: float = 1.0) -> Tensor:
    """Returns x above 0, else alpha * (exp(x) - 1).

    Args:
        input_x (Tensor): The input, of any shape.
        alpha (float): The factor below 0. Default: 1.0.

    Returns:
        A tensor of input_x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.elu(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-0.6321  0.5   ]
    """
    return core.elu(input_x, float(alpha))


@rounded_once()
def selu(input_x: Tensor) -> Tensor:
    """Applies the scaled exponential linear unit: 1.0507 * (x above 0, else 1.6733 * (exp(x) - 1)) (Klambauer et al.
    2017).

    Args:
        input_x (Tensor): The input, of any shape.

    Returns:
        A tensor of input_x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.selu(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-1.1113  0.5254]
    """
    return core.mul(core.elu(input_x, 1.6732632423543772), 1.0507009873554805)


@rounded_once()
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Returns x above 0, else alpha * (exp(x/alpha) - 1).

    Args:
        x (Tensor): The input, of any shape.
        alpha (float): The scale below 0. Default: 1.0.

    Returns:
        A tensor of x's shape and type.

    Raises:
        ValueError: If `alpha` is 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.celu(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-0.6321  0.5   ]
    """
    if alpha == 0:
        fail(ValueError, "alpha is 0", "ops.celu")
    positive = core.greater(x, 0)
    below = core.div(core.where(positive, 0.0, x), alpha)
    # elu's gradient is e^x itself. expm1's is (e^x - 1) + 1, which loses all digits of a small e^x, but is needed above 0 (alpha < 0).
    return core.where(positive, x, core.mul(core.elu(below, 1.0) if alpha > 0 else core.expm1(below), alpha))


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Computes x·Φ(x), where Φ is the standard normal distribution function.

    Args:
        input (Tensor): The input, of any shape.
        approximate (str): "none" to use erf, or "tanh" for the approximation by tanh. Default: "none".

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `approximate` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gelu(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.1587  0.      0.8413]
    """
    return core.gelu(input, check_choice("ops.gelu", "approximate", approximate, ("none", "tanh")) == "tanh")


@rounded_once()
def fast_gelu(x: Tensor) -> Tensor:
    """Computes x/(1 + exp(-1.702·|x|))·exp(0.851·(x - |x|)), which equals x·sigmoid(1.702·x).

    Args:
        x (Tensor): The input, of any shape.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.fast_gelu(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.1542  0.      0.8458]
    """
    return core.mul(x, core.sigmoid(core.mul(x, 1.702)))


@rounded_once()
def mish(x: Tensor) -> Tensor:
    """Computes x·tanh(softplus(x)).

    Args:
        x (Tensor): The input, of any shape.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mish(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.3034  0.      0.8651]
    """
    return core.mul(x, core.tanh(core.softplus(x)))


@rounded_once()
def softplus(input: Tensor, beta: Union[int, float] = 1, threshold: Union[int, float] = 20) -> Tensor:
    """Computes log(1 + exp(beta·x))/beta, and x itself where beta·x exceeds `threshold`.

    Args:
        input (Tensor): The input, of any shape.
        beta (number): The scale. Default: 1.
        threshold (number): The value above which the function is linear. Default: 20.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.softplus(ms.Tensor([-1.0, 0.0, 30.0])).asnumpy().round(4))
        [ 0.3133  0.6931 30.    ]
    """
    scaled = input if beta == 1 else core.mul(input, beta)
    out = core.softplus(scaled) if beta == 1 else core.div(core.softplus(scaled), beta)
    return core.where(core.greater(scaled, threshold), input, out)


@rounded_once()
def softsign(x: Tensor) -> Tensor:
    """Computes x/(1 + |x|).

    Args:
        x (Tensor): The input, of any shape.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.softsign(ms.Tensor([-1.0, 0.0, 3.0])))
        [-0.5   0.    0.75]
    """
    return core.div(x, core.add(core.abs(x), 1.0))


def logsigmoid(x: Tensor) -> Tensor:
    """Computes log(sigmoid(x)) without overflow.

    Args:
        x (Tensor): The input, of any shape.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logsigmoid(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-1.3133 -0.6931 -0.3133]
    """
    return core.neg(core.softplus(core.neg(x)))


@rounded_once()
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Moves x towards 0 by lambd; elements in [-lambd, lambd] become 0.

    Args:
        input (Tensor): The input, of any shape.
        lambd (float): The distance. Default: 0.5.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.softshrink(ms.Tensor([-1.0, 0.2, 2.0])))
        [-0.5  0.   1.5]
    """
    return core.sub(input, core.clamp(input, -float(lambd), float(lambd)))


soft_shrink = softshrink


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Sets elements in [-lambd, lambd] to 0 and keeps the others. NaN is kept.

    Args:
        input (Tensor): The input, of any shape.
        lambd (float): The bound. Default: 0.5.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hardshrink(ms.Tensor([-1.0, 0.2, 2.0])))
        [-1.  0.  2.]
    """
    return core.where(core.less_equal(core.abs(input), lambd), 0.0, input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Clips x to [min_val, max_val]. The gradient is 0 outside.

    Args:
        input (Tensor): The input, of any shape.
        min_val (float): The lower bound. Default: -1.0.
        max_val (float): The upper bound. Default: 1.0.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hardtanh(ms.Tensor([-2.0, 0.5, 3.0])))
        [-1.   0.5  1. ]
    """
    return core.clamp(input, float(min_val), float(max_val))


@rounded_once()
def tanhshrink(input: Tensor) -> Tensor:
    """Computes x - tanh(x).

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tanhshrink(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.2384  0.      0.2384]
    """
    return core.sub(input, core.tanh(input))


def threshold(input: Tensor, thr: Union[int, float], value: Union[int, float]) -> Tensor:
    """Returns x above `thr`, else `value`.

    Args:
        input (Tensor): The input, of any shape.
        thr (number): The threshold.
        value (number): The replacement.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.threshold(ms.Tensor([0.5, 1.5]), 1.0, 9.0))
        [9.  1.5]
    """
    return core.where(core.greater(input, thr), input, filled((), value, input.dtype))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Returns x above 0, else weight * x.

    Args:
        input (Tensor): The input.
        weight (Tensor): One element, or one per channel (dimension 1).

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `weight` has another size.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.prelu(ms.Tensor([[-1.0, 2.0]]), ms.Tensor([0.5])))
        [[-0.5  2. ]]
    """
    if math.prod(weight.shape) != 1:
        channels = input.shape[1] if len(input.shape) > 1 else 1
        if weight.shape != (channels,):
            fail(ValueError, f"expected a weight of 1 or {channels} elements for {input.shape}, got {weight.shape}", "ops.prelu")
        weight = core.reshape(weight, [-1 if d == 1 else 1 for d in range(len(input.shape))])
    elif weight.shape:
        weight = core.reshape(weight, ())
    return sloped(input, core.cast(weight, input.dtype) if is_float(input.dtype) else weight)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Returns x above 0, else a·x with `a` drawn from [lower, upper) for each element.

    Args:
        input (Tensor): The input, of any shape.
        lower (float): The lower bound of the slope. Default: 1.0 / 8.
        upper (float): The upper bound of the slope. Default: 1.0 / 3.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rrelu(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """
    slope = core.random_uniform(input.shape, float(lower), float(upper), input.dtype)
    return sloped(input, slope)


@rounded_once()
def glu(x: Tensor, axis: int = -1) -> Tensor:
    """Splits x in two halves along an axis and returns the first times the sigmoid of the second.

    Args:
        x (Tensor): The input.
        axis (int): The axis. Default: -1.

    Returns:
        A tensor of half the size along `axis`.

    Raises:
        ValueError: If the dimension is odd or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.glu(ms.Tensor([2.0, 4.0, 0.0, 0.0])))
        [1. 2.]
    """
    a = to_axis(axis, len(x.shape), "ops.glu")
    if x.shape[a] % 2:
        fail(ValueError, f"dimension {a} of {x.shape} is odd", "ops.glu")
    left, right = core.split(x, [x.shape[a] // 2] * 2, a)
    return core.mul(left, core.sigmoid(right))


@rounded_once()
def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """Splits the input in two halves along a dimension and returns silu of the first times the second.

    Args:
        input (Tensor): The input.
        dim (int): The dimension. Default: -1.

    Returns:
        A tensor of half the size along `dim`.

    Raises:
        ValueError: If the dimension is odd or `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.swiglu(ms.Tensor([1.0, 2.0, 1.0, 1.0])).asnumpy().round(4))
        [0.7311 1.7616]
    """
    a = to_axis(dim, len(input.shape), "ops.swiglu")
    left, right = core.split(input, [input.shape[a] // 2] * 2, a)
    return core.mul(core.silu(left), right)


def softmax(input: Tensor, axis: Union[int, Sequence[int]] = -1, dtype=None) -> Tensor:
    """Computes exp(x)/sum(exp(x)) along an axis.

    Args:
        input (Tensor): The input.
        axis (int or sequence of ints): The axis, an int or a tuple of one. Default: -1.
        dtype (dtype): The type that the input is cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range or names several axes.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.softmax(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [0.09   0.2447 0.6652]
    """
    x = input if dtype is None else core.cast(input, dtype)
    return core.softmax(x, _one_axis(axis, len(x.shape), "ops.softmax"))


def _one_axis(axis: Any, rank: int, where: str) -> int:
    if type(axis) is int and -rank <= axis < rank:
        return axis
    axes = to_ints(axis, "axis", where)
    if len(axes) != 1:
        fail(ValueError, f"axis: expected one axis, got {axis!r}", where)
    return to_axis(axes[0], rank, where)


def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """Computes log(softmax(x)) along an axis without overflow.

    Args:
        logits (Tensor): The input.
        axis (int): The axis. Default: -1.

    Returns:
        A tensor of the input's shape.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.log_softmax(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [-2.4076 -1.4076 -0.4076]
    """
    return core.log_softmax(logits, _one_axis(axis, len(logits.shape), "ops.log_softmax"))


def softmin(x: Tensor, axis: int = -1, *, dtype=None) -> Tensor:
    """Computes softmax(-x) along an axis.

    Args:
        x (Tensor): The input.
        axis (int): The axis. Default: -1.
        dtype (dtype): The type that the input is cast to first. Default: None.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.softmin(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [0.6652 0.2447 0.09  ]
    """
    return softmax(core.neg(x), axis, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Computes softmax((logits + Gumbel noise)/tau) (Jang et al. 2017).

    Args:
        logits (Tensor): The unnormalised log probabilities.
        tau (float): The temperature. Default: 1.0.
        hard (bool): Whether to return one-hot values, with the gradient of the soft ones. Default: False.
        dim (int): The dimension. Default: -1.

    Returns:
        A tensor of the logits' shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gumbel_softmax(ms.Tensor([[1.0, 2.0, 3.0]]), hard=True).sum())
        1.0
    """
    u = core.random_uniform(logits.shape, 0.0, 1.0, mstype.float64)
    noise = core.cast(core.neg(core.log(core.neg(core.log(core.maximum(u, 1e-300))))), logits.dtype)
    axis = to_axis(_one_axis(dim, len(logits.shape), "ops.gumbel_softmax"), len(logits.shape), "ops.gumbel_softmax")
    soft = core.softmax(core.div(core.add(logits, noise), tau), axis)
    if not hard:
        return soft
    best = core.one_hot(core.argmax(soft, axis), logits.shape[axis], 1.0, 0.0, logits.dtype)
    best = core.transpose(best, perm_moving(len(logits.shape), [len(logits.shape) - 1], [axis]))
    return core.add(core.sub(best, core.stop_gradient(soft)), soft)


# --- dense and embedding ----------------------------------------------------------------------------------------------------------------


def dense(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """Computes input · weightᵀ + bias. Leading dimensions of `input` are kept.

    Args:
        input (Tensor): The input, [.., in].
        weight (Tensor): The weight, [out, in] or [in].
        bias (Tensor): The bias, [out], or None. Default: None.

    Returns:
        A tensor of shape [.., out], or [..] for a vector `weight`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dense(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])))
        [[1. 2. 3.]]
    """
    if len(weight.shape) == 1:
        out = matmul(input, weight)
    else:
        flat = input if len(input.shape) == 2 else core.reshape(input, (math.prod(input.shape[:-1]), input.shape[-1]))
        out = core.matmul(flat, weight, False, True)
        out = out if len(input.shape) == 2 else core.reshape(out, input.shape[:-1] + (weight.shape[0],))
    return out if bias is None else core.add(out, bias)


def bias_add(input_x: Tensor, bias: Tensor, data_format: str = "NCHW") -> Tensor:
    """Adds a bias per channel: along dimension 1, or along the last one for NHWC.

    Args:
        input_x (Tensor): A tensor of at least 2 dimensions.
        bias (Tensor): A vector with one element per channel.
        data_format (str): "NCHW", "NHWC" or "NCDHW". Default: "NCHW".

    Returns:
        A tensor of input_x's shape.

    Raises:
        ValueError: If the shapes are incompatible or `data_format` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bias_add(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([10.0, 20.0])))
        [[11. 22.]
         [13. 24.]]
    """
    check_choice("ops.BiasAdd", "data_format", data_format, ("NCHW", "NHWC", "NCDHW"))
    rank = len(input_x.shape)
    channel = rank - 1 if data_format == "NHWC" else 1
    if rank < 2 or len(bias.shape) != 1 or bias.shape[0] != input_x.shape[channel]:
        fail(ValueError, f"bias {bias.shape} does not fit dimension {channel} of {input_x.shape}", "ops.BiasAdd", "give one element per channel")
    return core.add(input_x, core.reshape(bias, [-1 if d == channel else 1 for d in range(rank)]))


def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False) -> Tensor:
    """Looks up the rows of a table [V, D].

    Args:
        input (Tensor): The row numbers.
        weight (Tensor): The table.
        padding_idx (int): The row that gets no gradient, or None. Default: None.
        max_norm (float): Must be None. Default: None.
        norm_type (float): No effect. Default: 2.0.
        scale_grad_by_freq (bool): Must be False. Default: False.

    Returns:
        A tensor of shape input.shape + [D].

    Raises:
        ValueError: If `max_norm` or `scale_grad_by_freq` is given; they are not supported.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.embedding(ms.Tensor([2, 0]), ms.Tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])))
        [[3. 3.]
         [1. 1.]]
    """
    if max_norm is not None or scale_grad_by_freq:
        fail(ValueError, "max_norm and scale_grad_by_freq are not supported", "ops.embedding", "omit them")
    out = core.embedding(weight, input)
    if padding_idx is None:
        return out
    padded = core.expand_dims(core.equal(input, padding_idx % weight.shape[0]), -1)
    return core.where(padded, core.stop_gradient(out), out)


@rounded_once()
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Computes x1·x2/(max(|x1|, eps)·max(|x2|, eps)) along a dimension.

    Args:
        x1 (Tensor): The first vectors.
        x2 (Tensor): The second vectors.
        dim (int): The dimension. Default: 1.
        eps (float): The least length. Default: 1e-08.

    Returns:
        A tensor without dimension `dim`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cosine_similarity(ms.Tensor([[1.0, 0.0]]), ms.Tensor([[1.0, 1.0]])).asnumpy().round(4))
        [0.7071]
    """
    x1, x2 = floating(x1), floating(as_tensor(x2))
    length = core.mul(core.maximum(core.norm(x1, 2.0, [dim]), eps), core.maximum(core.norm(x2, 2.0, [dim]), eps))
    return core.div(core.sum(core.mul(x1, x2), [dim]), length)


# --- convolution ------------------------------------------------------------------------------------------------------------------------


def same_pads(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple:
    """Returns the zeros that make the output ceil(size/stride). An odd one is added after.

    Args:
        size (int): The size of the input.
        kernel (int): The size of the kernel.
        stride (int): The stride.
        dilation (int): The dilation. Default: 1.

    Returns:
        (before, after).

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.same_pads(5, 2, 1))
        (0, 1)
    """
    total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def spatial_pads(pad_mode: str, padding: Any, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int],
                 where: str) -> list:
    """Returns the padding of images for a pad mode.

    Args:
        pad_mode (str): "same", "valid" or "pad", in any case.
        padding (int or sequence of ints): The padding for "pad": one number, (vertical, horizontal) or (top, bottom,
            left, right).
        size (sequence of ints): The (height, width) of the input.
        kernel (sequence of ints): The size of the kernel.
        stride (sequence of ints): The stride.
        dilation (sequence of ints): The dilation.
        where (str): The name of the function, for messages.

    Returns:
        [top, bottom, left, right].

    Raises:
        ValueError: If `padding` is given for another mode than "pad", is negative or has another length.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.spatial_pads("same", 0, (5, 5), (3, 3), (1, 1), (1, 1), "example"))
        [1, 1, 1, 1]
    """
    mode = check_choice(where, "pad_mode", pad_mode.lower() if isinstance(pad_mode, str) else pad_mode, ("same", "valid", "pad"))
    pads = to_ints(padding, "padding", where)
    if len(pads) not in (1, 2, 4):
        fail(ValueError, f"padding: expected 1, 2 or 4 numbers, got {padding!r}", where)
    pads = list(pads) if len(pads) == 4 else [pads[0], pads[0], pads[-1], pads[-1]]
    if mode == "pad":
        if min(pads) < 0:
            fail(ValueError, f"padding: expected no negative number, got {padding!r}", where)
        return pads
    if any(pads):
        fail(ValueError, f"padding {padding!r} goes with pad_mode 'pad', not with '{mode}'", where)
    if mode == "valid":
        return [0, 0, 0, 0]
    return [p for i in (0, 1) for p in same_pads(size[i], kernel[i], stride[i], dilation[i])]


def in_nchw(fn: Callable, x: Tensor, data_format: str, where: str) -> Tensor:
    """Applies a function of NCHW images to images in either format.

    Args:
        fn (Callable): The function.
        x (Tensor): The images.
        data_format (str): The format of `x`, "NCHW" or "NHWC".
        where (str): The name of the function, for messages.

    Returns:
        The result in the same format.

    Raises:
        ValueError: If `data_format` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.in_nchw(lambda x: x, ms.ops.ones((1, 2, 2, 3)), "NHWC", "example").shape)
        (1, 2, 2, 3)
    """
    if check_choice(where, "data_format", data_format, ("NCHW", "NHWC")) == "NCHW":
        return fn(x)
    return core.transpose(fn(core.transpose(x, [0, 3, 1, 2])), [0, 2, 3, 1])


def conv2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
           dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """Convolves images [n, c, h, w] with a weight [o, c/groups, kh, kw].

    Args:
        input (Tensor): The images.
        weight (Tensor): The weight.
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride, one number or (vertical, horizontal). Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (int or sequence of ints): The padding for "pad": one number, (vertical, horizontal) or (top, bottom,
            left, right). Default: 0.
        dilation (int or sequence of ints): The dilation, one number or (vertical, horizontal). Default: 1.
        groups (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape [n, o, h', w'].

    Raises:
        ValueError: If the shapes are incompatible, `pad_mode` is another string, or `padding` is given for another mode
            than "pad".

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.conv2d(ms.ops.ones((1, 1, 3, 3)), ms.ops.ones((1, 1, 2, 2))))
        [[[[4. 4.]
           [4. 4.]]]]
        >>> print(ms.ops.conv2d(ms.ops.ones((1, 1, 3, 3)), ms.ops.ones((4, 1, 3, 3)), pad_mode="same").shape)
        (1, 4, 3, 3)
    """
    where = "ops.conv2d"
    if len(input.shape) != 4 or len(weight.shape) != 4:
        fail(ValueError, f"expected 4 dimensions each, got input {input.shape} and weight {weight.shape}", where)
    strides, dilations = pair(stride, "stride", where), pair(dilation, "dilation", where)
    pads = spatial_pads(pad_mode, padding, input.shape[2:], weight.shape[2:], strides, dilations, where)
    out = core.conv2d(input, weight, strides, pads, dilations, to_int(groups, "groups", where))
    return out if bias is None else bias_add(out, bias)


def conv1d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
           dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """Convolves sequences [n, c, l] with a weight [o, c/groups, k].

    Args:
        input (Tensor): The sequences.
        weight (Tensor): The weight.
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int): The stride. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (int or sequence of ints): The padding for "pad": one number or (before, after). Default: 0.
        dilation (int): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape [n, o, l'].

    Raises:
        ValueError: If the shapes are incompatible, `pad_mode` is another string, or `padding` is given for another mode
            than "pad".

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.conv1d(ms.ops.ones((1, 1, 4)), ms.ops.ones((1, 1, 2))))
        [[[2. 2. 2.]]]
    """
    one = lambda v, name: to_ints(v, name, "ops.conv1d")[0]
    pads = to_ints(padding, "padding", "ops.conv1d")
    out = conv2d(core.expand_dims(input, 2), core.expand_dims(weight, 2), bias, (1, one(stride, "stride")), pad_mode, (0, 0, pads[0], pads[-1]),
                 (1, one(dilation, "dilation")), groups)
    return core.squeeze(out, 2)


def conv_transpose2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     groups: int = 1, dilation: Any = 1) -> Tensor:
    """Applies a transposed convolution to [n, c, h, w] with a weight [c, o/groups, kh, kw].

    The height of the result is h' = (h - 1)·stride - 2·padding + dilation·(kh - 1) + output_padding + 1; the width
    likewise.

    Args:
        input (Tensor): The images.
        weight (Tensor): The weight.
        bias (Tensor): The bias, [o], or None. Default: None.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int or sequence of ints): The number of rows and columns cut off at each edge. Default: 0.
        output_padding (int or sequence of ints): The number of rows and columns added at the end. Default: 0.
        groups (int): The number of groups of channels. Default: 1.
        dilation (int or sequence of ints): The dilation. Default: 1.

    Returns:
        A tensor of shape [n, o, h', w'].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.conv_transpose2d(ms.ops.ones((1, 1, 2, 2)), ms.ops.ones((1, 1, 2, 2))))
        [[[[1. 2. 1.]
           [2. 4. 2.]
           [1. 2. 1.]]]]
    """
    where = "ops.conv_transpose2d"
    s, p, op, d = (pair(v, n, where) for v, n in ((stride, "stride"), (padding, "padding"), (output_padding, "output_padding"),
                                                  (dilation, "dilation")))
    out = transposed_conv2d(input, weight, s, [p[0], p[0], p[1], p[1]], op, d, groups)
    return out if bias is None else bias_add(out, bias)


def conv2d_transpose_of(dout: Tensor, weight: Tensor, input_size: Size, pad_mode: str = "valid", pad: Any = 0, stride: Any = 1, dilation: Any = 1,
                        group: int = 1) -> Tensor:
    """Returns the gradient of `conv2d` with respect to its input.

    Args:
        dout (Tensor): The gradient of the output, [n, o, h', w'].
        weight (Tensor): The weight, [o, c/group, kh, kw].
        input_size (int, sequence of ints or Tensor): The shape of the input.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (int or sequence of ints): The padding for "pad". Default: 0.
        stride (int or sequence of ints): The stride. Default: 1.
        dilation (int or sequence of ints): The dilation. Default: 1.
        group (int): The number of groups of channels. Default: 1.

    Returns:
        A tensor of shape `input_size`.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.conv2d_transpose_of(ms.ops.ones((1, 1, 1, 1)), ms.ops.ones((1, 1, 2, 2)), (1, 1, 2, 2)).shape)
        (1, 1, 2, 2)
    """
    where = "ops.Conv2DTranspose"
    shape, s, d = to_ints(input_size, "input_size", where), pair(stride, "stride", where), pair(dilation, "dilation", where)
    pads = spatial_pads(pad_mode, pad, shape[2:], weight.shape[2:], s, d, where)
    return core.conv2d_input_grad(dout, weight, shape, s, pads, d, group)


# --- normalisation and dropout ----------------------------------------------------------------------------------------------------------


def batch_norm(input_x: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor, bias: Tensor, training: bool = False,
               momentum: float = 0.1,
               eps: float = 1e-5) -> Tensor:
    """Normalises per channel: (x - mean)/sqrt(var + eps)·weight + bias.

    With `training`, batch statistics are used, and the moving statistics become (1 - momentum)·running +
    momentum·batch in place if they are Parameters. The variance of this update is divided by n - 1.

    Args:
        input_x (Tensor): The input, [n, c, …].
        running_mean (Tensor): The moving mean, [c].
        running_var (Tensor): The moving variance, [c].
        weight (Tensor): The scale, [c].
        bias (Tensor): The shift, [c].
        training (bool): Whether to use batch statistics. Default: False.
        momentum (float): The weight of the batch in the update. Default: 0.1.
        eps (float): A value added to the variance. Default: 1e-05.

    Returns:
        A tensor of input_x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.batch_norm(ms.Tensor([[1.0], [3.0]]), ms.Tensor([2.0]), ms.Tensor([4.0]), ms.Tensor([1.0]), ms.Tensor([0.0])).asnumpy().round(4))
        [[-0.5]
         [ 0.5]]
    """
    if not training:
        return core.batch_norm_infer(input_x, weight, bias, running_mean, running_var, float(eps))
    y, mean, var = core.batch_norm_train(input_x, weight, bias, float(eps))
    update_running(running_mean, running_var, mean, var, float(momentum), math.prod(input_x.shape) // input_x.shape[1])
    return y


def update_running(running_mean: Any, running_var: Any, mean: Tensor, var: Tensor, momentum: float, count: int) -> None:
    """Moves running statistics towards those of a batch. Tensors that are not Parameters are unchanged.

    Args:
        running_mean (Parameter): The moving mean, [c].
        running_var (Parameter): The moving variance, [c].
        mean (Tensor): The batch's mean, [c].
        var (Tensor): The batch's variance, [c].
        momentum (float): The weight of the batch.
        count (int): The number of values per channel; the variance is scaled by count/(count - 1).

    Examples:
        >>> import sindri as ms
        >>> mean, var = ms.Parameter(ms.Tensor([0.0]), name="mean"), ms.Parameter(ms.Tensor([1.0]), name="var")
        >>> ms.ops.function.update_running(mean, var, ms.Tensor([2.0]), ms.Tensor([1.0]), 0.5, 2)
        >>> print(mean.asnumpy(), var.asnumpy())
        [1.] [1.5]
    """
    var = core.mul(var, count / (count - 1)) if count > 1 else var
    for running, batch in ((running_mean, mean), (running_var, var)):
        if isinstance(running, Parameter):
            batch = core.cast(core.stop_gradient(batch), running.dtype)
            running.assign(core.add(core.mul(running, 1 - momentum), core.mul(batch, momentum)))


def layer_norm(input: Tensor, normalized_shape: Size, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """Normalises over the last dimensions, then multiplies by weight and adds bias.

    Args:
        input (Tensor): The input.
        normalized_shape (int, sequence of ints or Tensor): The sizes of the last dimensions.
        weight (Tensor): The scale, of shape `normalized_shape`; None means ones. Default: None.
        bias (Tensor): The shift, of shape `normalized_shape`; None means zeros. Default: None.
        eps (float): A value added to the variance. Default: 1e-05.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `normalized_shape` is not the shape of the last dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.layer_norm(ms.Tensor([[1.0, 2.0, 3.0]]), (3,)).asnumpy().round(4))
        [[-1.2247  0.      1.2247]]
    """
    shape = to_ints(normalized_shape, "normalized_shape", "ops.layer_norm")
    if input.shape[len(input.shape) - len(shape):] != shape:
        fail(ValueError, f"normalized_shape {shape} are not the last dimensions of {input.shape}", "ops.layer_norm")
    weight = core.full(shape, 1.0, input.dtype) if weight is None else weight
    bias = core.full(shape, 0.0, input.dtype) if bias is None else bias
    return core.layer_norm(input, weight, bias, len(input.shape) - len(shape), float(eps))


@rounded_once()
def layer_norm_with_stats(x: Tensor, gamma: Tensor, beta: Tensor, begin_norm_axis: int = 1, begin_params_axis: int = 1,
                          epsilon: float = 1e-7) -> tuple:
    """Normalises over the dimensions from begin_norm_axis on, then multiplies by gamma and adds beta.

    Args:
        x (Tensor): The input.
        gamma (Tensor): The scale, of the dimensions from `begin_params_axis` on.
        beta (Tensor): The shift, of the dimensions from `begin_params_axis` on.
        begin_norm_axis (int): The first normalised dimension. Default: 1.
        begin_params_axis (int): The first dimension of `gamma` and `beta`. Default: 1.
        epsilon (float): A value added to the variance. Default: 1e-07.

    Returns:
        (normalised tensor, mean, variance).

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.LayerNorm()(ms.Tensor([[1.0, 2.0, 3.0]]), ms.ops.ones((3,)), ms.ops.zeros((3,)))[0].asnumpy().round(4))
        [[-1.2247  0.      1.2247]]
    """
    axis = to_axis(begin_norm_axis, len(x.shape), "ops.LayerNorm")
    axes = list(range(axis, len(x.shape)))
    mean = core.mean(x, axes, True)
    var = core.mean(core.square(core.sub(x, mean)), axes, True)
    if gamma.shape == x.shape[axis:]:
        return core.layer_norm(x, gamma, beta, axis, float(epsilon)), mean, var
    to_axis(begin_params_axis, len(x.shape), "ops.LayerNorm")
    y = core.layer_norm(x, core.full(x.shape[axis:], 1.0, x.dtype), core.full(x.shape[axis:], 0.0, x.dtype), axis, float(epsilon))
    return core.add(core.mul(y, gamma), beta), mean, var


@rounded_once()
def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """Normalises over each group of channels (dimension 1), then multiplies by weight and adds bias.

    Args:
        input (Tensor): The input, [n, c, …].
        num_groups (int): The number of groups.
        weight (Tensor): The scale, [c]; None means ones. Default: None.
        bias (Tensor): The shift, [c]; None means zeros. Default: None.
        eps (float): A value added to the variance. Default: 1e-05.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `num_groups` does not divide the number of channels.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.group_norm(ms.Tensor([[1.0, 3.0, 5.0, 9.0]]), 2).asnumpy().round(4))
        [[-1.  1. -1.  1.]]
    """
    n, c, *rest = input.shape
    if num_groups < 1 or c % num_groups:
        fail(ValueError, f"{c} channels of {input.shape} are not a multiple of {num_groups} groups", "ops.group_norm")
    inner = c // num_groups * math.prod(rest)
    rows = core.reshape(input, (n, num_groups, inner))
    y = core.reshape(core.layer_norm(rows, core.full((inner,), 1.0, input.dtype), core.full((inner,), 0.0, input.dtype), 2, float(eps)), input.shape)
    along = [1, c] + [1] * len(rest)
    y = y if weight is None else core.mul(y, core.reshape(weight, along))
    return y if bias is None else core.add(y, core.reshape(bias, along))


@rounded_once()
def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple:
    """Normalises by the root mean square over the dimensions of gamma: x/sqrt(mean(x²) + epsilon)·gamma.

    Args:
        x (Tensor): The input.
        gamma (Tensor): The scale, of the shape of x's last dimensions.
        epsilon (float): A value added to the mean square. Default: 1e-06.

    Returns:
        (normalised tensor, reciprocal root mean square).

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.rms_norm(ms.Tensor([[3.0, 4.0]]), ms.Tensor([1.0, 1.0]))[0].asnumpy().round(4))
        [[0.8485 1.1314]]
    """
    axes = list(range(len(x.shape) - len(gamma.shape), len(x.shape)))
    rstd = core.rsqrt(core.add(core.mean(core.square(x), axes, True), epsilon))
    return core.mul(core.mul(x, rstd), gamma), rstd


def instance_norm(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Normalises over the height and width of each sample and channel, then multiplies by gamma and adds beta.

    Args:
        x (Tensor): The input, [n, c, …].
        gamma (Tensor): The scale, [c].
        beta (Tensor): The shift, [c].
        epsilon (float): A value added to the variance. Default: 1e-05.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.function.instance_norm(ms.Tensor([[[1.0, 3.0]]]), ms.Tensor([1.0]), ms.Tensor([0.0])).asnumpy().round(4))
        [[[-1.  1.]]]
    """
    return group_norm(x, x.shape[1], gamma, beta, epsilon)


@rounded_once()
def lrn(x: Tensor, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = "ACROSS_CHANNELS") -> Tensor:
    """Computes local response normalisation (Krizhevsky et al. 2012).

    The result is x/(bias + alpha·s)^beta, where s is the sum of squares of 2·depth_radius + 1 neighbouring channels.

    Args:
        x (Tensor): The images, [n, c, h, w].
        depth_radius (int): The number of neighbouring channels on each side. Default: 5.
        bias (float): The constant in the divisor. Default: 1.0.
        alpha (float): The factor of the sum of squares. Default: 1.0.
        beta (float): The exponent. Default: 0.5.
        norm_region (str): Must be "ACROSS_CHANNELS". Default: "ACROSS_CHANNELS".

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If `norm_region` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lrn(ms.ops.ones((1, 2, 1, 1))).asnumpy().round(4))
        [[[[0.5774]]
        <BLANKLINE>
          [[0.5774]]]]
    """
    check_choice("ops.lrn", "norm_region", norm_region, ("ACROSS_CHANNELS",))
    n, c, h, w = x.shape
    width = 2 * depth_radius + 1
    squares = core.reshape(core.square(x), (n, 1, c, h * w))
    total = core.mul(core.avg_pool2d(squares, [width, 1], [1, 1], [depth_radius, depth_radius, 0, 0], False, True), float(width))
    return core.div(x, core.pow(core.add(core.mul(core.reshape(total, x.shape), alpha), bias), beta))


@rounded_once()
def l2_normalize(x: Tensor, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    """Computes x/sqrt(max(sum of squares along axis, epsilon)).

    Args:
        x (Tensor): The input.
        axis (int or sequence of ints): The axis. Default: 0.
        epsilon (float): The least sum of squares. Default: 0.0001.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.L2Normalize(axis=-1)(ms.Tensor([[3.0, 4.0]])).asnumpy().round(4))
        [[0.6 0.8]]
    """
    total = core.sum(core.square(x), list(to_ints(axis, "axis", "ops.L2Normalize")), True)
    return core.mul(x, core.rsqrt(core.maximum(total, epsilon)))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: Optional[int] = None) -> Tensor:
    """Sets each element to 0 with probability p during training and scales the others by 1/(1 - p).

    Args:
        input (Tensor): The input, of any shape.
        p (float): The probability to drop an element. Default: 0.5.
        training (bool): Whether to drop elements; False returns the input. Default: True.
        seed (int): The seed of a separate random stream; None uses the global one. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `p` is not in [0, 1).

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dropout(ms.Tensor([1.0, 2.0]), training=False))
        [1. 2.]
    """
    if not 0 <= p < 1:
        fail(ValueError, f"p: expected a value in [0, 1), got {p}", "ops.dropout", "p is the probability to drop an element")
    if not training:
        return input
    if p == 0:
        return core.reshape(input, input.shape)
    return core.dropout(input, 1 - p) if seed is None else core.mul(input, keep_mask(input.shape, 1 - p, input.dtype, seed))


def _drop_channels(x: Tensor, p: float, kept: int, where: str) -> Tensor:
    if not 0 <= p <= 1:
        fail(ValueError, f"p: expected a value in [0, 1], got {p}", where)
    if p == 1:
        return core.zeros_like(x)
    shape = x.shape[:kept] + (1,) * (len(x.shape) - kept)
    return core.mul(x, keep_mask(shape, 1 - p, x.dtype))


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Drops whole channels of [n, c, l] or [c, l]; see `dropout`.

    Args:
        input (Tensor): The input.
        p (float): The probability to drop a channel. Default: 0.5.
        training (bool): Whether to drop channels; False returns the input. Default: True.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dropout1d(ms.ops.ones((1, 1, 2)), p=1.0))
        [[[0. 0.]]]
    """
    return _drop_channels(input, p, len(input.shape) - 1, "ops.dropout1d") if training else input


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Drops whole channels of [n, c, h, w]; see `dropout`.

    Args:
        input (Tensor): The input.
        p (float): The probability to drop a channel. Default: 0.5.
        training (bool): Whether to drop channels; False returns the input. Default: True.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dropout2d(ms.ops.ones((1, 1, 1, 2)), p=1.0))
        [[[[0. 0.]]]]
    """
    return _drop_channels(input, p, 2, "ops.dropout2d") if training else input


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Drops whole channels of [n, c, d, h, w]; see `dropout`.

    Args:
        input (Tensor): The input.
        p (float): The probability to drop a channel. Default: 0.5.
        training (bool): Whether to drop channels; False returns the input. Default: True.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dropout3d(ms.ops.ones((1, 1, 1, 1, 2)), p=1.0))
        [[[[[0. 0.]]]]]
    """
    return _drop_channels(input, p, 2, "ops.dropout3d") if training else input


def dropout_with_mask(x: Tensor, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> tuple:
    """Drops elements with probability 1 - keep_prob and scales the others by 1/keep_prob; it is always active.

    Args:
        x (Tensor): The input.
        keep_prob (float): The probability to keep an element. Default: 0.5.
        Seed0 (int): A seed; values other than 0 use a separate random stream. Default: 0.
        Seed1 (int): A second seed. Default: 0.

    Returns:
        (result, mask of 0 and 1 in x's type).

    Raises:
        ValueError: If `keep_prob` is not in (0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.Dropout(keep_prob=1.0)(ms.Tensor([1.0, 2.0])))
        [1. 2.] [1. 1.]
    """
    if not 0 < keep_prob <= 1:
        fail(ValueError, f"keep_prob: expected a value in (0, 1], got {keep_prob}", "ops.Dropout")
    scale = keep_mask(x.shape, keep_prob, x.dtype, (Seed0, Seed1) if Seed0 or Seed1 else None)
    return core.mul(x, scale), core.cast(core.not_equal(scale, 0), x.dtype)


def dropout2d_with_mask(x: Tensor, keep_prob: float = 0.5) -> tuple:
    """Drops whole channels with probability 1 - keep_prob and scales the others by 1/keep_prob; it is always active.

    Args:
        x (Tensor): The input, [n, c, …].
        keep_prob (float): The probability to keep a channel. Default: 0.5.

    Returns:
        (result, bool mask).

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Dropout2D(keep_prob=1.0)(ms.ops.ones((1, 1, 1, 2)))[0])
        [[[[1. 1.]]]]
    """
    scale = keep_mask(x.shape[:2] + (1,) * (len(x.shape) - 2), keep_prob, x.dtype) if keep_prob > 0 else core.full((1,), 0.0, x.dtype)
    return core.mul(x, scale), core.broadcast_to(core.not_equal(scale, 0), x.shape)


__all__ = exported(globals())
