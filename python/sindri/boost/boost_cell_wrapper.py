"""Training cells whose step algorithms stand in."""
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


_GROUPS: Set[str] = set()  # made by this process


def _states(optimizer: Any, weights: Any) -> List[List[Parameter]]:
    """Of every weight, what the optimizer keeps of it: `moments.<weight>` and the like."""
    own = list(optimizer.get_parameters()) if isinstance(optimizer, Cell) else []
    trained = set(map(id, weights))
    return [[p for p in own if id(p) not in trained and p.name.endswith("." + w.name)] for w in weights]


def _without_groups(optimizer: Any, network: Cell) -> Tuple[Any, Tuple[Tuple[str, Dict[str, Any]], ...]]:
    """The optimizer of a FreezeOpt, and the algorithm that it asks for."""
    if not isinstance(optimizer, FreezeOpt):
        return optimizer, ()
    return optimizer.opt, (("grad_freeze", dict(optimizer.settings_for(network))),)


def _groups_of(optimizer: Any, count: int) -> List[int]:
    """Of every weight the number of the optimizer's parameter group that it is in."""
    groups = optimizer.__dict__.get("_groups_given") or [list(optimizer.parameters)]
    if len(groups) != count:
        fail(ValueError, f"a GroupLossScaleManager has {count} groups, the optimizer {len(groups)}", "Model", "give both as many")
    where = {id(p): i for i, group in enumerate(groups) for p in group}
    return [where[id(p)] for p in optimizer.parameters]


def _moving_averages(network: Cell) -> List[Tuple[Any, float]]:
    return [(p, float(cell.momentum)) for _, cell in network.cells_and_names() if isinstance(cell, _BatchNorm)
            for p in (cell.moving_mean, cell.moving_variance)]


class _Boosted(TrainOneStepCell):
    """What both boosted training cells share: the C++ step with its algorithms, and the number of the step, which the host knows.

    A step has several graphs (one that collects gradients, one that updates): `_boost_variant` is an attribute, so that each is traced by itself.
    """

    _unread_by_graphs = TrainOneStepCell._unread_by_graphs | {"_cell_boost_step"}

    def _attach(self, boost: Optional[AutoBoost], own: Tuple[Tuple[str, Dict[str, Any]], ...] = ()) -> None:
        """own: algorithms beside those of `boost`."""
        check_type(self.cls_name, "'boost'", boost, (AutoBoost, type(None)))
        algorithms = [*(boost.algorithms if boost is not None else ()), *own]
        for name, _ in own:
            if [n for n, _ in algorithms].count(name) > 1:
                fail(ValueError, f"{name} is on by 'boost' and by the optimizer", self.cls_name, "leave one of them out")
        self._boost_step = _core.TrainStep(self._stages.guarded)
        self._boost_step.apply(algorithms, list(self.weights),
                               [(p.name, p) for p in self.network.get_parameters()], _moving_averages(self.network),
                               float(getattr(self.optimizer, "loss_scale", 1.0)), _states(self.optimizer, self.weights),
                               bool(getattr(self.optimizer, "wants_uses", False)), 1.0 if self.mean or not self.reducer_flag else float(self.degree),
                               [p for _, cell in self.network.cells_and_names() for p in getattr(cell, "_grouped_weights", list)()])
        if hasattr(self.optimizer, "measures_anew"):
            self._boost_step.set_needs_whole(self.optimizer.measures_anew)
        self._reduce_within(self._boost_step.ranks_per_group)
        self._boost_state = ParameterTuple(self._boost_step.state())
        self._boost_variant = 0
        self.__dict__["_cell_boost_step"] = None

    def _reduce_within(self, members: int) -> None:
        """Gradients are put together among the ranks of a group only, where an algorithm has its own way between groups."""
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
        """The names of those in force, in the order in which they stand."""
        return list(self._boost_step.algorithms)

    def rank_state(self) -> List[str]:
        """Names of Parameters that each rank has for itself: what it collected, or its group's optimizer state."""
        return list(self._boost_step.own_state())

    def updates_before(self, step: int) -> int:
        """How many updates come before the step of that number."""
        return step // self._boost_step.steps_per_update

    def boost_columns(self) -> Dict[str, float]:
        """What the algorithms say of the training so far."""
        return dict(self._boost_step.columns(self.__dict__["_cell_boost_step"] or 0))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.boost_algorithms:
            return super().__call__(*args, **kwargs)
        if _core.is_tracing_graph():
            fail(RuntimeError, f"with {', '.join(self.boost_algorithms)} it has several graphs, this is inside one", self.cls_name, "call it by itself")
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
        stages.loss, _ = self._boost_step.run(inputs, stages)  # an algorithm may have asked for gradients more than once
        _uses.drop(self.optimizer)
        return stages

    def boost_event(self, name: str, step: int, steps_per_epoch: int, open_data: Any = None, epoch_complete: bool = False) -> None:
        """Tells the algorithms of an event of the training loop ('begin', 'epoch_begin', 'step_begin', 'step_end', 'epoch_end', 'end'), `step` steps
        into the training. Model does; a loop of one's own calls it at least at the end of epochs and of the training, if algorithms with
        bn_batches are to measure: open_data() gives an iterator over the training data. epoch_complete: this step_end is the epoch's last."""
        if name == "begin":
            self.__dict__["_cell_boost_step"] = step
        self._boost_step.event(name, step, steps_per_epoch, epoch_complete, open_data, self._stages(self, ()))


