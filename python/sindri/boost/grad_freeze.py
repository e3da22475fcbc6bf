"""The groups and the schedule of gradient freezing, and training with them."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

from sindri import _core
from sindri._check import check_bool, check_choice, check_float, check_int, check_type
from sindri.boost._freeze_opt import FreezeOpt
from sindri.boost.auto_boost import AutoBoost
from sindri.boost.base import ParameterProcess
from sindri.boost.boost_cell_wrapper import BoostTrainOneStepCell
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Identity
from sindri.nn.optim.lars import LARS
from sindri.nn.wrap.grad_reducer import DistributedGradReducer, device_count
from sindri.ops.composite.grad import GradOperation

__all__ = ["GradientFreeze", "FreezeOpt", "freeze_cell"]


class GradientFreeze:
    """Which parameters each variant of a training step trains, and which variant each step is (MindSpore: boost.GradientFreeze).

    param_groups: variants; variant 0 trains everything. freeze_type: 0 whole steps in a row, then variants 1, 2, …; 1 drawn. freeze_p: share of whole steps.
    total_steps: length of the schedule. To train so, switch grad_freeze on in Model's boost_config_dict, or give the optimizer of
    freeze_generate to boost.BoostTrainOneStepCell. Raises TypeError, ValueError.
    """

    def __init__(self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int) -> None:
        self._param_groups = check_int("GradientFreeze", "param_groups", param_groups, 1)
        self._freeze_type = check_choice("GradientFreeze", "freeze_type", freeze_type, (0, 1))
        self._freeze_p = check_float("GradientFreeze", "freeze_p", freeze_p, above=0, below=1)
        self._total_steps = check_int("GradientFreeze", "total_steps", total_steps, 1)

    def split_parameters_groups(self, net: Any, freeze_para_groups_number: int) -> List[List[Any]]:
        """The parameters of every variant: all, then without leading units."""
        return self._split(list(net.trainable_params()), freeze_para_groups_number)

    @staticmethod
    def _split(params: List[Any], freeze_para_groups_number: int) -> List[List[Any]]:
        starts = _core.freeze_starts([p.name for p in params], check_int("GradientFreeze", "freeze_para_groups_number", freeze_para_groups_number, 1))
        return [params[start:] for start in starts]

    def generate_freeze_index_sequence(self, parameter_groups_number: int, freeze_strategy: int, freeze_p: float, total_steps: int, seed: int = 0) -> List[int]:
        """The variant of each step, int(1.01·total_steps) of them. The same seed draws the same."""
        return _core.freeze_sequence(parameter_groups_number, check_choice("GradientFreeze", "freeze_strategy", freeze_strategy, (0, 1)), freeze_p, total_steps, seed)

    def freeze_generate(self, network: Cell, optimizer: Any) -> Tuple[Cell, FreezeOpt]:
        """The network, and the optimizer with this schedule: for boost.BoostTrainOneStepCell. Raises as FreezeOpt."""
        trained = set(map(id, optimizer.parameters))
        groups = self._split([p for p in network.trainable_params() if id(p) in trained], self._param_groups)
        given = (optimizer.opt if isinstance(optimizer, LARS) else optimizer).init_params["params"]
        strategy = self.generate_freeze_index_sequence(self._param_groups, self._freeze_type, self._freeze_p, self._total_steps)
        return network, FreezeOpt(optimizer, [ParameterProcess.generate_group_params(g, given) for g in groups], strategy)


def freeze_cell(reducer_flag: bool, network: Cell, optimizer: FreezeOpt, sens: float, grad: Any, use_grad_accumulation: bool, mean: Optional[bool] = None,
                degree: Optional[int] = None, max_accumulation_step: int = 1) -> List[BoostTrainOneStepCell]:
    """For each group of the FreezeOpt a training cell that trains it (MindSpore: boost.freeze_cell); all share the one optimizer and its state.

    network: returns the loss. sens: what backward begins with. reducer_flag: whether gradients are put together over ranks, as mean (where None, as the parallel
    context says) of `degree` of them (None: all). use_grad_accumulation: each cell updates with the mean of max_accumulation_step of its steps. grad: a GradOperation;
    its flags have no effect, since cells take gradients of their parameters by themselves. Raises TypeError, ValueError.
    """
    check_type("freeze_cell", "'optimizer'", optimizer, FreezeOpt)
    check_type("freeze_cell", "'grad'", grad, GradOperation)
    check_bool("freeze_cell", "'reducer_flag'", reducer_flag)
    check_bool("freeze_cell", "'use_grad_accumulation'", use_grad_accumulation)
    steps = check_int("freeze_cell", "max_accumulation_step", max_accumulation_step, 1) if use_grad_accumulation else 1
    boost = None
    if steps > 1:
        off = dict.fromkeys(("less_bn", "grad_freeze"), False)
        boost = AutoBoost("O1", {"boost": {"mode": "manual", **off, "grad_accumulation": True}, "grad_accumulation": {"grad_accumulation_step": steps}})
    cells = []
    for group in optimizer.groups:
        cell = BoostTrainOneStepCell(network, FreezeOpt(optimizer.opt, [group], [0]), sens, boost)
        if not reducer_flag:
            cell.reducer_flag, cell.grad_reducer = False, Identity()
        else:
            cell.reducer_flag = True
            cell.mean = bool(cell.mean if mean is None else mean)
            cell.degree = device_count("freeze_cell") if degree is None else degree
            cell.grad_reducer = DistributedGradReducer(cell.weights, cell.mean, cell.degree)
        cells.append(cell)
    return cells
