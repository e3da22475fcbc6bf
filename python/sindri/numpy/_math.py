"""Mathematics and logic of sindri.numpy."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.numpy._convert import as_tensor, binary, typed, unary
from sindri.ops import function as F
from sindri.ops._util import Axis, Tensor, core, floating, is_float, to_axes, to_axis, to_int

# By name: the summary, and the arguments of an example with its result.
_UNARY = {
    "abs": ("Computes absolute values", '([-1.0, 2.0])', "[1. 2.]"),
    "absolute": ("Computes absolute values; another name of `abs`", '([-1.0, 2.0])', "[1. 2.]"),
    "negative": ("Negates elements", '([1, -2])', "[-1  2]"),
    "floor": ("Rounds elements down", '([1.7, -1.7])', "[ 1. -2.]"),
    "ceil": ("Rounds elements up", '([1.7, -1.7])', "[ 2. -1.]"),
    "trunc": ("Rounds elements towards 0", '([1.7, -1.7])', "[ 1. -1.]"),
    "exp": ("Computes e^x", '([0.0, 1.0]).asnumpy().round(4)', "[1.     2.7183]"),
    "expm1": ("Computes e^x - 1, accurate near 0", '([0.0, 1.0]).asnumpy().round(4)', "[0.     1.7183]"),
    "exp2": ("Computes 2^x", '([0.0, 3.0])', "[1. 8.]"),
    "log": ("Computes the natural logarithm", '([1.0, 2.0]).asnumpy().round(4)', "[0.     0.6931]"),
    "log2": ("Computes the logarithm to base 2", '([1.0, 8.0])', "[0. 3.]"),
    "log10": ("Computes the logarithm to base 10", '([1.0, 100.0])', "[0. 2.]"),
    "log1p": ("Computes log(1 + x), accurate near 0", '([0.0, 1.0]).asnumpy().round(4)', "[0.     0.6931]"),
    "sqrt": ("Computes the square root", '([4.0, 9.0])', "[2. 3.]"),
    "square": ("Computes the square", '([2.0, -3.0])', "[4. 9.]"),
    "reciprocal": ("Computes 1/x", '([2.0, 4.0])', "[0.5  0.25]"),
    "sin": ("Computes the sine of angles in radians", '([0.0, 1.0]).asnumpy().round(4)', "[0.     0.8415]"),
    "cos": ("Computes the cosine of angles in radians", '([0.0, 1.0]).asnumpy().round(4)', "[1.     0.5403]"),
    "tan": ("Computes the tangent of angles in radians", '([0.0, 1.0]).asnumpy().round(4)', "[0.     1.5574]"),
    "sinh": ("Computes the hyperbolic sine", '([0.0, 1.0]).asnumpy().round(4)', "[0.     1.1752]"),
    "cosh": ("Computes the hyperbolic cosine", '([0.0, 1.0]).asnumpy().round(4)', "[1.     1.5431]"),
    "tanh": ("Computes the hyperbolic tangent", '([0.0, 1.0]).asnumpy().round(4)', "[0.     0.7616]"),
    "deg2rad": ("Converts degrees to radians", '([0.0, 180.0]).asnumpy().round(4)', "[0.     3.1416]"),
    "rad2deg": ("Converts radians to degrees", '([0.0, 3.1415927])', "[  0. 180.]"),
    "isnan": ("Returns True where the element is NaN", '([1.0, float("nan")])', "[False  True]"),
    "isinf": ("Returns True where the element is infinite", '([1.0, float("inf")])', "[False  True]"),
    "isfinite": ("Returns True where the element is neither NaN nor infinite", '([1.0, float("inf")])', "[ True False]"),
    "signbit": ("Returns True where the element is below 0", '([1.0, -2.0])', "[False  True]"),
    "logical_not": ("Returns True where the element is 0", '([0, 2])', "[ True False]"),
    "arccos": ("Computes the arc cosine", '([1.0, 0.5]).asnumpy().round(4)', "[0.     1.0472]"),
    "arccosh": ("Computes the inverse hyperbolic cosine", '([1.0, 2.0]).asnumpy().round(4)', "[0.    1.317]"),
    "arcsin": ("Computes the arc sine", '([0.0, 0.5]).asnumpy().round(4)', "[0.     0.5236]"),
    "arcsinh": ("Computes the inverse hyperbolic sine", '([0.0, 1.0]).asnumpy().round(4)', "[0.     0.8814]"),
    "arctan": ("Computes the arc tangent", '([0.0, 1.0]).asnumpy().round(4)', "[0.     0.7854]"),
    "arctanh": ("Computes the inverse hyperbolic tangent", '([0.0, 0.5]).asnumpy().round(4)', "[0.     0.5493]"),
    "fabs": ("Computes absolute values", '([-1.0, 2.0])', "[1. 2.]"),
    "radians": ("Converts degrees to radians", '([0.0, 180.0]).asnumpy().round(4)', "[0.     3.1416]"),
    "invert": ("Inverts all bits of integers; for bools it is the logical not", '([0, 5])', "[-1 -6]"),
    "bitwise_not": ("Inverts all bits of integers; for bools it is the logical not", '([0, 5])', "[-1 -6]"),
}
_BINARY = {
    "add": ("Adds two tensors", '([1, 2], [3, 4])', "[4 6]"),
    "floor_divide": ("Divides and rounds down", '([7, -7], 2)', "[ 3 -4]"),
    "maximum": ("Returns the larger elements; NaN wins", '([1, 5], [3, 2])', "[3 5]"),
    "minimum": ("Returns the smaller elements; NaN wins", '([1, 5], [3, 2])', "[1 2]"),
    "equal": ("Returns True where x1 == x2", '([1, 2], [1, 3])', "[ True False]"),
    "not_equal": ("Returns True where x1 != x2", '([1, 2], [1, 3])', "[False  True]"),
    "less": ("Returns True where x1 < x2", '([1, 2], [2, 2])', "[ True False]"),
    "less_equal": ("Returns True where x1 <= x2", '([1, 3], [2, 2])', "[ True False]"),
    "greater": ("Returns True where x1 > x2", '([1, 3], [2, 2])', "[False  True]"),
    "greater_equal": ("Returns True where x1 >= x2", '([1, 2], [2, 2])', "[False  True]"),
    "logical_and": ("Returns True where both elements are not 0", '([True, True], [True, False])', "[ True False]"),
    "logical_or": ("Returns True where an element is not 0", '([True, False], [False, False])', "[ True False]"),
    "logical_xor": ("Returns True where exactly one element is not 0", '([True, True], [True, False])', "[False  True]"),
    "logaddexp": ("Computes log(exp(x1) + exp(x2)) without overflow", '([0.0, 1.0], [0.0, 1.0]).asnumpy().round(4)', "[0.6931 1.6931]"),
    "logaddexp2": ("Computes log2(2^x1 + 2^x2) without overflow", '([0.0, 1.0], [0.0, 1.0])', "[1. 2.]"),
    "bitwise_and": ("Computes the bitwise and", '([6, 5], [3, 3])', "[2 1]"),
    "bitwise_or": ("Computes the bitwise or", '([6, 5], [3, 3])', "[7 7]"),
    "bitwise_xor": ("Computes the bitwise exclusive or", '([6, 5], [3, 3])', "[5 6]"),
    "hypot": ("Computes sqrt(x1² + x2²) without overflow", '([3.0, 5.0], [4.0, 12.0])', "[ 5. 13.]"),
    "copysign": ("Returns |x1| with the sign of x2", '([1.0, 2.0], [-1.0, 1.0])', "[-1.  2.]"),
    "fmod": ("Computes the remainder with the sign of x1", '([7, -7], 3)', "[ 1 -1]"),
    "float_power": ("Computes x1^x2 in float64", '([2, 3], 2)', "[4. 9.]"),
    "subtract": ("Subtracts two tensors", '([5, 6], [1, 2])', "[4 4]"),
    "power": ("Computes x1^x2", '([2, 3], 2)', "[4 9]"),
    "mod": ("Computes the remainder with the sign of x2", '([7, -7], 3)', "[1 2]"),
    "remainder": ("Computes the remainder with the sign of x2", '([7, -7], 3)', "[1 2]"),
    "arctan2": ("Computes the angle of the point (x2, x1), in [-pi, pi]", '([1.0, 1.0], [1.0, -1.0]).asnumpy().round(4)', "[0.7854 2.3562]"),
    "matmul": ("Multiplies matrices", '([[1.0, 2.0]], [[3.0], [4.0]])', "[[11.]]"),
    "multiply": ("Multiplies two tensors", '([1, 2], [3, 4])', "[3 8]"),
    "divide": ("Divides two tensors; integers give float32", '([1, 3], 2)', "[0.5 1.5]"),
    "true_divide": ("Divides two tensors; integers give float32", '([1, 3], 2)', "[0.5 1.5]"),
    "heaviside": ("Computes the step function: 0 for x1 below 0, 1 above, x2 at 0", '([-2.0, 0.0, 3.0], 0.5)', "[0.  0.5 1. ]"),
}


def _heaviside(x1: Tensor, x2: Tensor) -> Tensor:
    common = core.add(x1, x2).dtype
    return F.heaviside(core.cast(as_tensor(x1), common), core.cast(as_tensor(x2), common))


# The functions whose name differs from that in ops. multiply and divide compute in the type of both operands, 0-d or not.
_SOURCES = {"arccos": F.acos, "arccosh": F.acosh, "arcsin": F.asin, "arcsinh": F.asinh, "arctan": F.atan, "arctanh": F.atanh, "fabs": F.abs,
            "radians": F.deg2rad, "invert": F.bitwise_not, "bitwise_not": F.bitwise_not, "subtract": F.sub, "power": F.pow, "mod": F.floor_mod,
            "remainder": F.floor_mod, "arctan2": F.atan2, "matmul": F.matmul, "multiply": core.mul, "divide": core.div, "true_divide": core.div,
            "heaviside": _heaviside}

for _name, _text in _UNARY.items():
    globals()[_name] = unary(_name, _SOURCES.get(_name) or getattr(F, _name), *_text)
for _name, _text in _BINARY.items():
    globals()[_name] = binary(_name, _SOURCES.get(_name) or getattr(F, _name), *_text)


def sign(x: Any, dtype=None) -> Tensor:
    """Returns 1, 0 or -1 by the sign of each element; NaN is kept.

    Args:
        x: The input.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.sign([-2.0, 0.0, 3.0]))
        [-1.  0.  1.]
    """
    x = as_tensor(x)
    out = F.sign(x)
    return typed(core.where(core.isnan(x), x, out) if is_float(x.dtype) else out, dtype)


def positive(x: Any, dtype=None) -> Tensor:
    """Returns the elements themselves.

    Args:
        x: The input.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of x's shape.

    Raises:
        TypeError: If the elements are bools.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.positive([1, -2]))
        [ 1 -2]
    """
    x = as_tensor(x)
    if x.dtype is mstype.bool_:
        fail(TypeError, "bool has no sign", "numpy.positive", "cast it to int32 first")
    return typed(x, dtype)


def rint(x: Any, dtype=None) -> Tensor:
    """Rounds each element to the nearest whole number, halves to even. Integers give float32.

    Args:
        x: The input.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of x's shape.

    Raises:
        TypeError: If the elements are bools.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.rint([0.5, 1.5, -1.7]))
        [ 0.  2. -2.]
    """
    x = as_tensor(x)
    return typed(F.rint(x if x.dtype is mstype.bool_ else floating(x)), dtype)


def cbrt(x: Any, dtype=None) -> Tensor:
    """Computes the cube root of each element.

    Args:
        x: The input.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A floating tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.cbrt([-8.0, 27.0]).asnumpy().round(4))
        [-2.  3.]
    """
    x = floating(as_tensor(x))
    zero = core.equal(x, 0)
    root = core.pow(core.where(zero, 1.0, core.abs(x)), 1.0 / 3.0)
    return typed(core.where(zero, 0.0, core.mul(F.sign(x), root)), dtype)


def fix(x: Any) -> Tensor:
    """Rounds each element towards 0.

    Args:
        x: The input.

    Returns:
        A floating tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.fix([1.7, -1.7]))
        [ 1. -1.]
    """
    return F.trunc(floating(as_tensor(x)))


def isposinf(x: Any) -> Tensor:
    """Returns True where the element is +infinity.

    Args:
        x: The input.

    Returns:
        A bool tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.isposinf([mnp.inf, 1.0]))
        [ True False]
    """
    return F.isposinf(as_tensor(x))


def isneginf(x: Any) -> Tensor:
    """Returns True where the element is -infinity.

    Args:
        x: The input.

    Returns:
        A bool tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.isneginf([-mnp.inf, 1.0]))
        [ True False]
    """
    return F.isneginf(as_tensor(x))


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Returns True where |a - b| <= atol + rtol * |b|.

    Args:
        a: The first operand.
        b: The second operand.
        rtol (float): The relative tolerance. Default: 1e-05.
        atol (float): The absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two NaN count as close. Default: False.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.isclose([1.0, 2.0], [1.0, 2.1]))
        [ True False]
    """
    return F.isclose(as_tensor(a), as_tensor(b), rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Returns whether two tensors have one shape and equal elements.

    Args:
        a1: The first tensor.
        a2: The second tensor.
        equal_nan (bool): Whether two NaN count as equal. Default: False.

    Returns:
        A bool tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.array_equal([1, 2], [1, 2]))
        True
    """
    a1, a2 = as_tensor(a1), as_tensor(a2)
    if a1.shape != a2.shape:
        return Tensor(False)
    same = core.equal(a1, a2)
    return core.all(core.logical_or(same, core.logical_and(core.isnan(a1), core.isnan(a2))) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Returns whether two tensors broadcast and are then equal.

    Args:
        a1: The first tensor.
        a2: The second tensor.

    Returns:
        A bool tensor.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.array_equiv([1, 1], 1))
        True
    """
    a1, a2 = as_tensor(a1), as_tensor(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return Tensor(False)
    return core.all(core.equal(a1, a2))


def divmod(x1: Any, x2: Any, dtype=None) -> tuple:  # noqa: A001
    """Returns (floor_divide, mod) of two tensors.

    Args:
        x1: The dividend.
        x2: The divisor.
        dtype (dtype): The type of the results; None keeps it. Default: None.

    Returns:
        (quotients, remainders).

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.divmod([7, -7], 3))
        [ 2 -3] [1 2]
    """
    x1 = as_tensor(x1)
    return typed(F.floor_div(x1, x2), dtype), typed(core.mod(x1, x2), dtype)


def clip(x: Any, xmin: Any, xmax: Any, dtype=None) -> Tensor:
    """Clips elements to [xmin, xmax].

    Args:
        x: The input.
        xmin: The lower bound, or None.
        xmax: The upper bound, or None.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError: If both bounds are None.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.clip([-2, 1, 5], 0, 3))
        [0 1 3]
    """
    return typed(F.clip_by_value(as_tensor(x), xmin, xmax), dtype)


def around(a: Any, decimals: int = 0) -> Tensor:
    """Rounds to `decimals` digits after the point, halves to even.

    Args:
        a: The input.
        decimals (int): The number of digits. Default: 0.

    Returns:
        A tensor of a's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.around([0.5, 1.5, -1.7]))
        [ 0.  2. -2.]
    """
    return F.round(as_tensor(a), decimals=decimals)


round = around  # noqa: A001

# --- reductions -------------------------------------------------------------------------------------------------------------------------


def sum(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False, initial: Optional[float] = None) -> Tensor:  # noqa: A001
    """Sums elements over axes. Integers give int64.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (float): A number that is added. Default: None.

    Returns:
        The sums.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.sum([[1, 2], [3, 4]], axis=1))
        [3 7]
    """
    out = F.sum(as_tensor(a), axis, keepdims, dtype=dtype)
    return out if initial is None else core.add(out, initial)


def mean(a: Any, axis: Axis = None, keepdims: bool = False, dtype=None) -> Tensor:
    """Computes the mean over axes; of integers in their type.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The means.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.mean([[1.0, 2.0], [3.0, 4.0]], axis=1))
        [1.5 3.5]
    """
    return F.mean(as_tensor(a) if dtype is None else core.cast(as_tensor(a), dtype), axis, keepdims)


def average(x: Any, axis: Axis = None, weights: Any = None, returned: bool = False) -> Any:
    """Computes the weighted mean over axes.

    Args:
        x: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        weights: The weights, of x's shape or one per element of the axis; None means ones. Default: None.
        returned (bool): Whether to return the sum of the weights too. Default: False.

    Returns:
        The means, or (means, sums of the weights).

    Raises:
        ValueError: If the shape of `weights` does not fit.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.average([1.0, 2.0, 3.0], weights=[1.0, 1.0, 2.0]))
        2.25
    """
    x = floating(as_tensor(x))
    if weights is None:
        out = F.mean(x, axis)
        total = core.full(out.shape, x.size / (out.size or 1), x.dtype)
        return (out, total) if returned else out
    weights = core.cast(as_tensor(weights), x.dtype)
    if weights.shape != x.shape:
        if not isinstance(axis, int) or len(weights.shape) != 1 or weights.shape[0] != x.shape[axis]:
            fail(ValueError, f"weights {weights.shape} do not fit {x.shape} along {axis}", "numpy.average")
        a = to_axis(axis if isinstance(axis, int) else 0, len(x.shape), "numpy.average")
        weights = core.broadcast_to(core.reshape(weights, [-1 if d == a else 1 for d in range(len(x.shape))]), x.shape)
    axes = to_axes(axis, "numpy.average")
    total = core.sum(weights, axes)
    out = core.div(core.sum(core.mul(x, weights), axes), total)
    return (out, total) if returned else out


def _extremum(reduce: Any) -> Any:
    def apply(a: Any, axis: Axis = None, keepdims: bool = False, initial: Optional[float] = None, where: Any = True) -> Tensor:
        return reduce(as_tensor(a), axis, keepdims, initial=initial, where=where)
    return apply


amax, amin = _extremum(F.amax), _extremum(F.amin)
for _function, _name, _what, _result in ((amax, "amax", "largest", "[5. 7.]"), (amin, "amin", "smallest", "[1. 2.]")):
    _function.__name__ = _function.__qualname__ = _name
    _function.__doc__ = f"""Returns the {_what} element over axes.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.
        initial (float): A value that takes part. Default: None.
        where: The elements that take part, a bool tensor; it needs `initial`. Default: True.

    Returns:
        A tensor of the reduced shape.

    Raises:
        ValueError: If an axis is out of range, or `where` is given without `initial`.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.{_name}([[1.0, 5.0], [7.0, 2.0]], axis=1))
        {_result}
    """
max, min = amax, amin  # noqa: A001


def ptp(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Computes the range of values over axes: the largest minus the smallest element.

    Args:
        x: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The ranges.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.ptp([1.0, 5.0, 3.0]))
        4.0
    """
    return as_tensor(x).ptp(axis, keepdims)


def std(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Computes the standard deviation over axes. The sum of squares is divided by max(count - ddof, 0).

    Args:
        x: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        ddof (int): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The standard deviations.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.std([1.0, 3.0]))
        1.0
    """
    return F.std(as_tensor(x), axis, ddof, keepdims)


def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Computes the variance over axes; see `std`.

    Args:
        x: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        ddof (int): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The variances.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.var([1.0, 3.0]))
        1.0
    """
    return F.var(as_tensor(x), axis, ddof, keepdims)


def argmax(a: Any, axis: Optional[int] = None) -> Tensor:
    """Returns the index of the first largest element along an axis.

    Args:
        a: The tensor.
        axis (int): The axis; None uses the flat tensor. Default: None.

    Returns:
        An int64 tensor.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.argmax([1.0, 5.0, 3.0]))
        1
    """
    return F.argmax(as_tensor(a), axis)


def argmin(a: Any, axis: Optional[int] = None) -> Tensor:
    """Returns the index of the first smallest element along an axis.

    Args:
        a: The tensor.
        axis (int): The axis; None uses the flat tensor. Default: None.

    Returns:
        An int32 tensor.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.argmin([1.0, 5.0, 3.0]))
        0
    """
    return F.argmin(as_tensor(a), axis)


def sometrue(a: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Returns whether any element over axes is not 0.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        A bool tensor.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.sometrue([0, 1]))
        True
    """
    return F.any(as_tensor(a), axis, keepdims)


