"""Mean of the losses of the batches."""
from typing import Any

from sindri.train.metrics.metric import Metric, rearrange_inputs


class Loss(Metric):
    """Mean over batches of a scalar loss (a vector counts as its mean)."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._sum_loss = 0.0
        self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes the loss: shape () or [N]."""
        self._count(inputs, 1, 'loss')
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"Loss.update: loss must be a scalar or a vector, got shape {loss.shape}")
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self) -> float:
        """A float; RuntimeError when no loss was given."""
        if self._total_num == 0:
            raise self._no_samples()
        return self._sum_loss / self._total_num
