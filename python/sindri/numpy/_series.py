"""Polynomials, signal windows and differences of sindri.numpy."""
from __future__ import annotations

import math
from typing import Any, Callable

from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.numpy._convert import as_tensor
from sindri.numpy._math import convolve
from sindri.ops import function as F
from sindri.ops._util import Axis, Tensor, core, floating, is_float, to_axes, to_axis, to_int

# --- polynomials: coefficients of falling powers ------------------------------------------------------------------------------------------


def _coefficients(p: Any, where: str) -> Tensor:
    p = F.atleast_1d(as_tensor(p))
    if len(p.shape) != 1:
        fail(ValueError, f"expected a vector of coefficients, got {p.shape}", where)
    return p


def _of_one_length(a1: Any, a2: Any, where: str) -> tuple:
    a, b = _coefficients(a1, where), _coefficients(a2, where)
    n = max(a.shape[0], b.shape[0])
    return core.pad(a, [n - a.shape[0], 0]), core.pad(b, [n - b.shape[0], 0])


def polyadd(a1: Any, a2: Any) -> Tensor:
    """Adds two polynomials.

    Args:
        a1: The coefficients of the first, highest power first.
        a2: The coefficients of the second.

    Returns:
        The coefficients of the sum.

    Raises:
        ValueError: If an argument is not a vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.polyadd([1, 2], [3, 4, 5]))
        [3 5 7]
    """
    return core.add(*_of_one_length(a1, a2, "numpy.polyadd"))


def polysub(a1: Any, a2: Any) -> Tensor:
    """Subtracts a polynomial from another.

    Args:
        a1: The coefficients of the first, highest power first.
        a2: The coefficients of the second.

    Returns:
        The coefficients of the difference.

    Raises:
        ValueError: If an argument is not a vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.polysub([1, 2], [3, 4, 5]))
        [-3 -3 -3]
    """
    return core.sub(*_of_one_length(a1, a2, "numpy.polysub"))


def polymul(a1: Any, a2: Any) -> Tensor:
    """Multiplies two polynomials.

    Args:
        a1: The coefficients of the first, highest power first.
        a2: The coefficients of the second.

    Returns:
        The coefficients of the product.

    Raises:
        ValueError: If an argument is not a vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.polymul([1, 2], [1, 3]))
        [1 5 6]
    """
    a, b = _coefficients(a1, "numpy.polymul"), _coefficients(a2, "numpy.polymul")
    kind = mstype.promote_types(a.dtype, b.dtype)
    return convolve(a, b) if is_float(kind) else core.cast(convolve(core.cast(a, mstype.float64), core.cast(b, mstype.float64)), kind)


def _order(m: Any, where: str) -> int:
    m = to_int(m, "m", where)
    if m < 0:
        fail(ValueError, f"m: expected a number that is not negative, got {m}", where)
    return m


def polyder(p: Any, m: int = 1) -> Tensor:
    """Computes the m-th derivative of a polynomial; that of a constant is empty.

    Args:
        p: The coefficients, highest power first.
        m (int): The order of the derivative. Default: 1.

    Returns:
        The coefficients of the derivative.

    Raises:
        ValueError: If `m` is negative.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.polyder([1, 2, 3]))
        [2 2]
    """
    out = _coefficients(p, "numpy.polyder")
    for _ in range(min(_order(m, "numpy.polyder"), out.shape[0])):
        n = out.shape[0] - 1
        out = core.mul(F.narrow(out, 0, 0, n), core.arange(float(n), 0.0, -1.0, out.dtype))
    return out


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """Computes the m-th integral of a polynomial, floating.

    Args:
        p: The coefficients, highest power first.
        m (int): The order of the integral. Default: 1.
        k: The constants, one for all or m of them, the first integral's first; None means 0. Default: None.

    Returns:
        The coefficients of the integral.

    Raises:
        ValueError: If `m` is negative or there are too few constants.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.polyint([2, 3]))
        [1. 3. 0.]
    """
    out, m = floating(_coefficients(p, "numpy.polyint")), _order(m, "numpy.polyint")
    constants = core.full((m,), 0.0, out.dtype) if k is None else core.cast(F.atleast_1d(as_tensor(k)), out.dtype)
    if len(constants.shape) != 1 or constants.shape[0] != 1 and constants.shape[0] < m:
        fail(ValueError, f"k: expected one constant or {m} of them, got {constants.shape}", "numpy.polyint")
    constants = core.broadcast_to(constants, (m,)) if constants.shape == (1,) else constants
    for i in range(m):
        n = out.shape[0]
        out = core.concat([core.div(out, core.arange(float(n), 0.0, -1.0, out.dtype)), F.narrow(constants, 0, i, 1)], 0)
    return out


# --- signal windows -----------------------------------------------------------------------------------------------------------------------


