"""Convolutions and their transposes in one and two dimensions."""
from __future__ import annotations

import math
from typing import Any, List, Optional, Tuple, Union

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_choice, check_int, fail, sizes
from sindri.nn._padding import Padder, check_padding, same_pads
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Init, dense_inits
from sindri.ops._util import transposed_conv2d

__all__ = ["Conv2d", "Conv2dTranspose", "Conv1d", "Conv1dTranspose"]

_ops = _core.ops
_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def check_format(who: str, data_format: Any) -> bool:
    """Returns whether the format is 'NHWC'. Raises ValueError for 'NHWC' if the context's device_target is not 'GPU', and for another format."""
    check_choice(who, "data_format", data_format, ("NCHW", "NHWC"))
    if data_format == "NHWC" and context.get_context("device_target") != "GPU":
        fail(ValueError, f"{who}: data_format 'NHWC' goes with device_target 'GPU' only, got {context.get_context('device_target')!r}", "use 'NCHW'")
    return data_format == "NHWC"


class _Conv(Cell):
    """Base of convolutions: checks sizes and channels, creates weight and bias."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Tuple[int, int], stride: Tuple[int, int], pad_mode: str, padding: Any,
                 dilation: Tuple[int, int], group: int, has_bias: bool, weight_init: Init, bias_init: Init, data_format: str = "NCHW",
                 transposed: bool = False, dtype: Any = mstype.float32) -> None:
        super().__init__()
        who = self.cls_name
        self.in_channels, self.out_channels = check_int(who, "in_channels", in_channels, 1), check_int(who, "out_channels", out_channels, 1)
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.pad_mode, self.padding = pad_mode, padding
        self.group, self.has_bias = check_int(who, "group", group, 1), check_bool(who, "has_bias", has_bias)
        if in_channels % group or out_channels % group:
            fail(ValueError, f"{who}: in_channels {in_channels} and out_channels {out_channels} must be multiples of group {group}")
        self.data_format = self.format = data_format
        self.transposed = transposed
        nhwc = check_format(who, data_format)
        if transposed:
            shape: Tuple[int, ...] = (in_channels, out_channels // group) + kernel_size
        elif nhwc:
            shape = (out_channels,) + kernel_size + (in_channels // group,)
        else:
            shape = (out_channels, in_channels // group) + kernel_size
        self.weight_init, self.bias_init = weight_init, bias_init = dense_inits(weight_init, bias_init, math.prod(shape[1:]))
        self.weight = Parameter(initializer(weight_init, shape, dtype), name="weight")
        self.bias: Optional[Parameter]
        if has_bias:
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype), name="bias")
        else:
            self.bias = None
        self._nhwc = nhwc
        self._bias_shape = (1, self.out_channels, 1, 1)

    def _check_input(self, x: Tensor, rank: int) -> None:
        if len(x.shape) != rank:
            fail(ValueError, f"{self.cls_name}: the input must have {rank} dimensions, got shape {tuple(x.shape)}")

    def extend_repr(self) -> str:
        return (f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, group={self.group}, has_bias={self.has_bias}, "
                f"weight_init={self.weight_init}, bias_init={self.bias_init}, format={self.format}")

    def _grouped_weights(self) -> List[Any]:
        """Returns the weight if there are several groups."""
        return [self.weight] if self.group > 1 else []


class Conv2d(_Conv):
    """2D convolution (cross-correlation).

    Input: x [N, in_channels, H, W]. Output: [N, out_channels, OH, OW].

    By default `weight` [out, in/group, kh, kw] and `bias` [out] are drawn from U(±1/sqrt(fan_in)) with fan_in = in/group·kh·kw; with
    SINDRI_MINDSPORE_ERA=1, `weight` is drawn from N(0, 0.01) and `bias` is zeros.

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int, tuple): The height and width of the kernel.
        stride (int, tuple): The distance between windows. Default: 1.
        pad_mode (str): "same" pads so that the output has size ceil(size/stride), an odd element at the bottom and right; "valid" does not
            pad; "pad" adds `padding` zeros. Default: "same".
        padding (int, tuple): The zeros added with `pad_mode` "pad": an int or (top, bottom, left, right). Default: 0.
        dilation (int, tuple): The distance between kernel elements. Default: 1.
        group (int): The number of groups; both channel counts are multiples of it. Default: 1.
        has_bias (bool): Whether the layer has a bias. Default: False.
        weight_init (str, float, Initializer, Tensor): How `weight` is initialised. Default: None, as above.
        bias_init (str, float, Initializer, Tensor): How `bias` is initialised. Default: None, as above.
        data_format (str): "NCHW" or "NHWC". "NHWC" needs device_target "GPU" and transposes around the convolution; its weight is
            [out, kh, kw, in/group]. Default: "NCHW".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If padding is given with "same" or "valid", a size is below 1, a channel count is not a multiple of `group`, "NHWC" is
            used without the GPU, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Conv2d(3, 8, 3, stride=2)
        >>> net(ms.ops.ones((1, 3, 7, 7), ms.float32)).shape
        (1, 8, 4, 4)
        >>> net = ms.nn.Conv2d(1, 1, 2, pad_mode="valid", weight_init="ones")
        >>> print(net(ms.Tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])))
        [[[[12. 16.]]]]
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Union[int, Tuple[int, int]], stride: Union[int, Tuple[int, int]] = 1,
                 pad_mode: str = "same", padding: Any = 0, dilation: Union[int, Tuple[int, int]] = 1, group: int = 1, has_bias: bool = False,
                 weight_init: Init = None, bias_init: Init = None, data_format: str = "NCHW", dtype: Any = mstype.float32) -> None:
        kernel, step = sizes("Conv2d", "kernel_size", kernel_size, 2), sizes("Conv2d", "stride", stride, 2)
        spread = sizes("Conv2d", "dilation", dilation, 2)
        pads = check_padding("Conv2d", pad_mode, padding)
        super().__init__(in_channels, out_channels, kernel, step, pad_mode, padding, spread, group, has_bias, weight_init, bias_init, data_format,
                         False, dtype)
        self._pads = Padder(pad_mode, pads, kernel, step, spread)

    def construct(self, x: Tensor) -> Tensor:
        self._check_input(x, 4)
        if self._nhwc:
            return self._construct_nhwc(x)
        shape = x.shape
        y = _ops.conv2d(x, self.weight, self.stride, self._pads(shape[2], shape[3]), self.dilation, self.group)
        return _ops.add(y, _ops.reshape(self.bias, self._bias_shape)) if self.has_bias and self.bias is not None else y

    def _construct_nhwc(self, x: Tensor) -> Tensor:
        shape = x.shape
        weight = _ops.transpose(self.weight, _TO_NCHW)
        y = _ops.conv2d(_ops.transpose(x, _TO_NCHW), weight, self.stride, self._pads(shape[1], shape[2]), self.dilation, self.group)
        y = _ops.transpose(y, _TO_NHWC)
        return _ops.add(y, self.bias) if self.has_bias and self.bias is not None else y


