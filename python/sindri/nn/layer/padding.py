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
    """Pads `_dims` dimensions, the last one first: padding is one int for every side or (left, right, top, bottom, …).

    Raises TypeError unless padding is an int or a tuple, ValueError for a wrong count, negative numbers where the mode takes none or that
    cut more than there is, and inputs of another rank.
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
    """Pads with one number."""

    def __init__(self, padding: Padding, value: Any) -> None:
        super().__init__(padding)
        check_float(self.cls_name, "value", value)
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        return ops.pad(x, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPad):
    """The last dimension padded with value; negative numbers cut."""


class ConstantPad2d(_ConstantPad):
    """The last two dimensions padded with value; negative numbers cut."""

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """The last three dimensions padded with value; negative numbers cut."""

    _dims = 3


class ZeroPad2d(_Pad):
    """The last two dimensions padded with zeros; negative numbers cut."""

    _dims = 2


class ReflectionPad1d(_Pad):
    """[N, C, W] or [C, W] mirrored at both ends, without the end itself."""

    _mode, _ranks = "reflect", (2, 3)


class ReflectionPad2d(_Pad):
    """[N, C, H, W] or [C, H, W] mirrored at its sides, without the side itself."""

    _dims, _mode, _ranks = 2, "reflect", (3, 4)


class ReflectionPad3d(_Pad):
    """[N, C, D, H, W] or [C, D, H, W] mirrored at its sides, without the side itself."""

    _dims, _mode, _ranks = 3, "reflect", (4, 5)


class ReplicationPad1d(_Pad):
    """[N, C, W] or [C, W] with its ends repeated."""

    _mode, _ranks = "replicate", (2, 3)


class ReplicationPad2d(_Pad):
    """[N, C, H, W] or [C, H, W] with its sides repeated."""

    _dims, _mode, _ranks = 2, "replicate", (3, 4)


class ReplicationPad3d(_Pad):
    """[N, C, D, H, W] or [C, D, H, W] with its sides repeated."""

    _dims, _mode, _ranks = 3, "replicate", (4, 5)
