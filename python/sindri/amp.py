"""Mixed precision of a network, loss scalers for training functions, and the training cell of a network.

The levels are those of the table of policies (include/sindri/amp/policy.h; docs/guide/mixed_precision.md). 'O1' to 'O3' are 'cells_O1' to
'cells_O3', which mark Cells as MindSpore does; 'ops_O1' to 'ops_O3' cast op by op, as settings files do. Parameters stay float32 and are cast
at each use. Casts of outputs are hooks of the Cells, so that names, classes and attributes of the network do not change.

The half type is float16 if a signature of MindSpore says so (auto_mixed_precision, custom_mixed_precision). Functions whose signature names no type
(Model, build_train_network) use bfloat16 on a CPU target and float16 on others.
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
    """Returns the classes of Cells that O1 runs in the half type.

    Returns:
        A new list, which you may change.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Conv2d in ms.amp.get_white_list()
        True
    """
    return list(AMP_WHITE_LIST)


def get_black_list() -> List[Type[Cell]]:
    """Returns the classes of Cells that O2 keeps in float32.

    Returns:
        A new list, which you may change.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.BatchNorm2d in ms.amp.get_black_list()
        True
    """
    return list(AMP_BLACK_LIST)


# A level's marks are separate from the user's: a type set with to_float overrides every level, and a level removes only marks of earlier levels,
# never those of the user.


def _users_type(cell: Cell) -> bool:
    """Returns whether the user set this Cell's type with to_float."""
    d = cell.__dict__
    return d["_to_float"] is not None and not d.get("_cell_float_by_level")


def _run_in(cell: Cell, dtype: Any) -> None:
    """Marks a Cell and all below it to run in a type, except Cells whose type the user set and the Cells inside them."""
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


def _undo(network: Cell) -> None:
    """Removes the marks that levels set in the network and all Cells below it, through whichever Cell."""
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
    """Returns the Cells of these classes that are not inside another one of them, nor inside a Cell whose type the user set."""
    if _users_type(network):
        return []
    if isinstance(network, tuple(classes)):
        return [network]
    return list({id(cell): cell for child in network.name_cells().values() for cell in _outermost(child, classes)}.values())


def _run_white(network: Cell, white_list: Sequence[type], dtype: Any) -> None:
    _undo(network)
    for cell in _outermost(network, white_list):
        _run_in(cell, dtype)
        _cast_output(cell, mstype.float32)


def _run_all_but(network: Cell, black_list: Sequence[type], dtype: Any) -> None:
    _undo(network)
    _run_in(network, dtype)
    for cell in _outermost(network, black_list):
        if isinstance(cell, layer.BatchNorm3d):
            cell = cell.bn2d
        if isinstance(cell, _BatchNorm):
            cell._mixed = True  # the op computes in float32 between half-precision activations
        else:
            _run_in(cell, mstype.float32)
            _cast_output(cell, dtype)
    _cast_output(network, mstype.float32)  # also if the user set the type of the whole network: losses read float32


def _set_policy(network: Cell, policy: Any, dtype: Any, keep_batchnorm_fp32: Optional[bool] = None) -> None:
    keep = policy.keeps_batchnorm if keep_batchnorm_fp32 is None else keep_batchnorm_fp32
    if policy.casts_ops:
        _undo(network)
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
    """Sets the precision level of a network.

    An earlier level of the network or of parts of it is replaced; O0 removes it (MindSpore's O0 keeps it). Cells whose type was set with to_float keep
    it (in MindSpore only at O1 and 'auto').

    Args:
        network (Cell): The network.
        amp_level (str): 'O0' to 'O3', 'auto' (the same as 'ops_O1') or another name of the table. Default: "O0".
        dtype (DType): float16 or bfloat16. Default: float16 on every target, as in MindSpore's signature.

    Returns:
        The network; from O2 on its outputs are float32.

    Raises:
        TypeError: If `network` is not a Cell or `amp_level` is not a str.
        ValueError: If the level is unknown or `dtype` is another type.

    Examples:
        >>> import sindri as ms
        >>> net = ms.amp.auto_mixed_precision(ms.nn.Dense(2, 3), "O3")
        >>> y = net(ms.Tensor([[1.0, 2.0]]))
        >>> y.dtype, net.weight.dtype
        (Float32, Float32)
    """
    _check_network("auto_mixed_precision", network, dtype)
    policy = _core.amp_policy(check_type("auto_mixed_precision", "amp_level", amp_level, str))
    if policy.name == "O0":
        _undo(network)
    else:
        _set_policy(network, policy, dtype)
    network._amp_level = amp_level
    return network


