"""Optimizer: parameter groups whose options, including learning rates, may change between steps.

A group's learning rate is a Parameter, so a compiled step reads its current value. Every other option is a number in the group's dict, and changing
one recompiles the step. RuleOptimizer adds the common parts of this package's optimizers: their state, one tuple of Parameters per slot, and the loop over the
groups. A subclass defines the rule for one parameter.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Callable, Iterator, NamedTuple, Optional, Tuple

from sindri import _core
from sindri._check import check_bool, check_float, fail, is_number
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.parameter import Parameter, ParameterTuple
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.nn.optim.optimizer import apply_unless

__all__ = ["Optimizer", "RuleOptimizer"]

_ops = _core.ops


class ParamGroup(dict):
    """The options of one group. A value assigned to 'lr' is written to the Parameter that holds the rate, so schedulers and compiled steps see it."""

    def __setitem__(self, key: Any, value: Any) -> None:
        rate = self.get("lr")
        if key != "lr" or not isinstance(rate, Parameter):
            super().__setitem__(key, value)
        elif value is not rate:
            rate.assign(_rate("param_groups[...]['lr']", value, rate.dtype))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As dict.update, with 'lr' handled as above."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value


def _rate(who: str, value: Any, dtype: Any) -> Tensor:
    """Returns a learning rate as a scalar tensor. Raises TypeError unless it is a number or a Tensor, ValueError for a negative number or a Tensor that is not
    a scalar."""
    if is_number(value):
        return Tensor(check_float(who, "the learning rate", value, least=0), dtype)
    if not isinstance(value, Tensor):
        fail(TypeError, f"{who}: the learning rate must be a number or a scalar Tensor, got {type(value).__name__}")
    if value.shape != ():
        fail(ValueError, f"{who}: a learning rate given as a Tensor must be a scalar, got shape {tuple(value.shape)}")
    return _ops.cast(value, dtype)


class Optimizer(Cell):
    """Base class of optimizers with parameter groups. A call with the gradients of `parameters`, in that order, updates them.

    `param_groups` is a list of dicts. `param_groups[i]["lr"]` is a Parameter; a number assigned to it takes effect in the next step in both modes.
    `lrs` holds these Parameters, `group_start_id` the position in `parameters` at which each group starts. A subclass defines `construct(self, gradients)`.

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace the defaults.
        defaults (dict): The options of groups that do not set them.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If params is None or empty, contains a Parameter twice, or a learning rate or weight decay is negative.
        KeyError: If a group has no `params`.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental import optim
        >>> a, b = (ms.Parameter(ms.Tensor([1.0]), name=name) for name in "ab")
        >>> optimizer = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
        >>> optimizer.param_groups[0]["lr"] = 0.2
        >>> _ = optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
        >>> print(a.asnumpy(), b.asnumpy())
        [0.8] [0.5]
    """

    def __init__(self, params: Any, defaults: dict) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(defaults, dict):
            fail(TypeError, f"{self.cls_name}: defaults must be a dict, got {type(defaults).__name__}")
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list = []
        self.group_start_id = [0]
        self.parameters, self.lrs = ParameterTuple(()), ParameterTuple(())
        for group in self._groups_of(params):
            self.add_param_group(group)

    def _groups_of(self, params: Any) -> list:
        if params is None:
            fail(ValueError, f"{self.cls_name}: params must not be None", "pass net.trainable_params()")
        if isinstance(params, (Tensor, dict, str)) or not isinstance(params, Iterable):
            fail(TypeError, f"{self.cls_name}: params must be a list of Parameters or of dicts that each hold a group, got {type(params).__name__}")
        params = list(params)
        if not params:
            fail(ValueError, f"{self.cls_name}: params must not be empty", "pass net.trainable_params(), with some requires_grad=True")
        return params if isinstance(params[0], dict) else [{"params": params}]

    def add_param_group(self, param_group: dict) -> None:
        """Adds a group.

        Args:
            param_group (dict): `params`, a Parameter or a list of them, and options that replace the defaults.

        Raises:
            TypeError: As the class.
            ValueError: As the class.
            KeyError: As the class.
        """
        group = self._checked_group(param_group)
        rate = group.pop("lr")
        number, dtype = len(self.param_groups), mstype.float64 if any(p.dtype == mstype.float64 for p in group["params"]) else mstype.float32
        group["lr"] = Parameter(_rate(f"{self.cls_name}: group {number}", rate, dtype), name=f"learning_rate_group_{number}")
        self.parameters = ParameterTuple((*self.parameters, *group["params"]))  # may raise, in which case the group is not added
        self.lrs = ParameterTuple((*self.lrs, group["lr"]))
        self.param_groups.append(group)
        self.group_start_id.append(self.group_start_id[-1] + len(group["params"]))

    def _checked_group(self, given: Any) -> ParamGroup:
        """Returns the group with the defaults, its params as a list and 'lr' unchanged."""
        who, number = self.cls_name, len(self.param_groups)
        if not isinstance(given, dict):
            fail(TypeError, f"{who}: group {number} must be a dict, got {type(given).__name__}")
        if "params" not in given:
            fail(KeyError, f"{who}: group {number} has no 'params'")
        params = given["params"]
        if isinstance(params, (set, frozenset)):
            fail(TypeError, f"{who}: the params of group {number} are a set, whose order differs from run to run", "pass a list")
        if not isinstance(params, (Parameter, Iterable)) or isinstance(params, (str, dict)):
            fail(TypeError, f"{who}: the params of group {number} must be a list of Parameters, got {type(params).__name__}")
        params = [params] if isinstance(params, Parameter) else list(params)
        known = {id(p) for p in self.parameters}
        for p in params:
            if not isinstance(p, Parameter):
                fail(TypeError, f"{who}: the params of group {number} must be Parameters, got {type(p).__name__}")
            if id(p) in known:
                fail(ValueError, f"{who}: parameter '{p.name}' is given twice", "name each Parameter once, in one group")
            known.add(id(p))
        group = ParamGroup({**self.defaults, **given, "params": params})
        if "lr" not in group:
            fail(KeyError, f"{who}: group {number} has no 'lr' and defaults has none")
        group["weight_decay"] = check_float(who, "weight_decay", group.get("weight_decay", 0.0), least=0)
        return group

    def construct(self, *hyper_params: Any) -> Any:
        raise NotImplementedError(f"{self.cls_name} defines no construct | override construct(self, gradients)")

    def _apply_unless(self, skip: Tensor, gradients: Tuple[Tensor, ...], inv_scale: Optional[Tensor] = None, uses: Any = None) -> None:
        """Updates unless the bool tensor `skip` is true. Traced steps with a loss scale call it."""
        apply_unless(self, skip, gradients, uses)

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {value.value() if isinstance(value, Parameter) else value}" for key, value in sorted(group.items()) if key != "params"]
        return "\n".join([f"{type(self).__name__} (", *lines]) + "\n)"


class Slot(NamedTuple):
    """State of every parameter, in its shape: `<name>.<parameter>`; or of every group, a scalar: `<name>_group_<number>`."""

    name: str
    init: Callable[[dict], Any] = lambda group: 0.0  # from the group's options
    of_groups: bool = False


def _rule_type(p: Parameter) -> Any:
    """Returns the type of a rule's computation and state. In a half type, squares of gradients would underflow."""
    return mstype.float64 if p.dtype == mstype.float64 else mstype.float32


