"""Cells around a network: with its loss, as a training step, over parts of a batch."""
from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any, Dict, NoReturn, Optional, Sequence, Tuple

from sindri import _core, _uses, context
from sindri._uses import watching
from sindri.common import dtype as mstype
from sindri.common.not_yet import not_yet
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_int, check_type, fail
from sindri.nn.cell import Cell, cast_tensors
from sindri.nn.layer.basic import Identity
from sindri.nn.optim.optimizer import Optimizer
from sindri.nn.wrap.grad_reducer import DistributedGradReducer, device_count
from sindri.ops.composite.grad import GradOperation

__all__ = ["ForwardValueAndGrad", "TrainOneStepCell", "WithLossCell", "WithGradCell", "WithEvalCell", "GetNextSingleOp", "ParameterUpdate",
           "VirtualDatasetCellTriple", "GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell"]

_ops = _core.ops


class WithLossCell(Cell):
    """A network with its loss: (data, label) -> loss_fn(backbone(data), label). Parameters keep the backbone's names.

    Args:
        backbone (Cell): The network.
        loss_fn (Cell): The loss.

    Raises:
        TypeError: If an argument is not a Cell.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.WithLossCell(nn.Dense(1, 1, "ones", "zeros"), nn.MSELoss())
        >>> print(net(ms.Tensor([[1.0]]), ms.Tensor([[3.0]])))
        4.0
    """

    def __init__(self, backbone: Cell, loss_fn: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = check_type("WithLossCell", "backbone", backbone, Cell)
        self._loss_fn = check_type("WithLossCell", "loss_fn", loss_fn, Cell)

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """Cell: The network without its loss."""
        return self._backbone


class WithEvalCell(Cell):
    """A network for evaluation: (data, label) -> (loss, network(data), label).

    Args:
        network (Cell): The network.
        loss_fn (Cell): The loss.
        add_cast_fp32 (bool): Whether output and label are cast to float32 first. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.WithEvalCell(nn.Dense(1, 1, "ones", "zeros"), nn.MSELoss())
        >>> loss, output, label = net(ms.Tensor([[1.0]]), ms.Tensor([[3.0]]))
        >>> print(loss, output)
        4.0 [[1.]]
    """

    def __init__(self, network: Cell, loss_fn: Cell, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network = check_type("WithEvalCell", "network", network, Cell)
        self._loss_fn = check_type("WithEvalCell", "loss_fn", loss_fn, Cell)
        self.add_cast_fp32 = check_bool("WithEvalCell", "add_cast_fp32", add_cast_fp32)

    def construct(self, data: Any, label: Any) -> Tuple[Any, Any, Any]:
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs, label = cast_tensors(outputs, mstype.float32), cast_tensors(label, mstype.float32)
        return self._loss_fn(outputs, label), outputs, label


class WithGradCell(Cell):
    """Computes gradients: (*inputs) -> gradients of the trainable parameters of the network or, with `loss_fn`, of its loss.

    Args:
        network (Cell): The network.
        loss_fn (Cell): The loss. Default: None.
        sens (Tensor): The gradient of the output. Default: None, ones.

    Raises:
        TypeError: If `network` is not a Cell.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> grads = nn.WithGradCell(nn.Dense(1, 1, "ones", "zeros"), nn.MSELoss())(ms.Tensor([[1.0]]), ms.Tensor([[3.0]]))
        >>> print(grads[0], grads[1])
        [[-4.]] [-4.]
    """

    def __init__(self, network: Cell, loss_fn: Optional[Cell] = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.loss_fn, self.sens = check_type("WithGradCell", "network", network, Cell), loss_fn, sens
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Tuple[Tensor, ...]:
        grad = self.grad(self.network_with_loss, self.weights)
        return grad(*inputs) if self.sens is None else grad(*inputs, self.sens)


class ForwardValueAndGrad(Cell):
    """Computes outputs and gradients: (*inputs) -> (output, gradients).

    Args:
        network (Cell, Callable): The network.
        weights (tuple, list): The Parameters for `get_by_list`. Default: None.
        get_all (bool): Whether to return the gradients of all inputs instead of the first. Default: False.
        get_by_list (bool): Whether to return the gradients of `weights`. Default: False.
        sens_param (bool): Whether the last input is the gradient of the output. Default: False.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> output, grads = nn.ForwardValueAndGrad(net, net.trainable_params(), get_by_list=True)(ms.Tensor([[2.0]]))
        >>> print(output, grads[0])
        [[2.]] [[2.]]
    """

    def __init__(self, network: Any, weights: Any = None, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        super().__init__(auto_prefix=False)
        who = "ForwardValueAndGrad"
        check_type(who, "network", network, (Cell, FunctionType, MethodType))
        check_bool(who, "get_all", get_all)
        if check_bool(who, "get_by_list", get_by_list):
            check_type(who, "weights", weights, (tuple, list))
        self.network, self.weights = network, weights
        if isinstance(network, Cell):
            network.set_grad()
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self.grad = GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)

    def construct(self, *inputs: Any) -> Tuple[Any, Any]:
        loss = self.network(*(inputs[:-1] if self.sens_param else inputs))
        grad = self.grad(self.network, self.weights) if self.get_by_list else self.grad(self.network)
        return loss, grad(*inputs)


class Stages:
    """The stages of one run of a training cell.

    The C++ step calls them in order, with algorithms between them (docs/design/training.md). Attributes of the cell are read when a stage runs,
    so that a subclass's replacements take effect.
    """

    guarded = False  # whether there is a guard, which may skip the update

    def __init__(self, cell: "TrainOneStepCell", inputs: Tuple[Any, ...]) -> None:
        self.cell, self.inputs = cell, inputs
        self.loss: Any = None
        self.grads: Tuple[Tensor, ...] = ()
        self.weights = cell.weights if hasattr(cell, "weights") else ()  # those the step trains

    def forward(self, *inputs: Any) -> Any:
        """Returns the loss, without gradients."""
        return self.cell.network(*inputs)

    def train_only(self, trained: Optional[Sequence[int]]) -> None:
        """Restricts the step to the weights with these indices; None trains all."""
        self.weights = self.cell.weights if trained is None else ParameterTuple([self.cell.weights[i] for i in trained])

    def gradients(self, trained: Optional[Sequence[int]] = None) -> Tuple[Any, Tuple[Tensor, ...], Any]:
        """Returns (loss, gradients of the weights with these indices or of all, a factor still to be applied to the gradients: a scalar tensor or None)."""
        cell = self.cell
        self.train_only(trained)
        loss = self.loss = cell.network(*self.inputs)
        sens = cell.sens if isinstance(cell.sens, Tensor) else _ops.full(loss.shape, cell.sens, loss.dtype)
        self.grads = cell.grad(cell.network, self.weights)(*self.inputs, sens)
        return loss, self.grads, None

    def reduce(self, grads: Tuple[Tensor, ...], inverse: Any) -> Tuple[Tuple[Tensor, ...], Any]:
        """Reduces the gradients over ranks."""
        self.grads = self.cell.grad_reducer(grads)
        return self.grads, inverse

    def update(self, grads: Tuple[Tensor, ...], inverse: Any, skip: Any) -> None:
        """Applies the optimizer's rule to the parameters."""
        self.cell.optimizer(grads)


# Steps without algorithms have no state, so all cells share them.
_STEPS = {guarded: _core.TrainStep(guarded) for guarded in (False, True)}


class TrainOneStepCell(Cell):
    """One training step: forward, gradient of sens·loss, reduction over ranks, optimizer. Returns the loss.

    With `return_grad` it returns (loss, {parameter name: gradient}). Attributes for subclasses: network, optimizer, weights, grad (a
    GradOperation with get_by_list and sens_param), sens, reducer_flag, grad_reducer, parallel_mode, mean, degree.

    Args:
        network (Cell): The network with its loss.
        optimizer (Optimizer): The optimizer.
        sens (float): The gradient of the loss; not 0. Default: None, 1.
        return_grad (bool): Whether gradients are returned too. Default: False.

    Raises:
        TypeError: If `network` is not a Cell or `optimizer` not an optimizer.
        ValueError: If `sens` is 0, or `network` is already a training step of the same parameters.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.Dense(1, 1, "zeros", has_bias=False)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.25))
        >>> print(step(ms.Tensor([[1.0]]), ms.Tensor([[2.0]])), net.weight.asnumpy())
        4.0 [[1.]]
    """

    _stages: Any = Stages
    reduces_apart = False  # whether gradients are reduced within groups of ranks only
    _unread_by_graphs = Cell._unread_by_graphs | {"_cell_written"}  # of the cells with a loss scale

    def __init__(self, network: Cell, optimizer: Cell, sens: Optional[float] = None, return_grad: bool = False) -> None:
        super().__init__(auto_prefix=False)
        who = self.cls_name
        self.network = check_type(who, "network", network, Cell)
        self.network.set_grad()
        self.optimizer = check_type(who, "optimizer", optimizer, Cell)
        if not hasattr(optimizer, "parameters"):
            fail(TypeError, f"{who}: optimizer must be an Optimizer, got {type(optimizer).__name__}")
        trained = {id(p) for p in optimizer.parameters}
        if any(isinstance(cell, Optimizer) and any(id(p) in trained for p in cell.parameters) for _, cell in network.cells_and_names()):
            fail(ValueError, f"{who}: network is a training step already ({type(network).__name__} holds an optimizer of the same parameters), and every step "
                 "would update them twice", "give the network without its training step, or use the training cell as it is: Model(cell)")
        self.weights = optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        if isinstance(sens, (int, float)) and sens == 0:
            fail(ValueError, f"{who}: sens must not be 0")
        self.sense_flag = sens is not None
        self.sens = 1.0 if sens is None else sens
        self.return_grad = check_bool(who, "return_grad", return_grad)
        self.use_graph_mode = context.get_context("mode") == context.GRAPH_MODE
        self.parallel_mode = context.get_auto_parallel_context("parallel_mode")
        self.reducer_flag = self.parallel_mode in (context.ParallelMode.DATA_PARALLEL, context.ParallelMode.HYBRID_PARALLEL)
        self.grad_reducer: Cell = Identity()
        self.mean, self.degree = context.get_auto_parallel_context("gradients_mean"), 1
        if self.reducer_flag:
            self.degree = device_count(who)
            self.grad_reducer = DistributedGradReducer(self.weights, self.mean, self.degree)

    def construct(self, *inputs: Any) -> Any:
        stages = self._run_stages(inputs)
        return (stages.loss, self._named(stages.grads)) if self.return_grad else stages.loss

    def _run_stages(self, inputs: Tuple[Any, ...]) -> Any:
        stages = self._stages(self, inputs)
        _STEPS[stages.guarded].run(inputs, stages)
        if watching:
            _uses.drop(self.optimizer)
        return stages

    def _named(self, grads: Tuple[Tensor, ...]) -> Dict[str, Tensor]:
        return {p.name: g for p, g in zip(self.weights, grads)}


class GetNextSingleOp(Cell):
    """Reads one batch from a device queue; not available yet: only the first THOR sample uses it.

    Args:
        dataset_types (list): The types of the columns.
        dataset_shapes (list): The shapes of the columns.
        queue_name (str): The name of the queue.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, dataset_types: Any, dataset_shapes: Any, queue_name: str) -> None:
        super().__init__()
        not_yet("nn.GetNextSingleOp", "devices")


class _VirtualDatasetCell(Cell):
    """Calls the backbone; marks inputs that come from the data for parallel runs."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = check_type(self.cls_name, "backbone", backbone, Cell)

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(_VirtualDatasetCell):
    """Calls a backbone with three inputs.

    Args:
        backbone (Cell): The network.

    Raises:
        TypeError: If `backbone` is not a Cell.

    Examples:
        >>> import sindri as ms
        >>> class Total(ms.nn.Cell):
        ...     def construct(self, a, b, c):
        ...         return a + b + c
        >>> print(ms.nn.VirtualDatasetCellTriple(Total())(ms.Tensor(1.0), ms.Tensor(2.0), ms.Tensor(3.0)))
        6.0
    """

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        return self._backbone(a, b, c)


class ParameterUpdate(Cell):
    """Assigns its input to a Parameter and returns it.

    Args:
        param (Parameter): The Parameter.

    Raises:
        TypeError: If `param` is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = ms.nn.ParameterUpdate(p)(ms.Tensor([3.0, 4.0]))
        >>> print(p.asnumpy())
        [3. 4.]
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self._param = check_type("ParameterUpdate", "param", param, Parameter)

    def construct(self, x: Tensor) -> Tensor:
        self._param.assign(x)
        return x


class _InParts(Cell):
    """Runs the network on each of `_parts` equal parts of the inputs' first dimension and sums the outputs."""

    def __init__(self, network: Cell, parts: int, name: str) -> None:
        super().__init__(auto_prefix=False)
        self.network = check_type(self.cls_name, "network", network, Cell)
        self._parts = check_int(self.cls_name, name, parts, 1)
        setattr(self, name, parts)

    def construct(self, *inputs: Any) -> Any:
        total = None
        for i in range(self._parts):
            output = self.network(*(self._part(x, i) for x in inputs))
            total = output if total is None else _ops.add(total, output)
        return total

    def _part(self, x: Any, i: int) -> Any:
        if not isinstance(x, Tensor) or not x.shape:
            return x
        size = x.shape[0]
        if size % self._parts:
            fail(ValueError, f"{self.cls_name}: the first dimension of {tuple(x.shape)} must divide by {self._parts}")
        step = size // self._parts
        return _ops.slice(x, (step * i,), (step * (i + 1),))


class PipelineCell(_InParts):
    """Runs the network on micro-batches and sums the outputs. On one rank, pipeline parallelism is gradient accumulation.

    Args:
        network (Cell): The network.
        micro_size (int): The number of micro-batches, at least 1.
        stage_config (dict): Name of a Cell to its pipeline_stage; stored. Default: None.
        segment_config (dict): Name of a Cell to its pipeline_segment; stored. Default: None.

    Raises:
        TypeError: If `micro_size` is not an int.
        ValueError: If `micro_size` is below 1, or a batch cannot be divided by it.
        KeyError: If a name is not that of a Cell in the network.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.PipelineCell(nn.WithLossCell(nn.Identity(), nn.MSELoss()), 2)
        >>> print(net(ms.Tensor([[1.0], [2.0]]), ms.Tensor([[0.0], [0.0]])))
        5.0
    """

    def __init__(self, network: Cell, micro_size: int, stage_config: Optional[Dict[str, int]] = None,
                 segment_config: Optional[Dict[str, int]] = None) -> None:
        super().__init__(network, micro_size, "micro_size")
        for attribute, config in (("pipeline_stage", stage_config), ("pipeline_segment", segment_config)):
            cells = dict(network.cells_and_names())
            for name, value in (config or {}).items():
                if name not in cells:
                    fail(KeyError, f"{self.cls_name}: '{name}' is not a Cell of the network", "name one of cells_and_names()")
                setattr(cells[name], attribute, value)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, device: str = "Ascend", level: int = 0) -> NoReturn:
        """Always raises ValueError: a pipeline is not sharded as a whole.

        Args:
            in_strategy: Ignored.
            out_strategy: Ignored. Default: None.
            parameter_plan: Ignored. Default: None.
            device (str): Ignored. Default: "Ascend".
            level (int): Ignored. Default: 0.

        Raises:
            ValueError: Always.
        """
        fail(ValueError, f"{self.cls_name}: shard is not for a pipeline", "shard the Cells inside")


class GradAccumulationCell(_InParts):
    """Runs the network on micro-batches and sums the outputs.

    Args:
        network (Cell): The network.
        micro_size (int): The number of micro-batches, at least 1.

    Raises:
        TypeError: If `micro_size` is not an int.
        ValueError: If `micro_size` is below 1, or a batch cannot be divided by it.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.GradAccumulationCell(nn.WithLossCell(nn.Identity(), nn.MSELoss()), 2)
        >>> print(net(ms.Tensor([[1.0], [2.0]]), ms.Tensor([[0.0], [0.0]])))
        5.0
    """

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(network, micro_size, "micro_size")


class MicroBatchInterleaved(_InParts):
    """Runs the network on equal parts of the batch and sums the outputs.

    Args:
        network (Cell): The network.
        interleave_num (int): The number of parts, at least 1. Default: 2.

    Raises:
        TypeError: If `interleave_num` is not an int.
        ValueError: If `interleave_num` is below 1, or a batch cannot be divided by it.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.MicroBatchInterleaved(nn.WithLossCell(nn.Identity(), nn.MSELoss()))
        >>> print(net(ms.Tensor([[1.0], [2.0]]), ms.Tensor([[0.0], [0.0]])))
        5.0
    """

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(network, interleave_num, "interleave_num")


class _BroadCastCell(Cell):
    """Returns rank 0's parameters on every rank; on one rank the values themselves."""

    def __init__(self, params: Any) -> None:
        super().__init__()
        self.params = tuple(params)

    def construct(self) -> Tuple[Tensor, ...]:
        return tuple(_ops.broadcast((p.value(),))[0] for p in self.params)
