"""Mixed precision of a network, loss scalers for training functions, and the training cell of a network.

Levels: O0 casts nothing. O1 runs the white list (Dense and convolutions) in half, their outputs are float32 again. O2 runs all in half but the black
list (batch and layer norms), whose outputs are half again. O3 runs all in half. Parameters stay float32 and are cast where they are used. Casts of
outputs are hooks of the Cells, so that names, classes and attributes of the network stay as they are.

Half is float16 where a signature of MindSpore says so (auto_mixed_precision, custom_mixed_precision). Where none names a type (Model,
build_train_network) it is bfloat16 on a CPU target and float16 on the others.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple, Type

from sindri import _core, context, log
from sindri._compile import clock
from sindri.boost.auto_boost import AutoBoost
from sindri.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_int, fail, is_number
from sindri.nn.cell import Cell, cast_tensors
from sindri.nn.layer.basic import Dense
from sindri.nn.layer.conv import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose
from sindri.nn.layer.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm, _BatchNorm
from sindri.nn.layer.rnns import GRUCell, LSTMCell, RNNCell
from sindri.nn.wrap.cell_wrapper import TrainOneStepCell, WithLossCell
from sindri.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell

if TYPE_CHECKING:
    from sindri.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = ["auto_mixed_precision", "custom_mixed_precision", "get_white_list", "get_black_list", "build_train_network", "LossScaler",
           "StaticLossScaler", "DynamicLossScaler", "all_finite", "LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager"]

_ops = _core.ops
_HALF = (mstype.float16, mstype.bfloat16)
_MANAGERS = ("LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager")

AMP_WHITE_LIST = [Conv1d, Conv2d, Conv1dTranspose, Conv2dTranspose, Dense, LSTMCell, RNNCell, GRUCell]
AMP_BLACK_LIST = [BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm]


def __getattr__(name: str) -> Any:
    # The managers live in sindri.train, which reads this module.
    if name in _MANAGERS:
        from sindri.train import loss_scale_manager
        return getattr(loss_scale_manager, name)
    raise AttributeError(f"module 'sindri.amp' has no attribute '{name}'")


def get_white_list() -> List[type]:
    """The classes of Cells that O1 runs in half: a list of one's own to change."""
    return list(AMP_WHITE_LIST)


def get_black_list() -> List[type]:
    """The classes of Cells that O2 keeps in float32: a list of one's own to change."""
    return list(AMP_BLACK_LIST)


def _output_to(dtype: Any) -> Callable[[Cell, Tuple[Any, ...], Any], Any]:
    def cast(cell: Cell, inputs: Tuple[Any, ...], output: Any) -> Any:
        return cast_tensors(output, dtype)

    return cast


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
    cell.__dict__.setdefault("_cell_level_hooks", []).append(cell.register_forward_hook(_output_to(dtype)))


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
    found: dict = {}
    for child in network.name_cells().values():
        for cell in _outermost(child, classes):
            found[id(cell)] = cell
    return list(found.values())


def _run_white(network: Cell, white_list: Sequence[type], dtype: Any) -> None:
    _take_back(network)
    for cell in _outermost(network, white_list):
        _run_in(cell, dtype)
        _cast_output(cell, mstype.float32)


def _run_all_but(network: Cell, black_list: Sequence[type], dtype: Any) -> None:
    _take_back(network)
    _run_in(network, dtype)
    for cell in _outermost(network, black_list):
        if isinstance(cell, BatchNorm3d):
            cell = cell.bn2d
        if isinstance(cell, _BatchNorm):
            cell._mixed = True  # the op itself computes in float32 between half activations
        else:
            _run_in(cell, mstype.float32)
            _cast_output(cell, dtype)
    _cast_output(network, mstype.float32)  # also where the user gave the whole network a type: losses read float32


