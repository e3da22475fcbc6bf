"""Recording of values into event files."""
import os
import threading
import time
from typing import Any, List, Optional, Tuple

import numpy as np

from sindri import _checkparam as validator
from sindri import log as logger
from sindri._files import open_for_writing
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.ops.operations import _summary_store
from sindri.train._utils import _make_directory
from sindri.train.summary import _events

__all__ = ['SummaryRecord']

_SUMMARY_PLUGINS = ('scalar', 'tensor', 'image', 'histogram')
_MESSAGE_PLUGINS = ('explainer', 'landscape')
_PLUGINS = _SUMMARY_PLUGINS + ('graph', 'train_lineage', 'eval_lineage', 'custom_lineage_data', 'dataset_graph') + _MESSAGE_PLUGINS
_KINDS = {'[:Scalar]': 'scalar', '[:Tensor]': 'tensor', '[:Image]': 'image', '[:Histogram]': 'histogram'}
_live: Optional['SummaryRecord'] = None
_lock = threading.Lock()


class SummaryRecord:
    """Writes `<file_prefix>.out.events.summary.<seconds>.<host><file_suffix>` (and `…_lineage`) into log_dir.

    A context manager; one may be live at a time (RuntimeError). Values come from `add_value` and from the summary ops of the network. Files
    appear with their first value. max_file_size, in GB, stops recording when reached; raise_exception makes that and other failures raise
    RuntimeError instead of a warning. export_options {'tensor_format': 'npy'} also saves tensors as .npy files. num_process is kept for the
    sake of scripts: one thread suffices. ValueError, TypeError for bad arguments."""

    def __init__(self, log_dir: str, file_prefix: str = 'events', file_suffix: str = '_MS', num_process: int = 32, network: Any = None,
                 max_file_size: Optional[float] = None, raise_exception: bool = False, export_options: Optional[dict] = None):
        global _live
        place = 'SummaryRecord'
        for name, value in (('log_dir', log_dir), ('file_prefix', file_prefix), ('file_suffix', file_suffix)):
            validator.check_value_type(name, value, str, place)
            if '/' in value and name != 'log_dir':
                raise ValueError(f"{place}: '{name}' must not contain '/', got {value!r}")
        if network is not None:
            validator.check_value_type('network', network, Cell, place)
        if max_file_size is not None:
            validator.check_value_type('max_file_size', max_file_size, [int, float], place)
            if max_file_size <= 0:
                raise ValueError(f"{place}: 'max_file_size' must be above 0, got {max_file_size}")
        self._raise = validator.check_bool(raise_exception, 'raise_exception', place)
        self._export = self._read_export(export_options)
        with _lock:
            if _live is not None:
                raise RuntimeError(f"{place}: another one is live | close it, or use it in a with statement")
            _live = self
        try:
            self.full_folder = _make_directory(log_dir, 'log_dir')
        except BaseException:
            _live = None
            raise
        self.log_dir = self.full_folder
        self._network = network
        limit = None if max_file_size is None else int(max_file_size * (1 << 30))
        self._events = _events.EventFile(self.full_folder, file_prefix, file_suffix, True, limit)
        self._lineage = _events.EventFile(self.full_folder, file_prefix, '_lineage', False, limit)
        self._pool: List[Tuple[str, str, Any]] = []
        self._mode = 'train'
        self._graph_done = False
        self._closed = False
        self._export_dir = os.path.join(self.full_folder, f"export_{time.strftime('%Y%m%d_%H%M%S')}")

    @staticmethod
    def _read_export(options: Optional[dict]) -> Optional[str]:
        if options is None:
            return None
        validator.check_value_type('export_options', options, dict, 'SummaryRecord')
        for key in options:
            if key != 'tensor_format':
                raise ValueError(f"SummaryRecord: 'export_options' has the unknown key {key!r} | known is 'tensor_format'")
        if options.get('tensor_format') not in ('npy', None):
            raise ValueError(f"SummaryRecord: 'tensor_format' must be 'npy', got {options['tensor_format']!r}")
        return options.get('tensor_format')

    def __enter__(self) -> 'SummaryRecord':
        if self._closed:
            raise ValueError('SummaryRecord: it is closed')
        return self

    def __exit__(self, *err: Any) -> None:
        self.close()

    def set_mode(self, mode: str) -> None:
        """'train' or 'eval': in eval mode `record` writes only values given to add_value. ValueError otherwise."""
        if mode not in ('train', 'eval'):
            raise ValueError(f"SummaryRecord.set_mode: 'mode' must be 'train' or 'eval', got {mode!r}")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Keeps a value for the next record. plugin: 'scalar', 'tensor', 'image' ([N, C, H, W]), 'histogram', 'graph' (a Cell), 'train_lineage',
        'eval_lineage', 'custom_lineage_data', 'dataset_graph' (dicts), 'explainer', 'landscape' (protobuf messages Explain and LossLandscape, or
        their bytes). ValueError, TypeError."""
        if plugin not in _PLUGINS:
            raise ValueError(f"SummaryRecord.add_value: 'plugin' must be one of {', '.join(_PLUGINS)}, got {plugin!r}")
        if not isinstance(name, str) or not name:
            raise ValueError(f"SummaryRecord.add_value: 'name' must be a non-empty str, got {name!r}")
        if plugin in _SUMMARY_PLUGINS:
            if not isinstance(value, (Tensor, np.ndarray, int, float)):
                raise TypeError(f"SummaryRecord.add_value: the value of '{name}' must be a Tensor, got {type(value).__name__}")
            array = np.array(value.asnumpy() if isinstance(value, Tensor) else value)
            if plugin == 'scalar' and array.size != 1:
                raise ValueError(f"SummaryRecord.add_value: the scalar '{name}' has shape {array.shape}")
            if plugin == 'image':
                _events.image_value(name, array)  # checks
            self._pool = [v for v in self._pool if v[:2] != (plugin, name)]
            value = array
        elif plugin == 'graph':
            if not hasattr(value, 'cells_and_names'):
                raise TypeError("SummaryRecord.add_value: the value of plugin 'graph' must be a Cell")
        elif plugin in _MESSAGE_PLUGINS:
            value = value if isinstance(value, bytes) else getattr(value, 'SerializeToString', lambda: None)()
            if value is None:
                raise TypeError(f"SummaryRecord.add_value: the value of plugin '{plugin}' must be a protobuf message or its bytes")
        elif not isinstance(value, dict):
            raise TypeError(f"SummaryRecord.add_value: the value of plugin '{plugin}' must be a dict, got {type(value).__name__}")
        self._pool.append((plugin, name, value))

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Writes everything kept, as of `step`; True when something could be written. plugin_filter(plugin) chooses. TypeError: step."""
        if self._closed:
            raise ValueError('SummaryRecord.record: it is closed')
        if not isinstance(step, int) or isinstance(step, bool):
            raise TypeError(f"SummaryRecord.record: 'step' must be int, got {type(step).__name__}")
        pool, self._pool = self._pool, []
        network = train_network if train_network is not None else self._network
        if network is not None and not self._graph_done and not any(v[0] == 'graph' for v in pool) and self._mode == 'train':
            pool.insert(0, ('graph', 'graph', network))
        if self._mode == 'train':
            pool += _from_ops()
        if plugin_filter is not None:
            pool = [v for v in pool if plugin_filter(v[0])]
        try:
            wrote = self._write(step, pool)
        except OSError as e:
            if self._raise:
                raise RuntimeError(f'SummaryRecord.record: {e}') from e
            logger.error('SummaryRecord: step %d is not recorded: %s', step, e)
            return False
        self.flush()
        return wrote

    def _write(self, step: int, pool: List[Tuple[str, str, Any]]) -> bool:
        values = [v for v in pool if v[0] in _SUMMARY_PLUGINS or v[0] == 'landscape']
        good = True
        for plugin, _, value in pool:
            if plugin == 'graph':
                self._graph_done = True
                good &= self._events.write(4, _events.graph(value))
            elif plugin == 'explainer':
                good &= self._events.write(6, value, step)
            elif plugin in _events.LINEAGE_FIELDS:
                encode = {'train_lineage': _events.train_lineage, 'eval_lineage': _events.eval_lineage, 'dataset_graph': _events.dataset_graph,
                          'custom_lineage_data': _events.user_lineage}[plugin]
                good &= self._lineage.write(_events.LINEAGE_FIELDS[plugin], encode(value))
        if values:
            good &= self._events.write(5, _events.summary(values), step)
            if self._export == 'npy':
                self._save_npy(step, [v for v in values if v[0] == 'tensor'])
        if not good:
            if self._raise:
                raise RuntimeError(f"SummaryRecord: the file reached 'max_file_size' at step {step}")
            logger.warning_once("SummaryRecord: the file reached 'max_file_size'; nothing more is recorded")
        return good and bool(pool)

    def _save_npy(self, step: int, values: List[Tuple[str, str, Any]]) -> None:
        folder = os.path.join(self._export_dir, 'tensor')
        for _, tag, array in values:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open_for_writing(os.path.join(folder, f"{tag.replace('/', '_')}_{step}.npy"), "wb") as f:
                np.save(f, array)

    def flush(self) -> None:
        """Hands everything written to the system."""
        self._events.flush()
        self._lineage.flush()

    def close(self) -> None:
        """Ends the files; another SummaryRecord may be made then."""
        global _live
        if not self._closed:
            self._closed = True
            self._events.close()
            self._lineage.close()
        with _lock:
            if _live is self:
                _live = None

    def __del__(self) -> None:
        if not getattr(self, '_closed', True):
            self.close()


def _from_ops() -> List[Tuple[str, str, Any]]:
    """What summary ops in the network handed over since the last call."""
    out = []
    for name, value in _summary_store.take():
        for ending, kind in _KINDS.items():
            if name.endswith(ending):
                value = value.astype(mstype.float32) if value.dtype == mstype.bfloat16 else value
                out.append((kind, name[:-len(ending)], np.array(value.asnumpy())))
    return out