def _line(who: str, name: str, value: Any) -> Tuple[int, int]:
    """Returns a size of one dimension as that of an image with one row."""
    return 1, sizes(who, name, value, 1)[0]


def _line_padding(who: str, pad_mode: str, padding: Any) -> Any:
    """Returns a padding of one dimension, an int or a tuple of two, as (0, 0, before, after)."""
    if isinstance(padding, (tuple, list)):
        if len(padding) not in (1, 2):
            fail(ValueError, f"{who}: padding must be an int or (before, after), got {tuple(padding)!r}")
        return check_padding(who, pad_mode, (0, 0, padding[0], padding[-1]))
    return check_padding(who, pad_mode, (0, 0, padding, padding))


class Conv1d(_Conv):
    """1D convolution (cross-correlation).

    Input: x [N, in_channels, L]. Output: [N, out_channels, OL]. `weight` is [out, in/group, 1, k].

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int): The size of the kernel.
        stride (int): The distance between windows. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2d. Default: "same".
        padding (int, tuple): The zeros added with `pad_mode` "pad": an int or (before, after). Default: 0.
        dilation (int): The distance between kernel elements. Default: 1.
        group (int): The number of groups. Default: 1.
        has_bias (bool): Whether the layer has a bias. Default: False.
        weight_init (str, float, Initializer, Tensor): As in Conv2d; a Tensor may be [out, in/group, k]. Default: None.
        bias_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: As in Conv2d.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Conv1d(1, 1, 2, pad_mode="valid", weight_init="ones")
        >>> print(net(ms.Tensor([[[1.0, 2.0, 3.0]]])))
        [[[3. 5.]]]
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same", padding: Any = 0,
                 dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Init = None, bias_init: Init = None,
                 dtype: Any = mstype.float32) -> None:
        who = "Conv1d"
        kernel, step, spread = _line(who, "kernel_size", kernel_size), _line(who, "stride", stride), _line(who, "dilation", dilation)
        pads = _line_padding(who, pad_mode, padding)
        if isinstance(weight_init, Tensor) and len(weight_init.shape) == 3:
            weight_init = weight_init.reshape(weight_init.shape[:2] + (1,) + weight_init.shape[2:])
        super().__init__(in_channels, out_channels, kernel, step, pad_mode, padding, spread, group, has_bias, weight_init, bias_init, "NCHW", False,
                         dtype)
        self._pads = Padder(pad_mode, pads, kernel, step, spread)

    def construct(self, x: Tensor) -> Tensor:
        self._check_input(x, 3)
        y = _ops.conv2d(_ops.expand_dims(x, 2), self.weight, self.stride, self._pads(1, x.shape[2]), self.dilation, self.group)
        if self.has_bias and self.bias is not None:
            y = _ops.add(y, _ops.reshape(self.bias, self._bias_shape))
        return _ops.squeeze(y, 2)


def _transposed_size(pad_mode: str, size: int, kernel: int, stride: int, dilation: int, pads: Tuple[int, int]) -> int:
    """Returns the input size for which a convolution with these settings returns `size`."""
    window = dilation * (kernel - 1) + 1
    if pad_mode == "same":
        return size * stride
    if pad_mode == "valid":
        return size * stride + max(window - stride, 0)
    return (size - 1) * stride + window - pads[0] - pads[1]


class _ConvTranspose(_Conv):
    """The gradient of a convolution with respect to its input, as a layer: x [N, in, h, w] -> [N, out, H, W]."""

    def _transposed(self, x: Tensor) -> Tensor:
        pads: List[int] = []
        extra: List[int] = []
        for i, size in enumerate(x.shape[2:]):
            kernel, stride, dilation = self.kernel_size[i], self.stride[i], self.dilation[i]
            extent = _transposed_size(self.pad_mode, size, kernel, stride, dilation, self._fixed_pads[2 * i:2 * i + 2])
            own = same_pads(extent, kernel, stride, dilation) if self.pad_mode == "same" else self._fixed_pads[2 * i:2 * i + 2]
            pads += own
            extra.append(extent + self._output_padding[i] - ((size - 1) * stride + dilation * (kernel - 1) + 1 - sum(own)))
        y = transposed_conv2d(x, self.weight, self.stride, pads, extra, self.dilation, self.group)
        return _ops.add(y, _ops.reshape(self.bias, self._bias_shape)) if self.has_bias and self.bias is not None else y


class Conv2dTranspose(_ConvTranspose):
    """Transposed 2D convolution.

    Input: x [N, in_channels, h, w]. Output: [N, out_channels, H, W]. `weight` is [in, out/group, kh, kw].

    With window = dilation·(kernel - 1) + 1, H is

    - h·stride with `pad_mode` "same",
    - h·stride + max(window - stride, 0) with "valid",
    - (h - 1)·stride + window - pads + output_padding with "pad".

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int, tuple): The height and width of the kernel.
        stride (int, tuple): The stride of the convolution. Default: 1.
        pad_mode (str): "same", "valid" or "pad". Default: "same".
        padding (int, tuple): With `pad_mode` "pad", the zeros removed from the output: an int or (top, bottom, left, right). Default: 0.
        output_padding (int, tuple): With `pad_mode` "pad", rows and columns added to the output. Default: 0.
        dilation (int, tuple): The distance between kernel elements. Default: 1.
        group (int): The number of groups. Default: 1.
        has_bias (bool): Whether the layer has a bias. Default: False.
        weight_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        bias_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: As in Conv2d, and if `output_padding` is given without "pad" or is not below the stride or the dilation.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Conv2dTranspose(3, 8, 4, stride=2)(ms.ops.ones((1, 3, 5, 5), ms.float32)).shape
        (1, 8, 10, 10)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Union[int, Tuple[int, int]], stride: Union[int, Tuple[int, int]] = 1,
                 pad_mode: str = "same", padding: Any = 0, output_padding: Union[int, Tuple[int, int]] = 0, dilation: Union[int, Tuple[int, int]] = 1,
                 group: int = 1, has_bias: bool = False, weight_init: Init = None, bias_init: Init = None,
                 dtype: Any = mstype.float32) -> None:
        who = "Conv2dTranspose"
        kernel, step, spread = sizes(who, "kernel_size", kernel_size, 2), sizes(who, "stride", stride, 2), sizes(who, "dilation", dilation, 2)
        pads = check_padding(who, pad_mode, padding)
        extra = sizes(who, "output_padding", output_padding, 2, 0)
        if any(extra) and pad_mode != "pad":
            fail(ValueError, f"{who}: output_padding {output_padding} is given with pad_mode '{pad_mode}'", "set pad_mode to 'pad'")
        if any(e >= max(s, d) for e, s, d in zip(extra, step, spread)):
            fail(ValueError, f"{who}: output_padding {output_padding} must be below stride {stride} or dilation {dilation}")
        super().__init__(in_channels, out_channels, kernel, step, pad_mode, padding, spread, group, has_bias, weight_init, bias_init, "NCHW", True,
                         dtype)
        self.output_padding = output_padding
        self._fixed_pads, self._output_padding = pads, extra

    def construct(self, x: Tensor) -> Tensor:
        self._check_input(x, 4)
        return self._transposed(x)


