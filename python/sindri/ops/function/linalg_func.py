"""Matrix products and linear algebra of sindri.ops."""
from __future__ import annotations

import math
from typing import Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core, exported, floating, is_float, rounded_once, to_axis, wide
from sindri.ops.function.array_func import swapaxes
from sindri.ops.function.creation_func import diagonal
from sindri.ops.function.reduce_func import matrix_norm, vector_norm


def _matrix_product(a: Tensor, b: Tensor) -> Tensor:
    """The product over the last two dimensions (at least 2 each, leading ones broadcast); with bools by products and sums."""
    if not is_float(a.dtype) and not is_float(b.dtype) and mstype.bool_ in (a.dtype, b.dtype):
        kind = mstype.promote_types(a.dtype, b.dtype)
        return core.cast(core.sum(core.mul(core.expand_dims(a, -1), core.expand_dims(b, -3)), [-2]), kind)
    return core.matmul(a, b) if len(a.shape) == len(b.shape) == 2 else core.batch_matmul(a, b)


def _both_integers(a: Tensor, b: Tensor) -> bool:
    """Whether both are tensors without a floating type; what is no tensor is left for the engine to refuse."""
    return isinstance(a, Tensor) and isinstance(b, Tensor) and not is_float(a.dtype) and not is_float(b.dtype)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product by NumPy's rules: vectors are a row on the left and a column on the right, leading dimensions broadcast.
    Raises TypeError for floating types that differ, ValueError for shapes that do not fit or scalars."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        fail(TypeError, f"expected two tensors, got {type(input).__name__} and {type(other).__name__}", "ops.matmul", "use ops.mul for numbers")
    if not input.shape or not other.shape:
        fail(ValueError, f"expected at least one dimension each, got {input.shape} and {other.shape}", "ops.matmul", "use ops.mul for scalars")
    a = core.expand_dims(input, 0) if len(input.shape) == 1 else input
    b = core.expand_dims(other, 1) if len(other.shape) == 1 else other
    out = _matrix_product(a, b)
    if len(other.shape) == 1:
        out = core.squeeze(out, -1)
    return core.squeeze(out, -1 if len(other.shape) == 1 else -2) if len(input.shape) == 1 else out


