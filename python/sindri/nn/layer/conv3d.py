"""Convolution and pooling of volumes [N, C, D, H, W]."""
from __future__ import annotations

from typing import Any, Callable, Sequence, Union

from sindri import ops
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_choice, check_int, fail, sizes
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Init
from sindri.nn.layer.conv import _Conv
from sindri.ops._util import volume_pads

__all__ = ["Conv3d", "Conv3dTranspose", "MaxPool3d", "AvgPool3d"]

Size3 = Union[int, Sequence[int]]


class _Conv3d(_Conv):
    """Base of both: checks sizes of three dimensions, adds the bias."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size3, stride: Size3, pad_mode: str, padding: Any, dilation: Size3, group: int,
                 has_bias: bool, weight_init: Init, bias_init: Init, data_format: str, transposed: bool, dtype: Any) -> None:
        who = type(self).__name__
        kernel, step, spread = (sizes(who, name, value, 3) for name, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)))
        check_choice(who, "pad_mode", pad_mode, ("same", "valid", "pad"))
        check_choice(who, "data_format", data_format, ("NCDHW",))
        super().__init__(in_channels, out_channels, kernel, step, pad_mode, padding, spread, group, has_bias, weight_init, bias_init, "NCHW", transposed,
                         dtype)
        self.data_format = self.format = data_format

    def _biased(self, y: Tensor) -> Tensor:
        return y + ops.reshape(self.bias, (1, self.out_channels, 1, 1, 1)) if self.has_bias and self.bias is not None else y


class Conv3d(_Conv3d):
    """3D convolution (cross-correlation).

    Input: x [N, in_channels, D, H, W]. Output: [N, out_channels, OD, OH, OW]. `weight` is [out, in/group, kd, kh, kw], `bias` [out].

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int, tuple): The depth, height and width of the kernel.
        stride (int, tuple): The distance between windows. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2d. Default: "same".
        padding (int, tuple): The zeros added with `pad_mode` "pad": an int or (head, tail, top, bottom, left, right). Default: 0.
        dilation (int, tuple): The distance between kernel elements. Default: 1.
        group (int): The number of groups. Default: 1.
        has_bias (bool): Whether the layer has a bias. Default: False.
        weight_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        bias_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        data_format (str): "NCDHW". Default: "NCDHW".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: As in Conv2d, and if `data_format` is not "NCDHW".

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Conv3d(3, 8, 3, stride=2)(ms.ops.ones((1, 3, 4, 6, 6), ms.float32)).shape
        (1, 8, 2, 3, 3)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size3, stride: Size3 = 1, pad_mode: str = "same", padding: Any = 0,
                 dilation: Size3 = 1, group: int = 1, has_bias: bool = False, weight_init: Init = None, bias_init: Init = None,
                 data_format: str = "NCDHW", dtype: Any = mstype.float32) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init, data_format,
                         False, dtype)

    def construct(self, x: Tensor) -> Tensor:
        self._check_input(x, 5)
        return self._biased(ops.conv3d(x, self.weight, None, self.stride, self.pad_mode, self.padding, self.dilation, self.group))


