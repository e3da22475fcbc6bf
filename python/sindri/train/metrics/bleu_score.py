"""Agreement of a translation with reference translations."""
from typing import Any

from sindri import _checkparam as validator
from sindri import _core
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs


class BleuScore(CountedMetric):
    """BLEU with uniform weights over 1..n_gram grams and a brevity penalty. `smooth` adds one to hits and counts.
    ValueError unless n_gram is 1 to 4."""

    def __init__(self, n_gram: int = 4, smooth: bool = False):
        super().__init__()
        self.n_gram = validator.check_int_range(n_gram, 1, 4, validator.INC_BOTH, 'n_gram', 'BleuScore')
        self.smooth = validator.check_value_type('smooth', smooth, [bool], 'BleuScore')
        self._counter = _core.BleuScore(n_gram, smooth)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (candidates, references): a list of word lists, and for each of them a list of reference word lists."""
        self._count(inputs, 2, 'candidates, references')
        self._counter.update(*inputs)
