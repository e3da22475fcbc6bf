"""Cross entropy with label smoothing."""
from __future__ import annotations

from sindri import Tensor, nn, ops
from sindri import dtype as mstype


class CrossEntropy(nn.LossBase):
    """Mean cross entropy of logits [N, C] and classes [N]; the other classes share `smooth_factor` of the probability."""

    def __init__(self, smooth_factor: float = 0.0, num_classes: int = 1000) -> None:
        super().__init__()
        self.onehot = ops.OneHot()
        self.on_value = Tensor(1.0 - smooth_factor, mstype.float32)
        self.off_value = Tensor(1.0 * smooth_factor / (num_classes - 1), mstype.float32)
        self.ce = nn.SoftmaxCrossEntropyWithLogits()
        self.mean = ops.ReduceMean(False)

    def construct(self, logit: Tensor, label: Tensor) -> Tensor:
        one_hot_label = self.onehot(label, ops.shape(logit)[1], self.on_value, self.off_value)
        loss: Tensor = self.mean(self.ce(logit, one_hot_label), 0)
        return loss
