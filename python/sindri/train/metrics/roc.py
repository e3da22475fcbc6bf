"""Receiver operating characteristic."""
from typing import Any, Dict, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs


class ROC(CountedMetric):
    """(false positive rates, true positive rates, thresholds) of the last batch given. Scores shaped like the truth: one curve, positive
    class `pos_label` (default 1). Scores [N, C] with truth [N]: lists with one curve per class, `class_num` = C."""

    _takes = 'scores, truth'

    def __init__(self, class_num: Optional[int] = None, pos_label: Optional[int] = None):
        super().__init__()
        self.class_num = class_num if class_num is None else validator.check_value_type('class_num', class_num, [int], 'ROC')
        self.pos_label = pos_label if pos_label is None else validator.check_value_type('pos_label', pos_label, [int], 'ROC')
        self._count_by('roc', class_num=1 if class_num is None else class_num, **({} if pos_label is None else {'pos_label': pos_label}))

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (scores, truth); ValueError when shapes, class_num and pos_label do not go together."""
        scores, truth = self._pair(inputs)
        self.clear()
        self._counter.update(scores, truth)
        self._dtype = scores.dtype

    def eval(self) -> tuple:
        """Three arrays, or three lists of arrays; RuntimeError before update, ValueError where a class has no samples, or all."""
        self._check_counted()
        counts = self._counter.counts()
        if len(counts) < 3 * (self.class_num or 1):
            self._counter.eval()  # says of what there is no curve
        kinds: Dict[str, Any] = {'fpr': np.float64, 'tpr': np.float64, 'thresholds': self._dtype}
        parts = [[np.array(counts[f'{part}_{c}'], kind) for c in range(len(counts) // 3)] for part, kind in kinds.items()]
        return tuple(part if self.class_num not in (None, 1) else part[0] for part in parts)
