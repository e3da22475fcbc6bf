"""Numbers of the cost model that searches strategies; stored, to be read back: one rank has nothing to search."""
from typing import Any, Dict

_DEFAULTS: Dict[str, Any] = {'device_memory_capacity': 16.0 * 2**30, 'costmodel_alpha': 1.0, 'costmodel_beta': 400.0, 'costmodel_gamma': 0.001,
                             'costmodel_communi_threshold': 2048.0, 'costmodel_communi_const': 3072.0, 'costmodel_communi_bias': 1024.0,
                             'is_multi_subgraphs': False, 'run_phase': 0, 'costmodel_allreduce_fusion_algorithm': 0,
                             'costmodel_allreduce_fusion_times': 0, 'costmodel_allreduce_fusion_tail_percent': 0.1,
                             'costmodel_allreduce_fusion_tail_time': 0.1, 'costmodel_allreduce_fusion_allreduce_inherent_time': 0.1,
                             'costmodel_allreduce_fusion_allreduce_bandwidth': 0.1, 'costmodel_allreduce_fusion_computation_time_parameter': 0.1}
_values = dict(_DEFAULTS)


def set_cost_model_context(**kwargs: Any) -> None:
    """Stores numbers of the cost model. ValueError: unknown key. TypeError: a value that is no number, or no bool where one is due."""
    for key, value in kwargs.items():
        if key not in _DEFAULTS:
            raise ValueError(f"set_cost_model_context: unknown key '{key}' | known are {', '.join(_DEFAULTS)}")
        if isinstance(value, bool) != isinstance(_DEFAULTS[key], bool) or not isinstance(value, (int, float)):
            raise TypeError(f"set_cost_model_context: '{key}' must be a {type(_DEFAULTS[key]).__name__}, got {value!r}")
    _values.update(kwargs)


def get_cost_model_context(attr_key: str) -> Any:
    """A stored number. ValueError: unknown key."""
    if attr_key not in _DEFAULTS:
        raise ValueError(f"get_cost_model_context: unknown key '{attr_key}' | known are {', '.join(_DEFAULTS)}")
    return _values[attr_key]


def reset_cost_model_context() -> None:
    """Back to the defaults."""
    _values.update(_DEFAULTS)


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """Says that the graph holds several subgraphs (stored only)."""
    set_cost_model_context(is_multi_subgraphs=multi_subgraph)


def _get_multi_subgraphs() -> bool:
    """What _set_multi_subgraphs stored."""
    return bool(_values['is_multi_subgraphs'])
