"""Files that never get the descriptors of the standard streams. A process without them (`prog <&- >&- 2>&-`) opens its next file as 0, 1 or 2, and
printed or logged text would be written into it."""
import fcntl
import os
import re
from typing import IO, Any


def above_standard_streams(descriptor: int) -> int:
    """Returns the descriptor; if it is 0, 1 or 2, closes it and returns a copy."""
    if descriptor > 2:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(descriptor)


def open_descriptor(path: str, flags: int, mode: int = 0o666) -> int:
    """Like os.open, with a result of at least 3. The package opens every file for writing through this function."""
    held = [os.open(os.devnull, os.O_RDWR)]
    try:
        while held[-1] <= 2:  # occupied while the file is opened, because other threads may log meanwhile
            held.append(os.open(os.devnull, os.O_RDWR))
        return above_standard_streams(os.open(path, flags, mode))
    finally:
        for descriptor in held:
            os.close(descriptor)


def open_for_writing(path: str, mode: str = "w", **options: Any) -> IO[Any]:
    """Opens a file for writing, like open()."""
    return open(path, mode, opener=open_descriptor, **options)


def write_text_whole(path: str, text: str, mode: int) -> None:
    """Writes a file, with these permissions, that appears completely or not at all, even if the process is killed."""
    temporary = f"{path}.tmp.{os.getpid()}"
    if os.path.lexists(temporary):  # left by an earlier process with this number
        os.unlink(temporary)
    try:
        with os.fdopen(open_descriptor(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def remove_leftovers(folder: str, names: str) -> None:
    """Removes temporary files (NAME.tmp.PID) of processes that were killed while they wrote a NAME that this regular expression matches."""
    pattern = re.compile(f"(?:{names})\\.tmp\\.([1-9][0-9]*)")
    if not os.path.isdir(folder):  # writing the first file there reports it
        return
    with os.scandir(folder) as entries:
        found = [(entry.path, match) for entry in entries if (match := pattern.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False)]
    for path, match in found:
        if _has_ended(int(match[match.lastindex or 0])):
            try:
                os.unlink(path)
            except FileNotFoundError:  # another rank was faster
                pass


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False
