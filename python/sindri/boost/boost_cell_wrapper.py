"""Training cells whose step runs the training algorithms."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from sindri import _core, _uses
from sindri._check import check_type, fail
from sindri._compile import clock
from sindri.boost._freeze_opt import FreezeOpt
from sindri.boost.auto_boost import AutoBoost
from sindri.boost.group_loss_scale import GroupLossScaleManager, GroupStages
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.communication.management import create_group, get_group_size, get_rank
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Identity
from sindri.nn.layer.normalization import _BatchNorm
from sindri.nn.wrap.cell_wrapper import TrainOneStepCell
from sindri.nn.wrap.grad_reducer import DistributedGradReducer
from sindri.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell

__all__ = ["BoostTrainOneStepCell", "BoostTrainOneStepWithLossScaleCell", "averaged_weights"]


_GROUPS: Set[str] = set()  # created by this process


def _states(optimizer: Any, weights: Any) -> List[List[Parameter]]:
    """Returns the optimizer's state for each weight: `moments.<weight>` and similar."""
    own = list(optimizer.get_parameters()) if isinstance(optimizer, Cell) else []
    trained = set(map(id, weights))
    return [[p for p in own if id(p) not in trained and p.name.endswith("." + w.name)] for w in weights]


def _without_groups(optimizer: Any, network: Cell) -> Tuple[Any, Tuple[Tuple[str, Dict[str, Any]], ...]]:
    """Returns the optimizer of a FreezeOpt, and the algorithm that the FreezeOpt requires."""
    if not isinstance(optimizer, FreezeOpt):
        return optimizer, ()
    return optimizer.opt, (("grad_freeze", dict(optimizer.settings_for(network))),)


def _groups_of(optimizer: Any, count: int) -> List[int]:
    """Returns the number of the optimizer's parameter group for each weight."""
    groups = optimizer.__dict__.get("_groups_given") or [list(optimizer.parameters)]
    if len(groups) != count:
        fail(ValueError, f"a GroupLossScaleManager has {count} groups, the optimizer {len(groups)}", "Model", "give both the same number of groups")
    where = {id(p): i for i, group in enumerate(groups) for p in group}
    return [where[id(p)] for p in optimizer.parameters]


def _moving_averages(network: Cell) -> List[Tuple[Any, float]]:
    return [(p, float(cell.momentum)) for _, cell in network.cells_and_names() if isinstance(cell, _BatchNorm)
            for p in (cell.moving_mean, cell.moving_variance)]


