"""Occlusion sensitivity: the parts of an image on which a classification depends."""
from typing import Any, List, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.train.metrics.metric import Metric, rearrange_inputs


class OcclusionSensitivity(Metric):
    """Decrease of a class's score when the surroundings of each point of an image are covered.

    Args:
        pad_val (float): The value of covered pixels. Default: 0.0.
        margin (int, list, tuple): The pixels covered on each side of a point. Default: 2.
        n_batch (int): The number of covered images in a batch. Default: 128.
        b_box (list): [min1, max1, min2, max2, …], the box of the points. Default: None, the whole image.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `n_batch` is below 1.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(4, 2, 'ones', 'zeros'))
        >>> metric = nn.OcclusionSensitivity(margin=1)
        >>> print(metric(net, np.ones((1, 2, 2), np.float32), 0))
        [[1. 2.]
         [2. 4.]]
    """

    def __init__(self, pad_val: float = 0.0, margin: Any = 2, n_batch: int = 128, b_box: Optional[List[int]] = None):
        super().__init__()
        place = 'OcclusionSensitivity'
        self.pad_val = validator.check_value_type('pad_val', pad_val, [float], place)
        self.margin = validator.check_value_type('margin', margin, [int, list, tuple], place)
        self.n_batch = validator.check_positive_int(n_batch, 'n_batch', place)
        self.b_box = b_box if b_box is None else validator.check_value_type('b_box', b_box, [list], place)
        self.clear()

    def clear(self) -> None:
        self._baseline = 0.0
        self._sensitivity_im: Any = 0
        self._is_update = False

    def _box(self, shape: tuple) -> tuple:
        """Returns the first and the one-past-last point per axis."""
        if self.b_box is None:
            return np.zeros(len(shape), int), np.array(shape)
        if len(self.b_box) != 2 * len(shape):
            raise ValueError(f"OcclusionSensitivity: 'b_box' needs {2 * len(shape)} numbers for images of shape {shape}, got {len(self.b_box)}")
        low, high = np.array(self.b_box[::2]), np.array(self.b_box[1::2])
        low[low < 0] = 0
        high = np.where(high < 0, np.array(shape) - 1, high)
        if (high >= np.array(shape)).any() or (low > high).any():
            raise ValueError(f"OcclusionSensitivity: 'b_box' {self.b_box} must rise and lie inside the image {shape}")
        return low, high + 1

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Computes the sensitivity of one image.

        Args:
            *inputs: (network, image [1, ...], label).

        Raises:
            TypeError: If `network` is not a Cell.
            ValueError: If the box does not lie inside the image.
            RuntimeError: If there is not exactly one image and label.
        """
        self._count(inputs, 3, 'network, image, label')
        network = validator.check_value_type('network', inputs[0], [Cell], 'OcclusionSensitivity')
        image = self._convert_data(inputs[1])
        labels = np.array(inputs[2]) if isinstance(inputs[2], int) else self._convert_data(inputs[2])
        if image.shape[0] != 1:
            raise RuntimeError(f'OcclusionSensitivity.update: one image at a time, got {image.shape[0]}')
        if labels.size != 1:
            raise RuntimeError(f'OcclusionSensitivity.update: one label is needed, got {labels.size}')
        label = int(labels.reshape(-1)[0])
        shape = image.shape[1:]
        low, high = self._box(shape)
        margin = [self.margin] * len(shape) if isinstance(self.margin, int) else list(self.margin)
        self._baseline = network(Tensor(image)).asnumpy()[0, label].item()
        points = list(np.ndindex(*(high - low)))
        scores = []
        for start in range(0, len(points), self.n_batch):
            chunk = points[start:start + self.n_batch]
            covered = np.repeat(image, len(chunk), axis=0)
            for row, offset in enumerate(chunk):
                at = np.array(offset) + low
                covered[(row,) + tuple(slice(max(0, p - m), min(n, p + m)) for p, m, n in zip(at, margin, shape))] = self.pad_val
            scores.append(network(Tensor(covered)).asnumpy()[:, label])
        self._sensitivity_im = np.concatenate(scores).reshape(tuple(high - low))
        self._is_update = True

    def eval(self) -> np.ndarray:
        """Returns the sensitivity of the points in the box, without axes of length 1.

        Returns:
            numpy.ndarray.

        Raises:
            RuntimeError: Before `update`.
        """
        if not self._is_update:
            raise self._no_samples()
        return self._baseline - np.squeeze(self._sensitivity_im)