def _check_network(who: str, network: Any, dtype: Any) -> None:
    if not isinstance(network, Cell):
        fail(TypeError, f"{who}: network must be a Cell, got {network!r} of type {type(network).__name__}")
    if dtype not in _HALF:
        fail(ValueError, f"{who}: dtype must be float16 or bfloat16, got {dtype}")


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Any = mstype.float16) -> Cell:
    """Sets the network to run at 'O0' to 'O3' (see the module) or 'auto': products in half, norms, softmax and losses in float32, others at the
    widest of their inputs. Returns the network, which from O2 on gives float32 outputs. dtype is float16 or bfloat16; its default is float16 on
    every target, as MindSpore's signature says.

    A level set before, on the network or on parts of it, is replaced; O0 takes it back (MindSpore's O0 leaves it). Cells to which to_float gave a
    type keep it (in MindSpore at O1 and 'auto' only).
    Raises TypeError for what is no Cell, ValueError for an unknown level and a type that is not half.
    """
    _check_network("auto_mixed_precision", network, dtype)
    if amp_level == "O0":
        _take_back(network)
    elif amp_level == "O1":
        _run_white(network, AMP_WHITE_LIST, dtype)
    elif amp_level == "O2":
        _run_all_but(network, AMP_BLACK_LIST, dtype)
    elif amp_level == "O3":
        _run_all_but(network, (), dtype)
    elif amp_level == "auto":
        _take_back(network)
        options = network.__dict__["_cell_level_amp"] = _core.AmpOptions(level="O1", dtype=dtype)
        network.set_amp(options)
    else:
        fail(ValueError, f"auto_mixed_precision: amp_level {amp_level!r} is not known", "use 'O0', 'O1', 'O2', 'O3' or 'auto'")
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
    for name, classes in (("white_list", white_list), ("black_list", black_list)):
        if classes is None:
            continue
        if not isinstance(classes, list):
            fail(TypeError, f"custom_mixed_precision: {name} must be a list, got {type(classes).__name__}")
        for c in classes:
            if not isinstance(c, type) or not issubclass(c, Cell):
                fail(TypeError, f"custom_mixed_precision: {name} must hold classes of Cells, got {c!r}")
    if white_list is not None:
        _run_white(network, white_list, dtype)
    else:
        _run_all_but(network, black_list or (), dtype)
    return network


class _WithLossCell(WithLossCell):
    """WithLossCell whose loss reads float32, whatever type the network runs in."""

    def construct(self, data: Any, label: Any) -> Any:
        out = cast_tensors(self._backbone(data), mstype.float32)
        return self._loss_fn(out, cast_tensors(label, mstype.float32))


def _check_build_arguments(level: Any, boost_level: Any, kwargs: dict) -> str:
    who = "build_train_network"
    if not isinstance(level, str):
        fail(TypeError, f"{who}: level must be a str, got {level!r}")
    if level not in ("O0", "O1", "O2", "O3", "auto"):
        fail(ValueError, f"{who}: level '{level}' is not known", "use 'O0', 'O1', 'O2', 'O3' or 'auto'")
    if boost_level not in ("O0", "O1", "O2"):
        fail(ValueError, f"{who}: boost_level {boost_level!r} is not known", "use 'O0', 'O1' or 'O2'")
    for name in kwargs:
        if name not in ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager", "boost"):
            fail(ValueError, f"{who}: the argument '{name}' is not known")
    if "cast_model_type" in kwargs and kwargs["cast_model_type"] not in (*_HALF, mstype.float32):
        fail(TypeError, f"{who}: cast_model_type must be float16, bfloat16 or float32, got {kwargs['cast_model_type']}")
    if kwargs.get("keep_batchnorm_fp32") is not None:
        check_bool(who, "keep_batchnorm_fp32", kwargs["keep_batchnorm_fp32"])
    manager = kwargs.get("loss_scale_manager")
    if manager is not None and not (hasattr(manager, "get_loss_scale") and hasattr(manager, "get_update_cell")):
        fail(TypeError, f"{who}: loss_scale_manager must be a LossScaleManager, got {manager!r}")
    return _level_on_target(level)


def _level_on_target(level: str) -> str:
    """'auto' is MindSpore 1's on its accelerators, O2 and O3; on a CPU, where MindSpore 1 knows none, it is MindSpore 2's, a choice op by op."""
    return {"GPU": "O2", "Ascend": "O3"}.get(context.get_context("device_target"), level) if level == "auto" else level


def _half_of_target() -> Any:
    """The half type of levels where the user names none: CPUs have instructions for bfloat16 rather than float16, and it needs no loss scale."""
    return mstype.bfloat16 if context.get_context("device_target") == "CPU" else mstype.float16


def _level_manager(level: str, dtype: Any = None) -> Optional[LossScaleManager]:
    """The loss-scale manager of a level: bfloat16 has the range of float32, so its gradients do not vanish."""
    if _level_on_target(level) != "O2" or (dtype or _half_of_target()) == mstype.bfloat16:
        return None
    from sindri.train.loss_scale_manager import DynamicLossScaleManager
    return DynamicLossScaleManager()


def _cast_network(network: Cell, level: str, kwargs: dict) -> bool:
    """Sets the network's precision; whether its loss must be given float32."""
    dtype = kwargs.get("cast_model_type", _half_of_target() if level in ("O2", "O3") else mstype.float32)
    keep = kwargs.get("keep_batchnorm_fp32")
    keep = level == "O2" if keep is None else keep
    if dtype in _HALF:
        _run_all_but(network, AMP_BLACK_LIST if keep else (), dtype)
    elif level in ("O1", "auto"):
        auto_mixed_precision(network, level, _half_of_target())
    return dtype in _HALF or level == "auto"


