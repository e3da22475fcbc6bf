"""Reduction of gradients over ranks."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication.management import GlobalComm, _name_of, get_group_size
from sindri._check import fail, is_int
from sindri.nn.cell import Cell

__all__ = ["DistributedGradReducer", "PipelineGradReducer"]

_ops = _core.ops


def _group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Returns the number of ranks of a group; 1 before communication is set up."""
    return get_group_size(group) if GlobalComm.INITED else 1


def device_count(who: str) -> int:
    """Returns device_num of the auto-parallel context. Raises RuntimeError if communication was set up with another number of processes."""
    wanted, ranks = context.get_auto_parallel_context("device_num"), _group_size()
    if GlobalComm.INITED and wanted != ranks:
        fail(RuntimeError, f"{who}: device_num is {wanted}, the group has {ranks} process(es)", "leave device_num out, or start that many processes")
    return wanted


class DistributedGradReducer(Cell):
    """Sums gradients over the ranks of a group and, with `mean`, divides them by `degree`; called with a tuple of gradients.

    16-bit gradients are summed in float32. Gradients are reduced in buckets: those of the auto-parallel context (all_reduce_fusion_config,
    comm_fusion) at the time of creation, otherwise by size. If the number of ranks is a power of two, sums are formed along one tree in every
    layout; for other numbers SINDRI_DIST_STRICT_ORDER=false must permit another order.

    Args:
        parameters (list): The Parameters of the gradients.
        mean (bool): Whether to divide by `degree`. Default: None, gradients_mean of the auto-parallel context.
        degree (int): The divisor. Default: None, the number of ranks.
        fusion_type (int): Groups gradients in MindSpore; stored without effect. Default: 1.
        group (str): The group of ranks. Default: "hccl_world_group".

    Raises:
        ValueError: If `degree` is not an int above 0.
        RuntimeError: If `degree` is above 1 and communication.init() was not called.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(2, 1, has_bias=False)
        >>> print(ms.nn.DistributedGradReducer(net.trainable_params())((ms.Tensor([[1.0, 2.0]]),))[0])
        [[1. 2.]]
    """

    def __init__(self, parameters: Sequence[Parameter], mean: Optional[bool] = None, degree: Optional[int] = None, fusion_type: int = 1,
                 group: str = "hccl_world_group") -> None:
        super().__init__(auto_prefix=False)
        if degree is not None and (not is_int(degree) or degree <= 0):
            fail(ValueError, f"DistributedGradReducer: degree must be an int above 0, got {degree!r}")
        ranks = _group_size(group)
        if degree is not None and degree > 1 and not GlobalComm.INITED:
            # Without a sum over ranks, the mean would be one rank's gradient divided by their number.
            fail(RuntimeError, f"DistributedGradReducer: degree is {degree}, but communication is not set up",
                 "call communication.init() first, or leave device_num out")
        self.mean = context.get_auto_parallel_context("gradients_mean") if mean is None else bool(mean)
        self._degree = ranks if degree is None else int(degree)
        self.degree = Tensor(1.0 / self._degree, mstype.float32)
        self.fusion_type, self.group = fusion_type, group
        self.allreduce_filter = tuple(p.layerwise_parallel is False for p in parameters)
        self._reduces = ranks > 1
        self._even = self._degree == ranks  # the requested mean is that over the ranks
        self._fusion, self._bucket_mb = context._fusion(group)

    def construct(self, grads: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        if self._reduces:
            grads = self._sum(grads)
        if not self.mean or self._degree == 1 or self._reduces and self._even:
            return grads
        factor = 1.0 / self._degree
        return tuple(_ops.mul(g, factor) if reduces else g for g, reduces in zip(grads, self.allreduce_filter))

    def _sum(self, grads: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Sums over ranks, or averages if that is the requested mean."""
        out: List[Tensor] = list(grads)
        which = [i for i, reduces in enumerate(self.allreduce_filter) if reduces]
        reduced = _core.comm.reduce_gradients([grads[i] for i in which], self.mean and self._even, self._fusion, self._bucket_mb, _name_of(self.group))
        for i, g in zip(which, reduced):
            out[i] = g
        return tuple(out)


class PipelineGradReducer(Cell):
    """Reduces gradients over ranks, if there are several, and divides them by `scale_sense`; called with a tuple of gradients.

    Args:
        parameters (list): The Parameters of the gradients.
        scale_sense (float): The divisor. Default: 1.0.
        opt_shard (bool): Stored without effect. Default: None.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(2, 1, has_bias=False)
        >>> print(ms.nn.PipelineGradReducer(net.trainable_params(), 2.0)((ms.Tensor([[1.0, 2.0]]),))[0])
        [[0.5 1. ]]
    """

    def __init__(self, parameters: Any, scale_sense: float = 1.0, opt_shard: Optional[bool] = None) -> None:
        super().__init__(auto_prefix=False)
        self.scale_sense = Parameter(Tensor(scale_sense, mstype.float32), name="scale_sense")
        self.opt_shard = opt_shard
        self.grad_reducer = DistributedGradReducer(parameters)

    def construct(self, grads: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        inverse = _ops.reciprocal(self.scale_sense)
        return tuple(_ops.mul(g, _ops.cast(inverse, g.dtype)) for g in self.grad_reducer(grads))
