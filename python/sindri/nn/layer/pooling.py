"""Pooling over windows of one, two or three dimensions."""
from __future__ import annotations

from typing import Any, Callable, Optional, Tuple, Union

from sindri import _core
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_int, fail, is_int, sizes
from sindri.nn._padding import Padder, check_padding
from sindri.nn.cell import Cell
from sindri.nn.layer.conv import check_format
from sindri.ops._util import MOST_WINDOWS
from sindri.ops.function.pooling_func import (adaptive_max_pool, avg_pool2d, dilated_max_pool, lp_pool1d, lp_pool2d, max_pool_with_places,
                                              max_unpool1d, max_unpool2d, max_unpool3d)
from sindri.ops.function.volume_func import adaptive_avg_pool3d

__all__ = ["AvgPool2d", "MaxPool2d", "AvgPool1d", "MaxPool1d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
           "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "LPPool1d", "LPPool2d", "MaxUnpool1d", "MaxUnpool2d",
           "MaxUnpool3d"]

_ops = _core.ops
Size2 = Union[int, Tuple[int, int]]


class _Pool(Cell):
    """Checked window, stride and padding of a pooling layer over two dimensions."""

    def __init__(self, kernel_size: Size2, stride: Size2, pad_mode: str, padding: Any, ceil_mode: bool, data_format: str) -> None:
        super().__init__()
        who = self.cls_name
        mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode  # MindSpore 1.x scripts also write 'SAME'
        self.kernel_size, self.stride = kernel_size, stride
        self.pad_mode, self.padding, self.ceil_mode, self.format = pad_mode, padding, check_bool(who, "ceil_mode", ceil_mode), data_format
        self._kernel, self._step = sizes(who, "kernel_size", kernel_size, 2), sizes(who, "stride", stride, 2)
        pads = check_padding(who, mode, padding)
        for size, before, after in zip(self._kernel, pads[0::2], pads[1::2]):
            if 2 * max(before, after) > size:
                fail(ValueError, f"{who}: padding {padding} is more than half the kernel {self._kernel}")
        if ceil_mode and mode == "same":
            fail(ValueError, f"{who}: ceil_mode does not go with pad_mode 'same'")
        self._nhwc = check_format(who, data_format)
        self._pads = Padder(mode, pads, self._kernel, self._step)
        self._counts_pads = mode == "pad"

    def _pool(self, x: Tensor, pool: Callable[..., Any], **extra: Any) -> Any:
        shape = x.shape
        if len(shape) == 3 and not self._nhwc:
            y = self._pool(_ops.expand_dims(x, 0), pool, **extra)
            return tuple(_ops.squeeze(v, 0) for v in y) if isinstance(y, tuple) else _ops.squeeze(y, 0)
        if len(shape) != 4:
            fail(ValueError, f"{self.cls_name}: the input must have {'4' if self._nhwc else '3 or 4'} dimensions, got shape {tuple(shape)}")
        if self._nhwc:
            x = _ops.transpose(x, (0, 3, 1, 2))
            y = pool(x, kernel=self._kernel, stride=self._step, pad=self._pads(shape[1], shape[2]), ceil_mode=self.ceil_mode, **extra)
            return tuple(_ops.transpose(v, (0, 2, 3, 1)) for v in y) if isinstance(y, tuple) else _ops.transpose(y, (0, 2, 3, 1))
        return pool(x, kernel=self._kernel, stride=self._step, pad=self._pads(shape[2], shape[3]), ceil_mode=self.ceil_mode, **extra)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool2d(_Pool):
    """2D max pooling: x [N, C, H, W] -> [N, C, OH, OW], or [C, H, W] -> [C, OH, OW].

    Args:
        kernel_size (int, tuple): The height and width of the window. Default: 1.
        stride (int, tuple): The distance between windows. Default: 1 (PyTorch: the kernel size).
        pad_mode (str): "valid" does not pad; "same" pads with -inf as Conv2d does; "pad" pads by `padding`. Default: "valid".
        padding (int, tuple): The padding with `pad_mode` "pad", at most half the kernel; or the data format, as in MindSpore 1. Default: 0.
        dilation (int, tuple): The distance between window elements; needs `pad_mode` "pad" if not 1. Default: 1.
        return_indices (bool): Whether to return (maxima, their int64 positions in the flattened image); needs `pad_mode` "pad".
            Default: False.
        ceil_mode (bool): Whether output sizes are rounded up; not with "same". Default: False.
        data_format (str): "NCHW", or "NHWC" with device_target "GPU". Default: "NCHW".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size, padding or mode is out of range, or `dilation` or `return_indices` is given with another mode.

    Examples:
        >>> import sindri as ms
        >>> x = ms.Tensor([[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]])
        >>> print(ms.nn.MaxPool2d(2, stride=2)(x))
        [[[[6. 8.]]]]
    """

    def __init__(self, kernel_size: Size2 = 1, stride: Size2 = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Size2 = 1,
                 return_indices: bool = False, ceil_mode: bool = False, data_format: str = "NCHW") -> None:
        if isinstance(padding, str):
            padding, data_format = 0, padding
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        self.dilation = dilation
        self._dilation = sizes("MaxPool2d", "dilation", dilation, 2)
        self.return_indices = check_bool("MaxPool2d", "return_indices", return_indices)
        if self.pad_mode != "pad" and (return_indices or self._dilation != (1, 1)):
            fail(ValueError, f"MaxPool2d: {'return_indices' if return_indices else 'dilation'} goes with pad_mode 'pad', got {pad_mode!r}")

    def construct(self, x: Tensor) -> Any:
        if self._dilation != (1, 1):
            return self._pool(x, dilated_max_pool, dilation=self._dilation, places=self.return_indices)
        return self._pool(x, max_pool_with_places if self.return_indices else _ops.max_pool2d)


