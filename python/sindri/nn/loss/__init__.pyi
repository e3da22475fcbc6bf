"""Losses.

Written by scripts/python_stubs.py; do not edit."""


from sindri.nn.loss.loss import *
from sindri.nn.loss.loss import __all__ as __all__

__all__ = [
    "LossBase", "L1Loss", "MSELoss", "RMSELoss", "MAELoss", "SmoothL1Loss", "SoftMarginLoss", "HuberLoss", "SoftmaxCrossEntropyWithLogits",
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "KLDivLoss", "CosineEmbeddingLoss", "MarginRankingLoss", "HingeEmbeddingLoss",
    "DiceLoss", "MultiClassDiceLoss", "FocalLoss", "PoissonNLLLoss", "GaussianNLLLoss", "MultiMarginLoss", "MultiLabelSoftMarginLoss",
    "MultilabelMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "CTCLoss",
]
