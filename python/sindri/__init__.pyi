"""Sindri: deep-learning training in C++ with MindSpore's names and manners.

Written by scripts/python_stubs.py; do not edit."""

from sindri.common.tensor import tensor as tensor
from sindri.parallel.shard import shard as shard
from sindri.train.data_sink import data_sink as data_sink

from sindri import _core as _core
from sindri._core import (
    CheckpointError as CheckpointError, CommError as CommError, DataError as DataError, DeviceError as DeviceError, DTypeError as DTypeError,
    Error as Error, InternalError as InternalError, InvalidValueError as InvalidValueError, IoError as IoError, NonFiniteError as NonFiniteError,
    SettingsError as SettingsError, ShapeError as ShapeError, TracedValueError as TracedValueError,
)
from sindri.common import (
    bool_ as bool_, uint8 as uint8, ubyte as ubyte, int32 as int32, intc as intc, int64 as int64, intp as intp, long as long, float16 as float16,
    half as half, bfloat16 as bfloat16, float32 as float32, single as single, float64 as float64, double as double, int8 as int8, byte as byte,
    int16 as int16, short as short, uint16 as uint16, ushort as ushort, uint32 as uint32, uintc as uintc, uint64 as uint64, uintp as uintp,
    complex64 as complex64, complex128 as complex128, string as string, type_none as type_none, tensor_type as tensor_type, number as number,
    int_ as int_, uint as uint, float_ as float_, list_ as list_, tuple_ as tuple_, Int as Int, dtype_to_nptype as dtype_to_nptype,
    dtype_to_pytype as dtype_to_pytype, pytype_to_dtype as pytype_to_dtype, get_py_obj_dtype as get_py_obj_dtype, Tensor as Tensor,
    Parameter as Parameter, ParameterTuple as ParameterTuple, get_seed as get_seed, set_seed as set_seed, QuantDtype as QuantDtype,
    from_numpy as from_numpy, JitConfig as JitConfig, jit as jit, jit_class as jit_class, lazy_inline as lazy_inline, ms_function as ms_function,
    ms_memory_recycle as ms_memory_recycle, mutable as mutable, COOTensor as COOTensor, CSRTensor as CSRTensor, RowTensor as RowTensor,
    initializer as initializer,
)
from sindri.common import (
    DType as DType, all_types as all_types, float_type as float_type, from_dlpack as from_dlpack, function as function, int_type as int_type,
    issubclass_ as issubclass_, ms_class as ms_class, number_type as number_type, promote_types as promote_types, type_type as type_type,
    uint_type as uint_type,
)
from sindri.common import dtype as dtype
from sindri.common.generator import (
    get_rng_state as get_rng_state, initial_seed as initial_seed, manual_seed as manual_seed, seed as seed, set_rng_state as set_rng_state,
)
from sindri.context import (
    GRAPH_MODE as GRAPH_MODE, PYNATIVE_MODE as PYNATIVE_MODE, set_context as set_context, get_context as get_context,
    set_auto_parallel_context as set_auto_parallel_context, get_auto_parallel_context as get_auto_parallel_context,
    reset_auto_parallel_context as reset_auto_parallel_context, set_ps_context as set_ps_context, get_ps_context as get_ps_context,
    reset_ps_context as reset_ps_context, set_device as set_device, set_offload_context as set_offload_context, STRICT as STRICT,
    COMPATIBLE as COMPATIBLE, LAX as LAX,
)
from sindri import context as context
from sindri.context import ParallelMode as ParallelMode, get_current_device as get_current_device
from sindri import nn as nn, ops as ops
from sindri.ops import grad as grad, value_and_grad as value_and_grad, vmap as vmap
from sindri.ops.composite.grad import get_grad as get_grad, jvp as jvp, vjp as vjp
from sindri.ops.composite.jacobian import jacfwd as jacfwd, jacrev as jacrev
from sindri import (
    amp as amp, autograd as autograd, boost as boost, communication as communication, dataset as dataset, device_context as device_context,
    experimental as experimental, hal as hal, log as log, mindrecord as mindrecord, mint as mint, models as models, mstx as mstx, numpy as numpy,
    parallel as parallel, profiler as profiler, runtime as runtime, train as train,
)
from sindri import _checkparam as _checkparam
from sindri.train import (
    Model as Model, DatasetHelper as DatasetHelper, connect_network_with_dataset as connect_network_with_dataset,
    build_train_network as build_train_network, LossScaleManager as LossScaleManager, FixedLossScaleManager as FixedLossScaleManager,
    DynamicLossScaleManager as DynamicLossScaleManager, SummaryRecord as SummaryRecord, ConvertModelUtils as ConvertModelUtils,
    ConvertNetUtils as ConvertNetUtils, rank_list_for_transform as rank_list_for_transform,
    transform_checkpoint_by_rank as transform_checkpoint_by_rank, transform_checkpoints as transform_checkpoints,
    merge_pipeline_strategys as merge_pipeline_strategys, sync_pipeline_shared_parameters as sync_pipeline_shared_parameters,
    save_checkpoint as save_checkpoint, load_checkpoint as load_checkpoint, load_param_into_net as load_param_into_net, export as export,
    load as load, async_ckpt_thread_status as async_ckpt_thread_status, load_checkpoint_async as load_checkpoint_async,
    load_distributed_checkpoint as load_distributed_checkpoint, merge_sliced_parameter as merge_sliced_parameter,
    build_searched_strategy as build_searched_strategy, restore_group_info_list as restore_group_info_list, parse_print as parse_print,
    obfuscate_model as obfuscate_model, export_split_mindir as export_split_mindir, Callback as Callback, LossMonitor as LossMonitor,
    TimeMonitor as TimeMonitor, ModelCheckpoint as ModelCheckpoint, SummaryCollector as SummaryCollector, CheckpointConfig as CheckpointConfig,
    RunContext as RunContext, LearningRateScheduler as LearningRateScheduler, History as History, LambdaCallback as LambdaCallback,
    ReduceLROnPlateau as ReduceLROnPlateau, EarlyStopping as EarlyStopping, OnRequestExit as OnRequestExit, BackupAndRestore as BackupAndRestore,
    names as names, get_metric_fn as get_metric_fn, Accuracy as Accuracy, MAE as MAE, MSE as MSE, Metric as Metric,
    rearrange_inputs as rearrange_inputs, Precision as Precision, HausdorffDistance as HausdorffDistance, Recall as Recall, Fbeta as Fbeta,
    BleuScore as BleuScore, CosineSimilarity as CosineSimilarity, OcclusionSensitivity as OcclusionSensitivity, F1 as F1, Dice as Dice, ROC as ROC,
    auc as auc, TopKCategoricalAccuracy as TopKCategoricalAccuracy, Top1CategoricalAccuracy as Top1CategoricalAccuracy,
    Top5CategoricalAccuracy as Top5CategoricalAccuracy, Loss as Loss, MeanSurfaceDistance as MeanSurfaceDistance,
    RootMeanSquareDistance as RootMeanSquareDistance, Perplexity as Perplexity, ConfusionMatrix as ConfusionMatrix,
    ConfusionMatrixMetric as ConfusionMatrixMetric,
)
from sindri.log import get_level as get_level, get_log_config as get_log_config
from sindri.parallel import (
    Layout as Layout, get_algo_parameters as get_algo_parameters, reset_algo_parameters as reset_algo_parameters,
    set_algo_parameters as set_algo_parameters,
)
from sindri.profiler import DynamicProfilerMonitor as DynamicProfilerMonitor, Profiler as Profiler
from sindri.common.not_yet import NotYetError as NotYetError
from sindri.hal import device_count as device_count
from sindri.inspection import summary as summary
from sindri.runtime import run_check as run_check

