"""The layers of mindspore.mint.nn, with PyTorch's arguments, defaults, initial values and parameter names."""
from sindri.mint.nn.layer.activation import (ELU, GELU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LogSigmoid, LogSoftmax, Mish, PReLU, ReLU, ReLU6, SELU,
                                             SiLU, Sigmoid, Softmax, Tanh, Threshold)
from sindri.mint.nn.layer.basic import (Flatten, Fold, Identity, Linear, PixelShuffle, Unfold, Upsample, UpsamplingBilinear2d,
                                        UpsamplingNearest2d)
from sindri.mint.nn.layer.conv import Conv1d, Conv2d, Conv3d, ConvTranspose2d
from sindri.mint.nn.layer.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, SyncBatchNorm
from sindri.mint.nn.layer.padding import (ConstantPad1d, ConstantPad2d, ConstantPad3d, ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d,
                                          ReplicationPad2d, ReplicationPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d)
from sindri.mint.nn.layer.pooling import (AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AvgPool1d, AvgPool2d,
                                          AvgPool3d, MaxUnpool2d)

__all__ = ["ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU",
           "Sigmoid", "Softmax", "Tanh", "Threshold", "Flatten", "Fold", "Identity", "Linear", "PixelShuffle", "Unfold", "Upsample", "UpsamplingBilinear2d",
           "UpsamplingNearest2d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "SyncBatchNorm",
           "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
           "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxUnpool2d"]