def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Counts the elements over axes that are not 0.

    Args:
        x: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        An int32 tensor.

    Raises:
        ValueError: If an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.count_nonzero([0, 1, 2]))
        2
    """
    return F.count_nonzero(as_tensor(x), () if axis is None else axis, keepdims)


def cumsum(a: Any, axis: Optional[int] = None, dtype=None) -> Tensor:
    """Computes the sums up to and including each element along an axis.

    Args:
        a: The tensor.
        axis (int): The axis; None uses the flat tensor. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of a's shape, or a vector if `axis` is None.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.cumsum([1, 2, 3]))
        [1 3 6]
    """
    return as_tensor(a).cumsum(axis, dtype)


def cumprod(a: Any, axis: Optional[int] = None, dtype=None) -> Tensor:
    """Computes the products up to and including each element along an axis; bool gives int64.

    Args:
        a: The tensor.
        axis (int): The axis; None uses the flat tensor. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of a's shape, or a vector if `axis` is None.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.cumprod([1, 2, 3]))
        [1 2 6]
    """
    a = as_tensor(a)
    dtype = (mstype.int64 if a.dtype is mstype.bool_ else a.dtype) if dtype is None else dtype
    return F.cumprod(F.ravel(a), 0, dtype) if axis is None else F.cumprod(a, axis, dtype)


def _without_nan(a: Any, value: float) -> Tensor:
    a = as_tensor(a)
    return core.where(core.isnan(a), value, a) if is_float(a.dtype) else a


def nansum(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Sums elements over axes; NaN counts as 0.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The sums.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nansum([1.0, mnp.nan, 2.0]))
        3.0
    """
    return sum(_without_nan(a, 0.0), axis, dtype, keepdims)


