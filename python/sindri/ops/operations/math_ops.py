"""Elementwise primitives, reductions and matrix products: one line each over the functions of sindri.ops.function."""
from __future__ import annotations

from sindri.common import dtype as mstype
from sindri.ops._util import Axis, Tensor, core
from sindri.ops.function import linalg_func as L
from sindri.ops.function import math_func as F
from sindri.ops.function import reduce_func as R
from sindri.ops.function import special_func as S
from sindri.ops.primitive import REQUIRED, like, primitive


def _norm(x: Tensor, axis: Axis, keep_dims: bool) -> Tensor:
    """Computes the 2-norm over axes.

    Args:
        x (Tensor): The tensor.
        axis (int or sequence of ints): The axes; () is all.
        keep_dims (bool): Whether reduced axes are kept with size 1.

    Returns:
        The norms.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Norm()(ms.Tensor([3.0, 4.0])))
        5.0
    """
    return core.norm(x, 2.0, R.to_axes(axis, "ops.Norm"), keep_dims)


def _triangular_solve(a: Tensor, b: Tensor, lower: bool, adjoint: bool) -> Tensor:
    """Solves a·x = b for triangular matrices a.

    Args:
        a (Tensor): The matrices, [.., n, n].
        b (Tensor): The right-hand sides, [.., n, m].
        lower (bool): Whether `a` is lower triangular.
        adjoint (bool): Whether to solve aᵀ·x = b.

    Returns:
        The solutions, [.., n, m].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.MatrixTriangularSolve()(ms.Tensor([[2.0, 0.0], [1.0, 1.0]]), ms.Tensor([[2.0], [3.0]])))
        [[1.]
         [2.]]
    """
    return core.triangular_solve(a, b, lower, adjoint)


# Two operands.
Add = TensorAdd = primitive("Add", core.add)
Sub = primitive("Sub", core.sub)
Mul = primitive("Mul", F.mul)
RealDiv = primitive("RealDiv", F.real_div)
Div = primitive("Div", F.div)
DivNoNan = primitive("DivNoNan", F.div_no_nan)
MulNoNan = primitive("MulNoNan", F.mul_no_nan)
FloorDiv = primitive("FloorDiv", F.floor_div)
FloorMod = primitive("FloorMod", core.mod)
Mod = primitive("Mod", F.truncate_mod)
TruncateDiv = primitive("TruncateDiv", F.truncate_div)
TruncateMod = primitive("TruncateMod", F.truncate_mod)
Pow = primitive("Pow", core.pow)
Maximum = primitive("Maximum", core.maximum)
Minimum = primitive("Minimum", core.minimum)
Fmax = primitive("Fmax", F.fmax)
Fmin = primitive("Fmin", F.fmin)
SquaredDifference = primitive("SquaredDifference", F.squared_difference)
Equal = primitive("Equal", core.equal)
NotEqual = primitive("NotEqual", core.not_equal)
ApproximateEqual = primitive("ApproximateEqual", F.approximate_equal, tolerance=1e-05)
IsClose = primitive("IsClose", F.isclose, rtol=1e-05, atol=1e-08, equal_nan=False)
Greater = primitive("Greater", core.greater)
GreaterEqual = primitive("GreaterEqual", core.greater_equal)
Less = primitive("Less", core.less)
LessEqual = primitive("LessEqual", core.less_equal)
BitwiseAnd = primitive("BitwiseAnd", F.bitwise_and)
BitwiseOr = primitive("BitwiseOr", F.bitwise_or)
BitwiseXor = primitive("BitwiseXor", F.bitwise_xor)
LeftShift = primitive("LeftShift", F.bitwise_left_shift)
RightShift = primitive("RightShift", F.bitwise_right_shift)
Lgamma = primitive("Lgamma", S.lgamma)
Digamma = primitive("Digamma", S.digamma)
Erfinv = primitive("Erfinv", S.erfinv)
Polygamma = primitive("Polygamma", S.polygamma)
BesselJ0 = primitive("BesselJ0", S.bessel_j0)
BesselJ1 = primitive("BesselJ1", S.bessel_j1)
BesselY0 = primitive("BesselY0", S.bessel_y0)
BesselY1 = primitive("BesselY1", S.bessel_y1)
BesselI0 = primitive("BesselI0", S.bessel_i0)
BesselI0e = primitive("BesselI0e", S.bessel_i0e)
BesselI1 = primitive("BesselI1", S.bessel_i1)
BesselI1e = primitive("BesselI1e", S.bessel_i1e)
BesselK0 = primitive("BesselK0", S.bessel_k0)
BesselK0e = primitive("BesselK0e", S.bessel_k0e)
BesselK1 = primitive("BesselK1", S.bessel_k1)
BesselK1e = primitive("BesselK1e", S.bessel_k1e)
NextAfter = primitive("NextAfter", S.nextafter)
Gcd = primitive("Gcd", S.gcd)
Lcm = primitive("Lcm", S.lcm)
SegmentSum = primitive("SegmentSum", S.segment_sum)
SegmentMean = primitive("SegmentMean", S.segment_mean)
SegmentMax = primitive("SegmentMax", S.segment_max)
SegmentMin = primitive("SegmentMin", S.segment_min)
SegmentProd = primitive("SegmentProd", S.segment_prod)
LogicalAnd = primitive("LogicalAnd", F.logical_and)
LogicalOr = primitive("LogicalOr", F.logical_or)
LogicalXor = primitive("LogicalXor", F.logical_xor)
Atan2 = primitive("Atan2", F.atan2)
Hypot = primitive("Hypot", F.hypot)
Xlogy = primitive("Xlogy", F.xlogy)
Xdivy = primitive("Xdivy", F.xdivy)
Heaviside = primitive("Heaviside", F.heaviside)
Lerp = primitive("Lerp", F.lerp)
Addcmul = primitive("Addcmul", F.addcmul)
Addcdiv = primitive("Addcdiv", F.addcdiv)
AddN = primitive("AddN", F.addn)
AccumulateNV2 = primitive("AccumulateNV2", F.addn)

