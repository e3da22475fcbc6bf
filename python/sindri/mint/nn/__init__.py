"""mindspore.mint.nn: layers and losses with PyTorch's arguments, and functions in `functional`."""
from sindri.mint.nn import functional, layer
from sindri.mint.nn.layer import *  # noqa: F401,F403
from sindri.mint.nn.layer.activation import GLU, Softshrink
from sindri.mint.nn.layer.basic import Dropout, Dropout2d, Embedding
from sindri.mint.nn.layer.normalization import LayerNorm
from sindri.mint.nn.layer.pooling import MaxPool2d
from sindri.mint.nn.loss import (BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, KLDivLoss, L1Loss, MSELoss, NLLLoss,  # noqa: F401
                                 SmoothL1Loss, SoftMarginLoss)

# CrossEntropyLoss, NLLLoss and the layers imported one by one exist, but MindSpore does not list them.
__all__ = ["functional", "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "KLDivLoss", "L1Loss", "MSELoss", "SmoothL1Loss", "SoftMarginLoss",
           *layer.__all__]
