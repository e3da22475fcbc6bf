"""Similarity of the rows of a matrix."""
from typing import Any

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import Metric, rearrange_inputs


class CosineSimilarity(Metric):
    """Products [N, N] of the rows of the last input [N, D].

    Args:
        similarity (str): 'cosine' normalises the rows, 'dot' does not. Default: 'cosine'.
        reduction (str): 'none', 'sum' or 'mean' over the last axis. Default: 'none'.
        zero_diagonal (bool): Whether a row's similarity with itself is set to 0. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a choice is unknown.

    Examples:
        >>> import numpy as np
        >>> from sindri.train.metrics import CosineSimilarity
        >>> print(CosineSimilarity()(np.array([[3.0, 4.0], [4.0, 3.0]])))
        [[0.   0.96]
         [0.96 0.  ]]
    """

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
        """Sets the matrix.

        Args:
            *inputs: One matrix [N, D].
        """
        self._count(inputs, 1, 'matrix')
        x = self._convert_data(inputs[0])
        if self.similarity == 'cosine':
            x = x / np.linalg.norm(x, ord=2, axis=1, keepdims=True)
        self.sqr_mtx_res = x @ x.T
        self._is_update = True

    def eval(self) -> np.ndarray:
        """Returns the products, [N, N], or [N] if reduced.

        Returns:
            numpy.ndarray.

        Raises:
            RuntimeError: Before `update`.
        """
        if not self._is_update:
            raise self._no_samples()
        result = np.array(self.sqr_mtx_res)
        if self.zero_diagonal:
            np.fill_diagonal(result, 0)
        return result if self.reduction == 'none' else getattr(np, self.reduction)(result, axis=-1)