def nancumsum(a: Any, axis: Optional[int] = None, dtype=None) -> Tensor:
    """Computes running sums along an axis; NaN counts as 0.

    Args:
        a: The tensor.
        axis (int): The axis; None uses the flat tensor. Default: None.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        A tensor of a's shape, or a vector if `axis` is None.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nancumsum([1.0, mnp.nan, 2.0]))
        [1. 1. 3.]
    """
    return cumsum(_without_nan(a, 0.0), axis, dtype)


def _nan_extremum(reduce: Any, a: Tensor, worst: float, axis: Axis, keepdims: bool) -> Tensor:
    out = reduce(_without_nan(a, worst), axis, keepdims)
    return core.where(F.all(core.isnan(a), axis, keepdims), math.nan, out) if is_float(a.dtype) else out


def nanmax(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Returns the largest element over axes that is not NaN; NaN if all are NaN.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type of the result; None keeps it. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The maxima.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nanmax([1.0, mnp.nan, 2.0]))
        2.0
    """
    return typed(_nan_extremum(F.amax, as_tensor(a), -math.inf, axis, keepdims), dtype)


def nanmin(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Returns the smallest element over axes that is not NaN; NaN if all are NaN.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type of the result; None keeps it. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The minima.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nanmin([1.0, mnp.nan, 2.0]))
        1.0
    """
    return typed(_nan_extremum(F.amin, as_tensor(a), math.inf, axis, keepdims), dtype)


