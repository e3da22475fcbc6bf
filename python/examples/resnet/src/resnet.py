"""The ResNet family as Cells: residual blocks, the network, its usual sizes, and SE-ResNet-50.

variant 'mindspore': 'same' padding and batch norm eps 1e-4, as in MindSpore's scripts; 'torchvision': explicit padding and eps 1e-5, for torchvision's
weights (docs/guide/migration.md). Both have the parameter names of the networks in sindri.models.
"""
from __future__ import annotations

from typing import Any, Optional, Union

import sindri as ms
from sindri import nn, ops

from .initializers import kaiming_normal


class Style:
    """Creates the layers of a variant. Raises ValueError for an unknown variant."""

    def __init__(self, variant: str) -> None:
        if variant not in ("mindspore", "torchvision"):
            raise ValueError(f"variant '{variant}' is not known | resnet | use 'mindspore' or 'torchvision'")
        self.same, self.eps = variant == "mindspore", 1e-4 if variant == "mindspore" else 1e-5

    def conv(self, in_channel: int, out_channel: int, kernel: int, stride: int = 1) -> nn.Conv2d:
        """Creates a convolution without bias; its output has ceil(size / stride) rows. Unlike in PyTorch, the initial weight is an argument."""
        weight = ms.Tensor(kaiming_normal((out_channel, in_channel, kernel, kernel), mode="fan_out", nonlinearity="relu"))
        padding = {"pad_mode": "same"} if self.same else {"pad_mode": "pad", "padding": kernel // 2}
        return nn.Conv2d(in_channel, out_channel, kernel_size=kernel, stride=stride, weight_init=weight, **padding)

    def norm(self, channel: int, last: bool = False) -> nn.BatchNorm2d:
        """Creates a batch norm. The momentum is the weight of the old value: 0.9 here is 0.1 in PyTorch. `last`: gamma starts at 0."""
        return nn.BatchNorm2d(channel, eps=self.eps, momentum=0.9, gamma_init="zeros" if last else "ones")

    def dense(self, in_channel: int, out_channel: int) -> nn.Dense:
        """Creates a dense layer. The initializer None is that of PyTorch's Linear: U(-1/sqrt(in), 1/sqrt(in)) for weight and bias."""
        return nn.Dense(in_channel, out_channel, weight_init=None, bias_init=None)

    def max_pool(self, kernel: int = 3) -> nn.MaxPool2d:
        """Creates a max pooling with stride 2."""
        if self.same or kernel == 2:
            return nn.MaxPool2d(kernel, 2, pad_mode="same")
        return nn.MaxPool2d(kernel, 2, pad_mode="pad", padding=kernel // 2)

    def shortcut(self, in_channel: int, out_channel: int, stride: int, pooled: bool = False) -> Optional[nn.SequentialCell]:
        """Creates the layers that convert a block's input to its output shape, or returns None if the shapes are equal."""
        if stride == 1 and in_channel == out_channel:
            return None
        if pooled and stride != 1:
            return nn.SequentialCell([self.max_pool(2), self.conv(in_channel, out_channel, 1), self.norm(out_channel)])
        return nn.SequentialCell([self.conv(in_channel, out_channel, 1, stride), self.norm(out_channel)])


class BasicBlock(nn.Cell):
    """Two 3x3 convolutions with a shortcut around them: ResNet-18 and -34."""

    expansion = 1

    def __init__(self, style: Style, in_channel: int, out_channel: int, stride: int = 1, zero_init: bool = False, reduction: int = 0,
                 pooled: bool = False) -> None:
        super().__init__()
        if reduction or pooled:
            raise ValueError("only Bottleneck has a squeeze-and-excitation form | BasicBlock")
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
    """1x1, 3x3 (with the stride) and 1x1 convolutions with a shortcut around them: ResNet-50, -101 and -152.

    reduction: weights the channels by a function of their means with out_channel // reduction hidden units; 0: no weighting. pooled: replaces a
    stride by 2x2 max pooling after the 3x3 convolution and before the shortcut's convolution.
    """

    expansion = 4

    def __init__(self, style: Style, in_channel: int, out_channel: int, stride: int = 1, zero_init: bool = False, reduction: int = 0,
                 pooled: bool = False) -> None:
        super().__init__()
        channel = out_channel // self.expansion
        self.conv1 = style.conv(in_channel, channel, 1)
        self.bn1 = style.norm(channel)
        self.pooled = pooled and stride != 1
        if self.pooled:
            self.e2 = nn.SequentialCell([style.conv(channel, channel, 3), style.norm(channel), nn.ReLU(), style.max_pool(2)])
        else:
            self.conv2 = style.conv(channel, channel, 3, stride)
            self.bn2 = style.norm(channel)
        self.conv3 = style.conv(channel, out_channel, 1)
        self.bn3 = style.norm(out_channel, last=zero_init)
        self.relu = nn.ReLU()
        self.reduction = reduction
        if reduction:
            self.se_dense_0 = style.dense(out_channel, out_channel // reduction)
            self.se_dense_1 = style.dense(out_channel // reduction, out_channel)
            self.sigmoid = nn.Sigmoid()
        self.down_sample_layer = style.shortcut(in_channel, out_channel, stride, pooled)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.e2(y) if self.pooled else self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.reduction:
            weights = self.sigmoid(self.se_dense_1(self.relu(self.se_dense_0(ops.reduce_mean(y, (2, 3))))))
            y = y * ops.reshape(weights, weights.shape + (1, 1))
        identity = self.down_sample_layer(x) if self.down_sample_layer is not None else x
        out: ms.Tensor = self.relu(y + identity)
        return out


ResidualBlock = Bottleneck  # the name in MindSpore's scripts
Block = Union[type[BasicBlock], type[Bottleneck]]


class ResNet(nn.Cell):
    """x [N, 3, H, W] -> logits [N, num_classes].

    stem 'imagenet': 7x7 convolution with stride 2 and max pooling, for 224x224 pixels; 'three_convs': three 3x3 convolutions and max pooling; 'cifar':
    one 3x3 convolution, for 32x32 pixels. squeeze (bottlenecks only) '': none; 'all': every block with reduction 16; 'zoo': the last block of stages 3
    and 4 with reduction 4, strides by pooling, as in MindSpore's SE-ResNet-50. PyTorch's AdaptiveAvgPool2d(1) is a mean over height and width here.
    Raises ValueError for other stems and variants, and for lists whose length is not 4.
    """

    def __init__(self, block: Block, layer_nums: list[int], in_channels: list[int], out_channels: list[int], strides: list[int], num_classes: int,
                 variant: str = "mindspore", stem: str = "imagenet", zero_init: bool = False, squeeze: str = "") -> None:
        super().__init__()
        if not len(layer_nums) == len(in_channels) == len(out_channels) == len(strides) == 4:
            raise ValueError("layer_nums, in_channels, out_channels and strides must have 4 entries | ResNet")
        style = Style(variant)
        self.stem = self._make_stem(style, stem)
        self.relu = nn.ReLU()
        self.maxpool = style.max_pool() if stem != "cifar" else None
        stages = []
        for index, (count, in_channel, out_channel, stride) in enumerate(zip(layer_nums, in_channels, out_channels, strides)):
            blocks: list[nn.Cell] = []
            for b in range(count):
                reduction = 16 if squeeze == "all" else 4 if squeeze == "zoo" and index >= 2 and b == count - 1 else 0
                blocks.append(block(style, in_channel if b == 0 else out_channel, out_channel, stride if b == 0 else 1, zero_init, reduction, squeeze == "zoo"))
            stages.append(nn.SequentialCell(blocks))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.mean = ops.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.end_point = style.dense(out_channels[3], num_classes)

    def _make_stem(self, style: Style, stem: str) -> int:
        """Adds the layers before the stages and returns their number of convolutions."""
        if stem == "three_convs":
            self.conv1_0, self.bn1_0 = style.conv(3, 32, 3, 2), style.norm(32)
            self.conv1_1, self.bn1_1 = style.conv(32, 32, 3), style.norm(32)
            self.conv1_2, self.bn1 = style.conv(32, 64, 3), style.norm(64)
            return 3
        if stem not in ("imagenet", "cifar"):
            raise ValueError(f"stem '{stem}' is not known | ResNet | use 'imagenet', 'three_convs' or 'cifar'")
        self.conv1 = style.conv(3, 64, 7, 2) if stem == "imagenet" else style.conv(3, 64, 3)
        self.bn1 = style.norm(64)
        return 1

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        if self.stem == 3:
            x = self.relu(self.bn1_0(self.conv1_0(x)))
            x = self.relu(self.bn1_1(self.conv1_1(x)))
            x = self.relu(self.bn1(self.conv1_2(x)))
        else:
            x = self.relu(self.bn1(self.conv1(x)))
        if self.maxpool is not None:
            x = self.maxpool(x)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        logits: ms.Tensor = self.end_point(self.flatten(self.mean(x, (2, 3))))
        return logits


def _make(block: Block, layer_nums: list[int], class_num: int, num_classes: Optional[int], **options: Any) -> ResNet:
    widths = [64 * block.expansion * 2**i for i in range(4)]
    return ResNet(block, layer_nums, [64] + widths[:3], widths, [1, 2, 2, 2], class_num if num_classes is None else num_classes, **options)


def resnet18(class_num: int = 1000, num_classes: Optional[int] = None, **options: Any) -> ResNet:
    """Creates ResNet-18. num_classes is another name for class_num; options: variant, stem, zero_init (see ResNet)."""
    return _make(BasicBlock, [2, 2, 2, 2], class_num, num_classes, **options)


def resnet34(class_num: int = 1000, num_classes: Optional[int] = None, **options: Any) -> ResNet:
    """Creates ResNet-34; arguments as for resnet18."""
    return _make(BasicBlock, [3, 4, 6, 3], class_num, num_classes, **options)


def resnet50(class_num: int = 1000, num_classes: Optional[int] = None, **options: Any) -> ResNet:
    """Creates ResNet-50; arguments as for resnet18."""
    return _make(Bottleneck, [3, 4, 6, 3], class_num, num_classes, **options)


def resnet101(class_num: int = 1000, num_classes: Optional[int] = None, **options: Any) -> ResNet:
    """Creates ResNet-101; arguments as for resnet18."""
    return _make(Bottleneck, [3, 4, 23, 3], class_num, num_classes, **options)


def resnet152(class_num: int = 1000, num_classes: Optional[int] = None, **options: Any) -> ResNet:
    """Creates ResNet-152; arguments as for resnet18."""
    return _make(Bottleneck, [3, 8, 36, 3], class_num, num_classes, **options)


def se_resnet50(class_num: int = 1000, num_classes: Optional[int] = None, variant: str = "mindspore", **options: Any) -> ResNet:
    """Creates SE-ResNet-50: MindSpore's form, or with variant 'torchvision' that of the paper, with squeeze-and-excitation in every block."""
    zoo = variant == "mindspore"
    options = {"stem": "three_convs" if zoo else "imagenet", **options}
    return _make(Bottleneck, [3, 4, 6, 3], class_num, num_classes, variant=variant, squeeze="zoo" if zoo else "all", **options)


resnet = resnet50  # the name by which MindSpore's samples import the configured network
NETS = {"resnet18": resnet18, "resnet34": resnet34, "resnet50": resnet50, "resnet101": resnet101, "resnet152": resnet152,
        "se-resnet50": se_resnet50}
