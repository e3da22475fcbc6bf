"""Optimizer: groups, learning rates and weight decay around the rule for one parameter.

Order of a step: (flatten) -> weight decay, multiplied by loss_scale beforehand -> centralisation -> division by loss_scale -> learning rate(s) ->
rule. The optimizers that come with Sindri leave decay and scale to the fused update op where nothing stands between, so that a step costs one op per
parameter; the results have the bits of the C++ optimizers.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, cast

import numpy as np

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.not_yet import not_yet
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.tensor import Tensor
from sindri.nn._check import check_bool, check_float, fail, is_number
from sindri.nn.cell import Cell
from sindri.nn.layer.container import CellList
from sindri.nn.learning_rate_schedule import LearningRateSchedule

__all__ = ["Optimizer", "opt_init_args_register"]

_ops = _core.ops
_GROUP_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")

_F = TypeVar("_F", bound=Callable[..., Any])


def opt_init_args_register(fn: _F) -> _F:
    """Decorates an optimizer's __init__: keeps its arguments as `init_params`, `init_learning_rate` and `init_args`, to make another like it."""

    @functools.wraps(fn)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        params = given.pop("params", None)
        rate = given.pop("learning_rate", None)
        inner = given.pop("optimizer", None)
        fn(self, *args, **kwargs)
        self.__dict__["init_params"] = {"params": params} if inner is None else dict(getattr(inner, "init_params", {"params": params}))
        if isinstance(rate, Tensor):
            rate = rate.asnumpy().tolist()
        self.__dict__["init_learning_rate"] = None if isinstance(rate, Cell) else rate
        self.__dict__["init_args"] = given

    return cast(_F, init)


class _IteratorLearningRate(LearningRateSchedule):
    """A table of rates, one per step; beyond its end the last one holds."""

    def __init__(self, learning_rate: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)
        self._last = learning_rate.shape[0] - 1

    def construct(self, global_step: Tensor) -> Tensor:
        step = _ops.minimum(global_step, _ops.full((1,), self._last, mstype.int32))
        return _ops.reshape(_ops.gather(self.learning_rate, step), ())