def _in_type(x: Tensor, dtype: Any) -> Tensor:
    return x if x.dtype == dtype else _ops.cast(x, dtype)


# Returns the new values of a parameter and of its state from the value, the gradient and the state.
Rule = Callable[..., Tuple[Tensor, ...]]


class RuleOptimizer(Optimizer):
    """Base class of optimizers that are defined by a rule for one parameter.

    A subclass names its state (`_slots`) and its step counter (`_counter`, None for none), checks a group's options (`_check`) and returns the rule of a
    group for one step (`_rule`).

    Args:
        params (list): Parameters, or dicts that each hold a group: `params` and options that replace the defaults.
        defaults (dict): The options of groups that do not set them.

    Raises:
        TypeError: As Optimizer.
        ValueError: As Optimizer.
        KeyError: As Optimizer.

    Examples:
        >>> import sindri as ms
        >>> from sindri.experimental.optim.optimizer import RuleOptimizer
        >>> class SignDescent(RuleOptimizer):
        ...     _counter = None
        ...
        ...     def _rule(self, group, number, rate, step):
        ...         return lambda p, g: (p - rate * ms.ops.sign(g),)
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optimizer = SignDescent([w], {"lr": 0.25, "weight_decay": 0.0})
        >>> _ = optimizer((ms.Tensor([5.0]),))
        >>> print(w.asnumpy())
        [0.75]
    """

    _counter: Optional[str] = "step_t"
    _counter_start: Any = 0  # the counter's shape and type
    _slots: Tuple[Slot, ...] = ()

    def __init__(self, params: Any, defaults: dict) -> None:
        super().__init__(params, defaults)
        if self._counter is not None:
            start = self._counter_start
            setattr(self, self._counter, Parameter(start if isinstance(start, Tensor) else Tensor(start, mstype.int32), name=self._counter))

    def _check(self, group: dict) -> None:
        """Raises TypeError or ValueError for options out of range."""

    def _used_slots(self) -> Iterator[Slot]:
        """Returns the slots that the options of any group need."""
        yield from self._slots

    def _rule(self, group: dict, number: int, rate: Tensor, step: Any) -> Rule:
        """Returns the rule of a group for this step. step: counted from 1, a float64 scalar; None without a counter."""
        raise NotImplementedError

    def _checked_group(self, given: Any) -> ParamGroup:
        group = super()._checked_group(given)
        self._check(group)
        return group

    def add_param_group(self, param_group: dict) -> None:
        """Adds a group and its state.

        Args:
            param_group (dict): `params`, a Parameter or a list of them, and options that replace the defaults.

        Raises:
            TypeError: As the class.
            ValueError: As the class.
            KeyError: As the class.
        """
        super().add_param_group(param_group)
        for slot in self._used_slots():
            held = list(getattr(self, slot.name, ()))
            for number, group in enumerate(self.param_groups):
                if slot.of_groups:
                    if number >= len(held):
                        held.append(Parameter(Tensor(slot.init(group), group["lr"].dtype), name=f"{slot.name}_group_{number}"))
                    continue
                for index in range(max(len(held), self.group_start_id[number]), self.group_start_id[number + 1]):
                    p = self.parameters[index]
                    start = initializer(float(slot.init(group)), p.shape, _rule_type(p))
                    held.append(Parameter(start, name=f"{slot.name}.{p.name}", requires_grad=p.requires_grad))
            setattr(self, slot.name, ParameterTuple(held))

    def construct(self, gradients: Tuple[Tensor, ...]) -> bool:
        self._check_gradients(gradients)
        step = self._advance()
        slots = [self._held(slot) for slot in self._used_slots() if not slot.of_groups]
        for number, group in enumerate(self.param_groups):
            rule = self._rule(group, number, group["lr"].value(), step)
            for i in range(self.group_start_id[number], self.group_start_id[number + 1]):
                p, states = self.parameters[i], [slot[i] for slot in slots]
                dtype = _rule_type(p)
                news = rule(_in_type(p.value(), dtype), _in_type(gradients[i], dtype), *[s.value() for s in states])
                for held, new in zip((p, *states), news):
                    held.assign(_in_type(new, held.dtype))
        return True

    def _held(self, slot: Slot) -> ParameterTuple:
        held: Optional[ParameterTuple] = getattr(self, slot.name, None)
        if held is None:
            fail(ValueError, f"{self.cls_name}: an option of param_groups needs the state '{slot.name}', which is only created with the optimizer or a group",
                 "set the option when you create the optimizer or the group")
        return held

    def _advance(self) -> Any:
        if self._counter is None:
            return None
        counter = getattr(self, self._counter)
        counter.assign(_ops.add(counter.value(), 1))
        return _ops.reshape(_ops.cast(counter.value(), mstype.float64), ())

    def _check_gradients(self, gradients: Any) -> None:
        if not isinstance(gradients, (tuple, list)):
            fail(TypeError, f"{self.cls_name}: gradients must be a tuple, got {type(gradients).__name__}")
        if len(gradients) != len(self.parameters):
            fail(ValueError, f"{self.cls_name}: got {len(gradients)} gradients for {len(self.parameters)} parameters",
                 "compute the gradients of optimizer.parameters, in that order")
        for p, g in zip(self.parameters, gradients):
            if not isinstance(g, Tensor):
                fail(TypeError, f"{self.cls_name}: the gradient of '{p.name}' must be a Tensor, got {type(g).__name__}")
            if g.shape != p.shape:
                fail(ValueError, f"{self.cls_name}: the gradient of '{p.name}' has shape {tuple(g.shape)}, the parameter {tuple(p.shape)}")


