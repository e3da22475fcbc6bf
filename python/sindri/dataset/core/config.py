"""Process-wide settings of the data pipeline (MindSpore: mindspore.dataset.config).

The seed, the number of workers, the prefetch size, the treatment of bad samples and debug mode apply to pipelines whose reading starts afterwards;
the callback timeout limits how long sync_wait holds rows back. The other settings are stored and returned but have no effect: the pipeline has no
shared memory, NUMA binding, autotuning or device queue.
"""
from __future__ import annotations

import json
import os
from enum import IntEnum
from typing import Any, Dict, Optional

from sindri import _core
from sindri._check import check_bool, check_int32, fail
from sindri.common import seed as common_seed

__all__ = ["set_seed", "get_seed", "set_prefetch_size", "get_prefetch_size", "set_num_parallel_workers", "get_num_parallel_workers",
           "set_numa_enable", "get_numa_enable", "set_monitor_sampling_interval", "get_monitor_sampling_interval", "set_callback_timeout",
           "get_callback_timeout", "set_auto_num_workers", "get_auto_num_workers", "set_enable_shared_mem", "get_enable_shared_mem",
           "set_sending_batches", "get_sending_batches", "set_auto_offload", "get_auto_offload", "set_enable_autotune", "get_enable_autotune",
           "set_autotune_interval", "get_autotune_interval", "set_enable_watchdog", "get_enable_watchdog", "set_fast_recovery", "get_fast_recovery",
           "set_debug_mode", "get_debug_mode", "set_error_samples_mode", "get_error_samples_mode", "ErrorSamplesMode",
           "set_multiprocessing_timeout_interval", "get_multiprocessing_timeout_interval", "set_dynamic_shape", "get_dynamic_shape", "load"]

MOST_WORKERS = 1024  # more than large machines have cores: scripts written for them also run on small ones
_UNSET_SEED = 5489  # what MindSpore returns before set_seed
_UINT32_MAX = 4294967295
_common_seeds_before = 0  # calls of sindri.set_seed before the last call of set_seed
_times_seeded = 0  # directly called transforms restart their random streams with each seed