def nanmean(a: Any, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """Computes the mean over axes of the elements that are not NaN.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type of the result; None keeps it. Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The means.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nanmean([1.0, mnp.nan, 3.0]))
        2.0
    """
    return typed(F.nanmean(floating(as_tensor(a)), axis, keepdims), dtype)


def nanvar(a: Any, axis: Axis = None, dtype=None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Computes the variance over axes of the elements that are not NaN; NaN if there are no more than ddof.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type of the result; None keeps it. Default: None.
        ddof (int): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The variances.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nanvar([1.0, mnp.nan, 3.0]))
        1.0
    """
    a, axes = floating(as_tensor(a)), to_axes(axis, "numpy.nanvar")
    counted = core.cast(core.logical_not(core.isnan(a)), a.dtype)
    centred = core.where(core.isnan(a), 0.0, core.sub(a, F.nanmean(a, axis, True)))
    freedom = core.sub(core.sum(counted, axes, keepdims), float(ddof))
    enough = core.greater(freedom, 0)
    return typed(core.where(enough, core.div(core.sum(core.square(centred), axes, keepdims), core.where(enough, freedom, 1.0)), math.nan), dtype)


def nanstd(a: Any, axis: Axis = None, dtype=None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Computes the standard deviation over axes of the elements that are not NaN.

    Args:
        a: The tensor.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        dtype (dtype): The type of the result; None keeps it. Default: None.
        ddof (int): The degrees of freedom that are subtracted from the count. Default: 0.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The standard deviations.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.nanstd([1.0, mnp.nan, 3.0]))
        1.0
    """
    return core.power_or_zero(nanvar(a, axis, dtype, ddof, keepdims), 0.5)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None) -> Tensor:
    """Sums the diagonal of two dimensions. Integers give int64.

    Args:
        a: A tensor of at least 2 dimensions.
        offset (int): The diagonal; 0 is the main diagonal. Default: 0.
        axis1 (int): The dimension of the rows. Default: 0.
        axis2 (int): The dimension of the columns. Default: 1.
        dtype (dtype): The type that the elements are cast to first. Default: None.

    Returns:
        The sums.

    Raises:
        ValueError: If the dimensions are equal or out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.trace([[1, 2], [3, 4]]))
        5
    """
    return sum(F.diagonal(as_tensor(a), offset, axis1, axis2), -1, dtype)


