"""Losses of two tensors and their base class."""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Tuple

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, check_int, check_type, fail
from sindri.nn.cell import Cell
from sindri.nn.layer.activation import get_activation
from sindri.ops._util import in_common_type
from sindri.ops.function.loss_func import (binary_cross_entropy, gaussian_nll_loss, multi_margin_loss, multilabel_soft_margin_loss,
                                           triplet_margin_loss)
from sindri.ops.function.reduce_func import vector_norm

__all__ = ["LossBase", "L1Loss", "MSELoss", "RMSELoss", "MAELoss", "SmoothL1Loss", "SoftMarginLoss", "HuberLoss", "SoftmaxCrossEntropyWithLogits",
           "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "KLDivLoss", "CosineEmbeddingLoss", "MarginRankingLoss",
           "HingeEmbeddingLoss", "DiceLoss", "MultiClassDiceLoss", "FocalLoss",
           "PoissonNLLLoss", "GaussianNLLLoss", "MultiMarginLoss", "MultiLabelSoftMarginLoss", "TripletMarginLoss",
           "TripletMarginWithDistanceLoss"]

_ops = _core.ops
_HALF = (mstype.float16, mstype.bfloat16)


def _reduce_mean(x: Tensor, axis: Any = ()) -> Tensor:
    return _ops.mean(x, (axis,) if isinstance(axis, int) else tuple(axis))


def _reduce_sum(x: Tensor, axis: Any = ()) -> Tensor:
    return _ops.sum(x, (axis,) if isinstance(axis, int) else tuple(axis))


def _wide(x: Tensor) -> Tensor:
    """Half types hold neither the sum nor the number of many rows."""
    return _ops.cast(x, mstype.float32) if x.dtype in _HALF else x


def _is_float(x: Tensor) -> bool:
    return x.dtype in mstype.float_type


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

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """weights·x, reduced over all axes as the constructor says; half types are reduced in float32 and come back in their own."""
        dtype = x.dtype
        half = dtype in _HALF
        if half or not _is_float(x):
            x = _ops.cast(x, mstype.float32)
        if isinstance(weights, Tensor):
            x = _ops.mul(_ops.cast(weights, x.dtype), x)
        elif weights != 1.0:
            x = _ops.mul(x, weights)
        if self.reduce:
            x = _ops.mean(x) if self.average else _ops.sum(x)
        return _ops.cast(x, dtype) if x.dtype != dtype else x

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, logits, labels)")


class _Loss(LossBase):
    """The name of LossBase before MindSpore 1.3."""


def _check_same_shape(who: str, logits: Tensor, labels: Tensor) -> None:
    if logits.shape != labels.shape:
        fail(ValueError, f"{who}: logits {tuple(logits.shape)} and labels {tuple(labels.shape)} must have one shape")


def _check_tensors(who: str, **values: Any) -> None:
    for name, value in values.items():
        if not isinstance(value, Tensor):
            fail(TypeError, f"{who}: {name} must be a Tensor, got {value!r} of type {type(value).__name__}")


class L1Loss(LossBase):
    """|logits - labels|; the shapes broadcast."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return self.get_loss(_ops.abs(_ops.sub(logits, labels)))


class MAELoss(L1Loss):
    """|logits - labels|; the shapes broadcast."""


class MSELoss(LossBase):
    """(logits - labels)²; the shapes broadcast."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        return self.get_loss(_ops.square(_ops.sub(logits, labels)))


class RMSELoss(MSELoss):
    """Square root of the mean of (logits - labels)²."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return _ops.sqrt(super().construct(logits, label))


class SmoothL1Loss(LossBase):
    """0.5d²/beta where d = |logits - labels| is below beta, d - 0.5beta elsewhere. The reduction is 'none' unless given."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = check_float("SmoothL1Loss", "beta", beta, above=0)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_same_shape("SmoothL1Loss", logits, labels)
        d = _ops.abs(_ops.sub(logits, labels))
        return self.get_loss(_ops.where(_ops.less(d, self.beta), _ops.mul(_ops.square(d), 0.5 / self.beta), _ops.sub(d, 0.5 * self.beta)))


