"""Optimizers of sindri.mint, with PyTorch's rules and `param_groups` (MindSpore: mindspore.mint.optim)."""
from sindri.mint.optim.adam import Adam
from sindri.mint.optim.adamw import AdamW, FusedAdamW
from sindri.mint.optim.sgd import SGD

__all__ = ["AdamW", "Adam", "SGD", "FusedAdamW"]