def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A002
    """Computes the norm of vectors or matrices; see `ops.norm`.

    Args:
        x: The tensor.
        ord: The order; None means the 2-norm. Default: None.
        axis (int or sequence of ints): The axis of the vectors or the two axes of the matrices; None means all.
            Default: None.
        keepdims (bool): Whether reduced axes are kept with size 1. Default: False.

    Returns:
        The norms.

    Raises:
        ValueError: If `ord` is not supported.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.norm([3.0, 4.0]))
        5.0
    """
    return F.norm(as_tensor(x), ord, axis, keepdims)


# --- products ---------------------------------------------------------------------------------------------------------------------------


def dot(a: Any, b: Any) -> Tensor:
    """Sums products over the last dimension of `a` and the last but one of `b`; a scalar operand multiplies the other
    one.

    Args:
        a: The left operand.
        b: The right operand.

    Returns:
        The product.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.dot([1.0, 2.0], [3.0, 4.0]))
        11.0
    """
    a, b = as_tensor(a), as_tensor(b)
    return F.dot(a, b) if a.shape and b.shape else core.mul(a, b)


def inner(a: Any, b: Any) -> Tensor:
    """Sums products over the last dimension of both operands.

    Args:
        a: The left operand.
        b: The right operand.

    Returns:
        The product.

    Raises:
        ValueError: If the last dimensions differ.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.inner([1.0, 2.0], [3.0, 4.0]))
        11.0
    """
    return F.inner(as_tensor(a), as_tensor(b))


def outer(a: Any, b: Any) -> Tensor:
    """Returns all products of the elements of two flat tensors.

    Args:
        a: The left operand, of n elements.
        b: The right operand, of m elements.

    Returns:
        A tensor of shape [n, m].

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.outer([1, 2], [3, 4]))
        [[3 4]
         [6 8]]
    """
    return F.outer(as_tensor(a), F.ravel(as_tensor(b)))


def kron(a: Any, b: Any) -> Tensor:
    """Computes the Kronecker product.

    Args:
        a: The left operand.
        b: The right operand.

    Returns:
        A tensor whose sizes are the products of the operands' sizes.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.kron([1, 2], [1, 10]))
        [ 1 10  2 20]
    """
    return F.kron(as_tensor(a), as_tensor(b))


def tensordot(a: Any, b: Any, axes: Union[int, Sequence] = 2) -> Tensor:
    """Sums products over axes of two tensors; see `ops.tensor_dot`.

    Args:
        a: The left operand.
        b: The right operand.
        axes: N for the last n axes of `a` and the first n of `b`, or (axes of a, axes of b). Default: 2.

    Returns:
        A tensor of the remaining dimensions.

    Raises:
        ValueError: If the sizes differ or an axis is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.tensordot([[1.0, 2.0]], [1.0, 1.0], 1))
        [3.]
    """
    return F.tensor_dot(as_tensor(a), as_tensor(b), axes)


