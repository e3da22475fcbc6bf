"""mindspore.mint.nn: the functions only, in functional."""
from sindri.mint.nn import functional

__all__ = ["functional"]
