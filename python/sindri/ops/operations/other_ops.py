"""Primitives for state, order, overflow flags and custom functions."""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from sindri import _core
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core
from sindri.ops.function import other_func as F
from sindri.ops.function.array_func import stop_gradient
from sindri.ops.primitive import Primitive, primitive

Assign = primitive("Assign", F.assign)
AssignAdd = primitive("AssignAdd", F.assign_add)
AssignSub = primitive("AssignSub", F.assign_sub)
Load = primitive("Load", F.load)
Depend = primitive("Depend", F.depend)
identity = primitive("identity", F.identity)
Partial = primitive("Partial", F.partial)
StopGradient = primitive("StopGradient", stop_gradient)
FloatStatus = primitive("FloatStatus", F.float_status)


def _no_register(name: str) -> Any:
    where = f"ops.{name}"
    fail(RuntimeError, "it uses the overflow register of Ascend devices, which no device has here", where,
         "find overflow in the gradients: ops.FloatStatus()(x) and sindri.amp.all_finite(grads), or use nn.TrainOneStepWithLossScaleCell")


def _alloc() -> Tensor:
    """Raises RuntimeError, as in MindSpore on CPU: no device here has an overflow register. FloatStatus and
    amp.all_finite find overflow.

    Raises:
        RuntimeError: When it is called.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.NPUAllocFloatStatus())
        Prim[NPUAllocFloatStatus]
    """
    return _no_register("NPUAllocFloatStatus")


def _get(status: Tensor) -> Tensor:
    """Raises RuntimeError: a status that is always 0 would let overflowed gradients pass. See NPUAllocFloatStatus.

    Args:
        status (Tensor): The status.

    Raises:
        RuntimeError: When it is called.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.NPUGetFloatStatus())
        Prim[NPUGetFloatStatus]
    """
    return _no_register("NPUGetFloatStatus")


def _clear(status: Tensor) -> Tensor:
    """Raises RuntimeError. See NPUAllocFloatStatus.

    Args:
        status (Tensor): The status.

    Raises:
        RuntimeError: When it is called.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.NPUClearFloatStatus())
        Prim[NPUClearFloatStatus]
    """
    return _no_register("NPUClearFloatStatus")


NPUAllocFloatStatus = primitive("NPUAllocFloatStatus", _alloc)
NPUGetFloatStatus = primitive("NPUGetFloatStatus", _get)
NPUClearFloatStatus = primitive("NPUClearFloatStatus", _clear)


def _no_server(name: str) -> Any:
    fail(RuntimeError, "no parameter server is there to talk to", f"ops.{name}", "update the Parameter here: nn.Momentum, ops.ApplyMomentum")


class Push(Primitive):
    """Sends an optimizer's inputs to a parameter server and returns the key of the weight there.

    Optimizers create one for parameters that live on a server (Cell.set_param_ps). No process of Sindri is a
    parameter server, so a call raises RuntimeError, as in MindSpore on CPU without one.

    Args:
        optim_type (str): The name of the optimizer's primitive. Default: "ApplyMomentum".
        only_shape_indices (list): The inputs of which only the shape is sent. Default: None.

    Raises:
        RuntimeError: When it is called.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Push("ApplyMomentum", [0, 1]))
        Prim[Push]<optim_type=ApplyMomentum, only_shape_indices=[0, 1]>
    """

    def __init__(self, optim_type: str = "ApplyMomentum", only_shape_indices: Optional[list] = None) -> None:
        super().__init__("Push")
        self.add_prim_attr("optim_type", optim_type).add_prim_attr("only_shape_indices", only_shape_indices)

    def __call__(self, optim_inputs: tuple, optim_input_shapes: tuple) -> Tensor:
        return _no_server(self.name)


class Pull(Primitive):
    """Fetches a weight from a parameter server. A call raises RuntimeError; see Push.

    Raises:
        RuntimeError: When it is called.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Pull())
        Prim[Pull]
    """

    def __init__(self) -> None:
        super().__init__("Pull")

    def __call__(self, key: Tensor, weight: Tensor) -> Tensor:
        return _no_server(self.name)


class Custom(Primitive):
    """Wraps a NumPy function as a primitive: Custom(func, out_shape, out_dtype, 'pyfunc', bprop)(*tensors).

    Args:
        func (Callable): A function of NumPy arrays that returns NumPy arrays; code that calls it runs eagerly.
        out_shape (sequence of ints or Callable): The shape to check the result against, or a function of the inputs'
            shapes; None skips the check. Default: None.
        out_dtype (dtype or Callable): The type to check the result against, or a function of the inputs' types; None
            skips the check. Default: None.
        func_type (str): Must be "pyfunc". Default: "pyfunc".
        bprop (Callable): A function bprop(*inputs, out, dout) that returns the gradients of the inputs as tensors;
            without it there are no gradients. Default: None.
        reg_info: No effect; it is stored. Default: None.

    Raises:
        TypeError: If `func` is not callable.
        ValueError: If `func_type` is another string, or a result does not match `out_shape` or `out_dtype`.

    Examples:
        >>> import sindri as ms
        >>> import numpy as np
        >>> print(ms.ops.Custom(lambda x: np.sort(x), (3,), ms.float32)(ms.Tensor([3.0, 1.0, 2.0])))
        [1. 2. 3.]
    """

    def __init__(self, func: Callable, out_shape: Any = None, out_dtype: Any = None, func_type: str = "pyfunc", bprop: Optional[Callable] = None,
                 reg_info: Any = None):
        super().__init__("Custom")
        if func_type != "pyfunc":
            fail(ValueError, f"func_type '{func_type}' is not supported", "ops.Custom", "use 'pyfunc', or compose the function of sindri.ops")
        if not callable(func):
            fail(TypeError, f"func: expected a function, got {type(func).__name__}", "ops.Custom")
        self.func, self.out_shape, self.out_dtype, self.bprop = func, out_shape, out_dtype, bprop
        self.add_prim_attr("func_type", func_type).add_prim_attr("reg_info", reg_info)

    def _forward(self, inputs: tuple) -> tuple:
        out = self.func(*(x.asnumpy() for x in inputs))
        outs = tuple(Tensor(np.asarray(v)) for v in (out if isinstance(out, tuple) else (out,)))
        for key, wanted in (("shape", self.out_shape), ("dtype", self.out_dtype)):
            if wanted is None:
                continue
            wanted = wanted(*(getattr(x, key) for x in inputs)) if callable(wanted) and not isinstance(wanted, mstype.DType) else wanted
            several = key == "shape" and wanted and isinstance(wanted[0], (tuple, list)) or key == "dtype" and isinstance(wanted, (tuple, list))
            for t, w in zip(outs, wanted if several else (wanted,)):
                if (tuple(w) if key == "shape" else w) != getattr(t, key):
                    fail(ValueError, f"the function gave {key} {getattr(t, key)}, out_{key} says {w}", "ops.Custom")
        self._single = not isinstance(out, tuple)
        return outs

    def _backward(self, inputs: tuple, outputs: tuple, douts: tuple) -> list:
        if self.bprop is None:
            return [None] * len(inputs)
        douts = tuple(core.zeros_like(y) if d is None else d for y, d in zip(outputs, douts))
        grads = self.bprop(*inputs, outputs[0] if self._single else outputs, douts[0] if self._single else douts)
        return list(grads) if isinstance(grads, (tuple, list)) else [grads]

    def __call__(self, *inputs: Tensor) -> Any:
        outs = _core.custom_gradient(self._forward, list(inputs), self._backward)
        return outs[0] if self._single else tuple(outs)


__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__]