def _check_loss_scales(manager: LossScaleManager, update_cell: Optional[Cell], optimizer: Cell) -> None:
    """That gradients are divided once by what the loss is multiplied by: by the step where it has an update cell, else by the optimizer."""
    who, name, own = "build_train_network", type(optimizer).__name__, getattr(optimizer, "loss_scale", None)
    if not is_number(own):
        return  # an optimizer of the user's own, which says nothing of a scale
    if update_cell is not None:
        if own != 1:
            fail(ValueError, f"{who}: gradients would be divided twice, by the scale of {type(manager).__name__} and by {name}'s loss_scale {own}",
                 f"leave {name}'s loss_scale at 1, or give loss_scale_manager=FixedLossScaleManager({own}, drop_overflow_update=False)")
        return
    scale = manager.get_loss_scale()
    if scale is not None and own == 1 != scale:  # what MindSpore's own examples do
        log.warning(f"{who}: gradients are {scale} times too large: without drop_overflow_update the optimizer divides them by the loss scale, "
                    f"and {name}'s is 1 | give {name}(loss_scale={scale}), or drop_overflow_update=True")
    elif scale is not None and own != scale:
        fail(ValueError, f"{who}: without drop_overflow_update the optimizer divides by the loss scale: {type(manager).__name__}'s is {scale}, "
             f"{name}'s {own}", f"give {name}(loss_scale={scale}), or drop_overflow_update=True")


def build_train_network(network: Cell, optimizer: Cell, loss_fn: Optional[Cell] = None, level: str = "O0", boost_level: str = "O0",
                        **kwargs: Any) -> Cell:
    """The training cell of a network (with loss_fn; without, its output is the loss) at a level of mixed precision, set to train.

    'auto' is O2 on a GPU target, O3 on Ascend, and auto_mixed_precision's 'auto' on a CPU. The half type of a level is bfloat16 on a CPU target and
    float16 on others (MindSpore: always float16). Keywords: loss_scale_manager replaces the level's own (O2 in float16: DynamicLossScaleManager();
    otherwise and None: none), keep_batchnorm_fp32 whether O2 and O3 keep the black list (nothing to keep at O0 and O1, which cast none of it),
    cast_model_type (float16, bfloat16, which MindSpore refuses, or float32) the type of all but the black list in place of the level's. A manager
    with an update cell gives a TrainOneStepWithLossScaleCell (on the CPU too, where MindSpore refuses), another a TrainOneStepCell with its scale as
    sens. A level O0 leaves what auto_mixed_precision set before.
    Raises TypeError for wrong types; ValueError for unknown levels and keywords, and for a manager beside which the optimizer's loss_scale divides
    the gradients twice or by another number than the manager's (MindSpore trains with such gradients; so is done here, with a warning, where the
    optimizer divides by nothing, as in MindSpore's examples); NotYetError for boost algorithms that are not there. boost, an AutoBoost, goes
    before boost_level.
    """
    if not isinstance(network, Cell):
        fail(TypeError, f"build_train_network: network must be a Cell, got {type(network).__name__}")
    if not isinstance(optimizer, Cell) or not hasattr(optimizer, "parameters"):
        fail(TypeError, f"build_train_network: optimizer must be an Optimizer, got {type(optimizer).__name__}")
    level = _check_build_arguments(level, boost_level, kwargs)
    boost = kwargs.get("boost")
    if boost is None and boost_level != "O0":
        boost = AutoBoost(boost_level)
    half = _cast_network(network, level, kwargs)
    if loss_fn is not None:
        network = _WithLossCell(network, loss_fn) if half else WithLossCell(network, loss_fn)
    if "loss_scale_manager" in kwargs:
        manager = kwargs["loss_scale_manager"]
    else:
        manager = _level_manager(level, kwargs.get("cast_model_type"))
    if manager is None:
        return _training_cell(network, optimizer, None, boost)
    update_cell = manager.get_update_cell()
    _check_loss_scales(manager, update_cell, optimizer)
    if update_cell is None:
        return _training_cell(network, optimizer, manager.get_loss_scale(), boost)
    if boost is not None and boost.algorithms:
        return BoostTrainOneStepWithLossScaleCell(network, optimizer, update_cell, boost).set_train()
    return TrainOneStepWithLossScaleCell(network, optimizer, update_cell).set_train()


def _training_cell(network: Cell, optimizer: Cell, sens: Optional[float], boost: Optional[AutoBoost]) -> Cell:
    if boost is not None and boost.algorithms:
        return BoostTrainOneStepCell(network, optimizer, sens, boost).set_train()
    return TrainOneStepCell(network, optimizer, sens).set_train()


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
