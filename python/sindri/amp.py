"""Mixed precision of a network, loss scalers for training functions, and the training cell of a network.

The levels are those of the one table of policies (include/sindri/amp/policy.h; docs/guide/mixed_precision.md). 'O1' to 'O3' stand for 'cells_O1' to
'cells_O3', which mark Cells as MindSpore does; 'ops_O1' to 'ops_O3' cast op by op, as settings files have it. Parameters stay float32 and are cast
where they are used. Casts of outputs are hooks of the Cells, so that names, classes and attributes of the network stay as they are.

Half is float16 where a signature of MindSpore says so (auto_mixed_precision, custom_mixed_precision). Where none names a type (Model,
build_train_network) it is bfloat16 on a CPU target and float16 on the others.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Callable, List, Optional, Sequence, Type

from sindri import _core, _uses, context
from sindri._check import check_choice, check_int, check_type, fail, is_number
from sindri._compile import clock
from sindri.boost.auto_boost import BOOST_LEVELS, AutoBoost
from sindri.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn import layer
from sindri.nn.cell import Cell, cast_tensors
from sindri.nn.layer.normalization import _BatchNorm
from sindri.nn.wrap.cell_wrapper import TrainOneStepCell, WithLossCell
from sindri.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from sindri.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = ["auto_mixed_precision", "custom_mixed_precision", "get_white_list", "get_black_list", "build_train_network", "LossScaler",
           "StaticLossScaler", "DynamicLossScaler", "all_finite", "LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager"]

_ops = _core.ops
_HALF = (mstype.float16, mstype.bfloat16)

AMP_WHITE_LIST: List[Type[Cell]] = [getattr(layer, name) for name in _core.amp_policy("cells_O1").half_cells]
AMP_BLACK_LIST: List[Type[Cell]] = [getattr(layer, name) for name in _core.amp_policy("cells_O2").float_cells]


def get_white_list() -> List[Type[Cell]]:
    """The classes of Cells that O1 runs in half: a list of one's own to change."""
    return list(AMP_WHITE_LIST)


def get_black_list() -> List[Type[Cell]]:
    """The classes of Cells that O2 keeps in float32: a list of one's own to change."""
    return list(AMP_BLACK_LIST)


# What a level marks in the Cells stands beside what the user marked: a type by to_float goes before every level, and a level takes back what
# levels set before, never what the user did.


def _users_type(cell: Cell) -> bool:
    """Whether the user gave this Cell a type (to_float)."""
    d = cell.__dict__
    return d["_to_float"] is not None and not d.get("_cell_float_by_level")


def _run_in(cell: Cell, dtype: Any) -> None:
    """Marks a Cell and all below to run in a type, but for Cells to which the user gave one and what these hold."""
    seen, todo = set(), [cell]
    while todo:
        c = todo.pop()
        if id(c) in seen or _users_type(c):
            continue
        seen.add(id(c))
        c.__dict__.update(_to_float=dtype, _cell_float_by_level=True, _cell_slow=True)
        todo.extend(c.name_cells().values())


def _cast_output(cell: Cell, dtype: Any) -> None:
    cell.__dict__.setdefault("_cell_level_hooks", []).append(cell.register_forward_hook(lambda c, inputs, output: cast_tensors(output, dtype)))


def _take_back(network: Cell) -> None:
    """Takes back what levels marked in the network and in all below it, by whichever Cell they were set."""
    clock[0] += 1
    for _, cell in network.cells_and_names():
        d = cell.__dict__
        for handle in d.pop("_cell_level_hooks", ()):
            handle.remove()
        if d.get("_cell_float_by_level"):
            d["_to_float"], d["_cell_float_by_level"] = None, False
        if d.get("_mixed"):
            cell._mixed = False
        options = d.pop("_cell_level_amp", None)
        if options is not None and d["_amp"] is options:
            cell.set_amp(None)
    network.set_amp(None)


def _outermost(network: Cell, classes: Sequence[type]) -> List[Cell]:
    """The Cells of these classes that lie inside no other of them, nor inside a Cell to which the user gave a type."""
    if _users_type(network):
        return []
    if isinstance(network, tuple(classes)):
        return [network]
    return list({id(cell): cell for child in network.name_cells().values() for cell in _outermost(child, classes)}.values())


