"""Agreement of a translation with reference translations."""
from collections import Counter
from typing import Any, List

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, rearrange_inputs


def _ngrams(words: List[str], longest: int) -> Counter:
    return Counter(tuple(words[i:i + n]) for n in range(1, longest + 1) for i in range(len(words) - n + 1))


class BleuScore(Metric):
    """BLEU with uniform weights over 1..n_gram grams and a brevity penalty. `smooth` adds one to hits and counts.
    ValueError unless n_gram is 1 to 4."""

    def __init__(self, n_gram: int = 4, smooth: bool = False):
        super().__init__()
        self.n_gram = validator.check_int_range(n_gram, 1, 4, validator.INC_BOTH, 'n_gram', 'BleuScore')
        self.smooth = validator.check_value_type('smooth', smooth, [bool], 'BleuScore')
        self.clear()

    def clear(self) -> None:
        self._hits = np.zeros(self.n_gram)
        self._counts = np.zeros(self.n_gram)
        self._length = 0
        self._reference_length = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes (candidates, references): a list of word lists, and for each of them a list of reference word lists."""
        self._count(inputs, 2, 'candidates, references')
        candidates, references = inputs
        if len(candidates) != len(references):
            raise ValueError(f"BleuScore.update: as many candidates as lists of references are needed, got {len(candidates)} and {len(references)}")
        for words, refs in zip(candidates, references):
            self._length += len(words)
            self._reference_length += min((abs(len(words) - len(r)), i, len(r)) for i, r in enumerate(refs))[2]
            found = _ngrams(words, self.n_gram)
            allowed: Counter = Counter()
            for r in refs:
                allowed |= _ngrams(r, self.n_gram)
            for gram, count in (found & allowed).items():
                self._hits[len(gram) - 1] += count
            for gram, count in found.items():
                self._counts[len(gram) - 1] += count
        self._is_update = True

    def eval(self) -> float:
        """A float, 0 when some length of gram never hit; RuntimeError before update."""
        if not self._is_update:
            raise self._no_samples()
        if self._hits.min() == 0:
            return 0.0
        add = 1 if self.smooth else 0
        mean = np.exp(np.log((self._hits + add) / (self._counts + add)).sum() / self.n_gram)
        penalty = 1.0 if self._length > self._reference_length else np.exp(1 - self._reference_length / self._length)
        return float(penalty * mean)
