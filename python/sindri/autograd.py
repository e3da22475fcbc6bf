"""Gradients beyond MindSpore's functions: the uses of Parameters, on which second-order methods (K-FAC, THOR) are based."""
from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple, Optional, Union

from sindri import _core, _uses
from sindri._core import Parameter, Tensor
from sindri.common import dtype as mstype
from sindri.nn.cell import Cell
from sindri.ops.composite.grad import _float_tensors, _outer, _seeds, _weights_list, forward_on_tape, through_hooks

__all__ = ["ParamUse", "value_and_grad_with_uses"]


class ParamUse(NamedTuple):
    """One use of a Parameter by an op.

    Its contribution to the Parameter's gradient is a function of `operands` and `output_grad` alone: output_gradᵀ·input for a Dense layer. A Parameter
    has several uses if several layers share it, or if one layer runs twice.

    Args:
        parameter (Parameter): The Parameter.
        op (str): The name of the op ("matmul", "conv2d"); "" for a function with a custom gradient (a Cell with bprop).
        attrs (dict): The op's attributes: stride, pad, dilation and groups of a convolution.
        operand (int): The position of the Parameter: operands[operand].
        operands (tuple[Tensor]): Every input of the op as it received it: in the half type if mixed precision cast it.
        path (tuple[tuple[str, dict]]): The casts, reshapes, transposes and broadcasts from the Parameter to operands[operand], in order.
        output_grad (Tensor): The gradient of the op's (first) output, times loss_scale; None if only another output has one.
        loss_scale (Tensor): The loss scale. Default: None, 1.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(2, 1, "ones", has_bias=False)
        >>> _, _, uses = ms.autograd.value_and_grad_with_uses(net)(ms.Tensor([[1.0, 2.0]]))
        >>> print(uses[0].input(), uses[0].unscaled_output_grad())
        [[1. 2.]] [[1.]]
    """

    parameter: Parameter
    op: str
    attrs: dict[str, Any]
    operand: int
    operands: tuple[Tensor, ...]
    path: tuple[tuple[str, dict[str, Any]], ...]
    output_grad: Optional[Tensor]
    loss_scale: Optional[Tensor] = None

    def input(self) -> Optional[Tensor]:
        """Returns the operand that is combined with the Parameter.

        It is the other factor of a matrix product or multiplication, a convolution's input, an embedding's ids, or the normalised input (no scale, no shift)
        for gamma of layer and batch norm.

        Returns:
            Tensor; None if there is none: for a bias or beta.
        """
        return _core.param_use_input(self.op, self.attrs, self.operands, self.operand) if self.op else None

    def unscaled_output_grad(self) -> Optional[Tensor]:
        """Returns output_grad / loss_scale; float32 if output_grad has a half type.

        Returns:
            Tensor, or None without an output_grad.
        """
        g = self.output_grad
        if g is None:
            return None
        if g.dtype in (mstype.float16, mstype.bfloat16):
            g = _core.ops.cast(g, mstype.float32)
        return g if self.loss_scale is None else _core.ops.div(g, _core.ops.cast(self.loss_scale, g.dtype))


def value_and_grad_with_uses(fn: Callable[..., Any], weights: Union[Parameter, Iterable[Parameter], None] = None, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function that computes value, gradients and uses: `(*args, loss_scale=None, **kwargs) -> (value, gradients, uses)`.

    The gradients are those of the weights, in order, and bitwise identical to those of `value_and_grad`. The uses are every ParamUse that a gradient
    passes, in the order in which the ops ran. `loss_scale` (a number or a tensor of one element) is the initial gradient of the output: gradients and
    output_grads are multiplied by it, and every use contains it.

    In a compiled Cell the uses' tensors belong to its graph, and tensors that nothing reads are not computed. Recomputed Cells return the values of the
    second run. The function runs fn itself and does not reuse an earlier forward run.

    Args:
        fn (Cell, Callable): The function.
        weights (Parameter, list): The Parameters. Default: None, the Cell's trainable ones.
        has_aux (bool): Whether only the first output is differentiated. Default: False.

    Returns:
        The function.

    Raises:
        TypeError: If `fn` is not callable.
        ValueError: If `weights` is missing for a function that is not a Cell, or `loss_scale` has several elements.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(2, 1, "ones", "zeros")
        >>> value, grads, uses = ms.autograd.value_and_grad_with_uses(net)(ms.Tensor([[1.0, 2.0]]))
        >>> print(value, grads[0])
        [[3.]] [[1. 2.]]
        >>> [(use.parameter.name, use.op) for use in uses]
        [('weight', 'matmul'), ('bias', 'add')]
    """
    if not callable(fn):
        raise TypeError(f"expected a Cell or a function, got {type(fn).__name__} | value_and_grad_with_uses")
    chosen = _weights_list(weights, fn) if weights is not None or not isinstance(fn, Cell) else None

    def run(*args: Any, **kwargs: Any) -> Any:
        scale = kwargs.pop("loss_scale", None)
        tape, out, _ = forward_on_tape(fn, args, kwargs, _uses.UsesTape())
        if has_aux and not isinstance(out, (tuple, list)):
            raise ValueError("with has_aux the function must return (value, aux, …) | value_and_grad_with_uses | return a tuple")
        outputs = _float_tensors(out[0] if has_aux else out)
        seeds = None if scale is None else _seeds(outputs, [scale] * len(outputs))
        params = chosen if chosen is not None else _weights_list(None, fn)
        _, grads, uses = tape.backward_with_uses(outputs, seeds, params)
        return out, through_hooks(params, grads), uses, tape.scale(scale)

    compiled = _outer(None, run, "value_and_grad_with_uses")

    def call(*args: Any, loss_scale: Any = None, **kwargs: Any) -> Any:
        if loss_scale is not None:
            loss_scale = loss_scale if isinstance(loss_scale, Tensor) else Tensor(float(loss_scale), mstype.float32)
            if loss_scale.size != 1:
                raise ValueError(f"loss_scale must be one number, got shape {tuple(loss_scale.shape)} | value_and_grad_with_uses")
            if loss_scale.shape:
                loss_scale = _core.ops.reshape(loss_scale, ())
        params = chosen if chosen is not None else _weights_list(None, fn)
        out, grads, uses, scale = compiled(*args, loss_scale=loss_scale, **kwargs)
        return out, grads, tuple(ParamUse._make((params[use[0]], *use[1:], scale)) for use in uses)

    return call
