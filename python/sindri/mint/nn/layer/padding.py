"""Padding layers of mindspore.mint.nn."""
from __future__ import annotations

from typing import Any, Tuple

from sindri._check import check_float, check_type, fail, is_int
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell


class _Pad(Cell):
    """Pads the last `_dims` dimensions: padding is one int for every side, or (left, right, top, bottom, ...). Raises TypeError or ValueError."""

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
    """The last dimension padded with value; negative numbers cut."""

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ConstantPad2d(_ConstantPad):
    """The last two dimensions padded with value; negative numbers cut."""

    _dims = 2

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ConstantPad3d(_ConstantPad):
    """The last three dimensions padded with value; negative numbers cut."""

    _dims = 3

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ZeroPad1d(_Pad):
    """The last dimension padded with zeros; negative numbers cut."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad2d(_Pad):
    """The last two dimensions padded with zeros; negative numbers cut."""

    _dims = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad3d(_Pad):
    """The last three dimensions padded with zeros; negative numbers cut."""

    _dims = 3

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad1d(_Pad):
    """The last dimension mirrored at the borders, without the border element."""

    _mode = "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad2d(_Pad):
    """The last two dimensions mirrored at the borders, without the border element."""

    _dims, _mode = 2, "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad3d(_Pad):
    """The last three dimensions mirrored at the borders, without the border element."""

    _dims, _mode = 3, "reflect"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad1d(_Pad):
    """The last dimension with the border elements repeated."""

    _mode = "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad2d(_Pad):
    """The last two dimensions with the border elements repeated."""

    _dims, _mode = 2, "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad3d(_Pad):
    """The last three dimensions with the border elements repeated."""

    _dims, _mode = 3, "replicate"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
