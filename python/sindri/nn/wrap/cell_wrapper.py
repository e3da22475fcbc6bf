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
    """(data, label) -> loss_fn(backbone(data), label). Parameters keep the backbone's names. Raises TypeError for what is no Cell."""

    def __init__(self, backbone: Cell, loss_fn: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = check_type("WithLossCell", "backbone", backbone, Cell)
        self._loss_fn = check_type("WithLossCell", "loss_fn", loss_fn, Cell)

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network without its loss."""
        return self._backbone


class WithEvalCell(Cell):
    """(data, label) -> (loss, network(data), label). With add_cast_fp32 output and label are float32 first. Raises TypeError for wrong types."""

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
    """(*inputs) -> the gradients of the network's (or, with loss_fn, of the loss's) trainable parameters; sens is the output's gradient (None:
    ones)."""

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
    """(*inputs) -> (output, gradients): those of the first input, with get_all of all inputs, with get_by_list of `weights`.

    With sens_param the last input is the output's gradient. Raises TypeError for wrong types.
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
    """What a training cell does in each stage of one run. The C++ step calls them in order, and algorithms stand between them
    (docs/design/training.md); attributes of the cell are read when a stage runs, so that what a subclass replaced counts."""

    guarded = False  # whether there is a guard, which may leave the update out

    def __init__(self, cell: "TrainOneStepCell", inputs: Tuple[Any, ...]) -> None:
        self.cell, self.inputs = cell, inputs
        self.loss: Any = None
        self.grads: Tuple[Tensor, ...] = ()
        self.weights = cell.weights if hasattr(cell, "weights") else ()  # that the step trains

    def forward(self, *inputs: Any) -> Any:
        """The loss alone."""
        return self.cell.network(*inputs)

    def train_only(self, trained: Optional[Sequence[int]]) -> None:
        """The step trains the weights of these numbers; None: all."""
        self.weights = self.cell.weights if trained is None else ParameterTuple([self.cell.weights[i] for i in trained])

    def gradients(self, trained: Optional[Sequence[int]] = None) -> Tuple[Any, Tuple[Tensor, ...], Any]:
        """(loss, gradients of the weights of these numbers, None: of all; what is still to be multiplied onto these: a scalar tensor or None)."""
        cell = self.cell
        self.train_only(trained)
        loss = self.loss = cell.network(*self.inputs)
        sens = cell.sens if isinstance(cell.sens, Tensor) else _ops.full(loss.shape, cell.sens, loss.dtype)
        self.grads = cell.grad(cell.network, self.weights)(*self.inputs, sens)
        return loss, self.grads, None

    def reduce(self, grads: Tuple[Tensor, ...], inverse: Any) -> Tuple[Tuple[Tensor, ...], Any]:
        """Over ranks."""
        self.grads = self.cell.grad_reducer(grads)
        return self.grads, inverse

    def update(self, grads: Tuple[Tensor, ...], inverse: Any, skip: Any) -> None:
        """The optimizer's rule, written to the parameters."""
        self.cell.optimizer(grads)


# Steps without algorithms hold nothing, so all cells share them.
_STEPS = {guarded: _core.TrainStep(guarded) for guarded in (False, True)}


class TrainOneStepCell(Cell):
    """One training step: forward, gradient of sens·loss, reduction over ranks, optimizer; returns the loss.

    With return_grad it returns (loss, {parameter name: gradient}). Attributes for subclasses: network, optimizer, weights, grad (a GradOperation with
    get_by_list and sens_param), sens, reducer_flag, grad_reducer, parallel_mode, mean, degree. Raises TypeError for what is no Cell or optimizer,
    ValueError for sens 0.
    """

    _stages: Any = Stages
    reduces_apart = False  # whether gradients are put together within groups of ranks only
    _unread_by_graphs = Cell._unread_by_graphs | {"_cell_written"}  # of the cells under a loss scale

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
    """Pulls one batch from a device queue. Raises NotYetError: it serves the first THOR sample only."""

    def __init__(self, dataset_types: Any, dataset_shapes: Any, queue_name: str) -> None:
        super().__init__()
        not_yet("nn.GetNextSingleOp", "devices")


class _VirtualDatasetCell(Cell):
    """The backbone; marks inputs that come from the data for parallel runs."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = check_type(self.cls_name, "backbone", backbone, Cell)

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(_VirtualDatasetCell):
    """The backbone of three inputs."""

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        return self._backbone(a, b, c)


class ParameterUpdate(Cell):
    """(x) -> x, having written it to the Parameter. Raises TypeError for what is no Parameter."""

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self._param = check_type("ParameterUpdate", "param", param, Parameter)

    def construct(self, x: Tensor) -> Tensor:
        self._param.assign(x)
        return x


class _InParts(Cell):
    """Runs the network on each of `_parts` equal parts of the inputs' first dimension and adds the outputs up."""

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
    """Runs the network on micro_size parts of the batch and adds the outputs up (on one rank pipeline parallelism is gradient accumulation).

    stage_config (name of a Cell -> stage) sets pipeline_stage, segment_config pipeline_segment; both are stored. Raises TypeError or ValueError for
    another micro_size, KeyError for a name that is no Cell of the network's.
    """

    def __init__(self, network: Cell, micro_size: int, stage_config: Optional[Dict[str, int]] = None,
                 segment_config: Optional[Dict[str, int]] = None) -> None:
        super().__init__(network, micro_size, "micro_size")
        for attribute, config in (("pipeline_stage", stage_config), ("pipeline_segment", segment_config)):
            cells = dict(network.cells_and_names())
            for name, value in (config or {}).items():
                if name not in cells:
                    fail(KeyError, f"{self.cls_name}: '{name}' is no Cell of the network", "name one of cells_and_names()")
                setattr(cells[name], attribute, value)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, device: str = "Ascend", level: int = 0) -> NoReturn:
        """Raises ValueError: the parts of a pipeline are not sharded as a whole."""
        fail(ValueError, f"{self.cls_name}: shard is not for a pipeline", "shard the Cells inside")


class GradAccumulationCell(_InParts):
    """Runs the network on micro_size parts of the batch and adds the outputs up. Raises TypeError or ValueError for another micro_size."""

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(network, micro_size, "micro_size")


class MicroBatchInterleaved(_InParts):
    """Runs the network on interleave_num parts of the batch and adds the outputs up. Raises TypeError or ValueError for another number."""

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(network, interleave_num, "interleave_num")


class _BroadCastCell(Cell):
    """Rank 0's parameters, on every rank; on one rank the values as they are."""

    def __init__(self, params: Any) -> None:
        super().__init__()
        self.params = tuple(params)

    def construct(self) -> Tuple[Tensor, ...]:
        return tuple(_ops.broadcast((p.value(),))[0] for p in self.params)
