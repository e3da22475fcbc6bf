"""Parameters of the cost model for the strategy search, which are only stored: one rank has no strategy to search."""
import math
from typing import Any, Dict

_DEFAULTS: Dict[str, Any] = {'device_memory_capacity': 16.0 * 2**30, 'costmodel_alpha': 1.0, 'costmodel_beta': 400.0, 'costmodel_gamma': 0.001,
                             'costmodel_communi_threshold': 2048.0, 'costmodel_communi_const': 3072.0, 'costmodel_communi_bias': 1024.0,
                             'is_multi_subgraphs': False, 'run_phase': 0, 'costmodel_allreduce_fusion_algorithm': 0,
                             'costmodel_allreduce_fusion_times': 0, 'costmodel_allreduce_fusion_tail_percent': 0.1,
                             'costmodel_allreduce_fusion_tail_time': 0.1, 'costmodel_allreduce_fusion_allreduce_inherent_time': 0.1,
                             'costmodel_allreduce_fusion_allreduce_bandwidth': 0.1, 'costmodel_allreduce_fusion_computation_time_parameter': 0.1}
_values = dict(_DEFAULTS)
_POSITIVE = ('device_memory_capacity', 'costmodel_alpha', 'costmodel_beta')
_NOT_NEGATIVE = ('costmodel_communi_threshold', 'costmodel_communi_const', 'costmodel_communi_bias')


def _check(key: str, value: Any) -> None:
    default = _DEFAULTS[key]
    if isinstance(value, bool) or not isinstance(value, int if isinstance(default, int) else (int, float)):
        raise TypeError(f"set_cost_model_context: '{key}' must be a {type(default).__name__}, got {value!r}")
    if key == 'run_phase' and value not in (0, 1):
        raise ValueError(f"set_cost_model_context: 'run_phase' must be 0 or 1, got {value}")
    if key in _POSITIVE:
        wanted, fits = 'above 0', value > 0
    elif key == 'costmodel_gamma':
        wanted, fits = 'from 0 to 1', 0 <= value <= 1
    else:
        wanted, fits = ('at least 0', value >= 0) if key in _NOT_NEGATIVE else ('finite', True)
    if not fits or not math.isfinite(value):
        raise RuntimeError(f"set_cost_model_context: '{key}' must be {wanted}, got {value}")


def set_cost_model_context(**kwargs: Any) -> None:
    """Stores parameters of the cost model, without effect. If one value is invalid, nothing is stored.

    Args:
        kwargs (Any): device_memory_capacity, run_phase and the costmodel_... parameters.

    Raises:
        TypeError: If a value is not a number, or not an int if one is required.
        ValueError: If a key is unknown or run_phase is neither 0 nor 1.
        RuntimeError: If a number is out of range.
    """
    known = [key for key in _DEFAULTS if key != 'is_multi_subgraphs']  # which has a separate function
    for key, value in kwargs.items():
        if key not in known:
            raise ValueError(f"set_cost_model_context: unknown key '{key}' | known are {', '.join(known)}")
        _check(key, value)
    _values.update(kwargs)


def get_cost_model_context(attr_key: str) -> Any:
    """Returns a stored parameter of the cost model.

    Args:
        attr_key (str): A key of `set_cost_model_context`, or 'is_multi_subgraphs'.

    Returns:
        float, int or bool, the value.

    Raises:
        ValueError: If the key is unknown.
    """
    if attr_key not in _DEFAULTS:
        raise ValueError(f"get_cost_model_context: unknown key '{attr_key}' | known are {', '.join(_DEFAULTS)}")
    return _values[attr_key]


def reset_cost_model_context() -> None:
    """Resets the parameters to their defaults."""
    _values.update(_DEFAULTS)


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """Stores whether the graph contains several subgraphs, without effect. Raises TypeError unless it is a bool."""
    if not isinstance(multi_subgraph, bool):
        raise TypeError(f"_set_multi_subgraphs: expected a bool, got {multi_subgraph!r}")
    _values['is_multi_subgraphs'] = multi_subgraph


def _get_multi_subgraphs() -> bool:
    """Returns the value that _set_multi_subgraphs stored."""
    return bool(_values['is_multi_subgraphs'])
