"""Process-wide settings (MindSpore: mindspore.context)."""
from __future__ import annotations

import os
from typing import Any

from sindri import _core
from sindri.common.no_effect import CONTEXT_KEYS, PARALLEL_KEYS, no_effect
from sindri.common.not_yet import not_yet

__all__ = ["GRAPH_MODE", "PYNATIVE_MODE", "set_context", "get_context", "set_auto_parallel_context", "get_auto_parallel_context",
           "reset_auto_parallel_context", "ParallelMode", "set_ps_context", "get_ps_context", "reset_ps_context", "set_device", "set_offload_context",
           "STRICT", "COMPATIBLE", "LAX"]

GRAPH_MODE, PYNATIVE_MODE = 0, 1
STRICT, COMPATIBLE, LAX = 0, 1, 2  # values of the key jit_syntax_level


def era() -> int:
    """Returns 1 or 2: the MindSpore major version whose defaults apply if 1.x and 2.x differ (execution mode, Model.train's dataset_sink_mode).

    It is read from SINDRI_MINDSPORE_ERA; the default is 2. Raises ValueError for another value.
    """
    text = os.environ.get("SINDRI_MINDSPORE_ERA", "2")
    if text not in ("1", "2"):
        raise ValueError(f"SINDRI_MINDSPORE_ERA must be 1 or 2, got {text!r}")
    return int(text)


