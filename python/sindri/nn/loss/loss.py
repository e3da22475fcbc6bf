"""Losses and their base class.

The arithmetic is that of the C++ library's rules (include/sindri/nn/registry.h); this module adds MindSpore's arguments, checks and
attributes. A rule returns terms, which get_loss reduces, or the loss itself if the reduction is weighted.
"""
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
ABOVE_ZERO = 1e-30  # for values that must be above 0: the bound of the library's rules


def _reduce_mean(x: Tensor, axis: Any = ()) -> Tensor:
    return _ops.mean(x, (axis,) if isinstance(axis, int) else tuple(axis))


def _reduce_sum(x: Tensor, axis: Any = ()) -> Tensor:
    return _ops.sum(x, (axis,) if isinstance(axis, int) else tuple(axis))


class LossBase(Cell):
    """Base class of losses. A subclass defines `construct(logits, labels)` and reduces its terms with `get_loss`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is another value.

    Examples:
        >>> import sindri as ms
        >>> class CubeLoss(ms.nn.LossBase):
        ...     def construct(self, logits, labels):
        ...         return self.get_loss(ms.ops.abs(logits - labels) ** 3)
        >>> print(CubeLoss()(ms.Tensor([1.0, 3.0]), ms.Tensor([0.0, 1.0])))
        4.5
    """

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
        """Returns all axes of x.

        Args:
            x (Tensor): The tensor.

        Returns:
            Tuple of int.
        """
        return tuple(range(len(x.shape)))

    def _divisor(self, label: np.ndarray) -> Optional[float]:
        """Returns the divisor of a batch's mean, so that means of batches of any size combine to the mean of all samples; None if the loss is a sum."""
        return None if self.reduction == "sum" else float(label.shape[0]) if label.ndim else 1.0

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """Reduces weights·x over all axes as the constructor's `reduction` says.

        Half types are reduced in float32 and the result is cast back.

        Args:
            x (Tensor): The terms.
            weights (float, Tensor): The factor. Default: 1.0.

        Returns:
            Tensor: a scalar, or weights·x with reduction "none".
        """
        how = "none" if not self.reduce else "mean" if self.average else "sum"
        return _core.reduce_loss(x, weights, 1.0, how) if isinstance(weights, Tensor) else _core.reduce_loss(x, None, weights, how)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, logits, labels)")


class _Loss(LossBase):
    """The name of LossBase before MindSpore 1.3."""


class L1Loss(LossBase):
    """Absolute error |logits - labels|; the shapes broadcast.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is another value.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.L1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        1.5
    """

    _terms = _rule("l1")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels))


class MAELoss(L1Loss):
    """Absolute error |logits - labels|; the shapes broadcast.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is another value.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MAELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        1.5
    """


class MSELoss(LossBase):
    """Squared error (logits - labels)²; the shapes broadcast.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is another value.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        2.5
    """

    _terms = _rule("mse")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels))


class RMSELoss(LossBase):
    """Square root of the mean of (logits - labels)².

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.RMSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 1.0])))
        1.0
    """

    _loss = _rule("rmse")

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return self._loss(logits, label)


class SmoothL1Loss(LossBase):
    """Smooth L1 loss: 0.5d²/beta if d = |logits - labels| is below beta, else d - 0.5beta.

    Args:
        beta (float): The threshold, above 0. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Raises:
        TypeError: If `beta` is not a number.
        ValueError: If `beta` is not above 0, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.SmoothL1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.5, 4.0])))
        [0.125 1.5  ]
    """

    _terms = _rule("smooth_l1")

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = check_float("SmoothL1Loss", "beta", beta, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.beta))


class HuberLoss(LossBase):
    """Huber loss: 0.5d² if d = |logits - labels| is at most delta, else delta·(d - 0.5delta).

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        delta (float): The threshold, above 0. Default: 1.0.

    Raises:
        TypeError: If `delta` is not a number.
        ValueError: If `delta` is not above 0, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.HuberLoss("none")(ms.Tensor([1.0, 2.0]), ms.Tensor([0.5, 4.0])))
        [0.125 1.5  ]
    """

    _terms = _rule("huber")

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = check_float("HuberLoss", "delta", delta, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.delta))