class HuberLoss(LossBase):
    """0.5d² where d = |logits - labels| is at most delta, delta·(d - 0.5delta) elsewhere."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = check_float("HuberLoss", "delta", delta, above=0)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        d = _ops.abs(_ops.sub(logits, labels))
        far = _ops.mul(_ops.sub(d, 0.5 * self.delta), self.delta)
        return self.get_loss(_ops.where(_ops.less_equal(d, self.delta), _ops.mul(_ops.square(d), 0.5), far))


class SoftMarginLoss(LossBase):
    """log(1 + e^(-labels·logits)), labels of -1 and 1."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_same_shape("SoftMarginLoss", logits, labels)
        return self.get_loss(_ops.softplus(_ops.neg(_ops.mul(labels, logits))))


class SoftmaxCrossEntropyWithLogits(LossBase):
    """-sum(labels·log softmax(logits)) per row: logits [N, C] -> [N], or its reduction ('none' unless given).

    sparse: labels are class indices [N], int32 or int64; otherwise probabilities [N, C]. An index outside [0, C) raises RuntimeError.
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = check_bool("SoftmaxCrossEntropyWithLogits", "sparse", sparse)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        rows = _ops.softmax_cross_entropy_sparse(logits, labels) if self.sparse else _ops.softmax_cross_entropy_dense(logits, labels)
        return self.get_loss(rows)


def _classes_last(x: Tensor) -> Tensor:
    """[N, C, d...] as [N·d..., C], so that each row is one distribution."""
    rank = len(x.shape)
    if rank == 2:
        return x
    return _ops.reshape(_ops.transpose(x, (0, *range(2, rank), 1)), (-1, x.shape[1]))


def _check_class_weight(who: str, weight: Any) -> Optional[Tensor]:
    if weight is None:
        return None
    check_type(who, "weight", weight, Tensor)
    if len(weight.shape) != 1:
        fail(ValueError, f"{who}: weight must be [C], got shape {tuple(weight.shape)}")
    return weight


class CrossEntropyLoss(LossBase):
    """Cross entropy of softmax(logits): logits [N, C] or [N, C, d...] (or [C] of one sample), labels class indices or probabilities of logits' shape.

    weight: a factor per class, [C]. Rows labelled ignore_index count nothing. label_smoothing s: 1 - s + s/C on the label, s/C on the others. The
    mean of indices divides by the summed weights of the labels that are not ignored, that of probabilities by their number.
    Raises TypeError or ValueError for arguments out of range and for shapes that do not go together, RuntimeError for an index that is
    neither a class nor ignore_index.
    """

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(reduction)
        who = "CrossEntropyLoss"
        self.weight = _check_class_weight(who, weight)
        self.ignore_index = check_int(who, "ignore_index", ignore_index)
        self.label_smoothing = check_float(who, "label_smoothing", label_smoothing, least=0, most=1)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        who = "CrossEntropyLoss"
        _check_tensors(who, logits=logits, labels=labels)
        if len(logits.shape) == 1:  # one sample without a batch dimension
            y = self._of_batch(who, _ops.expand_dims(logits, 0), _ops.expand_dims(labels, 0))
            return _ops.reshape(y, ()) if self.reduction == "none" else y
        if not logits.shape:
            fail(ValueError, f"{who}: logits must be [N, C] or [N, C, d...], got a scalar")
        return self._of_batch(who, logits, labels)

    def _of_batch(self, who: str, logits: Tensor, labels: Tensor) -> Tensor:
        classes = logits.shape[1]
        if self.weight is not None and self.weight.shape[0] != classes:
            fail(ValueError, f"{who}: weight has {self.weight.shape[0]} classes, the logits {tuple(logits.shape)} have {classes}")
        spatial = tuple(logits.shape[:1]) + tuple(logits.shape[2:])
        if _is_float(labels):
            _check_same_shape(who, logits, labels)
            rows = self._of_probabilities(_classes_last(logits), _classes_last(labels))
            return _ops.reshape(rows, spatial) if self.reduction == "none" else self.get_loss(rows)
        if tuple(labels.shape) != spatial:
            fail(ValueError, f"{who}: labels must be {spatial} for logits {tuple(logits.shape)}, got {tuple(labels.shape)}")
        flat = _ops.reshape(labels, (-1,))
        rows = self._of_indices(_classes_last(logits), flat)
        if self.reduction == "none":
            return _ops.reshape(rows, spatial)
        if self.reduction == "sum":
            return _ops.sum(rows)
        terms = _wide(rows)
        weights = _ops.cast(_ops.not_equal(flat, self.ignore_index), terms.dtype)
        if self.weight is not None:
            weights = _ops.mul(_row_weights(self.weight, flat, classes, terms.dtype), weights)
        return _ops.cast(_ops.div(_ops.sum(terms), _ops.sum(weights)), rows.dtype)

    def _of_indices(self, logits: Tensor, labels: Tensor) -> Tensor:
        if self.weight is None:
            return _ops.softmax_cross_entropy_sparse(logits, labels, self.label_smoothing, self.ignore_index)
        classes, s = logits.shape[1], self.label_smoothing
        logp = _ops.log_softmax(logits, 1)
        labels = _ops.check_labels(labels, classes, self.ignore_index)
        q = _ops.mul(_ops.one_hot(labels, classes, 1 - s + s / classes, s / classes, logp.dtype), _ops.cast(self.weight, logp.dtype))
        counted = _ops.cast(_ops.not_equal(labels, self.ignore_index), logp.dtype)
        return _ops.neg(_ops.mul(_ops.sum(_ops.mul(q, logp), (1,)), counted))

    def _of_probabilities(self, logits: Tensor, labels: Tensor) -> Tensor:
        classes, s = logits.shape[1], self.label_smoothing
        q = labels if s == 0 else _ops.add(_ops.mul(labels, 1 - s), s / classes)
        if self.weight is None:
            return _ops.softmax_cross_entropy_dense(logits, q)
        q = _ops.mul(q, _ops.cast(self.weight, q.dtype))
        return _ops.neg(_ops.sum(_ops.mul(q, _ops.log_softmax(logits, 1)), (1,)))


def _row_weights(weight: Tensor, labels: Tensor, classes: int, dtype: Any) -> Tensor:
    return _ops.sum(_ops.mul(_ops.one_hot(labels, classes, 1.0, 0.0, dtype), _ops.cast(weight, dtype)), (1,))


class NLLLoss(LossBase):
    """-weight[label]·logits[label] per row: logits are log probabilities [N, C] or [N, C, d...], labels class indices [N] or [N, d...].

    Rows labelled ignore_index count nothing; the mean divides by the summed weights of the others. Another index outside [0, C) raises
    RuntimeError.
    """

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = _check_class_weight("NLLLoss", weight)
        self.ignore_index = check_int("NLLLoss", "ignore_index", ignore_index)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if len(logits.shape) < 2 or tuple(labels.shape) != tuple(logits.shape[:1]) + tuple(logits.shape[2:]):
            fail(ValueError, f"NLLLoss: logits must be [N, C, d...] and labels [N, d...], got {tuple(logits.shape)} and {tuple(labels.shape)}")
        rows = _classes_last(logits)
        classes, dtype = rows.shape[1], rows.dtype
        flat = _ops.check_labels(_ops.reshape(labels, (-1,)), classes, self.ignore_index)
        counted = _ops.cast(_ops.not_equal(flat, self.ignore_index), dtype)
        weights = counted if self.weight is None else _ops.mul(_row_weights(self.weight, flat, classes, dtype), counted)
        # Picked by comparison, not by index: an ignored label may lie outside the classes.
        picked = _ops.sum(_ops.where(_ops.one_hot(flat, classes, 1.0, 0.0, mstype.bool_), rows, _ops.zeros_like(rows)), (1,))
        loss = _ops.neg(_ops.mul(picked, weights))
        if self.reduction == "none":
            return _ops.reshape(loss, tuple(labels.shape))
        if self.reduction == "sum":
            return _ops.sum(loss)
        return _ops.cast(_ops.div(_ops.sum(_wide(loss)), _ops.sum(_wide(weights))), dtype)


class BCELoss(LossBase):
    """-(labels·log(logits) + (1 - labels)·log(1 - logits))·weight, logits being probabilities; logarithms are taken of p + 1e-12, as MindSpore
    does: 27.63 for a certain mistake (PyTorch: 100). Half types are computed in float32, in which 1e-12 is not 0. Raises ValueError when logits and
    labels differ in shape, and for logits outside [0, 1]."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_same_shape("BCELoss", logits, labels)
        logits, labels = in_common_type(logits, labels)
        loss = binary_cross_entropy(_wide(logits), _wide(labels), reduction="none")
        return self.get_loss(_ops.cast(loss if self.weight is None else _ops.mul(loss, self.weight), logits.dtype))


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of sigmoid(logits), computed without overflow.

    -(pos_weight·y·log σ(x) + (1 - y)·log(1 - σ(x)))·weight; weight and pos_weight broadcast, missing ones are ones.
    Raises ValueError when logits and labels differ in shape, TypeError for Parameters as weights.
    """

    def __init__(self, reduction: str = "mean", weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None) -> None:
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if isinstance(value, Parameter) or (value is not None and not isinstance(value, Tensor)):
                fail(TypeError, f"BCEWithLogitsLoss: {name} must be a Tensor that is no Parameter, got {type(value).__name__}")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_tensors(self.cls_name, logits=logits, labels=labels)
        _check_same_shape("BCEWithLogitsLoss", logits, labels)
        logits, labels = in_common_type(logits, labels)
        # -log σ(x) = softplus(-x) and -log(1 - σ(x)) = x + softplus(-x).
        tail = _ops.softplus(_ops.neg(logits))
        negative = _ops.mul(_ops.sub(1.0, labels), _ops.add(logits, tail))
        positive = _ops.mul(labels, tail)
        if self.pos_weight is not None:
            positive = _ops.mul(positive, self.pos_weight)
        loss = _ops.add(positive, negative)
        return self.get_loss(loss if self.weight is None else _ops.mul(loss, self.weight))


class KLDivLoss(LossBase):
    """labels·(log(labels) - logits), logits being log probabilities; reduction 'batchmean' divides the sum by the batch size. Raises ValueError when
    logits and labels differ in shape."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        _check_same_shape("KLDivLoss", logits, labels)
        positive = _ops.greater(labels, 0.0)
        entropy = _ops.where(positive, _ops.mul(labels, _ops.log(_ops.where(positive, labels, 1.0))), 0.0)
        loss = self.get_loss(_ops.sub(entropy, _ops.mul(labels, logits)))
        return _ops.div(loss, float(logits.shape[0])) if self.reduction == "batchmean" else loss


