"""Layers: dense, convolution, normalisation, embedding, pooling, activations, containers.

Written by scripts/python_stubs.py; do not edit."""


from sindri.nn.layer import (
    activation as activation, basic as basic, combined as combined, container as container, conv as conv, conv3d as conv3d, embedding as embedding,
    image as image, math as math, normalization as normalization, padding as padding, pooling as pooling, rnns as rnns, thor_layer as thor_layer,
)
from sindri.nn.layer.activation import *
from sindri.nn.layer.basic import *
from sindri.nn.layer.combined import *
from sindri.nn.layer.container import *
from sindri.nn.layer.conv import *
from sindri.nn.layer.conv3d import *
from sindri.nn.layer.embedding import *
from sindri.nn.layer.image import *
from sindri.nn.layer.math import *
from sindri.nn.layer.normalization import *
from sindri.nn.layer.padding import *
from sindri.nn.layer.pooling import *
from sindri.nn.layer.rnns import *
from sindri.nn.layer.thor_layer import *

__all__ = [
    "CELU", "Softmin", "Softmax2d", "Softmax", "LogSoftmax", "ELU", "ReLU", "ReLU6", "LeakyReLU", "SeLU", "SiLU", "Tanh", "Tanhshrink", "Hardtanh",
    "GELU", "FastGelu", "Sigmoid", "Softsign", "PReLU", "HSwish", "HSigmoid", "LogSigmoid", "SoftShrink", "HShrink", "RReLU", "LRN", "Threshold",
    "Mish", "GLU", "get_activation", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "LayerNorm", "GroupNorm", "SequentialCell", "CellList", "CellDict", "Conv2d", "Conv2dTranspose", "Conv1d", "Conv1dTranspose",
    "LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Flatten", "Unflatten", "Identity",
    "Dense", "ClipByNorm", "Norm", "OneHot", "Pad", "Tril", "Triu", "Roll", "L1Regularizer", "BiDense", "Unfold", "Embedding", "EmbeddingLookup",
    "AvgPool2d", "MaxPool2d", "AvgPool1d", "MaxPool1d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "LPPool1d", "LPPool2d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "ReduceLogSumExp", "Range",
    "CosineSimilarity", "MatMul", "Moments", "MatInverse", "DenseThor", "Conv2dThor", "EmbeddingThor", "EmbeddingLookupThor", "Conv2dBnAct",
    "DenseBnAct", "CentralCrop", "ImageGradients", "SSIM", "MSSSIM", "PSNR", "ResizeBilinear", "PixelShuffle", "PixelUnshuffle", "ChannelShuffle",
    "Upsample", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "ZeroPad2d", "Conv3d", "Conv3dTranspose", "MaxPool3d", "AvgPool3d",
]
