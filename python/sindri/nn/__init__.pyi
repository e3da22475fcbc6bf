"""Networks: Cells, layers, losses, optimizers, schedules and training cells.

Written by scripts/python_stubs.py; do not edit."""

from sindri.nn.optim.thor import thor as thor
from sindri.train.metrics.auc import auc as auc

from sindri.nn import (
    cell as cell, dynamic_lr as dynamic_lr, layer as layer, learning_rate_schedule as learning_rate_schedule, loss as loss, optim as optim,
    wrap as wrap,
)
from sindri.nn.cell import Cell as Cell, GraphCell as GraphCell
from sindri.nn.dynamic_lr import *
from sindri.nn.layer import (
    CELU as CELU, Softmin as Softmin, Softmax2d as Softmax2d, Softmax as Softmax, LogSoftmax as LogSoftmax, ELU as ELU, ReLU as ReLU, ReLU6 as ReLU6,
    LeakyReLU as LeakyReLU, SeLU as SeLU, SiLU as SiLU, Tanh as Tanh, Tanhshrink as Tanhshrink, Hardtanh as Hardtanh, GELU as GELU,
    FastGelu as FastGelu, Sigmoid as Sigmoid, Softsign as Softsign, PReLU as PReLU, HSwish as HSwish, HSigmoid as HSigmoid, LogSigmoid as LogSigmoid,
    SoftShrink as SoftShrink, HShrink as HShrink, RReLU as RReLU, LRN as LRN, Threshold as Threshold, Mish as Mish, GLU as GLU,
    get_activation as get_activation, BatchNorm1d as BatchNorm1d, BatchNorm2d as BatchNorm2d, BatchNorm3d as BatchNorm3d,
    SyncBatchNorm as SyncBatchNorm, InstanceNorm1d as InstanceNorm1d, InstanceNorm2d as InstanceNorm2d, InstanceNorm3d as InstanceNorm3d,
    LayerNorm as LayerNorm, GroupNorm as GroupNorm, SequentialCell as SequentialCell, CellList as CellList, CellDict as CellDict, Conv2d as Conv2d,
    Conv2dTranspose as Conv2dTranspose, Conv1d as Conv1d, Conv1dTranspose as Conv1dTranspose, LSTM as LSTM, GRU as GRU, RNN as RNN,
    LSTMCell as LSTMCell, GRUCell as GRUCell, RNNCell as RNNCell, Dropout as Dropout, Dropout1d as Dropout1d, Dropout2d as Dropout2d,
    Dropout3d as Dropout3d, Flatten as Flatten, Unflatten as Unflatten, Identity as Identity, Dense as Dense, ClipByNorm as ClipByNorm, Norm as Norm,
    OneHot as OneHot, Pad as Pad, Tril as Tril, Triu as Triu, Roll as Roll, L1Regularizer as L1Regularizer, BiDense as BiDense, Unfold as Unfold,
    Embedding as Embedding, EmbeddingLookup as EmbeddingLookup, AvgPool2d as AvgPool2d, MaxPool2d as MaxPool2d, AvgPool1d as AvgPool1d,
    MaxPool1d as MaxPool1d, AdaptiveAvgPool1d as AdaptiveAvgPool1d, AdaptiveAvgPool2d as AdaptiveAvgPool2d, AdaptiveAvgPool3d as AdaptiveAvgPool3d,
    AdaptiveMaxPool1d as AdaptiveMaxPool1d, AdaptiveMaxPool2d as AdaptiveMaxPool2d, AdaptiveMaxPool3d as AdaptiveMaxPool3d, LPPool1d as LPPool1d,
    LPPool2d as LPPool2d, MaxUnpool1d as MaxUnpool1d, MaxUnpool2d as MaxUnpool2d, MaxUnpool3d as MaxUnpool3d, ReduceLogSumExp as ReduceLogSumExp,
    Range as Range, MatMul as MatMul, Moments as Moments, MatInverse as MatInverse, DenseThor as DenseThor, Conv2dThor as Conv2dThor,
    EmbeddingThor as EmbeddingThor, EmbeddingLookupThor as EmbeddingLookupThor, Conv2dBnAct as Conv2dBnAct, DenseBnAct as DenseBnAct,
    CentralCrop as CentralCrop, ImageGradients as ImageGradients, SSIM as SSIM, MSSSIM as MSSSIM, PSNR as PSNR, ResizeBilinear as ResizeBilinear,
    PixelShuffle as PixelShuffle, PixelUnshuffle as PixelUnshuffle, ChannelShuffle as ChannelShuffle, Upsample as Upsample,
    ConstantPad1d as ConstantPad1d, ConstantPad2d as ConstantPad2d, ConstantPad3d as ConstantPad3d, ReflectionPad1d as ReflectionPad1d,
    ReflectionPad2d as ReflectionPad2d, ReflectionPad3d as ReflectionPad3d, ReplicationPad1d as ReplicationPad1d,
    ReplicationPad2d as ReplicationPad2d, ReplicationPad3d as ReplicationPad3d, ZeroPad2d as ZeroPad2d, Conv3d as Conv3d,
    Conv3dTranspose as Conv3dTranspose, MaxPool3d as MaxPool3d, AvgPool3d as AvgPool3d,
)
from sindri.nn.learning_rate_schedule import *
from sindri.nn.loss import *
from sindri.nn.optim import (
    Optimizer as Optimizer, Momentum as Momentum, SGD as SGD, Adam as Adam, AdamOffload as AdamOffload, AdamWeightDecay as AdamWeightDecay,
    LazyAdam as LazyAdam, AdaMax as AdaMax, Lamb as Lamb, LARS as LARS, Adagrad as Adagrad, Adadelta as Adadelta, ProximalAdagrad as ProximalAdagrad,
    RMSProp as RMSProp, FTRL as FTRL, Rprop as Rprop, ASGD as ASGD, AdaSumByDeltaWeightWrapCell as AdaSumByDeltaWeightWrapCell,
    AdaSumByGradWrapCell as AdaSumByGradWrapCell, THOR as THOR, THOR_Ascend as THOR_Ascend, THOR_GPU as THOR_GPU, ThorAscend as ThorAscend,
    ThorGpu as ThorGpu,
)
from sindri.nn.wrap import *
from sindri.nn import utils as utils
from sindri.nn.transformer import (
    Transformer as Transformer, TransformerDecoder as TransformerDecoder, TransformerDecoderLayer as TransformerDecoderLayer,
    TransformerEncoder as TransformerEncoder, TransformerEncoderLayer as TransformerEncoderLayer,
)
from sindri.train.metrics import (
    names as names, get_metric_fn as get_metric_fn, Accuracy as Accuracy, MAE as MAE, MSE as MSE, Metric as Metric,
    rearrange_inputs as rearrange_inputs, Precision as Precision, HausdorffDistance as HausdorffDistance, Recall as Recall, Fbeta as Fbeta,
    BleuScore as BleuScore, CosineSimilarity as CosineSimilarity, OcclusionSensitivity as OcclusionSensitivity, F1 as F1, Dice as Dice, ROC as ROC,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy, Top1CategoricalAccuracy as Top1CategoricalAccuracy,
    Top5CategoricalAccuracy as Top5CategoricalAccuracy, Loss as Loss, MeanSurfaceDistance as MeanSurfaceDistance,
    RootMeanSquareDistance as RootMeanSquareDistance, Perplexity as Perplexity, ConfusionMatrix as ConfusionMatrix,
    ConfusionMatrixMetric as ConfusionMatrixMetric,
)
from sindri.train.metrics import get_metrics as get_metrics

