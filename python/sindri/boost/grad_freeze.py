"""Groups and schedule of gradient freezing, and training with them."""
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
    """Which parameters each variant of a training step trains, and the variant of each step (MindSpore: boost.GradientFreeze).

    To train with it, enable grad_freeze in Model's boost_config_dict, or pass the optimizer of freeze_generate to boost.BoostTrainOneStepCell.

    Args:
        param_groups (int): The number of variants; variant 0 trains everything.
        freeze_type (int): 0: whole steps in a row, then variants 1, 2, …; 1: random variants.
        freeze_p (float): The fraction of steps that train everything, within (0, 1).
        total_steps (int): The length of the schedule.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import sindri as ms
        >>> freeze = ms.boost.GradientFreeze(3, 0, 0.5, 10)
        >>> freeze.generate_freeze_index_sequence(3, 0, 0.5, 10)
        [0, 0, 1, 2, 0, 0, 1, 2, 0, 0]
    """

    def __init__(self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int) -> None:
        self._param_groups = check_int("GradientFreeze", "param_groups", param_groups, 1)
        self._freeze_type = check_choice("GradientFreeze", "freeze_type", freeze_type, (0, 1))
        self._freeze_p = check_float("GradientFreeze", "freeze_p", freeze_p, above=0, below=1)
        self._total_steps = check_int("GradientFreeze", "total_steps", total_steps, 1)

    def split_parameters_groups(self, net: Any, freeze_para_groups_number: int) -> List[List[Any]]:
        """Returns the parameters of every variant: all of them, then without leading units.

        Args:
            net (Cell): The network.
            freeze_para_groups_number (int): The number of variants.

        Returns:
            list[list[Parameter]].

        Raises:
            TypeError: If the number is not an int.
            ValueError: If the number is below 1.
        """
        return self._split(list(net.trainable_params()), freeze_para_groups_number)

    @staticmethod
    def _split(params: List[Any], freeze_para_groups_number: int) -> List[List[Any]]:
        starts = _core.freeze_starts([p.name for p in params], check_int("GradientFreeze", "freeze_para_groups_number", freeze_para_groups_number, 1))
        return [params[start:] for start in starts]

    def generate_freeze_index_sequence(self, parameter_groups_number: int, freeze_strategy: int, freeze_p: float, total_steps: int, seed: int = 0) -> List[int]:
        """Returns the variant of each step, int(1.01·total_steps) of them. Equal seeds yield equal sequences.

        Args:
            parameter_groups_number (int): The number of variants.
            freeze_strategy (int): As `freeze_type`.
            freeze_p (float): As of the constructor.
            total_steps (int): The number of steps.
            seed (int): The seed of random variants. Default: 0.

        Returns:
            list[int].

        Raises:
            ValueError: If an argument is out of range.
        """
        return _core.freeze_sequence(parameter_groups_number, check_choice("GradientFreeze", "freeze_strategy", freeze_strategy, (0, 1)), freeze_p, total_steps, seed)

    def freeze_generate(self, network: Cell, optimizer: Any) -> Tuple[Cell, FreezeOpt]:
        """Returns the network and an optimizer with this schedule, for boost.BoostTrainOneStepCell.

        Args:
            network (Cell): The network.
            optimizer (Optimizer, LARS): Its optimizer.

        Returns:
            tuple[Cell, FreezeOpt].

        Raises:
            TypeError: As FreezeOpt.
            ValueError: As FreezeOpt.
        """
        trained = set(map(id, optimizer.parameters))
        groups = self._split([p for p in network.trainable_params() if id(p) in trained], self._param_groups)
        given = (optimizer.opt if isinstance(optimizer, LARS) else optimizer).init_params["params"]
        strategy = self.generate_freeze_index_sequence(self._param_groups, self._freeze_type, self._freeze_p, self._total_steps)
        return network, FreezeOpt(optimizer, [ParameterProcess.generate_group_params(g, given) for g in groups], strategy)


def freeze_cell(reducer_flag: bool, network: Cell, optimizer: FreezeOpt, sens: float, grad: Any, use_grad_accumulation: bool, mean: Optional[bool] = None,
                degree: Optional[int] = None, max_accumulation_step: int = 1) -> List[BoostTrainOneStepCell]:
    """Creates one training cell for each group of a FreezeOpt (MindSpore: boost.freeze_cell). All cells share the optimizer and its state.

    Args:
        reducer_flag (bool): Whether gradients are reduced over ranks.
        network (Cell): Returns the loss.
        optimizer (FreezeOpt): The optimizer with groups.
        sens (float): The initial gradient of the loss.
        grad (GradOperation): Only checked: cells always compute gradients of their parameters.
        use_grad_accumulation (bool): Whether each cell updates with the mean gradient of `max_accumulation_step` of its steps.
        mean (bool, optional): Whether to average over ranks. Default: None, as the parallel context is set.
        degree (int, optional): The number of ranks to reduce over. Default: None, all.
        max_accumulation_step (int): The number of steps per update. Default: 1.

    Returns:
        list[BoostTrainOneStepCell].

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(1, 1, "ones", has_bias=False), ms.nn.Dense(1, 1, "ones", has_bias=False))
        >>> loss = ms.nn.WithLossCell(net, ms.nn.MSELoss())
        >>> optimizer, params = ms.nn.SGD(net.trainable_params(), 0.25), net.trainable_params()
        >>> grad = ms.ops.GradOperation(get_by_list=True, sens_param=True)
        >>> cells = ms.boost.freeze_cell(False, loss, ms.boost.FreezeOpt(optimizer, [params, params[1:]]), 1.0, grad, False)
        >>> _ = cells[1].set_train()(ms.Tensor([[1.0]]), ms.Tensor([[2.0]]))  # trains the last layer alone
        >>> print([p.asnumpy().item() for p in params])
        [1.0, 1.5]
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
