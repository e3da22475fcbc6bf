"""Creation, shapes, joining and indexing of sindri.numpy."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail, is_int
from sindri.common import dtype as mstype
from sindri.common._views import reshaped, transposed
from sindri.numpy._convert import array, as_tensor, smallest_int, typed
from sindri.ops import function as F
from sindri.ops._util import FEW_PARTS, Axis, Size, Tensor, core, is_number, to_axes, to_axis, to_count, to_int, to_ints

# --- creation ---------------------------------------------------------------------------------------------------------------------------


def asarray(a: Any, dtype=None) -> Tensor:
    """Converts a value to a tensor; a tensor is not copied.

    Args:
        a: A tensor, number, nested list or NumPy array.
        dtype (dtype): The element type; None keeps the value's. Default: None.

    Returns:
        A tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.asarray([1, 2]))
        [1 2]
    """
    return array(a, dtype, False)


def asfarray(a: Any, dtype=mstype.float32) -> Tensor:
    """Converts a value to a floating tensor.

    Args:
        a: A tensor, number, nested list or NumPy array.
        dtype (dtype): A floating type; another type counts as float32. Default: float32.

    Returns:
        A floating tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.asfarray([1, 2]))
        [1. 2.]
    """
    return array(a, dtype if dtype is not None and dtype.is_floating else mstype.float32, False)


def copy(a: Any) -> Tensor:
    """Returns a new tensor with the same values.

    Args:
        a: A tensor, number, nested list or NumPy array.

    Returns:
        The new tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.copy([1, 2]))
        [1 2]
    """
    return array(a)


def full(shape: Size, fill_value: Any, dtype=None) -> Tensor:
    """Creates a tensor with every element `fill_value`, which broadcasts to the shape.

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        fill_value: A number or a tensor that broadcasts.
        dtype (dtype): The element type; None means that of the value. Default: None.

    Returns:
        The tensor.

    Raises:
        ValueError: If the value does not broadcast.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.full((2, 2), [1, 2]))
        [[1 2]
         [1 2]]
    """
    value = as_tensor(fill_value)
    kind = dtype or value.dtype
    return F.fill(kind, shape, fill_value) if is_number(fill_value) else F.broadcast_to(core.cast(value, kind), to_ints(shape, "shape", "numpy.full"))


def zeros(shape: Size, dtype=mstype.float32) -> Tensor:
    """Creates a tensor of zeros.

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        dtype (dtype): The element type. Default: float32.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.zeros((2, 2)))
        [[0. 0.]
         [0. 0.]]
    """
    return F.zeros(shape, dtype)


def ones(shape: Size, dtype=mstype.float32) -> Tensor:
    """Creates a tensor of ones.

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        dtype (dtype): The element type. Default: float32.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.ones((2, 2)))
        [[1. 1.]
         [1. 1.]]
    """
    return F.ones(shape, dtype)


def empty(shape: Size, dtype=mstype.float32) -> Tensor:
    """Creates a tensor whose values are not defined (zeros).

    Args:
        shape (int, sequence of ints or Tensor): The shape.
        dtype (dtype): The element type. Default: float32.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.empty((2, 2)).shape)
        (2, 2)
    """
    return F.zeros(shape, dtype)


def _like(value: float):
    def create(a: Any, dtype=None, shape: Optional[Size] = None) -> Tensor:
        a = as_tensor(a)
        return F.fill(dtype or a.dtype, a.shape if shape is None else shape, value)
    return create


zeros_like, ones_like, empty_like = _like(0), _like(1), _like(0)
for _f, _name in ((zeros_like, "zeros_like"), (ones_like, "ones_like"), (empty_like, "empty_like")):
    _f.__name__ = _f.__qualname__ = _name
    _f.__doc__ = f"""Creates a tensor of {"ones" if _name == "ones_like" else "zeros"} with a's shape and type.

    Args:
        a: The tensor whose shape and type are used.
        dtype (dtype): The element type; None means a's type. Default: None.
        shape (int or sequence of ints): The shape; None means a's shape. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.{_name}([1.5, 2.5]))
        {"[1. 1.]" if _name == "ones_like" else "[0. 0.]"}
    """


def full_like(a: Any, fill_value: Any, dtype=None, shape: Optional[Size] = None) -> Tensor:
    """Creates a tensor of a's shape and type with every element `fill_value`.

    Args:
        a: The tensor whose shape and type are used.
        fill_value: A number or a tensor that broadcasts.
        dtype (dtype): The element type; None means a's type. Default: None.
        shape (int, sequence of ints or Tensor): The shape; None means a's shape. Default: None.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.full_like([1, 2], 7))
        [7 7]
    """
    a = as_tensor(a)
    return full(a.shape if shape is None else shape, fill_value, dtype or a.dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype=None) -> Tensor:
    """Creates the numbers start, start + step, … before stop; arange(stop) counts from 0.

    Args:
        start: The first number.
        stop: The exclusive end. Default: None.
        step: The difference of two numbers; None means 1. Default: None.
        dtype (dtype): The element type; None means int32 (int64 if a number does not fit), or float32 if an argument is
            a fraction. Default: None.

    Returns:
        A vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.arange(1, 7, 2))
        [1 3 5]
    """
    start, stop = (0, start) if stop is None else (start, stop)
    values = np.arange(*(v.item() if isinstance(v, Tensor) else v for v in (start, stop, 1 if step is None else step)))
    return _constant(values, dtype)


def _constant(values: np.ndarray, dtype: Any) -> Tensor:
    if values.dtype.kind == "i":
        return typed(Tensor(smallest_int(values)), dtype)
    return typed(Tensor(values if dtype == mstype.float64 else values.astype(np.float32)), dtype)


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype=None, axis: int = 0) -> Union[Tensor, tuple]:
    """Creates evenly spaced numbers from start to stop, which are constants.

    Args:
        start: The first number.
        stop: The last number.
        num (int): The number of elements. Default: 50.
        endpoint (bool): Whether `stop` is included. Default: True.
        retstep (bool): Whether to return the distance too. Default: False.
        dtype (dtype): The element type; None means float32. Default: None.
        axis (int): The dimension of the numbers if the bounds are tensors. Default: 0.

    Returns:
        The numbers, or (numbers, distance).

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    values, step = np.linspace(_plain(start), _plain(stop), num, endpoint, True, axis=axis)
    out = _constant(np.asarray(values, np.float64), dtype)
    return (out, _constant(np.asarray(step, np.float64), None)) if retstep else out


