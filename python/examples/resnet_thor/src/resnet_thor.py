"""ResNet-50 v1.5 with the layers of thor_layer.py in place of Conv2d and Dense."""
from __future__ import annotations

from typing import Any, Callable

from sindri import Tensor, nn, ops

from .thor_layer import Conv2d_thor, Dense_thor

Conv = Callable[..., nn.Cell]


def _bn(channel: int, last: bool = False) -> nn.BatchNorm2d:
    """Creates a batch norm. The last one of a block starts with gamma 0, so that initially the block computes only its shortcut."""
    return nn.BatchNorm2d(channel, eps=1e-4, momentum=0.9, gamma_init="zeros" if last else "ones")


class ResidualBlock(nn.Cell):
    """1x1, 3x3 (with the stride) and 1x1 convolutions with a shortcut around them."""

    expansion = 4

    def __init__(self, conv: Conv, in_channel: int, out_channel: int, stride: int = 1) -> None:
        super().__init__()
        channel = out_channel // self.expansion
        self.conv1, self.bn1 = conv(in_channel, channel, 1), _bn(channel)
        self.conv2, self.bn2 = conv(channel, channel, 3, stride), _bn(channel)
        self.conv3, self.bn3 = conv(channel, out_channel, 1), _bn(out_channel, last=True)
        self.relu = nn.ReLU()
        self.down_sample_layer = None
        if stride != 1 or in_channel != out_channel:
            self.down_sample_layer = nn.SequentialCell([conv(in_channel, out_channel, 1, stride), _bn(out_channel)])

    def construct(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        identity = x if self.down_sample_layer is None else self.down_sample_layer(x)
        result: Tensor = self.relu(out + identity)
        return result


class ResNet(nn.Cell):
    """x [N, 3, H, W] -> logits [N, num_classes]. conv and dense create the layers. Raises ValueError for lists whose length is not 4."""

    def __init__(self, layer_nums: list[int], in_channels: list[int], out_channels: list[int], strides: list[int], num_classes: int, conv: Conv,
                 dense: Conv) -> None:
        super().__init__()
        if not len(layer_nums) == len(in_channels) == len(out_channels) == len(strides) == 4:
            raise ValueError("layer_nums, in_channels, out_channels and strides must have 4 entries | ResNet")
        self.conv1, self.bn1, self.relu = conv(3, 64, 7, 2), _bn(64), nn.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        stages = []
        for count, in_channel, out_channel, stride in zip(layer_nums, in_channels, out_channels, strides):
            blocks = [ResidualBlock(conv, in_channel, out_channel, stride)]
            blocks += [ResidualBlock(conv, out_channel, out_channel) for _ in range(count - 1)]
            stages.append(nn.SequentialCell(blocks))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.mean = ops.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.end_point = dense(out_channels[3], num_classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        logits: Tensor = self.end_point(self.flatten(self.mean(x, (2, 3))))
        return logits


def resnet50(class_num: int = 1000, damping: Any = 0.03, loss_scale: float = 1.0, frequency: int = 278, batch_size: int = 32) -> ResNet:
    """Creates ResNet-50 for THOR. damping: a number, or a Tensor with one value per step; for the other arguments see thor_layer.Settings."""
    more = {"damping": damping, "loss_scale": float(loss_scale), "frequency": frequency, "batch_size": batch_size}
    return ResNet([3, 4, 6, 3], [64, 256, 512, 1024], [256, 512, 1024, 2048], [1, 2, 2, 2], class_num,
                  lambda i, o, kernel, stride=1: Conv2d_thor(i, o, kernel, stride, **more), lambda i, o: Dense_thor(i, o, **more))
