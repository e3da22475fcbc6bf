"""Losses and their base class. The arithmetic is that of the C++ library's rules (include/sindri/nn/registry.h); here are MindSpore's arguments,
checks and attributes. A rule gives terms, which get_loss reduces, or the loss itself where it reduces by weight."""
from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import numpy as np

from sindri import _core
from sindri._check import check_bool, check_float, check_int, check_type, fail
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.nn.layer.activation import get_activation
from sindri.ops._util import as_lengths

__all__ = ["LossBase", "L1Loss", "MSELoss", "RMSELoss", "MAELoss", "SmoothL1Loss", "SoftMarginLoss", "HuberLoss", "SoftmaxCrossEntropyWithLogits",
           "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "KLDivLoss", "CosineEmbeddingLoss", "MarginRankingLoss",
           "HingeEmbeddingLoss", "DiceLoss", "MultiClassDiceLoss", "FocalLoss",
           "PoissonNLLLoss", "GaussianNLLLoss", "MultiMarginLoss", "MultiLabelSoftMarginLoss", "MultilabelMarginLoss", "TripletMarginLoss",
           "TripletMarginWithDistanceLoss", "CTCLoss"]

_ops, _rule = _core.ops, _core.loss_rule
ABOVE_ZERO = 1e-30  # of numbers that must be above 0: the bound of the library's rules


def _reduce_mean(x: Tensor, axis: Any = ()) -> Tensor:
    return _ops.mean(x, (axis,) if isinstance(axis, int) else tuple(axis))


def _reduce_sum(x: Tensor, axis: Any = ()) -> Tensor:
    return _ops.sum(x, (axis,) if isinstance(axis, int) else tuple(axis))


