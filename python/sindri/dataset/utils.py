"""Preparing data sets on disk."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional

from sindri import _core
from sindri._check import check_int32, fail

__all__ = ["prepare_seekable"]


def prepare_seekable(source: Any, destination: Any, num_parallel_workers: Optional[int] = None) -> Dict[str, int]:
    """Writes the files below the folder `source` to the same places below `destination`, JPEG files with restart markers: without loss, of nearly the same
    size, open to any reader; RandomCropDecodeResize, and Decode with a random crop behind it, then decode the crop without what lies above and beside
    it. What cannot have markers (other formats, progressive files) is copied. A run that was interrupted continues; later ones rewrite the files whose
    source has changed, whatever its time. Files whose source is gone stay and are counted (orphaned).

    Gives counts: files, rewritten, unsuited, kept, orphaned, bytes_in, bytes_out. Raises TypeError or ValueError; IoError (an OSError).
    """
    who = "prepare_seekable"
    for name, value in (("source", source), ("destination", destination)):
        if not isinstance(value, (str, os.PathLike)):
            fail(TypeError, f"{name} must be a str, got {value!r}", who)
    workers = 0 if num_parallel_workers is None else check_int32(who, "num_parallel_workers", num_parallel_workers, 1)
    return _core.dataset.prepare_seekable(os.fspath(source), os.fspath(destination), workers)
