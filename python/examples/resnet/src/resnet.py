"""ResNet as Cells: residual blocks, the network, and its usual sizes.

variant 'mindspore': 'same' padding and batch norm eps 1e-4, as MindSpore's scripts; 'torchvision': explicit padding and eps 1e-5, for weights that
come from there (docs/guide/migration.md). Parameter names are the same in both, and those of the networks in sindri.models.
"""
from __future__ import annotations

from typing import Any, Optional, Union

import sindri as ms
from sindri import nn, ops

from .initializers import kaiming_normal


class Style:
    """How the layers of a variant are made. Raises ValueError for an unknown variant."""

    def __init__(self, variant: str) -> None:
        if variant not in ("mindspore", "torchvision"):
            raise ValueError(f"variant '{variant}' is not known | resnet | use 'mindspore' or 'torchvision'")
        self.same, self.eps = variant == "mindspore", 1e-4 if variant == "mindspore" else 1e-5

    def conv(self, in_channel: int, out_channel: int, kernel: int, stride: int = 1) -> nn.Conv2d:
        """A convolution without bias whose output has ceil(size / stride) rows. Unlike PyTorch's, its initial weight is given to it."""
        weight = ms.Tensor(kaiming_normal((out_channel, in_channel, kernel, kernel), mode="fan_out", nonlinearity="relu"))
        padding = {"pad_mode": "same"} if self.same else {"pad_mode": "pad", "padding": kernel // 2}
        return nn.Conv2d(in_channel, out_channel, kernel_size=kernel, stride=stride, weight_init=weight, **padding)

    def norm(self, channel: int, last: bool = False) -> nn.BatchNorm2d:
        """Batch norm. The momentum is the weight of the old value: 0.9 here is 0.1 in PyTorch. `last`: of a block whose branch starts at 0."""
        return nn.BatchNorm2d(channel, eps=self.eps, momentum=0.9, gamma_init="zeros" if last else "ones")

    def max_pool(self) -> nn.MaxPool2d:
        """3x3 with stride 2."""
        return nn.MaxPool2d(3, 2, pad_mode="same") if self.same else nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)

    def shortcut(self, in_channel: int, out_channel: int, stride: int) -> Optional[nn.SequentialCell]:
        """What fits the input to the branch's shape, or None where it fits."""
        if stride == 1 and in_channel == out_channel:
            return None
        return nn.SequentialCell([self.conv(in_channel, out_channel, 1, stride), self.norm(out_channel)])


class BasicBlock(nn.Cell):
    """Two 3x3 convolutions and a shortcut around them: ResNet-18 and -34."""

    expansion = 1

    def __init__(self, style: Style, in_channel: int, out_channel: int, stride: int = 1, zero_init: bool = False) -> None:
        super().__init__()
        self.conv1 = style.conv(in_channel, out_channel, 3, stride)
        self.bn1d = style.norm(out_channel)
        self.conv2 = style.conv(out_channel, out_channel, 3)
        self.bn2d = style.norm(out_channel, last=zero_init)
        self.relu = nn.ReLU()
        self.down_sample_layer = style.shortcut(in_channel, out_channel, stride)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        y = self.relu(self.bn1d(self.conv1(x)))
        y = self.bn2d(self.conv2(y))
        identity = self.down_sample_layer(x) if self.down_sample_layer is not None else x
        out: ms.Tensor = self.relu(y + identity)
        return out


class Bottleneck(nn.Cell):
    """1x1, 3x3 (which has the stride) and 1x1 convolutions and a shortcut around them: ResNet-50, -101 and -152."""

    expansion = 4

    def __init__(self, style: Style, in_channel: int, out_channel: int, stride: int = 1, zero_init: bool = False) -> None:
        super().__init__()
        channel = out_channel // self.expansion
        self.conv1 = style.conv(in_channel, channel, 1)
        self.bn1 = style.norm(channel)
        self.conv2 = style.conv(channel, channel, 3, stride)
        self.bn2 = style.norm(channel)
        self.conv3 = style.conv(channel, out_channel, 1)
        self.bn3 = style.norm(out_channel, last=zero_init)
        self.relu = nn.ReLU()
        self.down_sample_layer = style.shortcut(in_channel, out_channel, stride)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        identity = self.down_sample_layer(x) if self.down_sample_layer is not None else x
        out: ms.Tensor = self.relu(y + identity)
        return out