def _run_white(network: Cell, white_list: Sequence[type], dtype: Any) -> None:
    _take_back(network)
    for cell in _outermost(network, white_list):
        _run_in(cell, dtype)
        _cast_output(cell, mstype.float32)


def _run_all_but(network: Cell, black_list: Sequence[type], dtype: Any) -> None:
    _take_back(network)
    _run_in(network, dtype)
    for cell in _outermost(network, black_list):
        if isinstance(cell, layer.BatchNorm3d):
            cell = cell.bn2d
        if isinstance(cell, _BatchNorm):
            cell._mixed = True  # the op itself computes in float32 between half activations
        else:
            _run_in(cell, mstype.float32)
            _cast_output(cell, dtype)
    _cast_output(network, mstype.float32)  # also where the user gave the whole network a type: losses read float32


def _set_policy(network: Cell, policy: Any, dtype: Any, keep_batchnorm_fp32: Optional[bool] = None) -> None:
    keep = policy.keeps_batchnorm if keep_batchnorm_fp32 is None else keep_batchnorm_fp32
    if policy.casts_ops:
        _take_back(network)
        options = network.__dict__["_cell_level_amp"] = policy.options(dtype, keep if policy.casts_batchnorm else None)
        network.set_amp(options)
    elif policy.casts_batchnorm:
        _run_all_but(network, AMP_BLACK_LIST if keep else (), dtype)
    else:
        _run_white(network, AMP_WHITE_LIST, dtype)


def _check_network(who: str, network: Any, dtype: Any) -> None:
    check_type(who, "network", network, Cell)
    check_choice(who, "dtype", dtype, _HALF)


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Any = mstype.float16) -> Cell:
    """Sets the network to run at a level: 'O0' to 'O3', 'auto' (which is 'ops_O1') or another name of the table. Returns the network, which from O2 on
    gives float32 outputs. dtype is float16 or bfloat16; its default is float16 on every target, as MindSpore's signature says.

    A level set before, on the network or on parts of it, is replaced; O0 takes it back (MindSpore's O0 leaves it). Cells to which to_float gave a
    type keep it (in MindSpore at O1 and 'auto' only).
    Raises TypeError for what is no Cell, ValueError for an unknown level and a type that is not half.
    """
    _check_network("auto_mixed_precision", network, dtype)
    policy = _core.amp_policy(check_type("auto_mixed_precision", "amp_level", amp_level, str))
    if policy.name == "O0":
        _take_back(network)
    else:
        _set_policy(network, policy, dtype)
    network._amp_level = amp_level
    return network


def custom_mixed_precision(network: Cell, *, white_list: Optional[List[Type[Cell]]] = None, black_list: Optional[List[Type[Cell]]] = None,
                           dtype: Any = mstype.float16) -> Cell:
    """As auto_mixed_precision with lists of one's own: a white list as O1, a black list as O2. Lists hold classes of Cells (primitives are not
    taken). dtype is float16 or bfloat16, by default float16 on every target, as in MindSpore's signature.

    Raises TypeError for what is no Cell, list or class of Cells; ValueError unless exactly one list is given, and for a type that is not half.
    """
    _check_network("custom_mixed_precision", network, dtype)
    if (white_list is None) == (black_list is None):
        fail(ValueError, f"custom_mixed_precision: {'neither' if white_list is None else 'both'} of white_list and black_list are given", "give one")
    given = check_type("custom_mixed_precision", "a list of classes", white_list if black_list is None else black_list, list)
    for c in given:
        if not isinstance(c, type) or not issubclass(c, Cell):
            fail(TypeError, f"lists must hold classes of Cells, got {c!r}", "custom_mixed_precision")
    (_run_white if black_list is None else _run_all_but)(network, given, dtype)
    return network


class _WithLossCell(WithLossCell):
    """WithLossCell whose loss reads float32, whatever type the network runs in."""

    def construct(self, data: Any, label: Any) -> Any:
        out = cast_tensors(self._backbone(data), mstype.float32)
        return self._loss_fn(out, cast_tensors(label, mstype.float32))


def _policy(level: str) -> Any:
    """What a level means to Model and build_train_network: 'auto' is another one on each device target."""
    return _core.amp_policy(check_type("Model", "amp_level", level, str), context.get_context("device_target"))


