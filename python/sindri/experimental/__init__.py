"""mindspore.experimental: optimizers with PyTorch's arguments and parameter groups, and their learning-rate schedulers."""
from sindri.experimental import optim

__all__: list[str] = []
