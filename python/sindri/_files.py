"""Files that never get the numbers of the standard streams: a process without them (`prog <&- >&- 2>&-`) opens its next file as 0, 1 or 2, and
what anybody prints or logs is written into it."""
import fcntl
import os
from typing import IO, Any


def above_standard_streams(descriptor: int) -> int:
    """The descriptor, or a copy of it where it is 0, 1 or 2, which is closed."""
    if descriptor > 2:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(descriptor)


def open_descriptor(path: str, flags: int, mode: int = 0o666) -> int:
    """os.open with a result of at least 3. Every file the package opens for writing comes from here."""
    held = [os.open(os.devnull, os.O_RDWR)]
    try:
        while held[-1] <= 2:  # occupied while the file is opened: other threads may log meanwhile
            held.append(os.open(os.devnull, os.O_RDWR))
        return above_standard_streams(os.open(path, flags, mode))
    finally:
        for descriptor in held:
            os.close(descriptor)


def open_for_writing(path: str, mode: str = "w", **options: Any) -> IO[Any]:
    """open() of a file that is written."""
    return open(path, mode, opener=open_descriptor, **options)
