"""Settings of the profiler. Those for other devices are only stored."""
import enum
from typing import Any, List, Optional


class ProfilerLevel(enum.Enum):
    """Level of detail; kernels are always recorded."""
    LevelNone = 'LevelNone'
    Level0 = 'Level0'
    Level1 = 'Level1'
    Level2 = 'Level2'


class ProfilerActivity(enum.Enum):
    """Devices whose activity is recorded; the CPU's always is."""
    CPU = 'CPU'
    NPU = 'NPU'
    GPU = 'GPU'


class AicoreMetrics(enum.Enum):
    """Counters of other devices."""
    AiCoreNone = 'None'
    ArithmeticUtilization = 'ArithmeticUtilization'
    PipeUtilization = 'PipeUtilization'
    Memory = 'Memory'
    MemoryL0 = 'MemoryL0'
    ResourceConflictRatio = 'ResourceConflictRatio'
    MemoryUB = 'MemoryUB'
    L2Cache = 'L2Cache'
    MemoryAccess = 'MemoryAccess'


class ExportType(enum.Enum):
    """Formats of the result."""
    Text = 'text'
    Db = 'db'


class HostSystem(enum.Enum):
    """Host counters."""
    CPU = 'cpu'
    MEM = 'mem'
    DISK = 'disk'
    NETWORK = 'network'
    OSRT = 'osrt'


class _ExperimentalConfig:
    """Further settings of `profile`. All are only stored, and export_type must be Text.

    Args:
        profiler_level (ProfilerLevel): The level of detail. Default: ProfilerLevel.Level0.
        aic_metrics (AicoreMetrics): Counters of other devices. Default: AicoreMetrics.AiCoreNone.
        l2_cache (bool): Whether to record the L2 cache of other devices. Default: False.
        mstx (bool): Whether to record marks. Default: False.
        data_simplification (bool): Whether to delete intermediate files. Default: True.
        export_type (list[ExportType], optional): The formats of the result. Default: None, text.
        mstx_domain_include (list, optional): The domains of marks to record. Default: None.
        mstx_domain_exclude (list, optional): The domains of marks to omit. Default: None.
        sys_io (bool): Whether to record network cards. Default: False.
        sys_interconnection (bool): Whether to record links between devices. Default: False.
        host_sys (list[HostSystem], optional): Host counters. Default: None.

    Raises:
        TypeError: If `profiler_level`, `aic_metrics` or `export_type` has another type.
        ValueError: If `export_type` contains ExportType.Db.

    Examples:
        >>> from sindri import profiler
        >>> profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1).profiler_level.name
        'Level1'
    """

    def __init__(self, profiler_level: ProfilerLevel = ProfilerLevel.Level0, aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone,
                 l2_cache: bool = False, mstx: bool = False, data_simplification: bool = True, export_type: Optional[List[ExportType]] = None,
                 mstx_domain_include: Optional[list] = None, mstx_domain_exclude: Optional[list] = None, sys_io: bool = False,
                 sys_interconnection: bool = False, host_sys: Optional[list] = None):
        for name, value, kind in (('profiler_level', profiler_level, ProfilerLevel), ('aic_metrics', aic_metrics, AicoreMetrics)):
            if not isinstance(value, kind):
                raise TypeError(f"_ExperimentalConfig: '{name}' must be a {kind.__name__}, got {value!r}")
        types: Any = [export_type] if isinstance(export_type, ExportType) else (export_type or [ExportType.Text])
        if any(not isinstance(t, ExportType) for t in types):
            raise TypeError(f"_ExperimentalConfig: 'export_type' must be a list of ExportType, got {export_type!r}")
        if ExportType.Db in types:
            raise ValueError('_ExperimentalConfig: ExportType.Db is not supported, results are written as text')
        self.profiler_level, self.aic_metrics, self.l2_cache, self.mstx = profiler_level, aic_metrics, l2_cache, mstx
        self.data_simplification, self.export_type = data_simplification, types
        self.mstx_domain_include, self.mstx_domain_exclude = mstx_domain_include or [], mstx_domain_exclude or []
        self.sys_io, self.sys_interconnection, self.host_sys = sys_io, sys_interconnection, host_sys or []