class AvgPool2d(_Pool):
    """2D average pooling: x [N, C, H, W] -> [N, C, OH, OW], or [C, H, W] -> [C, OH, OW].

    Args:
        kernel_size (int, tuple): The height and width of the window. Default: 1.
        stride (int, tuple): The distance between windows. Default: 1 (PyTorch: the kernel size).
        pad_mode (str): "valid", "same" or "pad", as in MaxPool2d. Default: "valid".
        padding (int, tuple): The zeros added with `pad_mode` "pad", at most half the kernel; or the data format, as in MindSpore 1.
            Default: 0.
        ceil_mode (bool): Whether output sizes are rounded up; not with "same". Default: False.
        count_include_pad (bool): Whether the zeros of `pad_mode` "pad" count; those of "same" never count. Default: True.
        divisor_override (int): Divides the sums instead of the number of elements; above 0. Default: None.
        data_format (str): "NCHW", or "NHWC" with device_target "GPU". Default: "NCHW".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size, padding or mode is out of range.

    Examples:
        >>> import sindri as ms
        >>> x = ms.Tensor([[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]])
        >>> print(ms.nn.AvgPool2d(2, stride=2)(x))
        [[[[3.5 5.5]]]]
    """

    def __init__(self, kernel_size: Size2 = 1, stride: Size2 = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: Optional[int] = None, data_format: str = "NCHW") -> None:
        if isinstance(padding, str):
            padding, data_format = 0, padding
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        self.count_include_pad = check_bool("AvgPool2d", "count_include_pad", count_include_pad)
        self.divisor_override = divisor_override
        if divisor_override is not None:
            check_int("AvgPool2d", "divisor_override", divisor_override, 1)

    def construct(self, x: Tensor) -> Tensor:
        if self.divisor_override is None:
            return self._pool(x, _ops.avg_pool2d, count_include_pad=self._counts_pads and self.count_include_pad)
        divisor = self.divisor_override
        return self._pool(x, lambda v, kernel, stride, pad, ceil_mode: avg_pool2d(v, kernel, stride, pad, ceil_mode, divisor_override=divisor))


