"""A recording of kernel runs, and its output files."""
import csv
import json
import os
from typing import Any, Dict, List

from sindri import _core
from sindri._files import open_for_writing


class Recording:
    """Kernel runs between start and stop; several intervals accumulate."""

    def __init__(self) -> None:
        self._timeline = _core.Timeline()
        self.running = False

    def start(self) -> None:
        """Starts or resumes recording."""
        if not self.running:
            self._timeline.start()
            self.running = True

    def stop(self) -> None:
        """Pauses recording."""
        if self.running:
            self._timeline.stop()
            self.running = False

    def write(self, folder: str, tables: bool = True) -> List[Dict[str, Any]]:
        """Writes trace_view.json (for chrome://tracing) and, with tables, op_statistic.csv to the subfolder ASCEND_PROFILER_OUTPUT, which MindSpore's tools
        read. Returns the statistics."""
        self.stop()
        folder = os.path.join(folder, 'ASCEND_PROFILER_OUTPUT')
        os.makedirs(folder, mode=0o700, exist_ok=True)
        trace = os.path.join(folder, 'trace_view.json')
        self._timeline.write(trace)
        rows = statistics(trace)
        if tables:
            with open_for_writing(os.path.join(folder, 'op_statistic.csv'), newline='', encoding='utf-8') as f:
                out = csv.DictWriter(f, ['op', 'count', 'total_us', 'mean_us', 'min_us', 'max_us', 'percent'])
                out.writeheader()
                out.writerows(rows)
        return rows


def statistics(trace_path: str) -> List[Dict[str, Any]]:
    """Returns the time per kernel name in a Chrome trace, longest first."""
    with open(trace_path, encoding='utf-8') as f:
        data = json.load(f)
    events = data['traceEvents'] if isinstance(data, dict) else data
    table: Dict[str, List[float]] = {}
    for e in events:
        if e.get('ph') == 'X' and e.get('cat') != 'wait':  # while the host waits, kernels run
            table.setdefault(e['name'], []).append(float(e['dur']))
    total = sum(sum(v) for v in table.values()) or 1.0
    rows = [{'op': name, 'count': len(v), 'total_us': round(sum(v), 3), 'mean_us': round(sum(v) / len(v), 3), 'min_us': round(min(v), 3),
             'max_us': round(max(v), 3), 'percent': round(100 * sum(v) / total, 2)} for name, v in table.items()]
    return sorted(rows, key=lambda r: -r['total_us'])
