"""Optimizers with PyTorch's arguments and parameter groups, and their learning-rate schedulers (MindSpore: mindspore.experimental)."""
from sindri.experimental import optim

__all__: list[str] = []