class BoostTrainOneStepCell(_Boosted):
    """As nn.TrainOneStepCell, with the algorithms of `boost` (an AutoBoost; None: none) in the step. Their state is among the cell's Parameters, so
    checkpoints of the cell hold it. While gradients are collected for a later update, a call returns the loss all the same. With a FreezeOpt as optimizer each
    step trains the group that its strategy names. Raises as nn.TrainOneStepCell, TypeError for another boost, ValueError for grad_freeze beside a FreezeOpt."""

    def __init__(self, network: Cell, optimizer: Cell, sens: Optional[float] = None, boost: Optional[AutoBoost] = None) -> None:
        optimizer, freeze = _without_groups(optimizer, network)
        super().__init__(network, optimizer, sens)
        self._attach(boost, freeze)


class BoostTrainOneStepWithLossScaleCell(TrainOneStepWithLossScaleCell, _Boosted):
    """As nn.TrainOneStepWithLossScaleCell, with algorithms: see BoostTrainOneStepCell. A group of steps whose gradients are collected is left out as
    a whole, and the scale adapts at its end."""

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Any, boost: Optional[AutoBoost] = None) -> None:
        grouped = isinstance(scale_sense, GroupLossScaleManager)
        optimizer, freeze = _without_groups(optimizer, network)
        super().__init__(network, optimizer, 1.0 if grouped else scale_sense)
        if grouped:
            self._stages = GroupStages
            self.loss_scaling_manager = scale_sense
            own = scale_sense.loss_scale  # is a part of the network that calls it, and adapts where the step is left out
            self.__dict__["_cell_written"] = tuple(p for p in self.__dict__["_cell_written"] if p is not own)
            self.__dict__["_cell_group_of"] = _groups_of(optimizer, scale_sense.loss_scale_groups)
        self._attach(boost, freeze)


@contextmanager
def averaged_weights(train_network: Any, algorithm: str = "average") -> Iterator[None]:
    """While entered, the network that `train_network` trains has the weights that the algorithm keeps: evaluate, export or save with them.
    Raises ValueError where no such algorithm is in force."""
    if not isinstance(train_network, _Boosted):
        raise ValueError(f"averaged_weights: a {type(train_network).__name__} has no training algorithms | give Model(boost_level=…).train_network")
    with train_network._boost_step.other_weights(algorithm):
        yield
