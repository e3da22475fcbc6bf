"""An optimizer of which each step trains a part of the parameters."""
from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Sequence

from sindri._check import check_type, fail
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.nn.optim.lars import LARS
from sindri.nn.optim.optimizer import Optimizer

__all__ = ["FreezeOpt"]


def _strategy_of(strategy: Any, variants: int) -> List[int]:
    if strategy is None:
        return list(range(variants))
    check_type("FreezeOpt", "'train_strategy'", strategy, (tuple, list, Tensor))
    if isinstance(strategy, Tensor):
        if strategy.ndim != 1 or strategy.dtype != mstype.int32:
            fail(ValueError, f"a 'train_strategy' must be int32 of one dimension, got {strategy.dtype} of shape {strategy.shape}", "FreezeOpt")
        strategy = strategy.asnumpy().tolist()
    for v in strategy:
        if isinstance(v, bool) or not isinstance(v, int) or not 0 <= v < variants:
            fail(ValueError, f"'train_strategy' has {v!r}, groups are numbered 0 to {variants - 1}", "FreezeOpt")
    if not strategy:
        fail(ValueError, "'train_strategy' is empty", "FreezeOpt", "give the group of each step, as [0, 0, 1]")
    return list(strategy)


class FreezeOpt(Cell):
    """An optimizer with groups of parameters, one of which each step trains (MindSpore: boost.FreezeOpt). Give it to boost.BoostTrainOneStepCell.

    opt: an optimizer. train_parameter_groups: lists of Parameters, or of optimizers' groups; each must be the last parameters of the network, in any order, since
    backward ends at the first that is trained; None: one group of all. train_strategy: the group of each step, again from its beginning behind its end; None: in turn.
    All groups share the one optimizer, its state and its rates (MindSpore makes one for each). Raises TypeError, ValueError; BoostTrainOneStepCell raises ValueError
    for groups that are not the last of its network.
    """

    def __init__(self, opt: Any, train_parameter_groups: Optional[Sequence[Any]] = None, train_strategy: Any = None) -> None:
        super().__init__(auto_prefix=False)
        check_type("FreezeOpt", "'opt'", opt, (Optimizer, LARS))
        if train_strategy is not None and train_parameter_groups is None:
            fail(ValueError, "'train_strategy' is of groups, and 'train_parameter_groups' is None", "FreezeOpt", "give both")
        self.opt = opt
        self.parameters = opt.parameters
        groups = [list(opt.parameters)] if train_parameter_groups is None else list(
            check_type("FreezeOpt", "'train_parameter_groups'", train_parameter_groups, (tuple, list)))
        self.groups = groups
        self.groups_num = len(groups)
        if self.groups_num == 0:
            fail(ValueError, "'train_parameter_groups' is empty", "FreezeOpt")
        self._members = [self._members_of(i, group) for i, group in enumerate(groups)]
        self._strategy = _strategy_of(train_strategy, self.groups_num)
        self.train_strategy = None if train_strategy is None else Tensor(self._strategy, mstype.int32)

    def _members_of(self, number: int, group: Any) -> FrozenSet[int]:
        """The ids of a group's parameters."""
        check_type("FreezeOpt", f"group {number} of 'train_parameter_groups'", group, (tuple, list))
        members = frozenset(id(p) for entry in group for p in (entry.get("params", ()) if isinstance(entry, dict) else [entry]))
        if not members or not members <= {id(p) for p in self.parameters}:
            fail(ValueError, f"group {number} of 'train_parameter_groups' is not of the optimizer's parameters", "FreezeOpt", "give parameters that it updates")
        return members

    def settings_for(self, network: Cell) -> Dict[str, List[int]]:
        """The settings of grad_freeze that train these groups: variants from whole to least by where each begins in the network's order, and the one of each step."""
        own = {id(p) for p in self.parameters}
        order = [id(p) for p in network.trainable_params() if id(p) in own]
        starts = []
        for number, members in enumerate(self._members):
            starts.append(len(order) - len(members))
            if members != set(order[starts[-1]:]):
                fail(ValueError, f"group {number} of 'train_parameter_groups' is not the last parameters of the network", "FreezeOpt",
                     "take the groups of GradientFreeze.split_parameters_groups")
        rising = sorted({0, *starts})
        return {"starts": rising, "strategy": [rising.index(starts[v]) for v in self._strategy]}

    def construct(self, gradients: Any) -> Any:
        fail(RuntimeError, "it does not update by itself", "FreezeOpt", "give it to boost.BoostTrainOneStepCell, or its attribute `opt` the gradients")