def multi_dot(arrays: Sequence[Any]) -> Tensor:
    """Multiplies several matrices from left to right.

    Args:
        arrays (sequence of values): The matrices.

    Returns:
        The product.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.multi_dot([[[1.0, 2.0]], [[3.0], [4.0]], [[2.0]]]))
        [[22.]]
    """
    out = as_tensor(arrays[0])
    for a in arrays[1:]:
        out = F.matmul(out, as_tensor(a))
    return out


def matrix_power(a: Any, n: int) -> Tensor:
    """Raises matrices to an integer power.

    Args:
        a: The matrices, [.., n, n].
        n (int): The exponent.

    Returns:
        The powers.

    Raises:
        ValueError: If `n` is negative and a matrix is singular.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.matrix_power([[1.0, 1.0], [0.0, 1.0]], 3))
        [[1. 3.]
         [0. 1.]]
    """
    return F.matrix_power(as_tensor(a), n)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Optional[int] = None) -> Tensor:
    """Computes vector products of vectors of 3 elements.

    Args:
        a: The left vectors.
        b: The right vectors.
        axisa (int): The axis of the vectors in `a`. Default: -1.
        axisb (int): The axis of the vectors in `b`. Default: -1.
        axisc (int): The axis of the vectors in the result. Default: -1.
        axis (int): The axis for all three. Default: None.

    Returns:
        The vector products.

    Raises:
        ValueError: If an axis does not have size 3.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
        [0. 0. 1.]
    """
    axisa, axisb, axisc = (axis, axis, axis) if axis is not None else (axisa, axisb, axisc)
    return F.moveaxis(F.cross(F.moveaxis(as_tensor(a), axisa, -1), F.moveaxis(as_tensor(b), axisb, -1), -1), -1, axisc)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Computes the n-th differences of neighbours along an axis.

    Args:
        a: The tensor.
        n (int): How often differences are taken. Default: 1.
        axis (int): The axis. Default: -1.
        prepend: Values concatenated before `a`. Default: None.
        append: Values concatenated after `a`. Default: None.

    Returns:
        The differences.

    Raises:
        ValueError: If `a` is a scalar, `n` is negative or `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.diff([1, 4, 9, 16]))
        [3 5 7]
    """
    a = as_tensor(a)
    if to_int(n, "n", "numpy.diff") < 0 or not a.shape:
        fail(ValueError, f"expected at least one dimension and n of at least 0, got {a.shape} and n = {n}", "numpy.diff")
    d = to_axis(axis, len(a.shape), "numpy.diff")

    def border(value: Any) -> Tensor:
        value = core.cast(as_tensor(value), a.dtype)
        return core.broadcast_to(value, a.shape[:d] + (1,) + a.shape[d + 1:]) if not value.shape else value
    parts = [border(v) if v is not a else v for v in (prepend, a, append) if v is not None]
    a = core.concat(parts, d) if len(parts) > 1 else a
    for _ in range(n if n < a.shape[d] else a.shape[d]):  # an empty result has no further differences
        a = core.sub(F.narrow(a, d, 1, a.shape[d] - 1), F.narrow(a, d, 0, a.shape[d] - 1))
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Computes the differences of neighbours of the flat tensor.

    Args:
        ary: The tensor.
        to_end: Values after the differences. Default: None.
        to_begin: Values before the differences. Default: None.

    Returns:
        A vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.ediff1d([1, 4, 9], to_end=0))
        [3 5 0]
    """
    parts = [F.ravel(core.cast(as_tensor(v), as_tensor(ary).dtype)) for v in (to_begin, diff(F.ravel(as_tensor(ary))), to_end) if v is not None]
    return F.concat(parts, 0)


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Integrates along an axis by the trapezium rule.

    Args:
        y: The values.
        x: The positions; None means equally spaced. Default: None.
        dx (float): The spacing if `x` is None. Default: 1.0.
        axis (int): The axis. Default: -1.

    Returns:
        The integrals.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.trapz([1.0, 2.0, 3.0]))
        4.0
    """
    return F.trapz(as_tensor(y), None if x is None else as_tensor(x), dx=dx, dim=axis)


def gcd(x1: Any, x2: Any, dtype=None) -> Tensor:
    """Computes greatest common divisors, also of floats; of bools whether one is True. Code that calls it runs eagerly.

    Args:
        x1: The first operand.
        x2: The second operand.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.gcd([12, 7], [18, 21]))
        [6 7]
    """
    x1, x2 = as_tensor(x1), as_tensor(x2)
    logical = x1.dtype is mstype.bool_ and x2.dtype is mstype.bool_
    return typed(core.logical_or(x1, x2) if logical else F.common_divisor(x1, x2), dtype)


def lcm(x1: Any, x2: Any, dtype=None) -> Tensor:
    """Computes least common multiples, also of floats; of bools whether both are True. Code that calls it runs eagerly.

    Args:
        x1: The first operand.
        x2: The second operand.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A tensor of the broadcast shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.lcm([4, 7], [6, 21]))
        [12 21]
    """
    x1, x2 = as_tensor(x1), as_tensor(x2)
    logical = x1.dtype is mstype.bool_ and x2.dtype is mstype.bool_
    return typed(core.logical_and(x1, x2) if logical else F.common_multiple(x1, x2), dtype)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Interpolates linearly through the points (xp, fp).

    Args:
        x: The positions.
        xp: The positions of the points, ascending.
        fp: The values of the points.
        left: The value below the first point; None means its value. Default: None.
        right: The value above the last point; None means its value. Default: None.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.interp([0.5, 3.0], [0.0, 1.0], [0.0, 10.0]))
        [ 5. 10.]
    """
    x, xp, fp = floating(as_tensor(x)), floating(as_tensor(xp)), floating(as_tensor(fp))
    n = xp.shape[0]
    high = core.minimum(core.maximum(F.searchsorted(xp, x, side="right"), 1), n - 1) if n > 1 else F.searchsorted(xp, x)
    low = core.maximum(core.sub(high, 1), 0)
    x0, y0 = core.gather(xp, low, 0), core.gather(fp, low, 0)
    slope = core.div(core.sub(core.gather(fp, high, 0), y0), core.sub(core.gather(xp, high, 0), x0)) if n > 1 else core.zeros_like(x)
    out = core.add(y0, core.mul(core.sub(x, x0), slope))
    out = core.where(core.less(x, xp[0]), fp[0] if left is None else float(left), out)
    return core.where(core.greater(x, xp[n - 1]), fp[n - 1] if right is None else float(right), out)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Optional[int] = None, fweights: Any = None, aweights: Any = None,
        dtype=None) -> Tensor:
    """Computes the covariances of the rows of observations.

    Args:
        m: The observations.
        y: Further observations. Default: None.
        rowvar (bool): Whether a row is a variable; False takes columns. Default: True.
        bias (bool): Whether to divide by the number of observations instead of one less. Default: False.
        ddof (int): The number subtracted from the number of observations; it takes precedence over `bias`.
            Default: None.
        fweights: Must be None. Default: None.
        aweights: Must be None. Default: None.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A matrix, or a scalar for one variable.

    Raises:
        ValueError: If weights are given; they are not supported.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.cov([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
        [[ 1. -1.]
         [-1.  1.]]
    """
    if fweights is not None or aweights is not None:
        fail(ValueError, "weights are not supported", "numpy.cov", "scale the observations")
    def rows(v: Any) -> Tensor:
        v = floating(as_tensor(v))
        v = core.reshape(v, (1, -1)) if len(v.shape) < 2 else v
        return v if rowvar or v.shape[0] == 1 else F.swapaxes(v, 0, 1)
    x = rows(m) if y is None else core.concat(_of_one_type(rows(m), rows(y)), 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    centred = core.sub(x, core.mean(x, [1], True))
    freedom = x.shape[1] - ddof
    out = core.div(core.matmul(centred, centred, False, True), float(freedom) if freedom > 0 else 0.0)
    return typed(core.reshape(out, ()) if out.shape == (1, 1) else out, dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype=None) -> Tensor:
    """Computes the correlation coefficients of the rows of observations.

    Args:
        x: The observations.
        y: Further observations. Default: None.
        rowvar (bool): Whether a row is a variable; False takes columns. Default: True.
        dtype (dtype): The type of the result; None keeps it. Default: None.

    Returns:
        A matrix, or a scalar for one variable.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.corrcoef([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).asnumpy().round(4))
        [[ 1. -1.]
         [-1.  1.]]
    """
    c = cov(x, y, rowvar)
    if not c.shape:
        return typed(core.div(c, c), dtype)
    d = core.sqrt(F.diagonal(c))
    return typed(core.div(c, core.mul(core.expand_dims(d, 1), core.expand_dims(d, 0))), dtype)


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: Optional[int] = None) -> Tensor:
    """Counts how often (or with what weight) each number from 0 on occurs in a vector.

    Args:
        x: A vector of integers.
        weights: The weight of each element; None means 1. Default: None.
        minlength (int): The least size of the result. Default: 0.
        length (int): The size of the result; None reads the largest number, and such code runs eagerly.
            Default: None.

    Returns:
        A vector.

    Raises:
        ValueError: If a number is negative; it is not checked in traced code.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.bincount([0, 2, 2]))
        [1. 0. 2.]
    """
    x = as_tensor(x)
    if not x.is_symbolic and x.asnumpy().min(initial=0) < 0:
        fail(ValueError, "a number is negative", "numpy.bincount")
    n = int(x.asnumpy().max(initial=-1)) + 1 if length is None else length
    n = n if n > minlength else minlength
    counts = core.full(x.shape, 1.0) if weights is None else floating(as_tensor(weights))
    return F.unsorted_segment_sum(counts, x, n)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:  # noqa: A002
    """Returns the edges of bins.

    They are evenly spaced between the ends of `range`, or `bins` itself if it is a sequence.

    Args:
        a: The elements.
        bins (int or sequence of numbers): The number of bins, or their edges. Default: 10.
        range: The (lowest, highest) edge; None means the smallest and the largest element. Default: None.
        weights: No effect. Default: None.

    Returns:
        A vector of edges.

    Raises:
        ValueError: If `bins` do not ascend, or `range` is not finite or its ends are exchanged.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.histogram_bin_edges([1.0, 3.0], 2))
        [1. 2. 3.]
    """
    if not isinstance(bins, int):
        edges = floating(as_tensor(bins))
        if not edges.is_symbolic and not np.all(edges.asnumpy()[:-1] <= edges.asnumpy()[1:]):
            fail(ValueError, "bins do not ascend", "numpy.histogram", "sort them")
        return edges
    low, high = (float(v) for v in (range if range is not None else (as_tensor(a).asnumpy().min(), as_tensor(a).asnumpy().max())))
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        fail(ValueError, f"range ({low}, {high}) is not finite or its ends are exchanged", "numpy.histogram")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return Tensor(np.linspace(low, high, bins + 1).astype(np.float32))


def bin_of(x: Tensor, edges: Tensor) -> tuple:
    """Returns (the bin of each element, cast to the type of the edges; whether it lies in one). The last bin includes
    its upper edge.
    """
    x, n = core.cast(x, edges.dtype), edges.shape[0] - 1
    place = core.where(core.equal(x, edges[n]), n - 1, core.sub(F.searchsorted(edges, x, side="right"), 1))
    return place, core.logical_and(core.greater_equal(place, 0), core.less(place, n))


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple:  # noqa: A002
    """Counts the elements in bins.

    Args:
        a: The elements.
        bins (int or sequence of numbers): The number of bins, or their edges. Default: 10.
        range: The (lowest, highest) edge; None means the smallest and the largest element. Default: None.
        weights: The weight of each element; None means 1. Default: None.
        density (bool): Whether to divide by the total and the widths. Default: False.

    Returns:
        (float32 counts, edges).

    Raises:
        ValueError: If `bins` or `range` do not fit; see `histogram_bin_edges`.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(*mnp.histogram([1.0, 2.0, 3.0], 2))
        [1. 2.] [1. 2. 3.]
    """
    a = floating(F.ravel(as_tensor(a)))
    edges = histogram_bin_edges(a, bins, range)
    n = edges.shape[0] - 1
    place, inside = bin_of(a, edges)
    counted = core.full(a.shape, 1.0) if weights is None else floating(F.ravel(as_tensor(weights)))
    counts = F.unsorted_segment_sum(core.where(inside, counted, 0.0), core.where(inside, place, 0), n)
    if density:
        counts = core.div(core.div(counts, core.sub(F.narrow(edges, 0, 1, n), F.narrow(edges, 0, 0, n))), core.sum(counts))
    return counts, edges


def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Returns whether each element is among the test elements.

    Args:
        element: The elements.
        test_elements: The test elements.
        invert (bool): Whether to invert the result. Default: False.

    Returns:
        A bool tensor of element's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.isin([1, 2, 3], [2, 4]))
        [False  True False]
    """
    hits = core.any(core.equal(core.expand_dims(as_tensor(element), -1), F.ravel(as_tensor(test_elements))), [-1])
    return core.logical_not(hits) if invert else hits


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Tensor:
    """Returns whether each element of the flat tensor is among the elements of another.

    Args:
        ar1: The elements.
        ar2: The test elements.
        invert (bool): Whether to invert the result. Default: False.

    Returns:
        A bool vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.in1d([1, 2, 3], [2, 4]))
        [False  True False]
    """
    return isin(F.ravel(as_tensor(ar1)), ar2, invert)


def _of_one_type(*values: Any) -> list:
    """Returns floating tensors of the type that holds all values."""
    tensors = [floating(as_tensor(v)) for v in values]
    kind = tensors[0].dtype
    for t in tensors[1:]:
        kind = mstype.promote_types(kind, t.dtype)
    return [core.cast(t, kind) for t in tensors]


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """Convolves two vectors. Integers give integers, exact up to 2^53.

    Args:
        a: The first vector.
        v: The second vector.
        mode (str): "full", "same" or "valid". Default: "full".

    Returns:
        A vector.

    Raises:
        ValueError: If `mode` is another string.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.convolve([1, 2, 3], [1, 1]))
        [1 3 5 3]
    """
    check_choice("numpy.convolve", "mode", mode, ("full", "same", "valid"))
    a, v = F.atleast_1d(as_tensor(a)), F.atleast_1d(as_tensor(v))
    kind = mstype.promote_types(a.dtype, v.dtype)
    if not kind.is_floating:
        return core.cast(convolve(core.cast(a, mstype.float64), core.cast(v, mstype.float64), mode), kind)
    a, v = _of_one_type(a, v)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    n = v.shape[0]
    pad = {"full": n - 1, "same": n // 2, "valid": 0}[mode]
    behind = {"full": n - 1, "same": n - 1 - n // 2, "valid": 0}[mode]
    signal = core.reshape(core.pad(a, [pad, behind] if mode != "same" else [n - 1 - (n - 1) // 2, (n - 1) // 2]), (1, 1, 1, -1))
    kernel = core.reshape(F.flip(v, 0), (1, 1, 1, -1))
    return core.reshape(core.conv2d(signal, kernel), (-1,))


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """Computes the cross-correlation of two vectors.

    Args:
        a: The first vector.
        v: The second vector.
        mode (str): "full", "same" or "valid". Default: "valid".

    Returns:
        A floating vector.

    Raises:
        ValueError: If `mode` is another string.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.correlate([1.0, 2.0, 3.0], [1.0, 1.0]))
        [3. 5.]
    """
    a, v = floating(as_tensor(a)), floating(as_tensor(v))
    if a.shape[0] >= v.shape[0]:
        return convolve(a, F.flip(v, 0), mode)
    return F.flip(convolve(v, F.flip(a, 0), mode), 0)


def polyval(p: Any, x: Any) -> Tensor:
    """Evaluates a polynomial.

    Args:
        p: The coefficients, highest power first.
        x: The arguments.

    Returns:
        A tensor of x's shape.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.polyval([1, 0, 2], [1, 3]))
        [ 3 11]
    """
    x = as_tensor(x)
    out: Any = None
    for c in F.unstack(as_tensor(p), 0):
        out = c if out is None else core.add(core.mul(out, x), c)
    return core.add(out, core.mul(x, 0)) if out.shape != x.shape else out


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Returns the type that results from mixing tensors and types.

    Args:
        *arrays_and_dtypes: Tensors, values or types.

    Returns:
        An element type.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.result_type(mnp.int32, mnp.float32))
        Float32
    """
    kinds = [a.dtype if isinstance(a, Tensor) else a if isinstance(a, mstype.DType) else as_tensor(a).dtype for a in arrays_and_dtypes]
    out = kinds[0]
    for k in kinds[1:]:
        out = mstype.promote_types(out, k)
    return out


def promote_types(type1: Any, type2: Any) -> Any:
    """Returns the smallest type that holds two types.

    Args:
        type1 (dtype): The first type.
        type2 (dtype): The second type.

    Returns:
        An element type.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.promote_types(mnp.int32, mnp.float32))
        Float32
    """
    return mstype.promote_types(type1, type2)


__all__ = [name for name, value in list(globals().items())
           if not name.startswith("_") and getattr(value, "__module__", None) in (__name__, "sindri.numpy") and callable(value)
           and name not in ("unary", "binary", "typed", "as_tensor", "bin_of")]
