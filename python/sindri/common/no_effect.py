"""The warning about settings of MindSpore's scripts that have no effect in Sindri."""
from __future__ import annotations

from typing import Any

from sindri import log as logger

__all__ = ["CONTEXT_KEYS", "PARALLEL_KEYS", "PROFILER_OPTIONS", "no_effect"]

# Keys of set_context that change results or resources in MindSpore, with what to do instead. Other stored keys affect the speed of one back end, or
# its compiler, and are accepted silently.
CONTEXT_KEYS = {
    "enable_auto_mixed_precision": "choose the precision with amp_level or sindri.amp",
    "grad_for_scalar": "gradients are of tensors",
    "enable_sparse": "gradients are dense",
    "check_bprop": "a bprop's shapes and types are not checked",
    "print_file_path": "ops.Print writes to the terminal",
    "env_config_path": "nothing is dumped",
    "enable_dump": "nothing is dumped; look at values in PyNative mode",
    "enable_compile_cache": "graphs are compiled in each process",
    "load_compile_cache": "graphs are compiled in each process",
    "save_compile_cache": "graphs are compiled in each process",
    "precompile_only": "calls are compiled and run; Model.build compiles only",
    "enable_profiling": "record with sindri.profiler",
    "inter_op_parallel_num": "set the number of threads with runtime_num_threads",
    "mempool_block_size": "memory is taken as it is needed",
    "variable_memory_max_size": "limit the memory of a device with max_device_memory",
    "memory_offload": "everything stays in the device's memory",
    "enable_mem_offload": "everything stays in the device's memory",
    "memory_optimize_level": "the memory of a graph is always planned",
    "ascend_config": "its settings are those of another device",
    "gpu_config": "its settings are those of cuDNN",
}
# The same for set_auto_parallel_context.
PARALLEL_KEYS = {
    "grad_accumulation_step": "accumulate with Model(boost_config_dict=…) or boost.GradientAccumulation",
    "force_fp32_communication": "gradients are reduced in their own type",
    "full_batch": "every rank reads its own part of the data",
    "dataset_strategy": "every rank reads its own part of the data",
}
# Values that MindSpore's profilers would also record.
PROFILER_OPTIONS = ("profile_communication", "profile_memory", "l2_cache", "hbm_ddr", "pcie", "data_process", "parallel_strategy", "with_stack", "host_stack",
                    "record_shapes", "mstx")


def no_effect(what: str, instead: str) -> None:
    """Warns, once per process for each text, that a setting was accepted without effect.

    Args:
        what (str): The setting.
        instead (str): What to use instead.

    Examples:
        >>> from sindri.common.no_effect import no_effect
        >>> no_effect("my_option", "use another option")  # prints a warning to stderr
    """
    logger.warning_once("%s has no effect | %s", what, instead)
