"""Loss functions of sindri.ops: MindSpore's arguments of the C++ library's rules (include/sindri/nn/registry.h), which have the arithmetic of the
layers of sindri.nn, too. `reduction` is 'mean', 'sum' or 'none'; another name raises ValueError, as shapes that do not go together do."""
from __future__ import annotations

from typing import Optional, Union

from sindri import _core
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, as_lengths, core, exported, wide

_rule = _core.loss_rule
_cross_entropy = _rule("cross_entropy", "ops.cross_entropy")
_nll = _rule("nll", "ops.nll_loss")
_softmax_cross_entropy = _rule("softmax_cross_entropy", "ops.SparseSoftmaxCrossEntropyWithLogits")
_mse = _rule("mse", "ops.mse_loss")
_l1 = _rule("l1", "ops.l1_loss")
_smooth_l1 = _rule("smooth_l1", "ops.smooth_l1_loss")
_huber = _rule("huber", "ops.huber_loss")
_binary_cross_entropy = _rule("binary_cross_entropy", "ops.binary_cross_entropy")
_binary_cross_entropy_with_logits = _rule("binary_cross_entropy_with_logits", "ops.binary_cross_entropy_with_logits")
_kl_div = _rule("kl_div", "ops.kl_div")
_cosine_embedding = _rule("cosine_embedding", "ops.cosine_embedding_loss")
_margin_ranking = _rule("margin_ranking", "ops.margin_ranking_loss")
_hinge_embedding = _rule("hinge_embedding", "ops.hinge_embedding_loss")
_soft_margin = _rule("soft_margin", "ops.soft_margin_loss")
_gaussian_nll = _rule("gaussian_nll", "ops.gaussian_nll_loss")
_triplet_margin = _rule("triplet_margin", "ops.triplet_margin_loss")
_multilabel_soft_margin = _rule("multilabel_soft_margin", "ops.multilabel_soft_margin_loss")
_multilabel_margin = _rule("multilabel_margin", "ops.multilabel_margin_loss")
_multi_margin = _rule("multi_margin", "ops.multi_margin_loss")
_ctc = _rule("ctc", "ops.ctc_loss")


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """-log softmax(input) at the target: input [n, c] (or [c], [n, c, d1, …]), target class indices [n, …] or probabilities of input's shape.
    weight [c] scales classes; 'mean' divides by the sum of the weights that counted. Raises ValueError, TypeError, and DataError for an index
    that is neither a class nor ignore_index."""
    return _cross_entropy(input, target, weight, ignore_index, label_smoothing, reduction)


def nll_loss(inputs: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
             label_smoothing: float = 0.0) -> Tensor:
    """-inputs at the target: inputs [n, c] (or [c], [n, c, d1, …]) log-probabilities, target class indices. weight [c] scales classes; 'mean'
    divides by the sum of the weights that counted. Raises ValueError, and DataError for an index that is neither a class nor ignore_index."""
    return _nll(inputs, target, weight, ignore_index, label_smoothing, reduction)


def softmax_cross_entropy_pair(logits: Tensor, labels: Tensor) -> tuple:
    """(loss [n], its gradient softmax(logits) - labels) for logits and probabilities [n, c]."""
    return core.softmax_cross_entropy_dense(logits, labels), core.sub(core.softmax(logits, -1), core.cast(labels, logits.dtype))