def _casts_all(level: str) -> bool:
    """Whether a level is about more than listed Cells, so that a loss must be given float32. Raises ValueError for one that is not known."""
    return bool(_policy(level).casts_all)


def _half_of_target() -> Any:
    return _core.default_half(context.get_context("device_target"))


def _level_manager(level: str, dtype: Any = None) -> Optional[LossScaleManager]:
    return DynamicLossScaleManager() if _policy(level).brings_loss_scale(dtype or _half_of_target()) else None


def _check_build_arguments(network: Any, optimizer: Any, level: Any, boost_level: Any, kwargs: dict) -> None:
    who = "build_train_network"
    check_type(who, "network", network, Cell)
    check_type(who, "level", level, str)
    check_choice(who, "boost_level", boost_level, tuple(BOOST_LEVELS))
    for name in kwargs:
        check_choice(who, "the argument", name, ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager", "boost"))
    if kwargs.get("cast_model_type", mstype.float32) not in (*_HALF, mstype.float32):
        fail(TypeError, f"cast_model_type must be float16, bfloat16 or float32, got {kwargs['cast_model_type']}", who)
    check_type(who, "boost", kwargs.get("boost"), (AutoBoost, type(None)))
    check_type(who, "keep_batchnorm_fp32", kwargs.get("keep_batchnorm_fp32"), (bool, type(None)))
    if not isinstance(optimizer, Cell) or not hasattr(optimizer, "parameters"):
        fail(TypeError, f"optimizer must be an Optimizer, got {optimizer!r}", who)
    manager = kwargs.get("loss_scale_manager")
    if manager is not None and not hasattr(manager, "get_update_cell"):
        fail(TypeError, f"loss_scale_manager must be a LossScaleManager, got {manager!r}", who)


def _cast_network(network: Cell, level: str, kwargs: dict) -> bool:
    """Sets the network's precision; whether its loss must be given float32."""
    policy, dtype = _policy(level), kwargs.get("cast_model_type")
    if dtype in _HALF and not level.startswith("ops_"):  # a half type that is named is that of all Cells, whatever the level
        policy = _core.amp_policy("cells_O2" if policy.keeps_batchnorm else "cells_O3")
    elif policy.name == "O0" or dtype == mstype.float32 and policy.casts_batchnorm:
        return False
    _set_policy(network, policy, dtype if dtype in _HALF else _half_of_target(), kwargs.get("keep_batchnorm_fp32"))
    return policy.casts_all


def build_train_network(network: Cell, optimizer: Cell, loss_fn: Optional[Cell] = None, level: str = "O0", boost_level: str = "O0",
                        **kwargs: Any) -> Cell:
    """The training cell of a network (with loss_fn; without, its output is the loss) at a level of mixed precision, set to train.

    level: a name of the table; 'auto' is O2 on a GPU target, O3 on Ascend, and 'ops_O1' on a CPU. The half type of a level is bfloat16 on a CPU
    target and float16 on others (MindSpore: always float16). Keywords: loss_scale_manager replaces the level's own (O2 in float16:
    DynamicLossScaleManager(); otherwise and None: none), keep_batchnorm_fp32 whether O2 and O3 keep the black list (nothing to keep at O0 and O1,
    which cast none of it), cast_model_type (float16, bfloat16, which MindSpore refuses, or float32) the type of all but the black list in place of
    the level's. A manager with an update cell gives a TrainOneStepWithLossScaleCell (on the CPU too, where MindSpore refuses), another a
    TrainOneStepCell with its scale as sens. A level O0 leaves what auto_mixed_precision set before.
    Raises TypeError for wrong types; ValueError for unknown levels and keywords, and for a manager beside which the optimizer's loss_scale divides
    the gradients twice or by another number than the manager's (MindSpore trains with such gradients; so is done here, with a warning, where the
    optimizer divides by nothing, as in MindSpore's examples). boost, an AutoBoost, goes before boost_level; without it
    the network is changed as that level asks for (less_bn).
    """
    _check_build_arguments(network, optimizer, level, boost_level, kwargs)
    boost = kwargs.get("boost")
    if boost is None:
        boost = AutoBoost(boost_level)
        network, optimizer = boost.network_auto_process_train(network, optimizer)
    in_float32 = _cast_network(network, level, kwargs)
    if loss_fn is not None:
        network = _WithLossCell(network, loss_fn) if in_float32 else WithLossCell(network, loss_fn)
    manager = kwargs["loss_scale_manager"] if "loss_scale_manager" in kwargs else _level_manager(level, kwargs.get("cast_model_type"))
    update_cell = manager.get_update_cell() if manager is not None else None
    scale: Any = manager.get_loss_scale() if manager is not None else None
    own: Any = getattr(optimizer, "loss_scale", None)
    if manager is not None and is_number(own) and (scale is not None or update_cell is not None):
        _core.check_loss_scales(type(manager).__name__, 1 if update_cell is not None else scale, update_cell is not None, type(optimizer).__name__, own)
    more = (boost,) if boost.algorithms or boost.loss_scale_group else ()
    if update_cell is not None:
        return (BoostTrainOneStepWithLossScaleCell if more else TrainOneStepWithLossScaleCell)(network, optimizer, update_cell, *more).set_train()
    return (BoostTrainOneStepCell if more else TrainOneStepCell)(network, optimizer, scale, *more).set_train()


# Loss scalers, for training functions made with value_and_grad.


def _map(f: Callable[[Tensor], Tensor], inputs: Any) -> Any:
    return tuple(_map(f, x) for x in inputs) if isinstance(inputs, (tuple, list)) else f(inputs)


def _tensors(inputs: Any) -> List[Tensor]:
    return [t for x in inputs for t in _tensors(x)] if isinstance(inputs, (tuple, list)) else [inputs]


def all_finite(inputs: Any) -> Tensor:
    """A bool scalar: whether everything in a tensor or a (nested) tuple of tensors is finite."""
    return _ops.all_finite(_tensors(inputs))


class LossScaler(ABC):
    """Base of loss scalers: scale the loss, unscale the gradients, adjust by whether these were finite."""

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """The loss (or a tuple) times the scale."""
        raise NotImplementedError

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """The gradients divided by the scale."""
        raise NotImplementedError

    @abstractmethod
    def adjust(self, grads_finite: Tensor) -> Any:
        """Adapts the scale."""
        raise NotImplementedError


class StaticLossScaler(LossScaler):
    """One scale for the whole training, `scale_value`. Raises TypeError or ValueError below 1."""

    def __init__(self, scale_value: float) -> None:
        if not is_number(scale_value):
            fail(TypeError, f"{type(self).__name__}: scale_value must be a number, got {scale_value!r}")
        if not scale_value >= 1:
            fail(ValueError, f"{type(self).__name__}: scale_value must be at least 1, got {scale_value}")
        self.scale_value = Parameter(Tensor(float(scale_value), mstype.float32), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        """The loss (or a tuple) times the scale, each in its type."""
        value = self.scale_value.value()
        _uses.scaled_by(self.scale_value)
        return _map(lambda x: _ops.mul(x, _ops.cast(value, x.dtype)), inputs)

    def unscale(self, inputs: Any) -> Any:
        """The gradients divided by the scale, each in its type."""
        return _map(lambda x: _ops.mul(x, _ops.cast(_core.inverse_scale(self.scale_value, (x,)), x.dtype)), inputs)

    def adjust(self, grads_finite: Tensor) -> bool:
        """Changes nothing; False."""
        return False


class DynamicLossScaler(StaticLossScaler):
    """A scale that is divided by scale_factor (not below 1) when gradients are not finite and multiplied by it after scale_window steps in a row
    where they are. Raises TypeError or ValueError for a scale below 1 and for a factor or window that is no int above 0.
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        self.scale_window = check_int("DynamicLossScaler", "scale_window", scale_window, 1)
        self.scale_factor = check_int("DynamicLossScaler", "scale_factor", scale_factor, 1)
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter")

    def adjust(self, grads_finite: Tensor) -> bool:
        """Adapts the scale to whether this step's gradients were finite; True."""
        state = (self.scale_value, self.counter)
        for parameter, value in zip(state, _core.next_loss_scaler(*state, grads_finite, float(self.scale_factor), self.scale_window)):
            parameter.assign(value)
        return True