class _ConvertToCell(LearningRateSchedule):
    """A fixed rate among dynamic ones."""

    def __init__(self, learning_rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate.value()


class _WrappedWeightDecay(Cell):
    """A weight decay that depends on the step, multiplied by the loss scale."""

    def __init__(self, weight_decay: Cell, loss_scale: float) -> None:
        super().__init__()
        self.weight_decay, self.loss_scale = weight_decay, loss_scale

    def construct(self, global_step: Tensor) -> Tensor:
        return _ops.mul(self.weight_decay(global_step), self.loss_scale)


class _AssignAdd:
    """`assignadd(parameter, value)`: adds in place. Right after get_lr has advanced global_step (era 1), the same advance asked for again is left
    out: optimizers written for MindSpore 1.x rely on get_lr for it, those for later versions do it themselves."""

    def __init__(self, optimizer: "Optimizer") -> None:
        self._optimizer = optimizer

    def __call__(self, parameter: Parameter, value: Any) -> Parameter:
        state = self._optimizer.__dict__
        if state["_cell_advanced"] and parameter is self._optimizer.global_step and value is self._optimizer.global_step_increase_tensor:
            state["_cell_advanced"] = False
            return parameter
        parameter.assign(_ops.add(parameter, value))
        return parameter


class _Prepared(NamedTuple):
    """What an update op gets: a gradient, and what is left to it of decay and scaling (inv_scale is a tensor or None)."""

    grad: Tensor
    weight_decay: float
    grad_scale: float
    inv_scale: Optional[Tensor]


def takes_controls(construct: _F) -> _F:
    """Marks a construct that leaves all as it is where the tensor `_cell_skip` is true, and multiplies the gradients by `_cell_inv_scale`."""
    setattr(construct, "_takes_controls", True)
    return construct


def centralize(grad: Tensor) -> Tensor:
    """The gradient minus its mean over all dimensions but the first; as it is below rank 2."""
    rank = len(grad.shape)
    return _ops.sub(grad, _ops.mean(grad, tuple(range(1, rank)), True)) if rank > 1 else grad


def _negative_checked(who: str, values: np.ndarray) -> np.ndarray:
    bad = np.flatnonzero(~(values >= 0))
    if bad.size:
        fail(ValueError, f"{who}: the learning rate of step {bad[0]} must not be negative, got {values[bad[0]]:g}")
    return values


class Optimizer(Cell):
    """Base of optimizers: called with the gradients of `parameters`, in that order, it updates them.

    Args:
        learning_rate: a number, a scalar tensor, a table of rates by step (an iterable or a 1-D tensor) or a LearningRateSchedule.
        parameters: Parameters, or groups: dicts with `params` and perhaps `lr`, `weight_decay`, `grad_centralization`; one dict may hold
            `order_params` alone, the order of update.
        weight_decay: a number or a Cell of the step. Without groups it skips parameters whose names contain 'beta' or 'gamma'.
        loss_scale: the gradients are divided by it.

    A second-order optimizer overrides `precondition`, sets `wants_uses = True` and is called with the uses of its parameters beside the gradients
    (sindri.autograd.value_and_grad_with_uses). One whose steps differ overrides `variant`.

    A subclass defines `construct(self, gradients)` from decay_weight, gradients_centralization, scale_grad and get_lr. Where the rate (or decay)
    depends on global_step, this advances by one with every update that asked for the rate, unless construct did so itself. Parameters `global_step` int32 [1] and `learning_rate`.
    Raises TypeError for wrong types, KeyError for an unknown group key, ValueError for negative rates and decays, a loss_scale that is not above 0,
    and parameters that are missing or given twice.
    """

    # What opt_init_args_register keeps, and what a call leaves there while it runs.
    _unread_by_graphs = Cell._unread_by_graphs | {"init_params", "init_learning_rate", "init_args", "_cell_advanced", "_cell_rate_read", "_cell_skip", "_cell_inv_scale"}

    _support_parallel_optimizer = False

    wants_uses: bool = False  # True: a call needs `uses`, the ParamUses of `parameters`, for precondition
    current_variant: Optional[int] = None  # what select_variant took; graphs depend on it

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        self.__dict__["_cell_advanced"] = self.__dict__["_cell_rate_read"] = False
        self.__dict__["_cell_skip"] = self.__dict__["_cell_inv_scale"] = None
        parameters = self._parameters_base_check(parameters, "parameters")
        if not (all(isinstance(p, Parameter) for p in parameters) or all(isinstance(p, dict) for p in parameters)):
            fail(TypeError, f"{self.cls_name}: parameters must be Parameters or dicts that each hold a group, got "
                 f"{sorted({type(p).__name__ for p in parameters})}")
        self.loss_scale = check_float(self.cls_name, "loss_scale", loss_scale, above=0)
        self.dynamic_lr = self.dynamic_weight_decay = self.grad_centralization = False
        self.is_group = self.is_group_lr = self.is_group_params_ordered = False
        self._unique, self._target = True, context.get_context("device_target")
        self.assignadd = _AssignAdd(self)
        self.global_step = Parameter(Tensor([0], mstype.int32), name="global_step")
        self.global_step_increase_tensor = Tensor([1], mstype.int32)
        self._scalar_dtype = self._scalar_type(parameters)
        rate = self._preprocess_single_lr(learning_rate)
        if isinstance(parameters[0], dict):
            self.is_group = True
            self._init_group_params(parameters, rate, weight_decay)
        self._init_opt_attrs(rate, parameters, weight_decay)
        self.add_flags(skip_auto_parallel_compile=True)

    # Making.

    @staticmethod
    def _parameters_base_check(parameters: Any, what: str) -> list:
        if parameters is None:
            fail(ValueError, f"Optimizer: {what} must not be None", "pass net.trainable_params()")
        if not isinstance(parameters, Iterable) or isinstance(parameters, (str, dict, Tensor)):
            fail(TypeError, f"Optimizer: {what} must be a list, got {type(parameters).__name__}")
        parameters = list(parameters)
        if not parameters:
            fail(ValueError, f"Optimizer: {what} must not be empty", "pass net.trainable_params(); has everything requires_grad=False?")
        return parameters

    @staticmethod
    def _scalar_type(parameters: Sequence[Any]) -> Any:
        """float32; float64 where a parameter is, so that a float64 training is one throughout."""
        flat = [p for g in parameters for p in (g.get("params", ()) if isinstance(g, dict) else (g,))]
        return mstype.float64 if any(isinstance(p, Parameter) and p.dtype == mstype.float64 for p in flat) else mstype.float32

    def _preprocess_single_lr(self, learning_rate: Any) -> Any:
        """A checked rate: a float, a Tensor of one or several, or a LearningRateSchedule. Notes whether it is dynamic."""
        who = self.cls_name
        if is_number(learning_rate):
            return check_float(who, "the learning rate", learning_rate, least=0)
        if isinstance(learning_rate, LearningRateSchedule):
            self.dynamic_lr = True
            return learning_rate
        if isinstance(learning_rate, Tensor):
            values = learning_rate.astype(mstype.float32).asnumpy()
            if values.ndim > 1:
                fail(ValueError, f"{who}: a learning rate tensor must have 0 or 1 dimensions, got shape {values.shape}")
            if values.ndim == 0:
                return check_float(who, "the learning rate", float(values), least=0)
        elif isinstance(learning_rate, Iterable) and not isinstance(learning_rate, (str, dict)):
            try:
                values = np.array(list(learning_rate)).astype(np.float32)
            except (TypeError, ValueError):
                fail(TypeError, f"{who}: the learning rates must be numbers, got {learning_rate!r}")
        else:
            fail(TypeError,
                 f"{who}: the learning rate must be a number, a Tensor, an iterable of numbers or a LearningRateSchedule, got {learning_rate!r}")
        if values.ndim != 1 or values.size == 0:
            fail(ValueError, f"{who}: a table of learning rates must hold at least one number, got shape {values.shape}")
        self.dynamic_lr = True
        return Tensor(_negative_checked(who, values), self._scalar_dtype)

    def _build_single_lr(self, rate: Any, name: str) -> Any:
        """The rate as a Parameter or a Cell of the step."""
        if isinstance(rate, float):
            return Parameter(Tensor(rate, self._scalar_dtype), name)
        return _IteratorLearningRate(rate, name) if isinstance(rate, Tensor) else rate

    def _preprocess_weight_decay(self, weight_decay: Any) -> Any:
        """The decay times the loss scale: a float, or a Cell of the step."""
        if is_number(weight_decay):
            return check_float(self.cls_name, "weight_decay", weight_decay, least=0) * self.loss_scale
        if isinstance(weight_decay, Cell):
            self.dynamic_weight_decay = True
            return _WrappedWeightDecay(weight_decay, self.loss_scale)
        fail(TypeError, f"{self.cls_name}: weight_decay must be a number or a Cell, got {weight_decay!r}")

    def _init_group_params(self, groups: List[dict], rate: Any, weight_decay: Any) -> None:
        who = self.cls_name
        self.group_params, self.group_lr, self.group_weight_decay, self.group_grad_centralization = [], [], [], []
        self._given_decays: Any = []
        order: Optional[list] = None
        default = self._build_single_lr(rate, "learning_rate")
        seen = set()
        tables = [rate.shape[0]] if isinstance(rate, Tensor) else []
        for number, group in enumerate(groups):
            unknown = [key for key in group if key not in _GROUP_KEYS]
            if unknown:
                fail(KeyError, f"{who}: group {number} has the unknown key {unknown[0]!r}", "the keys are " + ", ".join(_GROUP_KEYS))
            if "order_params" in group:
                if len(group) > 1:
                    fail(ValueError, f"{who}: the group with order_params holds other keys too", "give order_params a group of its own")
                if not isinstance(group["order_params"], Iterable):
                    fail(TypeError, f"{who}: order_params must be a list of Parameters, got {type(group['order_params']).__name__}")
                self.is_group_params_ordered, order = True, list(group["order_params"])
                continue
            if "params" not in group:
                fail(KeyError, f"{who}: group {number} has no 'params'")
            params = self._parameters_base_check(group["params"], f"the params of group {number}")
            own = default
            if "lr" in group:
                self.is_group_lr = True
                own = self._preprocess_single_lr(group["lr"])
                if isinstance(own, Tensor):
                    tables.append(own.shape[0])
                own = self._build_single_lr(own, f"learning_rate_group_{number}")
            given = group.get("weight_decay", weight_decay)
            decay = self._preprocess_weight_decay(given)
            centralized = check_bool(who, "grad_centralization", group.get("grad_centralization", False))
            self.grad_centralization = self.grad_centralization or centralized
            for p in params:
                if not isinstance(p, Parameter):
                    fail(TypeError, f"{who}: the params of group {number} must be Parameters, got {type(p).__name__}")
                if p.name in seen:
                    fail(ValueError, f"{who}: parameter '{p.name}' is in two groups")
                seen.add(p.name)
                self.group_params.append(p)
                self.group_lr.append(own)
                self.group_weight_decay.append(decay)
                self.group_grad_centralization.append(centralized)
                self._given_decays.append(given)
        if len(set(tables)) > 1:
            fail(ValueError, f"{who}: tables of learning rates must be equally long, got {tables}")
        if not self.group_params:
            fail(ValueError, f"{who}: no group holds parameters")
        if order:
            self._order_group_params(order)

    def _order_group_params(self, order: list) -> None:
        who = self.cls_name
        place = {id(p): i for i, p in enumerate(self.group_params)}
        for p in order:
            if id(p) not in place:
                fail(ValueError, f"{who}: order_params holds '{getattr(p, 'name', p)}', which is in no group")
        if len(order) != len(self.group_params) or len({id(p) for p in order}) != len(order):
            fail(ValueError, f"{who}: order_params holds {len(order)} parameters, the groups {len(self.group_params)}", "name each once")
        moved = [place[id(p)] for p in order]
        for name in ("group_params", "group_lr", "group_weight_decay", "group_grad_centralization", "_given_decays"):
            values = getattr(self, name)
            setattr(self, name, [values[i] for i in moved])

    def _init_opt_attrs(self, rate: Any, parameters: list, weight_decay: Any) -> None:
        self._set_learning_rate(rate)
        params = self.group_params if self.is_group else parameters
        names = set()
        for p in params:
            if p.name in names:
                fail(ValueError, f"{self.cls_name}: parameter '{p.name}' is given twice, or two have that name",
                     "take them from one network's trainable_params(), which names them by path")
            names.add(p.name)
        self.parameters = ParameterTuple(params)
        self.__dict__["_parameters"] = self.parameters
        if self.is_group:
            self.weight_decay: Any = tuple(self.group_weight_decay)
            self.decay_flags = tuple(isinstance(w, Cell) or w > 0 for w in self.weight_decay)
            self.dynamic_decay_flags: Any = tuple(isinstance(w, Cell) for w in self.weight_decay)
            self.grad_centralization_flags = tuple(self.group_grad_centralization)
            self.exec_weight_decay = any(self.decay_flags)
        else:
            self.weight_decay = self._preprocess_weight_decay(weight_decay)
            self._given_decays = [weight_decay] * len(params)
            self.dynamic_decay_flags = isinstance(self.weight_decay, Cell)
            self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p in params)
            self.exec_weight_decay = self.dynamic_decay_flags or self.weight_decay > 0
        self._given_decays = tuple(self._given_decays)  # no list, which every call would look through for changes
        self.param_length = len(params)
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, mstype.float32)
        self.use_parallel, self.param_rank = False, None
        self.optim_filter = (True,) * self.param_length
        self._use_parallel_optimizer()

    def _set_learning_rate(self, rate: Any) -> None:
        if not self.is_group_lr:
            # With groups the default rate exists already, for those without a rate of their own.
            self.learning_rate = self.group_lr[0] if self.is_group else self._build_single_lr(rate, "learning_rate")
        elif self.dynamic_lr:
            cells: dict = {}
            for own in self.group_lr:
                cells.setdefault(id(own), own if isinstance(own, Cell) else _ConvertToCell(own))
            self.group_lr = [cells[id(own)] for own in self.group_lr]
            self.learning_rate = CellList(self.group_lr, auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(self.group_lr)

    def _use_parallel_optimizer(self) -> None:
        if context.get_auto_parallel_context("enable_parallel_optimizer"):
            mode = context.get_auto_parallel_context("parallel_mode")
            if mode in ("stand_alone", "hybrid_parallel"):
                fail(RuntimeError, f"{self.cls_name}: enable_parallel_optimizer does not go with parallel_mode '{mode}'",
                     "use 'data_parallel', 'semi_auto_parallel' or 'auto_parallel'")
            if mode == "data_parallel":
                if not self._support_parallel_optimizer:
                    fail(RuntimeError, f"{self.cls_name}: enable_parallel_optimizer goes with Lamb and AdamWeightDecay only")
                not_yet("enable_parallel_optimizer", "distributed")

    def _state(self, prefix: str, value: float = 0.0) -> ParameterTuple:
        """A Parameter of state per parameter, named `<prefix>.<name>`; unlike ParameterTuple.clone no draw of the initializers' generator."""
        return ParameterTuple([Parameter(_ops.full(p.shape, value, p.dtype), name=f"{prefix}.{p.name}") for p in self.parameters])

    # Properties.

    @property
    def unique(self) -> bool:
        """Whether sparse gradients would be made unique: stored only, gradients are dense."""
        return self._unique

    @unique.setter
    def unique(self, value: bool) -> None:
        self._unique = check_bool("Optimizer", "unique", value)

    @property
    def target(self) -> str:
        """Where parameters would be updated ('CPU', 'Ascend' or 'GPU'): stored only."""
        return self._target

    @target.setter
    def target(self, value: str) -> None:
        if not isinstance(value, str):
            fail(TypeError, f"Optimizer: target must be a str, got {value!r}")
        if value not in ("CPU", "Ascend", "GPU"):
            fail(ValueError, f"Optimizer: target '{value}' is not known", "use 'CPU', 'Ascend' or 'GPU'")
        self._target = value

    # The parts of a step.

    def precondition(self, gradients: Tuple[Tensor, ...], uses: Any) -> Tuple[Tensor, ...]:
        """The gradients that construct gets: as they are, unless a subclass makes others (a natural gradient) of them and of `uses`, a tuple of
        sindri.autograd.ParamUse (None without wants_uses).

        Gradients are still multiplied by the optimizer's own loss_scale, not by that of a TrainOneStepWithLossScaleCell. `unscaled_output_grad` of a use
        is free of both where the step said its scale. Where a step is left out, so is what this writes to Parameters of the optimizer.
        """
        return gradients

    def variant(self, step: int) -> int:
        """Which form step number `step` takes: 0, 1, … Each has a graph of its own, such as one that refreshes curvature factors and one that reuses
        them; precondition and construct read `current_variant`."""
        return 0

    def select_variant(self, step: int) -> int:
        """Takes variant(step) for what runs from here on. Where variant is overridden, a training step calls it on the host before it runs.
        Raises TypeError unless variant gives an int, ValueError for one below 0."""
        value = self.variant(step)
        if not isinstance(value, int) or isinstance(value, bool):
            fail(TypeError, f"{self.cls_name}: variant must give an int, got {value!r}")
        if value < 0:
            fail(ValueError, f"{self.cls_name}: variant must not be negative, got {value}")
        if self.current_variant != value:
            self.current_variant = value
        return value

    def _preconditions(self) -> bool:
        return self.wants_uses or type(self).precondition is not Optimizer.precondition

    def _preconditioned(self, args: Any, kwargs: Any) -> Any:
        """The arguments of construct."""
        uses = kwargs.get("uses")
        if self.wants_uses and uses is None:
            fail(ValueError, f"{self.cls_name}: it needs the uses of its parameters, the training step gave gradients only",
                 "call it as optimizer(gradients, uses=uses), with both from sindri.autograd.value_and_grad_with_uses")
        return (tuple(self.precondition(args[0], uses)), *args[1:]), {k: v for k, v in kwargs.items() if k != "uses"}

    def flatten_gradients(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """The gradients as they are: parameters are not kept in one piece."""
        return gradients

    def decay_weight(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """gradient + weight_decay·loss_scale·parameter, where decay applies."""
        if not self.exec_weight_decay:
            return gradients
        decay = self.get_weight_decay()
        decays = decay if self.is_group else (decay,) * self.param_length
        return tuple(_decayed(g, p, d) if flag else g for g, p, d, flag in zip(gradients, self.parameters, decays, self.decay_flags))

    def gradients_centralization(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Gradients minus their mean over all dimensions but the first, in groups with grad_centralization."""
        if not self.is_group:
            return gradients
        return tuple(centralize(g) if flag else g for g, flag in zip(gradients, self.grad_centralization_flags))

    def scale_grad(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Gradients divided by loss_scale."""
        if not self.need_scale:
            return gradients
        return tuple(_ops.mul(g, _ops.cast(self.reciprocal_scale, g.dtype)) for g in gradients)

    def _grad_sparse_indices_deduplicate(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        return gradients

    def get_weight_decay(self) -> Any:
        """The weight decay of this step times loss_scale: a float, a tensor where it is a Cell, a tuple of them with groups."""
        if self.is_group:
            return tuple(w(self.global_step) if isinstance(w, Cell) else w for w in self.weight_decay)
        return self.weight_decay(self.global_step) if isinstance(self.weight_decay, Cell) else self.weight_decay

    def get_lr(self) -> Any:
        """The learning rate of this step, a scalar tensor, or with group rates a tuple of one per parameter.

        It reads only: where rate or weight decay depend on the step, global_step advances with the update. With SINDRI_MINDSPORE_ERA=1 this
        call advances it.
        """
        lr: Any = self.learning_rate
        if self.is_group_lr:
            lr = self._group_rates() if self.dynamic_lr else tuple(lr)
        elif self.dynamic_lr:
            lr = self._scalar(lr(self.global_step))
        if self._is_dynamic_lr_or_weight_decay():
            if context.era() == 1:
                self._advance()
                self.__dict__["_cell_advanced"] = True
            else:
                self.__dict__["_cell_rate_read"] = True
        return lr

    def _run(self, args: Any, kwargs: Any) -> Any:
        """The update, which then advances global_step, unless construct did: optimizers written for MindSpore 1.x leave that to get_lr."""
        if self.current_variant is None and type(self).variant is not Optimizer.variant:
            fail(ValueError, f"{self.cls_name}: no variant is selected, though the optimizer has several", "call optimizer.select_variant(step) before each step")
        if self._preconditions():
            args, kwargs = self._preconditioned(args, kwargs)
        state = self.__dict__
        step, state["_cell_rate_read"] = self.global_step.value()._id, False
        out = super()._run(args, kwargs)
        if state["_cell_rate_read"]:
            state["_cell_rate_read"] = False
            if self.global_step.value()._id == step:
                self._advance()
        return out

    def _group_rates(self) -> Tuple[Tensor, ...]:
        """One rate per parameter; a rate that several share is computed once."""
        rates = {}
        for cell in self.group_lr:
            if id(cell) not in rates:
                rates[id(cell)] = self._scalar(cell(self.global_step))
        return tuple(rates[id(cell)] for cell in self.group_lr)

    def _scalar(self, lr: Any) -> Tensor:
        if not isinstance(lr, Tensor):
            return _ops.full((), lr, self._scalar_dtype)
        if lr.size != 1:
            fail(ValueError, f"{self.cls_name}: the schedule gave shape {tuple(lr.shape)}, one number is expected")
        lr = _ops.reshape(lr, ()) if lr.shape else lr
        return lr if lr.dtype == self._scalar_dtype else _ops.cast(lr, self._scalar_dtype)

    def _advance(self) -> None:
        step = self.global_step.value()
        self.global_step.assign(self._unless_skipped(step, _ops.add(step, self.global_step_increase_tensor)))

    def _unless_skipped(self, before: Tensor, after: Tensor) -> Tensor:
        skip = self.__dict__["_cell_skip"]
        return after if skip is None else _ops.where(skip, before, after)

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        return self.dynamic_lr or self.dynamic_weight_decay

    def get_lr_parameter(self, param: Union[Parameter, List[Parameter]]) -> Any:
        """The learning rate of a Parameter (a list of them: a list), as a Parameter; where it is a schedule, the schedule.

        Raises TypeError for another argument, ValueError for a Parameter that is not trained here.
        """
        if not isinstance(param, (Parameter, list)):
            fail(TypeError, f"{self.cls_name}: get_lr_parameter takes a Parameter or a list of them, got {type(param).__name__}")
        found = []
        for p in param if isinstance(param, list) else [param]:
            if not isinstance(p, Parameter):
                fail(TypeError, f"{self.cls_name}: get_lr_parameter takes Parameters, got {type(p).__name__}")
            at = next((i for i, own in enumerate(self.parameters) if own is p), None)
            if at is None:
                fail(ValueError, f"{self.cls_name}: parameter '{p.name}' is not in this optimizer")
            rate = self.learning_rate[at] if self.is_group_lr else self.learning_rate
            found.append(rate.learning_rate if isinstance(rate, (_IteratorLearningRate, _ConvertToCell)) else rate)
        return found if isinstance(param, list) else found[0]

    def broadcast_params(self, optim_result: Any) -> Any:
        """With the parallel optimizer, every rank's parameters to all; otherwise what it is given."""
        return optim_result

    # For the optimizers that come with Sindri.

    def _decay_of(self, i: int, filters: bool = True) -> Any:
        """Weight decay of parameter i, without the loss scale: a float, or a Cell (which multiplies by it)."""
        if not self.exec_weight_decay or not (self.decay_flags[i] or not filters):
            return 0.0
        decay = self.weight_decay[i] if self.is_group else self.weight_decay
        if isinstance(decay, Cell) or not self.need_scale:
            return decay
        given = self._given_decays[i]  # the product with loss_scale, divided again, may differ from it in the last bit
        return given if given * self.loss_scale == decay else decay / self.loss_scale

    def _prepare(self, gradients: Sequence[Tensor], filters: bool = True) -> List[_Prepared]:
        """Checks the gradients; decays, centralises and scales what cannot be left to the update op."""
        if len(gradients) != self.param_length:
            fail(ValueError, f"{self.cls_name}: {len(gradients)} gradients for {self.param_length} parameters")
        scale = 1.0 / self.loss_scale if self.need_scale else 1.0
        central = self.grad_centralization_flags if self.grad_centralization else (False,) * self.param_length
        inv_scale = self.__dict__["_cell_inv_scale"]
        dynamic: dict = {}
        out = []
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            decay = self._decay_of(i, filters)
            if not central[i] and not isinstance(decay, Cell):
                out.append(_Prepared(g, decay, scale, inv_scale))
                continue
            if scale != 1.0:
                g = _ops.mul(g, scale)
            if inv_scale is not None:
                g = _ops.mul(g, _ops.cast(inv_scale, g.dtype))
            if isinstance(decay, Cell):
                if id(decay) not in dynamic:
                    dynamic[id(decay)] = _ops.mul(decay(self.global_step), scale)
                g = _decayed(g, p, dynamic[id(decay)])
            elif decay != 0:
                g = _decayed(g, p, decay)
            out.append(_Prepared(centralize(g) if central[i] else g, 0.0, 1.0, None))
        return out

    def _rates(self) -> Tuple[Tensor, ...]:
        """get_lr as one rate per parameter."""
        lr = self.get_lr()
        self.__dict__["_cell_rate_read"] = context.era() == 2  # there global_step counts updates with a fixed rate too
        return lr if isinstance(lr, tuple) else (lr,) * self.param_length

    def _has_controls(self) -> bool:
        """Whether construct is one that takes_controls marks: that of a subclass of the user's is not. precondition takes none: it sees gradients
        that are divided by the loss scale, and what it writes is put back where a step is left out."""
        return not self._preconditions() and "construct" not in self.__dict__ and getattr(type(self).construct, "_takes_controls", False)

    def _apply_unless(self, skip: Tensor, gradients: Tuple[Tensor, ...], inv_scale: Optional[Tensor] = None, uses: Any = None) -> None:
        """The update with gradients·inv_scale, which leaves parameters and state as they are where the bool tensor `skip` is true.

        The choice is made by ops, so that it can be traced. inv_scale goes with _has_controls() only.
        """
        if self._has_controls():
            self.__dict__["_cell_skip"], self.__dict__["_cell_inv_scale"] = skip, inv_scale
            try:
                self(gradients)
            finally:
                self.__dict__["_cell_skip"] = self.__dict__["_cell_inv_scale"] = None
            return
        params = list(self.get_parameters())
        before = [p.value() for p in params]
        self(gradients, **({} if uses is None else {"uses": uses}))
        for p, old in zip(params, before):
            new = p.value()
            if new._id != old._id:
                p.assign(_ops.where(skip, old, new))

    def construct(self, *hyper_params: Any) -> Any:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, gradients)")


def _decayed(grad: Tensor, param: Parameter, decay: Any) -> Tensor:
    if isinstance(decay, Tensor):
        decay = _ops.reshape(_ops.cast(decay, param.dtype), ())
    return _ops.add(grad, _ops.mul(param, decay))