class ErrorSamplesMode(IntEnum):
    """Treatment of a row that cannot be read, decoded or transformed: RETURN raises an error, REPLACE substitutes another row, SKIP omits it."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


_POLICIES = {ErrorSamplesMode.RETURN: "fail", ErrorSamplesMode.REPLACE: "replace", ErrorSamplesMode.SKIP: "skip"}

_settings: Dict[str, Any] = {
    "seed": None, "prefetch_size": None, "num_parallel_workers": None, "numa_enable": False, "monitor_sampling_interval": 1000,
    "callback_timeout": 60, "auto_num_workers": False, "enable_shared_mem": True, "sending_batches": 0, "auto_offload": False,
    "enable_autotune": False, "autotune_interval": 0,
    "enable_watchdog": True, "fast_recovery": True, "debug_mode": False, "error_samples_mode": ErrorSamplesMode.RETURN,
    "multiprocessing_timeout_interval": 300, "dynamic_shape": False,
}


def set_seed(seed: int) -> None:
    """Sets the seed for the order of rows and the random transforms. It applies to pipelines read from now on and to transforms called directly.

    Args:
        seed (int): From 0 to 2^32 - 1.

    Raises:
        TypeError: If `seed` is not an int.
        ValueError: If `seed` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_seed(7)
        >>> ds.config.get_seed()
        7
    """
    global _times_seeded, _common_seeds_before
    _settings["seed"] = check_int32("config.set_seed", "seed", seed, 0, _UINT32_MAX)
    _times_seeded += 1
    _common_seeds_before = common_seed._times_seeded


def get_seed() -> int:
    """Returns the seed in use: the last one set by set_seed or sindri.set_seed.

    Returns:
        int, the seed. Without a seed it is 5489, as in MindSpore, which here means that each pipeline draws its own seed.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_seed(7)
        >>> ds.config.get_seed()
        7
    """
    seed = _pipeline_seed()
    return _UNSET_SEED if seed is None else seed


def _own_seed() -> Optional[int]:
    """The seed of set_seed, unless sindri.set_seed was called later, which seeds everything."""
    return _settings["seed"] if common_seed._times_seeded == _common_seeds_before else None


def _pipeline_seed() -> Optional[int]:
    seed = _own_seed()
    return _core.get_seed() if seed is None else seed


def _check_workers(who: str, num: Any) -> int:
    return check_int32(who, "num_parallel_workers", num, 1, MOST_WORKERS)


def set_num_parallel_workers(num: int) -> None:
    """Sets the default number of worker threads per operation. At most as many threads start as there are usable cores.

    Args:
        num (int): From 1 to 1024.

    Raises:
        TypeError: If `num` is not an int.
        ValueError: If `num` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_num_parallel_workers(4)
        >>> ds.config.get_num_parallel_workers()
        4
    """
    _settings["num_parallel_workers"] = _check_workers("config.set_num_parallel_workers", num)


def get_num_parallel_workers() -> int:
    """Returns the number of workers that was set, by default min(8, number of cores).

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_num_parallel_workers(4)
        >>> ds.config.get_num_parallel_workers()
        4
    """
    return _settings["num_parallel_workers"] or min(8, os.cpu_count() or 1)


def set_prefetch_size(size: int) -> None:
    """Sets the number of rows that a pipeline prepares ahead. They are kept as whole batches, at least two.

    Args:
        size (int): The number of rows, at least 1.

    Raises:
        TypeError: If `size` is not an int.
        ValueError: If `size` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_prefetch_size(16)
        >>> ds.config.get_prefetch_size()
        16
    """
    _settings["prefetch_size"] = check_int32("config.set_prefetch_size", "size", size, 1)


def get_prefetch_size() -> int:
    """Returns the prefetch size that was set, by default 16.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.get_prefetch_size()
        16
    """
    return _settings["prefetch_size"] or 16


def _prefetch_batches(batch_size: int) -> int:
    rows = _settings["prefetch_size"]
    return 2 if rows is None else max(2, min(1024, -(-rows // max(1, batch_size))))


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Sets the treatment of bad rows. A Python function marks a row as bad by raising dataset.BadSample.

    Args:
        error_samples_mode (ErrorSamplesMode): RETURN, REPLACE or SKIP.

    Raises:
        TypeError: If the argument is not an ErrorSamplesMode.

    Examples:
        >>> import sindri.dataset as ds
        >>> def inverse(x):
        ...     if x == 0:
        ...         raise ds.BadSample("division by zero")
        ...     return 1 / x
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
        >>> data = ds.NumpySlicesDataset([0.0, 2.0, 4.0], shuffle=False).map(inverse)
        >>> [float(x) for x, in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [0.5, 0.25]
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        fail(TypeError, f"error_samples_mode must be an ErrorSamplesMode, got {error_samples_mode!r}", "config.set_error_samples_mode")
    _settings["error_samples_mode"] = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """Returns the treatment of bad rows that was set, by default RETURN.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.get_error_samples_mode().name
        'RETURN'
    """
    return _settings["error_samples_mode"]


def _policy() -> str:
    return _POLICIES[_settings["error_samples_mode"]]


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: Optional[list] = None) -> None:
    """Turns debug mode on or off. In debug mode a pipeline has one worker, so functions run for one row after another.

    Args:
        debug_mode_flag (bool): Whether debug mode is on.
        debug_hook_list (list, optional): Hooks; not supported. Default: None.

    Raises:
        TypeError: If `debug_mode_flag` is not a bool.
        ValueError: If hooks are given.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_debug_mode(False)
        >>> ds.config.get_debug_mode()
        False
    """
    if debug_hook_list:
        fail(ValueError, "debug hooks are not supported", "config.set_debug_mode", "omit debug_hook_list")
    _settings["debug_mode"] = check_bool("config.set_debug_mode", "debug_mode_flag", debug_mode_flag)


def get_debug_mode() -> bool:
    """Returns whether debug mode is on.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.get_debug_mode()
        False
    """
    return _settings["debug_mode"]


def set_numa_enable(numa_enable: bool) -> None:
    """Stores the NUMA setting, which has no effect.

    Args:
        numa_enable (bool): The setting.

    Raises:
        TypeError: If `numa_enable` is not a bool.
    """
    _settings["numa_enable"] = check_bool("config.set_numa_enable", "numa_enable", numa_enable)


def get_numa_enable() -> bool:
    """Returns the NUMA setting, which has no effect; by default False."""
    return _settings["numa_enable"]


def set_monitor_sampling_interval(interval: int) -> None:
    """Stores the monitor's sampling interval, which has no effect.

    Args:
        interval (int): Milliseconds, at least 1.

    Raises:
        TypeError: If `interval` is not an int.
        ValueError: If `interval` is out of range.
    """
    _settings["monitor_sampling_interval"] = check_int32("config.set_monitor_sampling_interval", "interval", interval, 1)


def get_monitor_sampling_interval() -> int:
    """Returns the monitor's sampling interval in milliseconds, which has no effect; by default 1000."""
    return _settings["monitor_sampling_interval"]


