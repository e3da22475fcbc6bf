"""Primitives of second-order training.

Im2Col, CholeskyTrsm and UpdateThorGradient are the ones that the GPU form of THOR uses. The names with Cus exist for
Ascend only: they can be imported, but constructing one raises RuntimeError.
"""
from __future__ import annotations

from typing import Any

from sindri import context
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core, pair
from sindri.ops.function.nn_func import spatial_pads
from sindri.ops.function.pooling_func import windows
from sindri.ops.primitive import Primitive, primitive

__all__ = ["CusBatchMatMul", "CusCholeskyTrsm", "CusFusedAbsMax1", "CusImg2Col", "CusMatMulCube", "CusMatMulCubeDenseLeft", "CusMatMulCubeDenseRight",
           "CusMatMulCubeFraczLeftCast", "CusMatMulCubeFraczRightMul", "CusMatrixCombine", "CusTranspose02314", "LoadIm2Col", "Im2Col",
           "CholeskyTrsm",
           "UpdateThorGradient"]


def _ascend_only(name: str) -> type:
    def __init__(self, *args: Any, **kwargs: Any):
        fail(RuntimeError, f"{name} runs on Ascend only", f"ops.{name}", "use the classes for GPU: Im2Col, CholeskyTrsm, UpdateThorGradient")
    doc = "An Ascend kernel.\n\n    Raises:\n        RuntimeError: When it is constructed."
    return type(name, (Primitive,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


(CusBatchMatMul, CusCholeskyTrsm, CusFusedAbsMax1, CusImg2Col, CusMatMulCube, CusMatMulCubeDenseLeft, CusMatMulCubeDenseRight,
 CusMatMulCubeFraczLeftCast,
 CusMatMulCubeFraczRightMul, CusMatrixCombine, CusTranspose02314, LoadIm2Col) = map(_ascend_only, __all__[:12])


class Im2Col(Primitive):
    """Extracts windows of images as columns, in two forms under one name.

    THOR: Im2Col(kernel_size=…, pad_mode='valid', pad=0, stride=1, dilation=1) maps [n, c, h, w] to [c, kh, kw, n, oh,
    ow]; with SINDRI_MINDSPORE_ERA=1 to [c·kh·kw, n, oh, ow].

    MindSpore 2.x: Im2Col(ksizes, strides=1, dilations=1, pads=0) maps [n, c, h, w] to [n, c, kh·kw, oh·ow].

    Args:
        ksizes (int or sequence of ints): The window of the second form. Default: None.
        strides (int or sequence of ints): The step of the second form. Default: 1.
        dilations (int or sequence of ints): The dilation of the second form. Default: 1.
        pads (int or sequence of ints): The padding of the second form. Default: 0.
        kernel_size (int or sequence of ints): The window of the first form. Default: None.
        pad_mode (str): "valid", "same" or "pad", in the first form. Default: "valid".
        pad (int or sequence of ints): The padding for "pad", in the first form. Default: 0.
        stride (int or sequence of ints): The step of the first form. Default: 1.
        dilation (int or sequence of ints): The dilation of the first form. Default: 1.

    Raises:
        TypeError: If both or neither of `ksizes` and `kernel_size` are given.
        ValueError: If the kernel does not fit the images.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Im2Col(2)(ms.ops.ones((1, 3, 4, 4))).shape)
        (1, 3, 4, 9)
    """

    def __init__(self, ksizes: Any = None, strides: Any = 1, dilations: Any = 1, pads: Any = 0, *, kernel_size: Any = None, pad_mode: str = "valid",
                 pad: Any = 0,
                 stride: Any = 1, dilation: Any = 1):
        super().__init__("Im2Col")
        if (ksizes is None) == (kernel_size is None):
            fail(TypeError, "expected either ksizes or kernel_size", "ops.Im2Col")
        self.unfold_for_thor = kernel_size is not None
        size, step, spread = (kernel_size, stride, dilation) if self.unfold_for_thor else (ksizes, strides, dilations)
        self.kernel, self.stride, self.dilation = pair(size, "kernel_size", "ops.Im2Col"), pair(step, "stride", "ops.Im2Col"), pair(spread,
                                                                                                                                    "dilation",
                                                                                                                                    "ops.Im2Col")
        self.pad_mode, self.pad = (pad_mode, pad) if self.unfold_for_thor else ("pad", pads)

    def __call__(self, x: Tensor) -> Tensor:
        pads = spatial_pads(self.pad_mode, self.pad, x.shape[2:], self.kernel, self.stride, self.dilation, "ops.Im2Col")
        patches = windows(x, self.kernel, self.stride, self.dilation, pads, "ops.Im2Col")
        n, c, kh, kw, oh, ow = patches.shape
        if self.unfold_for_thor:
            columns = core.transpose(patches, [1, 2, 3, 0, 4, 5])
            return columns if context.era() == 2 else core.reshape(columns, (c * kh * kw, n, oh, ow))
        return core.reshape(patches, (n, c, kh * kw, oh * ow))


def _unit(n: int, dtype: Any) -> Tensor:
    return core.cast(core.equal(core.reshape(core.arange(0, n), (n, 1)), core.reshape(core.arange(0, n), (1, n))), dtype)


def _inverse_factors(x: Tensor, lower: bool = False, clean: bool = True, split_dim: int = 0) -> Tensor:
    """Returns the inverses L⁻¹ of the lower Cholesky factors of a matrix's diagonal blocks; the inverse of a block is
    L⁻ᵀ·L⁻¹.

    The last block is filled up with ones on the diagonal. `lower` and `clean` describe the memory order for
    MindSpore's kernel and have no effect.

    Args:
        x (Tensor): A symmetric positive definite matrix, [n, n].
        lower (bool): No effect. Default: False.
        clean (bool): No effect. Default: True.
        split_dim (int): The size s of the blocks; 0 uses the whole matrix. Default: 0.

    Returns:
        A tensor of shape [blocks, s, s], or [n, n] for split_dim 0.

    Raises:
        ValueError: If `x` is not a square matrix.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.operations.CholeskyTrsm()(ms.Tensor([[4.0, 0.0], [0.0, 1.0]])))
        [[0.5 0. ]
         [0.  1. ]]
    """
    n = x.shape[0]
    if len(x.shape) != 2 or x.shape[1] != n:
        fail(ValueError, f"expected a square matrix, got {x.shape}", "ops.CholeskyTrsm")
    size = n if split_dim == 0 or n <= split_dim else split_dim
    count = -(-n // size)
    whole = core.pad(x, [0, count * size - n, 0, count * size - n])
    blocks = core.stack([core.slice(whole, [i * size, i * size], [(i + 1) * size, (i + 1) * size]) for i in range(count)], 0)
    if count * size > n:
        filler = core.cast(core.greater_equal(core.reshape(core.arange(0, count * size), (count, size, 1)), n), x.dtype)
        blocks = core.add(blocks, core.mul(_unit(size, x.dtype), filler))
    out = core.triangular_solve(core.cholesky(blocks), core.broadcast_to(_unit(size, x.dtype), blocks.shape), True, False)
    return core.squeeze(out, 0) if split_dim == 0 else out


def _update_gradient(x1: Tensor, g: Tensor, x3: Tensor, split_dim: int = 1) -> Tensor:
    """Replaces block (i, j) of g by x1[i]·g_ij·x3[i, j].

    Args:
        x1 (Tensor): The left factors, [a, s, s].
        g (Tensor): The gradient, [rows, columns].
        x3 (Tensor): The right factors, [a, b, s, s].
        split_dim (int): No effect. Default: 1.

    Returns:
        A float32 tensor of g's shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.operations.UpdateThorGradient(1)(ms.Tensor([[[2.0]]]), ms.Tensor([[3.0]]), ms.Tensor([[[[4.0]]]])))
        [[24.]]
    """
    a, b, s = x3.shape[0], x3.shape[1], x3.shape[2]
    rows, columns = g.shape
    whole = core.pad(core.cast(g, mstype.float32), [0, a * s - rows, 0, b * s - columns])
    blocks = core.transpose(core.reshape(whole, (a, s, b, s)), [0, 2, 1, 3])
    out = core.batch_matmul(core.batch_matmul(core.expand_dims(x1, 1), blocks), x3)
    return core.slice(core.reshape(core.transpose(out, [0, 2, 1, 3]), (a * s, b * s)), [0, 0], [rows, columns])


CholeskyTrsm = primitive("CholeskyTrsm", _inverse_factors, lower=False, clean=True, split_dim=0)
UpdateThorGradient = primitive("UpdateThorGradient", _update_gradient, split_dim=1)