def _plain(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Tensor) else value


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype=None, axis: int = 0) -> Tensor:
    """Computes base to the power of linspace(start, stop, …).

    Args:
        start: The first exponent.
        stop: The last exponent.
        num (int): The number of elements. Default: 50.
        endpoint (bool): Whether `stop` is included. Default: True.
        base (float): The base. Default: 10.0.
        dtype (dtype): The element type; None means float32. Default: None.
        axis (int): The dimension of the numbers if the bounds are tensors. Default: 0.

    Returns:
        The numbers.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.logspace(0, 2, 3, base=2.0))
        [1. 2. 4.]
    """
    return _constant(np.logspace(_plain(start), _plain(stop), num, endpoint, base, axis=axis), dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0) -> Tensor:
    """Creates numbers from start to stop with a constant ratio.

    Args:
        start: The first number.
        stop: The last number.
        num (int): The number of elements. Default: 50.
        endpoint (bool): Whether `stop` is included. Default: True.
        dtype (dtype): The element type; None means float32. Default: None.
        axis (int): The dimension of the numbers if the bounds are tensors. Default: 0.

    Returns:
        The numbers.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.geomspace(1, 4, 3))
        [1. 2. 4.]
    """
    return _constant(np.geomspace(_plain(start), _plain(stop), num, endpoint, axis=axis), dtype)


def eye(N: int, M: Optional[int] = None, k: int = 0, dtype=mstype.float32) -> Tensor:
    """Creates a matrix with ones on a diagonal.

    Args:
        N (int): The number of rows.
        M (int): The number of columns; None means `N`. Default: None.
        k (int): The diagonal; 0 is the main diagonal. Default: 0.
        dtype (dtype): The element type. Default: float32.

    Returns:
        A tensor of shape [N, M].

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.eye(2, 3))
        [[1. 0. 0.]
         [0. 1. 0.]]
    """
    return Tensor(np.eye(N, M, k)).astype(dtype)


def identity(n: int, dtype=mstype.float32) -> Tensor:
    """Creates a square matrix with ones on the main diagonal.

    Args:
        n (int): The number of rows and columns.
        dtype (dtype): The element type. Default: float32.

    Returns:
        A tensor of shape [n, n].

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.identity(2))
        [[1. 0.]
         [0. 1.]]
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: Optional[int] = None, k: int = 0, dtype=mstype.float32) -> Tensor:
    """Creates a matrix with ones at and below a diagonal.

    Args:
        N (int): The number of rows.
        M (int): The number of columns; None means `N`. Default: None.
        k (int): The diagonal; 0 is the main diagonal. Default: 0.
        dtype (dtype): The element type. Default: float32.

    Returns:
        A tensor of shape [N, M].

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.tri(2, 3))
        [[1. 0. 0.]
         [1. 1. 0.]]
    """
    return Tensor(np.tri(N, M, _diagonal_number(k, N, M))).astype(dtype)


def _diagonal_number(k: int, n: int, m: Optional[int]) -> int:
    """Returns k, or the nearest diagonal just outside an [n, m] matrix: NumPy's diagonal numbers are C longs."""
    return max(min(k, n if m is None else m), -n)


def _square(m: Any) -> Tensor:
    """Returns m; a vector is repeated as the rows of a square."""
    m = as_tensor(m)
    return core.broadcast_to(m, (m.shape[0], m.shape[0])) if len(m.shape) == 1 else m


def tril(m: Any, k: int = 0) -> Tensor:
    """Sets elements above a diagonal to 0.

    Args:
        m: The matrices; a vector is repeated as the rows of a square.
        k (int): The diagonal; 0 is the main diagonal. Default: 0.

    Returns:
        A tensor of the same type.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.tril([[1, 2], [3, 4]]))
        [[1 0]
         [3 4]]
    """
    return F.tril(_square(m), k)


def triu(m: Any, k: int = 0) -> Tensor:
    """Sets elements below a diagonal to 0.

    Args:
        m: The matrices; a vector is repeated as the rows of a square.
        k (int): The diagonal; 0 is the main diagonal. Default: 0.

    Returns:
        A tensor of the same type.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.triu([[1, 2], [3, 4]]))
        [[1 2]
         [0 4]]
    """
    return F.triu(_square(m), k)


def _ranked(x: Any, ranks: Sequence[int], where: str) -> Tensor:
    """Returns x as a tensor. Raises ValueError if the number of its dimensions is not one of `ranks`."""
    x = as_tensor(x)
    if len(x.shape) not in ranks:
        fail(ValueError, f"expected {' or '.join(map(str, ranks))} dimension{'s' if ranks[-1] > 1 else ''}, got {x.shape}", where)
    return x


def _index_pair(rows: tuple) -> tuple:
    return tuple(Tensor(r.astype(np.int32)) for r in rows)


