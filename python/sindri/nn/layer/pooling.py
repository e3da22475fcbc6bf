"""Pooling over windows of one or two dimensions."""
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
    """Checked window, step and padding of a pooling layer over two dimensions."""

    def __init__(self, kernel_size: Size2, stride: Size2, pad_mode: str, padding: Any, ceil_mode: bool, data_format: str) -> None:
        super().__init__()
        who = self.cls_name
        mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode  # 1.x scripts write 'SAME' too
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
    """Maximum of each window: x [N, C, H, W] -> [N, C, OH, OW], or [C, H, W] -> [C, OH, OW].

    The stride is 1 unless given (PyTorch: the kernel size). pad_mode 'valid' (the default), 'same' (pads with -inf, as Conv2d) or 'pad' with
    `padding`, at most half the kernel. With pad_mode 'pad' also dilation, and return_indices: (maxima, their int64 places in the flat image). The
    fourth argument may be data_format, as in MindSpore 1. Raises TypeError or ValueError for sizes, padding and modes out of range, and for dilation
    and return_indices with another mode.
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
    """Average of each window: x [N, C, H, W] -> [N, C, OH, OW]; stride, padding and errors as MaxPool2d.

    count_include_pad counts the zeros of pad_mode 'pad' ('same' never counts its own); divisor_override divides the sums instead of the count.
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
    """Pooling of [N, C, L] or [C, L] as that of a picture of one row."""

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
    """Maximum of each window of [N, C, L] or [C, L]; arguments as MaxPool2d."""

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, dilation: int = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, lambda k, s, m, p: MaxPool2d(k, s, m, p, (1, sizes("MaxPool1d", "dilation", dilation, 1)[0]),
                                                                                          return_indices, ceil_mode))


class AvgPool1d(_Pool1d):
    """Average of each window of [N, C, L] or [C, L]; arguments as AvgPool2d."""

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, lambda k, s, m, p: AvgPool2d(k, s, m, p, ceil_mode, count_include_pad))


class AdaptiveAvgPool2d(Cell):
    """Average over output_size windows that cover [.., H, W] evenly, as in PyTorch; None in output_size keeps that dimension.

    Takes [N, C, H, W] or [C, H, W]. Raises TypeError or ValueError for sizes below 1 and another rank.
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
    """Average over output_size windows that cover the last dimension of [N, C, L] or [C, L] evenly."""

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
    """What adaptive pooling over `_rank` dimensions shares: a size of the output for each, None keeping the input's."""

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
    """Average over output_size windows that cover [N, C, D, H, W] or [C, D, H, W] evenly; None in output_size keeps that dimension.

    Raises TypeError or ValueError for sizes below 1 and another rank.
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
    """Maxima over output_size windows that cover the last dimension of [N, C, L] or [C, L] evenly. Errors as AdaptiveAvgPool3d."""


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima over output_size windows that cover [N, C, H, W] or [C, H, W] evenly; None in output_size keeps that dimension. return_indices: (maxima,
    their int64 places in the flat image). Errors as AdaptiveAvgPool3d."""

    _rank = 2

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = check_bool(self.cls_name, "return_indices", return_indices)


class AdaptiveMaxPool3d(AdaptiveMaxPool2d):
    """As AdaptiveMaxPool2d of [N, C, D, H, W] or [C, D, H, W]."""

    _rank = 3


class _MaxUnpool(Cell):
    """Maxima put back to the places that pooling with return_indices gave."""

    _rank = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, x: Tensor, indices: Tensor, output_size: Optional[Tuple[int, ...]] = None) -> Tensor:
        unpool = (max_unpool1d, max_unpool2d, max_unpool3d)[self._rank - 1]
        return unpool(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """Of [N, C, L] or [C, L]; see ops.max_unpool1d."""


class MaxUnpool2d(_MaxUnpool):
    """Of [N, C, H, W] or [C, H, W]; see ops.max_unpool2d."""

    _rank = 2


class MaxUnpool3d(_MaxUnpool):
    """Of [N, C, D, H, W] or [C, D, H, W]; see ops.max_unpool3d."""

    _rank = 3


class _LPPool(Cell):
    """The settings of power-mean pooling."""

    def __init__(self, norm_type: float, kernel_size: Size2, stride: Optional[Size2] = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, check_bool(self.cls_name, "ceil_mode", ceil_mode)


class LPPool1d(_LPPool):
    """(sum of x^norm_type)^(1/norm_type) over windows of [N, C, L] or [C, L]; stride None: kernel_size. Raises TypeError, ValueError."""

    def construct(self, x: Tensor) -> Tensor:
        return lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPool):
    """(sum of x^norm_type)^(1/norm_type) over windows of [N, C, H, W] or [C, H, W]; stride None: kernel_size. Raises TypeError, ValueError."""

    def construct(self, x: Tensor) -> Tensor:
        return lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
