"""Convolution and dense layer for THOR.

They compute the same as the plain layers. sindri.nn.thor reads the matrices A and G from the training step, so a layer only declares them:
`matrix_A_inv` and `matrix_G_inv` hold the number and width of the inverse's diagonal blocks and pass the layer's settings to the optimizer.
The inverses are part of the optimizer's state. They are float32, so the maxima that the Ascend form needs for float16 (`A_inv_max`, `G_inv_max`) are omitted.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sindri import Parameter, Tensor, nn

BLOCK = 128  # width of the diagonal blocks that are inverted


class Settings(NamedTuple):
    """Settings that all layers of a network share. damping: one value per step; batch_size: images per step on one rank."""
    damping: Any
    loss_scale: float
    frequency: int
    batch_size: int


class Curvature(Parameter):
    """Declares the inverse of one factor of a layer: int32 [2], the number of blocks and their width."""

    settings: Settings


def _declare(name: str, width: int, settings: Settings) -> Parameter:
    blocks = (1, width) if width <= BLOCK else ((width + BLOCK - 1) // BLOCK, BLOCK)
    matrix = Curvature(Tensor(np.array(blocks, np.int32)), name=name, requires_grad=False)
    matrix.settings = settings
    return matrix


class Conv2d_thor(nn.Conv2dThor):
    """A convolution with 'same' padding, or another pad_mode, without bias."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same", padding: int = 0,
                 weight_init: Any = "he_uniform", damping: Any = 0.03, loss_scale: float = 1.0, frequency: int = 278, batch_size: int = 32) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, weight_init=weight_init)
        settings = Settings(damping, loss_scale, frequency, batch_size)
        self.matrix_A_inv = _declare("matrix_A_inv", in_channels * kernel_size * kernel_size, settings)
        self.matrix_G_inv = _declare("matrix_G_inv", out_channels, settings)


class Dense_thor(nn.DenseThor):
    """A dense layer with bias."""

    def __init__(self, in_channels: int, out_channels: int, weight_init: Any = "he_uniform", bias_init: Any = "zeros", damping: Any = 0.03,
                 loss_scale: float = 1.0, frequency: int = 278, batch_size: int = 32) -> None:
        super().__init__(in_channels, out_channels, weight_init, bias_init)
        settings = Settings(damping, loss_scale, frequency, batch_size)
        self.matrix_A_inv = _declare("matrix_A_inv", in_channels, settings)
        self.matrix_G_inv = _declare("matrix_G_inv", out_channels, settings)
