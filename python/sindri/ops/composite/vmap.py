"""vmap: a function of single samples applied to batches."""
from __future__ import annotations

from typing import Any, Callable, Sequence, Union

from sindri._check import fail
from sindri.ops._util import Tensor, core, perm_moving, to_axis

__all__ = ["vmap"]


def vmap(fn: Union[Callable, Sequence[Callable]], in_axes: Any = 0, out_axes: Any = 0) -> Callable:
    """Creates a function that applies fn to every slice of its inputs and stacks the results.

    The slices are computed one by one: any fn works, but it is not faster than a loop.

    Args:
        fn (Callable or sequence of functions): A function, or a list of functions or a CellList (an ensemble of
            models), whose member i is applied to slice i.
        in_axes (int, None or sequence): The axis of the slices of each input; None passes the same input each time; a
            nested tuple is for nested inputs. Default: 0.
        out_axes (int, None or sequence): The axis along which results are stacked; None returns the first result.
            Default: 0.

    Returns:
        A function of the batched inputs.

    Raises:
        TypeError: If `fn` is not callable.
        ValueError: If the inputs' sizes differ, or none is mapped and `fn` is a single function.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.vmap(lambda x, y: x + y, in_axes=(0, None))(ms.Tensor([1, 2]), ms.Tensor(10)))
        [11 12]
    """
    functions: Any = list(fn) if isinstance(fn, (list, tuple)) or getattr(fn, "__cell_as_list__", False) else None  # type: ignore[arg-type]
    if functions is not None and not functions:
        fail(ValueError, "the list of functions is empty", "ops.vmap")
    if functions is None and not callable(fn):
        fail(TypeError, f"fn: expected a function, got {type(fn).__name__}", "ops.vmap")

    def each(i: int) -> Any:
        return functions[i] if functions is not None else fn

    def mapped(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            fail(ValueError, f"in_axes has {len(axes)} entries for {len(args)} inputs", "ops.vmap")
        sizes: set = set()
        for arg, axis in zip(args, axes):
            _sizes(arg, axis, sizes)
        if functions is not None and not sizes:
            sizes.add(len(functions))
        if len(sizes) != 1:
            fail(ValueError, f"expected one size along in_axes, got {sorted(sizes) or 'no mapped input'}", "ops.vmap")
        count = sizes.pop()
        if count == 0:
            fail(ValueError, "the inputs have no slices along in_axes: nothing shows what fn returns", "ops.vmap")
        if functions is not None and len(functions) != count:
            fail(ValueError, f"{len(functions)} functions for {count} slices", "ops.vmap", "use in_axes=None to give all of them the same inputs")
        results = [each(i)(*(_pick(a, axis, i) for a, axis in zip(args, axes))) for i in range(count)]
        return _stacked(results, out_axes)
    return mapped


def _sizes(value: Any, axis: Any, sizes: set) -> None:
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            _sizes(item, axis[i] if isinstance(axis, (tuple, list)) else axis, sizes)
    elif axis is not None and isinstance(value, Tensor):
        if not value.shape:
            fail(ValueError, "a tensor without dimensions cannot be mapped over", "ops.vmap", "give None as its entry of in_axes")
        sizes.add(value.shape[to_axis(axis, len(value.shape), "ops.vmap")])


def _pick(value: Any, axis: Any, i: int) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_pick(item, axis[j] if isinstance(axis, (tuple, list)) else axis, i) for j, item in enumerate(value))
    if axis is None or not isinstance(value, Tensor):
        return value
    a = to_axis(axis, len(value.shape), "ops.vmap")
    begin, end = [0] * len(value.shape), list(value.shape)
    begin[a], end[a] = i, i + 1
    return core.squeeze(core.slice(value, begin, end), a)


def _stacked(results: list, axis: Any) -> Any:
    first = results[0]
    if isinstance(first, (tuple, list)):
        return tuple(_stacked([r[j] for r in results], axis[j] if isinstance(axis, (tuple, list)) else axis) for j in range(len(first)))
    if axis is None or not isinstance(first, Tensor):
        return first
    out = core.stack(results, 0)
    rank = len(out.shape)
    return out if axis == 0 else core.transpose(out, perm_moving(rank, [0], [to_axis(axis, rank, "ops.vmap")]))
