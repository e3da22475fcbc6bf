"""Convolution and dense layers combined with batch normalisation and an activation."""
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
    """Base of both: the optional steps after the layer."""

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
    """Conv2d, then optionally BatchNorm2d, then an optional activation.

    Args:
        in_channels (int): As in Conv2d.
        out_channels (int): As in Conv2d.
        kernel_size (int, tuple): As in Conv2d.
        stride (int, tuple): As in Conv2d. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (int, tuple): As in Conv2d. Default: 0.
        dilation (int, tuple): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        has_bias (bool): As in Conv2d. Default: False.
        weight_init (str, float, Initializer, Tensor): How the weight is initialised. Default: "normal".
        bias_init (str, float, Initializer, Tensor): How the bias is initialised. Default: "zeros".
        has_bn (bool): Whether batch normalisation follows. Default: False.
        momentum (float): The momentum of batch normalisation. Default: 0.997.
        eps (float): The epsilon of batch normalisation. Default: 1e-5.
        activation (str, Cell, Primitive): The activation. Default: None.
        alpha (float): The slope of the activation "leakyrelu". Default: 0.2.
        after_fake (bool): Concerns quantisation; stored without effect. Default: True.

    Raises:
        TypeError: If `activation` has another type, or as in Conv2d.
        ValueError: As in Conv2d.
        KeyError: If the activation is unknown.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Conv2dBnAct(3, 8, 3, has_bn=True, activation="relu")
        >>> net(ms.ops.ones((1, 3, 4, 4), ms.float32)).shape
        (1, 8, 4, 4)
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
    """Dense, then optionally BatchNorm1d, then an optional activation.

    Args:
        in_channels (int): As in Dense.
        out_channels (int): As in Dense.
        weight_init (str, float, Initializer, Tensor): How the weight is initialised. Default: "normal".
        bias_init (str, float, Initializer, Tensor): How the bias is initialised. Default: "zeros".
        has_bias (bool): As in Dense. Default: True.
        has_bn (bool): Whether batch normalisation follows. Default: False.
        momentum (float): The momentum of batch normalisation. Default: 0.9.
        eps (float): The epsilon of batch normalisation. Default: 1e-5.
        activation (str, Cell, Primitive): The activation. Default: None.
        alpha (float): The slope of the activation "leakyrelu". Default: 0.2.
        after_fake (bool): Concerns quantisation; stored without effect. Default: True.

    Raises:
        TypeError: If `activation` has another type, or as in Dense.
        ValueError: As in Dense.
        KeyError: If the activation is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.DenseBnAct(3, 8, has_bn=True, activation="relu")(ms.ops.ones((2, 3), ms.float32)).shape
        (2, 8)
    """

    def __init__(self, in_channels: int, out_channels: int, weight_init: Init = "normal", bias_init: Init = "zeros", has_bias: bool = True,
                 has_bn: bool = False, momentum: float = 0.9, eps: float = 1e-5, activation: Activation = None, alpha: float = 0.2,
                 after_fake: bool = True) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._steps(has_bn, lambda: BatchNorm1d(out_channels, eps, momentum), activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self._finish(self.dense(x))
