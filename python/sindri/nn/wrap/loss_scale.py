"""Training steps with a loss scale: the gradient of the loss is the scale, gradients are divided by it, steps that overflow are skipped."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_float, check_int, check_type, fail, is_number
from sindri.nn.cell import Cell
from sindri.nn.wrap.cell_wrapper import Stages, TrainOneStepCell
from sindri.ops.composite import HyperMap, MultitypeFuncGraph
from sindri.ops.operations.comm_ops import AllReduce

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]

_ops = _core.ops
LARGEST_SCALE = 2.0 ** 126  # its inverse is the smallest normal float32
_grad_scale = MultitypeFuncGraph("grad_scale")


@_grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale: Tensor, grad: Tensor) -> Tensor:
    """Returns grad/scale in the gradient's type.

    Args:
        scale (Tensor): The loss scale.
        grad (Tensor): The gradient.

    Returns:
        Tensor.
    """
    return _ops.mul(grad, _ops.cast(_core.inverse_scale(scale, (grad,)), grad.dtype))


@_grad_scale.register("Tensor", "RowTensor")
def tensor_grad_scale_row_tensor(scale: Tensor, grad: Any) -> Any:
    """Returns a sparse gradient with its rows divided by scale."""
    return type(grad)(grad.indices, tensor_grad_scale(scale, grad.values), grad.dense_shape)


_grad_overflow = MultitypeFuncGraph("_grad_overflow")


@_grad_overflow.register("Tensor")
def _tensor_grad_overflow(grad: Tensor) -> Tensor:
    """Returns 1.0 if the gradient contains a non-finite value, else 0.0."""
    return _ops.cast(_ops.logical_not(_ops.all_finite([grad])), mstype.float32)


@_grad_overflow.register("RowTensor")
def _tensor_grad_overflow_row_tensor(grad: Any) -> Tensor:
    return _tensor_grad_overflow(grad.values)


class _UpdateCell(Cell):
    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        check_float(self.cls_name, "loss_scale_value", loss_scale_value, above=0)
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """Returns the initial scale."""
        return self.loss_scale_value


class DynamicLossScaleUpdateCell(_UpdateCell):
    """Adapts a loss scale; called with (loss_scale, overflow), a Parameter and a bool Tensor. Returns overflow.

    After an overflow the scale is max(scale/scale_factor, 1). After `scale_window` consecutive steps without one it is scale·scale_factor, at
    most 2^126. State: `current_iterator_step`, `last_overflow_iterator_step`.

    Args:
        loss_scale_value (float): The initial scale, above 0.
        scale_factor (float): The factor, above 1.
        scale_window (int): The number of steps, at least 1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range.

    Examples:
        >>> import sindri as ms
        >>> update, scale = ms.nn.DynamicLossScaleUpdateCell(16.0, 2.0, 100), ms.Parameter(ms.Tensor(16.0), name="scale")
        >>> _ = update(scale, ms.Tensor(True))
        >>> print(scale.asnumpy())
        8.0
    """

    def __init__(self, loss_scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__(loss_scale_value)
        self._factor = check_float(self.cls_name, "scale_factor", scale_factor, above=1)
        self._window = check_int(self.cls_name, "scale_window", scale_window, 1)
        self.scale_factor, self.scale_window = Tensor(float(scale_factor), mstype.float32), Tensor(scale_window, mstype.int32)
        self.cur_iter = Parameter(Tensor(1, mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, mstype.int32), name="last_overflow_iterator_step")
        self.minimum_loss_scale = Tensor(1.0, mstype.float32)

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        state = (loss_scale, self.cur_iter, self.last_overflow_iter)
        for parameter, value in zip(state, _core.next_loss_scale(*state, overflow, self._factor, self._window)):
            parameter.assign(value)
        return overflow


class FixedLossScaleUpdateCell(_UpdateCell):
    """Keeps a fixed loss scale; called with (loss_scale, overflow). Returns overflow.

    Args:
        loss_scale_value (float): The scale, above 0.

    Raises:
        TypeError: If `loss_scale_value` is not a number.
        ValueError: If it is not above 0.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.FixedLossScaleUpdateCell(16.0).get_loss_scale()
        16.0
    """

    def construct(self, _: Any, overflow: Tensor) -> Tensor:
        return overflow


class ScaledStages(Stages):
    """The stages of a training step with a loss scale."""

    guarded = True
    status: Any = None
    scale: Any = None
    overflow: Any = None

    def gradients(self, trained: Optional[Sequence[int]] = None) -> Tuple[Any, Tuple[Tensor, ...], Any]:
        self.train_only(trained)
        cell = self.cell
        self.loss = cell.network(*self.inputs)
        self.status, self.scale = cell.start_overflow_check(self.loss, cell.scale_sense.value())
        scale = _ops.reshape(self.scale, ())
        seed = _ops.mul(_ops.ones_like(self.loss), _ops.cast(scale, self.loss.dtype))
        self.grads = cell.grad(cell.network, self.weights)(*self.inputs, seed)
        return self.loss, self.grads, _core.inverse_scale(scale, self.grads)

    def written(self) -> Tuple[Parameter, ...]:
        """Returns the Parameters that the forward pass may write (moving statistics), which are restored if the step is skipped."""
        return self.cell.__dict__["_cell_written"]

    def reduce(self, grads: Tuple[Tensor, ...], inverse: Any) -> Tuple[Tuple[Tensor, ...], Any]:
        controls = getattr(self.cell.optimizer, "_has_controls", None)
        if controls is not None and controls() and not self.cell.reducer_flag:  # the update op divides
            return grads, inverse
        return self.cell.grad_reducer(tuple(_ops.mul(g, _ops.cast(inverse, g.dtype)) for g in grads)), None

    def guard(self, grads: Tuple[Tensor, ...], decides: bool) -> Tensor:
        """Returns whether the update must be skipped. If `decides` is true, the update cell adapts the scale."""
        self.overflow = self.cell.get_overflow_status(self.status, grads)
        # If gradients belong to this rank or its group only, all ranks must still make the same choice.
        if self.cell.reducer_flag and (not decides or self.cell.reduces_apart):
            flag = _ops.all_reduce((_ops.cast(self.overflow, mstype.int32),), op="max", what="skip flag")[0]
            self.overflow = _ops.cast(flag, mstype.bool_)
        skip = self.cell.process_loss_scale(self.overflow) if decides else self.overflow
        return skip if isinstance(skip, Tensor) else Tensor(bool(skip))

    def update(self, grads: Tuple[Tensor, ...], inverse: Any, skip: Any) -> None:
        if getattr(self.cell.optimizer, "wants_uses", False):  # it counts steps, skipped ones included, equally in both modes
            self.cell.optimizer._apply_unless(skip, grads)
        else:
            self.cell._update_unless(skip, grads, inverse)


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a loss scale. Returns (loss, whether it overflowed, the scale it used).

    A step whose gradients are not all finite is skipped. In a traced graph the choice is made by ops, so that nothing waits for the host. State:
    `scale_sense`.

    Args:
        network (Cell): The network with its loss.
        optimizer (Optimizer): The optimizer.
        scale_sense (Cell, Tensor, float): An update cell, called with the scale and the overflow; or a number or Tensor of one element.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `scale_sense` is a Tensor of another shape.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.Dense(1, 1, "zeros", has_bias=False)
        >>> with_loss, optimizer = nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.25)
        >>> step = nn.TrainOneStepWithLossScaleCell(with_loss, optimizer, nn.DynamicLossScaleUpdateCell(1024.0, 2.0, 1000))
        >>> loss, overflow, scale = step(ms.Tensor([[1.0]]), ms.Tensor([[2.0]]))
        >>> print(loss, overflow, scale, net.weight.asnumpy())
        4.0 False 1024.0 [[1.]]
    """

    _stages = ScaledStages

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Union[Cell, Tensor, float]) -> None:
        super().__init__(network, optimizer, sens=1.0)
        who, trained = self.cls_name, set(map(id, self.weights))
        self.__dict__["_cell_written"] = tuple(p for p in network.get_parameters() if id(p) not in trained)
        self.hyper_map, self.less_equal, self.allreduce, self.base = HyperMap(), _ops.less_equal, AllReduce(), Tensor(1, mstype.float32)
        self.is_distributed = self.parallel_mode != context.ParallelMode.STAND_ALONE
        self.gpu_target = context.get_context("device_target") == "GPU"
        self.loss_scaling_manager = scale_sense if isinstance(scale_sense, Cell) else None
        value: Any = scale_sense.get_loss_scale() if isinstance(scale_sense, Cell) else scale_sense
        if isinstance(scale_sense, Cell) or is_number(scale_sense):
            value = Tensor(float(value), mstype.float32)
        check_type(who, "scale_sense", value, (Cell, Tensor, int, float))
        if value.shape not in ((1,), ()):
            fail(ValueError, f"{who}: scale_sense must have the shape (1,) or (), got {tuple(value.shape)}")
        self.scale_sense = value if isinstance(value, Parameter) else Parameter(value, name="scale_sense")

    def construct(self, *inputs: Any) -> Tuple[Tensor, Tensor, Tensor]:
        stages = self._run_stages(inputs)
        return stages.loss, stages.overflow, stages.scale

    def _update_unless(self, overflow: Any, grads: Tuple[Tensor, ...], inverse: Any) -> None:
        if inverse is not None or isinstance(overflow, Tensor) and overflow.is_symbolic and hasattr(self.optimizer, "_apply_unless"):
            self.optimizer._apply_unless(overflow, grads, inverse)
        elif not overflow:
            self.optimizer(grads)

    def set_sense_scale(self, sens: Tensor) -> None:
        """Sets the scale.

        Args:
            sens (Tensor): The scale.

        Raises:
            TypeError: If `sens` is not a Tensor.
        """
        self.scale_sense.set_data(check_type(self.cls_name, "sens", sens, Tensor))

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> Tuple[Any, Any]:
        """Returns (status, compute_input). The check reads the gradients themselves, so nothing needs to be started.

        Args:
            pre_cond: Ignored.
            compute_input: The input of the computation to check.

        Returns:
            (Tensor, `compute_input`).
        """
        return Tensor([0] * 8, mstype.int32), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Returns whether a (nested) tuple contains a non-finite value.

        Args:
            status: Ignored.
            compute_output (tuple): The gradients.

        Returns:
            A bool scalar Tensor.
        """
        return _ops.logical_not(_ops.all_finite(list(_flatten(compute_output))))

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Lets the update cell adapt the scale.

        Args:
            overflow (Tensor): Whether the step overflowed.

        Returns:
            `overflow`.
        """
        return overflow if self.loss_scaling_manager is None else self.loss_scaling_manager(self.scale_sense, overflow)


def _flatten(values: Any) -> Any:
    if isinstance(values, (tuple, list)):
        for v in values:
            yield from _flatten(v)
    else:
        yield values if isinstance(values, Tensor) else values.values  # RowTensor