class ParallelMode:
    """The names of the parallel modes.

    Examples:
        >>> import sindri as ms
        >>> ms.ParallelMode.DATA_PARALLEL
        'data_parallel'
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


MODE_LIST = ParallelMode.MODE_LIST

# Keys that act on the engine, and keys that are only stored: hints to MindSpore's back ends without a counterpart here (docs/guide/python.md).
_ACTING = {"mode": 1, "device_target": "CPU", "device_id": 0, "max_device_memory": "1024GB", "save_graphs": False, "save_graphs_path": ".", "runtime_num_threads": 0, "deterministic": "OFF"}
_STORED = {
    "enable_graph_kernel": False, "graph_kernel_flags": "", "reserve_class_name_in_scope": True, "enable_auto_mixed_precision": False,
    "enable_reduce_precision": True, "max_call_depth": 1000, "mempool_block_size": "1GB", "variable_memory_max_size": "0GB",
    "check_bprop": False, "grad_for_scalar": False, "enable_sparse": False, "print_file_path": "", "env_config_path": "", "enable_dump": False,
    "save_dump_path": ".", "enable_compile_cache": False, "compile_cache_path": "./", "load_compile_cache": False, "save_compile_cache": False,
    "inter_op_parallel_num": 0, "memory_optimize_level": "O0", "memory_offload": "OFF", "ascend_config": {}, "gpu_config": {}, "jit_syntax_level": 2,
    "pynative_synchronize": False, "precompile_only": False, "auto_tune_mode": "NO_TUNE", "enable_profiling": False, "profiling_options": "",
    "op_timeout": 900, "debug_level": 0, "jit_config": {}, "support_binary": False, "enable_mem_offload": False, "exec_order": "enhanced_bfs",
    "aoe_tune_mode": "", "aoe_config": {}, "jit_enable_inplace_ops": True,
}
_TYPES: dict[str, Any] = {"mode": int, "device_target": str, "save_graphs": (bool, int), "save_graphs_path": str, "device_id": int, "runtime_num_threads": int,
          "deterministic": str, "enable_graph_kernel": bool, "graph_kernel_flags": str, "max_call_depth": int, "max_device_memory": str,
          "reserve_class_name_in_scope": bool, "enable_reduce_precision": bool, "check_bprop": bool, "grad_for_scalar": bool, "enable_sparse": bool}
_values: dict[str, Any] = {**_ACTING, **_STORED}
_ENGINES = {"mode": _core.get_mode, "device_target": _core.get_device_target, "device_id": _core.get_device_id}  # C++ can set these too


def _fail(key: Any, message: Any) -> None:
    raise ValueError(f"{message} | set_context({key}=…)")


def set_context(**kwargs: Any) -> None:
    """Sets context keys.

    `device_target` and `device_id` choose the device that computes. 'Ascend' and 'GPU' are accepted even if the device does not exist: then the CPU computes,
    and the first time a warning says so (SINDRI_STRICT_TARGET=1: an error).

    Args:
        **kwargs: mode, device_target, device_id, max_device_memory (a limit for devices other than the CPU), save_graphs, save_graphs_path,
            runtime_num_threads and deterministic have an effect. Other keys are stored and can be read back. A key that would change results or
            resources in MindSpore (sindri.common.no_effect lists them) causes one warning.

    Raises:
        TypeError: If a value has another type.
        ValueError: If a key is unknown or a value is out of range.
        DeviceError: If the device does not exist.

    Examples:
        >>> import sindri as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
        >>> ms.get_context("device_target")
        'CPU'
    """
    for key, value in kwargs.items():
        if key not in _values:
            raise ValueError(f"unknown context key '{key}' | set_context | keys are: {', '.join(sorted(_values))}")
        if key in _TYPES and (not isinstance(value, _TYPES[key]) or isinstance(value, bool) and _TYPES[key] is int):
            raise TypeError(f"expected {_TYPES[key]}, got {value!r} | set_context({key}=…)")
    for key, value in kwargs.items():
        _check_and_act(key, value, kwargs)
        if key in CONTEXT_KEYS and value != _STORED[key]:
            no_effect(f"set_context({key}={value!r})", CONTEXT_KEYS[key])
        _values[key] = value


def _check_and_act(key: Any, value: Any, kwargs: Any) -> None:
    if key == "mode":
        if value not in (GRAPH_MODE, PYNATIVE_MODE):
            _fail(key, f"mode must be GRAPH_MODE (0) or PYNATIVE_MODE (1), got {value}")
        _core.set_mode(value)
    elif key in ("device_target", "device_id"):
        _core.set_device_target(kwargs.get("device_target", get_context("device_target")), kwargs.get("device_id", get_context("device_id")))
        _limit_memory(_values["max_device_memory"])
    elif key == "max_device_memory":
        _limit_memory(value)
    elif key == "save_graphs":
        if value not in (False, True, 0, 1, 2, 3):
            _fail(key, f"save_graphs must be a bool or 0 to 3, got {value}")
        _core.set_save_graphs(bool(value), kwargs.get("save_graphs_path", _values["save_graphs_path"]))
    elif key == "save_graphs_path":
        _core.set_save_graphs(bool(_values["save_graphs"]), value)
    elif key == "runtime_num_threads":
        if value < 0:
            _fail(key, f"runtime_num_threads must not be negative, got {value}")
        if value > 0:
            _core.set_num_threads(value)
    elif key == "deterministic":
        if value not in ("ON", "OFF"):
            _fail(key, f"deterministic must be 'ON' or 'OFF', got {value!r}")
        _core.set_strict(value == "ON")
    elif key == "max_call_depth" and value <= 0:
        _fail(key, f"max_call_depth must be positive, got {value}")


def _limit_memory(size: str) -> None:
    """Applies max_device_memory, such as '3.5GB', to the device in use. The host's memory has no such limit."""
    number = size[:-2] if size.endswith("GB") else ""
    if not number.replace(".", "", 1).isdecimal() or float(number) <= 0:
        _fail("max_device_memory", f"max_device_memory must be a positive number followed by 'GB', such as '3.5GB', got {size!r}")
    if _core.current_device() != "cpu":
        _core.set_device_memory_limit(0 if size == _ACTING["max_device_memory"] else int(float(number) * 2**30))


def get_context(attr_key: str) -> Any:
    """Returns the value of a context key.

    Args:
        attr_key (str): The key.

    Returns:
        The value.

    Raises:
        ValueError: If the key is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.get_context("device_id")
        0
    """
    if attr_key not in _values:
        raise ValueError(f"unknown context key '{attr_key}' | get_context | keys are: {', '.join(sorted(_values))}")
    return _ENGINES[attr_key]() if attr_key in _ENGINES else _values[attr_key]


