"""Primitives of second-order training.

Written by scripts/python_stubs.py; do not edit."""

from typing import Any
from sindri._core import Tensor
from sindri.ops.primitive import Primitive

__all__ = [
    "CusBatchMatMul", "CusCholeskyTrsm", "CusFusedAbsMax1", "CusImg2Col", "CusMatMulCube", "CusMatMulCubeDenseLeft", "CusMatMulCubeDenseRight",
    "CusMatMulCubeFraczLeftCast", "CusMatMulCubeFraczRightMul", "CusMatrixCombine", "CusTranspose02314", "LoadIm2Col", "Im2Col", "CholeskyTrsm",
    "UpdateThorGradient",
]


class CusBatchMatMul(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusCholeskyTrsm(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusFusedAbsMax1(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusImg2Col(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusMatMulCube(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusMatMulCubeDenseLeft(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusMatMulCubeDenseRight(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusMatMulCubeFraczLeftCast(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusMatMulCubeFraczRightMul(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusMatrixCombine(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CusTranspose02314(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class LoadIm2Col(Primitive):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Im2Col(Primitive):
    def __init__(
        self, ksizes: Any = None, strides: Any = 1, dilations: Any = 1, pads: Any = 0, *, kernel_size: Any = None, pad_mode: str = 'valid',
        pad: Any = 0, stride: Any = 1, dilation: Any = 1,
    ) -> None: ...
    def __call__(self, x: Tensor) -> Tensor: ...

class CholeskyTrsm(Primitive):
    def __init__(self, lower: bool = False, clean: bool = True, split_dim: int = 0) -> None: ...
    def __call__(self, x: Tensor) -> Tensor: ...

class UpdateThorGradient(Primitive):
    def __init__(self, split_dim: int = 1) -> None: ...
    def __call__(self, x1: Tensor, g: Tensor, x3: Tensor) -> Tensor: ...
