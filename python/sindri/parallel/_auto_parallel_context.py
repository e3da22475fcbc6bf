"""The parallel settings as an object, for older scripts."""
from typing import Any, Dict, List

from sindri import context

__all__ = ['_AutoParallelContext', 'auto_parallel_context', '_set_auto_parallel_context', '_get_auto_parallel_context', '_reset_auto_parallel_context']

_DEFAULT_GROUP = 'hccl_world_groupsum1'


class _AutoParallelContext:
    """Getters and setters of sindri.context's parallel settings, and the fusion points of gradients."""

    def __init__(self) -> None:
        self._split_sizes: Dict[str, List[int]] = {}

    @staticmethod
    def _points(values: Any, name: str, group: str) -> List[int]:
        if not isinstance(values, (list, tuple)):
            raise TypeError(f"set_all_reduce_fusion_split_{name}: a list is needed, got {type(values).__name__}")
        if not isinstance(group, str):
            raise TypeError(f"set_all_reduce_fusion_split_{name}: 'group' must be a str, got {type(group).__name__}")
        for v in values:
            if not isinstance(v, int) or isinstance(v, bool):
                raise TypeError(f"set_all_reduce_fusion_split_{name}: entries must be int, got {v!r}")
        if len(set(values)) != len(values) and name == 'indices':
            raise ValueError(f"set_all_reduce_fusion_split_{name}: {list(values)} has duplicates")
        return list(values)

    def set_all_reduce_fusion_split_indices(self, indices: Any, group: str = '') -> None:
        """Sets the last gradient of each fused all-reduce except the last one, for the gradients of a group ('': all ranks, which is all_reduce_fusion_config).
        DistributedGradReducer reads it when it is created. Raises TypeError; ValueError unless the positions increase."""
        points = self._points(indices, 'indices', group)
        if group in ('', _DEFAULT_GROUP):
            context.set_auto_parallel_context(all_reduce_fusion_config=points)
        else:
            context._check_fusion(points, 'set_all_reduce_fusion_split_indices')
            context._split_indices[group] = points

    def get_all_reduce_fusion_split_indices(self, group: str = '') -> List[int]:
        """Returns the positions of a group; empty if none were set."""
        if group in ('', _DEFAULT_GROUP):
            return list(context.get_auto_parallel_context('all_reduce_fusion_config'))
        return list(context._split_indices.get(group, []))

    def set_all_reduce_fusion_split_sizes(self, sizes: Any, group: str = '') -> None:
        """Sets the sizes of the fused all-reduces of a group."""
        self._split_sizes[group or _DEFAULT_GROUP] = self._points(sizes, 'sizes', group)

    def get_all_reduce_fusion_split_sizes(self, group: str = '') -> List[int]:
        """Returns the sizes of a group."""
        return list(self._split_sizes.get(group or _DEFAULT_GROUP, []))

    def reset(self) -> None:
        """Resets everything to the defaults."""
        context.reset_auto_parallel_context()
        self._split_sizes.clear()

    def get_device_num_is_set(self) -> bool:
        """Returns whether device_num differs from its default."""
        return context.get_auto_parallel_context('device_num') != 1

    def get_global_rank_is_set(self) -> bool:
        """Returns whether global_rank differs from its default."""
        return context.get_auto_parallel_context('global_rank') != 0

    def get_parameter_broadcast_is_set(self) -> bool:
        """Returns whether parameter_broadcast is on."""
        return bool(context.get_auto_parallel_context('parameter_broadcast'))

    def check_context_handle(self) -> None:
        """Does nothing: the settings always exist."""


def _accessors(key: str) -> None:
    def get(self: _AutoParallelContext) -> Any:
        return context.get_auto_parallel_context(key)

    def put(self: _AutoParallelContext, value: Any) -> None:
        context.set_auto_parallel_context(**{key: value})
    get.__doc__, put.__doc__ = f'Returns {key}.', f'Sets {key}.'
    setattr(_AutoParallelContext, f'get_{key}', get)
    setattr(_AutoParallelContext, f'set_{key}', put)


for _key in ('device_num', 'global_rank', 'gradients_mean', 'gradient_fp32_sync', 'parallel_mode', 'parameter_broadcast', 'strategy_ckpt_load_file',
             'strategy_ckpt_save_file', 'full_batch', 'dataset_strategy', 'enable_parallel_optimizer', 'pipeline_stages', 'grad_accumulation_step',
             'loss_repeated_mean', 'enable_alltoall', 'comm_fusion', 'strategy_ckpt_config'):
    _accessors(_key)
del _key

_instance = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """Returns the object of this process."""
    return _instance


_set_auto_parallel_context = context.set_auto_parallel_context
_get_auto_parallel_context = context.get_auto_parallel_context
_reset_auto_parallel_context = _instance.reset
