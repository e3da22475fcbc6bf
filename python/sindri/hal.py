"""Devices and their memory by target (MindSpore: mindspore.hal, deprecated in 2.10 in favour of mindspore.runtime and mindspore.device_context)."""
from typing import Any, Dict, NamedTuple, Optional

from sindri import _core, runtime
from sindri.runtime import Stream, current_stream, default_stream, empty_cache, synchronize

__all__ = ['Stream', 'current_stream', 'default_stream', 'device_count', 'empty_cache', 'get_arch_list', 'get_device_capability', 'get_device_name',
           'get_device_properties', 'is_available', 'is_initialized', 'max_memory_allocated', 'max_memory_reserved', 'memory_allocated', 'memory_reserved',
           'memory_stats', 'memory_summary', 'reset_max_memory_allocated', 'reset_max_memory_reserved', 'reset_peak_memory_stats', 'synchronize']


class DeviceProperties(NamedTuple):
    """The hardware's name and the bytes of memory of a device."""

    name: str
    total_memory: int
    free_memory: int


def _devices(target: str) -> list:
    """Returns the entries of _core.devices() of a target. Raises TypeError or ValueError for an unknown target."""
    if not isinstance(target, str):
        raise TypeError(f"The argument 'device_target' must be str, but got {target}, type is {type(target)}.")
    offered = [t for t in _core.device_targets() if t != 'Davinci']
    if target not in offered:
        raise ValueError(f"The argument 'device_target' must be one of {offered}, but got {target}.")
    return [d for d in _core.devices() if target in (d[1], d[0].partition(':')[0])]


def _used(target: Optional[str]) -> list:
    """Returns the devices of a target; for None those of the one in use, which is the CPU if it replaces another. Raises ValueError if there are none."""
    if target is None:
        own = _core.current_device().partition(':')[0]
        return [d for d in _core.devices() if d[0].partition(':')[0] == own]
    found = _devices(target)
    if not found:
        raise ValueError(f'{target} backend is not available for this Sindri package | found: {", ".join(d[0] for d in _core.devices())} | '
                         'sindri doctor says what is missing; hal.is_available(target) asks without an error')
    return found


def _one(device_id: Any, target: Optional[str]) -> Any:
    """Returns one of a target's devices. Raises TypeError, or ValueError for a number out of range."""
    found = _used(target)
    if not isinstance(device_id, int):
        raise TypeError(f"The argument 'device_id' must be int, but got {device_id}, type is {type(device_id)}.")
    if not 0 <= device_id < len(found):
        raise ValueError(f"The argument 'device_id' must be from 0 to {len(found) - 1}, but got {device_id}.")
    return found[device_id]


def _name(target: Optional[str]) -> str:
    """Returns the name of the device whose memory is queried: '' for the one in use; else the target's first, or the one in use if it is one of them."""
    if target is None:
        return ''
    names = [d[0] for d in _used(target)]
    return _core.current_device() if _core.current_device() in names else names[0]


def is_available(device_target: str) -> bool:
    """Returns whether there is a device of the target.

    Args:
        device_target (str): The target.

    Returns:
        bool.

    Raises:
        TypeError: If `device_target` is not a str.
        ValueError: If the target is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.is_available('CPU')
        True
    """
    return bool(_devices(device_target))


def is_initialized(device_target: str) -> bool:
    """Returns the same as `is_available`: a device is ready, and starts its queues with its first work.

    Args:
        device_target (str): The target.

    Returns:
        bool.

    Raises:
        TypeError: If `device_target` is not a str.
        ValueError: If the target is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.is_initialized('CPU')
        True
    """
    return is_available(device_target)


def device_count(device_target: Optional[str] = None) -> int:
    """Returns the number of devices of a target.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        int.

    Raises:
        TypeError: If `device_target` is not a str.
        ValueError: If there are none, or the target is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.device_count('CPU')
        1
    """
    return len(_used(device_target))