def tril_indices(n: int, k: int = 0, m: Optional[int] = None) -> tuple:
    """Returns the row and column numbers of the lower triangle of an [n, m] matrix.

    Args:
        n (int): The number of rows.
        k (int): The last diagonal of the triangle; 0 is the main diagonal. Default: 0.
        m (int): The number of columns; None means `n`. Default: None.

    Returns:
        (rows, columns), int32 vectors.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.tril_indices(2))
        [0 1 1] [0 0 1]
    """
    return _index_pair(np.tril_indices(n, _diagonal_number(k, n, m), m))


def triu_indices(n: int, k: int = 0, m: Optional[int] = None) -> tuple:
    """Returns the row and column numbers of the upper triangle of an [n, m] matrix.

    Args:
        n (int): The number of rows.
        k (int): The first diagonal of the triangle; 0 is the main diagonal. Default: 0.
        m (int): The number of columns; None means `n`. Default: None.

    Returns:
        (rows, columns), int32 vectors.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.triu_indices(2))
        [0 0 1] [0 1 1]
    """
    return _index_pair(np.triu_indices(n, _diagonal_number(k, n, m), m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple:
    """Returns `tril_indices` for a matrix's shape.

    Args:
        arr: The matrix.
        k (int): The last diagonal of the triangle; 0 is the main diagonal. Default: 0.

    Returns:
        (rows, columns), int32 vectors.

    Raises:
        ValueError: If `arr` does not have 2 dimensions.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.tril_indices_from(mnp.ones((2, 2))))
        [0 1 1] [0 0 1]
    """
    rows, columns = _ranked(arr, (2,), "numpy.tril_indices_from").shape
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple:
    """Returns `triu_indices` for a matrix's shape.

    Args:
        arr: The matrix.
        k (int): The first diagonal of the triangle; 0 is the main diagonal. Default: 0.

    Returns:
        (rows, columns), int32 vectors.

    Raises:
        ValueError: If `arr` does not have 2 dimensions.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.triu_indices_from(mnp.ones((2, 2))))
        [0 0 1] [0 1 1]
    """
    rows, columns = _ranked(arr, (2,), "numpy.triu_indices_from").shape
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple:
    """Returns the positions of the main diagonal of a tensor of ndim dimensions of size n.

    Args:
        n (int): The size of each dimension.
        ndim (int): The number of dimensions. Default: 2.

    Returns:
        A tuple of int32 vectors, one per dimension.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.diag_indices(2))
        [0 1] [0 1]
    """
    return _index_pair(np.diag_indices(n, ndim))


def indices(dimensions: Sequence[int], dtype=mstype.int32, sparse: bool = False) -> list:
    """Returns one tensor of position numbers per dimension.

    Args:
        dimensions (sequence of ints): The shape.
        dtype (dtype): The element type. Default: int32.
        sparse (bool): Whether the other dimensions have size 1. Default: False.

    Returns:
        A list of tensors.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.indices((2, 3))[1])
        [[0 1 2]
         [0 1 2]]
    """
    found = np.indices(tuple(dimensions), sparse=sparse)
    return [Tensor(f).astype(dtype) for f in found]


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list:
    """Creates coordinate grids: one tensor per vector, repeated along the dimensions of the others.

    Args:
        *xi: The vectors.
        sparse (bool): Whether the other dimensions have size 1 instead. Default: False.
        indexing (str): "xy" to exchange the first two dimensions, or "ij". Default: "xy".

    Returns:
        A list of tensors.

    Raises:
        ValueError: If `indexing` is another string.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.meshgrid([1, 2], [3, 4])[0])
        [[1 2]
         [1 2]]
    """
    inputs = [as_tensor(x) for x in xi]
    if not sparse:
        return list(F.meshgrid(*inputs, indexing=indexing))
    check_choice("numpy.meshgrid", "indexing", indexing, ("xy", "ij"))
    places = list(range(len(inputs)))
    if indexing == "xy" and len(places) > 1:
        places[0], places[1] = 1, 0
    return [core.reshape(x, [-1 if d == p else 1 for d in range(len(inputs))]) for x, p in zip(inputs, places)]


def diag(v: Any, k: int = 0) -> Tensor:
    """Creates a matrix with a vector on a diagonal, or returns a diagonal of a matrix.

    Args:
        v: A vector or a matrix.
        k (int): The diagonal; 0 is the main diagonal. Default: 0.

    Returns:
        A matrix or a vector.

    Raises:
        ValueError: If `v` has another number of dimensions.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.diag([1, 2]))
        [[1 0]
         [0 2]]
        >>> print(mnp.diag([[1, 2], [3, 4]]))
        [1 4]
    """
    v = _ranked(v, (1, 2), "numpy.diag")
    return F.diag_embed(v, k) if len(v.shape) == 1 else F.diagonal(v, k)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """Creates a matrix with the elements of a flat tensor on a diagonal.

    Args:
        v: The elements.
        k (int): The diagonal; 0 is the main diagonal. Default: 0.

    Returns:
        A matrix.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.diagflat([1, 2], 1))
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
    """
    return F.diagflat(as_tensor(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Returns the elements [.., i, i + offset] of two dimensions, as the last dimension.

    Args:
        a: A tensor of at least 2 dimensions.
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        axis1 (int): The dimension of the rows. Default: 0.
        axis2 (int): The dimension of the columns. Default: 1.

    Returns:
        A tensor.

    Raises:
        ValueError: If the dimensions are equal or out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.diagonal([[1, 2], [3, 4]]))
        [1 4]
    """
    return F.diagonal(as_tensor(a), offset, axis1, axis2)


def vander(x: Any, N: Optional[int] = None, increasing: bool = False) -> Tensor:
    """Creates the Vandermonde matrix: columns of powers of a vector.

    Args:
        x: The vector.
        N (int): The number of columns; None means the size of `x`. Default: None.
        increasing (bool): Whether the lowest power comes first. Default: False.

    Returns:
        A matrix.

    Raises:
        ValueError: If `x` is not a vector or `N` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.vander([1, 2, 3]))
        [[1 1 1]
         [4 2 1]
         [9 3 1]]
    """
    x = _ranked(x, (1,), "numpy.vander")
    n = x.shape[0] if N is None else to_int(N, "N", "numpy.vander")
    if not 0 <= n <= FEW_PARTS:  # each column is an operator
        fail(ValueError, f"N: expected a value in [0, {FEW_PARTS}], got {n}", "numpy.vander")
    if not n:
        return F.zeros((x.shape[0], 0), x.dtype)
    powers = core.cast(F.vander(x, n), x.dtype)
    return F.flip(powers, 1) if increasing else powers


def rand(*shape: int, dtype=mstype.float32) -> Tensor:
    """Draws numbers from [0, 1).

    Args:
        *shape: The shape, as 2, 3.
        dtype (dtype): A floating type. Default: float32.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.rand(2, 3).shape)
        (2, 3)
    """
    return F.rand(*shape, dtype=dtype)


def randn(*shape: int, dtype=mstype.float32) -> Tensor:
    """Draws numbers from N(0, 1).

    Args:
        *shape: The shape, as 2, 3.
        dtype (dtype): A floating type. Default: float32.

    Returns:
        The tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.randn(2, 3).shape)
        (2, 3)
    """
    return F.randn(*shape, dtype=dtype)


def randint(minval: int, maxval: Optional[int] = None, shape: Optional[Size] = None, dtype=mstype.int32) -> Tensor:
    """Draws whole numbers from [minval, maxval), or from [0, minval) without maxval.

    Args:
        minval (int): The lower bound.
        maxval (int): The exclusive upper bound. Default: None.
        shape (int, sequence of ints or Tensor): The shape; None means a scalar. Default: None.
        dtype (dtype): The element type. Default: int32.

    Returns:
        The tensor.

    Raises:
        ValueError: If the lower bound is not below the upper one.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.randint(0, 10, (2, 3)).shape)
        (2, 3)
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return F.randint(low, high, () if shape is None else shape, dtype=dtype)


