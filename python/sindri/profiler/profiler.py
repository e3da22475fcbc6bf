"""The profiler of 1.x and 2.x up to 2.5."""
import json
import os
from typing import Any, Dict, List, Optional

from sindri import log as logger
from sindri.common.no_effect import PROFILER_OPTIONS, no_effect
from sindri.profiler._recording import Recording

_live: Optional['Profiler'] = None
# Options for other devices and older versions: accepted, for kernels are recorded whatever they say.
_HINTS = {'profile_communication', 'profile_memory', 'aicore_metrics', 'aic_metrics', 'l2_cache', 'sync_enable', 'data_process', 'timeline_limit',
          'profile_framework', 'hbm_ddr', 'pcie', 'parallel_strategy', 'op_time', 'ascend_job_id', 'ascend_job_dir', 'optypes_not_deal',
          'profiler_level', 'with_stack', 'data_simplification', 'host_stack', 'mstx', 'activities', 'env_enable', 'subgraph', 'is_detail',
          'is_show_op_path', 'export_type', 'record_shapes'}


def _warn_of_options(given: Dict[str, Any]) -> None:
    """Says which of the options ask for what is not recorded."""
    for name in PROFILER_OPTIONS:
        if given.get(name):
            no_effect(f"the profiler's option '{name}'", "kernels are recorded, with their times")


class Profiler:
    """Records kernels from its construction (start_profile) until `analyse`, which writes `<output_path>/profiler/ASCEND_PROFILER_OUTPUT/trace_view.json`
    and `op_statistic.csv`. The other options are stored only, with a warning for those that would record more. RuntimeError: two live profilers, analyse twice;
    TypeError: unknown option, wrong type."""

    def __init__(self, output_path: str = './data', profile_communication: bool = False, profile_memory: bool = False, start_profile: bool = True,
                 **kwargs: Any):
        global _live
        if _live is not None:
            raise RuntimeError('Profiler: another one is live | call its analyse() first')
        if not isinstance(output_path, str):
            raise TypeError(f"Profiler: 'output_path' must be a str, got {type(output_path).__name__}")
        if not isinstance(start_profile, bool):
            raise TypeError(f"Profiler: 'start_profile' must be a bool, got {start_profile!r}")
        for name in kwargs:
            if name not in _HINTS:
                raise TypeError(f"Profiler: unknown option '{name}'")
        _warn_of_options(dict(kwargs, profile_communication=profile_communication, profile_memory=profile_memory))
        self._recording = Recording()
        self._hints = dict(kwargs, profile_communication=profile_communication, profile_memory=profile_memory)
        self._output_path = os.path.join(os.path.realpath(output_path), 'profiler')
        self._rows: List[Dict[str, Any]] = []
        self._done = False
        _live = self
        if start_profile:
            self.start()

    def start(self) -> None:
        """Begins or goes on recording. RuntimeError: it runs already, or was analysed."""
        if self._done:
            raise RuntimeError('Profiler.start: it was analysed | make a new Profiler')
        if self._recording.running:
            raise RuntimeError('Profiler.start: it runs already')
        self._recording.start()

    def stop(self) -> None:
        """Pauses recording. RuntimeError: it does not run."""
        if not self._recording.running:
            raise RuntimeError('Profiler.stop: it does not run | call start() first')
        self._recording.stop()

    def analyse(self, offline_path: Optional[str] = None, pretty: bool = False, step_list: Any = None, mode: str = 'sync') -> None:
        """Stops and writes the reports. RuntimeError when called twice. offline_path, pretty, step_list and mode concern other devices."""
        global _live
        if self._done:
            raise RuntimeError('Profiler.analyse: it was analysed already')
        self._rows = self._recording.write(self._output_path)
        self._done = True
        if _live is self:
            _live = None
        logger.info('profile written to %s', self._output_path)

    def op_analyse(self, op_name: Any, device_id: Optional[int] = None) -> str:
        """Statistics of one op or a list of them, as JSON: op -> count and times. TypeError, RuntimeError before analyse."""
        if not self._done:
            raise RuntimeError('Profiler.op_analyse: call analyse() first')
        if not isinstance(op_name, (str, list)) or not op_name:
            raise TypeError(f"Profiler.op_analyse: 'op_name' must be a str or a list, got {op_name!r}")
        names = [op_name] if isinstance(op_name, str) else op_name
        return json.dumps({n: [r for r in self._rows if n.lower() in r['op'].lower()] for n in names})

    def __del__(self) -> None:
        global _live
        if _live is self:
            _live = None