def set_device(device_target: Any, device_id: Any = None) -> None:
    """Sets device_target and device_id of the context, as in MindSpore 2.5.

    Args:
        device_target (str): The target.
        device_id (int): The device. Default: None, 0.

    Raises:
        ValueError: If the target is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.set_device("CPU")
    """
    if device_target == "Davinci":
        _fail("device_target", "set_device does not know the old name 'Davinci'; it is 'Ascend'")
    set_context(device_target=device_target, device_id=0 if device_id is None else device_id)


class DeviceInfo(tuple):
    """The requested (device_target, device_id)."""

    __slots__ = ()

    @property
    def device_target(self) -> str:
        """str: 'CPU', 'GPU', 'Ascend' or a backend's name."""
        return self[0]

    @property
    def device_id(self) -> int:
        """int: The number of the device, from 0."""
        return self[1]


def get_current_device() -> DeviceInfo:
    """Returns the requested target and device; if the CPU computes instead, `sindri._core.target_substitution()` reports it.

    Returns:
        DeviceInfo (device_target, device_id).

    Examples:
        >>> import sindri as ms
        >>> ms.get_current_device().device_target
        'CPU'
    """
    return DeviceInfo((get_context("device_target"), get_context("device_id")))


_PARALLEL_DEFAULTS: dict[str, Any] = {
    "device_num": 1, "global_rank": 0, "gradients_mean": False, "gradient_fp32_sync": True, "parallel_mode": "stand_alone",
    "search_mode": "dynamic_programming", "auto_parallel_search_mode": "dynamic_programming", "parameter_broadcast": False,
    "strategy_ckpt_load_file": "", "strategy_ckpt_save_file": "", "full_batch": False, "dataset_strategy": "data_parallel",
    "enable_parallel_optimizer": False, "all_reduce_fusion_config": [], "pipeline_stages": 1, "grad_accumulation_step": 1,
    "pipeline_result_broadcast": False, "enable_alltoall": False, "comm_fusion": None, "loss_repeated_mean": True, "group_ckpt_save_file": "",
    "auto_pipeline": False, "communi_parallel_mode": "all_group_parallel", "optimizer_weight_shard_size": -1,
    "optimizer_weight_shard_aggregated_save": False, "sharding_propagation": False, "force_fp32_communication": False,
    "parallel_optimizer_config": {"gradient_accumulation_shard": False, "parallel_optimizer_threshold": 64, "optimizer_weight_shard_size": -1},
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True}, "pipeline_config": {},
}
_parallel = dict(_PARALLEL_DEFAULTS)
_given: set[str] = set()  # keys that the script has set: others may follow the world
_SUPPORTED = (ParallelMode.STAND_ALONE, ParallelMode.DATA_PARALLEL)
_split_indices: dict[str, list[int]] = {}  # fusion points by group, of auto_parallel_context().set_all_reduce_fusion_split_indices
_world = {"device_num": 1, "global_rank": 0}


