"""Parameter and ParameterTuple (MindSpore: mindspore.Parameter, mindspore.ParameterTuple)."""
# The extension defines the classes; their stub contains the attributes attached here.
# mypy: disable-error-code="method-assign,assignment"
from __future__ import annotations

import copy
from typing import Any, Callable, Iterable

from sindri._compile import clock
from sindri._core import Parameter, Tensor
from sindri.common._indexing import with_item
from sindri.common.initializer import initializer

__all__ = ["Parameter", "ParameterTuple", "PARAMETER_NAME_DEFAULT"]

PARAMETER_NAME_DEFAULT = "Parameter"


def _name_of(self: Parameter) -> str:
    return self._name


def _set_name(self: Parameter, name: Any) -> None:
    if name is None:
        name = PARAMETER_NAME_DEFAULT
    if not isinstance(name, str):
        raise ValueError(f"a Parameter's name must be a str, got {name!r} | Parameter.name")
    if not name.strip() or len(name) > 1024:
        raise ValueError(f"a Parameter's name has 1 to 1024 characters, got {len(name)} | Parameter.name | give another name")
    clock[0] += 1
    self._name = name


def _requires_grad_of(self: Parameter) -> bool:
    return self._requires_grad


def _set_requires_grad(self: Parameter, on: Any) -> None:
    if not isinstance(on, (bool, int)):
        raise TypeError(f"requires_grad must be a bool, got {on!r} | Parameter.requires_grad")
    clock[0] += 1
    self._requires_grad = bool(on)


def _clone(self: Parameter, init: Any = "same") -> Parameter:
    """Returns a Parameter of the same shape and type.

    Args:
        init (str, float, Initializer): 'same' copies this value; otherwise zeros, a number or an initializer, by object or name. Default: 'same'.

    Returns:
        Parameter.

    Raises:
        TypeError: If `init` has another type.
        ValueError: If the name is unknown.
    """
    if isinstance(init, str) and init == "same":
        value = Tensor(self)
    elif isinstance(init, (int, float)) and not isinstance(init, bool):
        value = initializer(init, self.shape, self.dtype)
    else:
        value = initializer(init, self.shape, self.dtype)
    other = Parameter(value, name=self.name, requires_grad=self.requires_grad)
    for key in ("comm_fusion", "layerwise_parallel", "parallel_optimizer"):
        setattr(other, key, getattr(self, key))
    return other


def _str(self: Parameter) -> str:
    return f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad})"


def _hint(name: str, default: Any) -> property:
    """Returns a property that scripts set for parallel runs: it is stored, and nothing reads it on one rank."""
    key = "_hint_" + name

    def get(self: Parameter) -> Any:
        return self.__dict__.get(key, default)

    def put(self: Parameter, value: Any) -> None:
        self.__dict__[key] = value

    return property(get, put, doc=f"{name}: stored; read by parallel runs only.")


def _itself(self: Parameter) -> Parameter:
    return self


def _set_value(self: Parameter, value: Any) -> None:
    self.set_data(value)


def _attributes(self: Parameter) -> dict[str, Any]:
    """Returns the attributes that a copy gets: the gradient's hooks stay with the original."""
    return {name: value for name, value in self.__dict__.items() if name != "_gradient_hooks"}


def _reduce(self: Parameter) -> tuple[Any, ...]:
    return _rebuild, (type(self), Tensor(self), self.name, self.requires_grad), _attributes(self)


def _copy(self: Parameter) -> Parameter:
    other = _rebuild(type(self), Tensor(self), self.name, self.requires_grad)
    other.__dict__.update(_attributes(self))
    return other


def _deepcopy(self: Parameter, memo: dict[int, Any]) -> Parameter:
    other = memo[id(self)] = _rebuild(type(self), Tensor(self), self.name, self.requires_grad)
    other.__dict__.update(copy.deepcopy(_attributes(self), memo))
    return other


def _setitem(self: Parameter, key: Any, value: Any) -> None:
    self.assign(with_item(self.value(), key, value))