class Conv1dTranspose(_ConvTranspose):
    """Transposed 1D convolution.

    Input: x [N, in_channels, l]. Output: [N, out_channels, L], with L as H in Conv2dTranspose. `weight` is [in, out/group, 1, k].

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int): The size of the kernel.
        stride (int): The stride of the convolution. Default: 1.
        pad_mode (str): "same", "valid" or "pad". Default: "same".
        padding (int, tuple): With `pad_mode` "pad", the zeros removed from the output: an int or (before, after). Default: 0.
        dilation (int): The distance between kernel elements. Default: 1.
        group (int): The number of groups. Default: 1.
        has_bias (bool): Whether the layer has a bias. Default: False.
        weight_init (str, float, Initializer, Tensor): As in Conv2d; a Tensor may be [in, out/group, k]. Default: None.
        bias_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: As in Conv2d.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Conv1dTranspose(3, 8, 4, stride=2)(ms.ops.ones((1, 3, 5), ms.float32)).shape
        (1, 8, 10)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same", padding: Any = 0,
                 dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Init = None, bias_init: Init = None,
                 dtype: Any = mstype.float32) -> None:
        who = "Conv1dTranspose"
        kernel, step, spread = _line(who, "kernel_size", kernel_size), _line(who, "stride", stride), _line(who, "dilation", dilation)
        pads = _line_padding(who, pad_mode, padding)
        if isinstance(weight_init, Tensor) and len(weight_init.shape) == 3:
            weight_init = weight_init.reshape(weight_init.shape[:2] + (1,) + weight_init.shape[2:])
        super().__init__(in_channels, out_channels, kernel, step, pad_mode, padding, spread, group, has_bias, weight_init, bias_init, "NCHW", True,
                         dtype)
        self._fixed_pads, self._output_padding = pads, (0, 0)

    def construct(self, x: Tensor) -> Tensor:
        self._check_input(x, 3)
        return _ops.squeeze(self._transposed(_ops.expand_dims(x, 2)), 2)
