"""Training steps with a loss scale: the loss's gradient starts at the scale, gradients are divided by it, steps that overflow are left out."""
from __future__ import annotations

from typing import Any, Tuple, Union

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_float, check_int, fail, is_number
from sindri.nn.cell import Cell
from sindri.nn.wrap.cell_wrapper import Stages, TrainOneStepCell
from sindri.ops.composite import HyperMap, MultitypeFuncGraph
from sindri.ops.operations.comm_ops import AllReduce

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]

_ops = _core.ops
_LARGEST = 2.0 ** 126  # its inverse is the smallest normal float32


def _inverse(scale: Tensor, grads: Any) -> Tensor:
    """1/scale: in float32, in float64 where one of the gradients is."""
    wide = any(g.dtype == mstype.float64 for g in grads)
    return _ops.reciprocal(_ops.cast(scale, mstype.float64 if wide else mstype.float32))


_grad_scale = MultitypeFuncGraph("grad_scale")


@_grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale: Tensor, grad: Tensor) -> Tensor:
    """grad/scale in the gradient's type."""
    return _ops.mul(grad, _ops.cast(_inverse(scale, (grad,)), grad.dtype))


@_grad_scale.register("Tensor", "RowTensor")
def tensor_grad_scale_row_tensor(scale: Tensor, grad: Any) -> Any:
    """As above for the rows of a sparse gradient."""
    return type(grad)(grad.indices, tensor_grad_scale(scale, grad.values), grad.dense_shape)


_grad_overflow = MultitypeFuncGraph("_grad_overflow")


@_grad_overflow.register("Tensor")
def _tensor_grad_overflow(grad: Tensor) -> Tensor:
    """1.0 where the gradient holds something that is not finite, else 0.0."""
    return _ops.cast(_ops.logical_not(_ops.all_finite([grad])), mstype.float32)


@_grad_overflow.register("RowTensor")
def _tensor_grad_overflow_row_tensor(grad: Any) -> Tensor:
    return _tensor_grad_overflow(grad.values)


