"""mindspore.mint.nn: losses, and functions in functional."""
from sindri.mint.nn import functional
from sindri.mint.nn.loss import (BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, KLDivLoss, L1Loss, MSELoss, NLLLoss,  # noqa: F401
                                 SmoothL1Loss, SoftMarginLoss)

# CrossEntropyLoss and NLLLoss are there, but MindSpore does not list them.
__all__ = ["functional", "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "KLDivLoss", "L1Loss", "MSELoss", "SmoothL1Loss", "SoftMarginLoss"]
