"""Collective primitives. The process group is one rank so far, where each of them is what it is for a world of one: mostly the identity.
A group of more ranks raises NotYetError when the primitive is called."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

from sindri._check import check_choice, fail, is_int
from sindri.common.not_yet import not_yet
from sindri.communication.management import GlobalComm, get_group_size
from sindri.ops._util import Tensor, core
from sindri.ops.primitive import REQUIRED, Primitive, primitive

__all__ = ["ReduceOp", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "CollectiveScatter", "CollectiveGather", "Barrier", "Send",
           "Receive",
           "AlltoAll", "AllSwap", "NeighborExchange"]

_WORLD = GlobalComm.WORLD_COMM_GROUP


class ReduceOp:
    """How values of several ranks become one."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


_OPS = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD)


class _Collective(Primitive):
    """Base of the collectives: checks `op`, `group` and ranks when it is made, and the size of the group when it is called."""

    def __init_subclass__(cls):
        made = cls.__init__

        def __init__(self, *args, **kwargs):
            made(self, *args, **kwargs)
            where = f"ops.{self.name}"
            group = getattr(self, "group", _WORLD)
            if not isinstance(group, str):
                fail(TypeError, f"group: expected a str, got {group!r}", where)
            op = getattr(self, "op", ReduceOp.SUM)
            if not isinstance(op, str):
                fail(TypeError, f"op: expected a str, got {op!r}", where, "use one of ReduceOp")
            check_choice(where, "op", op, _OPS)
            for key in ("root_rank", "dest_rank", "src_rank"):
                if hasattr(self, key) and not is_int(getattr(self, key)):
                    fail(TypeError, f"{key}: expected an int, got {getattr(self, key)!r}", where)
            self.rank_size = 1

        __init__.__signature__ = inspect.signature(made)
        cls.__init__ = __init__

    def __call__(self, *args: Any) -> Any:
        group = getattr(self, "group", _WORLD)
        if GlobalComm.INITED and get_group_size(group) > 1:
            not_yet(f"ops.{self.name} in a group of {get_group_size(group)} ranks", "distributed")
        return type(self)._alone(self, *args)


def _collective(name: str, alone: Callable, doc: str, /, **attrs) -> type:
    made = primitive(name, lambda *args, **kwargs: None, (), ("group", "op", "group_back", "root_rank", "dest_rank", "src_rank"), _Collective,
                     **attrs)
    body = {"__doc__": doc + "\n\nRaises TypeError, ValueError for op and group; NotYetError in a group of more than one rank.",
            "__module__": __name__,
            "_alone": staticmethod(alone), "__call__": _Collective.__call__}
    return type(name, (made,), body)


def _same(self: Primitive, x: Any) -> Any:
    if not isinstance(x, Tensor):
        fail(TypeError, f"expected a tensor, got {type(x).__name__}", f"ops.{self.name}")
    return x


def _same_all(self: Primitive, xs: Any) -> tuple:
    if not isinstance(xs, (tuple, list)):
        fail(TypeError, f"expected a tuple of tensors, got {type(xs).__name__}", f"ops.{self.name}", "call it as op((x,))")
    _own_rank(self, self.root_rank)
    return tuple(xs)


def _own_rank(self: Primitive, rank: int) -> None:
    if rank != 0:
        fail(ValueError, f"rank {rank} is not in a group of one", f"ops.{self.name}")


def _rooted(key: str) -> Callable:
    def alone(self: Primitive, x: Any) -> Any:
        _own_rank(self, getattr(self, key))
        return _same(self, x)
    return alone


def _all_to_all(self: Primitive, x: Tensor) -> Tensor:
    if self.split_count != 1:
        fail(ValueError, f"split_count is {self.split_count}, the group has one rank", "ops.AlltoAll")
    return _same(self, x)


def _needs_others(self: Primitive, *args: Any) -> Any:
    return not_yet(f"ops.{self.name}", "distributed")


