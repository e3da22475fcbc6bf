"""mindspore.mint.special, with PyTorch's names and arguments."""
from sindri.mint.nn.functional import log_softmax as _log_softmax
from sindri.ops import erfc, exp2, expm1, log1p, round, sinc

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]

log_softmax = _log_softmax