class CosineEmbeddingLoss(LossBase):
    """1 - cos where labels are 1, max(cos - margin, 0) where they are -1; cos is that of the rows of two tensors [N, D]."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("CosineEmbeddingLoss", "margin", margin, least=-1, most=1)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        _check_same_shape("CosineEmbeddingLoss", logits_x1, logits_x2)
        logits_x1, logits_x2 = in_common_type(logits_x1, logits_x2)
        cos = _ops.div(_ops.sum(_ops.mul(logits_x1, logits_x2), (1,)), _ops.mul(_ops.norm(logits_x1, 2.0, (1,)), _ops.norm(logits_x2, 2.0, (1,))))
        zeros = _ops.zeros_like(cos)
        alike = _ops.where(_ops.equal(labels, 1), _ops.sub(1.0, cos), zeros)
        apart = _ops.where(_ops.equal(labels, -1), _ops.maximum(_ops.sub(cos, self.margin), 0.0), zeros)
        return self.get_loss(_ops.add(alike, apart))


class MarginRankingLoss(LossBase):
    """max(0, -target·(input1 - input2) + margin), target 1 or -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("MarginRankingLoss", "margin", margin)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(_ops.maximum(_ops.add(_ops.neg(_ops.mul(target, _ops.sub(input1, input2))), self.margin), 0.0))