AllReduce = _collective("AllReduce", _same, "The values of all ranks combined by op, on every rank. Differentiable.", op=ReduceOp.SUM, group=_WORLD)
AllGather = _collective("AllGather", _same, "The tensors of all ranks one behind the other along the first dimension.", group=_WORLD)
ReduceScatter = _collective("ReduceScatter", _same,
                            "The values of all ranks combined by op, of which each rank gets its piece of the first dimension.",
                            op=ReduceOp.SUM, group=_WORLD)
Broadcast = _collective("Broadcast", _same_all, "A tuple of tensors as rank root_rank has them, on every rank.", root_rank=REQUIRED, group=_WORLD)
Reduce = _collective("Reduce", _rooted("dest_rank"), "The values of all ranks combined by op, on rank dest_rank.", dest_rank=REQUIRED,
                     op=ReduceOp.SUM, group=_WORLD)
CollectiveScatter = _collective("CollectiveScatter", _rooted("src_rank"), "Each rank's piece of the first dimension of rank src_rank's tensor.",
                                src_rank=0, group=_WORLD)
CollectiveGather = _collective("CollectiveGather", _rooted("dest_rank"), "The tensors of all ranks one behind the other, on rank dest_rank.",
                               dest_rank=REQUIRED, group=_WORLD)
Barrier = _collective("Barrier", lambda self: None, "Waits until every rank has come here.", group=_WORLD)
Send = _collective("Send", _needs_others, "Sends a tensor to another rank.", sr_tag=REQUIRED, dest_rank=REQUIRED, group=_WORLD, group_back=_WORLD)
Receive = _collective("Receive", _needs_others, "Receives a tensor from another rank.", sr_tag=REQUIRED, src_rank=REQUIRED, shape=REQUIRED,
                      dtype=REQUIRED, group=_WORLD, group_back=_WORLD)
AlltoAll = _collective("AlltoAll", _all_to_all, "Piece i of split_dim goes to rank i; what arrives is joined along concat_dim.", split_count=REQUIRED,
                       split_dim=REQUIRED, concat_dim=REQUIRED, group=_WORLD)
AllSwap = _AllSwap = _collective("_AllSwap", _needs_others, "Exchanges pieces of differing sizes between all ranks.", group=_WORLD)
NeighborExchange = _collective("NeighborExchange", _needs_others, "Exchanges tensors with the ranks named.", send_rank_ids=REQUIRED,
                               recv_rank_ids=REQUIRED, recv_shapes=REQUIRED, send_shapes=REQUIRED, recv_type=REQUIRED, group=_WORLD)


# --- operators that auto-parallel inserts: the identity on one rank ---------------------------------------------------------------------


def _inputs(*xs: Any) -> Any:
    return xs[0] if len(xs) == 1 else xs


def _virtual_div(x: Any, divisor: Optional[float] = None) -> Any:
    """x; the gradient is divided by divisor."""
    if divisor in (None, 1):
        return x
    return core.add(core.stop_gradient(core.sub(x, core.div(x, divisor))), core.div(x, divisor))


def _mirror(x: Any, group: Optional[str] = None, dev_num: Optional[int] = None, mean_flag: Optional[bool] = None) -> Any:
    """x; the gradient is all-reduced over dev_num devices. Raises NotYetError for more than one."""
    return x if dev_num in (None, 1) else not_yet(f"ops._MirrorOperator over {dev_num} devices", "distributed")


_VirtualDataset = primitive("_VirtualDataset", _inputs)
_VirtualOutput = primitive("_VirtualOutput", _inputs)
_VirtualAdd = primitive("_VirtualAdd", core.add)
_VirtualDiv = primitive("_VirtualDiv", _virtual_div, (), ("divisor",), divisor=None)
_VirtualPipelineEnd = primitive("_VirtualPipelineEnd", _inputs)
_MirrorOperator = primitive("_MirrorOperator", _mirror, (), ("group", "dev_num", "mean_flag"), group=None, dev_num=None, mean_flag=None)