# --- shapes -----------------------------------------------------------------------------------------------------------------------------


def reshape(x: Any, new_shape: Size) -> Tensor:
    """Returns the same elements in another shape.

    Args:
        x: The tensor.
        new_shape (int, sequence of ints or Tensor): The shape; one dimension may be -1 and is then inferred.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: If the element counts differ.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.reshape([1, 2, 3, 4], (2, -1)))
        [[1 2]
         [3 4]]
    """
    return F.reshape(as_tensor(x), new_shape)


def ravel(x: Any) -> Tensor:
    """Returns all elements as one dimension.

    Args:
        x: The tensor.

    Returns:
        A vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.ravel([[1, 2], [3, 4]]))
        [1 2 3 4]
    """
    return F.ravel(as_tensor(x))


def transpose(a: Any, axes: Any = None) -> Tensor:
    """Permutes the dimensions.

    Args:
        a: The tensor.
        axes (sequence of ints): The order of the dimensions; None reverses them. Default: None.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If `axes` is not a permutation.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.transpose([[1, 2], [3, 4]]))
        [[1 3]
         [2 4]]
    """
    a = as_tensor(a)
    return transposed(a, list(range(len(a.shape)))[::-1] if axes is None else list(to_ints(axes, "axes", "numpy.transpose")))


def expand_dims(a: Any, axis: Axis) -> Tensor:
    """Inserts dimensions of size 1.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The positions of the new dimensions in the result.

    Returns:
        The tensor with more dimensions.

    Raises:
        ValueError: If a position is named twice or out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.expand_dims([1, 2], 0))
        [[1 2]]
    """
    a, axes = as_tensor(a), to_axes(axis, "numpy.expand_dims")
    places = sorted(to_axis(x, len(a.shape) + len(axes), "numpy.expand_dims") for x in axes)
    if len(set(places)) != len(places):
        fail(ValueError, f"axis: expected different places, got {axis}", "numpy.expand_dims")
    shape = list(a.shape)
    for d in places:
        shape.insert(d, 1)
    return reshaped(a, shape)


def squeeze(a: Any, axis: Axis = None) -> Tensor:
    """Removes dimensions of size 1.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The dimensions to remove; None means all of size 1. Default: None.

    Returns:
        A tensor with the same elements.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.squeeze([[1, 2]]))
        [1 2]
    """
    return F.squeeze(as_tensor(a), axis)


def moveaxis(a: Any, source: Axis, destination: Axis) -> Tensor:
    """Moves dimensions to other positions.

    Args:
        a: The tensor.
        source (int or sequence of ints): The dimensions to move.
        destination (int or sequence of ints): Their positions in the result.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If the two do not fit.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.moveaxis(mnp.ones((2, 3, 4)), 0, -1).shape)
        (3, 4, 2)
    """
    return F.moveaxis(as_tensor(a), source, destination)