class _Pool1d(Cell):
    """Pools [N, C, L] or [C, L] as an image with one row."""

    def __init__(self, kernel_size: int, stride: int, pad_mode: str, padding: Any, make: Callable[..., Cell]) -> None:
        super().__init__()
        who = self.cls_name
        self.kernel_size, self.stride, self.pad_mode, self.padding = kernel_size, stride, pad_mode, padding
        kernel, step = sizes(who, "kernel_size", kernel_size, 1)[0], sizes(who, "stride", stride, 1)[0]
        if isinstance(padding, (tuple, list)):
            if len(padding) not in (1, 2):
                fail(ValueError, f"{who}: padding must be an int or (before, after), got {tuple(padding)!r}")
            before, after = padding[0], padding[-1]
        else:
            before = after = padding
        self._rows = make((1, kernel), (1, step), pad_mode, (0, 0, before, after))

    def construct(self, x: Tensor) -> Any:
        rank = len(x.shape)
        if rank not in (2, 3):
            fail(ValueError, f"{self.cls_name}: the input must have 2 or 3 dimensions, got shape {tuple(x.shape)}")
        y = _ops.expand_dims(x if rank == 3 else _ops.expand_dims(x, 0), 2)
        y = self._rows.construct(y)
        out = tuple(_ops.squeeze(v, 2) if rank == 3 else _ops.squeeze(_ops.squeeze(v, 2), 0) for v in (y if isinstance(y, tuple) else (y,)))
        return out if isinstance(y, tuple) else out[0]

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool1d(_Pool1d):
    """1D max pooling: x [N, C, L] -> [N, C, OL], or [C, L] -> [C, OL].

    Args:
        kernel_size (int): The size of the window. Default: 1.
        stride (int): The distance between windows. Default: 1.
        pad_mode (str): "valid", "same" or "pad", as in MaxPool2d. Default: "valid".
        padding (int, tuple): The padding with `pad_mode` "pad": an int or (before, after). Default: 0.
        dilation (int): The distance between window elements; needs `pad_mode` "pad" if not 1. Default: 1.
        return_indices (bool): Whether to return (maxima, their int64 positions); needs `pad_mode` "pad". Default: False.
        ceil_mode (bool): Whether output sizes are rounded up. Default: False.

    Raises:
        TypeError: As in MaxPool2d.
        ValueError: As in MaxPool2d.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MaxPool1d(2, stride=2)(ms.Tensor([[[1.0, 3.0, 2.0, 4.0]]])))
        [[[3. 4.]]]
    """

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, dilation: int = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, lambda k, s, m, p: MaxPool2d(k, s, m, p, (1, sizes("MaxPool1d", "dilation", dilation, 1)[0]),
                                                                                          return_indices, ceil_mode))


class AvgPool1d(_Pool1d):
    """1D average pooling: x [N, C, L] -> [N, C, OL], or [C, L] -> [C, OL].

    Args:
        kernel_size (int): The size of the window. Default: 1.
        stride (int): The distance between windows. Default: 1.
        pad_mode (str): "valid", "same" or "pad", as in MaxPool2d. Default: "valid".
        padding (int, tuple): The zeros added with `pad_mode` "pad": an int or (before, after). Default: 0.
        ceil_mode (bool): Whether output sizes are rounded up. Default: False.
        count_include_pad (bool): Whether the zeros of `pad_mode` "pad" count. Default: True.

    Raises:
        TypeError: As in AvgPool2d.
        ValueError: As in AvgPool2d.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.AvgPool1d(2, stride=2)(ms.Tensor([[[1.0, 3.0, 2.0, 4.0]]])))
        [[[2. 3.]]]
    """

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, lambda k, s, m, p: AvgPool2d(k, s, m, p, ceil_mode, count_include_pad))


class AdaptiveAvgPool2d(Cell):
    """Averages over output_size windows that cover [N, C, H, W] or [C, H, W] evenly, as in PyTorch.

    Args:
        output_size (int, tuple): The output's height and width; None keeps the input's.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.AdaptiveAvgPool2d((2, None))(ms.ops.ones((1, 3, 5, 7), ms.float32)).shape
        (1, 3, 2, 7)
    """

    def __init__(self, output_size: Union[int, Tuple[Optional[int], Optional[int]]]) -> None:
        super().__init__()
        self.output_size = output_size
        size = (output_size, output_size) if is_int(output_size) or output_size is None else output_size
        if not isinstance(size, (tuple, list)) or len(size) != 2:
            fail(ValueError, f"AdaptiveAvgPool2d: output_size must be an int or two of them, got {output_size!r}")
        self._size = tuple(s if s is None else check_int("AdaptiveAvgPool2d", "output_size", s, 1, MOST_WINDOWS) for s in size)

    def construct(self, x: Tensor) -> Tensor:
        rank = len(x.shape)
        if rank not in (3, 4):
            fail(ValueError, f"AdaptiveAvgPool2d: the input must have 3 or 4 dimensions, got shape {tuple(x.shape)}")
        height, width = (want if want is not None else have for want, have in zip(self._size, x.shape[-2:]))
        if rank == 4:
            return _ops.adaptive_avg_pool2d(x, height, width)
        return _ops.squeeze(_ops.adaptive_avg_pool2d(_ops.expand_dims(x, 0), height, width), 0)