def mat_mul(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """The product of two matrices, each transposed first on request. Raises ValueError unless both have 2 dimensions."""
    try:
        return core.matmul(a, b, transpose_a, transpose_b)
    except TypeError:  # the engine multiplies numbers only; asking first would cost every call
        if not _both_integers(a, b):
            raise
        return _matrix_product(swapaxes(a, 0, 1) if transpose_a else a, swapaxes(b, 0, 1) if transpose_b else b)


def batch_mat_mul(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Products over the last two dimensions, each transposed first on request; leading dimensions broadcast."""
    if _both_integers(a, b):
        return _matrix_product(swapaxes(a, -1, -2) if transpose_a else a, swapaxes(b, -1, -2) if transpose_b else b)
    return core.batch_matmul(a, b, transpose_a, transpose_b)


def _ranked(where: str, *wanted) -> None:
    for x, n in wanted:
        if len(x.shape) != n:
            fail(ValueError, f"expected {n} dimensions, got {x.shape}", where)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    _ranked("ops.mm", (input, 2), (mat2, 2))
    return mat_mul(input, mat2)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of two equally long rows of matrices, or of two matrices. Raises ValueError when the dimensions in front of the matrices differ."""
    if len(input_x.shape) < 2 or len(mat2.shape) < 2:
        fail(ValueError, f"expected at least 2 dimensions each, got {input_x.shape} and {mat2.shape}", "ops.bmm")
    if input_x.shape[:-2] != mat2.shape[:-2]:
        fail(ValueError, f"expected equally many matrices, got {input_x.shape} and {mat2.shape}", "ops.bmm", "use ops.matmul, which broadcasts")
    return batch_mat_mul(input_x, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Matrix times vector."""
    _ranked("ops.mv", (mat, 2), (vec, 1))
    return matmul(mat, vec)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sums over the last dimension of input and the last but one of other (for vectors: the scalar product). Raises ValueError for scalars."""
    if len(input.shape) == 1 and len(other.shape) == 1:
        return matmul(input, other)
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        fail(TypeError, f"expected two tensors, got {type(input).__name__} and {type(other).__name__}", "ops.matmul", "use ops.mul for numbers")
    if not input.shape or not other.shape:
        fail(ValueError, f"expected at least one dimension each, got {input.shape} and {other.shape}", "ops.dot", "use ops.mul for scalars")
    return tensor_dot(input, other, ((-1,), (0 if len(other.shape) == 1 else -2,)))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of a flat tensor and a vector: [n, m]. Raises ValueError when vec2 is a matrix or more."""
    if len(vec2.shape) > 1:
        fail(ValueError, f"vec2: expected a vector, got {vec2.shape}", "ops.outer", "flatten it first, or use ops.tensor_dot(input, vec2, 0)")
    return core.mul(core.reshape(input, (-1, 1)), core.reshape(vec2, (1, -1)))


def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of two vectors: [n, m]. Raises TypeError unless both are tensors, ValueError unless both have one dimension."""
    for x in (input, vec2):
        if not isinstance(x, Tensor):
            fail(TypeError, f"expected two tensors, got {x!r}", "ops.ger", "use ops.mul for a number")
    _ranked("ops.ger", (input, 1), (vec2, 1))
    return outer(input, vec2)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums over the last dimension of both."""
    return core.mul(input, other) if not input.shape or not other.shape else tensor_dot(input, other, ((-1,), (-1,)))


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Scalar products of the vectors along axis. Raises ValueError for scalars."""
    if not x.shape or not y.shape:
        fail(ValueError, f"expected at least one dimension each, got {x.shape} and {y.shape}", "ops.vecdot", "use ops.mul for scalars")
    return core.sum(core.mul(x, y), [axis])


@rounded_once()
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """beta * input + alpha * mat1 · mat2."""
    return core.add(_scaled(input, beta), _scaled(mm(mat1, mat2), alpha))


@rounded_once()
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta=1, alpha=1) -> Tensor:
    """beta * input + alpha * mat · vec."""
    return core.add(_scaled(input, beta), _scaled(mv(mat, vec), alpha))


@rounded_once()
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, beta=1, alpha=1) -> Tensor:
    """beta * x + alpha * outer(vec1, vec2)."""
    return core.add(_scaled(x, beta), _scaled(outer(vec1, vec2), alpha))


@rounded_once()
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """beta * input + alpha * the sum of the products of two rows of matrices."""
    return core.add(_scaled(input, beta), _scaled(core.sum(bmm(batch1, batch2), [0]), alpha))


@rounded_once()
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta=1, alpha=1) -> Tensor:
    """beta * input + alpha * the products of two rows of matrices."""
    return core.add(_scaled(input, beta), _scaled(bmm(batch1, batch2), alpha))


def _scaled(x: Tensor, factor) -> Tensor:
    return x if isinstance(factor, (int, float)) and factor == 1 else core.mul(x, factor)


def tensor_dot(x1: Tensor, x2: Tensor, axes: Union[int, Sequence]) -> Tensor:
    """Sums of products over axes: n for the last n of x1 and the first n of x2, or (axes of x1, axes of x2). Raises ValueError."""
    n1, n2 = len(x1.shape), len(x2.shape)
    if isinstance(axes, int):
        left, right = list(range(n1 - axes, n1)), list(range(axes))
    else:
        left, right = ([a] if isinstance(a, int) else list(a) for a in axes)
    left, right = [to_axis(a, n1, "ops.tensor_dot") for a in left], [to_axis(a, n2, "ops.tensor_dot") for a in right]
    if [x1.shape[a] for a in left] != [x2.shape[a] for a in right]:
        fail(ValueError, f"axes {left} of {x1.shape} and {right} of {x2.shape} differ in size", "ops.tensor_dot")
    free1, free2 = [d for d in range(n1) if d not in left], [d for d in range(n2) if d not in right]
    rows, columns = [x1.shape[d] for d in free1], [x2.shape[d] for d in free2]
    summed = math.prod(x1.shape[a] for a in left)
    a = core.reshape(core.transpose(x1, free1 + left), (math.prod(rows), summed))
    b = core.reshape(core.transpose(x2, right + free2), (summed, math.prod(columns)))
    return core.reshape(_matrix_product(a, b), rows + columns)


