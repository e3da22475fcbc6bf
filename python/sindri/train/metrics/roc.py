"""Receiver operating characteristic."""
from typing import Any, Dict, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs


class ROC(CountedMetric):
    """Receiver operating characteristic of the last batch: (false positive rates, true positive rates, thresholds).

    Scores of the truth's shape give one curve. Scores [N, C] with truth [N] give lists with one curve per class.

    Args:
        class_num (int): The number of classes C. Default: None.
        pos_label (int): The positive class of a single curve. Default: None, 1.

    Raises:
        TypeError: If an argument is not an int.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> fpr, tpr, thresholds = nn.ROC()(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
        >>> print(fpr, tpr)
        [0.  0.  0.5 0.5 1. ] [0.  0.5 0.5 1.  1. ]
    """

    _takes = 'scores, truth'

    def __init__(self, class_num: Optional[int] = None, pos_label: Optional[int] = None):
        super().__init__()
        self.class_num = class_num if class_num is None else validator.check_value_type('class_num', class_num, [int], 'ROC')
        self.pos_label = pos_label if pos_label is None else validator.check_value_type('pos_label', pos_label, [int], 'ROC')
        self._count_by('roc', class_num=1 if class_num is None else class_num, **({} if pos_label is None else {'pos_label': pos_label}))

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Sets the scores and the truth.

        Args:
            *inputs: (scores, truth).

        Raises:
            ValueError: If shapes, `class_num` and `pos_label` do not match.
        """
        scores, truth = self._pair(inputs)
        self.clear()
        self._counter.update(scores, truth)
        self._dtype = scores.dtype

    def eval(self) -> tuple:
        """Returns the curves.

        Returns:
            Three arrays, or three lists of arrays.

        Raises:
            RuntimeError: Before `update`.
            ValueError: If a class has no samples, or all samples.
        """
        self._check_counted()
        counts = self._counter.counts()
        if len(counts) < 3 * (self.class_num or 1):
            self._counter.eval()  # raises the error that names the class without a curve
        kinds: Dict[str, Any] = {'fpr': np.float64, 'tpr': np.float64, 'thresholds': self._dtype}
        parts = [[np.array(counts[f'{part}_{c}'], kind) for c in range(len(counts) // 3)] for part, kind in kinds.items()]
        return tuple(part if self.class_num not in (None, 1) else part[0] for part in parts)
