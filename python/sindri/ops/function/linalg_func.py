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
    """Multiplies matrices over the last two dimensions (at least 2 each, leading ones broadcast). Bools are multiplied
    by products and sums.
    """
    if not is_float(a.dtype) and not is_float(b.dtype) and mstype.bool_ in (a.dtype, b.dtype):
        kind = mstype.promote_types(a.dtype, b.dtype)
        return core.cast(core.sum(core.mul(core.expand_dims(a, -1), core.expand_dims(b, -3)), [-2]), kind)
    return core.matmul(a, b) if len(a.shape) == len(b.shape) == 2 else core.batch_matmul(a, b)


def _both_integers(a: Tensor, b: Tensor) -> bool:
    """Returns whether both are tensors without a floating type. Values that are not tensors are left for the engine to
    reject.
    """
    return isinstance(a, Tensor) and isinstance(b, Tensor) and not is_float(a.dtype) and not is_float(b.dtype)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiplies matrices by NumPy's rules.

    A vector on the left counts as a row, one on the right as a column. Leading dimensions broadcast.

    Args:
        input (Tensor): The left operand, [.., n, k] or [k].
        other (Tensor): The right operand, [.., k, m] or [k].

    Returns:
        The product, [.., n, m].

    Raises:
        TypeError: If an operand is not a tensor, or floating types differ.
        ValueError: If the shapes are incompatible or an operand is a scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matmul(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([[1.0, 0.0], [0.0, 2.0]])))
        [[1. 4.]
         [3. 8.]]
        >>> print(ms.ops.matmul(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        11.0
    """
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
    """Multiplies two matrices, each optionally transposed first.

    Args:
        a (Tensor): The left matrix.
        b (Tensor): The right matrix.
        transpose_a (bool): Whether `a` is transposed. Default: False.
        transpose_b (bool): Whether `b` is transposed. Default: False.

    Returns:
        The product.

    Raises:
        TypeError: If floating types differ.
        ValueError: If an operand does not have 2 dimensions or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.MatMul(transpose_b=True)(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0, 4.0]])))
        [[11.]]
    """
    try:
        return core.matmul(a, b, transpose_a, transpose_b)
    except TypeError:  # the engine does not multiply bools; checking first would slow down every call
        if not _both_integers(a, b):
            raise
        return _matrix_product(swapaxes(a, 0, 1) if transpose_a else a, swapaxes(b, 0, 1) if transpose_b else b)


def batch_mat_mul(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Multiplies matrices over the last two dimensions, each optionally transposed first; leading dimensions broadcast.

    Args:
        a (Tensor): The left matrices.
        b (Tensor): The right matrices.
        transpose_a (bool): Whether `a` is transposed. Default: False.
        transpose_b (bool): Whether `b` is transposed. Default: False.

    Returns:
        The products.

    Raises:
        TypeError: If floating types differ.
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.BatchMatMul()(ms.ops.ones((2, 1, 3)), ms.ops.ones((2, 3, 1))).shape)
        (2, 1, 1)
    """
    if _both_integers(a, b):
        return _matrix_product(swapaxes(a, -1, -2) if transpose_a else a, swapaxes(b, -1, -2) if transpose_b else b)
    return core.batch_matmul(a, b, transpose_a, transpose_b)


