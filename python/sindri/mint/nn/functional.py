"""mindspore.mint.nn.functional: functions with PyTorch's names and arguments, as far as functions of sindri.ops compute them."""
from __future__ import annotations

from typing import Any, Optional

from sindri import _core
from sindri import ops as _ops_
from sindri.common import dtype as _types
from sindri.common.tensor import Tensor
from sindri.mint import softmax
from sindri.ops._util import rounded_once
from sindri.ops import (elu, fold, grid_sample, hardshrink, hardsigmoid, hardswish, hardtanh, mish, pixel_shuffle, prelu, relu,
                        relu6, selu, sigmoid, silu, softplus, softshrink, tanh, unfold)

_kl_div = _core.loss_rule("kl_div", "mint.nn.functional.kl_div")
_SAME = """softmax elu fold grid_sample hardshrink hardsigmoid hardswish hardtanh mish pixel_shuffle prelu relu relu6 selu sigmoid
silu softplus softshrink tanh unfold"""


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """input above 0, negative_slope * input else."""
    return _ops_.leaky_relu(input, negative_slope)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along dim times the sigmoid of the second."""
    return _ops_.glu(input, dim)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the sigmoid."""
    return _ops_.logsigmoid(input)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """input above the threshold, value else."""
    return _ops_.threshold(input, threshold, value)


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """input times the transposed weight [out, in], plus bias."""
    out = _ops_.matmul(input, _ops_.swapaxes(weight, -1, -2))
    return out if bias is None else _ops_.add(out, bias)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """input times the normal distribution's function at it; approximate 'tanh': its approximation."""
    return _ops_.gelu(input, approximate)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax along dim."""
    return _ops_.log_softmax(input if dtype is None else _ops_.cast(input, dtype), dim)


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Elements set to 0 with probability p, the others divided by 1 - p."""
    return _ops_.dropout(input, p, training)


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


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """The rows of weight that input names."""
    return _ops_.gather(weight, input, 0)


__all__ = _SAME.split() + [name for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == __name__ and name[0] != "_"]