class _Boosted(TrainOneStepCell):
    """Common part of both boosted training cells: the C++ step with its algorithms, and the number of the step, which the host keeps.

    A step has several graphs (one collects gradients, one updates). `_boost_variant` is an attribute, so each variant is traced separately.
    """

    _unread_by_graphs = TrainOneStepCell._unread_by_graphs | {"_cell_boost_step"}

    def _attach(self, boost: Optional[AutoBoost], own: Tuple[Tuple[str, Dict[str, Any]], ...] = ()) -> None:
        """own: algorithms in addition to those of `boost`."""
        check_type(self.cls_name, "'boost'", boost, (AutoBoost, type(None)))
        algorithms = [*(boost.algorithms if boost is not None else ()), *own]
        for name, _ in own:
            if [n for n, _ in algorithms].count(name) > 1:
                fail(ValueError, f"{name} is enabled by 'boost' and by the optimizer", self.cls_name, "disable one of them")
        self._boost_step = _core.TrainStep(self._stages.guarded)
        self._boost_step.apply(algorithms, list(self.weights),
                               [(p.name, p) for p in self.network.get_parameters()], _moving_averages(self.network),
                               float(getattr(self.optimizer, "loss_scale", 1.0)), _states(self.optimizer, self.weights),
                               bool(getattr(self.optimizer, "wants_uses", False)), 1.0 if self.mean or not self.reducer_flag else float(self.degree),
                               [p for _, cell in self.network.cells_and_names() for p in getattr(cell, "_grouped_weights", list)()])
        if hasattr(self.optimizer, "remeasures"):
            self._boost_step.set_needs_whole(self.optimizer.remeasures)
        self._reduce_within(self._boost_step.ranks_per_group)
        self._boost_state = ParameterTuple(self._boost_step.state())
        self._boost_variant = 0
        self.__dict__["_cell_boost_step"] = None

    def _reduce_within(self, members: int) -> None:
        """Reduces gradients only among the ranks of a group, if an algorithm combines the groups in another way."""
        if members == 0 or not self.reducer_flag or members == get_group_size():
            return
        self.degree, self.reduces_apart = members, True
        if members == 1:
            self.grad_reducer = Identity()
            return
        first = get_rank() // members * members
        name = f"gradients_of_{members}_from_{first}"
        if name not in _GROUPS:
            create_group(name, list(range(first, first + members)))
            _GROUPS.add(name)
        self.grad_reducer = DistributedGradReducer(self.weights, True, members, group=name)

    @property
    def boost_algorithms(self) -> List[str]:
        """The names of the active algorithms, in order."""
        return list(self._boost_step.algorithms)

    def rank_state(self) -> List[str]:
        """Returns the names of Parameters that differ between ranks: collected gradients, or the optimizer state of the rank's group."""
        return list(self._boost_step.own_state())

    def updates_before(self, step: int) -> int:
        """Returns the number of updates before a step."""
        return step // self._boost_step.steps_per_update

    def boost_columns(self) -> Dict[str, float]:
        """Returns the values that the algorithms report about the training run so far."""
        return dict(self._boost_step.columns(self.__dict__["_cell_boost_step"] or 0))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.boost_algorithms:
            return super().__call__(*args, **kwargs)
        if _core.is_tracing_graph():
            fail(RuntimeError, f"with {', '.join(self.boost_algorithms)} the cell has several graphs and cannot be called inside a compiled graph",
                 self.cls_name, "call it directly")
        if self.__dict__["_cell_boost_step"] is None:
            self.boost_event("begin", 0, 0)
        step = self.__dict__["_cell_boost_step"]
        variant = self._boost_step.variant_at(step)
        if variant != self._boost_variant:
            clock[0] += 1
            self.__dict__["_boost_variant"] = variant
        out = super().__call__(*args, **kwargs)
        self.__dict__["_cell_boost_step"] = step + 1
        return out

    def _run_stages(self, inputs: Tuple[Any, ...]) -> Any:
        stages = self._stages(self, inputs)
        self._boost_step.set_variant(self._boost_variant)
        stages.loss, _ = self._boost_step.run(inputs, stages)  # an algorithm may have computed gradients more than once
        _uses.drop(self.optimizer)
        return stages

    def boost_event(self, name: str, step: int, steps_per_epoch: int, open_data: Any = None, epoch_complete: bool = False) -> None:
        """Passes an event of the training loop to the algorithms. Model calls it; a custom loop calls it at least at the end of each epoch and of the training
        run, if algorithms with bn_batches are to measure.

        Args:
            name (str): 'begin', 'epoch_begin', 'step_begin', 'step_end', 'epoch_end' or 'end'.
            step (int): The number of steps done.
            steps_per_epoch (int): The number of steps in an epoch.
            open_data (Callable, optional): Returns an iterator over the training data. Default: None.
            epoch_complete (bool): Whether this 'step_end' is the last one of the epoch. Default: False.
        """
        if name == "begin":
            self.__dict__["_cell_boost_step"] = step
        self._boost_step.event(name, step, steps_per_epoch, epoch_complete, open_data, self._stages(self, ()))


class BoostTrainOneStepCell(_Boosted):
    """nn.TrainOneStepCell with training algorithms in the step.

    The state of the algorithms is part of the cell's Parameters, so checkpoints of the cell contain it. A call returns the loss also while gradients are
    collected for a later update. With a FreezeOpt as optimizer each step trains the group that its strategy selects.

    Args:
        network (Cell): Returns the loss.
        optimizer (Optimizer, FreezeOpt): Updates the parameters.
        sens (float, optional): The initial gradient of the loss. Default: None, 1.
        boost (AutoBoost, optional): The algorithms. Default: None, none.

    Raises:
        TypeError: If `boost` is another object, and as nn.TrainOneStepCell.
        ValueError: If grad_freeze is enabled together with a FreezeOpt.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.WithLossCell(ms.nn.Dense(1, 1, weight_init="ones", has_bias=False), ms.nn.MSELoss())
        >>> boost = ms.boost.AutoBoost("O1", {"boost": {"mode": "manual", "less_bn": False, "grad_freeze": False, "grad_accumulation": True},
        ...                                   "grad_accumulation": {"grad_accumulation_step": 2}})
        >>> step = ms.boost.BoostTrainOneStepCell(net, ms.nn.SGD(net.trainable_params(), 0.5), boost=boost).set_train()
        >>> x, y = ms.Tensor([[1.0]]), ms.Tensor([[2.0]])
        >>> for _ in range(2):
        ...     loss = step(x, y)
        ...     print(net.trainable_params()[0].asnumpy())
        [[1.]]
        [[2.]]
    """

    def __init__(self, network: Cell, optimizer: Cell, sens: Optional[float] = None, boost: Optional[AutoBoost] = None) -> None:
        optimizer, freeze = _without_groups(optimizer, network)
        super().__init__(network, optimizer, sens)
        self._attach(boost, freeze)