class SoftMarginLoss(LossBase):
    """Soft margin loss log(1 + e^(-labels·logits)) with labels -1 and 1.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is another value.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.SoftMarginLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])).asnumpy().round(4))
        0.6931
    """

    _terms = _rule("soft_margin")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels))


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of softmax(logits): -sum(labels·log softmax(logits)) per row.

    Inputs: logits [N, C]; labels [N] of class indices (int32 or int64) if `sparse`, else probabilities [N, C]. Output: [N], or its reduction.

    Args:
        sparse (bool): Whether labels are class indices. Default: False.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Raises:
        TypeError: If `sparse` is not a bool.
        ValueError: If `reduction` is unknown.
        RuntimeError: If an index is outside [0, C).

    Examples:
        >>> import sindri as ms
        >>> loss = ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        >>> print(loss(ms.Tensor([[0.0, 0.0], [0.0, 0.0]]), ms.Tensor([0, 1])).asnumpy().round(4))
        0.6931
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
    """Returns the divisor of losses with class weights and an ignored label."""
    if loss.reduction != "mean":
        return LossBase._divisor(loss, label)
    return _core.label_weight(label, None if loss.weight is None else loss.weight.asnumpy(), loss.ignore_index)


class CrossEntropyLoss(LossBase):
    """Cross entropy of softmax(logits), with class weights, an ignored label and label smoothing.

    Inputs: logits [N, C], [N, C, d...] or, for one sample, [C]; labels are class indices or probabilities of logits' shape. The mean over
    indices divides by the sum of the weights of labels that are not ignored; the mean over probabilities divides by their number.

    Args:
        weight (Tensor): A factor per class, [C]. Default: None.
        ignore_index (int): Rows with this label do not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        label_smoothing (float): s in [0, 1]: the target is 1 - s + s/C for the label and s/C for other classes. Default: 0.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, or the shapes do not match.
        RuntimeError: If an index is neither a class nor `ignore_index`.

    Examples:
        >>> import sindri as ms
        >>> logits = ms.Tensor([[2.0, 0.0], [0.0, 2.0]])
        >>> print(ms.nn.CrossEntropyLoss()(logits, ms.Tensor([0, 1])).asnumpy().round(4))
        0.1269
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
    """Negative log likelihood: -weight[label]·logits[label] per row.

    Inputs: logits are log probabilities [N, C] or [N, C, d...], labels class indices [N] or [N, d...]. The mean divides by the sum of the
    weights of labels that are not ignored.

    Args:
        weight (Tensor): A factor per class, [C]. Default: None.
        ignore_index (int): Rows with this label do not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `weight` does not have one dimension, or `reduction` is unknown.
        RuntimeError: If another index is outside [0, C).

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.NLLLoss()(ms.Tensor([[-0.5, -1.0], [-2.0, -0.25]]), ms.Tensor([0, 1])))
        0.375
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
    """Binary cross entropy of probabilities: -(labels·log(logits) + (1 - labels)·log(1 - logits))·weight.

    As in MindSpore, logarithms are taken of p + 1e-12, so that a certain mistake costs 27.63 (PyTorch: 100). Half types are computed in
    float32, in which 1e-12 is not 0.

    Args:
        weight (Tensor): A factor that broadcasts to logits. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If logits and labels differ in shape, or logits are outside [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.BCELoss()(ms.Tensor([0.5, 0.5]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.6931
    """

    _terms = _rule("binary_cross_entropy")

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.weight))


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of sigmoid(logits), without overflow: -(pos_weight·y·log σ(x) + (1 - y)·log(1 - σ(x)))·weight.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        weight (Tensor): A factor that broadcasts to logits. Default: None, ones.
        pos_weight (Tensor): A factor of positive labels that broadcasts to logits. Default: None, ones.

    Raises:
        TypeError: If a weight is not a Tensor or is a Parameter.
        ValueError: If logits and labels differ in shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.BCEWithLogitsLoss()(ms.Tensor([0.0, 0.0]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.6931
    """

    _terms = _rule("binary_cross_entropy_with_logits")

    def __init__(self, reduction: str = "mean", weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None) -> None:
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if isinstance(value, Parameter) or (value is not None and not isinstance(value, Tensor)):
                fail(TypeError, f"BCEWithLogitsLoss: {name} must be a Tensor that is not a Parameter, got {type(value).__name__}")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.weight, self.pos_weight))


class KLDivLoss(LossBase):
    """Kullback-Leibler divergence labels·(log(labels) - logits), where logits are log probabilities.

    Args:
        reduction (str): "mean", "sum", "none" or "batchmean", which divides the sum by the batch size. Default: "mean".

    Raises:
        ValueError: If logits and labels differ in shape, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> logits = ms.ops.log(ms.Tensor([[0.5, 0.5]]))
        >>> print(ms.nn.KLDivLoss("batchmean")(logits, ms.Tensor([[1.0, 0.0]])).asnumpy().round(4))
        0.6931
    """

    _terms = _rule("kl_div")

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        terms = self._terms(logits, labels)
        return _core.reduce_loss(terms, None, 1.0, "batchmean") if self.reduction == "batchmean" else self.get_loss(terms)


class CosineEmbeddingLoss(LossBase):
    """Cosine embedding loss: 1 - cos for labels 1, max(cos - margin, 0) for labels -1.

    cos is the cosine similarity of the rows of two tensors [N, D]; called as `(x1, x2, labels)`.

    Args:
        margin (float): The margin, in [-1, 1]. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If `margin` is not a number.
        ValueError: If `margin` is outside [-1, 1], or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> a, b = ms.Tensor([[1.0, 0.0], [0.0, 1.0]]), ms.Tensor([[0.0, 1.0], [0.0, 1.0]])
        >>> print(ms.nn.CosineEmbeddingLoss(reduction="none")(a, b, ms.Tensor([1.0, -1.0])).asnumpy().round(4))
        [1. 1.]
    """

    _terms = _rule("cosine_embedding")

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("CosineEmbeddingLoss", "margin", margin, least=-1, most=1)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits_x1, logits_x2, labels, self.margin))


class MarginRankingLoss(LossBase):
    """Margin ranking loss max(0, -target·(input1 - input2) + margin) with targets 1 and -1; called as `(input1, input2, target)`.

    Args:
        margin (float): The margin. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If `margin` is not a number.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> loss = ms.nn.MarginRankingLoss(margin=0.5, reduction="none")
        >>> print(loss(ms.Tensor([1.0, 2.0]), ms.Tensor([2.0, 1.0]), ms.Tensor([1.0, 1.0])))
        [1.5 0. ]
    """

    _terms = _rule("margin_ranking")

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("MarginRankingLoss", "margin", margin)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(input1, input2, target, self.margin))


class HingeEmbeddingLoss(LossBase):
    """Hinge embedding loss: logits for labels 1, max(0, margin - logits) for labels -1.

    Args:
        margin (float): The margin. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If `margin` is not a number.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.HingeEmbeddingLoss(reduction="none")(ms.Tensor([0.25, 0.25]), ms.Tensor([1.0, -1.0])))
        [0.25 0.75]
    """

    _terms = _rule("hinge_embedding")

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_float("HingeEmbeddingLoss", "margin", margin)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.margin))


class DiceLoss(LossBase):
    """Dice loss 1 - 2·sum(logits·label)/(sum(logits²) + sum(label²) + smooth).

    Args:
        smooth (float): Added to the denominator; above 0. Default: 1e-5.

    Raises:
        TypeError: If `smooth` is not a number.
        ValueError: If `smooth` is not above 0, or the shapes differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.DiceLoss()(ms.Tensor([1.0, 1.0]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.3333
    """

    _loss = _rule("dice")

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = check_float("DiceLoss", "smooth", smooth, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return self._loss(logits, label, self.smooth)


class MultiClassDiceLoss(LossBase):
    """Mean of the DiceLoss of activation(logits) over the classes (axis 1).

    Args:
        weights (Tensor): Factors of the classes' losses, with 2 dimensions, [C, ...]. Default: None.
        ignore_indiex (int): A class that is omitted. Default: None.
        activation (str, Cell): The activation, or None for none. Default: "softmax".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `weights` does not have 2 dimensions.
        KeyError: If the activation is unknown.

    Examples:
        >>> import sindri as ms
        >>> label = ms.Tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> print(ms.nn.MultiClassDiceLoss(activation=None)(label, label).asnumpy().round(4))
        0.0
    """

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
    """Focal loss -(1 - p)^gamma·log(p) with p = softmax(logits).

    Inputs: logits [N, C, d...]; labels are class indices [N, 1, d...] or one-hot [N, C, d...].

    Args:
        weight (Tensor): A factor per class, [C]. Default: None.
        gamma (float): The exponent. Default: 2.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If `gamma` is not a float or `weight` is not a Tensor.
        ValueError: If `weight` does not have one dimension, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.FocalLoss()(ms.Tensor([[[0.0], [0.0]]]), ms.Tensor([[[1]]])).asnumpy().round(4))
        0.1733
    """

    _terms = _rule("focal")

    def __init__(self, weight: Optional[Tensor] = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_float("FocalLoss", "gamma", check_type("FocalLoss", "gamma", gamma, float))
        self.weight = _check_class_weight("FocalLoss", weight)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, self.weight, self.gamma))


class PoissonNLLLoss(LossBase):
    """Poisson negative log likelihood: exp(input) - target·input, or input - target·log(input + eps) without `log_input`.

    Args:
        log_input (bool): Whether the input is the logarithm of the rate. Default: True.
        full (bool): Whether to add Stirling's term for targets above 1. Default: False.
        eps (float): Added to the rate in the logarithm. Default: 1e-8.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.PoissonNLLLoss()(ms.Tensor([0.0]), ms.Tensor([2.0])))
        1.0
    """

    _terms = _rule("poisson_nll")

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input, self.full = check_bool("PoissonNLLLoss", "log_input", log_input), check_bool("PoissonNLLLoss", "full", full)
        self.eps = check_float("PoissonNLLLoss", "eps", eps)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(input, target, self.log_input, self.full, self.eps))


class GaussianNLLLoss(LossBase):
    """Gaussian negative log likelihood 0.5·(log(max(var, eps)) + (logits - labels)²/max(var, eps)); called as `(logits, labels, var)`.

    Args:
        full (bool): Whether to add 0.5·log(2π). Default: False.
        eps (float): The smallest variance, above 0. Default: 1e-6.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `eps` is not above 0, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.GaussianNLLLoss()(ms.Tensor([1.0]), ms.Tensor([3.0]), ms.Tensor([1.0])))
        2.0
    """

    _terms = _rule("gaussian_nll")

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full, self.eps = check_bool("GaussianNLLLoss", "full", full), check_float("GaussianNLLLoss", "eps", eps, least=ABOVE_ZERO)

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return self.get_loss(self._terms(logits, labels, var, self.full, self.eps))


class MultiMarginLoss(LossBase):
    """Multi-class margin loss: the mean over classes of max(0, margin - x[target] + x[class])^p, times weight[target].

    Inputs: x [N, C], target [N]. A `weight` given to the call replaces the constructor's.

    Args:
        p (int): The exponent, 1 or 2. Default: 1.
        margin (float): The margin. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        weight (Tensor): A factor per class, [C]. Default: None.

    Raises:
        TypeError: If `margin` is not a number.
        ValueError: If `p` is neither 1 nor 2, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MultiMarginLoss()(ms.Tensor([[0.0, 0.5]]), ms.Tensor([1])))
        0.25
    """

    _terms = _rule("multi_margin")

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Optional[Tensor] = None) -> None:
        super().__init__(reduction)
        if p not in (1, 2):
            fail(ValueError, f"MultiMarginLoss: p must be 1 or 2, got {p!r}")
        self.p, self.margin, self.weight = p, check_float("MultiMarginLoss", "margin", margin), weight

    def construct(self, x: Tensor, target: Tensor, weight: Optional[Tensor] = None) -> Tensor:
        return self.get_loss(self._terms(x, target, self.weight if weight is None else weight, self.p, self.margin))


class MultiLabelSoftMarginLoss(LossBase):
    """Mean over classes of the binary cross entropy of sigmoid(x) and target, times weight.

    Inputs: x [N, C], target [N, C] of 0 and 1.

    Args:
        weight (Tensor): A factor per class, [C]. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MultiLabelSoftMarginLoss()(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[1.0, 0.0]])).asnumpy().round(4))
        0.6931
    """

    _terms = _rule("multilabel_soft_margin")

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(x, target, self.weight))


class MultilabelMarginLoss(LossBase):
    """Multi-label margin loss: the sum of max(0, 1 - (x[y] - x[i])) over the classes y of a sample and all other classes i, divided by C.

    Inputs: x [N, C] or [C]; target of x's shape holds class indices up to the first -1.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MultilabelMarginLoss()(ms.Tensor([[0.0, 0.5]]), ms.Tensor([[1, -1]], ms.int32)))
        0.25
    """

    _terms = _rule("multilabel_margin")

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return self.get_loss(self._terms(x, target))


class TripletMarginLoss(LossBase):
    """Triplet loss max(0, |x - positive| - |x - negative| + margin) in the p-norm; called as `(x, positive, negative, margin=1.0)`.

    The call's margin applies if the constructor's is 1.

    Args:
        p (int): The order of the norm, at least 1. Default: 2.
        swap (bool): Whether the distance to negative is that of the nearer of x and positive. Default: False.
        eps (float): Added for numerical stability. Default: 1e-6.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        margin (float): The margin, above 0. Default: 1.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `p` is below 1, `margin` is not above 0 or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> x, positive, negative = ms.Tensor([[0.0, 0.0]]), ms.Tensor([[3.0, 4.0]]), ms.Tensor([[0.0, 2.0]])
        >>> print(ms.nn.TripletMarginLoss()(x, positive, negative).asnumpy().round(3))
        4.0
    """

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
    """Triplet loss max(0, d(x, positive) - d(x, negative) + margin) with a distance function d.

    Args:
        distance_function (Callable): A function of two tensors. Default: None, the 2-norm of the difference along the last dimension.
        swap (bool): Whether the distance to negative is that of the nearer of x and positive. Default: False.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        margin (float): The margin, above 0. Default: 1.0.

    Raises:
        TypeError: If `distance_function` is not callable, or another argument has another type.
        ValueError: If `margin` is not above 0, or `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> x, positive, negative = ms.Tensor([[0.0, 0.0]]), ms.Tensor([[3.0, 4.0]]), ms.Tensor([[0.0, 2.0]])
        >>> print(ms.nn.TripletMarginWithDistanceLoss()(x, positive, negative).asnumpy().round(3))
        4.0
    """

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
    """Connectionist temporal classification: the negative log likelihood of label sequences with any repeats and blanks (Graves et al. 2006).

    Inputs: log_probs [T, N, C], targets [N, S] or concatenated, and each sample's numbers of steps and labels; or one sample's log_probs
    [T, C] and targets [S]. The mean first divides each sample's loss by its number of labels. The gradient is taken with respect to log_probs
    as given.

    Args:
        blank (int): The index of the blank. Default: 0.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        zero_infinity (bool): Whether the loss is 0, without gradient, if there are too few steps. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> import sindri as ms
        >>> log_probs = ms.ops.log_softmax(ms.ops.zeros((2, 1, 2), ms.float32))
        >>> print(ms.nn.CTCLoss()(log_probs, ms.Tensor([[1]]), ms.Tensor([2]), ms.Tensor([1])).asnumpy().round(4))
        0.2877
    """

    _loss = _rule("ctc")

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = check_int("CTCLoss", "blank", blank), check_bool("CTCLoss", "zero_infinity", zero_infinity)

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return self._loss(log_probs, targets, as_lengths(input_lengths), as_lengths(target_lengths), self.blank, self.zero_infinity, self.reduction)
