"""Cross entropy with label smoothing."""
from __future__ import annotations

import sindri as ms
from sindri import nn, ops

from .composite import ReduceLogSumExp


class CrossEntropySmooth(nn.LossBase):
    """Cross entropy of logits [N, C] and labels, where the other classes share `smooth_factor` of the probability equally.

    sparse: labels are classes [N]; otherwise probabilities [N, C]. composite: computes log-softmax with this example's ReduceLogSumExp instead
    of the framework's softmax cross entropy; the values agree. reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, sparse: bool = True, reduction: str = "mean", smooth_factor: float = 0.0, num_classes: int = 1000,
                 composite: bool = False) -> None:
        super().__init__(reduction)
        self.onehot = ops.OneHot()
        self.sparse = sparse
        self.composite = composite
        self.on_value = ms.Tensor(1.0 - smooth_factor, ms.float32)
        self.off_value = ms.Tensor(smooth_factor / (num_classes - 1), ms.float32)
        self.ce = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)
        self.log_sum_exp = ReduceLogSumExp(-1, keep_dims=True)
        self.sum = ops.ReduceSum()

    def construct(self, logit: ms.Tensor, label: ms.Tensor) -> ms.Tensor:
        if self.sparse:
            label = self.onehot(label, ops.shape(logit)[1], self.on_value, self.off_value)
        if self.composite:
            return self.get_loss(self.sum(label * (self.log_sum_exp(logit) - logit), -1))
        loss: ms.Tensor = self.ce(logit, label)
        return loss