# One operand.
Neg = primitive("Neg", core.neg)
Abs = primitive("Abs", core.abs)
Sign = primitive("Sign", F.sign)
Floor = primitive("Floor", F.floor)
Ceil = primitive("Ceil", F.ceil)
Round = primitive("Round", F.rint)
Rint = primitive("Rint", F.rint)
Trunc = primitive("Trunc", F.trunc)
Exp = primitive("Exp", core.exp)
Expm1 = primitive("Expm1", core.expm1)
Log = primitive("Log", core.log)
Log1p = primitive("Log1p", core.log1p)
Sqrt = primitive("Sqrt", core.sqrt)
Rsqrt = primitive("Rsqrt", core.rsqrt)
Square = primitive("Square", core.square)
Reciprocal = primitive("Reciprocal", core.reciprocal)
Inv = primitive("Inv", core.reciprocal)
Invert = primitive("Invert", F.bitwise_not)
Sin = primitive("Sin", core.sin)
Cos = primitive("Cos", core.cos)
Tan = primitive("Tan", F.tan)
Asin = primitive("Asin", F.asin)
ACos = primitive("ACos", F.acos)
Atan = primitive("Atan", F.atan)
Sinh = primitive("Sinh", F.sinh)
Cosh = primitive("Cosh", F.cosh)
Asinh = primitive("Asinh", F.asinh)
Acosh = primitive("Acosh", F.acosh)
Atanh = primitive("Atanh", F.atanh)
Sinc = primitive("Sinc", F.sinc)
Erf = primitive("Erf", core.erf)
Erfc = primitive("Erfc", F.erfc)
Logit = primitive("Logit", F.logit, eps=-1.0)
Real = primitive("Real", F.real)
Imag = primitive("Imag", F.imag)
Conj = primitive("Conj", F.conj)
LogicalNot = primitive("LogicalNot", F.logical_not)
IsNan = primitive("IsNan", core.isnan)
IsInf = primitive("IsInf", F.isinf)
IsFinite = primitive("IsFinite", core.isfinite)
NanToNum = primitive("NanToNum", F.nan_to_num, (), ("nan", "posinf", "neginf"), nan=None, posinf=None, neginf=None)

