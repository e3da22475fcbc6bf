"""Distances between the surfaces of two masks: Hausdorff, mean, root mean square."""
from typing import Any, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri.train.metrics.metric import CountedMetric, rearrange_inputs

_METRICS = ['euclidean', 'chessboard', 'taxicab']


class _SurfaceMetric(CountedMetric):
    """Base of surface metrics. `update` receives (prediction, truth, label); the masks are where the arrays equal `label`. The result is that of the
    last update, infinity if a surface is empty."""

    _takes = 'prediction, truth, label'

    def _measure_by(self, rule: str, distance_metric: str, **settings: Any) -> None:
        self.distance_metric = validator.check_string(distance_metric, _METRICS, 'distance_metric', type(self).__name__)
        self._count_by(rule, distance_metric=distance_metric, **settings)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Sets the masks.

        Args:
            *inputs: (prediction, truth, label).

        Raises:
            TypeError: If `label` is not a number.
        """
        self._count(inputs, 3, self._takes)
        if not isinstance(inputs[2], (int, float)):
            raise TypeError(f'{type(self).__name__}.update: label must be int or float, got {type(inputs[2]).__name__}')
        self._counter.update(*map(self._convert_data, inputs[:2]), np.array(inputs[2]))


class HausdorffDistance(_SurfaceMetric):
    """Hausdorff distance: the largest distance of a surface point of the prediction to the truth's surface; called with (prediction, truth, label).

    Args:
        distance_metric (str): 'euclidean', 'chessboard' or 'taxicab'. Default: 'euclidean'.
        percentile (float): A percentile of the distances instead of the largest. Default: None.
        directed (bool): Whether to return this direction only instead of the larger of both. Default: False.
        crop (bool): Whether to process only the box around both masks. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `distance_metric` is unknown.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> a, b = np.zeros((5, 5)), np.zeros((5, 5))
        >>> a[1, 1] = b[1, 4] = 1
        >>> nn.HausdorffDistance()(a, b, 1)
        3.0
    """

    def __init__(self, distance_metric: str = 'euclidean', percentile: Optional[float] = None, directed: bool = False, crop: bool = True):
        super().__init__()
        place = 'HausdorffDistance'
        self.percentile = percentile if percentile is None else validator.check_value_type('percentile', percentile, [float], place)
        self.directed = validator.check_value_type('directed', directed, [bool, type(None)], place)
        self.crop = validator.check_value_type('crop', crop, [bool, type(None)], place)
        self._measure_by('hausdorff_distance', distance_metric, percentile=percentile or 100.0, directed=bool(directed), crop=bool(crop))


class MeanSurfaceDistance(_SurfaceMetric):
    """Mean distance of the prediction's surface points to the truth's surface; called with (prediction, truth, label).

    Args:
        symmetric (bool): Whether to return the mean of both directions. Default: False.
        distance_metric (str): 'euclidean', 'chessboard' or 'taxicab'. Default: 'euclidean'.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `distance_metric` is unknown.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> a, b = np.zeros((5, 5)), np.zeros((5, 5))
        >>> a[1, 1] = b[1, 4] = 1
        >>> nn.MeanSurfaceDistance()(a, b, 1)
        3.0
    """

    _rule = 'mean_surface_distance'

    def __init__(self, symmetric: bool = False, distance_metric: str = 'euclidean'):
        super().__init__()
        self.symmetric = validator.check_value_type('symmetric', symmetric, [bool], type(self).__name__)
        self._measure_by(self._rule, distance_metric, symmetric=symmetric)


class RootMeanSquareDistance(MeanSurfaceDistance):
    """Root mean square distance between surfaces; called with (prediction, truth, label).

    As in MindSpore, the root is taken only if `symmetric`; otherwise the mean square of one direction is returned.

    Args:
        symmetric (bool): Whether to use both directions. Default: False.
        distance_metric (str): 'euclidean', 'chessboard' or 'taxicab'. Default: 'euclidean'.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `distance_metric` is unknown.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> a, b = np.zeros((5, 5)), np.zeros((5, 5))
        >>> a[1, 1] = b[1, 4] = 1
        >>> nn.RootMeanSquareDistance(symmetric=True)(a, b, 1)
        3.0
    """

    _rule = 'root_mean_square_distance'
