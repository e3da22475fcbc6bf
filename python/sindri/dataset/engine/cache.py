"""DatasetCache (MindSpore: mindspore.dataset.DatasetCache)."""
from __future__ import annotations

from typing import Any, Optional

from sindri._check import check_bool, check_int32, fail
from sindri.common.no_effect import no_effect

__all__ = ["DatasetCache"]


class DatasetCache:
    """Placeholder for a cache of rows. There is no cache server: a pipeline with a cache reads its rows as without it, with the same results.

    The arguments are checked and stored, and a warning is printed once.

    Args:
        session_id (int): From 1 to 2^32 - 1.
        size (int): Bytes. Default: 0.
        spilling (bool): Whether to use disk. Default: False.
        hostname (str, optional): Default: None.
        port (int, optional): From 1025 to 65535. Default: None.
        num_connections (int, optional): At least 1. Default: None.
        prefetch_size (int, optional): At least 1. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> data = ds.ImageFolderDataset("imagenet/train", cache=ds.DatasetCache(session_id=1))  # doctest: +SKIP
    """

    def __init__(self, session_id: int, size: int = 0, spilling: bool = False, hostname: Optional[str] = None, port: Optional[int] = None,
                 num_connections: Optional[int] = None, prefetch_size: Optional[int] = None):
        who = "DatasetCache"
        self.session_id = check_int32(who, "session_id", session_id, 1, 4294967295)
        self.size = check_int32(who, "size", size, 0, 18446744073709551615)
        self.spilling = check_bool(who, "spilling", spilling)
        if hostname is not None and not isinstance(hostname, str):
            fail(TypeError, f"hostname must be a str, got {hostname!r}", who)
        self.hostname = hostname
        self.port = None if port is None else check_int32(who, "port", port, 1025, 65535)
        self.num_connections = None if num_connections is None else check_int32(who, "num_connections", num_connections, 1)
        no_effect("DatasetCache", "rows are read again in each epoch; store rows that are slow to produce in a record file")
        self.prefetch_size = None if prefetch_size is None else check_int32(who, "prefetch_size", prefetch_size, 1)

    def get_stat(self) -> "DatasetCache.Stat":
        """Returns statistics of an empty cache."""
        return DatasetCache.Stat()

    class Stat:
        """Statistics of a cache."""

        avg_cache_sz = num_mem_cached = num_disk_cached = 0


def check_cache(who: str, cache: Any) -> None:
    """Raises TypeError unless `cache` is None or a DatasetCache."""
    if cache is not None and not isinstance(cache, DatasetCache):
        fail(TypeError, f"cache must be a DatasetCache, got {cache!r}", who)