# Along axes.
ReduceSum = primitive("ReduceSum", R.reduce_sum, keep_dims=False, skip_mode=False)
ReduceMean = primitive("ReduceMean", R.mean, keep_dims=False)
ReduceMax = primitive("ReduceMax", R.reduce_max, keep_dims=False)
ReduceMin = primitive("ReduceMin", R.reduce_min, keep_dims=False)
ReduceProd = primitive("ReduceProd", R.reduce_prod, keep_dims=False)
ReduceAll = primitive("ReduceAll", R.all, keep_dims=False)
ReduceAny = primitive("ReduceAny", R.any, keep_dims=False)
ReduceStd = primitive("ReduceStd", R.reduce_std, (), ("axis",), axis=(), unbiased=True, keep_dims=False)
Argmax = primitive("Argmax", R.typed_argmax, (), ("output_type",), axis=-1, output_type=mstype.int32)
Argmin = primitive("Argmin", R.typed_argmin, (), ("output_type",), axis=-1, output_type=mstype.int32)
ArgMaxWithValue = primitive("ArgMaxWithValue", R.max_with_index, axis=0, keep_dims=False)
ArgMinWithValue = primitive("ArgMinWithValue", R.min_with_index, axis=0, keep_dims=False)
CumSum = primitive("CumSum", R.scan_sum, exclusive=False, reverse=False)
CumProd = primitive("CumProd", R.scan_prod, exclusive=False, reverse=False)
Cummax = primitive("Cummax", R.cummax, axis=REQUIRED)
Cummin = primitive("Cummin", R.cummin, axis=REQUIRED)
TopK = primitive("TopK", like(R.topk, lambda x, k, sorted: R.topk(x, k, None, True, sorted)), sorted=True)
Sort = primitive("Sort", R.sort, axis=-1, descending=False)
LpNorm = primitive("LpNorm", R.lp_norm, (), ("axis", "p"), axis=REQUIRED, p=2, keep_dims=False, epsilon=1e-12)
Norm = primitive("Norm", _norm, (), ("axis",), axis=(), keep_dims=False)
SquareSumAll = primitive("SquareSumAll", R.square_sum_all)
CountNonZero = primitive("CountNonZero",
                         like(R.count_nonzero, lambda x, dims: R.count_nonzero(x, dims, False, mstype.int64)), (), ("dims",), dims=None)

# Matrices.
MatMul = primitive("MatMul", L.mat_mul, transpose_a=False, transpose_b=False)
BatchMatMul = primitive("BatchMatMul", L.batch_mat_mul, transpose_a=False, transpose_b=False)
Einsum = primitive("Einsum", like(L.einsum, lambda operands, equation: L.einsum(equation, *operands)), equation=REQUIRED)
Ger = primitive("Ger", L.ger)
Cross = primitive("Cross", like(L.cross, lambda a, b, dim: L.cross(a, b, None if dim == -65530 else dim)), dim=-65530)
Cdist = primitive("Cdist", L.cdist, p=2.0)
MatrixInverse = primitive("MatrixInverse", like(L.inverse, lambda x, adjoint: L.inverse(L.swapaxes(x, -1, -2) if adjoint else x)), adjoint=False)
Cholesky = primitive("Cholesky", L.cholesky, upper=False)
CholeskyInverse = primitive("CholeskyInverse", L.cholesky_inverse, upper=False)
CholeskySolve = primitive("CholeskySolve", L.cholesky_solve, upper=False)
MatrixTriangularSolve = primitive("MatrixTriangularSolve", _triangular_solve, lower=True, adjoint=False)
MatrixDeterminant = primitive("MatrixDeterminant", L.det)
LogMatrixDeterminant = primitive("LogMatrixDeterminant", L.slogdet)
MatrixSolve = primitive("MatrixSolve", L.matrix_solve, adjoint=False)
LuSolve = primitive("LuSolve", L.lu_solve)
MatrixPower = primitive("MatrixPower", L.matrix_power, n=REQUIRED)
Qr = primitive("Qr", like(L.qr, lambda x, full_matrices: L.qr(x, "complete" if full_matrices else "reduced")), full_matrices=False)
Svd = primitive("Svd", L.svd, full_matrices=False, compute_uv=True)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__]
