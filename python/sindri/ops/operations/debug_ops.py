"""Primitives that print, check, summarise, and inspect gradients."""
from __future__ import annotations

from typing import Any, Callable, Optional

from sindri import _core
from sindri._check import fail
from sindri.ops._util import Tensor, as_tensor, core, is_number
from sindri.ops.function import other_func as F
from sindri.ops.operations import _summary_store
from sindri.ops.primitive import REQUIRED, primitive

__all__ = ["Print", "Assert", "InsertGradientOf", "HookBackward", "ScalarSummary", "TensorSummary", "ImageSummary", "HistogramSummary"]


def _checked_function(f: Any, name: str, where: str) -> Callable:
    if not callable(f):
        fail(TypeError, f"{name}: expected a function, got {type(f).__name__}", where)
    return f


def _insert(x: Tensor, f: Callable) -> Tensor:
    """Returns x; in the backward pass the gradient g becomes f(g).

    Args:
        x (Tensor): The tensor.
        f (Callable): The function of the gradient.

    Returns:
        A tensor with x's values.

    Raises:
        TypeError: If `f` is not callable.

    Examples:
        >>> import sindri as ms
        >>> print(ms.grad(lambda x: ms.ops.InsertGradientOf(lambda g: 2 * g)(x))(ms.Tensor([1.0])))
        [2.]
    """
    return F.insert_gradient_of(x, _checked_function(f, "f", "ops.InsertGradientOf"))


def _hook(*xs: Tensor, hook_fn: Callable, cell_id: str = "") -> Any:
    """Returns its inputs; in the backward pass hook_fn receives the tuple of their gradients and may return others.

    Args:
        *xs: The tensors.
        hook_fn (Callable): The function of the gradients; None returned keeps them.
        cell_id (str): No effect. Default: "".

    Returns:
        The tensor, or a tuple of them.

    Raises:
        TypeError: If `hook_fn` is not callable.

    Examples:
        >>> import sindri as ms
        >>> print(ms.grad(lambda x: ms.ops.HookBackward(lambda g: (g[0] * 2,))(x))(ms.Tensor([1.0])))
        [2.]
    """
    def backward(inputs: tuple, outputs: tuple, douts: tuple) -> list:
        grads = tuple(core.zeros_like(x) if g is None else g for x, g in zip(xs, douts))
        found = hook_fn(grads)
        return list(grads if found is None else found if isinstance(found, (tuple, list)) else (found,))
    _checked_function(hook_fn, "hook_fn", "ops.HookBackward")
    out = _core.custom_gradient(lambda inputs: inputs, list(xs), backward)
    return out[0] if len(xs) == 1 else tuple(out)


def _summary(kind: str, what: str, check: Callable) -> Callable:
    def summarise(name: str, value: Any) -> None:
        where = f"ops.{kind}Summary"
        if not isinstance(name, str):
            fail(TypeError, f"name: expected a str, got {name!r}", where)
        if not name:
            fail(ValueError, "name: expected a str that is not empty", where)
        if not isinstance(value, Tensor) and not (kind == "Scalar" and is_number(value)):
            fail(TypeError, f"value: expected a tensor, got {type(value).__name__}", where)
        value = as_tensor(value)
        check(value, where)
        _summary_store.put(f"{name}[:{kind}]", value)
    summarise.__doc__ = f"""Stores a value under a name for the summary collector ({kind.lower()}).

    Args:
        name (str): The name, not empty.
        value (Tensor{" or number" if kind == "Scalar" else ""}): {what}.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `name` is empty or the shape of `value` does not fit.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.{kind}Summary())
        Prim[{kind}Summary]
    """
    return summarise


def _one_element(value: Tensor, where: str) -> None:
    if value.size != 1:
        fail(ValueError, f"value: expected one element, got shape {value.shape}", where)


def _image_batch(value: Tensor, where: str) -> None:
    if len(value.shape) != 4 or value.shape[1] not in (1, 3, 4):
        fail(ValueError, f"value: expected [n, c, h, w] with 1, 3 or 4 channels, got shape {value.shape}", where)


def _not_scalar(value: Tensor, where: str) -> None:
    if not value.shape:
        fail(ValueError, "value: expected at least one dimension, got a scalar", where, "use ops.ScalarSummary")


Print = primitive("Print", F.print_)
Assert = primitive("Assert", F.assert_, summarize=3)
InsertGradientOf = primitive("InsertGradientOf", _insert, f=REQUIRED)
HookBackward = primitive("HookBackward", _hook, hook_fn=REQUIRED, cell_id="")
ScalarSummary = primitive("ScalarSummary", _summary("Scalar", "One element", _one_element))
TensorSummary = primitive("TensorSummary", _summary("Tensor", "A tensor of at least one dimension", _not_scalar))
ImageSummary = primitive("ImageSummary", _summary("Image", "Images [n, c, h, w] with 1, 3 or 4 channels", _image_batch))
HistogramSummary = primitive("HistogramSummary", _summary("Histogram", "A tensor of at least one dimension", _not_scalar))