Block = Union[type[BasicBlock], type[Bottleneck]]


class ResNet(nn.Cell):
    """x [N, 3, H, W] -> logits [N, num_classes].

    stem 'imagenet': 7x7 convolution with stride 2 and max pooling, for sides of 224; 'cifar': one 3x3 convolution, for sides of 32. PyTorch's
    AdaptiveAvgPool2d(1) is a mean over height and width here. Raises ValueError for other stems, variants, and lists that are not of length 4.
    """

    def __init__(self, block: Block, layer_nums: list[int], in_channels: list[int], out_channels: list[int], strides: list[int], num_classes: int,
                 variant: str = "mindspore", stem: str = "imagenet", zero_init: bool = False) -> None:
        super().__init__()
        if not len(layer_nums) == len(in_channels) == len(out_channels) == len(strides) == 4:
            raise ValueError("layer_nums, in_channels, out_channels and strides must have 4 entries | ResNet")
        if stem not in ("imagenet", "cifar"):
            raise ValueError(f"stem '{stem}' is not known | ResNet | use 'imagenet' or 'cifar'")
        style = Style(variant)
        self.conv1 = style.conv(3, 64, 7, 2) if stem == "imagenet" else style.conv(3, 64, 3)
        self.bn1 = style.norm(64)
        self.relu = nn.ReLU()
        self.maxpool = style.max_pool() if stem == "imagenet" else None
        stages = []
        for count, in_channel, out_channel, stride in zip(layer_nums, in_channels, out_channels, strides):
            blocks: list[nn.Cell] = [block(style, in_channel, out_channel, stride, zero_init)]
            blocks += [block(style, out_channel, out_channel, 1, zero_init) for _ in range(count - 1)]
            stages.append(nn.SequentialCell(blocks))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.mean = ops.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        # None: PyTorch's initial values of a linear layer, U(-1/sqrt(in), 1/sqrt(in)) for weight and bias.
        self.end_point = nn.Dense(out_channels[3], num_classes, weight_init=None, bias_init=None)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        if self.maxpool is not None:
            x = self.maxpool(x)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        logits: ms.Tensor = self.end_point(self.flatten(self.mean(x, (2, 3))))
        return logits


def _make(block: Block, layer_nums: list[int], class_num: int, **options: Any) -> ResNet:
    widths = [64 * block.expansion * 2**i for i in range(4)]
    return ResNet(block, layer_nums, [64] + widths[:3], widths, [1, 2, 2, 2], class_num, **options)


def resnet18(class_num: int = 1000, **options: Any) -> ResNet:
    """ResNet-18; options: variant, stem, zero_init (see ResNet)."""
    return _make(BasicBlock, [2, 2, 2, 2], class_num, **options)


def resnet34(class_num: int = 1000, **options: Any) -> ResNet:
    """ResNet-34."""
    return _make(BasicBlock, [3, 4, 6, 3], class_num, **options)


def resnet50(class_num: int = 1000, **options: Any) -> ResNet:
    """ResNet-50."""
    return _make(Bottleneck, [3, 4, 6, 3], class_num, **options)


def resnet101(class_num: int = 1000, **options: Any) -> ResNet:
    """ResNet-101."""
    return _make(Bottleneck, [3, 4, 23, 3], class_num, **options)


NETS = {"resnet18": resnet18, "resnet34": resnet34, "resnet50": resnet50, "resnet101": resnet101}