class LossBase(Cell):
    """Base of losses. reduction: 'mean', 'sum' or 'none'; ValueError otherwise. A subclass defines construct(logits, labels)."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            fail(ValueError, f"{self.cls_name}: reduction {reduction!r} is not known", "use 'mean', 'sum' or 'none'")
        self.reduction = reduction
        self.average = reduction != "sum"
        self.reduce = reduction != "none"
        self.reduce_mean, self.reduce_sum = _reduce_mean, _reduce_sum
        self.mul, self.cast = _ops.mul, _ops.cast

    def get_axis(self, x: Tensor) -> Tuple[int, ...]:
        """All axes of x."""
        return tuple(range(len(x.shape)))

    def _divisor(self, label: np.ndarray) -> Optional[float]:
        """What the mean of a batch divides by, so that the means of batches of any sizes make up that of all samples; None: the loss is a sum."""
        return None if self.reduction == "sum" else float(label.shape[0]) if label.ndim else 1.0

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """weights·x, reduced over all axes as the constructor says; half types are reduced in float32 and come back in their own."""
        how = "none" if not self.reduce else "mean" if self.average else "sum"
        return _core.reduce_loss(x, weights, 1.0, how) if isinstance(weights, Tensor) else _core.reduce_loss(x, None, weights, how)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, logits, labels)")


class _Loss(LossBase):
    """The name of LossBase before MindSpore 1.3."""


class L1Loss(LossBase):
    """|logits - labels|; the shapes broadcast."""

    _terms = _rule("l1")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels))


class MAELoss(L1Loss):
    """|logits - labels|; the shapes broadcast."""


class MSELoss(LossBase):
    """(logits - labels)²; the shapes broadcast."""

    _terms = _rule("mse")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels))


class RMSELoss(LossBase):
    """Square root of the mean of (logits - labels)²."""

    _loss = _rule("rmse")

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return self._loss(logits, label)


class SmoothL1Loss(LossBase):
    """0.5d²/beta where d = |logits - labels| is below beta, d - 0.5beta elsewhere. The reduction is 'none' unless given."""

    _terms = _rule("smooth_l1")

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = check_float("SmoothL1Loss", "beta", beta, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.beta))


class HuberLoss(LossBase):
    """0.5d² where d = |logits - labels| is at most delta, delta·(d - 0.5delta) elsewhere."""

    _terms = _rule("huber")

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = check_float("HuberLoss", "delta", delta, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.delta))


class SoftMarginLoss(LossBase):
    """log(1 + e^(-labels·logits)), labels of -1 and 1."""

    _terms = _rule("soft_margin")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels))


class SoftmaxCrossEntropyWithLogits(LossBase):
    """-sum(labels·log softmax(logits)) per row: logits [N, C] -> [N], or its reduction ('none' unless given).

    sparse: labels are class indices [N], int32 or int64; otherwise probabilities [N, C]. An index outside [0, C) raises RuntimeError.
    """

    _of_classes, _of_probabilities = _rule("softmax_cross_entropy"), _rule("softmax_cross_entropy_dense")

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = check_bool("SoftmaxCrossEntropyWithLogits", "sparse", sparse)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._of_classes(logits, labels) if self.sparse else self._of_probabilities(logits, labels))


def _check_class_weight(who: str, weight: Any) -> Optional[Tensor]:
    if weight is not None and len(check_type(who, "weight", weight, Tensor).shape) != 1:
        fail(ValueError, f"{who}: weight must be [C], got shape {tuple(weight.shape)}")
    return weight


def _weighted_divisor(loss: Any, label: np.ndarray) -> Optional[float]:
    """The divisor of losses with class weights and an ignored label."""
    if loss.reduction != "mean":
        return LossBase._divisor(loss, label)
    return _core.label_weight(label, None if loss.weight is None else loss.weight.asnumpy(), loss.ignore_index)


class CrossEntropyLoss(LossBase):
    """Cross entropy of softmax(logits): logits [N, C] or [N, C, d...] (or [C] of one sample), labels class indices or probabilities of logits' shape.

    weight: a factor per class, [C]. Rows labelled ignore_index count nothing. label_smoothing s: 1 - s + s/C on the label, s/C on the others. The
    mean of indices divides by the summed weights of the labels that are not ignored, that of probabilities by their number.
    Raises TypeError or ValueError for arguments out of range and for shapes that do not go together, RuntimeError for an index that is
    neither a class nor ignore_index.
    """

    _loss = _rule("cross_entropy")

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(reduction)
        who = "CrossEntropyLoss"
        self.weight = _check_class_weight(who, weight)
        self.ignore_index = check_int(who, "ignore_index", ignore_index)
        self.label_smoothing = check_float(who, "label_smoothing", label_smoothing, least=0, most=1)

    def _divisor(self, label: np.ndarray) -> Optional[float]:
        return _weighted_divisor(self, label)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self._loss(logits, labels, self.weight, self.ignore_index, self.label_smoothing, self.reduction)


class NLLLoss(LossBase):
    """-weight[label]·logits[label] per row: logits are log probabilities [N, C] or [N, C, d...], labels class indices [N] or [N, d...].

    Rows labelled ignore_index count nothing; the mean divides by the summed weights of the others. Another index outside [0, C) raises
    RuntimeError.
    """

    _loss = _rule("nll")

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = _check_class_weight("NLLLoss", weight)
        self.ignore_index = check_int("NLLLoss", "ignore_index", ignore_index)

    def _divisor(self, label: np.ndarray) -> Optional[float]:
        return _weighted_divisor(self, label)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self._loss(logits, labels, self.weight, self.ignore_index, 0.0, self.reduction)


class BCELoss(LossBase):
    """-(labels·log(logits) + (1 - labels)·log(1 - logits))·weight, logits being probabilities; logarithms are taken of p + 1e-12, as MindSpore
    does: 27.63 for a certain mistake (PyTorch: 100). Half types are computed in float32, in which 1e-12 is not 0. Raises ValueError when logits and
    labels differ in shape, and for logits outside [0, 1]."""

    _terms = _rule("binary_cross_entropy")

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.weight))


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of sigmoid(logits), computed without overflow.

    -(pos_weight·y·log σ(x) + (1 - y)·log(1 - σ(x)))·weight; weight and pos_weight broadcast, missing ones are ones.
    Raises ValueError when logits and labels differ in shape, TypeError for Parameters as weights.
    """

    _terms = _rule("binary_cross_entropy_with_logits")

    def __init__(self, reduction: str = "mean", weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None) -> None:
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if isinstance(value, Parameter) or (value is not None and not isinstance(value, Tensor)):
                fail(TypeError, f"BCEWithLogitsLoss: {name} must be a Tensor that is no Parameter, got {type(value).__name__}")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.weight, self.pos_weight))