def set_callback_timeout(timeout: int) -> None:
    """Sets how long rows wait for Dataset.sync_update before they pass with a warning.

    Args:
        timeout (int): Seconds, at least 1.

    Raises:
        TypeError: If `timeout` is not an int.
        ValueError: If `timeout` is out of range.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.set_callback_timeout(60)
        >>> ds.config.get_callback_timeout()
        60
    """
    _settings["callback_timeout"] = check_int32("config.set_callback_timeout", "timeout", timeout, 1)


def get_callback_timeout() -> int:
    """Returns the timeout of sync_wait in seconds, by default 60.

    Examples:
        >>> import sindri.dataset as ds
        >>> ds.config.get_callback_timeout()
        60
    """
    return _settings["callback_timeout"]


def set_auto_num_workers(enable: bool) -> None:
    """Stores the setting, which has no effect: the default number of workers always depends on the machine.

    Args:
        enable (bool): The setting.

    Raises:
        TypeError: If `enable` is not a bool.
    """
    _settings["auto_num_workers"] = check_bool("config.set_auto_num_workers", "enable", enable)


def get_auto_num_workers() -> bool:
    """Returns the setting, which has no effect; by default False."""
    return _settings["auto_num_workers"]


def set_enable_shared_mem(enable: bool) -> None:
    """Stores the setting, which has no effect: Python functions run in threads.

    Args:
        enable (bool): The setting.

    Raises:
        TypeError: If `enable` is not a bool.
    """
    _settings["enable_shared_mem"] = check_bool("config.set_enable_shared_mem", "enable", enable)


def get_enable_shared_mem() -> bool:
    """Returns the setting, which has no effect; by default True."""
    return _settings["enable_shared_mem"]


def set_sending_batches(batch_num: int) -> None:
    """Stores the number of batches, which has no effect.

    Args:
        batch_num (int): The number, at least 0.

    Raises:
        TypeError: If `batch_num` is not an int.
        ValueError: If `batch_num` is out of range.
    """
    _settings["sending_batches"] = check_int32("config.set_sending_batches", "batch_num", batch_num, 0)


def get_sending_batches() -> int:
    """Returns the number of batches, which has no effect; by default 0."""
    return _settings["sending_batches"]


def set_auto_offload(offload: bool) -> None:
    """Stores the setting, which has no effect.

    Args:
        offload (bool): The setting.

    Raises:
        TypeError: If `offload` is not a bool.
    """
    _settings["auto_offload"] = check_bool("config.set_auto_offload", "offload", offload)


def get_auto_offload() -> bool:
    """Returns the setting, which has no effect; by default False."""
    return _settings["auto_offload"]


def set_enable_autotune(enable: bool, filepath_prefix: Optional[str] = None) -> None:
    """Stores the setting, which has no effect: there is no autotuning.

    Args:
        enable (bool): The setting.
        filepath_prefix (str, optional): The prefix of result files; must be None. Default: None.

    Raises:
        TypeError: If `enable` is not a bool.
        ValueError: If `filepath_prefix` is given.
    """
    if filepath_prefix is not None:
        fail(ValueError, "there is no autotuning whose results could be written", "config.set_enable_autotune", "omit filepath_prefix")
    _settings["enable_autotune"] = check_bool("config.set_enable_autotune", "enable", enable)


def get_enable_autotune() -> bool:
    """Returns the setting, which has no effect; by default False."""
    return _settings["enable_autotune"]


