"""A convolution or a dense layer together with its batch normalisation and activation."""
from __future__ import annotations

from typing import Any, Callable, Union

from sindri.common.tensor import Tensor
from sindri._check import check_bool, fail
from sindri.nn.cell import Cell
from sindri.nn.layer.activation import LeakyReLU, get_activation
from sindri.nn.layer.basic import Dense, Init
from sindri.nn.layer.conv import Conv2d
from sindri.nn.layer.normalization import BatchNorm1d, BatchNorm2d
from sindri.ops.primitive import Primitive

__all__ = ["Conv2dBnAct", "DenseBnAct"]

Activation = Union[None, str, Cell, Primitive]


class _BnAct(Cell):
    """What both share: the optional steps behind the layer."""

    def _steps(self, has_bn: bool, norm: Callable[[], Cell], activation: Activation, alpha: float, after_fake: bool) -> None:
        who = self.cls_name
        self.has_bn, self.has_act = check_bool(who, "has_bn", has_bn), activation is not None
        self.after_fake = check_bool(who, "after_fake", after_fake)
        if has_bn:
            self.batchnorm = norm()
        self.activation: Any
        if activation == "leakyrelu":
            self.activation = LeakyReLU(alpha)
        else:
            if activation is not None and not isinstance(activation, (str, Cell, Primitive)):
                fail(TypeError, f"{who}: activation must be a name, a Cell or a Primitive, got {type(activation).__name__}")
            self.activation = get_activation(activation, who) if isinstance(activation, str) else activation

    def _finish(self, x: Tensor) -> Tensor:
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_BnAct):
    """Conv2d, then BatchNorm2d where has_bn, then the activation: a name ('leakyrelu' takes alpha), a Cell or a Primitive.

    after_fake concerns quantisation and is stored only. Raises TypeError for another activation, and as Conv2d.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0,
                 dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Init = "normal", bias_init: Init = "zeros",
                 has_bn: bool = False, momentum: float = 0.997, eps: float = 1e-5, activation: Activation = None, alpha: float = 0.2,
                 after_fake: bool = True) -> None:
        super().__init__()
        self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init)
        self._steps(has_bn, lambda: BatchNorm2d(out_channels, eps, momentum), activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self._finish(self.conv(x))


class DenseBnAct(_BnAct):
    """Dense, then BatchNorm1d where has_bn, then the activation; as Conv2dBnAct."""

    def __init__(self, in_channels: int, out_channels: int, weight_init: Init = "normal", bias_init: Init = "zeros", has_bias: bool = True,
                 has_bn: bool = False, momentum: float = 0.9, eps: float = 1e-5, activation: Activation = None, alpha: float = 0.2,
                 after_fake: bool = True) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._steps(has_bn, lambda: BatchNorm1d(out_channels, eps, momentum), activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self._finish(self.dense(x))
