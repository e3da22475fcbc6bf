"""Streams and memory of the device in use (MindSpore: mindspore.runtime). A CPU has one stream, on which everything runs in program order."""
from typing import Any, Dict

from sindri import _core, ops
from sindri.common.tensor import Tensor

__all__ = ['Stream', 'current_stream', 'default_stream', 'synchronize', 'set_memory', 'launch_blocking', 'empty_cache', 'run_check', 'memory_stats',
           'memory_allocated', 'max_memory_allocated', 'memory_reserved', 'max_memory_reserved', 'memory_summary', 'reset_max_memory_allocated',
           'reset_max_memory_reserved', 'reset_peak_memory_stats']


class Stream:
    """Handle of the stream on which ops run, that of the device in use. All work is ordered on it."""

    def __init__(self, priority: int = 0, **kwargs: Any):
        self.priority = priority
        self.id = 0
        self.device_name = _core.get_device_target() if _core.current_device() != 'cpu' else 'CPU'

    def query(self) -> bool:
        """Whether all work is done. Does not wait; True on a CPU, whose calls return when they are done."""
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
    """The stream in use."""
    return Stream()


def default_stream() -> Stream:
    """The same stream as current_stream."""
    return Stream()


def synchronize() -> None:
    """Waits for all work of the device in use. Returns at once on a CPU, whose calls return when they are done. Raises what that work failed with."""
    _core.synchronize()


def launch_blocking() -> None:
    """Nothing to change: every launch blocks already."""


def empty_cache() -> None:
    """Gives memory that was freed and is kept for reuse back to the device, on a CPU to the system."""
    _core.release_cached_device_memory()


def memory_stats() -> Dict[str, Any]:
    """Bytes of the memory of the device in use, by MindSpore's names; of a CPU those of its tensors (MindSpore: zeros). The pools' own blocks are not listed."""
    return stats_of('')


def stats_of(device: str) -> Dict[str, Any]:
    """memory_stats of a device by its own name ('sim:0'); '' for the one in use. Raises DeviceError when it is not there."""
    s = _core.device_memory_stats(device)
    pool: Dict[str, Any] = {'block_unit_size': 0, 'block_counts': 0, 'blocks_info': {}}
    return {'total_reserved_memory': s['in_use'] + s['cached'], 'total_allocated_memory': s['in_use'], 'total_idle_memory': s['cached'],
            'total_eager_free_memory': 0, 'max_reserved_memory': s['peak_reserved'], 'max_allocated_memory': s['peak'], 'common_mem_pool_stats': pool,
            'persistent_mem_pool_stats': dict(pool, blocks_info={})}


def memory_allocated() -> int:
    """Bytes that tensors hold now."""
    return memory_stats()['total_allocated_memory']


def max_memory_allocated() -> int:
    """The largest memory_allocated() so far, or since the peak was reset."""
    return memory_stats()['max_allocated_memory']


def memory_reserved() -> int:
    """Bytes that tensors hold and that are kept for reuse."""
    return memory_stats()['total_reserved_memory']


def max_memory_reserved() -> int:
    """The largest memory_reserved() so far, or since the peak was reset."""
    return memory_stats()['max_reserved_memory']


def reset_max_memory_allocated() -> None:
    """max_memory_allocated() begins anew at what is held now."""
    _core.reset_device_memory_peaks(reserved=False)


def reset_max_memory_reserved() -> None:
    """max_memory_reserved() begins anew at what is held and kept now."""
    _core.reset_device_memory_peaks(in_use=False)


def reset_peak_memory_stats() -> None:
    """Both peaks begin anew."""
    _core.reset_device_memory_peaks()


def memory_summary() -> str:
    """memory_stats() as a table."""
    return summary_of(memory_stats())


def summary_of(stats: Dict[str, Any]) -> str:
    """The table of memory_summary for given memory_stats."""
    rows = [('Reserved memory', 'total_reserved_memory'), ('Allocated memory', 'total_allocated_memory'), ('Idle memory', 'total_idle_memory'),
            ('Eager free memory', 'total_eager_free_memory'), ('Max reserved memory', 'max_reserved_memory'), ('Max allocated memory', 'max_allocated_memory')]
    line = '=' * 45
    lines = [line, f" {'Memory summary':^43} ", line, f" {'Metric':<20} | {'Data':<20} "]
    for name, key in rows:
        lines += ['-' * 45, f' {name:<20} | {_size_text(stats[key]):<20} ']
    return '|' + '|\n|'.join([*lines, line]) + '|\n'


def _size_text(size: int) -> str:
    """In the unit that leaves less than 768 K of it."""
    units = ['B  ', 'KB', 'MB', 'GB', 'TB', 'PB']
    at = 0
    while size / 1024**at >= 768 * 1024 and at + 1 < len(units):
        at += 1
    return f'{size // 1024**at:6d} {units[at]}'


_memory: dict = {}


def set_memory(init_size: str = '2GB', increase_size: str = '2GB', max_size: str = '1024GB', optimize_level: str = 'O0',
               huge_page_reserve_size: str = '0GB') -> None:
    """max_size limits the memory that is taken of the device in use, unless that is the CPU; sizes end in 'GB'. The other sizes are stored: a pool
    grows as tensors need it. Raises ValueError for another form."""
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
    """Multiplies two matrices and prints whether the result is right, which version computed it, and where. RuntimeError when it is wrong."""
    print(f'Sindri version: {_core.version}')
    a = Tensor([[1.0, 2.0], [3.0, 4.0]])
    if ops.matmul(a, a).asnumpy().tolist() != [[7.0, 10.0], [15.0, 22.0]]:
        raise RuntimeError('run_check: the product of two matrices is wrong | the installation is broken; build or install Sindri anew')
    device = _core.current_device()
    platform = 'CPU' if device == 'cpu' else device
    print(f'The result of multiplication calculation is correct, Sindri has been installed on platform [{platform}] successfully!')