class HingeEmbeddingLoss(LossBase):
    """logits where labels are 1, max(0, margin - logits) where they are -1."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("HingeEmbeddingLoss", "margin", margin)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        hinge = _ops.maximum(_ops.sub(self.margin, logits), 0.0)
        zeros = _ops.zeros_like(logits)
        near, far = _ops.where(_ops.equal(labels, 1), logits, zeros), _ops.where(_ops.equal(labels, -1), hinge, zeros)
        return self.get_loss(_ops.add(near, far))


class DiceLoss(LossBase):
    """1 - 2·sum(logits·label)/(sum(logits²) + sum(label²) + smooth). Raises ValueError unless smooth is above 0 and the shapes are one."""

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = check_float("DiceLoss", "smooth", smooth, above=0)

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        _check_same_shape("DiceLoss", logits, label)
        union = _ops.add(_ops.sum(_ops.square(logits)), _ops.sum(_ops.square(label)))
        return _ops.sub(1.0, _ops.div(_ops.mul(_ops.sum(_ops.mul(logits, label)), 2.0), _ops.add(union, self.smooth)))


class MultiClassDiceLoss(LossBase):
    """Mean of DiceLoss over the classes (axis 1) but ignore_indiex, of activation(logits); weights [C, ...] multiply the classes' losses."""

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
        _check_same_shape("MultiClassDiceLoss", logits, label)
        if self.activation is not None:
            logits = self.activation(logits)
        classes = label.shape[1]
        total = None
        for i in range(classes):
            if i == self.ignore_indiex:
                continue
            ours, theirs = (_ops.gather(x, Tensor(i, mstype.int32), 1) for x in (logits, label))
            loss = self.binarydiceloss(ours, theirs)
            if self.weights is not None:
                loss = _ops.mul(loss, _ops.gather(self.weights, Tensor(i, mstype.int32), 0))
            total = loss if total is None else _ops.add(total, loss)
        if total is None:
            fail(ValueError, "MultiClassDiceLoss: no class is left but ignore_indiex")
        return _ops.div(total, float(classes))


