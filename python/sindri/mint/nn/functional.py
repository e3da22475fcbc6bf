"""mindspore.mint.nn.functional: functions with PyTorch's names and arguments, as far as functions of sindri.ops compute them."""
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
    """out, or with inplace the input itself, which is given it."""
    return _give(input, out) if inplace else out


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0)."""
    return _result(input, _ops_.relu(input), inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(input, 0), 6)."""
    return _result(input, _ops_.relu6(input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input times its sigmoid."""
    return _result(input, _ops_.silu(input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input above 0, alpha * (exp(input) - 1) elsewhere."""
    return _result(input, _ops_.elu(input, alpha), inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """input clamped to [min_val, max_val]; the gradient is 0 outside."""
    return _result(input, _ops_.hardtanh(input, min_val, max_val), inplace)


def relu_(input: Tensor) -> Tensor:
    """relu in place."""
    return relu(input, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu in place."""
    return elu(input, alpha, True)


def hardtanh_(input: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """hardtanh in place."""
    return hardtanh(input, min_val, max_val, True)


def sigmoid_(input: Tensor) -> Tensor:
    """sigmoid in place."""
    return _give(input, _ops_.sigmoid(input))


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold in place."""
    return _give(input, _ops_.threshold(input, threshold, value))


def _one_dim(input: Tensor, dim: Optional[int]) -> int:
    """dim, or PyTorch's choice without one: 0 for 0, 1 and 3 dimensions, 1 for others."""
    return dim if dim is not None else 0 if len(input.shape) in (0, 1, 3) else 1


def softmax(input: Tensor, dim: Optional[int] = None, dtype: Any = None) -> Tensor:
    """exp(input) over its sum along dim. Without dim along 0 for 0, 1 and 3 dimensions and along 1 for others."""
    return _ops_.softmax(input if dtype is None else _ops_.cast(input, dtype), _one_dim(input, dim))


def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Optional[bool] = None) -> Tensor:
    """input sampled at the places of grid; see ops.grid_sample."""
    return _ops_.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """input above 0, negative_slope * input else."""
    return _ops_.leaky_relu(input, negative_slope)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along dim times the sigmoid of the second."""
    return _ops_.glu(input, dim)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the sigmoid."""
    return _ops_.logsigmoid(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input above the threshold, value elsewhere."""
    return _result(input, _ops_.threshold(input, threshold, value), inplace)


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """input times the transposed weight [out, in], plus bias."""
    out = _ops_.matmul(input, _ops_.swapaxes(weight, -1, -2))
    return out if bias is None else _ops_.add(out, bias)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """input times the normal distribution's function at it; approximate 'tanh': its approximation."""
    return _ops_.gelu(input, approximate)


def log_softmax(input: Tensor, dim: Optional[int] = None, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax along dim. Without dim along 0 for 0, 1 and 3 dimensions and along 1 for others."""
    return _ops_.log_softmax(input if dtype is None else _ops_.cast(input, dtype), _one_dim(input, dim))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability p, the others divided by 1 - p."""
    return _result(input, _ops_.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of [n, c, ...] set to 0 with probability p, the others divided by 1 - p."""
    return _result(input, _ops_.dropout2d(input, p, training), inplace)


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """(input - mean)/sqrt(var + eps)*weight + bias per channel of [n, c, ...].

    With training the batch's statistics are used, and running_mean and running_var, where given, are updated in place:
    (1 - momentum)*running + momentum*batch, the variance being the unbiased one. Otherwise the running statistics are used. Raises ValueError if
    they are missing then, and for one value per channel in training.
    """
    if len(input.shape) < 2:
        _fail(ValueError, f"the input must have at least 2 dimensions, got shape {tuple(input.shape)}", "mint.nn.functional.batch_norm")
    channels = input.shape[1]
    kind = _types.float64 if input.dtype is _types.float64 else _types.float32
    scale = _ops_.ones((channels,), kind) if weight is None else _ops_.cast(weight, kind)
    shift = _ops_.zeros((channels,), kind) if bias is None else _ops_.cast(bias, kind)
    with _core.FullPrecisionScope():  # the op itself reads half inputs beside float32 parameters
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
    """input less its mean, over its deviation, in the last dimensions; times weight, plus bias."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    axes = tuple(range(-len(shape), 0))
    mean = _ops_.mean(input, axes, True)
    centred = _ops_.sub(input, mean)
    out = _ops_.mul(centred, _ops_.rsqrt(_ops_.add(_ops_.mean(_ops_.square(centred), axes, True), eps)))
    out = out if weight is None else _ops_.mul(out, weight)
    return out if bias is None else _ops_.add(out, bias)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Squared differences, their mean or sum."""
    return _ops_.mse_loss(input, target, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Absolute differences, their mean or sum."""
    return _ops_.l1_loss(input, target, reduction)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Cross entropy of logits and labels or probabilities."""
    return _ops_.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Negative log likelihood of log probabilities and labels."""
    return _ops_.nll_loss(input, target, weight, ignore_index, reduction)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """Binary cross entropy of probabilities."""
    return _ops_.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean",
                                     pos_weight: Optional[Tensor] = None) -> Tensor:
    """Binary cross entropy of sigmoid(input)."""
    return _ops_.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log(target) - input), input log probabilities; log_target: target is the logarithm, too. reduction 'batchmean': the sum over the first size."""
    return _kl_div(input, target, log_target, reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """1 - cos for target 1, max(0, cos - margin) for target -1."""
    return _ops_.cosine_embedding_loss(input1, input2, target, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input))."""
    return _ops_.soft_margin_loss(input, target, reduction)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """int64: 1 at each label, 0 elsewhere; num_classes -1: one more than the largest, which runs eagerly."""
    count = int(tensor.asnumpy().max(initial=-1)) + 1 if num_classes == -1 else num_classes
    return _ops_.one_hot(tensor, count, Tensor(1, _types.int64), Tensor(0, _types.int64))


@rounded_once()
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """input over its p-norm along dim, which counts as eps at least."""
    return _ops_.div(input, _ops_.maximum(_ops_.norm(input, p, dim, True), eps))


def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False) -> Tensor:
    """The rows of weight that input names.

    Row padding_idx gets no gradient. max_norm: named rows whose norm_type-norm is above it are first scaled down to it in weight itself.
    scale_grad_by_freq: the gradient of a row is divided by how often input names it.
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
