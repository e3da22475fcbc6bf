"""Pooling layers of mindspore.mint.nn."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from sindri._check import check_bool
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell


class _AvgPool(Cell):
    """Means of windows; arguments as the function's."""

    _pool: Callable[..., Tensor]

    def __init__(self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, *divisor_override: Optional[int]) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode = check_bool(self.cls_name, "ceil_mode", ceil_mode)
        self.count_include_pad = check_bool(self.cls_name, "count_include_pad", count_include_pad)
        self._divisor = divisor_override

    def construct(self, input: Tensor) -> Tensor:
        return type(self)._pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, *self._divisor)


class AvgPool1d(_AvgPool):
    """Means of windows of [n, c, l] or [c, l]; see functional.avg_pool1d."""

    _pool: Any = staticmethod(F.avg_pool1d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)


class AvgPool2d(_AvgPool):
    """Means of windows of [n, c, h, w] or [c, h, w]; see functional.avg_pool2d."""

    _pool: Any = staticmethod(F.avg_pool2d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: Optional[int] = None) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


class AvgPool3d(_AvgPool):
    """Means of windows of [n, c, d, h, w] or [c, d, h, w]; see functional.avg_pool3d."""

    _pool: Any = staticmethod(F.avg_pool3d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: Optional[int] = None) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


class MaxPool2d(Cell):
    """Maxima of windows of [n, c, h, w] or [c, h, w]; see functional.max_pool2d."""

    def __init__(self, kernel_size: Any = 1, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.return_indices = check_bool("MaxPool2d", "return_indices", return_indices)
        self.ceil_mode = check_bool("MaxPool2d", "ceil_mode", ceil_mode)

    def construct(self, input: Tensor) -> Any:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxUnpool2d(Cell):
    """Maxima put back to their places; see functional.max_unpool2d."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, input: Tensor, indices: Tensor, output_size: Optional[Sequence[int]] = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _Adaptive(Cell):
    """Windows that cover the input evenly, output_size of them."""

    _pool: Callable[..., Any]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Tensor) -> Any:
        return type(self)._pool(input, self.output_size)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Means over output_size windows that cover [n, c, l] or [c, l]."""

    _pool: Any = staticmethod(F.adaptive_avg_pool1d)

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Means over output_size windows that cover [n, c, h, w] or [c, h, w]; None keeps a size."""

    _pool: Any = staticmethod(F.adaptive_avg_pool2d)

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Means over output_size windows that cover [n, c, d, h, w] or [c, d, h, w]; None keeps a size."""

    _pool: Any = staticmethod(F.adaptive_avg_pool3d)

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class _AdaptiveMax(_Adaptive):
    """Maxima; with return_indices also their int64 places."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = check_bool(self.cls_name, "return_indices", return_indices)

    def construct(self, input: Tensor) -> Any:
        return type(self)._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima over output_size windows that cover [n, c, l] or [c, l]; with return_indices also their places."""

    _pool: Any = staticmethod(F.adaptive_max_pool1d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size, return_indices)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima over output_size windows that cover [n, c, h, w] or [c, h, w]; with return_indices also their places in the flat image."""

    _pool: Any = staticmethod(F.adaptive_max_pool2d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size, return_indices)
