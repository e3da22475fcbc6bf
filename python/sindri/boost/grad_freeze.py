"""The groups and the schedule of gradient freezing."""
from __future__ import annotations

from typing import Any, List

from sindri import _core
from sindri._check import check_choice, check_float, check_int

__all__ = ["GradientFreeze"]


class GradientFreeze:
    """Which parameters each variant of a training step trains, and which variant each step is (MindSpore: boost.GradientFreeze).

    param_groups: variants; variant 0 trains everything. freeze_type: 0 whole steps in a row, then variants 1, 2, …; 1 drawn. freeze_p: share of whole steps.
    total_steps: length of the schedule. To train so, switch grad_freeze on in Model's boost_config_dict. Raises TypeError, ValueError.
    """

    def __init__(self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int) -> None:
        self._param_groups = check_int("GradientFreeze", "param_groups", param_groups, 1)
        self._freeze_type = check_choice("GradientFreeze", "freeze_type", freeze_type, (0, 1))
        self._freeze_p = check_float("GradientFreeze", "freeze_p", freeze_p, above=0, below=1)
        self._total_steps = check_int("GradientFreeze", "total_steps", total_steps, 1)

    def split_parameters_groups(self, net: Any, freeze_para_groups_number: int) -> List[List[Any]]:
        """The parameters of every variant: all, then without leading units."""
        params = list(net.trainable_params())
        starts = _core.freeze_starts([p.name for p in params], check_int("GradientFreeze", "freeze_para_groups_number", freeze_para_groups_number, 1))
        return [params[start:] for start in starts]

    def generate_freeze_index_sequence(self, parameter_groups_number: int, freeze_strategy: int, freeze_p: float, total_steps: int, seed: int = 0) -> List[int]:
        """The variant of each step, int(1.01·total_steps) of them. The same seed draws the same."""
        return _core.freeze_sequence(parameter_groups_number, check_choice("GradientFreeze", "freeze_strategy", freeze_strategy, (0, 1)), freeze_p, total_steps, seed)
