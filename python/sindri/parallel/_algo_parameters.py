"""Parameters of the strategy search, which are only stored."""
from typing import Any, Dict

_DEFAULTS: Dict[str, Any] = {'fully_use_devices': True, 'elementwise_op_strategy_follow': False, 'enable_algo_approxi': False,
                             'algo_approxi_epsilon': 0.1, 'tensor_slice_align_enable': False, 'tensor_slice_align_size': 16}
_values = dict(_DEFAULTS)


def _checked(key: str, value: Any, where: str) -> Any:
    if key not in _DEFAULTS:
        raise ValueError(f"{where}: unknown key '{key}' | known are {', '.join(_DEFAULTS)}")
    kind = type(_DEFAULTS[key])
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise TypeError(f"{where}: '{key}' must be {kind.__name__}, got {value!r}")
    if key == 'algo_approxi_epsilon' and not 0 < value <= 1:
        raise ValueError(f"{where}: 'algo_approxi_epsilon' must be in (0, 1], got {value}")
    if key == 'tensor_slice_align_size' and not 1 <= value <= 1024:
        raise ValueError(f"{where}: 'tensor_slice_align_size' must be 1 to 1024, got {value}")
    return value


def set_algo_parameters(**kwargs: Any) -> None:
    """Stores parameters of the strategy search, without effect.

    Args:
        kwargs (Any): fully_use_devices, elementwise_op_strategy_follow, enable_algo_approxi, algo_approxi_epsilon, tensor_slice_align_enable,
            tensor_slice_align_size.

    Raises:
        TypeError: If a value has another type.
        ValueError: If a key is unknown or a value is out of range.

    Examples:
        >>> from sindri.parallel import set_algo_parameters, get_algo_parameters
        >>> set_algo_parameters(tensor_slice_align_size=32)
        >>> get_algo_parameters("tensor_slice_align_size")
        32
    """
    for key, value in kwargs.items():
        _checked(key, value, 'set_algo_parameters')
    _values.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """Returns a stored parameter of the strategy search.

    Args:
        attr_key (str): A key of `set_algo_parameters`.

    Returns:
        bool, int or float, the value.

    Raises:
        ValueError: If the key is unknown.

    Examples:
        >>> from sindri.parallel import get_algo_parameters, reset_algo_parameters
        >>> reset_algo_parameters()
        >>> get_algo_parameters("tensor_slice_align_size")
        16
    """
    if attr_key not in _DEFAULTS:
        raise ValueError(f"get_algo_parameters: unknown key '{attr_key}' | known are {', '.join(_DEFAULTS)}")
    return _values[attr_key]


def reset_algo_parameters() -> None:
    """Resets the parameters of the strategy search to their defaults.

    Examples:
        >>> from sindri.parallel import get_algo_parameters, reset_algo_parameters, set_algo_parameters
        >>> set_algo_parameters(tensor_slice_align_size=32)
        >>> reset_algo_parameters()
        >>> get_algo_parameters("tensor_slice_align_size")
        16
    """
    _values.update(_DEFAULTS)
