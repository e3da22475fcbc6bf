"""Streams and memory of the device in use (MindSpore: mindspore.runtime). A CPU has one stream, which runs everything in program order."""
from typing import Any, Dict

from sindri import _core, ops
from sindri.common.tensor import Tensor

__all__ = ['Stream', 'current_stream', 'default_stream', 'synchronize', 'set_memory', 'launch_blocking', 'empty_cache', 'run_check', 'memory_stats',
           'memory_allocated', 'max_memory_allocated', 'memory_reserved', 'max_memory_reserved', 'memory_summary', 'reset_max_memory_allocated',
           'reset_max_memory_reserved', 'reset_peak_memory_stats']


class Stream:
    """A handle of the stream on which ops run, that of the device in use. All work is ordered on it.

    Args:
        priority (int): Stored without effect. Default: 0.
        **kwargs: Ignored.

    Examples:
        >>> import sindri as ms
        >>> stream = ms.runtime.current_stream()
        >>> stream.synchronize()
        >>> stream.query()
        True
    """

    def __init__(self, priority: int = 0, **kwargs: Any):
        self.priority = priority
        self.id = 0
        self.device_name = _core.get_device_target() if _core.current_device() != 'cpu' else 'CPU'

    def query(self) -> bool:
        """Returns whether all work is done, without waiting. It is True on a CPU, whose calls are synchronous.

        Returns:
            bool.
        """
        return _core.is_idle()

    def synchronize(self) -> None:
        """Waits until all work is done."""
        _core.synchronize()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Stream) and self.id == other.id

    def __hash__(self) -> int:
        return hash(('Stream', self.id))

    def __repr__(self) -> str:
        return f'Stream(device_name={self.device_name}, id={self.id})'


def current_stream() -> Stream:
    """Returns the stream in use.

    Returns:
        Stream.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.current_stream() == ms.runtime.default_stream()
        True
    """
    return Stream()


def default_stream() -> Stream:
    """Returns the same stream as `current_stream`.

    Returns:
        Stream.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.default_stream().id
        0
    """
    return Stream()


def synchronize() -> None:
    """Waits for all work of the device in use, and raises its errors. Returns at once on a CPU, whose calls are synchronous.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.synchronize()
    """
    _core.synchronize()


def launch_blocking() -> None:
    """Does nothing: every launch already blocks.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.launch_blocking()
    """


def empty_cache() -> None:
    """Returns memory that was freed and is kept for reuse to the device; on a CPU to the system.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.empty_cache()
    """
    _core.release_cached_device_memory()


def memory_stats() -> Dict[str, Any]:
    """Returns the memory of the device in use in bytes, by MindSpore's names.

    For a CPU the values are those of its tensors (MindSpore: zeros). The blocks of pools are not listed.

    Returns:
        Dict.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.memory_stats()['total_allocated_memory'] >= 0
        True
    """
    return stats_of('')


def stats_of(device: str) -> Dict[str, Any]:
    """Returns memory_stats of a device by its name ('sim:0'); '' is the one in use. Raises DeviceError if the device does not exist."""
    s = _core.device_memory_stats(device)
    pool: Dict[str, Any] = {'block_unit_size': 0, 'block_counts': 0, 'blocks_info': {}}
    return {'total_reserved_memory': s['in_use'] + s['cached'], 'total_allocated_memory': s['in_use'], 'total_idle_memory': s['cached'],
            'total_eager_free_memory': 0, 'max_reserved_memory': s['peak_reserved'], 'max_allocated_memory': s['peak'], 'common_mem_pool_stats': pool,
            'persistent_mem_pool_stats': dict(pool, blocks_info={})}


def memory_allocated() -> int:
    """Returns the memory that tensors occupy now.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.memory_allocated() >= 0
        True
    """
    return memory_stats()['total_allocated_memory']


def max_memory_allocated() -> int:
    """Returns the largest `memory_allocated()` so far, or since the peak was reset.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.max_memory_allocated() >= ms.runtime.memory_allocated()
        True
    """
    return memory_stats()['max_allocated_memory']


def memory_reserved() -> int:
    """Returns the memory that tensors occupy or that is kept for reuse.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.memory_reserved() >= ms.runtime.memory_allocated()
        True
    """
    return memory_stats()['total_reserved_memory']


def max_memory_reserved() -> int:
    """Returns the largest `memory_reserved()` so far, or since the peak was reset.

    Returns:
        int: bytes.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.max_memory_reserved() >= ms.runtime.memory_reserved()
        True
    """
    return memory_stats()['max_reserved_memory']