def custom_mixed_precision(network: Cell, *, white_list: Optional[List[Type[Cell]]] = None, black_list: Optional[List[Type[Cell]]] = None,
                           dtype: Any = mstype.float16) -> Cell:
    """Sets the precision of a network with custom lists of Cell classes.

    Args:
        network (Cell): The network.
        white_list (list): Classes that run in the half type, as in O1; primitives are not accepted. Default: None.
        black_list (list): Classes that stay in float32, as in O2; primitives are not accepted. Default: None.
        dtype (DType): float16 or bfloat16. Default: float16 on every target, as in MindSpore's signature.

    Returns:
        The network.

    Raises:
        TypeError: If `network` is not a Cell, or a list is not a list of classes of Cells.
        ValueError: If not exactly one list is given, or `dtype` is another type.

    Examples:
        >>> import sindri as ms
        >>> net = ms.amp.custom_mixed_precision(ms.nn.Dense(2, 3), white_list=[ms.nn.Dense])
        >>> y = net(ms.Tensor([[1.0, 2.0]]))
        >>> y.dtype
        Float32
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
    """WithLossCell whose loss reads float32, whatever the network's type."""

    def construct(self, data: Any, label: Any) -> Any:
        out = cast_tensors(self._backbone(data), mstype.float32)
        return self._loss_fn(out, cast_tensors(label, mstype.float32))


def _policy(level: str) -> Any:
    """Returns the policy of a level for Model and build_train_network, in which 'auto' depends on the device target."""
    return _core.amp_policy(check_type("Model", "amp_level", level, str), context.get_context("device_target"))


def _casts_all(level: str) -> bool:
    """Returns whether a level affects more than listed Cells, so that a loss must receive float32. Raises ValueError for an unknown level."""
    return bool(_policy(level).casts_all)


def _half_of_target() -> Any:
    return _core.default_half(context.get_context("device_target"))


def _level_manager(level: str, dtype: Any = None) -> Optional[LossScaleManager]:
    return DynamicLossScaleManager() if _policy(level).provides_loss_scale(dtype or _half_of_target()) else None


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
    """Sets the network's precision; returns whether its loss must receive float32."""
    policy, dtype = _policy(level), kwargs.get("cast_model_type")
    if dtype in _HALF and not level.startswith("ops_"):  # a named half type applies to all Cells, at every level
        policy = _core.amp_policy("cells_O2" if policy.keeps_batchnorm else "cells_O3")
    elif policy.name == "O0" or dtype == mstype.float32 and policy.casts_batchnorm:
        return False
    _set_policy(network, policy, dtype if dtype in _HALF else _half_of_target(), kwargs.get("keep_batchnorm_fp32"))
    return policy.casts_all


