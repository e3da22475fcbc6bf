"""Devices and their memory by target (MindSpore: mindspore.hal, which 2.10 calls deprecated for mindspore.runtime and mindspore.device_context)."""
from typing import Any, Dict, NamedTuple, Optional

from sindri import _core, runtime
from sindri.runtime import Stream, current_stream, default_stream, empty_cache, synchronize

__all__ = ['Stream', 'current_stream', 'default_stream', 'device_count', 'empty_cache', 'get_arch_list', 'get_device_capability', 'get_device_name',
           'get_device_properties', 'is_available', 'is_initialized', 'max_memory_allocated', 'max_memory_reserved', 'memory_allocated', 'memory_reserved',
           'memory_stats', 'memory_summary', 'reset_max_memory_allocated', 'reset_max_memory_reserved', 'reset_peak_memory_stats', 'synchronize']


class DeviceProperties(NamedTuple):
    """Of one device: the hardware's name and bytes of memory."""

    name: str
    total_memory: int
    free_memory: int


def _devices(target: str) -> list:
    """The entries of _core.devices() of a target. Raises TypeError and ValueError for what is no target."""
    if not isinstance(target, str):
        raise TypeError(f"The argument 'device_target' must be str, but got {target}, type is {type(target)}.")
    offered = [t for t in _core.device_targets() if t != 'Davinci']
    if target not in offered:
        raise ValueError(f"The argument 'device_target' must be one of {offered}, but got {target}.")
    return [d for d in _core.devices() if target in (d[1], d[0].partition(':')[0])]


def _used(target: Optional[str]) -> list:
    """The devices of a target; of the one in use for None, which is the CPU where it computes in place of another. Raises ValueError when there are none."""
    if target is None:
        own = _core.current_device().partition(':')[0]
        return [d for d in _core.devices() if d[0].partition(':')[0] == own]
    found = _devices(target)
    if not found:
        raise ValueError(f'{target} backend is not available for this Sindri package | found: {", ".join(d[0] for d in _core.devices())} | '
                         'sindri doctor says what is missing; hal.is_available(target) asks without an error')
    return found


def _one(device_id: Any, target: Optional[str]) -> Any:
    """One of a target's devices. Raises TypeError, ValueError for a number that is not there."""
    found = _used(target)
    if not isinstance(device_id, int):
        raise TypeError(f"The argument 'device_id' must be int, but got {device_id}, type is {type(device_id)}.")
    if not 0 <= device_id < len(found):
        raise ValueError(f"The argument 'device_id' must be from 0 to {len(found) - 1}, but got {device_id}.")
    return found[device_id]


def _name(target: Optional[str]) -> str:
    """The own name of the device whose memory is asked for: '' for the one in use, else the target's first, or that in use where it is one of them."""
    if target is None:
        return ''
    names = [d[0] for d in _used(target)]
    return _core.current_device() if _core.current_device() in names else names[0]


def is_available(device_target: str) -> bool:
    """Whether a device of the target is there. Raises ValueError for what is no target."""
    return bool(_devices(device_target))


def is_initialized(device_target: str) -> bool:
    """The same as is_available: a device that is there is ready, and starts its queues with the first work."""
    return is_available(device_target)


def device_count(device_target: Optional[str] = None) -> int:
    """How many devices of a target are there, by default of the one in use. Raises ValueError when there are none, or for what is no target."""
    return len(_used(device_target))


def get_device_name(device_id: int, device_target: Optional[str] = None) -> str:
    """The hardware's name; 'CPU' for the CPU. Raises TypeError, ValueError for a device that is not there."""
    own, target, name, _, _ = _one(device_id, device_target)
    return target if own == 'cpu' else name


def get_device_properties(device_id: int, device_target: Optional[str] = None) -> Optional[DeviceProperties]:
    """Name and memory; None for the CPU, as in MindSpore. Raises as get_device_name."""
    own, _, name, memory, free = _one(device_id, device_target)
    return None if own == 'cpu' else DeviceProperties(name, memory, free)


def get_device_capability(device_id: int, device_target: Optional[str] = None) -> None:
    """None: no device here has such numbers. Raises as get_device_name."""
    _one(device_id, device_target)


def get_arch_list(device_target: Optional[str] = None) -> None:
    """None: kernels are not chosen by a list of architectures. Raises as device_count."""
    _used(device_target)


def memory_stats(device_target: Optional[str] = None) -> Dict[str, Any]:
    """runtime.memory_stats of a target's device."""
    return runtime.stats_of(_name(device_target))


def memory_summary(device_target: Optional[str] = None) -> str:
    """runtime.memory_summary of a target's device."""
    return runtime.summary_of(memory_stats(device_target))


def memory_allocated(device_target: Optional[str] = None) -> int:
    """runtime.memory_allocated of a target's device."""
    return memory_stats(device_target)['total_allocated_memory']


def max_memory_allocated(device_target: Optional[str] = None) -> int:
    """runtime.max_memory_allocated of a target's device."""
    return memory_stats(device_target)['max_allocated_memory']


def memory_reserved(device_target: Optional[str] = None) -> int:
    """runtime.memory_reserved of a target's device."""
    return memory_stats(device_target)['total_reserved_memory']


def max_memory_reserved(device_target: Optional[str] = None) -> int:
    """runtime.max_memory_reserved of a target's device."""
    return memory_stats(device_target)['max_reserved_memory']


def reset_max_memory_allocated(device_target: Optional[str] = None) -> None:
    """runtime.reset_max_memory_allocated of a target's device."""
    _core.reset_device_memory_peaks(_name(device_target), reserved=False)


def reset_max_memory_reserved(device_target: Optional[str] = None) -> None:
    """runtime.reset_max_memory_reserved of a target's device."""
    _core.reset_device_memory_peaks(_name(device_target), in_use=False)


def reset_peak_memory_stats(device_target: Optional[str] = None) -> None:
    """runtime.reset_peak_memory_stats of a target's device."""
    _core.reset_device_memory_peaks(_name(device_target))