def rollaxis(x: Any, axis: int, start: int = 0) -> Tensor:
    """Moves a dimension backwards until it lies before another one.

    Args:
        x: The tensor.
        axis (int): The dimension to move.
        start (int): The dimension before which it is placed. Default: 0.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.rollaxis(mnp.ones((2, 3, 4)), 2).shape)
        (4, 2, 3)
    """
    x = as_tensor(x)
    a = to_axis(axis, len(x.shape), "numpy.rollaxis")
    start = start + len(x.shape) if start < 0 else start
    return F.moveaxis(x, a, start - 1 if start > a else start)


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Exchanges two dimensions.

    Args:
        x: The tensor.
        axis1 (int): The first dimension.
        axis2 (int): The second dimension.

    Returns:
        The transposed tensor.

    Raises:
        ValueError: If a dimension is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.swapaxes([[1, 2], [3, 4]], 0, 1))
        [[1 3]
         [2 4]]
    """
    return F.swapaxes(as_tensor(x), axis1, axis2)


def atleast_1d(*arys: Any) -> Any:
    """Converts scalars to vectors.

    Args:
        *arys: The tensors.

    Returns:
        A tensor, or a list for several arguments.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.atleast_1d(2))
        [2]
    """
    return _each(F.atleast_1d, arys)


def atleast_2d(*arys: Any) -> Any:
    """Adds leading dimensions of size 1 up to two dimensions.

    Args:
        *arys: The tensors.

    Returns:
        A tensor, or a list for several arguments.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.atleast_2d([1, 2]))
        [[1 2]]
    """
    return _each(F.atleast_2d, arys)


def atleast_3d(*arys: Any) -> Any:
    """Adds dimensions of size 1 up to three.

    Args:
        *arys: The tensors.

    Returns:
        A tensor, or a list for several arguments.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.atleast_3d([1, 2]).shape)
        (1, 2, 1)
    """
    return _each(F.atleast_3d, arys)


def _each(fn: Any, items: Sequence[Any]) -> Any:
    out = [fn(as_tensor(x)) for x in items]
    return out[0] if len(out) == 1 else out


def broadcast_to(array: Any, shape: Size) -> Tensor:
    """Broadcasts a tensor to a shape.

    Args:
        array: The tensor.
        shape (int, sequence of ints or Tensor): The shape.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: If a size is negative or the tensor does not broadcast.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.broadcast_to([1, 2], (2, 2)))
        [[1 2]
         [1 2]]
    """
    dims = to_ints(shape, "shape", "numpy.broadcast_to")
    if any(n < 0 for n in dims):
        fail(ValueError, f"shape: expected no negative size, got {dims}", "numpy.broadcast_to", "write the size out, or use ops.broadcast_to")
    return core.broadcast_to(as_tensor(array), dims)


def broadcast_arrays(*args: Any) -> list:
    """Broadcasts tensors to their common shape.

    Args:
        *args: The tensors.

    Returns:
        A list of tensors.

    Raises:
        ValueError: If they do not broadcast.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.broadcast_arrays([1, 2], 3)[1])
        [3 3]
    """
    items = [as_tensor(a) for a in args]
    shape = np.broadcast_shapes(*(x.shape for x in items))
    return [core.broadcast_to(x, shape) for x in items]


def size(a: Any, axis: Optional[int] = None) -> int:
    """Returns the number of elements, or the size of a dimension.

    Args:
        a: The tensor.
        axis (int): The dimension; None means all elements. Default: None.

    Returns:
        An int.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.size([[1, 2], [3, 4]]))
        4
    """
    a = as_tensor(a)
    return math.prod(a.shape) if axis is None else a.shape[axis]


def isscalar(element: Any) -> bool:
    """Returns whether a value is a Python number or a string.

    Args:
        element: Any value.

    Returns:
        A bool.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.isscalar(3))
        True
    """
    return isinstance(element, (int, float, bool, str, complex, np.generic))


# --- joining, splitting, repeating ------------------------------------------------------------------------------------------------------


def _items(arrays: Any) -> list:
    return [as_tensor(a) for a in arrays]


def concatenate(arrays: Sequence[Any], axis: Optional[int] = 0) -> Tensor:
    """Concatenates tensors along an axis.

    Args:
        arrays (sequence of values): The tensors.
        axis (int): The axis; None concatenates the flat tensors. Default: 0.

    Returns:
        The concatenated tensor.

    Raises:
        ValueError: If the shapes are incompatible or `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.concatenate(([1, 2], [3])))
        [1 2 3]
    """
    items = _items(arrays)
    return F.concat([F.ravel(x) for x in items], 0) if axis is None else F.concat(items, axis)


def append(arr: Any, values: Any, axis: Optional[int] = None) -> Tensor:
    """Appends values to a tensor along an axis.

    Args:
        arr: The tensor.
        values: The values.
        axis (int): The axis; None appends the flat values to the flat tensor. Default: None.

    Returns:
        The concatenated tensor.

    Raises:
        ValueError: If the shapes are incompatible or `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.append([1, 2], [3]))
        [1 2 3]
    """
    return concatenate((arr, values), axis)


def stack(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Stacks tensors along a new dimension.

    Args:
        arrays (sequence of values): Tensors of one shape.
        axis (int): The position of the new dimension. Default: 0.

    Returns:
        A tensor with one dimension more.

    Raises:
        ValueError: If the shapes differ or `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.stack(([1, 2], [3, 4])))
        [[1 2]
         [3 4]]
    """
    return F.stack(_items(arrays), axis)


def hstack(tup: Sequence[Any]) -> Tensor:
    """Concatenates tensors along the second dimension, vectors along the first.

    Args:
        tup (sequence of values): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.hstack(([1, 2], [3])))
        [1 2 3]
    """
    return F.hstack(_items(tup))


def vstack(tup: Sequence[Any]) -> Tensor:
    """Concatenates tensors along the first dimension; vectors count as rows.

    Args:
        tup (sequence of values): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.vstack(([1, 2], [3, 4])))
        [[1 2]
         [3 4]]
    """
    return F.vstack(_items(tup))


