"""Pooling layers of mindspore.mint.nn."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from sindri._check import check_bool
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell

__all__ = ["AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool2d", "MaxUnpool2d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d",
           "AdaptiveMaxPool1d", "AdaptiveMaxPool2d"]


class _AvgPool(Cell):
    """Base class of layers that average windows; the arguments are the function's."""

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
    """Computes the means of windows of signals [n, c, l] or [c, l]; see `functional.avg_pool1d`.

    Args:
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding with zeros, at most half the window. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AvgPool1d(2)(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]])))
        [[[1.5 3.5]]]
    """

    _pool: Any = staticmethod(F.avg_pool1d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)


class AvgPool2d(_AvgPool):
    """Computes the means of windows of images [n, c, h, w] or [c, h, w]; see `functional.avg_pool2d`.

    Args:
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding with zeros, at most half the window. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.
        divisor_override (int): A divisor of the sums; None divides by the size of the window. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AvgPool2d(2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """

    _pool: Any = staticmethod(F.avg_pool2d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: Optional[int] = None) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


class AvgPool3d(_AvgPool):
    """Computes the means of windows of volumes [n, c, d, h, w] or [c, d, h, w]; see `functional.avg_pool3d`.

    Args:
        kernel_size (int or sequence of ints): The window.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding with zeros, at most half the window. Default: 0.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.
        count_include_pad (bool): Whether padding counts in the divisor. Default: True.
        divisor_override (int): A divisor of the sums; None divides by the size of the window. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AvgPool3d(2)(ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[1.]]]]]
    """

    _pool: Any = staticmethod(F.avg_pool3d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: Optional[int] = None) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


class MaxPool2d(Cell):
    """Computes the maxima of windows of images [n, c, h, w] or [c, h, w]; see `functional.max_pool2d`.

    Args:
        kernel_size (int or sequence of ints): The window. Default: 1.
        stride (int or sequence of ints): The step of the windows; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): The padding, which does not count, at most half the window. Default: 0.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.
        ceil_mode (bool): Whether partial windows at the end count. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the arguments are incompatible; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.MaxPool2d(2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    def __init__(self, kernel_size: Any = 1, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.return_indices = check_bool("MaxPool2d", "return_indices", return_indices)
        self.ceil_mode = check_bool("MaxPool2d", "ceil_mode", ceil_mode)

    def construct(self, input: Tensor) -> Any:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxUnpool2d(Cell):
    """Writes maxima back to their positions; see `functional.max_unpool2d`. A call accepts `output_size`.

    Args:
        kernel_size (int or sequence of ints): The window of the pooling.
        stride (int or sequence of ints): Its stride; None means `kernel_size`. Default: None.
        padding (int or sequence of ints): Its padding. Default: 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.MaxUnpool2d(2)(ms.Tensor([[[[4.0]]]]), ms.Tensor([[[[3]]]])))
        [[[[0. 0.]
           [0. 4.]]]]
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, input: Tensor, indices: Tensor, output_size: Optional[Sequence[int]] = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _Adaptive(Cell):
    """Base class of layers whose output_size windows cover the input evenly."""

    _pool: Callable[..., Any]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Tensor) -> Any:
        return type(self)._pool(input, self.output_size)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Computes the means over windows that cover signals [n, c, l] or [c, l].

    Args:
        output_size (int or sequence of ints): The number of windows per dimension.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AdaptiveAvgPool1d(2)(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]])))
        [[[1.5 3.5]]]
    """

    _pool: Any = staticmethod(F.adaptive_avg_pool1d)

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Computes the means over windows that cover images [n, c, h, w] or [c, h, w].

    Args:
        output_size (int or sequence of ints): The number of windows per dimension; None keeps a size.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AdaptiveAvgPool2d(1)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """

    _pool: Any = staticmethod(F.adaptive_avg_pool2d)

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Computes the means over windows that cover volumes [n, c, d, h, w] or [c, d, h, w].

    Args:
        output_size (int or sequence of ints): The number of windows per dimension; None keeps a size.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AdaptiveAvgPool3d(1)(ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[1.]]]]]
    """

    _pool: Any = staticmethod(F.adaptive_avg_pool3d)

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size)


class _AdaptiveMax(_Adaptive):
    """Base class of adaptive maximum pooling; with return_indices also the int64 positions."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = check_bool(self.cls_name, "return_indices", return_indices)

    def construct(self, input: Tensor) -> Any:
        return type(self)._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Computes the maxima over windows that cover signals [n, c, l] or [c, l].

    Args:
        output_size (int or sequence of ints): The number of windows per dimension.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Raises:
        TypeError: If `return_indices` is not a bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AdaptiveMaxPool1d(2)(ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]])))
        [[[2. 4.]]]
    """

    _pool: Any = staticmethod(F.adaptive_max_pool1d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size, return_indices)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Computes the maxima over windows that cover images [n, c, h, w] or [c, h, w].

    Args:
        output_size (int or sequence of ints): The number of windows per dimension; None keeps a size.
        return_indices (bool): Whether to return the positions of the maxima too. Default: False.

    Raises:
        TypeError: If `return_indices` is not a bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.AdaptiveMaxPool2d(1)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    _pool: Any = staticmethod(F.adaptive_max_pool2d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size, return_indices)
