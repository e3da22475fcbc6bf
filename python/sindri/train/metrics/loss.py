"""Mean of the losses of batches."""
from typing import Any, Optional

from sindri.train.metrics.metric import CountedMetric


class Loss(CountedMetric):
    """Mean of losses; a vector counts as its mean.

    `update` counts each call once, as MindSpore does. Model.eval weights each batch by its samples, and sums losses that are sums, so that the result
    does not depend on the batch size.

    Examples:
        >>> import sindri as ms
        >>> metric = ms.nn.Loss()
        >>> metric.update(ms.Tensor(2.0)), metric.update(ms.Tensor(4.0))
        (None, None)
        >>> metric.eval()
        3.0
    """

    _takes = 'loss'

    def __init__(self) -> None:
        super().__init__()
        self._count_by('loss')

    def _add(self, loss: Any, weight: Optional[float]) -> None:
        """Adds a batch whose loss counts `weight` times; None: the loss is a sum."""
        self._counter.add_loss(self._convert_data(loss), weight)
