"""Adasum of what groups of ranks have each."""
from __future__ import annotations

from typing import Any, Sequence, Tuple

from sindri import _core
from sindri._check import check_int, fail
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication.management import GlobalComm, get_group_size
from sindri.nn.cell import Cell

__all__ = ["AdaSum"]

_ops = _core.ops


class AdaSum(Cell):
    """Groups of ranks put the changes of their weights together by Adasum (MindSpore: boost.AdaSum; Maleki et al. 2021).

    rank: this rank, which is known and checked only. device_number: ranks of a group, which follow each other. group_number: groups, a power of two.
    parameter_tuple: the parameters. Called with the changes (old weights less new ones), the parameters and the old weights: sets each parameter to its old value less the
    Adasum of its changes, and returns these. Model's boost_config_dict (adasum) does all of it. Raises ValueError for numbers that do not make up the world.
    """

    def __init__(self, rank: int, device_number: int, group_number: int, parameter_tuple: Sequence[Parameter]) -> None:
        super().__init__(auto_prefix=False)
        check_int("AdaSum", "rank", rank, 0)
        self._members = check_int("AdaSum", "device_number", device_number, 1)
        groups = check_int("AdaSum", "group_number", group_number, 1)
        size = get_group_size() if GlobalComm.INITED else 1
        if self._members * groups != size:
            fail(ValueError, f"AdaSum: {groups} groups of {device_number} are {groups * device_number} ranks, there are {size}")
        self._parameters = tuple(parameter_tuple)

    def construct(self, delta_weights: Tuple[Tensor, ...], parameters: Tuple[Parameter, ...], old_parameters: Tuple[Any, ...]) -> Tuple[Tensor, ...]:
        sums = _ops.adaptive_sum(tuple(delta_weights), self._members)[:-1]
        for p, old, change in zip(parameters, old_parameters, sums):
            p.assign(_ops.sub(old, change))
        return tuple(sums)