def sparse_softmax_cross_entropy(logits: Tensor, labels: Tensor, is_grad: bool = False) -> Tensor:
    """The mean over the rows of logits [n, c] with class indices [n]; is_grad: the gradient of that mean instead."""
    labels = core.reshape(labels, (-1,))
    if not is_grad:
        return _softmax_cross_entropy(logits, labels, 0.0, "mean")
    x = wide(logits)
    hot = core.one_hot(labels, logits.shape[1], 1.0, 0.0, x.dtype)
    return core.cast(core.div(core.sub(core.softmax(x, -1), hot), float(logits.shape[0])), logits.dtype)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target)²."""
    return _mse(input, target, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """|input - target|."""
    return _l1(input, target, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """d²/(2·beta) for |d| < beta, |d| - beta/2 else, d = input - target."""
    return _smooth_l1(input, target, beta, reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """d²/2 for |d| <= delta, delta·(|d| - delta/2) else, d = input - target."""
    return _huber(input, target, delta, reduction)


def l2_half(x: Tensor) -> Tensor:
    """Half the sum of squares."""
    return core.mul(core.sum(core.square(x)), 0.5)


def binary_cross_entropy(logits: Tensor, labels: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """-weight·(y·log(p) + (1 - y)·log(1 - p)) of probabilities p; logarithms are taken of p + 1e-12, as MindSpore's CPU kernel does. Raises
    ValueError for a p outside [0, 1]; NaN passes, as it does in other losses."""
    return _binary_cross_entropy(logits, labels, weight, reduction)


def binary_cross_entropy_with_logits(logits: Tensor, label: Tensor, weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None,
                                     reduction: str = "mean") -> Tensor:
    """-weight·(pos_weight·y·log(s) + (1 - y)·log(1 - s)) with s = sigmoid(logits), without overflow. Missing weights mean ones."""
    return _binary_cross_entropy_with_logits(logits, label, weight, pos_weight, reduction)


def sigmoid_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-(y·log(s) + (1 - y)·log(1 - s)) per element with s = sigmoid(logits)."""
    return _binary_cross_entropy_with_logits(logits, labels)


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """labels·(log(labels) - logits), logits log-probabilities, 0 where labels are 0. reduction 'batchmean' divides the sum by the first dimension."""
    return _kl_div(logits, labels, False, reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """1 - cos for target 1, max(0, cos - margin) for target -1."""
    return _cosine_embedding(input1, input2, target, margin, reduction)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """max(0, -target·(input1 - input2) + margin)."""
    return _margin_ranking(input1, input2, target, margin, reduction)


def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """inputs where targets are 1, max(0, margin - inputs) where they are -1."""
    return _hinge_embedding(inputs, targets, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target·input))."""
    return _soft_margin(input, target, reduction)


def gaussian_nll_loss(x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """(log(v) + (x - target)²/v)/2 with v = max(var, eps), eps without gradient; full adds log(2·pi)/2."""
    return _gaussian_nll(x, target, var, full, eps, reduction)


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: Union[float, Tensor] = 1.0, p: int = 2, eps: float = 1e-6,
                        swap: bool = False, reduction: str = "mean") -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin) with p-norms over the last dimension; swap: the nearer of anchor and positive
    to the negative counts. The inputs broadcast. Raises ValueError unless p is positive and they have equally many dimensions."""
    given, margin = (margin, 1.0) if isinstance(margin, Tensor) else (None, margin)
    return _triplet_margin(anchor, positive, negative, given, p, swap, eps, margin, reduction)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """The mean over classes of binary_cross_entropy_with_logits, times weight."""
    return _multilabel_soft_margin(input, target, weight, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """sum over the classes y of a sample and all others i of max(0, 1 - (x[y] - x[i])), divided by c: input [n, c] or [c], target of its shape,
    class numbers up to the first -1."""
    return _multilabel_margin(input, target, reduction)


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      reduction: str = "mean") -> Tensor:
    """The sum over the other classes of max(0, margin - x[y] + x[c])^p, times weight[y], divided by the number of classes."""
    return _multi_margin(input, target, weight, p, margin, reduction)


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Union[Tensor, tuple], target_lengths: Union[Tensor, tuple], blank: int = 0,
             reduction: str = "mean", zero_infinity: bool = False) -> tuple:
    """(the negative log likelihood of targets [n, s] under log_probs [t, n, c] with any repeats and blanks, log alpha [n, t, 2s + 1]): Graves et al. 2006.
    'mean' divides each sample's by its target length first. zero_infinity: 0, without gradient, where the steps are too few. The gradient is that by
    log_probs as they are. Raises ValueError for shapes and a blank that do not fit, RuntimeError for lengths and labels out of range."""
    steps, lengths = as_lengths(input_lengths), as_lengths(target_lengths)
    log_alpha = core.ctc_log_alpha(log_probs, targets, steps, lengths, blank)
    return _ctc(log_probs, targets, steps, lengths, blank, zero_infinity, reduction), log_alpha


__all__ = exported(globals())
