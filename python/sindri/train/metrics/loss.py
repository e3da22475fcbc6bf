"""Mean of the losses of the batches."""
from typing import Any, Optional

from sindri.train.metrics.metric import CountedMetric


class Loss(CountedMetric):
    """Mean of losses, each one number or a vector, which counts as its mean. update() counts each call once, as MindSpore does. Model.eval weighs
    each batch with its samples, and adds up losses that are sums, so that the result does not depend on the batch size."""

    _takes = 'loss'

    def __init__(self) -> None:
        super().__init__()
        self._count_by('loss')

    def _add(self, loss: Any, weight: Optional[float]) -> None:
        """A batch whose loss counts `weight` times; None: the loss is a sum."""
        self._counter.add_loss(self._convert_data(loss), weight)