class AdaptiveAvgPool1d(Cell):
    """Averages over output_size windows that cover the last dimension of [N, C, L] or [C, L] evenly.

    Args:
        output_size (int): The output's length.

    Raises:
        TypeError: If `output_size` is not an int.
        ValueError: If it is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.AdaptiveAvgPool1d(2)(ms.Tensor([[[1.0, 3.0, 2.0, 4.0]]])))
        [[[2. 3.]]]
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = check_int("AdaptiveAvgPool1d", "output_size", output_size, 1, MOST_WINDOWS)

    def construct(self, x: Tensor) -> Tensor:
        rank = len(x.shape)
        if rank not in (2, 3):
            fail(ValueError, f"AdaptiveAvgPool1d: the input must have 2 or 3 dimensions, got shape {tuple(x.shape)}")
        rows = _ops.expand_dims(x if rank == 3 else _ops.expand_dims(x, 0), 2)
        y = _ops.squeeze(_ops.adaptive_avg_pool2d(rows, 1, self.output_size), 2)
        return y if rank == 3 else _ops.squeeze(y, 0)


class _Adaptive(Cell):
    """Base of adaptive pooling over `_rank` dimensions: one output size for each; None keeps the input's size."""

    _rank = 1

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size
        size = (output_size,) * self._rank if is_int(output_size) or output_size is None else output_size
        if not isinstance(size, (tuple, list)) or len(size) != self._rank:
            fail(ValueError, f"{self.cls_name}: output_size must be an int{f' or {self._rank} of them' if self._rank > 1 else ''}, got {output_size!r}")
        self._size = tuple(s if s is None else check_int(self.cls_name, "output_size", s, 1, MOST_WINDOWS) for s in size)

    def _sizes(self, x: Tensor) -> Tuple[int, ...]:
        if len(x.shape) not in (self._rank + 1, self._rank + 2):
            fail(ValueError, f"{self.cls_name}: the input must have {self._rank + 1} or {self._rank + 2} dimensions, got shape {tuple(x.shape)}")
        return tuple(want if want is not None else have for want, have in zip(self._size, x.shape[-self._rank:]))

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool3d(_Adaptive):
    """Averages over output_size windows that cover [N, C, D, H, W] or [C, D, H, W] evenly.

    Args:
        output_size (int, tuple): The output's depth, height and width; None keeps the input's.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.AdaptiveAvgPool3d(2)(ms.ops.ones((1, 3, 4, 5, 6), ms.float32)).shape
        (1, 3, 2, 2, 2)
    """

    _rank = 3

    def construct(self, x: Tensor) -> Tensor:
        return adaptive_avg_pool3d(x, self._sizes(x))


class _AdaptiveMax(_Adaptive):
    """Maxima over output_size windows that cover the last dimensions evenly."""

    return_indices = False

    def construct(self, x: Tensor) -> Any:
        y, places = adaptive_max_pool(x, self._sizes(x), self.return_indices, self.cls_name)
        return (y, places) if self.return_indices else y


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima over output_size windows that cover the last dimension of [N, C, L] or [C, L] evenly.

    Args:
        output_size (int): The output's length; None keeps the input's.

    Raises:
        TypeError: If `output_size` is not an int.
        ValueError: If it is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.AdaptiveMaxPool1d(2)(ms.Tensor([[[1.0, 3.0, 2.0, 4.0]]])))
        [[[3. 4.]]]
    """


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima over output_size windows that cover [N, C, H, W] or [C, H, W] evenly.

    Args:
        output_size (int, tuple): The output's height and width; None keeps the input's.
        return_indices (bool): Whether to return (maxima, their int64 positions in the flattened image). Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.AdaptiveMaxPool2d(2)(ms.ops.ones((1, 3, 5, 7), ms.float32)).shape
        (1, 3, 2, 2)
    """

    _rank = 2

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = check_bool(self.cls_name, "return_indices", return_indices)


class AdaptiveMaxPool3d(AdaptiveMaxPool2d):
    """Maxima over output_size windows that cover [N, C, D, H, W] or [C, D, H, W] evenly.

    Args:
        output_size (int, tuple): The output's depth, height and width; None keeps the input's.
        return_indices (bool): Whether to return (maxima, their int64 positions in the flattened volume). Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.AdaptiveMaxPool3d(2)(ms.ops.ones((1, 3, 4, 5, 6), ms.float32)).shape
        (1, 3, 2, 2, 2)
    """

    _rank = 3