class FocalLoss(LossBase):
    """-(1 - p)^gamma·log(p) of p = softmax(logits): logits [N, C, d...], labels class indices [N, 1, d...] or one-hot [N, C, d...]; weight [C]."""

    def __init__(self, weight: Optional[Tensor] = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_float("FocalLoss", "gamma", check_type("FocalLoss", "gamma", gamma, float))
        self.weight = _check_class_weight("FocalLoss", weight)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        shape, classes = tuple(logits.shape), logits.shape[1]
        if len(shape) != len(labels.shape) or labels.shape[1] not in (1, classes):
            fail(ValueError, f"FocalLoss: labels must be [N, 1, d...] or [N, C, d...] for logits {shape}, got {tuple(labels.shape)}")
        logp = _ops.reshape(_ops.log_softmax(logits, 1), (shape[0], classes, -1))  # [N, C, S]
        labels = _ops.reshape(labels, (shape[0], labels.shape[1], -1))
        weight = None if self.weight is None else _ops.reshape(_ops.cast(self.weight, logp.dtype), (1, classes, 1))
        sparse = labels.shape[1] == 1
        if sparse:
            index = _ops.ravel_indices([_ops.cast(labels, mstype.int32)], (classes,), False, (1,))
            if weight is not None:
                weight = _ops.squeeze(_ops.gather_elements(_ops.broadcast_to(weight, tuple(logp.shape)), index, 1), 1)
            logp = _ops.squeeze(_ops.gather_elements(logp, index, 1), 1)  # [N, S]
        else:
            weight_of_labels = _ops.cast(labels, logp.dtype)
            weight = weight_of_labels if weight is None else _ops.mul(weight, weight_of_labels)
        loss = _ops.mul(_ops.neg(_ops.pow(_ops.sub(1.0, _ops.exp(logp)), self.gamma)), logp)
        if weight is not None:
            loss = _ops.mul(loss, weight)
        return self.get_loss(_ops.mean(loss, (1,) if sparse else (2,)))


class PoissonNLLLoss(LossBase):
    """exp(input) - target·input, or without log_input input - target·log(input + eps); full adds Stirling's term for targets above 1."""

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input, self.full = check_bool("PoissonNLLLoss", "log_input", log_input), check_bool("PoissonNLLLoss", "full", full)
        self.eps = check_float("PoissonNLLLoss", "eps", eps)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        _check_tensors(self.cls_name, input=input, target=target)
        target = _ops.cast(target, input.dtype)
        if self.log_input:
            loss = _ops.sub(_ops.exp(input), _ops.mul(target, input))
        else:
            loss = _ops.sub(input, _ops.mul(target, _ops.log(_ops.add(input, self.eps))))
        if self.full:
            safe = _ops.maximum(target, 1.0)
            term = _ops.add(_ops.sub(_ops.mul(_ops.add(safe, 0.5), _ops.log(safe)), safe), 0.5 * math.log(2 * math.pi))
            loss = _ops.add(loss, _ops.where(_ops.greater(target, 1.0), term, _ops.zeros_like(term)))
        return self.get_loss(loss)


class GaussianNLLLoss(LossBase):
    """0.5·(log(max(var, eps)) + (logits - labels)²/max(var, eps)), with full plus 0.5·log(2π): (logits, labels, var)."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full, self.eps = check_bool("GaussianNLLLoss", "full", full), check_float("GaussianNLLLoss", "eps", eps, above=0)

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class MultiMarginLoss(LossBase):
    """The mean over classes of max(0, margin - x[target] + x[class])^p, p 1 or 2, times weight[target]: (x [N, C], target [N])."""

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Optional[Tensor] = None) -> None:
        super().__init__(reduction)
        if p not in (1, 2):
            fail(ValueError, f"MultiMarginLoss: p must be 1 or 2, got {p!r}")
        self.p, self.margin, self.weight = p, check_float("MultiMarginLoss", "margin", margin), weight

    def construct(self, x: Tensor, target: Tensor, weight: Optional[Tensor] = None) -> Tensor:
        return multi_margin_loss(x, target, self.p, self.margin, self.weight if weight is None else weight, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over classes of the binary cross entropy of sigmoid(x) and target, times weight [C]: (x [N, C], target [N, C] of 0 and 1)."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class TripletMarginLoss(LossBase):
    """max(0, |x - positive| - |x - negative| + margin) in the p-norm; swap takes the nearer of x and positive to negative. A margin given to the call
    holds where the constructor's is 1."""

    def __init__(self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0) -> None:
        super().__init__(reduction)
        self.p, self.swap = check_int("TripletMarginLoss", "p", p, 1), check_bool("TripletMarginLoss", "swap", swap)
        self.eps, self.margin = check_float("TripletMarginLoss", "eps", eps), check_float("TripletMarginLoss", "margin", margin, above=0)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: Any = 1.0) -> Tensor:
        return triplet_margin_loss(x, positive, negative, self.margin if self.margin != 1.0 else margin, self.p, self.eps, self.swap, self.reduction)


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
        return vector_norm(_ops.sub(a, b), 2, -1) if self.distance_function is None else self.distance_function(a, b)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        far = self._distance(x, negative)
        if self.swap:
            far = _ops.minimum(far, self._distance(positive, negative))
        return self.get_loss(_ops.maximum(_ops.add(_ops.sub(self._distance(x, positive), far), self.margin), 0.0))
