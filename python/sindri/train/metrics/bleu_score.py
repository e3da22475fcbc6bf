"""BLEU: agreement of a translation with reference translations."""
from typing import Any

from sindri import _checkparam as validator
from sindri import _core
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs


class BleuScore(CountedMetric):
    """BLEU score with uniform weights over 1..n_gram grams and a brevity penalty.

    Args:
        n_gram (int): The largest length of a gram, 1 to 4. Default: 4.
        smooth (bool): Whether one is added to hits and counts. Default: False.

    Raises:
        TypeError: If `smooth` is not a bool.
        ValueError: If `n_gram` is not 1 to 4.

    Examples:
        >>> from sindri import nn
        >>> nn.BleuScore(n_gram=2)([['the', 'cat', 'sat']], [[['the', 'cat', 'sat']]])
        1.0
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False):
        super().__init__()
        self.n_gram = validator.check_int_range(n_gram, 1, 4, validator.INC_BOTH, 'n_gram', 'BleuScore')
        self.smooth = validator.check_value_type('smooth', smooth, [bool], 'BleuScore')
        self._counter = _core.BleuScore(n_gram, smooth)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Adds translations.

        Args:
            *inputs: (candidates, references): a list of word lists, and for each of them a list of reference word lists.
        """
        self._count(inputs, 2, 'candidates, references')
        self._counter.update(*inputs)