def batch_dot(x1: Tensor, x2: Tensor, axes: Union[None, int, Sequence[int]] = None) -> Tensor:
    """tensor_dot within each sample of the first dimension, over one axis of each (None: the last of x1, the last but one of x2)."""
    n1, n2 = len(x1.shape), len(x2.shape)
    if n1 < 2 or n2 < 2 or x1.shape[0] != x2.shape[0]:
        fail(ValueError, f"expected equally many samples of at least one dimension, got {x1.shape} and {x2.shape}", "ops.batch_dot")
    left, right = (n1 - 1, max(n2 - 2, 1)) if axes is None else (axes, axes) if isinstance(axes, int) else axes
    left, right = to_axis(left, n1, "ops.batch_dot"), to_axis(right, n2, "ops.batch_dot")
    if left == 0 or right == 0:
        fail(ValueError, "axes: 0 is the dimension of the samples", "ops.batch_dot")
    free1, free2 = [d for d in range(1, n1) if d != left], [d for d in range(1, n2) if d != right]
    rows, columns = [x1.shape[d] for d in free1], [x2.shape[d] for d in free2]
    a = core.reshape(core.transpose(x1, [0] + free1 + [left]), (x1.shape[0], math.prod(rows), x1.shape[left]))
    b = core.reshape(core.transpose(x2, [0, right] + free2), (x2.shape[0], x2.shape[right], math.prod(columns)))
    out = core.reshape(_matrix_product(a, b), [x1.shape[0]] + rows + columns)
    return core.expand_dims(out, 1) if len(out.shape) == 1 else out


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of input times other."""
    n = max(len(input.shape), len(other.shape))
    a, b = ((1,) * (n - len(x.shape)) + x.shape for x in (input, other))
    pairs = core.mul(core.reshape(input, [v for k in a for v in (k, 1)]), core.reshape(other, [v for k in b for v in (1, k)]))
    return core.reshape(pairs, [p * q for p, q in zip(a, b)])


def cross(input: Tensor, other: Tensor, dim: Optional[int] = None) -> Tensor:
    """Vector products along dim, of size 3 (None: the first such dimension). The inputs broadcast."""
    if input.shape != other.shape:
        shape = np.broadcast_shapes(input.shape, other.shape)
        input, other = core.broadcast_to(input, shape), core.broadcast_to(other, shape)
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            fail(ValueError, f"no dimension of {input.shape} has size 3", "ops.cross")
    d = to_axis(dim, len(input.shape), "ops.cross")
    if input.shape[d] != 3 or other.shape[d] != 3:
        fail(ValueError, f"dimension {d} of {input.shape} and {other.shape} must be 3", "ops.cross")
    a, b = core.split(input, [1, 1, 1], d), core.split(other, [1, 1, 1], d)
    parts = [core.sub(core.mul(a[i], b[j]), core.mul(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return core.concat(parts, d)


@rounded_once()
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """[.., n, m]: the p-norm distances between the rows of x1 [.., n, k] and x2 [.., m, k]; p = 0 counts the places that differ.
    Raises ValueError for a negative p."""
    if not p >= 0:
        fail(ValueError, f"p: expected a number of at least 0, got {p}", "ops.cdist")
    difference = core.sub(core.expand_dims(x1, -2), core.expand_dims(x2, -3))
    if p in (1.0, 2.0, math.inf):
        return core.norm(difference, float(p), [-1])
    if p == 0:
        return core.sum(core.cast(core.not_equal(difference, 0), difference.dtype), [-1])
    return vector_norm(difference, float(p), -1)


@rounded_once()
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """[.., n·(n - 1)/2]: the p-norm distances between row i and row j of input [.., n, m], for i < j. Raises ValueError for a negative p."""
    if not p >= 0 or len(input.shape) < 2:
        fail(ValueError, f"expected at least 2 dimensions and p of at least 0, got {input.shape} and {p}", "ops.pdist")
    first, second = (Tensor(v.astype(np.int64)) for v in np.triu_indices(input.shape[-2], 1))
    d = len(input.shape) - 2
    return vector_norm(core.sub(core.gather(input, first, d), core.gather(input, second, d)), float(p), -1)


def cond(A: Tensor, p: Union[None, int, float, str] = None) -> Tensor:
    """The condition number of matrices [.., m, n]: with p None, 2 or -2 the ratio of the extreme singular values, else the norm of order p (1, -1, inf,
    -inf, 'fro', 'nuc') of square matrices times that of their inverses. Raises ValueError."""
    if p in (None, 2, -2):
        s = core.svd(floating(A))[1]
        largest, smallest = core.max(s, [-1]), core.min(s, [-1])
        return core.div(smallest, largest) if p == -2 else core.div(largest, smallest)
    return core.mul(matrix_norm(A, p, (-2, -1)), matrix_norm(inverse(A), p, (-2, -1)))


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other."""
    return core.reshape(cdist(core.reshape(input, (1, -1)), core.reshape(other, (1, -1)), float(p)), ())