def _joined(size: int, rank: int) -> None:
    """Called by communication.init() and release(): sets device_num and global_rank, unless the script sets them."""
    _world.update(device_num=size, global_rank=rank)


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Sets keys of parallel runs, which the wrappers read.

    Args:
        **kwargs: The keys. parallel_mode is 'stand_alone' or 'data_parallel'. all_reduce_fusion_config lists the last gradient of each bucket that is
            reduced by one call, except the last bucket; if neither it nor comm_fusion is set, buckets are formed by size. parameter_broadcast reads
            False, as in MindSpore, until it is set, but ranks start with rank 0's parameters anyway; after setting it to False they start with their
            own.

    Raises:
        TypeError: If a value has another type.
        ValueError: If a key or value is unknown or not supported.

    Examples:
        >>> import sindri as ms
        >>> ms.set_auto_parallel_context(gradients_mean=True)
        >>> ms.get_auto_parallel_context("gradients_mean")
        True
        >>> ms.reset_auto_parallel_context()
    """
    for key, value in kwargs.items():
        if key not in _parallel:
            raise ValueError(f"unknown key '{key}' | set_auto_parallel_context | keys are: {', '.join(sorted(_parallel))}")
        if key == "parallel_mode" and value not in MODE_LIST:
            raise ValueError(f"parallel_mode must be one of {', '.join(MODE_LIST)}, got {value!r} | set_auto_parallel_context")
        if key == "parallel_mode" and value not in _SUPPORTED or key == "pipeline_stages" and isinstance(value, int) and value > 1:
            # If stored, they would train one process alone although the script expects a split network.
            raise ValueError(f"{key} {value!r} is not supported | set_auto_parallel_context | parallel_mode is 'stand_alone' or 'data_parallel'")
        if key == "all_reduce_fusion_config":
            _check_fusion(value)
        if key == "comm_fusion":
            _check_comm_fusion(value)
        if key in ("search_mode", "auto_parallel_search_mode") and value not in ("dynamic_programming", "recursive_programming", "sharding_propagation"):
            raise ValueError(f"unknown search mode {value!r} | set_auto_parallel_context")
        if key in ("device_num", "pipeline_stages", "grad_accumulation_step") and (not isinstance(value, int) or value < 1):
            raise ValueError(f"{key} must be a positive int, got {value!r} | set_auto_parallel_context")
        if key == "global_rank" and (not isinstance(value, int) or value < 0):
            raise ValueError(f"global_rank must be an int that is not negative, got {value!r} | set_auto_parallel_context")
        if type(_PARALLEL_DEFAULTS[key]) is bool and not isinstance(value, bool):
            raise TypeError(f"{key} must be a bool, got {value!r} | set_auto_parallel_context")
        if isinstance(_PARALLEL_DEFAULTS[key], dict):
            value = {**_parallel[key], **value}
        if key in PARALLEL_KEYS and value != _PARALLEL_DEFAULTS[key]:
            no_effect(f"set_auto_parallel_context({key}={value!r})", PARALLEL_KEYS[key])
        _parallel[key] = list(value) if key == "all_reduce_fusion_config" else value
        _given.add(key)


def _check_fusion(value: Any, key: str = "all_reduce_fusion_config") -> None:
    """Raises TypeError or ValueError for anything other than an ascending list of gradients; the last entry is checked when there is a network."""
    if not isinstance(value, (list, tuple)) or any(not isinstance(v, int) or isinstance(v, bool) for v in value):
        raise TypeError(f"{key} must be a list of ints, got {value!r} | set_auto_parallel_context")
    for i, v in enumerate(value):
        least = value[i - 1] if i else 0
        if v <= least:
            raise ValueError(f"{key}[{i}]={v}: must be greater than {least} | set_auto_parallel_context | list the last gradient of each bucket, rising")


def _check_comm_fusion(value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, dict) or set(value) - {"allreduce"} or not isinstance(value.get("allreduce", {}), dict):
        raise ValueError(f"comm_fusion must be {{'allreduce': {{'mode': …, 'config': …}}}}, got {value!r} | set_auto_parallel_context")
    how = value.get("allreduce", {"mode": "auto"})
    mode, config = how.get("mode"), how.get("config")
    if mode == "index":
        _check_fusion(config, "comm_fusion['allreduce']['config']")
    elif mode == "size":
        if not isinstance(config, (int, float)) or isinstance(config, bool) or config <= 0:
            raise ValueError(f"comm_fusion['allreduce']['config'] must be a size in MB above 0, got {config!r} | set_auto_parallel_context")
    elif mode != "auto":
        raise ValueError(f"comm_fusion['allreduce']['mode'] must be 'auto', 'size' or 'index', got {mode!r} | set_auto_parallel_context")


def _fusion(group: str = "") -> tuple[Any, float]:
    """Returns (last gradients of the buckets or None, size of automatic buckets in MB or 0) of the settings; a group's fusion points override them."""
    for name in (group, f"{group}sum1"):  # MindSpore's name of a group's sums
        if name in _split_indices:
            return list(_split_indices[name]), 0.0
    how = (_parallel["comm_fusion"] or {}).get("allreduce", {"mode": "auto"})
    if how["mode"] == "size":
        return None, float(how["config"])
    if how["mode"] == "index":
        return list(how["config"]), 0.0
    return (list(_parallel["all_reduce_fusion_config"]) if "all_reduce_fusion_config" in _given else None), 0.0