def build_train_network(network: Cell, optimizer: Cell, loss_fn: Optional[Cell] = None, level: str = "O0", boost_level: str = "O0",
                        **kwargs: Any) -> Cell:
    """Returns the training cell of a network at a level of mixed precision, in training mode.

    A manager with an update cell leads to a TrainOneStepWithLossScaleCell (on the CPU too, where MindSpore raises an error), another one to a
    TrainOneStepCell with its scale as `sens`. Level O0 keeps the effect of an earlier auto_mixed_precision.

    MindSpore trains even if the optimizer's loss_scale divides the gradients twice or by a factor other than the manager's. This is an error here,
    except that a loss_scale of 1, as in MindSpore's examples, only causes a warning.

    Args:
        network (Cell): The network.
        optimizer (Optimizer): The optimizer.
        loss_fn (Cell): The loss. Default: None, the network's output is the loss.
        level (str): A name of the table; 'auto' is O2 on a GPU target, O3 on Ascend, and 'ops_O1' on a CPU. The half type is bfloat16 on a CPU
            target and float16 on others (MindSpore: always float16). Default: "O0".
        boost_level (str): The boost level; without `boost` the network is changed as it requires (less_bn). Default: "O0".
        **kwargs: `loss_scale_manager` replaces the level's (O2 in float16: DynamicLossScaleManager(); others: none); None is none.
            `keep_batchnorm_fp32`: whether O2 and O3 keep the black list in float32 (O0 and O1 cast none of it). `cast_model_type` (float16,
            float32, or bfloat16, which MindSpore rejects): the type of everything except the black list, instead of the level's. `boost`, an
            AutoBoost, takes precedence over `boost_level`.

    Returns:
        Cell.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a level or keyword is unknown, or the optimizer's loss_scale does not match the manager.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.Dense(1, 1, "zeros", has_bias=False)
        >>> step = ms.amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.25), nn.MSELoss())
        >>> print(step(ms.Tensor([[1.0]]), ms.Tensor([[2.0]])))
        4.0
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


# Loss scalers, for training functions based on value_and_grad.


def _map(f: Callable[[Tensor], Tensor], inputs: Any) -> Any:
    return tuple(_map(f, x) for x in inputs) if isinstance(inputs, (tuple, list)) else f(inputs)


def _tensors(inputs: Any) -> List[Tensor]:
    return [t for x in inputs for t in _tensors(x)] if isinstance(inputs, (tuple, list)) else [inputs]


def all_finite(inputs: Any) -> Tensor:
    """Returns whether all values of a tensor or a (nested) tuple of tensors are finite.

    Args:
        inputs (Tensor, tuple): The tensors.

    Returns:
        A bool scalar Tensor.

    Examples:
        >>> import sindri as ms
        >>> print(ms.amp.all_finite((ms.Tensor([1.0]), ms.Tensor([float("inf")]))))
        False
    """
    return _ops.all_finite(_tensors(inputs))


class LossScaler(ABC):
    """Base class of loss scalers: they scale the loss, unscale the gradients and adjust the scale to whether these were finite.

    Examples:
        >>> import sindri as ms
        >>> isinstance(ms.amp.StaticLossScaler(8.0), ms.amp.LossScaler)
        True
    """

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Multiplies the loss by the scale.

        Args:
            inputs (Tensor, tuple): The loss, or a tuple.

        Returns:
            The scaled loss.
        """
        raise NotImplementedError

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Divides the gradients by the scale.

        Args:
            inputs (Tensor, tuple): The gradients.

        Returns:
            The unscaled gradients.
        """
        raise NotImplementedError

    @abstractmethod
    def adjust(self, grads_finite: Tensor) -> Any:
        """Adapts the scale.

        Args:
            grads_finite (Tensor): Whether the gradients were finite.
        """
        raise NotImplementedError


class StaticLossScaler(LossScaler):
    """A constant loss scale.

    Args:
        scale_value (float): The scale, at least 1.

    Raises:
        TypeError: If `scale_value` is not a number.
        ValueError: If it is below 1.

    Examples:
        >>> import sindri as ms
        >>> scaler = ms.amp.StaticLossScaler(1024.0)
        >>> print(scaler.scale(ms.Tensor(2.0)), scaler.unscale((ms.Tensor(2048.0),))[0])
        2048.0 2.0
    """

    def __init__(self, scale_value: float) -> None:
        if not is_number(scale_value):
            fail(TypeError, f"{type(self).__name__}: scale_value must be a number, got {scale_value!r}")
        if not scale_value >= 1:
            fail(ValueError, f"{type(self).__name__}: scale_value must be at least 1, got {scale_value}")
        self.scale_value = Parameter(Tensor(float(scale_value), mstype.float32), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        """Multiplies the loss (or a tuple) by the scale, each in its type.

        Args:
            inputs (Tensor, tuple): The loss, or a tuple.

        Returns:
            The scaled loss.
        """
        value = self.scale_value.value()
        _uses.scaled_by(self.scale_value)
        return _map(lambda x: _ops.mul(x, _ops.cast(value, x.dtype)), inputs)

    def unscale(self, inputs: Any) -> Any:
        """Divides the gradients by the scale, each in its type.

        Args:
            inputs (Tensor, tuple): The gradients.

        Returns:
            The unscaled gradients.
        """
        return _map(lambda x: _ops.mul(x, _ops.cast(_core.inverse_scale(self.scale_value, (x,)), x.dtype)), inputs)

    def adjust(self, grads_finite: Tensor) -> bool:
        """Does nothing.

        Args:
            grads_finite (Tensor): Ignored.

        Returns:
            False.
        """
        return False


class DynamicLossScaler(StaticLossScaler):
    """A loss scale that adapts to overflow.

    It is divided by `scale_factor` (not below 1) if gradients are not finite, and multiplied by it after `scale_window` consecutive steps with finite
    gradients.

    Args:
        scale_value (float): The initial scale, at least 1.
        scale_factor (int): The factor, at least 1.
        scale_window (int): The number of steps, at least 1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is below 1.

    Examples:
        >>> import sindri as ms
        >>> scaler = ms.amp.DynamicLossScaler(1024.0, 2, 100)
        >>> scaler.adjust(ms.Tensor(False))
        True
        >>> print(scaler.scale_value.asnumpy())
        512.0
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        self.scale_window = check_int("DynamicLossScaler", "scale_window", scale_window, 1)
        self.scale_factor = check_int("DynamicLossScaler", "scale_factor", scale_factor, 1)
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter")

    def adjust(self, grads_finite: Tensor) -> bool:
        """Adapts the scale to whether this step's gradients were finite.

        Args:
            grads_finite (Tensor): Whether they were.

        Returns:
            True.
        """
        state = (self.scale_value, self.counter)
        for parameter, value in zip(state, _core.next_loss_scaler(*state, grads_finite, float(self.scale_factor), self.scale_window)):
            parameter.assign(value)
        return True
