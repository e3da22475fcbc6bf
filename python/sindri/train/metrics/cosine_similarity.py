"""Similarity of the rows of a matrix."""
from typing import Any

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, rearrange_inputs


class CosineSimilarity(Metric):
    """[N, N] products of the rows of the last [N, D] input, normalised when similarity='cosine'; `reduction` over the last axis;
    `zero_diagonal` sets a row's similarity with itself to 0."""

    def __init__(self, similarity: str = 'cosine', reduction: str = 'none', zero_diagonal: bool = True):
        super().__init__()
        self.similarity = validator.check_string(similarity, ['dot', 'cosine'], 'similarity', 'CosineSimilarity')
        self.reduction = validator.check_string(reduction, ['none', 'sum', 'mean'], 'reduction', 'CosineSimilarity')
        self.zero_diagonal = validator.check_value_type('zero_diagonal', zero_diagonal, [bool], 'CosineSimilarity')
        self.clear()

    def clear(self) -> None:
        self.sqr_mtx_res: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes one matrix [N, D]."""
        self._count(inputs, 1, 'matrix')
        x = self._convert_data(inputs[0])
        if self.similarity == 'cosine':
            x = x / np.linalg.norm(x, ord=2, axis=1, keepdims=True)
        self.sqr_mtx_res = x @ x.T
        self._is_update = True

    def eval(self) -> np.ndarray:
        """[N, N], or [N] when reduced; RuntimeError before update."""
        if not self._is_update:
            raise self._no_samples()
        result = np.array(self.sqr_mtx_res)
        if self.zero_diagonal:
            np.fill_diagonal(result, 0)
        return result if self.reduction == 'none' else getattr(np, self.reduction)(result, axis=-1)
