"""The profiler of MindSpore 1.x and 2.x up to 2.5."""
import json
import os
from typing import Any, Dict, List, Optional

from sindri import log as logger
from sindri.common.no_effect import PROFILER_OPTIONS, no_effect
from sindri.profiler._recording import Recording

__all__ = ['Profiler']

_live: Optional['Profiler'] = None
# Options for other devices and older versions, accepted without effect: kernels are recorded in any case.
_HINTS = {'profile_communication', 'profile_memory', 'aicore_metrics', 'aic_metrics', 'l2_cache', 'sync_enable', 'data_process', 'timeline_limit',
          'profile_framework', 'hbm_ddr', 'pcie', 'parallel_strategy', 'op_time', 'ascend_job_id', 'ascend_job_dir', 'optypes_not_deal',
          'profiler_level', 'with_stack', 'data_simplification', 'host_stack', 'mstx', 'activities', 'env_enable', 'subgraph', 'is_detail',
          'is_show_op_path', 'export_type', 'record_shapes'}


def _warn_of_options(given: Dict[str, Any]) -> None:
    """Warns about options that request more than is recorded."""
    for name in PROFILER_OPTIONS:
        if given.get(name):
            no_effect(f"the profiler's option '{name}'", "kernels are recorded, with their times")


class Profiler:
    """Records kernels from its construction until `analyse`, which writes `<output_path>/profiler/ASCEND_PROFILER_OUTPUT/trace_view.json` and
    `op_statistic.csv`.

    Args:
        output_path (str): The folder for the reports. Default: './data'.
        profile_communication (bool): Stored, with a warning. Default: False.
        profile_memory (bool): Stored, with a warning. Default: False.
        start_profile (bool): Whether recording starts at once. Default: True.
        kwargs (Any): Other options of MindSpore, which are stored, with a warning for those that would record more.

    Raises:
        TypeError: If an option is unknown or has another type.
        RuntimeError: If another profiler is active.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     profiler = ms.Profiler(output_path=folder)
        ...     y = ms.ops.relu(ms.Tensor([1.0]))
        ...     profiler.analyse()
        ...     print(sorted(os.listdir(os.path.join(folder, "profiler", "ASCEND_PROFILER_OUTPUT"))))
        ['op_statistic.csv', 'trace_view.json']
    """

    def __init__(self, output_path: str = './data', profile_communication: bool = False, profile_memory: bool = False, start_profile: bool = True,
                 **kwargs: Any):
        global _live
        if _live is not None:
            raise RuntimeError('Profiler: another profiler is active | call its analyse() first')
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
        """Starts or resumes recording. Raises RuntimeError if it is running or was analysed."""
        if self._done:
            raise RuntimeError('Profiler.start: the recording was analysed already | create a new Profiler')
        if self._recording.running:
            raise RuntimeError('Profiler.start: the profiler is running already')
        self._recording.start()

    def stop(self) -> None:
        """Pauses recording. Raises RuntimeError if it is not running."""
        if not self._recording.running:
            raise RuntimeError('Profiler.stop: the profiler is not running | call start() first')
        self._recording.stop()

    def analyse(self, offline_path: Optional[str] = None, pretty: bool = False, step_list: Any = None, mode: str = 'sync') -> None:
        """Stops recording and writes the reports.

        Args:
            offline_path (str, optional): Accepted without effect. Default: None.
            pretty (bool): Accepted without effect. Default: False.
            step_list (list, optional): Accepted without effect. Default: None.
            mode (str): Accepted without effect. Default: 'sync'.

        Raises:
            RuntimeError: If it was called before.
        """
        global _live
        if self._done:
            raise RuntimeError('Profiler.analyse: the recording was analysed already')
        self._rows = self._recording.write(self._output_path)
        self._done = True
        if _live is self:
            _live = None
        logger.info('profile written to %s', self._output_path)

    def op_analyse(self, op_name: Any, device_id: Optional[int] = None) -> str:
        """Returns statistics of ops as JSON.

        Args:
            op_name (str, list[str]): One op or several.
            device_id (int, optional): Accepted without effect. Default: None.

        Returns:
            str, a JSON object with a list of kernels, their counts and times for each op.

        Raises:
            TypeError: If `op_name` has another type or is empty.
            RuntimeError: Before `analyse`.
        """
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
