"""Knobs of the strategy search; stored, to be read back."""
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
    """Stores knobs: fully_use_devices, elementwise_op_strategy_follow, enable_algo_approxi, algo_approxi_epsilon, tensor_slice_align_enable,
    tensor_slice_align_size (stored only). ValueError: unknown key or value; TypeError."""
    for key, value in kwargs.items():
        _checked(key, value, 'set_algo_parameters')
    _values.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """A stored knob. ValueError: unknown key."""
    if attr_key not in _DEFAULTS:
        raise ValueError(f"get_algo_parameters: unknown key '{attr_key}' | known are {', '.join(_DEFAULTS)}")
    return _values[attr_key]


def reset_algo_parameters() -> None:
    """Back to the defaults."""
    _values.update(_DEFAULTS)