Parameter.__module__ = "sindri.common.parameter"
Parameter.__doc__ = """A named Tensor that training updates. A Cell registers the Parameters that are assigned to its attributes.

Args:
    default_input (number, list, tuple, numpy.ndarray, Tensor): The initial value, which is copied.
    name (str): The name, 1 to 1024 characters. Default: None, 'Parameter'; a Cell replaces it with the attribute's name.
    requires_grad (bool): Whether gradients are computed for it. Default: True.
    layerwise_parallel (bool): Accepted for compatibility. Default: False.
    parallel_optimizer (bool): Accepted for compatibility. Default: True.

Raises:
    TypeError: If `default_input` is None, a str or of another type.
    ValueError: If `default_input` is a bool, an int does not fit int32, the name is invalid, or the Parameter is created in code that is being traced.

Examples:
    >>> import sindri as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> _ = w.set_data(ms.Tensor([3.0, 4.0]))
    >>> print(w.name, w.asnumpy())
    w [3. 4.]
"""
Parameter.name = property(_name_of, _set_name, doc="The name; set to the attribute path when attached to a Cell.")
Parameter.requires_grad = property(_requires_grad_of, _set_requires_grad, doc="Whether training changes it.")
Parameter.data = property(_itself, _set_value, doc="The Parameter itself; assigning sets the value.")
Parameter.clone = _clone
Parameter.__str__ = _str
Parameter.__repr__ = _str
Parameter.__reduce__ = _reduce
Parameter.__copy__ = _copy
Parameter.__deepcopy__ = _deepcopy
Parameter.__setitem__ = _setitem
for _name, _default in (("comm_fusion", 1), ("layerwise_parallel", False), ("parallel_optimizer", True), ("cache_enable", False), ("key", -1),
                        ("is_init", True), ("sliced", False), ("inited_param", None), ("is_param_ps", False), ("param_info", None)):
    setattr(Parameter, _name, _hint(_name, _default))


def _rebuild(kind: type[Parameter], value: Tensor, name: str, requires_grad: bool) -> Parameter:
    """Recreates a Parameter, also of a derived class, whatever its __init__ accepts."""
    made: Parameter = kind.__new__(kind)
    Parameter.__init__(made, value, name, requires_grad)
    return made


def _inplace(op: Callable[[Any, Any], Tensor]) -> Callable:
    def update(self: Parameter, other: Any) -> Parameter:
        self.assign(op(self, other))
        return self
    return update


Parameter.__iadd__ = _inplace(lambda a, b: a + b)
Parameter.__isub__ = _inplace(lambda a, b: a - b)
Parameter.__imul__ = _inplace(lambda a, b: a * b)
Parameter.__itruediv__ = _inplace(lambda a, b: a / b)


class ParameterTuple(tuple[Parameter, ...]):
    """An immutable tuple of Parameters with different names.

    Args:
        iterable (Iterable): The Parameters.

    Raises:
        TypeError: If a member is not a Parameter.
        ValueError: If two Parameters have the same name.

    Examples:
        >>> import sindri as ms
        >>> params = ms.ParameterTuple(ms.nn.Dense(2, 3).trainable_params())
        >>> [p.name for p in params.clone('moments', init='zeros')]
        ['moments.weight', 'moments.bias']
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        data = tuple(iterable)
        seen: dict[str, Parameter] = {}
        for p in data:
            if not isinstance(p, Parameter):
                raise TypeError(f"expected Parameters, got {type(p).__name__} | ParameterTuple")
            if p.name in seen and seen[p.name] is not p and p.name != PARAMETER_NAME_DEFAULT:
                raise ValueError(f"two Parameters are named '{p.name}' | ParameterTuple | give them different names")
            seen[p.name] = p
        return super().__new__(cls, data)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Returns copies named `prefix.<name>`, as optimizers name their state.

        Args:
            prefix (str): The prefix.
            init (str, float, Initializer): As in Parameter.clone. Default: 'same'.

        Returns:
            ParameterTuple.

        Raises:
            TypeError: If `prefix` is not a str or is empty.
        """
        if not isinstance(prefix, str) or not prefix:
            raise TypeError(f"prefix must be a str that is not empty, got {prefix!r} | ParameterTuple.clone")
        out = []
        for p in self:
            q = p.clone(init)
            q.name = f"{prefix}.{p.name}"
            out.append(q)
        return ParameterTuple(out)

    def __parameter_tuple__(self) -> None:
        """Marks the class."""
