"""Losses of mindspore.mint.nn: PyTorch's arguments of the functions."""
from __future__ import annotations

from typing import Optional

from sindri.common.tensor import Tensor
from sindri.mint.nn import functional
from sindri.nn.cell import Cell
from sindri.ops import smooth_l1_loss


class _Loss(Cell):
    """Base of losses. reduction: 'mean', 'sum' or 'none'; another raises ValueError when the loss is called."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """Base of losses with weights."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight


class L1Loss(_Loss):
    """|logits - labels|; the shapes broadcast."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.l1_loss(logits, labels, self.reduction)


class MSELoss(_Loss):
    """(input - target)²; the shapes broadcast."""

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """d²/(2·beta) for |d| < beta, |d| - beta/2 else, d = input - target."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return smooth_l1_loss(input, target, self.beta, self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-labels·logits)), labels of -1 and 1."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.soft_margin_loss(logits, labels, self.reduction)


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities."""

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """Binary cross entropy of sigmoid(input), without overflow."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean", pos_weight: Optional[Tensor] = None) -> None:
        super().__init__(weight, reduction)
        self.pos_weight = pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class NLLLoss(_WeightedLoss):
    """Negative log likelihood of log probabilities and labels."""

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy of logits and labels or probabilities."""

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(weight, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class KLDivLoss(_Loss):
    """target·(log(target) - input), input log probabilities; log_target: target is the logarithm, too. reduction: also 'batchmean'."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.kl_div(input, target, self.reduction, self.log_target)


class CosineEmbeddingLoss(_Loss):
    """1 - cos for target 1, max(0, cos - margin) for target -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return functional.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)
