"""mindspore.mint.nn.functional: functions with PyTorch's names and arguments, as far as functions of sindri.ops compute
them.
"""
from __future__ import annotations

from typing import Any, Optional

from sindri import _core
from sindri import ops as _ops_
from sindri._check import fail as _fail
from sindri.common import dtype as _types
from sindri.common.tensor import Tensor
from sindri.mint import flatten
from sindri.mint.nn._convolution import conv1d, conv2d, conv3d, conv_transpose2d
from sindri.mint.nn._pooling import (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, avg_pool1d,
                                     avg_pool2d, avg_pool3d, max_pool2d, max_unpool2d)
from sindri.mint.nn._resizing import interpolate, pad, upsample
from sindri.ops._tensor_facts import give as _give
from sindri.ops.function.other_func import insert_gradient_of as _insert_gradient_of
from sindri.ops._util import rounded_once
from sindri.ops import (fold, group_norm, hardshrink, hardsigmoid, hardswish, mish, pixel_shuffle, prelu, selu, sigmoid, softplus, softshrink, tanh,
                        unfold)

_kl_div = _core.loss_rule("kl_div", "mint.nn.functional.kl_div")



def _result(input: Tensor, out: Tensor, inplace: bool) -> Tensor:
    """Returns out, or with inplace the input, which receives it."""
    return _give(input, out) if inplace else out


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies max(input, 0) elementwise.

    Args:
        input (Tensor): The input, of any shape.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.relu(ms.Tensor([-1.0, 0.5])))
        [0.  0.5]
    """
    return _result(input, _ops_.relu(input), inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies min(max(input, 0), 6) elementwise.

    Args:
        input (Tensor): The input, of any shape.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.relu6(ms.Tensor([-1.0, 8.0])))
        [0. 6.]
    """
    return _result(input, _ops_.relu6(input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Multiplies the input by its sigmoid.

    Args:
        input (Tensor): The input, of any shape.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.silu(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.7311]
    """
    return _result(input, _ops_.silu(input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Returns the input above 0, else alpha * (exp(input) - 1).

    Args:
        input (Tensor): The input, of any shape.
        alpha (float): The factor below 0. Default: 1.0.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.elu(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-0.6321  0.5   ]
    """
    return _result(input, _ops_.elu(input, alpha), inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Clips the input to [min_val, max_val]. The gradient is 0 outside.

    Args:
        input (Tensor): The input, of any shape.
        min_val (float): The lower bound. Default: -1.0.
        max_val (float): The upper bound. Default: 1.0.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.hardtanh(ms.Tensor([-2.0, 0.5])))
        [-1.   0.5]
    """
    return _result(input, _ops_.hardtanh(input, min_val, max_val), inplace)


def relu_(input: Tensor) -> Tensor:
    """Applies `relu` in place.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        `input`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.relu_(ms.Tensor([-1.0, 0.5])))
        [0.  0.5]
    """
    return relu(input, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Applies `elu` in place.

    Args:
        input (Tensor): The input, of any shape.
        alpha (float): The factor below 0. Default: 1.0.

    Returns:
        `input`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.elu_(ms.Tensor([-1.0, 0.5])).asnumpy().round(4))
        [-0.6321  0.5   ]
    """
    return elu(input, alpha, True)


def hardtanh_(input: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """Applies `hardtanh` in place.

    Args:
        input (Tensor): The input, of any shape.
        min_val (float): The lower bound. Default: -1.
        max_val (float): The upper bound. Default: 1.

    Returns:
        `input`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.hardtanh_(ms.Tensor([-2.0, 0.5])))
        [-1.   0.5]
    """
    return hardtanh(input, min_val, max_val, True)


def sigmoid_(input: Tensor) -> Tensor:
    """Applies `sigmoid` in place.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        `input`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.sigmoid_(ms.Tensor([0.0])))
        [0.5]
    """
    return _give(input, _ops_.sigmoid(input))


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Applies `threshold` in place.

    Args:
        input (Tensor): The input, of any shape.
        threshold (float): The threshold.
        value (float): The replacement.

    Returns:
        `input`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.threshold_(ms.Tensor([0.5, 1.5]), 1.0, 9.0))
        [9.  1.5]
    """
    return _give(input, _ops_.threshold(input, threshold, value))


def _one_dim(input: Tensor, dim: Optional[int]) -> int:
    """Returns dim, or PyTorch's default: 0 for 0, 1 and 3 dimensions, 1 for others."""
    return dim if dim is not None else 0 if len(input.shape) in (0, 1, 3) else 1


def softmax(input: Tensor, dim: Optional[int] = None, dtype: Any = None) -> Tensor:
    """Computes exp(input) divided by its sum along a dimension.

    Args:
        input (Tensor): The input, of any shape.
        dim (int): The dimension; None means 0 for 0, 1 and 3 dimensions and 1 for others. Default: None.
        dtype (dtype): The type that the input is cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.softmax(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [0.09   0.2447 0.6652]
    """
    return _ops_.softmax(input if dtype is None else _ops_.cast(input, dtype), _one_dim(input, dim))


def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Optional[bool] = None) -> Tensor:
    """Samples images or volumes at positions; see `ops.grid_sample`.

    Args:
        input (Tensor): The images or volumes.
        grid (Tensor): The positions, [n, …, 2] or [n, …, 3].
        mode (str): "bilinear" or "nearest". Default: "bilinear".
        padding_mode (str): "zeros", "border" or "reflection". Default: "zeros".
        align_corners (bool): Whether -1 and 1 are the centres of the border elements; None means False. Default: None.

    Returns:
        A tensor of shape [n, c, …].

    Raises:
        ValueError: If the shapes are incompatible or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.grid_sample(ms.Tensor([[[[1.0, 3.0]]]]), ms.Tensor([[[[0.0, 0.0]]]])))
        [[[[2.]]]]
    """
    return _ops_.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Returns the input above 0, else negative_slope * input.

    Args:
        input (Tensor): The input, of any shape.
        negative_slope (float): The slope below 0. Default: 0.01.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.leaky_relu(ms.Tensor([-1.0, 0.5])))
        [-0.01  0.5 ]
    """
    return _ops_.leaky_relu(input, negative_slope)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Splits the input in two halves along a dimension and returns the first times the sigmoid of the second.

    Args:
        input (Tensor): The input, of any shape.
        dim (int): The dimension. Default: -1.

    Returns:
        A tensor of half the size along `dim`.

    Raises:
        ValueError: If the dimension is odd.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.glu(ms.Tensor([2.0, 4.0, 0.0, 0.0])))
        [1. 2.]
    """
    return _ops_.glu(input, dim)


