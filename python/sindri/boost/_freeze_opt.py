"""An optimizer of which each step trains a part of the parameters."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

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

    opt: an optimizer. train_parameter_groups: lists of Parameters, or of optimizers' groups; each must be the last parameters of the optimizer, in any order, since
    backward ends at the first that is trained; None: one group of all. train_strategy: the group of each step, again from its beginning behind its end; None: in turn.
    All groups share the one optimizer, its state and its rates (MindSpore makes one for each). Raises TypeError, ValueError.
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
        starts = [self._start_of(i, group) for i, group in enumerate(groups)]
        strategy = _strategy_of(train_strategy, self.groups_num)
        rising = sorted({0, *starts})  # variants from whole to least
        self.settings: Dict[str, List[int]] = {"starts": rising, "strategy": [rising.index(starts[v]) for v in strategy]}
        self.train_strategy = None if train_strategy is None else Tensor(strategy, mstype.int32)

    def _start_of(self, number: int, group: Any) -> int:
        check_type("FreezeOpt", f"group {number} of 'train_parameter_groups'", group, (tuple, list))
        members = {id(p) for entry in group for p in (entry.get("params", ()) if isinstance(entry, dict) else [entry])}
        start = len(self.parameters) - len(members)
        if start == len(self.parameters) or members != {id(p) for p in list(self.parameters)[start:]}:
            fail(ValueError, f"group {number} of 'train_parameter_groups' is not the last parameters of the optimizer", "FreezeOpt",
                 "take the groups of GradientFreeze.split_parameters_groups")
        return start

    def construct(self, gradients: Any) -> Any:
        fail(RuntimeError, "it does not update by itself", "FreezeOpt", "give it to boost.BoostTrainOneStepCell, or its attribute `opt` the gradients")
