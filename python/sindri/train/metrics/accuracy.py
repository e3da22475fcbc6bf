"""Share of right answers."""
from typing import Any

from sindri.train.metrics.metric import EvaluationBase, rearrange_inputs


class Accuracy(EvaluationBase):
    """Right answers / samples. 'classification': prediction [N, C], truth [N] class indices or [N, C] one-hot. 'multilabel': 0/1 arrays of
    equal shape, a sample is right when its whole row is."""

    def __init__(self, eval_type: str = 'classification'):
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._correct_num = 0
        self._total_num = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (prediction, truth); ValueError when shapes do not fit or the number of classes changes."""
        y_pred, y = self._checked(inputs)
        if self._class_num not in (0, y_pred.shape[1]):
            raise ValueError(f"Accuracy.update: prediction has {y_pred.shape[1]} classes, earlier batches had {self._class_num}")
        self._class_num = y_pred.shape[1]
        if self._type == 'classification':
            right = (y_pred.argmax(axis=1) == y).reshape(-1)
        else:
            right = (y_pred == y).swapaxes(1, y.ndim - 1).reshape(-1, y.shape[1]).all(axis=1)
        self._correct_num += int(right.sum())
        self._total_num += right.shape[0]

    def eval(self) -> float:
        """A float; RuntimeError without samples."""
        if self._total_num == 0:
            raise self._no_samples()
        return self._correct_num / self._total_num
