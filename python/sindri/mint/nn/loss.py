"""Losses of mindspore.mint.nn, with PyTorch's arguments."""
from __future__ import annotations

from typing import Optional

from sindri.common.tensor import Tensor
from sindri.mint.nn import functional
from sindri.nn.cell import Cell
from sindri.ops import smooth_l1_loss


class _Loss(Cell):
    """Base class of losses. reduction is 'mean', 'sum' or 'none'; another string raises ValueError when the loss is
    called.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """Base class of losses with weights."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight


class L1Loss(_Loss):
    """Computes |logits - labels|. The shapes broadcast.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.L1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        1.5
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.l1_loss(logits, labels, self.reduction)


class MSELoss(_Loss):
    """Computes (input - target)². The shapes broadcast.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        2.5
    """

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """Computes d²/(2·beta) for |d| < beta, else |d| - beta/2, with d = input - target.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        beta (float): The bound between the quadratic and the linear part. Default: 1.0.

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.SmoothL1Loss()(ms.Tensor([0.5, 3.0]), ms.Tensor([0.0, 0.0])))
        1.3125
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return smooth_l1_loss(input, target, self.beta, self.reduction)


class SoftMarginLoss(_Loss):
    """Computes log(1 + exp(-labels·logits)) for labels -1 and 1.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.SoftMarginLoss()(ms.Tensor([1.0, -1.0]), ms.Tensor([1.0, 1.0])).asnumpy().round(4))
        0.8133
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.soft_margin_loss(logits, labels, self.reduction)


class BCELoss(_WeightedLoss):
    """Computes the binary cross entropy of probabilities.

    Args:
        weight (Tensor): The weights; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.BCELoss()(ms.Tensor([0.9, 0.2]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.1643
    """

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """Computes the binary cross entropy of sigmoid(input) without overflow.

    Args:
        weight (Tensor): The weights; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        pos_weight (Tensor): The weights of the positive labels; None means ones. Default: None.

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.BCEWithLogitsLoss()(ms.Tensor([2.0, -1.0]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.2201
    """

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean", pos_weight: Optional[Tensor] = None) -> None:
        super().__init__(weight, reduction)
        self.pos_weight = pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class NLLLoss(_WeightedLoss):
    """Computes the negative log likelihood of log probabilities and class indices.

    Args:
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        ignore_index (int): The class index that does not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.NLLLoss()(ms.Tensor([[-0.5, -1.5]]), ms.Tensor([0])))
        0.5
    """

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Computes the cross entropy of logits and class indices or probabilities.

    Args:
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        ignore_index (int): The class index that does not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        label_smoothing (float): The share of the uniform distribution in the targets. Default: 0.0.

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.CrossEntropyLoss()(ms.Tensor([[1.0, 2.0]]), ms.Tensor([1])).asnumpy().round(4))
        0.3133
    """

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(weight, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class KLDivLoss(_Loss):
    """Computes target·(log(target) - input) of log probabilities `input`.

    Args:
        reduction (str): "mean", "sum", "none", or "batchmean", which divides the sum by the first dimension.
            Default: "mean".
        log_target (bool): Whether the target holds log probabilities. Default: False.

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.KLDivLoss()(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([[0.5, 0.5]])).asnumpy().round(4))
        0.0284
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.kl_div(input, target, self.reduction, self.log_target)


class CosineEmbeddingLoss(_Loss):
    """Computes 1 - cos(input1, input2) for target 1, and max(0, cos - margin) for target -1.

    Args:
        margin (float): The margin. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.CosineEmbeddingLoss()(ms.Tensor([[1.0, 0.0]]), ms.Tensor([[0.0, 1.0]]), ms.Tensor([1])))
        1.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return functional.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)