class KLDivLoss(LossBase):
    """labels·(log(labels) - logits), logits being log probabilities; reduction 'batchmean' divides the sum by the batch size. Raises ValueError when
    logits and labels differ in shape."""

    _terms = _rule("kl_div")

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        terms = self._terms(logits, labels)
        return _core.reduce_loss(terms, None, 1.0, "batchmean") if self.reduction == "batchmean" else self.get_loss(terms)


class CosineEmbeddingLoss(LossBase):
    """1 - cos where labels are 1, max(cos - margin, 0) where they are -1; cos is that of the rows of two tensors [N, D]."""

    _terms = _rule("cosine_embedding")

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("CosineEmbeddingLoss", "margin", margin, least=-1, most=1)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits_x1, logits_x2, labels, self.margin))


class MarginRankingLoss(LossBase):
    """max(0, -target·(input1 - input2) + margin), target 1 or -1."""

    _terms = _rule("margin_ranking")

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("MarginRankingLoss", "margin", margin)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(input1, input2, target, self.margin))


class HingeEmbeddingLoss(LossBase):
    """logits where labels are 1, max(0, margin - logits) where they are -1."""

    _terms = _rule("hinge_embedding")

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("HingeEmbeddingLoss", "margin", margin)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.margin))


class DiceLoss(LossBase):
    """1 - 2·sum(logits·label)/(sum(logits²) + sum(label²) + smooth). Raises ValueError unless smooth is above 0 and the shapes are one."""

    _loss = _rule("dice")

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = check_float("DiceLoss", "smooth", smooth, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return self._loss(logits, label, self.smooth)


class MultiClassDiceLoss(LossBase):
    """Mean of DiceLoss over the classes (axis 1) but ignore_indiex, of activation(logits); weights [C, ...] multiply the classes' losses."""

    _loss = _rule("multi_class_dice")

    def __init__(self, weights: Optional[Tensor] = None, ignore_indiex: Optional[int] = None, activation: Any = "softmax") -> None:
        super().__init__()
        who = "MultiClassDiceLoss"
        self.binarydiceloss = DiceLoss(1e-5)
        if weights is not None and len(check_type(who, "weights", weights, Tensor).shape) != 2:
            fail(ValueError, f"{who}: weights must have 2 dimensions, got shape {tuple(weights.shape)}")
        self.weights = weights
        self.ignore_indiex = None if ignore_indiex is None else check_int(who, "ignore_indiex", ignore_indiex)
        self.activation = get_activation(activation, who) if isinstance(activation, str) else activation
        if self.activation is not None and not isinstance(self.activation, Cell):
            fail(TypeError, f"{who}: activation must be a str or a Cell, got {activation!r}")

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        if self.activation is not None:
            logits = self.activation(logits)
        return self._loss(logits, label, self.weights, -1 if self.ignore_indiex is None else self.ignore_indiex)


class FocalLoss(LossBase):
    """-(1 - p)^gamma·log(p) of p = softmax(logits): logits [N, C, d...], labels class indices [N, 1, d...] or one-hot [N, C, d...]; weight [C]."""

    _terms = _rule("focal")

    def __init__(self, weight: Optional[Tensor] = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_float("FocalLoss", "gamma", check_type("FocalLoss", "gamma", gamma, float))
        self.weight = _check_class_weight("FocalLoss", weight)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.weight, self.gamma))


class PoissonNLLLoss(LossBase):
    """exp(input) - target·input, or without log_input input - target·log(input + eps); full adds Stirling's term for targets above 1."""

    _terms = _rule("poisson_nll")

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input, self.full = check_bool("PoissonNLLLoss", "log_input", log_input), check_bool("PoissonNLLLoss", "full", full)
        self.eps = check_float("PoissonNLLLoss", "eps", eps)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(input, target, self.log_input, self.full, self.eps))


class GaussianNLLLoss(LossBase):
    """0.5·(log(max(var, eps)) + (logits - labels)²/max(var, eps)), with full plus 0.5·log(2π): (logits, labels, var)."""

    _terms = _rule("gaussian_nll")

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full, self.eps = check_bool("GaussianNLLLoss", "full", full), check_float("GaussianNLLLoss", "eps", eps, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, var, self.full, self.eps))


