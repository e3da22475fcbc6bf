"""Primitives that print, check, summarise, and look at gradients."""
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
    """x; in the backward pass the gradient g becomes f(g)."""
    return F.insert_gradient_of(x, _checked_function(f, "f", "ops.InsertGradientOf"))


def _hook(*xs: Tensor, hook_fn: Callable, cell_id: str = "") -> Any:
    """Its inputs; in the backward pass hook_fn gets the tuple of their gradients and may return others."""
    def backward(inputs: tuple, outputs: tuple, douts: tuple) -> list:
        grads = tuple(core.zeros_like(x) if g is None else g for x, g in zip(xs, douts))
        found = hook_fn(grads)
        return list(grads if found is None else found if isinstance(found, (tuple, list)) else (found,))
    _checked_function(hook_fn, "hook_fn", "ops.HookBackward")
    out = _core.custom_gradient(lambda inputs: inputs, list(xs), backward)
    return out[0] if len(xs) == 1 else tuple(out)


def _summary(kind: str, check: Optional[Callable] = None) -> Callable:
    def summarise(name: str, value: Any) -> None:
        where = f"ops.{kind}Summary"
        if not isinstance(name, str):
            fail(TypeError, f"name: expected a str, got {name!r}", where)
        if not name:
            fail(ValueError, "name: expected a str that is not empty", where)
        if not isinstance(value, Tensor) and not (kind == "Scalar" and is_number(value)):
            fail(TypeError, f"value: expected a tensor, got {type(value).__name__}", where)
        value = as_tensor(value)
        if check is not None:
            check(value, where)
        _summary_store.put(f"{name}[:{kind}]", value)
    summarise.__doc__ = f"Keeps a value under a name for the summary collector ({kind.lower()}). Raises TypeError, ValueError for name and value."
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
ScalarSummary = primitive("ScalarSummary", _summary("Scalar", _one_element))
TensorSummary = primitive("TensorSummary", _summary("Tensor", _not_scalar))
ImageSummary = primitive("ImageSummary", _summary("Image", _image_batch))
HistogramSummary = primitive("HistogramSummary", _summary("Histogram", _not_scalar))