class _MaxUnpool(Cell):
    """Places maxima at the positions that pooling with return_indices returned."""

    _rank = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, x: Tensor, indices: Tensor, output_size: Optional[Tuple[int, ...]] = None) -> Tensor:
        unpool = (max_unpool1d, max_unpool2d, max_unpool3d)[self._rank - 1]
        return unpool(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """Inverts max pooling of [N, C, L] or [C, L]; called as `(x, indices, output_size=None)`, see `ops.max_unpool1d`.

    Args:
        kernel_size (int): The size of the window.
        stride (int): The distance between windows. Default: None, the kernel size.
        padding (int): The padding of the pooling. Default: 0.

    Raises:
        TypeError: As `ops.max_unpool1d`.
        ValueError: As `ops.max_unpool1d`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.MaxUnpool1d(2)(ms.Tensor([[[3.0, 4.0]]]), ms.Tensor([[[1, 3]]])))
        [[[0. 3. 0. 4.]]]
    """


class MaxUnpool2d(_MaxUnpool):
    """Inverts max pooling of [N, C, H, W] or [C, H, W]; called as `(x, indices, output_size=None)`, see `ops.max_unpool2d`.

    Args:
        kernel_size (int, tuple): The height and width of the window.
        stride (int, tuple): The distance between windows. Default: None, the kernel size.
        padding (int, tuple): The padding of the pooling. Default: 0.

    Raises:
        TypeError: As `ops.max_unpool2d`.
        ValueError: As `ops.max_unpool2d`.

    Examples:
        >>> import sindri as ms
        >>> pool, x = ms.nn.MaxPool2d(2, 2, pad_mode="pad", return_indices=True), ms.Tensor([[[[1.0, 2.0], [4.0, 3.0]]]])
        >>> print(ms.nn.MaxUnpool2d(2)(*pool(x)))
        [[[[0. 0.]
           [4. 0.]]]]
    """

    _rank = 2


class MaxUnpool3d(_MaxUnpool):
    """Inverts max pooling of [N, C, D, H, W] or [C, D, H, W]; called as `(x, indices, output_size=None)`, see `ops.max_unpool3d`.

    Args:
        kernel_size (int, tuple): The depth, height and width of the window.
        stride (int, tuple): The distance between windows. Default: None, the kernel size.
        padding (int, tuple): The padding of the pooling. Default: 0.

    Raises:
        TypeError: As `ops.max_unpool3d`.
        ValueError: As `ops.max_unpool3d`.

    Examples:
        >>> import sindri as ms
        >>> pool = ms.nn.MaxPool3d(2, 2, pad_mode="pad", return_indices=True)
        >>> ms.nn.MaxUnpool3d(2)(*pool(ms.ops.ones((1, 1, 2, 4, 4), ms.float32))).shape
        (1, 1, 2, 4, 4)
    """

    _rank = 3


class _LPPool(Cell):
    """The arguments of power-mean pooling."""

    def __init__(self, norm_type: float, kernel_size: Size2, stride: Optional[Size2] = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, check_bool(self.cls_name, "ceil_mode", ceil_mode)


class LPPool1d(_LPPool):
    """Power-mean pooling: (sum of x^norm_type)^(1/norm_type) over windows of [N, C, L] or [C, L].

    Args:
        norm_type (float): The exponent.
        kernel_size (int): The size of the window.
        stride (int): The distance between windows. Default: None, the kernel size.
        ceil_mode (bool): Whether output sizes are rounded up. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LPPool1d(2.0, 2)(ms.Tensor([[[3.0, 4.0, 6.0, 8.0]]])))
        [[[ 5. 10.]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        return lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPool):
    """Power-mean pooling: (sum of x^norm_type)^(1/norm_type) over windows of [N, C, H, W] or [C, H, W].

    Args:
        norm_type (float): The exponent.
        kernel_size (int, tuple): The height and width of the window.
        stride (int, tuple): The distance between windows. Default: None, the kernel size.
        ceil_mode (bool): Whether output sizes are rounded up. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LPPool2d(2.0, (1, 2))(ms.Tensor([[[[3.0, 4.0]]]])))
        [[[[5.]]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        return lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
