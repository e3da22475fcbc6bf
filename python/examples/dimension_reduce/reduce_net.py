"""A small residual network, and the data of both stages: images in class folders, or the handwritten digits that come with Sindri."""
from __future__ import annotations

import os
from typing import Any

import sindri as ms
from sindri import nn, ops
from sindri.communication import get_group_size, get_rank, init
from sindri.dataset import Dataset, DigitsDataset, ImageFolderDataset, vision


class ReduceBlock(nn.Cell):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.down = nn.SequentialCell([nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)]) if stride > 1 else None

    def construct(self, x: Any) -> Any:
        y = self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x)))))
        return ops.relu(y + (x if self.down is None else self.down(x)))


class ReduceNet(nn.Cell):
    """[N, channels, H, W] -> [N, classes]."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.stem, self.bn = nn.Conv2d(channels, 16, 3), nn.BatchNorm2d(16)
        self.blocks = nn.SequentialCell([ReduceBlock(16, 16, 1), ReduceBlock(16, 32, 2), ReduceBlock(32, 64, 2)])
        self.end = nn.Dense(64, classes)

    def construct(self, x: Any) -> Any:
        return self.end(ops.reduce_mean(self.blocks(ops.relu(self.bn(self.stem(x)))), (2, 3)))


def join(distribute: bool) -> tuple[int, int, dict[str, int]]:
    """Seed and mode; (rank, ranks, this rank's share of a data set)."""
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    if not distribute:
        return 0, 1, {}
    init()
    ms.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    return get_rank(), get_group_size(), {"num_shards": get_group_size(), "shard_id": get_rank()}


def data_and_net(path: str, batch_size: int, **shard: Any) -> tuple[Dataset, Dataset, ReduceNet]:
    """(training data, test data, network). path: a folder with train/ and test/ class folders of 32x32 images; empty: digits. shard: num_shards, shard_id."""
    if not path:
        def digits(usage: str, **more: Any) -> Dataset:
            return DigitsDataset(usage=usage, **more).map([vision.Rescale(1 / 16, 0), vision.HWC2CHW()], "image")
        return digits("train", **shard).batch(batch_size, drop_remainder=True), digits("test").batch(32), ReduceNet(1, 10)
    mean, std = [125.3, 123.0, 113.9], [63.0, 62.1, 66.7]
    ends = [vision.Normalize(mean, std), vision.HWC2CHW()]
    train = ImageFolderDataset(os.path.join(path, "train"), shuffle=True, **shard).map([vision.RandomCropDecodeResize(32, (0.7, 1.0)), vision.RandomHorizontalFlip(), *ends], "image")
    test = ImageFolderDataset(os.path.join(path, "test"), shuffle=False).map([vision.Decode(), *ends], "image")
    classes = len(os.listdir(os.path.join(path, "train")))
    return train.batch(batch_size, drop_remainder=True), test.batch(500), ReduceNet(3, classes)
