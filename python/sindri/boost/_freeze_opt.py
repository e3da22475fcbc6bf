"""An optimizer that trains a part of the parameters in each step."""
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
            fail(ValueError, f"a 'train_strategy' must be a one-dimensional int32 Tensor, got {strategy.dtype} of shape {strategy.shape}", "FreezeOpt")
        strategy = strategy.asnumpy().tolist()
    for v in strategy:
        if isinstance(v, bool) or not isinstance(v, int) or not 0 <= v < variants:
            fail(ValueError, f"'train_strategy' has {v!r}, groups are numbered 0 to {variants - 1}", "FreezeOpt")
    if not strategy:
        fail(ValueError, "'train_strategy' is empty", "FreezeOpt", "give the group of each step, for example [0, 0, 1]")
    return list(strategy)


class FreezeOpt(Cell):
    """An optimizer with groups of parameters, of which each step trains one (MindSpore: boost.FreezeOpt). Pass it to boost.BoostTrainOneStepCell.

    All groups share the optimizer, its state and its learning rates; MindSpore creates one optimizer per group.

    Args:
        opt (Optimizer, LARS): The optimizer.
        train_parameter_groups (list, optional): Lists of Parameters, or of the optimizer's groups. Each must consist of the last parameters of the network,
            in any order, because the backward pass ends at the first trained parameter. Default: None, one group of all parameters.
        train_strategy (list[int], Tensor, optional): The group of each step; it repeats from its start. Default: None, the groups in turn.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range. BoostTrainOneStepCell raises it for groups that are not the last parameters of its network.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(4, 3), ms.nn.Dense(3, 2))
        >>> params = net.trainable_params()
        >>> opt = ms.boost.FreezeOpt(ms.nn.Momentum(params, 0.1, 0.9), [params, params[2:]], [0, 1, 1])
        >>> opt.groups_num
        2
    """

    def __init__(self, opt: Any, train_parameter_groups: Optional[Sequence[Any]] = None, train_strategy: Any = None) -> None:
        super().__init__(auto_prefix=False)
        check_type("FreezeOpt", "'opt'", opt, (Optimizer, LARS))
        if train_strategy is not None and train_parameter_groups is None:
            fail(ValueError, "'train_strategy' refers to groups, but 'train_parameter_groups' is None", "FreezeOpt", "give both")
        self.opt = opt
        self.parameters = opt.parameters
        groups = [list(opt.parameters)] if train_parameter_groups is None else list(
            check_type("FreezeOpt", "'train_parameter_groups'", train_parameter_groups, (tuple, list)))
        self.groups = groups
        self.groups_num = len(groups)
        if self.groups_num == 0:
            fail(ValueError, "'train_parameter_groups' must hold at least one group, got none", "FreezeOpt")
        self._members = [self._members_of(i, group) for i, group in enumerate(groups)]
        self._strategy = _strategy_of(train_strategy, self.groups_num)
        self.train_strategy = None if train_strategy is None else Tensor(self._strategy, mstype.int32)

    def _members_of(self, number: int, group: Any) -> FrozenSet[int]:
        """Returns the ids of a group's parameters."""
        check_type("FreezeOpt", f"group {number} of 'train_parameter_groups'", group, (tuple, list))
        members = frozenset(id(p) for entry in group for p in (entry.get("params", ()) if isinstance(entry, dict) else [entry]))
        if not members or not members <= {id(p) for p in self.parameters}:
            fail(ValueError, f"group {number} of 'train_parameter_groups' contains parameters that the optimizer does not update", "FreezeOpt",
                 "give parameters of the optimizer")
        return members

    def settings_for(self, network: Cell) -> Dict[str, List[int]]:
        """Returns the settings of grad_freeze that train these groups.

        Args:
            network (Cell): The network whose Parameters the groups contain.

        Returns:
            dict: `starts`, the first parameter of each variant in the network's order, from all parameters to the fewest, and `strategy`, the variant of each step.

        Raises:
            ValueError: If a group does not consist of the last parameters of the network.
        """
        own = {id(p) for p in self.parameters}
        order = [id(p) for p in network.trainable_params() if id(p) in own]
        starts = []
        for number, members in enumerate(self._members):
            starts.append(len(order) - len(members))
            if members != set(order[starts[-1]:]):
                fail(ValueError, f"group {number} of 'train_parameter_groups' does not consist of the last parameters of the network", "FreezeOpt",
                     "use the groups of GradientFreeze.split_parameters_groups")
        rising = sorted({0, *starts})
        return {"starts": rising, "strategy": [rising.index(starts[v]) for v in self._strategy]}

    def construct(self, gradients: Any) -> Any:
        fail(RuntimeError, "FreezeOpt cannot be called", "FreezeOpt", "pass it to boost.BoostTrainOneStepCell, or call its attribute `opt` with the gradients")