def get_device_name(device_id: int, device_target: Optional[str] = None) -> str:
    """Returns the hardware's name; 'CPU' for the CPU.

    Args:
        device_id (int): The device.
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        str.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the device does not exist.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.get_device_name(0, 'CPU')
        'CPU'
    """
    own, target, name, _, _ = _one(device_id, device_target)
    return target if own == 'cpu' else name


def get_device_properties(device_id: int, device_target: Optional[str] = None) -> Optional[DeviceProperties]:
    """Returns name and memory of a device; None for the CPU, as in MindSpore.

    Args:
        device_id (int): The device.
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        DeviceProperties, or None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the device does not exist.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.get_device_properties(0, 'CPU') is None
        True
    """
    own, _, name, memory, free = _one(device_id, device_target)
    return None if own == 'cpu' else DeviceProperties(name, memory, free)


def get_device_capability(device_id: int, device_target: Optional[str] = None) -> None:
    """Returns None: no device here has such numbers.

    Args:
        device_id (int): The device.
        device_target (str): The target. Default: None, that of the device in use.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the device does not exist.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.get_device_capability(0, 'CPU')
    """
    _one(device_id, device_target)


def get_arch_list(device_target: Optional[str] = None) -> None:
    """Returns None: kernels are not chosen by a list of architectures.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Raises:
        TypeError: If `device_target` is not a str.
        ValueError: If there are no such devices, or the target is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.get_arch_list('CPU')
    """
    _used(device_target)


def memory_stats(device_target: Optional[str] = None) -> Dict[str, Any]:
    """Returns `runtime.memory_stats` of a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        Dict.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.memory_stats('CPU')['total_allocated_memory'] >= 0
        True
    """
    return runtime.stats_of(_name(device_target))


def memory_summary(device_target: Optional[str] = None) -> str:
    """Returns `runtime.memory_summary` of a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        str.

    Examples:
        >>> import sindri as ms
        >>> 'Allocated memory' in ms.hal.memory_summary('CPU')
        True
    """
    return runtime.summary_of(memory_stats(device_target))


def memory_allocated(device_target: Optional[str] = None) -> int:
    """Returns `runtime.memory_allocated` of a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.memory_allocated('CPU') >= 0
        True
    """
    return memory_stats(device_target)['total_allocated_memory']


def max_memory_allocated(device_target: Optional[str] = None) -> int:
    """Returns `runtime.max_memory_allocated` of a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.max_memory_allocated('CPU') >= ms.hal.memory_allocated('CPU')
        True
    """
    return memory_stats(device_target)['max_allocated_memory']


def memory_reserved(device_target: Optional[str] = None) -> int:
    """Returns `runtime.memory_reserved` of a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.memory_reserved('CPU') >= ms.hal.memory_allocated('CPU')
        True
    """
    return memory_stats(device_target)['total_reserved_memory']


def max_memory_reserved(device_target: Optional[str] = None) -> int:
    """Returns `runtime.max_memory_reserved` of a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.max_memory_reserved('CPU') >= ms.hal.memory_reserved('CPU')
        True
    """
    return memory_stats(device_target)['max_reserved_memory']


def reset_max_memory_allocated(device_target: Optional[str] = None) -> None:
    """Calls `runtime.reset_max_memory_allocated` for a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.reset_max_memory_allocated('CPU')
    """
    _core.reset_device_memory_peaks(_name(device_target), reserved=False)


def reset_max_memory_reserved(device_target: Optional[str] = None) -> None:
    """Calls `runtime.reset_max_memory_reserved` for a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.reset_max_memory_reserved('CPU')
    """
    _core.reset_device_memory_peaks(_name(device_target), in_use=False)


def reset_peak_memory_stats(device_target: Optional[str] = None) -> None:
    """Calls `runtime.reset_peak_memory_stats` for a target's device.

    Args:
        device_target (str): The target. Default: None, that of the device in use.

    Examples:
        >>> import sindri as ms
        >>> ms.hal.reset_peak_memory_stats('CPU')
    """
    _core.reset_device_memory_peaks(_name(device_target))
