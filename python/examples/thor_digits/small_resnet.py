"""A residual network for 8x8 digits with configurable layer types: three blocks of 16, 32 and 64 channels."""
from __future__ import annotations

from typing import Any, Callable

from sindri import nn, ops
from sindri.dataset import Dataset, DigitsDataset, vision


class Block(nn.Cell):
    """Two 3x3 convolutions with a shortcut around them."""

    def __init__(self, conv: Callable[..., nn.Cell], inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3, 1), nn.BatchNorm2d(outputs)
        self.down = nn.SequentialCell([conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)]) if stride > 1 else None
        self.relu = nn.ReLU()

    def construct(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.down is None else self.down(x)))


class SmallResNet(nn.Cell):
    """[N, 1, 8, 8] -> [N, 10]. conv(inputs, outputs, kernel, stride) and dense(inputs, outputs) create its layers."""

    def __init__(self, conv: Callable[..., nn.Cell], dense: Callable[..., nn.Cell]) -> None:
        super().__init__()
        self.stem, self.bn, self.relu = conv(1, 16, 3, 1), nn.BatchNorm2d(16), nn.ReLU()
        self.blocks = nn.SequentialCell([Block(conv, 16, 16, 1), Block(conv, 16, 32, 2), Block(conv, 32, 64, 2)])
        self.end = dense(64, 10)

    def construct(self, x: Any) -> Any:
        return self.end(ops.reduce_mean(self.blocks(self.relu(self.bn(self.stem(x)))), (2, 3)))


def digits(usage: str, batch_size: int, **more: Any) -> Dataset:
    """Returns batches of the bundled handwritten digits."""
    data = DigitsDataset(usage=usage, **more).map([vision.Rescale(1 / 16, 0), vision.HWC2CHW()], "image")
    return data.batch(batch_size, drop_remainder=usage == "train")
