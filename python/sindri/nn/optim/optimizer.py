"""Optimizer: groups, learning rates and weight decay around the update rule of one parameter.

Order of a step: (flatten) -> weight decay, multiplied by loss_scale beforehand -> centralisation -> division by loss_scale -> learning
rate(s) -> rule. The optimizers included in Sindri are those of the C++ library: a step is one call. If a subclass overrides one of the parts,
or a script assigns another learning rate or decay, the parts run one by one and only the rule is the library's.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator
from typing import Any, Callable, List, Optional, Sequence, Tuple, TypeVar, Union, cast

import numpy as np

from sindri import _core, _uses, context
from sindri._compile import Graphs, local, outermost
from sindri.common import dtype as mstype
from sindri.common.not_yet import not_yet
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, fail, is_number
from sindri.autograd import ParamUse
from sindri.nn.cell import Cell
from sindri.nn.layer.container import CellList
from sindri.nn.learning_rate_schedule import LearningRateSchedule

__all__ = ["Optimizer", "NativeOptimizer", "opt_init_args_register"]

_ops = _core.ops
_GROUP_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")

_F = TypeVar("_F", bound=Callable[..., Any])


def _read_through(params: Any) -> Any:
    """Returns parameters or groups with iterators (a filter, a generator) replaced by lists, so that they can be read again."""
    if isinstance(params, Iterator):
        params = list(params)
    if not isinstance(params, (list, tuple)):
        return params
    return [{k: list(v) if isinstance(v, Iterator) else v for k, v in p.items()} if isinstance(p, dict) else p for p in params]


def opt_init_args_register(fn: _F) -> _F:
    """Decorates an optimizer's __init__ to store its arguments.

    They are stored as `init_params`, `init_learning_rate` and `init_args`, from which a copy of the optimizer can be made.

    Args:
        fn (Callable): The __init__ method.

    Returns:
        The decorated method.

    Examples:
        >>> import sindri as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> ms.nn.Momentum([p], 0.1, 0.9).init_args["momentum"]
        0.9
    """

    @functools.wraps(fn)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        if "params" in bound.arguments:
            bound.arguments["params"] = _read_through(bound.arguments["params"])
        args, kwargs = bound.args[1:], bound.kwargs
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        for name, parameter in inspect.signature(fn).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                given.update(given.pop(name))
        params, rate, inner = (given.pop(name, None) for name in ("params", "learning_rate", "optimizer"))
        self.__dict__["_cell_before"] = frozenset(self.__dict__)  # names set by the subclass itself
        self.__dict__["_cell_making"] = True  # while True, the class itself sets the attributes
        fn(self, *args, **kwargs)
        self.__dict__["_cell_making"] = False
        self.__dict__["_cell_made"] = True
        self.__dict__["init_params"] = {"params": params} if inner is None else dict(getattr(inner, "init_params", {"params": params}))
        self.__dict__["init_learning_rate"] = None if isinstance(rate, Cell) else rate.asnumpy().tolist() if isinstance(rate, Tensor) else rate
        self.__dict__["init_args"] = given

    return cast(_F, init)


class _IteratorLearningRate(LearningRateSchedule):
    """A table of learning rates, one per step; after its end the last one applies."""

    def __init__(self, learning_rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self._last = learning_rate.shape[0] - 1

    def construct(self, global_step: Tensor) -> Tensor:
        step = _ops.minimum(global_step, _ops.full((1,), self._last, mstype.int32))
        return _ops.reshape(_ops.gather(self.learning_rate, step), ())


class _ConvertToCell(LearningRateSchedule):
    """A fixed learning rate among dynamic ones."""

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
    """`assignadd(parameter, value)`: adds in place.

    In era 1, get_lr advances global_step. The same advance requested right afterwards is skipped: optimizers written for MindSpore 1.x rely on
    get_lr for it, those for later versions do it themselves.
    """

    def __init__(self, optimizer: "Optimizer") -> None:
        self._optimizer = optimizer

    def __call__(self, parameter: Parameter, value: Any) -> Parameter:
        state = self._optimizer.__dict__
        if state["_cell_advanced"] and parameter is self._optimizer.global_step and value is self._optimizer.global_step_increase_tensor:
            state["_cell_advanced"] = False
            return parameter
        parameter.assign(_ops.add(parameter, value))
        return parameter


def expect_state(net: Cell, held: dict) -> None:
    """Announces to every optimizer in the network the contents of a file from which its parameters are about to be loaded."""
    for _, cell in net.cells_and_names():
        if isinstance(cell, Optimizer):
            if "_cell_steps" in cell.__dict__:
                cell.__dict__["_cell_steps"].restart()
            cell.expect_state(held)


def centralize(grad: Tensor) -> Tensor:
    """Subtracts from the gradient its mean over all dimensions except the first, if its rank is at least 2 and the second dimension is a multiple of 16."""
    rank = len(grad.shape)
    if rank < 2 or grad.shape[1] % 16 != 0:
        return grad
    return _ops.sub(grad, _ops.mean(grad, tuple(range(1, rank)), True))


class Optimizer(Cell):
    """Base class of optimizers.

    An optimizer is called with the gradients of `parameters`, in that order, and updates the parameters.

    A subclass defines `construct(self, gradients)` with decay_weight, gradients_centralization, scale_grad and get_lr. If the learning rate or
    decay depends on global_step, global_step advances by one with every update that read the rate, unless `construct` advances it. The
    optimizer's own Parameters are `global_step` (int32 [1]) and `learning_rate`.

    A second-order optimizer overrides `precondition` and sets `wants_uses = True` in its class. Gradient calls then record the uses of its
    parameters (sindri.autograd.ParamUse); of several calls before an update, the latest counts. An optimizer whose steps differ overrides
    `variant`.

    Args:
        learning_rate (float, Tensor, Iterable, LearningRateSchedule): A number, a scalar Tensor, a table of rates by step (an iterable or a
            1-D Tensor) or a schedule.
        parameters (list): Parameters, or groups: dicts with `params` and optionally `lr`, `weight_decay` and `grad_centralization`. One dict
            may contain only `order_params`, the order of update.
        weight_decay (float, Cell): A number or a Cell of the step. Without groups, parameters whose names contain "beta" or "gamma" do not
            decay. Default: 0.0.
        loss_scale (float): The factor by which gradients are divided. Default: 1.0.

    Raises:
        TypeError: If an argument has another type.
        KeyError: If a group has an unknown key.
        ValueError: If a rate or decay is negative, `loss_scale` is not above 0, or a parameter is missing or given twice.

    Examples:
        >>> import sindri as ms
        >>> class SignSGD(ms.nn.Optimizer):
        ...     def construct(self, gradients):
        ...         lr = self.get_lr()
        ...         for p, g in zip(self.parameters, self.scale_grad(self.decay_weight(gradients))):
        ...             p.assign(p - lr * ms.ops.sign(g))
        ...         return True
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> _ = SignSGD(0.5, [p])((ms.Tensor([3.0, -4.0]),))
        >>> print(p.asnumpy())
        [0.5 2.5]
    """

    # Attributes stored by opt_init_args_register, and those that a call sets while it runs.
    _unread_by_graphs = Cell._unread_by_graphs | {"init_params", "init_learning_rate", "init_args", "_cell_advanced", "_cell_rate_read", "_cell_made", "_cell_making", "_cell_before", "_cell_skip",
                                                             "_cell_inv_scale", "_cell_controlled", "_cell_steps"}

    _support_parallel_optimizer = False
    is_group: bool
    dynamic_decay_flags: Any

    wants_uses: bool = False  # whether precondition needs the ParamUses of `parameters`
    current_variant: Optional[int] = None  # set by select_variant; graphs depend on it

    # The parts of a step that subclasses may override, and the attributes that scripts may assign; if one is replaced, the parts run one by one.
    _PARTS = ("flatten_gradients", "decay_weight", "gradients_centralization", "scale_grad", "_grad_sparse_indices_deduplicate", "get_weight_decay", "get_lr")
    _SHARED = frozenset((*_PARTS, "learning_rate", "group_lr", "dynamic_lr", "weight_decay", "decay_flags", "exec_weight_decay", "loss_scale", "need_scale",
                         "reciprocal_scale", "grad_centralization", "grad_centralization_flags"))
    # Arguments that may be assigned later. All others of the library's optimizers are fixed when an optimizer is created.
    _LIVE = frozenset(("learning_rate", "weight_decay"))

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        self._build("", learning_rate, parameters, weight_decay, loss_scale)

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if state.get("_cell_made"):
            if self._is_fixed(name) and not (is_number(value) and name in state and is_number(state[name]) and value == state[name]):
                fail(AttributeError, f"{self.cls_name}: {name} is fixed when the optimizer is made", "make another optimizer")
            if name == "weight_decay":
                value = self._later_decay(value)
            if name in self._SHARED and not (name == "learning_rate" and isinstance(state.get(name), Parameter) and not isinstance(value, Parameter)):
                state["_cell_staged"] = True
        super().__setattr__(name, value)

    def _is_fixed(self, name: str) -> bool:
        """Returns whether the attribute was read when the optimizer was created, so that another value would have no effect. An attribute of a subclass
        with such a name, which the subclass reads itself, is not fixed."""
        cls = type(self)
        fixed = cls.__dict__.get("_fixed_names")
        if fixed is None:
            names: set = set()
            for base in cls.__mro__:
                if base.__module__.startswith("sindri.") and issubclass(base, Optimizer) and "__init__" in vars(base):
                    names.update(inspect.signature(base.__init__).parameters)
            fixed = frozenset(names - {"self", "parameters"} - Optimizer._LIVE) if cls.construct.__module__.startswith("sindri.") else frozenset(("loss_scale",))
            setattr(cls, "_fixed_names", fixed)
        return name in fixed or name in self.__dict__["_cell_taken"] and cls.construct is NativeOptimizer.construct

    def _later_decay(self, value: Any) -> Any:
        """Returns another weight decay as the attribute stores it: multiplied by loss_scale."""
        if self.is_group:
            fail(AttributeError, f"{self.cls_name}: weight_decay is one of each group and fixed when the optimizer is made", "make another optimizer")
        decay = self._preprocess_weight_decay(value)
        self.dynamic_decay_flags = self.dynamic_weight_decay = isinstance(decay, Cell)
        self.exec_weight_decay = self.dynamic_decay_flags or decay > 0
        return decay

    def _build(self, rule: str, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0, **settings: Any) -> None:
        """Sets up everything except the rule's own attributes. `rule` names an optimizer of the library, with its settings; if empty, the subclass
        defines construct."""
        given_before = frozenset(self.__dict__)
        super().__init__(auto_prefix=False)
        state = self.__dict__
        state["_cell_advanced"] = state["_cell_rate_read"] = state["_cell_made"] = state["_cell_staged"] = False
        state["_cell_skip"] = state["_cell_inv_scale"] = None
        taken = {name for name in given_before - state.get("_cell_before", given_before) if not name.startswith("_")}
        state["_cell_rule"], state["_cell_taken"] = rule, taken | (settings.keys() & given_before)
        parameters = self._parameters_base_check(parameters, "parameters")
        if not (all(isinstance(p, Parameter) for p in parameters) or all(isinstance(p, dict) for p in parameters)):
            fail(TypeError, f"{self.cls_name}: parameters must be Parameters or dicts that each hold a group, got "
                 f"{sorted({type(p).__name__ for p in parameters})}")
        self.loss_scale = check_float(self.cls_name, "loss_scale", loss_scale, above=0)
        self.dynamic_lr = self.dynamic_weight_decay = self.grad_centralization = False
        self.is_group = self.is_group_lr = self.is_group_params_ordered = False
        self._unique, self._target = True, context.get_context("device_target")
        self.assignadd = _AssignAdd(self)
        self.global_step_increase_tensor = Tensor([1], mstype.int32)
        rate = self._preprocess_single_lr(learning_rate)
        groups, order, given = [(parameters, None, None, False)], None, weight_decay
        if isinstance(parameters[0], dict):
            self.is_group = True
            groups, order = self._checked_groups(parameters)
        decays = [self._preprocess_weight_decay(given if own is None else own) for _, _, own, _ in groups]
        # A group's decay is passed to the library unchanged: multiplied by loss_scale and divided again, it could differ in the last bit.
        native = _core.Optimizer(rule, self.cls_name, [(p, lr, _number_or_cell(own), central) for p, lr, own, central in groups], self.is_group, order, rate,
                                 _number_or_cell(given), self.loss_scale, settings)
        native.count_every_update(context.era() == 2)
        state["_cell_native"] = native
        self.global_step = native.global_step
        self._init_opt_attrs(rate, groups, decays, native)
        self.add_flags(skip_auto_parallel_compile=True)
        state["_cell_made"] = not state.get("_cell_making", False)
        if self.wants_uses or type(self).variant is not Optimizer.variant:
            _uses.watch(self)

    # Construction.

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

    def _preprocess_single_lr(self, learning_rate: Any) -> Any:
        """Returns the checked learning rate: a float, a list of floats or a LearningRateSchedule. Records whether it is dynamic."""
        who = self.cls_name
        if is_number(learning_rate):
            return check_float(who, "the learning rate", learning_rate, least=0)
        if isinstance(learning_rate, LearningRateSchedule):
            self.dynamic_lr = True
            return learning_rate
        tensor = isinstance(learning_rate, Tensor)
        if not tensor and (not isinstance(learning_rate, Iterable) or isinstance(learning_rate, (str, dict))):
            fail(TypeError,
                 f"{who}: the learning rate must be a number, a Tensor, an iterable of numbers or a LearningRateSchedule, got {learning_rate!r}")
        try:
            values = np.array(learning_rate.astype(mstype.float32).asnumpy() if tensor else list(learning_rate)).astype(np.float32)
        except (TypeError, ValueError):
            fail(TypeError, f"{who}: the learning rates must be numbers, got {learning_rate!r}")
        if values.ndim == 0:
            return check_float(who, "the learning rate", float(values), least=0)
        if values.ndim != 1 or values.size == 0:
            fail(ValueError, f"{who}: a table of learning rates must hold at least one number, a tensor have 0 or 1 dimensions, got shape {values.shape}")
        self.dynamic_lr = True
        return values.tolist()

    @staticmethod
    def _rate_attribute(rate: Any, slot: Optional[Parameter]) -> Any:
        """Returns the learning rate as scripts see it: the library's Parameter of a number, or a Cell of the step."""
        return slot if isinstance(rate, float) else _IteratorLearningRate(cast(Parameter, slot)) if isinstance(rate, list) else rate

    def _preprocess_weight_decay(self, weight_decay: Any) -> Any:
        """Returns the decay times the loss scale: a float, or a Cell of the step."""
        if is_number(weight_decay):
            return check_float(self.cls_name, "weight_decay", weight_decay, least=0) * self.loss_scale
        if isinstance(weight_decay, Cell):
            self.dynamic_weight_decay = True
            return _WrappedWeightDecay(weight_decay, self.loss_scale)
        fail(TypeError, f"{self.cls_name}: weight_decay must be a number or a Cell, got {weight_decay!r}")

    def _checked_groups(self, groups: List[dict]) -> Tuple[List[Tuple[list, Any, Any, bool]], Optional[list]]:
        """Returns (parameters, rate, decay, centralise) of each group, with None for the optimizer's own rate or decay, and the requested order."""
        who, order, out = self.cls_name, None, []
        for number, group in enumerate(groups):
            unknown = [key for key in group if key not in _GROUP_KEYS]
            if unknown:
                fail(KeyError, f"{who}: group {number} has the unknown key {unknown[0]!r}", "the keys are " + ", ".join(_GROUP_KEYS))
            if "order_params" in group:
                if len(group) > 1:
                    fail(ValueError, f"{who}: the group with order_params holds other keys too", "give order_params a separate group")
                if not isinstance(group["order_params"], Iterable):
                    fail(TypeError, f"{who}: order_params must be a list of Parameters, got {type(group['order_params']).__name__}")
                self.is_group_params_ordered, order = True, list(group["order_params"])
                continue
            if "params" not in group:
                fail(KeyError, f"{who}: group {number} has no 'params'")
            params = self._parameters_base_check(group["params"], f"the params of group {number}")
            for p in params:
                if not isinstance(p, Parameter):
                    fail(TypeError, f"{who}: the params of group {number} must be Parameters, got {type(p).__name__}")
            rate = None
            if "lr" in group:
                self.is_group_lr = True
                rate = self._preprocess_single_lr(group["lr"])
            centralized = check_bool(who, "grad_centralization", group.get("grad_centralization", False))
            self.grad_centralization = self.grad_centralization or centralized
            out.append((params, rate, group.get("weight_decay"), centralized))
        if not out:
            fail(ValueError, f"{who}: no group holds parameters")
        return out, order or None

    def _init_opt_attrs(self, rate: Any, groups: List[Tuple[list, Any, Any, bool]], decays: list, native: Any) -> None:
        flat = [(p, rate if lr is None else lr, decay, central) for (params, lr, _, central), decay in zip(groups, decays) for p in params]
        members = [flat[i] for i in native.order()]
        made: dict = {}
        rates = []
        for (_, own, _, _), slot in zip(members, native.rates()):
            rates.append(made.setdefault(id(own) if slot is None else id(slot), self._rate_attribute(own, slot)))
        self._set_learning_rate(rates)
        params = [m[0] for m in members]
        self.__dict__["_groups_given"] = [list(members_of) for members_of, _, _, _ in groups]
        self.parameters = ParameterTuple(params)
        self.__dict__["_parameters"] = self.parameters
        if self.is_group:
            self.group_params, self.group_weight_decay, self.group_grad_centralization = params, [m[2] for m in members], [m[3] for m in members]
            self.weight_decay: Any = tuple(self.group_weight_decay)
            self.decay_flags = tuple(isinstance(w, Cell) or w > 0 for w in self.weight_decay)
            self.dynamic_decay_flags = tuple(isinstance(w, Cell) for w in self.weight_decay)
            self.grad_centralization_flags = tuple(self.group_grad_centralization)
            self.exec_weight_decay = any(self.decay_flags)
        else:
            self.weight_decay = decays[0]
            self.dynamic_decay_flags = isinstance(self.weight_decay, Cell)
            self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p in params)
            self.exec_weight_decay = self.dynamic_decay_flags or self.weight_decay > 0
        self.param_length = len(params)
        self.need_scale = self.loss_scale != 1.0
        wide = any(p.dtype == mstype.float64 for p in params)
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, mstype.float64 if wide else mstype.float32)
        self.use_parallel, self.param_rank = False, None
        self.optim_filter = (True,) * self.param_length
        self._use_parallel_optimizer()

    def _set_learning_rate(self, rates: list) -> None:
        """Sets the learning rate; `rates` holds one per parameter, the same object if they share it."""
        if self.is_group:
            self.group_lr = rates
        if not self.is_group_lr:
            self.learning_rate = rates[0]
        elif self.dynamic_lr:
            cells: dict = {}
            for own in rates:
                cells.setdefault(id(own), own if isinstance(own, Cell) else _ConvertToCell(own))
            self.group_lr = [cells[id(own)] for own in rates]
            self.learning_rate = CellList(self.group_lr, auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(rates)

    def _use_parallel_optimizer(self) -> None:
        if context.get_auto_parallel_context("enable_parallel_optimizer"):
            mode = context.get_auto_parallel_context("parallel_mode")
            if mode in ("stand_alone", "hybrid_parallel"):
                fail(RuntimeError, f"{self.cls_name}: enable_parallel_optimizer does not go with parallel_mode '{mode}'",
                     "use 'data_parallel', 'semi_auto_parallel' or 'auto_parallel'")
            if mode == "data_parallel":
                if not self._support_parallel_optimizer:
                    fail(RuntimeError, f"{self.cls_name}: enable_parallel_optimizer goes with Lamb and AdamWeightDecay only")
                not_yet("enable_parallel_optimizer", "model parallel")

    def _states(self, slot: int) -> ParameterTuple:
        """Returns the library's state of every parameter, in the order in which the rule declares its slots."""
        return ParameterTuple(self.__dict__["_cell_native"].states(slot))

    def _shared_states(self) -> list:
        return self.__dict__["_cell_native"].shared()

    def _rate_type(self) -> Any:
        """Returns float32, or float64 if a parameter is float64, so that float64 runs use one type throughout."""
        return mstype.float64 if any(p.dtype == mstype.float64 for p in self.parameters) else mstype.float32

    def _show_as_tensors(self, **numbers: float) -> None:
        """Sets attributes of shape [1], because derived optimizers read them in this form; the rule has the numbers."""
        for name, value in numbers.items():
            self.__dict__[name] = Tensor(np.array([value], np.float32))
        self.__dict__["_cell_taken"] |= numbers.keys()

    # Properties.

    @property
    def unique(self) -> bool:
        """bool: Whether sparse gradients are made unique; stored without effect, since gradients are dense."""
        return self._unique

    @unique.setter
    def unique(self, value: bool) -> None:
        self._unique = check_bool("Optimizer", "unique", value)

    @property
    def target(self) -> str:
        """str: Where parameters are updated, 'CPU', 'Ascend' or 'GPU'; stored without effect."""
        return self._target

    @target.setter
    def target(self, value: str) -> None:
        if not isinstance(value, str):
            fail(TypeError, f"Optimizer: target must be a str, got {value!r}")
        if value not in ("CPU", "Ascend", "GPU"):
            fail(ValueError, f"Optimizer: target '{value}' is not known", "use 'CPU', 'Ascend' or 'GPU'")
        self._target = value

    # The parts of a step.

    def expect_state(self, held: dict) -> None:
        """Called before parameters are loaded. An optimizer that creates state in its first step creates it here.

        Args:
            held (dict): The contents of the file, (shape, type) by name.
        """

    def precondition(self, gradients: Tuple[Tensor, ...], uses: Any) -> Tuple[Tensor, ...]:
        """Returns the gradients that `construct` receives; a subclass may compute others, such as a natural gradient.

        Gradients are still multiplied by the optimizer's own loss_scale, but not by that of a TrainOneStepWithLossScaleCell.
        `unscaled_output_grad` of a use contains neither factor if the step announced its scale. If a step is skipped, the values written here to
        the optimizer's Parameters are discarded too.

        Args:
            gradients (tuple): The gradients.
            uses (tuple): The sindri.autograd.ParamUse records; None without `wants_uses`.

        Returns:
            Tuple of Tensor.
        """
        return gradients

    def variant(self, step: int) -> int:
        """Returns which form a step takes: 0, 1, …

        Each form has a separate graph, such as one that refreshes curvature factors and one that reuses them; `precondition` and `construct` read
        `current_variant`.

        Args:
            step (int): The number of the step.

        Returns:
            int.
        """
        return 0

    def select_variant(self, step: int) -> int:
        """Selects `variant(step)` for the next update.

        If it is never called, updates are counted: the variant is that of their number, which after loading continues from global_step.

        Args:
            step (int): The number of the step.

        Returns:
            int: the variant.

        Raises:
            TypeError: If `variant` does not return an int.
            ValueError: If it returns a negative number.
        """
        value = self.variant(step)
        if not isinstance(value, int) or isinstance(value, bool):
            fail(TypeError, f"{self.cls_name}: variant must give an int, got {value!r}")
        if value < 0:
            fail(ValueError, f"{self.cls_name}: variant must not be negative, got {value}")
        if self.__dict__.get("current_variant") != value:  # on the instance, even if the class has that value: it is part of the state of graphs
            self.current_variant = value
        steps = self.__dict__.get("_cell_steps")
        if steps is not None:
            steps.at(step)
        return value

    def _updates_so_far(self) -> int:
        return int(self.global_step.asnumpy()[0])

    def _wants_uses_now(self) -> bool:
        """Returns whether the update of current_variant reads uses."""
        return self.wants_uses

    def _preconditions(self) -> bool:
        return self.wants_uses or type(self).precondition is not Optimizer.precondition

    def _preconditioned(self, args: Any, kwargs: Any) -> Any:
        """Returns the arguments of construct."""
        uses = kwargs.get("uses")
        if self.wants_uses and uses is None:
            recorded = self.__dict__["_cell_steps"].take() if "_cell_steps" in self.__dict__ else []
            if not recorded and self._wants_uses_now():
                fail(ValueError, f"{self.cls_name}: it needs the uses of its parameters, and no gradient of these was taken since its last update",
                     "take the gradients by ops.GradOperation, grad or value_and_grad after the optimizer is made, and call the optimizer in the "
                     "function that takes them or outside any compiled function, or call optimizer(gradients, uses=uses) with both from "
                     "sindri.autograd.value_and_grad_with_uses")
            uses = tuple(map(ParamUse._make, recorded))
        return (tuple(self.precondition(args[0], uses)), *args[1:]), {k: v for k, v in kwargs.items() if k != "uses"}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__call__ is Cell.__call__ and (cls.wants_uses or cls.variant is not Optimizer.variant):  # others are not slowed down
            setattr(cls, "__call__", Optimizer._call_with_uses)

    def _call_with_uses(self, *args: Any, **kwargs: Any) -> Any:
        """Like __call__, with this update's variant and the uses that gradient calls have recorded for it."""
        steps = self.__dict__.get("_cell_steps")
        if steps is not None and _uses.scope.pending is None:
            steps.select()
            recorded = steps.take()  # as arguments, if the call is compiled
            if recorded and "uses" not in kwargs:
                kwargs["uses"] = tuple(map(ParamUse._make, recorded))
        return Cell.__call__(self, *args, **kwargs)

    def flatten_gradients(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Returns the gradients unchanged: parameters are not stored in one buffer.

        Args:
            gradients (tuple): The gradients.

        Returns:
            Tuple of Tensor.
        """
        return gradients

    def decay_weight(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Adds weight_decay·loss_scale·parameter to the gradients to which decay applies.

        Args:
            gradients (tuple): The gradients.

        Returns:
            Tuple of Tensor.
        """
        if not self.exec_weight_decay:
            return gradients
        decay = self.get_weight_decay()
        decays = decay if self.is_group else (decay,) * self.param_length
        return tuple(_decayed(g, p, d) if flag else g for g, p, d, flag in zip(gradients, self.parameters, decays, self.decay_flags))

    def gradients_centralization(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Subtracts from gradients their mean over all dimensions except the first.

        Applies to groups with grad_centralization, to gradients whose second dimension is a multiple of 16.

        Args:
            gradients (tuple): The gradients.

        Returns:
            Tuple of Tensor.
        """
        if not self.is_group:
            return gradients
        return tuple(centralize(g) if flag else g for g, flag in zip(gradients, self.grad_centralization_flags))

    def scale_grad(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        """Divides the gradients by loss_scale.

        Args:
            gradients (tuple): The gradients.

        Returns:
            Tuple of Tensor.
        """
        if not self.need_scale:
            return gradients
        return tuple(_ops.mul(g, _ops.cast(self.reciprocal_scale, g.dtype)) for g in gradients)

    def _grad_sparse_indices_deduplicate(self, gradients: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        return gradients

    def get_weight_decay(self) -> Any:
        """Returns the weight decay of this step times loss_scale.

        Returns:
            A float; a Tensor if the decay is a Cell; with groups a tuple of one per parameter.
        """
        if self.is_group:
            return tuple(w(self.global_step) if isinstance(w, Cell) else w for w in self.weight_decay)
        return self.weight_decay(self.global_step) if isinstance(self.weight_decay, Cell) else self.weight_decay

    def get_lr(self) -> Any:
        """Returns the learning rate of this step.

        The call only reads: if the learning rate or weight decay depends on the step, global_step advances with the update. With
        SINDRI_MINDSPORE_ERA=1 this call advances it.

        Returns:
            A scalar Tensor; with group rates a tuple of one per parameter.
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
        """Runs the update and then advances global_step, unless construct did: optimizers written for MindSpore 1.x leave that to get_lr."""
        state = self.__dict__
        steps = state.get("_cell_steps")
        if steps is not None and self.current_variant is None:
            steps.select()
        if self._preconditions():
            args, kwargs = self._preconditioned(args, kwargs)
        step, state["_cell_rate_read"] = self.global_step.value()._id, False
        out = super()._run(args, kwargs)
        if state["_cell_rate_read"]:
            state["_cell_rate_read"] = False
            if self.global_step.value()._id == step:
                self._advance()
        if steps is not None:
            steps.updated()
        return out

    def _group_rates(self) -> Tuple[Tensor, ...]:
        """Returns one learning rate per parameter; a shared rate is computed once."""
        rates = {}
        for cell in self.group_lr:
            if id(cell) not in rates:
                rates[id(cell)] = self._scalar(cell(self.global_step))
        return tuple(rates[id(cell)] for cell in self.group_lr)

    def _scalar(self, lr: Any) -> Tensor:
        if not isinstance(lr, Tensor):
            return Tensor(lr, mstype.float32)
        if lr.size != 1:
            fail(ValueError, f"{self.cls_name}: the schedule gave shape {tuple(lr.shape)}, one number is expected")
        return _ops.reshape(lr, ()) if lr.shape else lr

    def _advance(self) -> None:
        self.global_step.assign(_ops.add(self.global_step.value(), self.global_step_increase_tensor))

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        return self.dynamic_lr or self.dynamic_weight_decay

    def get_lr_parameter(self, param: Union[Parameter, List[Parameter]]) -> Any:
        """Returns the learning rate of a Parameter.

        Args:
            param (Parameter, list): A Parameter, or a list of them.

        Returns:
            The rate as a Parameter, or the schedule; for a list, a list of these.

        Raises:
            TypeError: If `param` has another type.
            ValueError: If the optimizer does not train the Parameter.

        Examples:
            >>> import sindri as ms
            >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
            >>> print(ms.nn.SGD([p], 0.5).get_lr_parameter(p).asnumpy())
            0.5
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
        """Returns its argument: the parallel optimizer, which would broadcast every rank's parameters, is not available.

        Args:
            optim_result: The result of the update.

        Returns:
            `optim_result`.
        """
        return optim_result

    # For the optimizers included in Sindri.

    def _whole(self) -> bool:
        """Returns whether nothing that the library computes has been replaced."""
        if self.__dict__["_cell_staged"]:
            return False
        kept = type(self).__dict__.get("_kept_parts")
        if kept is None:
            kept = all(getattr(type(self), part) is getattr(Optimizer, part) for part in Optimizer._PARTS)
            setattr(type(self), "_kept_parts", kept)
        return cast(bool, kept)

    def construct(self, *hyper_params: Any) -> Any:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, gradients)")

    def _rates(self) -> Tuple[Tensor, ...]:
        """Returns get_lr as one rate per parameter."""
        lr = self.get_lr()
        counts = context.era() == 2 or self.__dict__["_cell_native"].needs_step_count
        self.__dict__["_cell_rate_read"] = counts  # global_step also counts updates with a fixed rate
        return lr if isinstance(lr, tuple) else (lr,) * self.param_length

    def _has_controls(self) -> bool:
        """Returns whether the whole step is the library's, which can skip a step and unscale gradients. A step with precondition is not: it receives
        gradients already divided by the loss scale, and its writes are restored if a step is skipped."""
        whole = bool(self.__dict__["_cell_rule"]) and self._whole() and not self._preconditions()
        return whole and "construct" not in self.__dict__ and type(self).construct is NativeOptimizer.construct

    def _apply_unless(self, skip: Tensor, gradients: Tuple[Tensor, ...], inv_scale: Optional[Tensor] = None, uses: Any = None) -> None:
        """Runs the update with gradients·inv_scale; if the bool tensor `skip` is true, parameters and state keep their values.

        The choice is made by ops, so that it can be traced. inv_scale needs _has_controls().
        """
        if self._has_controls():
            graphs: Optional[Graphs] = self.__dict__.get("_cell_controlled")
            if not (local.apart and outermost()):
                self._controlled(skip, gradients, inv_scale)
                return
            if graphs is None:
                graphs = self.__dict__["_cell_controlled"] = Graphs(self._controlled, self.cls_name, whole=True)
            graphs.call_apart((skip, gradients, inv_scale), {}, root=self)
            return
        apply_unless(self, skip, gradients, uses)

    def _controlled(self, skip: Tensor, gradients: Tuple[Tensor, ...], inv_scale: Optional[Tensor]) -> None:
        self.__dict__["_cell_skip"], self.__dict__["_cell_inv_scale"] = skip, inv_scale
        try:
            self(gradients)
        finally:
            self.__dict__["_cell_skip"] = self.__dict__["_cell_inv_scale"] = None

    def _may_be_a_part(self) -> bool:
        return self.__dict__["_cell_skip"] is None and (not self.__dict__["_cell_advanced"] or self._has_controls())


class NativeOptimizer(Optimizer):
    """Base class of optimizers whose rule the C++ library computes: `_build` receives its name and settings.

    copy and pickle create another optimizer with the same arguments and this one's state. Parameters follow the rules of the copy: a deep copy of
    a network together with its optimizer trains the copied network.

    Args:
        *args: The arguments of the optimizer's constructor.
        **kwargs: Its keyword arguments.

    Examples:
        >>> import copy
        >>> import sindri as ms
        >>> net = ms.nn.Dense(2, 1)
        >>> optimizer = ms.nn.Momentum(net.trainable_params(), 0.1, 0.9)
        >>> other_net, other = copy.deepcopy((net, optimizer))
        >>> other.parameters[0] is other_net.weight
        True
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made.__dict__["_cell_arguments"] = (args, kwargs)
        return made

    def _arguments(self) -> Tuple[tuple, dict]:
        args, kwargs = self.__dict__["_cell_arguments"]
        given = self.__dict__.get("init_params", {}).get("params")  # the values of an iterator, which cannot be read again
        if given is None:
            return args, kwargs
        if args and isinstance(args[0], Iterator):
            return (given,) + args[1:], kwargs
        return args, {k: given if k == "params" and isinstance(v, Iterator) else v for k, v in kwargs.items()}

    def __reduce_ex__(self, protocol: Any) -> Any:
        trained = {id(p) for p in self.parameters}
        state = {n: p.asnumpy() for n, p in self.parameters_and_names() if id(p) not in trained}
        return (_remade, (type(self),) + self._arguments() + (state,))

    def construct(self, gradients: Tuple[Tensor, ...]) -> Any:
        state = self.__dict__
        native = state["_cell_native"]
        if self._whole():
            native.apply(gradients, state["_cell_inv_scale"], state["_cell_skip"])
            return True
        decays: Any = ()
        gradients = self.flatten_gradients(tuple(gradients))
        if native.decays_gradient:
            gradients = self.decay_weight(gradients)
        else:
            decay = self.get_weight_decay()
            decays = tuple(None if not flag or not self.exec_weight_decay else d if isinstance(d, Tensor) else Tensor(d, mstype.float32)
                           for d, flag in zip(decay if self.is_group else (decay,) * self.param_length, self.decay_flags))
        gradients = self._grad_sparse_indices_deduplicate(self.scale_grad(self.gradients_centralization(gradients)))
        native.apply_rule(gradients, self._rates(), decays, None, False)
        return True


def _remade(cls: Any, args: tuple, kwargs: dict, state: dict) -> Any:
    """Returns another optimizer with these arguments and this state."""
    made = cls(*args, **kwargs)
    made.expect_state({name: (value.shape, Tensor(value).dtype) for name, value in state.items()})
    for name, p in made.parameters_and_names():
        if name in state:
            p.set_data(Tensor(state[name], p.dtype))
    return made


def apply_unless(optimizer: Cell, skip: Tensor, gradients: Tuple[Tensor, ...], uses: Any = None) -> None:
    """Runs the update; if the bool tensor `skip` is true, restores every Parameter of the optimizer. The choice is made by ops, so that it can be
    traced."""
    params = list(optimizer.get_parameters())
    before = [p.value() for p in params]
    optimizer(gradients, **({} if uses is None else {"uses": uses}))
    for p, old in zip(params, before):
        new = p.value()
        if new._id != old._id:
            p.assign(_ops.where(skip, old, new))


def _number_or_cell(value: Any) -> Any:
    return float(value) if is_number(value) else value


def _decayed(grad: Tensor, param: Parameter, decay: Any) -> Tensor:
    if isinstance(decay, Tensor):
        decay = _ops.reshape(_ops.cast(decay, param.dtype), ())
    return _ops.add(grad, _ops.mul(param, decay))