def _ranked(where: str, *wanted) -> None:
    for x, n in wanted:
        if len(x.shape) != n:
            fail(ValueError, f"expected {n} dimensions, got {x.shape}", where)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies two matrices.

    Args:
        input (Tensor): The left matrix, [n, k].
        mat2 (Tensor): The right matrix, [k, m].

    Returns:
        The product, [n, m].

    Raises:
        ValueError: If an operand does not have 2 dimensions or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mm(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    _ranked("ops.mm", (input, 2), (mat2, 2))
    return mat_mul(input, mat2)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies batches of matrices pairwise.

    Args:
        input_x (Tensor): The left matrices, [.., n, k].
        mat2 (Tensor): The right matrices, [.., k, m].

    Returns:
        The products, [.., n, m].

    Raises:
        ValueError: If an operand has fewer than 2 dimensions, or the leading dimensions differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bmm(ms.ops.ones((2, 1, 3)), ms.ops.ones((2, 3, 1))).shape)
        (2, 1, 1)
    """
    if len(input_x.shape) < 2 or len(mat2.shape) < 2:
        fail(ValueError, f"expected at least 2 dimensions each, got {input_x.shape} and {mat2.shape}", "ops.bmm")
    if input_x.shape[:-2] != mat2.shape[:-2]:
        fail(ValueError, f"expected equally many matrices, got {input_x.shape} and {mat2.shape}", "ops.bmm", "use ops.matmul, which broadcasts")
    return batch_mat_mul(input_x, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Multiplies a matrix by a vector.

    Args:
        mat (Tensor): The matrix, [n, k].
        vec (Tensor): The vector, [k].

    Returns:
        The product, [n].

    Raises:
        ValueError: If the operands do not have 2 and 1 dimensions, or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mv(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([1.0, 1.0])))
        [3. 7.]
    """
    _ranked("ops.mv", (mat, 2), (vec, 1))
    return matmul(mat, vec)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sums products over the last dimension of `input` and the last but one of `other`; for vectors it is the scalar
    product.

    Args:
        input (Tensor): The left operand.
        other (Tensor): The right operand.

    Returns:
        The product.

    Raises:
        TypeError: If an operand is not a tensor.
        ValueError: If an operand is a scalar or the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dot(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        11.0
    """
    if len(input.shape) == 1 and len(other.shape) == 1:
        return matmul(input, other)
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        fail(TypeError, f"expected two tensors, got {type(input).__name__} and {type(other).__name__}", "ops.matmul", "use ops.mul for numbers")
    if not input.shape or not other.shape:
        fail(ValueError, f"expected at least one dimension each, got {input.shape} and {other.shape}", "ops.dot", "use ops.mul for scalars")
    return tensor_dot(input, other, ((-1,), (0 if len(other.shape) == 1 else -2,)))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Returns all products of the elements of a flat tensor and a vector.

    Args:
        input (Tensor): The left operand, of n elements.
        vec2 (Tensor): The right operand, of m elements.

    Returns:
        A tensor of shape [n, m].

    Raises:
        ValueError: If `vec2` has more than 1 dimension.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.outer(ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [[3 4]
         [6 8]]
    """
    if len(vec2.shape) > 1:
        fail(ValueError, f"vec2: expected a vector, got {vec2.shape}", "ops.outer", "flatten it first, or use ops.tensor_dot(input, vec2, 0)")
    return core.mul(core.reshape(input, (-1, 1)), core.reshape(vec2, (1, -1)))


def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Returns all products of the elements of two vectors.

    Args:
        input (Tensor): The left vector, [n].
        vec2 (Tensor): The right vector, [m].

    Returns:
        A tensor of shape [n, m].

    Raises:
        TypeError: If an operand is not a tensor.
        ValueError: If an operand is not a vector.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ger(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        [[3. 4.]
         [6. 8.]]
    """
    for x in (input, vec2):
        if not isinstance(x, Tensor):
            fail(TypeError, f"expected two tensors, got {x!r}", "ops.ger", "use ops.mul for a number")
    _ranked("ops.ger", (input, 1), (vec2, 1))
    return outer(input, vec2)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums products over the last dimension of both operands. A scalar operand multiplies the other one.

    Args:
        input (Tensor): The left operand.
        other (Tensor): The right operand.

    Returns:
        The product.

    Raises:
        ValueError: If the last dimensions differ.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.inner(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        11.0
    """
    return core.mul(input, other) if not input.shape or not other.shape else tensor_dot(input, other, ((-1,), (-1,)))


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Computes the scalar products of the vectors along an axis.

    Args:
        x (Tensor): The left vectors.
        y (Tensor): The right vectors.
        axis (int): The axis of the vectors. Default: -1.

    Returns:
        The scalar products.

    Raises:
        ValueError: If an operand is a scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.vecdot(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([[1.0, 1.0], [1.0, 1.0]])))
        [3. 7.]
    """
    if not x.shape or not y.shape:
        fail(ValueError, f"expected at least one dimension each, got {x.shape} and {y.shape}", "ops.vecdot", "use ops.mul for scalars")
    return core.sum(core.mul(x, y), [axis])


@rounded_once()
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """Computes beta * input + alpha * mat1 · mat2.

    Args:
        input (Tensor): The tensor that is added; it broadcasts.
        mat1 (Tensor): The left matrix, [n, k].
        mat2 (Tensor): The right matrix, [k, m].
        beta (number): The factor of `input`. Default: 1.
        alpha (number): The factor of the product. Default: 1.

    Returns:
        A tensor of shape [n, m].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addmm(ms.Tensor([[1.0]]), ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]]), beta=2))
        [[13.]]
    """
    return core.add(_scaled(input, beta), _scaled(mm(mat1, mat2), alpha))


@rounded_once()
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta=1, alpha=1) -> Tensor:
    """Computes beta * input + alpha * mat · vec.

    Args:
        input (Tensor): The tensor that is added; it broadcasts.
        mat (Tensor): The matrix, [n, k].
        vec (Tensor): The vector, [k].
        beta (number): The factor of `input`. Default: 1.
        alpha (number): The factor of the product. Default: 1.

    Returns:
        A tensor of shape [n].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addmv(ms.Tensor([1.0]), ms.Tensor([[1.0, 2.0]]), ms.Tensor([3.0, 4.0])))
        [12.]
    """
    return core.add(_scaled(input, beta), _scaled(mv(mat, vec), alpha))


@rounded_once()
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, beta=1, alpha=1) -> Tensor:
    """Computes beta * x + alpha * outer(vec1, vec2).

    Args:
        x (Tensor): The tensor that is added; it broadcasts.
        vec1 (Tensor): The left vector, [n].
        vec2 (Tensor): The right vector, [m].
        beta (number): The factor of `x`. Default: 1.
        alpha (number): The factor of the product. Default: 1.

    Returns:
        A tensor of shape [n, m].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addr(ms.Tensor([[1.0]]), ms.Tensor([1.0, 2.0]), ms.Tensor([3.0])))
        [[4.]
         [7.]]
    """
    return core.add(_scaled(x, beta), _scaled(outer(vec1, vec2), alpha))


@rounded_once()
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """Computes beta * input + alpha * the sum of the products of two batches of matrices.

    Args:
        input (Tensor): The tensor that is added; it broadcasts.
        batch1 (Tensor): The left matrices, [b, n, k].
        batch2 (Tensor): The right matrices, [b, k, m].
        beta (number): The factor of `input`. Default: 1.
        alpha (number): The factor of the sum. Default: 1.

    Returns:
        A tensor of shape [n, m].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.addbmm(ms.Tensor([[1.0]]), ms.ops.ones((2, 1, 3)), ms.ops.ones((2, 3, 1))))
        [[7.]]
    """
    return core.add(_scaled(input, beta), _scaled(core.sum(bmm(batch1, batch2), [0]), alpha))


@rounded_once()
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta=1, alpha=1) -> Tensor:
    """Computes beta * input + alpha * the products of two batches of matrices.

    Args:
        input (Tensor): The tensor that is added; it broadcasts.
        batch1 (Tensor): The left matrices, [b, n, k].
        batch2 (Tensor): The right matrices, [b, k, m].
        beta (number): The factor of `input`. Default: 1.
        alpha (number): The factor of the products. Default: 1.

    Returns:
        A tensor of shape [b, n, m].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.baddbmm(ms.Tensor([[[1.0]]]), ms.ops.ones((1, 1, 3)), ms.ops.ones((1, 3, 1))))
        [[[4.]]]
    """
    return core.add(_scaled(input, beta), _scaled(bmm(batch1, batch2), alpha))


def _scaled(x: Tensor, factor) -> Tensor:
    return x if isinstance(factor, (int, float)) and factor == 1 else core.mul(x, factor)


def tensor_dot(x1: Tensor, x2: Tensor, axes: Union[int, Sequence]) -> Tensor:
    """Sums products over axes of two tensors.

    Args:
        x1 (Tensor): The left operand.
        x2 (Tensor): The right operand.
        axes: N for the last n axes of `x1` and the first n of `x2`, or (axes of x1, axes of x2).

    Returns:
        A tensor of the remaining dimensions of x1, then those of x2.

    Raises:
        ValueError: If the sizes differ or an axis is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.tensor_dot(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([1.0, 1.0]), 1))
        [3. 7.]
    """
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
    """Applies `tensor_dot` within each sample of the first dimension, over one axis of each operand.

    Args:
        x1 (Tensor): The left operand.
        x2 (Tensor): The right operand.
        axes (int or sequence of ints): The two axes, or one for both; None means the last of `x1` and the last but one
            of `x2`. Default: None.

    Returns:
        A tensor of the samples, the remaining dimensions of x1, then those of x2.

    Raises:
        ValueError: If the numbers of samples differ, an operand has fewer than 2 dimensions, or an axis is 0 or out
            of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.batch_dot(ms.ops.ones((2, 1, 3)), ms.ops.ones((2, 3, 1))).shape)
        (2, 1, 1)
    """
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
    """Computes the Kronecker product: every element of `input` times `other`.

    Args:
        input (Tensor): The left operand.
        other (Tensor): The right operand.

    Returns:
        A tensor whose sizes are the products of the operands' sizes.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.kron(ms.Tensor([1, 2]), ms.Tensor([1, 10])))
        [ 1 10  2 20]
    """
    n = max(len(input.shape), len(other.shape))
    a, b = ((1,) * (n - len(x.shape)) + x.shape for x in (input, other))
    pairs = core.mul(core.reshape(input, [v for k in a for v in (k, 1)]), core.reshape(other, [v for k in b for v in (1, k)]))
    return core.reshape(pairs, [p * q for p, q in zip(a, b)])


def cross(input: Tensor, other: Tensor, dim: Optional[int] = None) -> Tensor:
    """Computes vector products along a dimension of size 3. The inputs broadcast.

    Args:
        input (Tensor): The left vectors.
        other (Tensor): The right vectors.
        dim (int): The dimension; None means the first of size 3. Default: None.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError: If the dimension does not have size 3.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cross(ms.Tensor([1.0, 0.0, 0.0]), ms.Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
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
    """Computes the p-norm distances between the rows of two matrices.

    Args:
        x1 (Tensor): The left rows, [.., n, k].
        x2 (Tensor): The right rows, [.., m, k].
        p (float): The order of the norm; 0 counts the positions that differ. Default: 2.0.

    Returns:
        A tensor of shape [.., n, m].

    Raises:
        ValueError: If `p` is negative.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cdist(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[3.0, 4.0], [0.0, 1.0]])))
        [[5. 1.]]
    """
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
    """Computes the p-norm distances between row i and row j of a matrix, for i < j.

    Args:
        input (Tensor): The rows, [.., n, m].
        p (float): The order of the norm. Default: 2.0.

    Returns:
        A tensor of shape [.., n·(n - 1)/2].

    Raises:
        ValueError: If `p` is negative or `input` has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.pdist(ms.Tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])))
        [ 5. 10.  5.]
    """
    if not p >= 0 or len(input.shape) < 2:
        fail(ValueError, f"expected at least 2 dimensions and p of at least 0, got {input.shape} and {p}", "ops.pdist")
    first, second = (Tensor(v.astype(np.int64)) for v in np.triu_indices(input.shape[-2], 1))
    d = len(input.shape) - 2
    return vector_norm(core.sub(core.gather(input, first, d), core.gather(input, second, d)), float(p), -1)


def cond(A: Tensor, p: Union[None, int, float, str] = None) -> Tensor:
    """Computes the condition number of matrices [.., m, n].

    With `p` None, 2 or -2 it is the ratio of the extreme singular values, else the norm of square matrices times that
    of their inverses.

    Args:
        A (Tensor): The matrices.
        p (str or number): The order of the norm: None, 2, -2, 1, -1, inf, -inf, "fro" or "nuc". Default: None.

    Returns:
        The condition numbers.

    Raises:
        ValueError: If `p` is not supported or a matrix is singular.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cond(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        2.0
    """
    if p in (None, 2, -2):
        s = core.svd(floating(A))[1]
        largest, smallest = core.max(s, [-1]), core.min(s, [-1])
        return core.div(smallest, largest) if p == -2 else core.div(largest, smallest)
    return core.mul(matrix_norm(A, p, (-2, -1)), matrix_norm(inverse(A), p, (-2, -1)))


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Computes the p-norm of input - other.

    Args:
        input (Tensor): The first operand.
        other (Tensor): The second operand.
        p (float): The order of the norm. Default: 2.

    Returns:
        A scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.dist(ms.Tensor([1.0, 2.0]), ms.Tensor([4.0, 6.0])))
        5.0
    """
    return core.reshape(cdist(core.reshape(input, (1, -1)), core.reshape(other, (1, -1)), float(p)), ())


def inverse(input: Tensor) -> Tensor:
    """Inverts matrices.

    Args:
        input (Tensor): The matrices, [.., n, n].

    Returns:
        The inverses.

    Raises:
        ValueError: If a matrix is singular.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.inverse(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return core.inverse(floating(input))


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """Computes the Cholesky factor: triangular L with L·Lᵀ = input_x.

    Args:
        input_x (Tensor): Positive definite matrices, [.., n, n].
        upper (bool): Whether to return U with Uᵀ·U = input_x. Default: False.

    Returns:
        The factors.

    Raises:
        ValueError: If a matrix is not positive definite.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cholesky(ms.Tensor([[4.0, 2.0], [2.0, 2.0]])))
        [[2. 0.]
         [1. 1.]]
    """
    out = core.cholesky(input_x)
    return swapaxes(out, -1, -2) if upper else out


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """Inverts the matrix whose Cholesky factor is given.

    Args:
        input_x (Tensor): The Cholesky factor.
        upper (bool): Whether the factor is upper triangular. Default: False.

    Returns:
        The inverse.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cholesky_inverse(ms.Tensor([[2.0, 0.0], [0.0, 1.0]])))
        [[0.25 0.  ]
         [0.   1.  ]]
    """
    factor = swapaxes(input_x, -1, -2) if upper else input_x
    n = factor.shape[-1]
    unit = core.cast(core.equal(core.reshape(core.arange(0, n), (n, 1)), core.reshape(core.arange(0, n), (1, n))), factor.dtype)
    half = core.triangular_solve(factor, core.broadcast_to(unit, factor.shape), True, False)
    return core.triangular_solve(factor, half, True, True)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solves A·x = input, given the Cholesky factor of A.

    Args:
        input (Tensor): The right-hand sides, [.., n, m].
        input2 (Tensor): The Cholesky factor of A.
        upper (bool): Whether the factor is upper triangular. Default: False.

    Returns:
        The solutions, [.., n, m].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cholesky_solve(ms.Tensor([[4.0], [1.0]]), ms.Tensor([[2.0, 0.0], [0.0, 1.0]])))
        [[1.]
         [1.]]
    """
    factor = swapaxes(input2, -1, -2) if upper else input2
    return core.triangular_solve(factor, core.triangular_solve(factor, input, True, False), True, True)


def _lu(input: Tensor) -> tuple:
    """Returns (L and U in one matrix, U's diagonal, the row order such that L·U equals input's rows in this order, its
    sign).
    """
    packed, rows, sign = core.lu(wide(floating(input)))
    return packed, diagonal(packed, 0, -2, -1), rows, sign


def det(input: Tensor) -> Tensor:
    """Computes determinants of matrices. Where a determinant is 0, its gradient is NaN.

    Args:
        input (Tensor): The matrices, [.., n, n].

    Returns:
        The determinants.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.det(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])).asnumpy().round(4))
        -2.0
    """
    _, pivots, _, sign = _lu(input)
    return core.cast(core.mul(sign, core.prod(pivots, [-1])), floating(input).dtype)


matrix_determinant = det


def slogdet(input: Tensor) -> tuple:
    """Computes signs and logarithms of the absolute values of determinants.

    A singular matrix gives 0 and -inf; its gradient is NaN.

    Args:
        input (Tensor): The matrices, [.., n, n].

    Returns:
        (signs, logarithms).

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.slogdet(ms.Tensor([[-1.0, 0.0], [0.0, 1.0]])))
        -1.0 0.0
    """
    _, pivots, _, sign = _lu(input)
    out = core.mul(sign, core.prod(core.sign(pivots), [-1])), core.sum(core.log(core.abs(pivots)), [-1])
    return tuple(core.cast(t, floating(input).dtype) for t in out)


log_matrix_determinant = slogdet


def logdet(input: Tensor) -> Tensor:
    """Computes logarithms of determinants; NaN where one is negative.

    Args:
        input (Tensor): The matrices, [.., n, n].

    Returns:
        The logarithms.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.logdet(ms.Tensor([[1.0, 0.0], [0.0, 1.0]])))
        0.0
    """
    sign, value = slogdet(input)
    return core.where(core.less(sign, 0.0), math.nan, value)


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """Solves matrix·x = rhs.

    Args:
        matrix (Tensor): The matrices, [.., n, n].
        rhs (Tensor): The right-hand sides, [.., n, m].
        adjoint (bool): Whether to solve matrixᵀ·x = rhs. Default: False.

    Returns:
        The solutions, [.., n, m].

    Raises:
        ValueError: If the shapes are incompatible or a matrix is singular; in compiled code a singular matrix gives an
            infinite or NaN result instead.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_solve(ms.Tensor([[2.0, 0.0], [0.0, 4.0]]), ms.Tensor([[2.0], [2.0]])))
        [[1. ]
         [0.5]]
    """
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
    """Solves A·x = b for A = P·L·U. It reads the pivots' values.

    Args:
        b (Tensor): The right-hand sides, [.., n, m].
        LU_data (Tensor): L (unit diagonal, not stored) and U in one matrix, [.., n, n].
        LU_pivots (Tensor): The row, counted from 1, that each row was exchanged with in turn, [.., n].

    Returns:
        The solutions, [.., n, m].

    Raises:
        ValueError: If the shapes are incompatible or a pivot is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lu_solve(ms.Tensor([[2.0], [4.0]]), ms.Tensor([[2.0, 0.0], [0.0, 4.0]]), ms.Tensor([1, 2])))
        [[1.]
         [1.]]
    """
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
    """Solves the least-squares problem: x with the smallest |input·x - A|; of several solutions the shortest.

    Args:
        input (Tensor): The matrix, [m, n].
        A (Tensor): The right-hand side, [m, k] or [m] (k = 1).

    Returns:
        The solution, [n, k].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.lstsq(ms.Tensor([[1.0], [1.0]]), ms.Tensor([1.0, 3.0])).asnumpy().round(4))
        [[2.]]
    """
    if len(input.shape) != 2 or len(A.shape) not in (1, 2) or A.shape[0] != input.shape[0]:
        fail(ValueError, f"expected [m, n] and [m, k] or [m], got {input.shape} and {A.shape}", "ops.lstsq")
    out = core.matmul(pinv(wide(input)), wide(core.expand_dims(A, 1) if len(A.shape) == 1 else A))
    return core.cast(out, input.dtype)


def qr(input: Tensor, mode: str = "reduced") -> tuple:
    """Decomposes matrices [.., m, n] as input = q·r, with orthonormal columns of q and upper triangular r.

    "complete" factors have a gradient for m <= n only.

    Args:
        input (Tensor): The matrices.
        mode (str): "reduced" for shapes [.., m, k] and [.., k, n] with k = min(m, n), "complete" for [.., m, m] and
            [.., m, n]. Default: "reduced".

    Returns:
        (q, r).

    Raises:
        ValueError: If `mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print([t.shape for t in ms.ops.qr(ms.ops.ones((3, 2)))])
        [(3, 2), (2, 2)]
    """
    return core.qr(input, check_choice("ops.qr", "mode", mode, ("reduced", "complete")) == "complete")


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Union[Tensor, tuple]:
    """Computes the thin singular value decomposition input = u·diag(s)·vᵀ.

    Args:
        input (Tensor): The matrices, [.., m, n].
        full_matrices (bool): Whether u and v are square; supported for square matrices only. Default: False.
        compute_uv (bool): Whether to return u and v. Default: True.

    Returns:
        (s, u, v), or s.

    Raises:
        ValueError: If `full_matrices` is True and the matrices are not square.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.svd(ms.Tensor([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False))
        [4. 3.]
    """
    if full_matrices and compute_uv and input.shape[-1] != input.shape[-2]:
        fail(ValueError, f"full_matrices is not supported for {input.shape}", "ops.svd", "use full_matrices=False")
    u, s, v = core.svd(input)
    return (s, u, v) if compute_uv else s


def matrix_power(input: Tensor, n: int) -> Tensor:
    """Raises matrices to an integer power; a negative power is one of the inverse.

    Args:
        input (Tensor): The matrices, [.., n, n].
        n (int): The exponent.

    Returns:
        The powers.

    Raises:
        ValueError: If `n` is negative and a matrix is singular.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.matrix_power(ms.Tensor([[1.0, 1.0], [0.0, 1.0]]), 3))
        [[1. 3.]
         [0. 1.]]
    """
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
    """Computes the pseudo-inverse by singular values.

    Args:
        x (Tensor): The matrices, [.., m, n].
        atol (number): The absolute bound: singular values not above max(atol, rtol * largest) count as 0.
            Default: None.
        rtol (number): The relative bound. Default: None.
        hermitian (bool): No effect. Default: False.

    Returns:
        The pseudo-inverses, [.., n, m].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.pinv(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    u, s, v = core.svd(x)
    eps = {mstype.float32: 1.1920929e-07}.get(x.dtype, 2.220446049250313e-16)
    cut = core.mul(core.max(s, [-1], True), rtol if rtol is not None else 0.0 if atol is not None else max(x.shape[-2:]) * eps)
    cut = core.maximum(cut, 0.0 if atol is None else atol)
    kept = core.greater(s, cut)
    inverted = core.where(kept, core.reciprocal(core.where(kept, s, 1.0)), 0.0)
    return _matrix_product(core.mul(v, core.expand_dims(inverted, -2)), swapaxes(u, -1, -2))


# --- einsum -----------------------------------------------------------------------------------------------------------------------------


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums products named by letters, as numpy.einsum does; '...' stands for dimensions without letters.

    Operands are joined from left to right, each pair as one matrix product.

    Args:
        equation (str): The letters, such as "bij,bjk->bik".
        *operands: The operands.

    Returns:
        The result.

    Raises:
        ValueError: If the equation does not fit the operands.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.einsum("ij,jk->ik", ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0, 1.0], [4.0, 1.0]])))
        [[11.  3.]]
        >>> print(ms.ops.einsum("ii->i", ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [1. 4.]
    """
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
    """Returns the letters of each operand and of the result. The dimensions of '...' are named by numbers from the
    right.
    """
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
    """Returns x without repeated letters: these take the diagonal."""
    labels = list(labels)
    for c in [c for i, c in enumerate(labels) if c in labels[:i]]:
        first, second = labels.index(c), len(labels) - 1 - labels[::-1].index(c)
        x = diagonal(x, 0, first, second)
        labels = [d for i, d in enumerate(labels) if i not in (first, second)] + [c]
    return x, labels


def _pair(a: Tensor, left: list, b: Tensor, right: list, needed: set) -> tuple:
    """Joins two operands. Letters of both that are needed later form a batch; other letters of both are summed by the
    product.
    """
    a, left = _summed(a, left, needed | set(right))
    b, right = _summed(b, right, needed | set(left))
    size = {**dict(zip(right, b.shape)), **dict(zip(left, a.shape)), **{c: n for c, n in zip(right, b.shape) if n != 1}}
    size.update({c: n for c, n in zip(left, a.shape) if n != 1})
    # A dimension of 1 is broadcast to a larger one of the same letter, so that each letter has one size.
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