def decayed(group: dict, param: Tensor, grad: Tensor) -> Tensor:
    """Returns the gradient that most rules use: negated with `maximize`, plus weight_decay·param."""
    if group.get("maximize"):
        grad = _ops.neg(grad)
    return _ops.add(grad, _ops.mul(param, group["weight_decay"])) if group["weight_decay"] else grad


def sign_of(group: dict) -> float:
    """Returns the factor of the gradient: -1 with maximize."""
    return -1.0 if group.get("maximize") else 1.0


def one_minus_power(beta: float, step: Tensor) -> Tensor:
    """Returns 1 - beta^step in float64: with beta close to 1, float32 would lose most digits."""
    return _ops.sub(1.0, power_of(beta, step))


def power_of(beta: float, step: Tensor) -> Tensor:
    """Returns beta^step in float64."""
    return _ops.pow(_ops.full((), beta, mstype.float64), step)


def like(scalar: Tensor, rate: Tensor) -> Tensor:
    """Returns a float64 scalar in the type of the learning rate."""
    return _ops.cast(scalar, rate.dtype)


def check_rate(who: str, rate: Any, above_zero: bool) -> None:
    """Checks the lr of a constructor: some of MindSpore's optimizers accept 0, others do not. Raises TypeError or ValueError."""
    if isinstance(rate, Tensor):
        _rate(who, rate, mstype.float32)
    else:
        check_float(who, "lr", rate, **({"above": 0} if above_zero else {"least": 0}))


def check_betas(who: str, group: dict) -> None:
    """Checks that betas holds two numbers in [0, 1)."""
    betas = group["betas"]
    if not isinstance(betas, (tuple, list)) or len(betas) != 2:
        fail(TypeError, f"{who}: betas must be a tuple of two numbers, got {betas!r}")
    for i, beta in enumerate(betas):
        check_float(who, f"betas[{i}]", beta, least=0, below=1)


def check_maximize(who: str, group: dict) -> None:
    """Checks that maximize is a bool."""
    check_bool(who, "maximize", group["maximize"])