class DynamicLossScaleUpdateCell(Cell):
    """Called with (loss_scale, overflow), a Parameter and a bool tensor: adapts the scale and returns overflow.

    Overflow: scale = max(scale/scale_factor, 1). After scale_window steps in a row without: scale·scale_factor (not above 2^126). State
    `current_iterator_step`, `last_overflow_iterator_step`. Raises TypeError or ValueError for numbers out of range.
    """

    def __init__(self, loss_scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__()
        who = "DynamicLossScaleUpdateCell"
        self.loss_scale_value = loss_scale_value
        check_float(who, "loss_scale_value", loss_scale_value, above=0)
        self._factor = check_float(who, "scale_factor", scale_factor, above=1)
        self.scale_window = Tensor(check_int(who, "scale_window", scale_window, 1), mstype.int32)
        self.scale_factor = Tensor(float(scale_factor), mstype.float32)
        self.cur_iter = Parameter(Tensor(1, mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, mstype.int32), name="last_overflow_iterator_step")
        self.minimum_loss_scale = Tensor(1.0, mstype.float32)

    def get_loss_scale(self) -> float:
        """The scale to start from."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        scale, current, last = loss_scale.value(), self.cur_iter.value(), self.last_overflow_iter.value()
        smaller = _ops.maximum(_ops.div(scale, self._factor), 1.0)
        larger = _ops.minimum(_ops.mul(scale, self._factor), _LARGEST)
        grows = _ops.greater_equal(_ops.sub(current, last), self.scale_window)
        loss_scale.assign(_ops.where(overflow, smaller, _ops.where(grows, larger, scale)))
        self.last_overflow_iter.assign(_ops.where(_ops.logical_or(overflow, grows), current, last))
        self.cur_iter.assign(_ops.add(current, 1))
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Called with (loss_scale, overflow): leaves the scale and returns overflow. Raises TypeError or ValueError unless the value is above 0."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        check_float("FixedLossScaleUpdateCell", "loss_scale_value", loss_scale_value, above=0)
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Tensor) -> Tensor:
        return overflow


class ScaledStages(Stages):
    """The stages under a loss scale."""

    guarded = True

    def __init__(self, cell: "TrainOneStepWithLossScaleCell", inputs: Tuple[Any, ...]) -> None:
        super().__init__(cell, inputs)
        self.status: Any = None
        self.scale: Any = None
        self.overflow: Any = None

    def gradients(self) -> Tuple[Any, Tuple[Tensor, ...], Any]:
        cell = self.cell
        if getattr(cell.optimizer, "wants_uses", False):
            self.status, self.scale = cell.start_overflow_check(None, cell.scale_sense.value())
            grads = self.forward_with_uses(self.scale)
            return self.loss, grads, _inverse(_ops.reshape(self.scale, ()), grads)
        loss = self.loss = cell.network(*self.inputs)
        self.status, self.scale = cell.start_overflow_check(loss, cell.scale_sense.value())
        seed = _ops.mul(_ops.ones_like(loss), _ops.cast(_ops.reshape(self.scale, ()), loss.dtype))
        self.grads = cell.grad(cell.network, cell.weights)(*self.inputs, seed)
        return loss, self.grads, _inverse(_ops.reshape(self.scale, ()), self.grads)

    def reduce(self, grads: Tuple[Tensor, ...], inverse: Any) -> Tuple[Tuple[Tensor, ...], Any]:
        controls = getattr(self.cell.optimizer, "_has_controls", None)
        if controls is not None and controls() and not self.cell.reducer_flag:
            return grads, inverse  # the update op divides
        return self.cell.grad_reducer(tuple(_ops.mul(g, _ops.cast(inverse, g.dtype)) for g in grads)), None

    def guard(self, grads: Tuple[Tensor, ...], decides: bool) -> Tensor:
        """Whether the update must be left out; the update cell adapts the scale where this decides."""
        self.overflow = skip = self.cell.get_overflow_status(self.status, grads)
        if decides:
            skip = self.cell.process_loss_scale(skip)
        return skip if isinstance(skip, Tensor) else Tensor(bool(skip))

    def update(self, grads: Tuple[Tensor, ...], inverse: Any, skip: Any) -> None:
        if self.uses is None:
            self.cell._update_unless(skip, grads, inverse)
        else:
            self.cell.optimizer._apply_unless(skip, grads, uses=self.uses)


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step under a loss scale; returns (loss, whether it overflowed, the scale it ran with).

    scale_sense: an update cell (called with the scale and the overflow), or a number or tensor of one element. State `scale_sense`. A step whose
    gradients are not all finite is left out: where a graph is traced the choice is made by ops, so that nothing waits for the host.
    Raises TypeError or ValueError for another scale_sense.
    """

    _stages = ScaledStages

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Union[Cell, Tensor, float]) -> None:
        super().__init__(network, optimizer, sens=1.0)
        who = self.cls_name
        self.hyper_map = HyperMap()
        self.base = Tensor(1, mstype.float32)
        self.less_equal = _ops.less_equal
        self.allreduce = AllReduce()
        self.is_distributed = self.parallel_mode != context.ParallelMode.STAND_ALONE
        self.gpu_target = context.get_context("device_target") == "GPU"
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            value: Any = Tensor(float(scale_sense.get_loss_scale()), mstype.float32)
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((1,), ()):
                fail(ValueError, f"{who}: scale_sense must have the shape (1,) or (), got {tuple(scale_sense.shape)}")
            value = scale_sense
        elif is_number(scale_sense):
            value = Tensor(float(scale_sense), mstype.float32)
        else:
            fail(TypeError, f"{who}: scale_sense must be a Cell, a Tensor or a number, got {scale_sense!r} of type {type(scale_sense).__name__}")
        self.scale_sense = value if isinstance(value, Parameter) else Parameter(value, name="scale_sense")

    def construct(self, *inputs: Any) -> Tuple[Tensor, Tensor, Tensor]:
        stages = self._run_stages(inputs)
        return stages.loss, stages.overflow, stages.scale

    def _update_unless(self, overflow: Any, grads: Tuple[Tensor, ...], inverse: Any) -> None:
        if inverse is not None:
            self.optimizer._apply_unless(overflow, grads, inverse)
        elif isinstance(overflow, Tensor) and overflow.is_symbolic and hasattr(self.optimizer, "_apply_unless"):
            self.optimizer._apply_unless(overflow, grads)
        elif not overflow:
            self.optimizer(grads)

    def set_sense_scale(self, sens: Tensor) -> None:
        """Gives the scale another value. Raises TypeError for what is no Tensor."""
        if not isinstance(sens, Tensor):
            fail(TypeError, f"{self.cls_name}: set_sense_scale takes a Tensor, got {sens!r} of type {type(sens).__name__}")
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> Tuple[Any, Any]:
        """(status, compute_input): the check looks at the gradients themselves, so there is nothing to start."""
        return Tensor([0] * 8, mstype.int32), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """A bool scalar: whether something in the (nested) tuple compute_output is not finite."""
        return _ops.logical_not(_ops.all_finite(list(_flatten(compute_output))))

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Lets the update cell adapt the scale; returns overflow."""
        return overflow if self.loss_scaling_manager is None else self.loss_scaling_manager(self.scale_sense, overflow)


def _flatten(values: Any) -> Any:
    if isinstance(values, (tuple, list)):
        for v in values:
            yield from _flatten(v)
    elif isinstance(values, Tensor):
        yield values
    else:
        yield values.values  # RowTensor