def _broadcasts_parameters() -> bool:
    """Returns whether ranks start with rank 0's parameters."""
    return "parameter_broadcast" not in _given or bool(_parallel["parameter_broadcast"])


def get_auto_parallel_context(attr_key: str) -> Any:
    """Returns the value of a key of parallel runs.

    Args:
        attr_key (str): The key.

    Returns:
        The value.

    Raises:
        ValueError: If the key is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.get_auto_parallel_context("parallel_mode")
        'stand_alone'
    """
    if attr_key not in _parallel:
        raise ValueError(f"unknown key '{attr_key}' | get_auto_parallel_context")
    return _world[attr_key] if attr_key in _world and attr_key not in _given else _parallel[attr_key]


def reset_auto_parallel_context() -> None:
    """Resets every key of parallel runs to its default.

    Examples:
        >>> import sindri as ms
        >>> ms.set_auto_parallel_context(gradients_mean=True)
        >>> ms.reset_auto_parallel_context()
        >>> ms.get_auto_parallel_context("gradients_mean")
        False
    """
    _given.clear()
    _split_indices.clear()
    _parallel.clear()
    _parallel.update(_PARALLEL_DEFAULTS)


_PS_DEFAULTS = {"enable_ps": False, "config_file_path": "", "scheduler_manage_port": 11202, "enable_ssl": False, "client_password": "", "server_password": ""}
_ps = dict(_PS_DEFAULTS)


def set_ps_context(**kwargs: Any) -> None:
    """Sets keys of parameter servers; they are stored.

    Args:
        **kwargs: The keys.

    Raises:
        ValueError: If a key is unknown.
        NotYetError: If enable_ps is True.

    Examples:
        >>> import sindri as ms
        >>> ms.set_ps_context(enable_ssl=False)
    """
    for key, value in kwargs.items():
        if key not in _ps:
            raise ValueError(f"unknown key '{key}' | set_ps_context")
        if key == "enable_ps" and value:
            not_yet("set_ps_context(enable_ps=True)", "model parallel")
        _ps[key] = value


def get_ps_context(attr_key: str) -> Any:
    """Returns the value of a parameter-server key.

    Args:
        attr_key (str): The key.

    Returns:
        The value.

    Raises:
        ValueError: If the key is unknown.

    Examples:
        >>> import sindri as ms
        >>> ms.get_ps_context("enable_ps")
        False
    """
    if attr_key not in _ps:
        raise ValueError(f"unknown key '{attr_key}' | get_ps_context")
    return _ps[attr_key]


def reset_ps_context() -> None:
    """Resets the parameter-server keys to their defaults.

    Examples:
        >>> import sindri as ms
        >>> ms.set_ps_context(enable_ssl=True)
        >>> ms.reset_ps_context()
        >>> ms.get_ps_context("enable_ssl")
        False
    """
    _ps.update(_PS_DEFAULTS)


_offload: dict[str, object] = {}


def set_offload_context(offload_config: Any) -> None:
    """Sets memory offload; the settings are stored.

    Args:
        offload_config (dict): The settings.

    Raises:
        TypeError: If `offload_config` is not a dict.

    Examples:
        >>> import sindri as ms
        >>> ms.set_offload_context({"offload_param": "cpu"})
    """
    if not isinstance(offload_config, dict):
        raise TypeError(f"offload_config must be a dict, got {type(offload_config).__name__} | set_offload_context")
    _offload.update(offload_config)


def get_offload_context() -> Any:
    """Returns the stored offload settings, as a dict."""
    return dict(_offload)


def set_fl_context(**kwargs: Any) -> None:
    """Always raises RuntimeError: federated learning is not part of Sindri."""
    raise RuntimeError("federated learning is not part of Sindri | set_fl_context")


_core.set_mode(GRAPH_MODE if era() == 1 else PYNATIVE_MODE)
_core.set_casts_hold(era() == 2)
