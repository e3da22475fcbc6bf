"""Getters of the parallel settings that scripts' training wrappers import."""
from typing import Any, List, Tuple

from sindri import context
from sindri.common import dtype as mstype
from sindri.common.not_yet import not_yet
from sindri.common.tensor import Tensor
from sindri.context import ParallelMode


def _get_parallel_mode() -> str:
    """Returns the name of the parallel mode."""
    return context.get_auto_parallel_context('parallel_mode')


def _get_device_num() -> int:
    """Returns the number of devices in the settings."""
    return context.get_auto_parallel_context('device_num')


def _get_stage_device_num() -> int:
    """Returns the number of devices per pipeline stage."""
    return _get_device_num() // _get_pipeline_stages()


def _get_global_rank() -> int:
    """Returns this process's rank in the settings."""
    return context.get_auto_parallel_context('global_rank')


def _get_gradients_mean() -> bool:
    """Returns whether gradients are averaged over ranks."""
    return context.get_auto_parallel_context('gradients_mean')


_get_mirror_mean = _get_gradients_mean


def _get_parameter_broadcast() -> bool:
    """Returns whether parameters are broadcast at the start."""
    return context.get_auto_parallel_context('parameter_broadcast')


def _get_full_batch() -> bool:
    """Returns whether every rank reads the whole batch."""
    return context.get_auto_parallel_context('full_batch')


def _get_pipeline_stages() -> int:
    """Returns the number of pipeline stages."""
    return context.get_auto_parallel_context('pipeline_stages')


def _get_enable_parallel_optimizer() -> bool:
    """Returns whether the optimizer is split over ranks."""
    return context.get_auto_parallel_context('enable_parallel_optimizer')


def _is_in_auto_parallel_mode() -> bool:
    """Returns whether the mode is automatic or semi-automatic."""
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_in_data_parallel_mode() -> bool:
    """Returns whether the mode is data parallel."""
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_in_hybrid_parallel_mode() -> bool:
    """Returns whether the mode is hybrid."""
    return _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def _need_to_full() -> bool:
    """Returns whether batches must be combined over ranks."""
    return _is_in_auto_parallel_mode() and not _get_full_batch()


def _to_tensor(elem: Any, scaling_sens: Any = None) -> Any:
    """Converts an array or number to a Tensor; with scaling_sens returns a tuple of the Tensors and the scale."""
    single = not isinstance(elem, (tuple, list))
    row = tuple(x if isinstance(x, Tensor) else Tensor(x) for x in ((elem,) if single else elem))
    if scaling_sens is not None:
        row += (Tensor(scaling_sens, mstype.float32),)
    return row[0] if single and scaling_sens is None else row


def _to_full_tensor(elem: Any, global_device_num: int, global_rank: int, scaling_sens: Any = None) -> Any:
    """Returns the batch of all ranks; with one rank the batch itself."""
    if global_device_num != 1:
        not_yet('train._utils._to_full_tensor', 'model parallel')
    row = elem if isinstance(elem, (tuple, list)) else (elem,)
    return _to_tensor(tuple(row), scaling_sens)


def _to_full_shapes(shapes: List[Any], device_num: int) -> List[Any]:
    """Returns the shapes of the batch of all ranks: the first dimension is multiplied by device_num."""
    return [(s[0] * device_num,) + tuple(s[1:]) if len(s) else () for s in shapes]


def _device_number_check(parallel_mode: str, device_number: int) -> None:
    """Raises ValueError if the stand-alone mode is set with several devices."""
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(f"parallel_mode 'stand_alone' uses one device, got device_num {device_number} | set another parallel_mode")


def _parameter_broadcast_check(parallel_mode: str, parameter_broadcast: bool) -> None:
    """Raises ValueError if parameters would be broadcast in stand-alone mode."""
    if parameter_broadcast and parallel_mode == ParallelMode.STAND_ALONE:
        raise ValueError("'parameter_broadcast' needs a parallel_mode other than 'stand_alone'")


def _parallel_predict_check() -> None:
    """Raises RuntimeError if prediction is not possible in the parallel mode."""
    if _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL:
        raise RuntimeError("Model.predict does not work in parallel_mode 'hybrid_parallel'")