def set_autotune_interval(interval: int) -> None:
    """Stores the interval, which has no effect.

    Args:
        interval (int): The interval, at least 0.

    Raises:
        TypeError: If `interval` is not an int.
        ValueError: If `interval` is out of range.
    """
    _settings["autotune_interval"] = check_int32("config.set_autotune_interval", "interval", interval, 0)


def get_autotune_interval() -> int:
    """Returns the interval, which has no effect; by default 0."""
    return _settings["autotune_interval"]


def set_enable_watchdog(enable: bool) -> None:
    """Stores the setting, which has no effect: worker processes are not watched.

    Args:
        enable (bool): The setting.

    Raises:
        TypeError: If `enable` is not a bool.
    """
    _settings["enable_watchdog"] = check_bool("config.set_enable_watchdog", "enable", enable)


def get_enable_watchdog() -> bool:
    """Returns the setting, which has no effect; by default True."""
    return _settings["enable_watchdog"]


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Stores the interval, which has no effect.

    Args:
        interval (int): Seconds, at least 1.

    Raises:
        TypeError: If `interval` is not an int.
        ValueError: If `interval` is out of range.
    """
    _settings["multiprocessing_timeout_interval"] = check_int32("config.set_multiprocessing_timeout_interval", "interval", interval, 1)


def get_multiprocessing_timeout_interval() -> int:
    """Returns the interval in seconds, which has no effect; by default 300."""
    return _settings["multiprocessing_timeout_interval"]


def set_fast_recovery(fast_recovery: bool) -> None:
    """Stores the setting, which has no effect: a pipeline starts at any epoch at once and exactly.

    Args:
        fast_recovery (bool): The setting.

    Raises:
        TypeError: If `fast_recovery` is not a bool.
    """
    _settings["fast_recovery"] = check_bool("config.set_fast_recovery", "fast_recovery", fast_recovery)


def get_fast_recovery() -> bool:
    """Returns the setting, which has no effect; by default True."""
    return _settings["fast_recovery"]


def set_dynamic_shape(is_dynamic: bool) -> None:
    """Stores the setting, which has no effect: shapes may always vary from row to row.

    Args:
        is_dynamic (bool): The setting.

    Raises:
        TypeError: If `is_dynamic` is not a bool.
    """
    _settings["dynamic_shape"] = check_bool("config.set_dynamic_shape", "is_dynamic", is_dynamic)


def get_dynamic_shape() -> bool:
    """Returns the setting, which has no effect; by default False."""
    return _settings["dynamic_shape"]


_FILE_KEYS = {
    "numParallelWorkers": set_num_parallel_workers, "prefetchSize": set_prefetch_size, "seed": set_seed,
    "monitorSamplingInterval": set_monitor_sampling_interval, "callback_timeout": set_callback_timeout, "numa_enable": set_numa_enable,
    "autoOffload": set_auto_offload, "enableAutotune": set_enable_autotune, "autotuneInterval": set_autotune_interval,
    "enableSharedMem": set_enable_shared_mem,
}
# Sizes of queues that do not exist in this pipeline.
_FILE_IGNORED = ("logFilePath", "rowsPerBuffer", "workerConnectorSize", "opConnectorSize")


def load(file: str) -> None:
    """Loads settings from a JSON file in MindSpore's format.

    Args:
        file (str): The path of the file.

    Raises:
        RuntimeError: If the file cannot be read.
        ValueError: If a key is unknown.

    Examples:
        >>> import json, os, tempfile
        >>> import sindri.dataset as ds
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "settings.json")
        ...     with open(path, "w") as file:
        ...         json.dump({"prefetchSize": 16}, file)
        ...     ds.config.load(path)
        >>> ds.config.get_prefetch_size()
        16
    """
    try:
        with open(file, encoding="utf-8") as stream:
            values = json.load(stream)
    except (OSError, ValueError) as e:
        raise RuntimeError(f"the settings cannot be read: {e} | {file}") from e
    if not isinstance(values, dict):
        fail(RuntimeError, f"the settings must be a JSON object, got {type(values).__name__}", file)
    for key, value in values.items():
        if key in _FILE_KEYS:
            _FILE_KEYS[key](value)
        elif key not in _FILE_IGNORED:
            fail(ValueError, f"the setting '{key}' is not known", file, f"known are {', '.join([*_FILE_KEYS, *_FILE_IGNORED])}")
