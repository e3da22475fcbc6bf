"""Convolutions of mindspore.mint.nn."""
from __future__ import annotations

from typing import Any, Callable, List, Tuple

from sindri._check import check_bool, check_choice, check_int, fail
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.mint.nn._convolution import numbers, pads_of
from sindri.mint.nn.layer.basic import drawn
from sindri.nn.cell import Cell

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"]

_PAD_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _Conv(Cell):
    """Base class of convolutions with checked sizes.

    Parameters: `weight` [out, in/groups, ...] (transposed: [in, out/groups, ...]) and, with bias, `bias` [out], both
    from U(±1/sqrt(fan_in)) with PyTorch's fan_in. `padding` is numbers, 'same' or 'valid'; `padding_mode` is 'zeros',
    'reflect', 'replicate' or 'circular'.
    """

    _dims, _transposed = 2, False
    _convolve: Callable[..., Tensor]

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int, bias: bool,
                 padding_mode: str, dtype: Any) -> None:
        super().__init__()
        who, dims = self.cls_name, self._dims
        self.in_channels, self.out_channels = check_int(who, "in_channels", in_channels, 1), check_int(who, "out_channels", out_channels, 1)
        self.groups, self.has_bias = check_int(who, "groups", groups, 1), check_bool(who, "bias", bias)
        if in_channels % groups or out_channels % groups:
            fail(ValueError, f"{who}: in_channels {in_channels} and out_channels {out_channels} must be multiples of groups {groups}")
        self.kernel_size = tuple(numbers(kernel_size, dims, "kernel_size", who, 1))
        self.stride, self.dilation = tuple(numbers(stride, dims, "stride", who, 1)), tuple(numbers(dilation, dims, "dilation", who, 1))
        self.padding_mode = check_choice(who, "padding_mode", padding_mode, tuple(_PAD_MODES) if not self._transposed else ("zeros",))
        self._pads: List[int] = pads_of(padding, self.kernel_size, self.stride, self.dilation, who)
        self.padding = padding if isinstance(padding, str) else tuple(self._pads[::2])
        shape: Tuple[int, ...] = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight, self.bias = drawn(None, None, shape + self.kernel_size, out_channels, bias, dtype)

    def construct(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":  # F.pad expects the last dimension first
            ends = [v for i in reversed(range(self._dims)) for v in self._pads[2 * i:2 * i + 2]]
            input, padding = F.pad(input, ends, _PAD_MODES[self.padding_mode]), 0
        return type(self)._convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extend_repr(self) -> str:
        return (f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}, bias={self.has_bias}")


class Conv1d(_Conv):
    """Computes the cross-correlation of sequences [n, c, l] or [c, l] with a weight; see `functional.conv1d`.

    Parameters: `weight` [out, in/groups, k] and, with `bias`, `bias` [out], both from U(±1/sqrt(fan_in)).

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int or sequence of ints): The size of the kernel.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int, sequence of ints or str): The padding at both ends of each dimension, "same" (stride 1 only) or
            "valid". Default: 0.
        dilation (int or sequence of ints): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.
        bias (bool): Whether the layer has a bias. Default: True.
        padding_mode (str): "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible, such as channels that are not multiples of `groups`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Conv1d(2, 4, 3)(ms.ops.ones((1, 2, 5))).shape)
        (1, 4, 3)
    """

    _dims = 1
    _convolve: Any = staticmethod(F.conv1d)

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype)


class Conv2d(_Conv):
    """Computes the cross-correlation of images [n, c, h, w] or [c, h, w] with a weight; see `functional.conv2d`.

    Parameters: `weight` [out, in/groups, kh, kw] and, with `bias`, `bias` [out], both from U(±1/sqrt(fan_in)).

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int or sequence of ints): The size of the kernel.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int, sequence of ints or str): The padding at both ends of each dimension, "same" (stride 1 only) or
            "valid". Default: 0.
        dilation (int or sequence of ints): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.
        bias (bool): Whether the layer has a bias. Default: True.
        padding_mode (str): "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible, such as channels that are not multiples of `groups`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Conv2d(2, 4, 3)(ms.ops.ones((1, 2, 5, 5))).shape)
        (1, 4, 3, 3)
    """

    _convolve: Any = staticmethod(F.conv2d)

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype)


class Conv3d(_Conv):
    """Computes the cross-correlation of volumes [n, c, d, h, w] or [c, d, h, w] with a weight; see `functional.conv3d`.

    Parameters: `weight` [out, in/groups, kd, kh, kw] and, with `bias`, `bias` [out], both from U(±1/sqrt(fan_in)).

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int or sequence of ints): The size of the kernel.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int, sequence of ints or str): The padding at both ends of each dimension, "same" (stride 1 only) or
            "valid". Default: 0.
        dilation (int or sequence of ints): The dilation. Default: 1.
        groups (int): The number of groups of channels. Default: 1.
        bias (bool): Whether the layer has a bias. Default: True.
        padding_mode (str): "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible, such as channels that are not multiples of `groups`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Conv3d(2, 4, 3)(ms.ops.ones((1, 2, 5, 5, 5))).shape)
        (1, 4, 3, 3, 3)
    """

    _dims = 3
    _convolve: Any = staticmethod(F.conv3d)

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype)


class ConvTranspose2d(_Conv):
    """Applies a transposed convolution to images [n, c, h, w] or [c, h, w]; see `functional.conv_transpose2d`.

    Parameters: `weight` [in, out/groups, kh, kw] and, with `bias`, `bias` [out]. A call accepts `output_size`, the
    height and width of the result, from which its output_padding follows.

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (int or sequence of ints): The size of the kernel.
        stride (int or sequence of ints): The stride. Default: 1.
        padding (int or sequence of ints): The number of rows and columns cut off at each edge. Default: 0.
        output_padding (int or sequence of ints): The number of rows and columns added at the end. Default: 0.
        groups (int): The number of groups of channels. Default: 1.
        bias (bool): Whether the layer has a bias. Default: True.
        dilation (int or sequence of ints): The dilation. Default: 1.
        padding_mode (str): Must be "zeros". Default: "zeros".
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ConvTranspose2d(2, 4, 3, stride=2)(ms.ops.ones((1, 2, 5, 5))).shape)
        (1, 4, 11, 11)
    """

    _transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                 bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", dtype: Any = None) -> None:
        if isinstance(padding, str):
            fail(TypeError, f"ConvTranspose2d: padding must be an int or 2 of them, got {padding!r}")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype)
        self.output_padding = tuple(numbers(output_padding, 2, "output_padding", "ConvTranspose2d", 0))

    def construct(self, input: Tensor, output_size: Any = None) -> Tensor:
        extra: Any = self.output_padding
        if output_size is not None:
            wanted, pads = numbers(tuple(output_size)[-2:], 2, "output_size", "ConvTranspose2d", 1), self._pads[::2]
            least = [(n - 1) * s - 2 * p + d * (k - 1) + 1
                     for n, s, p, d, k in zip(input.shape[-2:], self.stride, pads, self.dilation, self.kernel_size)]
            extra = tuple(w - n for w, n in zip(wanted, least))
            if any(not 0 <= e < s for e, s in zip(extra, self.stride)):
                fail(ValueError, f"ConvTranspose2d: output_size {tuple(wanted)} is not within stride {self.stride} of {tuple(least)}")
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)
