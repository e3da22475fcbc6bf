"""Jacobians of functions of tensors."""
from __future__ import annotations

import math
from typing import Any, Callable, Union

from sindri._check import fail
from sindri.ops._util import Tensor, core, to_int
from sindri.ops.composite.grad import jvp, vjp

__all__ = ["jacrev", "jacfwd"]


def _positions(grad_position: Any, count: int, where: str) -> list:
    given = list(grad_position) if isinstance(grad_position, (tuple, list)) else [grad_position]
    for p in given:
        if not 0 <= to_int(p, "grad_position", where) < count:
            fail(ValueError, f"grad_position: expected places in [0, {count}), got {grad_position!r}", where)
    return given


def _of_chosen(fn: Callable, args: tuple, positions: list) -> Callable:
    """Returns fn as a function of the arguments at positions; the others are fixed."""
    def call(*chosen: Tensor) -> Any:
        all_args = list(args)
        for p, x in zip(positions, chosen):
            all_args[p] = x
        return fn(*all_args)
    return call


def _unit(like: Tensor, i: int) -> Tensor:
    return core.reshape(core.cast(core.equal(core.arange(0, math.prod(like.shape)), i), like.dtype), like.shape)


def _outputs(value: Any) -> list:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _jacobian(fn: Callable, grad_position: Any, has_aux: bool, rows: Callable, where: str) -> Callable:
    """Creates a function that returns rows(fn of the chosen inputs, these inputs) in fn's structure.

    The result is a tensor, a tuple for several outputs, of tuples for several positions.
    """
    if not callable(fn):
        fail(TypeError, f"fn: expected a function, got {type(fn).__name__}", where)
    if not isinstance(has_aux, bool):
        fail(TypeError, f"has_aux: expected a bool, got {has_aux!r}", where)

    def apply(*args: Any) -> Any:
        positions = _positions(grad_position, len(args), where)
        table, one, aux = rows(_of_chosen(fn, args, positions), [args[p] for p in positions], has_aux)
        found = [tuple(line) if len(positions) > 1 else line[0] for line in table]
        out = found[0] if one else tuple(found)
        return (out, aux) if has_aux else out
    return apply


def jacrev(fn: Callable, grad_position: Union[int, tuple] = 0, has_aux: bool = False) -> Callable:
    """Creates a function that computes fn's Jacobian by one backward pass per element of the output.

    Args:
        fn (Callable): The function.
        grad_position (int or tuple): The input, or a tuple of inputs (a tuple of Jacobians; one position gives a
            single one, as in MindSpore). Default: 0.
        has_aux (bool): Whether only the first output is differentiated; the result is then (Jacobian, the other
            output or a tuple of them). Default: False.

    Returns:
        A function of fn's arguments; the Jacobian has shape output.shape + input.shape.

    Raises:
        TypeError: If `fn` is not callable, or `has_aux` is not a bool.
        ValueError: If a position is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    def rows(call: Callable, inputs: list, aux: bool) -> tuple:
        value, pull, *rest = vjp(call, *inputs, has_aux=aux)
        outputs, table = _outputs(value), []
        for k, out in enumerate(outputs):
            found: list = [[] for _ in inputs]
            for i in range(math.prod(out.shape)):
                seeds = [_unit(o, i) if j == k else core.zeros_like(o) for j, o in enumerate(outputs)]
                grads = pull(*seeds)
                for line, g in zip(found, grads):
                    line.append(g)
            table.append([core.reshape(core.stack(line, 0), out.shape + x.shape) for line, x in zip(found, inputs)])
        return table, not isinstance(value, (tuple, list)), rest[0] if rest else None
    return _jacobian(fn, grad_position, has_aux, rows, "ops.jacrev")


def jacfwd(fn: Callable, grad_position: Union[int, tuple] = 0, has_aux: bool = False) -> Callable:
    """Creates a function that computes fn's Jacobian by one directional derivative per element of the input.

    Args:
        fn (Callable): The function.
        grad_position (int or tuple): The input, or a tuple of inputs; see `jacrev`. Default: 0.
        has_aux (bool): Whether only the first output is differentiated; see `jacrev`. Default: False.

    Returns:
        A function of fn's arguments; the Jacobian has shape output.shape + input.shape.

    Raises:
        TypeError: If `fn` is not callable, or `has_aux` is not a bool.
        ValueError: If a position is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.jacfwd(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    def rows(call: Callable, inputs: list, aux: bool) -> tuple:
        columns: list = []
        value: Any = None
        rest: Any = None
        for k, x in enumerate(inputs):
            columns.append([])
            for i in range(math.prod(x.shape)):
                way = tuple(_unit(v, i) if j == k else core.zeros_like(v) for j, v in enumerate(inputs))
                value, slope, *beside = jvp(call, tuple(inputs), way, aux)
                rest = beside[0] if beside else None
                columns[k].append(_outputs(slope))
        outputs = _outputs(value)
        table = [[core.reshape(core.stack([c[o] for c in columns[k]], -1), out.shape + x.shape) for k, x in enumerate(inputs)] for o, out in enumerate(outputs)]
        return table, not isinstance(value, (tuple, list)), rest
    return _jacobian(fn, grad_position, has_aux, rows, "ops.jacfwd")