def dstack(tup: Sequence[Any]) -> Tensor:
    """Concatenates tensors along the third dimension.

    Args:
        tup (sequence of values): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.dstack(([1, 2], [3, 4])).shape)
        (1, 2, 2)
    """
    return F.dstack(_items(tup))


def column_stack(tup: Sequence[Any]) -> Tensor:
    """Concatenates tensors as columns; vectors become columns.

    Args:
        tup (sequence of values): The tensors.

    Returns:
        The concatenated tensor.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.column_stack(([1, 2], [3, 4])))
        [[1 3]
         [2 4]]
    """
    return F.column_stack(_items(tup))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Splits a tensor along an axis.

    Args:
        x: The tensor.
        indices_or_sections (int or sequence of ints): The number of equal pieces, or the positions to cut at.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of equal pieces, or a list of pieces for positions.

    Raises:
        ValueError: If the number does not divide the size.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.split([1, 2, 3, 4], 2))
        [1 2] [3 4]
    """
    x = as_tensor(x)
    axis = to_axis(axis, len(x.shape), "numpy.split")
    if isinstance(indices_or_sections, int) and x.shape[axis] % to_count(indices_or_sections, "indices_or_sections", "numpy.split"):
        fail(ValueError, f"dimension {axis} of {x.shape} cannot be cut into {indices_or_sections} equal pieces", "numpy.split", "use array_split")
    pieces = F.tensor_split(x, indices_or_sections, axis)
    return pieces if isinstance(indices_or_sections, int) else list(pieces)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple:
    """Splits a tensor along an axis into pieces whose sizes differ by at most 1, or at positions.

    Args:
        x: The tensor.
        indices_or_sections (int or sequence of ints): The number of pieces, or the positions to cut at.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of tensors.

    Raises:
        ValueError: If the number is below 1 or `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.array_split([1, 2, 3, 4, 5], 2))
        [1 2 3] [4 5]
    """
    return F.tensor_split(as_tensor(x), indices_or_sections, axis)


def hsplit(x: Any, indices_or_sections: Any) -> tuple:
    """Splits a tensor along the second dimension; see `split`.

    Args:
        x: A tensor of at least 2 dimensions.
        indices_or_sections (int or sequence of ints): The number of equal pieces, or the positions to cut at.

    Returns:
        A tuple or list of tensors.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.hsplit([[1, 2], [3, 4]], 2)[0])
        [[1]
         [3]]
    """
    return split(x, indices_or_sections, 1)


def vsplit(x: Any, indices_or_sections: Any) -> tuple:
    """Splits a tensor along the first dimension; see `split`.

    Args:
        x: The tensor.
        indices_or_sections (int or sequence of ints): The number of equal pieces, or the positions to cut at.

    Returns:
        A tuple or list of tensors.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.vsplit([[1, 2], [3, 4]], 2))
        [[1 2]] [[3 4]]
    """
    return split(x, indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> tuple:
    """Splits a tensor along the third dimension; see `split`.

    Args:
        x: A tensor of at least 3 dimensions.
        indices_or_sections (int or sequence of ints): The number of equal pieces, or the positions to cut at.

    Returns:
        A tuple or list of tensors.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.dsplit([[[1, 2]]], 2)[0])
        [[[1]]]
    """
    return split(x, indices_or_sections, 2)


def tile(a: Any, reps: Any) -> Tensor:
    """Repeats a tensor along each dimension.

    Args:
        a: The tensor.
        reps (int or sequence of ints): The number of repetitions per dimension.

    Returns:
        The repeated tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.tile([1, 2], 2))
        [1 2 1 2]
    """
    a, reps = as_tensor(a), to_ints(reps, "reps", "numpy.tile")
    return F.tile(a, (1,) * (len(a.shape) - len(reps)) + reps)


def repeat(a: Any, repeats: Any, axis: Optional[int] = None) -> Tensor:
    """Repeats each element along an axis.

    Args:
        a: The tensor.
        repeats (int or sequence of ints): The number of repetitions, one for all or one per element.
        axis (int): The axis; None repeats the flat tensor. Default: None.

    Returns:
        The repeated tensor.

    Raises:
        ValueError: If there are several repeats, but not one per element.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.repeat([1, 2], 2))
        [1 1 2 2]
    """
    return F.repeat_interleave(as_tensor(a), repeats, axis)


def roll(a: Any, shift: Axis, axis: Axis = None) -> Tensor:
    """Shifts elements along axes; those shifted out at one end enter at the other.

    Args:
        a: The tensor.
        shift (int or sequence of ints): The number of places, one for all axes or one each.
        axis (int or sequence of ints): The axes; None shifts the flat tensor. Default: None.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If the numbers of shifts and axes do not fit.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.roll([1, 2, 3], 1))
        [3 1 2]
    """
    return F.roll(as_tensor(a), [shift] * len(axis) if is_int(shift) and isinstance(axis, (tuple, list)) else shift, axis)


def flip(m: Any, axis: Axis = None) -> Tensor:
    """Reverses the order of the elements along axes.

    Args:
        m: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.

    Returns:
        A tensor of the same shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.flip([1, 2, 3]))
        [3 2 1]
    """
    m = as_tensor(m)
    return F.flip(m, tuple(range(len(m.shape))) if axis is None else axis)


def flipud(m: Any) -> Tensor:
    """Reverses the order of the elements along the first dimension.

    Args:
        m: The tensor.

    Returns:
        A tensor of the same shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.flipud([[1, 2], [3, 4]]))
        [[3 4]
         [1 2]]
    """
    return flip(m, 0)


def fliplr(m: Any) -> Tensor:
    """Reverses the order of the elements along the second dimension.

    Args:
        m: A tensor of at least 2 dimensions.

    Returns:
        A tensor of the same shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.fliplr([[1, 2], [3, 4]]))
        [[2 1]
         [4 3]]
    """
    return flip(m, 1)


def rot90(a: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Rotates a tensor k times by 90 degrees, from axes[0] towards axes[1].

    Args:
        a: The tensor.
        k (int): The number of rotations. Default: 1.
        axes (sequence of ints): The two dimensions of the plane. Default: (0, 1).

    Returns:
        The rotated tensor.

    Raises:
        ValueError: If the dimensions are equal or out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.rot90([[1, 2], [3, 4]]))
        [[2 4]
         [1 3]]
    """
    return F.rot90(as_tensor(a), k, axes)


# --- indexing ---------------------------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Selects elements of x where a condition is True, else of y.

    Without x and y it returns the positions where the condition is True, which reads values.

    Args:
        condition: The condition.
        x: The values for True. Default: None.
        y: The values for False. Default: None.

    Returns:
        A tensor, or a tuple of one vector per dimension.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.where([True, False], [1, 2], [3, 4]))
        [1 4]
    """
    condition = as_tensor(condition)
    if x is None and y is None:
        return F.nonzero(condition, as_tuple=True)
    return F.where(condition, x if is_number(x) and not is_number(y) else as_tensor(x), y if is_number(y) and not is_number(x) else as_tensor(y))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """Selects, for each element, the first choice whose condition is True, else a default.

    Args:
        condlist (sequence of values): The conditions.
        choicelist (sequence of values): As many choices.
        default: The value where no condition is True. Default: 0.

    Returns:
        A tensor.

    Raises:
        ValueError: If the lists differ in length or are empty.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.select([[True, False], [False, False]], [[1, 2], [3, 4]], 9))
        [1 9]
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        fail(ValueError, f"expected as many choices as conditions, at least one, got {len(condlist)} conditions and {len(choicelist)} choices",
             "numpy.select")
    out = as_tensor(default)
    for condition, choice in list(zip(condlist, choicelist))[::-1]:
        out = core.where(core.cast(as_tensor(condition), mstype.bool_), as_tensor(choice), out)
    return out


def take(a: Any, indices: Any, axis: Optional[int] = None, mode: str = "clip") -> Tensor:
    """Returns slices along an axis.

    Args:
        a: The tensor.
        indices: The indices.
        axis (int): The axis; None uses the flat tensor. Default: None.
        mode (str): "clip" to clip indices to the range, "wrap" to wrap them around, or "raise" to raise an error.
            Default: "clip".

    Returns:
        The slices.

    Raises:
        ValueError: If `mode` is another string, or an index is out of range with "raise".

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.take([10, 20, 30], [0, 5]))
        [10 30]
    """
    return as_tensor(a).take(as_tensor(indices), axis, mode)


def take_along_axis(arr: Any, indices: Any, axis: Optional[int]) -> Tensor:
    """Gathers one element per position of the indices along an axis.

    Args:
        arr: The tensor.
        indices: The indices, of arr's rank.
        axis (int): The axis; None uses the flat tensor.

    Returns:
        A tensor of indices' shape.

    Raises:
        ValueError: If an index or `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.take_along_axis([[1, 2], [3, 4]], [[0], [1]], 1))
        [[1]
         [4]]
    """
    arr, indices = as_tensor(arr), as_tensor(indices)
    return F.gather_elements(F.ravel(arr), 0, indices) if axis is None else F.gather_elements(arr, axis, indices)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """Returns the distinct elements in the order of their first appearance. Code that calls it runs eagerly.

    Args:
        x: The tensor.
        return_inverse (bool): Whether to return the index of each element in the result too. Default: False.

    Returns:
        The elements, or (elements, indices).

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.unique([3, 1, 3, 2]))
        [3 1 2]
    """
    values, inverse = F.unique(F.ravel(as_tensor(x)))
    return (values, inverse) if return_inverse else values


def argwhere(a: Any) -> Tensor:
    """Returns the positions of the elements that are not 0. Code that calls it runs eagerly.

    Args:
        a: The tensor.

    Returns:
        An int64 tensor of shape [n, rank].

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.argwhere([0, 1, 2]))
        [[1]
         [2]]
    """
    return F.nonzero(as_tensor(a))


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Returns the positions at which values would be inserted to keep a vector sorted.

    Args:
        a: The sorted vector.
        v: The values.
        side (str): "left" or "right". Default: "left".
        sorter: The indices that sort `a`; None if it is sorted. Default: None.

    Returns:
        An int32 tensor of v's shape.

    Raises:
        ValueError: If `a` is not a vector or `side` is another string.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.searchsorted([1, 3, 5], [3, 4]))
        [1 2]
    """
    a = _ranked(a, (1,), "numpy.searchsorted")
    return F.searchsorted(a if sorter is None else core.gather(a, as_tensor(sorter), 0), as_tensor(v), side=side, out_int32=True)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Returns the bin of each element.

    Args:
        x: The elements.
        bins: The edges of the bins, ascending or descending constants.
        right (bool): Whether a bin includes its right edge instead of its left one. Default: False.

    Returns:
        An int32 tensor of x's shape.

    Raises:
        ValueError: If `bins` neither ascend nor descend.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.digitize([0.5, 1.5], [0.0, 1.0, 2.0]))
        [1 2]
    """
    edges = _plain(as_tensor(bins))
    falling = edges.size > 1 and edges[0] > edges[-1]
    if not np.all(edges[:-1] >= edges[1:] if falling else edges[:-1] <= edges[1:]):
        fail(ValueError, "bins neither ascend nor descend", "numpy.digitize", "sort them")
    found = F.searchsorted(Tensor(np.ascontiguousarray(edges[::-1] if falling else edges)), as_tensor(x), side="left" if right else "right",
                           out_int32=True)
    return core.sub(edges.size, found) if falling else found


def unravel_index(indices: Any, shape: Sequence[int], order: str = "C") -> tuple:
    """Converts flat positions to index vectors.

    Args:
        indices: The positions.
        shape (sequence of ints): The shape of the tensor.
        order (str): "C" for row-major or "F" for column-major positions. Default: "C".

    Returns:
        A tuple of one tensor per dimension.

    Raises:
        ValueError: If a size is below 1 or `order` is another string.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.unravel_index([1, 5], (2, 3)))
        [0 1] [1 2]
    """
    check_choice("numpy.unravel_index", "order", order, ("C", "F"))
    dims = to_ints(shape, "shape", "numpy.unravel_index")[::1 if order == "C" else -1]
    if any(n < 1 for n in dims):
        fail(ValueError, f"shape: expected sizes of at least 1, got {dims}", "numpy.unravel_index")
    parts = F.unstack(F.unravel_index(as_tensor(indices), dims), 0)
    return parts if order == "C" else parts[::-1]


def ravel_multi_index(multi_index: Any, dims: Sequence[int], mode: str = "clip", order: str = "C") -> Tensor:
    """Converts index vectors to flat positions.

    Args:
        multi_index: The indices, one tensor per dimension.
        dims (sequence of ints): The shape of the tensor.
        mode (str): "clip" or "wrap" for indices out of range. Default: "clip".
        order (str): "C" for row-major or "F" for column-major positions. Default: "C".

    Returns:
        The positions.

    Raises:
        ValueError: If `mode` is another string.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.ravel_multi_index(([0, 1], [1, 2]), (2, 3)))
        [1 5]
    """
    check_choice("numpy.ravel_multi_index", "mode", mode, ("clip", "wrap"))
    rows = [as_tensor(i) for i in (F.unstack(multi_index, 0) if isinstance(multi_index, Tensor) else multi_index)]
    pairs = list(zip(rows, dims))
    position: Any = None
    for row, n in pairs if order == "C" else pairs[::-1]:
        row = core.mod(row, n) if mode == "wrap" else core.minimum(core.maximum(row, 0), n - 1)
        position = row if position is None else core.add(core.mul(position, n), row)
    return position


def ix_(*args: Any) -> tuple:
    """Reshapes vectors so that they index an open mesh.

    Args:
        *args: The vectors.

    Returns:
        A tuple of tensors.

    Raises:
        ValueError: If an argument is not a vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print([t.shape for t in mnp.ix_([0, 1], [0, 1, 2])])
        [(2, 1), (1, 3)]
    """
    rows = [_ranked(a, (1,), "numpy.ix_") for a in args]
    return tuple(core.reshape(a, [-1 if d == i else 1 for d in range(len(args))]) for i, a in enumerate(rows))


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Applies a function to every vector along an axis.

    Args:
        func1d: The function of a vector.
        axis (int): The axis.
        arr: The tensor.
        *args: Further arguments of the function.
        **kwargs: Further keyword arguments of the function.

    Returns:
        The results in place of the axis.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.apply_along_axis(lambda row: row.sum(), 1, [[1, 2], [3, 4]]))
        [3 7]
    """
    arr = as_tensor(arr)
    a = to_axis(to_int(axis, "axis", "numpy.apply_along_axis"), len(arr.shape), "numpy.apply_along_axis")
    rows = F.moveaxis(arr, a, -1)
    flat = core.reshape(rows, (math.prod(rows.shape[:-1]), rows.shape[-1]))
    out = core.stack([as_tensor(func1d(row, *args, **kwargs)) for row in F.unstack(flat, 0)], 0)
    own = out.shape[1:]
    out = core.reshape(out, rows.shape[:-1] + own)
    lead = len(rows.shape) - 1
    return F.moveaxis(out, list(range(lead, lead + len(own))), list(range(a, a + len(own)))) if own else out


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    """Evaluates a function that is defined by pieces. The last condition that is True wins.

    Args:
        x: The argument.
        condlist: The conditions.
        funclist (sequence of values): A function or constant for each condition; one more entry is for the rest.
        *args: Further arguments of the functions.
        **kw: Further keyword arguments of the functions.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.piecewise([-2.0, 3.0], [[True, False]], [lambda x: -x, lambda x: x]))
        [2. 3.]
    """
    x = as_tensor(x)
    conditions = [as_tensor(c) for c in (condlist if isinstance(condlist, (list, tuple)) else [condlist])]
    value = lambda f: core.cast(as_tensor(f(x, *args, **kw)) if callable(f) else as_tensor(f), x.dtype)
    out = value(funclist[len(conditions)]) if len(funclist) > len(conditions) else core.zeros_like(x)
    for condition, f in zip(conditions, funclist):
        out = core.where(core.cast(condition, mstype.bool_), value(f), out)
    return core.broadcast_to(out, x.shape)


def array_str(a: Any) -> str:
    """Returns the values as text.

    Args:
        a: The tensor.

    Returns:
        A str.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.array_str([1, 2]))
        [1 2]
    """
    return str(as_tensor(a))


__all__ = [name for name, value in list(globals().items()) if not name.startswith("_") and getattr(value, "__module__", None) == __name__] + ["array"]