def inverse(input: Tensor) -> Tensor:
    """The inverses of matrices. Raises ValueError for a singular one."""
    return core.inverse(floating(input))


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """Triangular L with L·Lᵀ = input_x (upper: U with Uᵀ·U). Raises ValueError unless positive definite."""
    out = core.cholesky(input_x)
    return swapaxes(out, -1, -2) if upper else out


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor input_x is."""
    factor = swapaxes(input_x, -1, -2) if upper else input_x
    n = factor.shape[-1]
    unit = core.cast(core.equal(core.reshape(core.arange(0, n), (n, 1)), core.reshape(core.arange(0, n), (1, n))), factor.dtype)
    half = core.triangular_solve(factor, core.broadcast_to(unit, factor.shape), True, False)
    return core.triangular_solve(factor, half, True, True)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """x of A·x = input, where input2 is the Cholesky factor of A."""
    factor = swapaxes(input2, -1, -2) if upper else input2
    return core.triangular_solve(factor, core.triangular_solve(factor, input, True, False), True, True)


def _lu(input: Tensor) -> tuple:
    """(L and U in one matrix, U's diagonal, the rows of input that those of L·U are, their sign) of matrices."""
    packed, rows, sign = core.lu(wide(floating(input)))
    return packed, diagonal(packed, 0, -2, -1), rows, sign


def det(input: Tensor) -> Tensor:
    """Determinants of matrices [.., n, n]. Where one is 0 its gradient is NaN."""
    _, pivots, _, sign = _lu(input)
    return core.cast(core.mul(sign, core.prod(pivots, [-1])), floating(input).dtype)


matrix_determinant = det


def slogdet(input: Tensor) -> tuple:
    """(signs of the determinants of matrices, logarithms of their absolute values); 0 and -inf for a singular one, whose gradient is NaN."""
    _, pivots, _, sign = _lu(input)
    out = core.mul(sign, core.prod(core.sign(pivots), [-1])), core.sum(core.log(core.abs(pivots)), [-1])
    return tuple(core.cast(t, floating(input).dtype) for t in out)


log_matrix_determinant = slogdet


def logdet(input: Tensor) -> Tensor:
    """Logarithms of the determinants of matrices; NaN where one is negative."""
    sign, value = slogdet(input)
    return core.where(core.less(sign, 0.0), math.nan, value)


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """x of matrix·x = rhs (adjoint: matrixᵀ·x = rhs) for matrices [.., n, n] and rhs [.., n, m]; Raises ValueError for
    shapes that do not fit and, but for in compiled code, where the result is infinite or NaN, for a singular matrix."""
    if matrix.shape[:-1] != rhs.shape[:-1]:
        fail(ValueError, f"a matrix of {matrix.shape} and a right-hand side of {rhs.shape} do not fit", "ops.matrix_solve")
    packed, pivots, rows, _ = _lu(matrix)
    if not pivots.is_symbolic and bool(core.any(core.equal(pivots, 0))):
        fail(ValueError, f"a matrix of {matrix.shape} is singular", "ops.matrix_solve", "use ops.lstsq")
    order = core.one_hot(rows, rows.shape[-1], 1.0, 0.0, packed.dtype)  # order·matrix = L·U
    if adjoint:
        y = core.triangular_solve(packed, floating(rhs), False, True)
        return core.batch_matmul(order, core.triangular_solve(packed, y, True, True, True), True)
    y = core.triangular_solve(packed, core.batch_matmul(order, floating(rhs)), True, False, True)
    return core.triangular_solve(packed, y, False)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """x of A·x = b [.., n, m] for A = P·L·U: L (unit diagonal, not stored) and U in LU_data [.., n, n], and LU_pivots [.., n]: the row, counted from 1,
    that each row was exchanged with in turn. Asks for the pivots' values. Raises ValueError."""
    n, pivots = LU_data.shape[-1], LU_pivots.asnumpy() - 1
    if b.shape[:-1] != LU_data.shape[:-1] or pivots.shape != LU_data.shape[:-1] or (pivots.size and (pivots.min() < 0 or pivots.max() >= n)):
        fail(ValueError, f"b {b.shape}, LU_data {LU_data.shape} and LU_pivots {LU_pivots.shape} do not fit, or a pivot is outside [1, {n}]", "ops.lu_solve")
    rows = np.tile(np.arange(n), pivots.shape[:-1] + (1,)).reshape(-1, n)
    for order, exchanges in zip(rows, pivots.reshape(-1, n)):
        for i, j in enumerate(exchanges):
            order[[i, j]] = order[[j, i]]
    order = np.eye(n)[rows.reshape(pivots.shape)]
    y = core.triangular_solve(LU_data, core.batch_matmul(core.cast(Tensor(order), b.dtype), b), True, False, True)
    return core.triangular_solve(LU_data, y, False)


def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """x [n, k] with the smallest |input·x - A| for input [m, n] and A [m, k] or [m] (k = 1); of several the shortest. Raises ValueError."""
    if len(input.shape) != 2 or len(A.shape) not in (1, 2) or A.shape[0] != input.shape[0]:
        fail(ValueError, f"expected [m, n] and [m, k] or [m], got {input.shape} and {A.shape}", "ops.lstsq")
    out = core.matmul(pinv(wide(input)), wide(core.expand_dims(A, 1) if len(A.shape) == 1 else A))
    return core.cast(out, input.dtype)


def qr(input: Tensor, mode: str = "reduced") -> tuple:
    """(q, r) with input = q·r, q of orthonormal columns and r upper triangular, for matrices [..., m, n] and k = min(m, n): [..., m, k] and [..., k, n];
    mode 'complete': [..., m, m] and [..., m, n]. Raises ValueError for another mode; complete factors have a gradient for m <= n only."""
    return core.qr(input, check_choice("ops.qr", "mode", mode, ("reduced", "complete")) == "complete")


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Union[Tensor, tuple]:
    """(s, u, v) with input = u·diag(s)·vᵀ, thin; only s without compute_uv. Raises ValueError for full_matrices of a matrix that is not square."""
    if full_matrices and compute_uv and input.shape[-1] != input.shape[-2]:
        fail(ValueError, f"full_matrices is not supported for {input.shape}", "ops.svd", "use full_matrices=False")
    u, s, v = core.svd(input)
    return (s, u, v) if compute_uv else s


def matrix_power(input: Tensor, n: int) -> Tensor:
    """Matrices to an integer power; negative: of the inverse."""
    x, n, out = (inverse(input), -n, None) if n < 0 else (input, n, None)
    if n == 0:
        size = x.shape[-1]
        unit = core.equal(core.reshape(core.arange(0, size), (size, 1)), core.reshape(core.arange(0, size), (1, size)))
        return core.broadcast_to(core.cast(unit, x.dtype), x.shape)
    while n:
        if n & 1:
            out = x if out is None else _matrix_product(out, x)
        n >>= 1
        x = _matrix_product(x, x) if n else x
    return out


def pinv(x: Tensor, *, atol=None, rtol=None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse through singular values; those not above max(atol, rtol * largest) count as 0."""
    u, s, v = core.svd(x)
    eps = {mstype.float32: 1.1920929e-07}.get(x.dtype, 2.220446049250313e-16)
    cut = core.mul(core.max(s, [-1], True), rtol if rtol is not None else 0.0 if atol is not None else max(x.shape[-2:]) * eps)
    cut = core.maximum(cut, 0.0 if atol is None else atol)
    kept = core.greater(s, cut)
    inverted = core.where(kept, core.reciprocal(core.where(kept, s, 1.0)), 0.0)
    return _matrix_product(core.mul(v, core.expand_dims(inverted, -2)), swapaxes(u, -1, -2))


# --- einsum -----------------------------------------------------------------------------------------------------------------------------


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products named by letters, as numpy.einsum: "bij,bjk->bik"; '...' stands for dimensions without letters. Operands are joined
    from left to right, each pair as one matrix product. Raises ValueError for equations that do not fit."""
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    terms, out = _parse(equation.replace(" ", ""), operands)
    x, labels = _single(operands[0], terms[0])
    for i in range(1, len(operands)):
        y, right = _single(operands[i], terms[i])
        needed = set(out).union(*terms[i + 1:])
        x, labels = _pair(x, labels, y, right, needed)
    axes = [d for d, c in enumerate(labels) if c not in out]
    if axes:
        x = core.sum(x, axes)
        labels = [c for c in labels if c in out]
    return core.transpose(x, [labels.index(c) for c in out]) if labels != list(out) else x


def _parse(equation: str, operands: Sequence[Tensor]) -> tuple:
    """The letters of each operand and of the result, the dimensions of '...' named by numbers from the right."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        fail(ValueError, f"'{equation}' names {len(terms)} operands, got {len(operands)}", "ops.einsum")
    widest, sizes, parsed = 0, {}, []
    for term, x in zip(terms, operands):
        dots = len(x.shape) - len(term.replace("...", "")) if "..." in term else 0
        before, _, after = term.partition("...")
        labels = list(before) + list(range(dots, 0, -1)) + list(after)
        if dots < 0 or len(labels) != len(x.shape) or any(isinstance(c, str) and not c.isalpha() for c in labels):
            fail(ValueError, f"'{term}' of '{equation}' does not fit shape {x.shape}", "ops.einsum")
        for c, n in zip(labels, x.shape):
            if n != 1 and sizes.setdefault(c, n) != n:
                fail(ValueError, f"'{c}' of '{equation}' is both {sizes[c]} and {n}", "ops.einsum")
        widest = max(widest, dots)
        parsed.append(labels)
    ellipsis = list(range(widest, 0, -1))
    if arrow:
        before, dots, after = right.partition("...")
        out = list(before) + (ellipsis if dots else []) + list(after)
    else:
        letters = [c for labels in parsed for c in labels if isinstance(c, str)]
        out = ellipsis + sorted(c for c in set(letters) if letters.count(c) == 1)
    known = {c for labels in parsed for c in labels}
    if len(set(out)) != len(out) or not set(out) <= known:
        fail(ValueError, f"the result of '{equation}' names a letter twice or one that no operand has", "ops.einsum")
    return parsed, out


def _single(x: Tensor, labels: list) -> tuple:
    """x without repeated letters: those take the diagonal."""
    labels = list(labels)
    for c in [c for i, c in enumerate(labels) if c in labels[:i]]:
        first, second = labels.index(c), len(labels) - 1 - labels[::-1].index(c)
        x = diagonal(x, 0, first, second)
        labels = [d for i, d in enumerate(labels) if i not in (first, second)] + [c]
    return x, labels


def _pair(a: Tensor, left: list, b: Tensor, right: list, needed: set) -> tuple:
    """Both joined: letters of both that are needed later are a batch, the others of both are summed by the product."""
    a, left = _summed(a, left, needed | set(right))
    b, right = _summed(b, right, needed | set(left))
    size = {**dict(zip(left, a.shape)), **{c: n for c, n in zip(right, b.shape) if n != 1}}
    size.update({c: n for c, n in zip(left, a.shape) if n != 1})
    # A dimension of 1 that meets a larger one is repeated, so that letters have one size from here on.
    a, b = (core.broadcast_to(x, [size[c] if c in set(left) & set(right) else n for c, n in zip(labels, x.shape)]) for x,
            labels in ((a, left), (b, right)))
    batch = [c for c in left if c in right and c in needed]
    summed = [c for c in left if c in right and c not in needed]
    free_a, free_b = [c for c in left if c not in right], [c for c in right if c not in left]
    count = lambda letters: math.prod(size[c] for c in letters)
    x = core.reshape(core.transpose(a, [left.index(c) for c in batch + free_a + summed]), (count(batch), count(free_a), count(summed)))
    y = core.reshape(core.transpose(b, [right.index(c) for c in batch + summed + free_b]), (count(batch), count(summed), count(free_b)))
    labels = batch + free_a + free_b
    return core.reshape(_matrix_product(x, y), [size[c] for c in labels]), labels


def _summed(x: Tensor, labels: list, needed: set) -> tuple:
    axes = [d for d, c in enumerate(labels) if c not in needed]
    return (core.sum(x, axes), [c for c in labels if c in needed]) if axes else (x, labels)


__all__ = exported(globals())