class Conv3dTranspose(_Conv3d):
    """Transposed 3D convolution.

    Input: x [N, in_channels, D, H, W]. Output: [N, out_channels, OD, OH, OW]. `weight` is [in, out/group, kd, kh, kw]. With `pad_mode` "same"
    the output's sizes are the input's times the stride.

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int, tuple): The depth, height and width of the kernel.
        stride (int, tuple): The stride of the convolution. Default: 1.
        pad_mode (str): "same", "valid" or "pad". Default: "same".
        padding (int, tuple): As in Conv3d; these zeros are removed from the output. Default: 0.
        dilation (int, tuple): The distance between kernel elements. Default: 1.
        group (int): The number of groups. Default: 1.
        output_padding (int, tuple): With `pad_mode` "pad", elements added at the end of each output dimension. Default: 0.
        has_bias (bool): Whether the layer has a bias. Default: False.
        weight_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        bias_init (str, float, Initializer, Tensor): As in Conv2d. Default: None.
        data_format (str): "NCDHW". Default: "NCDHW".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: As in Conv3d, and if `output_padding` is given without "pad" or is not below the stride or the dilation.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Conv3dTranspose(3, 8, 2, stride=2)(ms.ops.ones((1, 3, 2, 3, 3), ms.float32)).shape
        (1, 8, 4, 6, 6)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size3, stride: Size3 = 1, pad_mode: str = "same", padding: Any = 0,
                 dilation: Size3 = 1, group: int = 1, output_padding: Size3 = 0, has_bias: bool = False, weight_init: Init = None,
                 bias_init: Init = None, data_format: str = "NCDHW", dtype: Any = mstype.float32) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init, data_format,
                         True, dtype)
        self.output_padding = sizes("Conv3dTranspose", "output_padding", output_padding, 3, 0)
        if any(self.output_padding) and pad_mode != "pad":
            fail(ValueError, f"Conv3dTranspose: output_padding {output_padding!r} requires pad_mode 'pad', got '{pad_mode}'")
        if any(e >= max(s, d) for e, s, d in zip(self.output_padding, self.stride, self.dilation)):
            fail(ValueError, f"Conv3dTranspose: output_padding {output_padding!r} must be below stride {stride!r} or dilation {dilation!r}")

    def construct(self, x: Tensor) -> Tensor:
        self._check_input(x, 5)
        return self._biased(ops.conv3d_transpose(x, self.weight, self.pad_mode, self.padding, self.stride, self.dilation, self.group,
                                                 self.output_padding))


class _Pool3d(Cell):
    """Base of both: window, stride and pads."""

    def __init__(self, kernel_size: Size3, stride: Size3, pad_mode: str, padding: Any, ceil_mode: bool) -> None:
        super().__init__()
        who = self.cls_name
        self.kernel_size, self.stride = sizes(who, "kernel_size", kernel_size, 3), sizes(who, "stride", stride, 3)
        self.pad_mode = check_choice(who, "pad_mode", pad_mode.lower() if isinstance(pad_mode, str) else pad_mode, ("same", "valid", "pad"))
        self.padding, self.ceil_mode = padding, check_bool(who, "ceil_mode", ceil_mode)

    def _pooled(self, x: Tensor, pool: Callable[[Tensor], Any]) -> Any:
        """Applies pool to x as [N, C, D, H, W]."""
        rank = len(x.shape)
        if rank not in (4, 5):
            fail(ValueError, f"{self.cls_name}: the input must have 4 or 5 dimensions, got shape {tuple(x.shape)}")
        if rank == 5:
            return pool(x)
        y = pool(ops.expand_dims(x, 0))
        return tuple(ops.squeeze(v, 0) for v in y) if isinstance(y, tuple) else ops.squeeze(y, 0)

    def _pads(self, x: Tensor) -> list:
        return volume_pads(self.pad_mode, self.padding, x.shape[2:], self.kernel_size, self.stride, (1, 1, 1), self.cls_name)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool3d(_Pool3d):
    """3D max pooling of an input [N, C, D, H, W] or [C, D, H, W].

    Args:
        kernel_size (int, tuple): The depth, height and width of the window. Default: 1.
        stride (int, tuple): The distance between windows. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in MaxPool2d. Default: "valid".
        padding (int, tuple): The padding with `pad_mode` "pad". Default: 0.
        dilation (int, tuple): 1; other values are not supported. Default: 1.
        return_indices (bool): Whether to return (maxima, their int64 positions in the flattened volume); needs `pad_mode` "pad".
            Default: False.
        ceil_mode (bool): Whether output sizes are rounded up. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `return_indices` is given without "pad", `dilation` is not 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.MaxPool3d(2, stride=2)(ms.ops.ones((1, 3, 4, 6, 6), ms.float32)).shape
        (1, 3, 2, 3, 3)
    """

    def __init__(self, kernel_size: Size3 = 1, stride: Size3 = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Size3 = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        if sizes("MaxPool3d", "dilation", dilation, 3) != (1, 1, 1):
            fail(ValueError, f"MaxPool3d: dilation {dilation!r} is not supported", "leave dilation at 1")
        self.return_indices = check_bool("MaxPool3d", "return_indices", return_indices)
        if return_indices and self.pad_mode != "pad":
            fail(ValueError, f"MaxPool3d: return_indices requires pad_mode 'pad', got '{pad_mode}'")

    def construct(self, x: Tensor) -> Any:
        return self._pooled(x, lambda v: ops.max_pool3d(v, self.kernel_size, self.stride, self._pads(v), ceil_mode=self.ceil_mode,
                                                        return_indices=self.return_indices))


class AvgPool3d(_Pool3d):
    """3D average pooling of an input [N, C, D, H, W] or [C, D, H, W].

    Args:
        kernel_size (int, tuple): The depth, height and width of the window. Default: 1.
        stride (int, tuple): The distance between windows. Default: 1.
        pad_mode (str): "same", "valid" or "pad". Default: "valid".
        padding (int, tuple): The padding with `pad_mode` "pad". Default: 0.
        ceil_mode (bool): Whether output sizes are rounded up. Default: False.
        count_include_pad (bool): Whether padded elements count. Default: True.
        divisor_override (int): Divides the sums instead of the number of elements; above 0. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `divisor_override` is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.AvgPool3d(2, stride=2)(ms.ops.ones((1, 3, 4, 6, 6), ms.float32)).shape
        (1, 3, 2, 3, 3)
    """

    def __init__(self, kernel_size: Size3 = 1, stride: Size3 = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: Any = None) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        self.count_include_pad, self.divisor_override = check_bool("AvgPool3d", "count_include_pad", count_include_pad), divisor_override
        if divisor_override is not None:
            check_int("AvgPool3d", "divisor_override", divisor_override, 1)

    def construct(self, x: Tensor) -> Tensor:
        return self._pooled(x, lambda v: ops.avg_pool3d(v, self.kernel_size, self.stride, self._pads(v), self.ceil_mode,
                                                        self.count_include_pad, self.divisor_override or 0))
