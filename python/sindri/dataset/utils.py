"""Preparation of datasets on disk."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional

from sindri import _core
from sindri._check import check_int32, fail

__all__ = ["prepare_seekable"]


def prepare_seekable(source: Any, destination: Any, num_parallel_workers: Optional[int] = None) -> Dict[str, int]:
    """Copies a folder of images and adds restart markers to its JPEG files, so that crops decode faster.

    The rewrite is lossless, hardly changes the size, and any reader can open the files. RandomCropDecodeResize, and Decode followed by a random crop, then
    decode a crop without the image parts above and next to it. Files that cannot have markers (other formats, progressive files) are copied. A repeated
    call continues an interrupted one, and rewrites the files whose source has changed, whatever its time stamp. Files whose source is gone are kept
    and counted as orphaned.

    Args:
        source (str): The folder to read, with its subfolders.
        destination (str): The folder to write.
        num_parallel_workers (int, optional): Worker threads. Default: None, min(8, usable cores).

    Returns:
        dict[str, int], the counts files, rewritten, unsuited, kept, orphaned, bytes_in and bytes_out.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        IoError: An OSError, if a file cannot be read or written.

    Examples:
        >>> from sindri.dataset.utils import prepare_seekable
        >>> counts = prepare_seekable("imagenet/train", "imagenet-seekable/train")  # doctest: +SKIP
        >>> counts["files"]  # doctest: +SKIP
        1281167
    """
    who = "prepare_seekable"
    for name, value in (("source", source), ("destination", destination)):
        if not isinstance(value, (str, os.PathLike)):
            fail(TypeError, f"{name} must be a str, got {value!r}", who)
    workers = 0 if num_parallel_workers is None else check_int32(who, "num_parallel_workers", num_parallel_workers, 1)
    return _core.dataset.prepare_seekable(os.fspath(source), os.fspath(destination), workers)