__all__ = [
    "dtype", "bool_", "uint8", "ubyte", "int32", "intc", "int64", "intp", "long", "float16", "half", "bfloat16", "float32", "single", "float64",
    "double", "int8", "byte", "int16", "short", "uint16", "ushort", "uint32", "uintc", "uint64", "uintp", "complex64", "complex128", "string",
    "type_none", "tensor", "tensor_type", "number", "int_", "uint", "float_", "list_", "tuple_", "Int", "dtype_to_nptype", "dtype_to_pytype",
    "pytype_to_dtype", "get_py_obj_dtype", "Tensor", "Parameter", "ParameterTuple", "get_seed", "set_seed", "QuantDtype", "from_numpy", "JitConfig",
    "jit", "jit_class", "lazy_inline", "ms_function", "ms_memory_recycle", "mutable", "COOTensor", "CSRTensor", "RowTensor", "get_rng_state",
    "initial_seed", "manual_seed", "seed", "set_rng_state", "GRAPH_MODE", "PYNATIVE_MODE", "set_context", "get_context", "set_auto_parallel_context",
    "get_auto_parallel_context", "reset_auto_parallel_context", "ParallelMode", "set_ps_context", "get_ps_context", "set_device",
    "set_offload_context", "STRICT", "COMPATIBLE", "LAX", "get_current_device", "grad", "value_and_grad", "Model", "DatasetHelper",
    "connect_network_with_dataset", "build_train_network", "data_sink", "LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager",
    "SummaryRecord", "ConvertModelUtils", "ConvertNetUtils", "rank_list_for_transform", "transform_checkpoint_by_rank", "transform_checkpoints",
    "merge_pipeline_strategys", "sync_pipeline_shared_parameters", "save_checkpoint", "load_checkpoint", "load_param_into_net", "export", "load",
    "async_ckpt_thread_status", "load_checkpoint_async", "load_distributed_checkpoint", "merge_sliced_parameter", "build_searched_strategy",
    "restore_group_info_list", "obfuscate_model", "export_split_mindir", "Callback", "LossMonitor", "TimeMonitor", "ModelCheckpoint",
    "SummaryCollector", "CheckpointConfig", "RunContext", "LearningRateScheduler", "History", "LambdaCallback", "ReduceLROnPlateau", "EarlyStopping",
    "OnRequestExit", "BackupAndRestore", "names", "get_metric_fn", "Accuracy", "MAE", "MSE", "Metric", "rearrange_inputs", "Precision",
    "HausdorffDistance", "Recall", "Fbeta", "BleuScore", "CosineSimilarity", "OcclusionSensitivity", "F1", "Dice", "ROC", "auc",
    "TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "Loss", "MeanSurfaceDistance", "RootMeanSquareDistance",
    "Perplexity", "ConfusionMatrix", "ConfusionMatrixMetric", "get_level", "get_log_config", "Layout", "get_algo_parameters",
    "reset_algo_parameters", "set_algo_parameters", "shard", "Profiler", "run_check",
]

__version__: str