def reset_max_memory_allocated() -> None:
    """Resets `max_memory_allocated()` to the current value.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.reset_max_memory_allocated()
    """
    _core.reset_device_memory_peaks(reserved=False)


def reset_max_memory_reserved() -> None:
    """Resets `max_memory_reserved()` to the current value.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.reset_max_memory_reserved()
    """
    _core.reset_device_memory_peaks(in_use=False)


def reset_peak_memory_stats() -> None:
    """Resets both peaks to the current values.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.reset_peak_memory_stats()
    """
    _core.reset_device_memory_peaks()


def memory_summary() -> str:
    """Returns `memory_stats()` as a table.

    Returns:
        str.

    Examples:
        >>> import sindri as ms
        >>> 'Allocated memory' in ms.runtime.memory_summary()
        True
    """
    return summary_of(memory_stats())


def summary_of(stats: Dict[str, Any]) -> str:
    """Returns the table of memory_summary for given memory_stats."""
    rows = [('Reserved memory', 'total_reserved_memory'), ('Allocated memory', 'total_allocated_memory'), ('Idle memory', 'total_idle_memory'),
            ('Eager free memory', 'total_eager_free_memory'), ('Max reserved memory', 'max_reserved_memory'), ('Max allocated memory', 'max_allocated_memory')]
    line = '=' * 45
    lines = [line, f" {'Memory summary':^43} ", line, f" {'Metric':<20} | {'Data':<20} "]
    for name, key in rows:
        lines += ['-' * 45, f' {name:<20} | {_size_text(stats[key]):<20} ']
    return '|' + '|\n|'.join([*lines, line]) + '|\n'


def _size_text(size: int) -> str:
    """Returns a size in the first unit in which it is below 768·1024."""
    units = ['B  ', 'KB', 'MB', 'GB', 'TB', 'PB']
    at = 0
    while size / 1024**at >= 768 * 1024 and at + 1 < len(units):
        at += 1
    return f'{size // 1024**at:6d} {units[at]}'


_memory: dict = {}


def set_memory(init_size: str = '2GB', increase_size: str = '2GB', max_size: str = '1024GB', optimize_level: str = 'O0',
               huge_page_reserve_size: str = '0GB') -> None:
    """Limits the memory of the device in use, unless that is the CPU.

    Only `max_size` has an effect: a pool grows as tensors need it. Sizes end in 'GB'.

    Args:
        init_size (str): Stored. Default: '2GB'.
        increase_size (str): Stored. Default: '2GB'.
        max_size (str): The limit. Default: '1024GB'.
        optimize_level (str): 'O0' or 'O1'; stored. Default: 'O0'.
        huge_page_reserve_size (str): Stored. Default: '0GB'.

    Raises:
        ValueError: If an argument has another form.

    Examples:
        >>> import sindri as ms
        >>> ms.runtime.set_memory(max_size='8GB')
    """
    given = dict(init_size=init_size, increase_size=increase_size, max_size=max_size, huge_page_reserve_size=huge_page_reserve_size)
    for name, value in given.items():
        number = value[:-2] if isinstance(value, str) and value.endswith('GB') else ''
        try:
            fits = float(number) >= 0
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"runtime.set_memory: '{name}' must be a text such as '2GB', got {value!r}")
    if optimize_level not in ('O0', 'O1'):
        raise ValueError(f"runtime.set_memory: 'optimize_level' must be 'O0' or 'O1', got {optimize_level!r}")
    _memory.update(given, optimize_level=optimize_level)
    if _core.current_device() != 'cpu':
        _core.set_device_memory_limit(int(float(max_size[:-2]) * 2**30))


def run_check() -> None:
    """Multiplies two matrices and prints whether the result is correct, the version and the device that computed it.

    Raises:
        RuntimeError: If the result is wrong.

    Examples:
        >>> import sindri as ms
        >>> ms.run_check()  # doctest: +ELLIPSIS
        Sindri version: ...
        The result of multiplication calculation is correct, Sindri has been installed on platform [...] successfully!
    """
    print(f'Sindri version: {_core.version}')
    a = Tensor([[1.0, 2.0], [3.0, 4.0]])
    if ops.matmul(a, a).asnumpy().tolist() != [[7.0, 10.0], [15.0, 22.0]]:
        raise RuntimeError('run_check: the product of two matrices is wrong | the installation is broken; build or install Sindri again')
    device = _core.current_device()
    platform = 'CPU' if device == 'cpu' else device
    print(f'The result of multiplication calculation is correct, Sindri has been installed on platform [{platform}] successfully!')
