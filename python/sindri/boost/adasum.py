"""Adasum of the weight changes of groups of ranks."""
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
    """Reduces the weight changes of groups of ranks by Adasum (MindSpore: boost.AdaSum; Maleki et al. 2021).

    Called with the changes (old weights less new ones), the parameters and the old weights, it sets each parameter to its old value less the Adasum of its
    changes, and returns the Adasum. Model applies it automatically with adasum in boost_config_dict.

    Args:
        rank (int): This rank; only checked, since the process group knows it.
        device_number (int): The number of ranks in a group; the ranks are consecutive.
        group_number (int): The number of groups, a power of two.
        parameter_tuple (Sequence[Parameter]): The parameters.

    Raises:
        TypeError: If a number is not an int.
        ValueError: If a number is out of range, or groups and ranks do not match the world size.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        >>> changes = ms.boost.AdaSum(0, 1, 1, (w,))((ms.Tensor([0.5, 0.5]),), (w,), (ms.Tensor([1.0, 2.0]),))
        >>> print(w.asnumpy())
        [0.5 1.5]
    """

    def __init__(self, rank: int, device_number: int, group_number: int, parameter_tuple: Sequence[Parameter]) -> None:
        super().__init__(auto_prefix=False)
        check_int("AdaSum", "rank", rank, 0)
        self._members = check_int("AdaSum", "device_number", device_number, 1)
        groups = check_int("AdaSum", "group_number", group_number, 1)
        size = get_group_size() if GlobalComm.INITED else 1
        if self._members * groups != size:
            fail(ValueError, f"AdaSum: {groups} groups of {device_number} ranks need {groups * device_number} ranks, got {size}")
        self._parameters = tuple(parameter_tuple)

    def construct(self, delta_weights: Tuple[Tensor, ...], parameters: Tuple[Parameter, ...], old_parameters: Tuple[Any, ...]) -> Tuple[Tensor, ...]:
        sums = _ops.adaptive_sum(tuple(delta_weights), self._members)[:-1]
        for p, old, change in zip(parameters, old_parameters, sums):
            p.assign(_ops.sub(old, change))
        return tuple(sums)