def _window(name: str, function: Callable[..., Tensor]) -> Callable[[int], Tensor]:
    def window(M: int) -> Tensor:
        return function(max(to_int(M, "M", f"numpy.{name}"), 0), False, dtype=mstype.float32)
    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"""Creates a symmetric window of M elements; see `ops.{function.__name__}`.

    Args:
        M (int): The number of elements.

    Returns:
        A float32 vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.{name}(5).asnumpy()[2])
        1.0
    """
    return window


bartlett, blackman = _window("bartlett", F.bartlett_window), _window("blackman", F.blackman_window)
hamming, hanning = _window("hamming", F.hamming_window), _window("hanning", F.hann_window)


# --- differences --------------------------------------------------------------------------------------------------------------------------


def _slope(f: Tensor, step: Any, axis: int) -> Tensor:
    n = f.shape[axis]
    part = lambda begin, end: F.narrow(f, axis, begin, end - begin)
    inner = core.div(core.sub(part(2, n), part(0, n - 2)), 2.0)
    ends = core.sub(part(1, 2), part(0, 1)), core.sub(part(n - 1, n), part(n - 2, n - 1))
    return core.div(core.concat([ends[0], inner, ends[1]], axis), step)


def gradient(f: Any, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """Computes central differences along axes, one-sided at the ends.

    Args:
        f: The values.
        *varargs: The distance of neighbours, one for all axes or one each.
        axis (int or sequence of ints): The axes; None means all. Default: None.
        edge_order (int): Must be 1. Default: 1.

    Returns:
        A tensor for one axis, else a list.

    Raises:
        ValueError: If `edge_order` is not 1, an axis has fewer than 2 elements, or the number of distances does not
            fit.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.gradient([1.0, 2.0, 4.0]))
        [1.  1.5 2. ]
    """
    f = floating(as_tensor(f))
    axes = [to_axis(a, len(f.shape), "numpy.gradient") for a in (to_axes(axis, "numpy.gradient") or range(len(f.shape)))]
    steps = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    if edge_order != 1:
        fail(ValueError, f"edge_order {edge_order!r} is not supported", "numpy.gradient", "use 1")
    if len(steps) != len(axes) or any(len(as_tensor(s).shape) for s in steps):
        fail(ValueError, f"expected one distance, or one for each of {len(axes)} axes, got {varargs}", "numpy.gradient")
    if any(f.shape[a] < 2 for a in axes):
        fail(ValueError, f"{f.shape} has fewer than 2 elements along one of the axes {axes}", "numpy.gradient")
    out = [_slope(f, s, a) for s, a in zip(steps, axes)]
    return out[0] if len(out) == 1 else out


def unwrap(p: Any, discont: float = math.pi, axis: int = -1) -> Tensor:
    """Adds multiples of 2π to angles along an axis, so that neighbours differ by less than discont.

    Args:
        p: The angles.
        discont (float): The greatest difference, at least π. Default: math.pi.
        axis (int): The axis. Default: -1.

    Returns:
        The angles.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.unwrap([0.0, 6.0]).asnumpy().round(4))
        [ 0.     -0.2832]
    """
    p = floating(as_tensor(p))
    d = to_axis(axis, len(p.shape), "numpy.unwrap")
    if p.shape[d] < 2:
        return p
    step = F.diff(p, axis=d)
    turned = core.sub(core.mod(core.add(step, math.pi), 2 * math.pi), math.pi)
    turned = core.where(core.logical_and(core.equal(turned, -math.pi), core.greater(step, 0)), math.pi, turned)
    extra = core.where(core.less(core.abs(step), discont), 0.0, core.sub(turned, step))
    first = core.mul(F.narrow(p, d, 0, 1), 0.0)
    return core.add(p, core.cumsum(core.concat([first, extra], d), d))


def apply_over_axes(func: Callable, a: Any, axes: Axis) -> Tensor:
    """Applies func(a, axis) for one axis after the other. A result with one dimension less gets the dimension back.

    Args:
        func (Callable): The function.
        a: The tensor.
        axes (int or sequence of ints): The axes.

    Returns:
        The last result.

    Raises:
        ValueError: If a result has another rank.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.apply_over_axes(mnp.sum, [[1, 2], [3, 4]], (0, 1)))
        [[10]]
    """
    out = as_tensor(a)
    for axis in to_axes(axes, "numpy.apply_over_axes"):
        axis = to_axis(axis, len(as_tensor(a).shape), "numpy.apply_over_axes")
        made, rank = func(out, axis), len(out.shape)
        made = core.expand_dims(made, axis) if len(made.shape) == rank - 1 else made
        if len(made.shape) != rank:
            fail(ValueError, f"the function made {made.shape} of {out.shape}", "numpy.apply_over_axes")
        out = made
    return out


__all__ = ["polyadd", "polysub", "polymul", "polyder", "polyint", "bartlett", "blackman", "hamming", "hanning", "gradient", "unwrap", "apply_over_axes"]