class BoostTrainOneStepWithLossScaleCell(TrainOneStepWithLossScaleCell, _Boosted):
    """nn.TrainOneStepWithLossScaleCell with training algorithms: see BoostTrainOneStepCell.

    If gradients of several steps are collected, an overflow skips the whole group of steps, and the scale adapts at its end.

    Args:
        network (Cell): Returns the loss.
        optimizer (Optimizer, FreezeOpt): Updates the parameters.
        scale_sense (Tensor, Cell, GroupLossScaleManager): The loss scale or its manager.
        boost (AutoBoost, optional): The algorithms. Default: None, none.

    Raises:
        TypeError: If `boost` is another object, and as nn.TrainOneStepWithLossScaleCell.
        ValueError: If grad_freeze is enabled together with a FreezeOpt.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.WithLossCell(ms.nn.Dense(1, 1, weight_init="ones", has_bias=False), ms.nn.MSELoss())
        >>> boost = ms.boost.AutoBoost("O1", {"boost": {"mode": "manual", "less_bn": False, "grad_freeze": False, "grad_accumulation": True},
        ...                                   "grad_accumulation": {"grad_accumulation_step": 2}})
        >>> optimizer = ms.nn.SGD(net.trainable_params(), 0.5)
        >>> step = ms.boost.BoostTrainOneStepWithLossScaleCell(net, optimizer, ms.Tensor(16.0), boost).set_train()
        >>> for _ in range(2):
        ...     loss, overflow, scale = step(ms.Tensor([[1.0]]), ms.Tensor([[2.0]]))
        ...     print(net.trainable_params()[0].asnumpy(), overflow, scale)
        [[1.]] False 16.0
        [[2.]] False 16.0
    """

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Any, boost: Optional[AutoBoost] = None) -> None:
        grouped = isinstance(scale_sense, GroupLossScaleManager)
        optimizer, freeze = _without_groups(optimizer, network)
        super().__init__(network, optimizer, 1.0 if grouped else scale_sense)
        if grouped:
            self._stages = GroupStages
            self.loss_scaling_manager = scale_sense
            own = scale_sense.loss_scale  # belongs to the network that calls it, and adapts when the step is skipped
            self.__dict__["_cell_written"] = tuple(p for p in self.__dict__["_cell_written"] if p is not own)
            self.__dict__["_cell_group_of"] = _groups_of(optimizer, scale_sense.loss_scale_groups)
        self._attach(boost, freeze)


@contextmanager
def averaged_weights(train_network: Any, algorithm: str = "average") -> Iterator[None]:
    """A context manager within which the network of `train_network` has the weights that an algorithm keeps: evaluate, export or save with them.

    Args:
        train_network (BoostTrainOneStepCell): A boosted training cell, for example Model.train_network.
        algorithm (str): The algorithm. Default: "average".

    Raises:
        ValueError: If the algorithm is not active.

    Examples:
        >>> import sindri as ms
        >>> model = ms.Model(net, loss, optimizer, boost_level="O1", boost_config_dict=config)  # doctest: +SKIP
        >>> model.train(10, data)  # doctest: +SKIP
        >>> with ms.boost.averaged_weights(model.train_network):  # doctest: +SKIP
        ...     ms.save_checkpoint(net, "averaged.ckpt")
    """
    if not isinstance(train_network, _Boosted):
        raise ValueError(f"averaged_weights: a {type(train_network).__name__} has no training algorithms | pass Model(boost_level=…).train_network")
    with train_network._boost_step.other_weights(algorithm):
        yield