__all__ = [
    "Cell", "GraphCell", "CELU", "Softmin", "Softmax2d", "Softmax", "LogSoftmax", "ELU", "ReLU", "ReLU6", "LeakyReLU", "SeLU", "SiLU", "Tanh",
    "Tanhshrink", "Hardtanh", "GELU", "FastGelu", "Sigmoid", "Softsign", "PReLU", "HSwish", "HSigmoid", "LogSigmoid", "SoftShrink", "HShrink",
    "RReLU", "LRN", "Threshold", "Mish", "GLU", "get_activation", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "GroupNorm", "SequentialCell", "CellList", "CellDict", "Conv2d", "Conv2dTranspose", "Conv1d",
    "Conv1dTranspose", "LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Flatten",
    "Unflatten", "Identity", "Dense", "ClipByNorm", "Norm", "OneHot", "Pad", "Tril", "Triu", "Roll", "L1Regularizer", "BiDense", "Unfold",
    "Embedding", "EmbeddingLookup", "AvgPool2d", "MaxPool2d", "AvgPool1d", "MaxPool1d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "LPPool1d", "LPPool2d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d", "ReduceLogSumExp", "Range", "CosineSimilarity", "MatMul", "Moments", "MatInverse", "DenseThor", "Conv2dThor", "EmbeddingThor",
    "EmbeddingLookupThor", "Conv2dBnAct", "DenseBnAct", "CentralCrop", "ImageGradients", "SSIM", "MSSSIM", "PSNR", "ResizeBilinear", "PixelShuffle",
    "PixelUnshuffle", "ChannelShuffle", "Upsample", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d",
    "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad2d", "Conv3d", "Conv3dTranspose", "MaxPool3d",
    "AvgPool3d", "LossBase", "L1Loss", "MSELoss", "RMSELoss", "MAELoss", "SmoothL1Loss", "SoftMarginLoss", "HuberLoss",
    "SoftmaxCrossEntropyWithLogits", "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "KLDivLoss", "CosineEmbeddingLoss",
    "MarginRankingLoss", "HingeEmbeddingLoss", "DiceLoss", "MultiClassDiceLoss", "FocalLoss", "PoissonNLLLoss", "GaussianNLLLoss", "MultiMarginLoss",
    "MultiLabelSoftMarginLoss", "MultilabelMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "CTCLoss", "Optimizer", "Momentum",
    "SGD", "Adam", "AdamOffload", "AdamWeightDecay", "LazyAdam", "AdaMax", "Lamb", "LARS", "Adagrad", "Adadelta", "ProximalAdagrad", "RMSProp",
    "FTRL", "Rprop", "ASGD", "AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell", "thor", "THOR", "THOR_Ascend", "THOR_GPU", "ThorAscend",
    "ThorGpu", "ForwardValueAndGrad", "TrainOneStepCell", "WithLossCell", "WithGradCell", "WithEvalCell", "GetNextSingleOp", "ParameterUpdate",
    "VirtualDatasetCellTriple", "GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell", "DistributedGradReducer", "PipelineGradReducer",
    "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell", "LearningRateSchedule", "ExponentialDecayLR",
    "NaturalExpDecayLR", "InverseDecayLR", "CosineDecayLR", "PolynomialDecayLR", "WarmUpLR", "piecewise_constant_lr", "exponential_decay_lr",
    "natural_exp_decay_lr", "inverse_decay_lr", "cosine_decay_lr", "polynomial_decay_lr", "warmup_lr", "Transformer", "TransformerDecoder",
    "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer", "names", "get_metric_fn", "Accuracy", "MAE", "MSE", "Metric",
    "rearrange_inputs", "Precision", "HausdorffDistance", "Recall", "Fbeta", "BleuScore", "OcclusionSensitivity", "F1", "Dice", "ROC", "auc",
    "TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "Loss", "MeanSurfaceDistance", "RootMeanSquareDistance",
    "Perplexity", "ConfusionMatrix", "ConfusionMatrixMetric", "get_metrics",
]
