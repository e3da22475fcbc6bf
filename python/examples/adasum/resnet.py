"""The network of the example and its evaluation on several ranks."""
from __future__ import annotations

import os
import sys
from typing import Any

# The models library: python/examples/resnet.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
from src.resnet import ResNet, resnet50  # noqa: E402

import sindri as ms  # noqa: E402
from sindri import nn, ops  # noqa: E402


def resnet(num_classes: int = 1001) -> ResNet:
    """ResNet-50 as the models library builds it."""
    return resnet50(num_classes=num_classes)


class SmallNet(nn.Cell):
    """x [N, 3, H, W] -> logits [N, num_classes]: two convolutions, for quick tests."""

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 2), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 32, 3, 2), nn.BatchNorm2d(32)
        self.end_point = nn.Dense(32, num_classes)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        x = ops.relu(self.bn1(self.conv1(x)))
        x = ops.relu(self.bn2(self.conv2(x)))
        logits: ms.Tensor = self.end_point(ops.reduce_mean(x, (2, 3)))
        return logits


class ClassifyCorrectCell(nn.Cell):
    """(images, labels) -> (number of correct predictions, number of images), each summed over all ranks."""

    def __init__(self, network: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self._network = network
        self.allreduce = ops.AllReduce(ops.ReduceOp.SUM)

    def construct(self, data: ms.Tensor, label: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
        right = ops.equal(ops.argmax(self._network(data), 1).astype(ms.int32), label).astype(ms.float32)
        return self.allreduce(right.sum()), self.allreduce(ops.ones_like(right).sum())


class DistAccuracy(nn.Metric):
    """Fraction of correct predictions, from the counts of ClassifyCorrectCell."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Resets the counts."""
        self._right, self._images = 0.0, 0.0

    def update(self, *inputs: Any) -> None:
        """Adds the counts of one batch."""
        self._right += float(inputs[0].asnumpy())
        self._images += float(inputs[1].asnumpy())

    def eval(self) -> float:
        """Returns the fraction. Raises RuntimeError if no images were counted."""
        if not self._images:
            raise RuntimeError("DistAccuracy: no image was evaluated")
        return self._right / self._images
