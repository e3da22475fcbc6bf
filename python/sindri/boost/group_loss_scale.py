"""A separate loss scale for each group of layers."""
from __future__ import annotations

import math
from typing import Any, Collection, FrozenSet, List, Optional, Sequence, Tuple, Union

from sindri import _core, context
from sindri._check import check_int, fail, is_number
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.nn.wrap.loss_scale import ScaledStages
from sindri.train.loss_scale_manager import LossScaleManager

__all__ = ["GroupLossScaleManager"]

_ops = _core.ops
_SMALLER, _LARGER = 2.0 ** -0.5, 2.0 ** 0.001


class _Rescale(Cell):
    """The identity, whose gradient is multiplied by `factor`."""

    def construct(self, x: Tensor, factor: Tensor) -> Tensor:
        return x * 1

    def bprop(self, x: Tensor, factor: Tensor, out: Tensor, dout: Tensor) -> Tuple[Tensor, Tensor]:
        return _ops.mul(dout, _ops.cast(factor, dout.dtype)), _ops.zeros_like(factor)


class GroupLossScaleManager(Cell, LossScaleManager):
    """Loss scales S_1 … S_n for n groups of layers, ordered from the input to the loss (MindSpore: boost.GroupLossScaleManager). Group i trains the parameters
    of the optimizer's i-th parameter group.

    The network calls the manager between groups: x = manager(x, l1, l2) returns x and multiplies its gradient by S_l1 / S_l2, where S_0 and S_(n+1) are 1. Call
    it with (0, 1) at the input, (1, 2) between the first two groups, and (n, n + 1) after the last. After each step the scale of every group that overflowed is
    divided by √2, and the others grow by 2^(1/1000). An overflow on any rank skips the update. Gradients are divided by the scales that they were computed
    with.

    Use it with Model(boost_level='O1', boost_config_dict={'boost': {'mode': 'manual', 'loss_scale_group': True}}, loss_scale_manager=manager). State:
    `loss_scale` [n].

    Args:
        init_loss_scale (float, Sequence[float]): The initial scale of all groups, or one for each.
        loss_scale_groups (int): The number of groups.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If a scale is not positive and finite, or the number of scales differs from the number of groups.

    Examples:
        >>> import sindri as ms
        >>> ms.boost.GroupLossScaleManager(8.0, 2).get_loss_scale_status()
        [8.0, 8.0]
    """

    def __init__(self, init_loss_scale: Union[float, Sequence[float]], loss_scale_groups: int) -> None:
        super().__init__()
        self.loss_scale_groups = check_int("GroupLossScaleManager", "loss_scale_groups", loss_scale_groups, 1)
        values: Any = [init_loss_scale] * loss_scale_groups if is_number(init_loss_scale) else init_loss_scale
        if not isinstance(values, (list, tuple)) or not all(is_number(v) for v in values):
            fail(TypeError, f"GroupLossScaleManager: init_loss_scale must be a number or a list of them, got {init_loss_scale!r}")
        if len(values) != loss_scale_groups or not all(0 < v < math.inf for v in values):
            fail(ValueError, f"GroupLossScaleManager: init_loss_scale must be {loss_scale_groups} finite numbers above 0, got {init_loss_scale!r}")
        self.loss_scale = Parameter(Tensor([float(v) for v in values], mstype.float32), name="loss_scale", requires_grad=False)
        self.rescale = _Rescale()

    def _scale(self, number: int) -> Tensor:
        if not 0 <= number <= self.loss_scale_groups + 1:
            fail(ValueError, f"GroupLossScaleManager: a group must be from 0 to {self.loss_scale_groups + 1}, got {number}")
        if number in (0, self.loss_scale_groups + 1):
            return Tensor(1.0, mstype.float32)
        return _ops.reshape(_ops.slice(self.loss_scale, (number - 1,), (number,)), ())

    def construct(self, x: Tensor, layer1: int, layer2: int) -> Tensor:
        return self.rescale(x, _ops.div(self._scale(layer1), self._scale(layer2)))

    def get_loss_scale(self) -> float:
        """Returns 1: the network's calls of the manager scale the gradients."""
        return 1.0

    def get_loss_scale_status(self) -> List[float]:
        """Returns the scales of the groups."""
        return [float(v) for v in self.loss_scale.asnumpy()]

    def get_drop_overflow_update(self) -> bool:
        """Returns True: an overflow skips the update."""
        return True

    def update_loss_scale(self, overflow: Any, trained: Optional[Collection[int]] = None) -> None:
        """Adapts the scales after a step.

        Args:
            overflow (Tensor): For each group whether it overflowed, bool [n].
            trained (Collection[int], optional): The groups with gradients; other groups keep their scales. Default: None, all.
        """
        smaller, larger = (_ops.mul(self.loss_scale, factor) for factor in (_SMALLER, _LARGER))
        scales = _ops.where(overflow, smaller, larger)
        rest = [trained is not None and i not in trained for i in range(self.loss_scale_groups)]
        if any(rest):
            scales = _ops.where(Tensor(rest), self.loss_scale, scales)
        self.loss_scale.assign(scales)

    def get_update_cell(self) -> Cell:
        """Returns the manager itself."""
        return self


class GroupStages(ScaledStages):
    """The stages of a step with a loss scale for each of the optimizer's groups."""

    trained_groups: FrozenSet[int] = frozenset()  # of this step

    def groups(self) -> List[int]:
        """Returns the group number of each weight, from 0."""
        return self.cell.__dict__["_cell_group_of"]

    def gradients(self, trained: Optional[Sequence[int]] = None) -> Tuple[Any, Tuple[Tensor, ...], Any]:
        cell = self.cell
        self.train_only(trained)
        groups = [group for i, group in enumerate(self.groups()) if trained is None or i in trained]
        self.trained_groups = frozenset(groups)
        self.loss = cell.network(*self.inputs)
        self.grads = cell.grad(cell.network, self.weights)(*self.inputs, _ops.ones_like(self.loss))
        manager = cell.loss_scaling_manager
        self.scale = manager.loss_scale
        inverse = [_ops.reciprocal(manager._scale(i + 1)) for i in range(manager.loss_scale_groups)]
        self.grads = tuple(_ops.mul(g, _ops.cast(inverse[i], g.dtype)) for g, i in zip(self.grads, groups))
        return self.loss, self.grads, None

    def reduce(self, grads: Tuple[Tensor, ...], inverse: Any) -> Tuple[Tuple[Tensor, ...], Any]:
        return self.cell.grad_reducer(grads), inverse

    def guard(self, grads: Tuple[Tensor, ...], decides: bool) -> Tensor:
        count = self.cell.loss_scaling_manager.loss_scale_groups
        bad = []
        for i in range(count):
            own = [g for g, group in zip(grads, self.groups()) if group == i]
            bad.append(_ops.logical_not(_ops.all_finite(own)) if own else Tensor(False))
        flags = _ops.stack(bad, 0)
        if self.cell.reducer_flag and context.get_auto_parallel_context("parallel_mode") != context.ParallelMode.STAND_ALONE:
            flags = _ops.cast(_ops.all_reduce((_ops.cast(flags, mstype.int32),), op="max", what="skip flag")[0], mstype.bool_)
        if decides:
            self.cell.loss_scaling_manager.update_loss_scale(flags, self.trained_groups)
        self.overflow = _ops.any(flags)
        return self.overflow

    def update(self, grads: Tuple[Tensor, ...], inverse: Any, skip: Any) -> None:
        self.cell.optimizer._apply_unless(skip, grads)
