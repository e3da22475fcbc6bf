"""Cells around a network: training steps, loss scale, reduction of gradients."""
from sindri.nn.wrap import cell_wrapper, grad_reducer, loss_scale
from sindri.nn.wrap.cell_wrapper import *  # noqa: F401,F403
from sindri.nn.wrap.grad_reducer import *  # noqa: F401,F403
from sindri.nn.wrap.loss_scale import *  # noqa: F401,F403

__all__ = [*cell_wrapper.__all__, *grad_reducer.__all__, *loss_scale.__all__]