class MultiMarginLoss(LossBase):
    """The mean over classes of max(0, margin - x[target] + x[class])^p, p 1 or 2, times weight[target]: (x [N, C], target [N])."""

    _terms = _rule("multi_margin")

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Optional[Tensor] = None) -> None:
        super().__init__(reduction)
        if p not in (1, 2):
            fail(ValueError, f"MultiMarginLoss: p must be 1 or 2, got {p!r}")
        self.p, self.margin, self.weight = p, check_float("MultiMarginLoss", "margin", margin), weight

    def construct(self, x: Tensor, target: Tensor, weight: Optional[Tensor] = None) -> Tensor:
        return self.get_loss(self._terms(x, target, self.weight if weight is None else weight, self.p, self.margin))


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over classes of the binary cross entropy of sigmoid(x) and target, times weight [C]: (x [N, C], target [N, C] of 0 and 1)."""

    _terms = _rule("multilabel_soft_margin")

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(x, target, self.weight))


class MultilabelMarginLoss(LossBase):
    """sum over the classes y of a sample and all others i of max(0, 1 - (x[y] - x[i])), divided by C: x [N, C] or [C], target of x's shape, class
    numbers up to the first -1."""

    _terms = _rule("multilabel_margin")

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(x, target))


class TripletMarginLoss(LossBase):
    """max(0, |x - positive| - |x - negative| + margin) in the p-norm; swap takes the nearer of x and positive to negative. A margin given to the call
    holds where the constructor's is 1."""

    _terms = _rule("triplet_margin")

    def __init__(self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0) -> None:
        super().__init__(reduction)
        self.p, self.swap = check_int("TripletMarginLoss", "p", p, 1), check_bool("TripletMarginLoss", "swap", swap)
        self.eps, self.margin = check_float("TripletMarginLoss", "eps", eps), check_float("TripletMarginLoss", "margin", margin, above=0)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: Any = 1.0) -> Tensor:
        margin = self.margin if self.margin != 1.0 else margin
        given, margin = (margin, 1.0) if isinstance(margin, Tensor) else (None, margin)
        return self.get_loss(self._terms(x, positive, negative, given, self.p, self.swap, self.eps, margin))


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, d(x, positive) - d(x, negative) + margin) for a function d of two tensors (None: the 2-norm of the difference along the last dimension);
    swap takes the nearer of x and positive to negative."""

    def __init__(self, distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None, swap: bool = False, reduction: str = "mean",
                 margin: float = 1.0) -> None:
        super().__init__(reduction)
        if distance_function is not None and not callable(distance_function):
            fail(TypeError, f"TripletMarginWithDistanceLoss: distance_function must be a function of two tensors, got {distance_function!r}")
        self.distance_function, self.swap = distance_function, check_bool("TripletMarginWithDistanceLoss", "swap", swap)
        self.margin = check_float("TripletMarginWithDistanceLoss", "margin", margin, above=0)

    def _distance(self, a: Tensor, b: Tensor) -> Tensor:
        return _ops.norm(_ops.sub(a, b), 2.0, (-1,)) if self.distance_function is None else self.distance_function(a, b)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        far = self._distance(x, negative)
        if self.swap:
            far = _ops.minimum(far, self._distance(positive, negative))
        return self.get_loss(_ops.maximum(_ops.add(_ops.sub(self._distance(x, positive), far), self.margin), 0.0))


class CTCLoss(LossBase):
    """The negative log likelihood of label sequences with any repeats and blanks (Graves et al. 2006): log_probs [T, N, C], targets [N, S] or one after
    the other, lengths of each sample's steps and labels; or one sample's log_probs [T, C] and targets [S]. The mean divides each sample's loss by its
    number of labels first. zero_infinity: 0, without gradient, where the steps are too few. The gradient is that by log_probs as they are.
    """

    _loss = _rule("ctc")

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = check_int("CTCLoss", "blank", blank), check_bool("CTCLoss", "zero_infinity", zero_infinity)

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return self._loss(log_probs, targets, as_lengths(input_lengths), as_lengths(target_lengths), self.blank, self.zero_infinity, self.reduction)
