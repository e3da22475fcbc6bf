"""Streams and memory of the device, as far as a CPU has them: one stream on which everything runs in program order."""
from typing import Any

from sindri import _core, ops
from sindri.common.tensor import Tensor

__all__ = ['Stream', 'current_stream', 'default_stream', 'synchronize', 'set_memory', 'launch_blocking', 'empty_cache', 'run_check']


class Stream:
    """Handle of the one stream. All work is ordered, so every query answers "done"."""

    def __init__(self, priority: int = 0, **kwargs: Any):
        self.priority = priority
        self.id = 0
        self.device_name = 'CPU'

    def query(self) -> bool:
        """True: nothing is pending once a call has returned."""
        return True

    def synchronize(self) -> None:
        """Returns at once."""

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Stream) and self.id == other.id

    def __hash__(self) -> int:
        return hash(('Stream', self.id))

    def __repr__(self) -> str:
        return f'Stream(device_name={self.device_name}, id={self.id})'


_stream = Stream()


def current_stream() -> Stream:
    """The stream in use."""
    return _stream


def default_stream() -> Stream:
    """The same stream as current_stream."""
    return _stream


def synchronize() -> None:
    """Returns at once: calls return when their work is done."""


def launch_blocking() -> None:
    """Nothing to change: every launch blocks already."""


def empty_cache() -> None:
    """Gives memory that was freed and is kept for reuse back to the system."""
    _core.release_cached_device_memory()


_memory: dict = {}


def set_memory(init_size: str = '2GB', increase_size: str = '2GB', max_size: str = '1024GB', optimize_level: str = 'O0',
               huge_page_reserve_size: str = '0GB') -> None:
    """Stores the sizes of a device's memory pool (stored only: host memory is the system's to manage). Sizes end in 'GB'."""
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




def run_check() -> None:
    """Multiplies two matrices and prints whether the result is right and which version computed it. RuntimeError when it is wrong."""
    print(f'Sindri version: {_core.version}')
    a = Tensor([[1.0, 2.0], [3.0, 4.0]])
    if ops.matmul(a, a).asnumpy().tolist() != [[7.0, 10.0], [15.0, 22.0]]:
        raise RuntimeError('run_check: the product of two matrices is wrong | the installation is broken; build or install Sindri anew')
    print('The result of multiplication calculation is correct, Sindri has been installed on platform [CPU] successfully!')
