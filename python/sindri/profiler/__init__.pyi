"""Profiling: the kernel times of a training run, as a Chrome trace and as tables (MindSpore: mindspore.profiler).

Written by scripts/python_stubs.py; do not edit."""


from sindri import mstx as mstx
from sindri.profiler.common import (
    AicoreMetrics as AicoreMetrics, ExportType as ExportType, HostSystem as HostSystem, ProfilerActivity as ProfilerActivity,
    ProfilerLevel as ProfilerLevel, _ExperimentalConfig as _ExperimentalConfig,
)
from sindri.profiler.dynamic_profiler import DynamicProfilerMonitor as DynamicProfilerMonitor
from sindri.profiler.profiler import Profiler as Profiler
from sindri.profiler.profile import profile as profile
from sindri.profiler.schedule import ProfilerAction as ProfilerAction, schedule as schedule, tensorboard_trace_handler as tensorboard_trace_handler

__all__ = [
    "tensorboard_trace_handler", "schedule", "Profiler", "ProfilerLevel", "ProfilerActivity", "ProfilerAction", "AicoreMetrics", "ExportType",
    "HostSystem", "DynamicProfilerMonitor", "mstx", "_ExperimentalConfig", "profile",
]
