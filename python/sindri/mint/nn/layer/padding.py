"""Padding layers of mindspore.mint.nn."""
from __future__ import annotations

from typing import Any, Tuple

from sindri._check import check_float, check_type, fail, is_int
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d", "ReflectionPad1d", "ReflectionPad2d",
           "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d"]


class _Pad(Cell):
    """Pads the last `_dims` dimensions: padding is one int for every side, or (left, right, top, bottom, ...). Raises
    TypeError or ValueError.
    """

    _dims, _mode = 1, "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        pads = (padding,) * (2 * self._dims) if is_int(padding) else check_type(self.cls_name, "padding", padding, (tuple, list))
        self.padding: Tuple[int, ...] = tuple(pads)
        if not all(is_int(p) for p in self.padding):
            fail(TypeError, f"{self.cls_name}: padding must hold ints, got {self.padding}")
        if len(self.padding) != 2 * self._dims:
            fail(ValueError, f"{self.cls_name}: padding must be one int or {2 * self._dims}, got {self.padding}")

    def construct(self, input: Tensor) -> Tensor:
        if self._mode != "constant" and len(input.shape) not in (self._dims + 1, self._dims + 2):
            fail(ValueError, f"{self.cls_name}: the input must have {self._dims + 1} or {self._dims + 2} dimensions, got shape {tuple(input.shape)}")
        return F.pad(input, self.padding, self._mode)

    def extend_repr(self) -> str:
        return f"padding={self.padding}"


class _ConstantPad(_Pad):
    """Pads with one number."""

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding)
        check_float(self.cls_name, "value", value)
        self.value = value

    def construct(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a value; negative numbers remove elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 2 as (left, right).
        value (number): The value.

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ConstantPad1d(1, 9.0)(ms.Tensor([[1.0, 2.0]])))
        [[9. 1. 2. 9.]]
    """

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a value; negative numbers remove elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 4 as (left, right, top, bottom).
        value (number): The value.

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ConstantPad2d(1, 9.0)(ms.Tensor([[[1.0, 2.0], [3.0, 4.0]]])))
        [[[9. 9. 9. 9.]
          [9. 1. 2. 9.]
          [9. 3. 4. 9.]
          [9. 9. 9. 9.]]]
    """

    _dims = 2

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a value; negative numbers remove elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 6 as (left, right, top, bottom, front, back).
        value (number): The value.

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ConstantPad3d(1, 9.0)(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 4, 4, 4)
    """

    _dims = 3

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ZeroPad1d(_Pad):
    """Pads the last dimension with zeros; negative numbers remove elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 2 as (left, right).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ZeroPad1d(1)(ms.Tensor([[1.0, 2.0]])))
        [[0. 1. 2. 0.]]
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad2d(_Pad):
    """Pads the last two dimensions with zeros; negative numbers remove elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 4 as (left, right, top, bottom).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ZeroPad2d(1)(ms.Tensor([[[1.0, 2.0], [3.0, 4.0]]])))
        [[[0. 0. 0. 0.]
          [0. 1. 2. 0.]
          [0. 3. 4. 0.]
          [0. 0. 0. 0.]]]
    """

    _dims = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad3d(_Pad):
    """Pads the last three dimensions with zeros; negative numbers remove elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 6 as (left, right, top, bottom, front, back).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ZeroPad3d(1)(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 4, 4, 4)
    """

    _dims = 3

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad1d(_Pad):
    """Pads the last dimension by mirroring at the borders, without the border element.

    Args:
        padding (int or sequence of ints): One number for every side, or 2 as (left, right).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReflectionPad1d(1)(ms.Tensor([[1.0, 2.0]])))
        [[2. 1. 2. 1.]]
    """

    _mode = "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad2d(_Pad):
    """Pads the last two dimensions by mirroring at the borders, without the border element.

    Args:
        padding (int or sequence of ints): One number for every side, or 4 as (left, right, top, bottom).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReflectionPad2d(1)(ms.Tensor([[[1.0, 2.0], [3.0, 4.0]]])))
        [[[4. 3. 4. 3.]
          [2. 1. 2. 1.]
          [4. 3. 4. 3.]
          [2. 1. 2. 1.]]]
    """

    _dims, _mode = 2, "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad3d(_Pad):
    """Pads the last three dimensions by mirroring at the borders, without the border element.

    Args:
        padding (int or sequence of ints): One number for every side, or 6 as (left, right, top, bottom, front, back).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReflectionPad3d(1)(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 4, 4, 4)
    """

    _dims, _mode = 3, "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad1d(_Pad):
    """Pads the last dimension by repeating the border elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 2 as (left, right).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReplicationPad1d(1)(ms.Tensor([[1.0, 2.0]])))
        [[1. 1. 2. 2.]]
    """

    _mode = "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad2d(_Pad):
    """Pads the last two dimensions by repeating the border elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 4 as (left, right, top, bottom).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReplicationPad2d(1)(ms.Tensor([[[1.0, 2.0], [3.0, 4.0]]])))
        [[[1. 1. 2. 2.]
          [1. 1. 2. 2.]
          [3. 3. 4. 4.]
          [3. 3. 4. 4.]]]
    """

    _dims, _mode = 2, "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad3d(_Pad):
    """Pads the last three dimensions by repeating the border elements.

    Args:
        padding (int or sequence of ints): One number for every side, or 6 as (left, right, top, bottom, front, back).

    Raises:
        TypeError: If `padding` is not of ints.
        ValueError: If the count of `padding` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.ReplicationPad3d(1)(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 4, 4, 4)
    """

    _dims, _mode = 3, "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
