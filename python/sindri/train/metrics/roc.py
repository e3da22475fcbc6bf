"""Receiver operating characteristic."""
from typing import Any, Optional, Tuple

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, binary_curve, rearrange_inputs


class ROC(Metric):
    """(false positive rates, true positive rates, thresholds) of the last batch given. Scores shaped like the truth: one curve, positive
    class `pos_label` (default 1). Scores [N, C] with truth [N]: lists with one curve per class, `class_num` = C."""

    def __init__(self, class_num: Optional[int] = None, pos_label: Optional[int] = None):
        super().__init__()
        self.class_num = class_num if class_num is None else validator.check_value_type('class_num', class_num, [int], 'ROC')
        self.pos_label = pos_label if pos_label is None else validator.check_value_type('pos_label', pos_label, [int], 'ROC')
        self.clear()

    def clear(self) -> None:
        self.y_pred: Any = 0
        self.y: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (scores, truth); ValueError when shapes, class_num and pos_label do not go together."""
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim:
            if self.class_num not in (None, 1):
                raise ValueError(f"ROC.update: scores and truth have equal dimensions, so 'class_num' must be 1, got {self.class_num}")
            self.class_num = 1
            self.pos_label = 1 if self.pos_label is None else self.pos_label
            self.y_pred, self.y = y_pred.reshape(-1), y.reshape(-1)
        elif y_pred.ndim == y.ndim + 1:
            if self.pos_label is not None:
                raise ValueError("ROC.update: 'pos_label' must be None for scores of several classes")
            if self.class_num != y_pred.shape[1]:
                raise ValueError(f"ROC.update: 'class_num' must be the scores' class count {y_pred.shape[1]}, got {self.class_num}")
            self.y_pred, self.y = np.moveaxis(y_pred, 1, -1).reshape(-1, self.class_num), y.reshape(-1)
        else:
            raise ValueError(f"ROC.update: scores may have the truth's dimensions or one more, got {y_pred.shape} and {y.shape}")
        self._is_update = True

    @staticmethod
    def _curve(score: np.ndarray, truth: np.ndarray, positive: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        fps, tps, thresholds = binary_curve(score, truth, positive)
        # The curve starts at (0, 0), with a threshold above every score.
        fps, tps = np.concatenate(([0], fps)), np.concatenate(([0], tps))
        thresholds = np.concatenate((thresholds[:1] + 1, thresholds))
        if fps[-1] <= 0:
            raise ValueError('ROC.eval: no negative sample, so there is no false positive rate')
        if tps[-1] <= 0:
            raise ValueError('ROC.eval: no positive sample, so there is no true positive rate')
        return fps / fps[-1], tps / tps[-1], thresholds

    def eval(self) -> tuple:
        """Three arrays, or three lists of arrays; RuntimeError before update."""
        if not self._is_update:
            raise self._no_samples()
        if self.class_num == 1:
            return self._curve(self.y_pred, self.y, 1 if self.pos_label is None else self.pos_label)
        curves = [self._curve(self.y_pred[:, c], self.y, c) for c in range(self.y_pred.shape[1])]
        return tuple(list(part) for part in zip(*curves))
