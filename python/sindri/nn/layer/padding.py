"""Padding of the last one, two or three dimensions."""
from __future__ import annotations

from typing import Any, Sequence, Tuple, Union

from sindri import ops
from sindri.common.tensor import Tensor
from sindri._check import check_float, check_type, fail, is_int
from sindri.nn.cell import Cell

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
           "ReplicationPad2d", "ReplicationPad3d", "ZeroPad2d"]

Padding = Union[int, Sequence[int]]


class _Pad(Cell):
    """Pads `_dims` dimensions, the last one first: padding is one int for all sides or (left, right, top, bottom, …).

    Raises TypeError if padding is not an int or a tuple. Raises ValueError for a wrong number of paddings, negative ones that the mode does
    not accept or that crop more than the input has, and inputs of another rank.
    """

    _dims, _mode = 1, "constant"
    _ranks: Tuple[int, ...] = ()

    def __init__(self, padding: Padding) -> None:
        super().__init__()
        who = self.cls_name
        pads: Any = (padding,) * (2 * self._dims) if is_int(padding) else padding
        self.padding = tuple(check_type(who, "padding", pads, (tuple, list)))
        if not all(is_int(p) for p in self.padding):
            fail(TypeError, f"{who}: padding must hold ints, got {self.padding}")
        if len(self.padding) % 2 or not 0 < len(self.padding) <= 2 * self._dims:
            fail(ValueError, f"{who}: padding must be one int or {2 * self._dims}, got {self.padding}")
        if self._mode != "constant" and min(self.padding) < 0:
            fail(ValueError, f"{who}: padding must not be negative, got {self.padding}")

    def construct(self, x: Tensor) -> Tensor:
        if self._ranks and len(x.shape) not in self._ranks:
            fail(ValueError, f"{self.cls_name}: the input must have {' or '.join(map(str, self._ranks))} dimensions, got shape {tuple(x.shape)}")
        return ops.pad(x, self.padding, self._mode)


class _ConstantPad(_Pad):
    """Pads with a constant."""

    def __init__(self, padding: Padding, value: Any) -> None:
        super().__init__(padding)
        check_float(self.cls_name, "value", value)
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        return ops.pad(x, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a constant; negative paddings crop.

    Args:
        padding (int, tuple): (left, right), or one int for both.
        value (float): The constant.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If the number of paddings is wrong, or they crop more than the input has.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ConstantPad1d((1, 2), 9.0)(ms.Tensor([[1.0, 2.0]])))
        [[9. 1. 2. 9. 9.]]
    """


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a constant; negative paddings crop.

    Args:
        padding (int, tuple): (left, right, top, bottom), or one int for all.
        value (float): The constant.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If the number of paddings is wrong, or they crop more than the input has.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.ConstantPad2d((1, 1, 2, 0), 9.0)(ms.ops.ones((1, 3, 4, 4), ms.float32)).shape
        (1, 3, 6, 6)
    """

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a constant; negative paddings crop.

    Args:
        padding (int, tuple): (left, right, top, bottom, head, tail), or one int for all.
        value (float): The constant.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If the number of paddings is wrong, or they crop more than the input has.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.ConstantPad3d(1, 9.0)(ms.ops.ones((1, 3, 4, 4, 4), ms.float32)).shape
        (1, 3, 6, 6, 6)
    """

    _dims = 3


class ZeroPad2d(_Pad):
    """Pads the last two dimensions with zeros; negative paddings crop.

    Args:
        padding (int, tuple): (left, right, top, bottom), or one int for all.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If the number of paddings is wrong, or they crop more than the input has.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ZeroPad2d((1, 0, 0, 1))(ms.Tensor([[[[1.0, 2.0]]]])))
        [[[[0. 1. 2.]
           [0. 0. 0.]]]]
    """

    _dims = 2


class ReflectionPad1d(_Pad):
    """Pads [N, C, W] or [C, W] with values mirrored at both ends; the end itself is not repeated.

    Args:
        padding (int, tuple): (left, right), or one int for both; at least 0.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If a padding is negative, their number is wrong or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ReflectionPad1d((1, 2))(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[2. 1. 2. 3. 2. 1.]]
    """

    _mode, _ranks = "reflect", (2, 3)


class ReflectionPad2d(_Pad):
    """Pads [N, C, H, W] or [C, H, W] with values mirrored at the sides; the side itself is not repeated.

    Args:
        padding (int, tuple): (left, right, top, bottom), or one int for all; at least 0.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If a padding is negative, their number is wrong or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.ReflectionPad2d(1)(ms.ops.ones((1, 3, 4, 4), ms.float32)).shape
        (1, 3, 6, 6)
    """

    _dims, _mode, _ranks = 2, "reflect", (3, 4)


class ReflectionPad3d(_Pad):
    """Pads [N, C, D, H, W] or [C, D, H, W] with values mirrored at the sides; the side itself is not repeated.

    Args:
        padding (int, tuple): (left, right, top, bottom, head, tail), or one int for all; at least 0.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If a padding is negative, their number is wrong or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.ReflectionPad3d(1)(ms.ops.ones((1, 3, 4, 4, 4), ms.float32)).shape
        (1, 3, 6, 6, 6)
    """

    _dims, _mode, _ranks = 3, "reflect", (4, 5)


class ReplicationPad1d(_Pad):
    """Pads [N, C, W] or [C, W] by repeating the values at the ends.

    Args:
        padding (int, tuple): (left, right), or one int for both; at least 0.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If a padding is negative, their number is wrong or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ReplicationPad1d((1, 2))(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[1. 1. 2. 3. 3. 3.]]
    """

    _mode, _ranks = "replicate", (2, 3)


class ReplicationPad2d(_Pad):
    """Pads [N, C, H, W] or [C, H, W] by repeating the values at the sides.

    Args:
        padding (int, tuple): (left, right, top, bottom), or one int for all; at least 0.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If a padding is negative, their number is wrong or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.ReplicationPad2d(1)(ms.ops.ones((1, 3, 4, 4), ms.float32)).shape
        (1, 3, 6, 6)
    """

    _dims, _mode, _ranks = 2, "replicate", (3, 4)


class ReplicationPad3d(_Pad):
    """Pads [N, C, D, H, W] or [C, D, H, W] by repeating the values at the sides.

    Args:
        padding (int, tuple): (left, right, top, bottom, head, tail), or one int for all; at least 0.

    Raises:
        TypeError: If `padding` is not an int or a tuple of ints.
        ValueError: If a padding is negative, their number is wrong or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.ReplicationPad3d(1)(ms.ops.ones((1, 3, 4, 4, 4), ms.float32)).shape
        (1, 3, 6, 6, 6)
    """

    _dims, _mode, _ranks = 3, "replicate", (4, 5)
