"""Collective primitives. All ranks of a group make the same calls in the same order.

In a group of one rank a collective mostly is the identity. In both modes the primitives call the engine's ops
(include/sindri/ops/comm.h).
"""
from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

from sindri._check import check_choice, fail, is_int
from sindri.common.not_yet import not_yet
from sindri import _core
from sindri._core import TracedValueError
from sindri._core import comm as _comm
from sindri.communication.management import GlobalComm, _name_of, get_group_size
from sindri.ops._util import Tensor, core
from sindri.ops.primitive import REQUIRED, Primitive, primitive

__all__ = ["ReduceOp", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "CollectiveScatter", "CollectiveGather", "Barrier", "Send",
           "Receive",
           "AlltoAll", "AllSwap", "NeighborExchange"]

_WORLD = GlobalComm.WORLD_COMM_GROUP


class ReduceOp:
    """The operations that combine the values of several ranks.

    Attributes:
        SUM: The sum.
        MAX: The maximum.
        MIN: The minimum.
        PROD: The product.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ReduceOp.SUM)
        sum
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


_OPS = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD)


class _Collective(Primitive):
    """Base class of the collectives.

    The constructor checks `op`, `group` and ranks. `_alone` runs in a group of one rank, `_among` in a larger one.
    """

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
            self.rank_size = self._size()

        __init__.__signature__ = inspect.signature(made)
        cls.__init__ = __init__

    def _size(self) -> int:
        return get_group_size(getattr(self, "group", _WORLD)) if GlobalComm.INITED else 1

    def __call__(self, *args: Any) -> Any:
        if self._size() == 1:
            return type(self)._alone(self, *args)
        return type(self)._among(self, _name_of(getattr(self, "group", _WORLD)), *args)


# The arguments of the constructors, with their types.
_ATTRIBUTES = {
    "op": "(str): How values are combined, one of `ReduceOp`.", "group": "(str): The group of ranks.", "root_rank": "(int): The rank that sends.",
    "dest_rank": "(int): The rank in the group that receives.", "src_rank": "(int): The rank in the group that sends.",
    "sr_tag": "(int): The tag that sender and receiver share.", "shape": "(sequence of ints): The shape of the tensor.",
    "dtype": "(dtype): The element type of the tensor.", "group_back": "(str): No effect: gradients use `group`.",
    "split_count": "(int): The number of pieces, equal to the number of ranks.", "split_dim": "(int): The dimension that is split.",
    "concat_dim": "(int): The dimension along which pieces are concatenated.", "send_rank_ids": "(sequence of ints): The ranks to send to.",
    "recv_rank_ids": "(sequence of ints): The ranks to receive from.", "recv_shapes": "(sequence): The shapes of the received tensors.",
    "send_shapes": "(sequence): The shapes of the sent tensors.", "recv_type": "(dtype): The element type of the received tensors."}
# By primitive: an example that one rank alone can run, and its output.
_EXAMPLES = {
    "AllReduce": ("AllReduce()(ms.Tensor([1.0, 2.0]))", "[1. 2.]"), "AllGather": ("AllGather()(ms.Tensor([1.0, 2.0]))", "[1. 2.]"),
    "ReduceScatter": ("ReduceScatter()(ms.Tensor([1.0, 2.0]))", "[1. 2.]"), "Broadcast": ("Broadcast(0)((ms.Tensor([1.0, 2.0]),))[0]", "[1. 2.]"),
    "Reduce": ("Reduce(0)(ms.Tensor([1.0, 2.0]))", "[1. 2.]"), "CollectiveScatter": ("CollectiveScatter()(ms.Tensor([1.0, 2.0]))", "[1. 2.]"),
    "CollectiveGather": ("CollectiveGather(0)(ms.Tensor([1.0, 2.0]))", "[1. 2.]"), "Barrier": ("Barrier()()", "None"),
    "AlltoAll": ("AlltoAll(1, 0, 0)(ms.Tensor([1.0, 2.0]))", "[1. 2.]"), "Send": ("Send(0, 1).name", "Send"),
    "Receive": ("Receive(0, 0, (2,), ms.float32).name", "Receive"),
    "NeighborExchange": ("NeighborExchange((), (), (), (), ms.float32).name", "NeighborExchange"),
    "_AllSwap": ("operations.AllSwap().name", "_AllSwap")}


def _documentation(name: str, doc: str, attrs: dict) -> str:
    lines = [doc, "", "    Args:"]
    for key, value in attrs.items():
        lines.append(f"        {key} {_ATTRIBUTES[key]}" + ("" if value is REQUIRED else f" Default: {value!r}."))
    lines += ["", "    Raises:", "        CommError: If the other ranks do not take part.", "        TypeError: If an argument has another type.",
              "        ValueError: If `op`, the group or a rank does not fit."]
    if name in _EXAMPLES:
        lines += ["", "    Examples:", "        >>> import sindri as ms", f"        >>> print(ms.ops.{_EXAMPLES[name][0]})", f"        {_EXAMPLES[name][1]}"]
    return "\n".join(lines) + "\n    "


def _collective(name: str, alone: Callable, among: Callable, doc: str, /, **attrs) -> type:
    made = primitive(name, lambda *args, **kwargs: None, (), ("group", "op", "group_back", "root_rank", "dest_rank", "src_rank"), _Collective,
                     **attrs)
    body = {"__doc__": _documentation(name, doc, attrs), "__module__": __name__,
            "_alone": staticmethod(alone), "_among": staticmethod(among), "__call__": _Collective.__call__}
    return type(name, (made,), body)


def _same(self: Primitive, x: Any) -> Any:
    if not isinstance(x, Tensor):
        fail(TypeError, f"expected a tensor, got {type(x).__name__}", f"ops.{self.name}")
    return x


def _tensors(self: Primitive, xs: Any) -> tuple:
    if not isinstance(xs, (tuple, list)):
        fail(TypeError, f"expected a tuple of tensors, got {type(xs).__name__}", f"ops.{self.name}", "call it as op((x,))")
    return tuple(xs)


def _same_all(self: Primitive, xs: Any) -> tuple:
    xs = _tensors(self, xs)
    _own_rank(self, self.root_rank)
    return xs


def _own_rank(self: Primitive, rank: int) -> None:
    if rank != 0:
        fail(ValueError, f"rank {rank} is not in a group of one", f"ops.{self.name}")


def _known_rank(self: Primitive, key: str) -> int:
    rank, size = getattr(self, key), self._size()
    if not 0 <= rank < size:
        fail(ValueError, f"{key}: rank {rank} is not in '{self.group}' of {size} ranks", f"ops.{self.name}")
    return rank


def _rooted(key: str) -> Callable:
    def alone(self: Primitive, x: Any) -> Any:
        _own_rank(self, getattr(self, key))
        return _same(self, x)
    return alone


def _all_reduce(self: Primitive, group: str, x: Any) -> Any:
    return core.all_reduce((_same(self, x),), op=self.op, group=group, what=f"ops.{self.name}")[0]


def _broadcast(self: Primitive, group: str, xs: Any) -> tuple:
    return core.broadcast(_tensors(self, xs), _known_rank(self, "root_rank"), group)


def _on_dest(self: Primitive, group: str, value: Any) -> Any:
    """Returns the value on rank dest_rank and one zero elsewhere, as in MindSpore. It has no gradient, because the other
    ranks' gradients would be missing.
    """
    own = _comm.members(group).index(_comm.rank()) == _known_rank(self, "dest_rank")
    return core.stop_gradient(value) if own else core.full((1,), 0, value.dtype)


def _reduce(self: Primitive, group: str, x: Any) -> Any:
    _known_rank(self, "dest_rank")
    return _on_dest(self, group, _all_reduce(self, group, x))


def _gather(self: Primitive, group: str, x: Any) -> Any:
    _known_rank(self, "dest_rank")
    return _on_dest(self, group, core.all_gather(_same(self, x), group))


def _scatter(self: Primitive, group: str, x: Any) -> Any:
    size = self._size()
    if not _same(self, x).shape or x.shape[0] % size:
        fail(ValueError, f"the first dimension of {tuple(x.shape)} must divide by the group's {size} ranks", f"ops.{self.name}")
    whole = core.broadcast((x,), _known_rank(self, "src_rank"), group)[0]
    part, rank = x.shape[0] // size, _comm.members(group).index(_comm.rank())
    begin, end = [0] * len(x.shape), list(x.shape)
    begin[0], end[0] = rank * part, (rank + 1) * part
    return core.slice(whole, begin, end)


def _barrier(self: Primitive, group: str) -> None:
    if _core.is_tracing_graph() and not _core.leave_graph("ops.Barrier"):
        raise TracedValueError("ops.Barrier cannot be part of a graph: the host waits")
    _comm.barrier(group)


def _all_to_all(self: Primitive, x: Tensor) -> Tensor:
    if self.split_count != 1:
        fail(ValueError, f"split_count is {self.split_count}, the group has one rank", "ops.AlltoAll")
    return _same(self, x)


def _exchange(self: Primitive, group: str, x: Tensor) -> Tensor:
    n, rank, where = self._size(), len(_same(self, x).shape), "ops.AlltoAll"
    if self.split_count != n:
        fail(ValueError, f"split_count is {self.split_count}, the group has {n} ranks", where)
    split, concat = self.split_dim, self.concat_dim
    for key, axis in (("split_dim", split), ("concat_dim", concat)):
        if not is_int(axis) or not -rank <= axis < rank:
            fail(ValueError, f"{key}: {axis!r} is not a dimension of {tuple(x.shape)}", where)
    split, concat = split % rank, concat % rank
    if x.shape[split] % n:
        fail(ValueError, f"dimension {split} of {tuple(x.shape)} must divide by split_count {n}", where)
    # [.., n·s, ..] -> [n, .., s, ..]: part r is sent to rank r, and the part from rank r is part r of the result along concat_dim.
    shape = list(x.shape)
    parts = core.reshape(x, (*shape[:split], n, shape[split] // n, *shape[split + 1:]))
    order = (split, *(i for i in range(rank + 1) if i != split))
    parts = core.all_to_all(core.transpose(parts, order), group)
    shape[split] //= n
    to = list(range(1, rank + 1))
    to.insert(concat, 0)
    shape[concat] *= n
    return core.reshape(core.transpose(parts, tuple(to)), tuple(shape))


def _send(self: Primitive, group: str, x: Any) -> Any:
    return core.send(_same(self, x), _known_rank(self, "dest_rank"), self.sr_tag, group)


def _receive(self: Primitive, group: str, x: Any = None) -> Any:
    return core.recv(tuple(self.shape), self.dtype, _known_rank(self, "src_rank"), self.sr_tag, group)


def _neighbors(self: Primitive, xs: Any) -> tuple:
    return _exchange_with(self, "world", xs)


def _exchange_with(self: Primitive, group: str, xs: Any) -> tuple:
    where, xs = "ops.NeighborExchange", _tensors(self, xs)
    if [tuple(x.shape) for x in xs] != [tuple(s) for s in self.send_shapes]:
        fail(ValueError, f"send_shapes are {self.send_shapes}, the tensors' {[tuple(x.shape) for x in xs]}", where)
    shapes = tuple(tuple(s) for s in self.recv_shapes)
    made = core.neighbor_exchange(xs, tuple(self.send_rank_ids), tuple(self.recv_rank_ids), shapes, self.recv_type, 0, group)
    return made if shapes else ()


def _alone_with(self: Primitive, *args: Any) -> Any:
    fail(ValueError, "the group has one rank, which sends nothing to itself", f"ops.{self.name}")


def _not_there(self: Primitive, *args: Any) -> Any:
    return not_yet(f"ops.{self.name}", "model parallel")


AllReduce = _collective("AllReduce", _same, _all_reduce,
                        "Combines the tensors of all ranks by `op`, with the result on every rank. Differentiable, except for products.",
                        op=ReduceOp.SUM, group=_WORLD)
AllGather = _collective("AllGather", _same, lambda self, group, x: core.all_gather(_same(self, x), group),
                        "Concatenates the tensors of all ranks along the first dimension. Differentiable.", group=_WORLD)
ReduceScatter = _collective("ReduceScatter", _same, lambda self, group, x: core.reduce_scatter(_same(self, x), self.op, group),
                            "Combines the tensors of all ranks by `op`; each rank receives its piece of the first dimension. Sums are differentiable.",
                            op=ReduceOp.SUM, group=_WORLD)
Broadcast = _collective("Broadcast", _same_all, _broadcast, "Copies a tuple of tensors from rank `root_rank` to every rank. Differentiable.",
                        root_rank=REQUIRED, group=_WORLD)
Reduce = _collective("Reduce", _rooted("dest_rank"), _reduce,
                     "Combines the tensors of all ranks by `op` on rank `dest_rank`; the others get one zero. It has no gradient.", dest_rank=REQUIRED,
                     op=ReduceOp.SUM, group=_WORLD)
CollectiveScatter = _collective("CollectiveScatter", _rooted("src_rank"), _scatter,
                                "Distributes rank `src_rank`'s tensor along the first dimension; the others' tensors give the shape only. Differentiable.",
                                src_rank=0, group=_WORLD)
CollectiveGather = _collective("CollectiveGather", _rooted("dest_rank"), _gather,
                               "Concatenates the tensors of all ranks on rank `dest_rank`; the others get one zero. It has no gradient.",
                               dest_rank=REQUIRED, group=_WORLD)
Barrier = _collective("Barrier", lambda self: None, _barrier, "Waits until every rank has reached this call. It cannot be part of a graph.", group=_WORLD)
Send = _collective("Send", _alone_with, _send, "Sends a tensor to rank `dest_rank` and returns the tensor.\n\n    The receiver uses the same "
                   "`sr_tag`; tensors arrive in the order of sending. The gradient of the returned tensor and the one that the receiver\n    sends back "
                   "are added, so the loss must depend on the returned tensor.", sr_tag=REQUIRED, dest_rank=REQUIRED, group=_WORLD, group_back=_WORLD)
Receive = _collective("Receive", _alone_with, _receive, "Receives the tensor that rank `src_rank` sends with the same `sr_tag`.\n\n    Its "
                      "gradient is sent back. A tensor argument of the call is not read.", sr_tag=REQUIRED, src_rank=REQUIRED, shape=REQUIRED,
                      dtype=REQUIRED, group=_WORLD, group_back=_WORLD)
AlltoAll = _collective("AlltoAll", _all_to_all, _exchange,
                       "Sends piece i of `split_dim` to rank i and concatenates received pieces along `concat_dim`. Differentiable.",
                       split_count=REQUIRED, split_dim=REQUIRED, concat_dim=REQUIRED, group=_WORLD)
AllSwap = _AllSwap = _collective("_AllSwap", _not_there, _not_there, "Exchanges pieces of differing sizes between all ranks.", group=_WORLD)
NeighborExchange = _collective("NeighborExchange", _neighbors, _exchange_with,
                               "Sends tensor i of a tuple to rank `send_rank_ids[i]` and returns those from `recv_rank_ids`, all at once.\n\n    It "
                               "is differentiable if something is received.", send_rank_ids=REQUIRED, recv_rank_ids=REQUIRED, recv_shapes=REQUIRED,
                               send_shapes=REQUIRED,
                               recv_type=REQUIRED, group=_WORLD)


# --- operators that auto-parallel inserts: the identity on one rank ---------------------------------------------------------------------


def _inputs(*xs: Any) -> Any:
    return xs[0] if len(xs) == 1 else xs


def _virtual_div(x: Any, divisor: Optional[float] = None) -> Any:
    """Returns x; the gradient is divided by divisor."""
    if divisor in (None, 1):
        return x
    return core.add(core.stop_gradient(core.sub(x, core.div(x, divisor))), core.div(x, divisor))


def _mirror(x: Any, group: Optional[str] = None, dev_num: Optional[int] = None, mean_flag: Optional[bool] = None) -> Any:
    """Returns x; the gradient is all-reduced over dev_num devices. Raises NotYetError for more than one."""
    return x if dev_num in (None, 1) else not_yet(f"ops._MirrorOperator over {dev_num} devices", "model parallel")


_VirtualDataset = primitive("_VirtualDataset", _inputs)
_VirtualOutput = primitive("_VirtualOutput", _inputs)
_VirtualAdd = primitive("_VirtualAdd", core.add)
_VirtualDiv = primitive("_VirtualDiv", _virtual_div, (), ("divisor",), divisor=None)
_VirtualPipelineEnd = primitive("_VirtualPipelineEnd", _inputs)
_MirrorOperator = primitive("_MirrorOperator", _mirror, (), ("group", "dev_num", "mean_flag"), group=None, dev_num=None, mean_flag=None)
