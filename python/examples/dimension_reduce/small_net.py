"""A small residual network (`--net small`) and the bundled handwritten digits (`--data_path digits`), for quick tests of both stages."""
from __future__ import annotations

from typing import Any

import sindri as ms
from sindri import nn, ops
from sindri.communication import get_group_size, get_rank
from sindri.dataset import Dataset, DigitsDataset, vision


class SmallBlock(nn.Cell):
    """Two 3x3 convolutions with a shortcut around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.down = nn.SequentialCell([nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)]) if stride > 1 else None

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        y = self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x)))))
        out: ms.Tensor = ops.relu(y + (x if self.down is None else self.down(x)))
        return out


class SmallNet(nn.Cell):
    """x [N, channels, H, W] -> logits [N, class_num], for images of 8x8 pixels or more."""

    def __init__(self, channels: int, class_num: int) -> None:
        super().__init__()
        self.stem, self.bn = nn.Conv2d(channels, 16, 3), nn.BatchNorm2d(16)
        self.blocks = nn.SequentialCell([SmallBlock(16, 16, 1), SmallBlock(16, 32, 2), SmallBlock(32, 64, 2)])
        self.end = nn.Dense(64, class_num)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        out: ms.Tensor = self.end(ops.reduce_mean(self.blocks(ops.relu(self.bn(self.stem(x)))), (2, 3)))
        return out


def create_digits(do_train: bool, batch_size: int) -> Dataset:
    """Returns batches of digits [N, 1, 8, 8]. For training they are full batches of this rank's shard."""
    shard: dict[str, Any] = {"num_shards": get_group_size(), "shard_id": get_rank()} if do_train else {}
    data = DigitsDataset(usage="train" if do_train else "test", **shard).map([vision.Rescale(1 / 16, 0), vision.HWC2CHW()], "image")
    return data.batch(batch_size, drop_remainder=do_train)