def logsigmoid(input: Tensor) -> Tensor:
    """Computes log(sigmoid(input)) without overflow.

    Args:
        input (Tensor): The input, of any shape.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.logsigmoid(ms.Tensor([-1.0, 1.0])).asnumpy().round(4))
        [-1.3133 -0.3133]
    """
    return _ops_.logsigmoid(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Returns the input above the threshold, else a value.

    Args:
        input (Tensor): The input, of any shape.
        threshold (float): The threshold.
        value (float): The replacement.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.threshold(ms.Tensor([0.5, 1.5]), 1.0, 9.0))
        [9.  1.5]
    """
    return _result(input, _ops_.threshold(input, threshold, value), inplace)


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """Computes input · weightᵀ + bias.

    Args:
        input (Tensor): The input, [.., in].
        weight (Tensor): The weight, [out, in].
        bias (Tensor): The bias, [out], or None. Default: None.

    Returns:
        A tensor of shape [.., out].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.linear(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[1.0, 0.0], [1.0, 1.0]])))
        [[1. 3.]]
    """
    out = _ops_.matmul(input, _ops_.swapaxes(weight, -1, -2))
    return out if bias is None else _ops_.add(out, bias)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """Computes input·Φ(input), where Φ is the standard normal distribution function.

    Args:
        input (Tensor): The input, of any shape.
        approximate (str): "none" to use erf, or "tanh" for the approximation by tanh. Default: "none".

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `approximate` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.gelu(ms.Tensor([-1.0, 1.0])).asnumpy().round(4))
        [-0.1587  0.8413]
    """
    return _ops_.gelu(input, approximate)


def log_softmax(input: Tensor, dim: Optional[int] = None, *, dtype: Any = None) -> Tensor:
    """Computes log(softmax(input)) along a dimension without overflow.

    Args:
        input (Tensor): The input, of any shape.
        dim (int): The dimension; None means 0 for 0, 1 and 3 dimensions and 1 for others. Default: None.
        dtype (dtype): The type that the input is cast to first. Default: None.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If `dim` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.log_softmax(ms.Tensor([1.0, 2.0, 3.0])).asnumpy().round(4))
        [-2.4076 -1.4076 -0.4076]
    """
    return _ops_.log_softmax(input if dtype is None else _ops_.cast(input, dtype), _one_dim(input, dim))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets elements to 0 with probability p during training and divides the others by 1 - p.

    Args:
        input (Tensor): The input, of any shape.
        p (float): The probability to drop an element. Default: 0.5.
        training (bool): Whether to drop elements. Default: True.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `p` is not in [0, 1).

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.dropout(ms.Tensor([1.0, 2.0]), training=False))
        [1. 2.]
    """
    return _result(input, _ops_.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of [n, c, ...] to 0 with probability p during training and divides the others by 1 - p.

    Args:
        input (Tensor): The input.
        p (float): The probability to drop a channel. Default: 0.5.
        training (bool): Whether to drop channels. Default: True.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Returns:
        A tensor of input's shape and type.

    Raises:
        ValueError: If `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.dropout2d(ms.ops.ones((1, 1, 1, 2)), p=1.0))
        [[[[0. 0.]]]]
    """
    return _result(input, _ops_.dropout2d(input, p, training), inplace)


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Normalises per channel of [n, c, ...]: (input - mean)/sqrt(var + eps)*weight + bias.

    With `training`, batch statistics are used, and `running_mean` and `running_var`, if given, become (1 -
    momentum)*running + momentum*batch in place, with the unbiased variance. Otherwise the running statistics are
    used.

    Args:
        input (Tensor): The input.
        running_mean (Tensor): The moving mean, [c].
        running_var (Tensor): The moving variance, [c].
        weight (Tensor): The scale, [c]; None means ones. Default: None.
        bias (Tensor): The shift, [c]; None means zeros. Default: None.
        training (bool): Whether to use batch statistics. Default: False.
        momentum (float): The weight of the batch in the update. Default: 0.1.
        eps (float): A value added to the variance. Default: 1e-05.

    Returns:
        A tensor of input's shape.

    Raises:
        ValueError: If the running statistics are missing without `training`, or there is one value per channel in
            training.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.batch_norm(ms.Tensor([[1.0], [3.0]]), ms.Tensor([2.0]), ms.Tensor([4.0])).asnumpy().round(4))
        [[-0.5]
         [ 0.5]]
    """
    if len(input.shape) < 2:
        _fail(ValueError, f"the input must have at least 2 dimensions, got shape {tuple(input.shape)}", "mint.nn.functional.batch_norm")
    channels = input.shape[1]
    kind = _types.float64 if input.dtype is _types.float64 else _types.float32
    scale = _ops_.ones((channels,), kind) if weight is None else _ops_.cast(weight, kind)
    shift = _ops_.zeros((channels,), kind) if bias is None else _ops_.cast(bias, kind)
    with _core.FullPrecisionScope():  # the op itself accepts half inputs with float32 parameters
        if not training:
            if running_mean is None or running_var is None:
                _fail(ValueError, "without training the running statistics are needed", "mint.nn.functional.batch_norm", "give running_mean and running_var")
            return _core.ops.batch_norm_infer(input, scale, shift, _ops_.cast(running_mean, kind), _ops_.cast(running_var, kind), float(eps))
        count = input.size // max(1, channels)
        if count == 1:
            _fail(ValueError, f"one value per channel in training, got shape {tuple(input.shape)}", "mint.nn.functional.batch_norm", "use a larger batch")
        y, mean, var = _core.ops.batch_norm_train(input, scale, shift, float(eps))
        for running, batch in ((running_mean, mean), (running_var, _ops_.mul(var, count / max(1, count - 1)))):
            if running is not None and count:
                old, new = _ops_.cast(running, kind), _ops_.stop_gradient(batch)
                _give(running, _ops_.add(_ops_.mul(old, 1 - momentum), _ops_.mul(new, momentum)))
        return y


@rounded_once()
def layer_norm(input: Tensor, normalized_shape: Any, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """Normalises over the last dimensions, then multiplies by weight and adds bias.

    Args:
        input (Tensor): The input.
        normalized_shape (int or sequence of ints): The sizes of the last dimensions.
        weight (Tensor): The scale; None means ones. Default: None.
        bias (Tensor): The shift; None means zeros. Default: None.
        eps (float): A value added to the variance. Default: 1e-05.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.layer_norm(ms.Tensor([[1.0, 2.0, 3.0]]), (3,)).asnumpy().round(4))
        [[-1.2247  0.      1.2247]]
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    axes = tuple(range(-len(shape), 0))
    mean = _ops_.mean(input, axes, True)
    centred = _ops_.sub(input, mean)
    out = _ops_.mul(centred, _ops_.rsqrt(_ops_.add(_ops_.mean(_ops_.square(centred), axes, True), eps)))
    out = out if weight is None else _ops_.mul(out, weight)
    return out if bias is None else _ops_.add(out, bias)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes the squared error (input - target)².

    Args:
        input (Tensor): The predictions.
        target (Tensor): The targets.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.mse_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        2.5
    """
    return _ops_.mse_loss(input, target, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes the absolute error |input - target|.

    Args:
        input (Tensor): The predictions.
        target (Tensor): The targets.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.l1_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        1.5
    """
    return _ops_.l1_loss(input, target, reduction)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Computes the cross entropy between logits and targets; see `ops.cross_entropy`.

    Args:
        input (Tensor): The logits, [n, c], [c] or [n, c, d1, …].
        target (Tensor): Class indices, or probabilities of input's shape.
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        ignore_index (int): The class index that does not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        label_smoothing (float): The share of the uniform distribution in the targets. Default: 0.0.

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.
        DataError: If a target is neither a class nor `ignore_index`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.cross_entropy(ms.Tensor([[1.0, 2.0], [3.0, 1.0]]), ms.Tensor([1, 0])).asnumpy().round(4))
        0.2201
    """
    return _ops_.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Computes the negative log likelihood: -input at the target.

    Args:
        input (Tensor): The log probabilities, [n, c], [c] or [n, c, d1, …].
        target (Tensor): The class indices.
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        ignore_index (int): The class index that does not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.
        DataError: If a target is neither a class nor `ignore_index`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.nll_loss(ms.Tensor([[-0.5, -1.5], [-2.0, -0.25]]), ms.Tensor([0, 1])))
        0.375
    """
    return _ops_.nll_loss(input, target, weight, ignore_index, reduction)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """Computes the binary cross entropy of probabilities; see `ops.binary_cross_entropy`.

    Args:
        input (Tensor): The probabilities.
        target (Tensor): The labels.
        weight (Tensor): The weights; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.binary_cross_entropy(ms.Tensor([0.9, 0.2]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.1643
    """
    return _ops_.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean",
                                     pos_weight: Optional[Tensor] = None) -> Tensor:
    """Computes the binary cross entropy of sigmoid(input) without overflow.

    Args:
        input (Tensor): The logits.
        target (Tensor): The labels.
        weight (Tensor): The weights; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        pos_weight (Tensor): The weights of the positive labels; None means ones. Default: None.

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.binary_cross_entropy_with_logits(ms.Tensor([2.0, -1.0]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.2201
    """
    return _ops_.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Computes target * (log(target) - input).

    Args:
        input (Tensor): The log probabilities.
        target (Tensor): The probabilities.
        reduction (str): "mean", "sum", "none", or "batchmean", which divides the sum by the first dimension.
            Default: "mean".
        log_target (bool): Whether `target` holds log probabilities. Default: False.

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.kl_div(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([[0.5, 0.5]]), "sum").asnumpy().round(4))
        0.0569
    """
    return _kl_div(input, target, log_target, reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """Computes 1 - cos(input1, input2) for target 1, and max(0, cos - margin) for target -1.

    Args:
        input1 (Tensor): The first vectors.
        input2 (Tensor): The second vectors.
        target (Tensor): 1 or -1 for each pair.
        margin (float): The margin. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.cosine_embedding_loss(ms.Tensor([[1.0, 0.0]]), ms.Tensor([[0.0, 1.0]]), ms.Tensor([1])))
        1.0
    """
    return _ops_.cosine_embedding_loss(input1, input2, target, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes log(1 + exp(-target * input)).

    Args:
        input (Tensor): The scores.
        target (Tensor): 1 or -1 for each element.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.soft_margin_loss(ms.Tensor([1.0, -1.0]), ms.Tensor([1.0, 1.0])).asnumpy().round(4))
        0.8133
    """
    return _ops_.soft_margin_loss(input, target, reduction)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Encodes labels as int64 vectors with 1 at the label.

    Args:
        tensor (Tensor): The labels.
        num_classes (int): The number of classes; -1 is one more than the largest label, and such code runs eagerly.
            Default: -1.

    Returns:
        An int64 tensor with one dimension more.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.one_hot(ms.Tensor([0, 2]), 3))
        [[1 0 0]
         [0 0 1]]
    """
    count = int(tensor.asnumpy().max(initial=-1)) + 1 if num_classes == -1 else num_classes
    return _ops_.one_hot(tensor, count, Tensor(1, _types.int64), Tensor(0, _types.int64))


@rounded_once()
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Divides the input by its p-norm along a dimension; the norm counts as at least eps.

    Args:
        input (Tensor): The input.
        p (float): The order of the norm. Default: 2.0.
        dim (int or sequence of ints): The dimension. Default: 1.
        eps (float): The least norm. Default: 1e-12.

    Returns:
        A tensor of input's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.normalize(ms.Tensor([[3.0, 4.0]])).asnumpy().round(4))
        [[0.6 0.8]]
    """
    return _ops_.div(input, _ops_.maximum(_ops_.norm(input, p, dim, True), eps))


def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False) -> Tensor:
    """Looks up the rows of a table.

    Args:
        input (Tensor): The row numbers.
        weight (Tensor): The table, [V, D].
        padding_idx (int): The row that gets no gradient, or None. Default: None.
        max_norm (float): The bound of the norm: rows that exceed it are first scaled down to it in `weight` itself;
            None means no bound. Default: None.
        norm_type (float): The order of the norm. Default: 2.0.
        scale_grad_by_freq (bool): Whether the gradient of a row is divided by how often `input` names it.
            Default: False.

    Returns:
        A tensor of shape input.shape + [D].

    Raises:
        ValueError: If a row number is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.functional.embedding(ms.Tensor([2, 0]), ms.Tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])))
        [[3. 3.]
         [1. 1.]]
    """
    if max_norm is not None:
        _limit_rows(weight, input, max_norm, norm_type)
    out = _ops_.embedding(input, weight, padding_idx)
    if not scale_grad_by_freq:
        return out
    flat = _ops_.reshape(input, (-1,))
    counts = _core.ops.scatter_add(_ops_.zeros((weight.shape[0],), out.dtype), flat, _ops_.ones(flat.shape, out.dtype), 0)
    share = _ops_.expand_dims(_ops_.reshape(_ops_.reciprocal(_ops_.gather(counts, flat, 0)), input.shape), -1)
    return _insert_gradient_of(out, lambda gradient: _ops_.mul(gradient, share))


def _limit_rows(weight: Tensor, rows: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows of weight that `rows` names down to max_norm, in place."""
    flat = _ops_.reshape(rows, (-1,))
    named = _core.ops.scatter_add(_ops_.zeros((weight.shape[0],), _types.float32), flat, _ops_.ones(flat.shape, _types.float32), 0)
    old = _ops_.stop_gradient(weight)
    norms = _ops_.norm(_ops_.cast(old, _types.float64), norm_type, 1, True)
    over = _ops_.logical_and(_ops_.greater(norms, max_norm), _ops_.expand_dims(_ops_.greater(named, 0), 1))
    _give(weight, _ops_.where(over, _ops_.cast(_ops_.mul(old, _ops_.div(max_norm, _ops_.add(norms, 1e-7))), weight.dtype), old))


__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "avg_pool1d", "avg_pool2d",
           "avg_pool3d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "conv1d", "conv2d", "conv3d", "conv_transpose2d",
           "cosine_embedding_loss", "cross_entropy", "dropout", "dropout2d", "elu", "elu_", "embedding", "flatten", "fold", "gelu", "glu", "grid_sample",
           "group_norm", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu",
           "linear", "log_softmax", "logsigmoid", "max_pool2d", "max_unpool2d", "mish", "mse_loss", "nll_loss", "normalize", "one_hot", "pad",
           "pixel_shuffle", "prelu", "relu", "relu6", "relu_", "selu", "sigmoid", "sigmoid_", "silu", "soft_margin_loss", "softmax", "softplus",
           "softshrink", "tanh", "threshold", "threshold_", "unfold", "upsample"]
