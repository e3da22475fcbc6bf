"""Profiling: the kernel times of a training run, as a Chrome trace and as tables (MindSpore: mindspore.profiler)."""
from sindri import mstx
from sindri.profiler.common import AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel, _ExperimentalConfig
from sindri.profiler.dynamic_profiler import DynamicProfilerMonitor
from sindri.profiler.profiler import Profiler
from sindri.profiler.profile import profile
from sindri.profiler.schedule import ProfilerAction, schedule, tensorboard_trace_handler

__all__ = ['tensorboard_trace_handler', 'schedule', 'Profiler', 'ProfilerLevel', 'ProfilerActivity', 'ProfilerAction', 'AicoreMetrics', 'ExportType',
           'HostSystem', 'DynamicProfilerMonitor', 'mstx', '_ExperimentalConfig', 'profile']
