"""Sets, choices, grids and multi-dimensional histograms of sindri.numpy."""
from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.numpy._convert import as_tensor, smallest_int
from sindri.numpy._grids import Grid
from sindri.numpy._math import bin_of, histogram_bin_edges
from sindri.ops import function as F
from sindri.ops._util import Tensor, core, floating

# --- sets: their sizes depend on values, so such code runs eagerly ------------------------------------------------------------------------


def _at(x: Tensor, places: np.ndarray) -> Tensor:
    return core.gather(x, Tensor(places.astype(np.int64)), 0)


def _sorted_once(x: Tensor, assume_unique: bool) -> tuple:
    """Returns (values, their positions in x): each value once, ascending; with assume_unique in their order."""
    values = x.asnumpy()
    return (values, np.arange(values.size)) if assume_unique else np.unique(values, return_index=True)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """Returns the distinct elements of ar1 that are not in ar2, ascending. Gradients flow. Code that calls it runs
    eagerly.

    Args:
        ar1: The elements.
        ar2: The elements to exclude.
        assume_unique (bool): Whether each element occurs once; the order of ar1 is then kept. Default: False.

    Returns:
        A vector.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.setdiff1d([3, 1, 2], [2]))
        [1 3]
    """
    x = F.ravel(as_tensor(ar1))
    values, places = _sorted_once(x, assume_unique)
    return _at(x, places[~np.isin(values, as_tensor(ar2).asnumpy())])


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Returns the distinct elements that are in both tensors, ascending. Gradients flow to ar1. Code that calls it runs
    eagerly.

    Args:
        ar1: The first elements.
        ar2: The second elements.
        assume_unique (bool): Whether each element occurs once in each tensor. Default: False.
        return_indices (bool): Whether to return the positions in ar1 and ar2 (the first of equal elements) too.
            Default: False.

    Returns:
        The elements, or (elements, positions in ar1, positions in ar2).

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.intersect1d([3, 1, 2], [2, 3]))
        [2 3]
    """
    x, y = F.ravel(as_tensor(ar1)), F.ravel(as_tensor(ar2))
    _, first, second = np.intersect1d(x.asnumpy(), y.asnumpy(), assume_unique, True)
    return (_at(x, first), Tensor(smallest_int(first)), Tensor(smallest_int(second))) if return_indices else _at(x, first)


# --- choices and grids --------------------------------------------------------------------------------------------------------------------


def choose(a: Any, choices: Any, mode: str = "clip") -> Tensor:
    """Selects, at each position, the element of the choice that `a` names. All broadcast.

    Args:
        a: The numbers of the choices.
        choices: A list of tensors, or a tensor of them.
        mode (str): "clip" to clip `a` to the range, "wrap" to wrap it around, or "raise" to raise an error, which
            reads values. Default: "clip".

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: If `a` is floating.
        ValueError: If there are no choices, `mode` is another string, or a number is out of range with "raise".

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.choose([0, 1], [[1, 2], [3, 4]]))
        [1 4]
    """
    check_choice("numpy.choose", "mode", mode, ("clip", "wrap", "raise"))
    a, options = as_tensor(a), [as_tensor(c) for c in (choices if isinstance(choices, (list, tuple)) else F.unstack(as_tensor(choices), 0))]
    if a.dtype.is_floating or not options:
        fail(TypeError if options else ValueError, f"expected integers and at least one choice, got {a.dtype} and {len(options)}", "numpy.choose")
    n = len(options)
    if mode == "raise" and a.size and not 0 <= int(core.min(a)) <= int(core.max(a)) < n:
        fail(ValueError, f"a names a choice outside [0, {n})", "numpy.choose", "use mode 'clip' or 'wrap'")
    place = core.cast(a, mstype.int64)
    place = core.mod(place, n) if mode == "wrap" else core.minimum(core.maximum(place, 0), n - 1)
    shape = np.broadcast_shapes(a.shape, *(c.shape for c in options))
    kind = options[0].dtype
    for c in options[1:]:
        kind = mstype.promote_types(kind, c.dtype)
    table = core.stack([core.broadcast_to(core.cast(c, kind), shape) for c in options], 0)
    return core.squeeze(core.gather_elements(table, core.expand_dims(core.broadcast_to(place, shape), 0), 0), 0)


mgrid, ogrid = Grid("mgrid", True), Grid("ogrid", False)


# --- histograms ---------------------------------------------------------------------------------------------------------------------------


def _per_dimension(value: Any, n: int, name: str) -> Sequence:
    items = value if isinstance(value, (list, tuple)) else [value] * n
    if len(items) != n:
        fail(ValueError, f"{name}: expected one for each of {n} dimensions, got {len(items)}", "numpy.histogramdd")
    return items


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple:  # noqa: A002
    """Counts points in multi-dimensional bins.

    Args:
        sample: The points: rows of a tensor [n, d], or d vectors.
        bins: As in `histogram`, one for all dimensions or a list with one each. Default: 10.
        range: None, or a list with (low, high) or None for each dimension. Default: None.
        weights: The weight of each point; None means 1. Default: None.
        density (bool): Whether to divide by the total and the sizes of the cells. Default: False.

    Returns:
        (float32 counts, list of edges).

    Raises:
        ValueError: If the numbers of bins or ranges are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.histogramdd(mnp.array([[0.0, 0.0], [1.0, 1.0]]), 2)[0])
        [[1. 0.]
         [0. 1.]]
    """
    points = [floating(F.ravel(as_tensor(s))) for s in sample] if isinstance(sample, (list, tuple)) else F.unstack(floating(F.atleast_2d(as_tensor(sample))), 1)
    n = len(points)
    edges = [histogram_bin_edges(x, b, r) for x, b, r in zip(points, _per_dimension(bins, n, "bins"), _per_dimension(range, n, "range"))]
    sizes = [e.shape[0] - 1 for e in edges]
    flat, inside = None, None
    for x, e, size in zip(points, edges, sizes):
        place, within = bin_of(x, e)
        flat = place if flat is None else core.add(core.mul(flat, size), place)
        inside = within if inside is None else core.logical_and(inside, within)
    counted = core.full(points[0].shape, 1.0) if weights is None else floating(F.ravel(as_tensor(weights)))
    counts = F.unsorted_segment_sum(core.where(inside, counted, 0.0), core.where(inside, flat, 0), math.prod(sizes))
    counts = core.reshape(counts, sizes)
    if density:
        total = core.sum(counts)
        for d, e in enumerate(edges):
            widths = core.sub(F.narrow(e, 0, 1, sizes[d]), F.narrow(e, 0, 0, sizes[d]))
            counts = core.div(counts, core.reshape(widths, [-1 if k is e else 1 for k in edges]))
        counts = core.div(counts, total)
    return counts, edges


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple:  # noqa: A002
    """Counts points in two-dimensional bins; see `histogramdd`.

    Args:
        x: The first coordinates.
        y: The second coordinates.
        bins: As in `histogram`, one for both dimensions or a list with one each. Default: 10.
        range: None, or a list with (low, high) or None for each dimension. Default: None.
        weights: The weight of each point; None means 1. Default: None.
        density (bool): Whether to divide by the total and the sizes of the cells. Default: False.

    Returns:
        (counts [nx, ny], edges of x, edges of y).

    Raises:
        ValueError: If the numbers of bins or ranges are incompatible.

    Examples:
        >>> import sindri.numpy as mnp
        >>> print(mnp.histogram2d([0.0, 1.0], [0.0, 1.0], 2)[0])
        [[1. 0.]
         [0. 1.]]
    """
    if isinstance(bins, Tensor) or isinstance(bins, (list, tuple)) and len(bins) > 2:
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, weights, density)
    return counts, edges[0], edges[1]


__all__ = ["setdiff1d", "intersect1d", "choose", "mgrid", "ogrid", "histogramdd", "histogram2d"]
